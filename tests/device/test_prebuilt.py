"""Kernels that are compiled ahead: for which CPU they are, which of them a process takes, and when none."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from places import ROOT

from boxpresso.device import build, compiler, host, levels, prebuilt
from boxpresso.device.chain import CHAIN
from boxpresso.device.kernel import Kernels
from boxpresso.device.signature import HEADERS
from boxpresso.layers.core.lowering import BF16
from boxpresso.layers.neuron.relu import ReLU
from boxpresso.proto.errors import DeviceError

sys.path.insert(0, str(ROOT / "packaging"))
ZEN4 = [
    "cx16",
    "lahf_lm",
    "popcnt",
    "pni",
    "ssse3",
    "sse4_1",
    "sse4_2",
    "avx",
    "avx2",
    "bmi1",
    "bmi2",
    "f16c",
    "fma",
    "abm",
    "movbe",
]
AVX512 = ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]
AMX = ["avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16", "amx_int8"]
USE = """
    import sys
    from pathlib import Path
    from boxpresso.device import prebuilt
    prebuilt.FOLDER = Path({folder!r})
    import numpy as np
    from boxpresso.device import open_device
    from boxpresso.layers.neuron.relu import ReLU
    {before}
    x = np.array([-1, 2], np.float32)
    device = open_device("cpu")
    device.schedule.always_all = True
    ReLU.kernels.on(device).relu_forward(2, x, x, 0.5, np.inf)
    ahead = ".so" in str([one.library._name for one in device.libraries.values() if one.suffix])
    print(x.tolist(), "ahead" if ahead else "compiled here", device.describe(), sep="; ")
"""


@pytest.fixture
def x86(monkeypatch: pytest.MonkeyPatch) -> None:
    """An x86-64 of Linux, whatever this machine is."""
    monkeypatch.setattr(levels, "machine", lambda: "x86_64")
    monkeypatch.setattr(levels.sys, "platform", "linux")
    monkeypatch.setattr(levels, "permitted", lambda: True)
    monkeypatch.delenv("BOXPRESSO_CPU", raising=False)


def has(monkeypatch: pytest.MonkeyPatch, *features: str) -> None:
    monkeypatch.setattr(levels, "listed", lambda: frozenset(features))


@pytest.mark.parametrize(
    ("features", "best"),
    [
        ([], []),
        (ZEN4[:7], ["v2"]),
        (ZEN4[:8], ["v2"]),
        (ZEN4, ["v3", "v2"]),
        ([f for f in ZEN4 if f != "fma"] + AVX512, ["v2"]),  # a system that hides a part of a level
        ([*ZEN4, *AVX512[:-1]], ["v3", "v2"]),
        ([*ZEN4, *AVX512, "avx512_vnni"], ["v4", "v3", "v2"]),
        ([*ZEN4, *AVX512, "avx512_vnni", "avx512_bf16"], ["v4-bf16", "v4", "v3", "v2"]),
        ([*ZEN4, *AVX512, *AMX[:-1]], ["v4-bf16", "v4", "v3", "v2"]),
        ([*ZEN4, *AVX512, *AMX], ["v4-amx", "v4-bf16", "v4", "v3", "v2"]),
    ],
)
def test_what_a_cpu_offers(features, best, x86, monkeypatch):
    has(monkeypatch, *features)
    assert [level.name for level in levels.ladder()] == best


def test_tiles_that_the_system_refuses(x86, monkeypatch):
    """The CPU lists them; -march=native would use them."""
    has(monkeypatch, *ZEN4, *AVX512, *AMX)
    assert levels.march(("g++",)) == ("-march=native",)
    monkeypatch.setattr(levels, "permitted", lambda: False)
    assert [level.name for level in levels.ladder()] == ["v4-bf16", "v4", "v3", "v2"]
    assert levels.march(("g++",)) == ("-march=native", "-DUNTILED")
    monkeypatch.setenv("BOXPRESSO_CPU", "v4-amx")
    with pytest.raises(DeviceError, match=r"'v4-amx', but .* lacks amx_tile; the most that it offers is v4-bf16"):
        levels.ladder()


@pytest.mark.parametrize("answer", [0, -1])
def test_linux_is_asked_for_tiles(answer, monkeypatch):
    """By arch_prctl, 158 of x86-64: the request 0x1023 of state 18."""
    asked = []

    def syscall(*words: ctypes.c_long) -> int:
        asked.append([word.value for word in words])
        return answer

    monkeypatch.setattr(levels.ctypes, "CDLL", lambda name: SimpleNamespace(syscall=syscall))
    assert levels.permitted.__wrapped__() == (answer == 0)
    assert asked == [[158, 0x1023, 18]]


@pytest.mark.skipif(sys.platform != "linux" or levels.machine() != "x86_64", reason="asks Linux on x86-64")
def test_what_linux_grants_is_what_it_lists():
    """Where its list has no tiles it grants none."""
    assert levels.has(levels.TILES) or levels.TILES not in levels.listed()
    assert not levels.permitted() or levels.TILES in levels.listed()


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_tiles_are_for_linux_alone(system, x86, monkeypatch):
    monkeypatch.setattr(levels.sys, "platform", system)
    assert levels.levels()[-1].name == "v4-bf16"
    assert levels.untiled() == ("-DUNTILED",)
    for target in ("x86_64-windows-gnu", "x86_64-macos.11.0", "win_amd64", "macosx_11_0_x86_64"):
        assert not levels.LEVELS["x86_64"][-1].on(target)
    for target in ("x86_64-linux-gnu", "manylinux_2_28_x86_64"):
        assert levels.LEVELS["x86_64"][-1].on(target)


def test_what_is_asked_for(x86, monkeypatch):
    has(monkeypatch, *ZEN4)
    monkeypatch.setenv("BOXPRESSO_CPU", "v2")
    assert [level.name for level in levels.ladder()] == ["v2"]
    assert levels.march(("g++",)) == ("-march=x86-64-v2",)
    assert levels.march((sys.executable, "-m", "ziglang", "c++")) == ("-mcpu=x86_64_v2",)
    monkeypatch.setenv("BOXPRESSO_CPU", "native")
    assert levels.ladder() == []
    assert levels.march(("g++",)) == ("-march=native",)
    monkeypatch.setenv("BOXPRESSO_CPU", "v4")
    with pytest.raises(
        DeviceError, match=r"'v4', but this CPU, or .* lacks avx512f, .*; the most that it offers is v3"
    ):
        levels.ladder()
    monkeypatch.setenv("BOXPRESSO_CPU", "native2")
    with pytest.raises(DeviceError, match="must be v2, v3, v4, v4-bf16, v4-amx or native; did you mean 'native'"):
        host.Cpu()


def test_a_level_is_asked_for_once_in_a_process(x86, monkeypatch):
    """Kernels of v3 found what those of v4-bf16 had rounded to 16 bits, and did nothing with it."""
    has(monkeypatch, *ZEN4)
    monkeypatch.setenv("BOXPRESSO_CPU", "native")
    cpu = host.Cpu()
    monkeypatch.setenv("BOXPRESSO_CPU", "v2")
    with pytest.raises(
        DeviceError, match=r"asks for kernels of v2, .* has begun with those of this CPU, .*before the first"
    ):
        cpu.build(ReLU.kernels, np.float32)


def test_an_arm_whose_emulator_lists_another_cpu(monkeypatch):
    """As qemu-user does, and so containers for ARM on an x86-64."""
    monkeypatch.setattr(levels, "machine", lambda: "aarch64")
    monkeypatch.setattr(levels.sys, "platform", "linux")
    monkeypatch.delenv("BOXPRESSO_CPU", raising=False)
    has(monkeypatch, *ZEN4)
    assert [level.name for level in levels.ladder()] == ["neon"]


@pytest.mark.parametrize(
    ("first", "second", "best"), [(0, 1 << 14, "neon"), (1 << 20, 0, "dotprod"), (1 << 20, 1 << 14, "bf16")]
)
def test_an_arm_is_asked_by_the_bits_that_a_program_starts_with(first, second, best, monkeypatch):
    """Linux's AT_HWCAP and AT_HWCAP2, which an emulator sets for the CPU that it is told to be."""
    monkeypatch.setattr(levels, "machine", lambda: "aarch64")
    monkeypatch.setattr(levels.sys, "platform", "linux")
    monkeypatch.delenv("BOXPRESSO_CPU", raising=False)

    def getauxval(word: int) -> int:
        return {16: first, 26: second}[word]

    monkeypatch.setattr(levels.ctypes, "CDLL", lambda name: SimpleNamespace(getauxval=getauxval))
    monkeypatch.setattr(levels, "listed", levels.listed.__wrapped__)
    assert levels.ladder()[0].name == best
    cross = ("aarch64-linux-gnu-g++",)  # which knows no -march=native
    assert levels.march(cross) == levels.offered()[-1].flags(cross)


@pytest.mark.parametrize(
    ("command", "crosses"),
    [
        (("g++",), False),
        (("/usr/bin/clang++-19",), False),
        (("ccache", "g++-13"), False),
        (("python", "-m", "ziglang", "c++"), False),
        (("python", "-m", "ziglang", "c++", "-target", "x86_64-linux-gnu"), True),
        (("clang++", "--target=aarch64-linux-gnu"), True),
        (("ccache", "/opt/bin/x86_64-conda-linux-gnu-c++"), True),
    ],
)
def test_a_compiler_that_is_named_for_a_machine(command, crosses, x86, monkeypatch):
    """It is never told -march=native, which it refuses, or which means the machine that compiles."""
    has(monkeypatch, *ZEN4)
    v3 = next(level for level in levels.LEVELS["x86_64"] if level.name == "v3")
    assert levels.march(command) == (v3.flags(command) if crosses else ("-march=native",))
    has(monkeypatch)  # a CPU that no level is for
    assert levels.march(command) == (() if crosses else ("-march=native",))


def test_where_nothing_is_listed(x86, monkeypatch):
    """No /proc: the least level, which every CPU of the last fifteen years has."""
    monkeypatch.setattr(levels.Path, "read_text", lambda *a, **k: (_ for _ in ()).throw(FileNotFoundError()))
    monkeypatch.setattr(levels, "listed", levels.listed.__wrapped__)
    assert [level.name for level in levels.ladder()] == ["v2"]


@pytest.mark.skipif(sys.platform != "linux" or levels.machine() != "x86_64", reason="asks the compiler of an x86-64")
def test_the_cpu_has_what_its_level_lets_a_compiler_use():
    """The machine's own flags and the compiler's agree: what -march=native has is no less than the level."""
    if "ziglang" in compiler.compiler():
        pytest.skip("zig names features in its own way")

    def macros(*flags: str) -> set[str]:
        command = [*compiler.compiler(), *flags, "-dM", "-E", "-x", "c++", os.devnull]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return set(re.findall(r"#define (__(?:AMX|AVX|SSE|FMA|F16C|BMI|LZCNT|POPCNT|MOVBE)\w*) ", text))

    native = macros("-march=native")
    for level in levels.offered():
        assert macros(*level.flags(compiler.compiler())) <= native


def test_texts_of_a_level():
    """Only what asks for the instructions of the last level is compiled for it once more."""
    *lower, bf16, amx = levels.LEVELS["x86_64"]
    assert bf16.changes(b"".join(BF16.texts))
    assert not bf16.changes(b"".join(ReLU.kernels.texts))
    assert all(level.changes(b"") for level in lower)
    files = {kernels.path.name for kernels in build.declared() if amx.changes(b"".join(kernels.texts))}
    assert files == {"convolution_bf16.cpp", "convolution_int8.cpp", "convolution_pairs.cpp", "winograd_bf16.cpp"}


ASKS = """
#include "kernel.h"
KERNEL asks(int n, Real* y) {
#if defined(__AVX512BF16__) || defined(__ARM_FEATURE_BF16)
  GRID_LOOP(i, n) y[i] = 3;
#elif defined(__ARM_FEATURE_DOTPROD)
  GRID_LOOP(i, n) y[i] = 2;
#else
  GRID_LOOP(i, n) y[i] = 1;
#endif
}
"""


def asking(folder: Path) -> Kernels:
    """A small text that every level compiles: it asks for what the last ones of a machine have."""
    (folder / "asks.cu").write_text(ASKS)
    return Kernels(folder / "asks.cu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Libraries of the least level and the last that this machine offers, of a few kernels."""
    offered = levels.offered()
    if not offered:
        pytest.skip(f"no level is defined for {levels.machine()}, or this CPU is less than all")
    made = tmp_path_factory.mktemp("prebuilt")
    files = [(kernels, "float") for kernels in (ReLU.kernels, CHAIN, host.WORKERS)]
    build.build_cpu(",".join({offered[0].name, offered[-1].name}), files, made, 2)
    return made


def use(folder: Path, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """In a process without a compiler, a home or a cache."""
    environment = {"PATH": "/nowhere", "HOME": "/nowhere", "XDG_CACHE_HOME": os.devnull, **environment}
    keep = {name: os.environ[name] for name in ("PYTHONPATH", "LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(USE).format(folder=str(folder), before=before)],
        env={**keep, "PYTHONPATH": str(HEADERS.parents[1]), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


HIDDEN = 'sys.modules["ziglang"] = None; import importlib.util; importlib.util.find_spec = lambda name: None'


def test_no_compiler_no_home_no_cache(folder, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    result = use(folder, HIDDEN, TMPDIR=str(temporary))
    best = [level for level in levels.offered() if (folder / f"{level}.so").exists()][-1]
    assert result.stdout.startswith("[-0.5, 2.0]; ahead; cpu: "), result.stderr
    assert f"kernels of {best} compiled ahead; others cannot be compiled: no C++ compiler found" in result.stdout
    assert result.stderr == ""  # no warning about a cache
    assert not list(temporary.iterdir())
    least = levels.offered()[0].name
    assert f"kernels of {least} compiled ahead" in use(folder, HIDDEN, BOXPRESSO_CPU=least).stdout


LOADED = """import atexit; atexit.register(lambda: print([line.split()[-1] for line in open("/proc/self/maps") if "x" in line.split()[1]]))"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_is_written_and_nothing_runs_from_where_a_user_may_write(folder, tmp_path):
    """Though there are a compiler, a home and a cache. Where kernels are compiled, both are seen."""
    places = {name: str(tmp_path) for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR")}
    result = use(folder, LOADED, PATH=os.environ["PATH"], **places)
    assert f"{folder}{os.sep}" in result.stdout, result.stderr
    assert str(tmp_path) not in result.stdout
    assert not list(tmp_path.iterdir())
    result = use(folder, LOADED, PATH=os.environ["PATH"], BOXPRESSO_CPU="native", **places)
    assert f"{tmp_path}/boxpresso/relu-float-" in result.stdout, result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads an ELF file")
def test_a_library_asks_for_the_c_library_alone(folder):
    """For no OpenMP, which a machine may lack, nor the C++ library, which may be older than the compiler's."""
    import wheels

    for path in folder.glob("*.so"):
        assert wheels.lacking(path.read_bytes()) == []
    assert wheels.lacking(b"\x7fELF\0libc.so.6\0libgomp.so.1\0libstdc++.so.6\0") == ["libgomp.so.1", "libstdc++.so.6"]


@pytest.mark.parametrize("before", ["", "ReLU.kernels.options = ('-DOTHER',)", "changed"])
def test_another_text_is_compiled(folder, before, tmp_path):
    """A kernel that was edited in its place, or has other options; and all where the CPU of this machine is asked for."""
    environment = {"PATH": os.environ["PATH"], "BOXPRESSO_CACHE": str(tmp_path), "BOXPRESSO_CPU": ""}
    if not before:
        environment["BOXPRESSO_CPU"] = "native"
    elif before == "changed":
        edited = tmp_path / "relu.cu"
        edited.write_bytes(ReLU.kernels.path.read_bytes() + b"\n// another\n")
        before = f"ReLU.kernels.name = Path({str(edited)!r})"
    result = use(folder, before, **environment)
    assert result.stdout.startswith("[-0.5, 2.0]; "), result.stderr
    assert list(tmp_path.glob("relu-float-*.so"))
    assert ("; compiled here; " in result.stdout) == (
        environment["BOXPRESSO_CPU"] == "native"
    )  # the threads are the same


def test_a_text_of_ones_own_without_a_compiler(folder, tmp_path):
    own = tmp_path / "relu.cu"
    own.write_bytes(ReLU.kernels.path.read_bytes() + b"\n// another\n")
    result = use(folder, f"{HIDDEN}; ReLU.kernels.name = Path({str(own)!r})", XDG_CACHE_HOME=str(tmp_path))
    assert "DeviceError: relu.cu is not among the kernels that were compiled ahead" in result.stderr
    assert "no C++ compiler found" in result.stderr


def test_a_level_holds_what_the_one_before_has_not(tmp_path):
    """The last level is built of what asks for it alone, unless it is built without the one before."""
    known = levels.LEVELS["x86_64"][:-1]  # up to v4-bf16
    if build.target().partition("-")[0] != "x86_64":
        pytest.skip("the compiler is for another machine")
    files = [(asking(tmp_path), "float"), (ReLU.kernels, "float")]
    build.build_cpu(f"{known[-2]},{known[-1]}", files, tmp_path / "both", 2)
    build.build_cpu(known[-1].name, files, tmp_path / "alone", 2)

    def names(path: Path) -> set[str]:
        keys = {kernels.path.stem: prebuilt.suffix(compiler.prebuilt_key(kernels, real)) for kernels, real in files}
        return {name for name, key in keys.items() if f"connect_kernels{key}".encode() in path.read_bytes()}

    assert names(tmp_path / "both" / "v4.so") == {"asks", "relu"}
    assert names(tmp_path / "both" / "v4-bf16.so") == {"asks"}
    assert names(tmp_path / "alone" / "v4-bf16.so") == {"asks", "relu"}
    (tmp_path / "both" / "v4-bf16.so").unlink()
    build.build_cpu(known[-1].name, files, tmp_path / "both", 2)  # later, beside the one before
    assert names(tmp_path / "both" / "v4-bf16.so") == {"asks"}
    if known[-1] in levels.offered():  # what is taken of each is what the level's CPU may have
        run = f"run_asks{prebuilt.suffix(compiler.prebuilt_key(*files[0]))}"
        y = np.zeros(2, np.float32)
        for i, name in enumerate(("v4.so", "v4-bf16.so")):
            library = ctypes.CDLL(str(tmp_path / "both" / name))
            assert library[run](1, 1, ctypes.c_void_p(y[i:].ctypes.data)) == 0
        assert y.tolist() == [1, 3]


TWICE = """
#include "kernel.h"
struct Size {
  __attribute__((noinline, noipa)) void times(void* x) const { *(Real*)x *= sizeof(Real); }  // a name that says nothing of Real
};
KERNEL size_of(int n, Real* y) {
  GRID_LOOP(i, n) Size().times(y + i);
}
"""


def test_texts_of_one_library_share_no_function(tmp_path):
    """A linker takes one for all that have its name: of the same text in other numbers, or of two structs of one name."""
    (tmp_path / "size.cu").write_text(TWICE)
    (tmp_path / "other.cu").write_text(TWICE.replace("sizeof(Real)", "-1"))
    jobs = [(Kernels(tmp_path / name), real) for name in ("size.cu", "other.cu") for real in ("float", "double")]
    level = levels.offered()[0]
    build.build_cpu(level.name, jobs, tmp_path, 1)
    library = ctypes.CDLL(str(tmp_path / f"{level}.so"))
    results = []
    for job in jobs:
        y = np.ones(1, np.float32 if job[1] == "float" else np.float64)
        run = getattr(library, f"run_size_of{prebuilt.suffix(compiler.prebuilt_key(*job))}")
        assert run(1, 1, ctypes.c_void_p(y.ctypes.data)) == 0
        results.append(y[0])
    assert results == [4, 8, -1, -1]


KEYS = """
    from boxpresso.device import build, compiler
    for job in build.jobs(build.declared(), ["float", "half"]):
        print(job[0].path.name, job[1], compiler.prebuilt_key(*job), compiler.library_path(*job).name)
"""


@pytest.mark.later
def test_keys_do_not_hold_the_folder_of_a_clone(tmp_path):
    """Two clones share a cache, and a wheel's kernels serve wherever it is installed."""
    empty = tmp_path / "empty"  # a program's own folder is looked into first
    empty.mkdir()
    shutil.copytree(HEADERS.parent, tmp_path / "boxpresso", ignore=shutil.ignore_patterns("__pycache__", "prebuilt"))
    said = [
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(KEYS)],
            env={**os.environ, "PYTHONPATH": str(root)},
            cwd=empty,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for root in (HEADERS.parents[1], tmp_path)
    ]
    assert "relu.cu float " in said[0]
    assert said[0] == said[1]


MACHINES = {
    "aarch64-linux-gnu.2.28": (b"\x7fELF", 18, 183),
    "x86_64-windows-gnu": (b"MZ", 0, 0),
    "aarch64-macos.11.0": (b"\xcf\xfa\xed\xfe", 4, 12),
}


@pytest.fixture
def zig(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A system that zig compiles for."""
    pytest.importorskip("ziglang", reason="the ziglang wheel is not installed (pip install ziglang)")
    monkeypatch.setattr(
        compiler, "compiler", lambda: (sys.executable, "-m", "ziglang", "c++", "-target", request.param)
    )
    return request.param


def check_machine(path: Path, system: str) -> None:
    magic, at, number = MACHINES[system]
    if path.suffix == ".o" and magic == b"MZ":
        magic = b"\x64\x86"  # an object has its machine at the start
    data = path.read_bytes()
    assert data.startswith(magic)
    assert data[at] == number or not at


@pytest.mark.later
@pytest.mark.parametrize("zig", ["aarch64-macos.11.0", "x86_64-windows-gnu"], indirect=True)
def test_zig_has_its_own_names_for_cpus(zig, tmp_path):
    """Every level. Not linked: zig would first build a C++ library for each system, which is left to the sweep."""
    known = levels.LEVELS[zig.partition("-")[0]]
    for level in known:
        build.compile_object((asking(tmp_path), "float"), level, tmp_path / f"{level}.o")
        check_machine(tmp_path / f"{level}.o", zig)
    assert len({path.read_bytes() for path in tmp_path.glob("*.o")}) == len(known)  # each has code of its own


@pytest.mark.sweep
@pytest.mark.parametrize("zig", MACHINES, indirect=True)
def test_zig_builds_for_other_systems(zig, tmp_path):
    """Every level of theirs, by one command: its linker has its own names for options, too."""
    asks = asking(tmp_path)
    build.build_cpu("all", [(asks, "float"), (ReLU.kernels, "float")], tmp_path / "made", 2)
    known = levels.LEVELS["aarch64" if "aarch64" in zig else "x86_64"]
    asked = [level.name for level in known if not level.asks or level.changes(b"".join(asks.texts))]
    assert {path.stem for path in (tmp_path / "made").iterdir()} == set(asked)
    for path in (tmp_path / "made").iterdir():
        check_machine(path, zig)


def test_the_command(capsys, tmp_path):
    assert build.main(["--cpu", "v9", "--into", str(tmp_path)]) == 1
    assert "has no level 'v9': choose from " in capsys.readouterr().err
    with pytest.raises(SystemExit):
        build.main([])
    assert "name a GPU's architecture with --arch, or levels of CPUs with --cpu" in capsys.readouterr().err


def test_every_file_of_kernels_is_built():
    files = {kernels.path for kernels in build.declared()}
    assert files == {*HEADERS.parent.rglob("*.cu"), *HEADERS.parent.rglob("*.cpp")}
    assert np.dtype(np.float32) in host.SCALARS
