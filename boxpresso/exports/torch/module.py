"""A net as a torch module, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from ...layers.core import Layer, Trait
from ...net import Net
from ...net.weights import save_weights
from ...proto.errors import LayerError, ModelError
from ...proto.reading import FilePath
from ..onnx.writer import constants
from ..operations import Operation, operations
from ..tensors import parameter_keys
from . import dense, neuron, norm, proposals, regions, shapes  # noqa: F401  their functions
from .table import FACTORIES, Factory, Run, Work

BUFFERS = ("running_mean", "running_var", "scale_factor")  # statistics, which are not learned by a gradient


def factory_of(step: Operation) -> Factory | None:
    """What makes a layer run on tensors: its own function, or for one that chooses rows the layer as a whole."""
    return FACTORIES.get(step.type) or (regions.whole_layer if step.layer.list_shapes else None)


class CaffeLayer(torch.nn.Module):
    """One layer: its parameters under the names of `parameter_keys`, and what it computes of tensors."""

    def __init__(self, step: Operation, keys: list[str], known: dict[int, Any], run: Run) -> None:
        super().__init__()
        self.run, self.type = run, step.type
        for key, blob, values in zip(keys, step.layer.blobs, step.params):
            if key in BUFFERS:
                self.register_buffer(key, torch.from_numpy(values.copy()))
                continue
            place = np.asarray(blob.data).ctypes.data  # a parameter that several layers share is one
            shared = known.get(place) if values.size else None
            if shared is not None and shared.shape != values.shape:
                raise LayerError(
                    f"{step}: cannot be a torch module: its {key} of shape {values.shape} is that of another layer, of shape "
                    f"{tuple(shared.shape)}; give it a parameter of its own"
                )
            if shared is None:
                shared = known[place] = torch.nn.Parameter(torch.from_numpy(values.copy()))
            self.register_parameter(key, shared)

    def forward(self, *bottoms: Any) -> list[Any]:
        tops = self.run(self, *bottoms)
        return list(tops) if isinstance(tops, (list, tuple)) else [tops]

    def extra_repr(self) -> str:
        return str(self.type)


class CaffeModule(torch.nn.Module):
    """A net of torch's operators, and for regions and detections of ours.

    Parameters and buffers are called after Caffe's layers: `conv1.weight`, `conv1.bias`, `bn1.running_mean`. It computes what
    the net computes at TEST; a module that is training drops in its Dropout layers.

    Attributes
    ----------
    input_names, output_names
        In the order in which `forward` takes and gives them.
    """

    def __init__(self, net: Net) -> None:
        super().__init__()
        steps = operations(net, fold=False)
        self.input_names, self.output_names = list(steps.inputs), list(net.outputs)
        names = module_names(net)
        self.rows = [
            (layer.name, layer.type, *ends, keys_of(names[layer], layer))
            for layer, ends in zip(net.layers, net.names)
            if layer.blobs
        ]
        self.plan: list[tuple[str, list[str], list[str]]] = []
        self.results = dict(zip(self.output_names, steps.outputs))
        self.constants: list[tuple[str, str]] = []
        # {value: who reads it that is for one shape alone, and that shape}
        self.expected: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
        known: dict[int, Any] = {}
        layers: list[tuple[str, torch.nn.Module]] = []
        for step in steps.steps:
            if step.type == "Input":
                continue
            before, after = ([steps.shapes[name] for name in names] for names in (step.inputs, step.outputs))
            if Trait.CONSTANT in step.layer.traits and not step.params:
                self._expect(step, before)
                for value, array in zip(step.outputs, constants(net, step)):
                    key = f"constant_{len(self.constants)}"
                    self.register_buffer(key, torch.from_numpy(array), persistent=False)
                    self.constants.append((value, key))
                continue
            make = factory_of(step)
            if make is None:
                raise LayerError(f"{step}: cannot be a torch module: there is no counterpart")
            keys = parameter_keys(step.layer.type, [values.shape for values in step.params])
            run = make(work := Work(step, before, after, keys))
            if work.fixed:
                self._expect(step, before)
            name = names[step.layer]
            layers.append((name, CaffeLayer(step, keys, known, run)))
            self.plan.append((name, step.inputs, step.outputs))
        for name, layer in sorted(layers, key=lambda one: one[0].count(".")):
            place(self, name, layer)

    def forward(self, *inputs: Any, **named: Any) -> dict[str, Any]:
        """The outputs by name; inputs in the order of `input_names`, or by name."""
        values = {**dict(zip(self.input_names, inputs)), **named}
        for name, value in values.items():
            self._check(name, value)
        for value, key in self.constants:
            values[value] = getattr(self, key)
        for name, bottoms, tops in self.plan:
            results = self.get_submodule(name)(*[values[bottom] for bottom in bottoms])
            for top, result in zip(tops, results):
                values[top] = result
                self._check(top, result)
        return {name: values[value] for name, value in self.results.items()}

    def _expect(self, step: Operation, sizes: list[Any]) -> None:
        """Notes that an operation is for bottoms of these shapes alone, but for the batch."""
        for name, shape in zip(step.inputs, sizes):
            self.expected.setdefault(name, []).append((str(step), tuple(shape[1:])))

    def _check(self, name: str, value: Any) -> None:
        """Raises ModelError for a value of another size than one of the operations that read it is for."""
        for step, shape in self.expected.get(name, ()):
            if tuple(value.shape[1:]) != shape:
                raise ModelError(
                    f"{step}: the module is for (batch, {', '.join(map(str, shape))}) here, got {tuple(value.shape)}; reshape "
                    "the net to the size, and make a module of that"
                )

    def save_caffemodel(self, path: FilePath) -> None:
        """Writes the parameters as Caffe does, a .caffemodel, or HDF5 where the name ends in .h5."""
        state = self.state_dict()
        rows = []
        for name, kind, bottoms, tops, keys in self.rows:
            arrays = [state[key].detach().cpu().numpy() for key in keys if key in state]
            rows.append((name, kind, bottoms, tops, arrays))
        save_weights(path, rows)


def module_names(net: Net) -> dict[Layer, str]:
    """What the modules of layers are called: as the layer, and with a number where a name comes again, as Caffe takes it."""
    seen: Counter[str] = Counter()
    names = {}
    for layer in net.layers:
        if layer.type != "Input":
            seen[layer.name] += 1
            names[layer] = f"{layer.name}@{seen[layer.name]}" if seen[layer.name] > 1 else layer.name
    return names


def keys_of(name: str, layer: Layer) -> list[str]:
    """The keys of a layer's parameters in a state_dict."""
    return [f"{name}.{key}" for key in parameter_keys(layer.type, [blob.shape for blob in layer.blobs])]


def place(module: torch.nn.Module, name: str, layer: torch.nn.Module) -> None:
    """Adds a layer under its name; torch reads a dot as a step into another module."""
    *path, last = name.split(".")
    if not all((*path, last)):
        raise ModelError(
            f"a torch module cannot have a layer of the name {name!r}: a part before or behind a dot is empty"
        )
    for part in path:
        if part not in module._modules:
            module.add_module(part, torch.nn.Module())
        module = module._modules[part]
    if last in module._modules or hasattr(module, last):
        raise ModelError(f"layer {name!r} has a name that torch's modules have for themselves; give it another one")
    module.add_module(last, layer)


def to_torch(net: Net) -> CaffeModule:
    """A net as a torch module with the same numbers; it takes tensors and gives {name: tensor}.

    Parameters
    ----------
    net
        Built for the phase TEST, with its weights.

    Returns
    -------
    CaffeModule
        On the CPU; `.cuda()` and `.to(...)` move it as any module.

    Raises
    ------
    LayerError
        Names a layer that has no counterpart.

    Examples
    --------
    >>> import torch
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }
    ...     layer { name: "y" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 2 } }'''),
    ...     device="cpu")
    >>> module = to_torch(net)
    >>> list(module.state_dict()), module(torch.zeros(1, 3))["y"].shape
    (['y.weight', 'y.bias'], torch.Size([1, 2]))
    """
    if net.phase != "TEST":
        raise ModelError(f"a net leaves as it is at TEST, this one is built for {net.phase}")
    return CaffeModule(net)


def load_state(net: Net, state: Mapping[str, Any]) -> None:
    """Copies a state_dict of `to_torch`, or tensors of such names, into a net: all of them or none.

    Raises ModelError for a name that the net lacks, one that is missing, or another shape.
    """
    copies: list[tuple[Any, Any]] = []
    wanted: dict[str, Any] = {}
    for layer, name in module_names(net).items():
        wanted.update(zip(keys_of(name, layer), layer.blobs))
    if strange := sorted(set(state) - set(wanted)):
        raise ModelError(f"the net has no parameter {strange[0]!r}; it has {', '.join(list(wanted)[:4])} ..")
    if missing := sorted(set(wanted) - set(state)):
        raise ModelError(f"the state lacks {missing[0]!r}")
    for key, blob in wanted.items():
        value = state[key]
        array = np.asarray(value.detach().cpu() if isinstance(value, torch.Tensor) else value)
        if tuple(array.shape) != tuple(blob.shape):
            raise ModelError(f"{key} has the shape {tuple(array.shape)}, the net's is {tuple(blob.shape)}")
        copies.append((blob, array))
    for blob, array in copies:
        blob.data[...] = array
