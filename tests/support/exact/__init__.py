"""Random models whose answers are known exactly, and what checks them."""
