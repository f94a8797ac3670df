"""``lifagu init``: a draft made, written, judged, and told in a few lines."""

from __future__ import annotations

import argparse
import shlex
from contextlib import closing
from typing import TYPE_CHECKING

import lifagu
from lifagu.basics.words import counted
from lifagu.cli.output import ProgressLine, note, say, say_json, some

if TYPE_CHECKING:
    from lifagu import Draft, Validation
    from lifagu.drafting.open_questions import Saying

FEW = 6  # names in one line, and lines of questions
SAYING = {
    "key": "`--key {table}={columns}`",
    "link": "`--link {place}={target}`",
    "no_link": "`--link {place}=`",
    "between": ",",
}


def init(options: argparse.Namespace) -> None:
    """Draft a template; print it, or write it and say what it is about."""
    from lifagu.drafting.open_questions import Saying
    from lifagu.drafting.report import explained

    saying = Saying(**SAYING)
    _check_targets(options)
    with closing(ProgressLine(options.quiet)) as progress:
        draft = lifagu.draft(
            options.source,
            keys=dict(options.key),
            links=dict(options.link),
            leave_out=options.leave_out,
            predict=options.predict,
            bins=options.bins,
            sample=options.sample,
            individuals=options.individuals,
            tables=options.tables,
            seed=options.seed,
            query_timeout=options.query_timeout,
            progress=progress,
        )
        if options.out:
            draft.write(options.out)
        judged = draft.validate(seed=options.seed, progress=progress) if options.validate else None
        if options.report:
            draft.write_report(options.report, judged, saying)
    if options.json:
        say_json({**draft.json(saying), **({"validation": judged.json()} if judged else {})})
        return
    if not options.out:
        say(draft.text().rstrip())
    tell = say if options.out else note
    tell(_told(options, draft, judged, saying))
    if options.explain:
        tell("\n".join(["", *explained(draft.found)]))


def _check_targets(options: argparse.Namespace) -> None:
    """Refuse now what could not be written later."""
    for path, ending in ((options.out, ".json"), (options.report, ".md")):
        if path and not path.lower().endswith(ending):
            raise lifagu.FormatError(f"{path}: name a file that ends in {ending}")


def _told(
    options: argparse.Namespace, draft: Draft, judged: Validation | None, saying: Saying
) -> str:
    found = draft.found
    rows = sum(each.rows for each in found.tables.values())
    gaps = sum(each.gaps for each in found.asked)
    names = some([each.name for each in found.asked], FEW)
    asked = f"{gaps:,} gaps to predict in" if gaps else "no gaps; it can tell about"
    lines = [
        f"{counted(len(found.tables), 'table')}, {rows:,} rows: {asked} {names}",
        f"{counted(len(found.drafted), 'table')} to learn over "
        f"{counted(len(found.used), 'relation')}; exact answers by {found.width}",
    ]
    from lifagu.drafting.open_questions import left_out, questions
    from lifagu.drafting.report import verdict

    lines += map(str, found.parts)
    things = len(list(left_out(found))) + len(found.skipped)
    lines += [f"left out: {counted(things, 'thing')}, see --report FILE"]
    asks = [each.removeprefix("- ") for each in questions(found, saying)]
    lines += [f"to know: {each}" for each in asks[:FEW]]
    if len(asks) > FEW:
        lines.append(f"… and {len(asks) - FEW} more questions, see --report FILE")
    if judged is not None:
        lines += [verdict(judged), judged.judgement()]
    if options.out:
        path = shlex.quote(options.out)
        source = draft.source.address
        files = isinstance(source, str) and not _is_database(source)
        target = "--out RESULTS" if files else "--write"
        lines += ["", f"now: lifagu validate {path}", f"then: lifagu impute {path} {target}"]
    return "\n".join(lines)


def _is_database(address: str) -> bool:
    from lifagu.data.databases.addresses import DUCKDB, SQLITE

    return "://" in address or address.lower().endswith((*DUCKDB, *SQLITE))
