"""Models as BLOG (``.blog``): relations as random functions, domains and ranges as types."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import FormatError, listed, one_line
from lifagu.formats.blog import POTENTIAL
from lifagu.formats.files import number_text
from lifagu.formats.uai import unknown_error
from lifagu.graph.evidence import EvidenceLike, by_name
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import BOOLEAN, Labels
from lifagu.graph.tables import potential_fault
from lifagu.relational.bound_parfactors import BoundParfactor
from lifagu.relational.domains import Domain
from lifagu.relational.ground_tables import diagonal
from lifagu.relational.grounding import expand_evidence
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.substitutions import substitutions

MOST = 1000  # statements that a parfactor which lists constants may become
_WORDS = """
    type random nonrandom fixed generating origin guaranteed distinct factor parfactor
    then else for elseif if query obs param exists forall true false null
    boolean integer naturalnum real string character timestep
"""
_RESERVED = frozenset(_WORDS.split())  # whatever the case of their letters
_Argument = tuple[str, Labels, int]  # its text, its labels, and how many states if counted


def format_blog(model: FactorGraph | ParfactorGraph, evidence: EvidenceLike = None) -> str:
    """The text of a BLOG file for a model; a factor graph has random functions without arguments.

    >>> graph = FactorGraph.build().variable("Sick.eve").factor("f", ["Sick.eve"], [1, 2.5]).graph()
    >>> print(format_blog(graph), end="")
    random Boolean Sick_eve;  // Sick.eve
    <BLANKLINE>
    factor MultiArrayPotential[[2.5, 1]] (Sick_eve);  // f
    """
    if isinstance(model, FactorGraph):
        evidence = model.observations(evidence)
        model = ParfactorGraph((), (), (), model)
    writer = _Writer(model)
    sections = (writer.types, writer.functions, writer.factors(), writer.observations(evidence))
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


class _Writer:
    """A model with an identifier for everything in it; types, functions: their statements."""

    def __init__(self, model: ParfactorGraph) -> None:
        self._model, self._words, self._part = model, model.vocabulary, model.ground_part
        self._names, self._logicals = _Names(), dict[str, str]()
        self.types, self.functions = list[str](), list[str]()
        stems = [self._names.stem(each.name) for each in model.domains if each.constants is None]
        self._domain = self._words.domain_names.number
        self._types = [self._names.new(each.name, "T") for each in model.domains]
        declared = [(each.name, each.of, each.range) for each in model.relations]
        for number, name in enumerate(self._part.variable_names):
            if number not in model.places:
                declared.append((name, (), self._part.labels(number)))
        names = [self._names.new(name, "R") for name, _, _ in declared]
        self._random = {(e[0], bool(e[1])): name for e, name in zip(declared, names, strict=True)}
        self._objects: list[str | list[str]] = []
        for kind, domain in zip(self._types, model.domains, strict=True):
            stem = stems.pop(0) if domain.constants is None else ""
            listed = self._type(kind, domain.name, domain.constants or (), "c")
            self._objects.append(stem or listed)
            if stem and domain.size:
                self.types.append(f"guaranteed {kind} {stem}[{domain.size}];  // 1…{domain.size}")
        self._ranges: dict[frozenset[str], dict[str, str]] = {frozenset(BOOLEAN): {}}
        kinds = {frozenset(BOOLEAN): "Boolean"}
        for identifier, (name, of, labels) in zip(names, declared, strict=True):
            if (key := frozenset(labels)) not in kinds:
                kinds[key] = self._names.new(f"{identifier}Value", "T")
                values = self._type(kinds[key], kinds[key], labels, "v")
                self._ranges[key] = dict(zip(labels, values, strict=True))
            said = _applied(identifier, [self._types[self._domain(each)] for each in of])
            self.functions.append(f"random {kinds[key]} {said};{_remark([identifier], [name])}")

    def _type(self, kind: str, name: str, constants: Sequence[str], letter: str) -> list[str]:
        """Declare a type; the names of its objects, where they are listed."""
        names = [self._names.new(each, letter) for each in constants]
        self.types.append(f"type {kind};{_remark([kind], [name])}")
        if names:
            stem = names[0][:-1]
            numbered = stem and names == [f"{stem}{each}" for each in range(1, len(names) + 1)]
            said = f"{stem}[{len(names)}]" if numbered else ", ".join(names)
            self.types.append(f"guaranteed {kind} {said};{_remark(names, constants)}")
        return names

    def factors(self) -> list[str]:
        """The statements of ground factors and parfactors."""
        lines = []
        for number, factor in enumerate(self._part.factors):
            arguments = []
            for each in self._part.scope(number):
                relation, numbers = self._model.places.get(each, (-1, ()))
                arguments.append(self._argument(relation, each, [~n for n in numbers]))
            lines.append(self._factor("factor ", factor.table, arguments, factor.name))
        for bound in self._model.bound:
            lines += [self._parfactor(bound, values) for values in _choices(bound)]
        return lines

    def _argument(
        self, relation: int, variable: int, codes: Sequence[int], logicals: Sequence[str] = ()
    ) -> _Argument:
        """An argument that counts nothing; codes as in `BoundArgument`."""
        if relation < 0:
            name = self._random[self._part.variable_names[variable], False]
            return name, self._part.labels(variable), 0
        terms = [
            logicals[code] if code >= 0 else self._object(domain, ~code)
            for domain, code in zip(self._words.domains_of[relation], codes, strict=True)
        ]
        meant = self._model.relations[relation]
        return _applied(self._random[meant.name, bool(meant.of)], terms), meant.range, 0

    def _object(self, domain: int, number: int) -> str:
        names = self._objects[domain]
        return f"{names}{number + 1}" if isinstance(names, str) else names[number]

    def _logical(self, name: str) -> str:
        if name not in self._logicals:
            self._logicals[name] = self._names.new(name, "X")
        return self._logicals[name]

    def _parfactor(self, bound: BoundParfactor, values: Mapping[int, int]) -> str:
        """The statement of a parfactor where some logical variables have values, as codes."""
        names = [self._logical(each) for each in bound.logicals]
        of = [self._domain(domain.name) for domain in bound.domains]
        declared = [f"{self._types[kind]} {name}" for kind, name in zip(of, names, strict=True)]
        pairs = [(values.get(one, one), values.get(two, two)) for one, two, _ in bound.comparisons]
        for variables, rows, inside in bound.memberships:
            excluded = () if inside or len(variables) > 1 else rows[:, 0].tolist()
            pairs += [(values.get(variables[0], variables[0]), ~each) for each in excluded]
        where: dict[int, list[str]] = {}  # by the counted variable, -1 for the free ones
        for one, two in dict.fromkeys(pairs):
            left, right = (one, two) if one >= 0 else (two, one)
            if left >= 0:
                other = names[right] if right >= 0 else self._object(of[left], ~right)
                counted = max(one, two) if max(one, two) >= bound.free else -1
                where.setdefault(counted, []).append(f"{names[left]} != {other}")
        said = {each: f" : {' & '.join(found)}" for each, found in where.items()}
        arguments = []
        for each in bound.arguments:
            codes = [values.get(code, code) for code in each.codes]
            text, labels, _ = self._argument(each.relation, each.variable, codes, names)
            if each.counted >= 0:
                if set(labels) != set(BOOLEAN):
                    raise _unsaid(bound, f"counts {text}, whose values are not true and false")
                text = f"#({declared[each.counted]}{said.get(each.counted, '')})[{text}]"
            arguments.append((text, labels, each.states if each.counted >= 0 else 0))
        free = [declared[each] for each in range(bound.free) if each not in values]
        head = f"parfactor {', '.join(free)}{said.get(-1, '')}. " if free else "factor "
        return self._factor(head, bound.table, arguments, bound.name)

    def _factor(self, head: str, table: Floats | None, given: list[_Argument], name: str) -> str:
        """A statement, its table with true before false, from all true down, and 0 for null."""
        if table is None:
            raise unknown_error([name], "BLOG")
        if not given:
            raise FormatError(f"'{name}' has no arguments, which BLOG cannot say; write .json")
        shape = [states or len(labels) for _, labels, states in given]
        table = diagonal(table.reshape(-1), shape, np.array([*map(given.index, given)]))
        if fault := potential_fault(table):
            raise FormatError(f"'{name}' has {fault} where its arguments are the same; mend it")
        arguments = dict.fromkeys(given)
        table = table.reshape([states or len(labels) for _, labels, states in arguments])
        for axis, (_, labels, states) in enumerate(arguments):
            order = tuple(self._ranges[frozenset(labels)])
            if states:  # lifagu counts the last label down, which is true or false
                table = table if labels == BOOLEAN else np.flip(table, axis)
            else:
                places = [labels.index(label) for label in order or BOOLEAN[::-1]]
                table = np.take(table, places, axis)
            if order:
                table = np.insert(table, len(order), 0, axis)
        numbers = (number_text(each).replace("e+", "e") for each in table.reshape(-1).tolist())
        said = ", ".join(text for text, _, _ in arguments)
        return f"{head}{POTENTIAL}[[{', '.join(numbers)}]] ({said});  // {one_line(name)}"

    def observations(self, evidence: EvidenceLike) -> list[str]:
        """What was observed, one ground variable a line."""
        seen = by_name(evidence)
        found = self._model.observations(seen)
        if any(each.is_range for each in found):
            found = self._model.observations(expand_evidence(self._model, seen))
        lines = []
        for each in found:
            if not isinstance(each.observation, str):
                raise FormatError(f"'{each.name}' has soft evidence, not in BLOG; write .json")
            codes = [~low for low, _ in each.spans]
            name, labels, _ = self._argument(each.relation, each.variable, codes)
            value = self._ranges[frozenset(labels)].get(each.observation, each.observation)
            lines.append(f"obs {name} = {value};")
        return lines


def _applied(name: str, terms: Sequence[str]) -> str:
    return f"{name}({', '.join(terms)})" if terms else name


def _choices(bound: BoundParfactor) -> list[dict[int, int]]:
    """For each statement that a parfactor becomes, the constants that it lists, as codes."""
    rows = [(variables, len(rows)) for variables, rows, inside in bound.memberships if inside]
    rows += [((left,), 1) for left, _, equal in bound.comparisons if equal]
    admitted = {each for variables, _ in rows for each in variables}
    together = {each for names, _, _ in bound.memberships if len(names) > 1 for each in names}
    sizes = [bound.domains[each].size for each in together - admitted]
    most = math.prod([*sizes, *(many for _, many in rows)])
    listed = together | admitted
    if most > MOST or any(each >= bound.free for each in listed):
        raise _unsaid(bound, f"lists what it counts or constants for more than {MOST} statements")
    alone = replace(
        bound,
        domains=tuple(
            each if n in listed else Domain(each.name, 1) for n, each in enumerate(bound.domains)
        ),
        comparisons=tuple(
            each for each in bound.comparisons if listed.issuperset(c for c in each[:2] if c >= 0)
        ),
        memberships=tuple(each for each in bound.memberships if listed.issuperset(each[0])),
    )
    return [{each: ~row[each] for each in listed} for row in substitutions(alone).tolist()]


def _unsaid(bound: BoundParfactor, what: str) -> FormatError:
    return FormatError(f"parfactor '{bound.name}' {what}, which BLOG cannot say; write .json")


class _Names:
    """Identifiers of letters, digits and ``_`` that begin with a letter, each given out once."""

    def __init__(self) -> None:
        self._taken, self._stems, self._next = set[str](), set[str](), dict[str, int]()

    def stem(self, wanted: str) -> str:
        """A name to which the numbers 1, 2, … may be appended; stems come before other names."""
        word = _spelt(wanted.lower(), "c")
        while word in self._stems or not word[-1].isalpha():
            word += "c"
        self._stems.add(word)
        return word

    def new(self, wanted: str, letter: str) -> str:
        """The wanted name as far as it can be had, with a number behind it if it is taken."""
        word = found = _spelt(wanted, letter)
        while (
            found in self._taken
            or found.lower() in _RESERVED
            or (found[-1].isdigit() and found.rstrip("0123456789") in self._stems)
        ):
            self._next[word] = self._next.get(word, 1) + 1
            found = f"{word}_{self._next[word]}"
        self._taken.add(found)
        return found


def _spelt(name: str, letter: str) -> str:
    word = re.sub(r"\W+", "_", name, flags=re.ASCII)
    word = word if word == name else word.strip("_")
    return word if word[:1].isalpha() else letter + word


def _remark(names: Sequence[str], originals: Sequence[str]) -> str:
    """A comment with the original names, where one of them is another."""
    return f"  // {listed(map(one_line, originals), 20)}" if [*names] != [*originals] else ""
