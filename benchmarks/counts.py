"""What can be counted of the region operators without a GPU: no number here is a measured time.

    python benchmarks/counts.py [--out FILE] [--without-nvcc]

First a row for each kernel of the region operators, of what chooses boxes, of Permute, and of chains of convolutions whose
channels are last, from the real nvcc in float32: registers of a thread on Turing and Hopper, shared memory of a block, the
share of a Hopper multiprocessor's threads that both leave room for in blocks of 256 (occupancy), and, where cuobjdump is on
PATH, loads and stores of 128 bits and those of local memory in Hopper's machine code. Then a row for each operator at the
big shape of the mlu-ops notes, [2, 256, 200, 304] with 998 regions: its launches, the fewest and the most blocks of one (as
many as there is work for, before an H200 takes them in waves), the bytes that must be moved, each array once, those of all
arrays of all launches, with room that lists may not fill (what a layout costs above the least), the operations of the plain
formula, and from these the roofline: the least milliseconds on an H200 and a T4. "all": the milliseconds that the bytes of all
arrays take at the bandwidth, an estimate from below of what these launches take, and the part of it that the roofline is.
Kernels that make lists come in addition. "given" and "sectors", of gradients in tiles: what all blocks fetch of the gradient of
the top, in bytes that they use and in sectors of 32 bytes, which the L2 cache gives (fetches.py). Blocks at the three other
shapes follow: they have 2 to 13 regions, which is what little work there is for a GPU.

Last a row for each launch of the layers that choose boxes: DetectionOutput and Proposal at the shapes of SSD300, SSD512 of
COCO's labels, and VGG16's Faster R-CNN; RotateProposal at those of RRPN, FPNProposal of a ResNet's pyramid, and YOLOv3's.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import ptxas  # noqa: E402

from benchmarks import fetches, gpu_operators  # noqa: E402
from boxpresso.device import Blob  # noqa: E402
from boxpresso.device.cuda import THREADS, Cuda  # noqa: E402
from boxpresso.layers.core import make_layer  # noqa: E402
from boxpresso.proto import parse_net  # noqa: E402

FOLDERS = ("regions",)
FILES = (
    "suppress", "permute", "order", "detection_choice", "proposal_choice", "pyramid_choice", "scale_route", "yolo_choice",
    "channels_last", "fields_choice", "frcnn_choice", "nms_choice", "ron", "mnc_stage",
    "places",
)  # fmt: skip
# Bytes a second that a copy reads and writes, and float32 operations a second, by datasheet (a copy on an H200 as it was seen).
MACHINES = {"H200": (4.3e12, 67e12), "T4": (0.32e12, 8.1e12)}
REGISTERS, SHARED, RESIDENT, BLOCKS = 65536, 228 << 10, 2048, 32  # of a Hopper multiprocessor
# What makes the tiles whose lists have no room: at these shapes there are none, and its blocks end at once.
IDLE = (
    "align_rotated_unlisted", "deform_roi_unlisted", "deform_roi_moves_rest", "separable_moves", "separable_unlisted",
)  # fmt: skip
RESERVED = 1 << 10  # bytes of shared memory that each block takes besides


class NoChecks:
    """In place of what a GPU's kernels tell the host."""

    def take(self) -> tuple[int, int]:
        return 0, 1

    def add(self, check: Any) -> None:
        """Nobody asks it."""


class Null:
    """A GPU that runs nothing: it only notes what is launched. Arrays are on the host, and zero."""

    kind, name, deterministic, workers, short_of_memory, debug = "cuda", "cuda:0", False, 1, False, False
    empty, table, part = Cuda.empty, Cuda.table, Cuda.part

    def __init__(self) -> None:
        self.launches: list[tuple[str, int]] = []  # kernel, blocks
        self.bytes = 0  # of the arrays of all launches
        self.planes = False  # whether a kernel that works in tiles reads the top's gradient as it lies
        self.memo: dict[Any, Any] = {}
        self.checks = NoChecks()

    def launch(self, kernel: Any, real: Any, args: Sequence[Any]) -> None:
        n = int(args[0])
        if n > 0:
            self.launches.append((kernel.name, n if kernel.blocks else -(-n // THREADS)))
            if kernel.name not in IDLE:
                self.bytes += sum(a.nbytes for a in args if hasattr(a, "nbytes"))
            self.planes |= "tiles" in kernel.name and "top_diff" in [p.name for p in kernel.parameters]

    def among(self, arrays: Any) -> Any:
        return nullcontext()

    def host_memory(self, count: int, dtype: Any) -> np.ndarray:
        return np.zeros(max(count, 1), dtype)[:count]

    def allocate(self, size: int) -> int:
        return 0

    def ignore(self, *args: Any) -> None:
        """What would copy or fill."""

    to_device = to_host = copy = clear = fill = synchronize = needs_host = ignore


def launches_of(case: gpu_operators.Case) -> list[tuple[str, int]]:
    """Kernels and their blocks in one pass of an operator."""
    return passed(case).launches


def passed(case: gpu_operators.Case) -> Null:
    """A device that has noticed one pass of an operator."""
    device = Null()
    rig = gpu_operators.Rig(case, device)  # type: ignore[arg-type]  # it has what layers ask of a device
    rig.forward()
    device.launches.clear()
    device.bytes = 0
    (rig.backward if case.backward else rig.forward)()
    return device


def least_ms(case: gpu_operators.Case, machine: str) -> float:
    """The roofline."""
    bandwidth, rate = MACHINES[machine]
    return 1000 * max(gpu_operators.moved(case) / bandwidth, gpu_operators.operations(case) / rate)


def operator_lines() -> Iterator[str]:
    head = f"{'operator':42} {'launches':>8} {'fewest':>8} {'most blocks':>11}"
    times = f"{'H200':>8} {'T4':>8} {'all H200':>8} {'all T4':>8} {'part':>6}"
    fetch = f"{'given':>7} {'sectors':>7}"
    yield f"{head}  {'of kernel':40} {'MB':>7} {'arrays':>7} {'Gop':>7} {times} {fetch}"
    for case in gpu_operators.cases(quick=True):
        device = passed(case)
        launches = device.launches
        name, most = max(launches, key=lambda pair: pair[1])
        title = f"{case.operator}{' backward' * case.backward}{', adaptive' * (case.ratio == 0)}"
        least = " ".join(f"{least_ms(case, machine):8.3f}" for machine in MACHINES)
        yield (
            f"{title:42} {len(launches):8} {min(blocks for _, blocks in launches):8} {most:11}  {name:40} "
            f"{gpu_operators.moved(case) / 1e6:7.1f} {device.bytes / 1e6:7.1f} "
            f"{gpu_operators.operations(case) / 1e9:7.2f} {least} {estimates(case, device.bytes)} "
            f"{given(case, device)}"
        )


def given(case: gpu_operators.Case, device: Null) -> str:
    """Megabytes of the top's gradient that the blocks of a gradient in tiles fetch, and of the sectors that hold them."""
    if not case.backward:
        return f"{'-':>7} {'-':>7}"
    places = 2 if "region_placed" in dict(device.launches) else 1  # each number with the place of its maximum
    return " ".join(f"{places * count / 1e6:7.1f}" for count in fetches.fetched(case, not device.planes))


def estimates(case: gpu_operators.Case, moved: int) -> str:
    """The milliseconds that so many bytes take on each machine, or the roofline where that is more, and the latter's part."""
    floors = [least_ms(case, machine) for machine in MACHINES]
    all_ = [max(1000 * moved / MACHINES[m][0], floor) for m, floor in zip(MACHINES, floors)]
    return f"{all_[0]:8.3f} {all_[1]:8.3f} {100 * floors[0] / all_[0]:4.0f} %"


def shape_lines() -> Iterator[str]:
    """The most blocks of a launch at each shape."""
    shapes: dict[tuple[int, ...], None] = {}
    rows: dict[str, list[str]] = {}
    for case in gpu_operators.cases():
        shapes[(*case.shape[2:], case.count)] = None
        title = f"{case.operator}{' backward' * case.backward}{', adaptive' * (case.ratio == 0)}"
        most = max(blocks for _, blocks in launches_of(case))
        rows.setdefault(title, []).append(f"{most:12}")
    names = [f"{height} x {width}, {count}" for height, width, count in shapes]
    yield f"{'most blocks of a launch at':42} {' '.join(f'{name:>14}' for name in names)}"
    for title, blocks in rows.items():
        yield f"{title:42} {' '.join(f'{most:>14}' for most in blocks)}"


SSD = """type: "DetectionOutput" detection_output_param { num_classes: LABELS code_type: CENTER_SIZE
    confidence_threshold: 0.01 keep_top_k: 200 nms_param { nms_threshold: 0.45 top_k: 400 } }"""
SIZES = [(200, 272), (100, 136), (50, 68), (25, 34), (13, 17)]
LEVELS = [(1, 3), *((1, 24, *size) for size in SIZES), *((1, 12, *size) for size in SIZES)]
ANCHORS = (116, 90, 156, 198, 373, 326, 30, 61, 62, 45, 59, 119, 10, 13, 16, 30, 33, 23)
YOLO = f"""type: "Yolov3DetectionOutput" yolov3_detection_output_param {{ num_classes: 80 num_box: 3 mask_group_num: 3
    anchors_scale: [32, 16, 8] mask: {list(range(9))} biases: {list(ANCHORS)} }}"""
FIELDS = f"""type: "BoxOutput" box_output_param {{ max_nms_num: 10000 max_post_nms_num: 2000
    {" ".join(f"field_w: {40 * 2**k} field_h: {40 * 2**k} downsample_rate: {8 * 2**k}" for k in range(4))} }}"""
CHOICES = {
    "DetectionOutput, SSD300": (SSD.replace("LABELS", "21"), [(1, 4 * 8732), (1, 21 * 8732), (1, 2, 4 * 8732)]),
    "the same, 8 images": (SSD.replace("LABELS", "21"), [(8, 4 * 8732), (8, 21 * 8732), (1, 2, 4 * 8732)]),
    "DetectionOutput, SSD512, 81 labels": (
        SSD.replace("LABELS", "81"),
        [(1, 4 * 24564), (1, 81 * 24564), (1, 2, 4 * 24564)],
    ),
    "Proposal, VGG16, 600 x 1000": ('type: "Proposal"', [(1, 18, 38, 63), (1, 36, 38, 63), (1, 3)]),
    "RotateProposal, VGG16, 600 x 1000": ('type: "RotateProposal"', [(1, 108, 38, 63), (1, 270, 38, 63), (1, 3)]),
    "FPNProposal, 800 x 1088, by level": ('type: "FPNProposal"', LEVELS),
    "YOLOv3, 416 x 416, 80 labels": (YOLO, [(1, 255, side, side) for side in (13, 26, 52)]),
    "MNCProposal, VGG16, 600 x 1000": ('type: "MNCProposal"', [(1, 18, 38, 63), (1, 36, 38, 63), (1, 3)]),
    "BoxOutput, MS-CNN, 576 x 1920": (FIELDS, [(1, 9, height, 3 * height + height // 3) for height in (72, 36, 18, 9)]),
    "FrcnnOutput, 300 regions, 21 labels": (
        'type: "FrcnnOutput" frcnn_output_param { conf_thr: 0.05 max_det_num: 100 }',
        [(300, 21), (300, 84), (300, 5), (1, 2)],
    ),
    "NMS, 6000 boxes": ('type: "NMS"', [(6000, 4), (6000,)]),
}
TOPS = {"FPNProposal, 800 x 1088, by level": 5}  # of others 1


def choice_lines() -> Iterator[str]:
    """The launches of the layers that choose boxes, and their blocks: as many as there is room for, whatever is found."""
    yield f"{'layer':42} {'kernel':24} {'blocks':>8}"
    for title, (text, shapes) in CHOICES.items():
        device: Any = Null()
        layer = make_layer(
            parse_net(f"layer {{ {text} }}").layer[0], device=device, dtype=np.float32, phase="TEST", seed=0
        )
        bottom = [Blob(shape, np.float32, device) for shape in shapes]
        top = [Blob((), np.float32, device) for _ in range(TOPS.get(title, 1))]
        layer.setup(bottom, top)
        layer.reshape(bottom, top)
        layer.forward_launch(bottom, top)
        for name, blocks in device.launches:
            yield f"{title:42} {name:24} {blocks:8}"
            title = ""


def occupancy(registers: int, shared: int) -> float:
    """The share of a Hopper multiprocessor's threads that blocks of THREADS threads fill."""
    by_registers = REGISTERS // (-(-registers // 8) * 8 * THREADS)
    by_shared = SHARED // (-(-shared // 128) * 128 + RESERVED)
    return min(by_registers, by_shared, RESIDENT // THREADS, BLOCKS) * THREADS / RESIDENT


def instructions(path: Path) -> dict[str, dict[str, int]]:
    """Of each kernel in a file of machine code: loads and stores of 128 bits, and those of local memory."""
    done = subprocess.run(
        ["cuobjdump", "-sass", "-arch", "sm_90", str(path)], capture_output=True, text=True, check=True
    )
    counts: dict[str, dict[str, int]] = {}
    kernel: dict[str, int] = {}
    for line in done.stdout.splitlines():
        if match := re.search(r"Function : (\w+)", line):
            kernel = counts.setdefault(match[1], {"load": 0, "store": 0, "local": 0})
        elif match := re.search(r"\s(LDG|STG|LDL|STL)\b([.\w]*)", line):
            wide = ".128" in match[2]
            kernel["load"] += match[1] == "LDG" and wide
            kernel["store"] += match[1] == "STG" and wide
            kernel["local"] += match[1] in ("LDL", "STL")
    return counts


def kernel_lines(path: Path) -> list[str]:
    """The rows of one file."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.fatbin"
        uses = ptxas.compile(path, "float", [(75, [75]), (90, [90])], output)
        sass = instructions(output) if shutil.which("cuobjdump") else {}
    made = []
    for kernel in sorted({use.kernel for use in uses}):
        old, new = (next(u for u in uses if u.kernel == kernel and u.architecture == a) for a in (75, 90))
        counts = sass.get(kernel)
        words = [f"{counts[key]:6}" if counts else f"{'-':>6}" for key in ("load", "store", "local")]
        made.append(
            f"{path.stem:24} {kernel:42} {old.registers:5} {new.registers:5} {new.shared:7} {max(old.spills, new.spills):6} "
            f"{100 * occupancy(new.registers, new.shared):8.0f} % {' '.join(words)}"
        )
    return made


def files() -> list[Path]:
    return [path for path in ptxas.files() if path.parent.name in FOLDERS or path.stem in FILES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, help="the file for the tables")
    parser.add_argument("--without-nvcc", action="store_true", help="the table of operators alone")
    asked = parser.parse_args()
    text = [f"{time.strftime('%Y-%m-%d')}, python benchmarks/counts.py: counted, nothing here was measured", ""]
    if not asked.without_nvcc:
        said = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
        text.append(next(line for line in said.splitlines() if "release" in line))
        text.append(f"{'':67} {'registers':>11} {'shared':>7} {'spills':>6} {'':10} {'128 bits':>13} {'local':>6}")
        head = f"{'file':24} {'kernel':42} {'75':>5} {'90':>5} {'bytes':>7} {'bytes':>6}"
        text.append(f"{head} {'occupancy':>10} {'loads':>6} {'stores':>6} {'memory':>6}")
        with ThreadPoolExecutor(2) as pool:
            for rows in pool.map(kernel_lines, files()):
                text += rows
        text.append("")
    text += [*operator_lines(), "", *shape_lines(), "", *choice_lines()]
    print("\n".join(text))
    if asked.out:
        part = asked.out.with_name(f"{asked.out.name}.tmp")
        part.write_text("\n".join(text) + "\n", encoding="utf-8")
        os.replace(part, asked.out)


if __name__ == "__main__":
    main()
