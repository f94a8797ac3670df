"""Why lifagu is behind somewhere, as far as somebody has looked: by task, or by database."""

REASONS: dict[str, str] = {
    "portal": "by less than a hundredth of a nat, with all rows but not with few. Finer bins of "
    "weights brought it from .008 to .004; the rest is probably that trees see three columns and "
    "more together, and lifagu two and a group.",
    "schools": "probably because trees see the numbers of a pupil's other columns, and lifagu the "
    "bins they fall into.",
    "learning curve eicu 30%": "nobody knows yet: with fewer rows, and with all, it is ahead.",
}
