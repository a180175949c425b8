"""Everything that a GPU is to prove and to measure, in at most 8 minutes, without a network; one table, the worst ratio first.

    python benchmarks/gpu.py [--quick] [--out FILE] [--device cuda] [--minutes 8] [SECTION...]

Sections, in this order: ceilings (what a copy and matrix products reach here), operators (region operators and Permute, forward
and backward, beside torchvision's), nets (SSD300, MobileNet-SSD, Faster R-CNN, beside torch in float32, TF32 and channels
last), steps (forward and backward of a trunk), training (the shapes example), accuracy (each operator against float64).

Each section runs in a process of its own, which starts again behind a case that fails, or takes half the section's time, so
that none takes another along. The table is written anew after each row: what was measured stays, whenever this is ended.
Times of operators are medians by events with cold caches, small ones of both sides as CUDA graphs; those of nets by the clock,
outputs on the host, torch's launched one by one and as a graph. Where a net has layers that torch can only do by ours, the rest
of it is a case of its own and has the bar. `least` is the time that the ceilings allow for the bytes that must be moved (each
array once) or the operations of the plain formula, whichever is longer. `bar` is what is asked of us: half the time of
torchvision, the time of torch in the same precision for nets (as a graph where it can be one), else twice `least`. The ratio is
our time over the bar: at most 1 is met. --quick measures one shape and less long; --tiny runs everything on arrays of a few
kilobytes, to try the command where there is no GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks import gpu_nets, gpu_operators  # noqa: E402
from benchmarks.cases import TRUNKS  # noqa: E402
from benchmarks.gpu_timing import Timer, torch_graph, torch_ms  # noqa: E402
from boxpresso.device import Device, open_device  # noqa: E402

Row = dict[str, Any]
SHARES = {"ceilings": 25, "operators": 160, "nets": 125, "steps": 50, "training": 50, "accuracy": 55}  # of 465 seconds
# GB/s and GFLOP/s in float32 by the datasheet, where the ceilings could not be measured.
DATASHEET = {"H200": (4800, 67000), "H100": (3350, 67000), "A100": (1555, 19500), "T4": (320, 8100)}
PEERS = ("torch", "torchvision")  # what is measured beside us, where it is there
MARK = "row "
PART = 0.5  # of its section's time, that a case may take
SMALL = 0.25  # milliseconds below which both sides are replayed as graphs
LEAST = 15.0  # seconds that a case, or the end of a process, may take at least
PROGRAM = Path(__file__).resolve()  # what a child process runs


def ceiling_rows(name: str, device: Device, seconds: float, tiny: bool) -> Iterator[Row]:
    """What a device-to-device copy moves (bytes read and written), and what a product of square matrices computes."""
    timer = Timer(device, seconds, tiny)
    if name == "copy":
        count = 1 << (12 if tiny else 28)
        source, target = device.empty((count,), np.float32), device.empty((count,), np.float32)
        source.fill(1)
        target.fill(0)
        ms = timer.ms(lambda: target.__setitem__(Ellipsis, source), cold=False)
        yield {"name": "copy", "ms": ms, "rate": 8 * count / ms / 1e6, "unit": "GB/s"}
        return
    side = 64 if tiny else 8192
    work = 2 * side**3
    if name == "GEMM float32":
        from boxpresso.device import blas

        a, b, c = (device.empty((side, side), np.float32) for _ in range(3))
        a.fill(1)
        b.fill(1)
        ms = timer.ms(lambda: blas.gemm(device, False, False, side, side, side, 1.0, a, b, 0.0, c), cold=False)
    else:
        torch = gpu_nets.cuda_torch()
        torch.backends.cuda.matmul.allow_tf32 = "TF32" in name
        kind = torch.bfloat16 if "bf16" in name else torch.float32
        a, b = (torch.ones(side, side, device="cuda", dtype=kind) for _ in range(2))
        ms = torch_ms(lambda: a @ b, seconds, cold=False)
    yield {"name": name, "ms": ms, "rate": work / ms / 1e6, "unit": "GFLOP/s"}


def operator_rows(name: str, device: Device, seconds: float, tiny: bool) -> Iterator[Row]:
    """One operator at one shape, forward and backward."""
    if name.startswith("Permute"):
        yield from permute_rows(name, device, seconds, tiny)
        return
    pair = [case for case in gpu_operators.cases(tiny=tiny) if item_of(case) == name]
    rig, timer = gpu_operators.Rig(pair[0], device), Timer(device, seconds, tiny)
    for case in pair:
        row: Row = {"name": case.name, "bytes": gpu_operators.moved(case), "operations": gpu_operators.operations(case)}
        mine, theirs = rig.backward if case.backward else rig.forward, partial(gpu_operators.peer, case, rig)
        yield row | beside(timer, mine, "torchvision", theirs)


def beside(timer: Timer, ours: Callable[[], Any], peer: str, theirs: Callable[[], Callable[[], Any] | None]) -> Row:
    """The time of a call of ours, and of a peer's where `theirs` gives one. Where one takes less than SMALL milliseconds, what
    the host needs to launch would be measured: then both are replayed as graphs, or, where one cannot be, neither."""
    row: Row = {"ms": timer.ms(ours), "peers": {}}
    call: Callable[[], Any] | None = None
    try:
        call = theirs()
        if call is not None:
            row["peers"][peer] = torch_ms(call, timer.seconds)
    except Exception as error:
        row["why"] = f"{peer}: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    if timer.device.kind == "cpu" or min(row["ms"], *row["peers"].values(), SMALL) == SMALL:
        return row
    replay, other = timer.graph(ours), torch_graph(call) if row["peers"] and call else None
    if replay is None or (row["peers"] and other is None):
        row["note"] = f"launched one by one: {'ours' if replay is None else peer} cannot be captured"
        return row
    apart = ", ".join([f"{row['ms']:.4f}", *(f"{name} {ms:.4f}" for name, ms in row["peers"].items())])
    row["ms"], row["note"] = timer.ms(replay), f"as graphs; launched one by one: {apart}"
    if other is not None:
        row["peers"][peer] = torch_ms(other[0], timer.seconds)
    return row


def permute_rows(name: str, device: Device, seconds: float, tiny: bool) -> Iterator[Row]:
    """SSD's Permute, and its gradient."""
    from boxpresso import Blob
    from boxpresso.layers.core import make_layer
    from boxpresso.proto import parse_net

    shape = tuple(int(word) for word in name.split()[1].split("x"))
    text = 'layer { type: "Permute" permute_param { order: 0 order: 2 order: 3 order: 1 } }'
    layer = make_layer(parse_net(text).layer[0], device=device)
    bottom, top = [Blob(shape, np.float32, device)], [Blob((), np.float32, device)]
    bottom[0].data.fill(1)
    layer.setup(bottom, top)
    layer.reshape(bottom, top)
    top[0].diff.fill(1)
    timer, size = Timer(device, seconds, tiny), 8 * int(np.prod(shape))
    calls: list[tuple[str, Callable[[], Any]]] = [
        (name, lambda: layer.forward(bottom, top)),
        (name.replace("Permute", "Permute backward"), lambda: layer.backward(top, [True], bottom)),
    ]

    def theirs(order: tuple[int, ...], size: tuple[int, ...]) -> Callable[[], Any]:
        x = gpu_nets.cuda_torch().ones(*size, device="cuda")
        return lambda: x.permute(*order).contiguous()

    peers = partial(theirs, (0, 2, 3, 1), shape), partial(theirs, (0, 3, 1, 2), tuple(top[0].shape))
    for (title, call), peer in zip(calls, peers):
        yield {"name": title, "bytes": size, "operations": 0} | beside(timer, call, "torch", peer)


def accuracy_rows(name: str, device: Device, seconds: float, tiny: bool) -> Iterator[Row]:
    """An operator in float32 on the device against float64 on the CPU: sum |difference| / sum |wanted|."""
    shape, count, scale = gpu_operators.TINY[0] if tiny else ((2, 32, 100, 152), 200, 1 / 8)
    group = gpu_operators.OPERATORS[name].group
    channels = max(shape[1] // group, 1) * group
    case = gpu_operators.Case(name, (shape[0], channels, *shape[2:]), count, scale)
    start = time.perf_counter()
    got = gpu_operators.Rig(case, device).results()
    again = gpu_operators.Rig(case, device).results()
    wanted = gpu_operators.Rig(case, open_device("cpu"), np.float64).results()
    error = gpu_operators.difference(got, wanted)
    row: Row = {"name": f"{name} against float64", "error": error, "seconds": time.perf_counter() - start}
    if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(got, again)):
        row["failed"] = "a second run gave other bits"
    elif not error <= 3e-3:
        row["failed"] = f"differs by {error:.2g}, more than 3e-3"
    yield row


def item_of(case: gpu_operators.Case) -> str:
    """The name that a case and its other direction share."""
    return case.name.replace(" backward", "")


def batches(tiny: bool) -> tuple[int, int]:
    """The batches of a net, each a case of its own: a net may take one image alone."""
    return (1, 2) if tiny else (1, 8)


def items(section: str, quick: bool, tiny: bool) -> list[str]:
    """What a section measures, in the order of its importance."""
    if section == "ceilings":
        return ["copy", "GEMM float32", "torch GEMM float32", "torch GEMM TF32", "torch GEMM bf16"]
    if section == "operators":
        shapes = (gpu_operators.TINY if tiny else gpu_operators.PYRAMID)[: 1 if quick else None]
        names = list(dict.fromkeys(item_of(case) for case in gpu_operators.cases(quick, tiny)))
        return [*names, *(f"Permute {'x'.join(map(str, shape))}" for shape, _, _ in shapes)]
    if section == "nets":
        return [f"{name}, batch {n}" for name in (gpu_nets.TINY_NETS if tiny else gpu_nets.NETS) for n in batches(tiny)]
    if section == "steps":
        return [gpu_nets.SMALL] if tiny else list(TRUNKS)
    if section == "training":
        return ["shapes example"]
    return list(gpu_operators.OPERATORS)


ROWS: dict[str, gpu_nets.Rows] = {
    "ceilings": ceiling_rows, "operators": operator_rows, "nets": gpu_nets.net_rows, "steps": gpu_nets.step_rows,
    "training": gpu_nets.training_rows, "accuracy": accuracy_rows,
}  # fmt: skip


def child(section: str, names: list[str], device: str, seconds: float, tiny: bool) -> None:
    """Measures; prints a line for each case as it starts, and one for each row."""
    opened = open_device(device)
    for name in names:
        print(f"{MARK}{json.dumps({'starts': name})}", flush=True)
        try:
            for row in ROWS[section](name, opened, seconds, tiny):
                print(f"{MARK}{json.dumps(row)}", flush=True)
        except Exception as error:
            if isinstance(error, ImportError) and error.name in PEERS:
                print(f"{MARK}{json.dumps({'name': name, 'missing': str(error)})}", flush=True)
                continue
            last = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
            print(f"{MARK}{json.dumps({'name': name, 'failed': said[:300]})}", flush=True)
            opened.synchronize()  # a broken context fails here, and this process ends


def measured(section: str, asked: argparse.Namespace, limit: float) -> Iterator[Row]:
    """The rows of a section from child processes; one that ends early is followed by another for the cases behind."""
    names, deadline = items(section, asked.quick, asked.tiny), time.monotonic() + limit
    while names and time.monotonic() < deadline:
        command = [sys.executable, str(PROGRAM), "--child", section, "--device", asked.device]
        command += ["--seconds", str(0.0 if asked.tiny else 0.06 if asked.quick else 0.15)] + ["--tiny"] * asked.tiny
        process = subprocess.Popen(
            [*command, "--names", json.dumps(names)], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        lines: queue.Queue[str | None] = queue.Queue()
        reader = threading.Thread(target=read, args=(process, lines), daemon=True)
        reader.start()
        current, late, hangs, ended = "", False, False, False
        begun, patience = time.monotonic(), max(PART * limit, LEAST)
        try:
            while True:
                last = min(deadline, begun + patience)
                try:
                    line = lines.get(timeout=max(last - time.monotonic(), 0.01))
                except queue.Empty:
                    late, hangs = last == deadline, last < deadline
                    break
                ended = line is None
                if line is None:
                    break
                if not line.startswith(MARK):
                    print(line, end="", file=sys.stderr)
                    continue
                row = json.loads(line[len(MARK) :])
                if "starts" in row:
                    current, begun = row["starts"], time.monotonic()
                    continue
                yield {"section": section, **row}
        finally:  # also where this process is told to end
            if not ended:
                process.kill()
            try:
                status = process.wait(LEAST)
            except subprocess.TimeoutExpired:  # it does not get rid of its GPU
                process.kill()
                status = process.wait()
        names = names[names.index(current) + 1 :] if current else ([] if status else names)
        if late:
            names = [current, *names] if current else items(section, asked.quick, asked.tiny)
            break
        if not status:
            return
        why = f"no end after {patience:.0f} s" if hangs else f"its process ended with status {status}"
        yield {"section": section, "name": current or section, "failed": why}
    for name in names:
        yield {"section": section, "name": name, "failed": f"not measured: out of the {limit:.0f} s of its section"}


def read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    for line in process.stdout or ():
        lines.put(line)
    lines.put(None)


def ceilings_of(rows: list[Row], device: str) -> tuple[float, float, str]:
    """GB/s and GFLOP/s, and where they are from."""
    rates = {row["name"]: row["rate"] for row in rows if row["section"] == "ceilings" and "rate" in row}
    sheet = next(((name, rates_of) for name, rates_of in DATASHEET.items() if name in device), ("", (0, 0)))
    bandwidth = rates.get("copy") or sheet[1][0]
    computed = max(rates.get("GEMM float32", 0), rates.get("torch GEMM float32", 0)) or sheet[1][1]
    return bandwidth, computed, "measured" if "copy" in rates else f"datasheet of {sheet[0]}" if sheet[0] else "unknown"


def judged(row: Row, bandwidth: float, computed: float) -> Row:
    """A row with its `least` time, its `bar` and its ratio, as far as they are known."""
    made = dict(row)
    if row.get("bytes") and bandwidth and computed:
        made["least"] = max(row["bytes"] / bandwidth / 1e6, row["operations"] / computed / 1e6)
    peers = row.get("peers") or {}
    if row["section"] == "operators":
        if "torchvision" in peers:
            made["bar"], made["of"] = peers["torchvision"] / 2, "torchvision / 2"
        elif "torch" in peers:
            made["bar"], made["of"] = peers["torch"], "torch"
        elif "least" in made:
            made["bar"], made["of"] = 2 * made["least"], "2 x least"
    elif mode := next((name for name in ("torch float32, graph", "torch float32") if name in peers), ""):
        made["bar"], made["of"] = peers[mode], mode
    if made.get("bar") and "ms" in row:
        made["ratio"] = row["ms"] / made["bar"]
    return made


def table(rows: list[Row], bandwidth: float, computed: float) -> list[str]:
    """All rows: what failed, then the worst ratio first, then those without a bar."""
    made = [judged(row, bandwidth, computed) for row in rows]
    failed, missing = ([row for row in made if key in row] for key in ("failed", "missing"))
    rest = [row for row in made if not row.keys() & {"failed", "missing"}]
    rest.sort(key=lambda row: (-row.get("ratio", -1.0), row["section"], row["name"]))
    lines = [f"{'':66} {'ms':>9} {'least':>8} {'GB/s':>7} {'bar':>9} {'ratio':>7}"]
    number = lambda row, key, form: format(row[key], form) if row.get(key) is not None else "-"  # noqa: E731
    for row in rest:
        rate = row["bytes"] / row["ms"] / 1e6 if row.get("bytes") and row.get("ms") else None
        cells = f"{number(row, 'ms', '9.4f'):>9} {number(row, 'least', '8.4f'):>8} {f'{rate:.0f}' if rate else '-':>7} "
        cells += f"{number(row, 'bar', '9.4f'):>9} {number(row, 'ratio', '7.2f'):>7}"
        more = [f"of {row['of']}"] if "of" in row else []
        more += [f"{name} {ms:.3f}" for name, ms in (row.get("peers") or {}).items()]
        more += [f"{row['rate']:.0f} {row['unit']}"] if "rate" in row else []
        more += [f"error {row['error']:.2g}"] if "error" in row else []
        more += [row[key] for key in ("note", "why") if row.get(key)]
        lines.append(f"{row['name'][:66]:66} {cells}  {'; '.join(more)}".rstrip())
    if missing:
        lines += ["", "not here:", *(f"  {row['section']}: {row['name']}: {row['missing']}" for row in missing)]
    if failed:
        lines += [
            "",
            f"{len(failed)} FAILED:",
            *(f"  {row['section']}: {row['name']}: {row['failed']}" for row in failed),
        ]
    return lines


def machine(device: str) -> str:
    """The device, its driver, and the versions of what is measured beside us."""
    words = [open_device(device).describe()]
    try:
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        words.append("driver " + subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()[0])
    except (OSError, subprocess.CalledProcessError, IndexError):
        words.append("driver unknown")
    for name in ("pycuda", "torch", "torchvision"):
        try:
            module = import_module(name)
            version = getattr(module, "VERSION_TEXT", None) or getattr(module, "__version__", "?")
        except Exception:
            version = "missing"
        words.append(f"{name} {version}")
    return ", ".join(words)


def main() -> int:
    parser = argparse.ArgumentParser("gpu.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"some of {', '.join(SHARES)}; all")
    parser.add_argument("--quick", action="store_true", help="one shape of the operators, shorter medians, 2 minutes")
    parser.add_argument("--tiny", action="store_true", help="arrays of a few kilobytes, for a trial without a GPU")
    parser.add_argument("--out", type=Path, help="the file for the table; FILE.json beside it has the rows")
    parser.add_argument("--device", default="cuda", help="cuda (the default), cuda:N or cpu")
    parser.add_argument("--minutes", type=float, help="at most so long (8; 3 with --quick)")
    for name in ("--child", "--names"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=0.15, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child, json.loads(asked.names), asked.device, asked.seconds, asked.tiny)
        return 0
    unknown = [name for name in asked.sections if name not in SHARES]
    if unknown:
        parser.error(f"unknown section {unknown[0]!r}: choose from {', '.join(SHARES)}")
    chosen = [name for name in SHARES if name in (asked.sections or SHARES)]
    scale = 60 * (asked.minutes or (3 if asked.quick else 8)) - 10  # seconds; the rest is for starting and the table
    scale /= sum(SHARES[name] for name in chosen)
    about = (
        f"{time.strftime('%Y-%m-%d %H:%M')}, python benchmarks/gpu.py {' '.join(sys.argv[1:])}\n{machine(asked.device)}"
    )
    print(about, flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the process that measures ends too
    rows, spare = [], 0.0
    for section in chosen:
        limit, start = SHARES[section] * scale + spare, time.monotonic()
        for row in measured(section, asked, limit):
            rows.append(row)
            shown = (
                row.get("failed")
                or row.get("missing")
                or (f"{row['ms']:.4f} ms" if "ms" in row else f"error {row.get('error', 0):.2g}")
            )
            print(f"  {section}: {row['name']}: {shown}", flush=True)
            report(about, rows, asked.out)
        spare = max(limit - (time.monotonic() - start), 0.0)
    print("\n" + report(about, rows, asked.out))
    return int(any("failed" in row for row in rows))


def report(about: str, rows: list[Row], out: Path | None) -> str:
    """The table of the rows so far, which is written to `out`, and the rows beside it."""
    bandwidth, computed, source = ceilings_of(rows, about)
    head = f"ceilings ({source}): {bandwidth:.0f} GB/s read and written, {computed / 1000:.1f} TFLOP/s float32"
    text = "\n".join([about, head, "", *table(rows, bandwidth, computed)]) + "\n"
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        for path, content in ((out, text), (out.with_name(f"{out.name}.json"), json.dumps(rows, indent=1))):
            part = path.with_name(f"{path.name}.tmp")
            part.write_text(content, encoding="utf-8")
            os.replace(part, path)
    return text


if __name__ == "__main__":
    sys.exit(main())
