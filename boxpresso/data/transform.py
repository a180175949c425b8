"""Caffe's data transformer with SSD's additions: from a picture and its boxes to the numbers that a net takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..proto.binary import read_mean
from ..proto.unread import other_values
from . import augment
from .boxes import mirror, project
from .errors import DataError

OTHERS = (  # fields of forks that change the input of a net, and that are not supported
    "scale_factors", "random_resize_param", "random_aspect_ratio_param", "random_90_deg_rot", "vertical_mirror", "flow",
    "is_flow", "multi_scale", "caffe_yolo", "enable_classf_aug", "center_crop", "erase_ratio", "contrast_brightness_adjustment",
    "smooth_filtering", "max_rotation_angle", "add_noise", "bgr2rgb", "cvt_bgr2rgb", "img_rand_resize_lower",
    "rand_resize_ratio_lower", "original_image", "fix_crop", "short_edge", "upper_size", "pad", "min_side", "crop_width",
    "crop_height", "img_rand_resize_upper", "rand_resize_ratio_upper",
)  # fmt: skip


class Transform:
    """From a picture (H, W, C) and its boxes to the values (C, H, W) of a net's input, as a TransformationParameter asks.

    In order: resize_param, noise_param, a crop (crop_size, or crop_h and crop_w: at random in TRAIN, central in TEST), mirror,
    then (value - mean) * scale. The mean is mean_file, of the size before the crop, or mean_value. `distort_expand` is what
    AnnotatedData does before its batch samplers. Everything random comes from the generator that is passed.

    Raises
    ------
    DataError: parameters that contradict each other or that only a fork knows.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.proto import TransformationParameter
    >>> transform = Transform(TransformationParameter(crop_size=2, mean_value=[10], scale=0.5), "TEST")
    >>> picture = np.full((4, 4, 1), 30, np.uint8)
    >>> transform(picture, np.random.default_rng(0))[0].tolist()
    [[[10.0, 10.0], [10.0, 10.0]]]
    """

    def __init__(self, param: Any, phase: str) -> None:
        self.param, self.train = param, phase == "TRAIN"
        unknown = [name for name, _ in other_values(param, OTHERS)]
        if unknown:
            raise DataError(f"transform_param: {', '.join(unknown)} is of a fork of Caffe and not supported")
        if param.force_color and param.force_gray:
            raise DataError("transform_param: give force_color or force_gray, not both")
        self.color = True if param.force_color else False if param.force_gray else None
        if param.HasField("mean_file") and param.mean_value:
            raise DataError("transform_param: give mean_file or mean_value, not both")
        if param.crop_size and (param.crop_h or param.crop_w):
            raise DataError("transform_param: give crop_size, or crop_h and crop_w")
        if bool(param.crop_h) != bool(param.crop_w):
            raise DataError("transform_param: crop_h and crop_w go together")
        self.crop = (param.crop_h or param.crop_size, param.crop_w or param.crop_size)
        if len(param.resize_param) > 1 or len(param.noise_param) > 1:
            raise DataError("transform_param: give resize_param and noise_param once each")
        self.resize = param.resize_param[0] if param.resize_param else None
        if self.resize is not None and not (self.resize.height and self.resize.width):
            raise DataError("resize_param: give height and width")
        self.noise = param.noise_param[0] if param.noise_param else None
        if self.noise is not None:
            augment.check_noise(self.noise)
        if param.HasField("distort_param"):
            augment.check_distort(param.distort_param)
        if param.HasField("expand_param") and param.expand_param.max_expand_ratio < 1:
            raise DataError(
                f"expand_param: max_expand_ratio must be 1 or more, got {param.expand_param.max_expand_ratio}"
            )
        self._mean: np.ndarray | None = None

    def shape(self, channels: int | None = None) -> tuple[int, int, int] | None:
        """(C, H, W) of its output where the parameters alone tell, else None."""
        p = self.param
        if channels is None:
            channels = (
                3 if p.force_color else 1 if p.force_gray else len(p.mean_value) if len(p.mean_value) > 1 else None
            )
        height, width = self.crop
        fixed = (
            self.resize is not None and self.resize.prob >= 1 and self.resize.resize_mode != self.resize.FIT_SMALL_SIZE
        )
        if not height and fixed and self.resize is not None:
            height, width = self.resize.height, self.resize.width
        return (channels, height, width) if channels and height else None

    def mean(self, channels: int) -> np.ndarray | None:
        """What is subtracted: (channels, 1, 1) or (channels, H, W), float32, or None."""
        p = self.param
        if self._mean is None and p.HasField("mean_file"):
            self._mean = read_mean(p.mean_file)
            if self._mean.ndim == 1:
                self._mean = self._mean[:, None, None]
        elif self._mean is None and p.mean_value:
            if len(p.mean_value) not in (1, channels):
                raise DataError(
                    f"transform_param: give mean_value once, or for each of the {channels} channels; got {len(p.mean_value)}"
                )
            return np.broadcast_to(np.array(p.mean_value, np.float32)[:, None, None], (channels, 1, 1))
        if self._mean is not None and self._mean.shape[0] != channels:
            raise DataError(f"{p.mean_file} is a mean of {self._mean.shape[0]} channels, the picture has {channels}")
        return self._mean

    def distort_expand(
        self, picture: np.ndarray, boxes: np.ndarray, rng: np.random.Generator
    ) -> tuple[augment.Canvas, np.ndarray]:
        """distort_param and expand_param, for a picture (H, W, C) and its boxes (N, 7)."""
        p, channels = self.param, picture.shape[2]
        mean = self.mean(channels) if p.HasField("expand_param") else None
        colour = np.zeros(1, np.float32) if mean is None else mean.mean((1, 2))
        canvas = augment.Canvas(picture, (picture.shape[0], picture.shape[1]), colour)
        if p.HasField("distort_param"):
            canvas.change = augment.distortion(channels, p.distort_param, rng)
        if p.HasField("expand_param"):
            boxes = project(boxes, augment.expand(canvas, p.expand_param, rng), self.emit)
        return canvas, boxes

    @property
    def emit(self) -> Any:
        return self.param.emit_constraint if self.param.HasField("emit_constraint") else None

    def cut(self, canvas: augment.Canvas, boxes: np.ndarray, crop: np.ndarray) -> tuple[augment.Canvas, np.ndarray]:
        """A crop (xmin, ymin, xmax, ymax, as fractions) of a canvas, at whole pixels, one at least; and its boxes."""
        rows, columns = canvas.shape
        inside = np.clip(crop, 0, 1)
        x0, y0 = min(int(inside[0] * columns), columns - 1), min(int(inside[1] * rows), rows - 1)
        width = max(1, min(int((inside[2] - inside[0]) * columns), columns - x0))
        height = max(1, min(int((inside[3] - inside[1]) * rows), rows - y0))
        exact = [x0 / columns, y0 / rows, (x0 + width) / columns, (y0 + height) / rows]
        return canvas.part(y0, x0, height, width), project(boxes, np.array(exact, np.float32), self.emit)

    def __call__(
        self, picture: np.ndarray | augment.Canvas, rng: np.random.Generator, boxes: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values (C, H, W), float32, and the boxes (M, 7) that are left, from a picture (H, W, C) or a canvas, and its boxes
        (N, 7).
        """
        p = self.param
        left = np.zeros((0, 7), np.float32) if boxes is None else boxes
        r = self.resize
        canvas = picture if isinstance(picture, augment.Canvas) else augment.Canvas.of(picture)
        if r is not None and (r.prob >= 1 or rng.random() < r.prob):
            picture, frame = augment.fit(canvas, r, rng)
            left = project(left, frame)
        else:
            picture = canvas.pixels()
        if self.noise is not None:
            picture = augment.noise(picture, self.noise, rng)
        rows, columns, channels = picture.shape
        mean = self.mean(channels)
        height, width = self.crop
        top = side = 0
        frame = np.array([0, 0, 1, 1], np.float32)
        if height:
            if height > rows or width > columns:
                raise DataError(f"a crop of {width}x{height} does not fit into a picture of {columns}x{rows}")
            if self.train:
                top, side = int(rng.integers(rows - height + 1)), int(rng.integers(columns - width + 1))
            else:
                top, side = (rows - height) // 2, (columns - width) // 2
            picture = picture[top : top + height, side : side + width]
            frame = np.array([side / columns, top / rows, (side + width) / columns, (top + height) / rows], np.float32)
        left = project(left, frame, self.emit)  # without a crop, too, boxes end at the picture's edge
        values = np.array(picture.transpose(2, 0, 1), np.float32, order="C")
        if mean is not None:
            if mean.shape[1:] not in ((1, 1), (rows, columns)):
                raise DataError(
                    f"the mean {p.mean_file} is {mean.shape[2]}x{mean.shape[1]}, the picture {columns}x{rows}"
                )
            if mean.shape[1:] != (1, 1):
                mean = mean[:, top : top + picture.shape[0], side : side + picture.shape[1]]
            values -= mean
        if p.scale != 1:
            values *= np.float32(p.scale)
        if p.mirror and rng.integers(2):
            values, left = np.ascontiguousarray(values[..., ::-1]), mirror(left)
        return values, left
