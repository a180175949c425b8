"""shrinkCaffeModel: weights in half precision, as OpenCV and NVIDIA's Caffe store them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..proto import NetParameter, files
from ..proto.errors import BoxpressoError, ModelError
from ..proto.reading import FilePath
from ..proto.upgrade import upgrade_net
from .errors import opencv_errors

LINEAR = ("Convolution", "InnerProduct")
FLOAT16 = 2  # of NVIDIA's enum Type


@opencv_errors
def shrinkCaffeModel(src: FilePath, dst: FilePath, layersTypes: Sequence[str] = ()) -> None:
    """Writes a .caffemodel with the weights of some types of layers in 16 bits: half the size, and 11 significant bits.

    Parameters
    ----------
    src, dst
        The .caffemodel in float32, of any age of Caffe, and the one to write.
    layersTypes
        Types of layers; by default Convolution and InnerProduct.

    Raises
    ------
    ModelError
        For a file that cannot be read or is not a .caffemodel.
    BoxpressoError
        For one that cannot be written, and for weights beyond 65504, the largest of float16.
    """
    try:
        net = NetParameter.FromString(Path(src).read_bytes())
    except OSError as error:
        raise ModelError(f"shrinkCaffeModel: cannot read {src}: {error.strerror or error}") from None
    except Exception as error:  # protobuf's DecodeError, which its versions have in different modules
        raise ModelError(f"shrinkCaffeModel: {src} is not a .caffemodel: {error}") from None
    net = upgrade_net(net, source=str(src))
    if not net.layer:
        raise ModelError(f"shrinkCaffeModel: {src} holds no layers")
    types = tuple(layersTypes) or LINEAR
    for layer in net.layer:
        for number, blob in enumerate(layer.blobs if layer.type in types else ()):
            if not blob.data:
                continue  # it has been shrunk before
            values = np.array(blob.data, np.float32)
            with np.errstate(over="ignore"):
                half = values.astype("<f2")
            if np.isinf(half).any() and not np.isinf(values).any():
                raise BoxpressoError(
                    f"shrinkCaffeModel: {src}: blob {number} of the layer {layer.name!r} goes up to {np.abs(values).max():g}; "
                    "float16 ends at 65504: leave its type away in layersTypes"
                )
            blob.ClearField("data")
            blob.raw_data, blob.raw_data_type = half.tobytes(), FLOAT16
    with files.replacing(dst) as part:
        part.write_bytes(net.SerializeToString())
