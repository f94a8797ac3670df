"""Two results compared: what changed between two runs, and why: the room's sign."""
