"""Attributes that are computed when first asked for, and then kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

_Value = TypeVar("_Value")


class cached_property(Generic[_Value]):
    """As in functools, without the lock that it has before Python 3.12.

    That lock is one for all instances, so that threads wait for one another where they need not,
    and a process that is forked while a thread holds it waits for ever. Without it two threads may
    compute the same at once; both then have what was kept first.

    >>> class Square:
    ...     def __init__(self, side):
    ...         self.side = side
    ...
    ...     @cached_property
    ...     def area(self):
    ...         print("computed")
    ...         return self.side**2
    >>> square = Square(3)
    >>> square.area, square.area
    computed
    (9, 9)
    """

    def __init__(self, compute: Callable[[Any], _Value]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> _Value: ...

    def __get__(self, instance: object, owner: type) -> Self | _Value:
        if instance is None:
            return self
        value: _Value = instance.__dict__.setdefault(self._name, self._compute(instance))
        return value
