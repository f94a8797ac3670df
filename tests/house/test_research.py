"""What lies in `research/`: it stands on the public surface, and each campaign runs small."""

import subprocess
import sys

from support.helpers import ROOT


def ran(*words):
    command = [sys.executable, "-m", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_papers_evaluation_runs_small(tmp_path):
    out = ran("research.paper", "--max-d", 4, "--seeds", 2, "--out", tmp_path)
    assert "lifted faster than ground" in out
    assert {"report.md", "cells.csv", "results.csv"} <= {each.name for each in tmp_path.iterdir()}


def test_the_suite_of_holes_runs_small(tmp_path):
    small = ("--individuals", 20, "--seeds", 1, "--draws", 20, "--completions", 2)
    out = ran("research.holes", "--scenarios", "share-20", "records-20", *small, "--out", tmp_path)
    assert "| auto | posterior |" in out
