"""What is chosen by name, each list of names once: for types, for checks and for help texts."""

from typing import Literal, get_args

EngineName = Literal["auto", "lifted", "ground", "bp"]
ENGINES: tuple[str, ...] = get_args(EngineName)
EXACT_ENGINES = ("auto", "lifted", "ground")
LIFTED_ENGINES = ("auto", "lifted")  # those that answer over cells, or by SQL

Way = Literal["average", "best"]
WAYS: tuple[str, ...] = get_args(Way)

Rule = Literal["auto", "lifagu", "extended"]
RULES: tuple[str, ...] = get_args(Rule)

Figure = Literal["graph", "colours", "lifted", "transfers"]
FIGURES: tuple[Figure, ...] = get_args(Figure)

Status = Literal["transferred", "below_threshold", "no_candidate"]
STATUSES: tuple[Status, ...] = get_args(Status)

Schedule = Literal["parallel", "sequential"]
SCHEDULES: tuple[str, ...] = get_args(Schedule)

PLACES = ("auto", "memory", "duckdb", "spark")  # where to work; also spark=MASTER
USUAL_TIMEOUT = 300.0  # seconds that a query of a database may take
