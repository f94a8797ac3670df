"""The case: a model with holes, what was observed, how holes are filled, where work is done."""

from __future__ import annotations

from lifagu.questions.case import Case, open_case

open = open_case  # as people call it

__all__ = ["Case", "open"]
