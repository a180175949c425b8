"""Installs a wheel or a source archive into a bare virtual environment, and uses it there as a new user would.

    python -m build && python packaging/try_package.py dist/*.whl
    python packaging/try_package.py dist/*.tar.gz --python python3.12 --extras onnx,serve

It needs the package index (numpy, protobuf, pillow) and a C++ compiler. Nothing of this checkout is imported; its pictures
are used.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHAPES = ROOT / "examples" / "shapes"
OPERATORS = """
import numpy as np
import boxpresso
from boxpresso import Net, ops
x = np.arange(32, dtype="f").reshape(1, 2, 4, 4)
rois = np.float32([[0, 0, 0, 3, 3]])
assert ops.roi_align(x, rois, (2, 2)).shape == (1, 2, 2, 2)
gradient = ops.roi_align_backward(np.ones((1, 2, 2, 2), "f"), x, rois, (2, 2))["x"]
assert abs(gradient.sum() - 8) < 1e-5, gradient.sum()
print(boxpresso.__file__)
"""


def run(*words: str | Path, cwd: Path) -> str:
    """Runs a command outside the checkout, and returns what it printed."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    done = subprocess.run([str(w) for w in words], cwd=cwd, env=env, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))} exited with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def files_of(folder: Path) -> set[str]:
    """The files of a package by their paths; compiled Python is left out."""
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts}


def main() -> int:
    """Prints what was tried; the exit status is not 0 where something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path, help="a .whl or .tar.gz")
    parser.add_argument("--python", default=sys.executable, help="the interpreter (default: the one that runs this)")
    parser.add_argument("--extras", default="", help="extras to install, such as onnx,serve")
    args = parser.parse_args()
    archive = args.archive.resolve(strict=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        run(args.python, "-m", "venv", work / "venv", cwd=work)
        python = work / "venv" / "bin" / "python"
        extras = f"[{args.extras}]" if args.extras else ""
        run(python, "-m", "pip", "install", "--quiet", f"{archive}{extras}", cwd=work)
        run(python, "-m", "pip", "check", cwd=work)
        package = Path(run(python, "-c", OPERATORS, cwd=work).strip()).parent
        assert package.is_relative_to(work), f"imported from {package}"
        missing = files_of(ROOT / "boxpresso") - files_of(package)
        assert not missing, f"not in {archive.name}: {', '.join(sorted(missing))}"
        command = work / "venv" / "bin" / "boxpresso"
        version = run(command, "--version", cwd=work).strip()
        printed = run(
            command, "detect", SHAPES / "deploy.prototxt", SHAPES / "shapes.caffemodel", SHAPES / "scene.png",
            "--labels", SHAPES / "labels.txt", "--out", work / "found.png", cwd=work,
        )  # fmt: skip
        assert "circle" in printed, printed
        assert (work / "found.png").stat().st_size > 10_000, "the picture with the boxes was not written"
        assert "Permute" in run(command, "layers", cwd=work)
        at = run(python, "-V", cwd=work).strip()
        print(f"{archive.name}: {version}, {at}: installed, boxes found, nothing missing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
