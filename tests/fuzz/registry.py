"""A layer of any type, from the example of its docstring: words and numbers of its prototxt are changed, and numbers of its bottoms."""

from __future__ import annotations

import doctest
import os
import warnings
from contextlib import redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mutate import Draw, mutate_text

from boxpresso import Net
from boxpresso.layers import core
from boxpresso.layers.core import REGISTRY, discover
from boxpresso.proto import parse_net

MEMORY = 64 * 2**20  # of a net that is run: more is the limit's error
WILD = [np.nan, np.inf, -np.inf, 1e30, -1e30, 2147483648.0, -1.0, 0.5, 1e-45, 1e9]


class Example(NamedTuple):
    """What a docstring gives to run_layer."""

    text: str
    bottoms: tuple[np.ndarray, ...]
    params: tuple[np.ndarray, ...]
    tops: int
    phase: str


@cache
def examples() -> list[Example]:
    """Those of all types, in the order of their names."""
    discover()
    known = {
        f"{c.__module__}.{c.__qualname__}": c for c in REGISTRY.values() if c.__module__.startswith("boxpresso.layers.")
    }
    examples: list[Example] = []

    def keep(text: str, *bottoms: Any, params: Any = (), tops: int = 1, phase: str = "TEST", **more: Any) -> Any:
        arrays, values = ([np.asarray(a, np.float32) for a in each] for each in (bottoms, params))
        examples.append(Example(text, tuple(arrays), tuple(values), tops, phase))
        return np.zeros(1) if tops == 1 else [np.zeros(1)] * tops  # nothing runs, so nothing is compiled

    before, core.run_layer = core.run_layer, keep
    try:
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in sorted(known):
                space: dict[str, Any] = {}
                for example in doctest.DocTestParser().get_examples(known[name].__doc__ or ""):
                    with suppress(Exception):  # one that shows an error
                        exec(compile(example.source, name, "single"), space)
    finally:
        core.run_layer = before
    return examples


def layer_case(draw: Draw) -> bytes:
    """The number of an example, a seed for its bottoms, and its changed text."""
    chosen = int(draw.integers(len(examples())))
    texts = [each.text.replace("{", "{\n").replace("}", "\n}") for each in examples()]
    changed = mutate_text(texts[chosen], texts, draw)
    return f"{chosen} {draw.integers(2**31)}\n{changed}".encode("utf-8", "surrogatepass")


def run_case(data: bytes, folder: Path) -> None:
    head, _, text = data.decode("utf-8", "surrogatepass").partition("\n")
    number, seed = map(int, head.split())
    one, draw = examples()[number], np.random.default_rng(seed)
    names = [f"b{i}" for i in range(len(one.bottoms))]
    lines = []
    for name, array in zip(names, one.bottoms):
        shape = list(array.shape)
        if shape and draw.integers(12) == 0:  # another size along one axis
            shape[int(draw.integers(len(shape)))] = int(draw.choice([0, 1, 2, 3, 5]))
        dims = " ".join(f"dim: {size}" for size in shape)
        lines.append(f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ {dims} }} }} }}')
    words = [f'bottom: "{name}"' for name in names] + [f'top: "t{i}"' for i in range(one.tops)]
    gradient = "force_backward: true\n" if draw.integers(2) else ""
    whole = f'{gradient}{chr(10).join(lines)}\nlayer {{ name: "layer" {" ".join(words)} {text} }}'
    os.chdir(folder)
    net = Net(parse_net(whole), device="cpu", memory_limit=MEMORY, seed=1, phase=one.phase, write_below=str(folder))
    for name, array in zip(names, one.bottoms):
        values = np.resize(array, net.blobs[name].shape) if array.size else np.zeros(net.blobs[name].shape, np.float32)
        if draw.integers(3) == 0:
            values = values.copy()
            values[draw.random(values.shape) < 0.2] = draw.choice(WILD)
        net.blobs[name].data[...] = values
    for blob, values in zip(net.layers[-1].blobs, one.params):
        if blob.count == values.size:
            blob.data[...] = values.reshape(blob.shape)
    net.forward()
    if gradient:
        net.backward()
