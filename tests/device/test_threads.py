"""The threads that kernels run on: one set for the process, whoever calls, and none that another library brings."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from boxpresso.device import host
from boxpresso.device.chain import Chain
from boxpresso.layers.neuron.relu import ReLU


def run(code: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def device_of(workers: int) -> host.Cpu:
    device = host.Cpu()
    device.workers = workers
    device.schedule.always_all = True
    return device


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_each_share_is_worked_at_once(workers):
    """Sums in place: a share that is left out, or done twice, is seen."""
    device = device_of(workers)
    kernels = ReLU.kernels.on(device)
    for n in (1, 2, 7, 100_003):
        x = np.full(n, -1, np.float32)
        for _ in range(3):
            kernels.relu_forward(n, x, x, 2.0, np.inf)
        assert (x == -8).all()


TOGETHER = """
    import os
    import numpy as np
    from boxpresso.device import host
    from boxpresso.layers.neuron.relu import ReLU

    device = host.Cpu()
    device.workers, device.schedule.always_all = 2, True
    x, before = np.ones(10, np.float32), set(os.listdir("/proc/self/task"))
    launch = ReLU.kernels.on(device).relu_forward
    launch(10, x, x, 1.0, np.inf)
    (worker,) = map(int, set(os.listdir("/proc/self/task")) - before)
    moved = set()
    for _ in range(200):
        with open("/proc/self/stat") as file:
            here = int(file.read().rpartition(")")[2].split()[36])
        os.sched_setaffinity(worker, {here})  # as Linux may wake it there
        for _ in range(3):
            launch(10, x, x, 1.0, np.inf)
        allowed = os.sched_getaffinity(worker)
        if allowed != {here}:
            moved.add(here not in allowed and allowed < os.sched_getaffinity(0))
    print(moved)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux does a caller know where threads are")
@pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda pid: [0])(0)) < 2, reason="there is one processor")
def test_a_worker_that_is_woken_on_the_callers_processor_is_sent_to_others():
    assert run(TOGETHER).strip() == "{True}"


def test_callers_have_threads_of_their_own():
    """Several threads of Python launch at once, kernels and chains whose workers wait for each other."""
    device, wrong = device_of(3), []

    def call(number: int) -> None:
        x, y, z = (np.full(1000, -number, np.float32) for _ in range(3))
        chain = Chain(device, np.dtype(np.float32))
        chain.add(ReLU.kernels.relu_forward, 1000, x, y, 2.0, np.inf)
        chain.add(ReLU.kernels.relu_forward, 1000, y, z, 2.0, np.inf)
        for _ in range(200):
            y[:], z[:] = 0, 0
            chain.run()
            if not (z == -4 * number).all():
                wrong.append(number)

    callers = [threading.Thread(target=call, args=(number,)) for number in range(1, 5)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert not wrong
    assert not any(caller.is_alive() for caller in callers)


CODE = """
    import os, numpy as np
    from boxpresso.device import host
    from boxpresso.layers.neuron.relu import ReLU
    device = host.Cpu()
    device.schedule.always_all = True
    x = np.full(1000, -1, np.float32)
    kernels = ReLU.kernels.on(device)
    device.build(ReLU.kernels, x.dtype)
    {before}
    for _ in range(20):
        kernels.relu_forward(1000, x, x, 1.0, np.inf)
    assert (x == -1).all()
    {after}
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux
def test_one_set_of_threads_and_no_library_of_others():
    after = """
    print(len(os.listdir("/proc/self/task")), "gomp" in open("/proc/self/maps").read())
    """
    environment = {"BOXPRESSO_THREADS": "4", "OPENBLAS_NUM_THREADS": "1"}
    assert run(CODE.format(before="", after=after.strip()), **environment) == "4 False\n"


OTHERS = {
    "torch": "torch.set_num_threads(3); torch.ones(600, 600) @ torch.ones(600, 600)",
    "cv2": "cv2.setNumThreads(3); cv2.GaussianBlur(np.ones((2000, 2000, 3), np.uint8), (9, 9), 2)",
}


@linux
@pytest.mark.later
@pytest.mark.parametrize("name", OTHERS)
def test_one_set_of_threads_beside_those_of(name):
    """Three threads beside the caller, however often either works, and none of the other's."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    before = f"import {name}; {OTHERS[name]}; others = len(os.listdir('/proc/self/task'))"
    after = f"{OTHERS[name]}; kernels.relu_forward(1000, x, x, 1.0, np.inf); print(len(os.listdir('/proc/self/task')) - others)"
    assert run(CODE.format(before=before, after=after), BOXPRESSO_THREADS="4") == "3\n"


@linux
def test_a_system_that_gives_no_more_threads():
    """Those that there are do the work: a limit on memory leaves no room for the stack of another thread."""
    before = """
    import resource
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**22, -1))
    """
    after = """
    print(len(os.listdir("/proc/self/task")))
    """
    environment = {"BOXPRESSO_THREADS": "8", "OPENBLAS_NUM_THREADS": "1"}
    assert run(CODE.format(before=before.strip(), after=after.strip()), **environment) == "1\n"


@linux
def test_sleeping_workers_take_no_time_of_a_processor():
    after = """
    import time
    start = time.process_time(); time.sleep(0.5)
    print(time.process_time() - start < 0.1)
    """
    assert run(CODE.format(before="", after=after.strip()), BOXPRESSO_THREADS="4") == "True\n"
