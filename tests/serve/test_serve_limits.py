"""boxpresso serve: what it refuses, and what it ends."""

from __future__ import annotations

import io
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from PIL import Image
from served import LOCAL, answered, cells, get, httpx, png, post, refused, started

from boxpresso import ops
from boxpresso.device.host import STOP
from boxpresso.proto.errors import BoxpressoError
from boxpresso.proto.limits import LIMITS
from boxpresso.serve.options import Options
from boxpresso.serve.worker import Worker


@pytest.fixture(scope="module")
def server():
    with started() as server:
        yield server


def bomb() -> bytes:
    """A PNG whose header says 30,000 x 30,000 pixels."""
    data = bytearray(png(np.zeros((2, 2, 3), np.uint8)))
    data[16:24] = (30000).to_bytes(4, "big") * 2
    data[29:33] = zlib.crc32(bytes(data[12:29])).to_bytes(4, "big")
    return bytes(data)


def test_what_is_no_picture(server):
    whole = png(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8))
    refused(post(server, b"hello"), 400, "not a picture")
    refused(post(server, b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"), 400, "not a picture")
    refused(post(server, whole[: len(whole) // 2]), 400, "cannot be read")
    refused(post(server, b""), 400, "empty")
    refused(post(server, bomb()), 413, "too large: .*900000000")
    refused(post(server, whole, "text/plain"), 415, "text/plain is not read; send a picture")
    refused(post(server, whole, "application/x-www-form-urlencoded"), 415, "multipart/form-data")
    refused(post(server, whole, headers={"content-encoding": "gzip"}), 415, "Content-Encoding")
    kind = "multipart/form-data; boundary=x"
    part = b'--x\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n--x--\r\n'
    assert answered(post(server, part % (b"file", whole), kind)) == answered(post(server, whole))
    refused(post(server, part % (b"other", whole), kind), 422, "has no file")
    refused(post(server, (part % (b"file", whole))[:-8], kind), 400, "ends too early")
    refused(post(server, b"nonsense", kind), 400, "multipart body")
    refused(post(server, whole, "multipart/form-data"), 400, "no boundary")
    refused(post(server, whole, "multipart/form-data; boundary=" + 71 * "x"), 400, "has 71 bytes")
    long = post(server, b"--x\r\nA: " + 20000 * b"a" + b"\r\n", kind)
    assert long.status_code in (400, 413)  # python-multipart's own limit, or ours
    refused(post(server, 40 * (part % (b"a", b"")).replace(b"--x--\r\n", b""), kind), 413, "more than 16 parts")


def test_a_broken_body_prints_nothing_where_the_server_runs():
    code = """if True:
        from boxpresso.serve.options import Refusal
        from boxpresso.serve.upload import picture_of
        try:
            picture_of(b"nonsense", {"content-type": "multipart/form-data; boundary=x"})
        except Refusal as error:
            print(error)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "multipart body" in done.stdout
    assert done.stderr == ""


def test_parameters_that_cannot_be(server):
    data = png(cells())
    for query in ({"score": "high"}, {"score": 1.5}, {"nms": -0.1}, {"nms": "nan"}):
        refused(post(server, data, **query), 422, next(iter(query)))
    refused(post(server, None, picture="unknown"), 410, "no longer remembered; send it again")
    refused(post(server, None, example=0), 404, "no example 0")
    refused(get(server, "api/detect"), 405, "Method Not Allowed")
    refused(get(server, "static/..%2fapp.py"), 404, "")
    refused(get(server, "api/nothing"), 404, "Not Found")


def test_uploads_that_are_too_large():
    data = png(np.random.default_rng(0).integers(0, 255, (128, 128, 3), np.uint8))
    assert 40_000 < len(data) < 60_000
    with started(max_upload=40_000) as server:
        refused(post(server, data), 413, "larger than 40000 bytes")
        refused(httpx.post(f"{server.url}api/detect", files={"file": data}, **LOCAL), 413, "larger than 40000 bytes")
        read = []

        def body():  # without a Content-Length
            for at in range(0, len(data), 4096):
                read.append(at)
                yield data[at : at + 4096]

        refused(post(server, body(), "image/png"), 413, "larger than 40000 bytes")
        with socket.create_connection(("127.0.0.1", server.listener.getsockname()[1])) as connection:
            head = "POST /api/detect HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: 99999999\r\n\r\n"
            connection.sendall(head.encode())  # it answers before anything of the body has come
            assert b" 413 " in connection.recv(100)


def test_nothing_of_an_upload_is_written_to_a_disk(server, monkeypatch):
    def forbidden(*args, **more):
        raise AssertionError("a temporary file")

    monkeypatch.setattr(tempfile, "TemporaryFile", forbidden)
    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", forbidden)
    monkeypatch.setattr(tempfile, "mkstemp", forbidden)
    monkeypatch.setattr(tempfile, "NamedTemporaryFile", forbidden)
    data = png(np.random.default_rng(0).integers(0, 255, (900, 900, 3), np.uint8))
    assert len(data) > 2 << 20
    assert httpx.post(f"{server.url}api/detect", files={"file": data}, **LOCAL).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil:8000", "10.1.2.3", "[::2]", ""]
)
def test_another_host_is_refused(server, host):
    """A name of another site that leads here: DNS rebinding."""
    for path in ("", "api/model", "static/main.js"):
        refused(get(server, path, headers={"host": host}), 403, "this server is not called")


def test_the_own_hosts(server):
    for host in ("localhost", "LOCALHOST:1234", "127.0.0.1:80", "[::1]:8000"):
        assert get(server, "health", headers={"host": host}).status_code == 200
    with started(allow_hosts=("box.example",)) as other:
        assert get(other, "health", headers={"host": "box.example:8000"}).status_code == 200
        refused(get(other, "health", headers={"host": "a.box.example"}), 403, "--allow-host")
    with started(host="0.0.0.0") as other:
        assert get(other, "health", headers={"host": "192.168.7.7:8000"}).status_code == 200
        refused(get(other, "health", headers={"host": "evil.example"}), 403, "--allow-host")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://localhost:1"},  # another port is another origin
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_pages_of_other_sites_are_refused(server, headers):
    refused(post(server, png(cells()), headers=headers), 403, "may not use this server")
    refused(get(server, "api/blobs", headers=headers), 403, "may not use this server")
    answer = httpx.options(
        f"{server.url}api/detect", headers={**headers, "access-control-request-method": "POST"}, **LOCAL
    )
    assert "access-control-allow-origin" not in answer.headers


def test_the_own_page_and_allowed_origins(server):
    own = server.url.rstrip("/")
    data = png(cells())
    assert post(server, data, headers={"origin": own, "sec-fetch-site": "same-origin"}).status_code == 200
    assert get(server, "", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200
    with started(allow_origins=("https://box.example",)) as other:
        headers = {"origin": "https://box.example", "sec-fetch-site": "cross-site"}
        answer = post(other, data, headers=headers)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "https://box.example")
        asked = httpx.options(f"{other.url}api/detect", headers=headers, **LOCAL)
        assert (asked.status_code, asked.headers["access-control-allow-headers"]) == (204, "content-type")
        refused(post(other, data, headers={"origin": "https://box.example.evil"}), 403, "may not")


def test_headers_of_every_answer(server):
    for answer in (
        get(server, ""),
        get(server, "api/model"),
        get(server, "nothing"),
        post(server, b"x"),
        get(server, "", {"host": "e"}),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers


def test_errors_tell_no_paths_of_the_server(server, monkeypatch, tmp_path):
    def fails(error):
        def detect(pixels, settings):
            raise error

        monkeypatch.setattr(server.model.detector.decoder, "detect", detect)
        return post(server, png(cells()))

    answer = fails(BoxpressoError(f"layer 'a/b/c' cannot read {tmp_path}/secret/mean.npy: it is 3/4 full"))
    refused(answer, 500, "^layer 'a/b/c' cannot read mean.npy: it is 3/4 full$")
    monkeypatch.setattr(server.model, "paths", ["in/deploy.prototxt"])
    refused(
        fails(BoxpressoError("in/deploy.prototxt: layer 'in/b' is full")),
        500,
        "^deploy.prototxt: layer 'in/b' is full$",
    )
    refused(fails(ValueError(str(tmp_path))), 500, "^an internal error, ValueError; the server's terminal says more$")
    refused(fails(MemoryError()), 503, "not enough memory")


class Blocked:
    """A decoder's `detect` that waits until `release` is set."""

    def __init__(self, monkeypatch, server):
        self.release, self.entered = threading.Event(), threading.Event()
        self.usual = server.model.detector.decoder.detect
        monkeypatch.setattr(server.model.detector.decoder, "detect", self)

    def __call__(self, pixels, settings):
        self.entered.set()
        while not self.release.wait(0.01):
            pass
        return self.usual(pixels, settings)


def test_requests_that_find_the_queue_full_are_refused_and_the_others_answered(monkeypatch):
    data = png(cells())
    with started(waiting=2) as server, ThreadPoolExecutor(3) as pool:
        wanted = answered(post(server, data))
        blocked = Blocked(monkeypatch, server)
        first = pool.submit(post, server, data)
        assert blocked.entered.wait(20)
        others = [pool.submit(post, server, data) for _ in range(2)]
        while get(server, "health").json()["busy"] < 3:
            time.sleep(0.01)
        fourth = post(server, data)
        refused(fourth, 503, "busy: 3 requests are before this one")
        assert fourth.headers["retry-after"] == "1"
        blocked.release.set()
        assert [answered(each.result()) for each in (first, *others)] == 3 * [wanted]


def test_a_request_that_takes_too_long_is_ended_and_the_next_is_right(monkeypatch):
    """One in layers of Python, one that waits behind it, and one in a kernel of minutes."""
    data = png(cells())
    features, regions = (
        np.ones((1, 64, 200, 200), np.float32),
        np.array([[0, 100, 100, 90, 90, 0.3]] * 3000, np.float32),
    )
    options = dict(output_size=7, spatial_scale=1.0)
    ops.roi_align_rotated(features[:, :4], regions[:1], sampling_ratio=2, **options)  # compiled
    with started() as server:
        wanted = answered(post(server, data))
        with monkeypatch.context() as patch, ThreadPoolExecutor(2) as pool:
            patch.setattr(server.api, "options", Options(timeout=0.5))
            blocked = Blocked(patch, server)
            for late in [pool.submit(post, server, data) for _ in range(2)]:
                refused(late.result(), 504, "longer than 0.5 seconds")
            assert blocked.entered.is_set()
        assert answered(post(server, data)) == wanted
        with monkeypatch.context() as patch:
            patch.setattr(server.api, "options", Options(timeout=0.5))
            patch.setattr(LIMITS, "region_samples", 2**50)
            decoder, running = server.model.detector.decoder, threading.Event()

            def detect(pixels, settings):
                running.set()
                return ops.roi_align_rotated(features, regions, sampling_ratio=128, **options)

            patch.setattr(decoder, "detect", detect)
            refused(post(server, data), 504, "longer than 0.5 seconds")
            assert running.is_set()
        assert answered(post(server, data)) == wanted  # within its 60 seconds, not after minutes


def test_the_worker_outlives_interrupts_at_any_time():
    """Those that come before a job, in it, and when it has just ended."""

    def work(count):
        total = 0
        for i in range(count):
            total += i
        return total

    worker, draw, results = Worker(), random.Random(0), Counter()
    before = sys.getswitchinterval()
    sys.setswitchinterval(2e-5)
    try:
        for _ in range(400):
            count = draw.randrange(30_000)
            job = worker.submit(partial(work, count))
            end = time.perf_counter() + 2e-3 * draw.random()
            while time.perf_counter() < end:
                time.sleep(0)
            worker.give_up(job)
            try:
                assert job.future.result(10) == count * (count - 1) // 2
                results["done"] += 1
            except (TimeoutError, CancelledError) as error:
                results[type(error).__name__] += 1
    finally:
        sys.setswitchinterval(before)
    assert results["done"] > 0
    assert results["TimeoutError"] > 0
    assert worker.submit(lambda: 5).future.result(10) == 5
    assert not STOP.any()
    worker.close()


def test_an_upload_that_does_not_come_is_ended():
    with started(timeout=0.3) as server, socket.create_connection(server.listener.getsockname()) as connection:
        head = (
            "POST /api/detect HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: 100\r\n\r\nabc"
        )
        connection.sendall(head.encode())
        connection.settimeout(10)
        assert b" 504 " in connection.recv(100)
        assert get(server, "health").json()["busy"] == 0


def test_a_client_that_leaves_makes_way(monkeypatch):
    data = png(cells())
    with started() as server:
        blocked = Blocked(monkeypatch, server)
        with socket.create_connection(server.listener.getsockname()) as connection:
            head = f"POST /api/detect HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: {len(data)}\r\n\r\n"
            connection.sendall(head.encode() + data)
            assert blocked.entered.wait(20)
            assert get(server, "health").json()["busy"] == 1
        end = time.monotonic() + 20
        while get(server, "health").json()["busy"] and time.monotonic() < end:
            time.sleep(0.01)
        assert get(server, "health").json()["busy"] == 0
        blocked.release.set()
        assert post(server, data).status_code == 200


def test_the_end_does_not_wait_for_a_request(monkeypatch):
    server = started()
    server.start()
    blocked = Blocked(monkeypatch, server)
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(post, server, png(cells()))
        assert blocked.entered.wait(20)
        start = time.monotonic()
        server.stop()
        assert time.monotonic() - start < 10
        refused(late.result(), 503, "shutting down")
    assert not server.thread.is_alive()


def test_pictures_that_are_no_longer_remembered():
    with started() as server:
        tokens = [post(server, png(cells(seed))).json()["picture"] for seed in range(10)]
        refused(post(server, None, picture=tokens[0]), 410, "send it again")
        assert post(server, None, picture=tokens[-1]).json()["timing"]["passes"] == 0
        preview = get(server, f"api/pictures/{tokens[-1]}")
        assert (preview.headers["content-type"], Image.open(io.BytesIO(preview.content)).size) == (
            "image/jpeg",
            (32, 32),
        )


def test_examples(tmp_path):
    Image.fromarray(cells(3)).save(tmp_path / "b.png")
    Image.fromarray(cells(4)).save(tmp_path / "a.bmp")
    (tmp_path / "notes.txt").write_text("no picture")
    with started(examples=str(tmp_path)) as server:
        assert get(server, "api/model").json()["examples"] == ["a.bmp", "b.png"]
        assert get(server, "api/examples/1").content == (tmp_path / "b.png").read_bytes()
        assert answered(post(server, None, example=1)) == answered(post(server, png(cells(3))))
        refused(get(server, "api/examples/2"), 404, "no example 2")
        refused(get(server, "api/examples/-1"), 404, "no example -1")


def test_examples_beside_the_model(tmp_path):
    """By their names alone: other pictures there are not for others to see."""
    for name in ("Example 2.png", "scene.bmp", "holiday.png", "demo.txt"):
        Image.fromarray(cells(3)).save(tmp_path / name, "PNG")
    with started(beside=str(tmp_path / "deploy.prototxt")) as server:
        assert get(server, "api/model").json()["examples"] == ["Example 2.png", "scene.bmp"]
        assert get(server, "api/examples/0").content == (tmp_path / "Example 2.png").read_bytes()
    with started(beside=str(tmp_path)) as server:  # a cascade
        assert get(server, "api/model").json()["examples"] == ["Example 2.png", "scene.bmp"]
    with started(beside=str(tmp_path / "none" / "deploy.prototxt")) as server:
        assert get(server, "api/model").json()["examples"] == []
