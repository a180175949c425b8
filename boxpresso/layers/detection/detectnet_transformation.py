"""DetectNetTransformation: augments images and turns their boxes into maps of coverage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data.detectnet import BOX, Change, change_boxes, change_image, coverage, cubic, draw_change, grid_of
from ...device import Blob
from ...proto.binary import read_mean
from ...proto.errors import ModelError
from ..core import Layer


class DetectNetTransformation(
    Layer,
    type="DetectNetTransformation",
    param=("detectnet_groundtruth_param", "detectnet_augmentation_param", "transform_param"),
    bottoms=2,
    tops=2,
):
    """Augments images and turns the boxes on them into maps: of each cell whether it lies on an object, and its corners.

    In TRAIN, each by its probability: the hue is turned, the colours are weakened, the image is mirrored, resized, turned
    and cut at random. In TEST it is resized to the size of the output. The mean is subtracted before all but the colours. A
    box covers the cells of its middle, `scale_cvg` of its width and height; of two that cover a cell, the later
    counts. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, 3, H, W), images, blue, green, red from 0 to 255.
    bottom 1
        (N, 1, R, 16), labels: in the first row the number of boxes and 16, then a row for each: x, y, width, height, angle,
        class, scenario, rotation, truncated, occluded, and seven numbers in space.
    detectnet_groundtruth_param
        `image_size_x` (1248), `image_size_y` (384): of the output. `stride` (4): pixels between two cells. `scale_cvg`
        (0.5). `gridbox_type`: GRIDBOX_MAX covers at most `max_cvg_len` (50) pixels, GRIDBOX_MIN at least `min_cvg_len`
        (50). `obj_norm` (false): let the norm be less than 1. `crop_bboxes` (true). `object_class`: any number of
        { src: class in the labels dst: number of its map }; without, class 1 is map 0.
    detectnet_augmentation_param
        `crop_prob` (1), `shift_x`, `shift_y` (0): pixels by which a crop may leave the image; `scale_prob` (0.33),
        `scale_min` (0.7), `scale_max` (1); `flip_prob` (0.33); `rotation_prob` (0.33), `max_rotate_degree` (1);
        `hue_rotation_prob` (0.33), `hue_rotation` (15); `desaturation_prob` (0.33), `desaturation_max` (0.5).
    transform_param
        `mean_value`, or `mean_file`, which is resized to the images.

    Returns
    -------
    top 0
        (N, 3, image_size_y, image_size_x), the images.
    top 1
        (N, 8 + classes, image_size_y / stride, image_size_x / stride): foreground; left, top, right, bottom of the box
        from the cell's corner; 1 / width, 1 / height; the norm, stride^2 / covered pixels; then one map for each class.

    Raises
    ------
    LayerError
        For images without three channels, numbers of images and labels that differ, labels that are none, or parameters
        that do not fit.

    Source
    ------
    NVIDIA's Caffe.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> labels = np.zeros((1, 1, 2, 16))
    >>> labels[0, 0, 0, :2], labels[0, 0, 1, :6] = (1, 16), (8, 8, 16, 16, 0, 1)
    >>> text = '''type: "DetectNetTransformation" detectnet_groundtruth_param { image_size_x: 32 image_size_y: 32 stride: 8 }'''
    >>> _, maps = run_layer(text, np.zeros((1, 3, 32, 32)), labels, tops=2)
    >>> maps.shape, maps[0, 0].astype(int).tolist()
    ((1, 9, 4, 4), [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]])
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p, t = self.param.detectnet_groundtruth_param, self.param.transform_param
        self.need(p.stride > 0 < p.image_size_x and p.image_size_y > 0, "stride and the sizes must be 1 or more")
        self.need(len(t.mean_value) in (0, 1, 3), f"give mean_value once or three times, got {len(t.mean_value)}")
        self.need(not t.mean_file or not t.mean_value, "give mean_file or mean_value, not both")
        self.need(all(m.dst < 1000 for m in p.object_class), "object_class: dst must be below 1000")
        self.grid = grid_of(p)
        self.need(min(self.grid) > 0, f"a stride of {p.stride} leaves no cell of {p.image_size_x}x{p.image_size_y}")
        self.mean = np.broadcast_to(np.array(list(t.mean_value) or [0], np.float32), 3)
        if t.mean_file:
            try:
                mean = read_mean(t.mean_file)
            except ModelError as error:
                self.need(False, str(error))
            self.need(mean.shape[0] == 3, f"{t.mean_file} is a mean of {mean.shape[0]} channels, images have 3")
            self.mean = mean.reshape(3, *mean.shape[1:]).transpose(1, 2, 0) if mean.ndim == 3 else mean.ravel()

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.detectnet_groundtruth_param
        shape = self.axes(bottom[0], 4, "bottom 0, the images,")
        self.need(shape[1] == 3, f"bottom 0, the images, must have 3 channels, got {shape}")
        self.need(min(shape[2:]) > 0, f"bottom 0, the images, have no pixels, got {shape}")
        labels = bottom[1].shape
        self.need(labels[:1] == shape[:1], f"has {shape[0]} images, and labels of the shape {labels}")
        count = bottom[1].count // max(shape[0], 1)
        self.need(count >= BOX and count % BOX == 0, f"bottom 1, the labels, must have rows of {BOX}, got {labels}")
        top[0].reshape(shape[0], 3, p.image_size_y, p.image_size_x)
        top[1].reshape(shape[0], *self.grid)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, rng = self.param.detectnet_groundtruth_param, self.draws()
        images, labels = (np.array(blob.data) for blob in bottom)
        wanted = (p.image_size_x, p.image_size_y)
        (height, width), mean = images.shape[2:], self.mean
        if mean.ndim == 3:
            mean = cubic(mean.astype(np.float32), width, height)
        shown, maps = np.zeros(top[0].shape, np.float32), np.zeros(top[1].shape, np.float32)
        for i, image in enumerate(images):
            rows = self.rows(labels[i].reshape(-1, BOX), i)
            change = Change(0, 1, False, wanted, 0, (0, 0))
            if self.phase == "TRAIN":
                change = draw_change(self.param.detectnet_augmentation_param, width, height, wanted, rng)
            shown[i] = change_image(image.transpose(1, 2, 0), change, mean, wanted).transpose(2, 0, 1)
            maps[i] = coverage(rows, change_boxes(rows[:, :4], change, width, height), p)
        top[0].data[...], top[1].data[...] = shown, maps

    def rows(self, table: np.ndarray, image: int) -> np.ndarray:
        """The labels of one image, without the row that counts them."""
        count, length = table[0, :2]
        self.need(
            length == BOX, f"the labels of image {image} say that a row has {length:g} numbers, it must have {BOX}"
        )
        fits = 0 <= count <= len(table) - 1 and count == int(count)
        self.need(fits, f"the labels of image {image} say {count:g} boxes, there are {len(table) - 1} rows")
        rows = table[1 : 1 + int(count)]
        self.need(np.isfinite(rows[:, :6]).all(), f"the labels of image {image} are not all numbers")
        return rows

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """There is none."""
