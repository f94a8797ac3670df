"""Domains of constants, and rows of constants as numbers so that millions cost no texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import eq
from typing import overload

import numpy as np

from lifagu.basics.arrays import Ints, frozen
from lifagu.basics.cached import cached_property
from lifagu.basics.columns import KeyColumn, of_sort, texts
from lifagu.basics.frozen import Frozen
from lifagu.basics.inputs import NO_TEXT, is_text
from lifagu.basics.names import Names
from lifagu.errors import ModelError, did_you_mean, listed

Row = tuple[str, ...]


@dataclass(frozen=True)
class Domain(Frozen):
    """A domain of constants: those listed, or 1…size, which are never listed.

    Inside, constants are numbers 0…size-1.

    Parameters
    ----------
    name : str
        Its name.
    size : int
        How many constants it has.
    constants : tuple of str, optional
        The constants, if they are not 1…size.
    sort : str
        What they are where they came from, such as "integer" or "date"; by default whole numbers
        where only their number was given, else texts.

    Examples
    --------
    >>> Domain.of("Drug", ["m1", "m2"]).number("m2"), Domain.of("Person", 10**6).constant(999_999)
    (1, '1000000')
    """

    name: str
    size: int
    constants: tuple[str, ...] | None = None
    sort: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"a domain has the name {self.name!r}; names are non-empty texts")
        is_whole = isinstance(self.size, int) and not isinstance(self.size, bool)
        if not is_whole or not 0 <= self.size < 2**62:
            raise ModelError(
                f"domain '{self.name}' has the size {self.size}; sizes are whole numbers below 2^62"
            )
        for constant in self.constants or ():
            if not isinstance(constant, str) or not constant:
                raise ModelError(
                    f"domain '{self.name}' has the constant {constant!r}; constants are texts"
                )
            if not is_text(constant):
                raise ModelError(f"domain '{self.name}' has the constant {constant!r}; {NO_TEXT}")
        if self.constants is not None and len(self._numbers) != self.size:
            twice = next(each for each, count in Counter(self.constants).items() if count > 1)
            raise ModelError(
                f"domain '{self.name}' has the constant '{twice}' twice; list each constant once"
            )

    @classmethod
    def of(cls, name: str, given: int | Sequence[str]) -> Domain:
        """A domain from its size or from the list of its constants.

        Parameters
        ----------
        name : str
            Its name.
        given : int or sequence of str
            Its size, or its constants.

        Returns
        -------
        Domain
        """
        return cls(name, given) if isinstance(given, int) else cls(name, len(given), tuple(given))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {constant: number for number, constant in enumerate(self.constants or ())}

    def find(self, constant: str) -> int | None:
        """The number of a constant.

        Parameters
        ----------
        constant : str
            Its text.

        Returns
        -------
        int or None
            None if it is not in the domain.
        """
        if self.constants is not None:
            return self._numbers.get(constant)
        is_number = constant.isascii() and constant.isdigit() and constant[0] != "0"
        if not is_number or len(constant) > 19:
            return None
        number = int(constant) - 1
        return number if number < self.size else None

    def number(self, constant: str) -> int:
        """The number of a constant.

        Parameters
        ----------
        constant : str
            Its text; a missing one is a `ModelError` that says what there is.

        Returns
        -------
        int
        """
        found = self.find(constant)
        if found is None:
            rest = self.what_there_is(constant)
            raise ModelError(f"'{constant}' is not a constant of domain {self.name}{rest}")
        return found

    def numbers(self, constants: Sequence[str]) -> list[int]:
        """The numbers of many constants.

        Parameters
        ----------
        constants : sequence of str
            Their texts; a missing one is a `ModelError`.

        Returns
        -------
        list of int
        """
        return list(map(self.number, constants))

    def constant(self, number: int) -> str:
        """The constant with this number.

        Parameters
        ----------
        number : int
            From 0 on.

        Returns
        -------
        str
        """
        return str(number + 1) if self.constants is None else self.constants[number]

    def texts(self, numbers: Sequence[int]) -> list[str]:
        """The constants with these numbers.

        Parameters
        ----------
        numbers : sequence of int
            From 0 on.

        Returns
        -------
        list of str
        """
        if self.constants is None:
            return [str(number + 1) for number in numbers]
        return [self.constants[number] for number in numbers]

    def column(self, numbers: Ints, more: Sequence[str] = ()) -> KeyColumn:
        """Constants as they came from where they are kept.

        Parameters
        ----------
        numbers : ndarray of int
            From 0 on; -1 is null, and size + n the text more[n].
        more : sequence of str
            What is not in the domain; null, if it cannot be of the sort of the constants.

        Returns
        -------
        KeyColumn
        """
        met, codes = np.unique(numbers[numbers >= 0], return_inverse=True)
        known = self.texts(met[met < self.size].tolist())
        sort = self.sort or ("integer" if self.constants is None else "text")
        values = of_sort(known, sort)
        if values is None:
            sort, values = "text", texts(known)
        # those that are no such values are null
        added = [of_sort([more[each - self.size]], sort) for each in met[len(known) :].tolist()]
        fits = np.array([True] * len(known) + [each is not None for each in added], dtype=np.bool_)
        places = np.append(np.where(fits, np.cumsum(fits) - 1, -1), -1)
        all_codes = np.full(len(numbers), -1, dtype=np.int64)
        all_codes[numbers >= 0] = places[codes.reshape(-1)]
        parts = [values, *(each for each in added if each is not None)]
        return KeyColumn(np.concatenate(parts), all_codes, sort)

    def what_there_is(self, constant: str) -> str:
        """The end of a sentence about a constant that is not in the domain.

        Parameters
        ----------
        constant : str
            Its text.

        Returns
        -------
        str
        """
        if not self.size:
            return ", which is empty"
        if self.constants is None:
            return f", which has 1…{self.size}"
        return did_you_mean(constant, self.constants) or f", which has {listed(self.constants)}"


class ConstantRows(Frozen, Sequence[Row]):
    """Rows of constants as numbers[n×k], a column per domain; texts are made when asked for.

    >>> import numpy as np
    >>> domains = Domain("Person", 10**6), Domain.of("Drug", ["m1", "m2"])
    >>> rows = ConstantRows(domains, np.array([[6, 0], [7, 1]]))
    >>> rows[1], rows == (("7", "m1"), ("8", "m2"))
    (('8', 'm2'), True)
    """

    def __init__(self, domains: tuple[Domain, ...], numbers: Ints) -> None:
        self.domains = domains
        self.numbers = frozen(numbers.reshape(len(numbers), len(domains)))
        for domain, column in zip(domains, self.numbers.T, strict=True):
            if len(column) and not 0 <= column.min() <= column.max() < domain.size:
                wrong = column[(column < 0) | (column >= domain.size)][0]
                raise ModelError(
                    f"rows hold constant {wrong} of domain '{domain.name}', "
                    f"which has {domain.size} from 0"
                )

    @property
    def width(self) -> int:
        """How many texts a row has."""
        return len(self.domains)

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, row: int) -> Row: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Row]: ...
    def __getitem__(self, row: int | slice) -> Row | Sequence[Row]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        return self._row(row)

    def _row(self, row: int) -> Row:
        return tuple(map(Domain.constant, self.domains, self.numbers[row].tolist()))

    def __iter__(self) -> Iterator[Row]:
        columns = [
            domain.texts(column.tolist())
            for domain, column in zip(self.domains, self.numbers.T, strict=True)
        ]
        return zip(*columns, strict=True) if columns else iter([()] * len(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} rows of ({', '.join(domain.name for domain in self.domains)})>"


class NamedRows(ConstantRows):
    """Rows of constants, each followed by a name: row i has the name names[which[i]].

    >>> import numpy as np
    >>> from lifagu.basics.names import NumberedNames
    >>> names = NumberedNames("variable", "x", 9)
    >>> NamedRows((Domain("Person", 2),), np.array([[0], [1]]), names, np.array([4, 8]))[1]
    ('2', 'x8')
    """

    def __init__(
        self, domains: tuple[Domain, ...], numbers: Ints, names: Names, which: Ints
    ) -> None:
        super().__init__(domains, numbers)
        if len(which) != len(self.numbers) or not ((which >= 0) & (which < len(names))).all():
            raise ModelError(
                f"{len(self.numbers)} rows need as many numbers of names, each below {len(names)}"
            )
        self.names = names
        self.which = frozen(which)

    @property
    def width(self) -> int:
        """How many texts a row has."""
        return len(self.domains) + 1

    def _row(self, row: int) -> Row:
        return *super()._row(row), self.names[int(self.which[row])]

    def __iter__(self) -> Iterator[Row]:
        names = map(self.names.__getitem__, self.which.tolist())
        return ((*row, name) for row, name in zip(super().__iter__(), names, strict=True))
