"""Values that never change: copied, pickled or sent to other processes, they stay read-only."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from lifagu.basics.arrays import frozen
from lifagu.basics.cached import cached_property


class Frozen:
    """A value that never changes, so that a copy of it is itself.

    Pickled, it takes along what it was made of; what it found out since is found out again.
    """

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        own = type(self)
        return {
            name: value
            for name, value in self.__dict__.items()
            if not isinstance(getattr(own, name, None), cached_property)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: _read_only(value) for name, value in state.items()})


def _read_only(value: Any) -> Any:
    """The same value; arrays in it, which lose that when they are pickled, are read-only again."""
    if isinstance(value, np.ndarray):
        frozen(value)
    elif isinstance(value, dict):
        _read_only(list(value.values()))
    elif isinstance(value, tuple | list) and value and isinstance(value[0], np.ndarray | tuple):
        for each in value:
            _read_only(each)
    return value
