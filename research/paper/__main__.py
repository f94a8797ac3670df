"""The paper's evaluation, repeated: `python -m research.paper --out FOLDER`."""

from __future__ import annotations

import argparse
from pathlib import Path

from research.paper import run_paper

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/paper"), help="folder for results")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--max-d", type=int, default=256, help="sizes d = 2, 4, … up to this")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    options = vars(parser.parse_args())
    sizes = [2**power for power in range(1, options.pop("max_d").bit_length())]
    print((run_paper(options.pop("out"), sizes=sizes, **options).files[-1]).read_text())
