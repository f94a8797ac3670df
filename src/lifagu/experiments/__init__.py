"""Experiments: seeded ground truths with holes, answers against the truth, and a report.

Optional: no other room but the command line (``lifagu experiment``, ``lifagu demo``) imports this
one, and `import lifagu` never does. It needs nothing but the library itself; only the figures need
the extra ``plot``, and without it the report says that none was drawn.
"""
