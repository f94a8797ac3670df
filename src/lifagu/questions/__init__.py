"""The case: one model with holes, what was observed, who was added, how holes are filled, and where
work is done.
"""

from __future__ import annotations

from lifagu.questions.case import Case, open_case

open = open_case  # as people call it

__all__ = ["Case", "open"]
