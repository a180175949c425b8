"""A net written to an .onnx file: made, run and compared first, and only then put in the place of what was there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ...net import Net
from ...proto.errors import ModelError
from ...proto.files import replacing
from ...proto.reading import FilePath
from ..operations import Numpy
from .targets import DEFAULT
from .verify import Difference, verify
from .writer import Preprocess, onnx_model

MOST = 2**31 - 1  # bytes of a protobuf message


@dataclass
class Written:
    """What became of an export: the file's size, its nodes, and how far its outputs are from the net's (None: not run)."""

    path: str
    bytes: int
    nodes: int
    differences: list[Difference] | None = field(default_factory=list)


def export_onnx(
    net: Net,
    path: FilePath,
    *,
    target: str = "onnxruntime",
    opset: int = DEFAULT,
    dynamic_batch: bool = False,
    half: bool = False,
    outputs: Sequence[str] | None = None,
    preprocess: Preprocess | None = None,
    labels: Mapping[int, str] | None = None,
    metadata: Mapping[str, str] | None = None,
    inputs: Sequence[Mapping[str, Numpy]] = (),
    check: bool = True,
) -> Written:
    """Writes a net as an ONNX file of standard operators.

    Before it is written the file is run, by the target or onnxruntime where one is installed, on random numbers, on a drawn
    picture and on `inputs`, and compared with the net. An existing file is replaced by a whole one alone.

    Parameters
    ----------
    net, target, opset, dynamic_batch, half, outputs, preprocess, metadata
        As for `onnx_model`.
    path
        The file.
    labels
        {label: name}, written into the file.
    inputs
        Arrays for the net's inputs, such as real pictures.
    check
        Whether to run it.

    Returns
    -------
    Written

    Raises
    ------
    LayerError
        Names the layer that cannot be written and says why.
    ModelError
        Where an output differs by more than 1e-4 (with weights in 16 bits 0.01, of a net in 8 bits 0.05), or the file
        cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }
    ...     layer { name: "y" type: "ReLU" bottom: "x" top: "y" }'''), device="cpu")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(net, f"{folder}/net.onnx").nodes
    1
    """
    more = dict(metadata or {})
    if labels:
        more["labels"] = json.dumps({str(label): name for label, name in sorted(labels.items())}, ensure_ascii=False)
    how = {
        "target": target, "opset": opset, "dynamic_batch": dynamic_batch, "half": half, "outputs": outputs, "metadata": more,
    }  # fmt: skip
    model = onnx_model(net, preprocess=preprocess, **how)  # type: ignore[arg-type]
    size = model.ByteSize()
    if size > MOST:
        raise ModelError(f"{os.fspath(path)} would have {size} bytes, and an ONNX file at most 2^31 - 1")
    differences = None
    if check:
        plain = model if preprocess is None else onnx_model(net, **how)  # type: ignore[arg-type]
        differences = verify(net, plain, target, [dict(arrays) for arrays in inputs], outputs, half)
        if dynamic_batch:
            with other_batch(net, plain):
                verify(net, plain, target, outputs=outputs, half=half)
    with replacing(path) as part:
        part.write_bytes(model.SerializeToString())
    return Written(os.fspath(path), size, len(model.graph.node), differences)


@contextmanager
def other_batch(net: Net, model: Any) -> Iterator[None]:
    """The net with one image or region more in each input whose first axis the model leaves open."""
    open_axes = {i.name for i in model.graph.input if i.type.tensor_type.shape.dim[0].dim_param}
    shapes = {name: tuple(net.blobs[name].shape) for name in net.inputs}
    try:
        for name in open_axes:
            net.blobs[name].reshape(shapes[name][0] + 1, *shapes[name][1:])
        net.reshape()
        yield
    finally:
        for name, shape in shapes.items():
            net.blobs[name].reshape(*shape)
        net.reshape()
