"""The stand-in's way of running PTX (stand_in/simt.h): texts of PTX are translated, compiled and run here, without nvcc."""

from __future__ import annotations

import ctypes
import math
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stand_in import ptx, ptx_cpp

pytestmark = pytest.mark.later

HEADERS = Path(ptx.__file__).parent
FIND = ctypes.CFUNCTYPE(
    ctypes.c_bool, ctypes.c_ulonglong, ctypes.POINTER(ctypes.c_ulonglong), ctypes.POINTER(ctypes.c_ulonglong)
)
FAIL = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
TELL = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulonglong)


class Driver(ctypes.Structure):
    _fields_ = (("find", FIND), ("fail", FAIL), ("tell", TELL))


class Fault(Exception):
    """What a kernel has done that a GPU leaves undefined."""


class Kernels:
    """The kernels of a text of PTX."""

    def __init__(self, text: str, folder: Path) -> None:
        source = folder / "kernels.cpp"
        source.write_text(ptx_cpp.translated(text, counting=True))
        flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-fPIC", "-shared", f"-I{HEADERS}"]
        subprocess.run(
            [os.environ.get("CXX") or "g++", *flags, str(source), "-o", str(folder / "kernels.so")], check=True
        )
        self.library = ctypes.CDLL(str(folder / "kernels.so"))

    def __call__(
        self, name: str, *arrays: np.ndarray, blocks: int = 1, threads: int = 32, counting: bool = False
    ) -> dict[str, int]:
        """Runs a kernel on arrays; what it has counted, where it does not look for blocks and threads that meet."""
        counts: dict[str, int] = {}
        said: list[str] = []

        def find(at: int, first: Any, end: Any) -> bool:
            for array in arrays:
                if array.ctypes.data <= at < array.ctypes.data + array.nbytes:
                    first[0], end[0] = array.ctypes.data, array.ctypes.data + array.nbytes
                    return True
            return False

        def tell(_: bytes, counter: bytes, value: int) -> None:
            counts[counter.decode()] = counts.get(counter.decode(), 0) + value

        driver = Driver(FIND(find), FAIL(lambda text: said.append(text.decode())), TELL(tell) if counting else TELL())
        arguments = (ctypes.c_ulonglong * len(arrays))(*(array.ctypes.data for array in arrays))
        shape = [(ctypes.c_uint * 3)(size, 1, 1) for size in (blocks, threads)]
        if self.library[f"stand_in_grid_{name}"](arguments, *shape, ctypes.byref(driver)):
            raise Fault(said[0])
        return counts


def kernel(name: str, body: str, arrays: int = 1, more: str = "") -> str:
    """The text of a kernel: its arrays are %rd1 and on, the thread's number %r0, and %rd9 four times that."""
    parameters = ", ".join(f".param .u64 {name}_param_{i}" for i in range(arrays))
    loads = "\n".join(
        f"ld.param.u64 %rd{i + 1}, [{name}_param_{i}];\ncvta.to.global.u64 %rd{i + 1}, %rd{i + 1};"
        for i in range(arrays)
    )
    classes = "\n".join(
        f".reg .{type_} %{letter}<20>;"
        for type_, letter in (("pred", "p"), ("b16", "rs"), ("b32", "r"), ("f32", "f"), ("b64", "rd"), ("f64", "fd"))
    )
    start = "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd9, %r0, 4;"
    return f".visible .entry {name}(\n{parameters}\n)\n{{\n{classes}\n{more}\n{loads}\n{start}\n{body}\nret;\n\n}}\n"


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Kernels]:
    return lambda text: Kernels(text, tmp_path_factory.mktemp("ptx"))


def at(array: int, register: str = "%rd8", each: str = "%rd9") -> str:
    return f"add.s64 {register}, %rd{array}, {each};"


def sectors(count: int, dtype: Any) -> np.ndarray:
    """Zeros that begin where a sector does."""
    room = np.zeros(count + 8, dtype)
    first = -(room.ctypes.data // 4) % 8
    return room[first : first + count]


# Kernels that a GPU gives no meaning, with what is said of each.
SHARED = ".shared .align 16 .b8 room[1024];"
WRONG = {
    "outside": (kernel("outside", f"{at(1)}\nld.global.f32 %f1, [%rd8+4];"), "thread 31 of block 0.* 4 bytes at byte 128 of"),
    "foreign": (kernel("foreign", "mov.u64 %rd8, 64;\nst.global.f32 [%rd8], 0f00000000;"), "at 0x40, where no memory"),
    "misaligned": (kernel("misaligned", f"{at(1)}\nld.global.v2.f32 {{%f1, %f2}}, [%rd8];"), "as 8 bytes that is not aligned"),
    "lucky": (
        kernel("lucky", "st.shared.v4.u32 [room], {%r0, %r0, %r0, %r0};", more=SHARED.replace("16", "4")),
        "uses shared memory at 4 as 16 bytes, which is not aligned",
    ),
    "beyond": (kernel("beyond", "ld.shared.u32 %r1, [room+1024];", more=SHARED), "4 bytes at 1024 of 1024 bytes of shared"),
    "race": (kernel("race", "st.shared.u32 [room], %r0;", more=SHARED), "thread 1 .* writes byte 0 of shared memory, which another thread has written"),
    "stale": (
        kernel("stale", "mov.u32 %r1, room;\nshl.b32 %r2, %r0, 2;\nadd.s32 %r3, %r1, %r2;\nst.shared.u32 [%r3], %r0;\n"
               "xor.b32 %r2, %r2, 4;\nadd.s32 %r3, %r1, %r2;\nld.shared.u32 %r4, [%r3];", more=SHARED),
        "thread 1 .* writes byte 4 of shared memory, which another thread has read since the last barrier",
    ),
    "early": (
        kernel("early", "mov.u32 %r1, room;\nld.shared.u32 %r4, [%r1];\nsetp.eq.s32 %p1, %r0, 7;\n"
               "@%p1 bra $L_store;\nret;\n$L_store:\nst.shared.u32 [%r1], %r0;", more=SHARED),
        "thread 7 .* writes byte 0 of shared memory, which another thread has read",
    ),
    "divided": (
        kernel("divided", "setp.lt.s32 %p1, %r0, 9;\n@%p1 bra $L_one;\nbar.sync 0;\nbra.uni $L_end;\n$L_one:\nbar.sync 0;\n$L_end:"),
        "two different barriers",
    ),
    "twice": (kernel("twice", "st.global.u32 [%rd1], 1;"), "thread 1 of block 0.* writes byte 0 of an allocation of 128, which another thread has written"),
    "shared_by_blocks": (kernel("shared_by_blocks", f"{at(1)}\nst.global.u32 [%rd8], 1;"), "thread 0 of block 1.* which another block has written"),
    "across": (
        kernel("across", f"{at(1)}\nmov.u32 %r2, %ctaid.x;\nsetp.eq.s32 %p1, %r2, 1;\n@%p1 bra $L_write;\n"
               "ld.global.u32 %r3, [%rd8];\nret;\n$L_write:\nst.global.u32 [%rd8], 1;"),
        "thread 0 of block 1.* writes byte 0 .* which another block has read",
    ),
    "sums": (kernel("sums", "atom.global.add.f32 %f1, [%rd1], 0f3F800000;"), "thread 0 of block 1.* which another block has written"),
    "zero": (kernel("zero", "div.s32 %r1, 7, %r0;"), "thread 0 .*divides an integer by zero"),
}  # fmt: skip


@pytest.fixture(scope="module")
def wrong(build: Callable[[str], Kernels]) -> Kernels:
    return build("\n".join(text for text, _ in WRONG.values()))


@pytest.mark.parametrize("name", WRONG)
def test_what_a_gpu_leaves_undefined_is_an_error(wrong: Kernels, name: str) -> None:
    with pytest.raises(Fault, match=f"^{name}: .*{WRONG[name][1]}"):
        wrong(name, np.zeros(32, np.float32), blocks=2)


def test_what_commutes_may_meet(build: Callable[[str], Kernels]) -> None:
    """Whole numbers are added by all threads of all blocks; a block's sums of floats; a thread reads its own, and others' after a barrier."""
    body = (
        f"atom.global.add.u32 %r1, [%rd1], 1;\nmov.u32 %r2, %ctaid.x;\nmul.wide.u32 %rd7, %r2, 4;\n"
        f"{at(2, each='%rd7')}\natom.global.add.f32 %f1, [%rd8], 0f3F800000;\nbar.sync 0;\nld.global.f32 %f2, [%rd8];\n"
        "mov.u32 %r3, %ntid.x;\nmad.lo.s32 %r4, %r2, %r3, %r0;\nmul.wide.u32 %rd7, %r4, 4;\n"
        f"{at(3, each='%rd7')}\nst.global.f32 [%rd8], %f2;\nld.global.f32 %f3, [%rd8];"
    )
    count, sums, seen = np.zeros(1, np.int32), np.zeros(2, np.float32), np.zeros(128, np.float32)
    kernels = build(kernel("commute", body, 3))
    kernels("commute", count, sums, seen, blocks=2, threads=64)
    assert count[0] == 128
    assert sums.tolist() == [64, 64]
    assert set(seen.tolist()) == {64}


def test_warps_part_and_meet_again_and_are_counted(build: Callable[[str], Kernels]) -> None:
    """Thread i of 64 adds 1 to i % 4: i times; then all write once, and read their neighbour's across a barrier."""
    body = (
        f"and.b32 %r1, %r0, 3;\nmov.u32 %r2, 0;\n$L_loop:\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L_done;\n"
        f"add.s32 %r2, %r2, 1;\nsub.s32 %r1, %r1, 1;\nbra.uni $L_loop;\n$L_done:\n"
        f"mov.u32 %r3, room;\nshl.b32 %r4, %r0, 2;\nadd.s32 %r5, %r3, %r4;\nst.shared.u32 [%r5], %r2;\nbar.sync 0;\n"
        f"xor.b32 %r4, %r4, 4;\nadd.s32 %r5, %r3, %r4;\nld.shared.u32 %r6, [%r5];\n{at(1)}\nst.global.u32 [%rd8], %r6;"
    )
    result = sectors(64, np.int32)
    counts = build(kernel("meet", body, more=SHARED))("meet", result, threads=64, counting=True)
    np.testing.assert_array_equal(result, (np.arange(64) ^ 1) % 4)
    # Of a warp: those before the loop, four tests, three rounds, those to the barrier, and the rest.
    assert counts["instructions"] == int(2 * (2.6 + 4 * 2 + 3 * 3 + 4.3 + 6.5))
    assert counts["requests"] == 2
    assert counts["sectors"] == 8
    assert counts["bytes asked"] == 256
    assert (counts["shared"], counts["shared least"]) == (4, 4)


def test_sectors_and_banks_of_strided_accesses(build: Callable[[str], Kernels]) -> None:
    """A stride of 32 bytes takes a sector each, and one of 32 words meets one bank 32 times; four words at once are not worse."""
    body = (
        "mul.wide.u32 %rd7, %r0, 32;\nadd.s64 %rd8, %rd1, %rd7;\nld.global.f32 %f1, [%rd8];\nmov.u32 %r3, room;\n"
        "shl.b32 %r4, %r0, 7;\nadd.s32 %r5, %r3, %r4;\nst.shared.f32 [%r5], %f1;\nbar.sync 0;\nshl.b32 %r4, %r0, 4;\n"
        "add.s32 %r5, %r3, %r4;\nst.shared.v4.f32 [%r5], {%f1, %f1, %f1, %f1};"
    )
    counts = build(kernel("strided", body, more=SHARED.replace("1024", "4096")))(
        "strided", sectors(256, np.float32), counting=True
    )
    assert (counts["requests"], counts["sectors"], counts["bytes asked"]) == (1, 32, 128)
    assert (counts["shared"], counts["shared least"]) == (32 + 4, 1 + 4)


# Of instructions: the type of the operands, of the result, and what numpy makes of edge cases.
F = np.array(
    [0, -0.0, 1, -1.5, 2.5, 3.5, 1e30, -1e30, np.inf, -np.inf, np.nan, 1e-40, 0.3, 7.7, -7.7, 2**31], np.float32
)
N = np.array([0, 1, -1, 7, -7, 31, 32, 33, 2**31 - 1, -(2**31), 100, -100, 255, 65536, 12345678, -12345678], np.int32)
G, M = np.roll(F, 3), np.roll(N, 5)


def each(function: Callable[..., Any], *arrays: np.ndarray, dtype: Any = np.float32) -> np.ndarray:
    return np.array([function(*values) for values in zip(*(array.tolist() for array in arrays))]).astype(dtype)


def clamped(value: float) -> int:
    return 0 if math.isnan(value) else int(max(-(2.0**31), min(2.0**31 - 1, np.trunc(value))))


def exact(value: float, towards: float) -> np.float32:
    """A double rounded to float towards one side."""
    near = np.float32(value)
    if towards == 0:
        return near if abs(float(near)) <= abs(value) else np.nextafter(near, np.float32(0))
    return near if float(near) <= value else np.nextafter(near, np.float32(-np.inf))


def whole(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


SMALL = np.array(
    [0.1, 1.3, -1.7, 1e-3, 12.25, -0.7, 3.3, 1e5, 0.9, -2.2, 5.5, 7.1, 1 / 3, 2 / 3, -1 / 3, 9.9], np.float32
)
LESS = np.roll(SMALL, 7)
with np.errstate(all="ignore"):
    ARITHMETIC: list[tuple[str, Sequence[np.ndarray], np.ndarray]] = [
        ("fma.rn.f32 {d}, {a}, {b}, {b}", (SMALL, LESS), (SMALL.astype(float) * LESS + LESS).astype(np.float32)),
        ("fma.rm.f32 {d}, {a}, {b}, 0f3F800000", (SMALL, LESS), each(lambda a, b: exact(a * b + 1, -1), SMALL, LESS)),
        ("add.rz.f32 {d}, {a}, {b}", (SMALL, LESS), each(lambda a, b: exact(a + b, 0), SMALL, LESS)),
        ("min.f32 {d}, {a}, {b}", (F, G), np.fmin(F, G)),
        ("max.f32 {d}, {a}, {b}", (F, G), np.fmax(F, G)),
        ("copysign.f32 {d}, {a}, {b}", (F, G), np.copysign(G, F)),
        ("abs.f32 {d}, {a}", (F,), np.abs(F)),
        ("cvt.sat.f32.f32 {d}, {a}", (F,), np.nan_to_num(np.clip(F, 0, 1))),
        ("cvt.rni.f32.f32 {d}, {a}", (F,), np.rint(F)),
        ("cvt.rzi.s32.f32 {d}, {a}", (F,), each(clamped, F, dtype=np.int32)),
        ("cvt.rn.f32.s32 {d}, {a}", (N,), N.astype(np.float32)),
        ("div.rn.f32 {d}, {a}, {b}", (F, G), F / G),
        ("mul.hi.s32 {d}, {a}, {b}", (N, M), (N.astype(np.int64) * M >> 32).astype(np.int32)),
        ("mad.lo.s32 {d}, {a}, {b}, {a}", (N, M), each(lambda a, b: whole(a * b + a), N, M, dtype=np.int64).astype(np.int32)),
        ("shl.b32 {d}, {a}, {b}", (N, np.abs(M) % 70), each(lambda a, b: whole(a << b) if b < 32 else 0, N, np.abs(M) % 70, dtype=np.int64).astype(np.int32)),
        ("shr.s32 {d}, {a}, {b}", (N, np.abs(M) % 70), each(lambda a, b: a >> min(b, 31), N, np.abs(M) % 70, dtype=np.int32)),
        ("rem.s32 {d}, {a}, 7", (N,), np.fmod(N, 7)),
        ("div.s32 {d}, {a}, -1", (N,), each(lambda a: whole(-a), N, dtype=np.int64).astype(np.int32)),
        ("popc.b32 {d}, {a}", (N,), each(lambda a: bin(a & 0xFFFFFFFF).count("1"), N, dtype=np.int32)),
        ("brev.b32 {d}, {a}", (N,), each(lambda a: whole(int(f"{a & 0xFFFFFFFF:032b}"[::-1], 2)), N, dtype=np.int64).astype(np.int32)),
        ("bfi.b32 {d}, {a}, {b}, 4, 8", (N, M), each(lambda a, b: whole((b & 0xFFFFF00F) | (a & 255) << 4), N, M, dtype=np.int64).astype(np.int32)),
        ("setp.ltu.f32 %p1, {a}, {b};\nselp.b32 {d}, 1, 0, %p1", (F, G), (~(F >= G)).astype(np.int32)),
        ("setp.ne.f32 %p1, {a}, {b};\nselp.b32 {d}, 1, 0, %p1", (F, G), ((F < G) | (F > G)).astype(np.int32)),
        ("setp.nan.f32 %p1, {a}, {b};\nselp.b32 {d}, 1, 0, %p1", (F, G), (np.isnan(F) | np.isnan(G)).astype(np.int32)),
        ("setp.lt.u32 %p1, {a}, {b};\nselp.b32 {d}, 1, 0, %p1", (N, M), (N.view(np.uint32) < M.view(np.uint32)).astype(np.int32)),
        ("add.cc.u32 %r9, {a}, {b};\naddc.u32 {d}, 0, 0", (N, M), (N.view(np.uint32).astype(np.int64) + M.view(np.uint32) >> 32).astype(np.int32)),
        ("{{ .reg .b16 half;\ncvt.rn.f16.f32 half, {a};\ncvt.f32.f16 {d}, half; }}", (F,), F.astype(np.float16).astype(np.float32)),
        ("mov.b64 %rd7, {{{a}, {b}}};\nmov.b64 {{%r9, {d}}}, %rd7", (N, M), M),
    ]  # fmt: skip


def test_arithmetic_is_that_of_a_gpu(build: Callable[[str], Kernels]) -> None:
    text = []
    for number, (instruction, operands, wanted) in enumerate(ARITHMETIC):
        kinds = ["f32" if array.dtype == np.float32 else "u32" for array in (*operands, wanted)]
        names = [f"%{'f' if kind == 'f32' else 'r'}{i + 1}" for i, kind in enumerate(kinds)]
        lines = [
            f"{at(i + 1)}\nld.global.{kinds[i]} {names[i]}, [%rd8];" for i in range(len(operands))
        ]  # operands, then the result
        lines.append(instruction.format(d=names[-1], a=names[0], b=names[-2]) + ";")
        lines.append(f"{at(len(operands) + 1)}\nst.global.{kinds[-1]} [%rd8], {names[-1]};")
        text.append(kernel(f"of_{number}", "\n".join(lines), len(operands) + 1))
    kernels = build("\n".join(text))
    for number, (instruction, operands, wanted) in enumerate(ARITHMETIC):
        result = np.zeros_like(wanted)
        kernels(f"of_{number}", *map(np.ascontiguousarray, operands), result, threads=len(wanted))
        np.testing.assert_array_equal(result, wanted, err_msg=instruction)


def test_functions_tables_and_local_memory(build: Callable[[str], Kernels]) -> None:
    """A function that adds a table's number to what it is given, called by each thread; and an array of a thread's own."""
    text = """
.global .align 4 .b8 numbers[8] = {1, 0, 0, 0, 44, 1, 0, 0};
.func  (.param .b32 func_retval0) sum(
	.param .b32 sum_param_0
)
{
	.reg .b32 	%r<9>;
	.reg .b64 	%rd<9>;
	ld.param.u32 	%r1, [sum_param_0];
	mov.u64 	%rd1, numbers;
	ld.global.nc.u32 	%r2, [%rd1+4];
	add.s32 	%r3, %r1, %r2;
	st.param.b32 	[func_retval0+0], %r3;
	ret;

}
"""
    body = """{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b32 param0;
	st.param.b32 	[param0+0], %r0;
	.param .b32 retval0;
	call.uni (retval0),
	sum,
	(
	param0
	);
	ld.param.b32 	%r5, [retval0+0];
	} // callseq 0
	mov.u64 	%rd3, room;
	st.local.u32 	[%rd3+4], %r5;
	ld.local.u32 	%r6, [%rd3+4];
"""
    result = np.zeros(32, np.int32)
    more = ".local .align 4 .b8 	room[8];"
    build(text + kernel("calls", f"{body}\n{at(1)}\nst.global.u32 [%rd8], %r6;", more=more))("calls", result)
    np.testing.assert_array_equal(result, np.arange(32) + 300)


def test_an_instruction_that_is_not_known_is_named() -> None:
    with pytest.raises(ptx.Unknown, match=r"the instruction shfl\.sync\.bfly\.b32"):
        ptx_cpp.translated(kernel("unknown", "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;"), counting=False)
