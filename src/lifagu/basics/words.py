"""Numbers in sentences."""


def counted(number: int, noun: str) -> str:
    """``1 factor``, ``2 factors``, ``2 guesses``."""
    ending = "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{'' if number == 1 else ending}"
