"""The page in a real browser: what it loads, how it looks, whether everybody can use it."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

import report_samples as samples
from report_browser import NARROW, browser, command, look, missing, open_all, write_page

# Each text with its own colour, and the colours of everything behind it, the nearest first.
_TEXTS = """
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !element.checkVisibility()) continue;
  if (element.closest('.hidden, .skip')) continue;
  const style = getComputedStyle(element), behind = [];
  for (let e = element; e; e = e.parentElement) behind.push(getComputedStyle(e).backgroundColor);
  found.push([walker.currentNode.textContent.trim().slice(0, 40), style.color, behind]);
  const margin = getComputedStyle(element, '::before');
  if (element.dataset.n) found.push(['a line number', margin.color, behind]);
}
return found;
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Give the browser; without one there is nothing to test, and in CI that is a failure."""
    absent = missing()
    if absent:
        message = f"{absent} (Debian: apt-get install chromium chromium-driver)"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(f"CI has to test the page in a browser: {message}")
        pytest.skip(message)
    with browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Give the sample pages."""
    folder = tmp_path_factory.mktemp("pages")
    return {kind: write_page(folder, kind) for kind in samples.EVERY_KIND}


def _channels(color: str) -> list[float]:
    inner = color.partition("(")[2].rstrip(")").replace("/", ",")
    return [float(part) for part in inner.split(",")]


def _luminance(rgb: list[float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(color: str, behind: list[str]) -> float:
    """Return the ratio of WCAG 2.2, success criterion 1.4.3."""
    ground = next(c for c in map(_channels, behind) if len(c) == 3 or c[3] == 1)
    ratio = [_luminance([c / 255 for c in each[:3]]) + 0.05 for each in (_channels(color), ground)]
    return max(ratio) / min(ratio)


def test_the_formula_gives_the_values_that_wcag_gives() -> None:
    assert round(contrast("rgb(0, 0, 0)", ["rgba(0, 0, 0, 0)", "rgb(255, 255, 255)"]), 2) == 21
    assert round(contrast("rgb(118, 118, 118)", ["rgb(255, 255, 255)"]), 2) == 4.54


@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_the_page_loads_nothing_and_makes_no_complaint(
    driver: webdriver.Chrome, pages: dict[str, Path], kind: str
) -> None:
    driver.get_log("performance")  # type: ignore[no-untyped-call]
    driver.get_log("browser")  # type: ignore[no-untyped-call]
    look(driver, pages[kind])
    open_all(driver)
    log = driver.get_log("performance")  # type: ignore[no-untyped-call]
    events = [json.loads(entry["message"])["message"] for entry in log]
    asked = {
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }
    assert {url for url in asked if not url.startswith("data:")} == {pages[kind].as_uri()}
    assert driver.get_log("browser") == []  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_all_text_stands_out_from_its_ground(
    driver: webdriver.Chrome, pages: dict[str, Path], kind: str, scheme: str
) -> None:
    look(driver, pages[kind], scheme)
    open_all(driver)
    texts: list[tuple[str, str, list[str]]] = driver.execute_script(_TEXTS)
    assert len(texts) > 40
    paper = _channels(texts[0][2][-2])  # of the body
    assert (_luminance([c / 255 for c in paper[:3]]) < 0.5) is (scheme == "dark")
    faint = {
        (text, round(contrast(color, behind), 2))
        for text, color, behind in texts
        if contrast(color, behind) < 4.5
    }
    assert faint == set()


def _active(driver: webdriver.Chrome) -> dict[str, Any]:
    found: dict[str, Any] = driver.execute_script(
        "const e = document.activeElement, s = getComputedStyle(e);"
        "e.dataset.visited = 'yes';"
        "return {tag: e.localName, outline: s.outlineStyle, width: parseFloat(s.outlineWidth),"
        " open: e.parentElement?.open, id: e.id}"
    )
    return found


def test_the_keyboard_reaches_and_opens_everything(
    driver: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    look(driver, pages["broken"])
    for _ in range(600):
        _press(driver, Keys.TAB)
        at = _active(driver)
        if at["tag"] == "body":
            break
        assert at["outline"] == "solid", at
        assert at["width"] >= 2, at
        if at["tag"] == "summary" and not at["open"]:
            _press(driver, Keys.ENTER)
            assert _active(driver)["open"], at
    left = (
        "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent.slice(0, 60))"
    )
    assert driver.execute_script(left, "summary:not([data-visited]), details:not([open])") == []
    assert driver.execute_script(left, "a[href]:not([data-visited])") == []
    assert driver.execute_script("return document.querySelectorAll('summary').length") > 25


def _press(driver: webdriver.Chrome, key: str) -> None:
    driver.switch_to.active_element.send_keys(key)


def test_the_skip_link_comes_first_shows_itself_and_leads_to_the_report(
    driver: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    look(driver, pages["proven"])
    _press(driver, Keys.TAB)
    link = driver.switch_to.active_element
    assert link.text == "Skip to the report"
    assert link.rect["y"] >= 0
    link.send_keys(Keys.ENTER)
    assert _active(driver)["id"] == "main"


@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_a_phone_never_scrolls_the_page_sideways(
    driver: webdriver.Chrome, pages: dict[str, Path], kind: str
) -> None:
    look(driver, pages[kind], width=NARROW)
    open_all(driver)
    assert driver.execute_script("return innerWidth") == NARROW
    assert driver.execute_script("return document.documentElement.scrollWidth") <= NARROW
    # What is wider scrolls in a box of its own, which the keyboard can reach.
    boxes = driver.execute_script(
        "return [...document.querySelectorAll('*')].filter(e => e.scrollWidth > e.clientWidth + 1"
        " && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX))"
        ".map(e => [e.tabIndex, e.getAttribute('aria-label')])"
    )
    assert all(index == 0 and label for index, label in boxes)


def test_the_page_prints_on_few_pages_with_its_details_folded(
    driver: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    look(driver, pages["proven"], scheme="dark")
    pdf = base64.b64decode(driver.print_page())
    assert pdf.startswith(b"%PDF-")
    assert 0 < pdf.count(b"/Type /Page\n") < 8
    open_all(driver)
    command(driver, "Emulation.setEmulatedMedia", media="print")
    seen = (
        "return [...document.querySelectorAll(arguments[0])]"
        ".filter(e => e.checkVisibility({contentVisibilityAuto: true})"
        " && e.getBoundingClientRect().height > 0).length"
    )
    folded = "details:not(.keep) > .fold"
    count = driver.execute_script("return document.querySelectorAll(arguments[0]).length", folded)
    assert count > 10
    # The browser takes the change of medium in before its next frame, not at once.
    WebDriverWait(driver, 20).until(lambda d: d.execute_script(seen, f"{folded}, nav") == 0)
    paper = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"


@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_a_screen_reader_finds_landmarks_and_a_name_for_everything(
    driver: webdriver.Chrome, pages: dict[str, Path], kind: str
) -> None:
    look(driver, pages[kind])
    open_all(driver)
    nodes = [
        (node["role"]["value"], str(node.get("name", {}).get("value", "")).strip())
        for node in command(driver, "Accessibility.getFullAXTree")["nodes"]
        if not node["ignored"]
    ]
    roles = [role for role, _ in nodes]
    for landmark in ("banner", "main", "navigation", "contentinfo"):
        assert roles.count(landmark) == 1, landmark
    named = {"link", "DisclosureTriangle", "region", "heading", "article", "navigation", "table"}
    assert named & set(roles) >= {"link", "region", "heading", "navigation"}
    assert [(role, name) for role, name in nodes if role in named and not name] == []
    regions = [name for role, name in nodes if role == "region"]
    assert len(regions) == len(set(regions))


def test_each_table_cell_is_found_under_its_headers(
    driver: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    look(driver, pages["proven"])
    nodes = command(driver, "Accessibility.getFullAXTree")["nodes"]
    headers = [
        node["name"]["value"]
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in ("columnheader", "rowheader")
    ]
    assert any("on the code of" in name and "change 1" in name for name in headers)
    assert any("tests of" in name and "change 2" in name for name in headers)
    assert "Tests that fail without it" in headers
