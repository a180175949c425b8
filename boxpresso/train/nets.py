"""The nets that a solver prototxt names: which files or messages they are, and for which phase, level and stages."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..net.net import Net
from ..proto import NetParameter, NetState, SolverParameter, read_net
from ..proto.errors import ModelError
from ..proto.reading import FilePath


class Model(NamedTuple):
    """A net's message, and the name of the file that it was read from, "" for none."""

    param: NetParameter
    source: str = ""


def read(path: Path) -> Model:
    """The net of a prototxt."""
    return Model(read_net(path), str(path))


def find_file(path: str, folder: Path) -> Path:
    """A path of a solver prototxt: from the working directory, or else beside the prototxt, which lies in `folder`."""
    beside = folder / path
    return beside if not os.path.exists(path) and os.path.exists(beside) else Path(path)


def weight_files(text: str, folder: Path = Path()) -> list[Path]:
    """Files of weights, several with commas, as Caffe takes them; a file whose name has a comma is one."""
    whole = find_file(text, folder)
    if os.path.exists(whole) or "," not in text:
        return [whole]
    return [find_file(path.strip(), folder) for path in text.split(",")]


def train_model(param: SolverParameter, folder: Path) -> Model:
    """The net to train. Raises ModelError unless it is named exactly once."""
    sources = [name for name in ("net", "net_param", "train_net", "train_net_param") if param.HasField(name)]
    if len(sources) != 1:
        raise ModelError(
            "solver: the train net must be named once, by one of net, net_param, train_net and train_net_param; "
            f"given: {', '.join(sources) or 'none'}"
        )
    value = getattr(param, sources[0])
    return Model(value) if isinstance(value, NetParameter) else read(find_file(value, folder))


def test_models(param: SolverParameter, folder: Path) -> list[tuple[Model, NetState]]:
    """The test nets with their states: those that are named, then `net` for each test_iter that is left.

    Raises ModelError where test_iter, test_state and the nets differ in number, where test_iter is negative, or where
    test_interval is missing.
    """
    models = [Model(each) for each in param.test_net_param]
    models += [read(find_file(path, folder)) for path in param.test_net]
    if any(batches < 0 for batches in param.test_iter):
        raise ModelError(f"solver: test_iter counts batches from 0, got {list(param.test_iter)}")
    missing = len(param.test_iter) - len(models)
    if missing < 0 or (missing and not (param.HasField("net") or param.HasField("net_param"))):
        raise ModelError(f"solver: {len(param.test_iter)} test_iter values for {len(models)} test nets; give one each")
    if missing:
        models += [train_model(param, folder)] * missing
    if models and param.test_interval < 1:
        raise ModelError("solver: test nets are given, but test_interval is not")
    if len(param.test_state) not in (0, len(models)):
        raise ModelError(f"solver: {len(param.test_state)} test_state values for {len(models)} test nets")
    states = list(param.test_state) or [NetState()] * len(models)
    return list(zip(models, states))


def build(
    model: Model,
    phase: str,
    state: NetState,
    options: Mapping[str, Any],
    weights: Sequence[FilePath] = (),
    make: type[Net] = Net,
) -> Net:
    """The Net of a model in the state that the solver prototxt asks for; `options` are the further arguments of Net."""
    chosen = {"phase": phase, "level": state.level, "stages": tuple(state.stage)}
    return make(model.param, weights, source=model.source, **chosen, **options)
