"""The Containerfile by hadolint, and the image that Podman builds of it: its server, and its command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request

import pytest
from places import ROOT

from boxpresso.device.levels import offered

FILE = ROOT / "packaging" / "Containerfile"
CERTIFICATES = "/etc/ssl/certs"
BASE = os.environ.get("BOXPRESSO_CONTAINER_BASE", "")  # an image that is there, in place of one made here


def test_what_the_containerfile_takes_is_there():
    """And what the page says of it: its arguments, its port, its volume, its verbs."""
    text = FILE.read_text().replace("\\\n", " ")
    for words in re.findall(r"(?m)^COPY (?!--from)(.*)$", text):
        *sources, _ = words.split()
        assert [each for each in sources if not (ROOT / each).exists()] == []
    assert text.count("FROM ${BASE}") == 2
    assert "[serve,video]" in text
    page = (ROOT / "docs" / "docker.md").read_text()
    for name in re.findall(r"(?m)^ARG (\w+)", text):
        assert f"--build-arg {name}=" in page
    (default,) = re.findall(r"(?m)^ARG BASE=docker.io/library/(\S+)", text)
    assert f"`{default}`" in page
    (port,) = re.findall(r"(?m)^EXPOSE (\d+)", text)
    (volume,) = re.findall(r"(?m)^VOLUME (\S+)", text)
    assert f"8000:{port}" in page
    assert f"-cache:{volume}" in page


@pytest.mark.skipif(sys.platform != "linux", reason="the extra dev brings hadolint on Linux alone")
def test_hadolint_finds_nothing():
    """The linter of Containerfiles, which the extra `dev` brings; it does find a stage that ends as root."""
    linter = shutil.which("hadolint", path=sysconfig.get_path("scripts")) or shutil.which("hadolint")
    if linter is None:
        pytest.skip("hadolint is not installed: pip install 'boxpresso[dev]'")

    def found(text: str) -> list[str]:
        done = subprocess.run(
            [linter, "--format", "json", "-"], input=text, capture_output=True, text=True, check=False
        )
        return [each["code"] for each in json.loads(done.stdout)]

    text = FILE.read_text()
    assert found(text) == []
    assert "DL3002" in found(text.replace("USER 1000", "USER root"))
    assert found(text.replace("# hadolint ignore=DL3008", "")) == ["DL3008"]


def podman(*words: object, **more) -> str:
    done = subprocess.run(["podman", *map(str, words)], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, f"podman {words}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The name of the image, built for this CPU's level alone, on a Debian that debootstrap makes of packages."""
    for program in ("podman", *(() if BASE else ("debootstrap",))):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program} on this machine: apt install {program}")
    if os.geteuid() != 0:
        pytest.skip("debootstrap and Podman's chroots need root")
    base, name = BASE or f"localhost/boxpresso-base:{os.getpid()}", f"localhost/boxpresso-test:{os.getpid()}"
    try:
        if not BASE:
            root = tmp_path_factory.mktemp("base") / "root"
            made = [
                "debootstrap",
                "--variant=minbase",
                "--include=python3,python3-venv,ca-certificates",
                "bookworm",
                str(root),
            ]
            done = subprocess.run(made, capture_output=True, text=True, check=False)
            if done.returncode:
                pytest.skip(f"debootstrap cannot make a Debian here: {done.stdout[-300:]}")
            with subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE) as packed:
                podman("import", "-", base, stdin=packed.stdout)
            shutil.rmtree(root)
        podman(
            "build", "--network=host", "--isolation=chroot", f"--volume={CERTIFICATES}:{CERTIFICATES}:ro",
            f"--build-arg=BASE={base}", f"--build-arg=LEVELS={offered()[-1].name}", "-f", FILE, "-t", name, ROOT,
        )  # fmt: skip
        yield name
    finally:
        for each in (name, *([] if BASE else [base])):
            subprocess.run(["podman", "rmi", "-f", each], capture_output=True, check=False)


RUN = ("run", "--network=host", "--ulimit=host", "--volume", f"{ROOT / 'examples'}:/examples:ro")
SHAPES = (
    "/examples/shapes/deploy.prototxt",
    "/examples/shapes/shapes.caffemodel",
    "--labels",
    "/examples/shapes/labels.txt",
)


@pytest.mark.sweep
def test_the_command_line_finds_boxes_in_a_container(image):
    said = podman(*RUN, "--rm", image, "detect", *SHAPES, "/examples/shapes/scene.png", "--json")
    assert {each["class_name"] for each in json.loads(said)["detections"]} == {"circle", "box", "triangle"}
    assert "c++" not in podman(*RUN, "--rm", "--entrypoint", "ls", image, "/usr/bin").split()
    assert podman(*RUN, "--rm", "--entrypoint", "id", image, "-un").strip() == "boxpresso"


@pytest.mark.sweep
def test_the_server_finds_boxes_in_a_container(image):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = podman(*RUN, "--detach", image, "serve", *SHAPES, "--host", "0.0.0.0", "--port", port).strip()
    try:
        picture = (ROOT / "examples" / "shapes" / "scene.png").read_bytes()
        end = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as answer:
                    assert json.load(answer)["status"] == "ok"
                break
            except OSError:
                assert time.monotonic() < end, podman("logs", started)
                time.sleep(0.2)
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/detect", picture, {"Content-Type": "image/png"}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            found = json.load(answer)["detections"]
        assert {each["class_name"] for each in found} == {"circle", "box", "triangle"}
    finally:
        subprocess.run(["podman", "rm", "-f", started], capture_output=True, check=False)
