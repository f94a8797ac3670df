"""Colour passing from the definition on plain lists, and arrays to try it on, good and broken.

Run as a program it tries a compiled kernel given by its path, so that one built with sanitizers can
be tried in a process of its own.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Iterable
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

import numpy as np

Arrays = dict[str, Any]  # offsets, arguments, positions (or None), variable_start, factor_start


def numbered(things: Iterable[Hashable]) -> list[int]:
    """Equal things get equal numbers, by first occurrence."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(thing, len(numbers)) for thing in things]


def naive_colours(arrays: Arrays) -> tuple[list[int], list[int]]:
    """Signatures of all nodes, again until the number of colours stands (semantics §2)."""
    offsets, arguments = arrays["offsets"].tolist(), arrays["arguments"].tolist()
    variables, factors = (
        numbered(arrays["variable_start"].tolist()),
        numbered(arrays["factor_start"].tolist()),
    )
    owner = [
        factor
        for factor in range(len(factors))
        for _ in range(offsets[factor], offsets[factor + 1])
    ]
    sent = [place - offsets[factor] for place, factor in enumerate(owner)]
    sent = sent if arrays["positions"] is None else arrays["positions"].tolist()
    edges = list(zip(owner, arguments, sent, strict=True))
    while True:
        seen: list[Counter[Hashable]] = [Counter() for _ in factors]
        heard: list[Counter[Hashable]] = [Counter() for _ in variables]
        for factor, variable, position in edges:
            seen[factor][position, variables[variable]] += 1
            heard[variable][position, factors[factor]] += 1
        new_variables = numbered(
            (own, frozenset(bag.items())) for own, bag in zip(variables, heard, strict=True)
        )
        new_factors = numbered(
            (own, frozenset(bag.items())) for own, bag in zip(factors, seen, strict=True)
        )
        if (new_variables, new_factors) == (variables, factors):
            return variables, factors
        variables, factors = new_variables, new_factors


def random_arrays(rng: np.random.Generator) -> Arrays:
    """A graph of up to a hundred nodes: mixed arity, isolated variables, repeats, start colours."""
    variables, factors = int(rng.integers(1, 28)), int(rng.integers(0, 36))
    arity = rng.integers(0, min(variables, int(rng.integers(1, 7))) + 1, factors)
    regular = rng.random() < 0.6  # neighbouring variables, so that much looks alike
    scopes = [
        (rng.integers(variables) + np.arange(size)) % variables
        if regular
        else rng.permutation(variables)[:size]
        for size in arity.tolist()
    ]
    arrays: Arrays = {
        "offsets": np.concatenate(([0], np.cumsum(arity))).astype(np.int64),
        "arguments": np.concatenate([np.zeros(0, dtype=np.int64), *scopes]).astype(np.int64),
        "positions": None,
        "variable_start": rng.integers(0, rng.integers(1, 4), variables) % variables,
        "factor_start": rng.integers(0, rng.integers(1, 4), factors) % max(factors, 1),
    }
    arrays = repeated(arrays, int(rng.choice([1, 1, 2, 3])))
    if rng.random() < 0.3:
        arrays["positions"] = rng.integers(0, 3, len(arrays["arguments"])) % max(
            len(arrays["arguments"]), 1
        )
    return arrays


def repeated(arrays: Arrays, times: int) -> Arrays:
    """The same graph several times side by side."""
    variables, arguments = len(arrays["variable_start"]), len(arrays["arguments"])
    ends = [arrays["offsets"][1:] + arguments * each for each in range(times)]
    return {
        "offsets": np.concatenate([arrays["offsets"][:1], *ends]),
        "arguments": np.concatenate(
            [arrays["arguments"] + variables * each for each in range(times)]
        ),
        "positions": None,
        "variable_start": np.tile(arrays["variable_start"], times),
        "factor_start": np.tile(arrays["factor_start"], times),
    }


def kernel_colours(
    kernel: ModuleType, arrays: Arrays, progress: Any = None, *, wide: bool = False, share: int = 4
) -> tuple[list[int], list[int]]:
    """The same by the compiled kernel."""
    variables, factors = (
        np.empty_like(arrays["variable_start"]),
        np.empty_like(arrays["factor_start"]),
    )
    kernel.colour(*arrays.values(), variables, factors, progress, wide, share)
    return variables.tolist(), factors.tolist()


def broken(rng: np.random.Generator, arrays: Arrays) -> Arrays:
    """The same arrays with something changed that may or may not be legal."""
    name = str(rng.choice([name for name, array in arrays.items() if array is not None]))
    array = arrays[name].copy()
    match int(rng.integers(5)):
        case 0 if len(array):
            array[rng.integers(len(array))] = rng.choice(
                [-1, 0, 1, len(array), 2**31, 2**62, -(2**63)]
            )
        case 1:
            array = array[: rng.integers(len(array) + 1)]
        case 2:
            array = np.concatenate((array, array[:1], array[:1]))
        case 3:
            array = array[::-1]
        case _:
            array = array.astype(rng.choice(["int32", "float64", "uint64", "bool"]))
    return arrays | {name: array}


def try_kernel(kernel: ModuleType, seeds: range) -> None:
    """Every way through the kernel by the definition; broken arrays are refused or coloured."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        arrays = random_arrays(rng)
        expected = naive_colours(arrays)
        for wide, share in ((False, 4), (False, 0), (True, 0), (True, 10**6)):
            assert kernel_colours(kernel, arrays, wide=wide, share=share) == expected, (
                seed,
                wide,
                share,
            )
        with suppress(ValueError):
            kernel_colours(
                kernel, broken(rng, arrays), wide=seed % 2 == 0, share=4 * (seed % 3 > 0)
            )
        lists, ordered = arrays["arguments"] % 3, seed % 2 == 0
        numbers = np.empty(len(arrays["offsets"]) - 1, dtype=np.int64)
        kernel.number_lists(lists, arrays["offsets"], 0, ordered, numbers, seed % 3 == 0)
        rows = np.split(lists, arrays["offsets"][1:-1])[: len(numbers)]
        assert numbers.tolist() == numbered(
            tuple(row if ordered else sorted(row)) for row in map(list, rows)
        ), seed


def main() -> None:
    """Try the kernel in the file named first on as many graphs as named second."""
    path, seeds = sys.argv[1:]
    spec = spec_from_file_location("lifagu._kernel", path)
    assert spec is not None
    assert spec.loader is not None
    kernel = module_from_spec(spec)
    spec.loader.exec_module(kernel)
    try_kernel(kernel, range(int(seeds)))


if __name__ == "__main__":
    main()
