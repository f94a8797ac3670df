"""An instance: a ground truth, the factors that are made unknown, and what is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lifagu.experiments.drafts import Draft


@dataclass(frozen=True, eq=False)
class Instance:
    """A ground truth with d questions; cohort_sizes: how many were drawn to behave alike."""

    draft: Draft
    cohort_sizes: tuple[int, ...]
    hidden: tuple[int, ...]
    questions: tuple[str, ...]


Generator = Callable[[int, np.random.Generator], Instance]
