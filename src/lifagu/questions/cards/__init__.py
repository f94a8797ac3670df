"""Cards: everything known, filled and predicted about one individual: the room's sign."""
