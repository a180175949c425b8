"""Which of several copies of NVIDIA's libraries is used. The loader is real; the libraries have the names of their functions alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

from boxpresso.device.prototypes import CUBLAS, CUDNN

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("g++") is None, reason="needs Linux and g++, to make libraries"
)
NAMES = {"cublas": CUBLAS, "cudnn": CUDNN}
# Finds both libraries with a driver of that CUDA, twice, and says which files they are; then what was warned.
PROGRAM = """
import ctypes, sys, warnings
from boxpresso.device import cublas, cudnn, libraries
class Told(ctypes.Structure):  # Dl_info
    _fields_ = [("file", ctypes.c_char_p), *((name, ctypes.c_void_p) for name in ("base", "name", "at"))]
def file_of(library, function):
    told = Told()
    assert ctypes.CDLL(None).dladdr(ctypes.cast(getattr(library, function), ctypes.c_void_p), ctypes.byref(told))
    return told.file.decode()
def ours(candidates):  # this machine may have NVIDIA's own
    return lambda *args: (each for each in candidates(*args) if hasattr(each, "nothing"))
folders = libraries.folders
libraries.folders = lambda name: [place for place in folders(name) if str(place).startswith({room!r})]
libraries.loaded, libraries.installed = ours(libraries.loaded), ours(libraries.installed)
libraries.driver_version = lambda: int({driver} * 1000)
before = [ctypes.CDLL(path) for path in {before!r}]
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for name, module, function in (("cublas", cublas, "cublasGetProperty"), ("cudnn", cudnn, "cudnnGetVersion")):
        for _ in range(2):
            one = module.library()
            module.library.cache_clear()
        print(one and file_of(one, function))
        print(libraries.described(name, one, "1", "this", "that"))
for each in seen:
    print(each.message)
"""


def make(file: Path, cuda: int, lacks: str = "") -> Path:
    """A library of that CUDA: every function gives 0, but for those that tell it."""
    name = file.name[3:].partition(".")[0]
    text = 'extern "C" {\n'
    for function in {*NAMES.get(name, ()), "nothing"} - {lacks, "cublasGetProperty", "cudnnGetCudartVersion"}:
        text += f"long {function}() {{ return 0; }}\n"
    text += f"int cublasGetProperty(int which, int* made) {{ *made = which ? 0 : {cuda}; return 0; }}\n"
    text += f"unsigned long cudnnGetCudartVersion() {{ return {cuda * 1000 + 20}; }}\n}}\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    command = ["g++", "-shared", "-fPIC", "-x", "c++", "-", f"-Wl,-soname,{file.name}", "-o", str(file)]
    subprocess.run(command, input=text, text=True, check=True)
    return file


@pytest.fixture
def room(tmp_path):
    """A folder for packages of Python and one for the system's libraries, and what is found with them."""

    class Room:
        packages, system = tmp_path / "packages", tmp_path / "system"

        def wheel(self, folder: str, *files: str, cuda: int, lacks: str = "") -> None:
            for name in files:
                make(self.packages / folder / name, cuda, lacks)
            for place in (self.packages / folder).parents:
                if place != self.packages and self.packages in place.parents:
                    (place / "__init__.py").touch()

        def found(self, driver: float, before: list[str] = ()) -> list[str]:
            here = ROOT
            paths = [str(self.packages), str(here), os.environ.get("PYTHONPATH", "")]
            variables = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "LD_LIBRARY_PATH": str(self.system)}
            command = [
                sys.executable,
                "-c",
                PROGRAM.format(driver=driver, room=str(tmp_path), before=[str(self.packages / b) for b in before]),
            ]
            result = subprocess.run(command, env=variables, capture_output=True, text=True)
            assert result.returncode == 0, result.stderr
            return [line.replace(f"{tmp_path}/", "") for line in result.stdout.splitlines()]

    return Room()


LT = "libcublasLt.so"
TORCHS = "packages/nvidia/cublas/lib/libcublas.so.12", "packages/nvidia/cudnn/lib/libcudnn.so.9"


def beside_torch(room) -> None:
    """The wheels that a torch of CUDA 12 brings, and a system of CUDA 13."""
    room.wheel("nvidia/cublas/lib", "libcublas.so.12", f"{LT}.12", cuda=12)
    room.wheel("nvidia/cudnn/lib", "libcudnn.so.9", cuda=12)
    for name in ("libcublas.so.13", "libcudnn.so.9"):
        make(room.system / name, 13)


def test_what_is_loaded_comes_first(room):
    """torch has loaded its own; the system's are newer, and other wheels are there too."""
    beside_torch(room)
    room.wheel("nvidia/cu13/lib", "libcublas.so.13", f"{LT}.13", cuda=13)
    before = [path.removeprefix("packages/") for path in TORCHS]
    cublas, report, cudnn, _ = room.found(13, before=before)
    assert (cublas, cudnn) == TORCHS
    assert report.startswith("cublas: 1, libcublas.so.12, for this")


def test_wheels_come_before_the_system(room):
    """So that a torch that is imported later meets its own."""
    beside_torch(room)
    shutil.rmtree(room.system)
    assert room.found(13)[::2] == list(TORCHS)
    make(room.system / "libcudnn.so.9", 13)
    assert room.found(13)[::2] == list(TORCHS)


def test_a_copy_inside_torch_counts_as_a_wheel(room):
    room.wheel("torch/lib", "libcublas.so.12", f"{LT}.12", "libcudnn.so.9", cuda=12)
    make(room.system / "libcudnn.so.9", 13)
    wanted = ["packages/torch/lib/libcublas.so.12", "packages/torch/lib/libcudnn.so.9"]
    assert room.found(13)[::2] == wanted


def test_a_library_that_is_newer_than_the_driver_is_passed_over(room):
    beside_torch(room)
    room.wheel("nvidia/cu13/lib", "libcublas.so.13", f"{LT}.13", cuda=13)
    assert room.found(13)[0] == "packages/nvidia/cu13/lib/libcublas.so.13"
    assert room.found(12.4)[::2] == list(TORCHS)  # and nobody is warned


def test_where_all_are_newer_than_the_driver_there_is_one_warning(room):
    for name in ("libcublas.so.13", "libcudnn.so.9"):
        make(room.system / name, 13)
    cublas, report, cudnn, _, *warned = room.found(12.4)
    assert (cublas, cudnn) == ("None", "None")
    why = "libcublas.so.13 is of CUDA 13 and the NVIDIA driver is of CUDA 12; update the driver, or pip install 'boxpresso[cuda12]'"
    assert report == f"cublas: not used, that: {why}"
    assert len(warned) == 2  # each library once
    assert warned[0] == f"libcublas is not used, and our own kernel multiplies matrices: {why}"
    assert warned[1].startswith(
        "libcudnn is not used, and convolutions are columns and matrix products: libcudnn.so.9 is of"
    )


def test_a_copy_without_a_function_is_passed_over(room):
    room.wheel("nvidia/cudnn/lib", "libcudnn.so.9", cuda=12, lacks="cudnnSetConvolutionGroupCount")
    make(room.system / "libcudnn.so.8", 12)
    assert room.found(12)[2].endswith("system/libcudnn.so.8")


def test_without_a_driver_nothing_is_compared(room):
    make(room.system / "libcudnn.so.9", 13)
    assert room.found(0)[2].endswith("system/libcudnn.so.9")
