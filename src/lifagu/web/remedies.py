"""What to do about errors, in the words of the page, as far as they can come up there."""

from __future__ import annotations

from lifagu.errors import Remedy

HIGHER = "start lifagu serve with a higher --memory-limit"
KNOBS = {
    Remedy.MORE_MEMORY: HIGHER,
    Remedy.ASK_FOR_LESS: f"observe some variables, ask for less at once, or {HIGHER}",
    Remedy.ONE_OR_MEAN: "choose the winning tables or their mean",
    Remedy.RAISE_THETA: "raise θ to leave doubtful ones unknown, or choose the winning tables or their mean",
    Remedy.LOWER_THETA: "lower θ, or choose the winning tables or bounds",
    Remedy.ASK_TRANSFER: "choose the winning tables",
    Remedy.EXACT_ENGINE: "choose an exact engine",
    Remedy.GROUND_ENGINE: "choose the ground engine",
    Remedy.NO_PROFILES: "choose another way to fill",
}
