"""Tests by a Python for aarch64 under qemu, with kernels that a cross compiler makes: `python tests/levels/aarch64.py FOLDER [words]`.

FOLDER gets Debian's Python for arm64, what it links to, and wheels from PyPI, some 400 MB, where it has none yet; nothing is installed.
It needs Debian or Ubuntu, `apt install qemu-user g++-aarch64-linux-gnu`, and a network for the first run. The words are pytest's;
without them the tests of layers run. FOLDER/python is that Python as a command. $BOXPRESSO_CPU: the level, the best unless told;
kernels that were compiled ahead, in boxpresso/device/prebuilt, are taken as anywhere.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
VERSION = "3.11"  # of bookworm's Python
PACKAGES = (
    *(f"{name}{VERSION}{kind}" for name, kind in (("python", ""), ("python", "-minimal"), ("libpython", "-minimal"))),
    f"libpython{VERSION}-stdlib",
    *(
        "libc6",
        "libgcc-s1",
        "libstdc++6",
        "libgomp1",
        "libatomic1",
        "zlib1g",
        "libexpat1",
        "libbz2-1.0",
        "liblzma5",
        "libffi8",
    ),
    *("libasan8", "libubsan1", "libtsan2"),
    *("libssl3", "libsqlite3-0", "libuuid1", "libncursesw6", "libtinfo6", "libreadline8", "libcrypt1", "libdb5.3"),
)
WHEELS = [  # later onnxruntimes do not start under qemu
    "numpy", "protobuf", "pillow", "pytest", "pytest-xdist", "h5py", "lmdb", "ml_dtypes", "matplotlib", "rich", "pycocotools",
    "fastapi", "uvicorn", "python-multipart", "httpx", "onnx", "onnxruntime==1.22.1",
]  # fmt: skip
# Newer pips know one tag for another, older ones need each by name.
PLATFORMS = [f"--platform=manylinux{v}_aarch64" for v in ("2014", "_2_17", "_2_27", "_2_28")]
# The machine's own compiler, as tests look for one; a compiler that crosses knows no "native".
COMPILER = """#!/bin/bash
exec {compiler} "${{@/#-march=native/-march=armv8.2-a+dotprod+bf16}}"
"""
# Python takes itself for this file, so that the processes that it starts are emulated too.
PYTHON = """#!/bin/bash
export QEMU_LD_PREFIX={root} QEMU_CPU=max PYTHONHOME={root}/usr PATH={folder}/bin:$PATH
export BOXPRESSO_CACHE=${{BOXPRESSO_CACHE-{folder}/cache}}
export PYTHONPATH={tree}:{folder}/wheels:$PYTHONPATH
exec {qemu} -0 {folder}/python {root}/usr/bin/python{version} "$@"
"""


def run(*command: object, **options: object) -> None:
    subprocess.run([str(word) for word in command], check=True, **options)  # type: ignore[call-overload]


def fetch(folder: Path) -> None:
    """Debian's packages, unpacked into folder/root, and the wheels into folder/wheels."""
    apt, archives = folder / "apt", folder / "archives"
    for place in (apt / "lists" / "partial", apt / "cache" / "archives" / "partial", archives):
        place.mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()
    (apt / "apt.conf").write_text(
        f'APT::Architecture "arm64"; APT::Architectures {{"arm64";}}; APT::Sandbox::User ""; Dir::State "{apt}";\n'
        f'Dir::State::status "{apt}/status"; Dir::Cache "{apt}/cache";\n'
    )
    environment = {**os.environ, "APT_CONFIG": str(apt / "apt.conf")}
    run("apt-get", "-q", "update", env=environment)
    run("apt-get", "-q", "download", *PACKAGES, env=environment, cwd=archives)
    for archive in archives.glob("*.deb"):
        run("dpkg-deb", "-x", archive, folder / "root")
    pip = (sys.executable, "-m", "pip", "install", "-q", "--only-binary=:all:", f"--python-version={VERSION}")
    run(*pip, "--implementation=cp", *PLATFORMS, "--target", folder / "wheels", *WHEELS)


def program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise SystemExit(f"{name} is not on PATH: apt install qemu-user g++-aarch64-linux-gnu")
    return path


def write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def main(folder: Path, words: list[str]) -> int:
    folder = folder.resolve()
    if not (folder / "wheels").exists():
        fetch(folder)
    (folder / "bin").mkdir(exist_ok=True)
    for name in ("c++", "g++"):
        write(folder / "bin" / name, COMPILER.format(compiler=program("aarch64-linux-gnu-g++")))
    places = {"folder": folder, "root": folder / "root", "tree": TESTS.parent}
    write(folder / "python", PYTHON.format(**places, version=VERSION, qemu=program("qemu-aarch64")))
    layers = [
        str(p) for p in sorted(TESTS.rglob("test_*.py")) if "from harness import" in p.read_text(encoding="utf-8")
    ]
    command = [folder / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *(words or layers)]
    return subprocess.run(command, cwd=TESTS.parent).returncode


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
