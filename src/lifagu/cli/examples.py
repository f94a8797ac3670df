"""``lifagu examples``: what there is to try, and copies of it."""

from __future__ import annotations

import argparse

import lifagu
from lifagu.cli.output import say, say_json, table
from lifagu.questions.shipped import SHIPPED, copy_example


def examples(options: argparse.Namespace) -> None:
    """List the examples by name, or copy one with its data."""
    if options.name is None:
        if options.out is not None:
            raise lifagu.ModelError("name the example to copy; lifagu examples lists them")
        _list(options.json)
        return
    model = copy_example(options.name, options.out or ".")
    copied = [str(model.parent / each) for each in SHIPPED[options.name].files]
    if options.json:
        say_json({"model": str(model), "files": copied})
    else:
        say(f"{', '.join(copied)}\nnow, for instance: lifagu info {model}")


def _list(as_json: bool) -> None:
    if as_json:
        listed = [
            {"name": name, "about": each.about, "files": list(each.files)}
            for name, each in SHIPPED.items()
        ]
        say_json({"examples": listed})
        return
    say(table((name, each.about) for name, each in SHIPPED.items()))
    say("ask one by name: lifagu info epidemic; copy one: lifagu examples NAME --out FOLDER")
    say("a hospital with its database: lifagu demo --out FOLDER")
