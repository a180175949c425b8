"""The package's long description: README.md, whose links lead to files of the tree, with addresses in their place."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = (".gif", ".png", ".jpg", ".svg")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def address() -> str:
    """Where the repository is, as pyproject.toml says, which is the one place that does."""
    match = re.search(r'(?m)^Repository = "(https://[^"]+?)/?"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if match is None:
        raise SystemExit("pyproject.toml has no Repository among its project.urls")
    return match[1]


def long_description(text: str, at: str) -> str:
    """A Markdown text with links to files as links to the repository at an address; those of pictures to the files themselves.

    >>> print(long_description("[a](docs/a.md#b) ![c](x/c.gif) [d](https://example.org/)", "https://example.org/o/r"))
    [a](https://example.org/o/r/blob/main/docs/a.md#b) ![c](https://example.org/o/r/raw/main/x/c.gif) [d](https://example.org/)
    """

    def absolute(match: re.Match) -> str:
        mark, words, target = match.groups()
        if re.match(r"[a-z][a-z0-9+.-]*:|#", target):
            return match[0]
        kind = "raw" if target.endswith(PICTURES) else "blob"
        return f"{mark}[{words}]({at}/{kind}/main/{target})"

    parts = re.split(r"(?ms)(^```.*?^```$|`[^`\n]*`)", text)  # code stays as it is
    return "".join(part if i % 2 else LINK.sub(absolute, part) for i, part in enumerate(parts))
