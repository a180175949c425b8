"""pycaffe's Detector: R-CNN's detection, which classifies windows of images."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..proto.errors import BoxpressoError
from ..proto.reading import FilePath
from . import io
from .classifier import transformer
from .pycaffe import Net

Numpy = np.ndarray[Any, Any]


class Detector(Net):
    """A net at TEST that classifies windows of images.

    Parameters
    ----------
    model_file, pretrained_file
        The prototxt and the weights.
    mean, input_scale, raw_scale, channel_swap
        As for io.Transformer.
    context_pad
        How many pixels of the net's input, on each side, show what surrounds the window; none by default.
    """

    def __init__(
        self,
        model_file: FilePath,
        pretrained_file: FilePath,
        mean: Numpy | None = None,
        input_scale: float | None = None,
        raw_scale: float | None = None,
        channel_swap: Sequence[int] | None = None,
        context_pad: int | None = None,
    ) -> None:
        super().__init__(model_file, 1, weights=pretrained_file)
        self.transformer = transformer(self, mean, input_scale, raw_scale, channel_swap)
        self.configure_crop(context_pad)

    def detect_windows(self, images_windows: Iterable[tuple[str, Any]]) -> list[dict[str, Any]]:
        """Classifies windows.

        Parameters
        ----------
        images_windows
            (file name of an image, its windows) pairs; a window is (ymin, xmin, ymax, xmax) in pixels.

        Returns
        -------
        list of dict
            For each window `filename`, `window` and `prediction`, the net's first output for it.
        """
        rows: list[tuple[str, Any]] = []
        crops: list[Numpy] = []
        name = self.inputs[0]
        for filename, windows in images_windows:
            image = io.load_image(filename)
            for window in windows:
                rows.append((filename, window))
                crops.append(self.transformer.preprocess(name, self.crop(image, np.asarray(window))))
        if not crops:
            return []
        predictions = self.forward_all(**{name: np.array(crops, np.float32)})[self.outputs[0]]
        return [
            {"window": window, "prediction": prediction, "filename": filename}
            for (filename, window), prediction in zip(rows, predictions)
        ]

    def detect_selective_search(self, image_fnames: Iterable[str]) -> list[dict[str, Any]]:
        """`detect_windows` of the windows that selective search finds.

        Raises
        ------
        BoxpressoError
            Without the package selective_search_ijcv_with_python.
        """
        try:
            import selective_search_ijcv_with_python as selective_search  # type: ignore[import-not-found]
        except ImportError:
            raise BoxpressoError(
                "detect_selective_search needs selective_search_ijcv_with_python (and MATLAB), from "
                "https://github.com/sergeyk/selective_search_ijcv_with_python; or give windows to detect_windows"
            ) from None
        names = [os.path.abspath(name) for name in image_fnames]
        return self.detect_windows(zip(names, selective_search.get_windows(names, cmd="selective_search_rcnn")))

    def crop(self, im: Numpy, window: Numpy) -> Numpy:
        """A window of an image (H, W, C), with what surrounds it where context_pad asks for it.

        The window is enlarged so that after the scaling to the net's input `context_pad` pixels on each side lie outside it;
        what lies outside the image is filled with the mean.
        """
        window = np.asarray(window).astype(int)
        if not self.context_pad:
            return im[window[0] : window[2], window[1] : window[3]]
        size = self.blobs[self.inputs[0]].width  # of a square input
        half = np.array([window[2] - window[0] + 1, window[3] - window[1] + 1]) / 2.0
        centre = window[:2] + half
        reach = half * (size / (size - self.context_pad * 2.0))
        box = np.round([*(centre - reach), *(centre + reach)])
        scale = size / (box[2:] - box[:2] + 1)
        pad = np.round(np.maximum(0, -box[:2]) * scale).astype(int)  # what lies above and left of the image
        limits = np.array([*im.shape[:2], *im.shape[:2]])
        inside = np.clip(box, 0, limits).astype(int)
        shape = np.round((inside[2:] - inside[:2] + 1) * scale).astype(int)
        if (inside[2:] <= inside[:2]).any():
            raise BoxpressoError(
                f"the window {window.tolist()} (ymin, xmin, ymax, xmax) lies outside the image, {im.shape[:2]}"
            )
        shape = np.minimum(shape, size - pad)
        part = io.resize_image(im[inside[0] : inside[2], inside[1] : inside[3]], shape.tolist())
        result: Numpy = np.ones(self.crop_dims, np.float32) * self.crop_mean
        result[pad[0] : pad[0] + shape[0], pad[1] : pad[1] + shape[1]] = part
        return result

    def configure_crop(self, context_pad: int | None) -> None:
        """Sets the context, and the mean that fills what lies outside an image.

        Parameters
        ----------
        context_pad
            In pixels of the net's input; None or 0 for none.
        """
        name = self.inputs[0]
        back = np.argsort(self.transformer.transpose[name])
        self.crop_dims = np.array(self.blobs[name].data.shape[1:])[back]
        self.context_pad = context_pad
        self.crop_mean: Numpy = np.zeros(self.crop_dims, np.float32)
        mean = self.transformer.mean.get(name)
        if not context_pad or mean is None:
            return
        crop_mean = np.array(mean, np.float32).transpose(back)
        swap = self.transformer.channel_swap.get(name)
        if swap is not None:
            crop_mean = crop_mean[:, :, np.argsort(swap)]
        self.crop_mean = crop_mean / np.float32(self.transformer.raw_scale.get(name, 1))
