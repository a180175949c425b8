"""The program of a worker process: loads the batches that it is asked for, until its parent is gone."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from ..proto.errors import BoxpressoError
from .errors import DataError
from .workers import Slot


def main(shared: str) -> None:
    """shared: file descriptors, the pipe's first and then those of the slots, with commas between."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe, *slots = map(int, shared.split(","))
    with suppress(EOFError, OSError):  # the parent is gone
        serve(Connection(pipe), [Slot(fd) for fd in slots])


def serve(pipe: Connection, slots: list[Slot]) -> None:
    parent, packed = pipe.recv()
    make: Any = None
    while True:
        while not pipe.poll(1):
            if os.getppid() != parent:  # a fork of it may hold the pipe open
                return
        number, at = pipe.recv()
        reply: Any
        try:
            make = make or pickle.loads(packed)
            slot = slots[at]
            arrays, broken = make(number, lambda index, slot=slot: setattr(slot, "record", index))
            reply = slot.put(arrays), broken
        except BoxpressoError as error:
            reply = error
        except Exception:
            reply = DataError(f"a worker process failed: {traceback.format_exc()}")
        pipe.send(reply)
