"""Text of Python 2, which is bytes, at the borders of converted scripts.

In Python 2 `str` is bytes. In a converted script literals are Python 3's text, and bytes come from calls: files read in 'rb',
`check_output`, `SerializeToString`, `struct.pack`. Calls of methods and of modules' functions go through `call`: bytes that
come back are `Text`, which also answers as text does, and what refuses text is called again with bytes, or the other way round.
"""

from __future__ import annotations

import builtins
import codecs
import csv
import io
import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any

CODECS = {
    "hex": "hex",
    "base64": "base64",
    "zlib": "zlib",
    "bz2": "bz2",
}  # from bytes to bytes, of str.encode and .decode
FLAG = "BOXPRESSO_PYTHON2_BYTES"
PICKLES = (pickle.dump, pickle.load, pickle.Pickler, pickle.Unpickler)
ASKED = ("bytes-like object", "bytes", "not 'str'", "not str", "must be encoded", "Unicode-objects")


class _Told:
    """Whether it was said that bytes stand for text."""

    yet = False


def active() -> bool:
    """Whether scripts in Python 2 get their bytes; BOXPRESSO_PYTHON2_BYTES=0 turns it off."""
    return os.environ.get(FLAG, "1") != "0"


def tell() -> None:
    """Says once, on stderr, that this is emulated."""
    if not _Told.yet:
        _Told.yet = True
        print(
            f"boxpresso.caffe: this script is Python 2, where text is bytes: bytes answer as text does ({FLAG}=0 turns it off)",
            file=sys.stderr,
        )


class Text(bytes):
    """Bytes that answer as Python 2's str: equal to text of the same characters, joined with it, cut into characters.

    >>> line = Text(b"a 1")
    >>> call(line.split, " ")[1] == "1", line + "!", line[0] == "a", {"a 1": 5}[line], "%s" % line
    (True, 'a 1!', True, 5, 'a 1')
    """

    def __str__(self) -> str:
        try:
            return self.decode("utf-8")
        except UnicodeDecodeError:
            return self.decode("latin-1")

    def __repr__(self) -> str:
        return super().__repr__()[1:]

    __format__ = lambda self, spec: format(str(self), spec)  # noqa: E731

    def __eq__(self, other: object) -> bool:
        return str(self) == other if isinstance(other, str) else bytes.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))

    def __contains__(self, other: Any) -> bool:
        return bytes.__contains__(self, as_bytes(other))

    def __lt__(self, other: Any) -> bool:
        return bytes.__lt__(self, as_bytes(other))

    def __gt__(self, other: Any) -> bool:
        return bytes.__gt__(self, as_bytes(other))

    def __add__(self, other: Any) -> Any:
        return str(self) + other if isinstance(other, str) else Text(bytes(self) + other)

    def __radd__(self, other: Any) -> Any:
        return other + str(self) if isinstance(other, str) else Text(other + bytes(self))

    def __mod__(self, other: Any) -> Any:
        return str(self) % other

    def __getitem__(self, at: Any) -> Any:
        return Text(bytes(self)[at : at + 1 or None] if isinstance(at, int) else bytes(self)[at])

    def __iter__(self) -> Any:
        return (Text(bytes([each])) for each in bytes(self))


class Read(str):
    """Text that was read from a file, whose bytes it remembers: UTF-8, or what is not, as surrogates."""


class Binary:
    """A file that was opened as a text, for a function that reads or writes bytes: Python 2 made no difference. It keeps
    the file open, which may be the call's alone, as in `dump(value, open(name, 'w'))`."""

    def __init__(self, file: Any, text: io.TextIOWrapper) -> None:
        self.file = file
        self.bytes: Any = text.buffer
        if text.writable():
            text.flush()

    def write(self, value: Any) -> Any:  # a method of this, which a Pickler keeps
        return self.bytes.write(value)

    def read(self, *size: int) -> Any:
        return self.bytes.read(*size)

    def readline(self, *size: int) -> Any:
        return self.bytes.readline(*size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bytes, name)

    def __iter__(self) -> Any:
        return iter(self.bytes)


def text_in(file: Any) -> io.TextIOWrapper | None:
    """The text file that a value is, if it is one."""
    file = file.file if isinstance(file, File) else file
    return file if isinstance(file, io.TextIOWrapper) else None


def binary(file: Any) -> Any:
    """A file for bytes, of one that was opened as a text; all else is left as it is."""
    text = text_in(file)
    return file if text is None else Binary(file, text)


def each_of(convert: Callable[[Any], Any], value: Any) -> Any:
    """A list or tuple with each element converted; the same one where none changes."""
    made = [convert(each) for each in value]
    return value if all(a is b for a, b in zip(made, value)) else type(value)(made)


def as_bytes(value: Any) -> Any:
    """Text as bytes: those of the file it was read from, or each character below 256 as one, as in a literal of Python 2;
    other text is UTF-8. Also in lists."""
    if type(value) in (list, tuple):
        return each_of(as_bytes, value)
    if not isinstance(value, str):
        return value
    if isinstance(value, Read):
        return value.encode("utf-8", "surrogateescape")
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape")


def as_text(value: Any) -> Any:
    """Text as str, in lists too."""
    if type(value) in (list, tuple):
        return each_of(as_text, value)
    return str(value) if isinstance(value, Text) else value


def given(value: Any) -> Any:
    """What a call gives: bytes as Text."""
    if type(value) is bytes:
        tell()
        return Text(value)
    if type(value) in (list, tuple) and any(type(each) is bytes for each in value):
        return type(value)(given(each) for each in value)
    return value


def call(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """function(*args, **options), where text and bytes are one.

    >>> import struct, os
    >>> call(struct.unpack, ">H", "ab"), call(os.path.join, Text(b"a"), "b"), call(", ".join, [Text(b"a"), "b"])
    ((24930,), 'a/b', 'a, b')
    """
    if function is io.StringIO:  # as the converter calls StringIO.StringIO and cStringIO.StringIO
        return Buffer(*(as_bytes(each) for each in args))
    owner = getattr(function, "__self__", None)
    if (
        len(args) == 2 and isinstance(owner, str) and function == owner.translate
    ):  # in Python 2 what is deleted comes second
        table, gone = args
        return owner.translate(dict.fromkeys(map(ord, gone))).translate(table or {})
    if function in (csv.reader, csv.DictReader) and args:
        args = (map(as_text, args[0]), *args[1:])
    if function in PICKLES:
        args = tuple(map(binary, args))
        if function in (pickle.load, pickle.Unpickler):  # what Python 2 has pickled
            options.setdefault("encoding", "latin1")
    files = [text for each in (*args, *options.values()) if (text := text_in(each)) is not None]
    if files and "_call2" not in getattr(function, "__globals__", ()):  # no function of the script's
        return of_files(function, args, options, files)
    return of_text(function, args, options)


def of_files(
    function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any], files: list[io.TextIOWrapper]
) -> Any:
    """A call with files that were opened as texts, such as numpy.save(open(name, 'w'), array): again with binary ones."""
    places = [place_in(file) for file in files]
    try:
        return of_text(function, args, options)
    except (TypeError, UnicodeDecodeError, io.UnsupportedOperation) as error:
        if isinstance(error, TypeError) and "bytes" not in str(error):
            raise
        for file, place in zip(files, places):
            if place is not None:
                file.seek(place)
        try:
            result = function(*map(binary, args), **{key: binary(each) for key, each in options.items()})
        except (TypeError, ValueError):
            raise error from None
        tell()
        return given(result)


def place_in(file: io.TextIOWrapper) -> int | None:
    """Where a text file is read next; None for one that tells it not, as one that a loop reads by lines."""
    try:
        return file.tell() if file.readable() and file.seekable() else None
    except (OSError, ValueError):
        return None


def of_text(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A call, and where it refuses text for bytes, or bytes for text, once more with the other."""
    try:
        return given(function(*args, **options))
    except (TypeError, struct.error) as error:
        for convert in (as_bytes, as_text) if any(word in str(error) for word in ASKED) else (as_text,):
            other, named = [convert(each) for each in args], {key: convert(each) for key, each in options.items()}
            if all(a is b for a, b in zip([*other, *named.values()], [*args, *options.values()])):
                continue  # nothing to convert: the error is another
            try:
                result = function(*other, **named)
            except (TypeError, struct.error):
                continue
            tell()
            return given(result)
        raise


def code_of(name: str) -> Callable[..., Any]:
    """str.encode or str.decode, which Python 2 had for hex and base64 too."""

    def method(value: Any, *args: Any, **options: Any) -> Any:
        kind = CODECS.get(str(args[0]) if args else str(options.get("encoding", "")))
        if kind and isinstance(value, (str, bytes)):
            tell()
            return Text(getattr(codecs, name)(as_bytes(value), kind))
        if isinstance(value, (str, bytes)):
            if name == "encode":
                return Text(value) if isinstance(value, bytes) else Text(value.encode(*args, **options))
            return value if isinstance(value, str) else bytes(value).decode(*args, **options)
        return call(getattr(value, name), *args, **options)

    return method


encode, decode = code_of("encode"), code_of("decode")


def is_instance(value: Any, kinds: Any) -> bool:
    """isinstance, where Text is a str too."""
    return builtins.isinstance(value, kinds) or (builtins.isinstance(value, Text) and builtins.isinstance("", kinds))


def set_to(owner: Any, name: str, value: Any) -> None:
    """owner.name = value; a field of a message that takes bytes takes text."""
    try:
        setattr(owner, name, value)
    except TypeError:
        for convert in (as_bytes, as_text):
            other = convert(value)
            if other is not value:
                try:
                    return setattr(owner, name, other)
                except TypeError:
                    continue
        raise


def read(value: Any) -> Any:
    """What a file gives: bytes as Text, text beyond ASCII as Read."""
    return Read(value) if isinstance(value, str) and not value.isascii() else given(value)


class File:
    """A file that takes text and bytes, whatever its mode; all else is the file's own."""

    def __init__(self, file: Any) -> None:
        self.__dict__["file"] = file

    def write(self, value: Any) -> Any:
        if "b" in getattr(self.file, "mode", "b"):
            return self.file.write(as_bytes(value))
        if isinstance(value, str):
            return self.file.write(value)
        self.file.flush()
        return self.file.buffer.write(value)

    def writelines(self, values: Any) -> None:
        for value in values:
            self.write(value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def __enter__(self) -> File:
        self.file.__enter__()
        return self

    def __exit__(self, *error_info: Any) -> Any:
        return self.file.__exit__(*error_info)

    def __iter__(self) -> Any:
        return (read(line) for line in self.file)

    def __next__(self) -> Any:
        return read(next(self.file))


class Buffer(io.BytesIO):
    """StringIO of Python 2: in memory, of bytes and text alike.

    >>> buffer = Buffer()
    >>> buffer.write("a"), buffer.write(b"b"), buffer.getvalue()
    (1, 1, b'ab')
    """

    def __init__(self, value: Any = b"") -> None:
        super().__init__(as_bytes(value))

    def write(self, value: Any) -> int:
        return super().write(as_bytes(value))


def open_file(name: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
    """open of Python 2: what is not UTF-8 is read as bytes are, and anything may be written."""
    if "U" in mode:  # all ends of lines are one, as Python 3 does without being told
        mode = mode.replace("U", "") or "r"
    elif "b" not in mode:
        options = {"encoding": "utf-8", "errors": "surrogateescape", "newline": "\n", **options}
    return File(builtins.open(as_text(name), mode, *args, **options))
