"""restore: Caffe models in an OpenCV that no longer reads them."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from ..proto.errors import BoxpressoError
from .errors import raise_as

APART = (
    "registerLayer",
    "unregisterLayer",
    "DetectionModel",
    "ClassificationModel",
    "KeypointsModel",
    "SegmentationModel",
    "Model",
    "Net",
    "Image2BlobParams",
)


def restore() -> None:
    """Gives cv2.dnn what this module has, so that a script for OpenCV 4 runs with OpenCV 5: one line before it.

        import cv2
        from boxpresso import dnn; dnn.restore()

    `cv2.dnn.NAME` and, of classes and registerLayer, OpenCV's other spelling `cv2.dnn_NAME` are this module's; names that it
    lacks, such as readNetFromONNX, stay OpenCV's. A net of `readNet` is this module's where the files are Caffe's. Its errors
    are cv2.error, too.

    Raises
    ------
    BoxpressoError
        Without OpenCV.
    """
    try:
        import cv2
    except ImportError as error:
        raise BoxpressoError(f"dnn.restore changes OpenCV, which cannot be imported: {error}") from None
    put_into(cv2, sys.modules[__package__])


def put_into(cv2: Any, ours: ModuleType) -> None:
    """The same for a module that is like cv2."""
    theirs = cv2.dnn
    old = getattr(theirs, "_before_boxpresso", theirs)
    merged = ModuleType("cv2.dnn", old.__doc__)
    merged.__dict__.update({name: getattr(old, name) for name in dir(old) if not name.startswith("__")})
    merged.__dict__.update({name: getattr(ours, name) for name in ours.__all__})
    merged.__dict__.update(_before_boxpresso=old, readNet=either(old, ours))
    cv2.dnn = merged
    raise_as(getattr(cv2, "error", None))
    for name in APART:
        setattr(cv2, f"dnn_{name}", getattr(ours, name))


def either(theirs: Any, ours: Any) -> Any:
    """readNet of Caffe's files by ours, of all others by theirs."""

    def readNet(*args: Any, **options: Any) -> Any:
        words = [str(word).lower() for word in (*args, *options.values()) if isinstance(word, (str, os.PathLike))]
        caffe = "caffe" in words or any(word.endswith((".prototxt", ".caffemodel")) for word in words)
        return (ours if caffe else theirs).readNet(*args, **options)

    return readNet
