"""registerLayer: classes of a script's own in the place of layer types, as cv2.dnn_registerLayer has them."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from itertools import count
from typing import Any, ClassVar

import numpy as np

from ..device import Blob
from ..layers.core import REGISTRY, Layer
from ..net.weights import Weights
from ..proto import NetParameter
from ..proto.errors import BoxpressoError, nearest

Maker = Callable[[dict[str, Any], list[np.ndarray[Any, Any]]], Any]
CLASSES: dict[str, list[type[Registered]]] = {}  # by type; the newest last
_numbers = count(1)


class Registered(Layer):
    """A layer that a script's class computes, on numpy arrays. `registerLayer` makes a type of it."""

    made_by: ClassVar[Maker]
    known_as: ClassVar[str]

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        arrays = [np.array(b.data, np.float32).reshape(tuple(b.shape.dim)) for b in self.param.blobs]
        for i, array in enumerate(arrays):
            self.parameter(i, array.shape).data[...] = array
        self.script = type(self).made_by(fields_of(self.param), arrays)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shapes = self.script.getMemoryShapes([tuple(blob.shape) for blob in bottom])
        self.need(len(shapes) == len(top), f"getMemoryShapes gives {len(shapes)} shapes for {len(top)} tops")
        for blob, shape in zip(top, shapes):
            blob.reshape(*(int(side) for side in shape))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        results = self.script.forward(tuple(np.array(blob.data) for blob in bottom))
        self.need(len(results) == len(top), f"forward gives {len(results)} arrays for {len(top)} tops")
        for i, (blob, result) in enumerate(zip(top, results)):
            fits = np.shape(result) == tuple(blob.shape)
            self.need(fits, f"forward gives {np.shape(result)} for top {i}, getMemoryShapes {tuple(blob.shape)}")
            blob.data[...] = np.asarray(result)


def fields_of(param: Any) -> dict[str, Any]:
    """The numbers and words that a layer's messages give, by name; enumerations by the names of their values, several as
    lists."""
    fields: dict[str, Any] = {}
    for field, message in param.ListFields():
        if field.name.endswith("_param") and field.message_type is not None and hasattr(message, "ListFields"):
            for inner, value in message.ListFields():
                if inner.enum_type is not None and isinstance(value, int):
                    value = inner.enum_type.values_by_number[value].name
                if inner.message_type is None:  # OpenCV gives no fillers either
                    fields[inner.name] = value if isinstance(value, (int, float, str, bytes)) else list(value)
    return fields


def registerLayer(type: str, layerClass: Maker) -> None:
    """From now on, nets that `readNetFromCaffe` reads compute layers of that type by a class of the script's own.

    Parameters
    ----------
    type
        Of the prototxt; it may be one that Boxpresso knows. Registered again, the newest class counts.
    layerClass
        Is called with the fields that the prototxt gives the layer, {name: value}, and the list of its weights. What comes
        of it has `getMemoryShapes(inputs)`, from a list of shapes to that of the outputs, and `forward(inputs)`, from a
        tuple of float32 arrays to a list of arrays.

    Raises
    ------
    BoxpressoError
        For a class without these methods.

    Source
    ------
    OpenCV 4.12, cv2.dnn_registerLayer.

    Examples
    --------
    >>> from boxpresso import dnn
    >>> class Twice:
    ...     def __init__(self, params, blobs):
    ...         pass
    ...     def getMemoryShapes(self, inputs):
    ...         return inputs
    ...     def forward(self, inputs):
    ...         return [2 * inputs[0]]
    >>> dnn.registerLayer("Twice", Twice)
    >>> net = dnn.readNetFromCaffe(b'input: "x" input_shape { dim: 1 dim: 2 } '
    ...                            b'layer { name: "y" type: "Twice" bottom: "x" top: "y" }')
    >>> net.setInput(np.array([[1, 2]], np.float32))
    >>> net.forward()
    array([[2., 4.]], dtype=float32)
    >>> dnn.unregisterLayer("Twice")
    """
    for name in ("getMemoryShapes", "forward"):
        if isinstance(layerClass, builtins.type) and not callable(getattr(layerClass, name, None)):
            raise BoxpressoError(f"registerLayer: the class for {type!r} has no method {name}")
    members = {"made_by": staticmethod(layerClass), "known_as": type, "__module__": layerClass.__module__}
    private = f"dnn {next(_numbers)}: {type}"
    made = builtins.type("Registered", (Registered,), members, type=private, tops=(1, None))
    CLASSES.setdefault(type, []).append(made)


def unregisterLayer(type: str) -> None:
    """Takes back the newest `registerLayer` of that type; nets that are there keep theirs.

    Raises
    ------
    BoxpressoError
        For a type that is not registered.
    """
    if type not in CLASSES:
        raise BoxpressoError(f"unregisterLayer: no layer {type!r} is registered{nearest(type, CLASSES)}")
    made = CLASSES[type].pop()
    for name in made.types:
        del REGISTRY[name.lower()]
    if not CLASSES[type]:
        del CLASSES[type]


def registered_for(model: NetParameter) -> dict[str, type[Registered]]:
    """The newest class of each type of the model's layers that is registered."""
    return {layer.type: CLASSES[layer.type][-1] for layer in model.layer if layer.type in CLASSES}


def with_registered(model: NetParameter, weights: Weights | None) -> NetParameter:
    """The model with layers of registered types under the types of their classes, and with their weights; a copy if there are
    any."""
    if not any(layer.type in CLASSES for layer in model.layer):
        return model
    result = NetParameter()
    result.CopyFrom(model)
    for layer in result.layer:
        if layer.type in CLASSES:
            layer.type = CLASSES[layer.type][-1].type
            del layer.blobs[:]
            for stored in weights[layer.name].blobs if weights and layer.name in weights else ():
                blob, array = layer.blobs.add(), np.asarray(stored, np.float32)
                blob.shape.dim.extend(array.shape)
                blob.data.extend(array.ravel().tolist())
    return result


def type_of(layer: Layer) -> str:
    """The type of a layer as its prototxt has it."""
    return layer.known_as if isinstance(layer, Registered) else layer.type
