"""param_str: the free text of a Python layer, read as YAML's common part or as a Python literal, and never evaluated.

'feat_stride': 16                           {'feat_stride': 16}
'scales': !!python/tuple [4, 8, 16, 32]     {feat_stride: 16, ratios: [1,]}
means: [0.1, 0.2]  # comment                - 1248
border:                                     - 352
  - 1                                       1248, 352, 16
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections import deque
from collections.abc import Iterable
from typing import Any

from ...proto.errors import BoxpressoWarning, LayerError, nearest
from .layer import Layer

TOKEN = re.compile(  # a tag, a sign, a quoted word, a bare one
    r"""\s*(?:!!?[\w/:.-]*|[][{}(),:]|'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|[^][{}(),:#\s][^][{}(),#:\n]*)"""
)
LINE = re.compile(r"""( *)('[^']*'\s*|"[^"]*"\s*|[^\s'"{[(#:-][^:#]*|-[^\s:][^:#]*):(?:\s+(.*)|$)""")
MOST = 2**20  # letters
WORDS = {
    "true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "null": None, "none": None, "~": None,
    ".nan": math.nan, ".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf,
}  # fmt: skip


def read_param_str(text: str) -> Any:
    """The value of a param_str.

    Parameters
    ----------
    text
        YAML's common part, or a Python literal; it is never evaluated.

    Returns
    -------
    object
        A dict, a list, a tuple, or one value; {} for an empty text.

    Raises
    ------
    LayerError
        For a text that cannot be read, with the place.

    Examples
    --------
    >>> read_param_str("'feat_stride': 16, 'scales': [8, 16]")
    {'feat_stride': 16, 'scales': [8, 16]}
    """
    if len(text) > MOST:
        raise LayerError(f"param_str has {len(text)} letters, at most {MOST} are read")
    try:
        return read_any(text.strip())
    except RecursionError:
        raise LayerError(f"param_str is nested too deep: {text.strip()[:40]!r} ..") from None


def read_any(text: str) -> Any:
    """The same; a text that is nested too deep is a RecursionError."""
    if not text:
        return {}
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        pass
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        return {}
    if len(lines) == 1 and re.search(r",[^,:]*:\s", text) and text[0] not in "{[":
        return Flow("{" + text + "}").whole()  # 'a': 1, 'b': 2 without its braces
    if LINE.fullmatch(lines[0].rstrip()) or lines[0].lstrip().startswith("- "):
        return block(lines)
    return Flow(text).whole()


def block(rows: Iterable[str]) -> Any:
    """Lines `key: value` or `- value` of one indentation; deeper lines belong to the line before."""
    lines = deque(rows)
    items: list[Any] = []
    table: dict[Any, Any] = {}
    while lines:
        line = lines.popleft().rstrip()
        depth = len(line) - len(line.lstrip())
        inner = []
        while lines and (len(lines[0]) - len(lines[0].lstrip()) > depth or continues(line, lines[0], depth)):
            inner.append(lines.popleft())
        if line.lstrip().startswith("- "):
            items.append(inline(uncomment(" ".join([line.lstrip()[2:], *inner]))))
            continue
        match = LINE.fullmatch(line)
        if match is None:
            raise LayerError(f"param_str cannot be read at {line.strip()!r}: write `key: value`, one in a line")
        value = uncomment(match[3] or "")
        if value and inner:  # a value that goes on
            inner[0] = f"{value} {inner[0].strip()}"
        nested = inner and (inner[0].lstrip().startswith("- ") or (not value and LINE.fullmatch(inner[0].rstrip())))
        table[scalar(match[2].strip(), words={})] = block(inner) if nested else inline(" ".join(inner) or value)
    if table and items:
        raise LayerError("param_str mixes `- value` and `key: value` lines")
    return items or table


def continues(line: str, following: str, depth: int) -> bool:
    """Whether a line belongs to the one before without being deeper: a list right under its key, as YAML allows."""
    return (
        line.endswith(":") and following[depth:].startswith("- ") and len(following) - len(following.lstrip()) == depth
    )


def inline(text: str) -> Any:
    """A value that stands alone: a plain one goes on to the end, whatever signs are in it."""
    text = text.strip()
    return scalar(text) if text and text[0] not in "[{('\"!" else Flow(text).whole()


def uncomment(value: str) -> str:
    return re.sub(r"(^|\s)#.*$", "", value).strip() if "'" not in value and '"' not in value else value.strip()


class Flow:
    """YAML's flow style: {key: value, ...}, [value, ...], quoted and bare words."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def whole(self) -> Any:
        if not self.text.strip():
            return None
        values = [self.value()]
        while self.token() == ",":
            self.take()
            if self.token() is not None:
                values.append(self.value())
        if self.token() is not None:
            raise self.wrong()
        return values[0] if len(values) == 1 else values

    def token(self) -> str | None:
        match = TOKEN.match(self.text, self.at)
        if match is None:
            rest = self.text[self.at :].strip()
            if rest and not rest.startswith("#"):
                raise self.wrong()
            return None
        return match[0].strip()

    def take(self) -> str | None:
        token = self.token()
        match = TOKEN.match(self.text, self.at)
        self.at = match.end() if match else len(self.text)
        return token

    def value(self) -> Any:
        token = self.take()
        while token is not None and token.startswith("!"):  # a tag, such as !!python/tuple
            if token not in ("!!python/tuple", "!!int", "!!float", "!!str", "!!seq", "!!map"):
                raise LayerError(f"param_str asks for the YAML tag {token!r}, which is not supported; leave it out")
            token = self.take()
        if token == "{":
            table = {}
            while self.token() not in ("}", None):
                key = self.take()
                if key is None or key in "{}[](),:" or self.take() != ":":
                    raise self.wrong()
                table[scalar(key, words={})] = self.value()
                self.separate("}")
            self.close("}")
            return table
        if token in ("[", "("):
            end = "]" if token == "[" else ")"
            values = []
            while self.token() not in (end, None):
                values.append(self.value())
                self.separate(end)
            self.close(end)
            return values
        if token is None or token in "]}):,":
            raise self.wrong()
        return scalar(token)

    def separate(self, end: str) -> None:
        if self.token() == ",":
            self.take()
        elif self.token() != end:
            raise self.wrong()

    def close(self, end: str) -> None:
        if self.take() != end:
            raise self.wrong()

    def wrong(self) -> LayerError:
        near = self.text[max(0, self.at - 10) : self.at + 20]
        return LayerError(f"param_str cannot be read near {near!r}; write it as {{'name': value, ...}}")


def scalar(word: str, words: dict[str, Any] = WORDS) -> Any:
    """A number, a quoted text, one of YAML's words, or the word itself."""
    try:
        if word.isidentifier() and word not in ("True", "False", "None"):
            return words.get(word.lower(), word)  # most are so, and the compiler takes its time to say that
        return ast.literal_eval(word)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return words.get(word.lower(), word)


def settings(layer: Layer, defaults: dict[str, Any]) -> dict[str, Any]:
    """The defaults, with what the layer's `python_param { param_str }` says of them; names are compared without case.

    Warns of names that are not among the defaults. Raises LayerError, which names the layer, for a text that cannot be read,
    and for a value of another kind than the default's; a number may be in quotes.
    """
    text = layer.param.python_param.param_str
    try:
        values = read_param_str(text)
    except LayerError as error:
        raise LayerError(f"{layer}: {error}") from None
    layer.need(isinstance(values, dict), f"param_str must be of the form {{'name': value, ...}}, got {text!r}")
    result = dict(defaults)
    for name, value in values.items():
        known = str(name).lower()
        if known in defaults:
            wanted = kind_of(defaults[known])
            if wanted == NUMBER and isinstance(value, str):
                value = scalar(value)  # one in quotes
            fits = not wanted or kind_of(value) in (wanted, ACCEPTED.get(wanted))
            layer.need(fits, f"{known} must be {wanted}, got {value!r}")
            result[known] = value
        else:
            warnings.warn(
                f"{layer}: param_str says {name!r}, which is not a setting of this layer{nearest(known, defaults)}",
                BoxpressoWarning,
                stacklevel=2,
            )
    return result


NUMBER, NUMBERS, WORD = "a number", "a list of numbers", "a word"
ACCEPTED = {NUMBERS: NUMBER}  # one number may stand for a list; whether it does, the layer says


def kind_of(value: Any) -> str:
    """What a setting is, where a layer need not say it itself: of other values it knows what may be in their place.

    >>> kind_of(16), kind_of((0.5, 1)), kind_of(True), kind_of("bilinear"), kind_of([[1]]), kind_of(())
    ('a number', 'a list of numbers', 'a number', 'a word', '', '')
    """
    if isinstance(value, (int, float)):
        return NUMBER
    if isinstance(value, str):
        return WORD
    listed = isinstance(value, (list, tuple)) and len(value) > 0
    return NUMBERS if listed and all(isinstance(each, (int, float)) for each in value) else ""


def given_names(layer: Layer) -> set[str]:
    """The names of the settings that a layer's `param_str` gives, lower-case; none of a text that `settings` refuses."""
    try:
        values = read_param_str(layer.param.python_param.param_str)
    except LayerError:
        return set()
    return {str(name).lower() for name in values} if isinstance(values, dict) else set()
