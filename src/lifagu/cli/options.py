"""Options that several commands share, and the parser that takes them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from lifagu.basics.choices import RULES, SCHEDULES, USUAL_TIMEOUT, WAYS
from lifagu.cli import values
from lifagu.errors import LifaguError, one_line

EXPLAIN = (
    "show the plan and its cost on stderr before running, and which way holes were filled; "
    "after a query also what told its first answers, and why the weakest tables were taken"
)


PLACES = ("MODEL", "FILE", "FOLDER", "DIR", "IN", "OUT", "URL", "SOURCE")  # no empty text


class _Once(argparse.Action):
    """What an option says, which it can say only once."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep the value; refuse another one of the same option."""
        assert isinstance(parser, Parser)
        if option_string is not None and self.dest in parser.given:
            raise argparse.ArgumentError(self, "it is given twice; leave out one of them")
        if option_string is not None:
            parser.given.add(self.dest)
        setattr(namespace, self.dest, True if self.nargs == 0 else values)


class _Flag(_Once):
    """An option without a value, which can be given only once."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=False, **settings)


class _Added(argparse.Action):
    """What an option says each time, all together; of two that name the same the last is no more
    right than the first.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add one value, or several."""
        found = list(getattr(namespace, self.dest) or ())
        for each in values if isinstance(values, list) else [values]:
            if isinstance(each, tuple):
                same = [other for name, other in found if name == each[0]]
                if same and same != [each[1]]:
                    raise argparse.ArgumentError(
                        self, f"it says two things of {each[0]}; leave out one of them"
                    )
            found.append(each)
        setattr(namespace, self.dest, found)


class Parser(argparse.ArgumentParser):
    """An argument parser whose mistakes are one line beginning with ``error: ``.

    An option that is given twice is refused, unless it adds to what was said before, as those do
    that take several values.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)
        self.register("action", None, _Once)
        self.register("action", "store_true", _Flag)
        self.register("action", "append", _Added)
        self._intermixed = False
        self.given = set[str]()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Options may stand before, between and after arguments that there can be many of."""
        single = all(each.nargs not in (argparse.PARSER, "...") for each in self._actions)
        if not self._intermixed:
            self.given = set()
        if self._intermixed or not single:
            return super().parse_known_args(args, namespace)
        self._intermixed = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._intermixed = False

    def _print_message(self, message: str, file: Any = None) -> None:
        """Help that cannot be written is no success."""
        (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        """Exit as for bad input, with one line on stderr."""
        sys.stderr.write(f"error: {one_line(message)} (see {self.prog} --help)\n")
        sys.exit(LifaguError.exit_status)


Group = Parser | argparse._ArgumentGroup  # what options can be added to


def value(group: Group, name: str, metavar: str | None, text: str, **settings: Any) -> None:
    """An option with a value or, if its name has no dashes, an argument."""
    if metavar in PLACES:
        settings = {"type": values.place_of, **settings}
    group.add_argument(name, metavar=metavar, help=text, **settings)


def several_of(group: Group, name: str, metavar: str | None, text: str, **settings: Any) -> None:
    """An option with one value or several, which can be given again to add others."""
    value(group, name, metavar, text, nargs="+", action="append", default=[], **settings)


def count(group: Group, name: str, metavar: str, least: int, default: int, text: str) -> None:
    """An option that is a whole number."""
    text = f"{text} (default {default})"
    value(group, name, metavar, text, type=values.at_least(least), default=default)


def flag(group: Group, name: str, text: str) -> None:
    """An option without a value."""
    group.add_argument(name, action="store_true", help=text)


COMBINE = {
    "average": "as hidden variables, so that observations tell which they are (default with auto)",
    "best": "the best one of each hole (the only way of lifagu and extended)",
}
ENGINES = {
    "auto": "the best exact one (default)",
    "lifted": "what looks alike together",
    "ground": "elimination",
    "bp": "belief propagation, not exact",
}


def model(parser: Parser) -> None:
    """The model, and the database of a template."""
    text = (
        "a file (.json, .uai, .fg, .blog, .bif, …, also with .gz), "
        "a folder of Parquet tables (see docs/formats.md), or the name of a shipped example"
    )
    value(parser, "model", "MODEL", text)
    database(parser)


def database(parser: Parser, memory: bool = True) -> None:
    """Another database than the template's own; memory: and within which memory to read."""
    text = "the database that a template is to read instead of its own: a path or postgresql://…"
    value(parser, "--db", "URL", text)
    text = "the value of a parameter that a template declares, such as ward=4 (repeatable)"
    _repeatable(parser, "--set", "NAME=VALUE", text, values.parameter)
    text = "an environment variable that a template's own source may name as ${NAME} (repeatable)"
    _repeatable(parser, "--env", "NAME", text, values.variable)
    query_timeout(parser)
    text = (
        "run a template's queries even as a superuser of PostgreSQL, or a role that could read "
        "files of the server"
    )
    flag(parser, "--trust-role", text)
    if memory:
        memory_limit(parser)


def query_timeout(parser: Parser) -> None:
    """How long a query may take."""
    text = "how long a query of a database may take (default 300; 0 or none: no limit)"
    seconds = {"type": values.seconds, "default": USUAL_TIMEOUT}
    value(parser, "--query-timeout", "SECONDS", text, **seconds)


def evidence(parser: Parser) -> None:
    """What was observed."""
    text = "an observed value (repeatable; overrides the file's own evidence name by name)"
    _repeatable(parser, "--evidence", "NAME=VALUE", text, values.observation)
    text = "more observed values: a UAI .evid file or a JSON object"
    value(parser, "--evidence-file", "FILE", text)


def _repeatable(group: Group, name: str, metavar: str, text: str, read: Any) -> None:
    value(group, name, metavar, text, action="append", default=[], type=read)


def whole_relations(parser: Parser) -> None:
    """Which individuals of a relation are shown, in which order, and where else they go."""
    group = parser.add_argument_group("whole relations")
    text = "rank individuals by the probability of a value, and show the first N"
    value(group, "--top", "N", text, type=values.at_least(1))
    text = "the value to rank by, and to compare scenarios by (default: the last of the range)"
    value(group, "--value", "LABEL", text)
    text = (
        "only individuals for whom this holds: a condition in SQL on the table that a template "
        "reads them from, such as \"hall = 'B'\""
    )
    value(group, "--where", "CONDITION", text)
    flag(group, "--unobserved", "only individuals of whom it was not observed")
    text = "write all of them to a .csv file (also .csv.gz) or a .parquet file"
    value(group, "--out", "FILE", text)


def filling(parser: Parser, theta: bool = True, several: bool = False) -> None:
    """How unknown factors are filled; several: rules to be compared."""
    group = parser.add_argument_group("filling holes")
    if theta:
        text = (
            "share of the candidates that must agree before an unknown factor takes their table "
            "under lifagu and extended (default 0; naming it means --fill extended)"
        )
        value(group, "--theta", "T", text, type=values.theta)
    text = (
        "add an individual with the variables and scopes of another one, all tables unknown "
        "(repeatable)"
    )
    _repeatable(group, "--add", "NEW=LIKE", text, values.addition)
    text = (
        "the same, but the individual moves nobody's answers before something is observed of it "
        "(repeatable; docs/transfer.md)"
    )
    _repeatable(group, "--admit", "NEW=LIKE", text, values.addition)
    text = (
        "the rule: auto (default; where all candidates agree their table, else hidden cohorts of "
        "individuals), lifagu (the first paper to the letter) or extended (with kinds, and whole "
        "individuals first)"
    )
    if several:
        text = f"rules to compare, side by side; {text}"
        several_of(group, "--fill", "METHOD", text, choices=RULES)
    else:
        group.add_argument("--fill", choices=RULES, default="", dest="by", help=text)
    text = (
        "how far lifagu and extended look: 2 is the paper's neighbourhood (default), 4, 6, … more, "
        "backing off to fewer"
    )
    value(group, "--steps", "K", text, type=int)
    text = (
        "tables within a share E of each other (such as 0.01) become their mean, "
        "and the error is bounded"
    )
    value(group, "--tolerance", "E", text, type=values.tolerance)
    flag(group, "--up-to-scale", "tables that differ by a factor agree")
    text = (
        "arguments that may be swapped count as one position, "
        "and tables may list theirs in any order"
    )
    flag(group, "--commutative", text)
    text = "where cohorts fill holes: leave tables that were estimated from records as they are"
    flag(group, "--keep-known", text)


def combine(parser: Parser, several: bool = False) -> None:
    """What to answer with where tables compete; several: ways to be compared."""
    text = "how competing tables are used; " + "; ".join(
        f"{each}: {words}" for each, words in COMBINE.items()
    )
    if several:
        text = f"{text}; several are compared"
        several_of(parser, "--combine", None, text, dest="ways", choices=WAYS)
    else:
        parser.add_argument("--combine", choices=WAYS, default="", help=text)


def interval(parser: Parser) -> None:
    """Limits of answers."""
    text = (
        "limits of each probability: between them lies this share, such as 0.9, of the answers "
        "that one would have if the classes and tables of holes were known"
    )
    value(parser, "--interval", "P", text, type=values.share)


def engine(parser: Parser, choices: Sequence[str], explain: bool = True) -> None:
    """Which engine answers."""
    text = "; ".join(f"{each}: {words}" for each, words in ENGINES.items() if each in choices)
    parser.add_argument("--engine", choices=choices, default="auto", help=text)
    if "bp" in choices:
        belief_propagation(parser)
    if explain:
        flag(parser, "--explain", EXPLAIN)


def memory_limit(parser: Parser) -> None:
    """The memory to keep within."""
    text = "keep within it or refuse, such as 2G or 500M (default: three quarters of what is free)"
    value(parser, "--memory-limit", "SIZE", text, type=values.size)


def on(parser: Parser) -> None:
    """Where to work on folders."""
    text = (
        "where to work on a folder of Parquet tables: memory, duckdb, spark or spark=MASTER; "
        "auto (default): in memory while it fits"
    )
    value(parser, "--on", "WHERE", text, type=values.place, default="auto")
    text = "where a database keeps what does not fit in memory (default: the system's place)"
    value(parser, "--temp", "DIR", text)


def belief_propagation(parser: Parser) -> None:
    """Settings of belief propagation."""
    group = parser.add_argument_group("belief propagation (--engine bp)")
    text = "share of the old message kept (default 0)"
    value(group, "--damping", "D", text, type=float, default=0.0)
    text = "in which order messages are passed"
    group.add_argument("--schedule", choices=SCHEDULES, default="parallel", help=text)
    text = "change at which to stop (default 1e-10)"
    value(group, "--bp-tolerance", "E", text, type=float, default=1e-10)
    text = "how many at the most (default 1000)"
    value(group, "--iterations", "N", text, type=int, default=1000)


def json(parser: Parser) -> None:
    """Results as JSON."""
    flag(parser, "--json", "one JSON object on stdout")


def quiet(parser: Parser) -> None:
    """Nothing on stderr but errors, and warnings that what was found may be far off."""
    flag(parser, "--quiet", "no progress and no notes on stderr; warnings stay")
