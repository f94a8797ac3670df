"""The rooms of the house as a figure, read off the imports in the source."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parent.parent.parent / "src/lifagu"
WHAT = {
    "errors": "what can go wrong",
    "basics": "arrays, names, files",
    "graph": "FactorGraph",
    "relational": "ParfactorGraph",
    "likeness": "equal tables, how far off",
    "symmetry": "colour passing, lifting",
    "filling": "who lends what, and why",
    "inference": "plans and answers",
    "learning": "tables from cells",
    "formats": "model files",
    "data": "databases, Parquet",
    "drawing": "figures",
    "scale": "SQL where the data is",
    "questions": "the case",
    "drafting": "from data to templates",
    "io": "in and out",
    "lifagu": "the facade",
    "cli": "command line",
    "web": "the page",
    "examples": "hospital, factory",
}
AT_THE_ROOT = {"__init__": "lifagu", "__main__": "cli"}  # files whose room is not their name
WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 158, 46, 24, 44, 16
STYLE = """
  text { font: 14px system-ui, sans-serif; text-anchor: middle; fill: #1b1f24 }
  .what { font-size: 11px; fill: #57606a }
  rect { fill: #f2f6fb; stroke: #4c6a92; rx: 6 }
  path { fill: none; stroke: #8a97a8 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .what { fill: #9aa7b4 } rect { fill: #1c2633; stroke: #7fa3d6 }
  }
"""


def doors() -> dict[str, set[str]]:
    """Which room imports which, lazily or not, but for types."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).with_suffix("").parts[0]
        first = AT_THE_ROOT.get(name, name)
        targets = found.setdefault(first, set())
        tree = ast.parse(path.read_text())
        only_types = {
            inner for each in ast.walk(tree) if _is_for_types(each) for inner in ast.walk(each)
        }
        for node in ast.walk(tree):
            if node in only_types:
                continue
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{each.name}" for each in node.names]
            own = [f"{name}.".split(".")[1] for name in names if name.split(".")[0] == "lifagu"]
            targets |= {name if name in WHAT else "lifagu" for name in own}
        targets.discard(first)
    return found


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def floors(rooms: dict[str, set[str]]) -> list[list[str]]:
    """Rooms from the top down, each just below all that import it."""
    users = {room: {each for each in rooms if room in rooms[each]} for room in rooms}
    depth: dict[str, int] = {}
    while len(depth) < len(rooms):
        for room, above in users.items():
            if room not in depth and above <= depth.keys():
                depth[room] = 1 + max((depth[each] for each in above), default=-1)
    return [
        [room for room in WHAT if depth[room] == floor] for floor in range(max(depth.values()) + 1)
    ]


def needed(rooms: dict[str, set[str]]) -> list[tuple[str, str]]:
    """The doors that do not follow from others: a room reaches what its neighbours reach."""

    def reached(room: str) -> set[str]:
        return rooms[room].union(*map(reached, rooms[room]))

    return [
        (room, below)
        for room, every in rooms.items()
        for below in sorted(every)
        if not any(below in reached(other) for other in every - {below})
    ]


def house_svg() -> str:
    """The figure."""
    rooms = doors()
    rows = floors(rooms)
    width = max(map(len, rows)) * (WIDTH + ACROSS) - ACROSS + 2 * MARGIN
    height = len(rows) * (HEIGHT + DOWN) - DOWN + 2 * MARGIN
    place = {}
    for floor, row in enumerate(rows):
        left = (width - len(row) * (WIDTH + ACROSS) + ACROSS) / 2
        for column, room in enumerate(row):
            place[room] = (left + column * (WIDTH + ACROSS), MARGIN + floor * (HEIGHT + DOWN))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>Rooms of the house; a line leads down to what a room imports</title>",
        f"<style>{STYLE}</style>",
    ]
    for room, below in needed(rooms):
        (x, y), (to_x, to_y) = place[room], place[below]
        start, end, middle = x + WIDTH / 2, to_x + WIDTH / 2, (y + HEIGHT + to_y) / 2
        lines.append(
            f'<path d="M{start:g},{y + HEIGHT:g} C{start:g},{middle:g} {end:g},{middle:g} '
            f'{end:g},{to_y:g}"/>'
        )
    for room, (x, y) in place.items():
        lines += [
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}"/>',
            f'<text x="{x + WIDTH / 2:g}" y="{y + 20:g}">{room}</text>',
            f'<text class="what" x="{x + WIDTH / 2:g}" y="{y + 36:g}">{WHAT[room]}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])
