"""What becomes of programs whose GPU is lost: an error after which CUDA refuses all work of the process (DeviceLost)."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from served import LOCAL, ROOT, httpx, png, started
from tiny_ssd import picture, write_tiny

from boxpresso.__main__ import main
from boxpresso.proto.errors import DeviceLost
from boxpresso.serve.model import Model

SAID = "cuda:0: a kernel failed: cuStreamSynchronize failed: an illegal memory access was encountered"
# The command, whose first process has a GPU that is lost at the first picture.
PROGRAM = f"""
import sys
from boxpresso.__main__ import main
from boxpresso.proto.errors import DeviceLost
from boxpresso.serve.model import Model
def detect(*args):
    raise DeviceLost({SAID!r})
Model.detect = detect
sys.exit(main(sys.argv[1:]))
"""


def sent(url: str):
    return httpx.post(f"{url}api/detect", files={"file": png(picture())}, **LOCAL)


def test_the_request_is_told_and_the_server_ends(monkeypatch):
    def lose(*args):
        raise DeviceLost(SAID)

    with started() as server:
        assert sent(server.url).status_code == 200
        monkeypatch.setattr(Model, "detect", lose)
        answer = sent(server.url)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert answer.json() == {"error": "the GPU has failed, and the server ends; send it again later"}
        assert server.api.lost.is_set()


@pytest.mark.skipif(os.name != "posix", reason="exec of POSIX")
def test_the_command_starts_anew_under_its_number_and_address(tmp_path):
    model, weights = write_tiny(tmp_path)
    words = ["serve", model, weights, "--port", "0", "--threshold", "0.3", "--device", "cpu", "--open"]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "BROWSER": "true"},
    )  # fmt: skip
    try:
        process.stdout.readline()
        url = re.search(r"is served at (\S+) ", process.stdout.readline())[1]
        assert sent(url).status_code == 503
        process.stdout.readline()  # of the second process
        assert f"is served at {url} " in process.stdout.readline()
        assert process.poll() is None
        answer = sent(url)
        assert len(answer.json()["detections"]) == 1
        process.terminate()
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out) == (0, "")
    assert err.splitlines() == [
        f"boxpresso: error: {SAID}", "boxpresso: warning: the GPU has failed, and the server is started anew"
    ]  # fmt: skip


def test_a_program_that_serves_is_not_replaced(tmp_path, monkeypatch, capsys):
    """Who calls the command from Python is told."""
    model, weights = write_tiny(tmp_path)

    def serve(server, started, browser):
        server.api.lost.set()
        server.listener.close()
        return False

    monkeypatch.setattr("boxpresso.serve.server.serve", serve)
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)  # which lets errors through
    assert main(["serve", str(model), str(weights), "--port", "0", "--device", "cpu"]) == 1
    assert (
        "the GPU has failed, and this process cannot use it any more: start the server anew" in capsys.readouterr().err
    )
