"""A PostgreSQL server of the tests' own: on loopback, in a temporary folder, stopped at the end."""

from __future__ import annotations

import os
import pwd
import secrets
import shlex
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "lifagu"


class NoServerError(Exception):
    """Why no server can be run here."""


def binaries() -> Path | None:
    """The folder with PostgreSQL's programs, None if there is none."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    places += [Path(found).resolve().parent] if found else []
    return next(
        (each for each in places if (each / "initdb").exists() and (each / "pg_ctl").exists()), None
    )


@contextmanager
def postgresql() -> Iterator[str]:
    """The URL of a fresh server, with a password in it; `NoServerError` where none can be run."""
    place = binaries()
    if place is None:
        raise NoServerError(
            "PostgreSQL is not installed: no initdb in /usr/lib/postgresql/*/bin or on the path"
        )
    with tempfile.TemporaryDirectory(prefix="lifagu-pg-", ignore_cleanup_errors=True) as folder:
        password = secrets.token_hex(8)
        (Path(folder) / "password").write_text(password)
        _own(Path(folder))
        data, port = f"{folder}/data", _free_port()
        asked = [
            "-U",
            USER,
            "-A",
            "scram-sha-256",
            f"--pwfile={folder}/password",
            "-E",
            "UTF8",
            "-N",
        ]
        _run([place / "initdb", "-D", data, *asked], folder)
        settings = (
            f"-c listen_addresses=127.0.0.1 -c port={port} -c "
            f"unix_socket_directories={folder} -c fsync=off"
        )
        _run(
            [place / "pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", settings, "start"],
            folder,
        )
        with _ended_after(
            _words([place / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop"]), folder
        ):
            yield f"postgresql://{USER}:{password}@127.0.0.1:{port}/postgres"


def logged_in(url: str, role: str, password: str) -> str:
    """The URL of a server for another role."""
    return f"postgresql://{role}:{password}@{url.partition('@')[2]}"


@contextmanager
def _ended_after(stop: list[str], folder: str) -> Iterator[None]:
    """Afterwards a waiting process stops the server and removes its folder, even after a kill."""
    script = f"read nothing; {shlex.join(stop)} >>said 2>&1; rm -rf {shlex.quote(folder)}"
    with subprocess.Popen(
        ["/bin/sh", "-c", script], cwd=folder, stdin=subprocess.PIPE, start_new_session=True
    ):
        yield  # then its input is closed, and its end waited for


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _own(folder: Path) -> None:
    """The server refuses to run as root; then it runs as the user that its package has made."""
    if os.geteuid() == 0:
        try:
            owner = pwd.getpwnam("postgres")
        except KeyError:
            raise NoServerError(
                "PostgreSQL does not run as root, and there is no user postgres"
            ) from None
        for path in (folder, folder / "password"):
            os.chown(path, owner.pw_uid, owner.pw_gid)


def _run(command: list[object], folder: str) -> None:
    words = _words(command)
    with (Path(folder) / "said").open("a") as said:  # not a pipe: the server would keep it open
        done = subprocess.run(
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False
        )
    if done.returncode:
        raise RuntimeError(f"{Path(words[-1]).name}: {(Path(folder) / 'said').read_text()}")


def _words(command: list[object]) -> list[str]:
    """A command as the user under which the server runs."""
    switch = (
        ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        if os.geteuid() == 0
        else []
    )
    return [*switch, *map(str, command)]
