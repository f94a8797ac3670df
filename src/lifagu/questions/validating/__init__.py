"""How far answers can be trusted: cells and tables hidden, predicted, scored; the room's sign."""
