"""From a net in float and pictures to a Quantization: ranges, and which layers run in 8 bits, by what that costs and gains."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import Any, Union

import numpy as np

from ..data.image import as_pixels
from ..decoders.base import Settings, picture_input, prepare
from ..decoders.detections import Detections
from ..detection import Detector, UnrecognisedError
from ..graph.graph import INT8 as BYTES
from ..graph.quantization import INT8, MARK, LayerNote, Quantization, Range, fields_of, weights_of
from ..image import ImageLike
from ..layers.core import Trait
from ..net import Net
from ..net.weights import save_weights
from ..proto.errors import BoxpressoWarning, ModelError
from .accuracy import LOW, Loss, boxes_lost, compared, distance, mean_precision, moved, numbers
from .ranges import METHODS, NO_PICTURES, Measured, measure_values
from .speed import measure, race, slower

Numpy = np.ndarray[Any, np.dtype[Any]]
Image = Union[ImageLike, Mapping[str, Any]]
DROP = {"boxes": 0.005, "numbers": 0.02}  # that is borne where nothing else is said
SECONDS = 20.0  # that the errors of single layers may take, about
FEW = 4  # pictures for these


def quantize(
    net: Net | Detector,
    images: Sequence[Image],
    *,
    ranges: str = "minmax",
    drop: float | None = None,
    truth: Sequence[Any] | None = None,
    float32: Collection[str] = (),
    speed: bool = True,
    tell: Callable[[str], None] = lambda line: None,
) -> Quantization:
    """Finds out with which layers in 8 bits a net is faster and still gives what it gives in float.

    Ranges of all values are measured on the pictures. Layers that are not faster in 8 bits on this machine stay in float, and
    those that move the net's outputs most are given back to float until no more than `drop` is lost against the net's own
    results in float. Where the whole is not faster, all layers stay in float.

    Parameters
    ----------
    net
        A Net of phase TEST in float32 on the CPU with its weights, or a Detector of one such net, whose settings say how
        pictures are prepared. It stays as it is: `net.quantize(result)` runs it in 8 bits.
    images
        Paths, Pillow images or RGB arrays as `Detector` takes them, or {input: array} of whole inputs; twenty or more of those
        that the net will see.
    ranges
        "minmax" holds all numbers that were seen; "percentile" leaves out a share of 1e-4 on each side; "entropy" cuts where
        the distribution in 8 bits diverges least.
    drop
        For a detector of boxes: by how much mAP, against its boxes in float, may fall from 1, and the share of these that may
        not be found again, at an overlap of 0.7 and from the detector's threshold on; by default 0.005. For others: the
        distance of the outputs over their length; by default 0.02.
    truth
        For each picture its true objects, a Scene or rows (label, xmin, ymin, xmax, ymax[, difficult]): then the drop is by how
        much the mAP against these falls below that in float. For a Detector of boxes, and pictures.
    float32
        Names of layers that stay in float.
    speed
        Whether times decide too; without, a layer is in 8 bits wherever the result bears it.
    tell
        Called with a line at each stage.

    Returns
    -------
    Quantization
        `layers` has a LayerNote for each layer that can run in 8 bits; `notes` the settings, what is lost and the times.

    Raises
    ------
    ModelError
        For no pictures, or those that cannot be the net's input; for `truth` of other pictures, or without objects; for a net
        that is not as above, that has several nets, or
        layers that may run once a forward only (Python, files, random numbers); for values that are not finite. Each names
        the layer.

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 8 dim: 16 dim: 16 } } }
    ...     layer { name: "y" type: "Convolution" bottom: "x" top: "y"
    ...             convolution_param { num_output: 16 kernel_size: 3 weight_filler { type: "msra" } } }'''),
    ...     device="cpu", seed=1)
    >>> x = np.random.default_rng(0).standard_normal((1, 8, 16, 16))
    >>> scales = quantize(net, [{"x": x}], speed=False)
    >>> scales.chosen, scales.notes["lost"] < 0.02
    (['y'], True)
    """
    detector = net if isinstance(net, Detector) else None
    plain = only_net(detector) if detector else net
    assert isinstance(plain, Net)
    refuse(plain, images, ranges, drop)
    if detector is None and not all(isinstance(image, Mapping) for image in images):
        with suppress(UnrecognisedError):
            detector = Detector(plain)
    if detector is not None and isinstance(images[0], Mapping):
        detector = None
    if truth is not None:
        refuse_truth(plain, detector, images, truth)
    return Quantizer(plain, detector, images, ranges, drop, tell, truth).run(float32, speed)


def refuse(net: Net, images: Sequence[Image], ranges: str, drop: float | None) -> None:
    """Raises ModelError for what cannot be quantised."""
    if ranges not in METHODS:
        raise ModelError(f"ranges must be one of {', '.join(METHODS)}, got {ranges!r}")
    if drop is not None and not 0 <= drop <= 1:
        raise ModelError(f"drop must lie from 0 to 1, got {drop}")
    if not len(images):
        raise ModelError(NO_PICTURES)
    if net.device.kind != "cpu" or net.dtype != np.float32 or net._runner is None:
        raise ModelError(
            f"net {net.name!r} must be of phase TEST, in float32 and with its plan (optimize), on the CPU; it is on "
            f"{net.device.describe()} in {net.dtype}, phase {net.phase}"
        )
    if not net.inputs:
        raise ModelError(f"net {net.name!r} has no Input layer: give the deploy.prototxt, not the one for training")
    names = [layer.name for layer in net.layers]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ModelError(
            f"two layers are called {twice!r}: scales for 8 bits go by the names of layers; give each its own"
        )
    for layer in net.layers:
        if layer.type != "Input" and not layer.repeatable:
            raise ModelError(
                f"{layer.type} layer {layer.name!r} may do more in a forward than to compute its tops: quantize runs the net "
                "many times over, and so it cannot have layers in Python, of files or of random numbers"
            )


def refuse_truth(net: Net, detector: Detector | None, images: Sequence[Image], truth: Sequence[Any]) -> None:
    """Raises ModelError for labels that say nothing of the pictures."""
    if detector is None or detector.decoder.KIND != "boxes":
        raise ModelError(
            f"labels are of boxes in pictures, and net {net.name!r} finds none, or is given whole inputs: leave them out"
        )
    if len(truth) != len(images):
        raise ModelError(
            f"labels are of {len(truth)} pictures, and {len(images)} are given; give one of each for each picture"
        )


def only_net(detector: Detector) -> Net:
    """The net of a detector. Raises ModelError for a cascade."""
    nets = list(detector.decoder.nets)
    if len(nets) != 1:
        raise ModelError(f"a cascade of {len(nets)} nets: quantize takes one; give each of them with inputs of its own")
    return nets[0]


class Quantizer:
    """The stages of `quantize`.

    Parameters
    ----------
    net, detector, images, method, drop, tell, truth
        As there; detector: that which prepares the pictures, None for whole inputs.
    """

    def __init__(
        self,
        net: Net,
        detector: Detector | None,
        images: Sequence[Image],
        method: str,
        drop: float | None,
        tell: Callable[[str], None],
        truth: Sequence[Any] | None = None,
    ) -> None:
        self.net, self.detector, self.images, self.method, self.tell = net, detector, images, method, tell
        self.truth, self.precision = truth, 0.0
        self.float, self.int8 = self.twin(net, "float32"), self.twin(net, None)
        self.reference: list[Detections] = []
        self.inputs: list[dict[str, Numpy]] = []
        self.read()
        of_boxes = detector is not None and detector.decoder.KIND == "boxes"
        self.boxes = of_boxes and any((d.scores >= self.threshold).any() for d in self.reference)
        if truth is not None:
            self.boxes, self.precision = True, mean_precision(self.reference, truth)
            if not np.isfinite(self.precision):
                raise ModelError(
                    "the labels have no object in any of the pictures: nothing can be lost; leave them out"
                )
        if of_boxes and not self.boxes:
            tell("no boxes are found in the pictures: the numbers that they are read from are compared instead")
        self.drop = DROP["boxes" if self.boxes else "numbers"] if drop is None else drop
        self.names = compared(self.float)
        self.numbers: list[dict[str, Numpy]] = []
        self.deciding: set[str] = set()  # layers of whose fields the ranges in 8 bits are

    def twin(self, net: Net, precision: str | None, **options: Any) -> Net:
        """Another net like it, of the same weights."""
        message = type(net.param)()
        message.ParseFromString(net._text)
        made = {**net._made, "precision": precision, "lazy": False, **options}
        other = type(net)(message, anchors=net.anchors, **made)
        other.share_with(net)
        return other

    def with_net(self, net: Net, factor: float = 1.0) -> Detector:
        """The detector of another net, from a part of its threshold on."""
        assert self.detector is not None
        known = self.detector.settings
        other = Detector(net, decoder=self.detector.decoder.NAME)
        other.settings = replace(known, threshold=known.threshold * factor)
        return other

    @property
    def threshold(self) -> float:
        """The score from which on boxes are true."""
        return self.detector.settings.threshold if self.detector is not None else 0.0

    def read(self) -> None:
        """The inputs of each picture, and its boxes in float."""
        seeing = self.with_net(self.float, LOW) if self.detector is not None else None
        for i, image in enumerate(self.images, 1):
            if isinstance(image, Mapping):
                self.inputs.append({name: self.fitting(name, value, i) for name, value in image.items()})
                if missing := [name for name in self.net.inputs if name not in image]:
                    raise ModelError(f"input {i} of those given lacks {missing[0]!r}; give each input of the net")
            elif seeing is not None:
                self.reference.append(seeing(image))
                runner = self.float._runner
                assert runner is not None
                self.inputs.append({name: runner.given(name) for name in self.float.inputs})
            else:
                name, channels, width, height = picture_input(self.float)
                self.inputs.append({name: prepare(as_pixels(image), channels, width, height, Settings())})

    def fitting(self, name: str, value: Any, number: int) -> Numpy:
        """An input as an array. Raises ModelError for one that the net has not, or that does not fit."""
        if name not in self.net.inputs:
            raise ModelError(
                f"input {number} of those given is of {name!r}; the net's are: {', '.join(self.net.inputs)}"
            )
        try:
            array = np.asarray(value, np.float32)
        except (ValueError, TypeError) as error:
            raise ModelError(f"input {number} of those given is no array of numbers for {name!r}: {error}") from None
        wanted = self.net.blobs[name].shape
        if array.ndim != len(wanted) or array.shape[1:] != tuple(wanted[1:]):
            raise ModelError(f"input {number} of those given is {array.shape} for {name!r}, which is {tuple(wanted)}")
        if not array.size:
            raise ModelError(f"input {number} of those given is {array.shape} for {name!r}: it has no numbers")
        return array

    def run(self, float32: Collection[str], speed: bool) -> Quantization:
        """All stages."""
        start = perf_counter()
        layered = self.twin(self.net, None, optimize=False)
        measured = measure_values(layered, self.inputs, self.method)
        self.tell(f"ranges ({self.method}) of {len(self.inputs)} pictures: {perf_counter() - start:.1f} s")
        able = self.able(measured.ranges)
        unknown = [name for name in float32 if name not in able]
        if unknown:
            raise ModelError(
                f"layer {unknown[0]!r} is to stay in float32, but is none of those that can run in 8 bits: "
                f"{', '.join(able) or 'none'}"
            )
        if not able:
            raise ModelError(
                f"net {self.net.name!r} has no layer that can run in 8 bits: no convolution or inner product on the CPU"
            )
        self.warn_of_zeros(able, measured.ranges)
        scales = Quantization(
            {name: ranges for name, ranges in measured.ranges.items() if ranges}, {name: LayerNote(INT8) for name in able},
            {layer.name: weights_of(layer) for layer in self.net.layers if layer.blobs},
            {layer.name: fields_of(layer) for layer in self.net.layers if layer.name in self.deciding},
        )  # fmt: skip
        self.numbers = [numbers(self.float, each, self.names) for each in self.inputs]
        reasons = dict.fromkeys(float32, "asked for")
        scales = self.with_errors(self.nearest(scales.with_kinds(reasons), measured))
        if speed:
            scales, reasons = self.faster(scales, reasons)
        scales, lost = self.keeping(scales, reasons)
        return self.finished(scales, lost, speed)

    def warn_of_zeros(self, able: Collection[str], ranges: Mapping[str, Sequence[Range]]) -> None:
        """Warns of what 8 bits hold exactly, but that is often a fault of the weights: filters and tops of zeros alone."""
        for layer in self.net.layers:
            if layer.name not in able:
                continue
            weights = np.asarray(layer.blobs[0]._view(False))
            weights = weights.T if layer.param.inner_product_param.transpose else weights
            zero = np.flatnonzero(~weights.reshape(len(weights), -1).any(1)).tolist()
            if zero:
                shown = ", ".join(map(str, zero[:4])) + (", ..." if len(zero) > 4 else "")
                warnings.warn(
                    f"{layer}: the weights of {len(zero)} of its {len(weights)} outputs ({shown}) are all 0; were they loaded?",
                    BoxpressoWarning, stacklevel=4,
                )  # fmt: skip
            if all(low == high == 0 for low, high in ranges[layer.name]):
                warnings.warn(
                    f"{layer}: its top is 0 everywhere in all pictures, so nothing tells its range; other pictures may not fit",
                    BoxpressoWarning, stacklevel=4,
                )  # fmt: skip

    def able(self, ranges: Mapping[str, Any]) -> list[str]:
        """The layers that have a form in 8 bits, and ranges of what they read and write; sets `deciding`."""
        every = Quantization(ranges, {layer.name: LayerNote(INT8) for layer in self.net.layers})
        runner = self.int8._runner
        assert runner is not None
        runner.use_int8(every.narrow(runner.source, strict=False))
        steps = [step for plan in runner.optimised() for step in plan.steps]
        runner.use_int8(None)
        narrow = [step for step in steps if step.lowering is not None and step.lowering.takes == BYTES]
        reads = {value for step in narrow for value in step.reads}
        near = [step for step in steps if reads.intersection(step.writes)]
        near = [step for step in near if Trait.ELEMENTWISE in self.net.layers[step.layer].traits]
        self.deciding = {self.net.layers[i].name for step in (*narrow, *near) for i in step.layers}
        return [
            self.net.layers[step.layer].name for step in steps
            if step.lowering is not None and step.lowering.takes == BYTES and not step.lowering.keeps_numbers
        ]  # fmt: skip

    def nearest(self, scales: Quantization, measured: Measured) -> Quantization:
        """With corrected biases, with steps of channels' own, or both, where all layers in 8 bits are nearer to float so."""
        count = min(FEW, len(self.inputs))
        ways = {
            "plain": scales,
            "corrected biases": replace(scales, means=measured.means),
            "channels equalised": replace(scales, maxima=measured.maxima),
            "both": replace(scales, means=measured.means, maxima=measured.maxima),
        }
        errors = {name: self.off(each, count) for name, each in ways.items()}
        self.tell(
            "error with all layers in 8 bits: " + ", ".join(f"{name} {error:.3g}" for name, error in errors.items())
        )
        return ways[min(errors, key=errors.__getitem__)]

    def with_errors(self, scales: Quantization) -> Quantization:
        """With the error of each layer: of the outputs when it alone is in 8 bits."""
        start = perf_counter()
        numbers(self.float, self.inputs[0], self.names)
        one = perf_counter() - start
        count = int(np.clip(SECONDS / (2 * one * max(1, len(scales.chosen))), 1, min(FEW, len(self.inputs))))
        notes = dict(scales.layers)
        for name in scales.chosen:
            alone = scales.with_kinds({other: "" for other in scales.layers if other != name})
            notes[name] = replace(notes[name], error=self.off(alone, count))
        self.tell(f"errors of {len(scales.chosen)} layers, each alone in 8 bits: {perf_counter() - start:.1f} s")
        return replace(scales, layers=notes)

    def off(self, scales: Quantization, count: int) -> float:
        """How far outputs are from those in float, over some inputs."""
        self.int8.quantize(scales)
        return distance(self.numbers[:count], [numbers(self.int8, each, self.names) for each in self.inputs[:count]])

    def lost(self, scales: Quantization) -> Loss:
        """What is lost with these scales: of mAP, or the distance of the outputs."""
        self.int8.quantize(scales)
        if not self.boxes:
            outputs = [numbers(self.int8, each, self.names) for each in self.inputs]
            return Loss(distance(self.numbers, outputs), [distance([a], [b]) for a, b in zip(self.numbers, outputs)])
        seeing = self.with_net(self.int8, LOW)
        detections = [seeing(image) for image in self.images]
        apart = [moved(a, b, self.threshold) for a, b in zip(self.reference, detections)]
        if self.truth is not None:
            return Loss(max(0.0, self.precision - mean_precision(detections, self.truth)), apart)
        return Loss(boxes_lost(self.reference, detections, self.threshold), apart)

    def faster(self, scales: Quantization, reasons: Mapping[str, str]) -> tuple[Quantization, dict[str, str]]:
        """With the layers in float that are faster so, and why each is in float."""
        start = perf_counter()
        other, plain = self.twin(self.net, None), self.twin(self.net, "float32")
        other.quantize(scales)
        for net in (other, plain):
            net.forward(**self.inputs[0])  # type: ignore[arg-type]  # inputs by their names
        times = measure(plain, other)
        number = {layer.name: i for i, layer in enumerate(self.net.layers)}
        notes = {
            name: replace(note, times=(1e3 * times.steps[number[name], "last"], 1e3 * times.steps[number[name], BYTES]))
            if (number[name], BYTES) in times.steps and (number[name], "last") in times.steps else note
            for name, note in scales.layers.items()
        }  # fmt: skip
        scales = replace(scales, layers=notes)
        back = slower(other, scales, times)
        self.tell(f"times of both forms: {len(back)} layers are faster in float here: {perf_counter() - start:.1f} s")
        reasons = {**reasons, **dict.fromkeys(back, "no faster here")}
        return scales.with_kinds(reasons), reasons

    def keeping(self, scales: Quantization, reasons: Mapping[str, str]) -> tuple[Quantization, Loss]:
        """With as few layers given back, those of the largest errors first, as keep what is lost within `drop`; and what is."""
        start = perf_counter()
        worst = sorted(scales.chosen, key=lambda name: -scales.layers[name].error)

        def without(count: int) -> Quantization:
            return scales.with_kinds({**reasons, **dict.fromkeys(worst[:count], "costs accuracy")})

        known: dict[int, Loss] = {}

        def loss(count: int) -> float:
            if count not in known:
                known[count] = self.lost(without(count)) if count < len(worst) else Loss(0.0, [0.0] * len(self.inputs))
            return known[count].value

        if loss(0) > self.drop:
            low, high = 0, 1
            while loss(min(high, len(worst))) > self.drop:
                low, high = high, 2 * high
            high = min(high, len(worst))
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if loss(middle) <= self.drop else (middle, high)
        else:
            high = 0
        self.tell(f"{high} layers given back to float for accuracy: {perf_counter() - start:.1f} s")
        return without(high), known[high]

    def finished(self, scales: Quantization, lost: Loss, speed: bool) -> Quantization:
        """With the times of the whole, and notes; all in float where it is not faster."""
        notes: dict[str, Any] = {
            "pictures": len(self.inputs), "ranges": self.method, "drop": self.drop, "lost": lost.value,
            "lost_of": "mAP, or boxes that are not found again" if self.boxes else "outputs, as distance over length",
            "differences": [round(each, 6) for each in lost.pictures],
        }  # fmt: skip
        if self.truth is not None:
            notes["lost_of"], notes["mean_precision"] = "mAP against the labels", self.precision
        if speed and scales.chosen:
            other, plain = self.twin(self.net, None), self.twin(self.net, "float32")
            other.quantize(scales)
            floats, bytes_ = race(plain, other, self.inputs[0])
            notes["ms"] = [1e3 * floats, 1e3 * bytes_]
            notes["machine"] = self.net.device.describe()
            if bytes_ >= floats:
                self.tell(
                    f"the whole net is not faster in 8 bits here ({1e3 * bytes_:.3g} ms, {1e3 * floats:.3g} in float)"
                )
                why = {name: scales.layers[name].why or "the whole net is no faster here" for name in scales.layers}
                scales = scales.with_kinds(why)
                notes["lost"], notes["differences"] = 0.0, [0.0] * len(self.inputs)
        return replace(scales, notes=notes)


def save(net: Net, scales: Quantization, path: str | os.PathLike[str]) -> None:
    """Writes the weights of a net with its scales: a .caffemodel of floats that Caffe's tools read as any other.

    The scales are the type of a layer without blobs, which they pass over.

    Raises
    ------
    ModelError
        For HDF5, which has no place for them; when the file cannot be written.
    """
    shown = os.fspath(path)
    if shown.endswith((".h5", ".hdf5")):
        raise ModelError(f"{shown}: scales for 8 bits are kept in a .caffemodel; HDF5 has no place for them")
    rows = [
        (layer.name, layer.type, bottoms, tops, [np.asarray(blob._view(False)) for blob in layer.blobs])
        for layer, (bottoms, tops) in zip(net.layers, net.names)
    ]
    save_weights(path, [*rows, (MARK, scales.to_text(), [], [], [])], net.name)
