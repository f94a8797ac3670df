"""The compiled kernel, where there is one; numpy and plain Python give the same results.

It is built when the package is installed where a C++ compiler is, from the folder `kernel`.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

INTERFACE = 2  # of the compiled module: one that was built from other sources is not used


def _load() -> ModuleType | None:
    try:
        module = import_module("lifagu._kernel")
    except ImportError:
        return None
    return module if getattr(module, "INTERFACE", None) == INTERFACE else None


_kernel = _load()


def loaded() -> ModuleType | None:
    """The compiled module, None if there is none."""
    return _kernel


def has_kernel() -> bool:
    """Whether compiled code runs; if not, its readable reference does, equal but slow.

    To have it, install the package where a C++ compiler is, such as g++.

    Returns
    -------
    bool

    Examples
    --------
    >>> has_kernel() in (True, False)
    True
    """
    return _kernel is not None
