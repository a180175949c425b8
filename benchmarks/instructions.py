"""Instructions of a forward pass on aarch64, here, in ncnn and in onnxruntime, counted under qemu.

    python -m benchmarks.instructions FOLDER [nets]

FOLDER is that of tests/levels/aarch64.py, where the wheels of ncnn and onnxruntime are added. A count is the difference of two
runs of one thread, of 2 and of 6 passes, so that what a program does once is in none; it tells the work of a core, and says
nothing of memory. All compute in float32, with random weights. Chains of convolutions are written for each; whole nets, of
examples/ without the layer that chooses boxes, are exported as ONNX, which ncnn does not read.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from boxpresso import Net
from boxpresso.exports import export_onnx
from boxpresso.proto import read_net
from boxpresso.summary import summarise

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RUNS = (2, 6)
# (channels, side of the image, layers); a layer is (filters, side of the window, groups, stride), with bias and ReLU.
NETS = {
    "1x1, 128 to 128": (128, 38, [(128, 1, 1, 1)] * 4),
    "3x3, 64 to 64": (64, 38, [(64, 3, 1, 1)] * 4),
    "3x3, stride 2": (64, 38, [(64, 3, 1, 2), (128, 3, 1, 2)]),
    "depthwise 3x3": (128, 38, [(128, 3, 128, 1)] * 4),
    "MobileNet's pairs": (64, 38, [(64, 3, 64, 1), (128, 1, 1, 1), (128, 3, 128, 2), (256, 1, 1, 1), (256, 3, 256, 1),
                                   (256, 1, 1, 1)]),
    "3x3 of an image": (3, 150, [(32, 3, 1, 2)]),
}  # fmt: skip

OURS = """
import sys, numpy as np
from boxpresso import Net
net = Net(sys.argv[1], device="cpu")
(name,) = net.inputs
x = np.random.default_rng(0).standard_normal(net.blobs[name].shape).astype(np.float32)
for _ in range(int(sys.argv[2])):
    net.forward(**{name: x})
"""
NCNN = """
import sys, numpy as np, ncnn
net = ncnn.Net()
net.opt.num_threads = 1
net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
net.load_param(sys.argv[1])
net.load_model(sys.argv[1].replace(".param", ".bin"))
channels, side, last = int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
x = np.random.default_rng(0).standard_normal((channels, side, side)).astype(np.float32)
for _ in range(int(sys.argv[2])):
    run = net.create_extractor()
    run.input("x", ncnn.Mat(x))
    np.array(run.extract(last)[1])
"""


ORT = """
import sys, numpy as np, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
(given,) = session.get_inputs()
x = np.random.default_rng(0).standard_normal(given.shape).astype(np.float32)
for _ in range(int(sys.argv[2])):
    session.run(None, {given.name: x})
"""
WHOLE = ("examples/shapes", "examples/ssd/mobilenet_300")
# 1.32 ends in a fault of memory when it is imported under qemu 7.2.
WHEELS = {
    "ncnn": ("ncnn", "portalocker", "tqdm", "requests"),
    "onnxruntime": ("onnxruntime==1.22.1", "flatbuffers", "packaging"),
}


def run(*command: object, **options: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr}")
    return str(done.stderr)


def multiplications(channels: int, side: int, layers: list[tuple[int, int, int, int]]) -> int:
    total = 0
    for filters, window, groups, stride in layers:
        side = (side + 2 * (window // 2) - window) // stride + 1
        total += side * side * filters * window * window * channels // groups
        channels = filters
    return total


def prototxt(channels: int, side: int, layers: list[tuple[int, int, int, int]]) -> str:
    shape = f"dim: 1 dim: {channels} dim: {side} dim: {side}"
    text = f'layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {shape} }} }} }}\n'
    last = "x"
    for i, (filters, window, groups, stride) in enumerate(layers):
        fields = f"num_output: {filters} kernel_size: {window} pad: {window // 2} group: {groups} stride: {stride}"
        fields += ' weight_filler { type: "xavier" }'
        text += f'layer {{ name: "c{i}" type: "Convolution" bottom: "{last}" top: "c{i}" convolution_param {{ {fields} }} }}\n'
        text += f'layer {{ name: "r{i}" type: "ReLU" bottom: "c{i}" top: "c{i}" }}\n'
        last = f"c{i}"
    return text


def write_ncnn(path: Path, channels: int, layers: list[tuple[int, int, int, int]]) -> str:
    """The net as ncnn's text and its weights: a word 0 (float32) and numbers. Returns the name of its last blob."""
    lines, last, weights = ["Input x 0 1 x"], "x", bytearray()
    import numpy as np

    rng = np.random.default_rng(0)
    for i, (filters, window, groups, stride) in enumerate(layers):
        count = filters * window * window * channels // groups
        name = "Convolution" if groups == 1 else "ConvolutionDepthWise"
        more = f" 7={groups}" if groups > 1 else ""
        lines.append(
            f"{name} c{i} 1 1 {last} c{i} 0={filters} 1={window} 3={stride} 4={window // 2} 5=1 6={count}{more} 9=1"
        )
        weights += bytes(4) + (rng.standard_normal(count + filters) * 0.1).astype("<f4").tobytes()
        channels, last = filters, f"c{i}"
    path.write_text(f"7767517\n{len(lines)} {len(lines)}\n" + "\n".join(lines) + "\n")
    path.with_suffix(".bin").write_bytes(weights)
    return last


def counted(python: Path, plugin: Path, program: str, file: Path, *words: object) -> tuple[int, int]:
    """Instructions of a pass, and how many of them are FMLA."""
    counts = []
    for times in (1, *RUNS):  # kernels are compiled in the first
        environment = {**os.environ, "QEMU_PLUGIN": str(plugin), "BOXPRESSO_THREADS": "1", "OMP_NUM_THREADS": "1"}
        said = run(python, "-c", program, file, times, *words, env=environment)
        match = re.search(r"^instructions (\d+) (\d+)$", said, re.M)
        if match is None:
            sys.exit(f"no counts were printed: {said}")
        counts.append((int(match[1]), int(match[2])))
    _, first, last = counts
    return tuple((b - a) // (RUNS[1] - RUNS[0]) for a, b in zip(first, last))  # type: ignore[return-value]


def before_boxes(folder: str) -> str:
    """An example's net without the layer that chooses boxes."""
    param = read_net(ROOT / folder / "deploy.prototxt")
    layers = [layer for layer in param.layer if layer.type != "DetectionOutput"]
    del param.layer[:]
    param.layer.extend(layers)
    return str(param)


def fetch(wheels: Path) -> None:
    """The wheels of the others, for aarch64."""
    platforms = [f"--platform=manylinux{v}_aarch64" for v in ("2014", "_2_17", "_2_24", "_2_27", "_2_28")]
    pip = (sys.executable, "-m", "pip", "install", "-q", "--only-binary=:all:", "--python-version=3.11", *platforms)
    for name, files in WHEELS.items():
        if not (wheels / name).exists():
            run(*pip, "--no-deps", "--target", wheels, *files)


def main(folder: Path, wanted: list[str]) -> None:
    python = folder.resolve() / "python"
    fetch(folder / "wheels")
    print(
        f"{'net':27}{'Mproducts':>10}{'ours, M':>9}{'ncnn, M':>9}{'ORT, M':>9}{'/ ncnn':>8}{'/ ORT':>7}   "
        "instructions for 4 products: ours, ncnn, ORT"
    )
    with tempfile.TemporaryDirectory() as place:
        plugin = Path(place) / "plugin.so"
        run("c++", "-O2", "-shared", "-fPIC", HERE / "instructions.cpp", "-o", plugin)
        ours, theirs, graph = (Path(place) / name for name in ("net.prototxt", "net.param", "net.onnx"))
        for name in (*NETS, *WHOLE):
            if wanted and name not in wanted:
                continue
            counts = []
            ours.write_text(before_boxes(name) if name in WHOLE else prototxt(*NETS[name]))
            net = Net(ours, device="cpu")
            export_onnx(net, graph)
            counts.append(counted(python, plugin, OURS, ours)[0])
            if name in WHOLE:
                products = summarise(net).macs
                counts.append(0)
            else:
                channels, side, layers = NETS[name]
                last = write_ncnn(theirs, channels, layers)
                counts.append(counted(python, plugin, NCNN, theirs, channels, side, last)[0])
                products = multiplications(channels, side, layers)
            counts.append(counted(python, plugin, ORT, graph)[0])
            a, b, c = counts
            each = ", ".join(f"{4 * count / products:.2f}" if count else "-" for count in counts)
            row = "".join(f"{count / 1e6:9.1f}" if count else f"{'-':>9}" for count in counts)
            ratios = f"{a / b:8.2f}" if b else f"{'-':>8}"
            print(f"{name:27}{products / 1e6:10.1f}{row}{ratios}{a / c:7.2f}   {each}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
