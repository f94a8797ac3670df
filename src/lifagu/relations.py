"""Domains and relations, and the vocabulary they make together: which ground variables can be named, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lifagu.errors import ModelError, did_you_mean, listed
from lifagu.names import Names
from lifagu.ranges import BOOLEAN, Labels, check_labels
from lifagu.terms import Span, check_relation_name, constant_text, parse_ground

Place = tuple[int, tuple[int, ...]]  # a ground variable: the number of its relation, and of each constant


@dataclass(frozen=True)
class Domain:
    """A domain of `size` constants: those listed, or 1…size, which are never listed.

    Inside, constants are numbers 0…size-1.

    >>> Domain.of("Drug", ["m1", "m2"]).number("m2"), Domain.of("Person", 10**6).constant(999_999)
    (1, '1000000')
    """

    name: str
    size: int
    constants: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"a domain has the name {self.name!r}; names are non-empty texts")
        if isinstance(self.size, bool) or not isinstance(self.size, int) or not 0 <= self.size < 2**62:
            raise ModelError(f"domain '{self.name}' has the size {self.size}; sizes are whole numbers, 0 or more")
        if self.constants is not None:
            for constant in self.constants:
                if not isinstance(constant, str) or not constant:
                    raise ModelError(f"domain '{self.name}' has the constant {constant!r}; constants are texts")
            if len(self._numbers) != self.size:
                twice = next(each for each in self.constants if self.constants.count(each) > 1)
                raise ModelError(f"domain '{self.name}' has the constant '{twice}' twice; list each constant once")

    @classmethod
    def of(cls, name: str, given: int | Sequence[str]) -> Domain:
        """A domain from its size or from the list of its constants."""
        return cls(name, given) if isinstance(given, int) else cls(name, len(given), tuple(given))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {constant: number for number, constant in enumerate(self.constants or ())}

    def find(self, constant: str) -> int | None:
        """Number of a constant, or None if it is not in the domain."""
        if self.constants is not None:
            return self._numbers.get(constant)
        if not (constant.isascii() and constant.isdigit() and len(constant) <= 19 and constant[0] != "0"):
            return None
        return int(constant) - 1 if int(constant) <= self.size else None

    def number(self, constant: str) -> int:
        """Number of a constant; a missing one is an error that says what there is."""
        found = self.find(constant)
        if found is None:
            raise ModelError(f"'{constant}' is not a constant of domain {self.name}{self._what_there_is(constant)}")
        return found

    def constant(self, number: int) -> str:
        """The constant with this number."""
        return str(number + 1) if self.constants is None else self.constants[number]

    def _what_there_is(self, constant: str) -> str:
        if not self.size:
            return ", which is empty"
        if self.constants is None:
            return f", which has 1…{self.size}"
        return did_you_mean(constant, self.constants) or f", which has {listed(self.constants)}"


@dataclass(frozen=True)
class Relation:
    """A relation over domains (`of`), with a range; without `of` it is a variable like any other.

    names: for some of its ground variables the constants and, last, the name to use instead of ``Sick(eve)``.
    """

    name: str
    of: tuple[str, ...] = ()
    range: Labels = BOOLEAN
    names: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        check_relation_name(self.name)
        check_labels(self.range, f"relation '{self.name}'")
        for row in self.names:
            if len(row) != len(self.of) + 1 or not row[-1]:
                what = f"its {len(self.of)} constants and the original name"
                raise ModelError(f"relation '{self.name}' has the names entry ({', '.join(row)}); give {what}")


@dataclass(frozen=True)
class Vocabulary:
    """Domains and relations together, checked, with the way from ground names to numbers and back.

    >>> words = Vocabulary((Domain("Person", 3),), (Relation("Epid"), Relation("Sick", ("Person",))))
    >>> words.find("Sick(3)"), words.ground_name(1, (0,)), words.find("Sick(4)")
    ((1, (2,)), 'Sick(1)', None)
    """

    domains: tuple[Domain, ...]
    relations: tuple[Relation, ...]

    def __post_init__(self) -> None:
        for relation in self.relations:
            for name in relation.of:
                if name not in self.domain_names:
                    raise ModelError(
                        f"relation '{relation.name}' is of '{name}', which is not a domain"
                        f"{did_you_mean(name, self.domain_names)}"
                    )
        self.relation_names  # noqa: B018  checks that they differ
        names = [name for renamed in self.renamed for name in renamed.values()]
        propositions = [
            each.name for each, new in zip(self.relations, self.renamed, strict=True) if not (each.of or new)
        ]
        Names("variable", [*propositions, *names])
        for number, renamed in enumerate(self.renamed):
            for place, name in renamed.items():
                other = self._spelt(name)
                if other is not None and other != (number, place):
                    raise ModelError(
                        f"relation '{self.relations[number].name}' renames one of its variables '{name}', "
                        "which is the name of another; give it a name of its own"
                    )

    @cached_property
    def domain_names(self) -> Names:
        """Names of the domains."""
        return Names("domain", [domain.name for domain in self.domains])

    @cached_property
    def relation_names(self) -> Names:
        """Names of the relations."""
        return Names("relation", [relation.name for relation in self.relations])

    @cached_property
    def domains_of(self) -> tuple[tuple[int, ...], ...]:
        """For each relation the numbers of its domains."""
        return tuple(tuple(map(self.domain_names.number, relation.of)) for relation in self.relations)

    @cached_property
    def renamed(self) -> tuple[dict[tuple[int, ...], str], ...]:
        """For each relation the original names of its ground variables, where it has some."""
        result: list[dict[tuple[int, ...], str]] = []
        for number, relation in enumerate(self.relations):
            new = {self.numbers(number, row[:-1]): row[-1] for row in relation.names}
            if len(new) < len(relation.names):
                raise ModelError(f"relation '{relation.name}' names one of its variables twice in names")
            result.append(new)
        return tuple(result)

    @cached_property
    def _originals(self) -> dict[str, Place]:
        return {name: (number, place) for number, new in enumerate(self.renamed) for place, name in new.items()}

    def numbers(self, relation: int, constants: Sequence[str]) -> tuple[int, ...]:
        """The numbers of a ground variable's constants; a wrong one is an error."""
        of = self.domains_of[relation]
        if len(constants) != len(of):
            raise self.arity_error(relation, len(constants))
        return tuple(self.domains[domain].number(each) for domain, each in zip(of, constants, strict=True))

    def arity_error(self, relation: int, given: int) -> ModelError:
        """The error for a relation with too many or too few terms."""
        of = self.relations[relation].of
        return ModelError(
            f"relation '{self.relations[relation].name}' has {given} terms, but is of {len(of)}: ({', '.join(of)})"
        )

    def ground_name(self, relation: int, numbers: Sequence[int]) -> str:
        """The name of a ground variable: its original name if it has one, else as in ``Treat(eve,m1)``."""
        original = self.renamed[relation].get(tuple(numbers))
        if original is not None:
            return original
        of = self.domains_of[relation]
        texts = [constant_text(self.domains[domain].constant(each)) for domain, each in zip(of, numbers, strict=True)]
        return f"{self.relations[relation].name}({','.join(texts)})" if of else self.relations[relation].name

    def span_name(self, relation: int, spans: Sequence[Span]) -> str:
        """The name that covers these constants: ``Sick(eve)``, ``Sick(3..7)``."""
        if all(low == high for low, high in spans):
            return self.ground_name(relation, [low for low, _ in spans])
        of = self.domains_of[relation]
        texts = [
            f"{low + 1}..{high + 1}" if low != high else constant_text(self.domains[domain].constant(low))
            for domain, (low, high) in zip(of, spans, strict=True)
        ]
        return f"{self.relations[relation].name}({','.join(texts)})"

    def find(self, name: str) -> Place | None:
        """The ground variable of this name, whether or not a factor has it; None if it names none."""
        return self._originals.get(name) or self._spelt(name)

    def is_original(self, name: str) -> bool:
        """Whether a relation's names give this name to one of its ground variables."""
        return name in self._originals

    def _spelt(self, name: str) -> Place | None:
        """The ground variable of this name, written with its constants."""
        spelt = self.spans(name)
        if spelt is None or any(low != high for low, high in spelt[1]):
            return None
        return spelt[0], tuple(low for low, _ in spelt[1])

    def spans(self, name: str) -> tuple[int, tuple[Span, ...]] | None:
        """The relation and, for each of its domains, the first and the last constant's number that a name covers.

        A range ``1..300`` covers consecutive constants of a domain given as a number. None if it names nothing.

        >>> words = Vocabulary((Domain("Person", 30),), (Relation("Sick", ("Person",)),))
        >>> words.spans("Sick(3..7)"), words.spans("Sick(3..77)")
        ((0, ((2, 6),)), None)
        """
        parsed = parse_ground(name) or (name, ())
        relation = self.relation_names.find(parsed[0])
        if relation is None or len(parsed[1]) != len(self.domains_of[relation]):
            return None
        covered = [self._span(of, each) for of, each in zip(self.domains_of[relation], parsed[1], strict=True)]
        return None if None in covered else (relation, tuple(each for each in covered if each is not None))

    def _span(self, domain: int, given: str | Span) -> Span | None:
        if isinstance(given, str):
            number = self.domains[domain].find(given)
            return None if number is None else (number, number)
        low, high = given
        fits = self.domains[domain].constants is None and 1 <= low <= high <= self.domains[domain].size
        return (low - 1, high - 1) if fits else None

    def why_not(self, name: str) -> str | None:
        """What is wrong with a name that looks like one of a relation's ground variables; None if it does not."""
        parsed = parse_ground(name)
        relation = self.relation_names.find(parsed[0]) if parsed else None
        if parsed is None or relation is None:
            return None
        if len(parsed[1]) != len(self.domains_of[relation]):
            return str(self.arity_error(relation, len(parsed[1])))
        for of, given in zip(self.domains_of[relation], parsed[1], strict=True):
            domain = self.domains[of]
            if self._span(of, given) is not None:
                continue
            if isinstance(given, str):
                return f"'{given}' is not a constant of domain {domain.name}{domain._what_there_is(given)}"
            if domain.constants is not None:
                return f"{given[0]}..{given[1]} is a range, but domain {domain.name} lists its constants; name them"
            return f"{given[0]}..{given[1]} is not a range of domain {domain.name}{domain._what_there_is('')}"
        return None

    @cached_property
    def overlapping(self) -> frozenset[int]:
        """The domains that share a constant with another; their constants are qualified where they must differ."""
        count = len(self.domains)
        shared = [
            (one, two) for one in range(count) for two in range(one) if _share(self.domains[one], self.domains[two])
        ]
        return frozenset(domain for pair in shared for domain in pair)

    def individual(self, domain: int, number: int) -> str:
        """A constant as an individual: itself, or ``Person:1`` where another domain has the same constant."""
        text = self.domains[domain].constant(number)
        return f"{self.domains[domain].name}:{text}" if domain in self.overlapping else text


def _share(one: Domain, two: Domain) -> bool:
    """Whether two domains have a constant in common, without listing numbered ones."""
    if one.constants is None and two.constants is None:
        return bool(one.size and two.size)
    if one.constants is None:
        one, two = two, one
    return any(two.find(constant) is not None for constant in one.constants or ())
