"""Runs pytest with PyCUDA on the stand-in for NVIDIA's driver: `python tests/stand_in/run.py [words for pytest]`.

Needs the headers of CUDA (the toolkit's, or the wheels nvidia-cuda-runtime and nvidia-cuda-profiler-api) and a C++
compiler, no GPU. PyCUDA is used where it is installed; else it is built once, which takes a minute or two, and kept in
the user's cache folder. Where that cannot be done the reason is printed and the exit status is 0.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import stand_in  # noqa: E402

PYCUDA = "pycuda==2026.1"
# Tests where no GPU has a part; `python tests` has run them already.
HOST = (
    "conversion", "corpus_parse", "data_transform", "data_workers", "drawing", "example_digits", "example_shapes", "filler",
    "prepare", "region_safety", "structure", "text", "threaded", "upgrade", "weights",
)  # fmt: skip
WORDS = ["-q", "-n", "2", "-m", "not slow", *(f"--ignore=tests/test_{name}.py" for name in HOST)]


class CannotRun(Exception):
    """Why the stand-in cannot be used here."""


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "boxpresso" / "stand-in"


def headers() -> Path:
    """The folder of cuda.h."""
    nvcc = shutil.which("nvcc")
    roots = [os.environ.get("CUDA_HOME"), nvcc and Path(nvcc).resolve().parents[1], "/usr/local/cuda"]
    places = [Path(root) / "include" for root in roots if root]
    for folder in site.getsitepackages():
        places += sorted(Path(folder).glob("nvidia/*/include"))
    for place in places:
        if (place / "cuda.h").exists() and (place / "cudaProfiler.h").exists():
            return place
    raise CannotRun(f"cuda.h and cudaProfiler.h were not found in {', '.join(map(str, places))}")


def build_driver(include: Path) -> Path:
    """The stand-in library, compiled where its text has changed."""
    source = HERE / "driver.cpp"
    digest = hashlib.sha256(source.read_bytes() + str(include).encode()).hexdigest()[:16]
    made = cache() / digest / "libcuda.so.1"
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        part = made.with_name(f"{os.getpid()}.tmp")
        command = [os.environ.get("CXX") or "g++", "-std=c++17", "-O2", "-fPIC", "-shared", f"-I{include}", str(source),
                   "-o", str(part), "-Wl,-soname,libcuda.so.1", "-ldl"]  # fmt: skip
        if shutil.which(command[0]) is None:
            raise CannotRun(f"there is no C++ compiler {command[0]!r}")
        subprocess.run(command, check=True)
        os.replace(part, made)
    return made


def build_pycuda(include: Path, driver: Path) -> Path:
    """A folder with PyCUDA and what it needs, for this Python, built from source against the stand-in."""
    place = cache() / f"{PYCUDA.replace('==', '-')}-{sys.implementation.cache_tag}"
    if place.exists():
        return place
    print(f"building {PYCUDA} once, into {place}", flush=True)
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
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
        for command in (
            [*pip, "wheel", "--no-deps", "--no-binary", "pycuda", "-w", folder, PYCUDA],
            [*pip, "install", "--target", str(work / "made"), "--find-links", folder, PYCUDA],
        ):
            result = subprocess.run(command, env=environment, capture_output=True, text=True)
            if result.returncode:
                raise CannotRun(f"{PYCUDA} cannot be built: {' '.join(command)}\n{result.stderr[-3000:]}")
        os.replace(work / "made", place)
    return place


def environment(report: Path) -> dict[str, str]:
    """The environment of a process that sees two stand-in GPUs."""
    include = headers()
    driver = build_driver(include)
    made = {
        **os.environ,
        "LD_PRELOAD": str(driver),
        "PATH": f"{HERE / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "BOXPRESSO_CACHE": str(cache() / "kernels"),
        "BOXPRESSO_DEBUG": "1",  # no pool, so that each array has red zones of its own, and errors where they are made
        "STAND_IN_REPORT": str(report),
    }
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    tried = subprocess.run([sys.executable, "-c", "import pycuda.driver"], env=made, capture_output=True)
    if tried.returncode:
        paths.insert(0, str(build_pycuda(include, driver)))
    return {**made, "PYTHONPATH": os.pathsep.join(paths)}


def summary(report: Path) -> str:
    """One line of what all processes of the run have counted."""
    total, kernels = Counter(), Counter()
    for line in report.read_text().splitlines() if report.exists() else ():
        words = [word.rpartition("=") for word in line.split()]  # numbers, then kernel=launches
        numbers = [int(value) for name, _, value in words if not name]
        total.update(dict(zip(stand_in.NAMES, numbers, strict=True)))
        kernels.update({name: int(value) for name, _, value in words if name})
    return (
        f"stand-in: {len(kernels)} kernels, {total['launches']} launches, {total['to_device']} copies to the device, "
        f"{total['to_host']} to the host, {total['allocated']} allocations, {total['faults']} faults"
    )


def main(words: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "counts"
        try:
            made = environment(report)
        except CannotRun as error:
            print(f"the stand-in for the CUDA driver cannot run here: {error}")
            return 0
        real = "--ignore=tests/test_nvcc.py"  # of the real nvcc
        command = [sys.executable, "-m", "pytest", real, *(words or WORDS)]
        code = subprocess.run(command, env=made, cwd=HERE.parents[1]).returncode
        print(summary(report))
        return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
