"""A layer of tests/layer_sizes.py with numbers of its parameters at their limits, run forward, and backward where it goes.

It must compute, or be refused by an error that names it, within the memory that its net may have and some seconds.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from layer_sizes import CASES
from mutate import Draw

from boxpresso import Net
from boxpresso.layers.core.catalogue import parameter_names
from boxpresso.proto import BoxpressoError, parse_net

MEMORY = 64 * 2**20  # of a net that is run
NAME = "wild layer"
WHOLE = [
    0, 1, 2, 3, 5, 16, 100, 255, 1000, 4096, 12000, 20000, 65535, 65536, 300000, 2**24, 2**29 - 1, 2**29, 2**29 + 1,
    2**31 - 1, 2**31, 2**32 - 1, -1, -2, -(2**31),
]  # fmt: skip
REAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-45,
    1e-7,
    7.0,
    1e4,
    2147483648.0,
    1e30,
    -1e30,
    float("inf"),
    float("-inf"),
    float("nan"),
]
SHARED = ("weight_filler", "bias_filler", "moving_average_filler")  # what values are drawn from


def numbers(message: Message, depth: int = 0) -> list[tuple[Message, FieldDescriptor]]:
    """The fields of a message, and of those in it, that hold numbers, choices or yes and no."""
    pairs = []
    for field in message.DESCRIPTOR.fields:
        if field.message_type is not None:
            if depth < 2 and field.name not in SHARED:
                inner = getattr(message, field.name)
                pairs += numbers(
                    inner if isinstance(inner, Message) else inner.add() if not inner else inner[0], depth + 1
                )
        elif field.cpp_type != FieldDescriptor.CPPTYPE_STRING:
            pairs.append((message, field))
    return pairs


def put(message: Message, field: FieldDescriptor, value: float, draw: Draw) -> None:
    """Sets a field to a value, or to another where its type does not hold it."""
    if field.enum_type is not None:
        choices = list(field.enum_type.values_by_number)
        value = choices[int(draw.integers(len(choices)))]
    elif field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        value = bool(draw.integers(2))
    elif field.cpp_type in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        value = float(value) if draw.integers(2) else REAL[int(draw.integers(len(REAL)))]
    with suppress(ValueError):  # out of range
        values = getattr(message, field.name)
        if hasattr(values, "append"):
            at = int(draw.integers(len(values) + 1))
            if at < len(values):
                values[at] = value
            else:
                values.extend([value] * int(draw.choice([1, 1, 2])))
        else:
            setattr(message, field.name, value)


LARGEST = 2**22  # elements of all bottoms


def size_case(draw: Draw) -> bytes:
    """The number of a case, whether backward, sizes of bottoms, and the changed text."""
    chosen = int(draw.integers(len(CASES)))
    case = CASES[chosen]
    layer = parse_net(f'layer {{ name: "{NAME}" type: "{case.type}" {case.text} }}').layer[0]
    sizes = ""
    if draw.integers(4) == 0 and case.letters:  # another size of its bottoms
        letter, size = str(draw.choice(list(case.letters))), int(draw.choice([1, 2, 5, 40, 700]))
        if (
            sum(array.size for array in case.arrays(**{letter: size})) > LARGEST
        ):  # these arrays would take more than the net
            size = 40
        sizes = f"{letter}{size}"
    value = WHOLE[int(draw.integers(len(WHOLE)))]
    if layer.HasField("python_param") or layer.HasField("module_param"):
        param = layer.python_param if layer.HasField("python_param") else layer.module_param
        spots = list(re.finditer(r"-?\d+(\.\d+)?", param.param_str))
        for spot in sorted({int(draw.integers(len(spots))) for _ in range(2)} if spots else (), reverse=True):
            a, b = spots[spot].span()
            param.param_str = f"{param.param_str[:a]}{value}{param.param_str[b:]}"
            value = WHOLE[int(draw.integers(len(WHOLE)))] if draw.integers(2) else value
    else:
        messages = [getattr(layer, name) for name in parameter_names(case.type)]
        fields = [pair for message in messages if isinstance(message, Message) for pair in numbers(message)]
        count = int(draw.choice([1, 1, 2, 3, 4])) if fields else 0
        for i in sorted({int(draw.integers(len(fields))) for _ in range(count)}):
            put(*fields[i], value, draw)
            value = (
                WHOLE[int(draw.integers(len(WHOLE)))] if draw.integers(2) else value + int(draw.choice([0, 0, 1, -1]))
            )
    text = text_format.MessageToString(layer)
    back = int(case.down is not None and draw.integers(2))
    return f"{chosen} {back} {draw.integers(2**31)} {sizes}\n{text}".encode()


def run_case(data: bytes, folder: Path) -> None:
    """Runs a case. AssertionError for an error that does not name the layer."""
    head, _, text = data.decode().partition("\n")
    number, back, seed, *sizes = head.split()
    case, draw = CASES[int(number)], np.random.default_rng(int(seed))
    arrays = case.arrays(**{each[0]: int(each[1:]) for each in sizes})
    lines, names = [], [f"b{i}" for i in range(len(arrays))]
    for name, array in zip(names, arrays):
        dims = " ".join(f"dim: {size}" for size in array.shape)
        lines.append(f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ {dims} }} }} }}')
    words = [f'bottom: "{name}"' for name in names] + [f'top: "t{i}"' for i in range(case.tops)]
    gradient = "force_backward: true\n" if int(back) else ""
    whole = f"{gradient}{chr(10).join(lines)}\nlayer {{ {' '.join(words)} {text} }}"
    os.chdir(folder)
    try:
        net = Net(
            parse_net(whole), device="cpu", memory_limit=MEMORY, seed=1, phase=case.phase, write_below=str(folder),
            optimize=bool(draw.integers(3)),
        )  # fmt: skip
        for name, array in zip(names, arrays):
            net.blobs[name].data[...] = array if draw.integers(2) else array * np.abs(draw.normal(size=array.shape))
        net.forward()
        if gradient:
            net.backward()
    except BoxpressoError as error:
        if NAME not in str(error) and not str(error).startswith("Input layer"):  # whose tops are counted first
            raise AssertionError(f"an error does not name the layer: {error}") from error
        raise
