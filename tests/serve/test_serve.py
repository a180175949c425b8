"""boxpresso serve: what it answers, and the command."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from decoder_nets import net_of, numbers
from PIL import Image
from served import (
    LOCAL,
    NAMES,
    ROOT,
    answered,
    cells,
    get,
    httpx,
    png,
    post,
    refused,
    rows,
    serving,
    started,
    wide_net,
)
from shared import need
from tiny_ssd import TINY, picture, write_tiny

from boxpresso import Detector, Net
from boxpresso.__main__ import main
from boxpresso.decoders.detections import Detections
from boxpresso.decoders.saving import run_lengths
from boxpresso.proto import parse_net
from boxpresso.serve import blobs
from boxpresso.serve.answers import rows as plain
from boxpresso.serve.options import Options


@pytest.fixture(scope="module")
def server():
    with started() as server:
        yield server


def test_a_picture_as_the_body_and_as_a_file_of_a_form(server):
    wanted = rows(Detector(wide_net(), labels=NAMES)(cells()))
    data = png(cells())
    answer = post(server, data)
    assert answered(answer) == wanted
    assert len(wanted) == 16
    content = answer.json()
    assert (content["model"], content["image"], content["kind"]) == (
        "tiny.prototxt",
        {"width": 32, "height": 32},
        "boxes",
    )
    assert content["milliseconds"] > 0
    assert content["detections"][0]["class_id"] == content["detections"][0]["class_index"] == 1
    files = {"note": (None, "not this"), "file": ("a.png", data, "image/png")}
    assert answered(httpx.post(f"{server.url}api/detect", files=files, **LOCAL)) == wanted
    large = png(cells(scale=40))  # more than a megabyte of pixels
    assert answered(post(server, large, "application/octet-stream"))[0][2:] == tuple(40 * v for v in wanted[0][2:])


def test_head_is_gets_answer_without_its_body(server):
    """As RFC 9110 has it; monitors and load balancers ask so."""
    for path in ("", "health", "api/model", "v2/health/live", "static/nothing", "api/detect"):
        got, head = get(server, path), httpx.head(f"{server.url}{path}", **LOCAL)
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert {**head.headers, "date": ""} == {**got.headers, "date": ""}


def test_score_and_labels(server):
    data = png(cells())
    every = Detector(wide_net(), threshold=0.0, labels=NAMES)(cells())
    assert answered(post(server, data, score=0.9)) == rows(every.filter(0.9))
    assert len(answered(post(server, data, score=0))) == len(every) == 16
    assert len(answered(post(server, data, labels="cell"))) == len(answered(post(server, data, labels="1,cell"))) == 16
    assert answered(post(server, data, labels="2")) == []
    refused(post(server, data, labels="cel"), 422, "no class is called 'cel'; did you mean 'cell'")


@pytest.mark.parametrize("overlap", [0.05, 0.2, 0.45, 0.9])
def test_another_overlap_of_the_nets_own_layer_needs_no_pass(server, overlap):
    """As if the prototxt had it."""
    param = parse_net(TINY)
    param.layer[-1].detection_output_param.nms_param.nms_threshold = overlap
    other = Net(param, device="cpu")
    other.share_with(wide_net())
    wanted = rows(Detector(other, labels=NAMES)(cells()))
    assert len(wanted) == {0.05: 4, 0.2: 8, 0.45: 16, 0.9: 16}[overlap] or overlap < 0.4
    first = post(server, png(cells()))
    again = post(server, None, picture=first.json()["picture"], nms=overlap)
    assert answered(again) == wanted
    timing = again.json()["timing"]
    assert (timing["passes"], timing["remembered"], timing["forward"]) == (0, 1, 0)
    assert answered(post(server, png(cells()), nms=overlap)) == wanted
    assert answered(post(server, png(cells()))) == answered(first)  # nothing of it stays


YOLO = """
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 64 dim: 64 } } }
layer { name: "map" type: "Convolution" bottom: "data" top: "map" convolution_param { num_output: 21 kernel_size: 8 stride: 8 } }
layer { name: "out" bottom: "map" top: "out" LAYER }
"""
LAYERS = {
    "v3": """type: "Yolov3DetectionOutput" yolov3_detection_output_param { num_classes: 2 num_box: 3 mask_group_num: 1
        nms_threshold: OVERLAP biases: [20, 20, 30, 30, 40, 20] mask: [0, 1, 2] anchors_scale: 8 }""",
    "v2": """type: "YoloDetectionOutput" yolo_detection_output_param { num_classes: 2 num_box: 3 nms_threshold: OVERLAP
        biases: [2, 2, 3, 3, 4, 2] }""",
}


@pytest.mark.parametrize("version", LAYERS)
def test_another_overlap_of_yolos_layers(version):
    def detector(overlap: float) -> Detector:
        net = Net(parse_net(YOLO.replace("LAYER", LAYERS[version].replace("OVERLAP", str(overlap)))), device="cpu")
        net.params["map"][0].data[...] = numbers(21, 3, 8, 8, spread=0.001)
        net.params["map"][1].data[...] = numbers(21, seed=1, spread=0.5)
        return Detector(net, threshold=0.1)

    pixels = np.random.default_rng(3).integers(0, 255, (64, 64, 3), np.uint8)
    with started(detector(0.45)) as server:
        first = post(server, png(pixels))
        assert answered(first) == rows(detector(0.45)(pixels))
        counts = set()
        for overlap in (0.1, 0.45, 0.8):
            again = post(server, None, picture=first.json()["picture"], nms=overlap)
            assert answered(again) == rows(detector(overlap)(pixels))
            assert again.json()["timing"]["passes"] == 0
            counts.add(len(answered(again)))
        assert len(counts) == 3


def test_another_overlap_of_a_decoder_needs_no_pass():
    """YOLO's raw maps: the decoder suppresses. Other pictures in between change nothing."""
    shapes = {"coarse": (1, 24, 4, 6), "fine": (1, 24, 8, 12)}

    def net() -> Net:
        made = net_of(shapes, (64, 96), last="Convolution")
        for number, name in enumerate(shapes):
            made.params[name][0].data[...] = numbers(*made.params[name][0].shape, seed=number)
            made.params[name][1].data[...] = numbers(24, seed=number + 2, spread=1.5)
        return made

    pixels = np.zeros((40, 60, 3), np.uint8)
    with started(Detector(net())) as server:
        token = post(server, png(pixels)).json()["picture"]
        post(server, png(pixels[:20]))
        for overlap in (0.1, 0.45, 0.8):
            again = post(server, None, picture=token, nms=overlap, score=0.05)
            wanted = rows(Detector(net(), threshold=0.05, overlap=overlap)(pixels))
            assert answered(again) == wanted
            assert again.json()["timing"]["passes"] == 0
        assert len({len(answered(post(server, None, picture=token, nms=o, score=0.05))) for o in (0.1, 0.8)}) == 2


def test_a_decoder_that_looks_at_the_nets_shapes_gets_them():
    """Faster R-CNN's input is as large as the picture asks for; one of another shape in between is not mistaken for it."""
    from test_detect import rcnn

    offsets = [0] * 8 + [0.25, 0, 0, 0]
    first, second = np.zeros((200, 300, 3), np.uint8), np.zeros((100, 400, 3), np.uint8)
    with started(Detector(rcnn(offsets))) as server:
        tokens = [post(server, png(pixels)).json()["picture"] for pixels in (first, second)]
        for token, pixels, passes in ((tokens[1], second, 0), (tokens[0], first, 1), (tokens[0], first, 0)):
            for overlap in (0.3, 0.99):
                again = post(server, None, picture=token, nms=overlap)
                assert answered(again) == rows(Detector(rcnn(offsets), overlap=overlap)(pixels))
                assert again.json()["timing"]["passes"] == passes
                passes = 0


def test_polygons_landmarks_masks_and_classes_as_answers():
    scores = np.full((1, 21, 16, 24), -9, np.float32)
    scores[0, 0] = 0
    scores[0, 8, 4:8, 6:18] = 5
    net = net_of({"score": scores.shape}, (16, 24))
    net.layer_dict["score"].forward = lambda bottom, top: top[0].data.__setitem__(..., scores)
    with started(Detector(net)) as server:
        (one,) = post(server, png(np.zeros((16, 24, 3), np.uint8))).json()["detections"]
        mask = np.zeros((16, 24), bool)
        mask[4:8, 6:18] = True
        assert (one["label"], one["box"], one["mask"]) == ("cat", [6, 4, 18, 8], run_lengths(mask))
        refused(post(server, png(np.zeros((16, 24, 3), np.uint8)), nms=0.5), 422, "segmentation suppresses nothing")
    corners, points = [[[0, 0], [4, 0], [4, 2], [0, 2]]], [[[1, 1], [np.nan, np.nan]]]
    detections = Detections([[0, 0, 4, 2]], [0.5], [3], angles=[0], quadrilaterals=corners, landmarks=points)
    (one,) = plain(detections)
    assert (one["label"], one["polygon"], one["landmarks"], one["angle"]) == ("label 3", corners[0], [[1, 1], None], 0)
    json.dumps(one, allow_nan=False)


def test_a_cascade_from_a_folder():
    folder = need("models/mtcnn_kpzhang")
    file = need("images/mtcnn_test.jpg")
    wanted = rows(Detector(folder, device="cpu")(file))
    assert wanted
    with serving.Server(Detector(folder, device="cpu"), "mtcnn", Options(), report=lambda error: None) as server:
        first = post(server, file.read_bytes(), "image/jpeg")
        assert answered(first) == wanted
        assert all(len(d["landmarks"]) == 5 for d in first.json()["detections"])
        again = post(server, None, picture=first.json()["picture"], nms=0.5)
        assert again.json()["timing"]["passes"] == 0
        assert answered(again) == rows(Detector(folder, overlap=0.5, device="cpu")(file))
        names = [b["name"] for b in get(server, "api/blobs", net=2).json()["blobs"]]
        assert names[0] == "data"


def test_about_the_model_and_health(server):
    about = get(server, "api/model").json()
    assert (about["model"], about["decoder"], about["classes"]) == (
        "tiny.prototxt", "ssd", [{"class_id": 1, "class_name": "cell", "class_index": 1, "label": "cell"}],
    )  # fmt: skip
    assert about["score"] == {"default": 0.5, "floor": 0.05, "on_server": False}
    assert about["nms"]["default"] == 0.45
    assert "nms_threshold of layer found" in about["nms"]["how"]
    layers = about["nets"][0]["layers"]
    assert [layer["name"] for layer in layers][:3] == ["data", "feature", "loc"]
    assert layers[1]["bottoms"] == {"data": [1, 3, 32, 32]}  # not the Split's
    assert get(server, "health").json() | {"version": ""} == {
        "status": "ok", "model": "tiny.prototxt", "busy": 0, "version": "",
    }  # fmt: skip


def test_openapi_but_no_page_that_loads_scripts_from_elsewhere(server):
    paths = get(server, "openapi.json").json()["paths"]
    assert set(paths) == {"/health", "/api/model", "/api/open", "/api/detect", "/api/blobs", "/api/blobs/{name}"}
    detect = paths["/api/detect"]["post"]
    assert {p["name"] for p in detect["parameters"]} == {"score", "nms", "labels", "picture", "example"}
    assert set(detect["requestBody"]["content"]) == {"multipart/form-data", "image/*"}
    assert {"200", "400", "413", "415", "422", "503", "504"} <= set(detect["responses"])
    for path in ("docs", "redoc"):
        refused(get(server, path), 404, "Not Found")
    static = ROOT / "boxpresso" / "serve" / "static"
    for file in static.iterdir():
        assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", file.read_text(encoding="utf-8")), file


def test_concurrent_requests_get_what_serial_ones_get(server):
    pictures = [png(cells(seed, scale)) for seed in range(4) for scale in (1, 3)]
    serial = [answered(post(server, data)) for data in pictures]
    assert len({str(each) for each in serial}) == 8
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda data: answered(post(server, data)), 3 * pictures))
    assert together == 3 * serial


def test_blobs_of_a_layer(server):
    pixels = cells(5)
    token = post(server, png(pixels)).json()["picture"]
    other = post(server, png(cells(6))).json()["picture"]
    net = wide_net()
    wanted = net.forward(["feature"], data=pixels[..., ::-1].transpose(2, 0, 1)[None].astype(np.float32))["feature"]
    listed = get(server, "api/blobs", picture=token).json()
    assert {"name": "feature", "layer": "feature", "shape": [1, 1, 4, 4]} in listed["blobs"]
    seen = get(server, "api/blobs/feature", picture=token).json()
    assert (seen["shape"], seen["channels"], seen["pages"]) == ([1, 1, 4, 4], 1, 1)
    np.testing.assert_allclose([seen["min"], seen["mean"], seen["max"]], [wanted.min(), wanted.mean(), wanted.max()])
    image = Image.open(io.BytesIO(base64.b64decode(seen["images"][0]["image"].partition(",")[2])))
    steps = np.rint(255 * (wanted[0, 0] - wanted.min()) / np.ptp(wanted))
    assert np.array_equal(np.asarray(image), steps)  # of a palette, which ends in yellow
    assert np.asarray(image.convert("RGB"))[wanted[0, 0] == wanted.max()].tolist() == [[0xFD, 0xE7, 0x25]]
    grey = get(server, "api/blobs/feature", picture=token, colours="grey").json()["images"][0]["image"]
    assert Image.open(io.BytesIO(base64.b64decode(grey.partition(",")[2]))).mode == "L"
    assert get(server, "api/blobs/feature", picture=other).json()["mean"] == pytest.approx(seen["mean"])
    assert get(server, "api/blobs/data", picture=other).json()["images"] != get(server, "api/blobs/data", picture=token).json()["images"]  # fmt: skip
    assert get(server, "api/blobs/data", picture=token, per_page=2, page=1).json()["images"][0]["channel"] == 2
    folded = get(server, "api/blobs/conf_flat").json()
    assert (folded["folded"], folded["channels"], len(folded["first"])) == (True, 1, 32)


def test_a_blob_that_cannot_be_shown(server):
    assert post(server, png(cells())).status_code == 200
    refused(get(server, "api/blobs/feture"), 404, "no blob 'feture'; did you mean 'feature'")
    refused(get(server, "api/blobs/feature", net=1), 404, "no net 1")
    refused(get(server, "api/blobs/feature", page=1), 404, "no page 1; there are 1")
    refused(get(server, "api/blobs/feature", per_page=1000), 422, "from 1 to 128")
    refused(get(server, "api/blobs/feature", colours="pink"), 422, "colours")
    refused(get(server, "api/blobs/feature", picture="x"), 410, "send it again")
    with started() as fresh:
        refused(get(fresh, "api/blobs/feature"), 409, "no picture has been looked at")


def test_numbers_that_are_not_finite_and_blobs_of_any_shape():
    values = np.array([[[[1, np.nan], [3, np.inf]]]], np.float32)
    seen = blobs.look(values, blobs.View())
    assert (seen["min"], seen["mean"], seen["max"], seen["not_finite"]) == (1, 2, 3, 2)
    for shape in ((), (3,), (0, 3, 4, 4), (1, 2, 9000), (2, 3, 1, 1), (1, 1, 50, 7), (1, 3, 400, 300)):
        seen = blobs.look(np.full(shape, np.nan, np.float32), blobs.View(scale="blob"))
        json.dumps(seen, allow_nan=False)
        assert seen["min"] is None
        assert len(seen["images"]) == seen["channels"]


def call(capsys, *words) -> tuple[int, str, str]:
    status = main([str(word) for word in words] + ["--device", "cpu"])
    return status, *capsys.readouterr()


def test_what_the_command_refuses(capsys, tmp_path, monkeypatch):
    model, weights = write_tiny(tmp_path)
    taken = serving.bind("127.0.0.1", 0)
    taken.listen()
    status, _, err = call(capsys, "serve", model, weights, "--port", taken.getsockname()[1])
    assert status == 1
    assert re.search(r"error: cannot listen on 127.0.0.1:\d+: port \d+ is in use; choose another with --port", err)
    taken.close()
    status, _, err = call(capsys, "serve", model, "--port", 0)
    assert (status, err) == (
        1,
        f"boxpresso: error: MODEL {model} needs WEIGHTS: give MODEL WEIGHTS, or the folder of a cascade\n",
    )
    assert call(capsys, "serve", model, weights, "--port", 0, "--examples", tmp_path)[2].endswith(".tiff)\n")
    for words in (("--port", "70000"), ("--timeout", "0"), ("--allow-origin", "example.org"), ("--max-upload", "-1")):
        assert call(capsys, "serve", model, weights, *words)[0] == 2
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "uvicorn" else find(name))
    status, _, err = call(capsys, "serve", model, weights)
    assert (status, err) == (1, "boxpresso: error: serve needs uvicorn: pip install 'boxpresso[serve]'\n")


@pytest.mark.later(but=1)
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "status", "host"), [(signal.SIGINT, 130, "127.0.0.1"), (signal.SIGTERM, 0, "0.0.0.0")]
)
def test_signals_end_the_command_at_once(tmp_path, number, status, host):
    model, weights = write_tiny(tmp_path)
    usual = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); from boxpresso.__main__ import main; sys.exit(main(sys.argv[1:]))"
    words = ["serve", model, weights, "--port", "0", "--host", host, "--threshold", "0.3", "--device", "cpu"]
    process = subprocess.Popen(
        [sys.executable, "-c", usual, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=tmp_path,
    )  # fmt: skip
    try:
        assert (
            process.stdout.readline()
            == "ssd: pixels from 0 to 255 in the order blue, green, red, from a score of 0.3 on\n"
        )
        said = process.stdout.readline()
        url = re.fullmatch(r"tiny.prototxt is served at (http://127.0.0.1:\d+/) \(Ctrl-C ends it\)\n", said)[1]
        answer = httpx.post(f"{url}api/detect", files={"file": png(picture())}, **LOCAL)
        assert len(answer.json()["detections"]) == 1
        with httpx.Client(**LOCAL) as client:  # a connection that stays open
            assert client.get(f"{url}health").status_code == 200
            process.send_signal(number)
            out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out) == (status, "")
    assert ("there is no password" in err) == (host == "0.0.0.0")
    assert err.count("\n") == (host == "0.0.0.0")
