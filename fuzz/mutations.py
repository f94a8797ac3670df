"""Inputs made from others: along their structure where they have one, else byte by byte."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

NUMBERS = (
    *("0", "-1", "1", "2", "7", "0.5", "-0.0", "1e-320", "1e308", "1e999", "-1e999", "nan", "inf"),
    *("255", "65536", "2147483648", "4294967295", "9007199254740993", "18446744073709551616"),
    *("999999999", "1" * 400, "0x10", "1_000", "+1", "1.", ".5", "1e", "--1", "\uff11", "\u0663"),
)
TEXTS = (
    *("", " ", "\n", "\t", "\r\n", "\x00", "\x1b[2J", "\x7f"),
    *("\u2028", "\ud800", "\udcff", "\ufeff", "\u202e", "\u03a9", "e\u0301", "\U0001f600"),
    *("true", "false", "null", "X", "x", "_", "*", "a b", "a,b", "a.b", "a(b)", "A(b,c)", "a=b"),
    *("../../x", "/", "'; DROP TABLE t; --", '"', "'", "`", "<b>", "=1+1", "${HOME}", "%s", "{}"),
    *("#X[A(X)]", "X != Y", "1..3", "(" * 50, "a" * 20_000),
)
KEYS = (
    *("format", "ranges", "tables", "variables", "factors", "evidence", "domains", "relations"),
    *("parfactors", "queries", "name", "range", "kind", "individual", "args", "table", "support"),
    *("where", "of", "names", "vars", "in", "not_in", "sql", "source", "files", "learn", "by"),
    *("given", "bins", "edges", "cohorts", "records", "rows", "min_support", "parameters", "value"),
)
USUAL = ("0", "1", "1", "2", "2", "3", "4", "0.5", "0.25", "1.5")
GENTLE = 0.5  # the share of inputs in which something usual becomes something else that is usual
DEEP, LONG, MANY = 3_000, 50_000, 20_000  # nesting, characters and repetitions of what is large
PIECES = (
    b"",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xc3\x28",
    b"\xed\xa0\x80",
    b"\r\n",
    b"\x1f\x8b",
)
TOKEN = re.compile(r"\d+\.?\d*(?:[eE][+-]?\d+)?|\w+|\s+|\"[^\"\n]*\"|.", re.DOTALL)
HOLE = "a hole to be filled with text"


def mutated(rng: random.Random, seeds: Sequence[bytes], rows: bool = False) -> bytes:
    """An input made from one of these, some of it perhaps from a second one.

    rows: whether they are lines of cells, as in CSV files.
    """
    raw, other = rng.choice(seeds), rng.choice(seeds)
    if rng.random() < GENTLE:
        for _ in range(rng.choice((1, 2, 4))):
            raw = _gently(rng, raw)
        return raw
    for _ in range(rng.choice((1, 1, 1, 1, 2, 4))):
        raw = _way(rng, raw, rows)(rng, raw, other)
    return raw


def _way(
    rng: random.Random, raw: bytes, rows: bool
) -> Callable[[random.Random, bytes, bytes], bytes]:
    chance = rng.random()
    if chance < 0.08:
        return _by_bytes
    if chance < 0.081:
        return _enlarged
    if rows and chance < 0.6:
        return _by_cells
    return _by_tree if raw.lstrip()[:1] in (b"{", b"[") and chance < 0.9 else _by_tokens


def packed(rng: random.Random, raw: bytes) -> bytes:
    """Compressed, perhaps broken, in several parts, or twice."""
    found = gzip.compress(raw, compresslevel=1)
    way = rng.randrange(5)
    if way == 0:
        return _by_bytes(rng, found, found)
    if way == 1:
        return gzip.compress(raw[: len(raw) // 2]) + gzip.compress(raw[len(raw) // 2 :])
    return gzip.compress(found) if way == 2 else found


# ---- changed so little that it may well be read


def _gently(rng: random.Random, raw: bytes) -> bytes:
    """A number made another small one, a word (no key) another of the input; else one byte."""
    if b"\0" in raw:
        place = rng.randrange(len(raw))
        return raw[:place] + bytes([rng.randrange(256)]) + raw[place + 1 :]
    tokens = TOKEN.findall(raw.decode(errors="surrogateescape"))
    places = [
        each
        for each, text in enumerate(tokens)
        if (text[0].isalnum() or text[0] == '"') and tokens[each + 1 : each + 2] != [":"]
    ]
    if places:
        place = rng.choice(places)
        if tokens[place][0].isdigit():
            tokens[place] = rng.choice(USUAL)
        else:
            first = tokens[place][0] == '"'
            words = [tokens[each] for each in places if (tokens[each][0] == '"') == first]
            tokens[place] = rng.choice(words)
    return "".join(tokens).encode(errors="surrogateescape")


# ---- without any structure


def _by_bytes(rng: random.Random, raw: bytes, other: bytes) -> bytes:
    """A byte changed, a stretch left out, repeated, or taken from elsewhere; an end cut off."""
    start = rng.randrange(len(raw) + 1)
    end = min(len(raw), start + rng.choice((1, 1, 2, 8, 100)))
    begin = rng.randrange(len(other) + 1)
    drawn = (raw[start:end] * 2, other[begin : begin + 20], bytes([rng.randrange(256)]))
    piece = rng.choice((*PIECES, *drawn))
    return raw[:start] if rng.random() < 0.1 else raw[:start] + piece + raw[end:]


def _enlarged(rng: random.Random, raw: bytes, _: bytes) -> bytes:
    """A stretch repeated very often."""
    start = rng.randrange(len(raw) + 1)
    piece = raw[start : start + rng.choice((1, 5, 40))]
    return raw[:start] + piece * rng.choice((100, MANY)) + raw[start:]


# ---- words, numbers and signs


def _by_tokens(rng: random.Random, raw: bytes, other: bytes) -> bytes:
    """Some tokens changed for odd ones, left out, doubled, exchanged or taken from elsewhere."""
    tokens = TOKEN.findall(raw.decode(errors="surrogateescape"))
    others = TOKEN.findall(other.decode(errors="surrogateescape")) or [""]
    if not tokens:
        return raw
    place, second = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    way = rng.randrange(8)
    if way == 0:
        del tokens[place : place + rng.choice((1, 1, 2, 5))]
    elif way == 1:
        tokens[place:place] = tokens[place : place + rng.choice((1, 2, 9))]
    elif way == 2:
        tokens[place], tokens[second] = tokens[second], tokens[place]
    elif way == 3:
        begin = rng.randrange(len(others))
        tokens[place : place + 1] = others[begin : begin + rng.choice((1, 3, 12))]
    elif way == 4:
        tokens[place] = rng.choice(TEXTS)
    else:  # a number becomes another one
        numbers = [each for each, text in enumerate(tokens) if text[0].isdigit()] or [place]
        tokens[rng.choice(numbers)] = rng.choice((*NUMBERS, str(rng.randrange(9))))
    return "".join(tokens).encode(errors="surrogatepass")


# ---- lines of cells


def _by_cells(rng: random.Random, raw: bytes, _: bytes) -> bytes:
    """A cell changed, a row left out, doubled or cut, columns exchanged or called the same."""
    rows = [line.split(",") for line in raw.decode(errors="surrogateescape").split("\n")]
    row = rng.choice(rows)
    cell, way = rng.randrange(len(row)), rng.randrange(6)
    if way == 0:
        rows.remove(row)
    elif way == 1:
        rows.insert(rng.randrange(len(rows) + 1), list(row))
    elif way == 2:
        del row[cell]
    elif way == 3:
        rows[0][rng.randrange(len(rows[0]))] = rng.choice((rows[0][0], *TEXTS))
    else:
        row[cell] = rng.choice((*NUMBERS, *TEXTS, *rng.choice(rows)))
    return "\n".join(map(",".join, rows)).encode(errors="surrogatepass")


# ---- JSON


def _by_tree(rng: random.Random, raw: bytes, other: bytes) -> bytes:
    """Some values of a JSON text changed, left out, doubled, wrapped or taken from elsewhere."""
    try:
        tree, second = json.loads(raw), json.loads(other)
    except (ValueError, RecursionError):
        return _by_tokens(rng, raw, other)
    places = _places(tree) if isinstance(tree, dict | list) else []
    if not places:
        return _by_tokens(rng, raw, other)
    text = ""
    for _ in range(rng.choice((1, 1, 1, 2))):
        holder, key = rng.choice(places)
        text = _change(rng, holder, key, second) or text
    whole = json.dumps(tree, ensure_ascii=rng.random() < 0.9)
    return whole.replace(json.dumps(HOLE), text, 1).encode(errors="surrogatepass")


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Everything within a tree: what holds it, and its key or number there."""
    found, left = [], [tree]
    while left:
        holder = left.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        found += [(holder, key) for key in keys]
        left += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
    return found


def _change(rng: random.Random, holder: Any, key: Any, other: Any) -> str:
    """Change one value; what stands for it as text, where no value would do."""
    if (isinstance(holder, dict) and key not in holder) or (
        isinstance(holder, list) and key >= len(holder)
    ):
        return ""  # it was changed already
    way = rng.randrange(11)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, list):
        holder.insert(key, holder[key])
    elif way == 1:
        holder[rng.choice((*KEYS, *TEXTS))] = holder[key]
    elif way == 2:
        holder[key] = rng.choice(([holder[key]], {rng.choice(KEYS): holder[key]}))
    elif way == 3:
        there, where = rng.choice(_places([other]))
        holder[key] = there[where]
    elif way == 4:
        holder[key] = rng.choice((None, True, False, [], {}, [[]], "", 0, -1, 1.5, 10**400))
    elif way == 5:
        holder[key] = rng.choice(TEXTS)
    elif way == 6 and isinstance(holder[key], str):
        changed = _by_tokens(rng, holder[key].encode(errors="surrogatepass"), b"X(Y,a) != 2")
        holder[key] = changed.decode(errors="surrogatepass")
    elif way == 7 and isinstance(holder, dict):  # a key of another name
        holder[rng.choice((*KEYS, *TEXTS))] = holder.pop(key)
    elif way == 8:
        holder[key] = HOLE
        deep = rng.choice(("[", '{"a":'))
        return rng.choice((deep * DEEP, "[" * DEEP + "]" * DEEP, "1" * LONG, f'"{"a" * LONG}"'))
    else:
        holder[key] = HOLE
        return rng.choice((*NUMBERS, "NaN", "Infinity", "tru", "'a'", '"\\ud800"', '"\\u0000"'))
    return ""
