"""A net written as torch.export's file, .pt2."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ...net import Net
from ...proto.errors import BoxpressoError, ModelError
from ...proto.files import replacing
from ...proto.reading import FilePath
from ..onnx.verify import LIMIT, apart, as_written, fresh, inputs_of
from .module import to_torch


def export_torch(net: Net, path: FilePath, *, check: bool = True) -> float | None:
    """Writes a net as torch.export's file; `torch.export.load(path).module()` runs it, in float32 whatever the net's precision.

    A file with regions or detections needs boxpresso.ops.torch imported where it is read.

    Parameters
    ----------
    net
        Built for the phase TEST, with its weights; it has the shapes that the file will have.
    path
        The file; an existing one is replaced by a whole new one alone.
    check
        Whether it is run and compared with the net first.

    Returns
    -------
    float or None
        The largest difference, relative to the largest number of its output; None without a check.

    Raises
    ------
    LayerError
        Names a layer that has no counterpart.
    ModelError
        Where an output differs by more than 1e-4, or the file cannot be written.
    """
    module = to_torch(net).eval()
    inputs = inputs_of(net, 1, picture=True)
    example = tuple(torch.from_numpy(np.array(inputs[name])) for name in module.input_names)
    try:
        with torch.no_grad():
            program = torch.export.export(module, example, strict=False)
    except BoxpressoError:
        raise
    except Exception as error:  # of any kind: torch's tracers raise their own
        raise ModelError(f"torch.export refuses the net: {type(error).__name__}: {error}") from error
    largest = compared(net, program, inputs) if check else None
    with replacing(path) as part, open(part, "xb") as file:
        torch.export.save(program, file)
    return largest


def compared(net: Net, program: Any, inputs: dict[str, Any]) -> float:
    """The largest difference of the outputs."""
    with fresh(net), as_written(net, float32=True):
        wanted = net.forward(**inputs)
    with torch.no_grad():
        outputs = program.module()(*(torch.from_numpy(np.array(inputs[name])) for name in net.inputs))
    largest = 0.0
    for name, values in wanted.items():
        one = apart(name, values, outputs[name].numpy())
        if not one.fine:
            raise ModelError(f"the module does not agree with the net, the limit is {LIMIT:g}: {one}")
        largest = max(largest, one.largest)
    return largest
