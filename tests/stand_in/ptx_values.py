"""What the instructions of PTX make of numbers, as C++ over the words of simt.h."""

from __future__ import annotations

import re

from .ptx import SIZES, Kernel, Statement, Unknown, mangled, split

UNITS = {"ntid": "b.size", "ctaid": "b.number", "nctaid": "b.grid"}
THREAD = ("b.thread % b.size[0]", "b.thread / b.size[0] % b.size[1]", "b.thread / b.size[0] / b.size[1]")


class Values:
    """Operands and arithmetic of one kernel. `inside`: the registers that only the basic block at hand uses."""

    def __init__(self, kernel: Kernel) -> None:
        self.k, self.inside = kernel, set[str]()

    def value(self, operand: str, type_: str) -> str:
        """An operand read as a C++ type."""
        kind = SIZES[type_]
        if operand.startswith("0f"):
            return f"in<{kind}>(f32(0x{operand[2:]}u))"
        if operand.startswith("0d"):
            return f"in<{kind}>(f64(0x{operand[2:]}ull))"
        if re.match(r"^-?\d", operand):
            return f"{kind}({operand}ll)" if kind not in ("float", "double") else f"in<{kind}>(uint32_t({operand}))"
        if made := re.match(r"^%(tid|ntid|ctaid|nctaid)\.([xyz])$", operand):
            axis = "xyz".index(made[2])
            return f"{kind}({THREAD[axis] if made[1] == 'tid' else f'{UNITS[made[1]]}[{axis}]'})"
        if operand == "%laneid":
            return f"{kind}(b.thread % 32)"
        if operand in self.k.shared:
            return f"{kind}({self.k.shared[operand]})"
        if operand in self.k.local:
            return f"{kind}(uint64_t(t.local + {self.k.local[operand]}))"
        if operand.startswith("%") or mangled(operand) in self.k.registers:
            return f"in<{kind}>({self.register(operand)})"
        return f"{kind}(uint64_t(table_{mangled(operand)}))"

    def register(self, operand: str) -> str:
        name = mangled(operand)
        if name not in self.k.registers:
            raise Unknown(f"{self.k.name}: the operand {operand}")
        return name if name in self.inside else f"t.{name}"

    def put(self, operand: str, value: str) -> str:
        return f"set({self.register(operand)}, {value});"

    def converted(self, s: Statement, words: list[str]) -> str:
        to, source = words[-2], words[-1]
        value = self.value(s.operands[1], source)
        modes, floats = words[1:-2], ("f32", "f64")
        if source == "f16":
            value, source = f"f32(half_to_float({value}))", "f32"
        if to == "f16":
            return f"float_to_half(float({value}))"
        whole = {"rzi": "std::trunc", "rmi": "std::floor", "rpi": "std::ceil", "rni": "std::nearbyint"}
        for mode, function in whole.items():
            if mode in modes:
                value = f"{function}({value})"
        if to in floats:
            if "rz" in modes or "rm" in modes or "rp" in modes:
                raise Unknown(s.operation)
            value = f"{SIZES[to]}({value})"
            return f"saturated({value})" if "sat" in modes else value
        if source in floats:
            return f"integer<{SIZES[to]}>({value})"
        if "sat" in modes:
            raise Unknown(s.operation)
        return f"{SIZES[to]}({value})"

    def compared(self, s: Statement, words: list[str]) -> str:
        how, type_ = words[1], words[-1]
        a, b = (self.value(operand, type_) for operand in s.operands[1:3])
        plain = {
            "eq": "==",
            "ne": "!=",
            "lt": "<",
            "le": "<=",
            "gt": ">",
            "ge": ">=",
            "lo": "<",
            "ls": "<=",
            "hi": ">",
            "hs": ">=",
        }
        order = f"const auto x = {a}; const auto y = {b}; "
        if how == "nan":
            test = "x != x || y != y"
        elif how == "num":
            test = "x == x && y == y"
        elif type_ in ("f32", "f64") and how.endswith("u"):
            test = f"x != x || y != y || x {plain[how[:-1]]} y"
        elif type_ in ("f32", "f64") and how == "ne":
            test = "x == x && y == y && x != y"
        else:
            test = f"x {plain[how]} y"
        if len(words) > 3 and words[2] in ("and", "or", "xor"):
            raise Unknown(s.operation)
        if "|" in s.operands[0]:
            raise Unknown(s.operation)
        return f"{{ {order}{self.put(s.operands[0], f'bool({test})')} }}"

    def carried(self, s: Statement, words: list[str]) -> str:
        """add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi and so on, of 32 bits."""
        values = [f"uint64_t({self.value(operand, 'u32')})" for operand in s.operands[1:]]
        part, keeps = words[0], "t.carry = uint32_t(sum >> 32) & 1;" if "cc" in words else ""
        carry = " + t.carry" if part in ("addc", "madc") else ""
        if part.startswith("mad"):
            product = f"{values[0]} * {values[1]}"
            product = f"(({product}) >> 32)" if "hi" in words else f"uint64_t(uint32_t({product}))"
            return f"{{ const uint64_t sum = {product} + {values[2]}{carry}; {keeps} {self.put(s.operands[0], 'uint32_t(sum)')} }}"
        if part.startswith("sub"):
            borrow = " - t.carry" if part == "subc" else ""
            return f"{{ const uint64_t sum = {values[0]} - {values[1]}{borrow}; {keeps} {self.put(s.operands[0], 'uint32_t(sum)')} }}"
        return f"{{ const uint64_t sum = {values[0]} + {values[1]}{carry}; {keeps} {self.put(s.operands[0], 'uint32_t(sum)')} }}"

    def moved(self, s: Statement, type_: str) -> str:
        to, source = s.operands
        if to.startswith("{"):
            parts = split(to.strip("{}"))
            width = int(type_[1:]) // len(parts)
            puts = " ".join(self.put(part, f"uint{width}_t(v >> {i * width})") for i, part in enumerate(parts))
            return f"{{ const uint{type_[1:]}_t v = {self.value(source, 'b' + type_[1:])}; {puts} }}"
        if source.startswith("{"):
            parts = split(source.strip("{}"))
            width = int(type_[1:]) // len(parts)
            value = " | ".join(
                f"uint{type_[1:]}_t({self.value(part, f'b{width}')}) << {i * width}" for i, part in enumerate(parts)
            )
            return self.put(to, f"uint{type_[1:]}_t({value})")
        return self.put(to, self.value(source, type_))

    def computed(self, s: Statement, words: list[str]) -> str:
        """The value of an instruction without effects beyond its target."""
        name, type_ = words[0], words[-1]
        kind, real = SIZES[type_], type_ in ("f32", "f64")
        unsigned = kind if real or type_ == "pred" else SIZES["u" + type_[1:]]
        mode = next((word for word in words[1:-1] if word in ("rz", "rm", "rp")), "")
        towards = {"rz": "FE_TOWARDZERO", "rm": "FE_DOWNWARD", "rp": "FE_UPWARD"}.get(mode, "")

        def at(i: int, as_: str = type_) -> str:
            return self.value(s.operands[i], as_)

        if type_ == "pred":
            two = {"and": "&", "or": "|", "xor": "^"}
            return f"bool(!{at(1)})" if name == "not" else f"bool({at(1)} {two[name]} {at(2)})"
        if name in ("add", "sub", "mul", "mad", "fma") and real:
            if name == "add" and towards:
                return f"add_towards<{kind}>({towards}, {at(1)}, {at(2)})"
            if name in ("fma", "mad"):
                if towards:
                    return f"fma_towards<{kind}>({towards}, {at(1)}, {at(2)}, {at(3)})"
                return f"std::fma({at(1)}, {at(2)}, {at(3)})"
            if towards:
                raise Unknown(s.operation)
            value = f"{kind}({at(1)} {dict(add='+', sub='-', mul='*')[name]} {at(2)})"
            return f"saturated({value})" if "sat" in words else value
        if name in ("mul", "mad") and "wide" in words:
            double = SIZES[type_[0] + str(2 * int(type_[1:]))]
            wide = SIZES["u" + str(2 * int(type_[1:]))]
            value = f"{wide}({double}({at(1)}) * {double}({at(2)}))"
            return (
                f"{wide}({value} + {self.value(s.operands[3], 'u' + str(2 * int(type_[1:])))})"
                if name == "mad"
                else value
            )
        if name in ("mul", "mad") and "hi" in words:
            value = f"{unsigned}(high<{kind}>({at(1)}, {at(2)}))"
            return f"{unsigned}({value} + {unsigned}({at(3)}))" if name == "mad" else value
        if name in ("add", "sub", "mul", "mad"):
            sign = {"add": "+", "sub": "-", "mul": "*", "mad": "*"}[name]
            value = f"{unsigned}({unsigned}({at(1)}) {sign} {unsigned}({at(2)}))"
            return f"{unsigned}({value} + {unsigned}({at(3)}))" if name == "mad" else value
        if name == "div":
            return f"{kind}({at(1)} / {at(2)})" if real else f"quotient<{kind}>({at(1)}, {at(2)})"
        if name == "rem":
            return f"remainder<{kind}>({at(1)}, {at(2)})"
        if name in ("min", "max"):
            return f"{dict(min='least', max='most')[name]}<{kind}>({at(1)}, {at(2)})"
        if name == "neg":
            return f"{kind}(-{at(1)})" if real else f"{unsigned}(0 - {unsigned}({at(1)}))"
        if name == "abs":
            return (
                f"std::fabs({at(1)})"
                if real
                else f"{unsigned}({at(1)} < 0 ? 0 - {unsigned}({at(1)}) : {unsigned}({at(1)}))"
            )
        if name in ("and", "or", "xor"):
            return f"{unsigned}({at(1)} {dict(zip(('and', 'or', 'xor'), '&|^'))[name]} {at(2)})"
        if name in ("not", "cnot"):
            return f"{unsigned}(~{at(1)})"
        if name == "shl":
            return f"shift_left<{unsigned}>({self.value(s.operands[1], 'u' + type_[1:])}, {self.value(s.operands[2], 'u32')})"
        if name == "shr":
            return f"shift_right<{kind}>({at(1)}, {self.value(s.operands[2], 'u32')})"
        if name == "selp":
            return f"({self.value(s.operands[3], 'pred')} ? {at(1)} : {at(2)})"
        if name == "copysign":
            return f"std::copysign({at(2)}, {at(1)})"
        if name == "rcp":
            return f"{kind}(1 / {at(1)})"
        if name == "sqrt":
            return f"std::sqrt({at(1)})"
        if name == "rsqrt":
            return f"{kind}(1 / std::sqrt({at(1)}))"
        if name in ("ex2", "lg2", "sin", "cos", "tanh"):
            return f"std::{dict(ex2='exp2', lg2='log2').get(name, name)}({at(1)})"
        if name == "popc":
            return f"uint32_t(__builtin_popcountll({at(1)}))"
        if name == "clz":
            return f"uint32_t({at(1)} ? __builtin_clz{'ll' if type_[1:] == '64' else ''}({at(1)}) : {type_[1:]})"
        if name == "brev" and type_ == "b32":
            return f"reversed({at(1)})"
        if name == "bfind" and "shiftamt" in words and type_ == "u32":
            return f"uint32_t({at(1)} ? __builtin_clz({at(1)}) : -1)"
        if name == "bfi":
            return f"bits_into<{unsigned}>({at(1)}, {at(2)}, {self.value(s.operands[3], 'u32')}, {self.value(s.operands[4], 'u32')})"
        if name == "bfe" and type_[0] == "u":
            return (
                f"bits_of<{unsigned}>({at(1)}, {self.value(s.operands[2], 'u32')}, {self.value(s.operands[3], 'u32')})"
            )
        raise Unknown(f"the instruction {s.operation}")

    def condition(self, when: str) -> str:
        return f"{'!' if when[0] == '!' else ''}{self.register(when.lstrip('!'))}"
