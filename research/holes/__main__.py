"""Every way to fill holes side by side: `python -m research.holes --out FOLDER`."""

from __future__ import annotations

import argparse
from pathlib import Path

from research.holes import SUITES, run_holes

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/holes"), help="folder for results")
    parser.add_argument("--scenarios", nargs="+", default=tuple(SUITES), help="exact, noisy, names")
    parser.add_argument("--individuals", type=int)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--completions", type=int, default=16)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    options = vars(parser.parse_args())
    print((run_holes(options.pop("out"), **options).files[-1]).read_text())
