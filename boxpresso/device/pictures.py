"""Pictures of bytes as inputs of a net: bytes are copied to a GPU, a fourth of the numbers, which a kernel makes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ..proto.errors import BoxpressoError
from . import foreign
from .array import AnyArray, Array, Buffer
from .cuda import Cuda
from .dlpack import CUDA
from .kernel import Kernels
from .signature import HEADERS

KERNELS = Kernels(HEADERS / "pictures.cu")
BYTE = np.dtype(np.uint8)


def is_bytes(x: Any) -> bool:
    """Whether something is an array of bytes with the axes of pictures; torch's type is called torch.uint8."""
    return str(getattr(x, "dtype", "")).rpartition(".")[2] == "uint8" and len(x.shape) == 4


class Pictures:
    """Pictures for an input of a net: `net.forward(data=Pictures(photos, mean=(104, 117, 123), reverse=True))`.

    The net gets (N, C, H, W): (byte - mean) * scale.

    Parameters
    ----------
    bytes
        uint8, (N, H, W, C) as cameras and Pillow give them, or with `last=False` (N, C, H, W); of numpy, or of a library that
        has it on the net's GPU.
    mean
        A number, or one for each channel of the net's order.
    scale
        By which the difference is multiplied.
    reverse
        Whether the net has the channels in the other order, as BGR of RGB.
    last
        Whether the channels of the bytes lie last.

    Raises
    ------
    BoxpressoError
        For what is not uint8 with four axes, or another number of means than channels.

    Examples
    --------
    >>> import numpy as np
    >>> Pictures(np.array([[[[1, 2, 3]]]], np.uint8), mean=1, reverse=True).numbers(np.float32)[0, :, 0, 0].tolist()
    [2.0, 1.0, 0.0]
    """

    def __init__(
        self, bytes: Any, mean: float | Sequence[float] = 0, scale: float = 1.0, reverse: bool = False, last: bool = True
    ) -> None:  # fmt: skip
        if not is_bytes(bytes):
            kind, axes = getattr(bytes, "dtype", type(bytes).__name__), len(getattr(bytes, "shape", ()))
            raise BoxpressoError(f"pictures must be uint8 with 4 axes, got {kind} with {axes}")
        self.bytes, self.scale, self.reverse, self.last = bytes, float(scale), reverse, last
        images, *size = (int(side) for side in bytes.shape)
        height, width, channels = size if last else (*size[1:], size[0])
        self.shape = images, channels, height, width
        self.means = (
            np.broadcast_to(np.asarray(mean, np.float64), (channels,)) if np.size(mean) in (1, channels) else None
        )
        if self.means is None:
            raise BoxpressoError(f"pictures of {channels} channels need as many means, or one; got {np.size(mean)}")

    ndim = 4

    def numbers(self, dtype: Any) -> np.ndarray[Any, Any]:
        """What the net gets, on the host."""
        values = np.asarray(self.bytes)
        values = values.transpose(0, 3, 1, 2) if self.last else values
        values = values[:, ::-1] if self.reverse else values
        means = np.asarray(self.means, dtype)[:, None, None]
        numbers: np.ndarray[Any, Any] = (values.astype(dtype) - means) * np.dtype(dtype).type(np.float32(self.scale))
        return numbers

    def fill(self, target: AnyArray) -> None:
        """Puts the numbers into an array of that shape."""
        there = foreign.place(self.bytes)[0] == CUDA
        if not isinstance(target, Array):
            if there:
                raise BoxpressoError(
                    "pictures on a GPU cannot be taken by a net on the CPU: copy them to the host first"
                )
            target[...] = self.numbers(target.dtype)
            return
        device, count = cast(Cuda, target.device), target.size
        if count == 0:
            return
        words = Array(Buffer(device, np.uint32), (-(-count // 4),))
        words.buffer.grow(words.size)
        if there:
            device.copy(foreign.take(self.bytes, device).address(False), words.address(True), count)
            foreign.let_go(self.bytes, device)
        else:
            words.numpy(keep=False).view(BYTE)[:count] = np.asarray(self.bytes).reshape(-1)
        _, channels, height, width = self.shape
        numbers = KERNELS.struct(
            "Pictures", channels=channels, height=height, width=width, last=int(self.last), reversed=int(self.reverse),
            scale=self.scale,
        )  # fmt: skip
        means = device.table(self.means, target.dtype) if np.any(self.means) else None
        KERNELS.on(device).pictures(count, words, means, target, numbers)
