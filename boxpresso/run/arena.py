"""Where the values of a plan lie for given shapes: in blobs, beside each other in a concatenation, or in shared memory.

`shared_memory` alone decides which values have one place, on the CPU and on a GPU; `Placement` says what the CPU's values are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile
from math import prod
from typing import Any

from ..graph.graph import DTYPES, LAST, PLAIN, Plan, Source, Step, Value
from ..graph.passes import portions
from ..layers.core.lowering import Extent, Join, LastView, Planes, View

Key = tuple[Value, str]  # a value in a layout
Base = tuple[str, Any]  # ("blob", its name) or ("shared", a name)
# What a value in a layout is turned from, the best first.
SOURCES = {PLAIN: (LAST, *DTYPES), LAST: (PLAIN, *DTYPES), **dict.fromkeys(DTYPES, (LAST, PLAIN))}
ALIGN = 16  # elements that a value in shared memory begins at a multiple of, and has free behind it


@dataclass(frozen=True)
class Home(Extent):
    """Where a value lies: in a base, from an element on. A plain value is one of 1 x 1 places and as many channels as an image
    of it has elements. `narrow` of its elements take the place of one of the net's type."""

    base: Base
    offset: int = 0
    narrow: int = 1

    @property
    def end(self) -> int:
        """The element of the base behind its last one."""
        return self.offset + self.length

    @property
    def room(self) -> int:
        """The elements of the net's type that it takes from the beginning of its base on."""
        return -(-self.end // self.narrow)

    @property
    def end_of_one(self) -> int:
        """The element of the base behind the last one of the first image."""
        return self.offset + self.length_of_one

    @property
    def room_of_one(self) -> int:
        """As `room`, of the first image."""
        return -(-self.end_of_one // self.narrow)


@dataclass(frozen=True)
class Action:
    """What a program does at once: run a step ("lowered", "planes" or "forward"), or "turn" or "copy" one key into another."""

    kind: str
    step: Step | None = None
    source: Key | None = None
    target: Key | None = None


@dataclass
class Placement:
    """The actions of a plan, and the home of each key.

    Parameters
    ----------
    plan, source
        The plan, and the net that it is of, whose blobs have their shapes.

    Attributes
    ----------
    actions
        In order.
    homes
        {key: its home}.
    """

    plan: Plan
    source: Source
    actions: list[Action] = field(default_factory=list)
    homes: dict[Key, Home] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.made: dict[Key, tuple[str, Step | None, Key | None]] = {}  # how each key comes about
        self.origins: dict[Key, Key] = {}  # the key that each key is a view of, itself if it is none
        self.inner: set[Key] = set()  # keys that need their images without gaps
        self.whole: set[Key] = set()  # keys that need to be without gaps
        self.planar: set[int] = set()  # ids of lowered steps that take their first value as planes
        self.copies = 0
        self.into_joins: dict[int, list[Action]] = {}  # by the id of a step that joins: the copies into its top
        # Times are four times the number of a step; one more for what a layer writes itself, perhaps over what it reads; two
        # more for the copies behind it.
        self.now = -4
        self.lives: dict[Key, tuple[int, int]] = {}  # of keys that are no views: when they are made, and last read
        self.taken: dict[
            int, list[tuple[int, int, Key]]
        ] = {}  # by the id of a blob's memory: from when to when by which key
        self.owners: dict[Key, Key] = {}  # of keys that are parts of another one
        pins: list[tuple[Key, str, int]] = []  # keys that must be in blobs, and until when
        written = {value for step in self.plan.steps for value in step.writes}
        used = [*(value for step in self.plan.steps for value in step.reads), *self.plan.wanted.values()]
        for value in dict.fromkeys(value for value in used if value not in written):  # of an earlier part of the net
            self.make((value, PLAIN), "forward")
            self.homes[value, PLAIN] = self.blob(value, value[0])
        for step in self.plan.steps:
            self.now += 4
            self.expand(step, pins)
        self.now += 4
        for name, value in self.plan.wanted.items():
            pins.append((self.need(value, PLAIN), name, self.now))
        for key, (how, _, source) in reversed(self.made.items()):
            if key in self.whole and how in ("view", "alias") and source is not None:
                self.whole.add(source)
        for key, home in self.homes.items():
            self.take(home.base[1], *self.lives[key], key)
        for key, name, until in pins:
            origin = self.origins[key]
            self.take(name, self.lives[origin][0] + 2, until, origin)
        for key, name, _ in pins:
            self.pin(key, name)
        for step in reversed(self.plan.steps):
            if isinstance(step.lowering, Join):
                self.place_join(step)
        for key in self.made:
            self.default(key)
        self.order()

    # When keys are there

    def make(self, key: Key, how: str, step: Step | None = None, source: Key | None = None) -> None:
        """Notes how a key comes about, now."""
        self.made[key] = how, step, source
        if how in ("view", "alias") and source is not None:
            self.origins[key] = self.origins[source]
        else:
            self.origins[key] = key
            first = self.now + (how == "forward")
            self.lives[key] = first, first

    def use(self, key: Key) -> Key:
        """A key that is read now."""
        origin = self.origins[key]
        self.lives[origin] = self.lives[origin][0], max(self.now, self.lives[origin][1])
        return key

    def take(self, name: str, first: int, last: int, owner: Key) -> None:
        """Notes that a blob's memory holds a key in that time."""
        self.taken.setdefault(id(self.source.blobs[name]._data), []).append((first, last, owner))

    def free(self, name: str, key: Key, owner: Key) -> bool:
        """Whether a key can lie in a blob's memory for all its life; owner: the key of which it is a part there, or itself."""
        first, last = self.lives[key]
        others = self.taken.get(id(self.source.blobs[name]._data), ())
        return all(other in (key, owner) or end < first or begin > last for begin, end, other in others)

    # Which actions there are

    def expand(self, step: Step, pins: list[tuple[Key, str, int]]) -> None:
        """Appends the actions of a step, with what must be turned before it."""
        lowering = step.lowering
        if isinstance(lowering, (View, LastView)):
            read = self.need(step.reads[0], LAST if isinstance(lowering, LastView) else PLAIN)
            self.make((step.writes[0], PLAIN), "view", step, read)
            self.inner.add(read)
            if self.dimensions((step.writes[0], PLAIN))[0] != self.dimensions(read)[0]:
                self.whole.add(read)
        elif isinstance(lowering, Planes):
            read, write = self.need(step.reads[0], PLAIN), (step.writes[0], PLAIN)
            self.make(write, "lowered", step)
            self.whole.update((read, write))
            self.actions.append(Action("planes", step))
        elif isinstance(lowering, Join):
            layout = self.plan.layouts[step.writes[0]]
            reads = [self.need(value, layout) for value in step.reads]
            if layout == PLAIN and lowering.axis != 1:  # pieces other than images, which are cut from the whole
                self.whole.update([*reads, (step.writes[0], layout)])
            self.make((step.writes[0], layout), "join", step)
            self.actions.append(Action("join", step))
        elif lowering is not None and step.reads:
            if self.takes_planes(step):
                self.planar.add(id(step))
            reads = [self.need(*key) for key in self.reads(step)]
            write = self.written(step)
            self.make(write, "lowered", step)
            if lowering.contiguous:
                self.whole.update([*reads, write])
            self.actions.append(Action("lowered", step))
        else:  # by the layer itself, on blobs
            names = self.source.names[step.layer][0]
            pins.extend((self.need(value, PLAIN), name, self.now) for value, name in zip(step.reads, names))
            for value in step.writes:
                self.make((value, PLAIN), "forward", step)
                self.homes[value, PLAIN] = self.blob(value, value[0])
            self.actions.append(Action("forward", step))

    def takes_planes(self, step: Step) -> bool:
        """Whether a step takes its first value as planes: one of few channels that is not there in another layout."""
        shape, lowering, value = self.shape(step.reads[0]), step.lowering, step.reads[0]
        if lowering is None or len(shape) != 4 or not shape[1] <= lowering.planar:
            return False
        if shape[1] == 1:  # both layouts of floats are one
            return lowering.takes != LAST and (value, lowering.takes) not in self.made
        return not {(value, LAST), (value, lowering.takes)} & self.made.keys()

    def reads(self, step: Step) -> list[Key]:
        """The keys that a lowered step reads."""
        takes = step.lowering.takes if step.lowering is not None else LAST
        first = PLAIN if id(step) in self.planar else takes
        return [(value, takes if i else first) for i, value in enumerate(step.reads)]

    def written(self, step: Step) -> Key:
        """The key that a lowered step writes."""
        return step.writes[0], self.plan.layouts.get(step.writes[0], LAST)

    def need(self, value: Value, layout: str) -> Key:
        """A value in a layout, turned if it is not there yet."""
        key = value, layout
        if key not in self.made:
            other = value, next(each for each in SOURCES[layout] if (value, each) in self.made)
            if DTYPES.keys().isdisjoint((layout, other[1])) and self.same_in_both(value):
                self.make(key, "alias", None, other)
                self.inner.add(other)
            else:
                self.make(key, "turn", None, self.use(other))
                self.actions.append(Action("turn", None, other, key))
        return self.use(key)

    def shape(self, value: Value) -> tuple[int, ...]:
        """As its blob's."""
        return self.source.blobs[value[0]].shape

    def same_in_both(self, value: Value) -> bool:
        """Whether both layouts are one: a single channel, or a single place."""
        shape = self.shape(value)
        return len(shape) < 3 or shape[1] == 1 or prod(shape[2:]) == 1

    # Homes

    def dimensions(self, key: Key) -> tuple[int, int, int, int]:
        """Images, channels, height and width, as a home has them."""
        shape = self.shape(key[0])
        if key[1] == PLAIN:
            return (shape[0] if shape else 1), prod(shape[1:]), 1, 1
        return (*shape, 1, 1) if len(shape) == 2 else shape  # type: ignore[return-value]  # two or four axes

    def home(self, key: Key, base: Base, offset: int = 0) -> Home:
        """A home without gaps."""
        images, channels, height, width = self.dimensions(key)
        size, own = self.source.blobs[key[0][0]].dtype.itemsize, DTYPES.get(key[1])
        narrow = size // own.itemsize if own else 1
        return Home(images, channels, height, width, channels, channels * height * width, base, offset, narrow)

    def blob(self, value: Value, name: str) -> Home:
        return self.home((value, PLAIN), ("blob", name))

    def place(self, key: Key, home: Home, owner: Key | None = None) -> bool:
        """Gives a key that home, or its origin where it is a view; False where it has one already, or cannot.

        owner: the key of which it is a part there.
        """
        views: list[tuple[Key, Home]] = []  # each of the next one
        while key not in self.homes:
            if (key in self.inner and not home.inner) or (key in self.whole and not home.whole):
                return False
            views.append((key, home))
            how, _step, source = self.made[key]
            if how not in ("view", "alias"):
                if how == "forward" or (how == "turn" and key[1] == PLAIN and not home.inner):
                    return False
                if home.base[0] == "blob":
                    if not self.free(home.base[1], key, owner or key):
                        return False
                    self.take(home.base[1], *self.lives[key], owner or key)
                break
            assert source is not None
            images, channels, height, width = self.dimensions(source)
            if images != home.images and not home.whole:
                return False
            if not home.inner:
                return False
            inner = replace(
                home, images=images, channels=channels, height=height, width=width, pitch=channels,
                step=home.step if images == home.images else channels * height * width,
            )  # fmt: skip
            if how == "alias" and source[1] == LAST and channels != 1:  # one place
                inner = replace(inner, pitch=home.pitch)
            key, home = source, inner
        else:
            if self.homes[key] != home:
                return False
        for view, at in views:
            if owner is not None:
                self.owners[view] = owner
            self.homes[view] = at
        return True

    def pin(self, key: Key, name: str) -> None:
        """Puts a key into a blob, by a copy if need be."""
        value = key[0]
        home = self.blob(value, name)
        if self.origins[key] in self.homes:
            self.default(key)
            if self.homes[key] == home or self.shares(key, name):
                return
        elif self.place(key, home):
            return
        self.copies += 1
        target = ((f"{name} (copy)", self.copies), PLAIN)
        self.homes[target] = home
        self.actions.append(Action("copy", None, key, target))

    def sources(self, key: Key) -> Iterator[Key]:
        """The keys that a key is a view of, one of the other."""
        how, _, source = self.made[key]
        while how in ("view", "alias") and source is not None:
            yield source
            how, _, source = self.made[source]

    def owner(self, key: Key) -> Key:
        """The key that has the memory in which a key lies."""
        origin = self.origins[key]
        return self.owners.get(origin, origin)

    def shares(self, key: Key, name: str) -> bool:
        """Whether a key lies in the memory of that blob already, under another name."""
        home = self.homes[key]
        if home.base[0] != "blob" or not home.whole or home.offset:
            return False
        blobs = self.source.blobs
        return blobs[home.base[1]]._data is blobs[name]._data

    def place_join(self, step: Step) -> None:
        """Gives the operands of a concatenation their parts of its top, as far as possible."""
        layout = self.plan.layouts[step.writes[0]]
        key = step.writes[0], layout
        self.default(key)
        whole = self.homes[key]
        for portion in portions(step, self.source):
            value, size, at = portion.value, portion.size, whole.offset + portion.at
            read = self.need(value, layout)
            if layout != PLAIN:
                part = replace(whole, offset=whole.offset + portion.start, channels=self.shape(value)[1])
            else:  # pieces other than images are cut from a whole without gaps
                apart = whole.step if portion.pieces in (1, whole.images) else portion.step
                part = Home(portion.pieces, size, 1, 1, size, apart, whole.base, at)
            fits = layout != PLAIN or self.dimensions(read)[:2] == (part.images, part.channels)
            if fits and self.place(read, part, self.owner(key)):
                continue
            self.copies += 1
            target = ((f"{value[0]} (copy)", self.copies), layout)
            self.homes[target] = part
            self.into_joins.setdefault(id(step), []).append(Action("copy", step, read, target))

    def default(self, key: Key) -> None:
        """A home of its own in shared memory, if it has none."""
        homeless = list(takewhile(lambda each: each not in self.homes, chain([key], self.sources(key))))
        for each in reversed(homeless):
            how, _, source = self.made[each]
            if how not in ("view", "alias"):
                self.homes[each] = self.home(each, ("shared", f"{each[0][0]} {each[0][1]} {each[1]}"))
                continue
            assert source is not None
            from_, (images, channels, height, width) = self.homes[source], self.dimensions(each)
            step = from_.step if images == from_.images else channels * height * width
            self.homes[each] = Home(
                images, channels, height, width, channels, step, from_.base, from_.offset, from_.narrow
            )

    def order(self) -> None:
        """Puts each copy where its source is there: into a join when all its operands are, others behind what makes them."""
        copies: dict[Key | None, list[Action]] = {}
        for action in self.actions:
            if action.kind == "copy":
                assert action.source is not None
                copies.setdefault(self.origins[action.source], []).append(action)
        earlier = [key for key, (how, step, _) in self.made.items() if how == "forward" and step is None]
        actions: list[Action] = [copy for key in earlier for copy in copies.get(key, [])]
        for action in self.actions:
            if action.kind == "copy":
                continue
            actions += self.into_joins.get(id(action.step), []) if action.kind == "join" else [action]
            written = action.step.writes if action.step else ()
            made = [action.target] if action.target else [(v, k) for v in written for k in SOURCES]
            for key in made:
                actions += copies.get(key, [])
        self.actions = actions


@dataclass(frozen=True)
class Shared:
    """Shared memory: where each base begins, the elements in all, and the bases that hold one image at a time."""

    starts: Mapping[Base, int]
    size: int
    single: frozenset[Base]


def shared_memory(
    homes: Mapping[Any, Home],
    uses: Sequence[Sequence[Any]],
    groups: Sequence[tuple[int, int, int]] = (),
    align: int = ALIGN,
    behind: int = ALIGN,
) -> Shared:
    """Gives bases of shared memory that are not needed at the same time each other's place, on the CPU and on a GPU.

    The largest is placed first, each as low as it fits.

    Parameters
    ----------
    homes
        The home of each key.
    uses
        The keys that each action reads or writes.
    groups
        (first, end, images): actions that are done for one image after the other, all of them for each. What is used there
        alone holds one image at a time; what is used elsewhere too is needed for all of it.
    align, behind
        Elements that each base begins at a multiple of, and how many at least are free behind it.
    """
    spans: dict[Base, tuple[int, int]] = {}
    sizes: dict[Base, int] = {}
    of_one: dict[Base, int] = {}
    for i, keys in enumerate(uses):
        for home in (homes[key] for key in keys):
            if home.base[0] == "shared":
                spans[home.base] = spans.get(home.base, (i, i))[0], i
                sizes[home.base] = max(sizes.get(home.base, 0), home.room)
                of_one[home.base] = max(of_one.get(home.base, 0), home.room_of_one)
    single = set()
    for first, end, images in groups:
        for base, (begin, last) in spans.items():
            if images == 1 or last < first or begin >= end:
                continue
            if first <= begin and last < end:
                single.add(base)
                sizes[base] = of_one[base]
            else:
                spans[base] = min(begin, first), max(last, end - 1)
    rooms = {base: -(-(size + behind) // align) * align for base, size in sizes.items()}
    starts: dict[Base, int] = {}
    total = 0
    for base in sorted(spans, key=lambda b: -sizes[b]):
        first, last = spans[base]
        taken = sorted(
            (starts[other], starts[other] + rooms[other])
            for other in starts
            if spans[other][0] <= last and first <= spans[other][1]
        )
        at = 0
        for begin, end in taken:
            if at + rooms[base] <= begin:
                break
            at = max(at, end)
        starts[base] = at
        total = max(total, at + rooms[base])
    return Shared(starts, total, frozenset(single))


class Arena:
    """The shared memory of a net's programs, which grows; `version` counts how often it went.

    allocate: called with a size, gives that much memory.
    """

    def __init__(self, allocate: Callable[[int], Any]) -> None:
        self.allocate, self.version, self.size = allocate, 0, 0
        self.memory: Any = None

    def grow(self, size: int) -> bool:
        """At least so much; whether it lies elsewhere than before."""
        if size <= self.size:
            return False
        self.drop()  # before more is taken
        self.memory, self.size = self.allocate(size), size
        return True

    def drop(self) -> None:
        """Gives the memory back."""
        self.memory, self.size = None, 0
        self.version += 1
