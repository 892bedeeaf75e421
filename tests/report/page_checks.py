"""Reads a page as a browser would, and finds what is wrong with it, without a browser."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "rect", "circle", "path"}
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
URL_ATTRIBUTES = ("src", "srcset", "action", "data", "poster", "formaction", "background")


@dataclass
class Page(HTMLParser):
    """A page, taken in; ``faults`` says what no page should have."""

    faults: list[str] = field(default_factory=list)
    tags: Counter[str] = field(default_factory=Counter)
    ids: Counter[str] = field(default_factory=Counter)
    links: list[str] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    labelled_by: list[str] = field(default_factory=list)
    unscoped: int = 0
    tables: list[int] = field(default_factory=list)  # how many headers each has
    attributes: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element in."""
        named = dict(attrs)
        if len(named) != len(attrs):
            self.faults.append(f"<{tag}> has an attribute twice")
        self.tags[tag] += 1
        self.attributes.append((tag, named))
        self._names(tag, named)
        self._tables(tag, named)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element in that closes itself."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Hold that elements end in order."""
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()} closes something else")

    def handle_data(self, data: str) -> None:
        """Keep the text."""
        if "style" not in self.open:
            self.text.append(data)

    def _names(self, tag: str, named: dict[str, str | None]) -> None:
        if named.get("id") is not None:
            self.ids[str(named["id"])] += 1
        if tag in HEADINGS:
            self.headings.append(HEADINGS.index(tag) + 1)
        if tag == "a":
            self.links.append(str(named.get("href")))
        if named.get("aria-labelledby"):
            self.labelled_by.append(str(named["aria-labelledby"]))
        for name, value in named.items():
            if name.startswith("on") or name == "style":
                self.faults.append(f"<{tag} {name}>")
            if name in URL_ATTRIBUTES or (tag == "link" and name == "href" and value != "data:,"):
                self.faults.append(f"<{tag} {name}={value}> loads something")

    def _tables(self, tag: str, named: dict[str, str | None]) -> None:
        if tag == "table":
            self.tables.append(0)
        if tag == "th":
            self.tables[-1] += 1
            self.unscoped += named.get("scope") not in ("col", "row")


def read_page(html: str) -> Page:
    """Take a page in, and check what holds for every page."""
    page = Page()
    page.feed(html)
    page.close()
    if page.open:
        page.faults.append(f"never closed: {page.open}")
    return page


def page_text(html: str) -> str:
    """Return what can be read on the page."""
    return "".join(read_page(html).text)
