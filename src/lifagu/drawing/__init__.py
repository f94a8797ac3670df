"""Figures: what is drawn (`scene`), where (`layout`), and how (`svg`, or by matplotlib)."""
