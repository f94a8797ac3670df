"""Figures: what is drawn (`scene`), where (`layout`), and how: as SVG by our own code, as PNG and
PDF by matplotlib.
"""
