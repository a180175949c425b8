"""Every error that Boxpresso raises on purpose.

BoxpressoError
    ModelError    a prototxt, a weight file or the net that they describe is wrong
    LayerError    a layer cannot work with its parameters or its bottoms
    KernelError   a kernel does not compile, or was called with the wrong arguments
    DeviceError   no compiler, no driver, no such device, out of memory
    DeviceLost    a DeviceError: a GPU that this process cannot use any more

Each message names what was being done, says what was wrong and what was seen, and what to do about it. Where a net came from a
file, it begins with that file's name.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from types import TracebackType

NOTE = "boxpresso_layer"  # the attribute of an error of a user's own layer that has the layer's name

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class BoxpressoError(Exception):
    """The root of the tree: `except BoxpressoError` catches all that this package raises on purpose."""


class ModelError(BoxpressoError):
    """A prototxt, a weight file, or the net that they describe together, is wrong."""


class OtherFileError(ModelError):
    """A prototxt of another kind than the one that was asked for, such as a solver in the place of a net."""


class BoxpressoWarning(UserWarning):
    """Something in a user's file was skipped or changed; the message says what, and where."""


class LayerError(BoxpressoError):
    """A layer cannot work with the parameters or the bottoms that it was given."""


class KernelError(BoxpressoError):
    """A kernel does not compile, or was launched with arguments that its signature does not allow."""


class DeviceError(BoxpressoError):
    """A compiler, driver, device or its memory is missing, broken or full."""


class OfFile:
    """`with OfFile(path):` puts a file's name before the message of an error of Boxpresso that does not say it.

    >>> with OfFile("deploy.prototxt"):
    ...     raise LayerError("ReLU layer 'a': takes 1 bottoms, the prototxt gives 0")
    Traceback (most recent call last):
        ...
    boxpresso.proto.errors.LayerError: deploy.prototxt: ReLU layer 'a': takes 1 bottoms, the prototxt gives 0
    """

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.path and isinstance(error, BoxpressoError) and self.path not in str(error):
            error.args = (f"{self.path}: {error}", *error.args[1:])


class DeviceLost(DeviceError):
    """A GPU has met an error after which CUDA refuses all further work of this process; another process can use it."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint for an error, or "" when no known word is close.

    Examples
    --------
    >>> nearest("Premute", ["Permute", "Pooling"])
    "; did you mean 'Permute'?"
    """
    if len(word) > 200:
        return ""
    folded = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""


def storable(text: str) -> str:
    """A text that UTF-8 can hold: halves of signs, as the names of files may have, become "?".

    >>> storable("a" + chr(0xDCFF))
    'a?'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def visible(text: str) -> str:
    """A text for a terminal: signs that would steer it, or turn the direction of writing, are written out.

    Names of layers, blobs and classes come from files of other people. Inside of JSON the text stays JSON.

    >>> visible("name\\x1b[2J")
    'name\\\\u001b[2J'
    """
    return STEERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
