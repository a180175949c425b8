"""The masks of objects, each resized to its box in an image, by a kernel."""

from __future__ import annotations

from pathlib import Path

from ...device import AnyArray, Device, Kernels

KERNELS = Kernels(Path(__file__).with_name("paste.cu"))


def paste(device: Device, masks: AnyArray, boxes: AnyArray, result: AnyArray, *, whole: bool) -> None:
    """Fills the result (N, H, W) from masks (N, h, w) in boxes (N, 4): x1, y1, x2, y2.

    Parameters
    ----------
    whole : boxes in whole pixels with masks widened by one, as torchvision has them; else smooth, as detectron2.
    """
    count, height, width = result.shape
    geometry = KERNELS.struct(
        "PasteGeometry", mask_height=masks.shape[1], mask_width=masks.shape[2], height=height, width=width, whole=whole
    )
    KERNELS.on(device).paste(count * height, masks, boxes, result, geometry)
