"""The command line: `boxpresso VERB ..`, or `python -m boxpresso VERB ..`. The verbs are in cli."""

from __future__ import annotations

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main())
