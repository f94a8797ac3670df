"""What was found by a few letters: an individual, a relation, one of its values, or a variable."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class FoundName:
    """Something of a case by the name that its verbs take.

    Attributes
    ----------
    kind : {"relation", "individual", "variable", "value"}
        What it is.
    name : str
        What verbs take: the relation (of a value its relation, or variable), the individual, or the
        variable.
    label : str
        How it is shown, such as ``Sick = true``.
    domain : str or None
        The domain of an individual, where it has one.
    relation : str or None
        The relation of a variable or a value, where it has one.
    value : str or None
        The label that a value is.

    Examples
    --------
    >>> import lifagu
    >>> lifagu.open("epidemic").find("tra", most=1)
    (FoundName(kind='relation', name='Travel', label='Travel', domain=None, relation='Travel', value=None),)
    """  # noqa: E501

    kind: Literal["relation", "individual", "variable", "value"]
    name: str
    label: str
    domain: str | None = None
    relation: str | None = None
    value: str | None = None

    def json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return asdict(self)
