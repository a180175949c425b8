"""Runs a script as `python -m boxpresso.caffe SCRIPT ...` does, but ends a training after ITERATIONS: work of a size that can be tried.
Where OpenCV is installed, its dnn is Boxpresso's, its windows show nothing, and keys that end loops are pressed after two pictures, `q` first;
a camera gives one picture, and a video that is not there FRAMES pictures of it. Where Flask is installed, its server answers each of its pages once.

    python tests/others/small.py SCRIPT ...

A solver of any script counts its iterations; a test of a solver takes one batch, and the process ends with code 0 and a line that
says so once they are done. With SECONDS=N in the environment it ends after N seconds with the code RAN_ON. With RECORD=FOLDER in the environment the last passes of the script's nets are written there (beside.py).
"""

from __future__ import annotations

import atexit
import functools
import os
import runpy
import sys
import threading
import warnings
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import numpy as np

from boxpresso import Solver

ITERATIONS, FRAMES, KEPT = 20, 5, 4
RAN_ON = 75  # the code of a process that was still running after $SECONDS


def limit() -> None:
    """Solvers do ITERATIONS in all, then the process ends."""
    whole, done = Solver.step, [0]

    def step(self: Solver, iterations: int) -> None:
        left = min(iterations, ITERATIONS - done[0])
        done[0] += left
        self.param.test_iter[:] = [1] * len(self.param.test_iter)
        whole(self, left)
        if done[0] >= ITERATIONS:
            print(f"ended after {ITERATIONS} iterations: loss {self.smoothed_loss:g}")
            sys.stdout.flush()
            sys.exit(0)

    def solve(self: Solver, resume: object = None) -> None:
        self.step(ITERATIONS)

    Solver.step, Solver.solve = step, solve  # type: ignore[method-assign, assignment]


def scene(width: int, height: int) -> Any:
    """A picture in BGR: scikit-image's of an astronaut, whose face is seen, where it is installed; else noise."""
    try:
        from skimage.data import astronaut
    except ImportError:
        return np.random.default_rng(0).integers(0, 255, (height, width, 3), np.uint8)
    from PIL import Image

    return np.array(Image.fromarray(astronaut()).resize((width, height)))[..., ::-1].copy()


class Camera:
    """Stands in for cv2.VideoCapture: pictures of 640 x 480 pixels, without an end from a camera, FRAMES from a file."""

    SIZES = {
        3: 640.0,
        4: 480.0,
        5: 25.0,
        7: float(FRAMES),
    }  # by OpenCV's numbers: width, height, rate and count of pictures

    def __init__(self, source: int | str = 0, *_: object) -> None:
        self.left = FRAMES if isinstance(source, str) else -1
        self.picture = scene(640, 480)

    def read(self, *_: object) -> tuple[bool, Any]:
        if not self.left:
            return False, None
        self.left -= 1
        return True, self.picture.copy()

    def isOpened(self) -> bool:
        return True

    def get(self, number: int) -> float:
        return self.SIZES.get(number, 0.0)

    def set(self, *_: object) -> bool:
        return True

    def release(self) -> None:
        """There is nothing to give back."""


def without_windows() -> None:
    """OpenCV's dnn, windows and cameras, of which a machine without a display has none."""
    try:
        import cv2
    except ImportError:
        return
    from boxpresso import dnn

    dnn.restore()
    whole = cv2.VideoCapture
    cv2.VideoCapture = lambda *source: whole(*source) if source and os.path.exists(str(source[0])) else Camera(*source)
    for name in ("imshow", "namedWindow", "moveWindow", "resizeWindow", "destroyAllWindows", "destroyWindow"):
        setattr(cv2, name, lambda *args, **options: None)
    keys = chain([-1, -1], cycle([ord("q"), 27, *range(ord("a"), ord("z") + 1)]))
    cv2.waitKey = cv2.waitKeyEx = lambda *args: next(keys)


def without_servers() -> None:
    """Flask's server answers one request for each of its pages, with a picture where it takes a file, and ends."""
    try:
        import flask
    except ImportError:
        return

    def run(self: Any, *args: object, **options: object) -> None:
        client = self.test_client()
        self.testing = True  # an error of a page is the script's
        for rule in self.url_map.iter_rules():
            if rule.endpoint == "static" or rule.arguments:
                continue
            method = "POST" if "POST" in rule.methods else "GET"
            sent = {name: (picture(), "stub.png") for name in ("file", "image", "imagefile", "img", "photo", "upload")}
            answer = client.post(rule.rule, data=sent) if method == "POST" else client.get(rule.rule)
            print(f"{method} {rule.rule}: {answer.status_code}, {len(answer.data)} bytes")

    flask.Flask.run = run


def picture() -> Any:
    """A file of a picture."""
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(scene(480, 360)[..., ::-1]).save(file, "PNG")
    file.seek(0)
    return file


def count() -> None:
    """Says on stderr at the end what the script made: nets, passes through them, prototxts of NetSpec."""
    from boxpresso import Net, dnn
    from boxpresso.caffe import net_spec, pycaffe

    done = {"nets": 0, "passes": 0, "prototxts": 0}

    def counted(owner: type, name: str, what: str) -> None:
        whole = getattr(owner, name)

        def method(self: Any, *args: Any, **options: Any) -> Any:
            done[what] += 1
            return whole(self, *args, **options)

        setattr(owner, name, functools.wraps(whole)(method))

    counted(Net, "__init__", "nets")
    counted(pycaffe.Net, "_forward", "passes")
    counted(dnn.Net, "_forward", "passes")
    counted(net_spec.NetSpec, "to_proto", "prototxts")
    counted(Solver, "step", "passes")
    atexit.register(
        lambda: print("made:", ", ".join(f"{n} {what}" for what, n in done.items() if n) or "nothing", file=sys.stderr)
    )


def mark(weights: Path) -> Path:
    """The file beside weights that run.py made up: they fit any net."""
    return weights.with_name(f".{weights.name}.stub")


def weights_for_any_net() -> None:
    """Weights that run.py made up, for the net that it took them to be of, fit another one that a script gives them to: what they
    lack, or have of another size, is drawn for that net."""
    from boxpresso import dnn
    from boxpresso.net import net, weights

    whole = weights.copy_weights

    def copied(file: weights.Weights, layers: Any) -> Any:
        layers = list(layers)
        if not mark(Path(file.path)).exists():
            return whole(file, layers)
        sizes = {layer.name: [blob.count for blob in layer.blobs] for layer in layers}
        fitting = [row for row in file.layers if [np.size(blob) for blob in row.blobs] == sizes.get(row.name)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = whole(weights.Weights(file.path, file.name, fitting), layers)
        rng = np.random.default_rng(3)
        for layer in layers:
            for number, blob in enumerate(() if layer.name in report.matched else layer.blobs):
                fan = np.sqrt(max(1, int(np.prod(blob.shape[1:]))))
                flat = layer.type == "BatchNorm" or (len(blob.shape) == 1 and not number)
                blob.data[...] = (
                    min(number, 1) if layer.type == "BatchNorm" else 1 if flat else rng.normal(0, 1 / fan, blob.shape)
                )
        report.matched, report.missing = [layer.name for layer in layers if layer.blobs], []
        return report

    for module in (weights, net, sys.modules[dnn.Net.__module__]):
        module.copy_weights = copied


def end_after(seconds: float) -> None:
    """Ends the process then, with what it made and the code RAN_ON; what it recorded is written, too."""

    def end() -> None:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(RAN_ON)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def record(to: str) -> None:
    """Writes at the end, for each of the first KEPT nets, the net, its weights, and what went in and came out of its last whole pass,
    for beside.py to compute once more."""
    from boxpresso import dnn
    from boxpresso.caffe import pycaffe

    passes: dict[int, tuple[Any, Any, dict[str, Any], dict[str, Any]]] = {}
    whole, named = pycaffe.Net._forward, dnn.Net._forward

    def of_caffe(self: Any, first: int, last: int) -> float:
        fed = {name: np.array(self.blobs[name].data) for name in self.inputs}
        loss = whole(self, first, last)
        if fed and (first, last) == (0, len(self.layers) - 1) and (id(self) in passes or len(passes) < KEPT):
            out = {name: np.array(self.blobs[name].data) for name in self.outputs}
            passes[id(self)] = (self, self.param, fed, out)
        return loss

    def of_dnn(self: Any, names: list[str]) -> Any:
        tops = named(self, names)
        if id(self) in passes or len(passes) < KEPT:
            fed = {name: np.array(value) for name, value in self._inputs.items()}
            passes[id(self)] = (self.net, self._model, fed, {name: np.array(each[0]) for name, each in tops.items()})
        return tops

    def write() -> None:
        from google.protobuf import text_format

        for number, (net, param, fed, made) in enumerate(passes.values()):
            folder = Path(to) / str(number)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "net.prototxt").write_text(text_format.MessageToString(param))
            net.save(str(folder / "net.caffemodel"))
            np.savez(folder / "in.npz", **fed)
            np.savez(folder / "out.npz", **made)

    pycaffe.Net._forward, dnn.Net._forward = of_caffe, of_dnn
    atexit.register(write)


if __name__ == "__main__":
    count()
    if "RECORD" in os.environ:
        record(os.environ["RECORD"])
    if "SECONDS" in os.environ:
        end_after(float(os.environ["SECONDS"]))
    limit()
    weights_for_any_net()
    without_windows()
    without_servers()
    del sys.argv[0]
    sys.argv.insert(0, "boxpresso.caffe")
    runpy.run_module("boxpresso.caffe", run_name="__main__", alter_sys=True)
