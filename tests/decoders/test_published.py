"""Public models fetched by their names, from a server of this test: whole, in pieces, changed on the way, and not at all."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from places import ROOT
from shared import SHARED
from tiny_ssd import TINY, picture, write_tiny

from boxpresso import BoxpressoError, Detector, ModelError
from boxpresso.__main__ import main
from boxpresso.data.picture import encode
from boxpresso.decoders import published
from boxpresso.decoders.known_models import known_models

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Host(http.server.ThreadingHTTPServer):
    """A host of files: what it does with each request, and what was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.breaks: list[int] = []  # bytes after which the next answers end
        self.ranges = True
        self.hold: threading.Event | None = None  # waited for in the middle of an answer
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address) -> None:  # the client was killed
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    server: Host

    def do_GET(self) -> None:
        host, asked = self.server, self.headers.get("Range")
        name = self.path.rsplit("/", 1)[-1]
        host.asked.append((name, asked))
        data = host.files.get(self.path.removeprefix(f"/owner/net/{COMMIT}/"))
        if data is None:
            self.send_error(404)
            return
        first = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked and host.ranges else 0
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - first))
        self.end_headers()
        end = host.breaks.pop(0) if host.breaks else len(data)
        middle = (first + end) // 2 if host.hold else end
        self.wfile.write(data[first:middle])
        if host.hold:
            self.wfile.flush()
            host.hold.wait(60)
            self.wfile.write(data[middle:end])

    def log_message(self, *args) -> None:
        pass


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A table with one entry, the tiny SSD, and the server that has its files; a cache folder that is empty."""
    source = tmp_path / "source"
    source.mkdir()
    write_tiny(source)
    files = {f"models/{path.name}": path.read_bytes() for path in sorted(source.iterdir(), reverse=True)}
    rows = [{"path": p, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for p, data in files.items()]
    entry = {
        "name": "tiny-ssd", "title": "A tiny SSD", "models": ["none"], "repository": "owner/net", "commit": COMMIT,
        "licence": "MIT", "files": rows,
    }  # fmt: skip
    table = tmp_path / "table.json"
    table.write_text(json.dumps([entry]))
    monkeypatch.setattr(published, "TABLE", table)
    published.published.cache_clear()
    monkeypatch.delenv("BOXPRESSO_PROGRESS", raising=False)
    monkeypatch.setattr(published, "cache_folder", lambda: tmp_path / "cache")
    with Host() as server:
        server.files = files
        monkeypatch.setenv("BOXPRESSO_MIRROR", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield server
        server.shutdown()
    published.published.cache_clear()


def weights(host: Host) -> bytes:
    return host.files["models/tiny.caffemodel"]


def kept(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache" / "models" / "tiny-ssd").iterdir())


def test_a_name_is_a_model(host, tmp_path, capsys):
    detections = Detector("tiny-ssd", device="cpu")(picture())
    assert len(detections) == 1
    assert (
        f"fetching tiny-ssd ({sum(map(len, host.files.values())) / 1e3:.0f} kB) from https://github.com/owner/net/tree/{COMMIT}, "
        "licence: MIT" in capsys.readouterr().err
    )
    assert host.asked == [("tiny.prototxt", None), ("tiny.caffemodel", None)]
    assert kept(tmp_path) == ["tiny.caffemodel", "tiny.prototxt"]
    Detector("tiny-ssd", device="cpu")
    assert len(host.asked) == 2  # it is here
    path = tmp_path / "a.png"
    path.write_bytes(encode(picture()[..., ::-1], "PNG"))
    assert main(["detect", "tiny-ssd", str(path), "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert [one["box"] for one in result["detections"]] == [[round(v, 2) for v in detections[0].box]]


def test_a_file_that_has_changed_here_is_fetched_again(host, tmp_path):
    published.fetch("tiny-ssd")
    path = tmp_path / "cache" / "models" / "tiny-ssd" / "tiny.caffemodel"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    del host.asked[:]
    published.fetch("tiny-ssd")
    assert host.asked == [("tiny.caffemodel", None)]
    assert path.read_bytes() == weights(host)


def test_a_broken_transfer_goes_on(host, tmp_path):
    """What is there is not sent again; a server without ranges begins again; and it ends with the file or with an error."""
    size = len(weights(host))
    host.breaks = [10**9, 100, size - 20]
    published.fetch("tiny-ssd")
    assert host.asked[1:] == [
        ("tiny.caffemodel", None),
        ("tiny.caffemodel", "bytes=100-"),
        ("tiny.caffemodel", f"bytes={size - 20}-"),
    ]
    path = tmp_path / "cache" / "models" / "tiny-ssd" / "tiny.caffemodel"
    assert path.read_bytes() == weights(host)
    path.unlink()
    host.ranges, host.breaks = False, [100]
    published.fetch("tiny-ssd")
    assert path.read_bytes() == weights(host)
    path.unlink()
    host.ranges, host.breaks = True, [10, 20, 30, 40]
    with pytest.raises(
        BoxpressoError, match=rf"cannot fetch http.*/tiny\.caffemodel: the connection ended after 40 of {size} bytes"
    ):
        published.fetch("tiny-ssd")
    assert kept(tmp_path) == ["tiny.caffemodel.part", "tiny.prototxt"]
    published.fetch("tiny-ssd")
    assert host.asked[-1] == ("tiny.caffemodel", "bytes=40-")


def test_a_part_of_another_file_is_not_taken(host, tmp_path):
    folder = tmp_path / "cache" / "models" / "tiny-ssd"
    folder.mkdir(parents=True)
    part = folder / "tiny.caffemodel.part"
    part.write_bytes(b"?" * 50)
    with pytest.raises(BoxpressoError, match="it was changed on its way, or there, and is not taken"):
        published.fetch("tiny-ssd")
    assert kept(tmp_path) == ["tiny.prototxt"]
    part.write_bytes(b"?" * 10**6)  # longer than the file
    published.fetch("tiny-ssd")
    assert kept(tmp_path) == ["tiny.caffemodel", "tiny.prototxt"]


@pytest.mark.parametrize("change", [lambda d: d[:-1] + b"?", lambda d: d + b"more"], ids=["changed", "longer"])
def test_another_file_is_refused(host, tmp_path, change):
    wanted = hashlib.sha256(weights(host)).hexdigest()
    host.files["models/tiny.caffemodel"] = change(weights(host))
    with pytest.raises(
        BoxpressoError, match=rf"tiny\.caffemodel has the SHA-256 [0-9a-f]{{64}}, but {wanted} was published"
    ):
        published.fetch("tiny-ssd")
    assert kept(tmp_path) == ["tiny.prototxt"]


def test_what_is_not_there_and_no_network(host, tmp_path, monkeypatch):
    data = host.files.pop("models/tiny.caffemodel")
    with pytest.raises(BoxpressoError, match=r"tiny\.caffemodel: 404 Not Found"):
        published.fetch("tiny-ssd")
    assert host.asked.count(("tiny.caffemodel", None)) == 1  # no other attempt
    host.shutdown()
    host.server_close()
    with pytest.raises(
        BoxpressoError, match=r"(?s)refused.*boxpresso models --get tiny-ssd` on another machine.*BOXPRESSO_MIRROR"
    ):
        published.fetch("tiny-ssd")
    mirror = tmp_path / "mirror" / "owner" / "net" / COMMIT / "models"
    mirror.mkdir(parents=True)
    (mirror / "tiny.caffemodel").write_bytes(data)
    monkeypatch.setenv("BOXPRESSO_MIRROR", (tmp_path / "mirror").as_uri() + "/")
    published.fetch("tiny-ssd")
    assert kept(tmp_path) == ["tiny.caffemodel", "tiny.prototxt"]


def test_a_process_that_is_killed_leaves_a_part(host, tmp_path):
    host.hold = threading.Event()
    program = (
        "import sys; from pathlib import Path; from boxpresso.decoders import published\n"
        "published.TABLE, published.cache_folder = Path(sys.argv[1]), lambda: Path(sys.argv[2])\n"
        "published.fetch('tiny-ssd', lambda name, have, size: name.endswith('model') and print(have, flush=True))"
    )
    (tmp_path / "cache" / "models" / "tiny-ssd").mkdir(parents=True)
    (tmp_path / "cache" / "models" / "tiny-ssd" / "tiny.prototxt").write_text(TINY)
    words = [sys.executable, "-c", program, str(tmp_path / "table.json"), str(tmp_path / "cache")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    with process:
        assert process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    host.hold.set()
    have = (tmp_path / "cache" / "models" / "tiny-ssd" / "tiny.caffemodel.part").stat().st_size
    assert 0 < have < len(weights(host))
    host.hold = None
    published.fetch("tiny-ssd")
    assert host.asked[-1] == ("tiny.caffemodel", f"bytes={have}-")
    assert (tmp_path / "cache" / "models" / "tiny-ssd" / "tiny.caffemodel").read_bytes() == weights(host)


def test_several_processes_fetch_once(host, tmp_path):
    errors = []

    def work() -> None:
        try:
            published.fetch("tiny-ssd")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(host.asked) == [("tiny.caffemodel", None), ("tiny.prototxt", None)]


def test_the_command(host, tmp_path, capsys):
    assert main(["models", "--get"]) == 0
    assert re.search(r"tiny-ssd +\d+ kB +MIT +- +A tiny SSD", capsys.readouterr().out)
    assert main(["models", "--get", "tiny-ssd"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        f"tiny-ssd: A tiny SSD\n  licence    MIT\n  from       https://github.com/owner/net/tree/{COMMIT}\n"
    )
    assert f"{len(weights(host)):,} bytes, SHA-256 {hashlib.sha256(weights(host)).hexdigest()[:16]}.." in out
    assert out.endswith(f"folder     {tmp_path / 'cache' / 'models' / 'tiny-ssd'}\n")
    assert main(["models", "--get", "tiny-ssd", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert [Path(path).name for path in (*row["models"], *row["weights"])] == ["tiny.prototxt", "tiny.caffemodel"]
    for words, said in (
        (["models", "--get", "tiny-sd"], "no model is called 'tiny-sd'; did you mean 'tiny-ssd'?"),
        (["models", "--get", "ssd300-voc"], "ssd300-voc cannot be fetched by its name; it is published at https://"),
        (
            ["detect", "tiny-sd", "a.jpg"],
            "there is no file 'tiny-sd', and no model of that name can be fetched; did you mean 'tiny-ssd'?",
        ),
    ):
        assert main(words) == 1
        assert said in capsys.readouterr().err
    with pytest.raises(ModelError, match="did you mean 'tiny-ssd'"):
        Detector("tinyssd")


def test_the_table_is_sound():
    entries = published.published()
    assert len(entries) >= 9
    for entry in entries.values():
        assert set(entry.models) <= known_models().keys()
        assert re.fullmatch("[0-9a-f]{40}", entry.commit)
        assert len({file.name for file in entry.files}) == len(entry.files)
        for file in entry.files:
            assert re.fullmatch("[0-9a-f]{64}", file.sha256)
            assert file.size > 0
        models, of_weights = entry.paths()
        assert models
        assert len(of_weights) in (1, len(models))


def test_the_files_that_are_here_have_the_published_hashes():
    folder = SHARED / "models"
    if not folder.is_dir():
        pytest.skip("../shared/models is not there")
    sums = {hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*.caffemodel")}
    for name in ("ultralight-face", "ultralight-face-slim", "retinaface", "mtcnn", "pcn", "wechat-qr", "wechat-qr-sr"):
        for file in published.published()[name].files:
            assert file.sha256 in sums or not file.name.endswith(".caffemodel"), file.path
