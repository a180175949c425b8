"""The limits on what a file may ask for, by name. They keep memory and time in proportion to the size of the file.

A program that trusts its files may raise one, for itself and for the worker processes that it starts from then on:

    >>> from boxpresso.proto.limits import LIMITS
    >>> LIMITS.set(picture_pixels=400_000_000)

A user may do so for any program with BOXPRESSO_LIMITS="picture_pixels=400000000,layers=50000".
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, fields

from .errors import BoxpressoError, BoxpressoWarning, nearest

MEGABYTE = 2**20


@dataclass
class Limits:
    """Each with its default. All are whole numbers from 1."""

    text_bytes: int = 16 * MEGABYTE  # of a prototxt, a label map or a list of files
    text_tokens: int = 2_000_000  # names, numbers, strings and signs in one text
    text_depth: int = 100  # messages in messages
    text_messages: int = 500_000  # in one text
    layers: int = 10_000  # of a net, without the Splits that are added
    file_bytes: int = 2**34  # of a file of weights, an image or a mean
    weight_fields: int = 1_000_000  # in a .caffemodel or .binaryproto
    expansion_bytes: int = 64 * MEGABYTE  # that a file may become whatever its size
    expansion_factor: int = 20  # and how many times its size more
    region_samples: int = 2**35  # pixels that a call of a region operator reads, over all regions, bins and channels
    box_pairs: int = 2**28  # that a layer compares: anchors, priors or regions with true boxes
    time_steps: int = 10_000  # of a recurrent layer, each of which is some launches
    picture_pixels: int = 89_478_485  # of a picture, from which Pillow warns
    picture_scans: int = 100  # of a JPEG: each goes over all its pixels
    scanned_pixels: int = 2**30  # of all scans of a JPEG together

    def set(self, **values: int) -> None:
        """Changes limits by name, here and in processes that are started from now on.

        Raises
        ------
        BoxpressoError: for an unknown name, or a value that is not a whole number from 1.
        """
        names = [field.name for field in fields(self)]
        for name, value in values.items():
            if name not in names:
                raise BoxpressoError(f"there is no limit {name!r}{nearest(name, names)}; there are {', '.join(names)}")
            if not isinstance(value, int) or value < 1:
                raise BoxpressoError(f"the limit {name} must be a whole number from 1, got {value!r}")
            setattr(self, name, value)
        own = {name: getattr(self, name) for name in names if getattr(self, name) != getattr(type(self), name)}
        os.environ["BOXPRESSO_LIMITS"] = ",".join(f"{name}={value}" for name, value in own.items())

    def read(self, text: str) -> None:
        """Takes "name=number,name=number". Raises BoxpressoError where it is not that."""
        values = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, _, number = part.partition("=")
            if not number.strip().isdecimal():
                raise BoxpressoError(f"BOXPRESSO_LIMITS must be like layers=50000,picture_pixels=9000000, got {part!r}")
            values[name.strip()] = int(number)
        if values:
            self.set(**values)

    def expanded(self, size: int) -> int:
        """The bytes that a file of `size` bytes may become in memory."""
        return self.expansion_bytes + self.expansion_factor * size

    @staticmethod
    def advice(name: str) -> str:
        """How to raise a limit, for the end of an error.

        >>> Limits.advice("layers")
        "raise the limit 'layers' if you trust it: LIMITS.set(layers=..) or BOXPRESSO_LIMITS"
        """
        return f"raise the limit {name!r} if you trust it: LIMITS.set({name}=..) or BOXPRESSO_LIMITS"


LIMITS = Limits()
try:
    LIMITS.read(os.environ.get("BOXPRESSO_LIMITS", ""))
except BoxpressoError as wrong:
    warnings.warn(f"{wrong}; the defaults are used", BoxpressoWarning, stacklevel=2)
