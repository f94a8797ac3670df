"""Algorithm 1 of *Lifting Factor Graphs with Some Unknown Factors* (2023), in the paper's order.

Pair by pair and naive: this is what the fast code is held against. Words in “quotation marks” are
the paper's. Where the paper is silent, a comment says what we decided.
"""

from dataclasses import dataclass, replace
from itertools import permutations

Table = dict[tuple[str, ...], float]  # potentials by the labels of the arguments


@dataclass(frozen=True)
class Factor:
    args: tuple[str, ...]
    potentials: Table | None = None  # None: unknown


@dataclass(frozen=True)
class FactorGraph:
    ranges: dict[str, frozenset[str]]  # R(R), for each randvar
    factors: dict[str, Factor]
    evidence: dict[str, str]

    def Ne(self, node):
        """“The set of neighbours of a node”, which is a randvar or a factor."""
        if node in self.factors:
            return self.factors[node].args
        return tuple(f for f, factor in self.factors.items() if node in factor.args)

    def induced(self, nodes):
        """G[V']: “only the nodes in V' as well as all edges that connect two nodes in V'”."""
        kept = {
            name: Factor(tuple(R for R in factor.args if R in nodes), factor.potentials)
            for name, factor in self.factors.items()
            if name in nodes
        }
        return replace(self, factors=kept)

    def known(self, f):
        return self.factors[f].potentials is not None


# ---- Definitions


def two_step(G, f):
    """“All randvars that are connected to f as well as all factors connected to” one of these."""
    return {*G.Ne(f)} | {g for R in G.Ne(f) for g in G.Ne(R)}


def bijection(G, f_i, f_j):
    """For each argument of f_i the place of its image in f_j; None if they are not symmetric.

    Symmetric: “there exists a bijection Ne(f_i) → Ne(f_j) that maps every randvar R_k to a randvar
    R_l such that the evidence is identical, R(R_k) = R(R_l), and |Ne(R_k)| = |Ne(R_l)|”.
    """
    G_i, G_j = (G.induced(two_step(G, f)) for f in (f_i, f_j))

    def alike(R_k, R_l):
        return (
            G.evidence.get(R_k) == G.evidence.get(R_l)
            and G.ranges[R_k] == G.ranges[R_l]
            and len(G_i.Ne(R_k)) == len(G_j.Ne(R_l))
        )

    here, there = G.Ne(f_i), G.Ne(f_j)
    if len(here) != len(there):  # “|Ne(f_i)| = |Ne(f_j)|”
        return None
    # There may be several; we take the first, which keeps the order of arguments that are alike.
    for places in permutations(range(len(there))):
        if all(alike(R_k, there[place]) for R_k, place in zip(here, places, strict=True)):
            return places
    return None


def possibly_identical(G, f_i, f_j):
    """f_i ≈ f_j: symmetric 2-step neighbourhoods, and “at least one of f_i and f_j is unknown, or
    f_i and f_j have the same potentials”, which we compare argument by argument as listed."""
    return bijection(G, f_i, f_j) is not None and (
        not (G.known(f_i) and G.known(f_j))
        or G.factors[f_i].potentials == G.factors[f_j].potentials
    )


# ---- Algorithm 1


def lifagu(G, theta):
    """The completed graph, what happened to each unknown factor, and the groups of G'."""
    # “Assign each f_i ∈ F a colour based on its potentials”, “each f'_i ∈ F' a unique colour”.
    colour = {
        f: ("table", frozenset(G.factors[f].potentials.items())) if G.known(f) else ("unknown", f)
        for f in G.factors
    }
    unknown = [f for f in G.factors if not G.known(f)]

    # First phase: “all unknown factors that are possibly identical are assigned the same colour”,
    # and C[f_i] collects the “known factors possibly identical to f_i”.
    C = {f_i: [] for f_i in unknown}
    for f_i in unknown:
        for f_j in G.factors:
            if f_i != f_j and possibly_identical(G, f_i, f_j):
                if G.known(f_j):
                    C[f_i].append(f_j)
                else:
                    colour[f_j] = colour[f_i]

    # Second phase: “group the unknown factors with known factors, including the transfer”.
    completed, report = dict(G.factors), {}
    for f_i in unknown:
        # “Maximal subset of C[f_i] such that f_j ≈ f_k holds for all” of its members.
        # Several may be as large; we take the one with the factor declared first.
        subsets = [[f_k for f_k in C[f_i] if possibly_identical(G, f_j, f_k)] for f_j in C[f_i]]
        largest = max(subsets, key=len, default=[])
        tie = any(len(each) == len(largest) and each != largest for each in subsets)
        donor = order = None
        # “if |C^l| / |C| ≥ θ”; without candidates we leave f_i unknown, whatever θ is.
        if largest and len(largest) / len(C[f_i]) >= theta:
            for f_j in largest:
                colour[f_j] = colour[f_i]  # “assign all f_j ∈ C^l the same colour as f_i”
            # They all have the same potentials; we call the one declared first the donor.
            donor = largest[0]
            completed[f_i], order = transferred(G, donor, f_i)
        report[f_i] = (donor, order, len(C[f_i]), len(largest), tie)

    G = replace(G, factors=completed)
    return G, report, colour_passing(G, colour)


def transferred(G, donor, receiver):
    """The receiver with the donor's potentials, and which of its arguments stands where now.

    The paper does not say how potentials are copied. We copy position by position where the ranges
    fit, and otherwise along the bijection: so what is possibly identical can always be transferred.
    """
    args = G.factors[receiver].args
    order = tuple(range(len(args)))
    if [G.ranges[R] for R in args] != [G.ranges[R] for R in G.factors[donor].args]:
        order = bijection(G, donor, receiver)
    return Factor(tuple(args[place] for place in order), G.factors[donor].potentials), order


# ---- The colour passing algorithm


def colour_passing(G, factor_colour):
    """Groups of randvars and of factors, by the colours that factors begin with."""
    # “Each randvar is assigned a colour depending on its range and evidence.”
    variable_colour = {R: (values, G.evidence.get(R)) for R, values in G.ranges.items()}
    groups = grouped(variable_colour), grouped(factor_colour)
    while True:
        # “The colours are then passed from every randvar to its neighbouring factors” …
        factor_colour = numbered(
            {
                f: (colour, *(variable_colour[R] for R in G.Ne(f)))
                for f, colour in factor_colour.items()
            }
        )
        # … “and vice versa”, with “the position of the randvars in the argument list”.
        variable_colour = numbered(
            {
                R: (colour, *sorted((factor_colour[f], G.Ne(f).index(R)) for f in G.Ne(R)))
                for R, colour in variable_colour.items()
            }
        )
        # “Repeated until the groupings of identical colours do not change anymore.”
        before, groups = groups, (grouped(variable_colour), grouped(factor_colour))
        if groups == before:
            return groups


def numbered(colours):
    """The same colours as numbers, so that they do not grow from round to round."""
    number = {colour: place for place, colour in enumerate(dict.fromkeys(colours.values()))}
    return {node: number[colour] for node, colour in colours.items()}


def grouped(colours):
    """Nodes of one colour together, in the order in which they are declared."""
    return [
        [node for node in colours if colours[node] == each]
        for each in dict.fromkeys(colours.values())
    ]
