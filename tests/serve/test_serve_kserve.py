"""The Open Inference Protocol (KServe v2): written out here byte by byte, and by Triton's own client where it is installed."""

from __future__ import annotations

import base64
import json
import struct
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from served import LOCAL, NAMES, cells, get, httpx, png, refused, rows, started, wide_net

from boxpresso import BoxpressoError, Detector
from boxpresso.decoders.detections import Detections
from boxpresso.serve import kserve

MODEL = "v2/models/tiny.prototxt"


@pytest.fixture(scope="module")
def server():
    with started() as running:
        yield running


def expected(pixels, **settings):
    return Detector(wide_net(), labels=NAMES)(pixels, **settings)


def infer(server, body, head: int | None = None, kind: str = "application/octet-stream", model: str = MODEL):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": kind, **({} if head is None else {"Inference-Header-Content-Length": str(head)})}
    return httpx.post(f"{server.url}{model}/infer", content=data, headers=headers, **LOCAL)


def values(answer) -> dict[str, np.ndarray | list]:
    """The outputs of an answer, read as the protocol has them."""
    assert answer.status_code == 200, answer.text
    length = answer.headers.get("inference-header-content-length")
    head = json.loads(answer.content[: None if length is None else int(length)])
    at = None if length is None else int(length)
    assert (head["model_name"], head["model_version"]) == ("tiny.prototxt", "1")
    result = {"id": head.get("id")}
    for row in head["outputs"]:
        if "data" in row:
            value = row["data"]
        else:
            size = row["parameters"]["binary_data_size"]
            data, at = answer.content[at : at + size], at + size
            if row["datatype"] == "BYTES":
                value = []
                while data:
                    (n,) = struct.unpack("<I", data[:4])
                    value.append(data[4 : 4 + n].decode())
                    data = data[4 + n :]
            else:
                value = np.frombuffer(data, {"FP32": "<f4", "INT64": "<i8", "INT32": "<i4"}[row["datatype"]]).tolist()
        result[row["name"]] = value if row["datatype"] == "BYTES" else np.array(value).reshape(row["shape"])
        assert row["shape"][0] == len(result[row["name"]])
    assert length is None or at == len(answer.content)
    return result


def same(got, detections, which=0) -> None:
    mine = got["picture"] == which
    np.testing.assert_allclose(got["boxes"][mine], detections.boxes, rtol=1e-6)
    np.testing.assert_allclose(got["scores"][mine], detections.scores, rtol=1e-6)
    assert got["class_ids"][mine].tolist() == detections.class_ids.tolist()
    assert [name for name, one in zip(got["class_names"], mine, strict=True) if one] == detections.class_names


def test_health_and_metadata(server):
    assert get(server, "v2/health/live").json() == {"live": True}
    assert get(server, "v2/health/ready").json() == {"ready": True}
    assert get(server, "v2").json()["extensions"] == ["binary_tensor_data"]
    for path in (MODEL, f"{MODEL}/versions/1"):
        about = get(server, path).json()
        assert (about["name"], [row["name"] for row in about["inputs"]]) == ("tiny.prototxt", ["image", "pixels"])
        assert get(server, f"{path}/ready").json() == {"name": "tiny.prototxt", "ready": True}
    for path in ("v2/models/other", "v2/models/other/ready", f"{MODEL}/versions/2"):
        refused(get(server, path), 404, "there is no model")
    refused(infer(server, {}, model="v2/models/other"), 404, "there is no model 'other'")


def test_files_and_pixels_in_json(server):
    both = [cells(1), cells(2)]
    text = [base64.b64encode(png(one)).decode() for one in both]
    detections = [expected(one) for one in both]
    for body in (
        {"id": "7", "inputs": [{"name": "image", "datatype": "BYTES", "shape": [2], "data": text}]},
        {
            "id": "7",
            "inputs": [
                {"name": "pixels", "datatype": "UINT8", "shape": [2, 32, 32, 3], "data": np.array(both).tolist()}
            ],
        },
        {
            "id": "7",
            "inputs": [
                {"name": "pixels", "datatype": "UINT8", "shape": [2, 32, 32, 3], "data": np.ravel(both).tolist()}
            ],
        },
    ):
        got = values(infer(server, body, kind="application/json"))
        assert got["id"] == "7"
        for i in range(2):
            same(got, detections[i], i)
    one = {"inputs": [{"name": "pixels", "datatype": "UINT8", "shape": [32, 32, 3], "data": both[0].tolist()}]}
    got = values(
        infer(server, {**one, "parameters": {"threshold": 0.9, "overlap": 0.3}, "outputs": [{"name": "scores"}]})
    )
    assert list(got) == ["id", "scores"]
    np.testing.assert_allclose(got["scores"], expected(both[0], threshold=0.9, overlap=0.3).scores, rtol=1e-6)


def test_binary_tensors(server):
    pixels = cells(3)
    data = png(pixels)
    tail = struct.pack("<I", len(data)) + data
    for name, kind, shape, after in (
        ("image", "BYTES", [1], tail),
        ("pixels", "UINT8", [1, 32, 32, 3], pixels.tobytes()),
    ):
        tensor = {"name": name, "datatype": kind, "shape": shape, "parameters": {"binary_data_size": len(after)}}
        for more in ({"parameters": {"binary_data_output": True}}, {}):
            head = json.dumps({"inputs": [tensor], **more}).encode()
            same(values(infer(server, head + after, len(head))), expected(pixels))
    head = json.dumps({"inputs": [tensor], "outputs": [
        {"name": "boxes", "parameters": {"binary_data": True}}, {"name": "class_names"}]}).encode()  # fmt: skip
    got = values(infer(server, head + after, len(head)))
    np.testing.assert_allclose(got["boxes"], expected(pixels).boxes, rtol=1e-6)
    assert got["class_names"] == ["cell"] * len(got["boxes"])


def test_what_is_not_of_the_protocol(server):
    def image(**changes):
        return {"inputs": [{"name": "image", "datatype": "BYTES", "shape": [1], "data": ["AAAA"], **changes}]}

    bomb = b'{"inputs": ' + b"[" * 100_000
    for body, status, said in (
        (b"no json", 400, "not JSON"),
        (bomb, 400, "not JSON"),
        ([], 422, "one input"),
        ({"inputs": []}, 422, "one input"),
        (image(name="data"), 422, "the input is 'data'"),
        (image(datatype="FP32"), 422, "of 'FP32'"),
        (image(shape=[-1]), 422, "whole numbers from 1"),
        (image(shape=[2]), 422, r"shape \[2\], but 1 files"),
        (image(data=None), 422, "no data"),
        (image(data=[[1], 2]), 422, "not of both"),
        (image(data=["?"]), 422, "base64"),
        (image(), 400, "not a picture"),
        (image(name=[]), 422, r"the input is \[\] of 'BYTES'"),
        (image(datatype={}), 422, "the input is 'image' of {}"),
        (image(shape=[True]), 422, "at most 4 whole numbers from 1"),
        (image(shape=[1] * 5), 422, "at most 4 whole numbers from 1"),  # the product of many takes hours
        (
            {**image(), "parameters": {"threshold": "\ud800"}},
            422,
            r"threshold is \?, not",
        ),  # half a pair, which UTF-8 has not
        (image(parameters={"binary_data_size": "\ud800"}), 400, r"binary_data_size is \?, but"),
        (image(parameters={"binary_data_size": 9}), 400, "binary_data_size is 9, but 0 bytes"),
        ({**image(), "parameters": {"threshold": 2}}, 422, "threshold is 2"),
        ({**image(), "outputs": [{"name": "masks"}]}, 422, "no output 'masks'"),
        (image(shape=[65], data=["AAAA"] * 65), 413, "at most 64"),
        (
            {"inputs": [{"name": "pixels", "datatype": "UINT8", "shape": [1, 1, 3], "data": [1, 2, 300]}]},
            422,
            "0 to 255",
        ),
        ({"inputs": [{"name": "pixels", "datatype": "UINT8", "shape": [9, 9, 3], "data": [1]}]}, 422, "but 1 numbers"),
        (
            {"inputs": [{"name": "pixels", "datatype": "UINT8", "shape": [1 << 30] * 3 + [3], "data": [1]}]},
            422,
            "but 1 numbers",
        ),
    ):
        refused(infer(server, body), status, said)
    refused(infer(server, b"{}", 3), 400, "of a body of 2 bytes")
    head = json.dumps(image(parameters={"binary_data_size": 6}, data=None)).encode()
    refused(
        infer(server, head + struct.pack("<I", 900) + b"ab", len(head)),
        400,
        "a file of image has 900 bytes, but 2 come",
    )
    refused(infer(server, image(), kind="image/png"), 415, "a body of type image/png")
    same(
        values(infer(server, image(data=[base64.b64encode(png(cells())).decode()]))), expected(cells())
    )  # it still answers


def test_what_fails_is_the_request_of_its_own_client():
    """Another that waits beside it, whose picture the net refuses or that cannot be read at all, takes nobody with it."""

    def batch(pictures, wanted, most):
        if any(one.shape[0] > 9 for one in pictures):
            raise BoxpressoError("too large for the net")
        return [Detections.none() for _ in pictures]

    batcher = kserve.Batcher(SimpleNamespace(batch=batch), 8)

    def enter(size):
        asked = kserve.Asked([np.zeros((size, 4, 3), np.uint8)], kserve.Wanted(), {})
        return batcher.enter(lambda: asked)

    def unreadable():
        raise TypeError("unhashable type: 'list'")

    fine, large, broken = enter(4), enter(10), batcher.enter(unreadable)
    assert len(batcher.answer(fine)[1]) == 1
    with pytest.raises(BoxpressoError, match="too large for the net"):
        batcher.answer(large)
    with pytest.raises(TypeError):
        batcher.answer(broken)


def test_requests_that_wait_go_through_the_net_together():
    """Those of the same settings, each with its own detections; a broken one and one of other settings keep to themselves."""
    with started() as server:
        sizes, pictures = [], [cells(seed) for seed in range(5)]
        decoder = server.model.detector.decoder
        batch = decoder.batch

        def counted(group, settings):
            sizes.append(len(group))
            return batch(group, settings)

        decoder.batch = counted
        gate, answers = threading.Event(), {}
        server.worker.submit(gate.wait)

        def send(key, body):
            answers[key] = infer(server, body)

        def body(pixels, **parameters):
            return {
                "inputs": [{"name": "pixels", "datatype": "UINT8", "shape": [32, 32, 3], "data": pixels.tolist()}],
                "parameters": parameters,
            }

        threads = [threading.Thread(target=send, args=(i, body(one))) for i, one in enumerate(pictures[:4])]
        threads.append(threading.Thread(target=send, args=("other", body(pictures[4], threshold=0.9))))
        threads.append(threading.Thread(target=send, args=("broken", {"inputs": []})))
        for thread in threads:
            thread.start()
        while len(server.api.batcher.waiting) < 6:
            time.sleep(0.01)
        gate.set()
        for thread in threads:
            thread.join()
        for i in range(4):
            same(values(answers[i]), expected(pictures[i]))
        same(values(answers["other"]), expected(pictures[4], threshold=0.9))
        refused(answers["broken"], 422, "one input")
        assert sorted(sizes) == [1, 4]
        assert server.api.batcher.waiting == []


def test_more_pictures_than_a_pass_takes():
    with started(batch=4) as server:
        many = [cells(seed) for seed in range(7)]
        got = values(infer(server, {"inputs": [
            {"name": "pixels", "datatype": "UINT8", "shape": [7, 32, 32, 3], "data": np.array(many).ravel().tolist()}]}))  # fmt: skip
        for i, one in enumerate(many):
            same(got, expected(one), i)


def test_the_page_and_the_protocol_share_a_net(server):
    """A pass of several pictures leaves nothing of the page's picture behind: its blobs are computed again."""
    from served import answered, post

    first = post(server, png(cells(1)))
    token = first.json()["picture"]
    before = get(server, "api/blobs/feature", picture=token).json()
    infer(
        server, {"inputs": [{"name": "pixels", "datatype": "UINT8", "shape": [32, 32, 3], "data": cells(2).tolist()}]}
    )
    assert get(server, "api/blobs/feature", picture=token).json() == before
    assert answered(post(server, None, "", picture=token)) == rows(expected(cells(1)))


def test_tritons_own_client(server):
    triton = pytest.importorskip("tritonclient.http", reason="tritonclient[http] is not installed")
    address = server.url.removeprefix("http://").rstrip("/")
    with triton.InferenceServerClient(address) as client:
        assert client.is_server_live()
        assert client.is_server_ready()
        assert client.is_model_ready("tiny.prototxt")
        assert client.get_model_metadata("tiny.prototxt")["outputs"][0]["name"] == "boxes"
        for binary in (True, False):
            pixels = triton.InferInput("pixels", [1, 32, 32, 3], "UINT8")
            pixels.set_data_from_numpy(cells(4)[None], binary_data=binary)
            wanted = [
                triton.InferRequestedOutput(name, binary_data=binary) for name in ("boxes", "scores", "class_names")
            ]
            answer = client.infer("tiny.prototxt", [pixels], outputs=wanted, request_id="a")
            np.testing.assert_allclose(answer.as_numpy("boxes"), expected(cells(4)).boxes, rtol=1e-6)
            assert set(answer.as_numpy("class_names").tolist()) <= {b"cell", "cell"}
        image = triton.InferInput("image", [1], "BYTES")
        image.set_data_from_numpy(np.array([png(cells(4))], np.object_))
        answer = client.infer("tiny.prototxt", [image])
        np.testing.assert_allclose(answer.as_numpy("scores"), expected(cells(4)).scores, rtol=1e-6)
        with pytest.raises(Exception, match="there is no model"):
            client.get_model_metadata("other")
