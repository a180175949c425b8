"""The nets of a detector, from files: a prototxt and its weights, a list of them, or the folder of a cascade."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..graph.prepare import select
from ..graph.sources import is_source
from ..net import Net
from ..proto import read_net
from ..proto.errors import BoxpressoError, BoxpressoWarning, ModelError, OtherFileError
from ..proto.reading import FilePath, read_file
from .published import fetch, find, unknown

MODELS, WEIGHTS = (".prototxt", ".pt", ".pbtxt"), (".caffemodel", ".h5", ".hdf5")


def open_nets(
    model: Net | FilePath | Sequence[Net | FilePath],
    weights: FilePath | Sequence[FilePath] | None = None,
    **options: Any,
) -> list[Net]:
    """The nets of a model and its weights.

    Parameters
    ----------
    model
        A Net; the path of a prototxt; a folder; a list of Nets or prototxts; or the name of a public model
        (`boxpresso models --get`), which is fetched where it is not here yet.
    weights
        A file, or one for each prototxt; one file for several prototxts gives each its layers. Nothing for Nets; for a folder
        the files in it are paired by their names.
    options
        Further arguments of Net.

    Raises
    ------
    ModelError
        For files that cannot be read or do not belong together.
    """
    if isinstance(model, Net):
        return [model]
    if isinstance(model, (str, os.PathLike)):
        if weights is None and is_name(model):
            entry = fetch(os.fspath(model))
            return open_nets(*entry.paths(), **options)
        if os.path.isdir(model):
            return [load_for_pictures(*pair, **options) for pair in pairs_of(Path(model), weights)]
        model = [model]
    models = list(model)
    if not models:
        raise ModelError("no net is given; name a prototxt, or the folder of a cascade")
    if all(isinstance(each, Net) for each in models):
        return [each for each in models if isinstance(each, Net)]
    if weights is None:
        if len(models) == 1 and isinstance(models[0], str) and not os.path.exists(models[0]):
            raise ModelError(unknown(models[0]))
        raise ModelError(f"no weights are given for {', '.join(map(str, models))}")
    files = [weights] if isinstance(weights, (str, os.PathLike)) else list(weights)
    if len(files) == 1:
        files *= len(models)
    if len(files) != len(models):
        raise ModelError(f"{len(models)} nets need as many files of weights, or one for all; got {len(files)}")
    return [
        each if isinstance(each, Net) else load_for_pictures(each, file, **options) for each, file in zip(models, files)
    ]


def is_name(model: FilePath) -> bool:
    """Whether a model is given by the name of a public one, and not by a file or a folder of this name."""
    return isinstance(model, str) and not os.path.exists(model) and find(model) is not None


def load_for_pictures(model: FilePath, weights: FilePath, **options: Any) -> Net:
    """A Net with its weights, as `load` makes it. Raises ModelError for one that reads data of its own, as in training."""
    try:
        net = load(model, weights, **options)
    except BoxpressoError as error:
        if sources := own_data(model):
            raise ModelError(for_training(model, sources[0])) from error
        raise
    if not net.inputs and (sources := own_data(model)):
        raise ModelError(for_training(model, sources[0]))
    return net


def for_training(model: FilePath, source: str) -> str:
    """The message for a prototxt whose data layer `source` stands where pictures should come in."""
    return (
        f"{model} reads data of its own, {source}, as prototxts for training and testing do: detection takes the one for "
        "deployment (deploy.prototxt), which begins with an Input"
    )


def own_data(model: FilePath) -> list[str]:
    """The layers of a prototxt that read data, each by type and name: those of TEST, or where this has no input either,
    those of TRAIN."""
    with warnings.catch_warnings():  # opening it warns
        warnings.simplefilter("ignore", BoxpressoWarning)
        net = read_net(model)
    for phase in ("TEST", "TRAIN"):
        layers = select(net, phase).layer
        sources = [f"{layer.type} layer {layer.name!r}" for layer in layers if is_source(layer, ())]
        if sources or any(layer.type == "Input" for layer in layers):
            return sources
    return []


def load(model: FilePath, weights: FilePath, **options: Any) -> Net:
    """A Net with its weights.

    Warns of layers for which the file has no weights. Raises ModelError when these are all.
    """
    net = Net(without_last(model), source=os.fspath(model), **options)
    report = net.copy_from(weights)
    if report.missing and not report.matched:
        raise ModelError(f"{model} and {weights} do not belong together: no layer of one is in the other")
    if report.missing:
        names = ", ".join(report.missing[:4]) + (
            f" and {len(report.missing) - 4} more" if len(report.missing) > 4 else ""
        )
        message = f"{weights} has no weights for {names} of {model}: results will be wrong"
        warnings.warn(message, BoxpressoWarning, stacklevel=2)
    return net


def without_last(model: FilePath) -> Any:
    """The path of a prototxt; of CTPN and TextBoxes++ the message without its last layer, whose work the decoder does: one in
    Python, and a DetectionOutput of polygons."""
    text = read_file(model, "text_bytes")
    if b"text_proposal_layer" not in text and b"use_polygon" not in text:
        return model
    message = read_net(model)
    for i in reversed(range(len(message.layer))):
        layer = message.layer[i]
        proposals = layer.type == "Python" and layer.python_param.module.endswith("text_proposal_layer")
        param = layer.detection_output_param
        if proposals or (layer.type == "DetectionOutput" and param.HasField("use_polygon") and param.use_polygon):
            del message.layer[i]
    return message


def pairs_of(folder: Path, weights: FilePath | Sequence[FilePath] | None = None) -> list[tuple[Path, Path]]:
    """The prototxts of a folder with their weights, by name.

    A prototxt belongs to the weights of its own name (det1, det1), else to those whose name begins with its own (det2,
    det2_half), else to those with whose name its own begins (PCN-1, PCN), else to the only ones. One without any is left out,
    and so are label maps, solvers and nets that read data of their own.

    Raises ModelError where the folder has none.
    """
    models = sorted(path for path in folder.iterdir() if path.suffix in MODELS and not beside_a_model(path))
    if weights is None:
        files = sorted(path for path in folder.iterdir() if path.suffix in WEIGHTS)
    else:
        files = [Path(each) for each in ([weights] if isinstance(weights, (str, os.PathLike)) else weights)]
    models.sort(key=lambda path: path.stem)
    taken = {path.stem for path in models}
    pairs = []
    for model in models:
        free = [file for file in files if file.stem not in taken]
        candidates = (
            [file for file in files if file.stem == model.stem]
            or [file for file in free if file.stem.startswith(model.stem)]
            or sorted((f for f in free if model.stem.startswith(f.stem)), key=lambda f: -len(f.stem))
            or (files if len(files) == 1 else [])
        )
        if candidates:
            pairs.append((model, candidates[0]))
    if not pairs:
        below = sorted({path.parent.name for path in folder.glob("*/*") if path.suffix in WEIGHTS})
        raise ModelError(
            f"the folder {folder} has no prototxt with its weights: it has {len(models)} prototxts and "
            f"{len(files)} files of weights (.caffemodel, .h5); "
            + (f"there are weights in its folders {', '.join(below[:8])}; " if below else "")
            + "name the files one by one"
        )
    return pairs


def beside_a_model(path: Path) -> bool:
    """Whether a prototxt is of what lies beside a model: a solver, a label map, or the net for training or testing."""
    try:
        return bool(own_data(path))
    except OtherFileError:
        return True
    except ModelError:  # a net with a mistake: it is refused where it is opened
        return False
