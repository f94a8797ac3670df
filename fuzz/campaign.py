"""All campaigns one after the other, for as long as wanted: `make fuzz FUZZ="--seconds 3600"`.

What each of them does stands at the head of its file; here they only share the time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
PARTS = {  # what each runs, and its share of the time
    "inputs.py": (["--inputs", "1000000000"], 0.4),
    "kills.py": (["--runs", "100000"], 0.2),
    "page.py": ([], 0.2),
    "agreement.py": (["--spark"], 0.1),
    "together.py": ([], 0.1),
}
LEAST = 20  # seconds that a part takes, however short the whole is


def main() -> int:
    """Run the parts; the exit status says whether one of them found something."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="in all (default 600)")
    seed = int(time.time())
    parser.add_argument("--seed", type=int, default=seed, help="of all that is drawn")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), help="these parts alone")
    options = parser.parse_args()
    chosen = {name: PARTS[name] for name in options.only or PARTS}
    whole = sum(share for _, share in chosen.values())
    failed = []
    for name, (words, share) in chosen.items():
        seconds = max(LEAST, options.seconds * share / whole)
        command = [sys.executable, str(HERE / name), *words]
        command += ["--seconds", f"{seconds:.0f}", "--seed", str(options.seed)]
        print(f"== {name} --seconds {seconds:.0f} --seed {options.seed}", flush=True)
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    print(f"== failed: {', '.join(failed)}" if failed else "== nothing failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
