"""Layer: four verbs (setup, reshape, forward, backward) and a registry of types.

    class ReLU(Layer, type="ReLU", bottoms=1, tops=1, in_place=True, traits=Trait.ELEMENTWISE): ...

The class statement registers the type. Layers of Boxpresso itself need no list: a file in `layers/` is enough, and what other
files want to know of a type they ask of its `traits` (traits.py).
A user's own layer is such a class in the user's own file; importing that file registers it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, Protocol, Union, cast

import numpy as np

from ...device import AnyArray, Array, Blob, Check, Device, Kernels
from ...device.signature import dtype_of
from ...proto import LayerParameter
from ...proto.errors import LayerError, nearest
from ...proto.limits import LIMITS
from .filler import Fills, Seed
from .fork_fields import refused_field
from .gpu_lowering import AffineLast, ForwardLast, GpuLowering, OnLast
from .lowering import Fusible, Lowering, Numbers, Pointwise
from .numbers import too_large
from .scratch import Scratch
from .training import Link, Together
from .traits import Trait, with_implied

REGISTRY: dict[str, type[Layer]] = {}  # by lower-case type name
REPLACED: dict[str, type[Layer]] = {}  # by "module.Class"
Arity = Union[int, tuple[int, "int | None"], None]  # exactly, (from, to) with None for no end, or any number
Shapes = tuple[tuple[int, ...], ...]
OF_FORWARD = ("fuse", "lower", "lower_gpu", "lower_last")  # methods that say how a plan does what forward does


class Room(Protocol):
    """What counts the memory of a net."""

    def take_parameter(self, layer: Layer, index: int, size: int) -> None:
        """Counts a parameter of `size` bytes. Raises DeviceError where that is too much."""

    def check(self, layer: Layer, part: str, more: int) -> None:
        """Raises DeviceError where that many bytes more are too much."""


class Window(NamedTuple):
    """The windows of a layer, as a LayerParameter says: numbers once for all spatial axes, or once for each.

    spreads: whether each element of the bottom goes into a window of the top, as in Deconvolution, not the other way round.
    """

    axis: int  # of the channels
    kernel: Sequence[int]
    stride: Sequence[int]
    pad: Sequence[int]
    dilation: Sequence[int]
    spreads: bool = False


class Layer:
    """One step of a net. Bottoms are the Blobs that it reads, tops those that it writes.

    The Net calls `setup` once, `reshape` whenever the shape of a bottom changes, then `forward` and `backward`.
    `backward` overwrites the diffs of bottoms and adds to the diffs of parameters (`self.blobs`), but only those that
    `propagate_down` and `self.param_propagate_down` ask for. In place means that bottom and top are the same Blob.

    Parameters
    ----------
    param
        The LayerParameter.
    device
        Where the layer runs; every Kernels of the class is bound to it.
    dtype
        numpy.float32 or numpy.float64; numpy.float16 or ml_dtypes.bfloat16 for layers that store it.
    phase
        "TRAIN" or "TEST".
    seed
        For fillers and all other random numbers.

    Attributes
    ----------
    blobs
        The learned parameters.
    rng
        The random numbers of `seed`; `draws` gives those of one forward.
    no_gradient
        Set in setup by a layer whose tops are chosen, not computed: no layer before it gets a gradient from it.
    python_layers
        The modules, or their names, that a Python layer may import.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso import Layer, Net
    >>> from boxpresso.proto import parse_net
    >>> class Twice(Layer, type="DocstringTwice", bottoms=1, tops=1):
    ...     def reshape(self, bottom, top):
    ...         top[0].reshape(*bottom[0].shape)
    ...     def forward(self, bottom, top):
    ...         top[0].data[...] = 2 * np.asarray(bottom[0].data)
    ...     def backward(self, top, propagate_down, bottom):
    ...         if propagate_down[0]:
    ...             bottom[0].diff[...] = 2 * np.asarray(top[0].diff)
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }
    ...     layer { name: "y" type: "DocstringTwice" bottom: "x" top: "y" }'''), device="cpu")
    >>> net.forward(x=[1, 2])["y"]
    array([2., 4.], dtype=float32)
    >>> del REGISTRY["docstringtwice"]  # other code would keep it
    """

    type: ClassVar[str]
    types: ClassVar[tuple[str, ...]]
    bottoms: ClassVar[Arity]
    tops: ClassVar[Arity]
    in_place: ClassVar[bool]
    ours: ClassVar[bool] = True  # whether it is of this package, not a user's
    runs_users: ClassVar[bool] = False  # whether one of this package runs a user's class, which may count on each call
    auto_top: ClassVar[bool]
    messages: ClassVar[tuple[str, ...]] = ()  # of a LayerParameter, that the layer reads
    kernel_check: Check[Any] | None = None  # what its kernels look for in its bottoms on a GPU, once they have to
    gpu_files: ClassVar[tuple[Kernels, ...]] = ()  # of kernels that it launches on a GPU alone, beside `kernel_files`
    row_axis: int = 0  # of the tops of one that chooses rows, along which they then lie
    array_copies: ClassVar[float] = (
        0  # how many times the bytes of its blobs its arrays in numpy take while a pass runs
    )
    traits: Trait = Trait.NONE  # what others want to know of it; setup changes those of a layer whose parameters decide
    pass_number = 0  # how many forwards there were, of a layer that draws in each
    # Whether a forward changes parameters, as that of BatchNorm does while it gathers statistics.
    updates_parameters = False
    # Whether a later layer works in place on one of its tops, which then must not lie in a bottom's memory.
    apart = False
    stands_for: str = ""  # the type in the prototxt of one that was made in another's place
    replaces: ClassVar[tuple[str, ...]] = ()  # classes of Python layers, "module.Class", in whose place it is made

    # What goes with a trait (traits.py)
    output_axis = 1  # of a linear map: the axis of its top along which its outputs lie
    starts: Sequence[int]  # of one that joins several bottoms, since reshape: where each begins in the top,
    top_steps: Sequence[int]  # and how far its axes go there
    list_shapes: ClassVar[Shapes] = ()  # of its tops, where only the length of one axis is told by a forward: -1
    overlap_field: ClassVar[str] = ""  # of one that suppresses boxes: the path of the overlap in its LayerParameter
    offsets_top: ClassVar[int | None] = None  # the top with targets of offsets that tell how many classes there are
    grows: int = 0  # the axis of its tops whose length follows that of axis 0 of its bottoms
    offsets_bottom: ClassVar[int] = 0  # of one that restores offsets: the bottom that holds them
    reads_top = False  # whether its backward reads the values of its first top
    # Room for these, of a layer that does, where a later layer works in place on the top.
    overwritten: Blob | None = None
    with_diffs: Sequence[Blob] = ()  # Blobs of its own, no parameters, whose diffs a backward takes

    def __init_subclass__(
        cls,
        type: str | tuple[str, ...] | None = None,
        bottoms: Arity = None,
        tops: Arity = None,
        in_place: bool = False,
        loss: bool = False,
        param: str | tuple[str, ...] | None = None,
        traits: Trait | None = None,
    ) -> None:
        """Registers the class for its type.

        Parameters
        ----------
        type
            The name in a prototxt, or several; None for a base class of layers.
        bottoms, tops
            How many it takes: 2, (1, 3), (1, None), or None for any number.
        in_place
            Whether bottom 0 and top 0 may be one Blob.
        loss
            Whether its first top is a loss, with a weight of 1 unless the prototxt says otherwise; a loss may leave its
            top out of the prototxt.
        param
            The messages of a LayerParameter that the layer reads, such as "pooling_param", so that a NetSpec knows
            where a keyword belongs; None takes those of the base class.
        traits
            What other files want to know of it (traits.py); None takes those of the base class. A class that replaces the
            forward of a layer takes none, nor that layer's `lower` and its like: they say what the other forward does.

        Raises
        ------
        LayerError
            For a type that another class has, or a message that a LayerParameter lacks.
        """
        super().__init_subclass__()
        cls.ours = cls.__module__.startswith(__name__.partition(".")[0] + ".")
        if "forward" in vars(cls) and any("types" in vars(base) for base in cls.__mro__[1:]):
            traits = Trait.NONE if traits is None else traits
            for name in OF_FORWARD:
                if name not in vars(cls):
                    setattr(cls, name, getattr(Layer, name))
        if traits is not None:
            cls.traits = with_implied(traits)
        if param is not None:
            cls.messages = (param,) if isinstance(param, str) else param
            known_messages = LayerParameter.DESCRIPTOR.fields_by_name
            for name in cls.messages:
                if name not in known_messages:
                    raise LayerError(
                        f"class {cls.__qualname__}: a LayerParameter has no message {name!r}"
                        f"{nearest(name, known_messages)}"
                    )
        if type is None:
            return
        cls.types = (type,) if isinstance(type, str) else type
        cls.type = cls.types[0]
        cls.bottoms, cls.tops, cls.in_place = bottoms, tops, in_place
        cls.traits = cls.traits | Trait.LOSS if loss else cls.traits & ~Trait.LOSS
        for name in cls.types:
            known = REGISTRY.get(name.lower())
            if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
                raise LayerError(
                    f"layer type {name!r} is taken twice: by {known.__module__}.{known.__qualname__} and by "
                    f"{cls.__module__}.{cls.__qualname__}; choose another name"
                )
            REGISTRY[name.lower()] = cls
        REPLACED.update(dict.fromkeys(vars(cls).get("replaces", ()), cls))

    def __reduce__(self) -> Any:
        raise LayerError(
            f"{self.type} layer {self.name!r} is a part of its net, which copy.deepcopy and pickle copy with all its layers"
        )

    def __init__(
        self, param: Any, *, device: Device, dtype: Any = np.float32, phase: str = "TEST", seed: Seed = 0
    ) -> None:
        self.param, self.device, self.dtype, self.phase = param, device, dtype_of(dtype), phase
        for base in type(self).__mro__:
            for name, value in vars(base).items():
                if isinstance(value, Kernels) and name not in vars(self):
                    setattr(self, name, value.on(device))
        self.name: str = param.name
        wrong = too_large(param) or (refused_field(param, self.messages) if self.ours else "")
        self.need(not wrong, wrong)
        self.fills = Fills(seed)
        self.blobs: list[Blob] = []
        self.param_propagate_down: list[bool] = []
        self.no_gradient = False
        self.python_layers: Sequence[str | ModuleType] = ()
        self.write_below: Sequence[str] | None = None  # folders that it may write to; None: everywhere
        self.given_anchors: np.ndarray[Any, Any] | None = (
            None  # of the net's caller, for layers whose prototxt lacks them
        )
        self.memory: Room | None = None  # that of the net that it is in
        self.net_blobs: Mapping[str, Blob] = {}  # those of the net that it is in, by name
        self.warned = False  # whether it has said that there is NaN
        self.rooms = [Scratch(device)]  # its own, then those of what chooses rows for it

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers, of which parameters have taken theirs."""
        return self.fills.settle()

    @rng.setter
    def rng(self, rng: np.random.Generator) -> None:
        self.fills.settle()
        self.fills.made = rng

    def scratch(self, name: str, shape: Sequence[int], dtype: Any = None, *, backward: bool = False) -> None:
        """In reshape: asks for memory to work in beside blobs, which `room` gives; what a net needs is the sum.

        Parameters
        ----------
        name
            Asked for again, the name has another shape.
        shape
            Of the array.
        dtype
            Of the array; None: the layer's.
        backward
            Whether a backward alone needs it.
        """
        self.rooms[0].ask(name, shape, dtype or self.dtype, backward)

    def room(self, name: str) -> AnyArray:
        """The array of that name, which reshape has asked for. It is made here first, and stays until another shape is asked
        for. What it holds is undefined at first."""
        return self.rooms[0][name]

    # What a layer's author writes

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        """Reads and checks the parameters and creates `self.blobs`. Called once, before the first reshape."""

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        """Gives the tops their shapes and allocates what forward needs."""
        raise NotImplementedError(f"{self} has no reshape")

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        """Computes the data of the tops."""
        raise NotImplementedError(f"{self} has no forward")

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """Computes the diffs of bottoms from those of the tops, and adds to those of parameters.

        Parameters
        ----------
        top, bottom
            The Blobs of the last forward.
        propagate_down
            For each bottom whether its diff is needed.
        """
        self.need(not any(propagate_down), "this layer has no gradient; set propagate_down: false for its bottoms")

    def forward_launch(self, bottom: list[Blob], top: list[Blob]) -> bool:
        """The part of a forward that needs no host, of a layer of which only the device knows how many rows its tops
        have; `forward_finish` is the rest. A program on a GPU captures it with the layers before it.

        Returns
        -------
        bool
            Whether it was launched; False says that `forward` must run as a whole.
        """
        return False

    def forward_finish(self, bottom: list[Blob], top: list[Blob]) -> None:
        """What follows `forward_launch`: waits for it, and gives the tops their shapes."""

    def carried(self) -> Sequence[AnyArray]:
        """The arrays that a forward leaves to the next one, such as the states of a recurrent layer (Trait.RUNS_ONCE)."""
        return ()

    @property
    def repeatable(self) -> bool:
        """Whether a second forward with the same bottoms does nothing that the first has not done.

        Not where it carries a state on, gathers statistics, draws random numbers or writes a file; of a class from elsewhere
        nobody knows. A net runs such a layer once a forward, whatever else it has to do again.
        """
        return self.ours and not (self.updates_parameters or self.pass_number or Trait.RUNS_ONCE in self.traits)

    def fuse(self) -> Fusible | None:
        """What an earlier layer can do in this one's place at TEST: an Affine or an Activation; None for nothing."""
        return None

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        """How this layer runs in a plan, on channels-last arrays (core/lowering.py); None: by its own forward alone."""
        return None

    def round_products(self) -> None:
        """From now on it may round the factors of its products to bfloat16, with sums of float32: Net's precision="bf16" where
        layers run one by one. For the CPU, float32, after setup."""

    def lower_int8(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        """The same on numbers of 8 bits, which is stored in 8 bits or as floats; None where it has no such form."""
        return None

    @classmethod
    def stand_in(cls, param: Any, axes: Sequence[int], modules: Collection[str]) -> str:
        """The type of the layer that is made in place of one of this class, as for Module and Python; "" for this class.

        Parameters
        ----------
        param
            The LayerParameter.
        axes
            How many axes each bottom has.
        modules
            The names of the modules that a Python layer may import.
        """
        return ""

    @classmethod
    def variant(cls, module: str, axes: Sequence[int], tops: int) -> str:
        """The type that is made in the place of a class of `replaces`: its own, where bottoms and tops tell no others apart; ""
        for none, where they tell that the class is another program's.

        Parameters
        ----------
        module
            The class's.
        axes
            How many axes each bottom has.
        tops
            The number of tops.
        """
        return cls.type

    @classmethod
    def window_of(cls, param: LayerParameter) -> Window | None:
        """The windows of a layer with this LayerParameter; None for one without, or whose window is the whole image."""
        return None

    @classmethod
    def parameter_names(cls, shapes: Sequence[Sequence[int]]) -> Sequence[str]:
        """What parameters of these shapes are called in files of other programs; further ones have numbers."""
        return "weight", "bias"

    def fitted(self, index: int, values: Numbers) -> Numbers:
        """A file's values for parameter `index`, where the layer can make its own of those of another shape."""
        return values

    def scaled(self, weights: Numbers, factors: Numbers) -> Numbers:
        """The weights of a linear map (Trait.WEIGHTED) of which each output is multiplied by a factor."""
        return np.asarray(weights * factors.reshape(-1, *[1] * (weights.ndim - 1)))

    def lower_gpu(self, bottom: list[Blob], top: list[Blob]) -> GpuLowering | None:
        """How this layer runs in a plan on a GPU with others done in its store; None: by its own forward."""
        return None

    def lower_last(self, bottom: list[Blob], top: list[Blob]) -> OnLast | None:
        """How this layer runs on a GPU on channels-last arrays, of four axes with elements; None where it cannot."""
        if Trait.ELEMENTWISE in self.traits:
            return ForwardLast(self) if len({blob.shape for blob in (*bottom, *top)}) == 1 else None
        affine = Trait.BY_CHANNEL in self.traits and isinstance(self.lower(bottom, top), Pointwise)
        return AffineLast(self, bottom[0].shape[1]) if affine and len(bottom) == 1 else None

    def deviations(self) -> tuple[Any, Any, str] | None:
        """Of one that gives targets of offsets: their means and deviations, or None twice and why. None for others."""
        return None

    def training_chain(self, links: Sequence[Link]) -> Together | None:
        """What of `links`, this layer and those after it that read one another alone, trains together; None for nothing."""
        return None

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        """The most rows that a forward gives the tops, where only the data tells how many; 0: as many as reshape gives."""
        return 0

    def repeats(self) -> bool:
        """Whether forward, or backward, is on the CPU the launches of the one before and nothing else, on other bottoms of the
        shapes of the last reshape that `watch` lets pass."""
        return False

    def watch(self) -> tuple[int, Callable[[AnyArray], object]] | None:
        """Which bottom's numbers a pass looks at before it launches, and what does; None: none, for these shapes and limits."""
        return None

    def own_bytes(self, bottom: Sequence[Blob], top: Sequence[Blob], backward: bool) -> int:
        """The bytes that this layer keeps beside its bottoms, tops and parameters: of what reshape asked for, made or not yet,
        and of the Blobs, arrays and layers that are its attributes.

        Parameters
        ----------
        bottom, top
            The Blobs, whose shapes are those of the last reshape.
        backward
            Whether it will go backward too.
        """
        seen: set[object] = {b._data for b in (*bottom, *top, *self.blobs)}
        seen.update(id(array) for room in self.rooms for array in room.arrays.values())
        total = sum(room.nbytes(backward) for room in self.rooms)
        for name, value in vars(self).items():
            if name in ("net_blobs", "blobs", "given_anchors", "with_diffs"):
                continue
            for each in (
                value.values() if isinstance(value, dict) else value if type(value) in (list, tuple) else (value,)
            ):
                if isinstance(each, Layer):
                    total += each.own_bytes((*bottom, *top), (), backward)
                elif isinstance(each, Blob) and each._data not in seen:
                    seen.add(each._data)
                    total += each.count * each.dtype.itemsize
                elif isinstance(each, (np.ndarray, Array)) and id(each) not in seen:
                    seen.add(id(each))
                    total += each.nbytes
        return total + sum(blob.count * blob.dtype.itemsize for blob in self.with_diffs if backward)

    def shared_bytes(self, bottom: Sequence[Blob], top: Sequence[Blob], backward: bool) -> int:
        """The bytes of the memory that it shares with other layers that run in the same thread, and of arrays that it lets go
        at the end of a pass; the most of all counts."""
        return int(self.array_copies * sum(blob.count * blob.dtype.itemsize for blob in (*bottom, *top)))

    def expects(self, index: int, first: tuple[int, ...]) -> tuple[int, ...] | None:
        """The shape of bottom `index` that goes with a bottom 0 of the shape `first`, of a layer that does not say so by its
        traits; None where that does not tell it. A net without its data asks for it."""
        return None

    def allow_force_backward(self, index: int) -> bool:
        """Whether bottom `index` can have a gradient under `force_backward: true`; labels, priors and regions
        cannot."""
        return True

    # What a training with several ranks, or one that resumes, tells every layer

    def share(self, rank: int, size: int) -> None:
        """Takes part `rank` of `size` of the data; layers that read records override it, any other has nothing to
        share.

        Parameters
        ----------
        rank, size
            The number of this process, from 0, and how many train together.
        """

    def reseed(self, seed: int | Sequence[int]) -> None:
        """Draws other random numbers from now on, as each rank of a training does.

        A layer whose kernels draw by a key of their own overrides it and draws a new key. A layer that reads records
        keeps its seed, which orders the records for all ranks.

        Parameters
        ----------
        seed
            As `numpy.random.default_rng` takes it.
        """
        self.rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state

    def resume(self, passes: int) -> None:
        """Continues as after that many forward passes: with the random numbers, and the records, that come next.

        Parameters
        ----------
        passes
            The forward passes that a training did before its snapshot: iterations times iter_size.
        """
        self.pass_number = passes

    # What helps to write it

    def pass_on_memory(self, source: Blob, top: Blob, *shape: int) -> None:
        """In reshape: gives a top the data of another blob, in that one's memory, under `shape` (by default its own).

        Where a later layer works in place on the top (`apart`), the top has data of its own: `source`, which other layers or a
        script may read, keeps its values. `pass_on_data` in forward fills it.
        """
        if not self.apart:
            top.share_data(source)
        elif top._data is source._data:
            top.part()
        top.reshape(*(shape or source.shape))

    def pass_on_data(self, source: Blob, top: Blob) -> None:
        """In forward: copies the elements of a blob to a top that does not lie in its memory."""
        if top._data is not source._data and top.count:
            top.copy_data(source)

    def remember(self, top: Blob) -> None:
        """In forward, last: keeps the first top's values for a backward that reads them, where a later layer works in place."""
        if self.overwritten is not None:
            self.overwritten.reshape(*top.shape)
            self.overwritten.data[...] = top.data

    def as_made(self, top: Blob) -> Blob:
        """In backward: the first top with the values that forward gave it."""
        return top if self.overwritten is None else self.overwritten

    def need(self, condition: object, message: str) -> None:
        """Raises a LayerError that names this layer unless `condition` holds; `message` says what is wrong."""
        if not condition:
            raise LayerError(f"{self}: {message}")

    def need_pairs(self, subject: str, count: int, size: int = 0) -> None:
        """Before boxes are compared with boxes: raises LayerError for more pairs than the limit box_pairs, and DeviceError
        where the net's memory limit has no room for `size` bytes of each."""
        self.need(
            count <= LIMITS.box_pairs,
            f"its {subject} are of {count} pairs, {LIMITS.box_pairs} are allowed: give fewer boxes, or "
            f"{LIMITS.advice('box_pairs')}",
        )
        if self.memory is not None and size:
            self.memory.check(self, subject, count * size)

    def parameter(self, index: int, shape: Sequence[int], filler: Any = None, value: float | None = None) -> Blob:
        """The parameter `index`, created and filled on the first call.

        Parameters
        ----------
        index
            Its place in `self.blobs`.
        shape
            Its shape, which later calls must repeat.
        filler
            A FillerParameter.
        value
            A number to fill it with instead.

        Returns
        -------
        Blob
            Of zeros without filler and value.

        Raises
        ------
        LayerError
            For another shape than that of the first call.
        """
        if index == len(self.blobs):
            blob = Blob(shape, self.dtype, self.device)
            if self.memory is not None:
                self.memory.take_parameter(self, index, blob.count * self.dtype.itemsize)
            if value is not None:
                blob.data[...] = value
            elif filler is not None:
                self.fills.add(blob, filler)
            self.blobs.append(blob)
            self.param_propagate_down.append(True)
        blob = self.blobs[index]
        self.need(
            blob.shape == tuple(shape),
            f"parameter {index} has the shape {blob.shape}, but its bottoms now ask for {tuple(shape)}; the size of a "
            "bottom that parameters depend on cannot change after setup",
        )
        return blob

    def draws(self) -> np.random.Generator:
        """Random numbers for this forward; to be called once in each.

        They depend on the seed and on the number of the forward alone, so that a training that resumes draws what it
        would have drawn. A RandomState in place of `rng`, as old programs set it, continues its own sequence.
        """
        self.pass_number += 1
        if not isinstance(self.rng, np.random.Generator):
            return self.rng
        return np.random.Generator(cast(np.random.PCG64, self.rng.bit_generator).jumped(self.pass_number))

    def axes(self, blob: Blob, count: int, subject: str = "bottom") -> tuple[int, ...]:
        """The shape of a blob; raises LayerError unless it has `count` axes."""
        self.need(len(blob.shape) == count, f"{subject} must have {count} axes, got shape {blob.shape}")
        return blob.shape

    def axis(self, blob: Blob, index: int, parameter: str = "axis") -> int:
        """A possibly negative axis of a blob as one from 0, as in Caffe; raises LayerError for one that the blob
        lacks."""
        rank = len(blob.shape)
        self.need(-rank <= index < rank, f"{parameter} {index} does not fit a bottom of shape {blob.shape}")
        return index % rank

    def __str__(self) -> str:
        return f"{self.type} layer {self.name!r}"

    def __repr__(self) -> str:
        bottoms, tops = (", ".join(names) or "nothing" for names in (self.param.bottom, self.param.top))
        return f"<{self}: {bottoms} to {tops}>"

    @classmethod
    def kernel_files(cls) -> list[Kernels]:
        """The Kernels that are attributes of the class, so that a Net can compile them all at once."""
        return [value for base in cls.__mro__ for value in vars(base).values() if isinstance(value, Kernels)]
