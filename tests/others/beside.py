"""Computes by OpenCV 4, which reads Caffe's nets itself, what scripts of others computed by this package, and compares.

    RECORD=FOLDER python tests/others/small.py SCRIPT ...      # or run.py --record: writes the script's nets and passes
    PYTHON_OF_OPENCV_4 tests/others/beside.py FOLDER ...       # a Python with opencv-python-headless 4.12, and without this package

For each net it prints the largest difference of each output, beside the largest value there; or what OpenCV says to the net.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np


def compare(folder: Path) -> str:
    """What the last pass of one net gave here and there."""
    given, made = (dict(np.load(folder / name)) for name in ("in.npz", "out.npz"))
    try:
        net = cv2.dnn.readNetFromCaffe(str(folder / "net.prototxt"), str(folder / "net.caffemodel"))
        for name, value in given.items():
            net.setInput(value, name)
        there = {name: net.forward(owner(net, name)) for name in made}
    except cv2.error as error:
        return "OpenCV refuses: " + " ".join(str(error).split())[:160]
    lines = []
    for name, mine in made.items():
        theirs = there[name]
        if mine.size != theirs.size:
            lines.append(f"{name}: {mine.shape} here, {theirs.shape} there")
        else:
            difference = np.abs(mine.ravel() - theirs.ravel()).max(initial=0)
            lines.append(f"{name} {mine.shape}: {difference:.1e} of {np.abs(theirs).max(initial=0):.3g}")
    return "; ".join(lines)


def owner(net: cv2.dnn.Net, name: str) -> str:
    """The name of the layer that makes a blob, which OpenCV calls it by."""
    return name if name in net.getLayerNames() else net.getUnconnectedOutLayersNames()[0]


if __name__ == "__main__":
    for one in sys.argv[1:]:
        for net in sorted(Path(one).rglob("net.prototxt")):
            print(f"{net.parent}: {compare(net.parent)}", flush=True)
