"""DataRandTransform: images that are normalised, mirrored, turned, blurred and changed in contrast at random."""

from __future__ import annotations

from math import ceil, isfinite, radians

import numpy as np

from ...device import Blob
from ...device.functions import exp, sine_cosine
from ...device.records import Numbers
from ..core import Layer, Trait

GREY = 0.5  # beyond an image that is not normalised
STEPS = 1024  # of a pixel, in which places are counted
WIDEST = 1023  # kernel of a blur, in pixels
BINOMIAL = {  # kernels without a standard deviation, by their size
    1: (1.0,),
    3: (1 / 4, 1 / 2, 1 / 4),
    5: (1 / 16, 1 / 4, 3 / 8, 1 / 4, 1 / 16),
    7: (1 / 32, 7 / 64, 7 / 32, 9 / 32, 7 / 32, 7 / 64, 1 / 32),
}


def gaussian(size: int, deviation: float) -> Numbers:
    """The kernel of a blur: `size` weights whose sum is 1, in float64.

    size: an odd number; below 1, as many as reach four deviations. deviation: in pixels; 0 stands for one that fits the size.

    >>> gaussian(3, 0).tolist()
    [0.25, 0.5, 0.25]
    >>> gaussian(3, 0.8).round(3).tolist()
    [0.239, 0.522, 0.239]
    """
    if size < 1:
        size = int(np.rint(8 * deviation + 1)) | 1
    if deviation <= 0 and size in BINOMIAL:
        return np.array(BINOMIAL[size])
    deviation = deviation if deviation > 0 else 0.3 * ((size - 1) / 2 - 1) + 0.8
    places = np.arange(size) - (size - 1) / 2
    weights = exp(-0.5 * np.square(places / deviation))
    return np.asarray(weights / weights.sum())


def blurred(image: Numbers, weights: Numbers) -> Numbers:
    """An image (C, H, W) convolved with the same weights along both axes; its edges reflect about the last pixel."""
    for axis in (1, 2):
        pads = [(0, 0)] * 3
        pads[axis] = (len(weights) // 2,) * 2
        wide, size = np.pad(image, pads, "reflect"), image.shape[axis]
        total = np.zeros_like(image)
        for i, weight in enumerate(weights):
            total += weight * (wide[:, i : i + size] if axis == 1 else wide[:, :, i : i + size])
        image = total
    return image


def turned(image: Numbers, angle: float, beyond: float) -> Numbers:
    """An image (C, H, W) whose pixel p is that at R (p - c) + c, R a rotation by `angle` degrees, c = (W // 2, H // 2).

    The nearest pixel is taken, as OpenCV's warpAffine finds it: places are counted in steps of 1/1024. beyond: what lies
    outside of the image.
    """
    height, width = image.shape[1:]
    sine, cosine = (float(each) for each in sine_cosine(radians(angle)))
    x, y = width // 2, height // 2
    rows = (cosine, sine, (1 - cosine) * x - sine * y), (-sine, cosine, sine * x + (1 - cosine) * y)
    across, down = (
        (
            np.rint(by_x * np.arange(width) * STEPS)
            + np.rint((by_y * np.arange(height) + shift) * STEPS)[:, None]
            + STEPS // 2
        ).astype(np.int64)
        // STEPS
        for by_x, by_y, shift in rows
    )
    inside = (across >= 0) & (across < width) & (down >= 0) & (down < height)
    return np.where(inside, image[:, np.where(inside, down, 0), np.where(inside, across, 0)], beyond)


class DataRandTransform(Layer, type="DataRandTransform", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """top = the images of the bottom, each changed at random, in this order, in TRAIN and TEST alike.

    Normalised: the mean of each channel is subtracted and the rest divided by its standard deviation; a channel of one value
    becomes 0 (not a number in the program). Mirrored in both axes, with a probability: the pixel at (x, y) is that at
    (W - x, H - y), so that the first row and column come from beyond the image. Turned by an angle between two, with the
    nearest pixel. Blurred by a Gaussian whose standard deviation is drawn up to a largest. Multiplied by a factor about 1, a
    number about 0 added. Beyond an image lie 0, or 0.5 where it is not normalised. It is computed on the host, as in the
    program, and has no gradient.

    Parameters
    ----------
    bottom 0
        Images (N, C, H, W).
    `apply_normalization` (false)
    `apply_mirroring` (false)
        `prob_mirroring` (0.5).
    `apply_rot` (false)
        `rot_min` (0), `rot_max` (0): degrees.
    `apply_blur` (false)
        `blur_size` (0): of the kernel, odd; 0 makes it reach four standard deviations. `blur_max_var` (0): the largest
        standard deviation, in pixels; 0 takes one that fits blur_size.
    `apply_contrast_brightness` (false)
        `alpha_c` (0), `beta_c` (0): factors lie between 1 - alpha_c and 1 + alpha_c, numbers between -beta_c and beta_c.
        All of these are fields of the layer itself.

    Returns
    -------
    top 0
        (N, C, H, W).

    Raises
    ------
    LayerError
        A bottom of other than four axes; a number that is not finite; a blur of even size, wider than 1023 pixels, or with
        neither size nor standard deviation.

    Source
    ------
    naibaf7/caffe (Julien Martel, 2014), whose images have at most three channels.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "DataRandTransform" apply_normalization: true', [[[[1, 3, 1, 3]]]]).ravel().tolist()
    [-1.0, 1.0, -1.0, 1.0]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, self.no_gradient = self.param, True
        for name in ("prob_mirroring", "rot_min", "rot_max", "blur_max_var", "alpha_c", "beta_c"):
            self.need(isfinite(getattr(p, name)), f"{name} must be a finite number, got {getattr(p, name)}")
        if p.apply_blur:
            size, most = p.blur_size, p.blur_max_var
            self.need(most >= 0, f"blur_max_var must be 0 or more, got {most:g}")
            self.need(size > 0 or most > 0, "a blur needs an odd blur_size or a blur_max_var above 0, got neither")
            self.need(size < 1 or size % 2, f"blur_size must be odd, got {size}")
            widest = size if size > 0 else ceil(8 * most)
            self.need(widest <= WIDEST, f"its blur is {widest} pixels wide; at most {WIDEST} are allowed")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(*self.axes(bottom[0], 4))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, draws = np.array(bottom[0].data), self.draws()
        if images.size:
            for i, image in enumerate(images):
                images[i] = self.transformed(image, draws)
        top[0].data[...] = images

    def transformed(self, image: Numbers, draws: np.random.Generator) -> Numbers:
        """The image (C, H, W), changed in float64."""
        p, image = self.param, image.astype(np.float64)
        beyond = 0.0 if p.apply_normalization else GREY
        if p.apply_normalization:
            image -= image.mean((1, 2), keepdims=True)
            deviation = np.sqrt(np.square(image).mean((1, 2), keepdims=True))
            image /= np.where(deviation == 0, 1, deviation)
        if p.apply_mirroring and draws.random() < p.prob_mirroring:
            mirrored = np.full_like(image, beyond)
            mirrored[:, 1:, 1:] = image[:, :0:-1, :0:-1]
            image = mirrored
        if p.apply_rot:
            image = turned(image, p.rot_min + (p.rot_max - p.rot_min) * draws.random(), beyond)
        if p.apply_blur:
            deviation = p.blur_max_var * draws.random()
            if p.blur_size > 0 or deviation > 0:
                image = blurred(image, gaussian(p.blur_size, deviation))
        if p.apply_contrast_brightness:
            factor = 1 - p.alpha_c + 2 * p.alpha_c * draws.random()
            image = factor * image + (2 * p.beta_c * draws.random() - p.beta_c)
        return image
