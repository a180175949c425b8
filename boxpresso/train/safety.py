"""What keeps a training from losing work: a folder that is checked before it is needed, and a state that stays finite."""

from __future__ import annotations

import math
import os
import re
from contextlib import suppress
from pathlib import Path

from ..device import AnyArray
from ..net.net import Net
from ..proto import SolverParameter, files
from ..proto.errors import BoxpressoError, ModelError
from .rates import Rates


class DivergedError(BoxpressoError):
    """The loss or its gradient is no longer a number."""


def check_snapshots(param: SolverParameter, rank: int = 0) -> None:
    """Raises ModelError where rank 0, which writes them, could not write a snapshot.

    Also removes what a training that was killed has left half written.
    """
    if rank:
        return
    if not param.HasField("snapshot_prefix"):
        raise ModelError("solver: a snapshot needs snapshot_prefix, the start of its file names")
    start = Path(f"{param.snapshot_prefix}_iter_0")
    folder, trial = start.parent, files.beside(start, ".part")
    if not os.path.isdir(folder):
        raise ModelError(
            f"solver: snapshot_prefix {param.snapshot_prefix!r} asks for the folder {str(folder)!r}, which is missing; make it"
        )
    try:
        trial.touch()
        trial.unlink()
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise ModelError(
            f"solver: no snapshot can be written to {str(folder)!r}, the folder of snapshot_prefix: "
            f"{getattr(error, 'strerror', None) or error}"
        ) from error
    with suppress(OSError):
        name = re.compile(re.escape(start.name[:-1]) + r"\d+\..*\.part")
        files.sweep(path for path in folder.iterdir() if name.fullmatch(path.name))


def candidates(param: SolverParameter) -> list[Path]:
    """The states of snapshot_prefix that are there, newest first."""
    if not param.HasField("snapshot_prefix"):
        raise ModelError("solver: to find a snapshot to resume from takes snapshot_prefix, the start of its file names")
    start = Path(f"{param.snapshot_prefix}_iter_")
    name = re.compile(re.escape(start.name) + r"(\d{1,12})\.solverstate(?:\.h5)?")
    problems = []
    with suppress(OSError):
        for path in start.parent.iterdir():
            if match := name.fullmatch(path.name):
                problems.append((int(match[1]), path.stat().st_mtime_ns, path))
    return [path for *_, path in sorted(problems, reverse=True)]


class Undo:
    """What an iteration changes before its update, as it was before the iteration, so that one that fails leaves no trace.

    That is the parameters that a forward pass changes, as BatchNorm's running mean, and the place in the learning rates. After
    the update they belong to the next iteration, and there is nothing to undo until that begins.
    """

    def __init__(self, net: Net, rates: Rates) -> None:
        still = {id(blob) for blob, lr_mult, _ in net.learnable if not lr_mult}
        self.blobs = [
            blob for layer in net.layers for blob in layer.blobs if layer.updates_parameters or id(blob) in still
        ]
        self.copies: list[AnyArray] = [blob.device.empty(blob.shape, blob.dtype) for blob in self.blobs]
        self.rates, self.progress = rates, rates.progress
        self.unfinished = False  # whether an iteration has begun, and its update has not ended

    def keep(self) -> None:
        """Remembers them: an iteration begins. A signal may come at any line of this."""
        self.unfinished = False
        for copy, blob in zip(self.copies, self.blobs):
            copy[...] = blob.data
        self.progress = self.rates.progress
        self.unfinished = True

    def forget(self) -> None:
        """The iteration is complete."""
        self.unfinished = False

    def restore(self) -> None:
        """Makes them what they were before the iteration that has begun, if one has; it may be called again after an error."""
        if not self.unfinished:
            return
        for copy, blob in zip(self.copies, self.blobs):
            blob.data[...] = copy
        self.rates.progress = self.progress
        self.unfinished = False


def check_finite(loss: float, norm: float, iteration: int) -> None:
    """Raises DivergedError where the loss or the norm of all gradients is not a number.

    An infinite loss may still have a gradient.
    """
    if math.isfinite(norm) and not math.isnan(loss):
        return
    reason = "loss = nan" if math.isnan(loss) else "the gradient is not finite"
    raise DivergedError(
        f"{reason} at iteration {iteration}: training stops, and its weights are those of the last update that was finite. "
        "Lower base_lr, or set clip_gradients; allow_nan (--allow-nan) goes on"
    )
