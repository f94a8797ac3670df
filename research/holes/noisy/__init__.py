"""Holes among estimated tables: nothing is equal any more, yet individuals are alike."""
