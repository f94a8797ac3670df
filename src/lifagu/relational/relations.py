"""Relations over domains, and their vocabulary: which ground variables have which names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.basics.names import Names
from lifagu.errors import ModelError, did_you_mean
from lifagu.graph.ranges import BOOLEAN, Labels, check_labels
from lifagu.relational.domains import ConstantRows, NamedRows, Row
from lifagu.relational.domains import Domain as Domain
from lifagu.relational.original_names import GroundAtom as GroundAtom
from lifagu.relational.original_names import Meant, OriginalIndex, Originals
from lifagu.relational.parsing import parse_ground
from lifagu.relational.spans import Span, is_wide
from lifagu.relational.terms import check_relation_name, constant_text


@dataclass(frozen=True)
class Relation:
    """A relation over domains, with a range; over none it is a variable like any other.

    Parameters
    ----------
    name : str
        Its name.
    of : tuple of str
        The names of its domains.
    range : tuple of str
        The labels of each ground variable; Boolean if not given.
    names : sequence of tuple of str
        For some ground variables the constants and, last, the name to use instead of
        ``Sick(eve)``; millions of them as `NamedRows`.

    Examples
    --------
    >>> Relation("Friends", ("Person", "Person"))
    Relation(name='Friends', of=('Person', 'Person'), range=('false', 'true'), names=())
    """

    name: str
    of: tuple[str, ...] = ()
    range: Labels = BOOLEAN
    names: Sequence[Row] = ()

    def __post_init__(self) -> None:
        check_relation_name(self.name)
        check_labels(self.range, f"relation '{self.name}'")
        for row in () if isinstance(self.names, ConstantRows) else self.names:
            if len(row) != len(self.of) + 1 or not row[-1]:
                what = f"its {len(self.of)} constants and the original name"
                raise ModelError(
                    f"relation '{self.name}' has the names entry ({', '.join(row)}); give {what}"
                )


@dataclass(frozen=True)
class Vocabulary(Frozen):
    """Domains and relations together, checked, with the way from ground names to numbers and back.

    >>> relations = Relation("Epid"), Relation("Sick", ("Person",))
    >>> words = Vocabulary((Domain("Person", 3),), relations)
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
                        f"{did_you_mean(str(name), self.domain_names)}"
                    )
        self.relation_names  # noqa: B018  checks that they differ
        propositions = [
            each.name
            for each, new in zip(self.relations, self.renamed, strict=True)
            if not (each.of or new)
        ]
        twice = self._index.name_used_twice() or next(filter(self.is_original, propositions), None)
        if twice is not None:
            raise ModelError(
                f"variable '{twice}' is declared twice; give each variable a name of its own"
            )
        for name in self._like_spelt():
            spelt, place = self._spelt(name), self._index.find(name)
            if spelt is not None and place is not None and spelt != place:
                raise ModelError(
                    f"relation '{self.relations[place[0]].name}' renames one of its variables "
                    f"'{name}', which is the name of another; give it a name of its own"
                )

    def _like_spelt(self) -> Iterator[str]:
        """The original names that could also be read as the name of another ground variable."""
        heads = {each.name for each in self.relations}
        for originals in self.renamed:
            if len(originals):
                alike = originals.names.read_as(originals.which, heads)
                yield from map(originals.names.__getitem__, alike.tolist())
        yield from filter(self.is_original, (each.name for each in self.relations if not each.of))

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
        return tuple(
            tuple(map(self.domain_names.number, relation.of)) for relation in self.relations
        )

    @cached_property
    def renamed(self) -> tuple[Originals, ...]:
        """For each relation the original names of its ground variables, where it has some."""
        given = [each.names for each in self.relations]
        by_arrays = [
            isinstance(rows, NamedRows) and rows.domains == tuple(map(self.domains.__getitem__, of))
            for rows, of in zip(given, self.domains_of, strict=True)
        ]
        texts = [rows for rows, known in zip(given, by_arrays, strict=True) if not known]
        names, start = Names("variable", [row[-1] for rows in texts for row in rows]), 0
        result = []
        for number, rows in enumerate(given):
            if isinstance(rows, NamedRows) and by_arrays[number]:
                new = Originals(rows.numbers, rows.names, rows.which)
            else:
                matrix = np.empty((len(rows), len(self.domains_of[number])), dtype=np.int64)
                for place, domain in enumerate(self.domains_of[number]):
                    matrix[:, place] = self.domains[domain].numbers([row[place] for row in rows])
                new = Originals(matrix, names, start + np.arange(len(rows)))
                start += len(rows)
            if not new.is_distinct:
                name = self.relations[number].name
                raise ModelError(f"relation '{name}' names one of its variables twice in names")
            result.append(new)
        return tuple(result)

    @cached_property
    def _index(self) -> OriginalIndex:
        return OriginalIndex(self.renamed)

    def arity_error(self, relation: int, given: int) -> ModelError:
        """The error for a relation with too many or too few terms."""
        name, of = self.relations[relation].name, self.relations[relation].of
        return ModelError(
            f"relation '{name}' has {given} terms, but is of {len(of)}: ({', '.join(of)})"
        )

    def ground_name(self, relation: int, numbers: Sequence[int]) -> str:
        """The name of a ground variable: its original one, or as in ``Treat(eve,m1)``."""
        original: str | None = self.renamed[relation].get(tuple(numbers))
        if original is not None:
            return original
        of = self.domains_of[relation]
        texts = [
            constant_text(self.domains[domain].constant(each))
            for domain, each in zip(of, numbers, strict=True)
        ]
        name = self.relations[relation].name
        return f"{name}({','.join(texts)})" if of else name

    def span_name(self, relation: int, spans: Sequence[Span]) -> str:
        """The range of these constants, if one or many: ``Friends(3..7,2)``, ``Sick(3..3)``."""
        of, single = self.domains_of[relation], not is_wide(spans)
        texts = [
            f"{low + 1}..{high + 1}"
            if low != high or (single and self.domains[domain].constants is None)
            else constant_text(self.domains[domain].constant(low))
            for domain, (low, high) in zip(of, spans, strict=True)
        ]
        return f"{self.relations[relation].name}({','.join(texts)})"

    def find(self, name: str) -> GroundAtom | None:
        """The ground variable of this name, whether or not a factor has it; None for none."""
        return self._index.find(name) or self._spelt(name)

    def is_original(self, name: str) -> bool:
        """Whether a relation's names give this name to one of its ground variables."""
        return self._index.find(name) is not None

    def places_in(self, names: Names) -> dict[int, GroundAtom]:
        """The names in a list that are ground variables, by number, and which ones they are."""
        found = dict(self._index.find_in(names))
        propositions = (names.find(relation.name) for relation in self.relations if not relation.of)
        numbers = {*names.with_parentheses(), *(each for each in propositions if each is not None)}
        for number in numbers - found.keys():
            place = self._spelt(names[number])
            found |= {} if place is None else {number: place}
        return dict(sorted(found.items()))

    def _spelt(self, name: str) -> GroundAtom | None:
        """The ground variable of this name, written with its constants."""
        spelt = self.spans(name)
        if spelt is None or is_wide(spelt[1]):
            return None
        return spelt[0], tuple(low for low, _ in spelt[1])

    def spans(self, name: str) -> tuple[int, tuple[Span, ...]] | None:
        """The relation and, per domain, the numbers of the first and last constant a name covers.

        A range ``1..300`` covers consecutive constants of a domain given as a number. None if it
        names nothing.

        >>> words = Vocabulary((Domain("Person", 30),), (Relation("Sick", ("Person",)),))
        >>> words.spans("Sick(3..7)"), words.spans("Sick(3..77)")
        ((0, ((2, 6),)), None)
        """
        head, _, inner = name.partition("(")
        relation, finds = self._finders.get(head, (-1, ()))
        text = inner[:-1] if inner[-1:] == ")" else ""
        # names like Sick(7) and Friends(1,eve) are told without an expression
        if len(finds) == 1 and text.isalnum():
            number = finds[0](text)
            return None if number is None else (relation, ((number, number),))
        if len(finds) == text.count(",") + 1 and text.replace(",", "").isalnum():
            numbers = [find(each) for find, each in zip(finds, text.split(","), strict=True)]
            covered = [(each, each) for each in numbers if each is not None]
            return (relation, tuple(covered)) if len(covered) == len(finds) else None
        parsed = parse_ground(name) or (name, ())
        found = self.relation_names.find(parsed[0])
        if found is None or len(parsed[1]) != len(self.domains_of[found]):
            return None
        spans = list(map(self._span, self.domains_of[found], parsed[1]))
        return None if None in spans else (found, tuple(each for each in spans if each is not None))

    @cached_property
    def _finders(self) -> dict[str, tuple[int, Sequence[Callable[[str], int | None]]]]:
        """The relations by name: their numbers, and how to find a constant of each domain."""
        return {
            name: (number, [self.domains[each].find for each in self.domains_of[number]])
            for number, name in enumerate(self.relation_names)
        }

    def meant_by(self, names: Sequence[str]) -> list[Meant | None]:
        """The relation and the spans that each of many names covers, original names included.

        >>> words = Vocabulary((Domain("Person", 30),), (Relation("Sick", ("Person",)),))
        >>> words.meant_by(["Sick(4)", "Sick(3..7)", "Sick(31)"])
        [(0, -1, ((3, 3),)), (0, -1, ((2, 6),)), None]
        """
        result = self._index.meant_by(names)
        for place, name in enumerate(names):
            if result[place] is None and (covered := self.spans(name)) is not None:
                result[place] = (covered[0], -1, covered[1])
        return result

    def _span(self, domain: int, given: str | Span) -> Span | None:
        if isinstance(given, str):
            number = self.domains[domain].find(given)
            return None if number is None else (number, number)
        (low, high), of = given, self.domains[domain]
        fits = of.constants is None and 1 <= low <= high <= of.size
        return (low - 1, high - 1) if fits else None

    def why_not(self, name: str) -> str | None:
        """What is wrong with a name that looks like a ground variable's; None if it does not."""
        whole = self.relation_names.find(name)
        if whole is not None and self.relations[whole].of:
            one = f"{name}({', '.join(self.relations[whole].of)})"
            return f"'{name}' is a whole relation; name one of its variables: {one}"
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
                rest = domain.what_there_is(given)
                return f"'{given}' is not a constant of domain {domain.name}{rest}"
            span = f"{given[0]}..{given[1]} is"
            if domain.constants is not None:
                return f"{span} a range, but domain {domain.name} lists its constants; name them"
            return f"{span} not a range of domain {domain.name}{domain.what_there_is('')}"
        return None

    @cached_property
    def overlapping(self) -> frozenset[int]:
        """The domains that share a constant with another; as individuals these are qualified."""
        found: set[int] = set()
        sizes = {n: each.size for n, each in enumerate(self.domains) if each.constants is None}
        numbered = [number for number, size in sizes.items() if size]
        found |= set(numbered) if len(numbered) > 1 else set()  # all of these have a constant 1
        largest = max(numbered, key=sizes.__getitem__, default=None)
        owner: dict[str, int] = {}
        for number, domain in enumerate(self.domains):
            for constant in domain.constants or ():
                other = owner.setdefault(constant, number)
                found |= {other, number} if other != number else set()
                if largest is not None and self.domains[largest].find(constant) is not None:
                    found |= {largest, number}
        return frozenset(found)

    def individual(self, domain: int, number: int) -> str:
        """A constant as an individual; ``Person:1`` where another domain has the same one."""
        return self.individuals(domain, [number])[0]

    def individuals(self, domain: int, numbers: Sequence[int]) -> list[str]:
        """Constants as individuals."""
        texts = self.domains[domain].texts(numbers)
        if domain not in self.overlapping:
            return texts
        return [f"{self.domains[domain].name}:{text}" for text in texts]
