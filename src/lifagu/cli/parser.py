"""What can be typed: the commands and their options. Imports nothing heavy: help comes at once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from lifagu.basics.choices import ENGINES, EXACT_ENGINES, FIGURES
from lifagu.cli import options, values
from lifagu.cli.exit_statuses import EXIT_STATUSES
from lifagu.cli.options import Parser, count, flag, several_of, value

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
    statuses = ", ".join(f"{status} {meaning}" for status, meaning in EXIT_STATUSES.items())
    parser = Parser(
        prog="lifagu",
        description="Factor graphs with holes: see what looks alike, "
        "and get exact answers with the reasons for them.",
        epilog=f"Exit status: {statuses}.",
    )
    parser.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    _add_commands(parser, COMMANDS, dest="command", metavar="COMMAND")
    return parser


def _add_commands(parser: Parser, commands: Commands, **settings: Any) -> None:
    """Commands by name, each with what adds its options, and its summary."""
    group = parser.add_subparsers(required=True, parser_class=Parser, **settings)
    for name, (add_options, summary) in commands.items():
        add_options(group.add_parser(name, help=summary, description=summary))


def _demo(parser: Parser) -> None:
    text = "the hospital (default), or the small examples of the paper"
    examples = ("hospital", "paper")
    parser.add_argument("what", choices=examples, nargs="?", default="hospital", help=text)
    value(parser, "--out", "FOLDER", "keep the hospital's database and template in a folder")


def _check(parser: Parser) -> None:
    value(parser, "model", "MODEL", "model file", nargs="?")
    options.database(parser)
    flag(parser, "--schema", "print the JSON Schema of model files instead")


def _info(parser: Parser) -> None:
    options.model(parser)
    options.filling(parser, theta=False)
    options.json(parser)


def _lift(parser: Parser) -> None:
    options.model(parser)
    options.filling(parser)
    options.combine(parser)
    options.evidence(parser)
    flag(parser, "--explain", "say what observations tell about filled tables, where it is most")
    flag(parser, "--rounds", "show the colours of every round, for small models")
    text = (
        "write the completed model to a file, or as Parquet to a folder (such as result/), "
        "there with all results"
    )
    value(parser, "--out", "FILE", text)
    options.json(parser)
    options.on(parser)
    options.quiet(parser)


def _query(parser: Parser) -> None:
    options.model(parser)
    text = (
        "variables to ask about, one answer each, or relations (or kinds) to ask about all "
        "their individuals; without any, those that a .blog file or a template asks about"
    )
    value(parser, "queries", "Q", text, nargs="*", default=[])
    flag(parser, "--joint", "one joint answer about all of them")
    options.whole_relations(parser)
    text = (
        "answer as it is and with this observed, side by side (repeatable); "
        "several observations are separated by ; or are a JSON object"
    )
    value(parser, "--scenario", "NAME=VALUE;…", text, **_many(values.scenario))
    _asking(parser)
    options.interval(parser)
    options.on(parser)


def _marginals(parser: Parser) -> None:
    options.model(parser)
    text = "write variable,value,probability to a .csv file (also .csv.gz) or a .parquet file"
    value(parser, "--out", "FILE", text)
    flag(parser, "--expand", "list the variables of a relational model by name, not by class")
    _asking(parser)


def _map(parser: Parser) -> None:
    options.model(parser)
    _asking(parser, engines=EXACT_ENGINES)


def _logz(parser: Parser) -> None:
    options.model(parser)
    _asking(parser)
    options.on(parser)


def _impute(parser: Parser) -> None:
    options.model(parser)
    text = (
        "variables or whole relations to ask about (default: what the model asks about itself, "
        "else what is near unknown factors)"
    )
    several_of(parser, "--queries", "Q", text)
    target = parser.add_mutually_exclusive_group()
    text = (
        "write transfers, tables, marginals and evidence into a folder: as Parquet, "
        "or as CSV if its name ends in .csv; run.json beside them says what the run was"
    )
    value(target, "--out", "FOLDER", text)
    text = (
        "put them into the database as lifagu_transfers, lifagu_tables and lifagu_marginals, "
        "in one transaction"
    )
    flag(target, "--write", text)
    options.filling(parser)
    options.combine(parser)
    options.evidence(parser)
    options.engine(parser, EXACT_ENGINES, explain=False)
    options.on(parser)
    options.json(parser)
    options.quiet(parser)


def _init(parser: Parser) -> None:
    text = (
        "a database (.sqlite, .duckdb, postgresql://…), a data file (.csv, .parquet), "
        "or a folder of them"
    )
    value(parser, "source", "SOURCE", text)
    value(parser, "--out", "FILE", "write the template to a .json file (default: print it)")
    value(parser, "--report", "FILE", "write what was understood and left out to a .md file")
    flag(
        parser,
        "--validate",
        "say how good the draft is: hide a fifth of the cells and predict them",
    )
    flag(parser, "--explain", "show for each relation what was chosen, and what each choice gains")
    text = "columns or relations to predict (default: all columns with gaps)"
    several_of(parser, "--predict", "NAME", text)
    text = "columns that tell rows of a table apart (repeatable)"
    value(parser, "--key", "TABLE=COLUMN,…", text, **_many(values.key))
    text = "a column that names rows of a table, or none if nothing follows (repeatable)"
    value(parser, "--link", "TABLE.COLUMN=TABLE", text, **_many(values.link))
    text = "tables, or columns as TABLE.COLUMN, that are not to be used"
    several_of(parser, "--leave-out", "NAME", text)
    text = "bins that numbers are put into (default: 3 to 5, more where there are more rows)"
    value(parser, "--bins", "N", text, type=values.at_least(2))
    count(parser, "--sample", "N", 100, 50_000, "rows of each table to look at; more are sampled")
    text = "rows of each table in the model; of more, those with gaps and some others"
    count(parser, "--individuals", "N", 100, 100_000, text)
    count(parser, "--tables", "N", 1, 400, "tables to choose at most")
    count(parser, "--seed", "S", 0, 0, "of the sample, and of hidden cells")
    options.query_timeout(parser)
    options.json(parser)
    options.quiet(parser)


def _many(kind: Callable[[str], Any]) -> dict[str, Any]:
    return {"type": kind, "action": "append", "default": []}


def _learn(parser: Parser) -> None:
    options.model(parser)
    text = (
        "write the template with literal tables in place of those that were to be learned "
        "(.json; tables of many groups as Parquet beside it)"
    )
    value(parser, "--out", "FILE", text)
    count(parser, "--seed", "S", 0, 0, "of all that is random")
    count(parser, "--restarts", "N", 1, 4, "times that hidden relations are begun anew")
    flag(parser, "--keep-best", "on Ctrl-C, end with the tables found so far")
    options.json(parser)
    options.quiet(parser)


def _validate(parser: Parser) -> None:
    options.model(parser)
    hidden = parser.add_mutually_exclusive_group()
    text = "share of the observed cells to hide (default 0.2)"
    value(hidden, "--hide", "SHARE", text, type=values.share, default=0.2)
    text = "hide all cells of so many individuals instead, as if they were new"
    value(hidden, "--hide-individuals", "N", text, type=values.at_least(1))
    text = "hide exactly the cells of a .csv file with the columns relation and individual"
    value(hidden, "--hidden", "FILE", text)
    count(parser, "--seed", "S", 0, 0, "which cells chance picks")
    count(parser, "--folds", "K", 1, 1, "rounds in which every cell is hidden once")
    text = "relations whose cells are hidden and scored (default: all)"
    several_of(parser, "--only", "REL", text)
    value(parser, "--cells", "FILE", "write every hidden cell and its prediction to a .csv file")
    options.filling(parser, several=True)
    options.combine(parser, several=True)
    options.evidence(parser)
    options.engine(parser, EXACT_ENGINES, explain=False)
    options.on(parser)
    options.json(parser)
    options.quiet(parser)


def _show(parser: Parser) -> None:
    options.model(parser)
    text = "who: its name, with its domain before it (Machine:M-200) where two domains have it"
    value(parser, "individual", "NAME", text)
    text = "individuals to name that it is like, at most"
    count(parser, "--like", "N", 0, 5, text)
    options.filling(parser)
    options.combine(parser)
    options.evidence(parser)
    options.json(parser)
    options.quiet(parser)


def _compare(parser: Parser) -> None:
    value(parser, "before", "A", "a folder of impute --out")
    value(parser, "after", "B", "the same of the other run")
    count(parser, "--top", "N", 0, 10, "changes of each sort to name, at most")
    options.json(parser)


def _asking(parser: Parser, engines: Sequence[str] = ENGINES) -> None:
    """What all questions have in common."""
    options.filling(parser)
    options.combine(parser)
    options.evidence(parser)
    options.engine(parser, engines)
    options.json(parser)
    options.quiet(parser)


def _convert(parser: Parser) -> None:
    value(parser, "source", "IN", "model file or folder to read")
    text = "file to write (.json, .uai, .fg, .blog, each also with .gz), or a folder, as in big/"
    value(parser, "target", "OUT", text)
    options.database(parser)


def _plot(parser: Parser) -> None:
    options.model(parser)
    text = (
        "the graph as it is (default), colours of what looks alike, the lifted graph, "
        "or who lends tables to whom"
    )
    parser.add_argument("--what", choices=FIGURES, default="graph", help=text)
    value(parser, "--out", "FILE", "file to write: .svg, .png or .pdf", required=True)
    options.filling(parser)
    options.evidence(parser)
    options.quiet(parser)


def _serve(parser: Parser) -> None:
    value(parser, "model", "MODEL", "a model to show; without it, shipped examples", nargs="?")
    options.database(parser, memory=False)
    text = "address to listen on (default 127.0.0.1, for this machine alone)"
    value(parser, "--host", "ADDRESS", text, default="127.0.0.1")
    text = "port (default 8350; 0: any free one)"
    value(parser, "--port", "N", text, type=values.port, default=8350)
    flag(parser, "--open", "open the page in a browser")
    flag(parser, "--read-only", "no uploads: MODEL and the shipped examples only")
    count(parser, "--time-limit", "S", 1, 120, "seconds that one computation may take")
    text = "memory that one opened model may use, such as 500M (default 4G)"
    value(parser, "--memory-limit", "SIZE", text, type=values.size, default=4 * 1024**3)
    text = "size of an uploaded file, unpacked (default 128M)"
    value(parser, "--upload-limit", "SIZE", text, type=values.size, default=128 * 1024**2)
    options.quiet(parser)


def _examples(parser: Parser) -> None:
    value(parser, "name", "NAME", "an example to copy with its data (default: list all)", nargs="?")
    value(parser, "--out", "FOLDER", "where to copy it (default: the current folder)")
    options.json(parser)


Commands = Mapping[str, tuple[Callable[[Parser], None], str]]
COMMANDS: Commands = {
    "demo": (_demo, "a hospital's database with holes and a new patient, explained on screen"),
    "check": (_check, "validate a model file and say what is wrong where"),
    "info": (_info, "sizes, ranges, unknown factors, connected parts, and what could be asked"),
    "lift": (
        _lift,
        "fill unknown factors from symmetric places, show what looks alike, and lift it",
    ),
    "query": (_query, "P(variables | evidence), exactly"),
    "marginals": (_marginals, "P(variable | evidence) of every variable, in one pass"),
    "map": (_map, "a most probable assignment and the log of its weight"),
    "logz": (_logz, "natural log of the total weight, with the evidence fixed"),
    "impute": (
        _impute,
        "fill what is unknown in a model or a database, answer, and say what rests on what",
    ),
    "init": (_init, "draft a template from a database or data files, and say what it understood"),
    "learn": (_learn, "learn the tables that a template marks, from its own database with NULLs"),
    "validate": (
        _validate,
        "hide observed cells, predict them from the others, and say how far to trust answers",
    ),
    "show": (_show, "everything known, filled and predicted about one individual, as a card"),
    "compare": (_compare, "what changed between two results, and why"),
    "convert": (_convert, "translate a model between formats, by file ending"),
    "plot": (
        _plot,
        "draw a model: as it is, coloured by what looks alike, lifted, or with who lends to whom",
    ),
    "serve": (_serve, "a page on this machine: see the graph, fill holes, pass colours, ask"),
    "examples": (_examples, "models to try, which can be asked by name; or copy one with its data"),
}
