"""Reads PTX, what nvcc makes of kernels before a GPU's own assembler; ptx_cpp.py makes C++ of it that simt.h runs.

So what is tested on a machine without a GPU is nvcc's own output, with its products fused into sums, its wide loads and its order
of instructions. Knows the instructions that our kernels become, and says so of any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

SIZES = {
    "pred": "bool", "b8": "uint8_t", "u8": "uint8_t", "s8": "int8_t", "b16": "uint16_t", "u16": "uint16_t", "s16": "int16_t",
    "f16": "uint16_t", "b32": "uint32_t", "u32": "uint32_t", "s32": "int32_t", "f32": "float", "b64": "uint64_t",
    "u64": "uint64_t", "s64": "int64_t", "f64": "double",
}  # fmt: skip
CLASSES = {
    **SIZES,
    "s16": "uint16_t",
    "s32": "uint32_t",
    "s64": "uint64_t",
    "s8": "uint8_t",
}  # what registers are kept as
BYTES = {
    "uint8_t": 1,
    "int8_t": 1,
    "uint16_t": 2,
    "int16_t": 2,
    "uint32_t": 4,
    "int32_t": 4,
    "float": 4,
    "uint64_t": 8,
    "int64_t": 8,
    "double": 8,
}
WIDEST = 16  # bytes that an instruction accesses, at most
ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\((.*?)\)\s*((?:\.\w+\s+[\d, ]+\s*)*)\{", re.S)
PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+(?:\.ptr\s+(?:\.\w+\s+)*(?:\.align\s+\d+\s+)?)?([\w$]+)(?:\[(\d+)\])?"
)
TABLE = re.compile(r"^\.(?:global|const)\s+\.align\s+(\d+)\s+\.b8\s+([\w$]+)\[\d+\]\s*=\s*\{([^}]*)\};", re.M)
VARIABLE = re.compile(r"\.(shared|local)\s+\.align\s+(\d+)\s+\.(\w+)\s+([\w$]+)(?:\[(\d+)\])?$")
CALL = re.compile(r"call\.uni\s*\(([^)]*)\),\s*([\w$]+),\s*\(([^)]*)\)", re.S)
FUNCTION = re.compile(r"\.func\s+\(\.param [^)]*?([\w$]+)(?:\[\d+\])?\)\s*([\w$]+)\s*\(([^()]*)\)\s*\{", re.S)
REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+(.*)$", re.S)
FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.M)
LINE = re.compile(r"\.loc\s+(\d+)\s+(\d+)")
ADDRESS = re.compile(r"^\[([^\]+]+)(?:\+(-?\d+))?\]$")


class Unknown(Exception):
    """What this cannot translate."""


@dataclass
class Statement:
    operation: str
    operands: list[str]
    when: str  # the predicate that it depends on, such as "!%p3", or ""
    where: str  # file:line


@dataclass
class Kernel:
    name: str
    parameters: list[tuple[str, str, int, int]]  # name, type, size, place
    registers: dict[str, str] = field(default_factory=dict)  # name in C++: type
    shared: dict[str, int] = field(default_factory=dict)  # name: offset
    shared_bytes: int = 0
    local: dict[str, int] = field(default_factory=dict)
    local_bytes: int = 0
    blocks: list[list[Statement]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    passed: dict[str, int] = field(default_factory=dict)  # what calls take and give back: bytes
    result: str = ""  # of a function: the name of what it gives back


def mangled(name: str) -> str:
    """A name of PTX as one of C++ that is nobody else's."""
    return re.sub(r"\W", "_", f"of_{name.lstrip('%')}")


def layout(text: str) -> list[tuple[str, str, int, int]]:
    """The parameters of a kernel: name, type, size and place in the block of arguments."""
    made, place = [], 0
    for align, type_, name, count in PARAMETER.findall(text):
        size = BYTES[SIZES[type_]]
        step = int(align) if count else size
        place = -(-place // step) * step
        made.append((name, type_, size * int(count or 1), place))
        place += size * int(count or 1)
    return made


def split(text: str) -> list[str]:
    """Operands: commas inside braces and brackets do not part them."""
    return [part.strip() for part in re.split(r",(?![^{\[]*[}\]])", text) if part.strip()]


class Reader:
    """The body of a kernel, statement by statement, cut into basic blocks."""

    def __init__(self, kernel: Kernel, files: dict[str, str]) -> None:
        self.kernel, self.files = kernel, files
        self.scopes: list[dict[str, str]] = [{}]
        self.where = "?"
        kernel.blocks.append([])

    def declare(self, type_: str, names: str) -> None:
        for name in names.split(","):
            if made := re.match(r"^(%\w+)<(\d+)>$", name.strip()):
                for i in range(int(made[2])):
                    self.kernel.registers[mangled(f"{made[1]}{i}")] = CLASSES[type_]
            else:
                own = self.own(name.strip())
                self.kernel.registers[mangled(own)] = CLASSES[type_]

    def own(self, name: str) -> str:
        """The name that something declared in braces has outside of them."""
        made = name if len(self.scopes) == 1 else f"{name}_{len(self.kernel.registers) + len(self.kernel.passed)}"
        self.scopes[-1][name] = made
        return made

    def named(self, operand: str) -> str:
        for scope in reversed(self.scopes):
            if operand in scope:
                return scope[operand]
        return operand

    def statement(self, text: str) -> None:
        k = self.kernel
        if text.startswith((".loc ", ".loc\t", ".pragma")):
            return
        if made := VARIABLE.match(text):
            kind, align, name = made[1], int(made[2]), made[4]
            size = BYTES[SIZES[made[3]]] * int(made[5] or 1)
            before = k.shared_bytes if kind == "shared" else k.local_bytes
            place = -(-before // align) * align
            if align < WIDEST and not place % WIDEST:
                place += align  # so that what needs a better alignment than it has asked for is not right by luck
            if kind == "shared":
                k.shared[name], k.shared_bytes = place, place + size
            else:
                k.local[name], k.local_bytes = place, place + size
            return
        if made := REGISTERS.match(text):
            self.declare(made[1], made[2])
            return
        if made := PARAMETER.fullmatch(text):
            k.passed[mangled(self.own(made[3]))] = BYTES[SIZES[made[2]]] * int(made[4] or 1)
            return
        if text.startswith("."):
            raise Unknown(text)
        if made := CALL.fullmatch(text):
            results, name, passed = ([self.named(each) for each in split(part)] for part in made.groups())
            k.blocks[-1].append(Statement("call", [*name, *results, *passed], "", self.where))
            return
        when = ""
        if text.startswith("@"):
            when, _, text = text[1:].partition(" ")
            when = ("!" if when[0] == "!" else "") + self.named(when.lstrip("!"))
        operation, _, rest = text.strip().partition(" ") if " " in text else text.strip().partition("\t")
        operation, rest = operation.strip(), rest.strip()
        if "\t" in operation:
            operation, _, more = operation.partition("\t")
            rest = f"{more} {rest}"
        operands = [re.sub(r"[^\s,{}\[\]+|]+", lambda m: self.named(m[0]), part) for part in split(rest)]
        k.blocks[-1].append(Statement(operation, operands, when, self.where))
        if operation.startswith(("bra", "ret", "exit", "bar")):
            k.blocks.append([])

    def read(self, body: str) -> None:
        waiting = ""
        for line in body.split("\n"):
            line = f"{waiting} {re.sub(r'//.*', '', line).strip()}".strip()
            waiting = ""
            if made := LINE.match(line):
                if made[2] != "0":
                    self.where = f"{self.files.get(made[1], '?')}:{made[2]}"
                continue
            while line:
                if label := re.match(r"^(\$[\w$]+):\s*", line):
                    if self.kernel.blocks[-1]:
                        self.kernel.blocks.append([])
                    self.kernel.labels[label[1]] = len(self.kernel.blocks) - 1
                    line = line[label.end() :]
                elif line[0] == "{":
                    self.scopes.append({})
                    line = line[1:].strip()
                elif line[0] == "}":
                    self.scopes.pop()
                    line = line[1:].strip()
                else:
                    statement, semicolon, line = line.partition(";")
                    if not semicolon:
                        waiting = statement
                        break
                    if statement.strip():
                        self.statement(statement.strip())
                    line = line.strip()
