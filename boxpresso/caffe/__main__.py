"""python -m boxpresso.caffe SCRIPT.py ARGS: runs a script of pycaffe as it is."""

from __future__ import annotations

import sys

from .script import main

if __name__ == "__main__":
    sys.exit(main())
