"""A program of its own that reads a network with pyAgrum, within limits, and sends plain data.

``python network_process.py FILE BYTES SECONDS``: one line of JSON on standard output, then the
tables as numbers of eight bytes, row-major over the arguments as listed. It imports nothing of
lifagu, so that it begins quickly; nothing that pyAgrum does can touch the process that asked.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any


def hold_to(size: int, seconds: int) -> None:
    """Bind this process to bytes beyond what it has mapped, and to seconds of processor time."""
    if sys.platform == "win32":
        return
    import resource

    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, mapped + size),
        (resource.RLIMIT_CPU, seconds),
    ):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (most if hard < 0 else min(most, hard), hard))


def network_in(peer: Any, path: str) -> tuple[dict[str, Any], list[bytes]]:
    """What a file says: variables with their labels, and tables with their arguments."""
    network = peer.loadBN(path)
    nodes = sorted(network.nodes())
    variables = [[network.variable(node).name(), network.variable(node).labels()] for node in nodes]
    tensors = [network.cpt(node) for node in nodes]
    # axes in the order of the names
    tables = [tensor.toarray().transpose().astype("<f8").tobytes() for tensor in tensors]
    arguments = [list(tensor.names) for tensor in tensors]
    return {"variables": variables, "arguments": arguments}, tables


def main(path: str, size: int, seconds: int) -> None:
    """Read the file and send what is in it, or why it cannot be read."""
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for each in (1, 2):  # readers of pyAgrum write there, past Python
        os.dup2(nowhere, each)
    warnings.simplefilter("ignore")
    import pyagrum

    if path.endswith(".o3prm"):  # recent versions read it only after this
        import pyagrum.prm

    hold_to(size, seconds)
    tables: list[bytes] = []
    try:
        found, tables = network_in(pyagrum, path)
    except MemoryError:
        found = {"memory": True}
    except Exception as error:  # its readers raise many kinds, not all of one tree
        is_memory = "bad_alloc" in str(error)
        found = {"memory": True} if is_memory else {"error": str(error)[:10_000]}
    with out:
        out.write(json.dumps(found).encode() + b"\n")
        for table in tables:
            out.write(table)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
