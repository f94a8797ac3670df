"""Everything once more, naively and from the definitions."""
