"""Why lifagu is behind somewhere, as far as somebody has looked: by task, or by database."""

REASONS: dict[str, str] = {}
