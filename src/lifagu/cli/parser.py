"""What can be typed: the commands and their options. Imports nothing heavy, so that help comes at
once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from lifagu.cli import options, values
from lifagu.cli.options import Parser

ENGINES = ("auto", "lifted", "ground", "bp", "enumerate")
UNKNOWN = ("one", "mean", "mixture", "bounds")
FIGURES = ("graph", "colours", "lifted", "transfers")
SHELLS = ("bash", "zsh", "tcsh")
NO_KERNEL = "none, the slower reference runs; to have it, install lifagu where a C++ compiler is"


class Version(argparse.Action):
    """Print the version and whether there is a compiled kernel; looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Print and exit."""
        import lifagu
        from lifagu.basics.kernel import has_kernel

        kernel = "compiled" if has_kernel() else NO_KERNEL
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
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=Parser
    )

    def command(name: str, summary: str, **settings: Any) -> Parser:
        added: Parser = commands.add_parser(name, help=summary, description=summary, **settings)
        return added

    _demo(
        command("demo", "a hospital's database with holes and a new patient, explained on screen")
    )
    _check(command("check", "validate a model file and say what is wrong where"))
    _info(
        command("info", "sizes, ranges, unknown factors, connected parts, and what could be asked")
    )
    _lift(
        command(
            "lift", "fill unknown factors from symmetric places, show what looks alike, and lift it"
        )
    )
    _query(command("query", "P(variables | evidence), exactly"))
    _marginals(command("marginals", "P(variable | evidence) of every variable, in one pass"))
    _map(command("map", "a most probable assignment and the log of its weight"))
    _logz(command("logz", "natural log of the total weight, with the evidence fixed"))
    _impute(
        command(
            "impute",
            "fill what is unknown in a model or a database, answer, and say what rests on what",
        )
    )
    _convert(command("convert", "translate a model between formats, by file ending"))
    _plot(
        command(
            "plot",
            "draw a model: as it is, coloured by what looks alike, lifted, or with who lends to whom",
        )
    )
    _serve(command("serve", "a page on this machine: see the graph, fill holes, pass colours, ask"))
    _experiment(
        command("experiment", "repeat an evaluation, and write tables, a figure and a report")
    )
    completion = command(
        "completion", "print a script that completes lifagu's commands in your shell"
    )
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
    parser.add_argument(
        "--out", metavar="FOLDER", help="keep the hospital's database and template in a folder"
    )


def _check(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", nargs="?", help="model file")
    options.database(parser)
    parser.add_argument(
        "--schema", action="store_true", help="print the JSON Schema of model files instead"
    )


def _info(parser: Parser) -> None:
    options.model(parser)
    options.filling(parser, theta=False)
    options.json(parser)


def _lift(parser: Parser) -> None:
    options.model(parser)
    options.filling(parser)
    options.evidence(parser)
    parser.add_argument(
        "--rounds", action="store_true", help="show the colours of every round, for small models"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="write the completed model to a file, or as Parquet to a folder (such as result/), there with all results",
    )
    options.json(parser)
    options.on(parser)
    options.memory_limit(parser)
    options.rounds_at_most(parser)
    options.quiet(parser)


def _query(parser: Parser) -> None:
    options.model(parser)
    parser.add_argument(
        "queries",
        metavar="Q",
        nargs="*",
        help="variables to ask about, one answer each; without any, those that a .blog file or a template asks about",
    )
    parser.add_argument("--joint", action="store_true", help="one joint answer about all of them")
    _asking(parser)
    options.on(parser)


def _marginals(parser: Parser) -> None:
    options.model(parser)
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="write variable,value,probability to a .csv file (also .csv.gz) or a .parquet file",
    )
    parser.add_argument(
        "--expand",
        action="store_true",
        help="list the variables of a relational model by name, not by class",
    )
    _asking(parser, unknown=UNKNOWN[:2])


def _map(parser: Parser) -> None:
    options.model(parser)
    _asking(parser, unknown=UNKNOWN[:2], engines=("auto", "lifted", "ground"))


def _logz(parser: Parser) -> None:
    options.model(parser)
    _asking(parser)
    options.on(parser)


def _impute(parser: Parser) -> None:
    options.model(parser)
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
    options.filling(parser)
    options.unknown(parser, UNKNOWN)
    options.evidence(parser)
    options.engine(parser, ("auto", "lifted", "ground", "enumerate"), explain=False)
    options.on(parser)
    options.rounds_at_most(parser)
    options.json(parser)
    options.quiet(parser)


def _asking(
    parser: Parser, unknown: Sequence[str] = UNKNOWN, engines: Sequence[str] = ENGINES
) -> None:
    """What all questions have in common."""
    options.filling(parser)
    options.unknown(parser, unknown)
    options.evidence(parser)
    options.engine(parser, engines)
    options.json(parser)
    options.quiet(parser)


def _convert(parser: Parser) -> None:
    parser.add_argument("source", metavar="IN", help="model file or folder to read")
    parser.add_argument(
        "target",
        metavar="OUT",
        help="file to write (.json, .uai, .fg, .blog, each also with .gz), or a folder, as in big/",
    )
    options.database(parser)


def _plot(parser: Parser) -> None:
    options.model(parser)
    parser.add_argument(
        "--what",
        choices=FIGURES,
        default="graph",
        help="the graph as it is (default), colours of what looks alike, the lifted graph, or who lends tables to whom",
    )
    parser.add_argument(
        "--out", metavar="FILE", required=True, help="file to write: .svg, .png or .pdf"
    )
    options.filling(parser)
    options.evidence(parser)
    options.quiet(parser)


def _serve(parser: Parser) -> None:
    parser.add_argument(
        "model", metavar="MODEL", nargs="?", help="a model to show; without it, shipped examples"
    )
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="address to listen on (default 127.0.0.1, for this machine alone; any other asks for a token)",
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=values.port,
        default=8350,
        help="port (default 8350; 0: any free one)",
    )
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument(
        "--token", action="store_true", help="ask for a token on this machine as well"
    )
    parser.add_argument(
        "--read-only", action="store_true", help="no uploads: MODEL and the shipped examples only"
    )
    parser.add_argument(
        "--time-limit",
        metavar="S",
        type=values.at_least(1),
        default=120,
        help="seconds that one computation may take (default 120)",
    )
    parser.add_argument(
        "--memory-limit",
        metavar="SIZE",
        type=values.size,
        default=4 * 1024**3,
        help="memory that one opened model may use, such as 500M (default 4G)",
    )
    parser.add_argument(
        "--upload-limit",
        metavar="SIZE",
        type=values.size,
        default=128 * 1024**2,
        help="size of an uploaded file, unpacked (default 128M)",
    )
    options.quiet(parser)


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
        "--generators",
        metavar="LIST",
        type=values.names,
        help="some of text, similar, employee, epidemic (default: all)",
    )
    parser.add_argument(
        "--max-d",
        metavar="D",
        type=values.at_least(2),
        default=256,
        help="sizes d = 2, 4, 8, … up to this (default 256)",
    )
    parser.add_argument(
        "--timed",
        metavar="N",
        type=values.at_least(1),
        default=5,
        help="queries of each ground truth to time (default 5)",
    )


def _holes(parser: Parser) -> None:
    _campaign(parser, seeds=5)
    parser.add_argument(
        "--scenarios",
        metavar="LIST",
        type=values.names,
        help="some of the scenarios (default: all)",
    )
    parser.add_argument(
        "--individuals",
        metavar="N",
        type=values.at_least(10),
        default=200,
        help="individuals per hospital (default 200)",
    )
    parser.add_argument(
        "--completions",
        metavar="N",
        type=values.at_least(2),
        default=16,
        help="combinations of competing tables that mixtures and bounds consider (default 16)",
    )


def _campaign(parser: Parser, seeds: int) -> None:
    parser.add_argument(
        "--out", metavar="DIR", required=True, help="folder for all results, made if need be"
    )
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=values.at_least(1),
        default=seeds,
        help=f"use the seeds 0 to N-1 (default {seeds})",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=values.at_least(1),
        default=1,
        help="processes to use (default 1)",
    )
    parser.add_argument(
        "--resume", action="store_true", help="keep what the folder has, and compute the rest"
    )
    options.quiet(parser)
