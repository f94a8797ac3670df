"""Symmetry: which parts of a graph look alike."""
