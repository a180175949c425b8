"""Text protobuf, read as leniently as real prototxt files need it and no more.

Fields are matched by name. Accepted beyond the letter of Caffe's own parser: unknown fields (skipped, one warning for
the whole file), a singular field given twice (the last wins, messages merge; the same warning), a byte order mark,
comments in any encoding, `field: {`, integers written as `2.0` (forks disagree about integer and float), a fork's own
type of an old layer (`layers { type: DATUM_DATA }`), which the net refuses that is built of it, by the layer's name.
`strict=True` refuses the first two and the last.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from typing import Any, NamedTuple, NoReturn

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from .boxpresso_pb2 import LayerParameter
from .decode import decode_text
from .errors import BoxpressoWarning, ModelError, OtherFileError, nearest
from .limits import LIMITS

# White space, also what web pages make of it, and comments. What matches at once is bounded: the regular expression remembers
# each step, and a file of comments would take a hundred times its size.
_SPACE = r"[\s\xa0\u3000\ufeff\u200b]"
_TOKEN = re.compile(
    rf"""(?:{_SPACE}+|\#[^\r\n]*){{0,1000}}
    (?:(?P<more>(?={_SPACE}|\#))
      |(?P<name>[A-Za-z_]\w*)
      |(?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?)(?![\w.]))
      |(?P<string>"[^"\\\r\n]*(?:\\.[^"\\\r\n]*){{0,100000}}"|'[^'\\\r\n]*(?:\\.[^'\\\r\n]*){{0,100000}}')
      |(?P<punct>[{{}}<>:;,\[\]-])
      |(?P<end>\Z)
      |(?P<bad>.))""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|[xX][0-9a-fA-F]{1,2}|.)", re.DOTALL)
_WHOLE = re.compile(r"(?m)^(\s*\w+: -?\d+)\.0$")  # 1.0, which C++ prints as 1
_PLAIN = dict(zip(b"nrtabfv", b"\n\r\t\a\b\f\v", strict=True))
_CLOSE = {"{": "}", "<": ">"}
# Fields that are lists in some forks and one number in ours: where a text gives several, they go to the field of a list.
_SEVERAL = {"PoolingParameter": {"kernel_size": "kernel_size_3d", "stride": "stride_3d", "pad": "pad_3d"}}
_NON_FINITE = {"inf", "infinity", "nan", "inff", "nanf"}
_SHOWN = 100  # characters of what was seen that an error shows
_DIGITS = 400  # of a number; the largest double has 309
_MOST_LISTED = 12  # oddities that one warning spells out

_BOOLS = {"true": True, "True": True, "t": True, "1": True, "false": False, "False": False, "f": False, "0": False}
_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_V1_LAYER = "boxpresso.V1LayerParameter"
_LAYERS = {"boxpresso.LayerParameter", _V1_LAYER}
_INTERNAL = {"other_type", "others"}  # fields of ours, which no text gives


class _Field(NamedTuple):
    """What the parser asks of a field's descriptor, looked up once."""

    name: str
    repeated: bool
    message: bool
    descriptor: FieldDescriptor


_fields_of: dict[str, dict[str, _Field]] = {}


def _fields(descriptor: Descriptor) -> dict[str, _Field]:
    fields = _fields_of.get(descriptor.full_name)
    if fields is None:
        fields = _fields_of[descriptor.full_name] = {
            f.name: _Field(f.name, _is_repeated(f), f.cpp_type == f.CPPTYPE_MESSAGE, f) for f in descriptor.fields
        }
    return fields


def _is_repeated(field: FieldDescriptor) -> bool:
    """`label` leaves protobuf in version 8; `is_repeated` came in version 6."""
    repeated = getattr(field, "is_repeated", None)
    return bool(field.label == field.LABEL_REPEATED if repeated is None else repeated)


_FILES = {"NetParameter": "a net", "SolverParameter": "a solver", "LabelMap": "a label map"}


def parse_text(text: str | bytes, message: Message, *, strict: bool = False, source: str = "<string>") -> Message:
    """Fills a message from a text, and returns it. Nothing is upgraded.

    Unknown fields are skipped and singular fields given twice take the last value, with one BoxpressoWarning for the
    whole text that names field, layer and line.

    Parameters
    ----------
    message : of any type of the schema, such as NetParameter().
    strict : whether an unknown field, or one given twice, is an error.
    source : the name of the text in errors.

    Raises
    ------
    ModelError: with file:line:column, what was seen and the nearest known name.

    Examples
    --------
    >>> from boxpresso.proto import LayerParameter
    >>> parse_text('name: "pool" pooling_param { kernel_size: 2.0 }', LayerParameter()).pooling_param.kernel_size
    2
    """
    if len(text) > LIMITS.text_bytes:
        raise ModelError(f"{source} has {len(text)} bytes; {LIMITS.advice('text_bytes')}")
    decoded, encoding = decode_text(text, source)
    parser = _Parser(decoded, encoding, source, strict)
    parser.fields(message, opened=0, end="", layer=None, path="", depth=0)
    if parser.oddities:
        parser.refuse_other_files(message)
        warnings.warn(parser.summary(), BoxpressoWarning, stacklevel=3)
    return message


def to_text(message: Message) -> str:
    """A message as Caffe prints it: `layer {`, two spaces of indent, the shortest floats that read back the same.

    Examples
    --------
    >>> from boxpresso.proto import FillerParameter
    >>> print(to_text(FillerParameter(type="constant", value=0.1)))
    type: "constant"
    value: 0.1
    <BLANKLINE>
    """
    from google.protobuf import text_format  # slow to import, and needed for writing alone

    return _WHOLE.sub(r"\1", text_format.MessageToString(message))


class _Oddity(NamedTuple):
    """A field that was skipped or overruled, for the warning about the whole text."""

    verb: str
    name: str
    path: str
    layer: Message | None
    parent: Descriptor
    at: int


class _Parser:
    """A recursive descent over the tokens of one text, driven by the descriptors of the message to fill."""

    def __init__(self, text: str, encoding: str, source: str, strict: bool) -> None:
        self.text, self.encoding, self.source, self.strict = text, encoding, source, strict
        self.oddities: list[_Oddity] = []  # the first of each verb, which are listed
        self.odd: Counter[str] = Counter()  # how many there are of each verb
        self.odd_names: set[str] = set()  # unknown fields of the message to fill
        self.messages = self.layers = self.tokens = 0
        self.most_tokens = LIMITS.text_tokens
        self.at = self.start = 0
        self.advance()

    # -- tokens --------------------------------------------------------------------------------------------------------

    def advance(self) -> None:
        self.tokens += 1
        if self.tokens > self.most_tokens:
            self.fail(f"there are more than {self.most_tokens} words and signs; {LIMITS.advice('text_tokens')}")
        match = _TOKEN.match(self.text, self.at)
        while match is not None and match.lastgroup == "more":
            match = _TOKEN.match(self.text, match.end())
        if match is None:  # cannot be: `bad` takes any character and `end` the end
            raise ModelError(f"{self.source}: cannot read the text past offset {self.at}")
        self.kind = match.lastgroup or "end"
        self.token = match[self.kind]
        self.start, self.at = match.span(self.kind)

    def eat(self, token: str) -> bool:
        if self.token != token or self.kind != "punct":
            return False
        self.advance()
        return True

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        at = self.start if at is None else at
        line, column = self.position(at)
        raise ModelError(f"{self.source}:{line}:{column}: {message}")

    def position(self, at: int) -> tuple[int, int]:
        before = self.text[:at].replace("\r\n", "\n").replace("\r", "\n")
        return before.count("\n") + 1, len(before) - before.rfind("\n")

    def seen(self) -> str:
        if self.kind == "end":
            return "the end of the file"
        if self.kind == "bad" and self.token in "\"'":
            return "a string without its closing quote"
        if self.token == "/":
            return "'/' (a comment starts with '#')"
        return repr(self.token if len(self.token) <= _SHOWN else f"{self.token[:_SHOWN]} ..")

    # -- messages ------------------------------------------------------------------------------------------------------

    def fields(self, message: Message, opened: int, end: str, layer: Message | None, path: str, depth: int) -> None:
        """Fields of the message opened at an offset, up to the token `end`.

        `layer` is the innermost layer around them, `path` the names of the messages between it and them.
        """
        self.count(message, depth)
        known = _fields(message.DESCRIPTOR)
        while not (self.kind == "punct" and self.token == end):
            if self.kind == "end":
                if not end:
                    return
                line = self.position(opened)[0]
                self.fail(f"the file ends inside a message; the one opened on line {line} lacks its {end!r}")
            if self.kind != "name":
                self.fail(f"expected the name of a field{f' or {end!r}' if end else ''}, saw {self.seen()}")
            name, start = self.token, self.start
            self.advance()
            field = known.get(name)
            if field is None and (later := self.message_of_today(message, name)):
                self.message_field(later, start, message.others, layer, path, depth)
            elif field is None or name in _INTERNAL:
                self.unknown(name, start, message, layer, path, depth)
            elif field.message:
                self.message_field(field, start, message, layer, path, depth)
            else:
                self.scalar_field(field, start, message, layer, path)
            while self.kind == "punct" and self.token in ";,":
                self.advance()
        if end:
            self.advance()

    def count(self, message: Message, depth: int) -> None:
        """Counts a message; more than the limits allow are an error before they take their memory."""
        if depth > LIMITS.text_depth:
            self.fail(f"messages are nested more than {LIMITS.text_depth} deep")
        self.messages += 1
        self.layers += message.DESCRIPTOR.full_name in _LAYERS
        for name, number in (("text_messages", self.messages), ("layers", self.layers)):
            if number > getattr(LIMITS, name):
                counted = "layers" if name == "layers" else "messages"
                self.fail(f"there are more than {getattr(LIMITS, name)} {counted}; {LIMITS.advice(name)}")

    def odd_field(self, oddity: _Oddity) -> None:
        """Remembers a field for the warning about the whole text."""
        self.odd[oddity.verb] += 1
        if self.odd[oddity.verb] <= _MOST_LISTED:
            self.oddities.append(oddity)

    def message_field(
        self, field: _Field, start: int, parent: Message, layer: Message | None, path: str, depth: int
    ) -> None:
        colon = self.eat(":")
        several = colon and self.eat("[")
        if several and self.eat("]"):
            return
        while True:
            if self.kind != "punct" or self.token not in _CLOSE:
                self.fail(f"expected '{{' after {field.name!r}, which is a message, saw {self.seen()}")
            if not field.repeated and parent.HasField(field.name):
                self.twice(field.name, start, parent, layer, path)
            opened, close = self.start, _CLOSE[self.token]
            self.advance()
            child = getattr(parent, field.name)
            if field.repeated:
                child = child.add()
            else:
                child.SetInParent()
            if child.DESCRIPTOR.full_name in _LAYERS:
                self.fields(child, opened, close, child, "", depth + 1)
            else:
                self.fields(child, opened, close, layer, f"{path}{field.name}.", depth + 1)
            if not several or self.eat("]"):
                return
            self.comma()

    def message_of_today(self, message: Message, name: str) -> _Field | None:
        """The field of a message that today's layers have and those of the V1 form lack: forks add theirs to either."""
        if self.strict or message.DESCRIPTOR.full_name != _V1_LAYER:
            return None
        field = _fields(LayerParameter.DESCRIPTOR).get(name)
        return field if field is not None and field.message else None

    def scalar_field(self, field: _Field, start: int, message: Message, layer: Message | None, path: str) -> None:
        if not self.eat(":"):
            self.fail(f"expected ':' after {field.name!r}, saw {self.seen()}")
        if field.repeated:
            values = getattr(message, field.name)
            if not self.eat("["):
                values.append(self.value(field))
            elif not self.eat("]"):
                values.append(self.value(field))
                while not self.eat("]"):
                    self.comma()
                    values.append(self.value(field))
            return
        several = _SEVERAL.get(message.DESCRIPTOR.name, {}).get(field.name)
        if several is not None and message.HasField(field.name):
            values = getattr(message, several)
            values.extend([self.value(field)] if values else [getattr(message, field.name), self.value(field)])
            return
        if message.HasField(field.name):
            self.twice(field.name, start, message, layer, path)
        if field.name == "type" and self.other_type(field.descriptor, message):
            return
        setattr(message, field.name, self.value(field))

    def other_type(self, descriptor: FieldDescriptor, message: Message) -> bool:
        """Whether it is a fork's type of a V1 layer, which is kept as text: the net that is made of it refuses it."""
        if descriptor.containing_type.full_name != _V1_LAYER:
            return False
        message.ClearField("other_type")
        if self.strict or self.kind != "name" or self.token in descriptor.enum_type.values_by_name:
            return False
        message.ClearField("type")
        message.other_type = self.token
        self.advance()
        return True

    def comma(self) -> None:
        if not self.eat(","):
            self.fail(f"expected ',' or ']' in a list, saw {self.seen()}")

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, field: _Field) -> Any:
        """One scalar, as the Python value that the field takes."""
        descriptor = field.descriptor
        kind = descriptor.cpp_type
        if kind == descriptor.CPPTYPE_STRING:
            return self.string(field)
        start = self.start
        negative = self.eat("-")
        token, token_kind = self.token, self.kind
        value: Any = None
        if kind == descriptor.CPPTYPE_ENUM:
            value = self.enum_number(descriptor, negative)
        elif kind == descriptor.CPPTYPE_BOOL:
            value = None if negative or token_kind == "string" else _BOOLS.get(token)
        elif token_kind == "number" and len(token) > _DIGITS:
            self.fail(f"{field.name!r} takes a number of at most {_DIGITS} digits, saw {len(token)}", start)
        elif token_kind == "number" or (token_kind == "name" and token.lower() in _NON_FINITE):
            value = _integer(token) if kind in _INTEGERS else _float(token)
            if negative and value is not None:
                value = -value
        if value is None:
            sort = {descriptor.CPPTYPE_BOOL: "true or false", descriptor.CPPTYPE_ENUM: "a name"}.get(kind, "a number")
            if kind in _INTEGERS:
                sort = "an integer"
            self.fail(f"{field.name!r} takes {sort}, saw {'-' * negative}{self.seen()}", start)
        if kind in _INTEGERS:
            least, most = _INTEGERS[kind]
            if not least <= value <= most:
                self.fail(f"{field.name!r} takes an integer from {least} to {most}, saw {value}", start)
        self.advance()
        return value

    def enum_number(self, descriptor: FieldDescriptor, negative: bool) -> int | None:
        names = descriptor.enum_type.values_by_name
        if self.kind == "name" and not negative:
            if self.token not in names:
                known = f"; it takes {', '.join(names)}" if len(names) <= 16 else ""
                self.fail(f"{descriptor.name!r} has no value {self.token!r}{nearest(self.token, names) or known}")
            return int(names[self.token].number)
        number = _integer(self.token) if self.kind == "number" and len(self.token) <= _DIGITS else None
        if number is None:
            if self.kind == "string" and descriptor.containing_type.full_name == _V1_LAYER:
                self.fail(
                    f"'layers {{' takes an old type without quotes, such as CONVOLUTION, saw {self.seen()}; "
                    "today's quoted types go with 'layer {'"
                )
            return None
        # protobuf's table takes a number's lowest 32 bits
        if negative or number >= 2**31 or number not in descriptor.enum_type.values_by_number:
            self.fail(f"{descriptor.name!r} has no value {'-' * negative}{self.token[:_SHOWN]}")
        return number

    def string(self, field: _Field) -> str | bytes:
        if self.kind != "string":
            hint = ""
            if field.name == "type" and self.kind == "name":
                hint = "; old types without quotes go with 'layers {'"
            self.fail(f"{field.name!r} takes a string in quotes, saw {self.seen()}{hint}")
        parts = []
        start = self.start
        while self.kind == "string":  # adjacent strings are one, as in C
            parts.append(_ESCAPE.sub(_unescape, self.token[1:-1].encode(self.encoding)))
            self.advance()
        raw = b"".join(parts)
        if field.descriptor.type == field.descriptor.TYPE_BYTES:
            return raw
        try:
            return raw.decode(self.encoding)
        except UnicodeDecodeError:
            self.fail(f"{field.name!r} takes text, but its escapes do not make valid {self.encoding}", start)

    # -- what is odd ---------------------------------------------------------------------------------------------------

    def unknown(self, name: str, start: int, parent: Message, layer: Message | None, path: str, depth: int) -> None:
        oddity = _Oddity("unknown", name, path, layer, parent.DESCRIPTOR, start)
        if self.strict:
            hint = nearest(name, _fields(parent.DESCRIPTOR))
            self.fail(f"{path}{name}: no such field in {parent.DESCRIPTOR.name}{_layer_words(layer)}{hint}", start)
        self.odd_field(oddity)
        if depth == 0 and len(self.odd_names) < _MOST_LISTED:
            self.odd_names.add(name)
        if not self.eat(":") and (self.kind != "punct" or self.token not in _CLOSE):
            hint = nearest(name, _fields(parent.DESCRIPTOR))
            self.fail(f"expected ':' or '{{' after {name!r}, saw {self.seen()}{hint}")
        self.skip_value(name, depth)

    def skip_value(self, name: str, depth: int) -> None:
        if depth > LIMITS.text_depth:
            self.fail(f"messages are nested more than {LIMITS.text_depth} deep")
        if self.kind == "punct" and self.token in _CLOSE:
            close, opened = _CLOSE[self.token], self.start
            self.advance()
            while not self.eat(close):
                if self.kind != "name":
                    line = self.position(opened)[0]
                    self.fail(f"expected a field or {close!r} in {name!r}, opened on line {line}, saw {self.seen()}")
                inner = self.token
                self.advance()
                if not self.eat(":") and (self.kind != "punct" or self.token not in _CLOSE):
                    self.fail(f"expected ':' or '{{' after {inner!r}, saw {self.seen()}")
                self.skip_value(inner, depth + 1)
                while self.kind == "punct" and self.token in ";,":
                    self.advance()
        elif self.eat("["):
            if not self.eat("]"):
                self.skip_value(name, depth + 1)
                while not self.eat("]"):
                    self.comma()
                    self.skip_value(name, depth + 1)
        elif self.kind == "string":
            while self.kind == "string":
                self.advance()
        else:
            self.eat("-")
            if self.kind not in ("name", "number"):
                self.fail(f"expected a value for {name!r}, saw {self.seen()}")
            self.advance()

    def twice(self, name: str, start: int, parent: Message, layer: Message | None, path: str) -> None:
        if self.strict:
            self.fail(f"{path}{name} is given twice{_layer_words(layer)}, and takes one value", start)
        self.odd_field(_Oddity("given twice", name, path, layer, parent.DESCRIPTOR, start))

    def refuse_other_files(self, message: Message) -> None:
        """A solver read as a net would be a net without layers: say so instead."""
        unknown = self.odd_names
        names = unknown | {field.name for field, _ in message.ListFields()}
        for other, words in _FILES.items():
            descriptor = message.DESCRIPTOR.file.message_types_by_name[other]
            if unknown and names <= set(_fields(descriptor)):
                wanted = _FILES.get(message.DESCRIPTOR.name, message.DESCRIPTOR.name)
                raise OtherFileError(f"{self.source} is {words} (it has {min(unknown)!r}), not {wanted}")

    def summary(self) -> str:
        """One paragraph for all oddities of the text. Layer names are known only now, when their messages are read."""
        parts = []
        for verb, consequence in ("unknown", "skipped"), ("given twice", "the last one counts"):
            of_verb = [oddity for oddity in self.oddities if oddity.verb == verb]
            if of_verb:
                listed = ", ".join(self.describe(oddity) for oddity in of_verb)
                more = f" and {self.odd[verb] - _MOST_LISTED} more" if self.odd[verb] > _MOST_LISTED else ""
                parts.append(f"{verb}, {consequence}: {listed}{more}")
        return f"{self.source}: {'; '.join(parts)}. strict=True refuses them."

    def describe(self, oddity: _Oddity) -> str:
        hint = nearest(oddity.name, _fields(oddity.parent)) if oddity.verb == "unknown" else ""
        line = self.position(oddity.at)[0]
        return f"{oddity.path + oddity.name!r}{_layer_words(oddity.layer)} (line {line}{hint})"


def _layer_words(layer: Message | None) -> str:
    if layer is None:
        return ""
    name = layer.name or (layer.layer.name if hasattr(layer, "layer") else "")
    return f" in layer {name!r}" if name else " in a layer without a name"


def _integer(token: str) -> int | None:
    """An integer in decimal, 0x hexadecimal, or 0 octal as protobuf has it; 2.0 is 2; None for anything else."""
    if token[:2] in ("0x", "0X"):
        return int(token, 16)
    if token.isdecimal():
        octal = len(token) > 1 and token[0] == "0" and not set(token) & set("89")
        return int(token, 8 if octal else 10)
    if not token[:1].isdecimal() and token[:1] != ".":
        return None
    value = float(token.rstrip("fF"))
    return int(value) if value.is_integer() else None


def _float(token: str) -> float:
    """A floating-point number: 1., .5, 1e-3f, 0x10, inf, infinity, nan."""
    if token[:2] in ("0x", "0X"):
        return float.fromhex(token) if len(token) < 200 else float("inf")
    return float(token[:3] if token[0].isalpha() else token.rstrip("fF"))


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if code[:1] in b"01234567":
        return bytes([int(code, 8) & 255])
    if code[:1] in b"xX" and len(code) > 1:
        return bytes([int(code[1:], 16)])
    return bytes([_PLAIN.get(code[0], code[0])])
