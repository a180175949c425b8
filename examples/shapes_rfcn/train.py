"""Draws scenes into a VOC folder, trains R-FCN on them, and says how many shapes of 500 held-out scenes it finds.

    python examples/shapes_rfcn/train.py [--iterations 5000] [--out DIR] [--seed 1] [--device cpu] [--scenes 2000] [--quick]

Writes to DIR (examples/shapes_rfcn/work): the VOC folder scenes, snapshots, trained.caffemodel, shapes.caffemodel (the same,
finished for deploy.prototxt), shapes.log, and, as pictures, curves.png, precision.png and found.png, what was found in held-out
scenes. The seed fixes every scene, every starting weight, the order of pictures and the draws of regions.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from examples.shapes_faster_rcnn.model import CLASSES, SIZE  # noqa: E402
from examples.shapes_rfcn.model import net  # noqa: E402
from examples.two_stage import Example  # noqa: E402

EXAMPLE = Example(HERE, net, CLASSES, SIZE, normalized=True, scenes=2000)

if __name__ == "__main__":
    EXAMPLE.run(__doc__)
