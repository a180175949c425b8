"""Compares a version with every file that states one.

python packaging/check_version.py            # that all agree
python packaging/check_version.py 0.1.0      # and are this version, released: the changelog has its date
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = {  # file: the text around the version
    "boxpresso/__init__.py": r'^__version__ = "(.+?)"$',
    "CITATION.cff": r"^version: (\S+)$",
    "packaging/conda/recipe.yaml": r'^  version: "(.+?)"$',
    "CHANGELOG.md": r"^## (\S+) \((?:unreleased|\d{4}-\d{2}-\d{2})\)$",
}


def versions() -> dict[str, str]:
    """The version that each file states; of the changelog that of its top section."""
    stated = {}
    for name, pattern in PLACES.items():
        match = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        stated[name] = match[1] if match else "none"
    return stated


def main(argv: list[str]) -> int:
    """Prints what does not agree; the exit status is 1 then."""
    stated = versions()
    wanted = argv[0] if argv else stated["boxpresso/__init__.py"]
    wrong = [f"{name} says {version}, not {wanted}" for name, version in stated.items() if version != wanted]
    top = re.search(r"^## .+$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if argv and not wrong and top and "unreleased" in top[0]:
        wrong.append(f"CHANGELOG.md says {top[0][3:]!r}: give the release its date")
    print("\n".join(wrong) or f"version {wanted} everywhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
