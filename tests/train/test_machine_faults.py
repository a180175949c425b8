"""Faults of the machine: processes that are killed, full disks, folders that cannot be written, many processes and threads."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from boxpresso import Net
from boxpresso.data.records import open_records
from boxpresso.net.weights import read_weights
from boxpresso.proto import parse_net
from boxpresso.train.state import read_state

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals, limits and /proc are those of Linux")
NET = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 16 dim: 16 } } }
    layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 4 kernel_size: 3
            weight_filler { type: "xavier" } } }
    layer { name: "r" type: "ReLU" bottom: "c" top: "r" }
    layer { name: "p" type: "Pooling" bottom: "r" top: "p" pooling_param { kernel_size: 2 stride: 2 } }
    layer { name: "f" type: "InnerProduct" bottom: "p" top: "f" inner_product_param { num_output: 5
            weight_filler { type: "xavier" } } }
    layer { name: "s" type: "Softmax" bottom: "f" top: "s" }"""
X = np.random.default_rng(0).normal(size=(1, 3, 16, 16)).astype(np.float32)


def start(code: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments], env={**os.environ, **environment}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


SNAPSHOTS = """
    import sys
    from boxpresso import Solver
    from boxpresso.proto import parse_net, parse_solver
    param = parse_solver('base_lr: 0.001 lr_policy: "fixed" max_iter: 100000 snapshot: 1 snapshot_format: %s random_seed: 1 '
                         'solver_mode: CPU snapshot_prefix: "%s"' % (sys.argv[2], sys.argv[1]))
    param.net_param.CopyFrom(parse_net('''
        layer { name: "x" type: "DummyData" top: "x" top: "y"
                dummy_data_param { shape { dim: 4 dim: 300 } data_filler { type: "gaussian" } } }
        layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 300 } }
        layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }'''))
    solver = Solver(param, log=lambda line: None)
    print("ready", flush=True)
    solver.solve("auto")
"""


def snapshots(folder: Path) -> set[Path]:
    return {path for path in folder.glob("s_iter_*.solverstate*") if path.suffix != ".part"}


@pytest.mark.later(but=1)
@pytest.mark.parametrize("format", ["BINARYPROTO", pytest.param("HDF5", marks=pytest.mark.slow)])
def test_a_killed_training_loses_no_snapshot(format, tmp_path):
    """Each snapshot that has its name is whole, and the next process goes on from the newest."""
    rng, reached = np.random.default_rng(3), 0
    for _ in range(3):
        before, process = snapshots(tmp_path), start(SNAPSHOTS, str(tmp_path / "s"), format)
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
        patience = time.monotonic() + 60  # a busy machine is slow to write its first one
        while snapshots(tmp_path) <= before and time.monotonic() < patience:
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        process.communicate()
        whole = sorted(snapshots(tmp_path), key=lambda path: int(path.name.split("_")[2].split(".")[0]))
        for path in whole:
            state = read_state(path)
            model = Path(str(path).replace(".solverstate", ".caffemodel"))
            assert read_weights(model)["fc"].blobs[0].shape == (300, 300)
            newest = state.iter
        assert newest >= reached
        reached = newest
        for path in whole[:-2]:
            path.unlink()
    assert reached > 3
    process = start(SNAPSHOTS, str(tmp_path / "s"), format)
    process.stdout.readline()
    time.sleep(0.3)
    process.kill()
    process.communicate()
    assert len(list(tmp_path.glob("*.part"))) <= 1  # of the last one


COMPILE = """
    import os
    import numpy as np
    from boxpresso.device import cache, open_device
    from boxpresso.layers.core import run_layer
    print("ready", flush=True)
    for kind in os.environ.get("KINDS", "AbsVal ReLU Sigmoid TanH").split():
        assert np.isfinite(run_layer('type: "%s"' % kind, [-1.0, 2.0])).all()
    print("done")
"""


@pytest.mark.slow
def test_killed_compilers_leave_a_cache_that_works(tmp_path):
    rng = np.random.default_rng(4)
    for _ in range(4):
        process = start(COMPILE, BOXPRESSO_CACHE=str(tmp_path / "cache"))
        process.stdout.readline()
        time.sleep(rng.uniform(0.05, 0.9))
        process.kill()
        process.communicate()
    compiled = ["AbsVal", "ReLU", "Sigmoid", "TanH"]
    # a compiler that outlives its process may write after the first of these has swept
    for kind in ("", "BNLL", "ELU", "Exp"):
        compiled += kind.split()
        process = start(COMPILE, BOXPRESSO_CACHE=str(tmp_path / "cache"), KINDS=" ".join(compiled))
        assert "done" in process.communicate(timeout=120)[0]
        left = [path.suffix for path in (tmp_path / "cache").iterdir()]
        if kind and ".tmp" not in left:
            break
        time.sleep(2)
    assert sorted(set(left)) == [".so", ".sum"]
    assert left.count(".so") == left.count(".sum") == len(compiled) + 1  # and the threads that all of them run on


@pytest.mark.later
def test_eight_processes_on_a_cold_cache(tmp_path):
    """They compile each kernel once in all, and have the same results."""
    code = COMPILE.replace('print("done")', "print(run_layer('type: \"Sigmoid\"', [0.3]).tobytes().hex())")
    processes = [start(code, BOXPRESSO_CACHE=str(tmp_path / "cache")) for _ in range(8)]
    said = [process.communicate(timeout=200) for process in processes]
    assert len({out.split()[-1] for out, _ in said}) == 1, said[0][1]
    assert [process.returncode for process in processes] == [0] * 8
    assert sorted({path.suffix for path in (tmp_path / "cache").iterdir()}) == [".so", ".sum"]


@pytest.mark.later
def test_a_full_disk_while_compiling(tmp_path):
    """RLIMIT_FSIZE stands for the disk."""
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n" + textwrap.dedent(COMPILE)
    process = start(code, BOXPRESSO_CACHE=str(tmp_path / "cache"))
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 1
    assert "boxpresso.proto.errors." in said.splitlines()[-1] or "boxpresso.proto.errors." in said
    assert not [path for path in (tmp_path / "cache").iterdir() if path.suffix in (".tmp", ".so")]
    assert "done" in start(COMPILE, BOXPRESSO_CACHE=str(tmp_path / "cache")).communicate(timeout=120)[0]


def test_a_full_disk_while_weights_are_saved(tmp_path):
    net = Net(parse_net(NET), device="cpu", seed=1)
    net.save(tmp_path / "w.caffemodel")
    whole = (tmp_path / "w.caffemodel").read_bytes()
    code = """
        import resource, signal, sys
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        from boxpresso.net.weights import save_weights
        from boxpresso.proto import ModelError
        import numpy as np
        for name in ("w.caffemodel", "w.h5"):
            try:
                save_weights(sys.argv[1] + "/" + name, [("fc", "InnerProduct", [], [], [np.ones((100, 100))])])
            except ModelError as error:
                print(error)
    """
    out, err = start(code, str(tmp_path)).communicate(timeout=60)
    assert out.count("cannot write") == 2, err
    assert (tmp_path / "w.caffemodel").read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w.caffemodel"]


def test_a_killed_writer_of_an_lmdb_leaves_none(tmp_path):
    pytest.importorskip("lmdb", reason="lmdb is not installed (pip install 'boxpresso[train]')")
    code = """
        import sys
        from boxpresso.data.records import write_records
        def rows():
            for i in range(10**7):
                if i == 2000: print("ready", flush=True)
                yield "%09d" % i, bytes(2000)
        write_records(sys.argv[1], rows())
    """
    for _ in range(2):
        process = start(code, str(tmp_path / "db"))
        process.stdout.readline()
        process.kill()
        process.communicate()
        assert not (tmp_path / "db").exists()
        assert len(list(tmp_path.iterdir())) == 1  # the next one sweeps what the last one left
    process = start(code.replace("10**7", "100"), str(tmp_path / "db"))
    process.communicate(timeout=60)
    assert [path.name for path in tmp_path.iterdir()] == ["db"]
    assert len(open_records(str(tmp_path / "db"))) == 100


@pytest.mark.later
def test_a_read_only_home(tmp_path):
    """Root may write anyway; a file in the folder's place stands for what may not be written."""
    (tmp_path / ".cache").write_text("")
    process = start(COMPILE, HOME=str(tmp_path), XDG_CACHE_HOME="", BOXPRESSO_CACHE="")
    out, err = process.communicate(timeout=120)
    assert "done" in out
    assert "kernels are cached in" in err


@pytest.mark.slow
def test_a_clock_that_jumps(tmp_path):
    """Files that seem to come from the future, or to be years old, are neither swept while they are written nor taken amiss."""
    for jump in (-5 * 365 * 86400, 5 * 365 * 86400):
        out, err = start(COMPILE, BOXPRESSO_CACHE=str(tmp_path / "cache")).communicate(timeout=120)
        assert "done" in out, err
        for path in (tmp_path / "cache").iterdir():
            os.utime(path, (time.time() + jump,) * 2)


def test_24_threads_with_a_net_each():
    wanted = Net(parse_net(NET), device="cpu", seed=1).forward(x=X)["s"]
    failures: list[object] = []

    def work() -> None:
        try:
            net = Net(parse_net(NET), device="cpu", seed=1)
            for _ in range(20):
                if not np.array_equal(net.forward(x=X)["s"], wanted):
                    failures.append("another result")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.later
def test_memory_stays_flat():
    """Over 4,000 forwards, and over 400 nets."""
    net = Net(parse_net(NET), device="cpu", seed=1)
    for _ in range(500):
        net.forward(x=X)
    before = resident()
    for _ in range(4000):
        net.forward(x=X)
    assert resident() - before < 2 * 2**20
    param = parse_net(NET)
    for _ in range(60):
        Net(param, device="cpu", seed=1).forward(x=X)
    before = resident()
    for _ in range(400):
        Net(param, device="cpu", seed=1).forward(x=X)
    assert resident() - before < 8 * 2**20


def test_an_interrupt_ends_a_forward(tmp_path):
    """Between two layers, at the latest."""
    code = """
        import numpy as np, signal, sys
        from boxpresso import Net
        from boxpresso.proto import parse_net
        net = Net(parse_net(sys.argv[1]), device="cpu")
        net.forward()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever this process inherited
        try:
            print("ready", flush=True)
            while True: net.forward()
        except KeyboardInterrupt:
            print("interrupted", np.isfinite(net.forward()["s"]).all())
    """
    process = start(code, NET)
    process.stdout.readline()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[0] == "interrupted True\n"


def test_sigint_ends_a_long_kernel_and_the_next_runs_whole():
    code = """
        import os, signal, threading, time
        import numpy as np
        from boxpresso import ops
        from boxpresso.proto.limits import LIMITS
        LIMITS.set(region_samples=2**50)
        features, rois = np.ones((1, 64, 200, 200), np.float32), np.array([[0, 100, 100, 90, 90, 0.3]] * 3000, np.float32)
        options = dict(output_size=7, spatial_scale=1.0)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever this process inherited
        ops.roi_align_rotated(features[:, :4], rois[:1], sampling_ratio=2, **options)  # compiled
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            ops.roi_align_rotated(features, rois, sampling_ratio=128, **options)  # minutes
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - start < 20)
        print(ops.roi_align_rotated(features, rois[:2], sampling_ratio=2, **options).min())
        signal.signal(signal.SIGINT, lambda *_: print("handled"))  # who handles it may need the results
        threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
        print(ops.roi_align_rotated(features, rois[:40], sampling_ratio=64, **options).min())
    """
    out, err = start(code, BOXPRESSO_THREADS="2").communicate(timeout=120)
    assert out.split("\n")[:2] == ["interrupted True", "1.0"], err
    assert sorted(out.split()[3:]) == ["1.0", "handled"]
