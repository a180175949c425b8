"""Reports as HTML files: what they show is true, complete and inert, and they load nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from drawn import voc_folder
from PIL import Image
from places import ROOT
from report_nets import resnet
from tiny_ssd import TINY, picture, tiny_net, write_tiny

from boxpresso import BoxpressoError, Net
from boxpresso.__main__ import main
from boxpresso.data.folders import Scene
from boxpresso.evaluation import evaluate
from boxpresso.proto import parse_net
from boxpresso.reports import Pictures, write_net_report, write_test_report
from boxpresso.reports.misses import best_score, judge_pictures
from boxpresso.reports.weights import statistics
from boxpresso.summary import summarise
from boxpresso.timing import time_net, timing_net

SVG = "{http://www.w3.org/2000/svg}"
VOID = {"meta", "input", "br", "img"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch, tmp_path):
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)


class Page(HTMLParser):
    """A page as a browser reads it: its elements, checked to be closed, with the text and attributes of each."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[dict] = []
        self.all: list[dict] = []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {[each['tag'] for each in self.open]}"

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "text": "", "in": [each["tag"] for each in self.open], **dict(attrs)}
        self.all.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open[-1]["tag"] == tag, f"</{tag}> closes <{self.open[-1]['tag']}>"
        self.open.pop()

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def find(self, tag: str, **attributes: str) -> list[dict]:
        return [e for e in self.all if e["tag"] == tag and all(e.get(k.strip("_")) == v for k, v in attributes.items())]


def report_of(net: Net, tmp_path: Path, **options) -> tuple[str, Page]:
    write_net_report(tmp_path / "net.html", net, model="net.prototxt", **options)
    text = (tmp_path / "net.html").read_text(encoding="utf-8")
    return text, Page(text)


def rows_of(text: str, table: str) -> list[list[tuple[str, float | None]]]:
    """The cells of a table of the page: text and number."""
    body = re.search(rf'<table class="sortable {table}">.*?<tbody>(.*?)</tbody>', text, re.S)[1]
    cells = [re.findall(r"<td([^>]*)>(.*?)</td>", row, re.S) for row in re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.S)]
    number = lambda name: (match := re.search(r'data-v="([^"]+)"', name)) and float(match[1])  # noqa: E731
    return [[(re.sub("<[^>]+>", "", inside), number(name)) for name, inside in row] for row in cells]


def check_inert(text: str, scripts: int = 2) -> None:
    """The page has no script but ours and loads nothing."""
    page = Page(text)
    assert len(page.find("script")) == scripts
    assert not page.find("link") + page.find("iframe") + page.find("object") + page.find("base")
    for element in page.all:
        assert not [name for name in element if name.startswith("on")], element
        for name in ("src", "href", "data", "action", "xlink:href"):
            value = element.get(name)
            if isinstance(value, str) and name in element:
                assert value.startswith(("#", "data:image/jpeg;base64,")), value
    assert not re.search(r"@import|url\((?!#)", text)
    assert set(re.findall(r"https?://[\w./]+", text)) <= {"http://www.w3.org/2000/svg"}
    (policy,) = page.find("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith("default-src 'none';")


# A net


def test_every_layer_with_the_numbers_of_the_summary(tmp_path):
    net = tiny_net()
    summary = summarise(net)
    text, page = report_of(net, tmp_path, weights="tiny.caffemodel")
    check_inert(text)
    rows = rows_of(text, "layers")
    assert [(row[1][0], row[2][0]) for row in rows] == [(each.type, each.name) for each in summary.layers]
    for row, each in zip(rows, summary.layers):
        assert [value for _, value in row[4:7]] == [each.parameters, each.macs, each.bytes]
        assert row[3][0] == "".join("\u00d7".join(map(str, shape)) for shape in each.tops.values())
    types = {row[0][0]: [value for _, value in row[1:]] for row in rows_of(text, "types")}
    assert types["Convolution"] == [3, summary.parameters, summary.macs, 64 + 256 + 128]
    assert sum(row[0] for row in types.values()) == len(summary.layers)
    drawn = [number for link in page.find("a") if "g" in link["in"] for number in link["data-cards"].split()]
    assert sorted(map(int, drawn)) == list(range(len(summary.layers)))  # each layer once in the graph
    cards = page.find("details")
    assert [card["data-card"] for card in cards] == [str(i) for i in range(len(summary.layers))]
    assert 'bottom: "data"' in cards[1]["text"]
    assert "kernel_size: 8" in cards[1]["text"]
    assert "_split" not in text  # the copies that the Net makes of blobs
    assert text.count('class="hist"') == 6
    assert len(page.find("svg", class_="hist")) == 6


def test_the_graph_is_xml_and_its_data_fits_it(tmp_path):
    text, _ = report_of(resnet(), tmp_path)
    graph = ElementTree.fromstring(re.search(r'<svg id="graph".*?</svg>', text, re.S)[0])
    data = json.loads(re.search(r'<script type="application/json" id="blocks">(.*?)</script>', text, re.S)[1])
    ids = {element.get("id") for element in graph.iter() if element.get("id")}
    assert data["blocks"].keys() <= ids
    for name, block in data["blocks"].items():
        group = next(element for element in graph.iter(f"{SVG}g") if element.get("id") == name)
        inner = group if name == "b0" else group.find(f"{SVG}g[@class='open']")
        assert {kid[0] for kid in block["kids"]} == {each.get("id") for each in inner if each.get("id")}
        assert len(block["wires"]) == len(inner.find(f"{SVG}g[@class='wires']"))
        for source, target, *_ in block["wires"]:
            assert block["kids"][source][1] < block["kids"][target][1]  # downwards
    root = next(element for element in graph.iter(f"{SVG}g") if element.get("id") == "b0")
    assert all(wire.get("d", "").startswith("M") for wire in root.find(f"{SVG}g[@class='wires']"))
    titles = {title.text for title in graph.iter(f"{SVG}title")}
    assert any("\u00d7" in title and title.startswith("pool1 ") for title in titles)  # shapes on edges


EVIL = "<script>alert(1)</script>\"' onload=alert(2) ]]></svg></pre></style> &amp; \u202e"


def test_texts_of_a_prototxt_are_inert(tmp_path):
    param = parse_net(TINY)
    param.name = EVIL
    for layer in param.layer:
        layer.name = f"{EVIL} {layer.name}"
        for names in (layer.bottom, layer.top):
            names[:] = [f"{EVIL} {name}" for name in names]
    write_net_report(tmp_path / "a.html", Net(param, device="cpu"), model=EVIL, weights=EVIL)
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    check_inert(text)
    assert Page(text).find("h1")[0]["text"] == EVIL
    assert rows_of(text, "layers")[1][2][0].startswith("&lt;script&gt;")
    ElementTree.fromstring(re.search(r'<svg id="graph".*?</svg>', text, re.S)[0])
    result = evaluate([[(1, 0.9, 1, 1, 5, 5)]], [[(1, 1, 1, 5, 5)]], {1: EVIL})
    scene = Scene(tmp_path / f"{EVIL.replace('/', '')}.png", 8, 8, [1], np.array([[4.0, 4, 8, 8]]), [False])
    Image.new("RGB", (8, 8)).save(scene.path)
    shown = Pictures([[(1, 0.9, 1, 1, 5, 5)]], [scene])
    write_test_report(
        tmp_path / "b.html", result, about=[("title", EVIL), ("model", EVIL)], pictures=shown, skipped=[EVIL]
    )
    check_inert((tmp_path / "b.html").read_text(encoding="utf-8"), scripts=1)


def test_times_are_those_that_were_taken(tmp_path):
    net = timing_net(parse_net(TINY), device="cpu")
    times = time_net(net, 2)
    text, _ = report_of(net, tmp_path, times=times)
    where = {name: i for i, name in enumerate(times.names)}
    for row in rows_of(text, "layers"):
        i = where[row[2][0]]
        wanted = [500 * times.forward[i], 500 * times.backward[i]]
        assert [value for _, value in row[7:9]] == pytest.approx(wanted, rel=1e-4)
    shares = [value for row in rows_of(text, "types") for _, value in row[-1:]]
    assert sum(shares) == pytest.approx(1, abs=1e-3)
    assert shares == sorted(shares, reverse=True)


def test_statistics_of_weights():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((5, 7, 3)).astype(np.float32)
    values[0, 0] = 0
    made = statistics(values)
    assert (made.low, made.high) == (values.min(), values.max())
    assert made.mean == pytest.approx(values.mean(), rel=1e-5)
    assert made.deviation == pytest.approx(values.std(), rel=1e-5)
    assert made.bins == tuple(np.histogram(values.astype(np.float64), 32)[0])
    assert made.zeros == 3
    values[1, 1] = np.nan, np.inf, -np.inf
    odd = statistics(values)
    assert (odd.nans, odd.infinite) == (1, 2)
    assert sum(odd.bins) == values.size - 3
    nothing = statistics(np.full((2, 2), np.nan))
    assert np.isnan(nothing.mean)
    assert nothing.nans == 4
    flat = statistics(np.full(9, 2.5))
    assert (flat.low, flat.deviation, sum(flat.bins)) == (2.5, 0, 9)


def test_weights_that_are_no_numbers_are_named_at_the_top(tmp_path):
    net = tiny_net()
    net.params["conf"][1].data[0] = np.nan
    text, page = report_of(net, tmp_path, weights="w")
    (warning,) = page.find("p", class_="warning")
    assert warning["text"] == "NaN or infinity in the weights of conf"
    assert "1 NaN" in text


# A test of a detector


def scene(boxes: list[tuple[int, ...]], difficult: list[bool] | None = None, path: str = "a.png") -> Scene:
    corners = np.array([box[1:] for box in boxes], float).reshape(-1, 4)
    return Scene(Path(path), 100, 100, [box[0] for box in boxes], corners, difficult or [False] * len(boxes))


def test_faults_by_hand():
    truths = [(1, 0, 0, 40, 40), (1, 60, 60, 100, 100), (2, 0, 60, 30, 100), (2, 60, 0, 100, 20), (1, 42, 0, 55, 10)]
    detections = [
        (1, 0.95, 0, 0, 40, 40),  # right
        (1, 0.9, 2, 2, 40, 40),  # the same once more
        (1, 0.85, 50, 50, 90, 90),  # too far
        (1, 0.8, 0, 60, 30, 100),  # label 2 is there
        (2, 0.7, 42, 42, 50, 50),  # nothing
        (2, 0.2, 60, 0, 100, 20),  # right, but below the score
        (1, 0.6, 42, 0, 55, 10),  # difficult: neither
    ]
    judged = judge_pictures([detections], [scene(truths, [False] * 4 + [True])], 0.5, 0.5)
    assert judged.right == 1
    assert [(fault.label, fault.why, fault.weight) for fault in judged.false] == [
        (1, "second", 0.9), (1, "place", 0.85), (1, "class", 0.8), (2, "nothing", 0.7)
    ]  # fmt: skip
    assert [(fault.label, fault.why) for fault in judged.missed] == [(1, "place"), (2, "class"), (2, "score")]
    assert [fault.weight for fault in judged.missed] == pytest.approx([0.16, 0.12, 0.08])
    assert judged.missed[2].near[1] == 0.2
    result = evaluate([detections], [scene(truths, [False] * 4 + [True])])
    assert best_score(result.curves)[0] in {row[1] for row in detections}


def test_faults_agree_with_the_curves():
    """At any score the right detections are those of `evaluate`."""
    rng = np.random.default_rng(3)
    box = lambda: (*(start := rng.uniform(0, 60, 2)), *(start + rng.uniform(10, 40, 2)))  # noqa: E731
    scenes = [scene([(int(rng.integers(1, 3)), *box()) for _ in range(4)]) for _ in range(20)]
    detections = [
        [(label, rng.random(), *(corners + rng.normal(0, 4, 4))) for label, corners in zip(each.labels, each.corners)]
        + [(1, rng.random(), *box())]
        for each in scenes
    ]
    result = evaluate(detections, scenes)
    score, f1 = best_score(result.curves)
    judged = judge_pictures(detections, scenes, 0.5, score)
    right = sum(int(curve.right[curve.scores >= score].sum()) for curve in result.curves.values())
    wrong = sum(int((~curve.right[curve.scores >= score]).sum()) for curve in result.curves.values())
    assert (judged.right, len(judged.false), len(judged.missed)) == (right, wrong, 80 - right)
    assert f1 == pytest.approx(2 * right / (right + wrong + 80))
    assert best_score({}) == (0, 0)
    assert best_score(evaluate([[]], [[(1, 0, 0, 5, 5)]]).curves) == (0, 0)


@pytest.fixture
def folder(tmp_path):
    """A VOC folder for tiny_ssd: in a and b what it finds is there, in c it is elsewhere."""
    box = lambda row, column: (8 * column + 1, 8 * row + 1, 8 * column + 8, 8 * row + 8)  # noqa: E731
    cells = {"a": (0, 0), "b": (1, 2), "c": (3, 3)}
    root = voc_folder(
        tmp_path / "VOC",
        {name: [("thing", 0, box(*((0, 0) if name == "c" else cell)))] for name, cell in cells.items()},
    )
    for name, cell in cells.items():
        Image.fromarray(picture(1, cell)).save(root / "JPEGImages" / f"{name}.jpg", "PNG")
        path = root / "Annotations" / f"{name}.xml"
        path.write_text(path.read_text().replace("<width>40", "<width>32").replace("<height>30", "<height>32"))
    (tmp_path / "labels.txt").write_text("background\nthing\n")
    return root


def test_test_html(folder, tmp_path, capsys):
    words = [
        "test",
        *write_tiny(tmp_path),
        "--labels",
        "labels.txt",
        "--voc",
        str(folder),
        "--no-curves",
        "--html",
        "t.html",
    ]
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "report in t.html"
    text = Path("t.html").read_text(encoding="utf-8")
    check_inert(text, scripts=1)
    (row,) = rows_of(text, "classes")
    assert row[0][0] == "thing"
    assert [value for _, value in row[1:6]] == pytest.approx([3, 3, 2, 2 / 3, 2 / 3], rel=1e-5)
    page = Page(text)
    pictures = page.find("img")
    assert [image["alt"] for image in pictures] == ["c.jpg", "c.jpg"]  # missed, and wrong
    assert max(int(image["width"]) for image in pictures) <= 480
    assert " ".join(["--voc", str(folder), "--no-curves", "--html", "t.html"]) in page.find("dl")[0]["text"]
    for svg in re.findall(r"<svg.*?</svg>", text, re.S):
        ElementTree.fromstring(svg)
    faults = {row[0][0]: row[1][1] for row in rows_of(text, "faults")}
    assert (faults["right"], faults["missed: nothing near"], faults["wrong: nothing there"]) == (2, 1, 1)
    (folder / "JPEGImages/a.jpg").write_bytes(b"no picture")
    assert main(words) == 0
    assert "a.jpg is not an image" in Path("t.html").read_text(encoding="utf-8")


def test_test_html_of_a_net_with_its_own_data(tmp_path, capsys):
    """The rows of DetectionEvaluate say no places: curves and table, no pictures."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        file["found"] = np.array([[[[0, 1, 0.9, 0.1, 0.1, 0.5, 0.5]]]], np.float32)
        file["truth"] = np.array([[[[0, 1, 0, 0.1, 0.1, 0.5, 0.5, 0]]]], np.float32)
    (tmp_path / "list.txt").write_text("rows.h5\n")
    text = (
        'layer { name: "d" type: "HDF5Data" top: "found" top: "truth" hdf5_data_param { source: "list.txt" batch_size: 1 } }'
        'layer { name: "eval" type: "DetectionEvaluate" bottom: "found" bottom: "truth" top: "eval"'
        " detection_evaluate_param { num_classes: 2 background_label_id: 0 } }"
    )
    (tmp_path / "net.prototxt").write_text(text)
    Net(parse_net(TINY), device="cpu").save("w.caffemodel")
    assert (
        main(["test", "net.prototxt", "w.caffemodel", "--iterations", "1", "--no-curves", "--html", "t.html"]) == 0
    ), capsys.readouterr().err
    text = Path("t.html").read_text(encoding="utf-8")
    check_inert(text, scripts=1)
    assert [value for _, value in rows_of(text, "classes")[0][1:6]] == [1, 1, 1, 1, 1]
    assert "<img" not in text
    (tmp_path / "plain.prototxt").write_text(
        'layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 1 } } }'
    )
    assert main(["test", "plain.prototxt", "w.caffemodel", "--html", "u.html"]) == 1
    assert "--html write what one DetectionEvaluate says" in capsys.readouterr().err
    assert not Path("u.html").exists()


# The files


@pytest.mark.parametrize("verb", ["info", "time", "test"])
def test_an_unwritable_place_is_an_error_before_the_work(verb, tmp_path, capsys):
    words = [verb, "missing.prototxt", "missing.caffemodel"]
    for place, said in (
        ("no/folder/a.html", "No such file or directory"),
        (".", "is a folder"),
        ("/dev/null", "not a regular file"),
    ):
        assert main([*words, "--html", place]) == 1
        err = capsys.readouterr().err
        assert said in err
        assert "missing" not in err
    assert not list(tmp_path.iterdir())


def test_a_report_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "net.html"
    net = tiny_net()
    write_net_report(path, net, model="m")
    before = path.read_bytes()

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("boxpresso.reports.page.os.replace", full)
    with pytest.raises(BoxpressoError, match=r"cannot write the report .*net\.html: No space left"):
        write_net_report(path, net, model="other")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


TRAIN_TEST = """
layer { name: "d" type: "Data" top: "data" top: "label" data_param { source: "no_such_lmdb" batch_size: 2 backend: LMDB }
  transform_param { crop_size: 8 } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "fc" type: "InnerProduct" bottom: "conv" top: "fc" inner_product_param { num_output: 5 } }
layer { name: "accuracy" type: "Accuracy" bottom: "fc" bottom: "label" top: "accuracy" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }
"""


def test_info_needs_neither_compiler_nor_data(tmp_path):
    """A program without a compiler on its PATH and with an empty cache; the LMDB does not exist."""
    (tmp_path / "net.prototxt").write_text(TRAIN_TEST)
    code = "import sys; sys.modules['ziglang'] = None; from boxpresso.__main__ import main\n" + "".join(
        f"assert main(['info', 'net.prototxt', *{words!r}]) == 0\n"
        for words in (
            [], ["--json"], ["--plan"], ["--phase", "TRAIN"], ["--html", "a.html"], ["--plan", "--html", "b.html"],
        )
    )  # fmt: skip
    environment = {
        **os.environ,
        "PATH": str(tmp_path),
        "BOXPRESSO_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": str(ROOT),
    }
    environment.pop("CXX", None)
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "convolution" in result.stdout
    assert "without data: d" in result.stdout
    assert not list(tmp_path.glob("cache/*.so"))
    plan = (tmp_path / "b.html").read_text(encoding="utf-8")
    assert next(row[2][0] for row in rows_of(plan, "plan")) == "conv + relu"
    for name in ("a.html", "b.html"):
        check_inert((tmp_path / name).read_text(encoding="utf-8"))


def test_a_plan_is_described_as_it_runs():
    """What `info --plan` shows is what a forward does."""
    from boxpresso.summary import plan_rows, summarise_plan

    net = tiny_net()
    sketched = summarise_plan(net)
    net.forward()
    assert [row for program in net._runner.describe() for row in plan_rows(net, program)] == sketched.steps
    assert summarise_plan(net) == sketched


# In a browser


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
def test_in_a_browser(tmp_path):
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    net = resnet()
    write_net_report(tmp_path / "net.html", net, model="net.prototxt", weights="w")
    options = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    said, asked = [], []
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*options.split(), "--disable-component-update", "--disable-sync"]
        )
        page = browser.new_page(viewport={"width": 1000, "height": 800})
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "net.html").as_uri())
        whole = page.locator("#graph").bounding_box()
        block = page.locator(".block:has(> .folded)").first
        inside = block.locator("> .open .box").first
        assert not inside.is_visible()
        block.locator("> .folded").click()  # unfolds
        assert inside.is_visible()
        assert not block.locator("> .folded").is_visible()
        assert page.locator("#graph").bounding_box()["height"] > whole["height"]
        assert block.evaluate(
            "b => [...b.querySelectorAll(':scope > .open > .wires > path')].every(w => w.getAttribute('d')[0] == 'M')"
        )
        frame, part = block.locator("> .open > .frame").bounding_box(), inside.bounding_box()
        assert frame["x"] <= part["x"]
        assert part["y"] + part["height"] <= frame["y"] + frame["height"]
        inside.locator("a").click()  # its layers beside the graph
        shown = page.locator("#panel").inner_text()
        assert "res2a_branch1" in shown
        assert "bn2a_branch1" in shown
        assert "num_output: 4" in shown
        assert page.locator("#panel .hist").count() > 0
        page.keyboard.press("Escape")
        assert not page.locator("#panel").is_visible()
        block.locator("> .open > .head").click()
        assert page.locator("#graph").bounding_box() == whole
        page.locator("button[data-do=unfold]").click()
        assert page.locator(".folded:visible").count() == 0
        numbers = "() => [...document.querySelectorAll('table.layers tbody tr')].map(r => +r.cells[4].dataset.v)"
        page.locator("table.layers th", has_text="parameters").click()
        made = page.evaluate(numbers)
        assert made == sorted(made, reverse=True)
        page.locator("table.layers th", has_text="parameters").click()
        assert page.evaluate(numbers) == sorted(made)
        page.locator("input[data-filter]").fill("softmax")
        assert page.locator("table.layers tbody tr:visible").count() == 1
        browser.close()
    assert said == []
    assert asked == [(tmp_path / "net.html").as_uri()]
