"""A card in words, for terminals of 80 columns or more."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from lifagu.basics.words import aligned, counted, percent
from lifagu.filling.chance import GUESS
from lifagu.questions.cards.parts import (
    AlikeIndividuals,
    CardContents,
    FilledTable,
    KnownFact,
    LinkedTo,
    More,
    PredictedValue,
)

WIDTH = 96
MOST_LABELS = 3
NOBODY = "nobody in particular: nothing known of it tells individuals apart"
HARDLY = 0.005  # how far from what is usual a prediction must be for it to be said


def card_in_words(card: CardContents) -> str:
    """The card part by part; parts of which there is nothing are left out, or say so."""
    domain = (
        f" ({card.domain})"
        if card.domain and not card.individual.startswith(f"{card.domain}:")
        else ""
    )
    parts = [
        [f"{card.individual}{domain}"],
        _part("known", _known(card), "nothing was observed"),
        _part("filled", [*_filled(card)]),
        _part("predicted", _predicted(card), "nothing is left to predict"),
        _part(
            "why", [line.removeprefix("why ") for why in card.why for line in str(why).split("\n")]
        ),
        _part("links", [_link(each) for each in card.links]),
        _part("like", [line for each in card.alike for line in _alike(each)], NOBODY),
        [f"note: {each}" for each in card.notes],
    ]
    return "\n".join(line for part in parts for line in part)


def _part(title: str, lines: Sequence[str], nothing: str = "") -> list[str]:
    shown = [*lines] or ([nothing] if nothing else [])
    return [title, *(_wrapped(line) for line in shown)] if shown else []


def _wrapped(line: str) -> str:
    own = len(line) - len(line.lstrip())
    return (
        "\n".join(
            textwrap.wrap(
                line.strip(),
                WIDTH,
                initial_indent=" " * (2 + own),
                subsequent_indent=" " * (6 + own),
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
        if len(line) + 2 > WIDTH
        else f"  {line}"
    )


# ---- known, filled, predicted


def _known(card: CardContents) -> list[str]:
    lines = aligned([_fact(each) for each in card.known])
    return [*lines, *_more(card.more_known, "observed")]


def _fact(fact: KnownFact) -> tuple[str, str, str]:
    variable = _counted(fact.variable, fact.count)
    if not fact.certain:
        return variable, f"likely {fact.value}", "not for certain"
    usual = ""
    if fact.observed > 1 and fact.share is not None:
        usual = f"as {fact.share:.0%} of {fact.observed}"
    return variable, fact.value, usual


def _counted(variable: str, count: int) -> str:
    return f"{variable} ({count} alike)" if count > 1 else variable


def _more(more: Sequence[More], what: str) -> list[str]:
    return [f"… and {each.count} more of {each.relation} {what}" for each in more]


def _filled(card: CardContents) -> Iterator[str]:
    for each in card.filled:
        yield f"{each.factor}: {_table(each)}"
        if each.reason:
            yield f"  {each.reason}"
        yield from (f"  {line}" for line in (str(each.told).split("\n") if each.told else ()))
    if (left := card.filled_count - len(card.filled)) > 0:
        yield f"… and {counted(left, 'unknown factor')} more"


def _table(table: FilledTable) -> str:
    if table.status != "transferred":
        return "stays unknown"
    shares = [] if table.share is None else [f"share {table.share:.0%}"]
    if table.posterior is not None and abs(table.posterior - (table.share or 0)) >= HARDLY:
        shares += [f"{table.posterior:.0%} given what was observed"]
    shares += [GUESS] * table.guess
    return f"takes {table.takes}" + (f" ({', '.join(shares)})" if shares else "")


def _predicted(card: CardContents) -> list[str]:
    answered = [each for each in card.predicted if not each.no_answer]
    for most in range(MOST_LABELS, 0, -1):
        lines = aligned([_prediction(each, most) for each in answered])
        if max(map(len, lines), default=0) + 2 <= WIDTH:
            break
    lines += [f"{each.variable}: {each.no_answer}" for each in card.predicted if each.no_answer]
    lines += _more(card.more_predicted, "not asked")
    if asked := max(
        (each.usual_of for each in answered if each.usual_is == "predicted"), default=0
    ):
        others = counted(asked, "other")
        lines.append(f"usual is what is predicted of {others} where too little was observed")
    rests = dict.fromkeys(each for each in map(_rests_on, answered) if each)
    lines += [f"rests on {each}" for each in rests]
    told = dict.fromkeys(warning for each in answered for warning in each.warnings)
    return [*lines, *(f"warning: {each}" for each in told)]


def _prediction(said: PredictedValue, most: int) -> tuple[str, str, str, str]:
    pairs = list(zip(said.labels, said.probabilities, strict=True))
    shown = "  ".join(f"{label} {percent(chance)}" for label, chance in pairs[:most])
    shown += " …" * (len(pairs) > most)
    return _counted(said.variable, said.count), shown, _usual(said), GUESS if said.guess else ""


def _usual(said: PredictedValue) -> str:
    if not said.usual:
        return ""
    if said.apart < HARDLY:
        return "as usual"
    place = max(range(len(said.usual)), key=lambda each: (said.usual[each], -each))
    other = f"{said.labels[place]} " if place else ""
    return f"usually {other}{percent(said.usual[place])}"


def _rests_on(said: PredictedValue) -> str:
    weakest = "" if said.weakest_share is None else f", weakest share {said.weakest_share:.0%}"
    return f"{counted(said.rests_on, 'lent table')}{weakest}" if said.rests_on else ""


# ---- links, and whom it is like


def _link(link: LinkedTo) -> str:
    names = ", ".join(link.names)
    if link.sort == "group":
        return f"{link.by} {names}: shared with {counted(link.count, 'other')}"
    more = f", … ({link.count} in all)" if link.count > len(link.names) else ""
    if link.sort == "shared":
        return f"{link.by}: {names}{more}, shared by others"
    return f"{link.by}: {names}{more}"


def _alike(alike: AlikeIndividuals) -> Iterator[str]:
    as_near = f"; {alike.as_near} are as near as the first" if alike.as_near > 1 else ""
    if alike.by in ("cohort", "everything"):
        names = ", ".join(each.individual for each in alike.nearest)
        more = alike.as_near - len(alike.nearest)
        yield f"by {alike.measure}: {names}" + (f" and {more} more" if more > 0 else "")
        return
    yield f"by {alike.measure}{as_near}"
    for each in alike.nearest:
        differs = f"; other {_few(each.differs)}" if each.differs else ""
        same = f"same {_few(each.same)}" if each.same else ""
        yield f"  {each.individual} {each.likeness:.0%}: {same}{differs}"


def _few(names: Sequence[str]) -> str:
    more = len(names) - 5
    return ", ".join(names[:5]) + (f" and {more} more" if more > 0 else "")
