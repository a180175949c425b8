"""What the example nets stand on: `boxpresso.recipes.trunks`, and a function that writes their prototxts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from boxpresso import NetSpec
from boxpresso.recipes.trunks import (
    KINDS,
    Writer,
    bottleneck,
    mobilenet,
    normed,
    resnet50_last,
    resnet50_stem,
    vgg16,
    zf,
)

__all__ = [
    "KINDS", "Writer", "bottleneck", "mobilenet", "normed", "resnet50_last", "resnet50_stem", "vgg16", "write", "zf",
]  # fmt: skip


def write(here: str, nets: dict[str, Callable[..., NetSpec]]) -> None:
    """Writes MODEL/train.prototxt, test.prototxt and deploy.prototxt for each net beside the file `here`."""
    for model, net in nets.items():
        folder = Path(here).parent / model
        folder.mkdir(exist_ok=True)
        for kind in KINDS:
            path = folder / f"{kind}.prototxt"
            path.write_text(str(net(kind)), encoding="utf-8")
            print(path, file=sys.stderr)
