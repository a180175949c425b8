"""Without what Unix alone has, the package imports, runs and trains: modules, functions and signals are taken away in a process.

What asks for os.name, as the owners of files, is not seen here, nor what Windows has in place of what is taken; kernel texts are
compiled for it in test_compilers.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from places import ROOT

TAKEN = """
import asyncio, mmap, multiprocessing.connection, os, signal, subprocess, sys, tempfile, threading
import numpy, PIL.Image, google.protobuf.text_format
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty"):
    sys.modules[name] = None  # to import it is an ImportError
for module, words in (
    (os, "fork sched_getaffinity uname sysconf setsid O_NOFOLLOW O_NONBLOCK O_CLOEXEC "
         "register_at_fork mkfifo pread memfd_create"),
    (signal, "SIGALRM SIGKILL SIGHUP SIGUSR1 SIGCHLD SIGPIPE alarm setitimer ITIMER_REAL"),
    (mmap, "MAP_PRIVATE MAP_ANONYMOUS MAP_SHARED MADV_HUGEPAGE MADV_NOHUGEPAGE"),
):
    for word in words.split():
        if hasattr(module, word):
            delattr(module, word)
"""

IMPORTS = """
import importlib, pkgutil, boxpresso
OPTIONAL = {"torch", "cupy", "pycuda", "mpi4py", "onnx", "h5py", "lmdb", "matplotlib", "av", "uvicorn", "fastapi", "starlette", "rich", "jax",
            "safetensors", "multipart", "pydantic", "cv2", "pycocotools"}
def fails(name):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in OPTIONAL:
            raise
names = [m.name for m in pkgutil.walk_packages(boxpresso.__path__, "boxpresso.", onerror=fails) if not m.name.endswith("__main__")]
for name in names:
    fails(name)
print(len(names), "modules")
"""

TRAINS = """
import numpy as np
from boxpresso import Solver
net = '''
layer { name: "d" type: "DummyData" top: "x" top: "y"
  dummy_data_param { shape { dim: 4 dim: 3 dim: 8 dim: 8 } shape { dim: 4 dim: 5 } data_filler { type: "gaussian" } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 5 kernel_size: 8 weight_filler { type: "xavier" } } }
layer { name: "f" type: "Flatten" bottom: "c" top: "f" }
layer { name: "l" type: "EuclideanLoss" bottom: "f" bottom: "y" top: "l" }
'''
open("net.prototxt", "w").write(net)
open("solver.prototxt", "w").write('net: "net.prototxt" base_lr: 0.01 lr_policy: "fixed" max_iter: 4 snapshot: 2 snapshot_prefix: "s"')
solver = Solver("solver.prototxt")
before = solver.net.params["c"][0].data.copy()
solver.solve()
assert not np.array_equal(before, solver.net.params["c"][0].data)
import os
assert {"s_iter_2.caffemodel", "s_iter_4.solverstate"} <= set(os.listdir(".")), os.listdir(".")
"""


def run(text: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "BOXPRESSO_DEVICE": "cpu"}
    command = [sys.executable, "-W", "ignore", "-c", TAKEN + text]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_imports(tmp_path):
    assert int(run(IMPORTS, tmp_path).split()[0]) > 300


def test_a_net_trains_and_is_saved(tmp_path):
    run(TRAINS, tmp_path)
