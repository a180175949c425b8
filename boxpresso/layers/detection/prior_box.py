"""PriorBox: the default boxes of SSD, a fixed set around the centre of every cell of a feature map."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from ..core.lowering import Constant, Lowering

SAME = 1e-6  # aspect ratios that differ by less are one


class PriorBox(Layer, type="PriorBox", param="prior_box_param", bottoms=2, tops=1, traits=Trait.CONSTANT):
    """The default boxes of SSD: a fixed set of boxes around the centre of every cell of a feature map.

    Each cell has, for each `min_size` s (and its `max_size` m), these boxes: s x s; then sqrt(s m) x sqrt(s m) if m is
    given; then s sqrt(a) x s / sqrt(a) for each aspect ratio a (and, with `flip`, for 1 / a). Sizes are in pixels, and
    Caffe first truncates them to whole numbers; so does this layer.

    The centre of a cell is ((x + offset) step, (y + offset) step), in pixels. The boxes depend on the sizes of the
    bottoms alone, and there is no gradient.

    With `denser_prior_boxes` (TextBoxes and TextBoxes++) each box comes twice, the second one centred on the lower edge
    of the cell, at (y + 1) step. With `faceboxes`, boxes of 32 pixels come 16 times and those of 64 pixels 4 times in a
    cell, at distances of 8 and 16 pixels, and all boxes are a pixel smaller. A net whose locations are of so many more
    boxes sets these by itself.

    With `fixed_size` in the place of `min_size` a size s has d x d boxes of each shape, d being its `density`: their
    centres are trunc(s / d) pixels apart, along x first, and the first is trunc(s / 2) - trunc(s / d) / 2 to the left of
    the cell's centre and above it. Shapes are those of the aspect ratios, or without the square those of `fixed_ratio`. The
    left and upper edges end at the image's, and so do the right and lower ones, without `clip`, too.

    With `offset_w` and `offset_h` a cell has boxes about each pair of these places, in cells, those of the first `offset_w`
    first; about each they are those of the aspect ratios alone, without the squares, `max_size` not being read.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), a feature map. Only its size is read.
    bottom 1
        (N, C, IH, IW), the image. Only its size is read.
    prior_box_param
        `min_size`: one or more, required; `max_size`: none, or one for each `min_size`; `aspect_ratio`: any number
        (1 is always there); `flip` (true); `clip` (false): cut boxes at the image's edge; `variance` (0.1): one or
        four; `img_size`, or `img_h` and `img_w`: the size of the image, by default bottom 1's; `step`, or `step_h`
        and `step_w`: by default the image's size over the map's; `offset` (0.5); `denser_prior_boxes` (false);
        `faceboxes` (false). In the place of `min_size`: `fixed_size` and `density`, as many of each, and `fixed_ratio`. In
        the place of `offset`: `offset_w` and `offset_h`, one or more of each, from 0 to 1.

    Returns
    -------
    top 0
        (1, 2, H * W * P * 4). [0, 0] are the boxes (xmin, ymin, xmax, ymax) as fractions of the image. [0, 1] are
        their variances.

    Raises
    ------
    LayerError
        For a missing `min_size` and `fixed_size`, or both; sizes, densities, aspect ratios, variances or steps that are
        not above 0; a `max_size` that is not above its `min_size`; `max_size` for some of the `min_size` only; a
        `fixed_size` without its `density`; `fixed_ratio` beside `aspect_ratio`; `offset_w` or `offset_h` without the
        other, with an aspect ratio of 1 or none, or with `offset`, `fixed_size`, `faceboxes` or `denser_prior_boxes`; a
        number of variances other than 1 or 4; both fields and their pair (`step` with `step_h`, `img_size` with
        `img_h`); bottoms without four axes or without cells; and fields of other programs: `tf`, `yx_order`, `keras`,
        `box_width` and `box_height`.

    Source
    ------
    SSD (Liu et al. 2016) and its Caffe; TextBoxes++ (Liao et al. 2018) and FaceBoxes (Zhang et al. 2017) with theirs;
    julimueller/tl_ssd for `offset_w`; zihaozhang9/FaceBoxes for `fixed_size`, which with several `fixed_ratio` counts
    other boxes than it makes.

    Examples
    --------
    Two boxes around the centre of the one cell, of 32 and sqrt(32 * 128) = 64 pixels:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "PriorBox" prior_box_param { min_size: 32 max_size: 128 img_size: 64 }'
    >>> run_layer(text, [[[[0]]]], [[[[0]]]])[0, 0].reshape(-1, 4).tolist()
    [[0.25, 0.25, 0.75, 0.75], [0.0, 0.0, 1.0, 1.0]]
    """

    kernels = Kernels("prior_box.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.prior_box_param
        for name in ("tf", "yx_order", "keras"):
            self.need(not getattr(p, name), f"{name}: true is another program's PriorBox, which is not supported")
        self.need(
            not p.box_width and not p.box_height,
            "box_width and box_height are another program's, which are not supported",
        )
        for field, value in p.ListFields():
            if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
                values = [value] if isinstance(value, float) else list(value)
                self.need(all(map(isfinite, values)), f"{field.name} must be finite, got {values}")
        self.check_sizes(p)
        self.need(len(p.variance) in (0, 1, 4), f"variance takes 1 or 4 values, got {len(p.variance)}")
        self.need(all(v > 0 for v in p.variance), f"variances must be positive, got {list(p.variance)}")
        self.count = self.rows()
        variance = list(p.variance) or [0.1]
        self.variance = self.device.table(variance if len(variance) == 4 else variance * 4, self.dtype)
        self.image = self.pair(p, "img_h", "img_w", "img_size")
        self.step = self.pair(p, "step_h", "step_w", "step")
        self.priors_of: tuple[int, ...] | None = None  # the sizes that self.priors is for

    def check_sizes(self, p: Any) -> None:
        """Checks the fields that tell the boxes of a cell."""
        for name in ("fixed_size", "fixed_ratio", "density"):
            self.need(
                all(s > 0 for s in getattr(p, name)), f"every {name} must be positive, got {list(getattr(p, name))}"
            )
        if p.fixed_size or p.density or p.fixed_ratio:
            self.check_fixed(p)
            self.need(not p.offset_w and not p.offset_h, "offset_w and offset_h do not go with fixed_size")
            return
        self.need(p.min_size, "min_size is missing: give at least one, in pixels")
        self.need(all(s > 0 for s in p.min_size), f"every min_size must be positive, got {list(p.min_size)}")
        self.need(
            len(p.max_size) in (0, len(p.min_size)),
            f"max_size must be given once for each min_size or not at all, got {len(p.max_size)} for {len(p.min_size)}",
        )
        self.need(
            all(high > low for low, high in zip(p.min_size, p.max_size, strict=False)),
            f"each max_size must be above its min_size, got {list(p.max_size)} and {list(p.min_size)}",
        )
        self.need(all(a > 0 for a in p.aspect_ratio), f"aspect ratios must be positive, got {list(p.aspect_ratio)}")
        if p.offset_w or p.offset_h:
            self.check_places(p)

    def check_places(self, p: Any) -> None:
        """Checks the fields that go with offset_w and offset_h."""
        for name in ("offset_w", "offset_h"):
            places = list(getattr(p, name))
            self.need(places and all(0 <= at <= 1 for at in places), f"{name} must be from 0 to 1, got {places}")
        ratios = self.ratios(p)[1:]
        self.need(
            ratios and len(ratios) == len(p.aspect_ratio) * (1 + p.flip),
            f"offset_w needs aspect ratios that differ, and none of 1, got {list(p.aspect_ratio)}",
        )
        other = p.HasField("offset") or p.denser_prior_boxes or p.faceboxes
        self.need(not other, "offset, denser_prior_boxes and faceboxes do not go with offset_w")
        self.need(self.boxes(p) < 2**24, f"{self.boxes(p)} boxes in a cell; there can be 2^24 - 1")

    def check_fixed(self, p: Any) -> None:
        """Checks the fields that go with fixed_size."""
        self.need(
            len(p.fixed_size) == len(p.density) > 0,
            f"needs a density for each fixed_size, got {len(p.density)} for {len(p.fixed_size)}",
        )
        self.need(min(p.density) >= 1, f"every density must be 1 or more, got {list(p.density)}")
        self.need(not p.fixed_ratio or not p.aspect_ratio, "give either fixed_ratio or aspect_ratio, not both")
        self.need(all(a > 0 for a in p.aspect_ratio), f"aspect ratios must be positive, got {list(p.aspect_ratio)}")
        other = p.min_size or p.max_size or p.denser_prior_boxes or p.faceboxes
        self.need(not other, "min_size, max_size, denser_prior_boxes and faceboxes do not go with fixed_size")
        self.need(self.boxes(p) < 2**24, f"{self.boxes(p)} boxes in a cell; there can be 2^24 - 1")

    @staticmethod
    def ratios(p: Any) -> list[float]:
        """The aspect ratios of a cell's boxes, 1 first; one that an earlier one is within 1e-6 of is left out."""
        ratios, near = [1.0], {int(1 / SAME): [1.0]}  # by the number of SAMEs that they hold
        for ratio in p.aspect_ratio:
            place = int(ratio / SAME)
            known = (one for at in (place - 1, place, place + 1) for one in near.get(at, ()))
            if all(abs(ratio - one) >= SAME for one in known):
                added = [ratio, 1 / ratio] if p.flip else [ratio]  # the flipped one is not looked up: as Caffe
                ratios += added
                for one in added:
                    near.setdefault(int(one / SAME), []).append(one)
        return ratios

    @classmethod
    def boxes(cls, p: Any) -> int:
        """How many boxes a cell has in Caffe; `denser_prior_boxes` and `faceboxes` make more of them."""
        if p.fixed_size:
            return len(p.fixed_ratio or cls.ratios(p)) * sum(int(density) ** 2 for density in p.density)
        if p.offset_w:
            return len(p.offset_w) * len(p.offset_h) * len(p.min_size) * (len(cls.ratios(p)) - 1)
        return len(p.min_size) * (len(cls.ratios(p)) + bool(p.max_size))

    @classmethod
    def box_sizes(cls, p: Any) -> np.ndarray[Any, Any]:
        """(boxes, 2) float64: width and height in pixels of each box of a cell, in Caffe's order."""
        smallest = np.trunc(np.array(p.min_size, np.float64))
        ratios = np.sqrt(np.array(cls.ratios(p)[1:], np.float64))
        if p.offset_w:
            return np.stack([smallest[:, None] * ratios, smallest[:, None] / ratios], -1).reshape(-1, 2)
        columns = [np.stack([smallest, smallest], -1)[:, None]]
        if p.max_size:
            between = np.sqrt(smallest * np.trunc(np.array(p.max_size, np.float64)))
            columns.append(np.stack([between, between], -1)[:, None])
        columns.append(np.stack([smallest[:, None] * ratios, smallest[:, None] / ratios], -1))
        return np.concatenate(columns, 1).reshape(-1, 2)

    @staticmethod
    def sides(p: Any, sizes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """How many boxes along each axis FaceBoxes makes of one, by its width."""
        return np.where(sizes[:, 0] == 32, 4, np.where(sizes[:, 0] == 64, 2, 1))  # of whole numbers

    def rows(self) -> int:
        """How many boxes a cell has."""
        p = self.param.prior_box_param
        if p.faceboxes:
            most = 16 * self.boxes(p)
            self.need(most < 2**24, f"at most {most} boxes in a cell; faceboxes can have 2^24 - 1")
            return int((self.sides(p, self.box_sizes(p)) ** 2).sum())
        return self.boxes(p) * (2 if p.denser_prior_boxes else 1)

    @classmethod
    def dense(cls, p: Any, sizes: np.ndarray[Any, Any], step_x: float, step_y: float) -> np.ndarray[Any, Any]:
        """(rows, 4) float64: width, height and where the centre is in pixels along x and y, from the middle of the cell."""
        if p.fixed_size:
            return cls.fixed(p)
        if p.offset_w:
            x, y = np.meshgrid(np.float64(p.offset_w), np.float64(p.offset_h), indexing="ij")
            centres = np.stack([(x.ravel() - p.offset) * step_x, (y.ravel() - p.offset) * step_y], -1)
            return np.concatenate([np.tile(sizes, (len(centres), 1)), np.repeat(centres, len(sizes), 0)], -1)
        if p.faceboxes:
            sides = cls.sides(p, sizes)
            box = np.repeat(np.arange(len(sizes)), sides**2)
            count = sides[box]
            at = np.arange(len(box)) - np.repeat(np.cumsum(sides**2) - sides**2, sides**2)
            apart = np.where(count == 4, 8.0, 16.0)
            x, y = (apart * (one - count // 2) for one in (at % count, at // count))
            return np.stack([sizes[box, 0] - 1, sizes[box, 1] - 1, x, y], -1)
        none = np.zeros((len(sizes), 2))
        rows = np.concatenate([sizes, none], 1)[:, None]
        if p.denser_prior_boxes:
            lower = np.stack([none[:, 0], none[:, 1] + (1 - p.offset) * step_y], -1)
            rows = np.concatenate([rows, np.concatenate([sizes, lower], 1)[:, None]], 1)
        return rows.reshape(-1, 4)

    @classmethod
    def fixed(cls, p: Any) -> np.ndarray[Any, Any]:
        """`dense` of boxes of a fixed_size."""
        rows = []
        for size, density in zip(p.fixed_size, p.density):
            apart, whole = int(size / int(density)), int(size)
            ratios = np.sqrt(np.array(p.fixed_ratio or cls.ratios(p)[1:], np.float64))
            shapes = np.stack([size * ratios, size / ratios], -1)
            if not p.fixed_ratio:
                shapes = np.concatenate([[[whole, whole]], shapes])
            at = apart / 2 - whole // 2 + apart * np.arange(int(density))
            y, x = (grid.ravel() for grid in np.meshgrid(at, at, indexing="ij"))
            centres = np.tile(np.stack([x, y], -1), (len(shapes), 1))
            rows.append(np.concatenate([np.repeat(shapes, len(x), 0), centres], 1))
        return np.concatenate(rows)

    def pair(self, p: Any, vertical: str, horizontal: str, both: str) -> tuple[float, float] | None:
        """A size or step given for both directions by one field, or by two; None when not given."""
        if p.HasField(vertical) or p.HasField(horizontal):
            self.need(not p.HasField(both), f"give either {both} or {vertical} and {horizontal}, not all")
            two = getattr(p, vertical), getattr(p, horizontal)
        elif p.HasField(both):
            two = getattr(p, both), getattr(p, both)
        else:
            return None
        self.need(min(two) > 0, f"{vertical} and {horizontal} (or {both}) must both be positive, got {two}")
        return two

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        height, width = self.axes(bottom[0], 4, "bottom 0")[2:]
        image_height, image_width = self.image or self.axes(bottom[1], 4, "bottom 1")[2:]
        self.need(height * width > 0, f"bottom 0 has no cells: its shape is {bottom[0].shape}")
        self.need(image_height * image_width > 0, f"bottom 1, the image, is empty: its shape is {bottom[1].shape}")
        self.wanted = height, width, int(image_height), int(image_width)
        top[0].reshape(1, 2, height * width * self.count * 4)
        self.scratch("priors", top[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.priors_of != self.wanted:
            height, width, image_height, image_width = self.wanted
            step_y, step_x = self.step or (image_height / height, image_width / width)
            priors, half, p = self.room("priors"), top[0].count // 2, self.param.prior_box_param
            size = self.dense(p, self.box_sizes(p), step_x, step_y)
            cut = self.kernels.constants["ALL_EDGES" if p.clip else "OUTER_EDGES" if p.fixed_size else "NO_EDGES"]
            cells = self.kernels.struct(
                "Cells", sizes=self.count, columns=width, offset=p.offset, step_x=step_x, step_y=step_y,
                image_width=image_width, image_height=image_height, cut=cut,
            )  # fmt: skip
            self.kernels.prior_box_forward(
                half // 4, self.device.part(priors, 0, (half,)), self.device.part(priors, half, (half,)),
                self.device.table(size, self.dtype), self.variance, cells,
            )  # fmt: skip
            self.priors_of = self.wanted
        top[0].data[...] = self.room("priors")

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Constant()

    def allow_force_backward(self, index: int) -> bool:
        return False


class PriorBoxClustered(
    PriorBox, type="PriorBoxClustered", param="prior_box_param", bottoms=2, tops=1, traits=Trait.CONSTANT
):
    """Default boxes of given widths and heights around the centre of every cell of a feature map.

    As PriorBox, but a cell has one box of width w and height h, in pixels and not truncated, for each pair of `width` and
    `height`, in their order.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), a feature map. Only its size is read.
    bottom 1
        (N, C, IH, IW), the image. Only its size is read.
    prior_box_param
        `width` and `height`: as many of each, required. `clip` (false), `variance` (0.1), `img_size`, `step` and
        `offset` (0.5) as PriorBox has them.

    Returns
    -------
    top 0
        (1, 2, H * W * P * 4): boxes as fractions of the image, and their variances.

    Raises
    ------
    LayerError
        `width` or `height` is missing, not as many, or not above 0; fields of PriorBox that tell sizes; what PriorBox
        raises for the other fields.

    Source
    ------
    OpenVINO's training extensions; its operation PriorBoxClustered.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "PriorBoxClustered" prior_box_param { width: 16 height: 32 img_size: 64 }'
    >>> run_layer(text, [[[[0]]]], [[[[0]]]])[0, 0].tolist()
    [0.375, 0.25, 0.625, 0.75]
    """

    def check_sizes(self, p: Any) -> None:
        self.need(
            len(p.width) == len(p.height) > 0,
            f"needs as many height as width, 1 at least; got {len(p.height)} and {len(p.width)}",
        )
        self.need(
            min([*p.width, *p.height]) > 0,
            f"width and height must be positive, got {list(p.width)} and {list(p.height)}",
        )
        sizes = p.min_size or p.max_size or p.aspect_ratio or p.denser_prior_boxes or p.faceboxes or p.fixed_size
        self.need(
            not sizes,
            "min_size, max_size, aspect_ratio, denser_prior_boxes, faceboxes and fixed_size are of PriorBox; remove them",
        )

    @classmethod
    def boxes(cls, p: Any) -> int:
        return len(p.width)

    @classmethod
    def box_sizes(cls, p: Any) -> np.ndarray[Any, Any]:
        return np.stack([np.array(p.width, np.float64), np.array(p.height, np.float64)], -1)
