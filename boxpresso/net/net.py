"""Net: the layers of a prototxt over their blobs, run forward and backward by two short loops."""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Union

import numpy as np

from ..device import Blob, build_all, open_device
from ..layers.core import Layer, check_arity, layer_class
from ..proto import LayerParameter, NetParameter, read_net
from ..proto.errors import BoxpressoError, LayerError, ModelError, nearest
from .gradients import Gradients
from .prepare import select, split
from .weights import copy_weights, read_weights, save_weights

Source = Union[str, "os.PathLike[str]"]


class Net:
    """A net that runs on one device.

    model: the path of a prototxt, or a NetParameter. weights: a .caffemodel or .h5 path, or several, copied in order.
    phase: "TEST" or "TRAIN"; phase, level and stages choose layers by their include and exclude rules. device: "cpu",
    "cuda", "cuda:1"; None takes $BOXPRESSO_DEVICE, else a GPU if one answers, else the CPU. deterministic: the same bits
    on every run on a GPU too (the CPU always gives them). dtype: numpy.float32 or numpy.float64. seed: for fillers and
    Dropout; None is another one every time, unless the NetParameter's solver gave one. python_layers: the modules, or their
    names, from which layers of type "Python" may take their classes; no other module is imported for a prototxt.

    The surface is pycaffe's: blobs, params, layers, layer_dict, inputs, outputs, bottom_names, top_names, forward, backward,
    forward_all, reshape, copy_from, save, share_with. Raises ModelError for what is wrong with the files and LayerError
    for what a layer refuses, both by name.
    """

    def __init__(
        self,
        model: Source | NetParameter,
        weights: Source | Sequence[Source] | None = None,
        *,
        phase: str = "TEST",
        device: str | None = None,
        level: int = 0,
        stages: Sequence[str] = (),
        deterministic: bool = False,
        dtype: Any = np.float32,
        seed: int | None = None,
        python_layers: Sequence[str | ModuleType] = (),
    ) -> None:
        if phase not in ("TRAIN", "TEST"):
            raise ModelError(f"phase must be 'TRAIN' or 'TEST', got {phase!r}")
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise ModelError(f"dtype must be float32 or float64, got {np.dtype(dtype)}")
        given = model if isinstance(model, NetParameter) else read_net(model)
        self.param: NetParameter = split(select(given, phase, level=level, stages=stages))
        self.name, self.phase, self.dtype = self.param.name, phase, np.dtype(dtype)
        self.device = open_device(device, deterministic=deterministic).with_stream()
        self.debug_info = self.param.debug_info
        self.seed = int(np.random.SeedSequence(seed).generate_state(1)[0])
        self.python_layers = tuple(python_layers)

        self.blobs: OrderedDict[str, Blob] = OrderedDict()
        self.params: OrderedDict[str, list[Blob]] = OrderedDict()
        self.layers: list[Layer] = []
        self.layer_dict: OrderedDict[str, Layer] = OrderedDict()
        self.bottoms: list[list[Blob]] = []
        self.tops: list[list[Blob]] = []
        self.bottom_names: OrderedDict[str, list[str]] = OrderedDict()
        self.top_names: OrderedDict[str, list[str]] = OrderedDict()
        self.loss_weights: list[list[float]] = []
        self.shared: dict[str, tuple[Layer, int]] = {}  # parameter name -> the layer and index that own it
        self.seen_shapes: list[tuple[Any, ...]] = []
        self.copied: list[Any] = []  # what copy_from reported, file by file
        self.after_backward: list[Callable[[int], None]] = []  # called with the number of each layer that backward left
        self._busy = threading.RLock()

        classes = [layer_class(layer.type, layer.name) for layer in self.param.layer]
        build_all(self.device, [k for c in classes for k in c.kernel_files()], self.dtype)
        unused: dict[str, None] = {}  # blobs that no layer has read yet, in order of their making
        self.names: list[tuple[list[str], list[str]]] = []  # each layer's bottoms and tops
        for param, cls in zip(self.param.layer, classes):
            self._append(param, cls, unused)
        self.inputs = [name for param in self.param.layer if param.type == "Input" for name in param.top]
        self.outputs = sorted(unused)  # Caffe's order
        self._gradients = Gradients(self.layers, self.names, self.param, self.loss_weights)
        for path in [weights] if isinstance(weights, (str, os.PathLike)) else weights or ():
            self.copy_from(path)

    # Building

    def _append(self, param: LayerParameter, cls: type[Layer], unused: dict[str, None]) -> None:
        """Makes one layer and its tops, and lets it give them their shapes."""
        layer = cls(
            param,
            device=self.device,
            dtype=self.dtype,
            phase="TRAIN" if param.HasField("phase") and param.phase == 0 else self.phase,
            seed=int(np.random.SeedSequence([self.seed, len(self.layers)]).generate_state(1)[0]),
        )
        layer.python_layers = self.python_layers
        bottoms, tops = list(param.bottom), list(param.top)
        if layer.loss and not tops:
            tops = [f"{param.name} (automatic)"]
        check_arity(layer, len(bottoms), len(tops))
        for name in bottoms:
            if name not in self.blobs:
                raise ModelError(f"{layer}: nothing before it makes its bottom {name!r}{nearest(name, self.blobs)}")
            unused.pop(name, None)
        made = []
        for i, name in enumerate(tops):
            if i < len(bottoms) and bottoms[i] == name:
                layer.need(layer.in_place and i == 0, f"cannot work in place; give its top {name!r} another name")
                made.append(self.blobs[name])
            elif name in self.blobs:
                raise ModelError(f"{layer}: its top {name!r} is made by an earlier layer already; rename one of them")
            else:
                made.append(self.blobs.setdefault(name, Blob((), self.dtype, self.device)))
            unused[name] = None
        bottom = [self.blobs[name] for name in bottoms]
        with named(layer):
            layer.setup(bottom, made)
            layer.reshape(bottom, made)
        self.layers.append(layer)
        self.bottoms.append(bottom)
        self.tops.append(made)
        self.names.append((bottoms, tops))
        self.layer_dict[layer.name] = layer
        self.bottom_names[layer.name], self.top_names[layer.name] = bottoms, tops
        self.seen_shapes.append(signature(bottom))
        self.loss_weights.append(self._loss_weights(layer, param, len(tops)))
        self._share_params(layer, param)
        if layer.blobs:
            self.params[layer.name] = layer.blobs

    def _loss_weights(self, layer: Layer, param: LayerParameter, tops: int) -> list[float]:
        weights = list(param.loss_weight) or ([1.0] + [0.0] * (tops - 1) if layer.loss and tops else [0.0] * tops)
        layer.need(
            len(weights) == tops, f"has {len(weights)} loss_weight values for {tops} tops; give one each, or none"
        )
        return weights

    def _share_params(self, layer: Layer, param: LayerParameter) -> None:
        """Parameters with the same `param { name }` are one blob, owned by the first layer that names it."""
        layer.need(
            len(param.param) <= len(layer.blobs),
            f"has {len(param.param)} param entries but {len(layer.blobs)} parameters",
        )
        for i, spec in enumerate(param.param):
            if not spec.name:
                continue
            if spec.name not in self.shared:
                self.shared[spec.name] = (layer, i)
                continue
            owner, j = self.shared[spec.name]
            mine, theirs = layer.blobs[i], owner.blobs[j]
            loose = spec.share_mode == 1  # PERMISSIVE: the count must agree
            layer.need(
                mine.count == theirs.count if loose else mine.shape == theirs.shape,
                f"parameter {i} has the shape {mine.shape}, but {spec.name!r}, which it shares with {owner}, has "
                f"{theirs.shape}"
                + ("" if loose else "; share_mode: PERMISSIVE allows another shape of the same count"),
            )
            mine.share(theirs, *mine.shape) if mine.shape else mine.share(theirs)

    # Running

    def forward(
        self, blobs: Iterable[str] | None = None, start: str | None = None, end: str | None = None, **inputs: Any
    ) -> dict[str, np.ndarray]:
        """Runs from layer `start` to layer `end` (both included, by name) and returns {top name: array}.

        inputs: an array for each of the net's inputs; one of another shape reshapes the net. blobs: names of further blobs
        to return beside the outputs. With `end`, the tops of that layer are returned. The arrays are copies.
        """
        with self._alone():
            self._set_inputs(inputs)
            first, last = self._position(start, 0), self._position(end, len(self.layers) - 1)
            for i in range(first, last + 1):
                self.forward_layer(i)
            wanted = list(self.outputs) if end is None else self.names[last][1]
            return {name: np.array(self._blob(name).data) for name in [*wanted, *(blobs or ())]}

    def forward_layer(self, i: int) -> None:
        """Runs layer number `i`, reshaping it first if one of its bottoms has another shape than before."""
        layer, bottom, top = self.layers[i], self.bottoms[i], self.tops[i]
        with named(layer):
            now = signature(bottom)
            if now != self.seen_shapes[i]:
                layer.reshape(bottom, top)
                self.seen_shapes[i] = now
            layer.forward(bottom, top)
        if self.debug_info:
            for name, blob in zip(self.names[i][1], top):
                self._show("Forward", layer, f"top blob {name}", "data", blob.data)
            for j, blob in enumerate(layer.blobs):
                self._show("Forward", layer, f"param blob {j}", "data", blob.data)

    def backward(
        self, diffs: Iterable[str] | None = None, start: str | None = None, end: str | None = None, **outputs: Any
    ) -> dict[str, np.ndarray]:
        """Runs from layer `start` back to layer `end` (both included, by name); returns {input name: diff}.

        outputs: a diff for each output that is given, in place of its loss weight. diffs: names of further blobs whose
        diff to return. Diffs of parameters are added to: `clear_param_diffs` zeroes them. Without a loss and without
        `force_backward: true` there is nothing to do, and a warning says so.
        """
        with self._alone():
            self._gradients.warn_if_idle()
            for weights, tops in zip(self.loss_weights, self.tops):
                for weight, top in zip(weights, tops):
                    if weight:
                        top.diff.fill(weight)
            for name, value in outputs.items():
                if name not in self.outputs:
                    raise ModelError(
                        f"backward: {name!r} is not an output of the net; those are {', '.join(self.outputs)}"
                    )
                assign(self.blobs[name], self.blobs[name].diff, value, f"the diff of output {name!r}")
            first, last = self._position(start, len(self.layers) - 1), self._position(end, 0)
            for i in range(first, last - 1, -1):
                self.backward_layer(i)
                for left in self.after_backward:
                    left(i)
            wanted = list(self.inputs) if end is None else self.names[last][0]
            return {name: np.array(self._blob(name).diff) for name in [*wanted, *(diffs or ())]}

    def backward_layer(self, i: int) -> None:
        """Runs layer number `i` backward if anything wants its gradient."""
        layer = self.layers[i]
        if not self._gradients.layer_needs[i]:
            return
        with named(layer):
            layer.backward(self.tops[i], self._gradients.bottom_needs[i], self.bottoms[i])
        if self.debug_info:
            for name, blob, needed in zip(self.names[i][0], self.bottoms[i], self._gradients.bottom_needs[i]):
                if needed:
                    self._show("Backward", layer, f"bottom blob {name}", "diff", blob.diff)
            for j, blob in enumerate(layer.blobs):
                if layer.param_propagate_down[j]:
                    self._show("Backward", layer, f"param blob {j}", "diff", blob.diff)

    def forward_all(self, blobs: Iterable[str] | None = None, **inputs: Any) -> dict[str, np.ndarray]:
        """Runs forward over arrays longer than the batch, batch by batch, and returns the outputs joined, as pycaffe."""
        parts: dict[str, list[np.ndarray]] = {}
        for batch, count in self._batches(inputs):
            for name, value in self.forward(blobs=blobs, **batch).items():
                parts.setdefault(name, []).append(value[:count])
        return {name: np.concatenate(values) for name, values in parts.items()}

    def forward_backward_all(
        self, blobs: Iterable[str] | None = None, diffs: Iterable[str] | None = None, **arrays: Any
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """forward_all and backward over the same batches; arrays named after outputs are their diffs."""
        given = {name: arrays.pop(name) for name in list(arrays) if name in self.outputs}
        outs: dict[str, list[np.ndarray]] = {}
        backs: dict[str, list[np.ndarray]] = {}
        for (batch, count), (upstream, _) in zip(self._batches(arrays), self._batches(given, arrays)):
            for name, value in self.forward(blobs=blobs, **batch).items():
                outs.setdefault(name, []).append(value[:count])
            for name, value in self.backward(diffs=diffs, **upstream).items():
                backs.setdefault(name, []).append(value[:count])
        join = lambda parts: {name: np.concatenate(values) for name, values in parts.items()}  # noqa: E731
        return join(outs), join(backs)

    def loss(self) -> float:
        """The weighted sum of the losses of the last forward pass."""
        total = 0.0
        for weights, tops in zip(self.loss_weights, self.tops):
            total += sum(w * float(np.sum(np.asarray(t.data), dtype=np.float64)) for w, t in zip(weights, tops) if w)
        return total

    def reshape(self) -> None:
        """Gives every blob the shape that follows from those of the inputs, without computing anything."""
        for i, layer in enumerate(self.layers):
            with named(layer):
                layer.reshape(self.bottoms[i], self.tops[i])
                self.seen_shapes[i] = signature(self.bottoms[i])

    def clear_param_diffs(self) -> None:
        """Zeroes the diff of every parameter; `backward` adds to them."""
        for layer in self.layers:
            for blob in layer.blobs:
                blob.diff.fill(0)

    # Weights

    def copy_from(self, path: Source) -> Any:
        """Copies the weights of a .caffemodel or .h5 file to the layers of the same names; returns the report.

        Names that only one side has are in the report (`missing`, `unused`); a blob of another shape is a ModelError.
        """
        self.copied.append(copy_weights(read_weights(path), self.layers))
        return self.copied[-1]

    def save(self, path: Source) -> None:
        """Writes the weights as Caffe does: a .caffemodel, or HDF5 when the name ends in .h5. All of it or nothing."""
        rows = [
            (layer.name, layer.type, bottoms, tops, [np.asarray(blob.data) for blob in layer.blobs])
            for layer, (bottoms, tops) in zip(self.layers, self.names)
        ]
        save_weights(path, rows, self.name)

    def share_with(self, other: Net) -> None:
        """Uses the parameter memory of another net of the same device, layer by layer of the same name."""
        for name, blobs in self.params.items():
            theirs = other.params.get(name)
            if theirs is None:
                continue
            if [b.shape for b in blobs] != [b.shape for b in theirs] or other.device.name != self.device.name:
                raise ModelError(f"layer {name!r} cannot share: its parameters differ in shape, or the nets in device")
            for mine, blob in zip(blobs, theirs):
                mine.share_data(blob)

    # Helpers

    @property
    def layer_names(self) -> list[str]:
        return [layer.name for layer in self.layers]

    _layer_names = layer_names
    _blob_names = property(lambda self: list(self.blobs))

    @property
    def blob_loss_weights(self) -> dict[str, float]:
        """{blob name: its weight in the loss}, 0 for most."""
        table = dict.fromkeys(self.blobs, 0.0)
        for (_, tops), weights in zip(self.names, self.loss_weights):
            table.update({name: weight for name, weight in zip(tops, weights) if weight})
        return table

    @property
    def learnable(self) -> list[tuple[Blob, float, float]]:
        """Each parameter once (shared ones by their owner), with its lr_mult and decay_mult."""
        found = []
        for layer in self.layers:
            for i, blob in enumerate(layer.blobs):
                spec = layer.param.param[i] if i < len(layer.param.param) else None
                if spec is not None and spec.name and self.shared[spec.name] != (layer, i):
                    continue
                lr = spec.lr_mult if spec is not None else 1.0
                found.append((blob, lr if layer.param_propagate_down[i] else 0.0, spec.decay_mult if spec else 1.0))
        return found

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Raises when another thread is inside this net: its blobs are one set. A net for each thread is the way."""
        if not self._busy.acquire(blocking=False):
            raise BoxpressoError(
                f"net {self.name!r} is running in another thread: its blobs hold one pass at a time; make a Net for each "
                "thread (share_with shares the weights)"
            )
        try:
            yield
        finally:
            self._busy.release()

    def _blob(self, name: str) -> Blob:
        if name not in self.blobs:
            raise ModelError(f"the net has no blob {name!r}{nearest(name, self.blobs)}")
        return self.blobs[name]

    def _position(self, name: str | None, default: int) -> int:
        if name is None:
            return default
        if name not in self.layer_dict:
            raise ModelError(f"the net has no layer {name!r}{nearest(name, self.layer_dict)}")
        return self.layers.index(self.layer_dict[name])

    def _set_inputs(self, inputs: Mapping[str, Any]) -> None:
        for name, value in inputs.items():
            if name not in self.inputs:
                known = ", ".join(self.inputs) or "none"
                raise ModelError(f"forward: {name!r} is not an input of the net; its inputs are: {known}")
            blob = self.blobs[name]
            if np.ndim(value) == len(blob.shape):
                blob.reshape(*np.shape(value))
            assign(blob, blob.data, value, f"input {name!r}")

    def _batches(
        self, arrays: Mapping[str, Any], like: Mapping[str, Any] | None = None
    ) -> Iterator[tuple[dict[str, Any], int]]:
        """The arrays in batches of the size of the first input, the last one filled up with zeros."""
        arrays = {name: np.asarray(value) for name, value in arrays.items()}
        counts = {len(value) for value in (like or arrays).values()}
        if len(counts) != 1 or not self.inputs:
            raise ModelError(f"arrays for all inputs must have one length, got {sorted(counts)}")
        total, size = counts.pop(), self.blobs[self.inputs[0]].shape[0]
        for at in range(0, total, size):
            count, batch = min(size, total - at), dict[str, Any]()
            for name, value in arrays.items():
                batch[name] = np.zeros((size, *value.shape[1:]), self.dtype)
                batch[name][:count] = value[at : at + count]
            yield batch, count

    @staticmethod
    def _show(direction: str, layer: Layer, what: str, kind: str, values: Any) -> None:
        mean = float(np.abs(np.asarray(values)).mean()) if values.size else 0.0
        print(f"    [{direction}] Layer {layer.name}, {what} {kind}: {mean:.6g}", file=sys.stderr)

    def __repr__(self) -> str:
        return f"Net({self.name!r}, {len(self.layers)} layers, {self.phase}, {self.device.name})"


def signature(blobs: Sequence[Blob]) -> tuple[Any, ...]:
    """What a layer's reshape depends on: its bottoms' shapes and whose memory they use."""
    return tuple((blob.shape, id(blob._data)) for blob in blobs)


def assign(blob: Blob, array: Any, value: Any, what: str) -> None:
    """array[...] = value, with an error that names what did not fit."""
    try:
        array[...] = value
    except ValueError:
        raise ModelError(f"{what} has the shape {blob.shape}, the array given {np.shape(value)}") from None


@contextmanager
def named(layer: Layer) -> Iterator[None]:
    """Puts the layer's name before an error that does not have it."""
    try:
        yield
    except LayerError as error:
        if str(error).startswith(str(layer)):
            raise
        raise LayerError(f"{layer}: {error}") from error
