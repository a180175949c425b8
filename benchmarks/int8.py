"""Nets in 8 bits beside themselves in float32, and beside onnxruntime's and OpenVINO's 8 bits where these are installed.

    python -m benchmarks.int8 --pictures FOLDER [--models FOLDER] [--out FILE] [MODEL[,WEIGHTS]]...

MODEL is a prototxt, with its WEIGHTS; without weights it gets random ones, for its times alone. Without a model:
examples/shapes, the two SSDs of examples/ssd, and of --models those of MODELS below that are there. Each net is quantised from
the pictures as `boxpresso quantize` does; then all engines run the same input in turns in one process, and of each the least
time of a forward counts; before a turn there is a pause, until threads of the one before no longer spin. Engines with 8 bits of
their own calibrate on the same inputs: onnxruntime's static QDQ (per channel, unsigned bytes), OpenVINO by NNCF. "ort ours":
onnxruntime on the file that Boxpresso writes of its own net in 8 bits.

Columns: milliseconds of ours in float32, bfloat16 and 8 bits and of the others; layers in 8 bits of those that can be; what is
lost, as docs/quantize.md defines it, on the pictures. Below: geometric means of ours in 8 bits over others. Run it on an idle
machine: figures of a busy one say nothing.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import boxpresso
from boxpresso import Detector, Net
from boxpresso.decoders.base import Settings, picture_input, prepare
from boxpresso.decoders.files import open_nets
from boxpresso.detection import UnrecognisedError
from boxpresso.device import open_device
from boxpresso.exports import export_onnx
from boxpresso.graph.quantization import Quantization
from boxpresso.image import read_image
from boxpresso.layers.core.lowering import bf16_available
from boxpresso.proto.errors import BoxpressoError, BoxpressoWarning

ROOT = Path(__file__).resolve().parents[1]
ENDINGS = (".jpg", ".jpeg", ".png", ".bmp")
ROUNDS = 40
IN_TURN = 4  # forwards that are timed in a turn
PAUSE = 0.05  # seconds before a turn
SECONDS = 20.0  # that the rounds of one net may take, about
OURS, HALF, NARROW = "ours float32", "ours bf16", "ours int8"
ORT, ORT8, QDQ = "ort float32", "ort int8", "ort ours"
VINO, VINO16, VINO8 = "openvino float32", "openvino bf16", "openvino int8"
ENGINES = (OURS, HALF, NARROW, ORT, ORT8, QDQ, VINO, VINO16, VINO8)
MODELS = (  # below --models: prototxt and weights
    ("ultralight_face/RFB-320.prototxt", "ultralight_face/RFB-320.caffemodel"),
    ("ultralight_face/slim-320.prototxt", "ultralight_face/slim-320.caffemodel"),
    ("wechat_qrcode/detect.prototxt", "wechat_qrcode/detect.caffemodel"),
    ("retinaface_mnet25/mnet.prototxt", "retinaface_mnet25/mnet.caffemodel"),
    ("mtcnn_kpzhang/det3.prototxt", "mtcnn_kpzhang/det3.caffemodel"),
)
Inputs = Mapping[str, "np.ndarray[Any, np.dtype[Any]]"]


def random_weights(net: Net) -> None:
    """He's weights, so that values neither vanish nor grow."""
    rng = np.random.default_rng(0)
    for layer in net.layers:
        for i, blob in enumerate(layer.blobs):
            terms = blob.count // blob.shape[0]
            if terms > 1:
                blob.data[...] = rng.standard_normal(blob.shape) * np.sqrt(2 / terms)
            elif layer.type in ("BatchNorm", "Scale"):
                blob.data[...] = 1 if layer.type == "Scale" and i == 0 else float(i > 0) * (layer.type == "BatchNorm")


def onnxruntime_runs(path: Path, inputs: Sequence[Inputs], ours: Path) -> dict[str, Callable[[], Any]]:
    """onnxruntime on an ONNX file, in float32 and after its static quantisation, and on ours in 8 bits."""
    if importlib.util.find_spec("onnxruntime") is None:
        return {}
    import onnxruntime as ort
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Reader(CalibrationDataReader):  # type: ignore[misc]  # untyped
        def __init__(self) -> None:
            self.left = iter(inputs)

        def get_next(self) -> Any:
            return next(self.left, None)

    options = ort.SessionOptions()
    options.intra_op_num_threads = open_device("cpu").workers  # type: ignore[attr-defined]  # the CPU's
    first = dict(inputs[0])
    plain = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    runs: dict[str, Callable[[], Any]] = {ORT: lambda: plain.run(None, first)}
    narrow = path.with_suffix(".int8.onnx")
    types = ["Conv", "MaxPool", "Concat", "Add", "Relu", "Clip", "Gemm", "MatMul"]
    quantize_static(
        str(path), str(narrow), Reader(), quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=types,
    )  # fmt: skip
    other = ort.InferenceSession(str(narrow), options, providers=["CPUExecutionProvider"])
    runs[ORT8] = lambda: other.run(None, first)
    third = ort.InferenceSession(str(ours), options, providers=["CPUExecutionProvider"])
    runs[QDQ] = lambda: third.run(None, first)
    return runs


def openvino_runs(path: Path, inputs: Sequence[Inputs], ours: Path) -> dict[str, Callable[[], Any]]:
    """OpenVINO on an ONNX file, in float32, in bfloat16 and after NNCF's quantisation."""
    if importlib.util.find_spec("openvino") is None:
        return {}
    import openvino

    core, workers = openvino.Core(), open_device("cpu").workers  # type: ignore[attr-defined]  # the CPU's
    model = core.read_model(str(path))
    model.reshape({name: value.shape for name, value in inputs[0].items()})
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": workers, "INFERENCE_PRECISION_HINT": "f32"}
    first = dict(inputs[0])
    plain = core.compile_model(model, "CPU", settings).create_infer_request()
    half = core.compile_model(model, "CPU", {**settings, "INFERENCE_PRECISION_HINT": "bf16"}).create_infer_request()
    runs: dict[str, Callable[[], Any]] = {VINO: lambda: plain.infer(first), VINO16: lambda: half.infer(first)}
    if importlib.util.find_spec("nncf") is not None:
        import nncf

        narrow = nncf.quantize(model, nncf.Dataset([dict(each) for each in inputs]), subset_size=len(inputs))
        other = core.compile_model(narrow, "CPU", settings).create_infer_request()
        runs[VINO8] = lambda: other.infer(first)
    return runs


def race(runs: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """The least milliseconds of each, run in turns."""
    least = dict.fromkeys(runs, float("inf"))
    start = time.perf_counter()
    for run in runs.values():
        run()
    turn = time.perf_counter() - start
    rounds = max(3, min(ROUNDS, int(SECONDS / (len(runs) * PAUSE + (1 + IN_TURN) * turn))))
    for _ in range(rounds):
        for name, run in runs.items():
            time.sleep(PAUSE)
            run()  # its memory comes near
            for _ in range(IN_TURN):
                begin = time.perf_counter()
                run()
                least[name] = min(least[name], 1e3 * (time.perf_counter() - begin))
    return least


def taken(net: Net, source: Net | Detector, picture: str) -> Inputs:
    """The inputs of a net for a picture."""
    if isinstance(source, Detector):
        source(picture)
        return {name: np.array(net.blobs[name].data) for name in net.inputs}
    name, channels, width, height = picture_input(net)
    return {name: prepare(np.asarray(read_image(picture)), channels, width, height, Settings())}


def measure(model: str, pictures: Sequence[str]) -> tuple[str, dict[str, float], Quantization, list[str]]:
    """The path of a net, its milliseconds by each engine, its scales and notes."""
    path, _, weights = model.partition(",")
    if weights:
        (net,) = open_nets(path, weights, device="cpu")
    else:
        net = Net(path, device="cpu", seed=1)
        random_weights(net)
    try:
        source: Net | Detector = Detector(net)
    except UnrecognisedError:
        source = net
    # Random weights find no boxes, and are for times alone.
    scales = boxpresso.quantize(source, pictures, **({} if weights else {"drop": 1.0}))
    with tempfile.TemporaryDirectory() as folder:
        exported = Path(folder) / "net.onnx"
        quantized = Path(folder) / "int8.caffemodel"
        boxpresso.quantize.save(net, scales, quantized)
        plain, narrow = (Net(path, quantized, device="cpu", precision=precision) for precision in ("float32", None))
        inputs = [taken(net, source, picture) for picture in pictures]
        runs: dict[str, Callable[[], Any]] = {
            OURS: lambda: plain.forward(**inputs[0]), NARROW: lambda: narrow.forward(**inputs[0]),
        }  # fmt: skip
        notes = []
        try:
            if bf16_available(net.device):
                sixteen = Net(path, quantized, device="cpu", precision="bf16")
                runs[HALF] = lambda: sixteen.forward(**inputs[0])
            export_onnx(net, exported, check=False)
            export_onnx(narrow, Path(folder) / "ours.int8.onnx", check=False)
            for others in (onnxruntime_runs, openvino_runs):
                try:
                    runs.update(others(exported, inputs, Path(folder) / "ours.int8.onnx"))
                except Exception as error:  # of another program's: the row says so
                    notes.append(f"{others.__name__.split('_')[0]}: {type(error).__name__}")
        except BoxpressoError as error:
            notes.append(f"ONNX: {error}")
        times = race(runs)
    return path, times, scales, notes if weights else [*notes, "random weights"]


def cells_of(path: str, times: Mapping[str, float], scales: Quantization, notes: Sequence[str]) -> list[str]:
    """The row of a net."""
    weights = "random weights" not in notes
    cells = [f"{times[name]:.2f}" if name in times else "-" for name in ENGINES]
    lost = f"{scales.notes['lost']:.4f}" if weights else "-"
    name = "/".join(Path(path).parts[-2:])
    return [name, *cells, f"{len(scales.chosen)}/{len(scales.layers)}", lost, "; ".join(notes)]


def mean_of(ratios: Sequence[float]) -> str:
    """The geometric mean, and the largest."""
    return f"{float(np.exp(np.mean(np.log(ratios)))):.2f} (worst {max(ratios):.2f}, of {len(ratios)} nets)"


def means(times: Sequence[Mapping[str, float]]) -> list[str]:
    """Geometric means over the nets of ours in 8 bits over others, where both ran, and the worst net."""

    def ratio(name: str, base: Callable[[Mapping[str, float]], float | None]) -> str | None:
        ratios = [row[NARROW] / other for row in times if (other := base(row))]
        if not ratios:
            return None
        return f"ours int8 / {name}: {mean_of(ratios)}"

    narrow = (ORT8, QDQ, VINO8)
    lines = [ratio(name, lambda row, name=name: row.get(name)) for name in (OURS, ORT8, VINO8)]  # type: ignore[misc]
    lines.append(ratio("the fastest other int8", lambda row: min((row[n] for n in narrow if n in row), default=None)))
    both = [row[HALF] / row[VINO16] for row in times if HALF in row and VINO16 in row]
    if both:
        lines.append(f"ours bf16 / openvino bf16: {mean_of(both)}")
    return [line for line in lines if line]


HEAD = ["net", *ENGINES, "layers", "lost", "notes"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pictures", metavar="FOLDER", required=True)
    parser.add_argument("--models", metavar="FOLDER", help="trained nets, of which those of MODELS are taken")
    parser.add_argument("--out", metavar="FILE", help="write the table there too")
    parser.add_argument("nets", metavar="MODEL[,WEIGHTS]", nargs="*")
    args = parser.parse_args()
    examples = ROOT / "examples"
    models = args.nets or [
        f"{examples / 'shapes' / 'deploy.prototxt'},{examples / 'shapes' / 'shapes.caffemodel'}",
        *(str(examples / "ssd" / name / "deploy.prototxt") for name in ("mobilenet_300", "vgg16_300")),
    ]
    if args.models and not args.nets:
        pairs = [tuple(Path(args.models) / each for each in pair) for pair in MODELS]
        models += [f"{model},{weights}" for model, weights in pairs if model.exists() and weights.exists()]
    pictures = sorted(str(p) for p in Path(args.pictures).iterdir() if p.suffix.lower() in ENDINGS)
    warnings.simplefilter("ignore", BoxpressoWarning)
    versions = [
        f"{name} {importlib.metadata.version(name)}"
        for name in ("onnxruntime", "openvino", "nncf")
        if importlib.util.find_spec(name)
    ]
    lines = [
        f"{len(pictures)} pictures, {open_device('cpu').describe()}, {platform.platform()}, load {os.getloadavg()[0]:.1f}",
        ", ".join(versions) or "no other engine is installed",
        "",
    ]
    measured = [measure(model, pictures) for model in models]
    rows = [cells_of(*each) for each in measured]
    widths = [max(map(len, column)) for column in zip(HEAD, *rows)]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in (HEAD, *rows)]
    lines += ["", *means([times for _, times, _, _ in measured])]
    print("\n".join(lines))
    if args.out:
        Path(args.out).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
