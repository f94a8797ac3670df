"""A browser on the page as people walk it, for tests and for the documentation's screenshots.

``python tests/support/page_walk.py docs/figures`` writes them anew.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from support.page_databases import make_factory
from support.web_server import served

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
PACKAGES = {"playwright": "playwright", "axe-playwright-python": "axe_playwright_python"}
MISSING = [package for package, module in PACKAGES.items() if find_spec(module) is None]
WHY_NOT = (
    f"the package {MISSING[0]} is missing"
    if MISSING
    else ("there is no Chromium on this machine" if CHROMIUM is None else "")
)
LAPTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@contextmanager
def browser() -> Iterator[Any]:
    """A browser of this machine, without a window."""
    from playwright.sync_api import sync_playwright

    # Chromium's own sandbox does not run for root
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            yield running
        finally:
            running.close()


class Walk:
    """One user's page, and what its console complained about."""

    def __init__(
        self, browser: Any, address: str, size: dict[str, int] = LAPTOP, scheme: str = "light"
    ) -> None:
        self.context = browser.new_context(
            viewport=size, color_scheme=scheme, reduced_motion="reduce"
        )
        self.context.set_default_timeout(60_000)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.goto(address)

    def open(self, title: str = "Two wards", tab: str = "") -> Any:
        """Open an example, perhaps with a tab, and wait until all of it is there."""
        self.page.get_by_role("button", name=title, exact=False).first.click()
        self.settled()
        return self.tab(tab) if tab else self.page

    def settled(self) -> Any:
        """The page, once everything that is in sight is there."""
        self.page.locator("#overview-relations tbody").wait_for(state="attached")
        self.page.locator("#work[aria-busy=false]").wait_for()
        return self.page

    def hold(self, operation: str, saying: str = "") -> Held:
        """Hold the next request of an operation back, that newer ones may come first."""
        return Held(self.page, operation, saying)

    def check(self, where: str, part: str | None = None) -> None:
        """No rule of accessibility is broken, in a part of the page or in all of it."""
        if not self.page.evaluate("'axe' in window"):
            from axe_playwright_python.base import AXE_SCRIPT

            self.page.evaluate(AXE_SCRIPT)
        found = self.page.evaluate(
            "(part) => axe.run(part ?? document, { resultTypes: ['violations'] })"
            ".then((all) => all.violations)",
            part,
        )
        told = [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found]
        assert told == [], where

    def done(self) -> None:
        """It is closed, and its console has complained about nothing."""
        self.context.close()
        assert self.complaints == []

    def was_refused(self, status: int) -> None:
        """A refusal was wanted; the browser notes it in its console as well."""
        noted = [
            each
            for each in self.complaints
            if f"the server responded with a status of {status}" in each
        ]
        assert noted
        self.complaints = [each for each in self.complaints if each not in noted]

    def tab(self, name: str) -> Any:
        """Go to a tab."""
        self.page.get_by_role("tab", name=name).click()
        self.page.locator("#work[aria-busy=false]").wait_for()
        return self.page


class Held:
    """A request that is held back until it is let go; those after it pass."""

    def __init__(self, page: Any, operation: str, saying: str) -> None:
        self.page, self.saying, self.route = page, saying, None
        self.pattern = f"**/api/models{operation}"
        page.route(self.pattern, self._take)

    def _take(self, route: Any) -> None:
        if self.route is None and self.is_it(route.request):
            self.route = route
        else:
            route.continue_()

    def is_it(self, request: Any) -> bool:
        """Whether a request says what the one says that is held back."""
        return self.saying in (request.post_data or "")

    def let_go(self) -> None:
        """It goes on, and the page has its answer."""
        while self.route is None:  # it has not come yet
            self.page.wait_for_timeout(10)
        with self.page.expect_response(lambda each: each.request == self.route.request):
            self.route.continue_()
        self.page.unroute(self.pattern, self._take)


def keep(page: Any, path: Path) -> None:
    """A screenshot in few colours, which is small."""
    from PIL import Image

    with Image.open(BytesIO(page.screenshot())) as picture:
        picture.convert("RGB").quantize(method=Image.Quantize.MAXCOVERAGE).save(path, optimize=True)


def take_screenshots(folder: Path) -> None:
    """The pictures of docs/page.md."""
    with served() as server, browser() as running:
        walk = Walk(running, server.address)
        page = walk.open(tab="Model")
        page.locator(".record").first.wait_for()
        keep(page, folder / "page-model.png")
        dark = Walk(running, server.address, scheme="dark")
        page = dark.open(tab="Ask")
        page.get_by_title("Observe Staffed = true").click()
        page.locator(".answer.observed").wait_for()
        keep(page, folder / "page-ask-dark.png")
    with TemporaryDirectory() as made, browser() as running:
        template = make_factory(Path(made))
        with served(str(template)) as server:
            walk = Walk(running, server.address)
            page = walk.settled()
            page.locator("#judgement").wait_for()
            keep(page, folder / "page-overview.png")
            _suppose(walk)
            keep(page, folder / "page-card.png")
            phone = Walk(running, server.address, PHONE)
            phone.settled().locator("#judgement").wait_for()
            _suppose(phone)
            keep(phone.page, folder / "page-phone.png")


def _suppose(walk: Walk) -> None:
    """The card of the new machine, and what if its oil were dark."""
    page = walk.page
    page.locator("#search").fill("M-200")
    page.locator("#search-found [role=option]").first.wait_for()
    page.keyboard.press("Enter")
    page.get_by_title("What if Oil(M-200) were dark?").click()
    page.locator(".moved:not(:empty)").first.wait_for()
    page.locator("#around svg").wait_for()
    page.evaluate("window.scrollTo(0, 0)")


if __name__ == "__main__":
    take_screenshots(Path(sys.argv[1]))
