"""What the processes aside will need, imported once for all of them before they begin."""

from __future__ import annotations

from importlib import import_module

for _room in ("answers", "storage", "grounding", "drawing", "symmetry.colour", "symmetry.lifting", "symmetry.transfer"):
    import_module(f"lifagu.{_room}")
