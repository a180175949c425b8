"""Random scripts on random nets, each played twice: on a net by its plan, and on the same net layer by layer.

    python tests/fuzz/scripts.py --minutes 120 --seed 0 --workers 2 --out found   # as long as it is given
    python tests/fuzz/scripts.py --case 1234 --seed 0                             # one case, printed, compared, made smaller
    python tests/fuzz/scripts.py --minutes 10 --oracle fresh   # nets of other sizes before, in float, bfloat16 and 8 bits, beside fresh ones
    python tests/fuzz/scripts.py --minutes 10 --gpu   # the GPU's plan beside the CPU's layers: on a GPU, or on the stand-in

A script is a list of steps, each some Python text on `net`; what `see` is given along the way must be the same in both. A case that
differs is made smaller, layer by layer and step by step, and printed as a Python script that shows it.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import gc
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

import nets  # noqa: E402
import numpy as np  # noqa: E402
from nets import Node  # noqa: E402
from oracles import ORACLES, SHARED, Case, Unfit, judge  # noqa: E402

from boxpresso import Net  # noqa: E402
from boxpresso.proto import BoxpressoError, DeviceError, parse_net  # noqa: E402

# Drawing


class Writer:
    """Draws the steps of a script on a net. It keeps what is known: shapes, which arrays are held, what a step may ask."""

    def __init__(
        self,
        rng: np.random.Generator,
        nodes: Sequence[Node],
        wild: bool,
        phase: str = "TEST",
        head: str = "",
        device: str = "cpu",
    ) -> None:
        self.rng, self.nodes, self.wild, self.phase, self.head, self.device = rng, nodes, wild, phase, head, device
        self.steps = list[str]()
        net = self.empty()
        self.inputs = {name: net.blobs[name].shape for name in net.inputs}
        self.blobs = list(dict.fromkeys(t for node in nodes for t in node.tops))
        self.shapes = {name: net.blobs[name].shape for name in self.blobs}
        self.params = [(node.name, i) for node in nodes for i, b in enumerate(net.params.get(node.name, [])) if b.shape]
        if device != "cpu":  # a variance below 0 makes NaN, which cuDNN's ReLU makes 0
            types = {node.name: node.type for node in nodes}
            self.params = [(name, i) for name, i in self.params if types[name] != "BatchNorm" or not i]
        self.outputs = list(net.outputs)
        views = [node for node in nodes if node.type in nets.VIEWS or node.type == "Permute"]
        self.aliases = {name for node in views for name in (*node.bottoms, *node.tops)}
        self.data = [name for name in self.inputs if not name.startswith("rois")]
        self.blob_arrays, self.param_arrays = dict[str, str](), dict[str, tuple[str, int]]()  # name held -> of what
        self.view_arrays = list[
            str
        ]()  # further names held: views of blobs, "name:kind", and of parameters, "layer/number:kind"
        self.edited, self.forwarded, self.saved = False, False, False
        self.learns = phase == "TRAIN" or bool(head)  # whether it has diffs
        self.back = False  # whether a backward was the last
        self.others = 0  # nets beside the first
        self.solver = False
        self.numbers = 0

    def empty(self) -> Net:
        """The net, to look at."""
        text = self.head + nets.text(self.nodes)
        return Net(parse_net(text), phase=self.phase, device="cpu", seed=1, optimize=False, lazy=True)

    def one(self, values: Sequence) -> object:
        return values[int(self.rng.integers(len(values)))]

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def say(self, *lines: str) -> None:
        self.steps.append("\n".join(lines))

    def fresh(self, name: str, shape: Sequence[int] | None = None) -> str:
        """The text of new values of an input or another blob."""
        shape = tuple(shape or self.shapes[name])
        seed = int(self.rng.integers(1000))
        if name.startswith("rois"):
            n, _, h, w = self.inputs["x"]
            return f"regions({seed}, {shape[0]}, {n}, {h}, {w})"
        wild = ["wild=0.01"] if self.wild and self.chance(0.5) else []
        return f"values({', '.join(map(str, [seed, *shape, *wild]))})"

    def images(self) -> str:
        """New values for the inputs, of any kind of array; for some of them alone where the others have values."""
        names = [name for name in self.inputs if not self.forwarded or self.chance(0.85)]
        forms = ["{}"] * 6 + [
            "{}.astype(np.float32)",
            "np.asfortranarray({})",
            "{}.tolist()",
            "{}[::-1]",
            "np.repeat({}, 2, 0)[::2]",
        ]
        if self.chance(0.7) or any(0 in shape for shape in self.inputs.values()):
            forms = ["{}"]
        return ", ".join(f"{name}=" + self.one(forms).format(self.fresh(name, self.inputs[name])) for name in names)

    def start(self) -> None:
        """The first values of all inputs, and often a forward."""
        way = int(self.rng.integers(3))
        self.hold()
        if way == 0:
            self.say(f"see(net.forward({self.images()}))")
            self.forwarded = True
        else:
            for name in self.inputs:
                if way == 1:
                    self.say(f'net.blobs["{name}"].data[...] = {self.fresh(name)}')
                else:
                    self.say(f'held["{name}"] = net.blobs["{name}"].data')
                    self.say(f'held["{name}"][...] = {self.fresh(name)}')
                    self.blob_arrays[name] = name

    # Steps

    def forward(self) -> None:
        self.say("see(net.forward())")
        self.forwarded, self.edited = True, False

    def forward_images(self) -> None:
        self.say(f"see(net.forward({self.images()}))")
        self.forwarded, self.edited = True, False

    def forward_blobs(self) -> None:
        names = [self.one(self.blobs) for _ in range(int(self.rng.integers(1, 4)))]
        more = self.images() if self.chance(0.3) else ""
        self.say(f"see(net.forward(blobs={names!r}{', ' + more if more else ''}))".replace("'", '"'))
        self.forwarded, self.edited = True, False

    def forward_part(self) -> None:
        if not self.forwarded:
            return self.forward()
        layers = [node.name for node in self.nodes]
        first, last = sorted(int(self.rng.integers(len(layers))) for _ in range(2))
        ends = []
        if self.chance(0.6):
            ends.append(f'start="{layers[first]}"')
        if not ends or self.chance(0.4):
            ends.append(f'end="{layers[last]}"')
        self.say(f"see(net.forward({', '.join(ends)}))")

    def edit_input(self) -> None:
        name = self.one(list(self.inputs))
        if name.startswith("rois"):
            self.say(f'net.blobs["{name}"].data[...] = {self.fresh(name)}')
        elif name in self.blob_arrays and self.chance(0.6):
            self.say(
                self.one(
                    [
                        f'held["{name}"][...] = {self.fresh(name)}',
                        f'held["{name}"] *= -0.5',
                        f'held["{name}"][:1] += 1',
                        f'np.multiply(held["{name}"], 0.5, out=held["{name}"])',
                        f'held["{name}"].flat[:2] = 2',
                    ]
                )
            )
        else:
            self.say(self.one([
                f'net.blobs["{name}"].data[...] = {self.fresh(name)}', f'net.blobs["{name}"].data[:1] *= 3',
                f'np.copyto(net.blobs["{name}"].data, {self.fresh(name)})', f'net.blobs["{name}"].data.T[...] = 0.5',
                f'array = net.blobs["{name}"].data\narray[...] = {self.fresh(name)}',
            ]))  # fmt: skip

    def edit_weights(self) -> None:
        if not self.params:
            return
        names = list(self.param_arrays)
        if names and self.chance(0.55):
            view = f'held["{self.one(names)}"]'
            self.say(
                self.one(
                    [f"{view} *= 1.5", f"{view}[0] *= -2", f"{view}[...] = {view} * 0.5 + 0.25", f"{view}[-1] = 2"]
                )
            )
        else:
            layer, i = self.one(self.params)
            view = f'net.params["{layer}"][{i}].data'
            value = "np.nan" if self.wild and self.chance(0.2) else "2"
            picks = any(node.type in self.STILL for node in self.nodes)  # of equal scores it may pick any
            self.say(
                self.one([
                    f"{view}[...] *= 1.5", f"{view}[0] *= -2", f"{view}[-1] = {value}", f"np.subtract({view}, 0.125, out={view})",
                    f"{view}.reshape(-1)[::2] *= -0.5", f"{view}[...] *= 0.25" if picks else f"{view}.fill(0.25)", f"{view}.flat[0] = 1",
                ])
            )  # fmt: skip
        if self.chance(0.1):
            self.say("net.weights_changed()")

    def hold(self) -> None:
        """Takes arrays, of blobs or parameters."""
        for _ in range(int(self.rng.integers(1, 4))):
            if self.params and self.chance(0.5):
                layer, i = self.one(self.params)
                key = f"{layer}/{i}"
                self.say(f'held["{key}"] = net.params["{layer}"][{i}].data')
                self.param_arrays[key] = layer, i
            else:
                name = self.one(self.blobs)
                self.say(f'held["{name}"] = net.blobs["{name}"].data')
                self.blob_arrays[name] = name
        if self.chance(0.1):
            self.say('held.update((name, blob.data) for name, blob in net.blobs.items() if "split" not in name)')
            self.blob_arrays.update((name, name) for name in self.blobs)

    def drop(self) -> None:
        names = [*self.blob_arrays, *self.param_arrays]
        if names:
            name = self.one(names)
            self.say(f'held.pop("{name}", None)')
            self.blob_arrays.pop(name, None), self.param_arrays.pop(name, None)

    def read(self) -> None:
        if not self.forwarded:
            return
        known = [name for name in self.blob_arrays if not self.dynamic(name)]  # those may have got other memory
        if known and self.chance(0.5):
            self.say(f'see(held["{self.one(known)}"])')
        elif self.params and self.chance(0.15):
            layer, i = self.one(self.params)
            self.say(f'see(net.params["{layer}"][{i}].data)')
        else:
            for _ in range(int(self.rng.integers(1, 4))):
                self.say(f'see(net.blobs["{self.one(self.blobs)}"].data)')

    def read_all(self) -> None:
        if self.forwarded:
            self.say('see({name: blob.data for name, blob in net.blobs.items() if "split" not in name})')

    def edit_blob(self) -> None:
        """What a layer made is changed, and what follows it runs again."""
        made = [
            (i, t)
            for i, node in enumerate(self.nodes)
            for t in node.tops
            if t not in self.aliases and t not in self.inputs
        ]
        if not made or not self.forwarded:
            return
        i, name = self.one(made)
        if name in self.blob_arrays and self.chance(0.5):
            self.say(self.one([f'held["{name}"] *= 0.5', f'held["{name}"][...] = 1']))
        else:
            self.say(
                f'net.blobs["{name}"].data[...] = {self.one(["0.5", self.fresh(name)])}'
                if not self.dynamic(name)
                else "pass"
            )
        if self.chance(0.5) and i + 1 < len(self.nodes):
            self.say(f'see(net.forward(start="{self.nodes[i + 1].name}"))')
        elif self.chance(0.5):
            self.say(f'see(net.blobs["{name}"].data)')

    def dynamic(self, name: str) -> bool:
        """Whether only a forward tells the blob's shape."""
        return any(node.type == "DetectionOutput" and name in node.tops for node in self.nodes)

    def reshape(self) -> None:
        """Another shape of the image: all blobs get another, and arrays taken before are of no use."""
        shape = list(self.inputs["x"])
        if self.chance(0.7):
            shape[0] = int(self.rng.integers(1, 5)) if self.chance(0.95) else 0
        if self.chance(0.4):
            shape[2:] = [max(1, m + int(self.rng.integers(-3, 6))) for m in shape[2:]]
        like = [name for name, known in self.inputs.items() if known == self.inputs["x"]]
        self.inputs.update(dict.fromkeys(like, tuple(shape)))
        for name in list(self.blob_arrays):
            self.blob_arrays.pop(name)
        self.view_arrays = [name for name in self.view_arrays if "/" in name]
        lines = ["for name in list(held):", '    if name.split(":")[0] in net.blobs: del held[name]']
        if self.chance(0.5):
            lines.append(f"see(net.forward({self.images()}))")
        else:
            lines += [f'net.blobs["{name}"].reshape({", ".join(map(str, shape))})' for name in like]
            lines += ["net.reshape()"] if self.chance(0.6) else []
            lines += [f'net.blobs["{name}"].data[...] = {self.fresh(name, self.inputs[name])}' for name in self.inputs]
            lines.append("see(net.forward())")
        lines.append(
            "shapes = {name: blob.shape for name, blob in net.blobs.items()}\nsee({name: np.array(s) for name, s in shapes.items()})"
        )
        self.say(*lines)
        self.forwarded = True
        self.shapes = self.shapes_for()

    def shapes_for(self) -> dict[str, tuple[int, ...]]:
        net = self.empty()
        for name, shape in self.inputs.items():
            net.blobs[name].reshape(*shape)
        try:
            net.reshape()
        except BoxpressoError:
            raise Stop from None  # the script ends with that error
        return {name: net.blobs[name].shape for name in self.blobs}

    def save(self) -> None:
        self.say('net.save(folder + "/w.caffemodel")')
        self.saved = True

    def load(self) -> None:
        if self.saved:
            self.say('net.copy_from(folder + "/w.caffemodel")')
        elif self.params:
            self.save()
            self.edit_weights()

    def net(self) -> str:
        """Any of the nets that share parameters."""
        known = ["net", *(f'held["net{i}"]' for i in range(self.others))]
        known += (
            ['held["solver"].net', 'held["solver"].test_nets[0]', 'held["solver"].test_nets[1]'] if self.solver else []
        )
        return self.one(known)

    def share(self) -> None:
        """Other nets with the same parameters, which any of them may change; in any order, in circles too."""
        if self.others < 3 and self.chance(0.4):
            how = [f"make({self.one([9, 10])})"]
            how += ["copy.deepcopy(net)", "pickle.loads(pickle.dumps(net))"] if self.forwarded else []
            self.say(f'import copy, pickle\nheld["net{self.others}"] = {self.one(how)}')
            self.others += 1
        one, other = self.net(), self.net()
        if self.chance(0.45):
            self.say(f"{one}.share_with({other})")
            self.param_arrays.clear()  # arrays from before may be of memory that is no one's now
            self.view_arrays = [name for name in self.view_arrays if "/" not in name]
        elif self.others and self.chance(0.1):
            self.others -= 1
            self.say(f'import gc\ndel held["net{self.others}"]\ngc.collect()')
        elif self.params and self.chance(0.4):
            layer, i = self.one(self.params)
            self.say(f'{one}.params["{layer}"][{i}].data[...] *= -1.5')
        elif one != "net":
            more = [f"for name in {sorted(self.inputs)!r}:", f"    {one}.blobs[name].reshape(*net.blobs[name].shape)"]
            values = ", ".join(f"{name}={self.fresh(name, self.inputs[name])}" for name in self.inputs)
            self.say(*more, f"see({one}.forward({values}))")
            if self.chance(0.4):
                self.say(f'see({one}.blobs["{self.one(self.blobs)}"].data)')

    # No gradients, a shape that does not follow, or random numbers that two devices draw otherwise.
    STILL = {"ArgMax", "Threshold", "DetectionOutput", "PriorBox", "Dropout", "FuzzCounter", "Log", "Exp", "Power"}

    def train(self) -> None:
        """A solver of the same layers, whose test nets and the net share its parameters."""
        outputs = [name for name in self.outputs if not self.dynamic(name)]
        if (
            self.wild
            or self.learns
            or not self.params
            or not outputs
            or self.STILL & {node.type for node in self.nodes}
        ):
            return
        if not self.solver:
            self.say(f'held["solver"] = train({", ".join(f"{name!r}" for name in outputs)})'.replace("'", '"'))
            self.solver = True
        solver = 'held["solver"]'
        ways = [
            f"{solver}.step(1)",
            f"{solver}.step(2)",
            "sgd",
            "save",
            "restore",
            f"see({solver}.test_nets[0].forward())",
            f"{solver}.test()",
            "net",
        ]
        for way in [self.one(ways) for _ in range(int(self.rng.integers(1, 4)))]:
            fed = [
                f"for one in ({solver}.net, *{solver}.test_nets):",
                *(f'    one.blobs["{n}"].reshape({", ".join(map(str, self.inputs[n]))})' for n in self.inputs),
                *(f'    one.blobs["{n}"].data[...] = {self.fresh(n, self.inputs[n])}' for n in self.inputs),
            ]
            if way == "sgd":
                self.say(
                    *fed, f"one = {solver}.net", "one.clear_param_diffs()", "see(one.forward())", "one.backward()",
                    "for blobs in one.params.values():", "    for blob in blobs: blob.data[...] -= 0.01 * np.clip(blob.diff, -1, 1)",
                )  # fmt: skip
            elif way == "save":
                self.say(f'held["state"] = str({solver}.snapshot()[1])')
            elif way == "restore":
                self.say(f'if "state" in held: {solver}.restore(held["state"])')
            elif way == "net":
                self.say(f"net.share_with({solver}.net)")
                self.param_arrays.clear()
                self.view_arrays = [name for name in self.view_arrays if "/" not in name]
            else:
                self.say(*fed, way)
        self.say(f"see({solver}.test_nets[{self.one([0, 1])}].forward())")

    # Gradients

    def backward(self) -> None:
        if not self.forwarded or not (self.learns or self.chance(0.1)):
            return
        name = self.one(self.outputs)
        gradient = f"{name}={self.fresh(name)}" if self.chance(0.5) and not self.dynamic(name) else ""
        self.say("net.clear_param_diffs()" if self.chance(0.6) else "pass", f"see(net.backward({gradient}))")
        if self.params and self.learns:
            layer, i = self.one(self.params)
            self.say(f'see(net.params["{layer}"][{i}].diff)')
            if self.chance(0.5):
                self.say(
                    "for blobs in net.params.values():",
                    "    for blob in blobs: blob.data[...] -= 0.01 * np.clip(np.nan_to_num(blob.diff), -1, 1)",
                )
        if self.learns and self.chance(0.3):
            self.say(f'see(net.blobs["{self.one(self.blobs)}"].diff)')

    # Views of arrays, shapes that a script changes, and what is refused

    VIEWS = (".T", "[::-1]", ".reshape(-1)", "[:1]", "[..., :1]", "[None]", ".flat", ".view(np.uint8).view({dtype})")

    def hold_view(self) -> None:
        """Takes a part or another form of an array, which is all that is held of it."""
        buffers = (
            ("memoryview", "strided") if self.device == "cpu" else ()
        )  # a GPU's array lies in no memory of the host
        kind = self.one(self.VIEWS + buffers)
        if self.params and self.chance(0.6):
            layer, i = self.one(self.params)
            key, view = f"{layer}/{i}", f'net.params["{layer}"][{i}].data'
        else:
            key = self.one(self.blobs)
            view = f'net.blobs["{key}"].data'
            if not self.shapes[key]:
                return
        if kind == "memoryview":
            text = f"np.asarray(memoryview({view}))"
        elif kind == "strided":
            text = f"(lambda a: np.lib.stride_tricks.as_strided(a, a.shape, a.strides))({view})"
        else:
            text = view + kind.format(dtype=f"{view}.dtype")
        key = f"{key}:{self.numbers}"
        self.numbers += 1
        self.say(f'held["{key}"] = {text}')
        self.view_arrays.append(key)

    def edit_view(self) -> None:
        if not self.view_arrays:
            return
        key = self.one(self.view_arrays)
        of = key.split(":")[0]
        view = f'held["{key}"]'
        if of in self.inputs or "/" in of:
            if of.startswith("rois"):
                return
            self.say(self.one([f"{view}[:1] = 0.75", f"{view}[:] = 0.5", f"{view}[:1] = -2"]))
        elif self.forwarded and not self.dynamic(of):
            self.say(f"see(np.array({view}))")

    def reshape_inner(self) -> None:
        """Another shape of a blob that a layer makes: the next forward gives it its own again."""
        names = [name for name in self.blobs if name not in self.inputs]
        if not names:
            return
        name = self.one(names)
        shape = self.shapes[name]
        new = self.one([(int(np.prod(shape)),), shape[::-1], (*shape, 1)])
        self.say(f'net.blobs["{name}"].reshape({", ".join(map(str, new))})')
        if self.chance(0.3) and self.forwarded:
            self.say(f'see(net.blobs["{name}"].data)')
        self.forward()

    def refused(self) -> None:
        name = self.one(list(self.inputs))
        values = f"x={self.fresh('x')}"
        self.say(self.one([
            f"tried(lambda: net.forward(**dict(dict({values}), {name}=np.zeros((2, 3, 1, 1, 1)))))",
            f"tried(lambda: net.forward({values}, unknown=1))", 'tried(lambda: net.forward(blobs=["unknown"]))',
            'tried(lambda: net.forward(start="unknown"))',
        ]))  # fmt: skip

    def forward_all(self) -> None:
        if list(self.inputs) != ["x"] or 0 in self.inputs["x"]:
            return
        count = int(self.rng.integers(1, 5))
        self.say(f"see(net.forward_all(x={self.fresh('x', (count, *self.inputs['x'][1:]))}))")
        self.forwarded = True

    def settle(self) -> None:
        self.say(
            self.one(
                ["net.reshape()", "net.weights_changed()", "see(np.array(net.loss()))" if self.forwarded else "pass"]
            )
        )

    def collect(self) -> None:
        self.say("import gc\ngc.collect()")

    KINDS = {
        forward: 6, forward_images: 4, forward_blobs: 2, forward_part: 1.5, edit_input: 4, edit_weights: 4, hold: 4, drop: 1, read: 6,
        read_all: 0.7, edit_blob: 1.5, reshape: 1.2, save: 0.4, load: 0.6, share: 1.6, collect: 0.1, train: 0.7, backward: 1,
        hold_view: 1.5, edit_view: 2.5, reshape_inner: 0.5, refused: 0.3, forward_all: 0.3, settle: 0.4,
    }  # fmt: skip

    def write(self, most: int) -> tuple[str, ...]:
        """A script of some `most` steps at the most; its last are a forward and a look at all blobs."""
        odds = np.array(list(self.KINDS.values()), float) / sum(self.KINDS.values())
        try:
            self.start()
            for _ in range(int(self.rng.integers(1, most))):
                list(self.KINDS)[int(self.rng.choice(len(odds), p=odds))](self)
        except Stop:
            return tuple(self.steps)
        self.forward()
        self.read_all()
        return tuple(self.steps)


class Stop(Exception):
    """The script cannot go on behind its last step."""


def draw(
    number: int, seed: int, families: Sequence[str] = tuple(nets.FAMILIES), device: str = "cpu", most: int = 14
) -> Case:
    """The case of a number: one in five is of doubles, one in eight has NaN and infinities."""
    rng = np.random.default_rng([seed, number, 1])
    nodes = nets.draw([seed, number], families, most)
    dtype = "float64" if rng.random() < 0.2 else "float32"
    wild = rng.random() < 0.12 and device == "cpu"  # cuDNN's ReLU makes 0 of NaN
    phase = "TRAIN" if rng.random() < 0.06 else "TEST"
    head = "force_backward: true\n" if rng.random() < (0.8 if phase == "TRAIN" else 0.06) else ""
    steps = Writer(rng, nodes, wild, phase, head, device).write(14)
    if any("train(" in step or "backward(" in step for step in steps):
        dtype = "float64"  # rounding grows from step to step
    return Case(tuple(nodes), steps, dtype, device, phase, head)


# Making smaller


def smaller(case: Case) -> Iterator[Case]:
    """Cases with less in them: fewer steps, fewer layers, layers as their bottoms."""
    n = len(case.steps)
    for size in (8, 4, 2, 1):
        for i in range(n - size, -1, -size):
            yield dataclasses.replace(case, steps=case.steps[:i] + case.steps[i + size :])
    for i in range(len(case.nodes) - 1, -1, -1):
        node = case.nodes[i]
        rest = case.nodes[:i] + case.nodes[i + 1 :]
        if node.type != "Input":
            yield dataclasses.replace(case, nodes=rest)
        if len(node.bottoms) >= 1 and len(node.tops) == 1 and node.tops != node.bottoms:
            for bottom in dict.fromkeys(node.bottoms):  # its readers read its bottom
                names = {node.tops[0]: bottom}
                yield dataclasses.replace(case, nodes=tuple(renamed(node, names) for node in rest))
        if len(node.bottoms) > 2:
            for j in range(len(node.bottoms)):
                less = dataclasses.replace(node, bottoms=node.bottoms[:j] + node.bottoms[j + 1 :])
                yield dataclasses.replace(case, nodes=(*case.nodes[:i], less, *case.nodes[i + 1 :]))


def renamed(node: Node, names: dict[str, str]) -> Node:
    return dataclasses.replace(
        node, bottoms=tuple(names.get(b, b) for b in node.bottoms), tops=tuple(names.get(t, t) for t in node.tops)
    )


def shrink(case: Case, seconds: float, fails: Callable[[Case], object] = judge) -> Case:
    """A smaller case that fails too, after that many seconds of CPU time at the most."""
    end = time.process_time() + seconds
    shrunk = True
    while shrunk and time.process_time() < end:
        shrunk = False
        for less in smaller(case):
            if time.process_time() > end:
                break
            try:
                if fails(less) is not None:
                    case, shrunk = less, True
                    break
            except Exception:  # not that case
                continue
    return case


def cause(case: Case) -> str:
    """What findings of one cause have in common: the types of the layers, and the steps without their names and numbers."""
    steps = [re.sub(r'"[^"]*"|\d+|held\.pop.*', "", step).split("(")[0].split("=")[0].strip() for step in case.steps]
    return " ".join(sorted({node.type for node in case.nodes} - {"Input"})) + " | " + "; ".join(dict.fromkeys(steps))


def standalone(case: Case, finding: object) -> str:
    """A Python script that shows what was found."""
    steps = "\n".join("    " + line for step in case.steps for line in step.split("\n"))
    return f'''"""{str(finding).replace(chr(92), "/")}"""
import tempfile
import warnings
import zlib

import numpy as np

from boxpresso import Net, Solver
from boxpresso.layers.core import Layer
from boxpresso.proto import BoxpressoError, parse_net, parse_solver

warnings.simplefilter("ignore")
TEXT = """
{case.text}
"""

{SHARED}

def script(planned):
    seen, held, folder = [], {{}}, tempfile.mkdtemp()

    def make(seed=1):
        device = "{case.device}" if planned else "cpu"
        net = Net(parse_net(TEXT), phase="{case.phase}", device=device, seed=seed, dtype=np.{case.dtype}, optimize=planned)
        fill(net, seed)
        return net

    def train(*names):
        device = "{case.device}" if planned else "cpu"
        return trainer(TEXT, names, folder, device=device, dtype=np.{case.dtype}, optimize=planned)

    def tried(work):
        try:
            work()
        except BoxpressoError as error:
            seen.append((type(error).__name__, np.array(0)))

    def see(what):
        for name, array in what.items() if isinstance(what, dict) else [("", what)]:
            seen.append((name, np.array(array)))

    net = make()
{steps}
    return seen


for (name, a), (_, b) in zip(script(True), script(False)):
    off = np.abs(a - b).max() if a.shape == b.shape and a.size else 0
    different = a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-3 * (np.abs(b).max(initial=0)), equal_nan=True)
    print(name, "plan", a.ravel()[:3], "layers", b.ravel()[:3], "off by", off, "<<<< DIFFERENT" if different else "")
'''


def asked(case: Case, oracle: str, finding: object) -> str:
    """A Python script that asks one of ORACLES again. It needs this folder on its path."""
    nodes = "".join(f"    {node!r},\n" for node in case.nodes)
    return f'''"""{str(finding).replace(chr(92), "/")}"""
from nets import Node
from oracles import ORACLES, Case

TEXT = """
{case.text}
"""
NODES = (
{nodes})
print(ORACLES["{oracle}"](Case(NODES, (), "{case.dtype}", "{case.device}", head={case.head!r})))
'''


# Many cases


def attempt(
    number: int, seed: int, options: dict, shrinking: float, oracles: Sequence[str]
) -> tuple[str, int, str, str]:
    """One case: verdict, how many steps were played, a line about what was found, and a script that shows it."""
    warnings.simplefilter("ignore")
    steps = 0
    try:
        case = draw(number, seed, **options)
        steps = len(case.steps)
        fits = 0
        for name in oracles:
            oracle = ORACLES[name]
            try:
                differs = oracle(case) is not None
            except Unfit as error:
                reason = str(error.__cause__ or error)
                continue
            except BoxpressoError:
                raise
            except Exception as error:  # none of ours
                line = f"case {number} of seed {seed}: {name}: {type(error).__name__}: {error}".replace("\n", " ")
                return "different", steps, line, asked(case, name, error)
            fits += 1
            if differs:
                less = shrink(case if oracle is judge else dataclasses.replace(case, steps=()), shrinking, oracle)
                finding = oracle(less)
                line = f"case {number} of seed {seed}: {name}: {cause(less)}: {finding}"
                return (
                    "different",
                    steps,
                    line,
                    standalone(less, finding) if oracle is judge else asked(less, name, finding),
                )
        return ("same", steps, "", "") if fits else ("unfit", steps, reason, "")
    except BoxpressoError as error:
        return "unfit", steps, f"{type(error).__name__}: {error}", ""
    finally:
        gc.collect(0)


def entry(job: tuple[int, int, dict, float, Sequence[str]]) -> tuple[int, tuple[str, int, str, str]]:
    return job[0], attempt(*job)


def fuzz(
    seconds: float,
    seed: int,
    first: int,
    cases: int | None,
    workers: int,
    out: Path | None,
    options: dict,
    shrinking: float,
    oracles: Sequence[str] = ("script", "definition"),
) -> int:
    """Runs cases until the wall's time is over; the number of those that differ."""
    end, counts, steps = time.monotonic() + seconds, collections.Counter[str](), 0

    def jobs() -> Iterator[tuple[int, int, dict, float, Sequence[str]]]:
        number = first
        while time.monotonic() < end and (cases is None or number < first + cases):
            yield number, seed, options, shrinking, oracles
            number += 1

    def results() -> Iterator[tuple[int, tuple[str, int, str, str]]]:
        if workers == 1:
            yield from map(entry, jobs())
        else:
            with multiprocessing.get_context("spawn").Pool(workers, maxtasksperchild=500) as pool:
                yield from pool.imap_unordered(entry, jobs(), chunksize=1)

    for number, (verdict, played, line, script) in results():
        counts[verdict] += 1
        steps += played
        if verdict == "different":
            print(line, flush=True)
            if out:
                out.mkdir(parents=True, exist_ok=True)
                (out / f"{seed}_{number}.py").write_text(script)
        elif verdict == "unfit" and line:
            print(f"case {number} is unfit: {line[:200]}", flush=True)
    print(
        f"{sum(counts.values())} nets, {steps} steps of scripts, {counts['unfit']} unfit, {counts['different']} findings"
    )
    return counts["different"]


def gpu_answers() -> bool:
    """Whether there is a GPU, or its stand-in."""
    from boxpresso.device.cuda import driver

    try:
        driver()
    except DeviceError:
        return False
    return True


def on_stand_in() -> int:
    """Runs this command in a process with the stand-in for NVIDIA's driver."""
    sys.path.insert(0, str(HERE.parent))
    from stand_in.run import CannotRun, environment

    with tempfile.TemporaryDirectory() as folder:
        try:
            variables = environment(Path(folder) / "counts")
        except CannotRun as error:
            print(f"there is no GPU, and the stand-in for one cannot run: {error}")
            return 2
        del variables["BOXPRESSO_DEBUG"]  # with a pool and graphs, as users have it
        return subprocess.run([sys.executable, *sys.argv], env=variables).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--minutes", type=float, default=1.0)
    add("--seed", type=int, default=0)
    add("--first", type=int, default=0, help="the number of the first case")
    add("--cases", type=int, help="stop after that many")
    add("--case", type=int, help="this case alone: it is printed, compared and made smaller")
    add("--workers", type=int, default=1)
    add("--most", type=int, default=14, help="layers of a net")
    add("--family", action="append", choices=sorted(nets.FAMILIES), default=[])
    add(
        "--oracle",
        action="append",
        choices=sorted(ORACLES),
        default=[],
        help="what to ask of each net (script, definition)",
    )
    add("--shrink", type=float, default=20.0, help="seconds of CPU time to make a finding smaller")
    add("--gpu", action="store_true", help="the plan is that of device cuda; without a GPU on the stand-in for it")
    add("--out", type=Path, help="a folder that findings are kept in, each as a script")
    args = parser.parse_args()
    options = {
        "families": tuple(args.family) or tuple(nets.FAMILIES),
        "device": "cuda" if args.gpu else "cpu",
        "most": args.most,
    }
    os.environ.setdefault("BOXPRESSO_PROGRESS", "0")
    if args.gpu and not gpu_answers():
        return on_stand_in()
    if args.case is not None:
        case = draw(args.case, args.seed, **options)
        print(case.text, *case.steps, sep="\n")
        verdict, _, line, script = attempt(args.case, args.seed, options, 60, args.oracle or ("script", "definition"))
        print(verdict, line, script, sep="\n")
        return int(verdict == "different")
    most = args.first, args.cases, args.workers, args.out, options, args.shrink, args.oracle or ("script", "definition")
    return int(fuzz(args.minutes * 60, args.seed, *most) > 0)


if __name__ == "__main__":
    sys.exit(main())
