"""Writes SSD (Liu et al. 2016): VGG16 at 300 and 512 pixels, and MobileNet at 300, for the 20 classes of Pascal VOC.

    python -m examples.ssd.model     # from the repository's root; writes vgg16_300/train.prototxt and so on

The nets are those of `boxpresso.recipes.ssd`, which `boxpresso new ssd` writes for other classes and pictures.
"""

from __future__ import annotations

from functools import partial

from boxpresso.recipes.ssd import MOBILENET_300, VGG_300, VGG_512, Head, mobile, vgg

from ..trunks import write

__all__ = ["MOBILENET_300", "NETS", "VGG_300", "VGG_512", "Head", "mobile", "vgg"]

NETS = {"vgg16_300": vgg, "vgg16_512": partial(vgg, size=512), "mobilenet_300": mobile}

if __name__ == "__main__":
    write(__file__, NETS)
