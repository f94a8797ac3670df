"""The case: a model with holes, what was observed, how holes are filled, where work is done."""
