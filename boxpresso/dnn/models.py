"""cv2.dnn_DetectionModel and its kin: a net with its preprocessing, from an image to results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..proto.errors import BoxpressoError
from .blobs import Scalar, blobFromImage
from .errors import opencv_errors
from .net import ModelFile, Net, readNet

Numpy = np.ndarray[Any, Any]
FAR = float(2**31)  # pixels; a box that is not finite, or further out, counts as there


@opencv_errors
class Model:
    """A net and how images become its input.

    Parameters
    ----------
    model, config
        The weights and the prototxt, in any order; or a dnn.Net alone.
    """

    def __init__(self, model: ModelFile | Net, config: ModelFile = "") -> None:
        self.net = model if isinstance(model, Net) else readNet(model, config)
        self._scale: Scalar = 1.0
        self._mean: Scalar = ()
        self._size: Sequence[int] = (0, 0)
        self._swap = self._crop = False
        self._names: tuple[str, ...] = self.net.getUnconnectedOutLayersNames()
        shapes = self.net.inputs()
        if shapes:
            first = next(iter(shapes.values()))
            if len(first) == 4:
                self._size = first[3], first[2]

    def setInputSize(self, *size: Any, **named: Any) -> Model:
        """Sets the size of the input: `size`, (width, height), or the two numbers, `width` and `height`."""
        size += tuple(named[name] for name in ("size", "width", "height") if name in named)
        self._size = tuple(int(side) for side in ((size[0] or (0, 0)) if len(size) == 1 else size))
        return self

    def setInputMean(self, mean: Scalar) -> Model:
        """Sets what is subtracted, for each channel."""
        self._mean = mean
        return self

    def setInputScale(self, scale: Scalar) -> Model:
        """Sets what values are multiplied by."""
        self._scale = scale
        return self

    def setInputCrop(self, crop: bool) -> Model:
        """Sets whether images keep their proportions and are cropped."""
        self._crop = bool(crop)
        return self

    def setInputSwapRB(self, swapRB: bool) -> Model:
        """Sets whether the first and the third channel change places."""
        self._swap = bool(swapRB)
        return self

    def setInputParams(
        self,
        scale: Scalar = 1.0,
        size: Sequence[int] = (0, 0),
        mean: Scalar = (),
        swapRB: bool = False,
        crop: bool = False,
    ) -> None:
        """Sets all of them."""
        self.setInputSize(size).setInputMean(mean).setInputScale(scale).setInputCrop(crop).setInputSwapRB(swapRB)

    def setOutputNames(self, outNames: Sequence[str]) -> Model:
        """Sets the layers that `predict` returns."""
        self._names = tuple(outNames)
        return self

    def setPreferableBackend(self, backendId: int) -> Model:
        """As Net's."""
        self.net.setPreferableBackend(backendId)
        return self

    def setPreferableTarget(self, targetId: int) -> Model:
        """As Net's."""
        self.net.setPreferableTarget(targetId)
        return self

    def enableWinograd(self, useWinograd: bool) -> Model:
        """As Net's."""
        self.net.enableWinograd(useWinograd)
        return self

    def predict(self, frame: Numpy, outs: Any = None) -> tuple[Numpy, ...]:
        """The outputs of the net for an image; `outs` is not written to."""
        if min(self._size) <= 0:
            raise BoxpressoError("the size of the input is not known; call setInputSize or setInputParams")
        self.net.setInput(blobFromImage(frame, self._scale, self._size, self._mean, self._swap, self._crop))
        if "im_info" in self.net.inputs():  # Faster R-CNN, R-FCN: height, width, and the scale that OpenCV gives them
            self.net.setInput(np.array([[self._size[1], self._size[0], 1.6]], np.float32), "im_info")
        outputs: tuple[Numpy, ...] = self.net.forward(self._names)
        return outputs


@opencv_errors
class ClassificationModel(Model):
    """A net that classifies images."""

    def __init__(self, model: ModelFile | Net, config: ModelFile = "") -> None:
        super().__init__(model, config)
        self._softmax = False

    def setEnableSoftmaxPostProcessing(self, enable: bool) -> ClassificationModel:
        """Sets whether `classify` takes the softmax of all scores, for a net that ends before its Softmax."""
        self._softmax = bool(enable)
        return self

    def getEnableSoftmaxPostProcessing(self) -> bool:
        """What setEnableSoftmaxPostProcessing was told; False at first."""
        return self._softmax

    def classify(self, frame: Numpy) -> tuple[int, float]:
        """The class of the highest score, and the score."""
        outputs = self.predict(frame)
        if not outputs or not outputs[0].size:
            raise BoxpressoError("classify: the net gives no scores")
        scores = outputs[0].ravel()
        if self._softmax:
            powers = np.exp(scores - scores.max())
            scores = powers / powers.sum()
        label = int(scores.argmax())
        return label, float(scores[label])


@opencv_errors
class SegmentationModel(Model):
    """A net whose first output has a map of scores for each class.

    Examples
    --------
    >>> from .net import readNetFromCaffe
    >>> text = b'''input: "x" input_shape { dim: 1 dim: 3 dim: 1 dim: 2 }
    ...     layer { name: "s" type: "Power" bottom: "x" top: "s" }'''
    >>> SegmentationModel(readNetFromCaffe(text)).segment(np.array([[[9, 7, 8], [1, 2, 3]]], np.uint8))
    array([[0, 2]], dtype=uint8)
    """

    def segment(self, frame: Numpy, mask: Numpy | None = None) -> Numpy:
        """The class of the highest score at each place of the net's map, the first of equal ones: uint8 (height, width).

        Parameters
        ----------
        frame
            The image.
        mask
            An array to write the classes to, if it is uint8 and of the map's size.

        Raises
        ------
        BoxpressoError
            For a net whose first output is no map of a batch, (N, C, H, W).
        """
        outputs = self.predict(frame)
        if not outputs or outputs[0].ndim != 4:
            shape = outputs[0].shape if outputs else ()
            raise BoxpressoError(
                f"segment: the first output has the shape {shape}; it must be (1, classes, height, width)"
            )
        classes: Numpy = outputs[0][0].argmax(0).astype(np.uint8)
        if mask is None or mask.dtype != np.uint8 or mask.shape != classes.shape:
            return classes
        mask[...] = classes
        return mask


@opencv_errors
class KeypointsModel(Model):
    """A net that gives key points, as a map for each and a last one of the background, or as numbers.

    Examples
    --------
    >>> from .net import readNetFromCaffe
    >>> text = b'''input: "x" input_shape { dim: 1 dim: 3 dim: 2 dim: 2 }
    ...     layer { name: "s" type: "Power" bottom: "x" top: "s" }'''
    >>> model = KeypointsModel(readNetFromCaffe(text)).setInputScale(1 / 255)
    >>> model.estimate(np.array([[[0, 9, 0], [0, 9, 0]], [[200, 9, 0], [0, 9, 0]]], np.uint8).repeat(3, 1))
    array([[ 0.,  1.],
           [-1., -1.]], dtype=float32)
    """

    def estimate(self, frame: Numpy, thresh: float = 0.5) -> Numpy | tuple[()]:
        """The place of each key point, x and y in pixels of the image, float32 (N, 2); () for none.

        Of maps, (1, N + 1, H, W), the last one, the background's, is left out; a point is where its map is highest, the first
        of equal places, and (-1, -1) where that is not above `thresh`. An output (1, N, 2) holds the points
        themselves, and `thresh` has no effect.

        Raises
        ------
        BoxpressoError
            For a net with several outputs (setOutputNames chooses one), and for an output of another shape.
        """
        outputs = self.predict(frame)
        if len(outputs) != 1:
            raise BoxpressoError(
                f"estimate: the net has {len(outputs)} outputs, {list(self._names)}; setOutputNames chooses the points"
            )
        output = outputs[0]
        if output.ndim == 3 and output.shape[2] >= 2:
            points: Numpy = np.array(output[0, :, :2], np.float32)
        elif output.ndim == 4:
            height, width = output.shape[2:]
            maps = output[0, :-1].reshape(-1, height * width)
            at = maps.argmax(1)
            factors = np.array([frame.shape[1], frame.shape[0]], np.float32) / np.array([width, height], np.float32)
            points = np.stack([at % width, at // width], 1).astype(np.float32) * factors
            points[~(maps.max(1) > thresh)] = -1
        else:
            raise BoxpressoError(
                f"estimate: the output has the shape {output.shape}; it must be (1, N + 1, height, width) or (1, N, 2)"
            )
        return points if len(points) else ()


@opencv_errors
class DetectionModel(Model):
    """A net that ends with a DetectionOutput.

    Examples
    --------
    >>> model = DetectionModel("examples/shapes/shapes.caffemodel", "examples/shapes/deploy.prototxt")
    >>> from PIL import Image
    >>> scene = np.asarray(Image.open("examples/shapes/scene.png"))[:, :, ::-1]  # blue first, as cv2.imread
    >>> model.setInputSize(128, 128)  # doctest: +ELLIPSIS
    <boxpresso.dnn.models.DetectionModel object at ...>
    >>> class_ids, confidences, boxes = model.detect(scene, 0.5)
    >>> len(class_ids) == len(confidences) == len(boxes)
    True
    """

    def __init__(self, model: ModelFile | Net, config: ModelFile = "") -> None:
        super().__init__(model, config)
        self._across = False

    def setNmsAcrossClasses(self, value: bool) -> DetectionModel:
        """Is noted; as in OpenCV it has no effect on a net that ends with DetectionOutput."""
        self._across = bool(value)
        return self

    def getNmsAcrossClasses(self) -> bool:
        """What setNmsAcrossClasses was told."""
        return self._across

    def detect(self, frame: Numpy, confThreshold: float = 0.5, nmsThreshold: float = 0.0) -> tuple[Any, Any, Any]:
        """Detects objects in an image.

        Parameters
        ----------
        frame
            The image, blue first unless setInputSwapRB says otherwise.
        confThreshold
            Detections of a lower score are left out.
        nmsThreshold
            Has no effect, as in OpenCV: the net has suppressed already. `NMSBoxes` does so once more.

        Returns
        -------
        tuple
            Classes (int32), scores (float32) and boxes (N, 4), x, y, width and height in pixels of the image (int32); three
            empty tuples where nothing is found, as in OpenCV.

        Raises
        ------
        BoxpressoError
            For a net that ends with another layer.
        """
        if not self._names:
            raise BoxpressoError("detect: the net has no layers but its inputs")
        last = self.net.getLayer(self._names[-1])
        if last.type != "DetectionOutput":
            raise BoxpressoError(
                f'detect: Unknown output layer type: "{last.type}"; the net must end with DetectionOutput'
            )
        height, width = frame.shape[:2]
        rows = np.concatenate([output.reshape(-1, 7) for output in self.predict(frame)])
        rows = rows[rows[:, 2] >= np.float32(confThreshold)]
        boxes = np.array([whole_box(row[3:7], width, height) for row in rows], np.int32).reshape(-1, 4)
        classes, scores = rows[:, 1].astype(np.int32), rows[:, 2]
        return (classes, scores, boxes) if len(classes) else ((), (), ())


def whole_box(corners: Numpy, width: int, height: int) -> tuple[int, int, int, int]:
    """x, y, width and height in whole pixels of a box in pixels or, if it is 2 pixels or less, in fractions of the image."""
    corners = np.nan_to_num(corners.astype(np.float64), posinf=FAR, neginf=-FAR).clip(-FAR, FAR)
    left, top, right, bottom = (int(value) for value in corners)
    if right - left + 1 <= 2 or bottom - top + 1 <= 2:
        left, right = int(np.float32(corners[0]) * np.float32(width)), int(np.float32(corners[2]) * np.float32(width))
        top, bottom = int(np.float32(corners[1]) * np.float32(height)), int(np.float32(corners[3]) * np.float32(height))
    wide, high = right - left + 1, bottom - top + 1
    left, top = max(0, min(left, width - 1)), max(0, min(top, height - 1))
    return left, top, max(1, min(wide, width - left)), max(1, min(high, height - top))
