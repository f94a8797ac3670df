"""Figures: scenes of graphs and lifted models, and the same as SVG, PNG and PDF."""

from lifagu.drawing.converting import to_pdf, to_png
from lifagu.drawing.scene import Scene, side_by_side
from lifagu.drawing.svg import svg_styles, to_svg

__all__ = ["Scene", "side_by_side", "svg_styles", "to_pdf", "to_png", "to_svg"]
