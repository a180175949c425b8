"""From a picture to detections.

    detector = Detector("deploy.prototxt", "weights.caffemodel", labels="names.txt")
    for found in detector("street.jpg"):
        print(found.label, found.score, found.box)

A Detector is built once for a net, or for the nets of a cascade: it recognises the decoder that reads their outputs (see
`boxpresso.decoders`), and holds the preparation of pictures, the names of classes and the thresholds. `detect` is the same for
one picture of one net.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Union

import numpy as np

from .decoders import HOMES, named, unrecognised
from .decoders import recognise as recognised
from .decoders.base import Decoder, Settings
from .decoders.base import picture_input as input_of
from .decoders.detections import DetailedDetection, Detection, Detections, RotatedDetection
from .decoders.files import open_nets
from .decoders.known_models import Recognition
from .decoders.known_models import recognise as recognise_model
from .decoders.rcnn import FasterRcnn
from .decoders.ssd import RowsDecoder, Ssd
from .decoders.yolo import Yolo
from .explanation import known_names, known_settings
from .image import ImageLike, Mean, as_image, input_array
from .labels import read_labels
from .net import Net
from .proto.errors import BoxpressoWarning, ModelError

__all__ = [
    "DetailedDetection", "Detection", "Detections", "Detector", "RotatedDetection", "Settings", "classes", "detect",
    "no_detections", "picture_input", "recognise", "run",
]  # fmt: skip

Numpy = np.ndarray[Any, Any]
Source = Union[str, "os.PathLike[str]"]
Labels = Union[Mapping[int, str], Sequence[str], Source, None]
ROWS = (*Ssd.TYPES, *Yolo.TYPES)


class Detector:
    """Finds objects in pictures with one net, or with the nets of a cascade.

    Parameters
    ----------
    model
        A Net; the path of a prototxt; the folder of a cascade's files; or a list of Nets or of prototxts.
    weights
        The path of a .caffemodel or .h5, or for several prototxts one for each; nothing for Nets and for a folder.
    decoder
        The name of the decoder, such as "yolo" or "mtcnn"; by default it is recognised.
    labels
        Names of the classes: {label: name}, a list that begins with label 0, or a file for `labels.read_labels`.
    device, precision, fast_math, reproducible
        As for Net; a Net that is given has its own.
    clip
        Whether upright boxes are clipped to the picture, and those that lie outside it left out.
    settings
        `mean`, `scale`, `swap_rb`, `size`, `threshold` and `overlap`, as in `Settings`, in place of the decoder's own.

    Attributes
    ----------
    decoder
        The Decoder.
    settings
        The Settings in use.
    recognition
        The known public model that the net is, by its layers, or None: its mean, scale and order of channels are taken where
        no settings are given, and its labels.
    names
        {label: name}.

    Raises
    ------
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
    >>> detector.decoder.NAME, detector(np.zeros((20, 40, 3), np.uint8))[0].label
    ('ssd', 'dot')
    """

    def __init__(
        self,
        model: Net | Source | Sequence[Net | Source],
        weights: Source | Sequence[Source] | None = None,
        *,
        decoder: str | None = None,
        labels: Labels = None,
        device: str | None = None,
        precision: str | None = None,
        fast_math: bool = False,
        reproducible: bool = False,
        clip: bool = True,
        **settings: Any,
    ) -> None:
        made = [model] if isinstance(model, Net) else [] if isinstance(model, (str, os.PathLike)) else list(model)
        if (precision is not None or fast_math or reproducible) and any(isinstance(net, Net) for net in made):
            raise ModelError("precision, fast_math and reproducible are chosen when a net is made: give them to Net")
        options = {"precision": precision, "fast_math": fast_math, "reproducible": reproducible}
        nets = open_nets(model, weights, device=device, **options)
        self.recognition = recognise_model(nets[0]) if len(nets) == 1 else None
        self.decoder = choose(nets, decoder, self.recognition)
        self.clip = clip
        self.given: Mapping[str, Any] = {name: value for name, value in settings.items() if value is not None}
        known = known_settings(self.recognition, self.decoder)
        self.settings = self.decoder.settings.given(**known).given(**settings)
        self.names: Mapping[int, str] = {**self.decoder.names, **known_names(self.recognition, self.decoder)}
        if labels is not None:
            self.names = names_of(labels, self.decoder.classes)

    def __call__(self, picture: ImageLike) -> Detections:
        """The detections of a picture, best first.

        Raises
        ------
        BoxpressoError
            When the picture cannot be read.
        """
        array = np.asarray(as_image(picture))
        return self.checked(self.decoder.detect(array, self.settings), array)

    def batch(self, pictures: Sequence[ImageLike]) -> list[Detections]:
        """The detections of several pictures, in one pass of the net where it takes them so."""
        arrays = [np.asarray(as_image(picture)) for picture in pictures]
        results = self.decoder.batch(arrays, self.settings) if arrays else []
        return [self.checked(detections, array) for detections, array in zip(results, arrays, strict=True)]

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
    return {label: str(name) for label, name in enumerate(labels or ()) if name}


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
        Best first; RotatedDetection of a net for rotated boxes, DetailedDetection where names or landmarks are known.

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
    [Detection(label=1, score=0.75, box=(20.0, 10.0, 20.0, 10.0))]
    """
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
    given = {"mean": mean, "scale": scale, "swap_rb": swap_rb, "size": size}
    if isinstance(decoder, (RowsDecoder, FasterRcnn)):
        inputs: dict[str, Any] = decoder.inputs(np.asarray(as_image(image)), decoder.settings.given(**given))
    else:
        name, channels, width, height = picture_input(net, size)
        used = Settings().given(**given)
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
