"""Numbers in sentences."""


def counted(number: int, noun: str) -> str:
    """``1 factor``, ``2 factors``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
