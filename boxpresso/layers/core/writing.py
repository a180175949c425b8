"""Where a layer may write: a prototxt alone may not name a file for a program to replace."""

from __future__ import annotations

import os
from pathlib import Path

from .layer import Layer


def refusal(layer: Layer, path: str) -> str:
    """Why a layer may not write to `path`; "" where it may. Links are followed first."""
    if layer.write_below is None:
        return ""
    target = Path(os.path.realpath(path))
    for folder in layer.write_below:
        if Path(os.path.realpath(folder)) in target.parents:
            return ""
    below = ", ".join(map(repr, layer.write_below)) or "no folder"
    return (
        f"it may not write to {path!r}: this net may write below {below}. If you trust it, allow a folder: "
        "Net(..., write_below=FOLDER), or --write-below FOLDER of the command"
    )
