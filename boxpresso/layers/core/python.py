"""Python: a layer that the user wrote as a class with setup, reshape, forward and backward on numpy, as for pycaffe."""

from __future__ import annotations

import dis
import importlib
import importlib.util
import inspect
import sys
import types
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from typing import Any

import numpy as np

from ...device import AnyArray, Array, Blob
from ...proto.errors import LayerError, ModelError, nearest
from . import Layer
from .registry import known_type, replacement

Numpy = np.ndarray[Any, Any]
PHASES = {"TRAIN": 0, "TEST": 1}


class PythonLayer:
    """The base of a user's class; modules that import caffe get it as `caffe.Layer`.

    `reshape(bottom, top)` gives the tops their shapes, `forward(bottom, top)` their data, and `backward(top, propagate_down,
    bottom)` the bottoms their diffs; where backward is missing or `pass`, no layer before this one gets a gradient from it.
    A bottom or top has data and diff (numpy arrays), shape, num, channels, height, width, count and reshape.

    Attributes
    ----------
    param_str
        The text of `python_param`.
    phase
        0 in TRAIN, 1 in TEST; they print as their names.
    blobs
        The parameters, an empty list with `add_blob` before `setup(bottom, top)`.
    """

    param_str: str
    phase: Phase
    blobs: Blobs

    def __init__(self, *_: Any) -> None:
        """Takes the LayerParameter, which a class with a constructor of its own may pass on."""

    def setup(self, bottom: list[View], top: list[View]) -> None:
        """Reads the parameters."""

    def reshape(self, bottom: list[View], top: list[View]) -> None:
        """Gives the tops their shapes."""

    def backward(self, top: list[View], propagate_down: list[bool], bottom: list[View]) -> None:
        """Computes the bottoms' diffs. Without it nothing is propagated."""


class Phase(int):
    """caffe.TRAIN or caffe.TEST: a number that prints as its name, as in pycaffe's enumeration."""

    def __str__(self) -> str:
        return "TEST" if self else "TRAIN"


class View:
    """A Blob whose data and diff are numpy arrays on every device."""

    def __init__(self, blob: Blob) -> None:
        self.blob = blob

    @property
    def data(self) -> Numpy:
        return self._numpy(self.blob.data)

    @property
    def diff(self) -> Numpy:
        return self._numpy(self.blob.diff)

    @staticmethod
    def _numpy(array: AnyArray) -> Numpy:
        return array.numpy() if isinstance(array, Array) else array

    def reshape(self, *shape: int) -> None:
        self.blob.reshape(*shape)

    def __getattr__(self, name: str) -> Any:  # shape, num, channels, height, width, count
        if name.startswith("_") or name == "blob":
            raise AttributeError(name)
        return getattr(self.blob, name)


class Blobs(list[View]):
    """The parameters of a user's layer."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.layer = layer

    def add_blob(self, *shape: int) -> View:
        """Adds a parameter of that shape, of zeros."""
        view = View(self.layer.parameter(len(self.layer.blobs), shape, value=0))
        self.append(view)
        return view


class Python(Layer, type="Python", param="python_param", in_place=True):
    """Runs a user's class (see PythonLayer). For a class of old nets the layer of Boxpresso that replaces it is made instead.

    The replaced classes are those that layers name in `replaces` (docs/forks.md lists them), such as rpn.proposal_layer
    ProposalLayer of py-faster-rcnn and rotation.rproposal_layer ProposalLayer of RRPN.

    Only modules that the caller names are imported: Net(..., python_layers=["my_layers"]). A prototxt alone imports and
    runs nothing. A module that is named takes precedence over a layer of Boxpresso. While it is imported, `import
    caffe` gives a module with Layer, TRAIN and TEST where pycaffe is not installed.

    Parameters
    ----------
    bottom 0, ...
        What the class takes. Bottom 0 may be top 0: then both have the same data, and the same diff.
    python_param
        Such as python_param { module: "my_layers" layer: "MyLayer" param_str: "'scale': 2" }.
        `module`: the name of the module. `layer`: the class in it. `param_str` (""): free text, which the class reads.

    Returns
    -------
    top 0, ...
        What the class gives.

    Raises
    ------
    LayerError
        For a module that was not allowed or cannot be imported, or a class that the module lacks. Errors of the user's
        code are passed on.

    Source
    ------
    pycaffe.

    Examples
    --------
    >>> import types
    >>> from boxpresso import Net
    >>> from boxpresso.layers.core.python import PythonLayer
    >>> from boxpresso.proto import parse_net
    >>> class Twice(PythonLayer):
    ...     def reshape(self, bottom, top):
    ...         top[0].reshape(*bottom[0].shape)
    ...     def forward(self, bottom, top):
    ...         top[0].data[...] = 2 * bottom[0].data
    >>> my_layers = types.ModuleType("my_layers")
    >>> my_layers.Twice = Twice
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }
    ...     layer { name: "y" type: "Python" bottom: "x" top: "y"
    ...         python_param { module: "my_layers" layer: "Twice" } }'''), device="cpu", python_layers=[my_layers])
    >>> net.forward(x=[1, 2])["y"].tolist()
    [2.0, 4.0]
    """

    @classmethod
    def stand_in(cls, param: Any, axes: Sequence[int], modules: Collection[str]) -> str:
        p = param.python_param
        ours = None if p.module in modules else replacement(p.module, p.layer)
        return ours.variant(p.module, axes, len(param.top)) if ours else ""

    runs_users = True

    @property
    def repeatable(self) -> bool:
        return False  # nobody knows

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.python_param
        allowed = {getattr(m, "__name__", m): m for m in self.python_layers}
        self.need(
            p.module in allowed,
            f"runs the class {p.layer!r} of the Python module {p.module!r}, which was not allowed; if you trust that "
            f"module, allow it: Net(..., python_layers=[{p.module!r}]), or --python-layers {p.module} of the command",
        )
        user_class = self.user_class(allowed[p.module], p.module, p.layer)
        self.user = user_class.__new__(user_class)
        self.user.param_str = self.user.param_str_ = p.param_str
        self.user.phase = Phase(PHASES[self.phase])
        self.user.blobs = Blobs(self)
        if type(self.user).__init__ not in (object.__init__, PythonLayer.__init__):
            construct(self.user, self.param)
        self.no_gradient = does_nothing(getattr(user_class, "backward", PythonLayer.backward))
        self.user.setup(views(bottom), views(top))

    def __getattr__(self, name: str) -> Any:
        """What only the user's object has, so that `net.layers[0].set_roidb(...)` reaches it, as in pycaffe."""
        user = vars(self).get("user")
        if user is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(user, name)

    def user_class(self, module: str | types.ModuleType, name: str, layer: str) -> Any:
        """The user's class, of a module or of the name of one."""
        if not isinstance(module, types.ModuleType):
            try:
                module = user_module(name)
            except ImportError as error:
                raise LayerError(
                    f"{self}: the module {name!r} cannot be imported ({error}); is its folder in sys.path or PYTHONPATH?"
                ) from error
        user_class = getattr(module, layer, None)
        self.need(
            isinstance(user_class, type), f"the module {name!r} has no class {layer!r}{nearest(layer, vars(module))}"
        )
        return user_class

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.user.reshape(views(bottom), views(top))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.user.reshape(views(bottom), views(top))  # before each pass, as in Caffe: data layers load there
        self.user.forward(views(bottom), views(top))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for blob, asked in zip(bottom, propagate_down):
            if asked and all(blob is not other for other in top):
                blob.diff.fill(0)  # where the class leaves it alone
        self.user.backward(views(top), list(propagate_down), views(bottom))


def user_module(name: str) -> types.ModuleType:
    """The module of that name, imported; `import caffe` in it works where pycaffe is not installed."""
    with caffe_to_import():
        return importlib.import_module(name)


def import_own_types(layers: Iterable[Any], modules: Iterable[str | types.ModuleType]) -> None:
    """Imports the user's modules where a net has a type that is unknown without them, so that their classes register it.

    Raises ModelError for a module that cannot be imported, if the type is unknown without it.
    """
    unknown = [layer for layer in layers if not known_type(layer.type)]
    for module in modules if unknown else ():
        if isinstance(module, types.ModuleType):
            continue  # it is imported already
        try:
            user_module(module)
        except ImportError as error:
            raise ModelError(
                f"layer {unknown[0].name!r} has the type {unknown[0].type!r}, and the module {module!r}, which may bring it, "
                f"cannot be imported ({error}); is its folder in sys.path or PYTHONPATH?"
            ) from error


def construct(user: Any, param: Any) -> None:
    """Calls the constructor of a user's class: with the LayerParameter, as pycaffe does, or without if it takes nothing."""
    try:
        inspect.signature(user.__init__).bind(param)
    except TypeError:
        user.__init__()
    else:
        user.__init__(param)


def does_nothing(function: object) -> bool:
    """Whether the body of a function is `pass`, as in old layers of targets and regions, which give no gradient."""
    idle = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
    return inspect.isfunction(function) and all(step.opname in idle for step in dis.get_instructions(function))


def views(blobs: Sequence[Blob]) -> list[View]:
    return [View(blob) for blob in blobs]


def folder_alone(spec: ModuleSpec | None) -> bool:
    """Whether an import finds a folder without code of its own: a clone of Caffe in the working directory is no pycaffe."""
    return spec is not None and spec.origin is None and spec.submodule_search_locations is not None


@contextmanager
def caffe_to_import() -> Iterator[None]:
    """Lets a module `import caffe` for caffe.Layer, caffe.TRAIN and caffe.TEST where pycaffe is not installed."""
    loaded = sys.modules.get("caffe")
    spec = loaded.__spec__ if loaded else importlib.util.find_spec("caffe")
    if (loaded or spec) and not folder_alone(spec):
        yield
        return
    module = types.ModuleType("caffe", "What a Python layer needs of pycaffe; from boxpresso.")
    vars(module).update(Layer=PythonLayer, TRAIN=Phase(0), TEST=Phase(1))
    sys.modules["caffe"] = module
    try:
        yield
    finally:
        del sys.modules["caffe"]
        if loaded:
            sys.modules["caffe"] = loaded
