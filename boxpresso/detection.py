"""From a picture to detections.

    detector = Detector("deploy.prototxt", "weights.caffemodel", labels="names.txt")
    for found in detector("street.jpg"):
        print(found.class_name, found.score, found.box)

A Detector is built once for a net, or for the nets of a cascade: it recognises the decoder that reads their outputs (see
`boxpresso.decoders`), and holds the preparation of pictures, the names of classes and the thresholds. `detect` is the same for
one picture of one net.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from inspect import signature
from itertools import islice
from typing import Any, NoReturn, Union

import numpy as np
from PIL.Image import Image as PillowImage

from .data.image import as_pixels
from .data.sources import expand, read
from .data.video import is_video
from .decoders import HOMES, named, unrecognised
from .decoders import recognise as recognised
from .decoders.base import Decoder, Settings
from .decoders.base import picture_input as input_of
from .decoders.detections import DetailedDetection, Detection, Detections, RotatedDetection
from .decoders.files import open_nets
from .decoders.known_models import Recognition
from .decoders.known_models import recognise as recognise_model
from .decoders.pool import DecoderPool
from .decoders.rcnn import FasterRcnn
from .decoders.ssd import RowsDecoder, Ssd
from .decoders.yolo import Yolo
from .explanation import known_names, known_settings
from .image import ImageLike, Mean, input_array, read_image
from .labels import read_labels
from .net import Net
from .proto.errors import BoxpressoError, BoxpressoWarning, ModelError, nearest
from .proto.reading import FilePath

__all__ = [
    "DetailedDetection", "Detection", "Detections", "Detector", "RotatedDetection", "Settings", "classes", "detect",
    "no_detections", "picture_input", "recognise", "run",
]  # fmt: skip

Numpy = np.ndarray[Any, Any]
Labels = Union[Mapping[int, str], Sequence[str], FilePath, None]
ROWS = (*Ssd.TYPES, *Yolo.TYPES)
UNSOUND: Any = {
    "invalid": "ignore",
    "over": "ignore",
    "divide": "ignore",
}  # what `checked` says of weights that are no good


class Detector:
    """Finds objects in pictures with one net, or with the nets of a cascade.

    Parameters
    ----------
    model
        A Net; the path of a prototxt; the folder of a cascade's files; a list of Nets or of prototxts; or the name of a public
        model, such as "ultralight-face" (`boxpresso models --get`), which is fetched once.
    weights
        The path of a .caffemodel or .h5, or for several prototxts one for each; nothing for Nets, a folder and a name.
    decoder
        The name of the decoder, such as "yolo" or "mtcnn"; by default it is recognised.
    labels
        Names of the classes: {label: name}, a list that begins with label 0, or a file for `labels.read_labels`.
    device, precision, fast_math, reproducible
        As for Net; a Net that is given has its own.
    clip
        Whether upright boxes are clipped to the picture, and those that lie outside it left out.
    threads
        How many threads may be in it at once; others wait. Each has nets of its own over the same weights, made when they are
        first needed; a GPU is used by one at a time.
    mean, scale, swap_rb, size, threshold, overlap, anchors
        As in `Settings`, in place of the decoder's own.

    Attributes
    ----------
    decoder
        The Decoder.
    settings
        The Settings in use; `threshold` and `overlap` can also be given to each call.
    recognition
        The known public model that the net is, by its layers, or None: its mean, scale and order of channels are taken where
        no settings are given, and its labels.
    names
        {class_id: class_name}.

    Raises
    ------
    TypeError
        For a keyword that there is not; it says the nearest.
    ModelError
        For files that cannot be read, and for nets that no decoder reads: the message has the outputs' shapes, the nearest
        decoders and what each misses.

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
    ...     layer { name: "box" type: "DummyData" top: "box" dummy_data_param { shape { dim: 1 dim: 4 } } }
    ...     layer { name: "score" type: "DummyData" top: "score" dummy_data_param { shape { dim: 1 dim: 2 }
    ...             data_filler { value: 0.75 } } }
    ...     layer { name: "prior" type: "DummyData" top: "prior" dummy_data_param { shape { dim: 1 dim: 2 dim: 4 }
    ...             data_filler { value: 0.5 } } }
    ...     layer { name: "out" type: "DetectionOutput" bottom: "box" bottom: "score" bottom: "prior" top: "out"
    ...             detection_output_param { num_classes: 2 keep_top_k: 1 nms_param { top_k: 1 } } }
    ...     layer { name: "end" type: "Silence" bottom: "data" }'''), device="cpu")
    >>> detector = Detector(net, labels={1: "dot"})
    >>> detector.decoder.NAME, detector(np.zeros((20, 40, 3), np.uint8))[0].class_name
    ('ssd', 'dot')
    >>> detector(np.zeros((20, 40, 3), np.uint8), threshold=0.8)
    Detections(0)
    """

    def __init__(
        self,
        model: Net | FilePath | Sequence[Net | FilePath],
        weights: FilePath | Sequence[FilePath] | None = None,
        *,
        decoder: str | None = None,
        labels: Labels = None,
        device: str | None = None,
        precision: str | None = None,
        fast_math: bool = False,
        reproducible: bool = False,
        clip: bool = True,
        threads: int = 4,
        mean: Mean = None,
        scale: float | None = None,
        swap_rb: bool | None = None,
        size: tuple[int, int] | None = None,
        threshold: float | None = None,
        overlap: float | None = None,
        anchors: Sequence[float] | None = None,
        **misspelt: NoReturn,
    ) -> None:
        refuse(misspelt, Detector.__init__)
        made = [model] if isinstance(model, Net) else [] if isinstance(model, (str, os.PathLike)) else list(model)
        if (precision is not None or fast_math or reproducible) and any(isinstance(net, Net) for net in made):
            raise ModelError("precision, fast_math and reproducible are chosen when a net is made: give them to Net")
        options = {"precision": precision, "fast_math": fast_math, "reproducible": reproducible}
        nets = open_nets(model, weights, device=device, **options)
        self.recognition = recognise_model(nets[0]) if len(nets) == 1 else None
        self.decoder = choose(nets, decoder, self.recognition)
        self.clip = clip
        settings = {
            "mean": mean, "scale": scale, "swap_rb": swap_rb, "size": size, "threshold": threshold, "overlap": overlap,
            "anchors": None if anchors is None else tuple(anchors),
        }  # fmt: skip
        self.given: Mapping[str, Any] = {name: value for name, value in settings.items() if value is not None}
        known = known_settings(self.recognition, self.decoder)
        self.settings = self.decoder.settings.given(**known).given(**self.given)
        self.names: Mapping[int, str] = {**self.decoder.names, **known_names(self.recognition, self.decoder)}
        if labels is not None:
            self.names = names_of(labels, self.decoder.classes)
        self.pool = DecoderPool(self.decoder, threads)

    def __call__(
        self,
        picture: ImageLike,
        *,
        threshold: float | None = None,
        overlap: float | None = None,
        classes: Sequence[int | str] | int | str | None = None,
        **misspelt: NoReturn,
    ) -> Detections:
        """The detections of a picture, best first. It may be called in several threads at once.

        Parameters
        ----------
        picture
            A path, an address, bytes, an open file, a Pillow image, an array or a tensor, as for `image.as_image`.
        threshold, overlap
            In place of the settings', for this call.
        classes
            Only these, or this one, by class_id or class_name.

        Raises
        ------
        BoxpressoError
            When the picture cannot be read, and for a folder or a video, which `each` takes.
        """
        refuse(misspelt, Detector.__call__)
        if isinstance(picture, (list, tuple)):
            raise BoxpressoError("several pictures go to batch(pictures), or one after another to each(pictures)")
        if isinstance(picture, (str, os.PathLike)) and (os.path.isdir(picture) or is_video(os.fspath(picture))):
            raise BoxpressoError(f"{os.fspath(picture)} holds several pictures: for detections in detector.each(...)")
        settings = self.changed(threshold, overlap)
        array = as_pixels(picture)
        with self.pool.borrow() as decoder, np.errstate(**UNSOUND):
            detections = decoder.detect(array, settings)
        return self._finish(detections, array, picture, classes)

    def batch(
        self,
        pictures: Sequence[ImageLike],
        *,
        threshold: float | None = None,
        overlap: float | None = None,
        classes: Sequence[int | str] | int | str | None = None,
        **misspelt: NoReturn,
    ) -> list[Detections]:
        """The detections of several pictures, in one pass of the net where it takes them so; see `__call__`."""
        refuse(misspelt, Detector.batch)
        if isinstance(pictures, (str, os.PathLike)) or is_one(pictures):
            raise BoxpressoError("one picture goes to detector(picture); batch takes several")
        settings = self.changed(threshold, overlap)
        arrays = [as_pixels(picture) for picture in pictures]
        if not arrays:
            return []
        with self.pool.borrow() as decoder, np.errstate(**UNSOUND):
            results = decoder.batch(arrays, settings)
        triples = zip(results, arrays, pictures, strict=True)
        return [self._finish(detections, array, picture, classes) for detections, array, picture in triples]

    def each(
        self,
        source: FilePath | int | Iterable[ImageLike],
        *,
        batch: int = 1,
        every: int = 1,
        threshold: float | None = None,
        overlap: float | None = None,
        classes: Sequence[int | str] | int | str | None = None,
        **misspelt: NoReturn,
    ) -> Iterator[Detections]:
        """The detections of many pictures, one after another, in memory that does not grow.

        Parameters
        ----------
        source
            A folder; a pattern such as "img/*.jpg"; a video; the number of a camera; or anything that gives pictures.
        batch
            How many pictures go through the net at once.
        every
            Of a video take each Nth frame only.
        threshold, overlap, classes
            As for `__call__`.

        Yields
        ------
        Detections
            Whose `image` is the picture's path, or the frame.

        Raises
        ------
        BoxpressoError
            At the first picture that cannot be read.

        Examples
        --------
        >>> for found in detector.each("photos"):  # doctest: +SKIP
        ...     print(found.image, len(found))
        """
        refuse(misspelt, Detector.each)
        if every < 1:
            raise BoxpressoError(f"every must be 1 for each frame, 2 for each second, and so on, got {every}")
        if is_one(source):
            raise BoxpressoError("one picture goes to detector(picture); each takes several, or where they are")
        settings: dict[str, Any] = {"threshold": threshold, "overlap": overlap, "classes": classes}
        source = str(source) if isinstance(source, int) else source
        pictures = frames_of(source, every) if isinstance(source, (str, os.PathLike)) else iter(source)
        while group := list(islice(pictures, max(1, batch))):
            yield from self.batch(group, **settings)

    def changed(self, threshold: float | None = None, overlap: float | None = None) -> Settings:
        """The settings with others for one call. Raises BoxpressoError for an overlap where nothing suppresses."""
        if overlap is not None and not self.decoder.suppresses:
            raise BoxpressoError(
                f"overlap cannot be set: the decoder {self.decoder.NAME} suppresses nothing by overlap"
            )
        return self.settings.given(threshold=threshold, overlap=overlap)

    def _finish(
        self, detections: Detections, pixels: Numpy, picture: ImageLike, classes: Sequence[int | str] | int | str | None
    ) -> Detections:
        """Checked detections of the classes, with the picture that they are of."""
        original = pixels if hasattr(picture, "read") else picture  # a file has been read to its end
        finished = replace(self.checked(detections, pixels), image=original)
        return finished if classes is None else finished.filter(labels=classes)

    def checked(self, detections: Detections, picture: Numpy) -> Detections:
        """Detections with names, best first, clipped to the picture, without those that are not finite; a warning says how
        many these are."""
        whole = detections.finite()
        if len(whole) < len(detections):
            left_out = len(detections) - len(whole)
            message = f"{left_out} of {len(detections)} detections have no finite box and are left out: are the weights sound?"
            warnings.warn(message, BoxpressoWarning, stacklevel=3)
        if self.clip:
            whole = whole.clipped(*picture.shape[1::-1])
        return replace(whole.sorted(), names={**detections.names, **self.names})

    def describe(self) -> str:
        """The decoder and how pictures are prepared, in a line."""
        return f"{self.decoder.NAME}: {self.settings.describe()}, from a score of {self.settings.threshold:g} on"

    def __repr__(self) -> str:
        return f"Detector({self.describe()})"


def refuse(misspelt: Mapping[str, object], function: Callable[..., Any]) -> None:
    """Raises TypeError for keywords that a function does not have, with the nearest that it has."""
    for name in misspelt:
        known = [each.name for each in signature(function).parameters.values() if each.kind is each.KEYWORD_ONLY]
        called = function.__qualname__.removesuffix(".__init__").removesuffix(".__call__")
        raise TypeError(f"{called}() has no argument {name!r}{nearest(name, known)}; it has {', '.join(known)}")


def is_one(source: Any) -> bool:
    """Whether this is a picture by itself, whose rows, lines or bytes would be taken for pictures; no path.

    >>> is_one(np.zeros((20, 30, 3), np.uint8)), is_one(np.zeros((2, 20, 30, 3), np.uint8)), is_one(b"")
    (True, False, True)
    """
    if isinstance(source, (bytes, bytearray, memoryview, PillowImage)) or hasattr(source, "read"):
        return True
    shape = tuple(getattr(source, "shape", ()))
    first = hasattr(source, "detach") and shape[:1] in ((1,), (3,), (4,))  # a tensor with its channels first
    return len(shape) == 2 or (len(shape) == 3 and (first or shape[2] in (1, 3, 4)))


def frames_of(source: FilePath, every: int = 1) -> Iterator[ImageLike]:
    """The pictures of a folder, a pattern, a video or a camera: paths of pictures, and frames of videos.

    Raises BoxpressoError for a source without pictures, and at a frame that cannot be read.
    """
    for one in expand([os.fspath(source)]):
        if one.kind == "picture":
            yield one.path
            continue
        for item in read([one], read_image, every=every):
            if item.error is not None:
                raise item.error
            yield item.picture


def choose(nets: Sequence[Net], name: str | None = None, known: Recognition | None = None) -> Decoder:
    """The decoder of a name, or else the one that the nets are recognised by, or that of the known model that they are.

    Raises ModelError where there is none; the message has the outputs' shapes and the nearest decoders.
    """
    if name is not None:
        try:
            return named(name).build(nets)
        except ModelError as error:
            raise UnrecognisedError(str(error)) from error
    decoder = recognised(nets)
    if decoder is None and known is not None and known.model.decoder in HOMES:
        with suppress(ModelError):
            decoder = named(known.model.decoder).build(nets)
    if decoder is None:
        model = f"it is {known.model.title} ({known.evidence()}), {known.model.family}\n" if known else ""
        raise UnrecognisedError(model + unrecognised(nets))
    return decoder


class UnrecognisedError(ModelError):
    """No decoder reads the outputs of the nets."""


def names_of(labels: Labels, classes: int | None = None) -> dict[int, str]:
    """{label: name} of a mapping, of a list that begins with label 0, or of a file."""
    if isinstance(labels, (str, os.PathLike)):
        return read_labels(labels, classes)
    if isinstance(labels, Mapping):
        return {int(label): str(name) for label, name in labels.items()}
    return {label: str(name) for label, name in enumerate(() if labels is None else labels) if name}


def recognise(net: Net) -> Decoder | None:
    """The decoder of a net's detections, or None for a net that gives no boxes."""
    decoder = recognised([net])
    return decoder if decoder is not None and decoder.KIND == "boxes" else None


def detect(
    net: Net,
    image: ImageLike,
    *,
    mean: Mean = None,
    scale: float | None = None,
    swap_rb: bool | None = None,
    size: tuple[int, int] | None = None,
    threshold: float | None = None,
    labels: Labels = None,
    clip: bool = True,
    **misspelt: NoReturn,
) -> list[Detection]:
    """Detects objects in a picture. For several pictures build a `Detector` once.

    Nets of the R-CNN family by default get 102.9801, 115.9465, 122.7717 as mean, and pictures whose shortest side is 600
    pixels, or less so that the longest is at most 1000; in each class a better detection suppresses those that it overlaps
    by 0.3.

    Parameters
    ----------
    net
        A Net of a deploy.prototxt, with weights.
    image
        A path, a Pillow image, or a uint8 array (H, W) or (H, W, 3) in RGB order (OpenCV's is BGR: pass
        `array[..., ::-1]`).
    mean, scale, swap_rb
        The input is (pixel - mean) * scale in Caffe's order, blue, green, red; see `image.input_array`. By default those of a
        well-known public model (`boxpresso models`), else what the decoder says; for SSD no mean and a scale of 1.
    size
        (width, height) to which the picture, and the net, are resized; by default the net's input stays as it is.
    threshold
        The lowest score; by default the decoder's, mostly 0.5.
    labels
        Names of the classes, as for `Detector`.
    clip
        Whether boxes are clipped to the picture, as for `Detector`.

    Returns
    -------
    list of Detection
        Best first.

    Raises
    ------
    ModelError
        When the net has no detections, or its inputs are not a single picture.
    BoxpressoError
        When the picture cannot be read.

    Source
    ------
    The demos of SSD, py-faster-rcnn, R-FCN, PVANET and RRPN.

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
    ...     layer { name: "box" type: "DummyData" top: "box" dummy_data_param { shape { dim: 1 dim: 4 } } }
    ...     layer { name: "score" type: "DummyData" top: "score" dummy_data_param { shape { dim: 1 dim: 2 }
    ...             data_filler { value: 0.75 } } }
    ...     layer { name: "prior" type: "DummyData" top: "prior" dummy_data_param { shape { dim: 1 dim: 2 dim: 4 }
    ...             data_filler { value: 0.5 } } }
    ...     layer { name: "out" type: "DetectionOutput" bottom: "box" bottom: "score" bottom: "prior" top: "out"
    ...             detection_output_param { num_classes: 2 keep_top_k: 1 nms_param { top_k: 1 } } }
    ...     layer { name: "end" type: "Silence" bottom: "data" }'''), device="cpu")
    >>> detect(net, np.zeros((20, 40, 3), np.uint8))
    [Detection(class_id=1, score=0.75, box=(20.0, 10.0, 20.0, 10.0))]
    """
    refuse(misspelt, detect)
    if recognised([net]) is None:
        raise UnrecognisedError(f"{no_detections(net)}; its outputs are: {', '.join(net.outputs) or 'none'}")
    detector = Detector(
        net, mean=mean, scale=scale, swap_rb=swap_rb, size=size, threshold=threshold, labels=labels, clip=clip
    )
    if labels is None:
        detector.names = dict(detector.decoder.names)
    return list(detector(image))


def run(
    net: Net,
    image: ImageLike,
    *,
    mean: Mean = None,
    scale: float | None = None,
    swap_rb: bool | None = None,
    size: tuple[int, int] | None = None,
    blobs: tuple[str, ...] = (),
) -> dict[str, Numpy]:
    """The net's outputs (and the named blobs) for one picture; see `detect`."""
    decoder = recognise(net)
    settings = {"mean": mean, "scale": scale, "swap_rb": swap_rb, "size": size}
    if isinstance(decoder, (RowsDecoder, FasterRcnn)):
        inputs: dict[str, Any] = decoder.inputs(as_pixels(image), decoder.settings.given(**settings))
    else:
        name, channels, width, height = picture_input(net, size)
        used = Settings().given(**settings)
        inputs = {
            name: input_array(image, channels, width, height, mean=used.mean, scale=used.scale, swap_rb=used.swap_rb)
        }
    return net.forward(blobs, **inputs)


def picture_input(net: Net, size: tuple[int, int] | None = None) -> tuple[str, int, int, int]:
    """The name, channels, width and height of the net's only picture."""
    decoder = recognise(net) if len(net.inputs) > 1 else None
    others = [decoder.info] if isinstance(decoder, FasterRcnn) else []
    return input_of(net, size, others)


def no_detections(net: Net) -> str:
    """The reason why `detect` cannot read the outputs of a net, for a message."""
    offsets = [name for name in net.outputs if "bbox_pred" in name]
    if offsets:
        return (
            f"net {net.name!r} gives box offsets ({', '.join(offsets)}), but detections are read only where cls_prob, "
            "bbox_pred, regions that the net proposes itself, and the input im_info come together; its inputs are: "
            f"{', '.join(net.inputs) or 'none'}"
        )
    return f"net {net.name!r} has no layer of type {' or '.join(ROWS)}, from which detections are read"


def classes(net: Net) -> int | None:
    """How many classes the net's detections have, the background included; None when it has none."""
    decoder = recognise(net)
    return None if decoder is None else decoder.classes
