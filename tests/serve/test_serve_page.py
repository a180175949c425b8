"""boxpresso serve: the page, in a browser."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from served import NAMES, cells, get, png, rows, serving, started, wide_net
from tiny_ssd import TINY, picture, tiny_net, write_tiny

from boxpresso import Detector, Net
from boxpresso.proto import parse_net
from boxpresso.serve import opening
from boxpresso.serve.answers import public
from boxpresso.serve.options import Options

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'boxpresso[dev]'")
expect = api.expect
expect.set_options(timeout=20_000)  # milliseconds
TIMES = "\N{MULTIPLICATION SIGN}"


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("there is no chromium on this machine")
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --use-fake-device-for-media-stream --use-fake-ui-for-media-stream"
    )
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=flags.split())
        yield opened
        opened.close()


class Page:
    """A page of the browser, and what it must not have done in the end."""

    def __init__(self, browser, server, **more):
        self.server, self.faults = server, []
        self.page = browser.new_page(viewport={"width": 1280, "height": 900}, **more)
        self.page.on("console", lambda message: self.faults.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        self.page.on("request", self.check)

    def check(self, request):
        if not request.url.startswith((self.server.url, "data:", "blob:")):
            self.faults.append(f"a request to {request.url}")

    def __enter__(self):
        self.page.goto(self.server.url)
        self.page.wait_for_selector("#graph button")
        return self.page

    def __exit__(self, *error):
        self.page.close()
        if error[0] is None:
            assert self.faults == []


def slide(page, slider: str, value: float) -> None:
    page.locator(slider).fill(str(value))


def boxes(page) -> list[tuple]:
    """Label, left, top, right, bottom of what is drawn, sorted."""
    return sorted(
        page.eval_on_selector_all(
            "#boxes .found",
            """all => all.map(each => {
                const side = (name) => Number(each.querySelector('rect.line').getAttribute(name));
                const [x, y] = [side('x'), side('y')];
                return [each.dataset.label, x, y, x + side('width'), y + side('height')].map(
                    (value) => typeof value === 'number' ? Math.round(10 * value) / 10 : value);
            })""",
        )
    )


def wanted_boxes(detections) -> list[list]:
    return sorted([label, *map(float, box)] for label, _, *box in rows(detections))


def test_the_page_shows_what_the_detector_finds(browser, tmp_path):
    pixels = cells(scale=10)
    Image.fromarray(pixels).save(tmp_path / "street.png")

    def wanted(**settings):
        param = parse_net(TINY)
        param.layer[-1].detection_output_param.nms_param.nms_threshold = settings.pop("overlap", 0.45)
        net = Net(param, device="cpu")
        net.share_with(wide_net())
        return Detector(net, labels=NAMES, **settings)(pixels)

    with started() as server, Page(browser, server) as page:
        page.set_input_files("#file", tmp_path / "street.png")
        expect(page.locator("#status")).to_contain_text(f"street.png (320 {TIMES} 320): 16 detections")
        assert boxes(page) == wanted_boxes(wanted())
        texts = page.locator("#boxes text").all_text_contents()
        assert len(texts) == 16
        assert page.locator("#rows tr").count() == 16
        first = page.locator("#rows tr").first.locator("td").all_text_contents()
        best = wanted()[0]
        assert first == ["cell", f"{best.score:.3f}", *(f"{side:.1f}" for side in best.box)]
        shown = page.locator("#picture").bounding_box()
        drawn = page.locator("#boxes").bounding_box()
        assert [round(shown[k]) for k in ("x", "y", "width", "height")] == [
            round(drawn[k]) for k in ("x", "y", "width", "height")
        ]

        slide(page, "#score", 0.9)  # at once, without a request
        assert boxes(page) == wanted_boxes(wanted(threshold=0.9))
        assert 0 < page.locator("#rows tr").count() < 16
        slide(page, "#score", 0.5)
        slide(page, "#nms", 0.2)
        expect(page.locator("#timing")).to_contain_text("no pass of the net")
        assert boxes(page) == wanted_boxes(wanted(overlap=0.2))
        assert len(boxes(page)) < 16
        slide(page, "#nms", 0.45)
        expect(page.locator("#rows tr")).to_have_count(16)

        page.locator("#rows tr").nth(3).hover()
        assert page.locator("#boxes .found.active").get_attribute("data-id") == "3"
        page.locator('#boxes .found[data-id="5"] rect.line').hover(force=True, position={"x": 2, "y": 2})
        expect(page.locator("#rows tr.active")).to_have_count(1)
        with page.expect_download() as download:
            page.click("#download")
        saved = json.loads(Path(download.value.path()).read_text())
        assert download.value.suggested_filename == "street.detections.json"
        assert [(d["label"], *np.round(d["box"], 1)) for d in saved["detections"]] == [
            (r[0], *r[2:]) for r in rows(wanted())
        ]


def test_a_picture_is_dropped_or_pasted_and_errors_are_shown(browser):
    with started(max_upload=100_000) as server, Page(browser, server, permissions=[]) as page:
        give = """([event, base, name, type]) => {
            const bytes = Uint8Array.from(atob(base), (c) => c.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], name, {type}));
            const more = event === 'paste' ? {clipboardData: data} : {dataTransfer: data};
            const made = event === 'paste' ? new ClipboardEvent(event, {...more, bubbles: true, cancelable: true})
                : new DragEvent(event, {...more, bubbles: true, cancelable: true});
            document.getElementById('drop').dispatchEvent(made);
        }"""

        def send(event, data, name="a.png", kind="image/png"):
            page.evaluate(give, [event, base64.b64encode(data).decode(), name, kind])

        send("drop", png(cells(1)))
        expect(page.locator("#status")).to_contain_text(f"a.png (32 {TIMES} 32): 16 detections")
        assert boxes(page) == wanted_boxes(Detector(wide_net(), labels=NAMES)(cells(1)))
        send("paste", png(cells(2, scale=2)))
        expect(page.locator("#status")).to_contain_text(f"pasted picture (64 {TIMES} 64): 16 detections")
        tiff = io.BytesIO()
        Image.fromarray(cells(3)).save(tiff, "TIFF")
        # a browser has no TIFF: the page takes the server's copy
        send("drop", tiff.getvalue(), "a.tif", "image/tiff")
        expect(page.locator("#status")).to_contain_text(f"a.tif (32 {TIMES} 32): 16 detections")
        assert "api/pictures/" in page.locator("#picture").get_attribute("src")
        send("drop", b"# Not a picture", "README.md", "text/markdown")
        expect(page.locator("#error")).to_contain_text("README.md is not a picture (text/markdown)")
        send("drop", bytes(200_000), "large.png")
        expect(page.locator("#error")).to_contain_text("large.png has 200000 bytes; this server takes 100000")


def test_blobs_and_names_that_are_markup_stay_text(browser, tmp_path):
    """Names of layers, blobs, labels and files come from others."""
    evil = "<img src=x onerror=alert(1)>"
    text = TINY.replace('"feature"', json.dumps(f"deep/{evil}"))
    net = Net(parse_net(text), device="cpu")
    for (_, mine), (_, other) in zip(net.params.items(), tiny_net().params.items()):
        for blob, values in zip(mine, other):
            blob.data[...] = values.data
    Image.fromarray(picture(scale=10)).save(tmp_path / "<b onclick=1>.png")
    with started(Detector(net, labels={1: evil})) as server, Page(browser, server) as page:
        page.set_input_files("#file", tmp_path / "<b onclick=1>.png")
        expect(page.locator("#status")).to_contain_text(f"<b onclick=1>.png (320 {TIMES} 320): 1 detection")
        expect(page.locator("#rows td").first).to_have_text(evil)
        expect(page.locator("#boxes text")).to_contain_text(evil)
        row = page.locator("#graph button").nth(1)
        expect(row.locator(".name")).to_have_text(f"deep/{evil}")
        row.click()
        expect(page.locator("#blob h3")).to_contain_text(f"deep/{evil}")
        expect(page.locator("#blob .grid img")).to_have_count(1)
        expect(page.locator("#blob dl")).to_contain_text(f"Shape1 {TIMES} 1 {TIMES} 4 {TIMES} 4")
        expect(page.locator("#blob dl")).to_contain_text("Max255")
        page.locator("#graph button").first.click()
        expect(page.locator("#blob .grid img")).to_have_count(3)
        page.locator("#blob select").first.select_option("grey")
        expect(page.locator("#blob .grid img")).to_have_count(3)
        page.fill("#filter", "softm")
        expect(page.locator("#graph button")).to_have_count(1)
        assert page.locator("[onerror], [onclick], #rows img, #graph img").count() == 0


def test_the_page_at_400_pixels_and_by_keyboard(browser, tmp_path):
    Image.fromarray(cells(scale=30)).save(tmp_path / "a.png")
    with started(examples=str(tmp_path)) as server, Page(browser, server, color_scheme="dark") as page:
        page.set_viewport_size({"width": 400, "height": 800})
        page.get_by_role("button", name="a.png").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#status")).to_contain_text("16 detections")
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        page.get_by_label("Score from").focus()
        for _ in range(30):
            page.keyboard.press("ArrowRight")
        expect(page.locator("#score-value")).to_have_text("0.80")
        assert 0 < page.locator("#rows tr").count() < 16
        page.locator("#rows tr").first.focus()
        assert page.locator("#boxes .found.active").count() == 1
        page.locator("#graph button").first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#blob h3")).to_contain_text("feature")
        unnamed = page.eval_on_selector_all(
            "input, select, button, img", "all => all.filter(e => e.tagName === 'IMG' ? !e.hasAttribute('alt') : !(e.labels?.length || e.textContent.trim() || e.ariaLabel || e.querySelector('img[alt]'))).map(e => e.outerHTML)"
        )  # fmt: skip
        assert unnamed == []
        assert float(page.eval_on_selector("#boxes .line", "e => parseFloat(getComputedStyle(e).strokeWidth)")) <= 1.5
        low = page.eval_on_selector_all(
            "#drop button, #drop label, .tools button, #score, #nms", "all => all.filter(e => e.offsetParent && e.offsetHeight < 44).map(e => e.id)"
        )  # fmt: skip
        assert low == []  # what a finger hits


def test_the_page_opens_with_an_example_and_saves_its_drawing(browser, tmp_path):
    two = np.concatenate([cells(4, scale=10)] * 2, axis=1)
    Image.fromarray(two).save(tmp_path / "a.png")
    with started(examples=str(tmp_path)) as server, Page(browser, server) as page:
        expect(page.locator("#status")).to_contain_text(f"a.png (640 {TIMES} 320):")
        slide(page, "#score", 0.9)
        shown = page.locator("#rows tr").count()
        with page.expect_download() as download:
            page.click("#download-picture")
        assert download.value.suggested_filename == "a.detections.png"
        detections = Detector(wide_net(), labels=NAMES, threshold=0.9)(two)
        assert len(detections) == shown > 0
        with Image.open(download.value.path()) as saved:
            assert np.array_equal(np.asarray(saved), np.asarray(detections.plot()))


def test_the_report_of_the_net_opens_beside_the_page(browser):
    """As the command gives it; in a page that may load nothing, and has no origin of its own."""
    from boxpresso.cli.serve import report_of

    with started(report=report_of) as server, Page(browser, server) as page:
        with page.expect_popup() as opened:
            page.click("#net-report")
        report, faults = opened.value, []
        report.on("pageerror", lambda error: faults.append(str(error)))
        report.wait_for_load_state()
        expect(report.locator("h1")).to_have_text("tiny")
        expect(report.locator("#graph-part svg").first).to_be_visible()
        assert "DetectionOutput" in report.locator("#graph-part").inner_text()
        assert report.evaluate("window.origin") == "null"
        assert faults == []
        report.close()
    with started() as server, Page(browser, server) as page:
        expect(page.locator("#net-report")).to_be_hidden()
        assert get(server, "report").status_code == 404


def test_the_camera(browser):
    """Frames of the browser's own test picture, until the camera is stopped."""
    with started() as server, Page(browser, server) as page:
        page.click("#camera")
        expect(page.locator("#status")).to_contain_text(re.compile(rf"camera \(\d+ {TIMES} \d+\): \d+ detection"))
        expect(page.locator("#camera")).to_have_text("Stop the camera")
        with page.expect_request(re.compile("api/detect")), page.expect_request(re.compile("api/detect")):
            pass  # one frame after another
        page.click("#camera")
        expect(page.locator("#camera")).to_have_text("Use the camera")
        assert page.get_attribute("#camera", "aria-pressed") == "false"


def test_a_video_is_looked_at_frame_by_frame(browser, tmp_path):
    av = pytest.importorskip("av", reason="PyAV is not installed: pip install 'boxpresso[dev]'")
    with av.open(str(tmp_path / "street.webm"), "w") as out:
        stream = out.add_stream("libvpx", rate=10)
        stream.width = stream.height = 320
        stream.pix_fmt = "yuv420p"
        for _ in range(30):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(picture(scale=10), format="rgb24")))
        out.mux(stream.encode())
    (tmp_path / "broken.mp4").write_bytes(b"no video")
    with started() as server, Page(browser, server) as page:
        page.set_input_files("#file", tmp_path / "street.webm")
        expect(page.locator("#status")).to_contain_text(f"street.webm (320 {TIMES} 320): 1 detection")
        expect(page.locator("#camera")).to_have_text("Use the camera")  # at its end
        page.set_input_files("#file", tmp_path / "broken.mp4")
        expect(page.locator("#error")).to_contain_text("The browser cannot play broken.mp4")


def test_the_picture_is_zoomed_and_moved(browser, tmp_path):
    Image.fromarray(cells(scale=10)).save(tmp_path / "a.png")
    with started(examples=str(tmp_path)) as server, Page(browser, server) as page:
        expect(page.locator("#status")).to_contain_text("16 detections")
        size = "() => [document.getElementById('picture'), document.getElementById('boxes'), document.getElementById('stage')].map(e => Math.round(e.getBoundingClientRect().width))"
        whole = page.evaluate(size)
        assert whole == [whole[0]] * 3
        page.click("#zoom-in")
        page.focus("#stage")
        page.keyboard.press("+")
        expect(page.locator("#zoom-fit")).to_have_text("225 %")
        assert page.evaluate(size) == [round(2.25 * whole[0])] * 2 + whole[2:]
        expect(page.locator("#boxes .line").first).to_have_css("stroke-width", "2.5px")  # as thin as before
        box = page.locator("#stage").bounding_box()
        before = page.evaluate("document.getElementById('stage').scrollLeft")
        page.mouse.move(box["x"] + 200, box["y"] + 100)
        page.mouse.down()
        page.mouse.move(box["x"] + 150, box["y"] + 100)
        page.mouse.up()
        assert page.evaluate("document.getElementById('stage').scrollLeft") == before + 50
        page.click("#zoom-fit")
        assert page.evaluate(size) == whole
        page.locator("#graph button").nth(1).click()
        channel = page.locator("#blob .grid button").first
        channel.click()
        assert channel.get_attribute("aria-pressed") == "true"
        large = channel.bounding_box()["width"]
        channel.click()
        assert channel.bounding_box()["width"] < large


def test_a_model_is_chosen_on_the_page(browser, tmp_path):
    chooser = opening.Opening(lambda model, weights, labels: Detector(model, weights, labels=labels, device="cpu"))
    model, weights = write_tiny(tmp_path)
    (tmp_path / "pictures").mkdir()
    Image.fromarray(cells(scale=10)).save(tmp_path / "pictures" / "a.png")
    options = Options(examples=str(tmp_path / "pictures"))
    with serving.Server(None, "", options, report=lambda error: None, opening=chooser) as server:
        shown = Page(browser, server)
        page = shown.page
        page.goto(server.url)
        expect(page.locator("#choices button").first).to_have_text("ultralight-face")
        expect(page.locator("#choices li").first).to_contain_text("1.1 MB, licence: MIT")
        assert not page.locator("#drop, #graph").first.is_visible()
        axe = pytest.importorskip(
            "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
        )
        report = axe.Axe().run(page)
        assert report.violations_count == 0, report.generate_report()
        page.set_input_files("#model-files", [model])
        expect(page.locator("#opening-error")).to_contain_text("a model is two files, but tiny.prototxt came")
        shown.faults.clear()  # the browser's own line about the status
        page.set_input_files("#model-files", [model, weights])
        expect(page.locator("#model")).to_have_text("tiny.prototxt")
        expect(page.locator("#status")).to_contain_text("16 detections")
        assert not page.locator("#opening").is_visible()
        shown.__exit__(None)


def test_addresses_are_links_and_paths_are_not_told(browser, tmp_path):
    detector = Detector(wide_net(), labels=NAMES)
    with started(detector) as server:
        said = "documented at https://github.com/owner/net/tree/main, read from /home/me/net.prototxt"
        server.model.description["explanation"] = [public(said)]
        with Page(browser, server) as page:
            link = page.locator("#explanation a")
            assert link.get_attribute("href") == link.text_content() == "https://github.com/owner/net/tree/main"
            assert page.locator("#explanation").text_content() == said.replace("/home/me/", "")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, tmp_path, scheme):
    """Deque's checker of accessibility: names, roles, contrast, order of headings."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    Image.fromarray(cells(4, scale=10)).save(tmp_path / "a.png")
    made = {"examples": str(tmp_path), "report": lambda net, name: ""}  # so that its link is there
    with started(**made) as server, Page(browser, server, color_scheme=scheme) as page:
        page.wait_for_selector("#rows tr")
        page.click("#assumed summary")
        page.locator("#graph button").nth(1).click()
        page.wait_for_selector("#blob .grid img")
        page.click("#zoom-in")
        report = axe.Axe().run(page)
        assert report.violations_count == 0, report.generate_report()
