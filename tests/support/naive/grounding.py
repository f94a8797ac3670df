"""Grounding by running through every substitution: from the definition, for small models."""

import itertools
from collections import Counter

from lifagu.relational.parsing import parse_argument
from lifagu.relational.terms import Atom, CountingFormula, Logical


def naive_scopes(model):
    """Ground factors by running through every substitution, for small models."""
    domains = {
        name: [str(each) for each in (range(1, given + 1) if isinstance(given, int) else given)]
        for name, given in model["domains"].items()
    }
    relations = {each["name"]: each for each in model["relations"]}
    found = Counter()
    for parfactor in model["parfactors"]:
        arguments = [parse_argument(text) for text in parfactor["args"]]
        of, free = {}, []
        for argument in arguments:
            atom = argument.atom if isinstance(argument, CountingFormula) else argument
            for term, domain in zip(
                atom.terms, relations[atom.relation].get("of", []), strict=True
            ):
                if isinstance(term, Logical):
                    of[term.name] = domain
                    counted = isinstance(argument, CountingFormula) and term == argument.variable
                    free += [] if counted or term.name in free else [term.name]
        bound = [each for each in of if each not in free]
        for values in itertools.product(*(domains[of[each]] for each in free)):
            theta = dict(zip(free, values, strict=True))
            if not naive_admits(parfactor, theta, set(bound)):
                continue
            found[naive_factor(parfactor, arguments, theta, of, domains, relations, free)] += 1
    return found


def naive_admits(parfactor, theta, skipped=frozenset()):
    """Whether a substitution keeps every constraint that mentions no skipped variable."""
    for constraint in parfactor.get("where", []):
        if isinstance(constraint, dict):
            if skipped & set(constraint["vars"]):
                continue
            inside = [theta[each] for each in constraint["vars"]] in constraint.get(
                "in", constraint.get("not_in")
            )
            if inside != ("in" in constraint):
                return False
            continue
        left, sign, right = constraint.split()
        if {left, right} & skipped:
            continue
        if (theta.get(left, left) == theta.get(right, right)) != (sign == "="):
            return False
    return True


def naive_factor(parfactor, arguments, theta, of, domains, relations, free):
    def name(atom, values):
        terms = [
            values.get(each.name, each.name) if isinstance(each, Logical) else each
            for each in atom.terms
        ]
        return f"{atom.relation}({','.join(terms)})" if terms else atom.relation

    slots = []
    for argument in arguments:
        if isinstance(argument, Atom):
            slots.append([name(argument, theta)])
            continue
        variable = argument.variable.name
        values = [{**theta, variable: each} for each in domains[of[variable]]]
        others = set(of) - {*free, variable}
        slots.append(
            [name(argument.atom, each) for each in values if naive_admits(parfactor, each, others)]
        )
    labels = {
        each: relations[each.split("(")[0]].get("range", ["false", "true"])
        for slot in slots
        for each in slot
    }
    scope = list(dict.fromkeys(each for slot in slots for each in slot))
    shown = (
        f"{parfactor['name']}({','.join(theta[each] for each in free)})"
        if free
        else parfactor["name"]
    )
    if parfactor["table"] is None:
        return shown, tuple(scope), None
    potentials = []
    for values in itertools.product(*(labels[each] for each in scope)):
        world, place = dict(zip(scope, values, strict=True)), 0
        for argument, slot in zip(arguments, slots, strict=True):
            if isinstance(argument, Atom):
                place = place * len(labels[slot[0]]) + labels[slot[0]].index(world[slot[0]])
                continue
            options = relations[argument.atom.relation].get("range", ["false", "true"])
            counts = tuple(sum(world[each] == label for each in slot) for label in options)
            every = [
                each
                for each in itertools.product(range(len(slot) + 1), repeat=len(options))
                if sum(each) == len(slot)
            ]
            place = place * len(every) + every.index(counts)
        potentials.append(float(parfactor["table"][place]))
    return shown, tuple(scope), tuple(potentials)
