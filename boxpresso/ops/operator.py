"""Operator: a layer as a function of arrays. The layer runs over Blobs whose memory is the caller's."""

from __future__ import annotations

import functools
import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, ParamSpec, cast

import numpy as np

from ..device import Blob, strides
from ..device.cuda import Cuda
from ..device.kernel import real_of
from ..device.signature import BFLOAT16
from ..device.tape import TRIES, HostTape, Tape, Unrecordable
from ..layers.core import Layer, Trait, check_arity, make_layer, strided, traits_of
from ..proto import LayerParameter
from ..proto.errors import BoxpressoError, LayerError
from . import arrays, memory

P = ParamSpec("P")
LARGE = 2**62  # elements
LAYERS = 8  # layers in the cache of a thread, with their scratch memory
PLANS = 512  # plans in the cache of a thread
OPTIONAL = ("trans", "offset", "bias", "mask")  # inputs that may be None, where the operator's own checks allow it
TO_NCHW, TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)
local = threading.local()


@dataclass
class Plan:
    """Which layer computes an operator: its type, its parameter as {message: fields}, and attributes to set on it."""

    type: str
    parameter: dict[str, dict[str, Any]]
    attributes: dict[str, Any] = field(default_factory=dict)
    blobs: tuple[int, ...] = ()  # which of the inputs are learned blobs of the layer; the others are its bottoms
    remembers: bool = True  # whether its backward needs the state that its forward left
    keeps: bool = (
        False  # whether its forward stores what backward would else compute again if its attribute `keep` is set
    )
    last: bool = False  # whether it takes images with the channels last, when its attribute `last` is set


@dataclass
class Shaped:
    """An array as `describe` sees it: its shape, an image's as (B, C, H, W)."""

    shape: tuple[int, ...]


@dataclass
class CachedLayer:
    """A layer between its calls: which of them it is shaped for, and whether it has run forward for that one."""

    layer: Layer
    shapes: object = None
    top: tuple[int, ...] = ()
    user: object = None
    ran: bool = False
    lock: threading.RLock = field(default_factory=threading.RLock)  # autograd may go backward in a thread of its own


class Operator(Generic[P]):
    """A function of arrays and its gradient; `describe` gives its signature and its Plan."""

    def __init__(
        self,
        describe: Callable[P, Plan],
        inputs: Sequence[str],
        constant: Sequence[str],
        linear: Sequence[str],
        large: bool = False,
    ) -> None:
        self.describe, self.inputs, self.constant = describe, tuple(inputs), tuple(constant)
        self.linear, self.large = tuple(linear), large
        self.regions = (
            self.inputs.index("rois") if "rois" in self.inputs else None
        )  # which input may be a list of boxes
        self.columns = 6 if "rotat" in describe.__name__ else 5  # numbers of a region
        self.signature = inspect.signature(describe)
        parameters = self.signature.parameters.values()
        self.names = [p.name for p in parameters]
        self.options = [name for name in self.names if name not in self.inputs]
        self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        # By how many arguments come by position, and which by name: where each input, and each option, is among these and the
        # defaults behind them.
        self.forms: dict[tuple[Any, ...], tuple[list[int], list[int]]] = {}
        functools.update_wrapper(self, describe)
        self.__signature__ = self.signature.replace(return_annotation=Any)  # what help() shows

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        inputs, options = self.bind(*args, **kwargs)
        return self.cached(inputs, options, (), Call.forward)

    def cached(
        self, inputs: list[Any], options: dict[str, Any], more: tuple[Any, ...], run: Callable[[Call], Any]
    ) -> Any:
        """What `run` gives for the call of these arguments that `open` gives."""
        call = self.open(inputs, options, more)
        result = run(call)
        call.close()
        return result

    def open(self, inputs: list[Any], options: dict[str, Any], more: tuple[Any, ...]) -> Call:
        """The call of these arguments: one of this thread's cache that serves arrays of their kind, or a new one. It is the
        caller's until its `close`.

        more: what else tells kinds of calls from each other.
        """
        calls: OrderedDict[Any, Call] | None = local.__dict__.get("calls")
        if calls is None:
            calls = local.calls = OrderedDict()
        key: Any = self, more, arrays.asked.get(), *options.values(), *map(arrays.kind_of, inputs)
        try:
            call = calls.pop(key, None)
        except TypeError:  # an option that cannot be part of a key
            return Call(self, inputs, options)
        if call is not None:
            call.take(inputs)
            return call
        call = Call(self, inputs, options)
        if call.reusable:
            call.place = calls, key
        return call

    def backward(self, grad: Any, *args: Any, wanted: Sequence[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        """The gradients of sum(grad * result), by the names of the inputs.

        Parameters
        ----------
        grad : an array of the result's shape, followed by the arguments of the operator itself.
        wanted : the names of the inputs to give a gradient; None: all but those that are usually constant, such as regions.

        Raises
        ------
        BoxpressoError: `wanted` names something else than an input, or `grad` is of another shape.

        Examples
        --------
        >>> import numpy as np
        >>> from boxpresso import ops
        >>> x, rois = np.zeros((1, 1, 2, 2), np.float32), np.array([[0, 0, 0, 2, 2]], np.float32)
        >>> ops.roi_align_backward(np.ones((1, 1, 1, 1), np.float32), x, rois, 1, sampling_ratio=1)["x"][0, 0].tolist()
        [[0.25, 0.25], [0.25, 0.25]]
        """
        inputs, options = self.bind(*args, **kwargs)
        names = [name for name in self.inputs if name not in self.constant] if wanted is None else wanted
        if unknown := set(names) - set(self.inputs):
            raise BoxpressoError(f"wanted names {sorted(unknown)}; the inputs are {list(self.inputs)}")
        asked = tuple(value is not None and name in names for name, value in zip(self.inputs, inputs))
        more = asked, arrays.kind_of(grad)
        gradients = self.cached(inputs, options, more, lambda call: call.backward(grad, asked))
        return {name: array for name, array in zip(self.inputs, gradients) if array is not None}

    def bind(self, *args: Any, **kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
        """The arrays, in the order of `inputs` (None: not given), and the other arguments."""
        form = len(args), *kwargs
        of_inputs, of_options = self.forms.get(form) or self.form(form, args, kwargs)
        at = (*args, *kwargs.values(), *self.defaults.values()).__getitem__
        inputs = list(map(at, of_inputs))
        if self.regions is not None and type(inputs[self.regions]) in (list, tuple):
            inputs[self.regions] = arrays.regions_of(inputs[self.regions], inputs[0], self.columns)
        return inputs, dict(zip(self.options, map(at, of_options)))

    def form(self, form: tuple[Any, ...], args: Any, kwargs: dict[str, Any]) -> tuple[list[int], list[int]]:
        """A way to give arguments, which is remembered: see `forms`. Raises TypeError for one that does not fit."""
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            taken = ", ".join(f"{n}={self.defaults[n]!r}" if n in self.defaults else n for n in self.names)
            raise TypeError(f"{self.__name__}() {error}; it takes {taken}") from None  # type: ignore[attr-defined]
        order = [*self.names[: len(args)], *kwargs]
        places = {name: len(order) + i for i, name in enumerate(self.defaults)}
        places.update((name, i) for i, name in enumerate(order))
        known = [places[name] for name in self.inputs], [places[name] for name in self.options]
        self.forms[form] = known
        return known

    def linear_in(self, options: dict[str, Any]) -> Sequence[str]:
        """The inputs in each of which the result is linear, without a bias and what lies outside an image."""
        return ("x",) if options.get("pool_mode") == "avg" else self.linear

    def __reduce__(self) -> str:
        return self.__name__  # type: ignore[attr-defined, no-any-return]  # pickle and copy have it by its module's name for it

    def __repr__(self) -> str:
        return f"<operator {self.__name__}{self.signature}>"  # type: ignore[attr-defined]


def operator(
    *inputs: str, constant: Sequence[str] = ("rois",), linear: Sequence[str] = ("x",), large: bool = False
) -> Callable[[Callable[P, Plan]], Operator[P]]:
    """Makes an Operator of a function that describes it. inputs: which arguments are arrays; the first decides device,
    dtype and kind of the result, and `layout` is about it; constant: those without a gradient; linear: those in each of which
    the result is linear, for every value of the options; large: whether arrays of the CPU may have 2^31 elements and more."""
    return lambda describe: Operator(describe, inputs, constant, linear, large)


def wrong_field(plan: Plan, options: dict[str, Any]) -> str:
    """Which option its message does not take, and why; protobuf itself does not say which field it is, and an option may be
    the field of another name."""
    for message, fields in plan.parameter.items():
        for name, value in fields.items():
            try:
                LayerParameter(**{message: {name: value}})
            except (TypeError, ValueError) as error:
                same = [key for key, setting in options.items() if value is setting or value == setting]
                parts = [
                    key for key, setting in options.items() if isinstance(setting, (tuple, list)) and value in setting
                ]
                longer = [key for key in options if key.startswith(name)]  # padding
                called = next(iter((*longer, *same, *parts)), name)
                return f"{called} cannot be {str(value)[:40]!r}: {error}"
    return ""


class Call:
    """One operator over one set of arrays: forward and backward.

    The layer comes from this thread's cache, where calls of the same parameters share it: `backward` shapes it, and runs
    forward, again when another call has used it in between.
    """

    def __init__(
        self, op: Operator[...], inputs: Sequence[Any], options: dict[str, Any], *, halves: bool = True
    ) -> None:
        """halves: whether a layer that takes images of 16 bits is given them."""
        self.op, layout = op, options.get("layout", "NCHW")
        if layout not in ("NCHW", "NHWC"):
            raise BoxpressoError(f"layout must be 'NCHW' or 'NHWC', got {layout!r}")
        self.inputs, self.options, first = inputs, options, inputs[0]
        name: str = op.__name__  # type: ignore[attr-defined]
        for input_name, value in zip(op.inputs, inputs):
            if value is None and input_name not in OPTIONAL:
                raise BoxpressoError(f"{name}: {input_name} must be an array, got None")
        self.device = arrays.device_of(first)
        self.lasting_result: Any = None  # the result, where the layer's backward may read it in the caller's memory
        self.place: tuple[OrderedDict[Any, Call], Any] | None = (
            None  # the cache that it goes back to, and its key there
        )
        self.tapes: dict[Any, Tape | HostTape] = {}  # its launches, by what they are of
        # Which input's numbers are looked at before a tape of the CPU is played, and what does.
        self.watch: tuple[int, Callable[[Any], object]] | None = None
        self.tries = 0  # how often what it does could not be recorded
        self.results = arrays.Results(first, self.device)
        # An image in torch's memory format of that name is taken as it lies in memory.
        self.turned = layout == "NCHW" and "layout" in op.names and arrays.channels_last(first)
        self.last = self.turned or layout == "NHWC"
        x = arrays.take(arrays.turned(first, TO_NHWC) if self.turned else first, self.device)
        self.lent: list[Any] = [x]  # the inputs as this device's arrays over the caller's memory
        if x.dtype not in arrays.FLOATS:
            raise BoxpressoError(
                f"{name}: {op.inputs[0]} must be of float16, bfloat16, float32 or float64, got {x.dtype}"
            )
        if "layout" in op.names and x.ndim != 4:
            raise BoxpressoError(f"{name}: {op.inputs[0]} must have 4 axes, got shape {tuple(x.shape)}")
        self.outer, self.dtype = x.dtype, real_of(x.dtype)
        self.lent.extend(None if a is None else arrays.take(a, self.device) for a in inputs[1:])
        for input_name, array in zip(op.inputs, self.lent):
            if array is not None and array.dtype.kind not in "biuf" and array.dtype != BFLOAT16:
                raise BoxpressoError(f"{name}: {input_name} must be of real numbers, got {array.dtype}")
        # The dtype of each input's gradient: beside 16 bits float32 for what is wider, whose gradients exceed float16's range.
        self.kinds = [
            self.dtype if a is not None and a.dtype in (np.float32, np.float64) else self.outer for a in self.lent
        ]
        rest = [None if a is None else arrays.take(a, self.device, self.dtype) for a in self.lent[1:]]
        self.taken: Any = [x, *rest]
        self.shapes = tuple(None if a is None else a.shape for a in self.taken)
        self.plan, self.key = self.describe()
        self.half = halves and self.outer != self.dtype and Trait.SIXTEEN_BITS in traits_of(self.plan.type)
        self.inner = self.outer if self.half else self.dtype  # the dtype of the layer's image and result
        if not self.half:
            self.taken[0] = x = arrays.take(x, self.device, self.dtype)
        self.turns = self.last and not self.plan.last  # whether the layer needs a copy with the channels first
        if self.turns:
            self.taken[0] = self.permuted(x, TO_NCHW)
        self.bottoms = [self.blob(a) for i, a in enumerate(self.arrays) if a is not None and i not in self.plan.blobs]
        self.top = [self.empty_blob(self.inner)]
        self.own, self.count = self.top[0]._data, sum(a is not None for a in self.arrays)
        self.token, self.borrowed, self.again = object(), True, False
        try:
            self.cached = self.find()
            self.layer = self.cached.layer
            self.bind()
        except LayerError as error:
            raise LayerError(self.in_words_of_the_operator(str(error))) from None

    def in_words_of_the_operator(self, text: str) -> str:
        """What a layer says of its bottoms, of the operator's inputs."""
        pairs = zip(self.op.inputs, self.arrays)
        names = [name for i, (name, array) in enumerate(pairs) if array is not None and i not in self.plan.blobs]
        for i, name in enumerate(names):
            text = text.replace(f"bottom {i},", f"{name},").replace(f"bottom {i} ", f"{name} ")
        return text

    @property
    def reusable(self) -> bool:
        """Whether the layer works on the caller's arrays as they are, so that this can serve others of their kind."""
        as_given = all(array is lent for array, lent in zip(self.arrays, self.lent, strict=True))
        return as_given and not self.plan.blobs and not self.turned and all(map(arrays.known_kind, self.inputs))

    def take(self, inputs: Sequence[Any]) -> None:
        """Takes other arrays of the same kind, shapes and dtypes."""
        self.inputs, self.again, self.taken = inputs, True, None
        if self.device.kind != "cpu":
            self.take_all()
        self.results.like, self.borrowed = inputs[0], False
        if self.cached.user is self.token:  # what its last forward has left is of other arrays
            self.cached.ran = False
            vars(self.layer).update(self.plan.attributes)

    @property
    def arrays(self) -> list[Any]:
        """The inputs as the layer has them. On the CPU those of a call that came before are taken when somebody asks."""
        if self.taken is None:
            self.take_all()
        return cast("list[Any]", self.taken)

    def take_all(self) -> None:
        """Takes the inputs of a known kind as they are."""
        self.taken = [a if a is None or arrays.whole(a) else arrays.taken_as_it_is(a, self.device) for a in self.inputs]

    def borrow(self) -> None:
        """Has the blobs of the bottoms lie in the arrays that were taken."""
        if not self.borrowed:
            for blob, array in zip(self.bottoms, (a for a in self.arrays if a is not None)):
                blob.borrow(array)
            self.borrowed = True

    @contextmanager
    def into(self, room: Callable[[Sequence[int], Any], Any]) -> Iterator[None]:
        """Within, results lie in memory of the caller's: see arrays.Given."""
        own, self.results = self.results, arrays.Given(self.inputs[0], self.device, room)
        try:
            yield
        finally:
            self.results = own

    def close(self) -> None:
        """Goes back to the cache, without the caller's arrays."""
        if self.place is None:
            return
        self.release()
        calls, key = self.place
        calls[key] = self  # the latest is the last
        while len(calls) > LAYERS:
            calls.popitem(last=False)

    def release(self) -> None:
        """Lets go of the caller's arrays."""
        self.inputs, self.taken, self.lent, self.results.like, self.lasting_result = [], [], [], None, None
        if self.borrowed:
            own = self.top[0]._data if self.top[0]._data is self.own else None  # that a tape may write to
            for blob in (*self.bottoms, *self.top):
                blob.release()
            self.top[0]._data = own or self.top[0]._data

    def describe(self) -> tuple[Plan, Any]:
        """The operator's Plan for these shapes and options, and the key of its layer in the cache."""
        plans: dict[Any, tuple[Plan, Any]] = local.__dict__.setdefault("plans", {})
        values = {name: v.item() if isinstance(v, np.generic) else v for name, v in self.options.items()}
        # With types: 3.0 is equal to 3 and asks for another plan, which may be one that no layer takes.
        options = tuple((name, type(v), tuple(v) if isinstance(v, list) else v) for name, v in values.items())
        try:
            return plans[self.op, options, self.last, self.shapes]
        except (KeyError, TypeError):  # TypeError: an option that cannot be part of a key
            pass
        seen = [None if shape is None else Shaped(tuple(shape)) for shape in self.shapes]
        if self.last:
            seen[0] = Shaped(tuple(self.arrays[0].shape[axis] for axis in TO_NCHW))
        name: str = self.op.__name__  # type: ignore[attr-defined]
        try:
            plan = self.op.describe(**dict(zip(self.op.inputs, seen)), **values)
        except BoxpressoError as error:
            raise LayerError(f"{name}: {error}") from None
        try:
            param = LayerParameter(name=name, type=plan.type, **plan.parameter)
        except (TypeError, ValueError) as error:  # of protobuf, for a number that is too large or below 0
            raise LayerError(f"{name}: {wrong_field(plan, values) or error}") from None
        channels = self.arrays[0].shape[-1 if self.last else 1 :][:1]
        key = param.SerializeToString(deterministic=True), tuple(sorted(plan.attributes.items())), channels
        if len(plans) >= PLANS:
            plans.clear()
        with suppress(TypeError):
            plans[self.op, options, self.last, self.shapes] = plan, key
        return plan, key

    def permuted(self, array: Any, order: Sequence[int], to: Any = None) -> Any:
        """Axis k of the result is axis order[k] of the array."""
        shape = [array.shape[axis] for axis in order]
        steps = strides(array.shape)
        output = self.device.empty(shape, array.dtype) if to is None else to
        strided.copy(self.device, shape, array, [steps[axis] for axis in order], output, strides(shape))
        return output

    def find(self) -> CachedLayer:
        """The layer of these parameters, from the cache or new."""
        plan, last = self.plan, self.last and not self.turns
        key = self.key, self.device, self.inner, last, len(self.bottoms)
        layers: OrderedDict[Any, CachedLayer] = local.__dict__.setdefault("layers", OrderedDict())
        cached = layers.pop(key, None)
        if cached is None:
            layer = make_layer(LayerParameter.FromString(self.key[0]), device=self.device, dtype=self.inner)
            vars(layer).update(plan.attributes, **({"last": last} if plan.last else {}))
            check_arity(layer, len(self.bottoms), 1)
            layer.setup(self.bottoms, self.top)
            cached = CachedLayer(layer)
        layers[key] = cached  # the latest is the last
        while len(layers) > LAYERS:
            layers.popitem(last=False)
        return cached

    def bind(self) -> None:
        """Shapes the layer for this call, and gives it the learned blobs."""
        cached = self.cached
        with cached.lock:
            cached.user, cached.ran = self.token, False
            vars(self.layer).update(self.plan.attributes)
            if cached.shapes == self.shapes:
                self.top[0].reshape(*cached.top)
            else:
                cached.shapes = None  # until it is done
                self.layer.reshape(self.bottoms, self.top)
                cached.shapes, cached.top = self.shapes, self.top[0].shape
            learned: list[Any] = [
                (self.op.inputs[i], self.arrays[i]) for i in self.plan.blobs if self.arrays[i] is not None
            ]
            for blob, (name, array) in zip(self.layer.blobs, learned, strict=True):
                if blob.shape != tuple(array.shape):
                    raise BoxpressoError(
                        f"{self.layer}: {name} must be of shape {blob.shape}, got {tuple(array.shape)}"
                    )
                blob.borrow(array)

    def run(self, keep: bool = False) -> None:
        """Forward, in the layer shaped for this call."""
        if self.cached.user is not self.token:
            self.bind()
        if self.plan.keeps:
            self.layer.keep = keep  # type: ignore[attr-defined]
        self.layer.forward(self.bottoms, self.top)
        self.cached.ran = True

    def run_with(self, places: Any) -> None:
        """The same, of a layer that writes into `places` where its maxima lie."""
        layer: Any = self.layer
        if self.cached.user is not self.token:
            self.bind()
        try:
            with layer.rooms[0].lent("places", places):
                self.run(keep=True)
        finally:
            layer.has_places = False

    def blob(self, array: Any) -> Blob:
        """A Blob over the memory of an array."""
        blob = self.empty_blob(array.dtype)
        blob.borrow(array)
        return blob

    def empty_blob(self, dtype: Any) -> Blob:
        """A Blob without memory; kernels of some operators count the elements of all its planes with 64 bits."""
        blob = Blob((), dtype, self.device)
        if self.op.large and self.device.kind == "cpu":
            blob.most = LARGE
        return blob

    def forward(self, keep: bool = False, places: Any = None) -> Any:
        """The result.

        keep: whether a backward comes, for layers that store more for it; places: room for where a layer's maxima lie.
        """
        top = self.top[0]
        image = len(top.shape) == 4
        result, ours, direct = self.room(top.shape, self.turns and image)

        def work() -> None:
            self.borrow()
            if direct and top.count:
                top.borrow(ours)
            if places is None:
                self.run(keep)
            else:
                self.run_with(places)

        with self.cached.lock:
            on_tape = direct and top.count and (isinstance(self.device, Cuda) or self.repeats(keep))
            self.launch(work, [ours, places] if on_tape else None, keep if places is None else "places")
            self.cached.ran = self.cached.user is self.token and places is None
        if keep:  # a backward may look at the result, also where the layer did not run for it
            self.borrow()
            self.lasting_result = ours if direct and top.count else None
            if self.lasting_result is not None:
                top.borrow(ours)
        if not direct and top.count:
            self.hand_over(top.data, ours, self.turns and image)
        self.finish()
        return self.outwards(result)

    def repeats(self, keep: bool) -> bool:
        """Whether the layer's passes can be played from a tape of the CPU: none where it leaves something from forward for its
        backward, which comes (`keep`)."""
        leaves = keep and (self.plan.remembers or self.plan.keeps)
        return self.again and not leaves and self.cached.shapes == self.shapes and self.layer.repeats()

    def launch(self, work: Callable[[], None], more: Sequence[Any] | None, kind: Any) -> None:
        """Does `work`. The launches of a call that has come before are made again, on the inputs and arrays of now.

        more: the arrays beside the inputs; None where it is not known which they are, or on the CPU whether it is launches
        alone. kind: what tells the works of this call from each other.
        """
        device = self.device
        if not self.again or more is None or (isinstance(device, Cuda) and device.debug):
            work()
            return
        if not isinstance(device, Cuda):
            if self.watch is not None:
                which, look = self.watch
                look(arrays.taken_as_it_is(self.inputs[which], device))
            operands = [*self.inputs, *more]
            self.play(work, more, [arrays.address(array) for array in operands if array is not None], kind)
            return
        there = [array for array in (*self.taken, *more) if array is not None]  # those of a GPU are taken at once
        addresses = [array.address(i >= self.count) for i, array in enumerate(there)]
        others = {cast(Cuda, array.buffer.device) for array in there} - {device}
        if others:
            device.wait_for(others)
        self.play(work, more, addresses, kind)
        if others:
            device.let_wait(others)

    def play(self, work: Callable[[], None], more: Sequence[Any], addresses: Sequence[int], kind: Any) -> None:
        """What `work` does, from its tape where there is one that fits; addresses: of the inputs, and of `more`, the
        arrays beside them."""
        cached, tape = self.cached, self.tapes.get(kind)
        if tape is not None and tape.fits(addresses):
            tape.play(addresses)
            if cached.user is not self.token:  # what that one has left in the layer's memory is lost
                cached.user = None
        elif not self.record(work, [array for array in (*self.arrays, *more) if array is not None], kind):
            work()

    def record(self, work: Callable[[], None], there: Sequence[Any], kind: Any) -> bool:
        """Does `work` and keeps what it launches; False where that cannot be, and it may have been done in part."""
        if self.tries == TRIES:
            return False
        if self.cached.user is not self.token:
            self.borrow()
            self.bind()
        draws = self.layer.pass_number
        try:
            tape = (Tape if isinstance(self.device, Cuda) else HostTape)(cast(Any, self.device), work, there)
        except Unrecordable:
            self.tries += 1
            return False
        if self.layer.pass_number == draws:
            self.tapes[kind] = tape
            self.watch = None if isinstance(tape, Tape) else self.layer.watch()
        else:  # it draws random numbers, others each time
            self.tries = TRIES
        return True

    def outwards(self, result: Any) -> Any:
        """A result as the caller's `layout` has it."""
        return arrays.turned(result, TO_NCHW) if self.turned and len(self.top[0].shape) == 4 else result

    def inwards(self, gradient: Any, dtype: Any, input_name: str) -> Any:
        """What the caller gives of the result's shape, such as its gradient, as the layer has it."""
        image = len(self.top[0].shape) == 4
        gradient = arrays.take(
            arrays.turned(gradient, TO_NHWC) if self.turned and image else gradient, self.device, dtype
        )
        gradient = self.permuted(gradient, TO_NCHW) if self.turns and image and gradient.ndim == 4 else gradient
        if tuple(gradient.shape) != self.top[0].shape:
            wanted = self.top[0].shape
            raise BoxpressoError(
                f"{self.layer}: {input_name} must be of the result's shape {wanted}, got {gradient.shape}"
            )
        return gradient

    def room(self, shape: Sequence[int], turn: bool, dtype: Any = None) -> tuple[Any, Any, bool]:
        """A new array for the caller, the same as ours, and whether the layer may write straight into it; `shape`: the
        layer's, `turn`: the caller has the channels last there, the layer not; `dtype`: another than the result's."""
        shape, dtype = [shape[axis] for axis in TO_NHWC] if turn else shape, dtype or self.outer
        return *self.results.empty(shape, dtype), not turn and dtype == self.inner

    def hand_over(self, output: Any, ours: Any, turn: bool) -> None:
        """Writes the layer's output into the result, in its layout and dtype."""
        if turn:
            output = self.permuted(output, TO_NHWC, ours if self.outer == self.inner else None)
        if output is not ours:
            arrays.cast_into(self.device, output, ours)

    def backward(self, grad: Any, wanted: Sequence[bool]) -> list[Any]:
        """For each input that is wanted its gradient, for the others None."""
        if self.half and any(wanted[1:]):  # the regions' gradient needs them and the image in one dtype
            wider = Call(self.op, self.inputs, self.options, halves=False)
            wider.results = self.results
            return wider.backward(grad, wanted)
        gradient = self.inwards(grad, self.inner, "grad")
        rooms: list[tuple[Any, Any, bool] | None] = [
            self.room(array.shape, self.turns and i == 0, self.kinds[i]) if array is not None and wanted[i] else None
            for i, array in enumerate(self.arrays)
        ]
        results = [room for room in rooms if room is not None]
        with self.cached.lock:
            stands = self.cached.ran and self.cached.user is self.token  # what the forward has left in the layer
            written = [ours for _, ours, direct in results if direct and ours.size]
            work, direct = partial(self.run_back, gradient, rooms), self.top[0].count and len(written) == len(results)
            on_tape = direct and (isinstance(self.device, Cuda) or self.repeats(True))
            more = [self.lasting_result if stands else None, gradient, *written]
            self.launch(work, more if on_tape else None, (tuple(wanted), stands))
        self.finish()
        gradients = [None if room is None else room[0] for room in rooms]
        if self.turned and gradients[0] is not None:
            gradients[0] = arrays.turned(gradients[0], TO_NCHW)
        return gradients

    def run_back(self, gradient: Any, rooms: Sequence[tuple[Any, Any, bool] | None]) -> None:
        """The gradients from the result's, by the layer's backward, into the room for those that are wanted."""
        self.borrow()
        if self.cached.user is not self.token:
            self.bind()
        if self.plan.remembers and not self.cached.ran:
            self.run()
        top, plan = self.top[0], self.plan
        top.borrow(gradient, diff=True)
        bottoms, blobs = iter(self.bottoms), iter(self.layer.blobs)
        down: list[bool] = []
        learn: list[bool] = []
        after: list[tuple[Blob, Any, bool]] = []  # results that are not the layer's own memory
        for i, array in enumerate(self.arrays):
            if array is None:
                continue
            learned, room = i in plan.blobs, rooms[i]
            blob = next(blobs if learned else bottoms)
            (learn if learned else down).append(room is not None)
            if room is None:
                continue
            _, ours, direct = room
            if not direct:
                after.append((blob, ours, self.turns and i == 0))
            elif blob.count:
                blob.borrow(ours, diff=True)
            if learned:
                blob.diff.fill(0)  # a layer adds to these
        self.layer.param_propagate_down = learn
        self.layer.backward(self.top, down, self.bottoms)
        for blob, ours, turn in after:
            if blob.count:
                self.hand_over(blob.diff, ours, turn)

    def finish(self) -> None:
        """Hands the results over, and raises what kernels have found wrong with the inputs: the caller's library would not."""
        if self.layer.kernel_check is not None:
            self.device.synchronize()
        self.results.finish()


def forget() -> None:
    """Gives back the memory of this thread's cache of layers, and of results that nobody holds.

    Examples
    --------
    >>> from boxpresso import ops
    >>> ops.forget()
    """
    memory.free.clear()
    for device in list(Cuda.instances):
        device.spares = {}
    local.__dict__.pop("layers", None)
    local.__dict__.pop("plans", None)
    local.__dict__.pop("calls", None)
