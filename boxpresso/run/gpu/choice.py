"""Which layout the chains of a plan get on a GPU: measured once for a shape, kept as long as the process, or forced."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from ...device import cudnn
from ...device.cuda import Cuda
from ...proto.errors import DeviceError

NCHW, NHWC = "NCHW", "NHWC"
VARIABLE = "BOXPRESSO_GPU_LAYOUT"
WORDS = {"auto": "", "nchw": NCHW, "nhwc": NHWC}
GAIN = 0.97  # of NCHW's time, below which NHWC is taken: the rest is what two measurements differ by
ROUNDS = 2  # of measuring both, of which the least counts: the clock rate of an idle GPU rises in the first
MOST = 4096  # choices that are kept

_kept: OrderedDict[Hashable, Choice] = OrderedDict()
_lock = threading.Lock()
measuring = threading.Lock()  # held by the Net that measures: others' measurements would not be its own


@dataclass(frozen=True)
class Choice:
    """The layout of a chain.

    Attributes
    ----------
    layout
        NCHW or NHWC.
    why
        "measured", what forced it, or why it was not measured.
    ms
        The times of the chain in both layouts, NCHW's first; None where they are not known.
    refused
        The place in the chain of a convolution that cuDNN does not have channels last; None where it has them all.
    """

    layout: str
    why: str
    ms: tuple[float, float] | None = None
    refused: int | None = None

    def describe(self) -> str:
        """Such as "NHWC, measured: 0.412 ms, NCHW 0.655 ms"."""
        if self.ms is None:
            return f"{self.layout}, {self.why}"
        mine, other = self.ms if self.layout == NCHW else self.ms[::-1]
        return f"{self.layout}, {self.why}: {mine:.4f} ms, {NHWC if self.layout == NCHW else NCHW} {other:.4f} ms"


NOT_YET = Choice(NCHW, "not measured yet")


def forced() -> str:
    """The layout that BOXPRESSO_GPU_LAYOUT asks for; "" where it leaves the choice. Raises DeviceError for another word."""
    word = os.environ.get(VARIABLE, "auto").strip().lower()
    if word not in WORDS:
        raise DeviceError(f"{VARIABLE} must be auto, NCHW or NHWC, got {os.environ[VARIABLE]!r}")
    return WORDS[word]


def key_of(device: Cuda, chain: Hashable) -> Hashable:
    """What a choice is kept by: the GPU, what its libraries are told, and layout.signature of the chain."""
    return (
        device.name,
        device.fast_math,
        device.deterministic,
        os.environ.get("BOXPRESSO_GPU_FIND"),
        cudnn.version(),
        chain,
    )


def choose(ms: tuple[float, float]) -> Choice:
    """By the times of NCHW and NHWC."""
    return Choice(NHWC if ms[1] < GAIN * ms[0] else NCHW, "measured", ms)


def known(key: Hashable) -> Choice | None:
    """What was chosen before in this process."""
    with _lock:
        choice = _kept.get(key)
        if choice is not None:
            _kept.move_to_end(key)
        return choice


def keep(key: Hashable, choice: Choice) -> Choice:
    """Keeps a choice; the first that a process makes for a chain stays, whichever thread makes another."""
    with _lock:
        first = _kept.setdefault(key, choice)
        while len(_kept) > MOST:
            _kept.popitem(last=False)
        return first


def forget() -> None:
    """Drops all choices, so that each chain is measured again."""
    with _lock:
        _kept.clear()
