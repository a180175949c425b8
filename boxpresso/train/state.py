"""The files of a solver's state: .solverstate (binary) and .solverstate.h5, in Caffe's formats."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from ..proto import SolverState, hdf5
from ..proto.binary import AXES, Broken, TooMany, check_count, read_bytes
from ..proto.errors import ModelError
from ..proto.files import replacing
from ..proto.reading import FilePath
from ..proto.signatures import HDF5, what_is

if TYPE_CHECKING:
    from .rates import Rates

Numpy = np.ndarray[Any, Any]


class State(NamedTuple):
    """What a snapshot holds beside the weights."""

    iter: int
    learned_net: str
    step: int
    lowest: float  # the loss that `plateau` watches
    last_event: int
    history: list[Numpy]


def write_state(path: FilePath, iteration: int, learned_net: str, rates: Rates, history: Sequence[Numpy]) -> None:
    """Writes a state in the format that the end of its name says, as a whole or not at all."""
    if str(path).endswith(".h5"):
        with replacing(path) as part:
            _write_hdf5(part, iteration, learned_net, rates, history)
        return
    state = SolverState(iter=iteration, learned_net=learned_net, current_step=rates.step)
    if rates.param.lr_policy == "plateau":
        state.minimum_loss = min(rates.lowest, 1e38)
        state.iter_last_event = rates.last_event
    for array in history:
        blob = state.history.add()
        blob.shape.dim.extend(array.shape)
        (blob.double_data if array.dtype == np.float64 else blob.data).extend(array.ravel().tolist())
    with replacing(path) as part:
        part.write_bytes(state.SerializeToString())


def _write_hdf5(part: Path, iteration: int, learned_net: str, rates: Rates, history: Sequence[Numpy]) -> None:
    with hdf5.import_h5py(str(part)).File(part, "w") as file:
        file["iter"], file["current_step"] = np.int32(iteration), np.int32(rates.step)
        if rates.param.lr_policy == "plateau":  # beside what Caffe writes, which does not go on with it
            file["minimum_loss"], file["iter_last_event"] = (
                np.float32(min(rates.lowest, 1e38)),
                np.int32(rates.last_event),
            )
        file["learned_net"] = np.bytes_(learned_net.encode())
        group = file.create_group("history")
        for i, array in enumerate(history):
            group[str(i)] = array


def read_state(path: FilePath) -> State:
    """Reads a state of either format. Raises ModelError for any other file, which it describes."""
    data = read_bytes(path)
    if data.startswith(HDF5):
        return _read_hdf5(str(path))
    try:
        check_count(data, SolverState.HISTORY_FIELD_NUMBER)
        state = SolverState.FromString(data)
    except TooMany as many:
        raise ModelError(f"{path} cannot be read: {many}") from None
    except (DecodeError, Broken):
        state = None
    if state is None or not (state.HasField("iter") and (state.history or state.learned_net)):
        content = what_is(data) or "a truncated file, or weights without a solver's state"
        raise ModelError(f"{path} is not a .solverstate but {content}")
    arrays = [_history_blob(path, blob) for blob in state.history]
    if state.iter < 0 or state.current_step < 0:
        raise ModelError(f"{path} says iteration {state.iter} and step {state.current_step}; the file is damaged")
    return State(
        state.iter, state.learned_net, state.current_step, state.minimum_loss if state.HasField("minimum_loss") else np.inf,
        state.iter_last_event, arrays,
    )  # fmt: skip


def _history_blob(path: FilePath, blob: Any) -> Numpy:
    shape = tuple(blob.shape.dim) or tuple(d for d in (blob.num, blob.channels, blob.height, blob.width))
    values = np.array(blob.double_data or blob.data, np.float64 if blob.double_data else np.float32)
    if len(shape) > AXES or any(size < 0 for size in shape) or values.size != prod(shape):
        raise ModelError(f"{path}: a history blob of shape {shape} has {values.size} values; the file is damaged")
    return values.reshape(shape)


def _read_hdf5(path: str) -> State:
    with hdf5.Reader(path) as reader:
        first, group = reader.get(reader.file, "iter"), reader.get(reader.file, "history")
        if first is None or group is None:
            raise ModelError(f"{path} is an HDF5 file without `iter` and `history`: weights, not a solver's state?")
        members = dict(reader.members(group))
        if sorted(members) != sorted(map(str, range(len(members)))):
            raise ModelError(f"{path}: its history has the blobs {', '.join(sorted(members))}; the file is damaged")
        history = [reader.read(members[str(i)], f"history blob {i}") for i in range(len(members))]
        name, step = reader.get(reader.file, "learned_net"), reader.get(reader.file, "current_step")
        text = reader.text(name, "learned_net") if name is not None else ""
        if text is None:  # as earlier versions wrote it
            text = str(Path(path).with_name(Path(path).name.replace(".solverstate", ".caffemodel")))
        lowest, event = reader.get(reader.file, "minimum_loss"), reader.get(reader.file, "iter_last_event")
        fields = (("iter", first), ("current_step", step), ("iter_last_event", event))
        numbers = [0 if item is None else int(_number(reader, item, field)) for field, item in fields]
        least = np.inf if lowest is None else _number(reader, lowest, "minimum_loss")
    if min(numbers) < 0:
        raise ModelError(f"{path} says iteration {numbers[0]} and step {numbers[1]}; the file is damaged")
    return State(numbers[0], text, numbers[1], least, numbers[2], history)


def _number(reader: hdf5.Reader, dataset: Any, field: str) -> float:
    """The one number of a data set. Raises ModelError for none, several, or one that is not finite."""
    values = np.ravel(reader.read(dataset, field))
    if values.size != 1 or not np.isfinite(values[0]):
        raise ModelError(f"{reader.path}: {field} should be one finite number, got {values[:4]}; the file is damaged")
    return float(values[0])
