"""Pad, Padding: borders around an image."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...device import Blob, Kernels
from ..core import Layer, Trait

# The fields that a fork's form of a message has: those of two forms in one layer are refused.
FORMS = {
    "pad_param": (
        ("paddings", "constant_values"),
        ("pad_u", "pad_d", "pad_l", "pad_r", "pad_value", "pad_type"),
        ("pad_h", "pad_w"),
    ),
    "padding_param": (
        ("pad_beg", "pad_end"),
        ("pad",),
        ("pad_h", "pad_w"),
        ("pad_h_top", "pad_h_bottom", "pad_w_left", "pad_w_right"),
        ("pad_l", "pad_r", "pad_t", "pad_b", "pad_value", "pad_method"),
    ),
}


class Pad(
    Layer,
    type=("Pad", "Padding"),
    param=("pad_param", "padding_param"),
    bottoms=1,
    tops=1,
    traits=Trait.WRITES_ALL,
):
    """Puts a border around each image, or with negative numbers takes one away.

    The border is of a value, of the outermost elements again and again (REPLICATE, REPEAT), or of the image in a mirror whose
    first element is the one beside the outermost (REFLECT). Pad reads pad_param, Padding padding_param; each is of several
    forks, whose fields do not go together. In a layer of type Padding, pad_l and its like need a pad_method: two forks have
    two defaults.

    Parameters
    ----------
    bottom 0
        (..., H, W); of up to four axes with `paddings`.
    pad_param
        `paddings`: before and behind each axis, the first first, and `constant_values` (0). Or `pad_u`, `pad_d`, `pad_l`,
        `pad_r` (0): above, below, left and right, perhaps negative, `pad_type` (CONSTANT), REPLICATE or REFLECT, and
        `pad_value` (0). Or `pad_h` and `pad_w` (0): rows above and below, columns left and right.
    padding_param
        `pad_beg` and `pad_end` (0): before and behind rows and columns, perhaps negative. Or `pad`: on all four sides. Or
        `pad_h` and `pad_w`. Or `pad_h_top`, `pad_h_bottom`, `pad_w_left`, `pad_w_right`. Or `pad_t`, `pad_b`, `pad_l` and
        `pad_r`, with `pad_method`, CONSTANT or REPEAT, and `pad_value` (0).

    Returns
    -------
    top 0
        The shape of the bottom, with the borders.

    Raises
    ------
    LayerError
        A bottom of one axis, fields of two forms, `paddings` that are not two for each axis, pad_to_power_of_2, a
        pad_method that is WRAP or is not given, a border that takes all, a mirror or a repetition of an empty image, a
        mirror that is wider than the image.

    Source
    ------
    Synopsys's Caffe, inisis/caffe and Liusifei/Face_Parsing_2016 (Pad); gpapan/caffe (DeepLab), lim0606/caffe-fast-rcnn,
    ctensmeyer/caffe, twerdster/caffe and sophgo/caffe (Padding).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Padding" padding_param { pad_beg: 1 pad_end: 0 }', [[[[1, 2], [3, 4]]]]).tolist()
    [[[[0.0, 0.0, 0.0], [0.0, 1.0, 2.0], [0.0, 3.0, 4.0]]]]
    >>> run_layer('type: "Pad" pad_param { pad_l: 2 pad_type: REFLECT }', [[[[1, 2, 3]]]]).tolist()
    [[[[3.0, 2.0, 1.0, 2.0, 3.0]]]]
    """

    kernels = Kernels("pad.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        message = "padding_param" if self.param.type.lower() == "padding" else "pad_param"
        p = getattr(self.param, message)
        named = {field.name for field, _ in p.ListFields()}
        self.need("pad_to_power_of_2" not in named, "pad_to_power_of_2 of a fork is not supported; give the borders")
        forms = [form for form in FORMS[message] if named & set(form)]
        # A name may be in two forms: one form that has all names is enough.
        self.need(
            not named or any(named <= set(form) for form in forms),
            f"{message}: {', '.join(sorted(named))} are of several forks; give those of one",
        )
        self.borders, self.mode, self.value = self.read(message, p, named)

    def read(self, message: str, p: Any, named: set[str]) -> tuple[list[tuple[int, int]], str, float]:
        """Before and behind each of the last axes, what the border is of, and its value."""
        if message == "padding_param":
            if named & {"pad_l", "pad_r", "pad_t", "pad_b", "pad_value", "pad_method"}:
                self.need(
                    p.HasField("pad_method") and p.pad_method != p.WRAP,
                    "padding_param: pad_l, pad_r, pad_t and pad_b need pad_method: CONSTANT or pad_method: REPEAT",
                )
                mode = "CONSTANT" if p.pad_method == p.CONSTANT else "REPLICATE"
                return [(p.pad_t, p.pad_b), (p.pad_l, p.pad_r)], mode, p.pad_value
            before = p.pad_beg + p.pad + p.pad_h + p.pad_h_top, p.pad_beg + p.pad + p.pad_w + p.pad_w_left
            behind = p.pad_end + p.pad + p.pad_h + p.pad_h_bottom, p.pad_end + p.pad + p.pad_w + p.pad_w_right
            return list(zip(before, behind)), "CONSTANT", 0.0
        if named & {"paddings", "constant_values"}:
            numbers = list(p.paddings)
            self.need(len(numbers) % 2 == 0, f"paddings must be two for each axis, got {numbers}")
            return list(zip(numbers[::2], numbers[1::2])), "CONSTANT", p.constant_values
        sides = [(p.pad_u + p.pad_h, p.pad_d + p.pad_h), (p.pad_l + p.pad_w, p.pad_r + p.pad_w)]
        return sides, p.PadType.Name(p.pad_type), p.pad_value

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(len(shape) > 1, f"its bottom must have rows and columns, got shape {shape}")
        if self.param.pad_param.paddings:
            self.need(
                len(self.borders) == len(shape) <= 4,
                f"paddings must be two for each of up to four axes, got {2 * len(self.borders)} for the shape {shape}",
            )
        whole = len(shape) - len(self.borders)
        sources = [self.source(size, *border) for size, border in zip(shape[whole:], self.borders)]
        top[0].reshape(*shape[:whole], *(len(source) for source in sources))
        lead = [prod(shape[:whole])] if whole or len(shape) < 4 else []
        sources = [np.arange(1)] * (4 - len(lead) - len(sources)) + [np.arange(n) for n in lead] + sources
        sizes = [1] * (4 - len(lead) - len(self.borders)) + lead + list(shape[whole:])
        self.geometry = self.kernels.struct("Borders", bottom=sizes, top=[len(source) for source in sources])
        self.table = self.device.table(np.concatenate(sources))
        copies = [np.argsort(source, kind="stable")[np.count_nonzero(source < 0) :] for source in sources]
        counts = [np.bincount(source[source >= 0], minlength=size) for size, source in zip(sizes, sources)]
        self.starts = self.device.table(np.append(0, np.cumsum(np.concatenate(counts))))
        self.copies = self.device.table(np.append(np.concatenate(copies), 0))  # of one number at least

    def source(self, size: int, before: int, behind: int) -> NDArray[np.int64]:
        """For each place of an axis of the top its place in the bottom, -1 for none."""
        self.need(before + size + behind > 0 or not size, f"a border of {before} and {behind} takes all of {size}")
        places = np.arange(-before, max(size, 0) + behind)
        if self.mode == "CONSTANT":
            return np.where((places >= 0) & (places < size), places, -1)
        self.need(size or not places.size, f"an axis without elements has nothing for a border (pad_type {self.mode})")
        if self.mode == "REPLICATE":
            return np.clip(places, 0, size - 1)
        self.need(max(before, behind) < max(size, 1), f"a mirror of {size} has {size - 1}, not {max(before, behind)}")
        return size - 1 - abs(size - 1 - abs(places))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.pad_forward(top[0].count, bottom[0].data, top[0].data, self.table, self.geometry, self.value)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.pad_backward(
                bottom[0].count, top[0].diff, bottom[0].diff, self.starts, self.copies, self.geometry
            )
