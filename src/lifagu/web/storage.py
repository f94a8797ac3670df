"""Where uploads lie, and how many bytes all of them take: counted before they are written."""

from __future__ import annotations

import shutil
from pathlib import Path

from lifagu.errors import TooLargeError


class Storage:
    """A folder with a room for each opened model, and so many bytes for all of them together."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self.most = folder, most
        self.taken = 0

    def room(self, name: str) -> Room:
        """A new room."""
        folder = self._folder / name
        folder.mkdir(mode=0o700)
        return Room(self, folder)


class Room:
    """A folder of its own, and the bytes that were taken for what is written there."""

    def __init__(self, storage: Storage, folder: Path) -> None:
        self._storage, self.folder = storage, folder
        self._taken = 0

    def check(self, count: int) -> None:
        """Refuse what would be more than there is place for."""
        if self._storage.taken + count > self._storage.most:
            raise TooLargeError(
                "too many uploaded models are open on this server; close one, or come back later"
            )

    def take(self, count: int) -> None:
        """Count these bytes, which are about to be written, or refuse them."""
        self.check(count)
        self._storage.taken += count
        self._taken += count

    def close(self) -> None:
        """Remove what was written, and give its bytes back."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._storage.taken -= self._taken
        self._taken = 0
