"""pycaffe's Classifier: a net that classifies images, by their centre or by ten crops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..proto.reading import FilePath
from . import io
from .pycaffe import Net

Numpy = np.ndarray[Any, Any]


def transformer(
    net: Net,
    mean: Numpy | None,
    input_scale: float | None,
    raw_scale: float | None,
    channel_swap: Sequence[int] | None,
) -> io.Transformer:
    """The Transformer of a net's first input, with the rules that are given."""
    name = net.inputs[0]
    result = io.Transformer({name: net.blobs[name].data.shape})
    result.set_transpose(name, (2, 0, 1))
    if mean is not None:
        result.set_mean(name, mean)
    if input_scale is not None:
        result.set_input_scale(name, input_scale)
    if raw_scale is not None:
        result.set_raw_scale(name, raw_scale)
    if channel_swap is not None:
        result.set_channel_swap(name, channel_swap)
    return result


class Classifier(Net):
    """A net at TEST that classifies images.

    Parameters
    ----------
    model_file, pretrained_file
        The prototxt and the weights.
    image_dims
        The size (height, width) that images are scaled to before they are cropped; by default that of the net's input.
    mean, input_scale, raw_scale, channel_swap
        As for io.Transformer.
    """

    def __init__(
        self,
        model_file: FilePath,
        pretrained_file: FilePath,
        image_dims: Sequence[int] | None = None,
        mean: Numpy | None = None,
        input_scale: float | None = None,
        raw_scale: float | None = None,
        channel_swap: Sequence[int] | None = None,
    ) -> None:
        super().__init__(model_file, 1, weights=pretrained_file)
        self.transformer = transformer(self, mean, input_scale, raw_scale, channel_swap)
        self.crop_dims = np.array(self.blobs[self.inputs[0]].data.shape[2:])
        self.image_dims = self.crop_dims if image_dims is None or not len(image_dims) else image_dims

    def predict(self, inputs: Sequence[Numpy], oversample: bool = True) -> Numpy:
        """Class probabilities of images.

        Parameters
        ----------
        inputs
            (H, W, C) each, as io.load_image gives them.
        oversample
            Whether to average over the centre, the corners and their mirror images, or take the centre alone.

        Returns
        -------
        numpy.ndarray
            (images, classes).
        """
        scaled = np.array([io.resize_image(image, self.image_dims) for image in inputs], np.float32)
        if oversample:
            scaled = io.oversample(list(scaled), self.crop_dims)
        else:
            top, left = ((np.array(self.image_dims) - self.crop_dims) / 2.0).astype(int)
            scaled = scaled[:, top : top + self.crop_dims[0], left : left + self.crop_dims[1], :]
        name = self.inputs[0]
        data = np.array([self.transformer.preprocess(name, image) for image in scaled], np.float32)
        predictions: Numpy = self.forward_all(**{name: data})[self.outputs[0]]
        if oversample:
            predictions = predictions.reshape(len(predictions) // 10, 10, -1).mean(1)
        return predictions
