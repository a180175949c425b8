"""Mutations of bytes and of prototxt texts, drawn from a generator: a case is its kind and its number, and nothing else."""

from __future__ import annotations

import re

import numpy as np

Draw = np.random.Generator
BYTES = [0, 1, 2, 7, 8, 10, 18, 26, 34, 58, 127, 128, 129, 254, 255]
NUMBERS = [
    "0", "-1", "1", "2", "3", "1.5", "-0.5", "1e30", "-1e30", "1e-45", "nan", "inf", "-inf", "2147483647", "2147483648", "-2147483648",
    "4294967295", "4294967296", "9223372036854775807", "536870912", "65536", "1000000", "0x7fffffff", "99999999999999999999", "true",
]  # fmt: skip
WORDS = [
    '""',
    '"x"',
    '"data"',
    '"Nothing"',
    "MAX",
    "{",
    "}",
    "[",
    "]",
    ":",
    ";",
    '"',
    "#",
    "<",
    ">",
    "-",
    ",",
    "layer {",
    "\x00",
    "\ufeff",
    "é",
]


def mutate_bytes(data: bytes, draw: Draw) -> bytes:
    """A few changes: bytes, pieces that are cut out, repeated, moved or overwritten, and the end cut off."""
    out = bytearray(data)
    for _ in range(int(draw.integers(1, 6))):
        if not out:
            return bytes(draw.integers(0, 256, int(draw.integers(1, 50)), np.uint8))
        at, length = int(draw.integers(len(out))), int(min(draw.geometric(0.1), 64))
        edit = draw.integers(7)
        if edit == 0:
            out[at] = int(draw.choice(BYTES))
        elif edit == 1:
            out[at] ^= 1 << int(draw.integers(8))
        elif edit == 2:
            del out[at : at + length]
        elif edit == 3:
            out[at:at] = out[at : at + length] * int(draw.integers(1, 20))
        elif edit == 4:
            out[at : at + length] = bytes(draw.integers(0, 256, length, np.uint8))
        elif edit == 5:
            out[at : at + 4] = int(draw.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1])).to_bytes(4, "little")
        elif draw.integers(4) == 0:
            del out[at:]
    return bytes(out)


def mutate_text(text: str, others: list[str], draw: Draw) -> str:
    """A few changes of words: numbers, words, lines that are dropped, repeated or taken from another text."""
    for _ in range(int(min(draw.geometric(0.5), 5))):
        words = list(re.finditer(r'"[^"\n]*"|[\w.+-]+|[^\s\w]', text))
        if not words:
            return text
        word = words[int(draw.integers(len(words)))]
        edit = max(int(draw.integers(-8, 8)), 2)
        if edit < 3:
            numbers = [w for w in words if re.fullmatch(r"[-+]?\d[\w.+-]*", w[0])]
            word = numbers[int(draw.integers(len(numbers)))] if numbers else word
            text = text[: word.start()] + str(draw.choice(NUMBERS)) + text[word.end() :]
        elif edit == 3:
            text = text[: word.start()] + str(draw.choice(WORDS)) + text[word.end() :]
        elif edit == 4:
            other = words[int(draw.integers(len(words)))][0]
            text = text[: word.start()] + other + text[word.end() :]
        else:
            lines = text.splitlines()
            at = int(draw.integers(len(lines)))
            if edit == 5:
                del lines[at]
            elif edit == 6:
                lines[at:at] = [lines[at]] * int(min(draw.geometric(0.2), 30))
            else:
                donor = others[int(draw.integers(len(others)))].splitlines()
                lines.insert(at, donor[int(draw.integers(len(donor)))])
            text = "\n".join(lines)
    return text
