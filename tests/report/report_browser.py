"""Starts a headless Chromium for the tests of the page, and takes pictures of the page.

    python tests/report/report_browser.py FOLDER

writes the sample pages into FOLDER, with a picture of each in light, dark, narrow and print.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver

import report_samples as samples
from backport.report.render import render

_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # there is no sandbox for root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE, NARROW = 1320, 360


def missing() -> str:
    """Return what there is not, or "" where a browser and its driver are installed."""
    absent = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    return f"no {' and no '.join(absent)} on the PATH" if absent else ""


@contextmanager
def browser(profile: Path) -> Iterator[webdriver.Chrome]:
    """Give a browser with an empty profile, which logs what it loads and complains about."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # A path, or selenium looks for a driver to download.
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver") or "")
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


def command(driver: webdriver.Chrome, name: str, **parameters: Any) -> dict[str, Any]:
    """Send a command of the Chrome DevTools Protocol."""
    answer: dict[str, Any] = driver.execute_cdp_cmd(name, parameters)
    return answer


def look(driver: webdriver.Chrome, page: Path, scheme: str = "light", width: int = WIDE) -> None:
    """Open a page in a window of ``width`` pixels, with the light or the dark scheme."""
    command(
        driver,
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    command(driver, "Emulation.setEmulatedMedia", media="", features=features)
    driver.get(page.as_uri())


def open_all(driver: webdriver.Chrome) -> None:
    """Unfold everything."""
    driver.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")


def write_page(folder: Path, kind: str) -> Path:
    """Write a sample page and return its path."""
    page = folder / f"{kind}.html"
    page.write_text(render(samples.EVERY_KIND[kind](), "report.html"), encoding="utf-8")
    return page


def _picture(driver: webdriver.Chrome, target: Path) -> None:
    height = driver.execute_script("return document.documentElement.scrollHeight")
    width = driver.execute_script("return innerWidth")
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, 9000), "scale": 1}
    shot = command(driver, "Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
    target.write_bytes(base64.b64decode(shot["data"]))


def take_pictures(folder: Path) -> None:
    """Write every sample page and its pictures into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile, browser(Path(profile)) as driver:
        for kind in samples.EVERY_KIND:
            page = write_page(folder, kind)
            for name, scheme, width in (
                ("light", "light", WIDE),
                ("dark", "dark", WIDE),
                ("narrow", "light", NARROW),
            ):
                look(driver, page, scheme, width)
                _picture(driver, folder / f"{kind}-{name}.png")
            (folder / f"{kind}.pdf").write_bytes(base64.b64decode(driver.print_page()))


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]))
