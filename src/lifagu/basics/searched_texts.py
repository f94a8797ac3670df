"""Texts searched as one types: joined into one and looked through at once, even a million."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property

END, BEGIN = "\0", "\1"  # what ends a text, and what stands before words within one
WORD = re.compile(r"(?<=[\W_])(?=[^\W_])")  # where a word begins that does not begin the text
# blanks that are not single, or not between words
ODD_SPACE = re.compile(r"[^\S ]|  |\0 | \0|^ | $")
EXACT, PREFIX, WORD_START, INSIDE = range(4)  # how a text is found, the best first


def folded_text(text: str) -> str:
    """A text as it is compared: without case, and with single blanks between words.

    >>> folded_text(" Anna   May")
    'anna may'
    """
    return " ".join(text.casefold().split())


class SearchedTexts:
    """Texts by number, searched without regard to case.

    >>> texts = SearchedTexts(["Anna May", "may", "dismay", "Mayor"])
    >>> [(texts.texts[number], how) for number, how in texts.search("May")]
    [('may', 0), ('Mayor', 1), ('Anna May', 2), ('dismay', 3)]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        folded = END.join(texts).casefold()
        if ODD_SPACE.search(folded) is not None:
            folded = END.join(map(folded_text, texts))
        self._joined = f"{END}{folded}{END}" if texts else ""

    @cached_property
    def _starts(self) -> Ints:
        """Where each text begins."""
        return _starts(self._joined)

    @cached_property
    def _by_word(self) -> tuple[str, Ints]:
        """The same with a sign before each word within a text, and where texts begin there."""
        marked = WORD.sub(BEGIN, self._joined).replace(END + BEGIN, END)
        return marked, _starts(marked)

    def search(self, text: str) -> Iterator[tuple[int, int]]:
        """The numbers of texts in which one is found, best first, each once; and how it is found.

        How is `EXACT`, `PREFIX`, `WORD_START` or `INSIDE`; of equal ones the first comes first.
        Cost: a pass over all texts for each of these that is looked for.
        """
        wanted = folded_text(text)
        if not wanted or END in wanted or BEGIN in wanted:
            return
        met: set[int] = set()
        starts = self._starts
        for how in (EXACT, PREFIX, WORD_START, INSIDE):
            found = self._joined
            if how == EXACT:
                pattern = f"{END}{wanted}{END}"
            elif how == PREFIX:
                pattern = END + wanted
            elif how == WORD_START:
                if not wanted[0].isalnum():
                    continue
                found, starts = self._by_word
                pattern = BEGIN + WORD.sub(BEGIN, wanted)
            else:
                pattern, starts = wanted, self._starts
            for number in _numbers(found, pattern, starts):
                if number not in met:
                    met.add(number)
                    yield number, how

    def with_prefix(self, text: str) -> Iterator[int]:
        """The numbers of the texts that begin with one, ascending; it is casefolded already."""
        if not text:
            return iter(range(len(self.texts)))
        return _numbers(self._joined, END + text, self._starts)

    def equal_to(self, text: str) -> Iterator[int]:
        """The numbers of the texts that are one, ascending; it is casefolded already."""
        return _numbers(self._joined, f"{END}{text}{END}", self._starts)


def _starts(joined: str) -> Ints:
    if joined.isascii():
        codes = np.frombuffer(joined.encode("ascii"), dtype=np.uint8)
    else:
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return np.flatnonzero(codes == ord(END))[:-1]


def _numbers(joined: str, pattern: str, starts: Ints) -> Iterator[int]:
    """The numbers of the texts in which a pattern is found, ascending, each once."""
    at = joined.find(pattern)
    while at >= 0:
        number = int(np.searchsorted(starts, at, side="right")) - 1
        yield number
        after = int(starts[number + 1]) if number + 1 < len(starts) else len(joined) - 1
        at = joined.find(pattern, after)
