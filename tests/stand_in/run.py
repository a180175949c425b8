"""Runs pytest with PyCUDA on the stand-in for NVIDIA's driver: `python tests/stand_in/run.py [--ptx] [words for pytest]`.
`python tests/stand_in/run.py --build` builds what that needs, and ends.

With --ptx kernels are nvcc's: it compiles them to PTX, which ptx_cpp.py translates and simt.h runs warp by warp; else the host's
compiler makes them of the same text, much faster.

Needs a C++ compiler and pip, no GPU. The headers of CUDA are the toolkit's, or those of NVIDIA's wheels where these are
installed; else the wheels are fetched once. PyCUDA is used where it is installed; else it is built once, which takes a minute
or two. Both go to the user's cache folder. Where any of this cannot be done, and where no kernel has run in the end, that is a
failure: the reason is printed and the exit status is 1.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import stand_in  # noqa: E402

PYCUDA = "pycuda==2026.1"
CUDA = "13.0"  # whose headers are fetched, 8 MB
HEADERS = tuple(f"nvidia-cuda-{part}=={CUDA}.*" for part in ("runtime", "crt", "profiler-api"))
# Tests where no GPU has a part, by their rooms; `python tests` has run them already. "*": all of a room.
HOST = {
    "caffe": "caffe_io caffe_scripts caffe_spec",
    "cli": (
        "command_faults conversion drawing many_pictures evaluation evaluation_command evaluation_shapes net_spec new_user "
        "untrusted_input untrusted_names"
    ),
    "data": "annotations sources transform untrusted_folders untrusted_lists wider_face workers",
    "decoders": "faces known_models published",
    "device": "cache compilers cuda_arguments levels prebuilt threaded threads",
    "examples": "digits shapes",
    "exports": "*",
    "graph": "*",
    "layers": "golden_selection harness",
    "layers/core": "catalogue filler",
    "layers/data": "data_tops",
    "layers/detection": "soft_suppression",
    "layers/regions": "formulas region_safety separable",
    "net": "array_limit corpus memory saved_weights script_views shapes_jsonl weights",
    "ops": "torch_library",
    "project": "annexes benchmarks docs docstrings forks fuzz gate packaging pages portability ptx structure troubleshooting warps",
    "proto": "*",
    "quantize": "*",
    "recipes": "*",
    "reports": "*",
    "run": "int8 plan",
    "serve": "serve serve_connections serve_limits serve_page",
    "train": "best interruptions machine_faults nothing_lost rank_jobs verbs watching",
}
DRIVER = "libcuda.so.1"
LIBRARIES = {
    DRIVER: ("driver.cpp", "state.cpp", "launch.cpp"), "libcublas.so.13": ("cublas.cpp",), "libcudnn.so.9": ("cudnn.cpp",),
    "libnccl.so.2": ("nccl.cpp",),
}  # fmt: skip
WORDS = [
    "-q",
    "-n",
    "2",
    "-o",
    "console_output_style=classic",
    *(f"--ignore-glob=tests/{room}/test_{name}.py" for room, names in HOST.items() for name in names.split()),
]


class CannotRun(Exception):
    """Why the stand-in cannot be used here."""


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "boxpresso" / "stand-in"


def pip(*words: str, environment: dict[str, str] | None = None) -> None:
    """Runs pip; CannotRun with what it said where it fails."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode:
        raise CannotRun(f"{' '.join(command)} failed: {result.stderr[-3000:]}")


def headers() -> Path:
    """The folder of cuda.h: the toolkit's, an installed wheel's, or that of wheels fetched into the cache folder."""
    nvcc = shutil.which("nvcc")
    roots = [os.environ.get("CUDA_HOME"), nvcc and Path(nvcc).resolve().parents[1], "/usr/local/cuda"]
    places = [Path(root) / "include" for root in roots if root]
    for folder in site.getsitepackages():
        places += sorted(Path(folder).glob("nvidia/*/include"))
    for place in places:
        if has_headers(place):
            return place
    place = cache() / f"headers-{CUDA}"
    if not place.exists():
        print(f"fetching the headers of CUDA once, into {place}", file=sys.stderr, flush=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as folder:
            pip("install", "--no-deps", "--target", f"{folder}/wheels", *HEADERS)
            os.replace(f"{folder}/wheels", place)
    for include in sorted(place.glob("nvidia/*/include")):
        if has_headers(include):
            return include
    raise CannotRun(f"cuda.h and cudaProfiler.h are in none of {', '.join(map(str, [*places, place]))}")


def has_headers(place: Path) -> bool:
    return (place / "cuda.h").exists() and (place / "cudaProfiler.h").exists()


def build_driver(include: Path) -> Path:
    """The stand-in for the driver's library, compiled where a text has changed, with those for cuBLAS and cuDNN beside it."""
    texts = b"".join(
        path.read_bytes() for path in sorted([*HERE.glob("*.cpp"), *HERE.glob("*.h"), HERE / "bin" / "nvcc"])
    )
    digest = hashlib.sha256(texts + str(include).encode()).hexdigest()[:16]
    place = cache() / digest
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CXX") or "g++"
        if shutil.which(compiler) is None:
            raise CannotRun(f"there is no C++ compiler {compiler!r}")
        with tempfile.TemporaryDirectory(dir=place.parent) as folder:
            for name, sources in LIBRARIES.items():
                command = [compiler, "-std=c++17", "-O2", "-fPIC", "-shared", f"-I{include}", *(str(HERE / source) for source in sources),
                           "-o", f"{folder}/built-{name}", f"-Wl,-soname,{name}", "-ldl", "-lrt"]  # fmt: skip
                result = subprocess.run(command, capture_output=True, text=True)
                if result.returncode:
                    raise CannotRun(f"{' '.join(command)} failed: {result.stderr[-3000:]}")
            built = Path(folder) / "all"
            built.mkdir()
            (built / "libraries").mkdir()
            for name in LIBRARIES:
                os.replace(f"{folder}/built-{name}", built / name if name == DRIVER else built / "libraries" / name)
            prelude = [sys.executable, str(HERE / "bin" / "nvcc"), "--prelude", str(built / "prelude.h")]
            if subprocess.run(prelude).returncode:
                raise CannotRun(f"{' '.join(prelude)} failed")
            with suppress(OSError):  # another run has made it meanwhile
                os.replace(built, place)
    return place / DRIVER


def build_pycuda(include: Path, driver: Path) -> Path:
    """A folder with PyCUDA and what it needs, for this Python, built from source against the stand-in."""
    place = cache() / f"{PYCUDA.replace('==', '-')}-{sys.implementation.cache_tag}"
    if place.exists():
        return place
    print(f"building {PYCUDA} once, into {place}", file=sys.stderr, flush=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        work = Path(folder)
        (work / "lib").mkdir()
        (work / "lib" / "libcuda.so").symlink_to(driver)
        (work / ".aksetup-defaults.py").write_text("CUDA_ENABLE_CURAND = False\n")  # PyCUDA's setup reads it from HOME
        environment = {
            "XDG_CONFIG_HOME": str(Path.home() / ".config"),  # pip's own settings stay those of the user
            "XDG_CACHE_HOME": str(Path.home() / ".cache"),
            **os.environ,
            "HOME": folder,
            "CPATH": str(include),
            "LIBRARY_PATH": str(work / "lib"),
            "CUDA_ROOT": str(include.parent),
        }
        pip("wheel", "--no-deps", "--no-binary", "pycuda", "-w", folder, PYCUDA, environment=environment)
        pip("install", "--target", str(work / "built"), "--find-links", folder, PYCUDA, environment=environment)
        with suppress(OSError):  # another run has made it meanwhile
            os.replace(work / "built", place)
    return place


def environment(report: Path) -> dict[str, str]:
    """The environment of a process that sees two stand-in GPUs."""
    include = headers()
    driver = build_driver(include)
    variables = {
        **os.environ,
        "LD_PRELOAD": str(driver),
        "LD_LIBRARY_PATH": f"{driver.parent / 'libraries'}{os.pathsep}{os.environ.get('LD_LIBRARY_PATH', '')}",
        "PATH": f"{HERE / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "BOXPRESSO_DEBUG": "1",  # no pool, so that each array has red zones of its own, and errors where they are made
        "STAND_IN_REPORT": str(report),
        "STAND_IN_PYTHON": sys.executable,
        "STAND_IN_PRELUDE": str(driver.parent / "prelude.h"),
    }
    for name in ("CUDA_HOME", "CUDA_PATH"):  # whose nvcc would be taken before PATH's
        variables.pop(name, None)
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    probe = [sys.executable, "-c", "import pycuda.driver"]
    if subprocess.run(probe, env=variables, capture_output=True).returncode:
        paths.insert(0, str(build_pycuda(include, driver)))
    variables["PYTHONPATH"] = os.pathsep.join(paths)
    result = subprocess.run(probe, env=variables, capture_output=True, text=True)
    if result.returncode:
        raise CannotRun(f"{PYCUDA} cannot be imported with the stand-in for its driver: {result.stderr[-3000:]}")
    return variables


def counted(report: Path) -> tuple[Counter[str], Counter[str]]:
    """What all processes of the run have counted, and the launches of each kernel."""
    total, kernels = Counter[str](), Counter[str]()
    for line in report.read_text().splitlines() if report.exists() else ():
        words = [word.rpartition("=") for word in line.split()]  # numbers, then kernel=launches
        numbers = [int(value) for name, _, value in words if not name]
        total.update(dict(zip(stand_in.NAMES, numbers, strict=True)))
        kernels.update({name: int(value) for name, _, value in words if name})
    return total, kernels


def through_ptx(variables: dict[str, str]) -> None:
    """Has kernels compiled by the real nvcc to PTX, which ptx.py translates and simt.h runs warp by warp."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise CannotRun("there is no nvcc on PATH")
    texts = b"".join(
        (HERE / name).read_bytes()
        for name in (*sorted(path.name for path in HERE.glob("ptx*.py")), "simt.h", "translated.h", "bin/nvcc")
    )
    counted = "-counted" if "STAND_IN_PROFILE" in os.environ else ""
    variables["STAND_IN_NVCC"] = nvcc
    variables["BOXPRESSO_CACHE"] = str(cache() / f"ptx{counted}-{hashlib.sha256(texts).hexdigest()[:16]}")


def main(words: list[str]) -> int:
    ptx = words[:1] == ["--ptx"]
    words = words[ptx:]
    whole = not words
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "counts"
        try:
            variables = environment(report)
            if words == ["--build"]:
                return 0
            if ptx:
                through_ptx(variables)
        except CannotRun as error:
            return failed(f"the stand-in for the CUDA driver cannot run here: {error}")
        real = "--ignore=tests/device/test_nvcc.py"  # of the real nvcc
        if whole:
            words = WORDS if ptx or os.environ.get("BOXPRESSO_SWEEP") == "1" else [*WORDS, "--half"]
        command = [sys.executable, "-m", "pytest", real, *words]
        code = subprocess.run(command, env=variables, cwd=HERE.parents[1]).returncode
        total, kernels = counted(report)
        print(
            f"stand-in: {len(kernels)} kernels, {total['launches']} launches, {total['to_device']} copies to the device, "
            f"{total['to_host']} to the host, {total['allocated']} allocations, {total['faults']} faults"
        )
        if not code and whole and not kernels:
            return failed("no kernel has run on the stand-in for the CUDA driver")
        return code


def failed(reason: str) -> int:
    """Says why, here and in the table of `python tests`."""
    print(reason, file=sys.stderr, flush=True)
    if path := os.environ.get("BOXPRESSO_TEST_REPORT"):
        Path(path).write_text(json.dumps({"reason": reason}))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
