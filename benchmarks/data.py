"""What making batches costs: SSD's augmentation and plain digits, by threads and by processes, alone and beside a net.

    python benchmarks/data.py

Pictures of 500 x 375 drawn here, as JPEGs in an LMDB, through all of SSD's augmentation to 300 x 300 in batches of 32. Where
torchvision is installed, its own SSD augmentation (the one of its reference training) runs over the same files in
torch's DataLoader. The net beside is MobileNet-SSD with a quarter of its channels, batches of 8, forward, backward and update.
Each number is the best of three tries.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import PIL
from PIL import Image, ImageDraw

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from boxpresso import Net, Solver
from boxpresso.data.picture import encode
from boxpresso.data.records import boxes_of, make_annotated, make_datum, open_records, parse, write_records
from boxpresso.layers.data.batches import BatchLayer
from boxpresso.proto import AnnotatedDatum, NetParameter, parse_net, parse_solver
from examples.ssd.model import NETS

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

KINDS = ("0", "threads:1", "threads:2", "processes:1", "processes:2")
PICTURES = 128


def scenes() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pictures B, G, R with soft ground and three boxes each."""
    for seed in range(PICTURES):
        rng = np.random.default_rng(seed)
        coarse = Image.fromarray(rng.integers(0, 256, (12, 16, 3)).astype(np.uint8))
        ground = coarse.resize((500, 375), Image.Resampling.BICUBIC)
        draw, boxes = ImageDraw.Draw(ground), np.zeros((3, 7), np.float32)
        for row in boxes:
            x, y, w, h = rng.uniform(0, 0.5), rng.uniform(0, 0.5), rng.uniform(0.1, 0.5), rng.uniform(0.1, 0.5)
            row[0], row[2:6] = rng.integers(1, 21), (x, y, x + w, y + h)
            corners = (row[2:6] * [500, 375, 500, 375]).tolist()
            draw.ellipse(corners, fill=tuple(rng.integers(0, 256, 3).tolist()))
        yield np.asarray(ground)[..., ::-1], boxes


def ssd(source: Path, batch: int) -> NetParameter:
    """MobileNet-SSD's own train net, a quarter as wide, over our pictures."""
    net = NETS["mobilenet_300"]("train", width=0.25).to_proto()
    data = next(layer for layer in net.layer if layer.type == "AnnotatedData")
    data.data_param.source, data.data_param.batch_size = str(source), batch
    data.annotated_data_param.ClearField("label_map_file")
    return net


def digits(source: Path) -> NetParameter:
    return parse_net(
        f'layer {{ name: "data" type: "Data" top: "data" top: "label" data_param {{ source: "{source}" batch_size: 64 }} '
        "transform_param { scale: 0.00390625 } }"
    )


def speed(step: Callable[[], object], images: int, seconds: float = 1.5) -> float:
    """Images a second, once warm; the best of three tries of so many seconds."""
    step(), step()
    rates = []
    for _ in range(3):
        start, done = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            step()
            done += images
        rates.append(done / (time.perf_counter() - start))
    return max(rates)


def alone(net: NetParameter, kind: str) -> str:
    """The data layer by itself."""
    only = NetParameter(name="data")
    only.layer.add().CopyFrom(next(layer for layer in net.layer if layer.type.endswith("Data")))
    made = Net(only, phase="TRAIN", device="cpu", seed=0)
    layer = made.layers[0]
    layer.workers = kind
    rate = speed(made.forward, made.blobs["data"].shape[0])
    layer.close()
    return f"{rate:10.0f}"


def training(net: NetParameter, kind: str, batch: int) -> str:
    """Images a second of a solver's steps, and the share of them spent waiting for data."""
    param = parse_solver('base_lr: 0.0001 lr_policy: "fixed" momentum: 0.9 random_seed: 1 solver_mode: CPU')
    param.train_net_param.CopyFrom(net)
    solver = Solver(param, log=lambda line: None)
    layer = next(layer for layer in solver.net.layers if isinstance(layer, BatchLayer))
    layer.workers = kind
    solver.step(2)  # warm: kernels, workers, and the batches made ahead
    tries = []
    for _ in range(3):
        start, before = time.perf_counter(), layer.loader.waiting
        solver.step(10)
        lapse = time.perf_counter() - start
        tries.append((10 * batch / lapse, (layer.loader.waiting - before) / lapse))
    layer.close()
    best, waiting = max(tries)
    return f"{best:13.1f} {waiting:8.1%}"


class Torch:
    """torchvision's augmentation of its SSD reference training, to 300 x 300, over the same files."""

    def __init__(self, records: list[bytes]) -> None:
        from torchvision.transforms import v2

        self.records = records
        self.change = v2.Compose([
            v2.ToImage(), v2.RandomPhotometricDistort(), v2.RandomZoomOut(fill=[123, 117, 104]), v2.RandomIoUCrop(),
            v2.RandomHorizontalFlip(), v2.Resize((300, 300), antialias=False), v2.ToDtype(torch.float32),
        ])  # fmt: skip

    def __len__(self) -> int:
        return len(self.records) * 100

    def __getitem__(self, index: int) -> torch.Tensor:
        from torchvision import tv_tensors

        record = parse(AnnotatedDatum(), self.records[index % len(self.records)], "")
        picture = Image.open(io.BytesIO(record.datum.data)).convert("RGB")
        corners = boxes_of(record)[:, 2:6] * [500, 375, 500, 375]
        boxes = tv_tensors.BoundingBoxes(torch.from_numpy(corners), format="XYXY", canvas_size=(375, 500))
        return self.change(picture, {"boxes": boxes, "labels": torch.ones(len(corners))})[0]


def torchvision(source: Path, workers: int) -> str:
    records = open_records(str(source))
    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(Torch([records[i] for i in range(len(records))]), 32, num_workers=workers)
    batches = iter(loader)
    return f"{speed(lambda: next(batches), 32):10.0f}"


def main() -> None:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        pictures, small = Path(folder) / "pictures", Path(folder) / "digits"
        write_records(pictures, (
            (f"{i:08d}", make_annotated(make_datum(encode(picture)), boxes).SerializeToString())
            for i, (picture, boxes) in enumerate(scenes())
        ))  # fmt: skip
        rng = np.random.default_rng(0)
        write_records(small, (
            (f"{i:08d}", make_datum(rng.integers(0, 256, (28, 28, 1)).astype(np.uint8), i % 10).SerializeToString())
            for i in range(2048)
        ))  # fmt: skip
        print(f"{os.cpu_count()} cores, numpy {np.__version__}, Pillow {PIL.__version__}")
        print(f"{'images a second':22} {'digits':>10} {'SSD':>10} {'beside a net':>13} {'waiting':>8}")
        for kind in KINDS:
            parts = alone(digits(small), kind), alone(ssd(pictures, 32), kind), training(ssd(pictures, 8), kind, 8)
            print(f"{kind:22}", *parts, flush=True)
        for workers in (1, 2) if torch else ():
            print(f"{f'torchvision, {workers} worker':22} {'':10} {torchvision(pictures, workers)}", flush=True)


if __name__ == "__main__":
    main()
