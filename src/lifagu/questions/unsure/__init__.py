"""Unsure answers: mixtures and bounds over all combinations of competing tables, or over draws.

A class of holes takes one of its alternatives; a combination c takes one for each class, with
weight w_c, the product of their shares, and makes one model P_c. The *mixture* is the sum of
w_c P_c(evidence) P_c(question | evidence) over all combinations, divided by that of w_c
P_c(evidence); *bounds* are the smallest and largest P_c(question | evidence). A combination in
which the evidence, or everything, is impossible does not count.

**What is exact.** There may be 10^40 combinations; few of them concern one question.

- P_c is a product over the connected parts of the graph, and each part knows only the classes that
  have members in it. So an answer needs all combinations of the classes in its own parts, not those
  of all classes, and each part is computed for its own combinations and no others.
- Other parts matter through the weight of the classes that they have in common with the question's:
  a part with observations speaks for some of their alternatives, and one with zeros may forbid
  some. Such a part is a *witness*. A part that is no witness links nothing.
- Weights factor over witnesses: with L_p(c) = P_{c,p}(evidence in p), the weight of the choices of
  some classes is a marginal of the product of all shares and all L_p, in which choices are the
  variables. It is computed like any other marginal (`choice_weights`).
- Bounds have no weights. Observed variables cut parts, the question's cut part alone counts, and
  witnesses are only those parts in which tables have zeros.
- Alternatives that give a part the same tables, up to scale, are one there.

**What is drawn.** Normalising makes P_c depend on all classes of a part at once, so that a part
with many of them (individuals around something shared) has no short way. Then combinations are
drawn by share, in strata, from a seeded generator for each class; a draw counts with the evidence's
probability in the witnesses (self-normalised), and the standard error is stated. Bounds over draws
are those over the winning tables and the draws; the true ones may be wider.
"""
