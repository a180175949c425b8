"""C++ that simt.h runs, of kernels that ptx.py has read."""

from __future__ import annotations

import re

from .ptx import (
    ADDRESS,
    BYTES,
    ENTRY,
    FILE,
    FUNCTION,
    SIZES,
    TABLE,
    Kernel,
    Reader,
    Statement,
    Unknown,
    layout,
    mangled,
    split,
)
from .ptx_values import Values

# How many instructions of a Hopper's machine code one of PTX becomes, about: those that are not one. Longest prefix wins.
WEIGHTS = {
    "ld.param": 0, "cvta": 0, "mov": 0.3, "and.pred": 0.5, "or.pred": 0.5, "not.pred": 0.5, "xor.pred": 0.5,
    "div.rn.f32": 10, "rcp.rn.f32": 7, "sqrt.rn.f32": 9, "div.rn.f64": 20, "rcp.rn.f64": 12, "sqrt.rn.f64": 20,
    "div.s32": 22, "rem.s32": 22, "div.u32": 18, "rem.u32": 18, "div.s64": 80, "rem.s64": 80, "div.u64": 70, "rem.u64": 70,
    "mul.lo.s64": 4, "mul.lo.u64": 4, "mad.lo.s64": 4, "shl.b64": 2, "shr.u64": 2, "shr.s64": 2, "setp.lt.s64": 2, "selp.b64": 2,
    "add.s64": 1.5, "add.u64": 1.5, "sub.s64": 2, "and.b64": 2, "or.b64": 2, "atom": 2,
}  # fmt: skip


def weight(operation: str) -> float:
    known = [word for word in WEIGHTS if operation == word or operation.startswith(word + ".")]
    return WEIGHTS[max(known, key=len)] if known else 1.0


class Writer(Values):
    """The memory and the basic blocks of one kernel."""

    def __init__(self, kernel: Kernel, counting: bool) -> None:
        super().__init__(kernel)
        self.counting = counting
        self.slots = 0  # accesses of memory in the basic block
        self.counts: list[str] = []

    def address(self, operand: str, space: str, bytes_: int, writes: bool, atomic: str = "0") -> tuple[str, str]:
        """Statements that check an address, and the pointer."""
        made = ADDRESS.match(operand)
        if not made:
            raise Unknown(f"{self.k.name}: the address {operand}")
        base, offset = made[1].strip(), int(made[2] or 0)
        slot = f"a{self.slots}"
        self.slots += 1
        here = f'b.where = "{self.where}"; '
        trace = (
            f"if (b.counting) place{self.here}_{slot}.mask |= 1u << lane, place{self.here}_{slot}.at[lane] = {slot}; "
        )
        if space != "local":
            self.counts.append(f"count_{space}(b, place{self.here}_{slot}, {bytes_});")
        if space == "shared":
            at = f"const uint32_t {slot} = {self.value(base, 'u32')} + uint32_t({offset}); "
            pointer = f"b.in_shared({slot}, {bytes_}, {str(writes).lower()}, {atomic})"
        elif space == "global":
            at = f"const uint64_t {slot} = {self.value(base, 'u64')} + uint64_t({offset}ll); "
            pointer = (
                f"in_global(b, known{self.here}_{slot}, {slot}, {bytes_}, {str(writes).lower()}, {atomic}, tables)"
            )
            self.known.append(f"known{self.here}_{slot}")
        else:
            at, trace = f"const uint64_t {slot} = {self.value(base, 'u64')} + uint64_t({offset}ll); ", ""
            pointer = f"in_local(b, t, {slot}, {bytes_})"
        if trace and self.counting:
            self.places.append(f"place{self.here}_{slot}")
        return here + at + (trace if self.counting else ""), pointer

    def load(self, s: Statement, words: list[str]) -> str:
        space, type_ = words[1], words[-1]
        many = next((int(word[1]) for word in words if re.match(r"^v\d$", word)), 1)
        targets = split(s.operands[0].strip("{}")) if many > 1 else [s.operands[0]]
        if space == "param":
            made = ADDRESS.match(s.operands[1])
            assert made
            name, size = made[1].strip(), BYTES[SIZES[type_]]
            start = mangled(name)
            if start not in self.k.passed:
                start = f"arguments + {next(place for known, _, _, place in self.k.parameters if known == name)}"
            place = f"{start} + {int(made[2] or 0)}"
            loads = (
                f"{{ {SIZES[type_]} v; memcpy(&v, {place} + {i * size}, sizeof v); {self.put(target, 'v')} }}"
                for i, target in enumerate(targets)
            )
            return " ".join(loads)
        size = BYTES[SIZES[type_]]
        before, pointer = self.address(s.operands[1], space, size * many, False)
        puts = " ".join(self.put(target, f"v[{i}]") for i, target in enumerate(targets))
        return f"{{ {before}{SIZES[type_]} v[{many}]; memcpy(v, {pointer}, sizeof v); {puts} }}"

    def store(self, s: Statement, words: list[str]) -> str:
        space, type_ = words[1], words[-1]
        many = next((int(word[1]) for word in words if re.match(r"^v\d$", word)), 1)
        sources = split(s.operands[1].strip("{}")) if many > 1 else [s.operands[1]]
        size = BYTES[SIZES[type_]]
        if space == "param":
            made = ADDRESS.match(s.operands[0])
            assert made
            place = "result" if made[1] == self.k.result else mangled(made[1])
            return f"{{ const {SIZES[type_]} v = {self.value(sources[0], type_)}; memcpy({place} + {int(made[2] or 0)}, &v, sizeof v); }}"
        before, pointer = self.address(s.operands[0], space, size * many, True)
        values = ", ".join(self.value(source, type_) for source in sources)
        return f"{{ {before}const {SIZES[type_]} v[{many}] = {{{values}}}; memcpy({pointer}, v, sizeof v); }}"

    def atomic(self, s: Statement, words: list[str]) -> str:
        space, op, type_ = words[1], words[-2], words[-1]
        kind = SIZES[type_]
        size = BYTES[kind]
        address, value = (s.operands[-2], s.operands[-1])
        how = "SUMS" if op == "add" and type_[0] == "f" else "COMMUTES"
        before, pointer = self.address(address, space, size, True, how)
        new = {
            "add": "old + value",
            "max": "most(old, value)",
            "min": "least(old, value)",
            "or": "old | value",
            "and": "old & value",
        }
        if op not in new:
            raise Unknown(s.operation)
        result = self.put(s.operands[0], "old") if words[0] == "atom" and s.operands[0] != "_" else ""
        return (
            f"{{ {before}char* at = {pointer}; {kind} old; memcpy(&old, at, sizeof old); const {kind} value = "
            f"{self.value(value, type_)}; const {kind} made = {new[op]}; memcpy(at, &made, sizeof made); {result} }}"
        )

    def written(self, s: Statement, index: int) -> str:
        """One statement; index: the number of its basic block."""
        words = s.operation.split(".")
        name = words[0]
        self.where = s.where
        if name == "bra":
            target = self.k.labels[s.operands[0]]
            return (
                f"key[lane] = {target};"
                if not s.when
                else f"key[lane] = {self.condition(s.when)} ? {target} : {index + 1};"
            )
        if name in ("ret", "exit"):
            return (
                "key[lane] = NEVER;" if not s.when else f"key[lane] = {self.condition(s.when)} ? NEVER : {index + 1};"
            )
        if name == "bar":
            if s.operands != ["0"] or s.when:
                raise Unknown(f"{s.operation} {s.operands}")
            return f"key[lane] = NEVER; resume[lane] = {index + 1};"
        if name == "call":
            return f"call_{mangled(s.operands[0])}(b, {mangled(s.operands[1])}, {', '.join(map(mangled, s.operands[2:]))});"
        if name == "ld":
            text = self.load(s, words)
        elif name == "st":
            text = self.store(s, words)
        elif name in ("atom", "red"):
            text = self.atomic(s, words)
        elif name == "mov":
            text = self.moved(s, words[-1])
        elif name == "cvta":
            text = self.put(s.operands[0], self.value(s.operands[1], "u64"))
        elif name == "setp":
            text = self.compared(s, words)
        elif name == "cvt":
            text = self.put(s.operands[0], self.converted(s, words))
        elif "cc" in words or name in ("addc", "subc", "madc"):
            text = self.carried(s, words)
        else:
            text = self.put(s.operands[0], self.computed(s, words))
        return f"if ({self.condition(s.when)}) {text}" if s.when else text

    def lines_of(self, block: list[Statement]) -> dict[str, float]:
        lines: dict[str, float] = {}
        for s in block:
            lines[s.where] = lines.get(s.where, 0) + weight(s.operation)
        return lines

    def all(self) -> str:
        k, used = self.k, {}
        for i, block in enumerate(k.blocks):
            for s in block:
                for name in re.findall(r"[%\w$]+", " ".join([*s.operands, s.when])):
                    used.setdefault(mangled(name), set()).add(i)
        members = [f"  {type_} {name};" for name, type_ in k.registers.items() if len(used.get(name, ())) > 1]
        cases, known, places = [], [], []
        for i, block in enumerate(k.blocks):
            self.inside = {name for name, blocks in used.items() if blocks == {i} and name in k.registers}
            self.slots, self.here, self.known, self.places, self.counts = 0, i, [], [], []
            body = [self.written(s, i) for s in block]
            if not block or not block[-1].operation.startswith(("bra", "ret", "exit", "bar")):
                body.append(f"key[lane] = {i + 1};" if i + 1 < len(k.blocks) else "key[lane] = NEVER;")
            locals_ = " ".join(f"{k.registers[name]} {name};" for name in sorted(self.inside))
            locals_ += " ".join(
                f"alignas(8) char {name}[{size}];"
                for name, size in k.passed.items()
                if any(name == mangled(o) for s in block for o in s.operands)
            )
            after = " ".join(f"if (b.counting) {count}" for count in self.counts) if self.counting else ""
            clear = " ".join(f"{place}.mask = 0;" for place in self.places)
            hits = f"if (b.counting) ++hits[{i}], lanes[{i}] += __builtin_popcount(mask); " if self.counting else ""
            cases.append(
                f"  case {i}: {{\n    {hits}{clear}\n    for (uint32_t m = mask; m; m &= m - 1) {{\n"
                f"      const int lane = __builtin_ctz(m); Thread& t = all[lane]; b.thread = base + lane; (void)t; {locals_}\n      "
                + "\n      ".join(body)
                + f"\n    }}\n    {after}\n    break;\n  }}"
            )
            known += self.known
            places += self.places
        rows = [(i, where, w) for i, block in enumerate(k.blocks) for where, w in self.lines_of(block).items()]
        lines = ", ".join(f'{{{i}, "{where}", {w}}}' for i, where, w in rows) or '{0, "", 0}'
        telling = (
            f"""
  if (b.counting) {{
    static const struct {{ int block; const char* where; double weight; }} lines[] = {{{lines}}};
    double all = 0, threads = 0;
    for (const auto& line : lines) {{
      all += hits[line.block] * line.weight, threads += lanes[line.block] * line.weight;
      driver->tell("{k.name}", line.where, Count(hits[line.block] * line.weight + 0.5));
    }}
    driver->tell("{k.name}", "launches", 1), driver->tell("{k.name}", "instructions", Count(all)), driver->tell("{k.name}", "of threads", Count(threads));
    driver->tell("{k.name}", "requests", b.requests), driver->tell("{k.name}", "sectors", b.sectors);
    driver->tell("{k.name}", "bytes asked", b.asked);
    driver->tell("{k.name}", "shared", b.waves), driver->tell("{k.name}", "shared least", b.least_waves);
  }}"""
            if self.counting
            else ""
        )
        newline = "\n"
        return f"""
namespace kernel_{k.name} {{
struct Thread {{
  uint32_t carry;
{newline.join(members)}
  alignas(16) char local[{max(k.local_bytes, 1)}];
}};
static char* in_local(Block& b, Thread& t, uint64_t at, uint32_t bytes) {{
  if (at < uint64_t(t.local) || at + bytes > uint64_t(t.local + {k.local_bytes})) b.fault("uses local memory that is not its own");
  if (at % bytes) b.fault("uses local memory that is not aligned");
  return (char*)at;
}}
static Range {", ".join(known) or "none"};
static Place {", ".join(places) or "nowhere"};
static Count hits[{len(k.blocks)}], lanes[{len(k.blocks)}];
static void step(Block& b, const char* arguments, char* result, Thread* all, int base, int* key, int* resume, int block, uint32_t mask) {{
  switch (block) {{
{newline.join(cases)}
  }}
}}
{self.as_function() if k.result else self.as_kernel(known, telling)}"""

    def as_function(self) -> str:
        """What a thread calls by itself: no barrier is in it."""
        k = self.k
        parameters = "".join(f", const char* {mangled(name)}" for name, *_ in k.parameters)
        packed = " ".join(
            f"memcpy(arguments + {place}, {mangled(name)}, {size});" for name, _, size, place in k.parameters
        )
        end = max((place + size for *_, size, place in k.parameters), default=1)
        return f"""}}
static void call_{mangled(k.name)}(Block& b, char* result{parameters}) {{
  char arguments[{end}];
  {packed}
  kernel_{k.name}::Thread thread;
  int key = 0, resume = -1;
  while (key != NEVER) kernel_{k.name}::step(b, arguments, result, &thread, b.thread, &key, &resume, key, 1);
}}
"""

    def as_kernel(self, known: list[str], telling: str) -> str:
        k = self.k
        sizes = ", ".join(str(size) for _, _, size, _ in k.parameters)
        starts = ", ".join(str(place) for _, _, _, place in k.parameters)
        return f"""static int run(const char* arguments, const unsigned* grid, const unsigned* size, const Driver* driver) {{
  Block b;
  b.driver = driver, b.counting = driver->tell != nullptr;
  for (Range* r : {{{", ".join("&" + each for each in known) or "&none"}}}) *r = Range{{}};
  for (int i = 0; i < {len(k.blocks)}; ++i) hits[i] = lanes[i] = 0;
  const int failed = simt::run<Thread>(b, "{k.name}", {k.shared_bytes}, grid, size,
    [&](Thread* all, int base, int* key, int* resume, int block, uint32_t mask) {{
      step(b, arguments, nullptr, all, base, key, resume, block, mask);
    }});{telling}
  return failed;
}}
}}
extern "C" int stand_in_grid_{k.name}(const char* arguments, const unsigned* grid, const unsigned* size, const Driver* driver) {{
  return kernel_{k.name}::run(arguments, grid, size, driver);
}}
extern "C" const size_t stand_in_places_{k.name}[] = {{{starts}}}, stand_in_sizes_{k.name}[] = {{{sizes}}};
"""


def translated(text: str, counting: bool) -> str:
    """C++ for all kernels of a text of PTX."""
    files = {number: path.rpartition("/")[2] for number, path in FILE.findall(text)}
    output = ['#include "simt.h"', "using namespace simt;", "namespace {"]
    tables = []
    for align, name, values in TABLE.findall(text):
        output.append(f"alignas({align}) const uint8_t table_{mangled(name)}[] = {{{values}}};")
        tables.append(f"{{table_{mangled(name)}, sizeof table_{mangled(name)}}}")
    output.append(f"const std::vector<Constant> tables = {{{', '.join(tables)}}};\n}}")
    for made in [*FUNCTION.finditer(text), *ENTRY.finditer(text)]:  # nobody is called before it is known
        end = text.index("\n}", made.end())
        if made.re is ENTRY:
            kernel = Kernel(made[1], layout(made[2]))
        else:
            kernel = Kernel(made[2], layout(made[3]), result=made[1])
        Reader(kernel, files).read(text[made.end() : end])
        output.append(Writer(kernel, counting).all())
    return "\n".join(output)
