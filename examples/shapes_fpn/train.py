"""Draws scenes of small and large shapes, trains a feature pyramid on them, and judges it by 500 held-out scenes, also by size.

    python examples/shapes_fpn/train.py [--iterations 5000] [--out DIR] [--seed 1] [--device cpu] [--scenes 2000] [--quick]

Writes to DIR (examples/shapes_fpn/work): the VOC folder scenes, snapshots, trained.caffemodel, shapes.caffemodel (the same,
finished for deploy.prototxt), shapes.log, and, as pictures, curves.png, precision.png and found.png, what was found in held-out
scenes. The seed fixes every scene, every starting weight, the order of pictures and the draws of regions.
"""

from __future__ import annotations

import math
import sys
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from boxpresso.data.folders import Scene  # noqa: E402
from boxpresso.evaluation import evaluate  # noqa: E402
from examples.shapes.scenes import scene  # noqa: E402
from examples.shapes_faster_rcnn.model import CLASSES, SIZE  # noqa: E402
from examples.shapes_fpn.model import net  # noqa: E402
from examples.two_stage import Example  # noqa: E402

SIZES = {
    "small": (0, 20),
    "middle": (20, 48),
    "large": (48, math.inf),
}  # the root of a shape's area, in pixels of the net

DRAWN = partial(scene, smallest=0.055, largest=0.7, most=9)
EXAMPLE = Example(HERE, net, CLASSES, SIZE, normalized=True, scene=DRAWN, scenes=2000)


def by_size(detections: list[Any], scenes: list[Scene]) -> None:
    """Prints the mean average precision of small, middle and large shapes."""
    for name, bounds in SIZES.items():
        area = tuple((side * scenes[0].width / SIZE) ** 2 for side in bounds)
        result = evaluate(detections, scenes, area=area)
        count = sum(curve.truths for curve in result.curves.values())
        print(f"{name}, {bounds[0]} to {bounds[1]} pixels: mAP@0.5 {result.mean:.4f} of {count} shapes")


if __name__ == "__main__":
    EXAMPLE.run(__doc__, by_size)
