"""boxpresso serve without a model, which is then chosen: a public one by its name, or files that are sent."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from served import LOCAL, answered, cells, get, httpx, png, post, refused, rows, serving, started
from tiny_ssd import tiny_net, write_tiny

from boxpresso import Detector
from boxpresso.decoders import published
from boxpresso.serve import opening
from boxpresso.serve.options import Options


@pytest.fixture
def server():
    chooser = opening.Opening(lambda model, weights, labels: Detector(model, weights, labels=labels, device="cpu"))
    with serving.Server(None, "", Options(), report=lambda error: None, opening=chooser) as running:
        yield running


def open_files(server, *files):
    sent = [("file", (name, data, "application/octet-stream")) for name, data in files]
    return httpx.post(f"{server.url}api/open", files=sent, **LOCAL)


def test_nothing_is_answered_before_a_model_is_there(server):
    assert get(server, "health").json()["model"] is None
    about = get(server, "api/model").json()
    assert about["model"] is None
    assert {"name", "title", "bytes", "licence"} <= set(about["choices"][0])
    for answer in (
        post(server, png(cells())),
        get(server, "api/blobs"),
        get(server, "v2/health/ready"),
        get(server, "v2/models/x"),
    ):
        refused(answer, 409, "no model has been chosen yet")


def test_a_prototxt_and_its_weights_become_the_model_with_labels(server, tmp_path):
    model, weights = (Path(path).read_bytes() for path in write_tiny(tmp_path))
    for files, status, said in (
        ([("a.prototxt", model)], 422, r"a model is two files, but a\.prototxt came"),
        (
            [("a.prototxt", model), ("b.prototxt", model), ("w.caffemodel", weights)],
            422,
            r"2 files of one kind, a\.prototxt and b",
        ),
        (
            [("street.prototxt", b"layer {"), ("w.caffemodel", weights)],
            422,
            r"^street\.prototxt cannot be opened: .*street\.prototxt",
        ),
        (
            [("street.prototxt", model), ("w.caffemodel", b"no")],
            422,
            r"^street\.prototxt cannot be opened: .*w\.caffemodel",
        ),
    ):
        answer = open_files(server, *files)
        refused(answer, status, said)
        assert "/tmp" not in answer.text
    assert open_files(
        server, ("street.prototxt", model), ("w.caffemodel", weights), ("names.txt", b"background\ndog\n")
    ).json() == {"model": "street.prototxt"}
    assert answered(post(server, png(cells()))) == rows(Detector(tiny_net(), labels={1: "dog"})(cells()))
    assert get(server, "api/model").json()["model"] == get(server, "health").json()["model"] == "street.prototxt"
    assert get(server, "v2/models/street.prototxt/ready").status_code == 200
    refused(open_files(server, ("street.prototxt", b""), ("w.caffemodel", weights)), 422, "cannot be opened")
    assert answered(post(server, png(cells())))  # the one before stays
    with_one = open_files(server, ("other.prototxt", model), ("w.caffemodel", weights))  # another takes its place
    assert (with_one.json(), get(server, "health").json()["model"]) == ({"model": "other.prototxt"}, "other.prototxt")


def test_a_public_model_is_fetched_by_its_name(server, tmp_path, monkeypatch):
    source = tmp_path / "owner" / "net" / "abc"
    source.mkdir(parents=True)
    files = []
    for path in map(Path, write_tiny(source)):
        data = path.read_bytes()
        files.append(published.File(path.name, len(data), hashlib.sha256(data).hexdigest()))
    table = {"tiny": published.Published("tiny", "cells", (), "owner/net", "abc", "MIT", tuple(files))}
    for module in (published, opening):
        monkeypatch.setattr(module, "published", lambda: table)
    monkeypatch.setattr(published, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setenv("BOXPRESSO_MIRROR", tmp_path.as_uri())
    refused(httpx.post(f"{server.url}api/open", params={"name": "tinny"}, **LOCAL), 404, "tinny.*tiny")
    assert get(server, "api/model").json()["choices"][0]["title"] == "cells"
    assert httpx.post(f"{server.url}api/open", params={"name": "tiny"}, **LOCAL).json() == {"model": "tiny"}
    assert len(answered(post(server, png(cells())))) > 0


def test_a_server_with_a_model_keeps_it():
    with started() as server:
        refused(open_files(server, ("a.prototxt", b"")), 403, "was started with a model, and keeps it")
        assert get(server, "api/model").json()["choices"] == []
