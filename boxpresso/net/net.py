"""Net: the layers of a prototxt over their blobs, run forward and backward by two short loops."""

from __future__ import annotations

import functools
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..device import Blob, Kernels, build_all, open_device
from ..device.array import copied
from ..device.fetch import fetch
from ..device.functions import check_arithmetic
from ..device.totals import totals
from ..graph.anchors import Anchors, read_anchors
from ..graph.connect import folders, show, show_norms
from ..graph.dialects import settle
from ..graph.prepare import select, split
from ..graph.quantization import Quantization
from ..graph.sources import Shapes, stand_ins
from ..layers.core import layer_class, make_layer
from ..layers.core.python import import_own_types
from ..proto import NetParameter, read_net, upgrade_net
from ..proto.errors import BoxpressoError, ModelError, OfFile, nearest
from ..proto.reading import FilePath
from ..run.gpu.runner import GpuRunner
from ..run.layers import Layers
from ..run.runner import Runner, can_int8, wants_bf16
from .batches import Batched, Numpy, assign, set_inputs
from .count import Count
from .fastest import measure
from .gradients import Gradients
from .memory import Memory
from .weights import CopyReport, Weights, copy_weights, read_weights, save_weights, scales_of


class Net(Batched):
    """A net that runs on one device; its surface is pycaffe's.

    Parameters
    ----------
    model
        The path of a prototxt, or a NetParameter.
    weights
        A .caffemodel or .h5 path, or several, copied in order; scales for 8 bits are those of the last.
    phase, level, stages
        They choose layers by their include and exclude rules; phase is "TEST" or "TRAIN".
    device
        "cpu", "cuda", "cuda:1"; None takes $BOXPRESSO_DEVICE, else a GPU if one answers, else the CPU.
    deterministic
        Bitwise identical results on every run on a GPU too; on the CPU they always are.
    reproducible
        The same bits on every CPU, with any number of threads, images split over batches in any way, and each compiler that is
        named (docs/reproducible.md), on the CPU alone.
    dtype
        numpy.float32 or numpy.float64.
    seed
        For fillers and Dropout; None takes another one every time.
    python_layers
        The modules, or their names, from which layers of type "Python" may take their classes, and whose classes of Layer
        bring types of your own; no other is imported.
    data
        "shapes" builds the net without its data: an Input stands in the place of each layer that reads data, shaped as the
        layer's fields say (batch size, crop, resize, forks' own) and filled with random values that a forward can use.
        {name: shape} does so too, with other shapes for some of the tops. None reads the data.
    anchors
        Those of region proposal layers whose prototxt does not say them: corners or rows as their layer has them, or the path
        of a JSON or .npy file with them.
    lazy
        For a net that is looked at and not run: kernels are compiled when they first run, and with `data` no values are drawn.
    write_below
        The folder, or several, below which layers may write files that the prototxt names; None is everywhere.
    source
        The name of the file that a NetParameter was read from, which errors begin with; of a path it is that.
    memory_limit
        The bytes that its arrays may take (docs/limits.md); None is what the machine has. More is refused before it is taken.
    optimize
        At TEST, without force_backward, the net runs by a plan (`boxpresso info --plan`): BatchNorm and Scale are
        folded into weights, activations and sums are done where their operands are stored, and blobs that nobody asks for
        are left out; `blobs[name].data` of one is computed when it is asked for. Results differ from those of the layers one
        by one by rounding alone. Other nets run BatchNorm, Scale and ReLU after one another as one, in the same way; diffs of
        the blobs between them are those of the last backward until the next forward. False runs each layer by itself.
    fast_math
        Convolutions of 3 x 3 by Winograd's F(4x4, 3x3) in such a plan: faster, and exact to some 1e-5 of the largest value.
        On a GPU cuBLAS and cuDNN may round factors to TF32, in a plan or not: exact to some 1e-3.

    precision
        None runs what the weights are made for: in 8 bits those layers for which a file of `boxpresso quantize` has scales, on
        the CPU, and all others in float32. "int8" is an error for weights without scales and where 8 bits cannot run; "float32"
        leaves scales alone. "bf16" keeps maps between the layers of such a plan in bfloat16, of 8 significant bits, rounds the
        weights of convolutions and inner products to it, and sums in float32; the CPU must have AVX512-BF16 or ARM's BF16.
        Results then differ by some 1e-2 of the largest value, by more behind many layers. Where layers run one by one, as in
        training, all arrays stay float32, and Convolution and Deconvolution round the factors of their products and of those
        of their gradients. "fastest" measures all of these that there are in the first forward, and again after other weights
        or scales, and takes the fastest; `precision_times` says what was measured.

    Attributes
    ----------
    blobs, params
        {name: Blob} and {layer name: its parameters}, in the order of the net.
    layers, layer_dict
        The layers, in order and by name.
    inputs, outputs
        Names of blobs: those of Input layers, and those that no layer reads.
    bottom_names, top_names
        {layer name: names of blobs}.
    quantization
        By which scales the net runs in 8 bits (`graph.quantization.Quantization`); None where it does not.
    precision_times
        With precision="fastest", after a forward of inputs that are not empty: {"float32", "bf16" or "int8": milliseconds}, the
        one in use first. Where a forward cannot be done several times over (Python layers, data layers), float32 alone,
        unmeasured (0.0).

    Raises
    ------
    ModelError
        For what is wrong with the files.
    LayerError
        For what a layer refuses, by its name.
    DeviceError
        For a device that is not there, or cannot do what is asked: a GPU with `reproducible`.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }
    ...     layer { name: "y" type: "Power" bottom: "x" top: "y" power_param { scale: 2 } }'''), device="cpu")
    >>> net.forward(x=[[1, 2, 3]])["y"]
    array([[2., 4., 6.]], dtype=float32)
    """

    def __init__(
        self, model: FilePath | NetParameter, weights: FilePath | Sequence[FilePath] | None = None, *, phase: str = "TEST",
        device: str | None = None, level: int = 0, stages: Sequence[str] = (), deterministic: bool = False,
        reproducible: bool = False, dtype: Any = np.float32, seed: int | None = None,
        python_layers: Sequence[str | ModuleType] = (), optimize: bool = True, fast_math: bool = False,
        precision: str | None = None, write_below: FilePath | Sequence[FilePath] | None = (), memory_limit: int | None = None,
        data: str | Shapes | None = None, anchors: Anchors = None, lazy: bool = False, source: str = "",
    ) -> None:  # fmt: skip
        self.phase, self.dtype = checked(phase, dtype)
        self.python_layers, self._precision = tuple(python_layers), precision
        self._read(model, source, level, stages, write_below, data, anchors)
        self._made = {
            "phase": phase, "device": device, "level": level, "stages": tuple(stages), "deterministic": deterministic,
            "reproducible": reproducible, "dtype": self.dtype, "seed": seed, "optimize": optimize, "fast_math": fast_math,
            "precision": precision,
            "python_layers": [name if isinstance(name, str) else name.__name__ for name in python_layers],
            "write_below": write_below, "memory_limit": memory_limit, "data": data, "lazy": lazy,
            "source": self.source,
        }  # fmt: skip
        self.device = open_device(device, deterministic=deterministic, reproducible=reproducible).with_stream(fast_math)
        self.memory = Memory(memory_limit, self.device.kind)
        if seed is not None:
            self.seed = int(np.random.SeedSequence(seed).generate_state(1)[0])
        self._busy, self.copied = threading.RLock(), list[CopyReport]()  # what copy_from reported, file by file
        self.after_backward: list[Callable[[int], None]] = []  # called with the number of each layer after its backward
        planned = optimize and phase == "TEST" and not self.param.force_backward
        bf16 = wants_bf16(precision, self.device, self.dtype, planned)
        self.quantization: Quantization | None = None
        self.precision_times: dict[str, float] = {}
        self._scales: Quantization | None = None  # that "fastest" may choose
        self._make_layers(compiled=not (planned or lazy))  # a plan may need others
        for layer in self.layers if bf16 and not planned else ():
            layer.round_products()
        build_all(self.device, self._make_runner(planned, optimize, fast_math, bf16, lazy), self.dtype)
        if self.sources and not lazy:
            self.sources.fill(self.blobs, self.seed if seed is not None else 0)
        paths = [weights] if isinstance(weights, (str, os.PathLike)) else list(weights or ())
        for path in paths[:-1]:
            self._copy(path)
        for path in paths[-1:]:
            self.copy_from(path)

    def _read(
        self, model: FilePath | NetParameter, source: str, level: int, stages: Sequence[str],
        write_below: FilePath | Sequence[FilePath] | None, data: str | Shapes | None, anchors: Anchors,
    ) -> None:  # fmt: skip
        """Reads the net and prepares it: which layers it has, and what each of them says."""
        self.source = source if isinstance(model, NetParameter) else os.fspath(model)
        message = upgrade_net(model) if isinstance(model, NetParameter) else read_net(model)
        self._text = message.SerializeToString()
        with OfFile(self.source):
            chosen = settle(select(message, self.phase, level=level, stages=stages), message)
            self.write_below, self.anchors = folders(write_below), read_anchors(anchors, model)
            self.sources = stand_ins(chosen, data, self.python_layers)
            self.param: NetParameter = split(self.sources.param if self.sources else chosen)
        self.name, self.debug_info = self.param.name, self.param.debug_info

    def _make_layers(self, compiled: bool) -> None:
        """Makes the layers, one after another. compiled: their kernels now, all at once."""
        self._layers = Layers(self.memory)
        self.layers, self.names, self.blobs = self._layers.layers, self._layers.names, self._layers.blobs
        self.bottoms, self.tops = self._layers.bottoms, self._layers.tops
        self.loss_weights, self.shared = self._layers.loss_weights, self._layers.shared
        with OfFile(self.source):
            import_own_types(self.param.layer, self.python_layers)
            classes = [layer_class(layer.type, layer.name) for layer in self.param.layer]
        if compiled:
            build_all(self.device, [k for c in classes for k in c.kernel_files()], self.dtype)
        with OfFile(self.source):
            for i, param in enumerate(self.param.layer):
                phase = "TRAIN" if param.HasField("phase") and param.phase == 0 else self.phase
                layer = make_layer(
                    param, device=self.device, dtype=self.dtype, phase=phase, seed=functools.partial(self._seed_of, i),
                    axes=[len(self.blobs[name].shape) for name in param.bottom if name in self.blobs],
                    python_layers=self.python_layers,
                )  # fmt: skip
                layer.write_below, layer.given_anchors = self.write_below, self.anchors
                self._layers.append(layer, self.sources.unknown.fit if self.sources else None)
            self._gradients = Gradients(self.layers, self.names, self.param, self.loss_weights)
        self.layer_dict = OrderedDict((layer.name, layer) for layer in self.layers)
        self.params = OrderedDict((layer.name, layer.blobs) for layer in self.layers if layer.blobs)
        self.bottom_names = OrderedDict((layer.name, of[0]) for layer, of in zip(self.layers, self.names))
        self.top_names = OrderedDict((layer.name, of[1]) for layer, of in zip(self.layers, self.names))
        self.inputs = [name for param in self.param.layer if param.type == "Input" for name in param.top]
        self.outputs = sorted(self._layers.unread)  # Caffe's order

    def _make_runner(self, planned: bool, optimize: bool, fast_math: bool, bf16: bool, lazy: bool) -> list[Kernels]:
        """Looks for a plan, or else for chains, and counts the memory of a pass; the files of kernels that it needs."""
        self._runner: Runner | None = None
        if planned:
            kind = Runner if self.device.kind == "cpu" else GpuRunner
            self._runner = kind(self._layers, self.inputs, self.outputs, self.device, self.dtype, fast_math, bf16)
            files = [] if lazy else self._runner.files()
        else:
            if optimize:
                self._layers.train_together(self.outputs)
            files = [] if lazy else [type(c.links).kernels for c in self._layers.chains.values()]
        with OfFile(self.source):
            runner = self._runner if self.device.kind == "cpu" else None
            backward = self.phase == "TRAIN" or self.param.force_backward
            self._count = Count(self.memory, self._layers, self.inputs, self._gradients, runner, backward)
        return files

    @functools.cached_property
    def seed(self) -> int:
        """What all random numbers of the net are drawn from; another in each net that is given none."""
        return int(np.random.SeedSequence().generate_state(1)[0])

    # Building

    def _seed_of(self, number: int) -> int:
        """The seed of a layer."""
        return int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0])

    # Running

    def forward(
        self,
        blobs: Iterable[str] | None = None,
        start: str | None = None,
        end: str | None = None,
        *,
        on_device: bool = False,
        **inputs: ArrayLike,
    ) -> dict[str, Any]:
        """Runs the net forward.

        Parameters
        ----------
        blobs
            Names of further blobs to return beside the outputs.
        start, end
            Names of the first and the last layer to run; the net's if None.
        on_device
            Whether the copies stay on the net's GPU, as arrays that speak `__dlpack__` and `__cuda_array_interface__`. Then
            nothing is waited for: another forward may be launched behind this one, whose copies stay as they are.
        inputs
            An array for each of the net's inputs; one of another shape reshapes the net. Those of other libraries on the net's
            GPU (torch's, cupy's) are copied there, behind what their stream has to do; bytes may be `Pictures`.

        Returns
        -------
        dict
            {name: a copy of the blob's data} of the outputs, or with `end` of the tops of that layer.

        Raises
        ------
        ModelError
            For a name that the net does not have, or an array that does not fit.

        Examples
        --------
        >>> from boxpresso.proto import parse_net
        >>> net = Net(parse_net('''
        ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }
        ...     layer { name: "y" type: "Power" bottom: "x" top: "y" power_param { power: 2 } }
        ...     layer { name: "z" type: "Power" bottom: "y" top: "z" power_param { shift: 1 } }'''), device="cpu")
        >>> net.forward(x=[1, 2, 3], blobs=["y"])
        {'z': array([ 2.,  5., 10.], dtype=float32), 'y': array([1., 4., 9.], dtype=float32)}
        """
        with self._alone():
            more = [name for name in blobs or () if self._blob(name)]
            with self._layers.views() if self.device.kind != "cpu" else nullcontext():
                names = [*self._pass(more, start, end, inputs), *more]
            if on_device:
                with self._layers.at_work:
                    return {name: copied(self._blob(name).data) for name in names}
            if self.device.kind != "cpu":
                fetch(self.device, [self._blob(name).data for name in names])
            with self._layers.at_work:
                results = {name: np.array(self._blob(name).data) for name in names}
            return self._same_nan(results)

    def _same_nan(self, arrays: dict[str, Numpy]) -> dict[str, Numpy]:
        """Arrays with numpy's NaN for each, where they are to be the same everywhere: a machine's has a sign and a payload of
        its own."""
        if self.device.reproducible:
            for array in arrays.values():
                np.copyto(array, np.nan, where=np.isnan(array))
        return arrays

    def _pass(
        self, more: Sequence[str], start: str | None, end: str | None, inputs: Mapping[str, ArrayLike]
    ) -> list[str]:
        """Runs the net forward, and waits for nothing that it has not to; the names of what `forward` returns beside `more`."""
        first, last = self._position(start, 0), self._position(end, len(self.layers) - 1)
        runner = self._runner if start is None and end is None and not self.debug_info else None
        if runner is None:
            self._make_way(first, last)
        with self._layers.at_work if runner else nullcontext():
            set_inputs(self.blobs, self.inputs, inputs)
        open_choice = runner is not None and self._precision == "fastest" and not self.precision_times
        if open_choice and all(self.blobs[name].count for name in self.inputs):  # an empty batch takes no time in any
            self._choose_precision()
        if runner is None or not runner.run(more):
            self._make_way(first, last)
            self._count.run(None)
            for i in range(first, last + 1):
                self.forward_layer(i)
        return list(self.outputs) if end is None else self.names[last][1]

    def run_layers(self) -> None:
        """Runs all layers forward, one after another, and returns nothing: a GPU may be at work on them then."""
        with self._alone(), self._layers.views() if self.device.kind != "cpu" else nullcontext():
            self._pass((), None, self.layer_names[-1], {})

    def _make_way(self, first: int, last: int) -> None:
        """Layers `first` to `last` are about to run: blobs that they do not write hold the data of the last forward, of which a
        plan may have left out some."""
        part = first > 0 or last + 1 < len(self.layers)
        if self._runner is None:
            if part:
                self._layers.leave_chains()
            return
        read: set[str] = set()  # before it is written, as by a layer in place
        written: set[str] = set()
        for bottoms, tops in self.names[first : last + 1]:
            read.update(name for name in bottoms if name not in written)
            written.update(tops)
        self._runner.make_way(written - read, part and any(self._gradients.layer_needs))

    def forward_layer(self, i: int) -> None:
        """Runs layer number `i`, after a reshape if one of its bottoms or tops has another shape than before."""
        self._layers.forward(i)
        if self.debug_info:
            layer, top = self.layers[i], self.tops[i]
            for name, blob in zip(self.names[i][1], top):
                self._show("Forward", layer, f"top blob {name}", "data", blob.data)
            for j, blob in enumerate(layer.blobs):
                self._show("Forward", layer, f"param blob {j}", "data", blob.data)

    def backward(
        self, diffs: Iterable[str] | None = None, start: str | None = None, end: str | None = None, **outputs: ArrayLike
    ) -> dict[str, Numpy]:
        """Runs the net backward: overwrites the diffs of blobs and adds to those of parameters (see `clear_param_diffs`).

        Without a loss and without `force_backward: true` in the prototxt there is nothing to do, and a warning says so.

        Parameters
        ----------
        diffs
            Names of further blobs whose diff to return.
        start, end
            Names of the first and the last layer to run, in the order of the backward pass: `end` comes earlier in the net.
        outputs
            A diff for each output that is given, in place of its loss weight.

        Returns
        -------
        dict
            {name: a copy of the blob's diff} of the net's inputs, or with `end` of the bottoms of that layer.

        Examples
        --------
        >>> from boxpresso.proto import parse_net
        >>> net = Net(parse_net('''force_backward: true
        ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }
        ...     layer { name: "y" type: "Power" bottom: "x" top: "y" power_param { power: 2 } }'''), device="cpu")
        >>> _ = net.forward(x=[1, 2])
        >>> net.backward(y=[1, 10])
        {'x': array([ 2., 40.], dtype=float32)}
        """
        with self._alone():
            first, last = self._position(start, len(self.layers) - 1), self._position(end, 0)
            self._begin_backward(first, last)
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
            for i in range(first, last - 1, -1):
                self.backward_layer(i)
                for callback in self.after_backward:
                    callback(i)
            if self.debug_info and start is None and end is None:
                show_norms([blob for blob, _, _ in self.learnable])
            names = list(self.inputs) if end is None else self.names[last][0]
            return self._same_nan({name: np.array(self._blob(name).diff) for name in [*names, *(diffs or ())]})

    def _begin_backward(self, first: int, last: int) -> None:
        """Layers `first` down to `last` are about to go backward."""
        if self._runner is not None:
            self._runner.prepare_backward()
        self._gradients.warn_if_idle()
        if first + 1 < len(self.layers) or last > 0:
            self._layers.leave_chains()

    def backward_layer(self, i: int) -> None:
        """Runs layer number `i` backward if its gradient is needed."""
        layer, runs = self.layers[i], self._gradients.layer_needs
        if runs[i]:
            self._layers.backward(i, runs, self._gradients.bottom_needs)
        self._layers.refuse(i, self._gradients.refused[i], runs)
        if runs[i] and self.debug_info:
            for name, blob, needed in zip(self.names[i][0], self.bottoms[i], self._gradients.bottom_needs[i]):
                if needed:
                    self._show("Backward", layer, f"bottom blob {name}", "diff", blob.diff)
            for j, blob in enumerate(layer.blobs):
                if layer.param_propagate_down[j]:
                    self._show("Backward", layer, f"param blob {j}", "diff", blob.diff)

    def loss(self) -> float:
        """The sum of the losses of the last forward pass, each times its weight."""
        weighted = [(w, t.data) for pair in zip(self.loss_weights, self.tops) for w, t in zip(*pair) if w]
        total = 0.0  # Python's sum() of floats rounds otherwise from 3.12 on
        for (weight, _), value in zip(weighted, totals(self.device, [values for _, values in weighted]), strict=True):
            total += weight * value
        return total

    def reshape(self) -> None:
        """Gives every blob the shape that follows from those of the inputs, without running a layer."""
        with OfFile(self.source):
            for i in range(len(self.layers)):
                if not self._layers.settled(i):
                    self.reshape_layer(i)

    def reshape_layer(self, i: int) -> None:
        """Gives the tops of layer number `i` their shapes."""
        self._layers.reshape(i)

    # Parameters

    def clear_param_diffs(self) -> None:
        """Zeroes the diff of every parameter; `backward` adds to them."""
        for layer in self.layers:
            for blob in layer.blobs:
                blob.diff.fill(0)

    def copy_from(self, path: FilePath) -> CopyReport:
        """Copies the weights of a file to the layers of the same names.

        Parameters
        ----------
        path
            A .caffemodel or .h5, of any age and fork of Caffe.

        Returns
        -------
        CopyReport
            Which layers were copied (`matched`); `missing` and `unused` are the layers of the net and of the file alone.

        Raises
        ------
        ModelError
            When the file holds no weights, or a blob of another shape than the net's; when it holds scales for 8 bits
            (`boxpresso quantize`) that are not of this net and these weights, by the name of the layer.
        """
        weights = self._copy(path)
        self.quantize(scales_of(weights), weights.path)
        return self.copied[-1]

    def _copy(self, path: FilePath) -> Weights:
        """Copies the weights of a file, and none of its scales."""
        weights = read_weights(path)
        self.copied.append(copy_weights(weights, self.layers))
        return weights

    def quantize(self, quantization: Quantization | None, path: str = "") -> None:
        """Runs the net in 8 bits by some scales, where it can and `precision` allows it; None: in float.

        Parameters
        ----------
        quantization
            Of `boxpresso.quantize` or of a file. They are checked against the net's layers and weights as they are now.
        path
            Where they are from, for errors.

        Raises
        ------
        ModelError
            Where they are not of this net and its weights; for None with precision="int8".
        """
        if quantization is None and self._precision == "int8":
            raise ModelError(
                f"{path or 'the weights'}: no scales for 8 bits; make a file that has them with `boxpresso quantize`, or leave "
                "out precision='int8'"
            )
        if quantization is not None and self._in_int8():
            quantization.check(self.layers, path or "the file")
        self._run_by(quantization)

    def _in_int8(self) -> bool:
        """Whether the net may run in 8 bits."""
        able = self._runner is not None and can_int8(self.device, self.dtype, True)
        return able and self._precision in (None, "int8", "fastest")

    def _choose_precision(self) -> None:
        """Measures in which precision the net is fastest, and runs in it from now on."""
        assert isinstance(self._runner, Runner)
        self.precision_times = measure(self._runner, self._scales)
        self.quantization = self._scales if next(iter(self.precision_times)) == "int8" else None

    def _run_by(self, quantization: Quantization | None) -> None:
        """As `quantize`, of scales that are known to fit."""
        if self._runner is None or not self._in_int8():
            return
        self._scales, self.precision_times = (
            quantization,
            {},
        )  # with "fastest", which is the fastest is to be found again
        if quantization is not None or self.quantization is not None:
            self._runner.use_int8(quantization.narrow(self._runner.source) if quantization else None)
        self.quantization = quantization

    def save(self, path: FilePath) -> None:
        """Writes the weights as Caffe does, as a whole file or not at all.

        Parameters
        ----------
        path
            A .caffemodel; HDF5 when the name ends in .h5 or .hdf5.

        Raises
        ------
        ModelError
            When the file cannot be written.
        """
        rows = [
            (
                layer.name,
                layer.stands_for or layer.type,
                bottoms,
                tops,
                [np.asarray(blob._view(False)) for blob in layer.blobs],
            )
            for layer, (bottoms, tops) in zip(self.layers, self.names)
        ]
        save_weights(path, rows, self.name)

    def share_with(self, other: Net) -> None:
        """Uses the memory of another net's parameters, for layers of the same name: of all of them or none.

        Parameters
        ----------
        other
            A net of the same dtype on the same device.

        Raises
        ------
        ModelError
            Where the shapes of parameters, the dtypes or the devices differ.
        """
        kind, others = (f"{net.dtype} on {net.device.name}" for net in (self, other))
        if kind != others:
            raise ModelError(f"net {self.name!r} of {kind} cannot share the parameters of {other.name!r} of {others}")
        both = [(name, blobs, other.params[name]) for name, blobs in self.params.items() if name in other.params]
        for name, blobs, shared in both:
            shapes, theirs = [blob.shape for blob in blobs], [blob.shape for blob in shared]
            if shapes != theirs:
                raise ModelError(
                    f"layer {name!r} cannot share: its parameters have the shapes {shapes}, the other net's {theirs}"
                )
        for _, blobs, shared in both:
            for blob, source in zip(blobs, shared):
                blob.share_data(source)

    def weights_changed(self) -> None:
        """Tells that parameters were changed behind the back of their arrays: plans that work with them pack them anew.

        Only what writes to their memory by its address needs it; changes through arrays, whenever taken, are seen.
        """
        for layer in self.layers:
            for blob in layer.blobs:
                blob._data.changes += 1

    @property
    def learnable(self) -> list[tuple[Blob, float, float]]:
        """Each parameter once, with its lr_mult (0 where it does not learn) and decay_mult."""
        parameters = []
        for layer in self.layers:
            for i, blob in enumerate(layer.blobs):
                spec = layer.param.param[i] if i < len(layer.param.param) else None
                if spec is not None and spec.name and self.shared[spec.name] != (layer, i):
                    continue
                lr = spec.lr_mult if spec is not None else 1.0
                parameters.append(
                    (blob, lr if layer.param_propagate_down[i] else 0.0, spec.decay_mult if spec else 1.0)
                )
        return parameters

    # Copies

    @classmethod
    def _make(cls, model: NetParameter, options: Mapping[str, Any]) -> Net:
        """A net of this class from a message and the keywords of `Net`."""
        return cls(model, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        """For `copy.deepcopy` and `pickle`: the prototxt, the parameters and the inputs; other blobs are computed anew by a
        forward. A copy shares nothing with the net, and layers that carry a state on begin as in a new net."""
        weights = [[np.array(blob._view(False)) for blob in layer.blobs] for layer in self.layers]
        inputs = {name: np.array(self.blobs[name]._view(False)) for name in self.inputs}
        return remade, (
            type(self),
            self._text,
            {**self._made, "anchors": self.anchors},
            weights,
            inputs,
            self._scales,
        )

    def __copy__(self) -> Net:
        raise BoxpressoError(
            f"net {self.name!r} has no shallow copy: use copy.deepcopy, or make another Net and share_with the weights"
        )

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

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Raises BoxpressoError when another thread runs this net, whose blobs hold one pass at a time, and DeviceError as
        check_arithmetic does."""
        if self.device.reproducible:
            check_arithmetic()
        if not self._busy.acquire(blocking=False):
            raise BoxpressoError(
                f"net {self.name!r} is running in another thread: its blobs hold one pass at a time; make a Net for each "
                "thread (share_with shares the weights)"
            )
        try:
            with OfFile(self.source):
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
        return self.layer_names.index(name)

    _show = staticmethod(show)

    def __repr__(self) -> str:
        return f"Net({self.name!r}, {len(self.layers)} layers, {self.phase}, {self.device.name})"


def checked(phase: str, dtype: Any) -> tuple[str, np.dtype[Any]]:
    """Phase and dtype of a net. Raises ModelError for others."""
    if phase not in ("TRAIN", "TEST"):
        raise ModelError(f"phase must be 'TRAIN' or 'TEST', got {phase!r}")
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ModelError(f"dtype must be float32 or float64, got {np.dtype(dtype)}")
    return phase, np.dtype(dtype)


def remade(
    kind: type[Net],
    text: bytes,
    options: Mapping[str, Any],
    weights: Sequence[Sequence[Numpy]],
    inputs: Mapping[str, Numpy],
    quantization: Quantization | None = None,
) -> Net:
    """The net that was copied or pickled."""
    model = NetParameter()
    model.ParseFromString(text)
    net = kind._make(model, options)
    for layer, arrays in zip(net.layers, weights):
        for blob, array in zip(layer.blobs, arrays):
            blob.data[...] = array
    for name, array in inputs.items():
        net.blobs[name].reshape(*array.shape)
    net.reshape()
    for name, array in inputs.items():
        net.blobs[name].data[...] = array
    net._run_by(quantization)
    return net
