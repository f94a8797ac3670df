"""Hypothesis draws new examples on every run, except in continuous integration, which must say the same twice."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
