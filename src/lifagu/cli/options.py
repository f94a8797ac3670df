"""Options that several commands share, and the parser that takes them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from lifagu.cli import values
from lifagu.errors import one_line

BP_SCHEDULES = ("parallel", "sequential")


class Parser(argparse.ArgumentParser):
    """An argument parser whose mistakes are one line beginning with ``error: ``."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and one line on stderr."""
        sys.stderr.write(f"error: {one_line(message)} (see {self.prog} --help)\n")
        sys.exit(2)


def model(parser: Parser) -> None:
    """The model, and the database of a template."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="a file (.json, .uai, .fg, .blog, .pfl, .bif, …, also with .gz) or a folder of Parquet tables "
        "(see docs/formats.md)",
    )
    database(parser)


def database(parser: Parser) -> None:
    """Another database than the template's own."""
    parser.add_argument(
        "--db",
        metavar="URL",
        help="the database that a template is to read instead of its own: a path or postgresql://…",
    )


def evidence(parser: Parser) -> None:
    """What was observed."""
    parser.add_argument(
        "--evidence",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=values.observation,
        help="an observed value (repeatable; overrides the file's own evidence name by name)",
    )
    parser.add_argument(
        "--evidence-file",
        metavar="FILE",
        help="more observed values: a UAI .evid file or a JSON object",
    )


def filling(parser: Parser, theta: bool = True) -> None:
    """How unknown factors are filled."""
    group = parser.add_argument_group("filling holes")
    if theta:
        group.add_argument(
            "--theta",
            metavar="T",
            type=values.theta,
            default=0.0,
            help="share of the candidates that must agree before an unknown factor takes their table (default 0)",
        )
    group.add_argument(
        "--add",
        metavar="NEW=LIKE",
        action="append",
        default=[],
        type=values.addition,
        help="add an individual with the variables and scopes of another one, all tables unknown (repeatable)",
    )
    group.add_argument(
        "--structure-only", action="store_true", help="use neither kinds nor individuals"
    )
    group.add_argument(
        "--published",
        action="store_true",
        help="the paper's algorithm to the letter, for comparison",
    )
    group.add_argument(
        "--steps",
        metavar="K",
        type=int,
        help="compare neighbourhoods of 2, 4, 6, … steps, backing off to fewer",
    )
    group.add_argument(
        "--profiles",
        action="store_true",
        help="take tables from individuals that agree on other, informative tables",
    )
    group.add_argument(
        "--evidence-in-roles",
        action="store_true",
        help="arguments with different evidence differ (the paper's rule)",
    )
    group.add_argument(
        "--digits",
        metavar="N",
        type=int,
        help="tables that are equal to N significant digits become the first one",
    )
    group.add_argument(
        "--tolerance",
        metavar="E",
        type=values.tolerance,
        help="tables within a share E of each other (such as 0.01) become their mean, and the error is bounded",
    )
    group.add_argument(
        "--up-to-scale", action="store_true", help="tables that differ by a factor agree"
    )
    group.add_argument(
        "--commutative",
        action="store_true",
        help="arguments that may be swapped count as one position, and tables may list theirs in any order",
    )


def unknown(parser: Parser, choices: Sequence[str]) -> None:
    """What to answer with where tables compete."""
    parser.add_argument(
        "--unknown",
        choices=choices,
        default="one",
        help="answer with the winning tables (one, default), their mean, the mixture over all competing tables, or "
        "bounds over them",
    )


def engine(parser: Parser, choices: Sequence[str], explain: bool = True) -> None:
    """Which engine answers, within which memory."""
    parser.add_argument(
        "--engine",
        choices=choices,
        default="auto",
        help="auto: the best exact one (default); lifted: what looks alike together; ground: elimination; bp: belief "
        "propagation, not exact; enumerate: the oracle, for small models",
    )
    if "bp" in choices:
        belief_propagation(parser)
    if explain:
        parser.add_argument(
            "--explain",
            action="store_true",
            help="show the plan and its cost on stderr before running",
        )
    memory_limit(parser)


def memory_limit(parser: Parser) -> None:
    """The memory to keep within."""
    parser.add_argument(
        "--memory-limit",
        metavar="SIZE",
        type=values.size,
        help="keep within it or refuse, such as 2G or 500M (default: three quarters of what is free)",
    )


def on(parser: Parser) -> None:
    """Where to work on folders."""
    parser.add_argument(
        "--on",
        metavar="WHERE",
        type=values.place,
        default="auto",
        help="where to work on a folder of Parquet tables: memory, duckdb, spark or spark=MASTER; auto (default): in "
        "memory while it fits",
    )
    parser.add_argument(
        "--temp",
        metavar="DIR",
        help="where a database keeps what does not fit in memory (default: the system's place)",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with what an interrupted run on an engine has kept in --temp",
    )


def rounds_at_most(parser: Parser) -> None:
    """How long colours may change on an engine."""
    parser.add_argument(
        "--rounds-at-most",
        metavar="N",
        type=values.at_least(1),
        default=1000,
        help="rounds of colour passing on an engine before it gives up (default 1000)",
    )


def belief_propagation(parser: Parser) -> None:
    """Settings of belief propagation."""
    bp = parser.add_argument_group("belief propagation (--engine bp)")
    bp.add_argument(
        "--damping",
        metavar="D",
        type=float,
        default=0.0,
        help="share of the old message kept (default 0)",
    )
    bp.add_argument(
        "--schedule",
        choices=BP_SCHEDULES,
        default="parallel",
        help="in which order messages are passed",
    )
    bp.add_argument(
        "--bp-tolerance",
        metavar="E",
        type=float,
        default=1e-10,
        help="change at which to stop (default 1e-10)",
    )
    bp.add_argument(
        "--iterations",
        metavar="N",
        type=int,
        default=1000,
        help="how many at the most (default 1000)",
    )


def json(parser: Parser) -> None:
    """Results as JSON."""
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def quiet(parser: Parser) -> None:
    """Nothing on stderr but errors, and warnings that what was found may be far off."""
    parser.add_argument(
        "--quiet", action="store_true", help="no progress and no notes on stderr; warnings stay"
    )
