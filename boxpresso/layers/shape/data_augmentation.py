"""DataAugmentation: images cut out of others, turned, coloured and without their mean, as FlowNet takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

import numpy as np

from ...device import Blob, Kernels
from ...device.functions import exp, exponential, log, sine_cosine
from ..core.layer import Layer
from ..core.lowering import Numbers
from ..core.traits import Trait

TRIES = 50  # of a place that lies within the image
SPATIAL = ("mirror", "dx", "dy", "angle", "zoom_x", "zoom_y")
CHROMATIC = ("gamma", "brightness", "contrast", "color1", "color2", "color3")
EIGEN = (
    *(f"{what}_{mean}{i}" for mean in ("nomean", "withmean") for what in ("pow", "add", "mult") for i in range(3)),
    "lmult_pow", "lmult_add", "lmult_mult", "col_angle",
)  # fmt: skip
EFFECTS = (
    "fog_amount", "fog_size", "motion_blur_angle", "motion_blur_size", "shadow_angle", "shadow_distance",
    "shadow_strength", "noise",
)  # fmt: skip
NAMES = (*SPATIAL, *CHROMATIC, *EIGEN, *EFFECTS)  # in the order of the program's message
PLAIN = {
    name: float(
        "zoom" in name
        or name in ("gamma", "contrast")
        or name.startswith(("color", "pow", "mult", "lmult_p", "lmult_m"))
    )
    for name in NAMES
}  # what changes nothing
IN_LOGARITHMS = np.array([PLAIN[name] == 1 for name in NAMES])
GROUPS = {  # of fields: a group is drawn where one of them is given
    "spatial": ("mirror", "rotate", "zoom", "translate", "squeeze", "translate_x", "translate_y"),
    "chromatic": ("brightness", "gamma", "contrast", "color"),
    "eigen": (
        "lmult_pow", "lmult_mult", "lmult_add", "sat_pow", "sat_mult", "sat_add", "col_pow", "col_mult", "col_add",
        "ladd_pow", "ladd_mult", "ladd_add", "col_rotate",
    ),
    "effects": (
        "fog_size", "fog_amount", "motion_blur_angle", "motion_blur_size", "shadow_angle", "shadow_distance",
        "shadow_strength", "noise",
    ),
}  # fmt: skip
OF_EIGEN = {  # coefficients of a field; what it is drawn for once, the second of two that are alike takes over
    "ladd_pow": (("pow_nomean0",),), "ladd_add": (("add_nomean0",),), "ladd_mult": (("mult_nomean0",),),
    "col_pow": (("pow_nomean1",), ("pow_nomean2",)), "col_add": (("add_nomean1",), ("add_nomean2",)),
    "col_mult": (("mult_nomean1",), ("mult_nomean2",)), "sat_pow": (("pow_withmean1", "pow_withmean2"),),
    "sat_add": (("add_withmean1", "add_withmean2"),), "sat_mult": (("mult_withmean1", "mult_withmean2"),),
    "lmult_pow": (("lmult_pow",),), "lmult_mult": (("lmult_mult",),), "lmult_add": (("lmult_add",),),
    "col_rotate": (("col_angle",),),
}  # fmt: skip
Coefficients = dict[str, float]


class DataAugmentation(
    Layer,
    type="DataAugmentation",
    param=("augmentation_param", "coeff_schedule_param"),
    bottoms=(1, 2),
    tops=(1, 2),
    traits=Trait.WRITES_ALL,
):
    """top = a crop of each image about its middle, turned, coloured and made noisy at random in TRAIN, without the mean.

    The pixel at (x, y) of the crop is the bilinear sample of the image at M (x, y), M being a mirror, a rotation by `rotate`,
    a shift by `translate` in sizes of the crop and a zoom, all about the middle; a place beyond the last pixel but 1.05 is
    drawn to it, as in the program. Draws are repeated up to 50 times until the crop lies within the image. Colours of three
    channels then change along the axes of `chromatic_eigvec` (`ladd_`, `col_`, `sat_`, `lmult_`, `col_rotate`), by factors of
    each channel with the brightness kept, by gamma, brightness and contrast; then come a shadow beyond a line and normal
    noise. Nothing of it happens at TEST without `augment_during_test`, where coefficients are not given, or without a crop.

    With recompute_mean the mean of all tops so far is gathered for so many forwards, and that mean subtracted; otherwise
    `mean`, where it has three numbers. Parameters, which are not learned: the number of forwards (1, 1, 1, 1); with
    recompute_mean the mean image (1, C, H', W') and the mean of each channel (1, C, 1, 1). Those of a file at another size
    become its channels' mean.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), images.
    bottom 1
        Optional: (N, 42, 1, 1), the coefficients of another such layer, in place of draws.
    augmentation_param
        `crop_width`, `crop_height`: W' and H'; without both the image is taken whole. `recompute_mean` (0), `mean_per_pixel`
        (true): whether the mean of each pixel is subtracted, not that of its channel. `mean`: three numbers, with
        mean_per_pixel false. `max_multiplier` (255): the brightest value. `augment_during_test` (false). The distributions of
        the transformations: `rand_type` (uniform, gaussian, bernoulli, uniform_bernoulli, gaussian_bernoulli), `mean`,
        `spread`, `prob`, `exp`, ...
    coeff_schedule_param
        `initial_coeff` (1), `final_coeff` (1), `half_life` (1): the factor of all spreads, by the number of forwards.

    Returns
    -------
    top 0
        (N, C, H', W').
    top 1
        Optional: (N, 42, 1, 1), the coefficients, those whose plain value is 1 as logarithms.

    Raises
    ------
    LayerError
        A crop larger than the image, colours of other than three channels, chromatic fields without nine chromatic_eigvec, an
        unknown rand_type, coefficients of another shape, a gradient is asked for.

    Source
    ------
    lmb-freiburg/flownet2 (Dosovitskiy et al. 2015, Ilg et al. 2017). `fog_` and `motion_blur_` do nothing there either.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "DataAugmentation" augmentation_param {
    ...     crop_width: 2 crop_height: 1 mean: [1, 1, 1] mean_per_pixel: false }'''
    >>> run_layer(text, [[[[1, 2, 3, 4]]] * 3])[0, 0].tolist()
    [[1.0, 2.0]]
    """

    kernels = Kernels("data_augmentation.cu")
    updates_parameters = True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.augmentation_param
        self.no_gradient = True
        self.crops = p.HasField("crop_width") and p.HasField("crop_height")
        self.draws_here = len(bottom) < 2 and (self.phase == "TRAIN" or p.augment_during_test)
        self.drawn_groups = [
            group for group, names in GROUPS.items() if self.draws_here and any(p.HasField(name) for name in names)
        ]
        for name in sum(GROUPS.values(), ()):
            kind = getattr(p, name).rand_type
            known = ("uniform", "gaussian", "bernoulli", "uniform_bernoulli", "gaussian_bernoulli")
            self.need(kind in known, f"{name}: rand_type {kind!r} is none of {', '.join(known)}")
        self.key = int(self.rng.integers(2**32))
        self.how, self.space = (Blob((), self.dtype, self.device) for _ in range(2))
        self.space.reshape(self.kernels.constants["SPACE"])
        self.parameter(0, (1, 1, 1, 1), value=0)
        self.gather(bottom[0])
        while len(self.param.param) < len(self.blobs):
            self.param.param.add()
        for i, spec in enumerate(self.param.param[: len(self.blobs)]):  # gathered, not learned
            spec.lr_mult = spec.decay_mult = 0
            self.param_propagate_down[i] = False

    def reseed(self, seed: int | Sequence[int]) -> None:
        super().reseed(seed)
        self.key = int(self.rng.integers(2**32))

    def gather(self, bottom: Blob) -> None:
        """The parameters that hold means, and the size of the crop."""
        p = self.param.augmentation_param
        _, channels, height, width = self.axes(bottom, 4, "bottom 0")
        self.size = (p.crop_height, p.crop_width) if self.crops else (height, width)
        self.need(
            0 < self.size[0] <= height and 0 < self.size[1] <= width,
            f"cannot cut {self.size[0]} x {self.size[1]} pixels out of {height} x {width}",
        )
        if p.recompute_mean:
            self.parameter(1, (1, channels, *self.size), value=0)
            self.parameter(2, (1, channels, 1, 1), value=0)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.gather(bottom[0])
        images, channels, height, width = self.shape = bottom[0].shape
        self.need(
            len(bottom) < 2 or bottom[1].count == images * len(NAMES),
            f"bottom 1 must have {len(NAMES)} coefficients for each of {images} images, got {bottom[-1].shape}",
        )
        top[0].reshape(images, channels, *self.size)
        for blob in top[1:]:
            blob.reshape(images, len(NAMES), 1, 1)
        self.how.reshape(images, self.kernels.constants["HOW"])
        self.pieces = -(-images * height * width // self.kernels.constants["PIECE"])
        self.partial = self.device.empty((max(1, 6 * self.pieces),), np.float64)

    def fitted(self, index: int, values: Numbers) -> Numbers:
        """A file's values for a parameter: a mean image of another size is the mean of its channels."""
        wanted = self.blobs[index].shape
        if index != 1 or values.ndim != 4 or values.shape == wanted or values.shape[1] != wanted[1]:
            return values
        return np.broadcast_to(values.mean((2, 3), keepdims=True, dtype=np.float64), wanted)

    # Coefficients

    def draw(self, rng: np.random.Generator, name: str, share: float = 1.0, otherwise: float = nan) -> float:
        """A number of the distribution of a field.

        share: of its spread, where it has a schedule; otherwise: what stands for a draw that does not happen.
        """
        p = getattr(self.param.augmentation_param, name)
        spread = p.spread * share if p.apply_schedule else p.spread
        kind, happens = p.rand_type, True
        if "bernoulli" in kind:
            happens = p.prob > 0 and rng.random() < p.prob
        if kind == "bernoulli":
            value = float(happens)
        else:
            if not happens and otherwise == otherwise:
                return otherwise
            value = 0.0 if not happens else p.mean
            if happens and spread > 0:
                value = (
                    rng.uniform(p.mean - spread, p.mean + spread) if "uniform" in kind else rng.normal(p.mean, spread)
                )
            value = exponential(value) if p.exp else value
        value = float(np.trunc(value + np.copysign(0.5, value))) if p.discretize else value
        return float(p.multiplier * value)

    def placed(self, rng: np.random.Generator, share: float) -> Coefficients:
        """Spatial coefficients with which the crop lies within the image; plain ones where no draw gives such."""
        p = self.param.augmentation_param
        for _ in range(TRIES - 1):  # that of the last draw is thrown away in the program, too
            drawn: Coefficients = {}
            if p.HasField("mirror"):
                drawn["mirror"] = float(bool(self.draw(rng, "mirror", 0.0)))
            for field, names in (("translate", ("dx", "dy")), ("translate_x", ("dx",)), ("translate_y", ("dy",))):
                if p.HasField(field):
                    drawn.update((name, self.draw(rng, field, share, 0.0)) for name in names)
            if p.HasField("rotate"):
                drawn["angle"] = self.draw(rng, "rotate", share, 0.0)
            zoom = self.draw(rng, "zoom", share, 1.0) if p.HasField("zoom") else 1.0
            squeeze = self.draw(rng, "squeeze", share, 1.0) if p.HasField("squeeze") else 1.0
            drawn["zoom_x"], drawn["zoom_y"] = zoom * squeeze, zoom / squeeze
            if self.lies_inside(self.matrix({**PLAIN, **drawn})):
                return drawn
        return {}

    def lies_inside(self, matrix: Sequence[float]) -> bool:
        """Whether all four corners of the crop are sampled within the image."""
        (high, wide), (height, width) = self.size, self.shape[2:]
        for x in (0, wide - 1):
            for y in (0, high - 1):
                across, down = (x * matrix[i] + y * matrix[2 + i] + matrix[4 + i] for i in (0, 1))
                if not (0 <= across < width - 1 and 0 <= down < height - 1):
                    return False
        return True

    def coefficients(self, rng: np.random.Generator, share: float) -> Coefficients:
        """The coefficients of one image, those that are drawn."""
        p = self.param.augmentation_param
        drawn: Coefficients = {}
        if "spatial" in self.drawn_groups:
            drawn.update(self.placed(rng, share))
        for name in ("gamma", "brightness", "contrast"):
            if p.HasField(name) and "chromatic" in self.drawn_groups:
                drawn[name] = self.draw(rng, name, share)
        if p.HasField("color") and "chromatic" in self.drawn_groups:
            drawn.update((f"color{i}", self.draw(rng, "color", share)) for i in (1, 2, 3))
        for field, groups in OF_EIGEN.items():
            for names in groups if p.HasField(field) and "eigen" in self.drawn_groups else ():
                drawn.update(dict.fromkeys(names, self.draw(rng, field, share)))
        for several in (EFFECTS[:2], EFFECTS[2:4], EFFECTS[4:7]):
            if "effects" in self.drawn_groups and any(p.HasField(name) for name in several):
                drawn.update((name, self.draw(rng, name, share, 0.0)) for name in several)
        if p.HasField("noise") and "effects" in self.drawn_groups:
            drawn["noise"] = self.draw(rng, "noise", share)
        return drawn

    def matrix(self, c: Mapping[str, float]) -> tuple[float, ...]:
        """(a, b, c, d, e, f): a place (x, y) of the crop is (a x + c y + e, b x + d y + f) of the image."""
        (high, wide), (height, width) = self.size, self.shape[2:]
        sine, cosine = (float(each) for each in sine_cosine(c["angle"]))
        sign = -1.0 if c["mirror"] else 1.0
        by_x, by_y = 1 / c["zoom_x"], 1 / c["zoom_y"]
        shift_x, shift_y = -sign * wide / 2, -high / 2
        return (
            sign * cosine * by_x, sign * sine * by_y, -sine * by_x, cosine * by_y,
            (cosine * shift_x - sine * shift_y + c["dx"] * wide) * by_x + width / 2,
            (sine * shift_x + cosine * shift_y + c["dy"] * high) * by_y + height / 2,
        )  # fmt: skip

    # Verbs

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.augmentation_param
        images = self.shape[0]
        if not top[0].count:
            return
        number = float(np.asarray(self.blobs[0].data).reshape(-1)[0]) + 1
        self.blobs[0].data[...] = number
        if len(bottom) > 1:
            coefficients = np.array(bottom[1].data, np.float64).reshape(images, len(NAMES))
        else:
            coefficients = self.drawn(number) if self.crops else np.zeros((images, len(NAMES)))
        for blob in top[1:]:
            blob.data[...] = coefficients.reshape(blob.shape)
        if self.crops:
            self.transform(bottom[0], top[0], coefficients)
        else:
            top[0].data[...] = bottom[0].data
        size = self.size[0] * self.size[1]
        if p.recompute_mean:
            mean, channel_mean = self.blobs[1:]
            if number <= p.recompute_mean:
                self.kernels.gather_mean(mean.count, top[0].data, mean.data, images, number)
                self.kernels.channel_means(channel_mean.count, mean.data, channel_mean.data, size)
            own = mean if p.mean_per_pixel else channel_mean
            self.kernels.subtract_mean(top[0].count, top[0].data, own.data, own.count, 1 if p.mean_per_pixel else size)
        elif len(p.mean) == 3 == self.shape[1] and not p.mean_per_pixel:
            self.space.data[:3] = np.asarray(p.mean)
            self.kernels.subtract_mean(top[0].count, top[0].data, self.space.data, 3, size)

    def drawn(self, number: float) -> np.ndarray:
        """The coefficients of a batch, as top 1 has them."""
        p = self.param.coeff_schedule_param
        grown = 2 / (1 + exponential(-1.0986 * number / p.half_life)) - 1
        share, rng = p.initial_coeff + (p.final_coeff - p.initial_coeff) * grown, self.draws()
        rows = [{**PLAIN, **self.coefficients(rng, share)} for _ in range(self.shape[0])]
        values = np.array([[row[name] for name in NAMES] for row in rows]).reshape(len(rows), len(NAMES))
        return np.where(IN_LOGARITHMS, log(np.where(IN_LOGARITHMS, values, 1)), values)

    def transform(self, bottom: Blob, top: Blob, coefficients: np.ndarray) -> None:
        """The crops, with these coefficients."""
        p, (images, channels, height, width) = self.param.augmentation_param, self.shape
        values = np.where(IN_LOGARITHMS, exp(np.where(IN_LOGARITHMS, coefficients, 0)), coefficients)
        plain = np.array([PLAIN[name] for name in NAMES])
        values = np.where(abs(values - plain) < 1e-3, plain, values)
        rows = [dict(zip(NAMES, row)) for row in values.tolist()]
        changed = {name for name, differs in zip(NAMES, (values != plain).any(0)) if differs}
        effects = bool(changed & {"noise", "shadow_strength"}) and bool(
            (values[:, [NAMES.index("noise"), NAMES.index("shadow_strength")]] > 0).any()
        )
        kinds = [bool(changed & set(EIGEN)), bool(changed & set(CHROMATIC)), effects]
        self.need(
            not any(kinds) or channels == 3,
            f"changes the colours of three channels, bottom 0 has the shape {bottom.shape}",
        )
        how = np.zeros((images, self.kernels.constants["HOW"]))
        for i, row in enumerate(rows):
            sine, cosine = (float(each) for each in sine_cosine(row["shadow_angle"]))
            colours = [row[name] for name in (*CHROMATIC, *EIGEN)]
            how[i] = (
                *self.matrix(row),
                *colours,
                cosine,
                sine,
                row["shadow_distance"],
                row["shadow_strength"],
                row["noise"],
            )
        self.how.data[...] = how
        if kinds[0]:
            self.measure(bottom)
        crops = self.kernels.struct(
            "Crops", channels=channels, height=height, width=width, high=self.size[0], wide=self.size[1],
            **dict(zip(("axes", "colours", "effects"), map(int, kinds))),
        )  # fmt: skip
        places = images * self.size[0] * self.size[1]
        arrays = bottom.data, self.how.data, self.space.data, top.data
        self.kernels.augment(places, *arrays, crops, p.max_multiplier)
        if effects:
            each = channels * self.size[0] * self.size[1]
            self.kernels.add_noise(top.count, self.how.data, top.data, each, self.key, int(self.pass_number % 2**32))

    def measure(self, bottom: Blob) -> None:
        """The mean colour of a batch and how far it reaches along each axis of colours."""
        axes = list(self.param.augmentation_param.chromatic_eigvec)
        self.need(len(axes) == 9, f"changes of colours along axes need nine chromatic_eigvec, got {len(axes)}")
        pixels = self.shape[0] * self.shape[2] * self.shape[3]
        self.space.data[:9] = np.asarray(axes)
        sizes = pixels, self.shape[2] * self.shape[3]
        self.kernels.colour_pieces(self.pieces, bottom.data, self.space.data, self.partial, *sizes)
        pieces = np.asarray(self.partial)[: 6 * self.pieces].reshape(-1, 6)
        mean, reach = pieces[:, :3].sum(0) / pixels, pieces[:, 3:].max(0)
        along = (np.array(axes).reshape(3, 3) * mean).sum(1)
        along = np.where(reach > 1e-2, along / np.where(reach > 1e-2, reach, 1), along)
        self.space.data[9:] = np.concatenate([along, mean, reach, [np.sqrt(np.square(reach).sum())]])

    def allow_force_backward(self, index: int) -> bool:
        return False
