"""The boundary between a layer and those who run it: what leaves it is an error of Boxpresso that names the layer."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from ...device.chain import OWNER
from ...proto.errors import NOTE, BoxpressoError, DeviceError, KernelError, LayerError

if TYPE_CHECKING:
    from .layer import Layer

OURS = (LayerError, KernelError, DeviceError)


def runs_user_code(layer: Layer) -> bool:
    """Whether a layer is, or runs, a class that Boxpresso does not bring."""
    return not type(layer).__module__.startswith("boxpresso.") or hasattr(layer, "user")


class Named:
    """`with Named(layer):` puts the layer's name before the message of an error that does not begin with it.

    What is not an error of Boxpresso becomes a LayerError, of which it is the cause. Errors of a user's own layer, a
    warning that is to be an error, and an interrupt go through as they are; the first have a note of the layer's name.
    """

    __slots__ = ("layer",)

    def __init__(self, layer: Layer) -> None:
        self.layer = layer

    def __enter__(self) -> None:
        OWNER.layer = self.layer  # of the launches that a chain is given meanwhile

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        OWNER.layer = None
        if error is None or not isinstance(error, Exception) or isinstance(error, Warning):
            return
        name, text = str(self.layer), str(error)
        if type(error) in OURS:
            if not text.startswith(name):
                raise type(error)(f"{name}: {text}") from error
        elif isinstance(error, MemoryError):
            order = sorted(self.layer.net_blobs.items(), key=lambda item: -item[1].count)[:3]
            blobs = ", ".join(f"{top!r} {blob.shape}" for top, blob in order)
            said = f"{name}: there is no memory left{f' ({text})' if text else ''}"
            raise DeviceError(f"{said}; the largest blobs: {blobs}" if blobs else said) from error
        elif runs_user_code(self.layer):
            error.__dict__.setdefault(NOTE, name)
        elif not isinstance(error, BoxpressoError):
            raise LayerError(f"{name}: {type(error).__name__}: {text}".rstrip(": ")) from error
