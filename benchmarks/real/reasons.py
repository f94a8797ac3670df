"""Why lifagu is behind somewhere, as far as somebody has looked: by task, or by database."""

REASONS: dict[str, str] = {
    "portal": "probably because trees see the number that an animal weighs, and lifagu one of five "
    "bins over all species.",
    "schools": "probably because trees see the numbers of a pupil's other columns, and lifagu the "
    "bins they fall into.",
}
