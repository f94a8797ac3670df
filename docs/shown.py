"""Run the commands that pages show, and put what they print into the pages: ``make shown``.

As in ``tests/house/test_docs.py``, the commands of a page run one after another in one folder, in
which ``examples`` and ``src`` are found; what goes to stderr comes first. Name pages, or all are
done: ``python docs/shown.py docs/hospital.md``.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def shown_again(page: str, folder: Path) -> str:
    """A page with the outputs of its commands as they are now."""
    return BLOCK.sub(lambda block: f"```console\n{_block(block[1], folder)}```", page)


def _block(text: str, folder: Path) -> str:
    first, *parts = re.split(r"^\$ ", text, flags=re.MULTILINE)
    return first + "".join(f"$ {_part(part, folder)}" for part in parts)


def _part(text: str, folder: Path) -> str:
    command, _, output = text.partition("\n")
    program, *arguments = shlex.split(command)
    if program not in ("lifagu", "duckdb"):
        return text
    run = _lifagu if program == "lifagu" else _duckdb
    now = run(arguments, folder)
    # empty lines that set blocks apart stay
    after = output[len(output.rstrip()) :] if output.strip() else output or "\n"
    return f"{command}\n{now.rstrip()}{after}" if now.strip() else f"{command}\n"


def _lifagu(arguments: list[str], folder: Path) -> str:
    run = [sys.executable, "-m", "lifagu", *arguments]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr + done.stdout


def _duckdb(arguments: list[str], folder: Path) -> str:
    *options, file, statement = arguments
    out = io.StringIO()
    with duckdb.connect(str(folder / file)) as database:
        found = database.execute(statement)
        if options == ["-csv"]:
            rows = csv.writer(out, lineterminator="\n")
            rows.writerows([[each[0] for each in found.description], *found.fetchall()])
    return out.getvalue()


def main() -> None:
    """Do so with the pages that are named, or with all."""
    named = [Path(each) for each in sys.argv[1:]]
    for page in named or sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]):
        with TemporaryDirectory() as folder:
            for name in ("examples", "src"):
                (Path(folder) / name).symlink_to(ROOT / name)
            before = page.read_text()
            after = shown_again(before, Path(folder))
        if after != before:
            page.write_text(after)
            sys.stdout.write(f"{page}: changed\n")


if __name__ == "__main__":
    main()
