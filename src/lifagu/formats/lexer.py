"""A text as a stream of tokens told apart by a pattern, with the line of each for errors."""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from lifagu.errors import FormatError

MOST_DIGITS = 18  # of a whole number


class Token(NamedTuple):
    """A word, number or sign: its kind is the name of the group of the pattern that matched it."""

    kind: str
    text: str
    start: int


class Lexer:
    """A cursor over the tokens of a text.

    pattern: named groups, tried in order. Matches of the group ``skip`` (blanks and comments) are
    left out; where nothing matches, or the group ``broken`` does, the text is refused. After the
    last token comes one of kind "end".

    >>> pattern = re.compile(r"(?P<skip>\\s+|#.*)|(?P<name>[a-z]+)|(?P<sign>:=)|(?P<number>[0-9]+)")
    >>> lexer = Lexer("a := 7 # seven", "m.x", pattern)
    >>> [lexer.take("anything").text for _ in range(3)], lexer.peek.kind
    (['a', ':=', '7'], 'end')
    """

    def __init__(self, text: str, place: str, pattern: re.Pattern[str]) -> None:
        self._text, self._place = text, place
        self._tokens: list[Token] = []
        self.position = 0  # of the next token; set it to go back
        start = 0
        while start < len(text):
            match = pattern.match(text, start)
            if match is None or match.lastgroup in (None, "broken"):
                self.fail(_unreadable(text, start), start)
            if match.lastgroup != "skip":
                self._tokens.append(Token(str(match.lastgroup), match[0], start))
            start = match.end()
        self._tokens.append(Token("end", "", len(text.rstrip())))

    @property
    def peek(self) -> Token:
        """The next token."""
        return self._tokens[self.position]

    def fail(self, message: str, at: Token | int | None = None) -> NoReturn:
        """Raise an error at a token or place (the next token by default)."""
        raise FormatError(f"{self.where(at)}: {message}")

    def where(self, at: Token | int | None = None) -> str:
        """The file and the line of a token or place."""
        start = at if isinstance(at, int) else (at or self.peek).start
        return f"{self._place}:{self._text.count(chr(10), 0, start) + 1}"

    def whole(self, token: Token, what: str) -> int:
        """The whole number that a token is, none without end."""
        if not token.text.isdigit() or len(token.text) > MOST_DIGITS:
            self.fail(f"'{shortened(token.text)}' is not {what} below 10^{MOST_DIGITS}", token)
        return int(token.text)

    def take(self, what: str, kind: str | None = None) -> Token:
        """The next token, which must be of a kind, if one is given."""
        token = self.peek
        if token.kind == "end":
            self.fail(f"the file ends where {what} should be")
        if kind is not None and token.kind != kind:
            self.fail(f"{what} should stand here, not '{shortened(token.text)}'")
        self.position += 1
        return token

    def expect(self, text: str, what: str) -> Token:
        """The next token, which must have this text."""
        if self.peek.text != text:
            at_end = self.peek.kind == "end"
            shown = "the file ends" if at_end else f"'{shortened(self.peek.text)}' stands"
            self.fail(f"{shown} where '{text}' should be, {what}")
        return self.take(what)

    def accept(self, text: str) -> bool:
        """Take the next token if it has this text."""
        found = self.peek.text == text and self.peek.kind != "end"
        self.position += found
        return found


def shortened(text: str) -> str:
    """A text for an error message: on one line, and not too long.

    >>> shortened("[[1,\\n 2]]"), shortened("x" * 99)[-5:]
    ('[[1, 2]]', 'xxxx…')
    """
    text = " ".join(text.split())
    return text if len(text) <= 40 else f"{text[:39]}…"


def _unreadable(text: str, start: int) -> str:
    """What to say about a text that cannot be divided into tokens here."""
    if text.startswith("/*", start):
        return "a comment begins with /* here and is never closed with */"
    return f"{text[start]!r} cannot stand here"
