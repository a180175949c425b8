"""The pages that are read from start to end: every block of theirs is run, in order, in a fresh folder, as a reader would.

A block of `sh` or `python` is run; a block of `text` is what the last one printed, line by line, with `...` for what is left out.
A comment right above a block says what else becomes of it:

    <!-- file: NAME -->      it is written to that file
    <!-- append: NAME -->    it is added to that file
    <!-- replace: NAME -->   it stands once in that file, and is replaced by the next block, above which is <!-- with -->
    <!-- fails -->           it is run and must fail; the next block of text is in what it says
    <!-- not run: WHY -->    it is not run, nor is what it prints compared
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import ptxas
import pytest
from PIL import Image
from places import ROOT
from shared import SHARED

from boxpresso.device import Kernels

DOCS = ROOT / "docs"
BLOCK = re.compile(
    r"(?:^[ ]*<!-- (?P<say>[^>]*) -->\n)?^(?P<in>[ ]*)```(?P<kind>\w*)\n(?P<text>.*?)^(?P=in)```$", re.M | re.S
)
KINDS = {"sh", "python", "text", "prototxt", "cpp", ""}
SAYS = ("file: ", "append: ", "replace: ", "with", "fails", "not run: ")
FACES = SHARED / "models" / "ultralight_face"


@dataclasses.dataclass
class Block:
    """A block of a page: its language, its text, what the comment above it says, and its line."""

    kind: str
    text: str
    say: str
    line: int

    @property
    def runs(self) -> bool:
        return self.kind in ("sh", "python") and self.say in ("", "fails")


def blocks(text: str) -> list[Block]:
    """The blocks of a page, in order."""
    blocks = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("text"))
        body = re.sub(rf"^{match['in']}", "", match["text"], flags=re.M)
        blocks.append(Block(match["kind"], body, match["say"] or "", line))
    return blocks


def close_enough(wanted: str, said: str) -> bool:
    """Whether a line of a page stands in a line of an output; spaces may be more, `...` and the times of a run are left out."""
    pattern = r"\s+".join(re.escape(word) for word in wanted.split())
    pattern = pattern.replace(r"\.\.\.", ".*")
    return re.search(pattern, said) is not None


def missing(wanted: str, said: str) -> str | None:
    """The first line of `wanted` that does not follow in `said`; None where all do, in their order."""
    lines = iter(said.splitlines())
    for line in filter(str.strip, wanted.splitlines()):
        if line.strip() != "..." and not any(close_enough(line, each) for each in lines):
            return line
    return None


class Reader:
    """One who follows a page in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said, self.replaced = folder, "", ("", "")
        tools = folder / ".tools"
        tools.mkdir()
        for name, words in (("python", []), ("boxpresso", ["-m", "boxpresso"])):
            command = shlex.join([sys.executable, *words])
            (tools / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            (tools / name).chmod(0o755)
        path = os.pathsep.join([str(tools), os.environ["PATH"]])
        quiet = {"BOXPRESSO_PROGRESS": "0", "MPLBACKEND": "Agg", "BOXPRESSO_DEVICE": "cpu", "COLUMNS": "200"}
        self.environment = {
            **os.environ,
            **quiet,
            "PATH": path,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        for name in ("PYTEST_ADDOPTS", "BOXPRESSO_DEBUG"):
            self.environment.pop(name, None)

    def follow(self, block: Block) -> None:
        """Does what a block says."""
        action, _, name = block.say.partition(": ")
        file = self.folder / name
        if action == "file":
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif action == "append":
            file.write_text(file.read_text(encoding="utf-8") + block.text, encoding="utf-8")
        elif action == "replace":
            assert file.read_text(encoding="utf-8").count(block.text) == 1, f"{name} does not have it once"
            self.replaced = name, block.text
        elif action == "with":
            old = self.folder / self.replaced[0]
            old.write_text(old.read_text(encoding="utf-8").replace(self.replaced[1], block.text), encoding="utf-8")
        elif action == "not run":
            self.said = ""
        elif block.kind in ("sh", "python"):
            self.run(block)
        elif block.kind == "text" and self.said:
            lost = missing(block.text, self.said)
            assert lost is None, f"the page says {lost!r}, which is not in:\n{self.said}"

    def run(self, block: Block) -> None:
        """Runs a block; what it printed is kept for the next."""
        text = block.text
        if block.kind == "sh":
            command = ["bash", "-e", "-c", text.replace("PYTHONPATH=. ", f"PYTHONPATH=.:{ROOT} ")]
        else:
            command = [sys.executable, "-c", text]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.said = done.stdout
        if block.say == "fails":
            assert done.returncode, f"it does not fail, and says:\n{self.said}"
        else:
            assert not done.returncode, f"it fails with {done.returncode}:\n{self.said}"


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def follow(page: str, folder: Path, without: str = "") -> int:
    """Follows a page; blocks with the word `without` are left out. Returns how many blocks were run."""
    reader, count, lost = Reader(folder), 0, False
    for block in blocks(text_of(page)):
        if block.runs:
            lost = bool(without) and without in block.text
            count += not lost
        if lost and (block.runs or block.kind == "text"):
            continue
        try:
            reader.follow(block)
        except AssertionError as error:
            raise AssertionError(f"{page}, line {block.line}: {error}") from None
    return count


PAGES = {
    "../README.md": 1,
    "start.md": 7,
    "training.md": 1,
    "from_py_faster_rcnn.md": 3,
    "write_a_layer.md": 8,
    "write_a_kernel.md": 3,
}  # and at least how many blocks are run


SLOW = ("write_a_layer.md",)  # it runs pytest three times and compiles


@pytest.mark.later(but=1)
@pytest.mark.parametrize("page", [pytest.param(p, marks=[pytest.mark.slow] if p in SLOW else []) for p in PAGES])
def test_page(page, tmp_path):
    without = ""
    if not page.startswith("write_"):  # its reader stands in a clone
        (tmp_path / "examples").symlink_to(ROOT / "examples")
        if FACES.exists():
            place = tmp_path / "faces" / "caffe" / "model" / "RFB-320"
            place.mkdir(parents=True)
            for file in FACES.glob("RFB-320.*"):
                (place / file.name).symlink_to(file)
            (tmp_path / "faces" / "imgs").mkdir()
            (tmp_path / "faces" / "imgs" / "1.jpg").symlink_to(SHARED / "images" / "ulf_1.jpg")
        else:
            without = "cd faces"
    assert follow(page, tmp_path, without) >= PAGES[page] - (1 if without else 0)


@pytest.mark.parametrize("page", PAGES)
def test_blocks_are_of_a_known_kind(page):
    text = text_of(page)
    page_blocks = blocks(text)
    assert text.count("```") == 2 * len(page_blocks)
    for block in page_blocks:
        assert block.kind in KINDS, f"line {block.line}: {block.kind}"
        assert not block.say or block.say.startswith(SAYS), f"line {block.line}: {block.say}"
        assert block.kind, f"line {block.line}: a block without a language"


@pytest.mark.parametrize("page", [*PAGES, "what_it_reads.md"])
def test_links_lead_somewhere(page):
    """Links to files, and to headings of this page and of others."""
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        path, _, heading = target.partition("#")
        if target.startswith("http"):
            continue
        file = (DOCS / path).resolve() if path and page != "../README.md" else ROOT / path if path else DOCS / page
        assert file.exists(), f"{page}: {target}"
        if heading:
            assert heading in headings(file.read_text(encoding="utf-8")), f"{page}: {target}"


@pytest.mark.slow
def test_pictures_can_be_drawn_again(tmp_path):
    """docs/drawings.py draws what is in docs/pictures; each is small, and shown on a page."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    spec = importlib.util.spec_from_file_location("drawings", DOCS / "drawings.py")
    drawings = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # matplotlib's own
        spec.loader.exec_module(drawings)
        shown = "".join(text_of(page) for page in PAGES)
        assert {p.name for p in (DOCS / "pictures").glob("roi_align_*")} == set(drawings.PICTURES)
        for name in drawings.PICTURES:
            committed, drawn = DOCS / "pictures" / name, drawings.draw(name, tmp_path)
            assert f"pictures/{name}" in shown
            assert committed.stat().st_size < 100_000
            one, other = (np.asarray(Image.open(path).convert("RGB"), np.float64) for path in (committed, drawn))
            assert abs(np.array(one.shape) - other.shape).max() <= 12, name  # another matplotlib lays text out anew
            if one.shape == other.shape:
                assert np.abs(one - other).mean() < 4, name


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
@pytest.mark.parametrize("page", ["write_a_layer.md", "write_a_kernel.md"])
def test_kernels_of_pages_compile_for_gpus(page, tmp_path):
    """With nvcc, for the oldest GPU, in float and double."""
    files = [block for block in blocks(text_of(page)) if block.say.startswith("file: ") and block.say.endswith(".cu")]
    assert files
    for block in files:
        path = tmp_path / block.say.removeprefix("file: ")
        path.write_text(block.text, encoding="utf-8")
        for real in ("float", "double"):
            uses = ptxas.compile(path, real, ((75, (75,)),), tmp_path / real)
            assert {use.kernel for use in uses} == set(Kernels(path).table)


def test_the_film_is_small_and_moves():
    film = ROOT / "examples" / "shapes" / "learning.gif"
    assert film.stat().st_size < 900_000
    with Image.open(film) as picture:
        assert picture.n_frames > 15
        assert picture.info["loop"] == 0
        first = np.asarray(picture.convert("RGB"), np.float64)
        picture.seek(picture.n_frames - 1)
        assert np.abs(np.asarray(picture.convert("RGB")) - first).mean() > 1


@pytest.mark.slow
def test_the_film_can_be_made_again(tmp_path):
    words = ["--iterations", "10", "--scenes", "32", "--held-out", "2", "--out", str(tmp_path)]
    script, environment = ROOT / "examples" / "shapes" / "film.py", {**os.environ, "BOXPRESSO_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, str(script), *words], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^iteration (\d+): loss \S+, mAP \d", done.stdout, re.M) == ["0", "10"]
    with Image.open(tmp_path / "learning.gif") as picture:
        assert picture.n_frames == 2


def headings(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in titles}


def test_the_table_of_preparation_is_that_of_the_known_models():
    """Each model of docs/start.md has the mean, the scale and the order of known_models.json; those left out are few."""
    known = {
        m["name"]: m
        for m in json.loads((ROOT / "boxpresso" / "decoders" / "known_models.json").read_text("utf-8"))["models"]
    }
    text = text_of("start.md")
    table = text.partition("## Which preprocessing")[2].partition("\n## ")[0]
    seen = []
    for row in re.findall(r"^\| (.+) \|$", table, re.M):
        cells = [cell.strip() for cell in row.split("|")]
        for name in re.findall(r"`([^`]+)`", cells[1]):
            if name == "boxpresso models":
                continue
            model = known[name]
            mean = [float(v) for v in cells[2].split(" ")[0].split(",")]
            above, _, below = cells[3].partition("/")
            wanted = model["mean"] if len(mean) > 1 else sorted(set(model["mean"]))
            assert mean == pytest.approx(wanted, abs=5e-4), f"{name}: {mean}, known: {model['mean']}"
            assert float(above) / float(below or 1) == pytest.approx(model["scale"], rel=1e-3), name
            assert cells[4] == {"BGR": "BGR", "RGB": "RGB", "grey": "grey"}[model["order"]], name
            size = model["size"] and f"{model['size'][0]}"
            assert not size or size in cells[5] or "cascade" in cells[5], f"{name}: {cells[5]}, known: {model['size']}"
            seen.append(name)
    assert len(seen) == len(set(seen)) > 60


def test_a_page_that_is_wrong_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "DOCS", tmp_path)
    right = "```python\nprint('one')\nprint(2 + 1)\n```\n\n```text\none\n3\n```\n"
    for change, wrong in (
        (("+ 1", "+ 2"), "'3'"),
        (("one\n3", "3\none"), "'one'"),
        (("print('one')", "1 / 0"), "fails"),
    ):
        (tmp_path / "page.md").write_text(right.replace(*change, 1))
        (tmp_path / wrong).mkdir()
        with pytest.raises(AssertionError, match=f"page.md, line .*{wrong}"):
            follow("page.md", tmp_path / wrong)
    (tmp_path / "right").mkdir()
    (tmp_path / "page.md").write_text(right)
    assert follow("page.md", tmp_path / "right") == 1
    (tmp_path / "page.md").write_text("<!-- fails -->\n" + right)
    (tmp_path / "fails not").mkdir()
    with pytest.raises(AssertionError, match="does not fail"):
        follow("page.md", tmp_path / "fails not")
