"""Experiments: seeded ground truths with holes, answers against the truth, and a report."""
