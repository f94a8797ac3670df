"""Which tables count as the same, and how far answers can then be off."""
