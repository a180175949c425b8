"""A warning where a layer detects nothing because of NaN, which no score is above and no maximum keeps."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...device import AnyArray, Array, Blob, Device, Kernels
from ...proto.errors import BoxpressoWarning
from .layer import Layer

kernels = Kernels(Path(__file__).with_name("doubt.cu"))


def warn_of_nan(layer: Layer, bottom: Sequence[Blob]) -> None:
    """To be called where a layer has no detections: warns, once, if there is NaN in the net's inputs or in its bottoms."""
    if layer.warned:
        return
    inputs = [(f"the net's input {name!r}", blob) for name, blob in layer.net_blobs.items() if blob.is_input]
    looked_at = [*inputs, *((f"bottom {i}", blob) for i, blob in enumerate(bottom))]
    looked_at = [(subject, blob) for subject, blob in looked_at if blob.dtype.kind == "f" and blob.count]
    for (subject, _), seen in zip(looked_at, nan_in(layer.device, [blob.data for _, blob in looked_at])):
        if seen:
            layer.warned = True
            warnings.warn(
                f"{layer}: there are no detections, and {subject} holds NaN; this is said once",
                BoxpressoWarning,
                stacklevel=4,
            )
            return


def nan_in(device: Device, arrays: Sequence[AnyArray]) -> list[bool]:
    """Of each array whether it holds NaN. Those of a GPU are looked at there, and the host is told of all at once."""
    on_gpu = {id(a): a for a in arrays if isinstance(a, Array) and a.buffer.device_fresh and a.dtype.itemsize >= 4}
    parts = {key: -(-a.size // kernels.constants["PART"]) for key, a in on_gpu.items()}
    seen = device.empty((sum(parts.values()),), np.int32)
    at = 0
    for key, a in on_gpu.items():
        kernels.on(device).nan_seen(parts[key], a, device.part(seen, at, (parts[key],)), a.size)
        at += parts[key]
    ends = np.cumsum(list(parts.values()), dtype=int)[:-1]
    has_nan = dict(zip(on_gpu, np.split(np.asarray(seen), ends))) if on_gpu else {}
    return [bool(has_nan[id(a)].any() if id(a) in has_nan else np.isnan(np.asarray(a)).any()) for a in arrays]
