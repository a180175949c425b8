"""What ctypes is told of NVIDIA's functions, against their headers: every name, every argument, every result.

cuda.h is the CUDA toolkit's, or of the wheels that the stand-in is built with; cuBLAS's and cuDNN's headers are in their wheels.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from stand_in import run

from boxpresso.device import cublas, cudnn, libraries, prototypes

TEXT = r"""
#include <cstdio>
#include <type_traits>
#include HEADER
template <class T> char letter() {
  if (std::is_void<T>::value) return 'v';
  if (std::is_same<T, const char*>::value) return 's';
  if (std::is_pointer<T>::value) return 'p';
  if (std::is_floating_point<T>::value) return sizeof(T) == 8 ? 'd' : 'f';
  if (std::is_enum<T>::value) return sizeof(T) == 4 ? 'i' : '?';
  return sizeof(T) == 8 ? (std::is_signed<T>::value ? 'l' : 'x') : sizeof(T) == 4 ? (std::is_signed<T>::value ? 'i' : 'u') : '?';
}
template <class R, class... A> void tell(const char* name, R (*)(A...)) {
  const char letters[] = {letter<R>(), letter<A>()..., 0};
  printf("%s %s\n", name, letters);
}
#define TELL(name) tell(#name, static_cast<decltype(&name)>(nullptr));
int main() {
"""
LETTERS = {
    prototypes.P: "p", prototypes.C: "i", prototypes.U: "u", prototypes.D: "d", prototypes.L: "l", prototypes.X: "x",
    prototypes.S: "s", type(None): "v",
}  # fmt: skip


def toolkit() -> Path | None:
    """The folder of cuda.h, if there is one without a download."""
    nvcc = shutil.which("nvcc")
    places = [Path(nvcc).resolve().parents[1] / "include"] if nvcc else []
    places += [Path("/usr/local/cuda/include"), *sorted(run.cache().glob("headers-*/nvidia/*/include"))]
    return next((place for place in places if (place / "cuda.h").exists()), None)


def wheel(name: str, header: str) -> Path | None:
    """The folder of a header of a wheel that is installed."""
    places = [folder.parent / "include" for folder in libraries.folders(name)]
    return next((place for place in places if (place / header).exists()), None)


KINDS = {
    "driver": ("cuda.h", prototypes.DRIVER, lambda: None),
    "cublas": ("cublas_v2.h", prototypes.CUBLAS, cublas.library),
    "cudnn": ("cudnn.h", prototypes.CUDNN, cudnn.library),
}


@pytest.mark.skipif(shutil.which(os.environ.get("CXX", "g++")) is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_declared_is_what_the_header_has(kind, tmp_path):
    header, declared, _ = KINDS[kind]
    cuda = toolkit()
    place = cuda if kind == "driver" else wheel(kind, header)
    if cuda is None or place is None:
        pytest.skip(f"{header} is not here")
    source = tmp_path / "ask.cpp"
    source.write_text(TEXT + "".join(f"  TELL({name})\n" for name in declared) + "}\n")
    command = [os.environ.get("CXX", "g++"), "-std=c++17", f"-I{place}", f"-I{cuda}", f'-DHEADER="{header}"', "-w"]
    done = subprocess.run([*command, str(source), "-o", str(tmp_path / "ask")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    said = subprocess.run([str(tmp_path / "ask")], capture_output=True, text=True, check=True).stdout
    seen = dict(line.split() for line in said.splitlines())
    assert seen == {name: "".join(LETTERS[type_] for type_ in types) for name, types in declared.items()}


@pytest.mark.parametrize("kind", ["cublas", "cudnn"])
def test_the_libraries_have_all_that_is_called(kind):
    """Those of the wheels, or the stand-ins."""
    library = libraries.find(kind, (13, 12, 9, 8), KINDS[kind][1])
    if library is None:
        pytest.skip(f"{kind} is not here")
    assert not [name for name in KINDS[kind][1] if not hasattr(library, name)]


def test_a_library_that_lacks_a_function_is_not_used():
    with pytest.raises(OSError, match="no function cuOfTomorrow"):
        prototypes.declare(ctypes.CDLL(None), {"cuOfTomorrow": (prototypes.C,)})
