"""What the processes aside will need, imported once for all of them before they begin."""

from __future__ import annotations

from importlib import import_module

import numpy.ma  # noqa: F401  which numpy itself imports late

for _name in (
    *("questions", "answers", "storage", "grounding", "plots", "drawing.svg", "drawing.lifted"),
    *("symmetry.colour", "symmetry.lifting", "symmetry.transfer", "formats.files"),
):
    import_module(f"lifagu.{_name}")
