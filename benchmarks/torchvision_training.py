"""Training torchvision's Faster R-CNN and Mask R-CNN with our operators in the place of torchvision's, and beside them.

    python -m benchmarks.torchvision_training [--out FILE] [--size 320] [--rounds 4]

Needs torch and torchvision in the same Python; some three minutes on two processors. Steps of SGD of models of random weights
(ResNet-50 with a feature pyramid, two images) run with torch.use_deterministic_algorithms(True), with ours and with
torchvision's operators in turn, in one process; a time is the shortest. "Same bits" says whether two steps, twice from one
seed, give equal losses and weights with ours. On a shared machine only the ratios mean something.

Then the memory of the gradient of RoIAlign by deterministic algorithms, as pytorch/vision#8168 complains of it: on a GPU
torchvision takes its form in torch's operations for it (torchvision.ops.roi_align._roi_align), which is run here on the CPU,
as it is without a compiler, in a process of its own that may have 12 GiB. Memory is the most that the process held, less what
it held before. The thread gives no shapes but an input of 400 x 400 and "some 30 GB" for one of its arrays: a map of
(1, 256, 100, 100) with 60 boxes and 7 x 7 bins with as many samples as they have pixels is that much. The other shape is the
box head's of Mask R-CNN.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODELS = {"Faster R-CNN": "fasterrcnn_resnet50_fpn", "Mask R-CNN": "maskrcnn_resnet50_fpn"}
LIMIT = 12 * 2**30  # bytes of addresses beside those of the libraries
CASES = {"60 regions, adaptive": ((1, 256, 100, 100), 60, -1), "512 regions, 2 x 2": ((1, 256, 200, 200), 512, 2)}
FORMS = ("boxpresso", "torchvision's")


def trained(name: str, size: int) -> Callable[[], Any]:
    """A function that makes a step of SGD, and gives the loss and the weights."""
    import torch
    import torchvision

    torch.manual_seed(0)
    make = getattr(torchvision.models.detection, name)
    model = make(weights=None, weights_backbone=None, num_classes=3, min_size=size, max_size=size * 3 // 2)
    solver = torch.optim.SGD(model.parameters(), lr=1e-4)
    images = [torch.rand(3, size, size * 3 // 2) for _ in range(2)]
    boxes = torch.tensor([[0.1, 0.1, 0.5, 0.7], [0.3, 0.2, 0.9, 0.9], [0.6, 0.1, 0.8, 0.4]])
    masks = torch.zeros(len(boxes), size, size * 3 // 2, dtype=torch.uint8)
    boxes = boxes * torch.tensor([size * 1.5, size, size * 1.5, size])
    for mask, (left, top, right, bottom) in zip(masks, boxes.int().tolist()):
        mask[top:bottom, left:right] = 1
    targets = [{"boxes": boxes, "labels": torch.tensor([1, 2, 1]), "masks": masks} for _ in images]

    def step() -> Any:
        solver.zero_grad()
        loss = sum(model(images, targets).values())
        loss.backward()
        solver.step()
        return [loss.detach(), *(value.clone() for value in model.state_dict().values())]

    return step


def times(size: int, rounds: int) -> list[str]:
    """A line for each model."""
    import torch

    import boxpresso.torch as ours

    torch.use_deterministic_algorithms(True)
    lines = []
    for title, name in MODELS.items():
        with ours.replacing("torchvision"):
            ends = []
            for _ in range(2):
                step = trained(name, size)
                ends.append((step(), step())[1])
        same = all(map(torch.equal, *ends))
        del ends
        step, least = trained(name, size), dict.fromkeys(FORMS, float("inf"))
        step()
        for _ in range(rounds):
            for form in FORMS:
                if form == "boxpresso":
                    ours.replace("torchvision")
                torch.manual_seed(1)  # the regions that are drawn
                start = time.perf_counter()
                step()
                least[form] = min(least[form], time.perf_counter() - start)
                ours.restore("torchvision")
        mine, theirs = least.values()
        lines.append(f"{title:<14} {mine:9.3f} {theirs:14.3f} {mine / theirs:7.3f}  {'yes' if same else 'NO'}")
    return lines


def kilobytes(name: str) -> int:
    """Of this process, as Linux counts them."""
    return int(re.findall(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())[0])


def held(form: str, case: str) -> str:
    """The memory that a form takes for the gradient of a case, in this process."""
    import torch
    import torchvision

    import boxpresso.torch as ours

    shape, count, ratio = CASES[case]
    torch.manual_seed(0)
    corners = torch.rand(count, 2) * 200
    rois = torch.cat([torch.zeros(count, 1), corners, corners + 20 + torch.rand(count, 2) * 180], 1)
    theirs = sys.modules["torchvision.ops.roi_align"]._roi_align.__wrapped__  # type: ignore[attr-defined]
    small = torch.rand(1, 2, 8, 8, requires_grad=True)
    run = {
        "boxpresso": lambda x, rois: ours.roi_align(x, rois, 7, 0.25, ratio, False),
        "torchvision's": lambda x, rois: theirs(x, rois, 0.25, 7, 7, ratio, False),
    }[form]
    run(small, rois[:2] / 40).sum().backward()  # what is made once
    x = torch.rand(shape, requires_grad=True)
    assert torchvision.__version__
    Path("/proc/self/clear_refs").write_text("5")  # the most from now on; a process begins with what its parent held
    before = kilobytes("VmRSS")
    addresses = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (addresses + LIMIT, addresses + LIMIT))
    try:
        run(x, rois).sum().backward()
    except (RuntimeError, MemoryError) as error:
        asked = re.search(r"allocate (\d+)", str(error))
        return f"{int(asked[1]) / 2**30:.1f} GiB for one array: refused" if asked else str(error).splitlines()[0]
    return f"{(kilobytes('VmHWM') - before) / 2**20:.2f} GiB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--size", type=int, default=320, help="of the shorter side of the images")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--held", nargs=2, metavar=("FORM", "CASE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.held:
        print(held(*args.held))
        return
    import torch
    import torchvision

    lines = [f"torch {torch.__version__}, torchvision {torchvision.__version__}, {torch.get_num_threads()} threads,"]
    lines.append(f"two images of {args.size} x {args.size * 3 // 2}")
    lines.append(f"{'seconds a step':<14} {FORMS[0]:>9} {FORMS[1]:>14} {'ratio':>7}  same bits")
    lines += times(args.size, args.rounds)
    lines += ["", "memory of RoIAlign and its gradient, 7 x 7 bins, deterministic"]
    for case, (shape, *_) in CASES.items():
        for form in FORMS:
            command = [sys.executable, "-m", "benchmarks.torchvision_training", "--held", form, case]
            result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            said = result.stdout.strip() or (result.stderr.strip().splitlines() or ["it ended"])[-1]
            lines += [f"{case} of {list(shape)},", f"  {form}: {said}"]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if args.out:
        args.out.write_text(text)


if __name__ == "__main__":
    main()
