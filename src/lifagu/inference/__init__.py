"""Answers about one graph: exact probabilities and log Z, each with the plan behind it.

The functions called prepare… take a question apart and plan, so that the cost is known (and
refused) before anything large is computed; `run` computes.
"""
