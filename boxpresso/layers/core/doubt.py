"""A warning where a layer detects nothing because of NaN, which no score is above and no maximum keeps."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ...device import Blob
from ...proto.errors import BoxpressoWarning
from .layer import Layer


def warn_of_nan(layer: Layer, bottom: Sequence[Blob]) -> None:
    """To be called where a layer has no detections: warns, once, if there is NaN in the net's inputs or in its bottoms."""
    if layer.warned:
        return
    given = [(f"the net's input {name!r}", blob) for name, blob in layer.net_blobs.items() if blob.given]
    for what, blob in [*given, *((f"bottom {i}", blob) for i, blob in enumerate(bottom))]:
        if blob.dtype.kind == "f" and np.isnan(np.asarray(blob.data)).any():
            layer.warned = True
            warnings.warn(
                f"{layer}: there are no detections, and {what} holds NaN; this is said once",
                BoxpressoWarning,
                stacklevel=4,
            )
            return
