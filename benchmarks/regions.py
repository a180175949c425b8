"""Region operators and Permute against torchvision, onnxruntime, OpenVINO and numpy, in one run.

    python benchmarks/regions.py            # a few minutes
    python benchmarks/regions.py roi_align  # only rows with this word

Peers are used where they import (pip install onnx onnxruntime openvino torch torchvision), and said to be missing where not.
mmcv's and detectron2's operators too: as `mmcv` and `detectron2`, or as extensions `mmcv_cpu` and `detectron2_cpu` on
PYTHONPATH that bind their CPU kernels alone (roi_align_forward, roi_align_rotated_forward and so on, with their arguments).

float32, NCHW in and out, so the transposition to channels last is counted; all programs on the same number of threads, each
with its own settings else; medians of interleaved calls, each of which allocates its result as its callers would. Some
programs' threads spin for some milliseconds after a call. That is charged to nobody else: each waits for its turn until the
process is idle, and a turn is as many calls as begin in 10 ms. On a shared machine only the ratios mean something.

The shapes are those of the mlu-ops design note (pooled 7 x 7). On a CPU averages are bound by bytes: the first shape reads
125 MB of maps, writes 50 MB into pages that the system clears first, and takes the regions' pixels from its cores' caches,
0.65 GB with sampling 2 and 2.8 GB adaptive, for 0.2 and 1.0 G multiply-adds (taken separably; 3.1 G by sample). Rotated
regions, which are not separable, are bound by arithmetic: 4 multiply-adds a sample and channel, 0.2 and 3.1 G.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from boxpresso import ops
from boxpresso.device.host import threads

SHAPES = [((2, 256, 200, 304), 998, 1 / 4), ((2, 256, 100, 152), 13, 1 / 8), ((2, 256, 50, 76), 11, 1 / 16),
          ((2, 256, 25, 38), 2, 1 / 32)]  # fmt: skip
VGG = (1, 512, 38, 63), 300, 1 / 16
Call = Callable[[], Any]


def peer(name: str) -> Any:
    try:
        return import_module(name)
    except Exception as error:  # a peer that is broken on this machine is as good as missing
        print(f"without {name}: {type(error).__name__}", file=sys.stderr)
        return None


torch, torchvision, onnx, ort, ov = (peer(n) for n in ("torch", "torchvision", "onnx", "onnxruntime", "openvino"))
mmcv = torch and (peer("mmcv._ext") or peer("mmcv_cpu"))
detectron2 = torch and (peer("detectron2._C") or peer("detectron2_cpu"))


def regions(shape: tuple[int, ...], count: int, scale: float) -> np.ndarray:
    """Regions of 16 to 400 pixels inside the image."""
    rng = np.random.default_rng(0)
    height, width = shape[2] / scale, shape[3] / scale
    size = rng.uniform(16, min(400, height / 2), (count, 2))
    corner = rng.uniform(0, 1, (count, 2)) * ([width, height] - size)
    return np.c_[rng.integers(0, shape[0], count), corner, corner + size].astype(np.float32)


def onnx_session(op: str, inputs: dict[str, tuple[list[int], int]], **attributes: Any) -> Any:
    h = onnx.helper
    node = h.make_node(op, list(inputs), ["y"], **attributes)
    made = [h.make_tensor_value_info(name, kind, shape) for name, (shape, kind) in inputs.items()]
    graph = h.make_graph([node], "g", made, [h.make_tensor_value_info("y", 1, None)])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 16)], ir_version=8)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads()
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def align(shape: tuple[int, ...], count: int, scale: float, ratio: int) -> dict[str, Call]:
    x, rois = np.random.default_rng(1).standard_normal(shape, dtype=np.float32), regions(shape, count, scale)
    calls: dict[str, Call] = {"boxpresso": lambda: ops.roi_align(x, rois, 7, scale, ratio, True)}
    if torchvision:
        tx, tr = torch.from_numpy(x), torch.from_numpy(rois)
        calls["torchvision"] = lambda: torchvision.ops.roi_align(tx, tr, 7, scale, ratio or -1, True)
    if ort and onnx:
        session = onnx_session(
            "RoiAlign", {"x": (list(shape), 1), "r": ([count, 4], 1), "b": ([count], 7)}, output_height=7, output_width=7,
            spatial_scale=scale, sampling_ratio=ratio, coordinate_transformation_mode="half_pixel",
        )  # fmt: skip
        feed = {"x": x, "r": rois[:, 1:].copy(), "b": rois[:, 0].astype(np.int64)}
        calls["onnxruntime"] = lambda: session.run(None, feed)
    if mmcv:
        none = torch.empty(0)

        def theirs() -> Any:
            out = torch.zeros(count, shape[1], 7, 7)
            mmcv.roi_align_forward(tx, tr, out, none, none, 7, 7, scale, ratio, 1, True)
            return out

        calls["mmcv"] = theirs
    return calls


def align_backward(shape: tuple[int, ...], count: int, scale: float, ratio: int) -> dict[str, Call]:
    x, rois = np.random.default_rng(1).standard_normal(shape, dtype=np.float32), regions(shape, count, scale)
    grad = np.random.default_rng(2).standard_normal((count, shape[1], 7, 7), dtype=np.float32)
    calls: dict[str, Call] = {"boxpresso": lambda: ops.roi_align_backward(grad, x, rois, 7, scale, ratio, True)}
    if torchvision:
        tr, tg = torch.from_numpy(rois), torch.from_numpy(grad)
        back = torch.ops.torchvision._roi_align_backward
        calls["torchvision"] = lambda: back(tg, tr, scale, 7, 7, *shape, ratio or -1, True)
    if mmcv:
        none = torch.empty(0)

        def theirs() -> Any:
            diff = torch.zeros(shape)
            mmcv.roi_align_backward(tg, tr, none, none, diff, 7, 7, scale, ratio, 1, True)
            return diff

        calls["mmcv"] = theirs
    return calls


def rotated(shape: tuple[int, ...], count: int, scale: float, ratio: int) -> dict[str, Call]:
    x, rois = np.random.default_rng(1).standard_normal(shape, dtype=np.float32), turned(shape, count, scale)
    calls: dict[str, Call] = {"boxpresso": lambda: ops.roi_align_rotated(x, rois, 7, scale, ratio, True)}
    if mmcv:
        tx, tr = torch.from_numpy(x), torch.from_numpy(rois)

        def theirs() -> Any:
            out = torch.zeros(count, shape[1], 7, 7)
            mmcv.roi_align_rotated_forward(tx, tr, out, 7, 7, scale, ratio, True, False)
            return out

        calls["mmcv"] = theirs
    if detectron2:
        tx, td = torch.from_numpy(x), torch.from_numpy(in_degrees(rois))
        calls["detectron2"] = lambda: detectron2.roi_align_rotated_forward(tx, td, scale, 7, 7, ratio)
    return calls


def rotated_backward(shape: tuple[int, ...], count: int, scale: float, ratio: int) -> dict[str, Call]:
    x, rois = np.random.default_rng(1).standard_normal(shape, dtype=np.float32), turned(shape, count, scale)
    grad = np.random.default_rng(2).standard_normal((count, shape[1], 7, 7), dtype=np.float32)
    calls: dict[str, Call] = {"boxpresso": lambda: ops.roi_align_rotated_backward(grad, x, rois, 7, scale, ratio, True)}
    if mmcv:
        tg, tr = torch.from_numpy(grad), torch.from_numpy(rois)

        def theirs() -> Any:
            diff = torch.zeros(shape)
            mmcv.roi_align_rotated_backward(tg, tr, diff, 7, 7, scale, ratio, True, False)
            return diff

        calls["mmcv"] = theirs
    if detectron2:
        tg, td = torch.from_numpy(grad), torch.from_numpy(in_degrees(rois))
        calls["detectron2"] = lambda: detectron2.roi_align_rotated_backward(tg, td, scale, 7, 7, *shape, ratio)
    return calls


def in_degrees(rois: np.ndarray) -> np.ndarray:
    return np.c_[rois[:, :5], np.degrees(rois[:, 5:])].astype(np.float32)


def turned(shape: tuple[int, ...], count: int, scale: float) -> np.ndarray:
    rois = regions(shape, count, scale)
    centre, size = (rois[:, 1:3] + rois[:, 3:]) / 2, rois[:, 3:] - rois[:, 1:3]
    angle = np.random.default_rng(3).uniform(-np.pi, np.pi, (count, 1))
    return np.c_[rois[:, :1], centre, size, angle].astype(np.float32)


def pool(shape: tuple[int, ...], count: int, scale: float) -> dict[str, Call]:
    x, rois = np.random.default_rng(1).standard_normal(shape, dtype=np.float32), regions(shape, count, scale)
    calls: dict[str, Call] = {"boxpresso": lambda: ops.roi_pool(x, rois, 7, scale)}
    if torchvision:
        tx, tr = torch.from_numpy(x), torch.from_numpy(rois)
        calls["torchvision"] = lambda: torchvision.ops.roi_pool(tx, tr, 7, scale)
    if ort and onnx:
        session = onnx_session(
            "MaxRoiPool", {"x": (list(shape), 1), "r": ([count, 5], 1)}, pooled_shape=[7, 7], spatial_scale=scale
        )
        calls["onnxruntime"] = lambda: session.run(None, {"x": x, "r": rois})
    if ov:
        calls["openvino"] = openvino_call("roi_pooling", x, rois, [7, 7], scale, "max")
    return calls


def pool_backward(shape: tuple[int, ...], count: int, scale: float) -> dict[str, Call]:
    x, rois = np.random.default_rng(1).standard_normal(shape, dtype=np.float32), regions(shape, count, scale)
    grad = np.random.default_rng(2).standard_normal((count, shape[1], 7, 7), dtype=np.float32)
    _, argmax = ops.roi_pool_argmax(x, rois, 7, scale)
    calls: dict[str, Call] = {"boxpresso": lambda: ops.roi_pool_backward(grad, x, rois, 7, scale, argmax=argmax)}
    if torchvision:
        tx, tr, tg = torch.from_numpy(x), torch.from_numpy(rois), torch.from_numpy(grad)
        _, places = torch.ops.torchvision.roi_pool(tx, tr, scale, 7, 7)
        back = torch.ops.torchvision._roi_pool_backward
        calls["torchvision"] = lambda: back(tg, tr, places, scale, 7, 7, *shape)
        calls["torchvision, forward too"] = lambda: (torchvision.ops.roi_pool(tx, tr, 7, scale), calls["torchvision"]())
    calls["boxpresso, places found again"] = lambda: ops.roi_pool_backward(grad, x, rois, 7, scale)
    return calls


def pool_last(shape: tuple[int, ...], count: int, scale: float) -> dict[str, Call]:
    """Channels last, in and out."""
    x, rois = np.random.default_rng(1).standard_normal(shape, dtype=np.float32), regions(shape, count, scale)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    return {
        "boxpresso NHWC": lambda: ops.roi_pool(last, rois, 7, scale, layout="NHWC"),
        "boxpresso NCHW": lambda: ops.roi_pool(x, rois, 7, scale),
    }


def position_sensitive(shape: tuple[int, ...], count: int, scale: float) -> dict[str, Call]:
    x, rois = np.random.default_rng(1).standard_normal(shape, dtype=np.float32), regions(shape, count, scale)
    calls: dict[str, Call] = {"boxpresso": lambda: ops.ps_roi_pool(x, rois, 7, scale)}
    if torchvision:
        tx, tr = torch.from_numpy(x), torch.from_numpy(rois)
        calls["torchvision"] = lambda: torchvision.ops.ps_roi_pool(tx, tr, 7, scale)
    if ov:
        calls["openvino"] = openvino_call("psroi_pooling", x, rois, shape[1] // 49, 7, scale, 1, 1, "average")
    return calls


def openvino_call(op: str, x: np.ndarray, rois: np.ndarray, *rest: Any) -> Call:
    o = import_module("openvino.opset8")
    inputs = [o.parameter(x.shape, np.float32), o.parameter(rois.shape, np.float32)]
    model = ov.Model([getattr(o, op)(*inputs, *rest)], inputs)
    compiled = ov.Core().compile_model(
        model, "CPU", {"INFERENCE_NUM_THREADS": str(threads()), "INFERENCE_PRECISION_HINT": "f32"}
    )
    request = compiled.create_infer_request()
    return lambda: request.infer([x, rois])


def permute(shape: tuple[int, ...]) -> dict[str, Call]:
    x = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
    out = np.empty(x.size, np.float32)
    calls: dict[str, Call] = {
        "boxpresso": lambda: ops.permute(x, (0, 2, 3, 1)),
        "numpy": lambda: np.ascontiguousarray(x.transpose(0, 2, 3, 1)),
        "memcpy": lambda: np.copyto(out, x.ravel()),
    }
    if torch:
        tx = torch.from_numpy(x)
        calls["torch"] = lambda: tx.permute(0, 2, 3, 1).contiguous()
    if ort and onnx:
        session = onnx_session("Transpose", {"x": (list(shape), 1)}, perm=[0, 2, 3, 1])
        calls["onnxruntime"] = lambda: session.run(None, {"x": x})
    return calls


def rows() -> list[tuple[str, Call]]:
    made: list[tuple[str, Call]] = []
    for shape, count, scale in SHAPES:
        for ratio in (2, 0):
            how = f"{list(shape)} {count} regions, {'adaptive' if ratio == 0 else 'sampling 2'}"
            made.append((f"roi_align {how}", lambda s=shape, c=count, k=scale, r=ratio: align(s, c, k, r)))
            made.append(
                (f"roi_align backward {how}", lambda s=shape, c=count, k=scale, r=ratio: align_backward(s, c, k, r))
            )
    for ratio in (2, 0):
        shape, count, scale = SHAPES[0]
        how = f"{list(shape)} {count} regions, {'adaptive' if ratio == 0 else 'sampling 2'}"
        made.append((f"roi_align_rotated {how}", lambda r=ratio: rotated(*SHAPES[0], r)))
        made.append((f"roi_align_rotated backward {how}", lambda r=ratio: rotated_backward(*SHAPES[0], r)))
    for shape, count, scale in (VGG, SHAPES[0]):
        how = f"{list(shape)} {count} regions"
        made.append((f"roi_pool {how}", lambda s=shape, c=count, k=scale: pool(s, c, k)))
        made.append((f"roi_pool backward {how}", lambda s=shape, c=count, k=scale: pool_backward(s, c, k)))
        made.append((f"roi_pool channels last {how}", lambda s=shape, c=count, k=scale: pool_last(s, c, k)))
    made.append(
        ("ps_roi_pool [1, 1029, 38, 63] 300 regions", lambda: position_sensitive((1, 1029, 38, 63), 300, 1 / 16))
    )
    for shape in ((32, 512, 38, 38), (1, 512, 38, 38)):
        made.append((f"permute {list(shape)} to 0, 2, 3, 1", lambda s=shape: permute(s)))
    return made


def settle() -> None:
    """Waits until no thread of this process runs: those of a call before may spin."""
    for _ in range(100):
        start = time.process_time()
        time.sleep(0.005)
        if time.process_time() - start < 0.0005:
            return


def seconds(call: Call) -> float:
    """What a call takes in its turn."""
    settle()
    times, now = [], time.perf_counter()
    end = now + 0.01
    while now < end:
        call()
        times.append(time.perf_counter() - now)
        now = time.perf_counter()
    return statistics.median(times)


def main(words: list[str]) -> None:
    if torch:
        torch.set_num_threads(threads())
    versions = {m.__name__: m.__version__ for m in (torch, torchvision, ort, ov) if m}
    print(f"numpy {np.__version__}, {', '.join(f'{k} {v}' for k, v in versions.items())}; {threads()} threads; ms")
    for title, make in rows():
        if words and not all(word in title for word in words):
            continue
        calls, turns, end = make(), 0, time.perf_counter() + 12
        times: dict[str, list[float]] = {name: [] for name in calls}
        while turns < 2 or (turns < 15 and time.perf_counter() < end):
            turns += 1
            for name, call in calls.items():
                times[name].append(seconds(call))
        medians = {name: statistics.median(t[1:] or t) * 1e3 for name, t in times.items()}
        mine = next(iter(medians.values()))
        others = ", ".join(f"{name} {ms:.2f} ({ms / mine:.1f}x)" for name, ms in list(medians.items())[1:])
        print(f"{title}: {next(iter(medians))} {mine:.2f}; {others}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
