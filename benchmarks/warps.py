"""What nvcc's PTX of the region operators makes warps do, counted on a CPU: no number here is a measured time.

    python benchmarks/warps.py [--nets] [--lines N] [--tiny] [--out FILE] [WORDS]

Runs the operators whose name has all WORDS (all without; a word with ^ must begin it) at the big shape of the mlu-ops notes,
[2, 256, 200, 304] with 998 regions, on the stand-in for NVIDIA's driver, which runs nvcc's own PTX warp by warp
(tests/stand_in/simt.h), and prints a row for each kernel:

million   instructions of warps, about as many as Hopper's machine code has (weights of tests/stand_in/ptx_cpp.py)
busy      the share of a warp's 32 threads that take part
MB asked  what loads and stores of global memory ask for; sectors: of the sectors of 32 bytes that each instruction touches,
          which a multiprocessor's own cache is asked for
shared    millions of passes over shared memory; times: the least (1: no bank is met twice)
ms        what the instructions take at least on an H200, whose 132 multiprocessors issue four a cycle at 1.755 GHz; a kernel
          seldom issues more than 70 % of that. The roofline of counts.py stands beside the sum.

--nets: forward passes of SSD300, MobileNet-SSD and Faster R-CNN at batch 1 in place of operators: our own kernels, without what
cuBLAS and cuDNN compute, and beside the sum the time that the sectors take at 4.3 TB/s. --tiny: small shapes, for a trial.
With --lines N the N lines of each kernel's text that take the most instructions follow.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from benchmarks import gpu_nets, gpu_operators  # noqa: E402
from boxpresso import Net  # noqa: E402
from boxpresso.device import Device, open_device  # noqa: E402

ISSUED = 132 * 4 * 1.755e9  # instructions of warps a second, at most, on an H200
H200 = (4.3e12, 67e12)  # bytes and float32 operations a second
COUNTS = ("launches", "instructions", "of threads", "requests", "sectors", "bytes asked", "shared", "shared least")


Job = gpu_operators.Case | str  # an operator, or the name of a net


def ready(job: Job) -> tuple[Callable[[], Any], Device]:
    """What is counted, run once before, and its device."""
    if isinstance(job, str):
        with tempfile.TemporaryDirectory() as folder:
            inputs = gpu_nets.prepared({**gpu_nets.NETS, **gpu_nets.TINY_NETS}[job], Path(folder))
            net = Net(f"{folder}/p.prototxt", f"{folder}/w.caffemodel", phase="TEST", device="cuda:0")
        for _ in range(gpu_nets.READY):
            net.forward(**inputs)
        return net.forward, net.device
    rig = gpu_operators.Rig(job, open_device("cuda:0"))
    rig.forward()
    return rig.backward if job.backward else rig.forward, rig.device


def run(job: Job, path: Path) -> None:
    """In a process that has the stand-in: one pass, counted."""
    import stand_in

    work, device = ready(job)
    device.synchronize()
    stand_in.profile(os.devnull)
    work()
    device.synchronize()
    stand_in.profile(str(path))


def counted(job: Job, tiny: bool, variables: dict[str, str]) -> dict[str, dict[str, int]]:
    """Of each kernel that one pass launches, its counts, by COUNTS and by lines of its text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile"
        words = [job] if isinstance(job, str) else [str(cases(["^"], tiny).index(job)), "tiny" if tiny else "big"]
        subprocess.run([sys.executable, __file__, "--run", str(path), *words], env=variables, check=True)
        made: dict[str, dict[str, int]] = defaultdict(dict)
        for line in path.read_text().splitlines():
            kernel, counter, value = line.split("\t")
            made[kernel][counter] = int(value)
        return made


def least_ms(case: gpu_operators.Case) -> float:
    return 1000 * max(gpu_operators.moved(case) / H200[0], gpu_operators.operations(case) / H200[1])


def rows(job: Job, kernels: dict[str, dict[str, int]], lines: int) -> list[str]:
    """The table of one job."""
    made, total, read = [], 0, 0
    for name, of in sorted(kernels.items(), key=lambda item: -item[1]["instructions"]):
        _, instructions, threads, _, sectors, asked, waves, least = (of[count] for count in COUNTS)
        total, read = total + instructions, read + sectors * 32
        made.append(
            f"  {name:38.38} {instructions / 1e6:9.2f} {threads / max(instructions, 1) / 32:5.0%} "
            f"{asked / 1e6:9.1f} {sectors * 32 / 1e6:9.1f} {waves / 1e6:9.2f} {waves / max(least, 1):6.2f} "
            f"{1000 * instructions / ISSUED:8.4f}"
        )
        text = sorted(((value, line) for line, value in of.items() if line not in COUNTS), reverse=True)
        made += [f"      {value / 1e6:9.2f}  {line}" for value, line in text[:lines]]
    issued = 1000 * total / ISSUED
    if isinstance(job, str):
        name, beside = f"{job} forward, batch 1", f"sectors {1000 * read / H200[0]:.4f}"
    else:
        name = f"{job.operator}{' backward' if job.backward else ''}{', adaptive' if job.ratio == 0 else ''}"
        beside = f"roofline {least_ms(job):.4f}"
    return [f"{name:40} {total / 1e6:9.2f} {'':45} {issued:8.4f}   {beside}", *made]


def head() -> list[str]:
    """What stands above the rows."""
    columns = f"{'':40} {'million':>9} {'busy':>5} {'MB asked':>9} {'sectors':>9} {'shared':>9} {'times':>6} {'ms':>8}"
    return ["python benchmarks/warps.py: nvcc's PTX run on a CPU, nothing here was measured on a GPU", "", columns]


def cases(words: list[str], tiny: bool) -> list[gpu_operators.Case]:
    """The cases of the big shape, or of the small one, whose names have all words."""
    cases = gpu_operators.cases(quick=not tiny, tiny=tiny)
    return [
        c for c in cases if all(c.name.startswith(word[1:]) if word[0] == "^" else word in c.name for word in words)
    ]


def nets(words: list[str], tiny: bool) -> list[str]:
    names = gpu_nets.TINY_NETS if tiny else gpu_nets.NETS
    return [name for name in names if all(word.lstrip("^") in name for word in words)]


def main() -> int:
    if sys.argv[1:2] == ["--run"]:
        path, name, *tiny = sys.argv[2:]
        run(cases(["^"], tiny == ["tiny"])[int(name)] if tiny else name, Path(path))
        return 0
    parser = argparse.ArgumentParser(
        "warps.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", help="words that a row's name must have; one with ^ must begin it")
    parser.add_argument("--nets", action="store_true", help="forward passes of nets")
    parser.add_argument("--lines", type=int, default=0, help="how many lines of each kernel's text follow it")
    parser.add_argument("--tiny", action="store_true", help="a small shape")
    parser.add_argument("--out", type=Path, help="a file for the table; else it is printed")
    asked = parser.parse_args()
    from stand_in import run as stand_in_run

    printed = head()
    print("\n".join(printed), flush=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        os.environ["STAND_IN_PROFILE"] = os.devnull  # kernels that count are others
        variables = stand_in_run.environment(Path(folder) / "counts")
        stand_in_run.through_ptx(variables)
        variables["BOXPRESSO_DEBUG"] = "0"  # arrays as they lie without checks
        chosen: list[Job] = [*(nets(asked.words, asked.tiny) if asked.nets else cases(asked.words, asked.tiny))]
        for job, kernels in zip(chosen, pool.map(lambda job: counted(job, asked.tiny, variables), chosen)):
            printed += (more := rows(job, kernels, asked.lines))
            print("\n".join(more), flush=True)
    if asked.out:
        part = asked.out.with_name(f"{asked.out.name}.part")
        part.write_text("\n".join([f"{date.today()}, {printed[0]}", *printed[1:], ""]))
        part.replace(asked.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
