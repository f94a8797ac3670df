"""Why lifagu is behind somewhere, as far as somebody has looked: by task, or by database."""

REASONS: dict[str, str] = {
    "portal": "trees see the number that an animal weighs, lifagu one of five bins over all "
    "species; within a species hardly more than two of them are left.",
    "schools": "trees see the numbers of a pupil's other columns, lifagu the bins they fall into.",
    "eicu": "what a stay was for is told by many weak diagnoses together, each of which is hardly "
    "worth a table; features count all of the common ones.",
}
