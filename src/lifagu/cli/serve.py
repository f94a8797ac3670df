"""``lifagu serve``: say where the page is, serve it, and say that it has ended."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path

from lifagu.cli.output import note, say
from lifagu.web import Limits
from lifagu.web import serve as serve_page


def serve(options: argparse.Namespace) -> None:
    """``lifagu serve``."""

    def ready(address: str) -> None:
        say(f"lifagu is at {address}")
        sys.stdout.flush()
        note("Ctrl-C ends it; nothing is kept then", options.quiet)
        if options.open:
            webbrowser.open(address)

    serve_page(
        Path(options.model) if options.model else None,
        ready=ready,
        host=options.host,
        port=options.port,
        token=options.token,
        read_only=options.read_only,
        limits=Limits(options.time_limit, options.memory_limit, options.upload_limit),
    )
    note("ended", options.quiet)
