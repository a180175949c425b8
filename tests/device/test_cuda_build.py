"""Kernels built ahead: which nvcc is taken, what a compiled file is called, and that it is found where there is no nvcc."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from boxpresso.device import build, cache, context, cubin, nvrtc
from boxpresso.device.kernel import Kernels
from boxpresso.proto.errors import DeviceError, KernelError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the nvcc of these tests is a shell script")
LAYERS = Path(build.__file__).resolve().parents[1] / "layers"
RELU = Kernels(LAYERS / "neuron" / "relu.cu")
# Says a version; writes the file that it is asked for, in the folder where it is; refuses one architecture, and a text with a word.
NVCC = """#!/bin/sh
case "$*" in
  *--version*) echo "nvcc: release {version}"; exit 0;;
  *--list-gpu-arch*) echo compute_75; echo compute_121; exit 0;;
  *"-arch sm_130"*) echo "nvcc fatal   : Unsupported gpu architecture 'compute_130'" >&2; exit 1;;
  *BROKEN*) echo "kernel.cu(3): error: oops" >&2; exit 2;;
  *KILLED*) kill -9 $$;;
  *--ptx*) echo "ptx $*" > kernel.ptx;;
  *) echo "cubin $*" > kernel.cubin;;
esac
"""


def nvcc_in(folder: Path, version: str = "13.0, V13.0.88") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "nvcc"
    program.write_text(NVCC.format(version=version))
    program.chmod(0o755)
    return program


@pytest.fixture(autouse=True)
def bare(tmp_path, monkeypatch):
    """A machine without nvcc and NVRTC, and with an empty cache."""
    monkeypatch.setattr(nvrtc, "library", lambda: None)
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}{os.pathsep}/bin{os.pathsep}/usr/bin")
    monkeypatch.setattr(context, "TOOLKIT", str(tmp_path / "toolkit"))
    monkeypatch.setattr(context, "nvcc_of_wheels", lambda: [str(tmp_path / "site" / "nvidia" / "cu13" / "bin")])
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setattr(cache, "folder", lambda: tmp_path / "cache")
    if shutil.which("nvcc"):
        pytest.skip("nvcc lies beside the system's programs")


def test_nvcc_is_looked_for_in_this_order(tmp_path, monkeypatch):
    with pytest.raises(
        DeviceError, match=r"nvcc was not found in \$CUDA_HOME, on PATH, in /usr/local/cuda or in NVIDIA's wheel"
    ):
        context.nvcc()
    for folder in ("site/nvidia/cu13/bin", "toolkit", "path"):
        program = nvcc_in(tmp_path / folder)
        assert context.nvcc() == str(program)
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "named"))
    assert context.nvcc() == str(program)  # nothing lies there
    program = nvcc_in(tmp_path / "named" / "bin")
    assert context.nvcc() == str(program)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    program = nvcc_in(tmp_path / "home" / "bin")
    assert context.nvcc() == str(program)


def test_the_wheels_folder_is_nvidias(monkeypatch, tmp_path):
    monkeypatch.undo()
    nvcc_in(tmp_path / "nvidia" / "cu13" / "bin")
    code = "from boxpresso.device import context; print(context.nvcc_of_wheels())"
    paths = [str(tmp_path), str(LAYERS.parents[1]), os.environ.get("PYTHONPATH", "")]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    output = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    ).stdout
    assert str(tmp_path / "nvidia" / "cu13" / "bin") in output


def test_a_compiled_file_is_named_by_texts_alone(tmp_path, monkeypatch):
    """Not by where nvcc lies or when it was installed, nor by the folder of the kernels."""
    program = nvcc_in(tmp_path / "path")
    name = cubin.path_of(RELU, "float", "sm_90").name
    assert name.startswith("relu-float-sm_90-")
    os.utime(program, (1, 1))
    assert cubin.path_of(RELU, "float", "sm_90").name == name
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    nvcc_in(tmp_path / "home" / "bin")
    assert cubin.path_of(RELU, "float", "sm_90").name == name
    copy = tmp_path / "other" / "relu.cu"
    copy.parent.mkdir()
    shutil.copy(RELU.path, copy)
    assert cubin.path_of(Kernels(copy), "float", "sm_90").name == name
    others = {cubin.path_of(RELU, "double", "sm_90").name, cubin.path_of(RELU, "float", "sm_80").name}
    nvcc_in(tmp_path / "home" / "bin", "12.9, V12.9.86")
    others.add(cubin.path_of(RELU, "float", "sm_90").name)
    others.add(cubin.path_of(Kernels(RELU.path, "-DUNFUSED"), "float", "sm_90").name)
    assert len({name, *others}) == 5


@pytest.fixture
def few(monkeypatch):
    """A package of three files, of which one has arrays of 16 bits."""
    files = [RELU, Kernels(LAYERS / "shape" / "interp.cu"), Kernels(LAYERS / "regions" / "roi_align.cu")]
    monkeypatch.setattr(build, "declared", lambda: files)
    return files


def test_what_was_built_ahead_needs_no_nvcc(few, tmp_path, capsys):
    program = nvcc_in(tmp_path / "path")
    assert build.main(["--arch", "sm_90", "--real", "float,half", "--jobs", "2"]) == 0
    assert "4 of 4 files for sm_90 in" in (output := capsys.readouterr().out)
    assert "4 of them compiled now" in output
    assert build.main(["--arch", "sm_90", "--real", "float"]) == 0
    assert "3 of 3 files for sm_90" in (output := capsys.readouterr().out)
    assert "0 of them compiled now" in output
    wanted = cubin.compiled(RELU, "float", "sm_90")
    assert wanted.startswith(b"cubin --cubin -std=c++17")
    program.unlink()
    assert cubin.compiled(RELU, "float", "sm_90") == wanted
    with pytest.raises(DeviceError, match="nvcc was not found"):
        cubin.compiled(RELU, "double", "sm_90")
    with pytest.raises(DeviceError, match="nvcc was not found"):
        cubin.compiled(RELU, "float", "sm_80")
    assert build.main(["--arch", "sm_80"]) == 1
    assert "boxpresso: error: nvcc was not found" in capsys.readouterr().err


def test_the_newest_of_several_builds_is_taken_without_nvcc(tmp_path):
    program = nvcc_in(tmp_path / "path", "12.9, V12.9.86")
    cubin.compiled(RELU, "float", "sm_90")
    program.write_text(NVCC.format(version="13.0, V13.0.88").replace('"cubin $*"', "newer"))
    newer = cubin.compiled(RELU, "float", "sm_90")
    assert newer == b"newer\n"
    older = next(path for path in (tmp_path / "cache").glob("*.cubin") if path.read_bytes() != newer)
    os.utime(older, (1, 1))
    program.unlink()
    assert cubin.compiled(RELU, "float", "sm_90") == newer


def test_a_gpu_that_is_newer_than_nvcc_gets_ptx(tmp_path):
    nvcc_in(tmp_path / "path")
    made = cubin.compiled(RELU, "float", "sm_130").decode()
    assert made.startswith("ptx --ptx")
    assert "-arch compute_121" in made


def test_what_nvcc_refuses_is_said(few, tmp_path, monkeypatch, capsys):
    nvcc_in(tmp_path / "path")
    few[1] = Kernels(few[1].path, "-DBROKEN")
    assert build.main(["--arch", "sm_90", "--jobs", "1"]) == 1
    seen = capsys.readouterr()
    assert "2 of 3 files for sm_90" in seen.out
    assert "interp.cu does not compile for sm_90" in seen.err
    assert "kernel.cu(3): error: oops" in seen.err
    with pytest.raises(KernelError, match=r"(?s)interp.cu does not compile.*oops"):
        cubin.compiled(few[1], "float", "sm_90")
    with pytest.raises(DeviceError, match=r"nvcc was ended by signal 9 at relu.cu, perhaps for want of memory"):
        cubin.compiled(Kernels(RELU.path, "-DKILLED"), "float", "sm_90")
    (tmp_path / "path" / "nvcc").write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(DeviceError, match="nvcc --version says nothing"):
        cubin.compiled(RELU, "float", "sm_90")
    for words, said in ((["--real", "int"], "unknown type 'int'"), (["--arch", "90"], "'90' is not an architecture")):
        with pytest.raises(SystemExit):
            build.main(["--arch", "sm_90", *words])
        assert said in capsys.readouterr().err


def test_all_files_of_the_package_are_built_with_their_options():
    files = build.declared()
    assert {file.path for file in files if not file.host_only} == set(LAYERS.parent.rglob("*.cu"))
    assert {file.path for file in files if file.host_only} <= set(LAYERS.parent.rglob("*.cpp"))
    assert any(file.options for file in files)


def test_neither_pycuda_nor_a_driver_is_needed(tmp_path):
    nvcc_in(tmp_path / "path")
    code = (
        "import sys; sys.modules['pycuda'] = None\n"
        "from boxpresso.device import build, kernel\n"
        f"build.declared = lambda: [kernel.Kernels({str(RELU.path)!r})]\n"
        "sys.exit(build.main(['--arch', 'sm_90']))"
    )
    paths = [str(LAYERS.parents[1]), os.environ.get("PYTHONPATH", "")]
    variables = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    variables.update(PYTHONPATH=os.pathsep.join(paths), BOXPRESSO_CACHE=str(tmp_path / "cache"))
    result = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("1 of 1 files for sm_90 in")
