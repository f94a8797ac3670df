"""What can be typed: the commands and their options. Imports nothing heavy, so that help comes at once."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

ENGINES = ("auto", "lifted", "ground", "bp", "enumerate")
BP_SCHEDULES = ("parallel", "sequential")
UNKNOWN = ("one", "mean", "mixture", "bounds")
FIGURES = ("graph", "colours", "lifted", "transfers")
PLACES = ("auto", "memory", "duckdb", "spark")
SHELLS = ("bash", "zsh", "tcsh")
NO_KERNEL = "none, the slower reference runs; to have it, install lifagu where a C++ compiler is"


class Parser(argparse.ArgumentParser):
    """An argument parser whose mistakes are one line beginning with ``error: ``."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and one line on stderr."""
        sys.stderr.write(f"error: {message} (see {self.prog} --help)\n")
        sys.exit(2)


class Version(argparse.Action):
    """Print the version and whether there is a compiled kernel; looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Print and exit."""
        import lifagu

        kernel = "compiled" if lifagu.has_kernel() else NO_KERNEL
        sys.stdout.write(f"lifagu {lifagu.__version__}\nkernel: {kernel}\n")
        sys.exit(0)


def make_parser() -> Parser:
    """The whole command line."""
    parser = Parser(
        prog="lifagu",
        description="Factor graphs with holes: see what looks alike, and get exact answers with the reasons for them.",
        epilog="Exit status: 0 done, 2 bad usage or input, 3 the question has no answer, 4 it would not fit, "
        "130 interrupted.",
    )
    parser.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)

    def command(name: str, summary: str, **settings: Any) -> Parser:
        added: Parser = commands.add_parser(name, help=summary, description=summary, **settings)
        return added

    _demo(command("demo", "a hospital's database with holes and a new patient, explained on screen"))
    _check(command("check", "validate a model file and say what is wrong where"))
    _info(command("info", "sizes, ranges, unknown factors, connected parts, and what could be asked"))
    _lift(command("lift", "fill unknown factors from symmetric places, show what looks alike, and lift it"))
    _query(command("query", "P(variables | evidence), exactly"))
    _marginals(command("marginals", "P(variable | evidence) of every variable, in one pass"))
    _map(command("map", "a most probable assignment and the log of its weight"))
    _logz(command("logz", "natural log of the total weight, with the evidence fixed"))
    _impute(command("impute", "fill what is unknown in a model or a database, answer, and say what rests on what"))
    _convert(command("convert", "translate a model between formats, by file ending"))
    _plot(command("plot", "draw a model: as it is, coloured by what looks alike, lifted, or with who lends to whom"))
    _serve(command("serve", "a page on this machine: see the graph, fill holes, pass colours, ask"))
    _experiment(command("experiment", "repeat an evaluation, and write tables, a figure and a report"))
    completion = command("completion", "print a script that completes lifagu's commands in your shell")
    completion.add_argument("shell", choices=SHELLS, help="the shell to print it for")
    return parser


def _demo(parser: Parser) -> None:
    parser.add_argument(
        "what",
        choices=("hospital", "paper"),
        nargs="?",
        default="hospital",
        help="the hospital (default), or the small examples of the paper",
    )
    parser.add_argument("--out", metavar="FOLDER", help="keep the hospital's database and template in a folder")


def _check(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", nargs="?", help="model file")
    _database(parser)
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of model files instead")


def _info(parser: Parser) -> None:
    _model(parser)
    _filling(parser, theta=False)
    _json(parser)


def _lift(parser: Parser) -> None:
    _model(parser)
    _filling(parser)
    _evidence(parser)
    parser.add_argument("--rounds", action="store_true", help="show the colours of every round, for small models")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="write the completed model to a file, or as Parquet to a folder (such as result/), there with all results",
    )
    _json(parser)
    _on(parser)
    _memory_limit(parser)
    parser.add_argument(
        "--resume", action="store_true", help="go on with what an interrupted run on an engine has kept in --temp"
    )
    parser.add_argument(
        "--rounds-at-most",
        metavar="N",
        type=_at_least(1),
        default=1000,
        help="rounds of colour passing on an engine before it gives up (default 1000)",
    )
    _quiet(parser)


def _query(parser: Parser) -> None:
    _model(parser)
    parser.add_argument(
        "queries",
        metavar="Q",
        nargs="*",
        help="variables to ask about, one answer each; without any, those that a .blog file or a template asks about",
    )
    parser.add_argument("--joint", action="store_true", help="one joint answer about all of them")
    _asking(parser)
    _on(parser)


def _marginals(parser: Parser) -> None:
    _model(parser)
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="write variable,value,probability to a .csv file (also .csv.gz) or a .parquet file",
    )
    parser.add_argument(
        "--expand", action="store_true", help="list the variables of a relational model by name, not by class"
    )
    _asking(parser, unknown=UNKNOWN[:2])


def _map(parser: Parser) -> None:
    _model(parser)
    _asking(parser, unknown=UNKNOWN[:2], engines=("auto", "lifted", "ground"))


def _logz(parser: Parser) -> None:
    _model(parser)
    _asking(parser)
    _on(parser)


def _impute(parser: Parser) -> None:
    _model(parser)
    parser.add_argument(
        "--queries",
        metavar="Q",
        nargs="+",
        help="variables to ask about (default: what the model asks about itself, else what is near unknown factors)",
    )
    target = parser.add_mutually_exclusive_group()
    target.add_argument(
        "--out",
        metavar="FOLDER",
        help="write transfers, tables and marginals into a folder: as Parquet, or as CSV if its name ends in .csv",
    )
    target.add_argument(
        "--write",
        action="store_true",
        help="put them into the database as lifagu_transfers, lifagu_tables and lifagu_marginals, in one transaction",
    )
    _filling(parser)
    _unknown(parser, UNKNOWN)
    _evidence(parser)
    _engine(parser, ("auto", "lifted", "ground", "enumerate"), explain=False)
    _json(parser)
    _quiet(parser)


def _asking(parser: Parser, unknown: Sequence[str] = UNKNOWN, engines: Sequence[str] = ENGINES) -> None:
    """What all questions have in common."""
    _filling(parser)
    _unknown(parser, unknown)
    _evidence(parser)
    _engine(parser, engines)
    _json(parser)
    _quiet(parser)


def _convert(parser: Parser) -> None:
    parser.add_argument("source", metavar="IN", help="model file or folder to read")
    parser.add_argument(
        "target",
        metavar="OUT",
        help="file to write (.json, .uai, .fg, .blog, each also with .gz), or a folder, as in big/",
    )
    _database(parser)


def _plot(parser: Parser) -> None:
    _model(parser)
    parser.add_argument(
        "--what",
        choices=FIGURES,
        default="graph",
        help="the graph as it is (default), colours of what looks alike, the lifted graph, or who lends tables to whom",
    )
    parser.add_argument("--out", metavar="FILE", required=True, help="file to write: .svg, .png or .pdf")
    _filling(parser)
    _evidence(parser)
    _quiet(parser)


def _serve(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", nargs="?", help="a model to show; without it, shipped examples")
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="address to listen on (default 127.0.0.1, for this machine alone; any other asks for a token)",
    )
    parser.add_argument("--port", metavar="N", type=_port, default=8350, help="port (default 8350; 0: any free one)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument("--token", action="store_true", help="ask for a token on this machine as well")
    parser.add_argument("--read-only", action="store_true", help="no uploads: MODEL and the shipped examples only")
    parser.add_argument(
        "--time-limit",
        metavar="S",
        type=_at_least(1),
        default=120,
        help="seconds that one computation may take (default 120)",
    )
    parser.add_argument(
        "--memory-limit",
        metavar="SIZE",
        type=_size,
        default=4 * 1024**3,
        help="memory that one opened model may use, such as 500M (default 4G)",
    )
    parser.add_argument(
        "--upload-limit",
        metavar="SIZE",
        type=_size,
        default=128 * 1024**2,
        help="size of an uploaded file, unpacked (default 128M)",
    )
    _quiet(parser)


def _experiment(parser: Parser) -> None:
    experiments = parser.add_subparsers(
        dest="experiment", metavar="WHAT", required=True, parser_class=Parser, help="paper or holes"
    )
    paper = "the paper's evaluation: divergence from the truth, and run times of ground and lifted inference"
    holes = "every way to fill holes side by side, on hospitals with hidden cohorts"
    _paper(experiments.add_parser("paper", help=paper, description=paper))
    _holes(experiments.add_parser("holes", help=holes, description=holes))


def _paper(parser: Parser) -> None:
    _campaign(parser, seeds=20)
    parser.add_argument(
        "--generators", metavar="LIST", type=_names, help="some of text, similar, employee, epidemic (default: all)"
    )
    parser.add_argument(
        "--max-d", metavar="D", type=_at_least(2), default=256, help="sizes d = 2, 4, 8, … up to this (default 256)"
    )
    parser.add_argument(
        "--timed", metavar="N", type=_at_least(1), default=5, help="queries of each ground truth to time (default 5)"
    )


def _holes(parser: Parser) -> None:
    _campaign(parser, seeds=5)
    parser.add_argument("--scenarios", metavar="LIST", type=_names, help="some of the scenarios (default: all)")
    parser.add_argument(
        "--individuals", metavar="N", type=_at_least(10), default=200, help="individuals per hospital (default 200)"
    )
    parser.add_argument(
        "--completions",
        metavar="N",
        type=_at_least(2),
        default=16,
        help="combinations of competing tables that mixtures and bounds consider (default 16)",
    )


def _campaign(parser: Parser, seeds: int) -> None:
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for all results, made if need be")
    parser.add_argument(
        "--seeds", metavar="N", type=_at_least(1), default=seeds, help=f"use the seeds 0 to N-1 (default {seeds})"
    )
    parser.add_argument("--jobs", metavar="N", type=_at_least(1), default=1, help="processes to use (default 1)")
    parser.add_argument("--resume", action="store_true", help="keep what the folder has, and compute the rest")
    _quiet(parser)


def _model(parser: Parser) -> None:
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="a file (.json, .uai, .fg, .blog, .pfl, .bif, …, also with .gz) or a folder of Parquet tables "
        "(see docs/formats.md)",
    )
    _database(parser)


def _database(parser: Parser) -> None:
    parser.add_argument(
        "--db",
        metavar="URL",
        help="the database that a template is to read instead of its own: a path or postgresql://…",
    )


def _evidence(parser: Parser) -> None:
    parser.add_argument(
        "--evidence",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=_observation,
        help="an observed value (repeatable; overrides the file's own evidence name by name)",
    )
    parser.add_argument(
        "--evidence-file", metavar="FILE", help="more observed values: a UAI .evid file or a JSON object"
    )


def _filling(parser: Parser, theta: bool = True) -> None:
    group = parser.add_argument_group("filling holes")
    if theta:
        group.add_argument(
            "--theta",
            metavar="T",
            type=_theta,
            default=0.0,
            help="share of the candidates that must agree before an unknown factor takes their table (default 0)",
        )
    group.add_argument(
        "--add",
        metavar="NEW=LIKE",
        action="append",
        default=[],
        type=_addition,
        help="add an individual with the variables and scopes of another one, all tables unknown (repeatable)",
    )
    group.add_argument("--structure-only", action="store_true", help="use neither kinds nor individuals")
    group.add_argument("--published", action="store_true", help="the paper's algorithm to the letter, for comparison")
    group.add_argument(
        "--steps", metavar="K", type=int, help="compare neighbourhoods of 2, 4, 6, … steps, backing off to fewer"
    )
    group.add_argument(
        "--profiles", action="store_true", help="take tables from individuals that agree on other, informative tables"
    )
    group.add_argument(
        "--evidence-in-roles", action="store_true", help="arguments with different evidence differ (the paper's rule)"
    )
    group.add_argument(
        "--digits", metavar="N", type=int, help="tables that are equal to N significant digits become the first one"
    )
    group.add_argument(
        "--tolerance",
        metavar="E",
        type=_tolerance,
        help="tables within a share E of each other (such as 0.01) become their mean, and the error is bounded",
    )
    group.add_argument("--up-to-scale", action="store_true", help="tables that differ by a factor agree")
    group.add_argument(
        "--commutative",
        action="store_true",
        help="arguments that may be swapped count as one position, and tables may list theirs in any order",
    )


def _unknown(parser: Parser, choices: Sequence[str]) -> None:
    parser.add_argument(
        "--unknown",
        choices=choices,
        default="one",
        help="answer with the winning tables (one, default), their mean, the mixture over all competing tables, or "
        "bounds over them",
    )


def _engine(parser: Parser, choices: Sequence[str], explain: bool = True) -> None:
    parser.add_argument(
        "--engine",
        choices=choices,
        default="auto",
        help="auto: the best exact one (default); lifted: what looks alike together; ground: elimination; bp: belief "
        "propagation, not exact; enumerate: the oracle, for small models",
    )
    if "bp" in choices:
        _belief_propagation(parser)
    if explain:
        parser.add_argument(
            "--explain", action="store_true", help="show the plan and its cost on stderr before running"
        )
    _memory_limit(parser)


def _memory_limit(parser: Parser) -> None:
    parser.add_argument(
        "--memory-limit",
        metavar="SIZE",
        type=_size,
        help="keep within it or refuse, such as 2G or 500M (default: three quarters of what is free)",
    )


def _on(parser: Parser) -> None:
    parser.add_argument(
        "--on",
        metavar="WHERE",
        type=_place,
        default="auto",
        help="where to work on a folder of Parquet tables: memory, duckdb, spark or spark=MASTER; auto (default): in "
        "memory while it fits",
    )
    parser.add_argument(
        "--temp", metavar="DIR", help="where a database keeps what does not fit in memory (default: the system's place)"
    )


def _belief_propagation(parser: Parser) -> None:
    bp = parser.add_argument_group("belief propagation (--engine bp)")
    bp.add_argument("--damping", metavar="D", type=float, default=0.0, help="share of the old message kept (default 0)")
    bp.add_argument("--schedule", choices=BP_SCHEDULES, default="parallel", help="in which order messages are passed")
    bp.add_argument(
        "--bp-tolerance", metavar="E", type=float, default=1e-10, help="change at which to stop (default 1e-10)"
    )
    bp.add_argument("--iterations", metavar="N", type=int, default=1000, help="how many at the most (default 1000)")


def _json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def _quiet(parser: Parser) -> None:
    parser.add_argument("--quiet", action="store_true", help="no progress and no notes on stderr")


def _place(text: str) -> str:
    kind, sign, master = text.partition("=")
    if not (text in PLACES or (kind == "spark" and sign and master)):
        raise argparse.ArgumentTypeError(f"'{text}' is none of {', '.join(PLACES)} and spark=MASTER")
    return text


def _observation(text: str) -> tuple[str, str]:
    name, sign, value = text.rpartition("=")
    if not (name and sign and value):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME=VALUE")
    return name, value


def _addition(text: str) -> tuple[str, str]:
    new, sign, like = text.partition("=")
    if not (new and sign and like):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NEW=LIKE")
    return new, like


def _theta(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number between 0 and 1")
    return value


def _names(text: str) -> list[str]:
    names = [each.strip() for each in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of names separated by commas")
    return names


def _at_least(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        if not (text.isdecimal() and int(text) >= least):
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least {least}")
        return int(text)

    return whole


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"'{text}' is not a port between 0 and 65535")
    return int(text)


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share of at least 0 and less than 1, such as 0.01")
    return value


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size; write for instance 2G, 500M or 1000000")
    return int(float(match[1]) * 1024 ** "_kmgt".index(match[2] or "_"))
