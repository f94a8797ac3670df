"""Domains of untyped logical variables: places that a variable connects have theirs in common."""

from __future__ import annotations

from collections.abc import Iterable

# ("formula" or "predicate", name, arity, place), or ("variable", name, clause, 0)
Node = tuple[str, str, int, int]


class SharedDomains:
    """Nodes joined into classes, each with its constants in the order they were added.

    >>> domains = SharedDomains()
    >>> domains.join(("formula", "smokes", 1, 0), ("variable", "X", 0, 0))
    >>> domains.join(("variable", "X", 0, 0), ("predicate", "person", 1, 0))
    >>> domains.add(("predicate", "person", 1, 0), ["eve", "bob"])
    >>> list(domains.constants(("formula", "smokes", 1, 0))), list(domains.names().values())
    (['eve', 'bob'], ['person'])
    """

    def __init__(self) -> None:
        self._parent: dict[Node, Node] = {}
        self._constants: dict[Node, dict[str, None]] = {}

    def root(self, node: Node) -> Node:
        """The node that stands for the class of a node."""
        if node not in self._parent:
            self._parent[node], self._constants[node] = node, {}
        while self._parent[node] != node:
            self._parent[node] = self._parent[self._parent[node]]
            node = self._parent[node]
        return node

    def join(self, one: Node, two: Node) -> None:
        """Make two classes one."""
        one, two = self.root(one), self.root(two)
        if one != two:
            self._parent[two] = one
            self._constants[one].update(self._constants.pop(two))

    def add(self, node: Node, constants: Iterable[str]) -> None:
        """Add constants to the class of a node."""
        self._constants[self.root(node)].update(dict.fromkeys(constants))

    def constants(self, node: Node) -> dict[str, None]:
        """The constants of the class of a node."""
        return self._constants[self.root(node)]

    def names(self) -> dict[Node, str]:
        """A name for each class: of a predicate with one place, else of the first place in it."""
        members: dict[Node, list[Node]] = {}
        for node in list(self._parent):
            members.setdefault(self.root(node), []).append(node)
        result: dict[Node, str] = {}
        for root, nodes in members.items():
            alone = [name for kind, name, arity, _ in nodes if kind == "predicate" and arity == 1]
            _, first, _, place = min(nodes, key=lambda node: (node[0] != "predicate", node))
            name = alone[0] if alone else f"{first}_{place + 1}"
            while name in result.values():
                name += "_"
            result[root] = name
        return result
