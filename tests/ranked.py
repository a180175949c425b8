"""What tests of several ranks share: a net, its records, and programs that mpirun starts."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NET = """
name: "digits"
layer { name: "data" type: "Data" top: "data" top: "label" transform_param { mirror: true scale: 0.0078125 mean_value: 127 }
        data_param { source: "SOURCE" batch_size: BATCH backend: LMDB } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" param { lr_mult: 1 } param { lr_mult: 0 }
        convolution_param { num_output: 8 kernel_size: 3 weight_filler { type: "msra" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "one" type: "InnerProduct" bottom: "conv" top: "one" param { name: "w" } param { name: "b" lr_mult: 2 }
        inner_product_param { num_output: 24 weight_filler { type: "xavier" } } }
layer { name: "two" type: "InnerProduct" bottom: "conv" top: "two" param { name: "w" } param { name: "b" lr_mult: 2 }
        inner_product_param { num_output: 24 } }
layer { name: "sum" type: "Eltwise" bottom: "one" bottom: "two" top: "sum" eltwise_param { coeff: 1 coeff: 0.5 } }
layer { name: "last" type: "InnerProduct" bottom: "sum" top: "last"
        inner_product_param { num_output: 12 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "last" bottom: "label" top: "loss" }
"""


def mpirun() -> list[str]:
    """The command, or a skip that says what is missing."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed: pip install 'boxpresso[mpi]'")
    beside = Path(sys.executable).with_name("mpirun")
    command = str(beside) if beside.exists() else shutil.which("mpirun")
    if command is None:
        pytest.skip("there is no mpirun: pip install mpich, or the system's package")
    version = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
    return [command, *(["--allow-run-as-root", "--oversubscribe"] if "Open MPI" in version else [])]


@contextmanager
def started(count: int, *words: object, folder: Path, **more: str) -> Iterator[subprocess.Popen]:
    command = [*mpirun(), "-n", str(count), sys.executable, *map(str, words)]
    places = [str(folder), str(Path(__file__).parent), str(Path(__file__).resolve().parents[1])]
    places += os.environ.get("PYTHONPATH", "").split(os.pathsep)
    env = {**os.environ, "TERM": "dumb", "PYTHONPATH": os.pathsep.join(filter(None, places)), **more}
    env.pop("BOXPRESSO_DEBUG", None)
    process = subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.stderr.close()
        process.wait()


def run(count: int, *words: object, folder: Path, **more: str) -> tuple[int, str]:
    """The exit status of mpirun and what the ranks wrote to standard error."""
    with started(count, *words, folder=folder, **more) as process:
        _, said = process.communicate(timeout=300)
        return process.returncode, said


def with_records(folder: Path) -> Path:
    """A folder with the records that NET reads."""
    pytest.importorskip("lmdb")
    from drawn import datum_lmdb

    datum_lmdb(folder / "records", 11, height=22, width=22)
    return folder
