"""Questions to relational models, answered over cells of interchangeable individuals.

Nothing is grounded. The engine is the same as for graphs: its variables here are kinds of ground
variables, its rows patterns.
"""
