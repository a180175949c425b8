"""boxpresso serve: clients that are slow, many, or send what costs much to read. Others are answered all the while."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
import time

import numpy as np
import pytest
from PIL import Image
from served import ROOT, answered, cells, get, png, post, refused, started

from boxpresso.data.errors import BrokenRecord, DataError
from boxpresso.serve import app, connections, model, server, upload
from boxpresso.serve.options import Refusal

HALF_HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "
KIND = "multipart/form-data; boundary=b"
TIME = 30.0  # seconds after which a test gives up


def connect(running) -> socket.socket:
    connection = socket.create_connection(running.listener.getsockname())
    connection.settimeout(TIME)
    return connection


def upload_head(length: int, kind: str = "image/png") -> bytes:
    return f"POST /api/detect HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n".encode()


def said(connection: socket.socket) -> dict:
    """What the server answers on a connection."""
    with http.client.HTTPResponse(connection) as answer:
        answer.begin()
        assert answer.status == 200
        return json.load(answer)


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed a connection; what it said before is read."""
    connection.setblocking(False)
    try:
        while connection.recv(1 << 16):
            pass
        return True
    except BlockingIOError:
        return False
    except OSError:  # reset
        return True
    finally:
        connection.settimeout(TIME)


def until(condition) -> bool:
    """Whether something becomes true before TIME."""
    end = time.monotonic() + TIME
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def fine(running) -> bool:
    return get(running, "health").status_code == 200


def open_ones(running) -> int:
    return len(running.server.server_state.connections)


# Multipart bodies

HOSTILE = {
    "empty parts": b"--b\r\n\r\n\r\n" * 100_000 + b"--b--\r\n",
    "parts": b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n' * 20_000 + b"--b--\r\n",
    "half boundaries": b"--b\r\n\r\n" + b"\r\n--b-" * 200_000 + b"\r\n--b--",
    "almost boundaries": b"--b\r\n\r\n" + b"\r\n--c" * 200_000 + b"\r\n--b--",
    "carriage returns": b"--b\r\n\r\n" + b"\r" * 1_000_000 + b"\r\n--b--",
    "a header without end": b"--b\r\nA: " + b"a" * 1_000_000,
    "headers": b"--b\r\n" + b"A: 1\r\n" * 200_000 + b"\r\n\r\n--b--",
    "headers below the limit": b"--b\r\n" + b"A: 1\r\n" * 2_000 + b"\r\n\r\n--b--",
    "continued lines": b"--b\r\nA: 1\r\n" + b" \r\n" * 4_000 + b"\r\n\r\n--b--",
    "quotes": b'--b\r\nContent-Disposition: form-data; name="' + b'\\"' * 8_000 + b'"\r\n\r\n\r\n--b--',
    "spaces after a boundary": b"--b" + b" " * 1_000_000 + b"\r\n\r\n",
    "no boundary": b"-" * 1_000_000,
}


def lines_of(work) -> int:
    """How many lines of Python some work runs, in all files."""
    count = 0

    def line(frame, event, argument):
        nonlocal count
        count += 1
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", HOSTILE)
def test_the_work_for_a_multipart_body_does_not_grow_with_it(name):
    def read() -> None:
        with pytest.raises(Refusal) as caught:
            upload.picture_of(HOSTILE[name], {"content-type": KIND})
        assert caught.value.status in (400, 413, 422)

    read()
    assert lines_of(read) < 20_000  # these bodies have up to 1,200,000 bytes


@pytest.mark.parametrize("name", HOSTILE)
def test_multipart_bodies_that_are_refused(name, lasting):
    answer = post(lasting, HOSTILE[name], KIND)
    refused(answer, answer.status_code, "multipart|parts|headers")
    assert answer.status_code in (400, 413, 422)
    assert fine(lasting)


@pytest.fixture(scope="module")
def lasting():
    with started() as running:
        yield running


def test_health_while_a_multipart_body_is_read(lasting, monkeypatch):
    """It is read in the worker's thread: a body whose reading never ends would keep nobody else waiting."""
    entered, release = threading.Event(), threading.Event()
    real = app.picture_of

    def slowly(*arguments):
        entered.set()
        assert release.wait(TIME)
        return real(*arguments)

    monkeypatch.setattr(app, "picture_of", slowly)
    with connect(lasting) as connection:
        connection.sendall(upload_head(len(HOSTILE["empty parts"]), KIND) + HOSTILE["empty parts"])
        assert entered.wait(TIME)
        for _ in range(20):
            assert get(lasting, "health").json()["busy"] == 1
        release.set()
        assert b" 413 " in connection.recv(100)


def test_multipart_bodies_of_all_forms():
    """As browsers, curl and libraries send them."""

    def file_of(body: bytes, kind: str = KIND) -> bytes:
        return upload.picture_of(body, {"content-type": kind})

    head = b'Content-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n'
    data = b"\r\n\r\n--\r\n--c\r\n-b\r\n\0\xff--b\r\n-"  # anything but a line that begins with the boundary
    other = b'Content-Disposition: form-data; name="note"\r\n\r\nfile\r\n'
    whole = b"--b\r\n" + head + data + b"\r\n--b--\r\n"
    assert file_of(whole) == data
    assert file_of(whole[:-2]) == data
    assert file_of(whole + b"after it") == data
    assert file_of(b"before it\r\n" + whole) == data
    assert file_of(b"\r\n" + whole) == data
    assert file_of(b"--b\r\n" + other + whole) == data
    assert file_of(whole[:-4] + b"\r\n" + other + b"--b\r\n" + head + b"second\r\n--b--") == data
    assert file_of(b"--b \t\r\n" + head + data + b"\r\n--b--") == data
    assert file_of(b"--b\r\n" + head.lower().replace(b"; file", b";\r\n file") + data + b"\r\n--b--") == data
    assert file_of(
        whole.replace(b"--b\r\n", b"--a b\r\n").replace(b"--b--", b"--a b--"), 'multipart/form-data; boundary="a b"'
    )
    with pytest.raises(Refusal, match="the upload is empty"):
        file_of(b"--b\r\n" + head + b"\r\n--b--")
    with pytest.raises(Refusal, match="a boundary is not at the end of its line"):
        file_of(b"--b\r\n" + head + b"\r\n--bc" + b"\r\n--b--")
    for end in range(len(whole) - 4):  # cut anywhere
        with pytest.raises(Refusal) as caught:
            file_of(whole[:end])
        assert caught.value.status in (400, 422), end


# Slow clients


def test_heads_that_do_not_come_are_ended(monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE", 0.5)
    with started() as running:
        idle, slow, second = connect(running), [connect(running) for _ in range(20)], connect(running)
        second.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 200 " in second.recv(1 << 16)
        for connection in (*slow, second):
            connection.sendall(HALF_HEAD)
        left = {idle, *slow, second}

        def all_closed() -> bool:
            assert fine(running)
            for connection in list(left):
                if is_closed(connection):
                    left.discard(connection)
                elif connection is not idle:
                    try:
                        connection.sendall(b"a")  # it goes on, byte by byte
                    except OSError:
                        left.discard(connection)
            return not left

        assert until(all_closed)
        for connection in (idle, *slow, second):
            connection.close()
        assert fine(running)


def test_a_request_may_take_longer_than_its_head(monkeypatch):
    """The deadline of the head ends with it; that of one request is not that of the next on its connection."""
    monkeypatch.setattr(connections, "PATIENCE", 0.3)
    entered, release = threading.Event(), threading.Event()
    real = app.picture_of

    def slowly(*arguments):
        entered.set()
        assert release.wait(TIME)
        return real(*arguments)

    data = png(cells())
    with started() as running, connect(running) as connection:
        monkeypatch.setattr(app, "picture_of", slowly)
        connection.sendall(upload_head(len(data)) + data)
        assert entered.wait(TIME)
        with connect(running) as late:  # by when this one is closed the other has outlived the deadline, too
            assert until(lambda: is_closed(late))
        release.set()
        assert said(connection)["detections"]
        release.clear()
        entered.clear()
        connection.sendall(upload_head(len(data)) + data)
        assert entered.wait(TIME)
        with connect(running) as late:
            assert until(lambda: is_closed(late))
        release.set()
        assert said(connection)["detections"]


def test_more_connections_than_there_may_be(monkeypatch):
    """The oldest whose request is not there makes way, so that the others are answered."""
    for module in (connections, server):
        monkeypatch.setattr(module, "CONNECTIONS", 20)
    for half in (HALF_HEAD, upload_head(1000) + b"half a body", b""):
        with started() as running:
            many = []
            for i in range(60):
                many.append(connect(running))
                many[-1].sendall(half)
                if i % 10 == 0:
                    assert fine(running)
            assert fine(running)
            assert until(lambda: sum(is_closed(connection) for connection in many) >= 40)  # noqa: B023
            assert not is_closed(many[-1])
            assert fine(running)
            assert answered(post(running, png(cells())))
            assert until(lambda: open_ones(running) <= 20)
            for connection in many:
                connection.close()


def test_a_slow_upload_takes_no_place_in_the_queue():
    data = png(cells())
    with started(waiting=0) as running:
        slow = [connect(running) for _ in range(12)]
        for connection in slow:
            connection.sendall(upload_head(len(data)) + data[:-1])
        assert until(lambda: running.api.uploads.held == 12 * (len(data) - 1))
        assert get(running, "health").json()["busy"] == 0
        wanted = answered(post(running, data))
        assert len(wanted) == 16
        for connection in slow:
            connection.sendall(data[-1:])
            assert len(said(connection)["detections"]) == 16
            connection.close()
        assert running.api.uploads.held == 0


def test_uploads_that_do_not_come_are_ended_and_forgotten():
    with started(timeout=0.5) as running:
        slow = [connect(running) for _ in range(12)]
        for connection in slow:
            connection.sendall(upload_head(1000) + b"some")
        for connection in slow:
            assert b" 504 " in connection.recv(100)
            assert fine(running)
        assert until(lambda: all(is_closed(connection) for connection in slow))
        assert running.api.uploads.held == 0
        for connection in slow:
            connection.close()


def test_what_all_uploads_may_hold(monkeypatch):
    monkeypatch.setattr(app, "TOGETHER", 2)
    with started(max_upload=20_000) as running:
        slow = [connect(running) for _ in range(3)]
        for connection in slow[:2]:
            connection.sendall(upload_head(20_000) + bytes(15_000))
        assert until(lambda: running.api.uploads.held == 30_000)
        slow[2].sendall(upload_head(20_000) + bytes(15_000))
        assert b" 503 " in slow[2].recv(100)
        assert running.api.uploads.held == 30_000
        assert answered(post(running, png(cells())))  # it comes at once
        slow[0].close()
        assert until(lambda: running.api.uploads.held == 15_000)
        for connection in slow[1:]:
            connection.close()


def test_an_answer_that_nobody_reads_is_ended_and_one_that_is_read_slowly_is_not(monkeypatch, tmp_path):
    monkeypatch.setattr(connections, "PATIENCE", 1.5)
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (1800, 1800, 3), np.uint8)).save(tmp_path / "a.bmp")
    size = (tmp_path / "a.bmp").stat().st_size
    with started(timeout=1.5, examples=str(tmp_path)) as running:

        def ask() -> socket.socket:
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
            client.settimeout(TIME)
            client.connect(running.listener.getsockname())
            client.sendall(b"GET /api/examples/0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return client

        never, slowly = ask(), ask()
        assert until(lambda: open_ones(running) == 2)
        got = 0
        while got < size and open_ones(running) == 2:  # until the one is ended the other takes a little at a time
            got += len(slowly.recv(1 << 16))
            time.sleep(0.02)
        assert open_ones(running) == 1
        assert got < size
        while piece := slowly.recv(1 << 20):
            got += len(piece)
            if got > size:  # with the headers
                break
        assert got > size
        never.close()
        slowly.close()
        assert until(lambda: open_ones(running) == 0)
        assert fine(running)


# Pictures


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (DataError("it has 3000 scans; BOXPRESSO_LIMITS=jpeg_scans=3000 allows them"), 413),
        (BrokenRecord("scan 3 is cut off"), 400),
        (Image.DecompressionBombError("900000000 pixels"), 413),
        (OSError("broken data stream"), 400),
        (SyntaxError("not a TIFF file"), 400),
        (MemoryError(), 413),
    ],
)
@pytest.mark.parametrize("where", ["open_picture", "as_image"])
def test_what_the_reader_refuses_is_the_clients_fault(error, status, where, lasting, monkeypatch):
    def fail(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(model, where, fail)
        refused(post(lasting, png(cells())), status, "the picture")
    assert answered(post(lasting, png(cells())))


def test_the_documented_limits_are_those_of_the_code():
    text = (ROOT / "docs/limits.md").read_text(encoding="utf-8")
    assert f"| connections at a time | {connections.CONNECTIONS}," in text
    for limit in ("until the headers of a request are there", "in which a client takes nothing of an answer"):
        (line,) = [line for line in text.splitlines() if f"| seconds {limit}" in line]
        assert f"| {connections.PATIENCE:g} |" in line
    assert f"| bytes of uploads that are being received | {app.TOGETHER} times those of one |" in text
    assert f"| parts of a multipart body | {upload.PARTS}, with {upload.HEADER >> 10} KiB of headers each |" in text
