"""pycaffe's Net: boxpresso.Net under the constructors, the methods and the return values of `caffe.Net`."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..device import AnyArray, Blob
from ..layers.core.python import caffe_to_import
from ..layers.core.registry import replacement
from ..layers.data.memory_data import MemoryData
from ..net import Net as BoxpressoNet
from ..proto import NetParameter, files, read_net
from ..proto.errors import ModelError, nearest
from ..proto.hdf5 import import_h5py
from ..proto.reading import FilePath
from . import libraries, settings

PHASES = ("TRAIN", "TEST")
Arrays = dict[str, AnyArray]


def __getattr__(name: str) -> Any:
    """pycaffe's module has the names of the compiled one, too: `caffe.pycaffe.SGDSolver`."""
    compiled = importlib.import_module("._caffe", __package__)
    if name in compiled.__all__:
        return getattr(compiled, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class MissingFile(ModelError, RuntimeError):
    """A file that cannot be opened: RuntimeError, as in pycaffe."""


class Callbacks(list[Callable[[int], None]]):
    """Functions that are called with a layer's number; calling the list adds one, as pycaffe's `net.after_forward(f)`."""

    def __call__(self, function: Callable[[int], None]) -> None:
        self.append(function)


class Net(BoxpressoNet):
    """`caffe.Net(prototxt, caffe.TEST)`, `(prototxt, weights, caffe.TEST)` or `(prototxt, caffe.TEST, weights=...)`.

    A boxpresso.Net with pycaffe's rules where they differ: forward and backward return the blobs' own arrays, not copies;
    inputs are given all or none and do not reshape the net; layers of type "Python" come from any module that can be imported,
    as the script that runs is trusted.

    Parameters
    ----------
    network_file
        A prototxt.
    phase
        caffe.TRAIN or caffe.TEST.
    level, stages
        They choose layers, with the phase.
    weights
        A .caffemodel or .h5.

    Raises
    ------
    TypeError
        For other arguments.
    RuntimeError
        For a file that cannot be opened; it is a ModelError too.
    ModelError
        For what is wrong with the files.

    Source
    ------
    pycaffe of BVLC Caffe 1.0.

    Examples
    --------
    >>> import tempfile
    >>> from boxpresso import caffe
    >>> with tempfile.NamedTemporaryFile("w", suffix=".prototxt") as file:
    ...     _ = file.write('layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 } } }')
    ...     _ = file.write('layer { name: "y" type: "Power" bottom: "x" top: "y" power_param { scale: 3 } }')
    ...     file.flush()
    ...     net = caffe.Net(file.name, caffe.TEST)
    >>> net.blobs["x"].data[...] = 1, 2
    >>> net.forward()
    {'y': array([[3., 6.]], dtype=float32)}
    """

    fused: ClassVar[bool] = True  # whole passes at TEST without callbacks run by the net's plan; blobs stay readable

    def __init__(self, *args: Any, **named: Any) -> None:
        file, phase, level, stages, weights = arguments(args, named)
        for path in (file, weights):
            if path is not None and not os.access(path, os.R_OK):
                raise MissingFile(f"Could not open file {os.fspath(path)}")
        where = {"level": level, "stages": stages, "source": os.fspath(file)}
        self._build(read_net(file), weights, phase=PHASES[phase], **where)

    def _build(self, model: NetParameter, weights: FilePath | Sequence[FilePath] | None, **options: Any) -> None:
        """boxpresso.Net's constructor, with the device, seed and Python layers that pycaffe would take."""
        options = {"device": settings.device_name(), "seed": settings.next_seed(), "optimize": self.fused, **options}
        super().__init__(model, weights, **{**options, "python_layers": python_modules(model)})
        self.after_backward: Callbacks = Callbacks(self.after_backward)
        self.before_forward, self.after_forward, self.before_backward = Callbacks(), Callbacks(), Callbacks()
        self._loss_diffs: dict[
            str, tuple[int, ...]
        ] = {}  # tops that have the diff of their loss, and their shapes then
        self._fill_loss_diffs()

    @classmethod
    def _make(cls, model: NetParameter, options: Mapping[str, Any]) -> Net:
        net = cls.__new__(cls)
        net._build(model, None, **options)
        return net

    # What pycaffe of 2014 had on a net: modes and phases of the whole program

    def set_mode_cpu(self) -> None:
        """caffe.set_mode_cpu, which is for nets that are made afterwards; this one stays where it is."""
        settings.set_mode_cpu()

    def set_mode_gpu(self) -> None:
        """caffe.set_mode_gpu, likewise."""
        settings.set_mode_gpu()

    def set_device(self, index: int) -> None:
        """caffe.set_device, likewise."""
        settings.set_device(index)

    def set_phase_test(self) -> None:
        """caffe.set_phase_test. Raises RuntimeError for a net that was made for TRAIN."""
        self._need_phase("TEST")
        settings.set_phase_test()

    def set_phase_train(self) -> None:
        """caffe.set_phase_train. Raises RuntimeError for a net that was made for TEST."""
        self._need_phase("TRAIN")
        settings.set_phase_train()

    def _need_phase(self, wanted: str) -> None:
        if self.phase != wanted:
            raise RuntimeError(
                f"this net was made for {self.phase}, which cannot change; make it by caffe.Net(prototxt, weights, "
                f"caffe.{wanted}), or call caffe.set_phase_{wanted.lower()}() before"
            )

    # Running

    def forward(
        self, blobs: Iterable[str] | None = None, start: str | None = None, end: str | None = None, **kwargs: ArrayLike
    ) -> Arrays:
        """Runs the net forward.

        Parameters
        ----------
        blobs
            Names of further blobs to return beside the outputs.
        start, end
            Names of the first and the last layer to run.
        kwargs
            An array for each input of the net, or none at all.

        Returns
        -------
        dict
            {name: the blob's data} of the outputs, or with `end` of the tops of that layer. They are the blobs' own arrays,
            which the next pass overwrites.
        """
        first, last = self._position(start, 0), self._position(end, len(self.layers) - 1)
        self._fill(kwargs, self.inputs, "Input", lambda blob: blob.data)
        self._forward(first, last)
        names = [*(self.outputs if end is None else self.top_names[end]), *(blobs or ())]
        return {name: self._blob(name).data for name in names}

    def _forward(self, first: int, last: int) -> float:
        """Runs layers by number and returns the loss of the net."""
        whole = first == 0 and last == len(self.layers) - 1
        if self.fused and whole and not self.before_forward and not self.after_forward:
            super().forward()
            return self.loss()
        with self._alone():
            self._make_way(first, last)
            for i in range(first, last + 1):
                for callback in self.before_forward:
                    callback(i)
                self.forward_layer(i)
                for callback in self.after_forward:
                    callback(i)
        return self.loss()

    def backward(  # type: ignore[override]
        self, diffs: Iterable[str] | None = None, start: str | None = None, end: str | None = None, **kwargs: ArrayLike
    ) -> Arrays:
        """Runs the net backward.

        Parameters
        ----------
        diffs
            Names of further blobs whose diff to return.
        start, end
            Names of the first and the last layer to run, `end` being earlier in the net.
        kwargs
            The diff of each output of the net, or none at all.

        Returns
        -------
        dict
            {name: the blob's diff} of the net's inputs, or with `end` of the bottoms of that layer; the blobs' own arrays.
        """
        first, last = self._position(start, len(self.layers) - 1), self._position(end, 0)
        self._fill(kwargs, self.outputs, "Top diff", lambda blob: blob.diff)
        self._backward(first, last)
        names = [*(self.inputs if end is None else self.bottom_names[end]), *(diffs or ())]
        return {name: self._blob(name).diff for name in names}

    def _backward(self, first: int, last: int) -> None:
        """Runs layers by number, down to `last`. The diff of a loss is its weight, unless a script has changed it since."""
        with self._alone():
            self._begin_backward(first, last)
            self._fill_loss_diffs()
            for i in range(first, last - 1, -1):
                for callback in self.before_backward:
                    callback(i)
                self.backward_layer(i)
                for callback in self.after_backward:
                    callback(i)

    def _fill_loss_diffs(self) -> None:
        """Gives each loss its weight as diff, once for a shape: from the net's making on a script may change it."""
        for (_, names), weights, tops in zip(self.names, self.loss_weights, self.tops):
            for name, weight, top in zip(names, weights, tops):
                if weight and self._loss_diffs.get(name) != top.shape:
                    top.diff.fill(weight)
                    self._loss_diffs[name] = top.shape

    def forward_all(self, blobs: Iterable[str] | None = None, **kwargs: ArrayLike) -> dict[str, Any]:
        """Runs forward over arrays longer than the batch; the outputs of all batches joined, without the padding."""
        count = _length(kwargs)
        parts: dict[str, list[Any]] = {}
        for batch in self._batch(kwargs):
            for name, value in self.forward(blobs=blobs, **batch).items():
                parts.setdefault(name, []).append(np.array(value))
        return {name: np.concatenate(values)[:count] for name, values in parts.items()}

    def forward_backward_all(
        self, blobs: Iterable[str] | None = None, diffs: Iterable[str] | None = None, **kwargs: ArrayLike
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """`forward_all` and `backward` over the same batches; arrays that are named after outputs are their diffs."""
        count = _length(kwargs)
        inputs = {name: value for name, value in kwargs.items() if name in self.inputs}
        upstream = {name: value for name, value in kwargs.items() if name in self.outputs}
        forwards, backwards = list(self._batch(inputs)), list(self._batch(upstream))
        outputs: dict[str, list[Any]] = {}
        gradients: dict[str, list[Any]] = {}
        for i in range(max(len(forwards), len(backwards))):
            for name, value in self.forward(blobs=blobs, **(forwards[i] if i < len(forwards) else {})).items():
                outputs.setdefault(name, []).append(np.array(value))
            for name, value in self.backward(diffs=diffs, **(backwards[i] if i < len(backwards) else {})).items():
                gradients.setdefault(name, []).append(np.array(value))
        joined = [{n: np.concatenate(values)[:count] for n, values in p.items()} for p in (outputs, gradients)]
        return joined[0], joined[1]

    def _batch(self, blobs: Mapping[str, ArrayLike]) -> Iterator[dict[str, Any]]:
        """Arrays in batches of the size of the net's first blob, the last one padded with zeros."""
        if not blobs:
            return
        size, count = next(iter(self.blobs.values())).shape[0], _length(blobs)
        for at in range(0, count, size):
            batch = {name: np.asarray(value)[at : at + size] for name, value in blobs.items()}
            rest = size - min(size, count - at)
            yield {name: np.concatenate([v, np.zeros((rest, *v.shape[1:]), v.dtype)]) for name, v in batch.items()}

    def _fill(
        self, values: Mapping[str, ArrayLike], wanted: Sequence[str], kind: str, array: Callable[[Blob], AnyArray]
    ) -> None:
        if not values:
            return
        if set(values) != set(wanted):
            where = "net inputs" if kind == "Input" else "net outputs"
            raise ModelError(
                f"{kind} blob arguments do not match {where}: given {sorted(values)}, the net has {sorted(wanted)}"
            )
        for name, value in values.items():
            shape, rows = self.blobs[name].shape, np.shape(value)[:1]
            if rows != shape[:1]:
                raise ModelError(
                    f"{kind} is not batch sized: {name!r} has the shape {shape}, the array {np.shape(value)}; "
                    f"net.blobs[{name!r}].reshape(...) gives another batch"
                )
            array(self.blobs[name])[...] = value

    # Data and weights

    def set_input_arrays(self, data: AnyArray, labels: AnyArray) -> None:
        """Gives the net's MemoryData layer, its first, images (N, C, H, W) and N labels, both float32.

        Raises
        ------
        RuntimeError
            For another first layer, or arrays of another type or shape.
        """
        layer = self.layers[0]
        if not isinstance(layer, MemoryData):
            raise RuntimeError("set_input_arrays may only be called if the first layer is a MemoryDataLayer")
        labels = labels[:, None, None, None] if np.ndim(labels) == 1 else labels
        for kind, array, shape in (("data array", data, layer.shape), ("labels array", labels, (1, 1, 1))):
            if np.ndim(array) != 4 or array.dtype != np.float32 or tuple(array.shape[1:]) != tuple(shape):
                raise RuntimeError(
                    f"{kind} must be 4-d float32 of shape {('N', *shape)}, got {array.dtype} of {array.shape}"
                )
        if len(data) != len(labels):
            raise RuntimeError("data and labels must have the same first dimension")
        if len(data) % layer.batch_size:
            raise RuntimeError("first dimensions of input arrays must be a multiple of batch size")
        layer.set_input_arrays(np.asarray(data), np.asarray(labels))

    def save_hdf5(self, filename: FilePath) -> None:
        """Writes the weights as HDF5, whatever the file is called."""
        import_h5py(os.fspath(filename))
        with files.replacing(filename, suffix=".h5") as part:
            self.save(part)

    def load_hdf5(self, filename: FilePath) -> None:
        """Copies the weights of an HDF5 file to the layers of the same names."""
        self.copy_from(filename)

    # What pycaffe's own code reads

    @property
    def _blobs(self) -> list[Blob]:
        return list(self.blobs.values())

    @property
    def _blob_loss_weights(self) -> list[float]:
        return list(self.blob_loss_weights.values())

    @property
    def _inputs(self) -> list[int]:
        return [list(self.blobs).index(name) for name in self.inputs]

    @property
    def _outputs(self) -> list[int]:
        return [list(self.blobs).index(name) for name in self.outputs]

    def _bottom_ids(self, layer: int) -> list[int]:
        return [list(self.blobs).index(name) for name in self.names[layer][0]]

    def _top_ids(self, layer: int) -> list[int]:
        return [list(self.blobs).index(name) for name in self.names[layer][1]]


class BuiltNet(Net):
    """A net that a solver makes: caffe.Net with the constructor of boxpresso.Net."""

    def __init__(  # pylint: disable=super-init-not-called
        self, model: NetParameter, weights: FilePath | Sequence[FilePath] | None = None, **options: Any
    ) -> None:
        self._build(model, weights, **options)


def arguments(args: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, int, int, tuple[str, ...], Any]:
    """(network_file, phase, level, stages, weights) of the arguments of caffe.Net, in any form that pycaffe takes."""
    order = ["network_file", "phase", "level", "stages", "weights"]
    if len(args) >= 2 and isinstance(args[1], (str, os.PathLike)):
        order = ["network_file", "weights", "phase", "level", "stages"]
    if len(args) > len(order):
        raise TypeError(f"Net takes at most {len(order)} arguments ({', '.join(order)}), got {len(args)}")
    values = dict(zip(order, args))
    for name, value in named.items():
        if name not in order:
            raise TypeError(f"Net has no argument {name!r}{nearest(name, order)}; it takes {', '.join(order)}")
        if name in values:
            raise TypeError(f"Net got two values for {name!r}")
        values[name] = value
    old = settings.phase()
    if "network_file" in values and "weights" in values and "phase" not in values and old is not None:
        libraries.say(f"caffe.Net(prototxt, weights) without a phase is for {PHASES[old]}")
        values["phase"] = old
    if "network_file" not in values or "phase" not in values:
        raise TypeError("Net needs a prototxt and a phase: caffe.Net(prototxt, caffe.TEST, weights=weights)")
    file, phase, weights = values["network_file"], values["phase"], values.get("weights")
    for kind, path in (("a prototxt", file), ("weights", weights)):
        if not isinstance(path, (str, os.PathLike)) and not (kind == "weights" and path is None):
            raise TypeError(f"Net takes {kind} as a path, got {path!r}")
    if not isinstance(phase, (int, np.integer)) or isinstance(phase, bool):
        raise TypeError(f"Net's phase is caffe.TRAIN or caffe.TEST, got {phase!r}")
    if phase not in (0, 1):
        raise ModelError(f"Net's phase is caffe.TRAIN (0) or caffe.TEST (1), got {phase}")
    stages = values.get("stages")
    if isinstance(stages, str):
        raise TypeError(f"Net takes stages as a list, got {stages!r}")
    return file, int(phase), int(values.get("level", 0)), tuple(stages or ()), weights


def python_modules(model: NetParameter) -> list[str]:
    """The modules of the net's Python layers. Of those that Boxpresso can replace only the ones that can be imported."""
    modules: dict[str, bool] = {}
    for layer in model.layer:
        name, cls = layer.python_param.module, layer.python_param.layer
        if layer.type.lower() != "python" or name in modules:
            continue
        modules[name] = True
        if ours := replacement(name, cls):
            try:
                with caffe_to_import():
                    importlib.import_module(name)
            except ImportError as error:
                modules[name] = False
                settings.log(f"{name} cannot be imported ({error}): {cls} is Boxpresso's {ours.type} layer")
    return [name for name, allowed in modules.items() if allowed]


def _length(arrays: Mapping[str, ArrayLike]) -> int:
    if not arrays:
        raise ModelError("forward_all and forward_backward_all need an array for each input")
    return len(np.asarray(next(iter(arrays.values()))))
