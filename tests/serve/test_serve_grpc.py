"""The Open Inference Protocol over gRPC, asked by Triton's own client and, where that has no word, by messages of its module."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from served import NAMES, cells, png, started, wide_net

from boxpresso import BoxpressoError, Detector

grpc = pytest.importorskip("grpc", reason="grpcio is not installed: pip install 'boxpresso[dev]'")
triton = pytest.importorskip(
    "tritonclient.grpc", reason="tritonclient[grpc] is not installed: pip install 'boxpresso[dev]'"
)
from tritonclient.grpc import service_pb2 as theirs  # noqa: E402
from tritonclient.grpc import service_pb2_grpc  # noqa: E402
from tritonclient.utils import InferenceServerException  # noqa: E402

MODEL = "tiny.prototxt"


@pytest.fixture(scope="module")
def server():
    with started(grpc_port=0) as running:
        yield running


@pytest.fixture
def client(server):
    with triton.InferenceServerClient(server.grpc) as opened:
        yield opened


@pytest.fixture
def stub(server):
    with grpc.insecure_channel(server.grpc) as channel:
        yield service_pb2_grpc.GRPCInferenceServiceStub(channel)


def expected(pixels, **settings):
    return Detector(wide_net(), labels=NAMES)(pixels, **settings)


def pixels_of(pictures):
    tensor = triton.InferInput("pixels", list(pictures.shape), "UINT8")
    tensor.set_data_from_numpy(pictures)
    return tensor


def same(answer, detections, which=0):
    mine = answer.as_numpy("picture") == which
    np.testing.assert_allclose(answer.as_numpy("boxes")[mine], detections.boxes, rtol=1e-6)
    np.testing.assert_allclose(answer.as_numpy("scores")[mine], detections.scores, rtol=1e-6)
    assert answer.as_numpy("class_ids")[mine].tolist() == detections.class_ids.tolist()
    assert [name.decode() for name in answer.as_numpy("class_names")[mine]] == detections.class_names


def test_tritons_client_sends_pixels_and_files(client):
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready(MODEL)
    assert client.get_server_metadata().name == "boxpresso"
    about = client.get_model_metadata(MODEL)
    assert [each.name for each in about.outputs] == ["boxes", "scores", "class_ids", "class_names", "picture"]
    assert list(about.inputs[1].shape) == [-1, -1, -1, 3]
    two = np.stack([cells(1), cells(2)])
    answer = client.infer(MODEL, [pixels_of(two)], request_id="a")
    assert answer.get_response().id == "a"
    for i in range(2):
        same(answer, expected(two[i]), i)
    files = triton.InferInput("image", [2], "BYTES")
    files.set_data_from_numpy(np.array([png(one) for one in two], np.object_))
    answer = client.infer(MODEL, [files], parameters={"threshold": 0.9, "overlap": 0.3})
    for i in range(2):
        same(answer, expected(two[i], threshold=0.9, overlap=0.3), i)
    asked = [triton.InferRequestedOutput("scores")]
    answer = client.infer(MODEL, [pixels_of(two)], outputs=asked)
    assert [each.name for each in answer.get_response().outputs] == ["scores"]


def test_typed_contents_are_answered_with_typed_contents(stub):
    request = theirs.ModelInferRequest(model_name=MODEL)
    tensor = request.inputs.add(name="pixels", datatype="UINT8", shape=[32, 32, 3])
    tensor.contents.uint_contents.extend(cells(3).ravel().tolist())
    files = theirs.ModelInferRequest(model_name=MODEL, model_version="1")
    files.inputs.add(name="image", datatype="BYTES", shape=[1]).contents.bytes_contents.append(png(cells(3)))
    detections = expected(cells(3))
    for each in (request, files):
        answer = stub.ModelInfer(each)
        assert not answer.raw_output_contents
        outputs = {row.name: row for row in answer.outputs}
        boxes = np.reshape(outputs["boxes"].contents.fp32_contents, outputs["boxes"].shape)
        np.testing.assert_allclose(boxes, detections.boxes, rtol=1e-6)
        assert list(outputs["class_ids"].contents.int64_contents) == detections.class_ids.tolist()
        assert [name.decode() for name in outputs["class_names"].contents.bytes_contents] == detections.class_names
        assert list(outputs["picture"].contents.int_contents) == [0] * len(detections)


def test_what_cannot_be_is_a_status_with_the_reason(client, stub, server):
    code = grpc.StatusCode

    def refused(status, words, request):
        with pytest.raises(grpc.RpcError, match=words) as caught:
            stub.ModelInfer(request)
        assert caught.value.code() == status, caught.value

    def request(**changes):
        made = theirs.ModelInferRequest(model_name=MODEL, raw_input_contents=[bytes(12)])
        made.inputs.add(**{"name": "pixels", "datatype": "UINT8", "shape": [2, 2, 3], **changes})
        return made

    refused(code.NOT_FOUND, "there is no model 'other'", theirs.ModelInferRequest(model_name="other"))
    refused(code.NOT_FOUND, "of version 2", theirs.ModelInferRequest(model_name=MODEL, model_version="2"))
    refused(code.INVALID_ARGUMENT, "one input", theirs.ModelInferRequest(model_name=MODEL))
    refused(code.INVALID_ARGUMENT, "the input is 'data' of 'UINT8'", request(name="data"))
    refused(code.INVALID_ARGUMENT, "the input is 'pixels' of 'FP32'", request(datatype="FP32"))
    refused(code.INVALID_ARGUMENT, "whole numbers from 1", request(shape=[-1, 2, 3]))
    refused(code.INVALID_ARGUMENT, "but 12 numbers", request(shape=[9, 9, 3]))
    refused(code.INVALID_ARGUMENT, r"shape \[1\], but 3 files", request(name="image", datatype="BYTES", shape=[1]))
    both = request()
    both.inputs[0].contents.uint_contents.extend([0] * 12)
    refused(code.INVALID_ARGUMENT, "which then has no contents", both)
    more = request()
    more.parameters["threshold"].string_param = "high"
    refused(code.INVALID_ARGUMENT, "threshold is high", more)
    more = request()
    more.outputs.add(name="masks")
    refused(code.INVALID_ARGUMENT, "no output 'masks'", more)
    with pytest.raises(InferenceServerException, match="there is no model"):
        client.get_model_metadata("other")
    with pytest.raises(grpc.RpcError) as caught:
        stub.RepositoryIndex(theirs.RepositoryIndexRequest())
    assert caught.value.code() == code.UNIMPLEMENTED
    same(client.infer(MODEL, [pixels_of(cells()[None])]), expected(cells()))  # it still answers


def test_both_protocols_wait_in_one_queue_and_go_through_the_net_together():
    from test_serve_kserve import infer, values
    from test_serve_kserve import same as same_json

    with started(grpc_port=0, waiting=2) as server, triton.InferenceServerClient(server.grpc) as client:
        sizes = []
        decoder = server.model.detector.decoder
        batch = decoder.batch

        def counted(group, settings):
            sizes.append(len(group))
            return batch(group, settings)

        decoder.batch = counted
        gate, answers = threading.Event(), {}
        server.worker.submit(gate.wait)
        one = {"name": "pixels", "datatype": "UINT8", "shape": [32, 32, 3], "data": cells(1).tolist()}
        waiting = [
            threading.Thread(target=lambda: answers.update(http=infer(server, {"inputs": [one]}))),
            threading.Thread(target=lambda: answers.update(grpc=client.infer(MODEL, [pixels_of(cells(2)[None])]))),
            threading.Thread(target=lambda: answers.update(last=client.infer(MODEL, [pixels_of(cells(3)[None])]))),
        ]
        for thread in waiting:
            thread.start()
        while server.api.busy < 3:
            time.sleep(0.01)
        with pytest.raises(InferenceServerException, match="the server is busy") as caught:
            client.infer(MODEL, [pixels_of(cells()[None])])
        assert "UNAVAILABLE" in caught.value.status()
        gate.set()
        for thread in waiting:
            thread.join()
        same_json(values(answers["http"]), expected(cells(1)))
        same(answers["grpc"], expected(cells(2)))
        same(answers["last"], expected(cells(3)))
        assert sum(sizes) == 3
        assert max(sizes) >= 2
        assert (server.api.batcher.waiting, server.api.busy) == ([], 0)


def test_a_client_that_leaves_gives_up_its_place():
    with started(grpc_port=0) as server, triton.InferenceServerClient(server.grpc) as client:
        gate = threading.Event()
        server.worker.submit(gate.wait)
        with pytest.raises(InferenceServerException, match="Deadline"):
            client.infer(MODEL, [pixels_of(cells()[None])], client_timeout=0.3)
        while server.api.busy:
            time.sleep(0.01)
        assert server.api.batcher.waiting == []
        gate.set()
        same(client.infer(MODEL, [pixels_of(cells()[None])]), expected(cells()))


def test_the_limits_are_those_of_http():
    with (
        started(grpc_port=0, max_upload=1000, timeout=0.3) as server,
        triton.InferenceServerClient(server.grpc) as client,
    ):
        with pytest.raises(InferenceServerException, match="larger than max") as caught:
            client.infer(MODEL, [pixels_of(np.zeros((1, 200, 200, 3), np.uint8))])
        assert "RESOURCE_EXHAUSTED" in caught.value.status()
        gate = threading.Event()
        server.worker.submit(gate.wait)
        with pytest.raises(InferenceServerException, match=r"longer than 0.3 seconds") as caught:
            client.infer(MODEL, [pixels_of(cells()[None])])
        assert "DEADLINE_EXCEEDED" in caught.value.status()
        gate.set()


def test_a_port_in_use_is_said(server):
    number = int(server.grpc.rpartition(":")[2])
    with (
        pytest.raises(BoxpressoError, match=rf"cannot listen on 127.0.0.1:{number} for gRPC.*--grpc-port"),
        started(grpc_port=number),
    ):
        pass


def test_bytes_that_are_no_message(server):
    with grpc.insecure_channel(server.grpc) as channel:
        ask = channel.unary_unary(
            "/inference.GRPCInferenceService/ModelInfer", request_serializer=bytes, response_deserializer=bytes
        )
        with pytest.raises(grpc.RpcError) as refusal:
            ask(b"\xff\xff\xff", timeout=20)
    assert refusal.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert refusal.value.details() == "the message is not a ModelInferRequest"
