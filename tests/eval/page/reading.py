"""A page read back: its tags with their attributes and its text."""

from __future__ import annotations

from html.parser import HTMLParser

Cell = dict[str, str | None]


class Page(HTMLParser):
    """The tags of a page with their attributes, and the text that is read."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, Cell]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember a tag."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Remember a text."""
        self.text.append(data)

    def having(self, attribute: str) -> list[Cell]:
        """The attributes of every tag that has this one."""
        return [found for _, found in self.tags if attribute in found]
