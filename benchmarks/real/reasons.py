"""Why lifagu is behind somewhere, as far as somebody has looked: by task, or by database."""

_FEW_STAYS = (
    "with so few stays `lifagu init` takes what a stay was for to be free text, and does not "
    "predict it, so that its frequencies count; and as many cells are hidden, some columns get "
    "tables given others, of which fewer are tried."
)
REASONS: dict[str, str] = {
    "portal": "probably because trees see the number that an animal weighs, and lifagu one of five "
    "bins over all species.",
    "learning curve portal 5%": "most rows have hidden cells here, and columns of which almost "
    "half is missing get one table each, given others, in place of pairs; with few rows that is "
    "worse.",
    "schools": "probably because trees see the numbers of a pupil's other columns, and lifagu the "
    "bins they fall into.",
    "as it really is eicu": "what a stay was for, and where from. The former is told by many weak "
    "diagnoses together, each hardly worth a table; both by other stays of the patient, of which "
    "the draft uses little.",
    "learning curve eicu 5%": _FEW_STAYS,
    "learning curve eicu 30%": _FEW_STAYS,
}
