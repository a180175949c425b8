"""Snapshots of a training: their names, what is written into them, and how a training goes on from one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..device import AnyArray
from ..net.net import Net
from ..proto import SolverParameter
from ..proto.errors import ModelError
from ..proto.reading import FilePath
from .log import Log
from .rates import Rates
from .state import read_state, write_state

History = Sequence[Sequence[AnyArray]]  # for each parameter the arrays that its update remembers


def snapshot_paths(param: SolverParameter, iteration: int) -> tuple[Path, Path]:
    """The .caffemodel and the .solverstate of an iteration, both with ".h5" where snapshot_format says HDF5.

    Raises ModelError without snapshot_prefix.
    """
    if not param.HasField("snapshot_prefix"):
        raise ModelError("solver: a snapshot needs snapshot_prefix, the start of its file names")
    start = f"{param.snapshot_prefix}_iter_{iteration}"
    suffix = ".h5" if param.snapshot_format == SolverParameter.HDF5 else ""
    return Path(f"{start}.caffemodel{suffix}"), Path(f"{start}.solverstate{suffix}")


def write_snapshot(
    model: Path, state: Path, iteration: int, *, net: Net, history: History, rates: Rates, log: Log
) -> None:
    """Writes the weights and the solver's state, each as a whole or not at all. In the state the first array of all
    parameters comes first, then the second."""
    form = "HDF5" if state.name.endswith(".h5") else "binary proto"
    log(f"Snapshotting to {form} file {model}")
    net.save(model)
    log(f"Snapshotting solver state to {form} file {state}")
    arrays = [np.asarray(array) for row in zip(*history) for array in row]
    write_state(state, iteration, str(model), rates, arrays)


def read_snapshot(path: FilePath, solver_type: str, *, net: Net, history: History, rates: Rates) -> int:
    """Puts a .solverstate into history and rates, and the weights that it names, or that lie beside it, into the net.

    Returns the iteration. Raises ModelError where the state is that of another net or solver type.
    """
    state = read_state(path)
    targets = [array for row in zip(*history) for array in row]
    wanted, shapes = [tuple(array.shape) for array in targets], [array.shape for array in state.history]
    if [int(np.prod(shape)) for shape in wanted] != [int(np.prod(shape)) for shape in shapes]:
        raise ModelError(
            f"{path}: its history has {len(shapes)} blobs of shapes {shapes}, this {solver_type} solver's net wants "
            f"{len(wanted)} of {wanted}; is it the state of another net or solver type?"
        )
    if state.learned_net:
        named, beside = Path(state.learned_net), Path(path).parent / Path(state.learned_net).name
        net.copy_from(named if os.path.exists(named) else beside)
    for target, array in zip(targets, state.history):
        target[...] = array.reshape(target.shape)
    rates.progress = state.step, state.lowest, state.last_event
    return state.iter
