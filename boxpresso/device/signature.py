"""What a file of kernels declares: kernels with their arguments, constants, and structs of numbers, read from its text."""

from __future__ import annotations

import ast
import ctypes
import functools
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ..proto.errors import KernelError, nearest
from . import cache

DType = np.dtype[Any]
addressof, char_at = (
    ctypes.addressof,
    ctypes.c_char.from_buffer,
)  # of writable memory: a fifth of the time of the other way
HEADERS = Path(__file__).resolve().parent  # where the headers that all kernels may include are
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
SIGNATURE = re.compile(r"^KERNEL\s+(\w+)\s*\(([^)]*)\)", re.M)
PARAMETER = re.compile(r"^(const )?(\w+) (\* )?(?:__restrict__ )?(\w+)$")
CONSTANT = re.compile(r"\bconstexpr\s+(?:int|unsigned|long long)\s+([^;]+);")
STRUCT = re.compile(r"\bstruct\s+(\w+)\s*\{([^{}]*)\}\s*;")
FIELDS = re.compile(r"^(int|unsigned|float|double|Real)\s+(.+)$", re.S)
FIELD = re.compile(r"^(\w+)(?:\s*\[(\w+)\])?$")
BFLOAT16: DType = np.dtype([("bfloat16", np.uint16)])  # numpy has no type of its own for it
TYPES: dict[str, DType] = {
    "int": np.dtype(np.int32),
    "unsigned": np.dtype(np.uint32),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "uint8_t": np.dtype(np.uint8),
    "int8_t": np.dtype(np.int8),
    "bfloat16": BFLOAT16,
}
REALS: dict[DType, str] = {
    np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.float16): "half", BFLOAT16: "bfloat16",
}  # fmt: skip
FORMATS = {np.dtype(np.int32): "i", np.dtype(np.uint32): "I", np.dtype(np.float32): "f", np.dtype(np.float64): "d"}
SINGLE: DType = np.dtype(np.float32)
HALVES: list[DType] = [np.dtype(np.float16), BFLOAT16]  # types to store in, with arithmetic in float32


def dtype_of(dtype: Any) -> DType:
    """numpy's dtype; the bfloat16 of ml_dtypes, from its first use on, is one to store in."""
    known: DType = np.dtype(dtype)
    if known.kind == "V" and known.name == "bfloat16" and known not in REALS:
        REALS[known] = "bfloat16"
        HALVES.append(known)
    return known


# An option of files of kernels whose decisions are to be the same on all devices: each product is rounded before it is added.
UNFUSED = "-DUNFUSED"
# Of a file whose results have the same bits on every CPU (docs/reproducible.md): kernel.h's words are others then.
REPRODUCIBLE = "-DREPRODUCIBLE"


def real_of(dtype: Any) -> DType:
    """The dtype that kernels compute in when their Store arrays have that dtype: float32 for 16 bits, else the same."""
    return SINGLE if dtype_of(dtype) in HALVES else np.dtype(dtype)


def defines(real: str) -> tuple[str, ...]:
    """The compiler options that say what Real and Store are, for one of the names in REALS."""
    return ("-DReal=float", f"-DStore={real}") if real in ("half", "bfloat16") else (f"-DReal={real}",)


@dataclass(frozen=True)
class Field:
    """One member of a struct; `count` is None for a single number, else the length of an array."""

    name: str
    kind: str  # int, unsigned, float, double or Real
    count: int | None


@dataclass(frozen=True)
class Struct:
    """A struct of numbers, as the text of a kernel declares it. Kernels take it by value."""

    name: str
    fields: tuple[Field, ...]

    @functools.cached_property
    def names(self) -> dict[str, None]:
        """The names of its fields, in order."""
        return {field.name: None for field in self.fields}

    @functools.lru_cache(maxsize=None)  # noqa: B019  (there are few, and they last as long as the process)
    def dtype(self, real: DType) -> DType:
        """The layout that C++ gives it."""
        types = [
            (f.name, real if f.kind == "Real" else TYPES[f.kind], *([(f.count,)] if f.count else []))
            for f in self.fields
        ]
        return np.dtype(types, align=True)

    @functools.lru_cache(maxsize=None)  # noqa: B019
    def format(self, real: DType) -> str:
        """The same for Python's `struct` module, padding before and after included."""
        codes = [FORMATS[real if f.kind == "Real" else TYPES[f.kind]] for f in self.fields]
        align = "0d" if "d" in codes else "0i"
        return align + "".join(f"{f.count or ''}{c}" for f, c in zip(self.fields, codes)) + align

    def fill(self, values: Mapping[str, Any], where: str) -> StructValue:
        """A value from numbers by name. Raises KernelError for a missing or unknown name, or what is not a number."""
        names = self.names
        if values.keys() != names.keys():
            for name in values:
                if name not in names:
                    raise KernelError(f"{where}: struct {self.name} has no field {name!r}{nearest(name, list(names))}")
            missing = next(name for name in names if name not in values)
            raise KernelError(f"{where}: struct {self.name} needs a value for {missing!r}")
        for field in self.fields:
            value = values[field.name]
            if field.count is None and (
                (type(value) is int and field.kind == "int" and -(2**31) <= value < 2**31)
                or (type(value) is float and field.kind in ("Real", "float", "double"))
            ):
                continue  # what nearly all are
            value_array = np.asarray(values[field.name])
            whole = field.kind in ("int", "unsigned")
            fits = value_array.shape == (() if field.count is None else (field.count,))
            if not fits or value_array.dtype.kind not in ("bui" if whole else "buif"):
                wanted = f"{field.count} of {field.kind}" if field.count else f"one {field.kind}"
                raise KernelError(
                    f"{where}: field {field.name!r} of struct {self.name} must be {wanted}, got {values[field.name]!r}"
                )
            info = np.iinfo(TYPES[field.kind]) if whole else None
            if (
                info
                and value_array.size
                and not (info.min <= int(value_array.min()) and int(value_array.max()) <= info.max)
            ):
                raise KernelError(
                    f"{where}: field {field.name!r} of struct {self.name} does not fit in {field.kind}: {values[field.name]!r}"
                )
        return StructValue(self, {name: values[name] for name in names})


STRUCTS: dict[Struct, Struct] = {}  # one of each, which a launch compares with that of its kernel's file by identity


class StructValue:
    """A struct with its numbers, ready to be handed to kernels again and again."""

    __slots__ = ("bytes", "packed", "struct", "values")

    def __init__(self, struct: Struct, values: Mapping[str, Any]) -> None:
        self.struct, self.values = struct, MappingProxyType(dict(values))
        self.packed: dict[DType, tuple[int, np.ndarray[Any, Any]]] = {}
        self.bytes: dict[DType, bytes] = {}

    def memory(self, layout: DType) -> tuple[int, np.ndarray[Any, Any]]:
        """Its address on the host, and the array that holds it there, in a layout that Struct.dtype gives."""
        known = self.packed.get(layout)
        if known is None:
            array = np.array([tuple(self.values.values())], layout)
            known = self.packed[layout] = (addressof(char_at(array)), array)  # type: ignore[arg-type]  # arrays are buffers
        return known

    def numbers(self) -> list[Any]:
        """Its numbers in order, arrays laid out flat."""
        return [n for value in self.values.values() for n in np.asarray(value).reshape(-1).tolist()]

    def raw(self, layout: DType) -> bytes:
        """Its bytes in that layout."""
        known = self.bytes.get(layout)
        if known is None:
            known = self.bytes[layout] = self.memory(layout)[1].tobytes()
        return known

    def __repr__(self) -> str:
        return f"{self.struct.name}({', '.join(f'{k}={v}' for k, v in self.values.items())})"


@dataclass(frozen=True)
class Parameter:
    """One argument of a kernel, as its signature declares it."""

    name: str
    kind: str  # int, unsigned, float, double, Real, Store or the name of a struct
    pointer: bool
    const: bool
    struct: Struct | None = None

    def dtype(self, real: DType) -> DType:
        """The dtype of the argument, or of what it points to, in a launch for `real`."""
        if self.struct is not None:
            return self.struct.dtype(real_of(real))
        return real_of(real) if self.kind == "Real" else TYPES.get(self.kind, real)


class Kernel:
    """One kernel of a file: its name and what it takes.

    Attributes
    ----------
    blocks
        Whether `n` counts blocks, not items.
    adds
        Whether threads of a block add floating-point numbers to one place in any order, as its text says by SUMS_IN_ANY_ORDER.
    """

    def __init__(
        self, file: KernelFile, name: str, parameters: Sequence[Parameter], blocks: bool, adds: bool = False
    ) -> None:
        self.file, self.name, self.parameters, self.blocks, self.adds = file, name, tuple(parameters), blocks, adds
        pointers = [i for i, p in enumerate(parameters) if p.pointer]
        stores = [i for i in pointers if parameters[i].kind == "Store"]
        # What decides the dtype, the first that is given; Real where no array to store is.
        self.reals = [*stores, *(i for i in pointers if parameters[i].kind == "Real")] or pointers
        self.halves = bool(stores)  # whether it takes numbers of 16 bits
        self.ints = [i for i, p in enumerate(parameters) if p.kind == "int" and not p.pointer]

    def real(self, args: Sequence[Any]) -> DType:
        """The dtype that a launch with these arguments is compiled for. Raises KernelError for a wrong number of them."""
        if len(args) != len(self.parameters):
            names = ", ".join(p.name for p in self.parameters)
            raise KernelError(f"{self} takes {len(self.parameters)} arguments ({names}), got {len(args)}")
        for i in self.reals:
            if args[i] is not None:
                dtype = getattr(args[i], "dtype", None)
                return dtype if dtype in REALS and (dtype not in HALVES or self.halves) else SINGLE
        return SINGLE

    def check_numbers(self, args: Sequence[Any]) -> None:
        """Raises KernelError for a number that an int does not hold, which ctypes would cut."""
        for i in self.ints:
            value = args[i]
            if type(value) is int and not -(2**31) <= value < 2**31:
                raise self.reject(self.parameters[i], "an int, from -2^31 to 2^31 - 1", value)

    def __call__(self, *args: Any) -> None:
        raise KernelError(f"{self} is not bound to a device: call it as kernels.on(device).{self.name}(...)")

    def reject(self, parameter: Parameter, wanted: str, seen: object) -> KernelError:
        return KernelError(f"{self}: argument {parameter.name!r} must be {wanted}, got {seen}")

    def reject_scalars(self, args: Sequence[Any], error: object = "") -> KernelError:
        """What is wrong with the numbers and structs that it was called with."""
        for parameter, arg in zip(self.parameters, args):
            if parameter.pointer:
                continue
            if parameter.struct is not None:
                if not isinstance(arg, StructValue) or arg.struct != parameter.struct:
                    return self.reject(parameter, f"a struct {parameter.kind}", f"{type(arg).__name__} {arg!r}")
            elif not isinstance(arg, (int, float, np.integer, np.floating)):
                return self.reject(parameter, f"one {parameter.kind}", f"{type(arg).__name__} {arg!r}")
            elif parameter.kind in ("int", "unsigned") and isinstance(arg, (float, np.floating)):
                return self.reject(parameter, f"one {parameter.kind}", f"the float {arg!r}")
        numbers = tuple(a for p, a in zip(self.parameters, args) if not p.pointer)
        return KernelError(f"{self} cannot be called with {numbers}{f': {error}' if error else ''}")

    def __str__(self) -> str:
        return f"kernel {self.name} of {self.file.path.name}"


@functools.cache
def without_comments(text: bytes) -> str:
    """A file without comments."""
    return COMMENT.sub(" ", text.decode())


@functools.cache  # headers are shared by many files
def declared_constants(text: bytes) -> list[str]:
    """What a file declares as `constexpr int ...;`."""
    return CONSTANT.findall(without_comments(text))


@functools.cache
def declared_structs(text: bytes) -> list[tuple[str, str]]:
    """The structs of a file, by name, with what is in their braces."""
    return STRUCT.findall(without_comments(text))


class KernelFile:
    """The text of a file of kernels and what it declares: kernels, constants and structs.

    `path` is its absolute path, `options` are further compiler options, for both compilers. A `.cpp` is for the host alone.
    """

    path: Path
    options: tuple[str, ...]

    @functools.cached_property
    def reproducible(self) -> ReproducibleFile:
        """The same text, compiled so that its results have the same bits on every CPU."""
        return ReproducibleFile(self)

    @property
    def host_only(self) -> bool:
        """Whether it is for the CPU alone."""
        return self.path.suffix == ".cpp"

    def kernel(self, name: str) -> Kernel:
        """The kernel of that name."""
        if name not in self.table:
            raise KernelError(f"{self.path.name} has no kernel {name!r}{nearest(name, self.table)}")
        return self.table[name]

    def struct(self, struct_name: str, /, **values: Any) -> StructValue:
        """A struct that the text declares, with a value for each of its fields.

        Raises KernelError for an unknown struct, a missing or unknown field, or a value that is no number of its type.
        """
        if struct_name not in self.structs:
            raise KernelError(
                f"{self.path.name} has no struct {struct_name!r} of numbers{nearest(struct_name, self.structs)}"
            )
        return self.structs[struct_name].fill(values, self.path.name)

    @functools.cached_property
    def text(self) -> str:
        """The file without comments."""
        return without_comments(self.texts[0])

    @functools.cached_property
    def texts(self) -> list[bytes]:
        """The file, and the headers that it includes by name."""
        return cache.texts(self.path, HEADERS)

    @functools.cached_property
    def constants(self) -> Mapping[str, int]:
        """The whole numbers that the text and its headers declare as `constexpr int NAME = ...;`, by name."""
        expressions: dict[str, str] = {}
        for declared in (each for text in self.texts for each in declared_constants(text)):
            for one in re.split(r",(?![^(]*\))", declared):
                name, _, expression = one.partition("=")
                expressions.setdefault(name.strip(), expression.strip())
        known: dict[str, int] = {}
        while True:  # a header may come after the file that includes it
            before = len(known)
            for name, expression in expressions.items():
                if name not in known and (value := whole_number(expression, known)) is not None:
                    known[name] = value
            if len(known) == before:
                return Constants(known, self.path.name)

    @functools.cached_property
    def structs(self) -> dict[str, Struct]:
        """The structs of numbers that the text and its headers declare."""
        structs = {}
        for name, body in (each for text in self.texts for each in declared_structs(text)):
            fields = self.fields(body)
            if fields:
                struct = Struct(name, tuple(fields))
                structs[name] = STRUCTS.setdefault(struct, struct)
        return structs

    def fields(self, body: str) -> list[Field]:
        """The members of a struct, none where it holds anything but numbers."""
        fields = []
        for declaration in filter(None, map(str.strip, body.split(";"))):
            match = FIELDS.match(declaration)
            for declared in match[2].split(",") if match else ():
                field = FIELD.match(declared.strip())
                if match is None or field is None:
                    return []
                count = (
                    None if field[2] is None else int(field[2]) if field[2].isdecimal() else self.constants[field[2]]
                )
                fields.append(Field(field[1], match[1], count))
            if match is None:
                return []
        return fields

    @functools.cached_property
    def table(self) -> dict[str, Kernel]:
        """The kernels by name."""
        signatures = list(SIGNATURE.finditer(self.text))
        ends = [m.start() for m in signatures[1:]] + [len(self.text)]
        table = {}
        for match, end in zip(signatures, ends):
            parameters = [self.parameter(match[1], text) for text in match[2].split(",")]
            if not parameters or (parameters[0].kind, parameters[0].pointer) != ("int", False):
                raise KernelError(f"kernel {match[1]} of {self.path.name}: the first argument must be `int n`")
            body = self.text[match.end() : end]
            table[match[1]] = Kernel(self, match[1], parameters, "BLOCK_LOOP" in body, "SUMS_IN_ANY_ORDER" in body)
        return table

    def parameter(self, kernel: str, text: str) -> Parameter:
        match = PARAMETER.match(" ".join(text.replace("*", " * ").split()))
        pointer = match is not None and match[3] is not None
        struct = self.structs.get(match[2]) if match is not None and not pointer else None
        if match is None or (match[2] not in (*TYPES, "Real", "Store") and struct is None):
            raise KernelError(
                f"kernel {kernel} of {self.path.name}: cannot read argument {text.strip()!r}; it must be int, unsigned, "
                "float, double, Real or a struct of these, or a (const) pointer to a number, to bfloat16 or to Store"
            )
        if match[2] == "Store" and not pointer:
            raise KernelError(
                f"kernel {kernel} of {self.path.name}: {match[4]!r} must be Real; Store is for pointers alone"
            )
        return Parameter(match[4], match[2], pointer, match[1] is not None, struct)


class ReproducibleFile(KernelFile):
    """A file of kernels as it is compiled for the same bits on every CPU."""

    def __init__(self, file: KernelFile) -> None:
        self.path, self.options = file.path, tuple(dict.fromkeys((*file.options, UNFUSED, REPRODUCIBLE)))


class Constants(dict[str, int]):
    """Constants of a text by name; an unknown one is a KernelError that names the nearest."""

    def __init__(self, values: Mapping[str, int], file: str) -> None:
        super().__init__(values)
        self.file = file

    def __missing__(self, name: str) -> int:
        raise KernelError(f"{self.file} has no constant {name!r}{nearest(name, self)}")


OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
    ast.Div: operator.floordiv,  # of two positive ints, as in C++
}


def whole_number(expression: str, known: Mapping[str, int]) -> int | None:
    """The value of a C++ expression of whole numbers and known constants; None where it is anything else.

    >>> whole_number("2 * SLAB + 1", {"SLAB": 16})
    33
    """

    def value(node: ast.AST) -> int:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name):
            return known[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.BinOp):
            return int(OPERATORS[type(node.op)](value(node.left), value(node.right)))
        raise KeyError(type(node))

    try:
        return value(ast.parse(expression, mode="eval").body)
    except (SyntaxError, KeyError):
        return None
