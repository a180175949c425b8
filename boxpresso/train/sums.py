"""How diffs are summed over ranks: by NCCL, between GPUs; else by MPI, of GPUs through page-locked memory."""

from __future__ import annotations

import socket
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, cast

import numpy as np

from ..device import Blob, Device, nccl
from ..device.array import Array
from ..device.cuda import Cuda
from ..device.side import Mark, Side
from ..proto.errors import DeviceError
from .ranks import Ranks

Numpy = np.ndarray[Any, Any]
HEARD = 2  # the tag of a message to all other ranks that the sender has no NCCL communicator


class Sums(Protocol):
    """What sums diffs over the ranks while backward goes on. All ranks send the same diffs in the same order.

    Attributes
    ----------
    how
        "by ..", for the log.
    """

    how: str

    def send(self, blobs: Sequence[Blob]) -> None:
        """Begins with diffs of one dtype that are complete."""

    def progress(self) -> None:
        """Keeps moving what was sent; may be called in another thread."""

    def finish(self) -> None:
        """Waits until the sums are where the diffs were, for what the net's stream is given from now on."""


class HostSums:
    """By MPI, on the host: one diff in place, several copied together."""

    how = "by MPI"

    def __init__(self, ranks: Ranks) -> None:
        self.ranks, self.lock = ranks, threading.Lock()
        self.active: list[tuple[Sequence[Blob], Numpy, Any]] = []

    def send(self, blobs: Sequence[Blob]) -> None:
        if len(blobs) == 1:
            array = blobs[0].diff[...]
        else:
            array = np.concatenate([np.asarray(blob.diff).reshape(-1) for blob in blobs])
        with self.lock:
            self.begin(blobs, array)
        self.progress()

    def begin(self, blobs: Sequence[Blob], array: Numpy) -> None:
        """Gives an array to MPI, inside the lock."""
        request = self.ranks.world.Iallreduce(self.ranks.mpi.IN_PLACE, array)
        self.active.append((blobs, array, request))

    def progress(self) -> None:
        """MPI moves messages only inside its calls."""
        with self.lock:
            if self.active:
                self.ranks.mpi.Request.Testsome([request for _, _, request in self.active])

    def finish(self) -> None:
        for blobs, array, request in self.active:
            self.ranks.wait([request])
            if len(blobs) > 1:
                for blob, part in parts(blobs, array):
                    blob.diff[...] = part
        self.active = []


class PinnedSums(HostSums):
    """By MPI, of a GPU's diffs: copied to page-locked memory in a stream of their own, summed there, and copied back."""

    how = "by MPI, through page-locked memory"

    def __init__(self, ranks: Ranks, device: Cuda) -> None:
        super().__init__(ranks)
        self.side = Side(device)
        self.rooms: dict[int, tuple[Numpy, Mark]] = {}  # by the first blob of a message
        self.copying: deque[tuple[Sequence[Blob], Numpy, Mark]] = deque()

    def send(self, blobs: Sequence[Blob]) -> None:
        key = id(blobs[0])
        if key not in self.rooms:
            size = sum(blob.count for blob in blobs)
            self.rooms[key] = self.side.room(size, blobs[0].dtype), Mark(self.side.gpu)
        array, mark = self.rooms[key]
        self.side.branch(diffs(blobs))
        for blob, part in parts(blobs, array):
            self.side.fetch(cast(Array, blob.diff), part)
        mark.put()
        with self.lock:
            self.copying.append((blobs, array, mark))
        self.progress()

    def progress(self) -> None:
        with self.lock:
            while self.copying and self.copying[0][2].passed():
                blobs, array, _ = self.copying.popleft()
                self.begin(blobs, array)
        super().progress()

    def all_copied(self) -> bool:
        """Whether MPI has been given all that was sent."""
        self.progress()
        return not self.copying

    def finish(self) -> None:
        self.ranks.until(self.all_copied)
        for blobs, array, request in self.active:
            self.ranks.wait([request])
            for blob, part in parts(blobs, array):
                self.side.store(part, cast(Array, blob.diff))
        self.active = []
        self.side.join()


class NcclSums:
    """By NCCL, in a stream of their own."""

    def __init__(self, ranks: Ranks, device: Cuda, communicator: nccl.Communicator) -> None:
        self.ranks, self.communicator, self.side = ranks, communicator, Side(device, communicator.device)
        self.how = f"by NCCL {nccl.version()}"
        self.mark = Mark(communicator.device)

    def send(self, blobs: Sequence[Blob]) -> None:
        arrays = diffs(blobs)
        with self.blamed():
            self.side.branch(arrays)
            self.communicator.sum(arrays, self.ranks.check_failures)

    def progress(self) -> None:
        """NCCL needs no help."""

    def finish(self) -> None:
        with self.blamed():
            self.mark.put()
            self.ranks.until(lambda: self.communicator.state() == nccl.SUCCESS and self.mark.passed())

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """NCCL may fail here because it has failed on another rank, which says so: rank 0 waits a second for that."""
        try:
            yield
        except DeviceError:
            end = time.monotonic() + 1
            while time.monotonic() < end:
                self.ranks.check_failures()
                time.sleep(0.01)
            raise


def diffs(blobs: Sequence[Blob]) -> list[Array]:
    """Their diffs on a GPU."""
    return [cast(Array, blob.diff) for blob in blobs]


def parts(blobs: Sequence[Blob], array: Numpy) -> Iterator[tuple[Blob, Numpy]]:
    """Each blob, and the part of a flat array that is its diff's."""
    at = 0
    for blob in blobs:
        yield blob, array[at : at + blob.count].reshape(blob.shape)
        at += blob.count


def sums(ranks: Ranks, device: Device) -> Sums:
    """The way that all ranks can go. To be called by all.

    NCCL needs its library, of one version, and a GPU for each rank. Where a rank cannot make its part of a communicator all
    of them sum by MPI, and rank 0 warns.
    """
    if device.kind == "cpu":
        missing = "it runs on the CPU"
    elif nccl.library() is None:
        missing = "NCCL is not found, or BOXPRESSO_LIBRARIES leaves it out"
    else:
        missing = ""
    gpu = "" if device.kind == "cpu" else f"{socket.gethostname()} {cast(Cuda, device).gpu.pci_bus_id()}"
    rows = [row.split("|") for row in ranks.tell("|".join((missing, nccl.version(), gpu)))]
    versions = sorted({version for why, version, _ in rows if not why})
    why = next((f"rank {i}: {said}" for i, (said, _, _) in enumerate(rows) if said), "")
    if not why and len({place for _, _, place in rows}) < ranks.size:
        why = "several ranks share a GPU"
    if not why and len(versions) > 1:
        why = f"their NCCLs are of versions {' and '.join(versions)}"
    if not why:
        communicator = connect(ranks, cast(Cuda, device))
        if communicator is not None:
            return NcclSums(ranks, cast(Cuda, device), communicator)
    made = HostSums(ranks) if device.kind == "cpu" else PinnedSums(ranks, cast(Cuda, device))
    if any(place for _, _, place in rows) and why:
        made.how += f" ({why})"
    return made


class Alone(DeviceError):
    """Another rank cannot make its part of a communicator."""


def connect(ranks: Ranks, device: Cuda) -> nccl.Communicator | None:
    """The communicator of all ranks on their GPUs, made once; None where one of them cannot, of which rank 0 warns."""
    if ranks.communicator is not None:
        return ranks.communicator
    failed, made = "", None
    key = b""
    if ranks.rank == 0:
        try:
            key = nccl.unique_id()
        except DeviceError as error:
            failed = str(error)
    key = ranks.common(key)

    def meanwhile() -> None:
        ranks.check_failures()
        if ranks.control.Iprobe(tag=HEARD):
            raise Alone("another rank")

    if key:
        try:
            made = nccl.Communicator(device.with_stream(), ranks.size, ranks.rank, key, meanwhile)
        except Alone:
            failed = "-"
        except DeviceError as error:
            failed = str(error)
            for other in set(range(ranks.size)) - {ranks.rank}:
                ranks.control.isend(None, dest=other, tag=HEARD)
    reasons = ranks.tell(failed)
    for other, reason in enumerate(reasons):
        if other != ranks.rank and reason not in ("", "-") and key:
            ranks.control.recv(source=other, tag=HEARD)
    if not any(reasons):
        ranks.communicator = made
        return made
    if made is not None:
        made.abort()
    if ranks.rank == 0:
        other, reason = next((i, said) for i, said in enumerate(reasons) if said not in ("", "-"))
        warnings.warn(f"gradients are summed by MPI, as NCCL does not start on rank {other}: {reason}", stacklevel=5)
    return None
