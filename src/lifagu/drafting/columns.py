"""What a column is: labels, numbers, moments, groups, or something that is left out, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, count
from typing import Any, Literal

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.drafting.seen import SeenColumn
from lifagu.graph.bins import number_of

MOST_LABELS = 24  # of a range; a pair of such has a table of 576 entries
FEW_NUMBERS = 15  # whole numbers that are labels themselves …
NUMBERS_EACH, FEWEST_NUMBERS = 5, 5  # … where each has so many rows on average, or they are so few
TEXTS_EACH = 2  # rows for each label on average; fewer are names
YEARS = (1700, 2100)  # numbers that may be years
SAME = 3  # pairs of equal numbers that chance makes; where there are none, then they are names
LEAST_COVER = 0.5  # of the rows that labels must tell apart, if the rest is called other
LEAST_VALUES = 20  # fewer of them teach nothing
LEAST_EACH = 5  # rows of a label, where few labels come far more often than most values do …
LEAST_COMMON, MORE_OFTEN = 0.25, 2  # … have such a share of rows, so many times that of values
# rows for each value of a column that says who belongs together, and of one with many rows that do
SHARED, HARDLY_SHARED = 1.2, 1.1
LONG = 80  # characters: longer values on average are free text
NUMERIC = 0.9  # share of values that are numbers from which on a text column is numeric
MOST_ODD = 12  # texts among numbers that are translated one by one
SERIAL = re.compile(
    r"(?:(?:^|[\W_])(?:id|ids|key|uuid|guid|rownames?|row|index)|[a-z]I[Dd])$", re.I
)
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?"
)
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+(?:,\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[-+]?\d{1,3}(?:,\d{3})*(?:\.\d+)?\s*")
_INSIDE = re.compile(r"\s*([<>]=?|≤|≥)?\s*([-+]?\d+(?:\.\d+)?)\s*(\+)?\s*")

Kind = Literal["label", "number", "moment", "group", "left out"]


@dataclass(frozen=True)
class ColumnSort:
    """What a column is.

    labels: of a label column; other: what rarer values are called, if there are any; odd: texts
    among numbers, and the number that stands for each, None if it is no value; parts: of a moment,
    those that repeat; is_group: whether rows share its values, so that groups can differ; is_code:
    whether a number may be the name of a group as well; blanks: texts that are no values; is_zoned:
    whether moments say how far from UTC they are; comma: what commas within numbers stand for, a
    point or (thousands) nothing, None if there are none.
    """

    kind: Kind
    why: str
    labels: tuple[str, ...] = ()
    other: str | None = None
    odd: Mapping[str, str | None] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    is_group: bool = False
    is_code: bool = False
    blanks: tuple[str, ...] = ()
    is_zoned: bool = False
    comma: str | None = None


def sort_of(column: SeenColumn, is_sampled: bool) -> ColumnSort:
    """What a column is, told by its values; its declared type alone says too little."""
    texts, counts = column.texts, column.counts
    blanks = column.blanks
    if blanks:
        keep = [place for place, text in enumerate(texts) if text not in blanks]
        texts, counts = [texts[place] for place in keep], counts[keep]
    many = int(counts.sum())
    if not many:
        return ColumnSort("left out", "it is empty")
    if len(texts) == 1:
        if many == len(column.cells):
            return ColumnSort("left out", f"it always says '{_short(texts[0])}'")
        why = f"it says '{_short(texts[0])}' or nothing; if nothing means no, make it a value"
        return ColumnSort("left out", why)
    if many < LEAST_VALUES:
        return ColumnSort("left out", f"only {many} rows have a value")
    if column.family == "moment" or _are_moments(texts, is_sampled):
        return replace(_moment(texts), blanks=blanks)
    comma = _comma(texts)
    if comma is None:
        found = _number(column, texts, counts, is_sampled)
    else:
        found = _number_with_comma(column, texts, counts, comma)
    if found is None:
        found = _text(texts, counts)
    return replace(found, blanks=blanks)


def _short(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:29]}…"


def _comma(texts: list[str]) -> str | None:
    """What commas in numbers stand for, if all texts are such: ``1,5`` or ``12,000``.

    >>> _comma(["1,5", "2"]), _comma(["999", "12,000.50"]), _comma(["1.5", "2"])
    ('.', '', None)
    """
    if not any("," in each for each in texts):
        return None
    if all(map(_THOUSANDS.fullmatch, texts)):
        return ""
    return "." if all(map(_DECIMAL_COMMA.fullmatch, texts)) else None


def _number_with_comma(
    column: SeenColumn, texts: list[str], counts: np.ndarray, comma: str
) -> ColumnSort | None:
    found = _number(column, [each.replace(",", comma) for each in texts], counts, False)
    if found is None or found.kind != "number":
        return None
    return replace(found, comma=comma, is_code=False)


def _number(
    column: SeenColumn, texts: list[str], counts: np.ndarray, is_sampled: bool
) -> ColumnSort | None:
    """A column of numbers, or of texts that nearly all are; None for any other."""
    numbers = [number_of(each) for each in texts]
    known = np.array([each is not None for each in numbers])
    if counts[known].sum() < NUMERIC * counts.sum():
        return None
    odd = {text: _inside(text) for text, fine in zip(texts, known, strict=True) if not fine}
    if odd and (is_sampled or len(odd) > MOST_ODD):
        return None
    values = np.array([each for each in numbers if each is not None])
    whole = bool(np.all(np.isfinite(values)) and np.all(values == np.round(values)))
    told = _differ_by_chance(values) or _are_years(values)
    unique = len(texts) == counts.sum() and not told
    serial = bool(SERIAL.search(column.name))
    if whole and not odd and (serial or unique) and len(texts) > FEW_NUMBERS:
        if serial and _are_shared(int(counts.sum()), len(texts)):
            return ColumnSort("group", "it says who belongs together", is_group=True)
        if unique:
            return ColumnSort("left out", "every row has another whole number, as identifiers do")
        if serial:
            return ColumnSort("left out", "it is called like an identifier")
    often = len(texts) <= FEWEST_NUMBERS or counts.sum() >= NUMBERS_EACH * len(texts)
    if often and len(values) <= (FEW_NUMBERS if whole else FEW_NUMBERS // 2):
        if not odd:
            return _labels(texts)
        if None in odd.values():  # a label among labels
            return None
    repeated = whole and not odd and counts.sum() >= 3 * len(texts) and len(texts) > MOST_LABELS
    return ColumnSort("number", "it is a number", odd=odd, is_code=repeated)


def _differ_by_chance(values: np.ndarray) -> bool:
    """Whether numbers so far apart hardly ever come twice anyway, as amounts of money do."""
    pairs = len(values) * (len(values) - 1) / 2
    with np.errstate(over="ignore"):
        return bool(np.all(np.isfinite(values)) and pairs < SAME * (np.ptp(values) + 1))


def _are_years(values: np.ndarray) -> bool:
    """Whether numbers may be years, each of which comes once, but tells what was usual then."""
    return bool(np.all((values >= YEARS[0]) & (values <= YEARS[1])))


def _inside(text: str) -> str | None:
    """The number behind a text such as ``> 89``: the outer bin, or the number itself."""
    found = _INSIDE.fullmatch(text)
    if found is None:
        return None
    if (found[1] or "")[:1] in (">", "≥") or found[3]:
        return "inf"
    return "-inf" if found[1] else found[2]


def _text(texts: list[str], counts: np.ndarray) -> ColumnSort:
    many = int(counts.sum())
    if len(texts) == many:
        return ColumnSort("left out", "every row has a text of its own")
    if len(texts) <= MOST_LABELS and many >= TEXTS_EACH * len(texts):
        return _labels(texts)
    if counts @ np.array([len(each) for each in texts]) > LONG * many:
        return ColumnSort("left out", "it is free text")
    is_group = _are_shared(many, len(texts))
    if len(common := _common(counts)):
        labels = [texts[place] for place in common]
        found = _labels(labels, has_other=True)
        why = f"{found.why}; {len(texts) - len(labels)} rarer values are '{found.other}'"
        return ColumnSort("label", why, found.labels, found.other, is_group=is_group)
    if is_group:
        return ColumnSort("group", "it says who belongs together", is_group=True)
    return ColumnSort("left out", "nearly every row has a text of its own")


def _are_shared(rows: int, values: int) -> bool:
    """Whether values say who belongs together, as several rows have the same one."""
    hardly = rows >= HARDLY_SHARED * values and rows - values >= LEAST_VALUES
    return hardly or rows >= SHARED * values


def _common(counts: Ints) -> Ints:
    """Values that are labels, the commonest first, if the rest may be called other; none if not.

    Either they are most of what there is, or they stand out: names of people and groups that have
    about as many rows each do not.
    """
    many, order = counts.sum(), np.argsort(-counts, kind="stable")[: MOST_LABELS - 1]
    often: Ints = order[counts[order] >= max(LEAST_VALUES, 0.005 * many)]
    if counts[often].sum() >= LEAST_COVER * many:
        return often
    often = order[counts[order] >= max(LEAST_EACH, 0.005 * many)]
    share = counts[often].sum() / many
    stands_out = share >= max(LEAST_COMMON, MORE_OFTEN * len(often) / len(counts))
    return often if stands_out else often[:0]


def _labels(texts: list[str], has_other: bool = False) -> ColumnSort:
    ordered = sorted(texts, key=_in_order)
    other = None
    if has_other:
        offers = chain(["other", "(other)"], (f"other {number}" for number in count(2)))
        other = next(word for word in offers if word not in texts)
        ordered.append(other)
    return ColumnSort("label", f"it has {len(texts)} values", tuple(ordered), other)


def _in_order(text: str) -> tuple[Any, ...]:
    """Numbers by size, texts as people sort them: ``year_2`` before ``year_10``."""
    number = number_of(text)
    if number is not None:
        return 0, number, ()
    parts = re.split(r"(\d+)", text.lower())
    return 1, 0.0, tuple((each.zfill(20) if each.isdigit() else each) for each in parts), text


def _are_moments(texts: list[str], is_sampled: bool) -> bool:
    return not is_sampled and all(map(_MOMENT.fullmatch, texts))


def _moment(texts: list[str]) -> ColumnSort:
    """Parts of moments that repeat, such as weekdays: a moment itself never comes back."""
    try:
        moments = [moment_of(text) for text in texts]
    except (ValueError, OverflowError):
        return ColumnSort("left out", "its moments cannot be read")
    values = {
        "year": {each.year for each in moments},
        "month": {each.month for each in moments},
        "weekday": {each.weekday() for each in moments},
        "hour": {each.hour for each in moments},
    }
    parts = tuple(part for part, found in values.items() if len(found) > 1)
    if not parts:
        return ColumnSort("left out", "its moments hardly differ")
    why = f"its {' and '.join(parts)} may tell something"
    zoned = any(datetime.fromisoformat(text).tzinfo for text in texts)
    return ColumnSort("moment", why, parts=parts, is_zoned=zoned)


def moment_of(text: str) -> datetime:
    """A moment from its text; in UTC, if it says how far from that it is."""
    found = datetime.fromisoformat(text)
    return found.astimezone(UTC) if found.tzinfo else found
