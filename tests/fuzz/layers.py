"""Layers with mutated parameters over wild bottoms, in kernels compiled with AddressSanitizer and UBSan, in one process after another.

A process prints each case before it runs it; one that dies has found something, and the next process goes on behind it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from places import ROOMS  # noqa: E402

sys.path.extend(map(str, ROOMS))

import numpy as np  # noqa: E402
import test_region_safety as safety  # noqa: E402
from mutate import mutate_text  # noqa: E402
from targets import BODIES, INPUT, MEMORY, MORE  # noqa: E402

WILD = [np.nan, np.inf, -np.inf, 1e30, -1e30, 2147483648.0, -1.0, 0.5, 1e-45]


def one_net(number: int, seed: int) -> tuple[str, np.random.Generator]:
    draw = np.random.default_rng([seed, number])
    body = BODIES[int(draw.integers(len(BODIES)))]
    for _ in range(20):
        changed = mutate_text(body, BODIES, draw)
        if changed.count("{") == changed.count("}"):
            body = changed
            break
    return f'force_backward: true\n{INPUT}{MORE}layer {{\n name: "y"\n {body}\n}}', draw


def attempt(text: str, draw: np.random.Generator) -> None:
    """Runs a net forward and backward over wild numbers. What it raises that is none of ours has been found."""
    from boxpresso import Net
    from boxpresso.proto import BoxpressoError, parse_net

    try:
        net = Net(parse_net(text), device="cpu", memory_limit=MEMORY, seed=1)
        for name in net.inputs:
            blob = net.blobs[name]
            values = draw.normal(size=blob.shape) * 4
            values[draw.random(blob.shape) < 0.05] = draw.choice(WILD)
            blob.data[...] = values
        net.forward()
        for name in net.outputs:
            net.blobs[name].diff[...] = draw.normal(size=net.blobs[name].shape)
        net.backward()
    except BoxpressoError:
        pass


def sanitize() -> None:
    """Kernels that this process compiles are watched, and arrays end where their memory does."""
    from boxpresso.device import compiler, host

    compiler.FLAGS = safety.SANITIZED
    host.Cpu.empty = lambda self, shape, dtype: safety.exact(tuple(shape), dtype)
    warnings.simplefilter("ignore")


def child(seed: int, first: int, seconds: float) -> None:
    sanitize()
    end, number = time.monotonic() + seconds, first
    while time.monotonic() < end:
        print("case", number, flush=True)
        text, draw = one_net(number, seed)
        number += 1
        try:
            attempt(text, draw)
        except Exception as error:
            print(f"finding {number - 1} {type(error).__name__}: {error}".replace("\n", " "), flush=True)
    print("end", number, flush=True)


def watched() -> dict[str, str]:
    """The environment of a process that calls `sanitize`."""
    return {
        **os.environ, "LD_PRELOAD": safety.sanitizer(), "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1", "BOXPRESSO_THREADS": "2", "BOXPRESSO_DEVICE": "cpu",
        "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]),
    }  # fmt: skip


def fuzz(seconds: float, seed: int) -> int:
    """Runs processes until the time is over; returns 1 where something was found."""
    environment = watched()
    end, first, findings = time.monotonic() + seconds, 0, 0
    while (left := end - time.monotonic()) > 0:
        done = subprocess.run(
            [sys.executable, __file__, str(seed), str(first), str(left)],
            env=environment,
            capture_output=True,
            text=True,
        )
        lines = done.stdout.splitlines()
        for line in lines:
            if line.startswith("finding"):
                findings += 1
                print(line)
        numbers = [int(line.split()[1]) for line in lines if line.startswith("case")]
        if not numbers:
            print(done.stderr[-3000:])
            return 1
        first = numbers[-1] + 1
        if done.returncode:
            findings += 1
            print(
                f"case {numbers[-1]} of seed {seed} ended the process:\n{one_net(numbers[-1], seed)[0]}\n{done.stderr[:2500]}"
            )
    print(f"{first} cases in {seconds:.0f} s, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    child(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
