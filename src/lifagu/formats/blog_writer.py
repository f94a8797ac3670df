"""Models as BLOG (``.blog``): relations as random functions, domains and ranges as types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import FormatError, listed
from lifagu.formats.blog_constraints import PlainParfactor, with_inequalities
from lifagu.formats.blog_names import Identifiers
from lifagu.formats.blog_statements import POTENTIAL
from lifagu.formats.files import number_text
from lifagu.formats.json_parts import json_text
from lifagu.formats.uai import unknown_error
from lifagu.graph.evidence import EvidenceLike, Observation, by_name
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import BOOLEAN, Labels
from lifagu.relational.bound_parfactors import BoundParfactor
from lifagu.relational.grounding import expand_evidence
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.relations import Domain
from lifagu.relational.terms import Atom, Comparison, CountingFormula, Logical, logicals_of


def format_blog(model: FactorGraph | ParfactorGraph, evidence: EvidenceLike = None) -> str:
    """The text of a BLOG file for a model; a factor graph has random functions without arguments.

    The names of factors, and names that BLOG cannot read, stand in comments beside what was written
    for them.

    >>> graph = FactorGraph.build().variable("Sick.eve").factor("f", ["Sick.eve"], [1, 2.5]).graph()
    >>> print(format_blog(graph, {"Sick.eve": "true"}), end="")
    random Boolean Sick_eve;  // Sick.eve
    <BLANKLINE>
    factor MultiArrayPotential[[2.5, 1]] (Sick_eve);  // f
    <BLANKLINE>
    obs Sick_eve = true;
    """
    if isinstance(model, FactorGraph):
        evidence = model.observations(evidence)
        model = ParfactorGraph((), (), (), model)
    writer = _Writer(model)
    factors = writer.factors(*_tables(model))
    observations = writer.observations(by_name(evidence))
    sections = (writer.types(), writer.functions(), factors, observations)
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _tables(model: ParfactorGraph) -> tuple[list[Floats], list[Floats]]:
    """The tables of ground factors and of parfactors; BLOG has no unknown ones."""
    part = model.ground_part
    names = [each.name for each in model.parfactors if each.table is None]
    names += [part.factor_names[each] for each in part.unknown[:6]]
    if names:
        raise unknown_error(names, "BLOG")
    ground = [each.table for each in part.factors if each.table is not None]
    return ground, [each.table for each in model.parfactors if each.table is not None]


class _Writer:
    """A model with an identifier for everything in it."""

    def __init__(self, model: ParfactorGraph) -> None:
        self._model, self._words, self._part = model, model.vocabulary, model.ground_part
        self.names = Identifiers()
        self.type_names = [self.names.new(domain.name, "T") for domain in self._words.domains]
        self._functions = [self.names.new(relation.name, "R") for relation in self._words.relations]
        self._variables = {
            number: self.names.new(name, "R")
            for number, name in enumerate(self._part.variable_names)
            if number not in model.places
        }
        self._objects = [self._object_names(domain) for domain in self._words.domains]
        self._ranges: dict[frozenset[str], tuple[str, dict[str, str]]] = {}
        for name, labels in self._declared():
            if frozenset(labels) not in self._ranges and set(labels) != set(BOOLEAN):
                kind = self.names.new(f"{name}Value", "T")
                self._ranges[frozenset(labels)] = (
                    kind,
                    {label: self.names.new(label, "v") for label in labels},
                )

    def _declared(self) -> Iterable[tuple[str, Labels]]:
        """The names of all random functions, with their ranges."""
        ranges = [relation.range for relation in self._words.relations]
        yield from zip(self._functions, ranges, strict=True)
        yield from ((name, self._part.labels(number)) for number, name in self._variables.items())

    def _object_names(self, domain: Domain) -> str | list[str]:
        """The stem of a numbered domain's objects, or the names of those that are listed."""
        if domain.constants is None:
            return self.names.stem(domain.name.lower(), "c")
        return [self.names.new(constant, "c") for constant in domain.constants]

    def domain_number(self, name: str) -> int:
        """The number of a domain."""
        return self._words.domain_names.number(name)

    # ---- declarations

    def types(self) -> list[str]:
        """Types and their objects."""
        lines = []
        for kind, domain, names in zip(
            self.type_names, self._words.domains, self._objects, strict=True
        ):
            lines.append(f"type {kind};{_remark([kind], [domain.name])}")
            if isinstance(names, str) and domain.size:
                lines.append(f"guaranteed {kind} {names}[{domain.size}];  // 1…{domain.size}")
            elif not isinstance(names, str) and names:
                remark = _remark(names, domain.constants or ())
                lines.append(f"guaranteed {kind} {_objects_text(names)};{remark}")
        for kind, names_of in self._ranges.values():
            names = list(names_of.values())
            lines.append(f"type {kind};")
            lines.append(f"guaranteed {kind} {', '.join(names)};{_remark(names, names_of)}")
        return lines

    def functions(self) -> list[str]:
        """Random functions."""
        lines = []
        for name, relation, of in zip(
            self._functions, self._words.relations, self._words.domains_of, strict=True
        ):
            arguments = f"({', '.join(self.type_names[each] for each in of)})" if of else ""
            remark = _remark([name], [relation.name])
            lines.append(f"random {self._range(relation.range)} {name}{arguments};{remark}")
        for number, name in self._variables.items():
            remark = _remark([name], [self._part.variable_names[number]])
            lines.append(f"random {self._range(self._part.labels(number))} {name};{remark}")
        return lines

    def _range(self, labels: Labels) -> str:
        return "Boolean" if set(labels) == set(BOOLEAN) else self._ranges[frozenset(labels)][0]

    # ---- factors

    def factors(self, ground: Sequence[Floats], lifted: Sequence[Floats]) -> list[str]:
        """Ground factors, then parfactors, with these tables."""
        model = self._model
        lines = [self._ground_factor(number, table) for number, table in enumerate(ground)]
        for parfactor, bound, table in zip(model.parfactors, model.bound, lifted, strict=True):
            plain = with_inequalities(parfactor, bound, table)
            lines += [self._parfactor(each, bound) for each in plain]
        return lines

    def _ground_factor(self, number: int, table: Floats) -> str:
        scope = self._part.scope(number)
        table = self._table(table, [(self._part.labels(each), False) for each in scope])
        arguments = [self._ground_variable(each) for each in scope]
        return _factor_text("factor ", table, arguments, self._part.factor_names[number])

    def _ground_variable(self, number: int) -> str:
        if number in self._variables:
            return self._variables[number]
        return self._call(*self._model.places[number])

    def _call(self, relation: int, numbers: Sequence[int]) -> str:
        of = zip(self._words.domains_of[relation], numbers, strict=True)
        return self._applied(relation, [self._object(domain, each) for domain, each in of])

    def _applied(self, relation: int, terms: Sequence[str]) -> str:
        return self._functions[relation] + (f"({', '.join(terms)})" if terms else "")

    def _object(self, domain: int, number: int) -> str:
        names = self._objects[domain]
        return f"{names}{number + 1}" if isinstance(names, str) else names[number]

    def _parfactor(self, parfactor: PlainParfactor, bound: BoundParfactor) -> str:
        scope = _Scope(self, parfactor, bound)
        arguments, axes = [], []
        for argument in parfactor.arguments:
            counted = argument if isinstance(argument, CountingFormula) else None
            atom = argument.atom if isinstance(argument, CountingFormula) else argument
            text, labels = self._atom(atom, scope.names)
            if counted and set(labels) != set(BOOLEAN):
                raise FormatError(
                    f"parfactor '{parfactor.name}' has {counted}; "
                    "BLOG is written with Boolean counts only"
                )
            arguments.append(scope.counted(counted, text) if counted else text)
            axes.append((labels, counted is not None))
        table = self._table(parfactor.table.reshape(scope.shape(axes)), axes)
        return _factor_text(scope.head(), table, arguments, parfactor.name)

    def _atom(self, atom: Atom, names: Mapping[str, str]) -> tuple[str, Labels]:
        """An atom with the names of its logical variables, and its range."""
        number = None if atom.terms else self._part.variable_names.find(atom.relation)
        if number is not None and number in self._variables:
            return self._variables[number], self._part.labels(number)
        relation = self._words.relation_names.find(atom.relation)
        if relation is None:  # an original name of a ground variable
            relation, numbers = self._words.find(str(atom)) or (0, ())
            return self._call(relation, numbers), self._words.relations[relation].range
        terms = [
            names[term.name] if isinstance(term, Logical) else self.constant(domain, term)
            for term, domain in zip(atom.terms, self._words.domains_of[relation], strict=True)
        ]
        return self._applied(relation, terms), self._words.relations[relation].range

    def constant(self, domain: int, constant: str) -> str:
        """The object that stands for a constant of a domain."""
        return self._object(domain, self._words.domains[domain].number(constant))

    def _table(self, table: Floats, axes: Sequence[tuple[Labels, bool]]) -> Floats:
        """A table as BLOG lists it: true before false, from all true down, and 0 for null."""
        for axis, (labels, counts) in enumerate(axes):
            if counts:
                table = table if labels == BOOLEAN else np.flip(table, axis)
                continue
            known = self._ranges.get(frozenset(labels))
            order = BOOLEAN[::-1] if known is None else tuple(known[1])
            table = np.take(table, [labels.index(label) for label in order], axis)
            if known is not None:
                table = np.concatenate((table, np.zeros_like(np.take(table, [0], axis))), axis)
        return table

    # ---- evidence

    def observations(self, evidence: Mapping[str, Observation]) -> list[str]:
        """What was observed, one ground variable a line."""
        found = self._model.observations(evidence)
        if any(each.is_range for each in found):
            found = self._model.observations(expand_evidence(self._model, evidence))
        lines = []
        for each in found:
            if not isinstance(each.observation, str):
                raise FormatError(
                    f"BLOG observes values only, but '{each.name}' has soft evidence; write .json"
                )
            if each.relation < 0:
                name, labels = self._variables[each.variable], self._part.labels(each.variable)
            else:
                name = self._call(each.relation, [low for low, _ in each.spans])
                labels = self._words.relations[each.relation].range
            known = self._ranges.get(frozenset(labels))
            value = each.observation if known is None else known[1][each.observation]
            lines.append(f"obs {name} = {value};")
        return lines


class _Scope:
    """The logical variables of one parfactor: names, types, and the inequalities between them."""

    def __init__(self, writer: _Writer, parfactor: PlainParfactor, bound: BoundParfactor) -> None:
        self._writer = writer
        self._free, self._counted = logicals_of(parfactor.arguments)
        self.names = writer.names.local([each.name for each in (*self._free, *self._counted)], "X")
        self._domains = {
            name: writer.domain_number(domain.name)
            for name, domain in zip(bound.logicals, bound.domains, strict=True)
        }
        self._states = {
            bound.logicals[each.counted]: each.states
            for each in bound.arguments
            if each.counted >= 0
        }
        self._where: dict[Logical | None, list[str]] = {}
        for each in parfactor.where:
            place = next((side for side in (each.left, each.right) if side in self._counted), None)
            text = f"{self.names[each.left.name]} != {self._side(each)}"
            self._where.setdefault(place if isinstance(place, Logical) else None, []).append(text)

    def _side(self, comparison: Comparison) -> str:
        right = comparison.right
        if isinstance(right, Logical):
            return self.names[right.name]
        return self._writer.constant(self._domains[comparison.left.name], right)

    def _declared(self, logical: Logical) -> str:
        return f"{self._writer.type_names[self._domains[logical.name]]} {self.names[logical.name]}"

    def _constraint(self, counted: Logical | None) -> str:
        return f" : {' & '.join(self._where[counted])}" if counted in self._where else ""

    def head(self) -> str:
        """What stands before the table."""
        if not self._free:
            return "factor "
        return f"parfactor {', '.join(map(self._declared, self._free))}{self._constraint(None)}. "

    def counted(self, argument: CountingFormula, atom: str) -> str:
        """A counting formula, with its own inequalities."""
        variable = argument.variable
        return f"#({self._declared(variable)}{self._constraint(variable)})[{atom}]"

    def shape(self, axes: Sequence[tuple[Labels, bool]]) -> list[int]:
        """The sizes of the axes, counted ones in order of their logical variables."""
        counted = iter(self._counted)
        return [
            self._states[next(counted).name] if counts else len(labels) for labels, counts in axes
        ]


def _factor_text(head: str, table: Floats, arguments: Sequence[str], name: str) -> str:
    if not arguments:
        raise FormatError(
            f"'{name}' has no arguments, which BLOG cannot say; multiply it into another factor"
        )
    numbers = ", ".join(number_text(each).replace("e+", "e") for each in table.reshape(-1).tolist())
    return f"{head}{POTENTIAL}[[{numbers}]] ({', '.join(arguments)});  // {_shown(name)}"


def _objects_text(names: Sequence[str]) -> str:
    """Objects by name, or as ``p[3]`` where that says the same."""
    stem = names[0].removesuffix("1")
    numbered = (
        stem != names[0]
        and not stem[-1:].isdigit()
        and all(name == f"{stem}{number}" for number, name in enumerate(names, 1))
    )
    return f"{stem}[{len(names)}]" if numbered and stem else ", ".join(names)


def _remark(names: Iterable[str], originals: Iterable[str]) -> str:
    """A comment with the original names, where one of them is another."""
    names, originals = list(names), list(originals)
    return "" if names == originals else f"  // {listed(map(_shown, originals), 20)}"


def _shown(name: str) -> str:
    return name if name.isprintable() else json_text(name)
