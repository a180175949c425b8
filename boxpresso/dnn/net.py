"""cv2.dnn's Net over a Caffe model."""

from __future__ import annotations

import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import Any, Union

import numpy as np

from ..device import Blob, devices
from ..layers.core import Layer
from ..layers.core.registry import layer_class
from ..net import Net as BoxpressoNet
from ..net.weights import Weights, copy_weights, read_weights
from ..net_spec import Function
from ..proto import LayerParameter, NetParameter, parse_net, read_net, to_text
from ..proto.binary import Broken, parse_weights
from ..proto.errors import BoxpressoError, BoxpressoWarning, ModelError, nearest
from ..proto.reading import FilePath
from ..proto.signatures import what_is
from .constants import (
    CV_32F,
    DNN_BACKEND_CUDA,
    DNN_BACKEND_DEFAULT,
    DNN_BACKEND_OPENCV,
    DNN_TARGET_CPU,
    DNN_TARGET_CUDA,
    DNN_TARGET_CUDA_FP16,
    DNN_TARGET_OPENCL,
    DNN_TARGET_OPENCL_FP16,
)
from .errors import opencv_errors
from .overloads import also
from .registered import registered_for, type_of, with_registered
from .shapes import Shape, shapes_of_inputs, size, with_inputs

Numpy = np.ndarray[Any, Any]
Buffer = Union[bytes, bytearray, memoryview, Numpy]
ModelFile = Union[FilePath, Buffer]
Weight = Callable[[], Weights]

INPUT, INPUT_TYPE = "_input", "__NetInputLayer__"  # what OpenCV calls all inputs as one layer, number 0
KEPT = 2**14  # rows of an image that are kept free without asking whether there can be as many detections


@opencv_errors
@also(bufferProto="prototxt", bufferModel="caffeModel")
def readNetFromCaffe(prototxt: ModelFile, caffeModel: ModelFile | None = None) -> Net:
    """A Caffe model.

    Parameters
    ----------
    prototxt
        The path of the description, or its bytes.
    caffeModel
        The path of the weights, or their bytes; without it, only what needs no weights can run.

    Returns
    -------
    Net
        Named after cv2.dnn's.

    Raises
    ------
    ModelError
        For files that cannot be read, or do not fit each other.
    """
    if is_buffer(prototxt):
        model = parse_net(as_bytes(prototxt), source="the buffer of the prototxt")
    else:
        model = read_net(as_path(prototxt))
    weights: Weights | None = None
    if caffeModel is not None and (is_buffer(caffeModel) or as_path(caffeModel)):
        weights = buffered_weights(as_bytes(caffeModel)) if is_buffer(caffeModel) else read_weights(as_path(caffeModel))
    return Net(model, weights)


@opencv_errors
@also(bufferModel="model", bufferConfig="config")
def readNet(model: ModelFile, config: ModelFile | None = None, framework: ModelFile | None = "") -> Net:
    """`readNetFromCaffe` with the two files in any order, as cv2.dnn.readNet tells them apart by their names; or
    readNet("caffe", weights, prototxt), of buffers.

    Raises
    ------
    ModelError
        For files of another framework.
    """
    if isinstance(model, str) and config is not None and is_buffer(config):
        model, config, framework = config, framework, model
    framework = framework or ""  # as OpenCV, whose samples hand on that nothing was asked for
    if not isinstance(framework, str) or framework.lower() not in ("", "caffe"):
        raise ModelError(f"readNet: Boxpresso reads Caffe's models, not those of {framework!r}")
    if config is None or (isinstance(config, str) and not config):
        return readNetFromCaffe(model)
    swapped = not is_buffer(model) and str(model).lower().endswith((".prototxt", ".pt", ".txt"))
    return readNetFromCaffe(model, config) if swapped else readNetFromCaffe(config, model)


@opencv_errors
def getAvailableTargets(be: int) -> Numpy | tuple[()]:
    """The targets that a backend has on this machine: int32 (N,), or () for none, as OpenCV.

    >>> DNN_TARGET_CPU in getAvailableTargets(DNN_BACKEND_OPENCV)
    True
    """
    if be in (DNN_BACKEND_DEFAULT, DNN_BACKEND_OPENCV):
        return np.array([DNN_TARGET_CPU], np.int32)
    if be == DNN_BACKEND_CUDA and len(devices()) > 1:
        return np.array([DNN_TARGET_CUDA], np.int32)
    return ()


def enum_name(messages: Sequence[str], key: str, value: Any) -> Any:
    """A value of a field of some messages of a LayerParameter; the name of an enum as the schema writes it."""
    for name in messages:
        field = LayerParameter.DESCRIPTOR.fields_by_name[name].message_type.fields_by_name.get(key)
        if field is not None and field.enum_type is not None and isinstance(value, str):
            return next((known for known in field.enum_type.values_by_name if known.lower() == value.lower()), value)
    return value


def names_of(layer: Layer, tops: list[str], others: Container[str]) -> dict[str, tuple[str, list[str]]]:
    """What OpenCV calls a layer: {name: (name in the prototxt, tops)}."""
    if layer.param.type != "Convolution" or any(top in others for top in tops if top != layer.name):
        return {layer.name: (layer.name, tops)}
    return {top: (layer.name, [top]) for top in tops}


def is_buffer(source: ModelFile) -> bool:
    return isinstance(source, (bytes, bytearray, memoryview, np.ndarray))


def as_bytes(source: Any) -> bytes:
    return source.tobytes() if isinstance(source, (memoryview, np.ndarray)) else bytes(source)


def as_path(source: Any) -> str:
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"readNetFromCaffe takes a path or bytes, got {source!r}")
    return os.fspath(source)


def buffered_weights(data: bytes) -> Weights:
    """The weights in the bytes of a .caffemodel. Raises ModelError for bytes that are none."""
    if not data:
        raise ModelError("the buffer of the weights is empty")
    kind = what_is(data)
    if kind:
        raise ModelError(f"the buffer of the weights is not a .caffemodel but {kind}")
    try:
        name, layers = parse_weights(data)
    except Broken as broken:
        raise ModelError(f"the buffer of the weights is an incomplete .caffemodel: {broken}") from None
    if not layers:
        raise ModelError("the buffer of the weights is not a .caffemodel: it holds no layers")
    return Weights("the buffer of the weights", name, layers)


class LayerInfo:
    """What getLayer tells: name, type, and the weights as arrays. New ones are given to `blobs` as a whole, as scripts do that
    colour pictures: `net.getLayer(number).blobs = [array]`; without its last one a layer has no bias."""

    def __init__(
        self, name: str, type: str, blobs: list[Numpy], preferableTarget: int = DNN_TARGET_CPU,
        write: Callable[[Sequence[Any]], list[Numpy]] | None = None, outputs: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        self._outputs = outputs
        self.name, self.type, self.preferableTarget = name, type, preferableTarget
        self._blobs, self._write = blobs, write

    @property
    def blobs(self) -> list[Numpy]:
        """Copies of the weights."""
        return self._blobs

    @blobs.setter
    def blobs(self, values: Sequence[Any]) -> None:
        if self._write is None:
            raise BoxpressoError(f"getLayer: the layer {self.name!r} has no weights to set")
        self._blobs = self._write(values)

    def outputNameToIndex(self, outputName: str) -> int:
        """The number of an output: of the layer of all inputs that of an input, -1 for none of this name; of others 0."""
        outputs = self._outputs
        return 0 if outputs is None else outputs.index(outputName) if outputName in outputs else -1

    def __repr__(self) -> str:
        return f"LayerInfo({self.name!r}, {self.type!r}, {len(self._blobs)} blobs)"


@opencv_errors
class Net:
    """A net with the methods of cv2.dnn.Net; `readNetFromCaffe` makes it.

    Layers are numbered from 1 in the order of the prototxt; inputs do not count. A name is that of a layer, not of a blob;
    but a Convolution is called after its top, and is a layer for each of several, as in OpenCV.

    Examples
    --------
    >>> net = readNetFromCaffe(b'input: "x" input_shape { dim: 1 dim: 2 } layer { name: "twice" type: "Power" '
    ...                        b'bottom: "x" top: "y" power_param { scale: 2 } }')
    >>> net.setInput(np.array([[1, 2]], np.float32))
    >>> net.forward(), net.getLayerNames()
    (array([[2., 4.]], dtype=float32), ('twice',))
    """

    def __init__(self, model: NetParameter | None = None, weights: Weights | None = None) -> None:
        self._model, self._weights, self._device = model, weights, "cpu"
        self._inputs: dict[str, Numpy] = {}
        self._labels: list[str] = []  # of setInputsNames
        self._ids: dict[str, int] = {}
        self._known: dict[str, tuple[str, list[str]]] = {}  # by such a name: the layer, and its tops
        self._missing: list[str] = []
        self._net: BoxpressoNet | None = None
        self._classes: dict[str, Any] = {}  # of registered types, when the net was built
        self._given: dict[str, Sequence[Numpy]] = {}  # weights that were set, by layer
        self._ran = False
        if model is not None:
            self._build()

    def _build(self) -> None:
        """Makes the net on the device that was chosen."""
        assert self._model is not None
        self._classes = registered_for(self._model)
        net = BoxpressoNet(with_registered(self._model, self._weights), device=self._device)
        self._missing = list(net.params)
        if self._weights is not None:
            report = copy_weights(self._weights, net.layers)
            self._missing = [name for name in report.missing if name in net.params]
        self._net = net
        written = {layer.name for layer in self._model.layer if layer.type != "Input"}
        self._known = {}
        for layer in net.layers:
            if layer.name in written:  # of a layer without tops, a Silence, OpenCV gives what it reads
                tops = net.top_names[layer.name] or net.bottom_names[layer.name]
                self._known.update(names_of(layer, tops, written))
        self._ids = {name: number + 1 for number, name in enumerate(self._known)}

    def addLayerToPrev(self, name: str, type: str, dtype: int, params: Mapping[str, Any]) -> int:
        """Adds a layer without weights that reads what the last one makes; an empty net begins with an input of any shape.

        Parameters
        ----------
        name, type
            Of the layer; the type is Caffe's.
        dtype
            CV_32F; others are not known.
        params
            Fields of the type's messages, as a NetSpec takes them; enums by their names in any case.

        Returns
        -------
        int
            Its number.

        Raises
        ------
        BoxpressoError
            For another dtype, a name that is taken, an unknown type or field, and a layer whose shapes do not fit.
        """
        if dtype != CV_32F:
            raise BoxpressoError(f"addLayerToPrev: layers compute in CV_32F, {CV_32F}, got {dtype}")
        model = NetParameter()
        if self._model is None:
            model.layer.add(name=INPUT, type="Input", top=[INPUT])
        else:
            model.CopyFrom(self._model)
        if any(layer.name == name for layer in model.layer):
            raise BoxpressoError(f"addLayerToPrev: the net has a layer {name!r} already")
        fields = layer_class(type, name).messages
        values = {key: enum_name(fields, key, value) for key, value in params.items()}
        added = Function(type, (), 1, False, values).message
        added.name = name
        added.bottom.append(model.layer[-1].top[0])
        added.top.append(name)
        model.layer.append(added)
        self._model = model
        if self._net is not None:
            self._build()
        return sum(layer.type != "Input" for layer in model.layer)

    @property
    def net(self) -> BoxpressoNet:
        """The boxpresso.Net that runs; until its first pass it takes classes registered after it was read, as in OpenCV."""
        late = self._net is not None and self._model is not None and not self._ran
        if late and self._classes != registered_for(self._model):
            self._build()
            for name, values in self._given.items():
                self._set_blobs(name, values)
        if self._net is None and self._model is not None:
            raise BoxpressoError("the net waits for setInput, which tells the shape of its input")
        if self._net is None:
            raise BoxpressoError("the net is empty; readNetFromCaffe(prototxt, caffemodel) reads one")
        return self._net

    # Running

    def setInput(self, blob: Numpy, name: str | None = "", scalefactor: float | None = 1.0, mean: Any = ()) -> None:
        """Sets an input, the first one without a name; its shape may differ from the prototxt's.

        Parameters
        ----------
        blob
            Numbers of any type but bool; they become float32.
        name
            Of the input.
        scalefactor, mean
            The net gets scalefactor * (blob - mean), with a mean for each channel of four at most. Those that are missing are
            0: as in OpenCV, one number is that of the first channel alone.

        Raises
        ------
        BoxpressoError
            For an unknown name, for arrays of another type, and for means where there are more than four channels.
        """
        if self._net is None and self._model is not None:  # of addLayerToPrev
            del self._model.layer[0].input_param.shape[:]
            self._model.layer[0].input_param.shape.add(dim=np.shape(blob))
            self._build()
        inputs = self.net.inputs
        if not inputs:
            raise BoxpressoError("setInput: the net has no inputs; its data come from a layer of the prototxt")
        labels, name = self._labels or inputs, name or ""
        place = labels.index(name) if name in labels else 0
        if (name and name not in labels) or place >= len(inputs):
            raise BoxpressoError(f'setInput: Requested blob "{name}" not found{nearest(name, labels[: len(inputs)])}')
        array = np.asarray(blob)
        if array.dtype.kind not in "fiu":
            raise BoxpressoError(f"setInput takes an array of numbers, such as float32 or uint8, got {array.dtype}")
        values = np.array(array, np.float32)
        means = np.asarray(() if mean is None else mean, np.float32).ravel()
        if means.any():
            channels = values.shape[1] if values.ndim > 1 else 1
            if max(channels, means.size) > 4:
                raise BoxpressoError(
                    f"setInput: a mean is of four channels at most, as in OpenCV; it has {means.size} numbers, and the blob "
                    f"{channels} channels: subtract it before"
                )
            each = np.pad(means, (0, 4 - means.size))[:channels]
            values -= each.reshape(1, -1, *(1,) * (values.ndim - 2)) if values.ndim > 1 else each
        self._inputs[inputs[place]] = values * np.float32(1 if scalefactor is None else scalefactor)

    def setInputsNames(self, inputBlobNames: Sequence[str]) -> None:
        """Gives the inputs other names, in their order, by which setInput finds them; those of the prototxt hold no more."""
        self._labels = list(inputBlobNames)

    @also(outBlobNames="outputName")
    def forward(self, outputName: Any = "", outputBlobs: Any = None) -> Any:
        """Runs the net.

        Parameters
        ----------
        outputName
            A layer, up to which the net runs, or several; by default the last one.
        outputBlobs
            Is not written to; with it the result is a tuple. The two may change places, as in OpenCV.

        Returns
        -------
        numpy.ndarray or tuple of numpy.ndarray
            The first top of that layer, or with several names, or none in a list, one for each.

        Raises
        ------
        BoxpressoError
            For an unknown layer, and for a layer without weights.
        """
        self.net  # noqa: B018  # raises for an empty net
        single = outputName is None or isinstance(outputName, str)
        if isinstance(outputBlobs, str):  # after the blobs
            outputName = outputBlobs
        if isinstance(outputName, str) or outputName is None or not len(outputName):
            results = self._run([outputName or self._last()])
            return results[0] if single and outputBlobs is None else tuple(results)
        return tuple(self._run(list(outputName)))

    def _last(self) -> str:
        """The name of the last layer."""
        if not self._ids:
            raise BoxpressoError("the net has no layers but its inputs; there is nothing to run")
        return list(self._ids)[-1]

    def forwardAndRetrieve(self, outBlobNames: Sequence[str]) -> tuple[tuple[Numpy, ...], ...]:
        """For each layer all of its tops."""
        tops = self._forward(list(outBlobNames))
        return tuple(tuple(tops[name]) for name in outBlobNames)

    def _run(self, names: list[str]) -> list[Numpy]:
        tops = self._forward(names)
        return [tops[name][0] for name in names]

    def _forward(self, names: list[str]) -> dict[str, list[Numpy]]:
        """All tops of some layers, as they are right after each has run."""
        net = self.net
        for name in names:
            if name not in self._known:
                raise BoxpressoError(f'forward: Requested layer "{name}" not found{nearest(name, self._known)}')
        if self._missing:
            raise ModelError(
                f"forward: the layers {', '.join(self._missing[:5])} have no weights; give readNetFromCaffe a "
                ".caffemodel that has them"
            )
        self._ran = True
        for name, value in self._inputs.items():
            net.blobs[name].reshape(*value.shape)
            net.blobs[name].data[...] = value
        tops = {name: self._known[name][1] for name in names}
        if all(set(net.outputs) >= set(each) or not net.top_names[self._known[name][0]] for name, each in tops.items()):
            out = net.forward({top for each in tops.values() for top in each} - set(net.outputs))  # as a whole
            result = {name: [out[top] for top in each] for name, each in tops.items()}
        else:  # in parts, each ending with a layer that is asked for: a later one may work in place on its tops
            order = net.layer_names
            places = {name: order.index(self._known[name][0]) for name in tops}
            result, start, out = {}, 0, {}
            for name in sorted(tops, key=places.__getitem__):
                if places[name] >= start:  # else the same layer once more, by another of its tops
                    out = net.forward(tops[name], start=order[start], end=order[places[name]])
                result[name] = [out[top] for top in tops[name]]
                start = places[name] + 1
        for name in names:
            if self._layer(name).type == "DetectionOutput":
                result[name][0] = self._rows(name, result[name][0])
        return result

    def _layer(self, name: str) -> Layer:
        """A layer of that name."""
        return self.net.layer_dict[self._known[name][0]]

    def _rows(self, name: str, detections: Numpy) -> Numpy:
        """Detections as OpenCV gives them: of each image the best first, then zeros up to keep_top_k rows for each image."""
        rows = detections.reshape(-1, 7)
        rows = rows[(rows[:, 0] >= 0) & (rows[:, 1] >= 0)]  # Caffe's row of -1 says that there are none
        rows = rows[np.lexsort((-rows[:, 2], rows[:, 0]))]
        result = np.zeros((1, 1, max(self._most(name), len(rows)), 7), np.float32)
        result[0, 0, : len(rows)] = rows
        return result

    def _most(self, name: str) -> int:
        """How many rows a DetectionOutput gives for a batch."""
        first, second, *_ = (self.net.blobs[bottom] for bottom in self.net.bottom_names[name])
        keep = self._layer(name).param.detection_output_param.keep_top_k
        keep = min(keep, max(KEPT, second.count // max(1, first.shape[0])))  # no more than there are scores
        return max(int(keep * first.shape[0]), 1)

    def getPerfProfile(self) -> tuple[int, Numpy]:
        """The time of a pass and that of each layer, in nanoseconds (ticks of 1e9 a second), from a pass that it runs."""
        net = self.net
        first = net.layer_names[0]
        net.forward(start=first, end=first)  # from here on layer by layer, without a plan
        taken = {}
        for i, layer in enumerate(net.layers):
            begin = time.perf_counter_ns()
            net.forward_layer(i)
            net.device.synchronize()
            taken[layer.name] = float(time.perf_counter_ns() - begin)
        parts = Counter(layer for layer, _ in self._known.values())
        ticks = [taken[layer] / parts[layer] for layer, _ in self._known.values()]
        return int(sum(ticks)), np.array(ticks)

    # Asking

    def empty(self) -> bool:
        """Whether no model was read."""
        return self._net is None

    def getLayerNames(self) -> tuple[str, ...]:
        """The names of all layers, in order."""
        return tuple(self._ids)

    def getLayerId(self, layer: str) -> int:
        """The number of a layer, from 1; 0 for `_input`, OpenCV's layer of all inputs; -1 for an unknown name."""
        return 0 if layer == INPUT else self._ids.get(layer, -1)

    @also(layerName="layerId")
    def getLayer(self, layerId: int | str) -> LayerInfo:
        """A layer by its number or its name; number 0 is OpenCV's layer of all inputs.

        Raises
        ------
        BoxpressoError
            For a layer that the net lacks.
        """
        names = {number: name for name, number in self._ids.items()}
        if layerId in (0, INPUT):
            return LayerInfo(INPUT, "", [], outputs=self._labels or list(self.net.inputs))
        name = layerId if isinstance(layerId, str) else names.get(int(layerId), "")
        if name not in self._known:
            raise BoxpressoError(f"getLayer: the net has no layer {layerId!r}; numbers are 1 to {len(names)}")
        layer = self._layer(name)
        return LayerInfo(
            name, type_of(layer), [np.array(blob.data) for blob in layer.blobs], write=partial(self._set_blobs, name)
        )

    def _set_blobs(self, name: str, values: Sequence[Any]) -> list[Numpy]:
        """Gives a layer other weights; a second blob that is left out, the bias, is 0."""
        layer = self._layer(name)
        blobs = layer.blobs
        if not len(blobs) - (len(blobs) == 2) <= len(values) <= len(blobs):
            raise BoxpressoError(f"getLayer: the layer {name!r} has {len(blobs)} blobs, got {len(values)}")
        arrays = [np.array(value, np.float32) for value in values]
        for number, (blob, array) in enumerate(zip(blobs, arrays)):
            if array.size != blob.count:
                raise BoxpressoError(
                    f"getLayer: blob {number} of the layer {name!r} has the shape {tuple(blob.shape)}, got {array.shape}"
                )
        for blob, array in zip(blobs, arrays):
            blob.data[...] = array.reshape(blob.shape)
        for blob in blobs[len(arrays) :]:
            blob.data[...] = 0
        self._given[name] = arrays  # for a net that is built anew
        self._missing = [each for each in self._missing if each != layer.name]
        return [np.array(blob.data) for blob in blobs]

    @also(layerName="layer")
    def getParam(self, layer: int | str, numParam: int = 0) -> Numpy:
        """A copy of a parameter of a layer; of one axis it is a column, the bias of an InnerProduct a row, as in OpenCV.

        Raises
        ------
        BoxpressoError
            For a layer that the net lacks, and a parameter that the layer lacks.
        """
        of, blob = self._parameter("getParam", layer, numParam)
        array = np.array(blob.data)
        if array.ndim > 1:
            return array
        return array.reshape((1, -1) if of.type == "InnerProduct" else (-1, 1))

    @also(layerName="layer")
    def setParam(self, layer: int | str, numParam: int, blob: Numpy) -> None:
        """Gives a parameter of a layer other values, in an array of any shape with as many elements.

        Raises
        ------
        BoxpressoError
            As `getParam`; for another number of elements.
        """
        of, target = self._parameter("setParam", layer, numParam)
        values = np.asarray(blob)
        if values.size != target.count:
            raise BoxpressoError(
                f"setParam: parameter {numParam} of layer {of.name!r} has the shape {target.shape}, the array given "
                f"{values.shape}"
            )
        info = self.getLayer(layer)
        info.blobs = [values if number == numParam else each for number, each in enumerate(info.blobs)]

    def _parameter(self, method: str, layer: int | str, number: int) -> tuple[Layer, Blob]:
        """A layer by its number or name, and one of its parameters."""
        name = self.getLayer(layer).name
        blobs = [] if name == INPUT else self._layer(name).blobs
        if not 0 <= number < len(blobs):
            raise BoxpressoError(f"{method}: layer {name!r} has {len(blobs)} parameters, and none of number {number}")
        return self._layer(name), blobs[number]

    def getLayerTypes(self) -> tuple[str, ...]:
        """The types of layers that the net has, sorted, with OpenCV's of its layer of inputs."""
        return tuple(sorted({INPUT_TYPE, *(type_of(self._layer(name)) for name in self._ids)}))

    def getLayersCount(self, layerType: str) -> int:
        """How many layers of a type the net has."""
        return sum(each == layerType for each in (INPUT_TYPE, *(type_of(self._layer(name)) for name in self._ids)))

    def getUnconnectedOutLayers(self) -> Numpy:
        """The numbers of the layers whose tops no other layer reads."""
        return np.array([self._ids[name] for name in self.getUnconnectedOutLayersNames()], np.int32)

    def getUnconnectedOutLayersNames(self) -> tuple[str, ...]:
        """The names of the layers whose tops no other layer reads."""
        net = self.net
        read: set[tuple[str, str]] = set()  # (layer, top) pairs that a later layer takes
        owner: dict[str, str] = {}
        for layer in net.layers:
            read |= {(owner[bottom], bottom) for bottom in net.bottom_names[layer.name] if bottom in owner}
            owner.update(dict.fromkeys(net.top_names[layer.name], layer.name))
        return tuple(name for name, (layer, tops) in self._known.items() if not read & {(layer, top) for top in tops})

    @also(netInputShape="netInputShapes")
    def getLayersShapes(
        self, netInputShapes: Any
    ) -> tuple[Numpy, tuple[tuple[Numpy, ...], ...], tuple[tuple[Numpy, ...], ...]]:
        """What each layer would read and make for inputs of other shapes; nothing runs, and the net keeps its own.

        Parameters
        ----------
        netInputShapes
            The shape of the input, or a list of one for each.

        Returns
        -------
        tuple
            The numbers of the layers, from 0, which stands for all inputs, int32 (N,); and for each the shapes of its bottoms
            and those of its tops, int32 arrays.

        Raises
        ------
        BoxpressoError
            For another number of shapes, and for shapes that a layer refuses.
        """
        rows = self._shapes("getLayersShapes", netInputShapes)
        ins, outs = (tuple(tuple(np.array(shape, np.int32) for shape in row[i]) for row in rows) for i in (0, 1))
        return np.arange(len(rows), dtype=np.int32), ins, outs

    def getMemoryConsumption(self, *layer_and_shapes: Any, **named: Any) -> tuple[int, int]:
        """The bytes of the weights and of the tops in float32, of the net or of one layer; what works in place counts again.

        Parameters
        ----------
        layer_and_shapes, named
            netInputShape, one shape; or layerId, the number of a layer, and netInputShapes, what getLayersShapes takes.

        Raises
        ------
        BoxpressoError
            For a layer that the net lacks; for shapes as getLayersShapes.
        """
        layer_and_shapes += tuple(
            named[name] for name in ("layerId", "netInputShapes", "netInputShape") if name in named
        )
        rows = self._shapes("getMemoryConsumption", layer_and_shapes[-1])
        numbers = range(len(rows)) if len(layer_and_shapes) == 1 else [int(layer_and_shapes[0])]
        if not all(0 <= number < len(rows) for number in numbers):
            raise BoxpressoError(
                f"getMemoryConsumption: the net has no layer {numbers[0]}; numbers are 0 to {len(rows) - 1}"
            )
        layers = [self._layer(name) for number in numbers if number for name in [list(self._ids)[number - 1]]]
        return size([blob.shape for each in layers for blob in each.blobs]), size(
            [s for n in numbers for s in rows[n][1]]
        )

    def _shapes(self, method: str, inputs: Any) -> list[tuple[list[Shape], list[Shape]]]:
        """For the inputs and each layer the shapes of what it reads and what it makes."""
        net = self.net
        shapes = shapes_of_inputs(method, inputs, net.inputs)
        with with_inputs(net, shapes):
            rows = [(shapes, shapes)]
            for name, (layer, tops) in self._known.items():
                outs = [tuple(net.blobs[top].shape) for top in tops]
                if self._layer(name).type == "DetectionOutput":
                    outs[0] = (1, 1, self._most(name), 7)
                rows.append(([tuple(net.blobs[bottom].shape) for bottom in net.bottom_names[layer]], outs))
        return rows

    def dump(self) -> str:
        """The prototxt of the net that runs."""
        return to_text(self.net.param)

    # Choosing

    def setPreferableBackend(self, backendId: int) -> None:
        """DNN_BACKEND_CUDA asks for a GPU, as DNN_TARGET_CUDA does; all others run where they did."""
        if backendId == DNN_BACKEND_CUDA:
            self._move("cuda")

    def setPreferableTarget(self, targetId: int) -> None:
        """DNN_TARGET_CPU, or DNN_TARGET_CUDA for a GPU; where none answers, a warning says that the net stays on the CPU."""
        if targetId in (DNN_TARGET_CUDA, DNN_TARGET_CUDA_FP16):
            self._move("cuda")
        elif targetId == DNN_TARGET_CPU:
            self._move("cpu")
        elif targetId in (DNN_TARGET_OPENCL, DNN_TARGET_OPENCL_FP16):
            warnings.warn("Boxpresso has no OpenCL: the net stays on the CPU", BoxpressoWarning, stacklevel=2)

    def _move(self, device: str) -> None:
        if device == "cuda" and len(devices()) == 1:
            warnings.warn(
                "no GPU answers, so the net stays on the CPU; `boxpresso device_query` says what is missing",
                BoxpressoWarning,
                stacklevel=3,
            )
            return
        if device != self._device:
            self._device = device
            if self._model is not None:
                self._build()

    def enableFusion(self, fusion: bool) -> None:
        """Is accepted for OpenCV's sake; results do not depend on it."""

    def enableWinograd(self, useWinograd: bool) -> None:
        """Is accepted for OpenCV's sake; results do not depend on it."""

    def setInputShape(self, inputName: str, shape: Sequence[int]) -> None:
        """Gives an input another shape.

        Raises
        ------
        BoxpressoError
            For an unknown name.
        """
        if inputName not in self.net.inputs:
            raise BoxpressoError(
                f'setInputShape: Requested blob "{inputName}" not found; the net has {self.net.inputs}'
            )
        self.net.blobs[inputName].reshape(*shape)

    def inputs(self) -> Mapping[str, tuple[int, ...]]:
        """{name: shape} of the inputs."""
        return {name: self.net.blobs[name].shape for name in self.net.inputs}
