"""The nets of a detector, from files: a prototxt and its weights, a list of them, or the folder of a cascade."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Union

from ..net import Net
from ..proto import read_net
from ..proto.errors import BoxpressoWarning, ModelError
from ..proto.reading import read_file

Source = Union[str, "os.PathLike[str]"]
MODELS, WEIGHTS = (".prototxt", ".pt", ".pbtxt"), (".caffemodel", ".h5", ".hdf5")


def open_nets(
    model: Net | Source | Sequence[Net | Source], weights: Source | Sequence[Source] | None = None, **options: Any
) -> list[Net]:
    """The nets of a model and its weights.

    Parameters
    ----------
    model
        A Net; the path of a prototxt; a folder; or a list of Nets or prototxts.
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
        if os.path.isdir(model):
            return [load(*pair, **options) for pair in pairs_of(Path(model), weights)]
        model = [model]
    models = list(model)
    if not models:
        raise ModelError("no net is given; name a prototxt, or the folder of a cascade")
    if all(isinstance(each, Net) for each in models):
        return [each for each in models if isinstance(each, Net)]
    if weights is None:
        raise ModelError(f"no weights are given for {', '.join(map(str, models))}")
    files = [weights] if isinstance(weights, (str, os.PathLike)) else list(weights)
    if len(files) == 1:
        files *= len(models)
    if len(files) != len(models):
        raise ModelError(f"{len(models)} nets need as many files of weights, or one for all; got {len(files)}")
    return [each if isinstance(each, Net) else load(each, file, **options) for each, file in zip(models, files)]


def load(model: Source, weights: Source, **options: Any) -> Net:
    """A Net with its weights.

    Warns of layers for which the file has no weights. Raises ModelError when these are all.
    """
    net = Net(without_last(model), **options)
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


def without_last(model: Source) -> Any:
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


def pairs_of(folder: Path, weights: Source | Sequence[Source] | None = None) -> list[tuple[Path, Path]]:
    """The prototxts of a folder with their weights, by name.

    A prototxt belongs to the weights of its own name (det1, det1), else to those whose name begins with its own (det2,
    det2_half), else to those with whose name its own begins (PCN-1, PCN), else to the only ones. One without any is left out.

    Raises ModelError where the folder has none.
    """
    models = sorted(path for path in folder.iterdir() if path.suffix in MODELS)
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
        raise ModelError(
            f"the folder {folder} has no prototxt with its weights: it has {len(models)} prototxts and {len(files)} files of "
            "weights (.caffemodel, .h5); name them one by one"
        )
    return pairs
