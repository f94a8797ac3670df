"""Why lifagu is behind somewhere, as far as somebody has looked: by task, or by database."""

REASONS: dict[str, str] = {
    "portal": "where there are many rows. Who measured changes from month to month: groups of two "
    "columns together, such as year and month, brought the first seed from .625 to .615. What is "
    "left is probably time in finer steps, which trees see in the numbers of the rows."
}
