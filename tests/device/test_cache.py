"""The kernel cache: whose files are run, what becomes of damaged ones, of leftovers, and of a fork of the process."""

from __future__ import annotations

import ctypes.util
import multiprocessing
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from boxpresso.device import cache, host
from boxpresso.proto import files

RELU = """
    import numpy as np, sys
    from boxpresso.device import cache, open_device
    from boxpresso.layers.neuron.relu import ReLU
    x = np.array([-1, 2], np.float32); y = x.copy()
    ReLU.kernels.on(open_device("cpu")).relu_forward(2, x, y, 0.5, np.inf)
    print(y.tolist(), cache.folder())
"""
EVIL = """
    #include <cstdio>
    __attribute__((constructor)) static void planted() { printf("PLANTED\\n"); fflush(stdout); }
    extern "C" void run_relu_forward() {}
"""
posix = pytest.mark.skipif(os.name != "posix", reason="file owners and modes are those of a Unix system")


def run(code: str = RELU, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with one kernel, to copy from."""
    place = tmp_path_factory.mktemp("made") / "cache"
    result = run(BOXPRESSO_CACHE=str(place))
    assert result.stdout == f"[-0.5, 2.0] {place}\n", result.stderr
    assert not result.stderr
    return place


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "cache"
    shutil.copytree(made, copy)
    copy.chmod(0o700)
    return copy


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A library that says so when it is loaded, of which a checksum can be written as of any other."""
    compiler = host.compiler()
    output = tmp_path_factory.mktemp("planted") / "planted.so"
    subprocess.run(
        [*compiler, "-shared", "-fPIC", "-x", "c++", "-", "-o", str(output)], input=EVIL, text=True, check=True
    )
    result = run(f"import ctypes; ctypes.CDLL({str(output)!r})")
    assert result.stdout == "PLANTED\n"  # it would be seen
    return output.read_bytes()


def plant(place: Path, library: bytes) -> Path:
    """Puts a library under the name of the kernel, with a checksum that fits."""
    (file,) = place.glob("relu-*.so")
    file.write_bytes(library)
    cache.beside(file).write_bytes(cache.checksum(library))
    return file


@posix
def test_the_folder_is_made_for_its_user_alone(made):
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) & 0o077 for file in made.iterdir()} == {0}


@posix
def test_a_folder_that_others_may_read_is_closed_to_them(place):
    place.chmod(0o755)
    assert run(BOXPRESSO_CACHE=str(place)).stdout == f"[-0.5, 2.0] {place}\n"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


@pytest.mark.later(but=1)
@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(place, planted, mode):
    plant(place, planted)
    place.chmod(mode)
    before = {file: file.stat().st_mtime_ns for file in place.iterdir()}
    result = run(BOXPRESSO_CACHE=str(place))
    assert result.stdout.startswith("[-0.5, 2.0] "), result.stderr
    assert f"other users may write to {place}" in result.stderr
    assert "BOXPRESSO_CACHE" in result.stderr
    private = Path(result.stdout.split()[-1])
    assert private.name.startswith("boxpresso-")
    assert not private.exists()  # removed at the end of the run
    assert {file: file.stat().st_mtime_ns for file in place.iterdir()} == before


@posix
def test_a_folder_below_one_that_others_may_write_to_is_not_used(place, planted):
    plant(place, planted)
    place.parent.chmod(0o777)
    try:
        result = run(BOXPRESSO_CACHE=str(place))
    finally:
        place.parent.chmod(0o700)
    assert result.stdout.startswith("[-0.5, 2.0] "), result.stderr
    assert f"other users may write to {place.parent} above it" in result.stderr


@posix
def test_a_folder_of_another_user_is_not_used(place, planted, monkeypatch, tmp_path):
    """Also behind a link of one's own."""
    link = tmp_path / "link"
    link.symlink_to(place)
    assert cache.unsafe_folder(link.resolve()) == ""
    monkeypatch.setattr(os, "geteuid", lambda: place.stat().st_uid + 1)
    assert "belongs to another user" in cache.unsafe_folder(link.resolve())
    monkeypatch.undo()
    if os.geteuid() == 0:  # only root can give a file away
        plant(place, planted)
        os.chown(place, 12345, 12345)
        result = run(BOXPRESSO_CACHE=str(link))
        assert result.stdout.startswith("[-0.5, 2.0] "), result.stderr
        assert "belongs to another user (number 12345)" in result.stderr


@posix
def test_a_file_that_others_may_write_to_is_not_run(place, planted):
    plant(place, planted).chmod(0o777)
    result = run(BOXPRESSO_CACHE=str(place))
    assert result.stdout == f"[-0.5, 2.0] {place}\n", result.stderr


@pytest.mark.later
@posix
def test_a_link_or_a_pipe_in_the_cache_is_not_followed(place, planted, tmp_path):
    (file,) = place.glob("relu-*.so")
    elsewhere = tmp_path / "elsewhere.so"
    elsewhere.write_bytes(planted)
    cache.beside(file).write_bytes(cache.checksum(planted))
    file.unlink()
    file.symlink_to(elsewhere)
    assert run(BOXPRESSO_CACHE=str(place)).stdout == f"[-0.5, 2.0] {place}\n"
    assert elsewhere.read_bytes() == planted
    file.unlink()
    os.mkfifo(file)
    assert run(BOXPRESSO_CACHE=str(place)).stdout == f"[-0.5, 2.0] {place}\n"


DAMAGE = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "one bit": lambda data: data[:5000] + bytes([data[5000] ^ 1]) + data[5001:],
    "longer": lambda data: data + b"x",
    "another file": lambda data: b"\x7fELF" + bytes(100),
}


@pytest.mark.later(but=1)
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_kernel_is_compiled_again(place, kind):
    (file,) = place.glob("relu-*.so")
    whole = file.read_bytes()
    file.write_bytes(DAMAGE[kind](whole))
    assert run(BOXPRESSO_CACHE=str(place)).stdout == f"[-0.5, 2.0] {place}\n"
    assert len(file.read_bytes()) == len(whole)
    assert cache.fetch(file) is not None


@pytest.mark.later
def test_a_damaged_or_missing_checksum_is_made_again(place):
    (file,) = place.glob("relu-*.so")
    for content in (b"", b"12 ab\n", None):
        if content is None:
            cache.beside(file).unlink()
        else:
            cache.beside(file).write_bytes(content)
        assert run(BOXPRESSO_CACHE=str(place)).stdout == f"[-0.5, 2.0] {place}\n"
        assert cache.fetch(file) is not None


def ended_process() -> int:
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_leftovers_are_swept_when_something_is_compiled(place, tmp_path):
    temporary = tmp_path / "tmp"  # one of its own: any other run on the machine sweeps the machine's
    temporary.mkdir()
    (file,) = place.glob("relu-*.so")
    file.unlink()
    dead, old, new, running = (
        place / f"a.so.{name}.tmp"
        for name in (f"{files.machine()}-{ended_process()}.0", "12345678-1.0", "12345678-1.1", f"{files.owner()}.0")
    )
    for left in (dead, old, new, running):
        left.write_bytes(b"x")
    os.utime(old, (time.time() - 2 * files.DAY,) * 2)
    elsewhere = Path(tempfile.mkdtemp(prefix=f"boxpresso-{files.machine()}-{ended_process()}-", dir=temporary))
    (elsewhere / "a.so").write_bytes(b"x")
    run(BOXPRESSO_CACHE=str(place), TMPDIR=str(temporary))
    assert file.exists()
    assert sorted(place.glob("*.tmp")) == sorted([new, running])
    assert elsewhere.exists()  # only a run that makes such a folder looks for them
    place.chmod(0o777)
    run(BOXPRESSO_CACHE=str(place), TMPDIR=str(temporary))
    assert not elsewhere.exists()


def test_no_lock_stays(made):
    assert sorted(file.suffix for file in made.iterdir()) == [".so", ".so", ".sum", ".sum"]  # the kernel, its threads


def test_a_cache_that_is_deleted_while_a_process_runs_is_made_anew(tmp_path):
    code = """
        import shutil, numpy as np
        from boxpresso.device import cache
        from boxpresso.layers.core import run_layer
        shutil.rmtree(cache.folder())
        print(run_layer('type: "AbsVal"', [-1.0]).tolist(), cache.folder().is_dir())
    """
    assert run(code, BOXPRESSO_CACHE=str(tmp_path / "cache")).stdout == "[1.0] True\n"


def test_a_user_without_a_home(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("could not determine home directory")))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("BOXPRESSO_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.warns(UserWarning, match="no home folder"):
        assert cache.folder.__wrapped__().parent == tmp_path


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("false", "does not compile for the CPU with false"),
        ("true", "reports success at relu.cu, but has written nothing"),
        ("sh -c 'kill -9 $$' sh", "was ended by signal 9"),
        ("{}", "cannot be run: Exec format error; name another in CXX"),
        ("'", "which is no command"),
        (" ", "CXX"),
    ],
)
def test_a_compiler_that_fails_is_named(command, message, tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF no program")
    program.chmod(0o700)
    result = run(CXX=command.format(program), BOXPRESSO_CACHE=str(tmp_path / "cache"))
    assert result.returncode == 1
    last = result.stderr.strip().splitlines()
    assert any("boxpresso.proto.errors." in line for line in last), result.stderr
    assert message in result.stderr
    assert not list((tmp_path / "cache").glob("*.tmp"))


def test_a_library_that_the_system_refuses(tmp_path):
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"no library")
    with pytest.raises(host.DeviceError, match=r"broken\.so cannot be loaded"):
        host.load_library(broken)
    with pytest.raises(host.DeviceError, match="none of our kernels"):
        host.Library(host.load_library(Path(ctypes.util.find_library("c") or "libc.so.6")), 0)


# Forks

FORK = """
    import multiprocessing, os, sys
    import numpy as np
    from boxpresso.layers.core import run_layer
    from boxpresso.device import open_device
    from boxpresso import Net
    from boxpresso.proto import parse_net
    NET = parse_net('''
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 1 dim: 64 dim: 64 dim: 64 }} }} }}
        layer {{ name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param {{ num_output: 8 kernel_size: 3
                 weight_filler {{ type: "xavier" }} }} }}
        layer {{ name: "r" type: "ReLU" bottom: "c" top: "r" }}''')
    X = np.random.default_rng(0).normal(size=(1, 64, 64, 64)).astype(np.float32)
    def forward(_=None):
        open_device("cpu").schedule.always_all = True
        return Net(NET, device="cpu", seed=1).forward(x=X)["r"].tobytes(), open_device("cpu").workers
    if __name__ == "__main__":
        {before}
        with multiprocessing.get_context({method!r}).Pool(2) as pool:
            parts = pool.map(forward, range(4))
        workers = [w for _, w in parts]
        here, own = forward()
        print(all(part == here for part, _ in parts), workers, own)
"""


@pytest.mark.later(but=1)
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system does not fork")
@pytest.mark.parametrize(
    ("before", "method", "workers"), [("forward()", "fork", 1), ("", "fork", 1), ("forward()", "spawn", 3)]
)
def test_a_fork_after_a_forward_works(before, method, workers, tmp_path):
    """Its results are bitwise those of its parent; a process that is started anew has all workers."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(FORK).format(before=before, method=method))
    result = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "BOXPRESSO_THREADS": "3"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert result.stdout == f"True {[workers] * 4} 3\n", result.stderr


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of Python 3.12, where there are threads
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_fork_while_a_thread_holds_the_lock(monkeypatch):
    device = host.cpu()
    with device.lock:
        child = os.fork()
        if child == 0:
            os._exit(0 if device.lock.acquire(timeout=1) and device.workers == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert device.workers == host.threads()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of Python 3.12, where there are threads
def test_torch_loads_data_with_our_operators(tmp_path):
    """torch's DataLoader forks its workers, after this process has used threads in torch and here."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    data = pytest.importorskip("torch.utils.data", reason="torch is not installed")
    from boxpresso import ops

    features = np.random.default_rng(0).normal(size=(1, 8, 32, 32)).astype(np.float32)
    rois = np.array([[0, 1, 1, 20, 20]], np.float32)

    class Regions(data.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, index):
            return torch.from_numpy(np.array(ops.roi_align(features * (index + 1), rois, 7)))

    torch.randn(400, 400) @ torch.randn(400, 400)
    wanted = [Regions()[i] for i in range(6)]
    loader = data.DataLoader(Regions(), num_workers=2, multiprocessing_context="fork", timeout=60)
    for got, expected in zip(loader, wanted, strict=True):
        assert torch.equal(got[0], expected)
