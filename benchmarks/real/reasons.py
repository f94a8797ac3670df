"""Why lifagu is behind somewhere, as far as somebody has looked: by task, or by database."""

REASONS: dict[str, str] = {
    "portal": "by less than half a hundredth of a nat, where there are many rows. Finer bins of "
    "weights and feet brought it from .008 to .004; the rest is probably that trees see three "
    "columns and more together, and lifagu two and a group."
}
