"""NVRTC in place of nvcc: what it is called with, by a stand-in, and that it compiles every kernel, where it is installed."""

from __future__ import annotations

import os
import subprocess

import pytest

from boxpresso.device import build, cache, compiler, context, cubin, nvrtc
from boxpresso.device.kernel import Kernels
from boxpresso.device.prototypes import NVRTC, declare
from boxpresso.device.signature import HEADERS, UNFUSED
from boxpresso.proto.errors import DeviceError, KernelError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the stand-in is a library of Unix")
RELU = Kernels(HEADERS.parent / "layers" / "neuron" / "relu.cu")
# As nvrtc.h has it. What it makes is what it was told: the kind, the options, the headers, the text.
STAND_IN = r"""
#include <cstring>
#include <string>
struct Program { std::string text, log, made; };
static Program* open;
extern "C" {
int nvrtcVersion(int* major, int* minor) { *major = 13; *minor = 5; return 0; }
int nvrtcGetNumSupportedArchs(int* n) { *n = 2; return 0; }
int nvrtcGetSupportedArchs(int* at) { at[0] = 75; at[1] = 90; return 0; }
const char* nvrtcGetErrorString(int status) { return status == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OUT_OF_MEMORY"; }
int nvrtcCreateProgram(Program** to, const char* text, const char* name, int n, const char* const* texts, const char* const* names) {
  if (open) return 11;
  *to = open = new Program;
  open->text = std::string(name) + "\n" + text;
  for (int i = 0; i < n; ++i) open->made += std::string(names[i]) + "(" + texts[i] + ")";
  return 0;
}
int nvrtcCompileProgram(Program* p, int n, const char* const* options) {
  for (int i = 0; i < n; ++i) p->made += std::string(" ") + options[i];
  p->log = "relu.cu(3): error: oops";
  return p->made.find("BROKEN") != std::string::npos ? 6 : p->made.find("KILLED") != std::string::npos ? 1 : 0;
}
int nvrtcDestroyProgram(Program** p) { delete *p; *p = open = nullptr; return 0; }
int nvrtcGetProgramLogSize(Program* p, size_t* n) { *n = p->log.size() + 1; return 0; }
int nvrtcGetProgramLog(Program* p, char* to) { std::memcpy(to, p->log.c_str(), p->log.size() + 1); return 0; }
static std::string all(Program* p, const char* kind) { return kind + p->made + "\n" + p->text; }
int nvrtcGetCUBINSize(Program* p, size_t* n) { *n = all(p, "cubin ").size(); return 0; }
int nvrtcGetCUBIN(Program* p, char* to) { std::memcpy(to, all(p, "cubin ").data(), all(p, "cubin ").size()); return 0; }
int nvrtcGetPTXSize(Program* p, size_t* n) { *n = all(p, "ptx ").size(); return 0; }
int nvrtcGetPTX(Program* p, char* to) { std::memcpy(to, all(p, "ptx ").data(), all(p, "ptx ").size()); return 0; }
}
"""


@pytest.fixture(autouse=True)
def no_nvcc(tmp_path, monkeypatch):
    def nvcc() -> str:
        raise context.NoCompiler("nvcc was not found")

    monkeypatch.setattr(cubin, "nvcc", nvcc)
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setattr(cache, "folder", lambda: tmp_path / "cache")


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    path = tmp_path / "libnvrtc.so.13"
    command = [*compiler.compiler(), "-shared", "-fPIC", "-x", "c++", "-", "-o", str(path)]
    subprocess.run(command, input=STAND_IN, text=True, check=True)
    library = declare(nvrtc.ctypes.CDLL(str(path)), NVRTC)
    monkeypatch.setattr(nvrtc, "library", lambda: library)
    return library


def test_what_nvrtc_is_told(stand_in, tmp_path):
    made = cubin.compiled(RELU, "float", "sm_90").decode()
    options, name, _, _, _, line, *text = made.replace(nvrtc.LIMITS, "").splitlines()
    assert options == (
        "cubin cfloat()math.h() -std=c++17 --device-as-default-execution-space -w --gpu-architecture=sm_90 "
        f"-DReal=float -I{HEADERS} -I{RELU.path.parent}"
    )
    assert (name, line) == ("relu.cu", f'#line 1 "{RELU.path}"')
    assert "\n".join(text).strip() == RELU.path.read_text().strip()
    assert len(list((tmp_path / "cache").glob("relu-float-sm_90-*.cubin"))) == 1
    assert " -fmad=false " in cubin.compiled(Kernels(RELU.path, UNFUSED), "float", "sm_90").decode()


def test_a_gpu_that_is_newer_gets_ptx(stand_in):
    made = cubin.compiled(RELU, "double", "sm_121").decode()
    assert made.startswith("ptx ")
    assert " --gpu-architecture=compute_90 " in made
    with pytest.raises(DeviceError, match=r"NVRTC 13.5 does not compile for sm_70 \(the oldest that it knows is 75\)"):
        cubin.compiled(RELU, "float", "sm_70")


def test_what_it_refuses_is_said(stand_in):
    with pytest.raises(
        KernelError, match=r"(?s)relu.cu does not compile for sm_90 with NVRTC 13.5:\nrelu.cu\(3\): error: oops"
    ):
        cubin.compiled(Kernels(RELU.path, "-DBROKEN"), "float", "sm_90")
    with pytest.raises(DeviceError, match=r"libnvrtc.so.13 does not compile relu.cu: NVRTC_ERROR_OUT_OF_MEMORY"):
        cubin.compiled(Kernels(RELU.path, "-DKILLED"), "float", "sm_90")
    cubin.compiled(RELU, "float", "sm_90")  # the program of a failure was destroyed


def test_nvcc_goes_before(stand_in, monkeypatch):
    monkeypatch.setattr(cubin, "nvcc", lambda: "/opt/nvcc")
    monkeypatch.setattr(cubin, "version_of", lambda program: "13.0")
    monkeypatch.setattr(cubin, "by_nvcc", lambda program, *job: program.encode())
    assert cubin.compiled(RELU, "float", "sm_90") == b"/opt/nvcc"


@pytest.mark.slow
def test_every_kernel_compiles(tmp_path):
    """NVIDIA's own, without a GPU: the code of every file begins as ELF, and has its kernels' names."""
    library = nvrtc.library()
    if library is None:
        pytest.skip("NVRTC is not installed (pip install nvidia-cuda-nvrtc)")
    files = [file for file in build.declared() if not file.host_only]
    for file, real in build.jobs(files, ["half", "float"]):
        if real == "half" or (file, "half") not in build.jobs(files, ["half"]):
            made = nvrtc.compiled(library, file, real, "sm_90", machine_code=True)
            assert made.startswith(b"\x7fELF")
            assert all(name.encode() in made for name in file.table), file.path
    assert nvrtc.compiled(library, RELU, "float", "compute_90", machine_code=False).lstrip().startswith(b"//")
