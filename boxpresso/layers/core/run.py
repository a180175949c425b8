"""run_layer: one layer on arrays, without a net; for trying a layer out and for examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import numpy as np

from ...device import Blob, Device, open_device
from ...proto import parse_net
from .boundary import Named
from .registry import check_arity, make_layer


def run_layer(
    text: str,
    *bottoms: Any,
    params: Sequence[Any] = (),
    tops: int = 1,
    phase: str = "TEST",
    dtype: Any = np.float32,
    device: Union[Device, str] = "cpu",
    seed: int = 0,
) -> Any:
    """Runs a layer forward over given bottoms.

    Parameters
    ----------
    text
        The fields of a `layer` of a prototxt, such as `type: "ReLU"`; a name is not needed.
    bottoms
        An array, or what becomes one, for each bottom.
    params
        The values of its learned parameters, in Caffe's order; by default what the fillers give.
    tops
        How many tops it has.
    phase
        "TRAIN" or "TEST".
    dtype
        float32 or float64; float16 or ml_dtypes.bfloat16 for layers that store them.
    device
        A Device, or its name.
    seed
        Of its random numbers.

    Returns
    -------
    The top as a numpy array, or a list of them where `tops` is not 1.

    Raises
    ------
    ModelError
        For a text that cannot be read, or an unknown type.
    LayerError
        For parameters or shapes that the layer refuses.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "ReLU" relu_param { negative_slope: 0.5 }', [[-2, 3]]).tolist()
    [[-1.0, 3.0]]
    """
    where = open_device(device) if isinstance(device, str) else device
    message = parse_net(f'layer {{ name: "layer" {text} }}').layer[0]
    axes = [np.ndim(values) for values in bottoms]
    layer = make_layer(message, device=where, dtype=dtype, phase=phase, seed=seed, axes=axes)
    check_arity(layer, len(bottoms), tops)
    bottom = []
    for values in bottoms:
        blob = Blob(np.shape(values), dtype, where)
        blob.data[...] = np.asarray(values)
        bottom.append(blob)
    top = [Blob((), dtype, where) for _ in range(tops)]
    with Named(layer):
        layer.setup(bottom, top)
        layer.reshape(bottom, top)
        for blob, values in zip(layer.blobs, params):
            blob.data[...] = np.asarray(values).reshape(blob.shape)
        layer.forward(bottom, top)
    results = [np.array(blob.data) for blob in top]
    return results[0] if tops == 1 else results
