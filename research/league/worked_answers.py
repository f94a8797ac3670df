"""Three answers about real databases with their reasons, as a person would ask for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lifagu
from research.league.databases import prepared


def worked_answers(data: Path, folder: Path) -> Iterator[str]:
    """Each with the lines that ask for it; one about a database that is not there is left out."""
    yield "## Three answers with reasons"
    sources = prepared(ANSWERS, data, folder, lambda _: None)
    for name, source in sources.items():
        path = folder / f"{name}_worked.json"
        lifagu.draft(source).write(path)
        case = lifagu.open(path)
        opened = f'case = lifagu.open("{name}.json")  # lifagu init {source.name} --out {name}.json'
        title, lines = ANSWERS[name]
        shown = [str(ask(case)) for _, ask in lines]
        yield f"**{title}**"
        yield "\n".join(["```python", opened, *(line for line, _ in lines), "```"])
        yield "\n".join(["```text", *shown, "```"])


def _weighed(case: Any) -> Any:
    """A joint answer about the same animal, had its sex not been noted either."""
    return case.observe({"Sex(3)": {"F": 1, "M": 1}}).ask("Sex(3)", "Weight(3)")


def _scales(case: Any) -> Any:
    """Evidence that is not certain: somebody remembers that she is rather light."""
    light = {label: 3 if "up to" in label else 1 for label in case.ask(WEIGHT).ranges[0]}
    return case.observe({WEIGHT: light}).ask(WEIGHT)


WEIGHT = "Admissionweight(141764)"
Line = tuple[str, Callable[[Any], Any]]
ANSWERS: dict[str, tuple[str, list[Line]]] = {
    "portal": (
        "What did an animal weigh that nobody weighed? And what, if its sex were unknown too?",
        [
            ('print(case.why("Weight(3)"))', lambda case: case.why("Weight(3)")),
            ('case.observe({"Sex(3)": {"F": 1, "M": 1}}).ask("Sex(3)", "Weight(3)")', _weighed),
        ],
    ),
    "uwcse": (
        "In which phase is a student of whom nobody noted it?",
        [('print(case.why("Phase(person138)"))', lambda case: case.why("Phase(person138)"))],
    ),
    "eicu": (
        "How heavy is a patient whose weight is missing, whom we know from another stay?",
        [
            (f'print(case.why("{WEIGHT}"))', lambda case: case.why(WEIGHT)),
            (
                "# somebody remembers: rather light, three to one\n"
                f'case.observe({{"{WEIGHT}": light}}).ask("{WEIGHT}")',
                _scales,
            ),
        ],
    ),
}
