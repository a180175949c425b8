"""Folders, patterns, videos and cameras as sources of pictures, drawn copies as pictures and videos, and what detect assumes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from shared import need
from tiny_ssd import picture, write_tiny

from boxpresso import Detector, Net
from boxpresso.__main__ import main
from boxpresso.cli.output import Progress
from boxpresso.data import video
from boxpresso.data.errors import BrokenRecord, DataError
from boxpresso.data.sources import Item, PictureSource, batches, expand, read
from boxpresso.explanation import assumed, explain
from boxpresso.image import read_image
from boxpresso.proto.limits import LIMITS

FRAMES = 12
MODULES = [name for name in ("av", "cv2") if video.importlib.util.find_spec(name)]


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch, tmp_path):
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=["av", "cv2"])
def backend(request, monkeypatch):
    """Each module that reads videos, where it is installed."""
    pytest.importorskip(request.param, reason=f"{request.param} is not installed (pip install 'boxpresso[video]')")
    monkeypatch.setattr(video, "backend", lambda: request.param)
    return request.param


@pytest.fixture
def any_backend():
    if not MODULES:
        pytest.skip("neither av nor cv2 is installed (pip install 'boxpresso[video]')")


@pytest.fixture
def tiny(tmp_path):
    return write_tiny(tmp_path)


def scene(scale: int = 10) -> Image.Image:
    return Image.fromarray(picture(scale=scale))


def call(capsys, *words: object) -> tuple[int, str, str]:
    status = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return status, out, err


def write_video(path: Path, frames: int = FRAMES, size: tuple[int, int] = (64, 48)) -> None:
    """A bar that grows by 4 columns a frame."""
    with video.VideoWriter(path, 10) as out:
        for i in range(frames):
            pixels = np.zeros((size[1], size[0], 3), np.uint8)
            pixels[:, : 4 * (i + 1)] = (200, 60, 20)
            out.add(pixels)


# Names to sources


def test_folders_and_patterns(tmp_path):
    (tmp_path / "img").mkdir()
    for name in ("b.jpg", "a.PNG", "clip.mp4", "notes.txt", "a.detections.png", "._b.jpg"):
        (tmp_path / "img" / name).touch()
    listed = [(source.kind, source.path) for source in expand(["img"])]
    assert listed == [("picture", "img/a.PNG"), ("picture", "img/b.jpg"), ("video", "img/clip.mp4")]
    assert [source.path for source in expand(["img/*.jpg", "img/a.detections.png"])] == [
        "img/b.jpg",
        "img/a.detections.png",
    ]
    assert expand(["0"]) == [PictureSource("camera", "0")]
    (tmp_path / "0").touch()
    assert expand(["0"]) == [PictureSource("picture", "0")]
    (tmp_path / "a[1].jpg").touch()
    assert expand(["a[1].jpg"]) == [PictureSource("picture", "a[1].jpg")]
    address = "https://example.org/street[1].jpg?width=300"
    assert expand([address]) == [PictureSource("picture", address)]
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match="the folder none has no pictures"):
        expand(["none"])
    with pytest.raises(DataError, match=r"no file fits the pattern \*\.gif"):
        expand(["*.gif"])


def test_broken_pictures_are_passed_over(tmp_path):
    scene().save("a.png")
    (tmp_path / "b.png").write_bytes(b"broken")
    scene().save("c.png")
    items = list(read(expand(["a.png", "b.png", "missing.png", "c.png"]), read_image))
    assert [item.picture is not None for item in items] == [True, False, False, True]
    assert "b.png is not an image" in str(items[1].error)
    assert "there is no picture missing.png" in str(items[2].error)
    assert [[item.name for item in group] for group in batches(iter(items), 4)] == [
        ["a.png"], ["b.png"], ["missing.png"], ["c.png"],
    ]  # fmt: skip


def test_batches_do_not_mix_videos():
    a, b = PictureSource("video", "a.mp4"), PictureSource("video", "b.mp4")
    items = [Item(a, 1, 0), Item(a, 1, 1), Item(a, 1, 2), Item(b, 1, 0), Item(PictureSource("picture", "c.png"), 1)]
    names = [[item.name for item in group] for group in batches(iter(items), 2)]
    assert names == [["a.mp4 #0", "a.mp4 #1"], ["a.mp4 #2"], ["b.mp4 #0"], ["c.png"]]


# Videos


@pytest.mark.parametrize("ending", [".mp4", ".avi", ".mkv"])
def test_a_video_and_back(backend, tmp_path, ending):
    path = tmp_path / f"bar{ending}"
    write_video(path, size=(65, 49))  # of odd sides a row and a column are left out
    reader = video.open_video(path, every=5)
    assert (reader.rate, reader.count) == (10, FRAMES)
    frames = list(reader.frames())
    reader.close()
    assert [frame.number for frame in frames] == [0, 5, 10]
    assert [round(frame.time, 3) for frame in frames] == [0.0, 0.5, 1.0]
    for frame in frames:
        assert frame.pixels.shape == (48, 64, 3)
        width = 4 * (frame.number + 1)
        assert abs(frame.pixels[24, width - 3].astype(int) - (200, 60, 20)).max() < 16
        assert width + 4 >= 64 or frame.pixels[24, width + 4].max() < 16
    assert not list(tmp_path.glob("*.part*"))


def test_what_is_no_video(backend, tmp_path, monkeypatch):
    write_video(tmp_path / "whole.mp4")
    (tmp_path / "half.mp4").write_bytes((tmp_path / "whole.mp4").read_bytes()[:600])
    (tmp_path / "text.mp4").write_text("no video")
    (tmp_path / "list.mp4").write_text(f"#EXTM3U\n#EXTINF:1,\n{tmp_path}/whole.mp4\n")
    for name, said in (
        ("half", "cannot read the video"), ("text", "cannot read the video"), ("list", "a list of other files"),
        ("none", "there is no video"),
    ):  # fmt: skip
        with pytest.raises(BrokenRecord, match=said):
            list(video.open_video(tmp_path / f"{name}.mp4").frames())
    with monkeypatch.context() as patch:
        patch.setattr("os.path.isfile", lambda name: True)  # it vanishes meanwhile
        with pytest.raises(BrokenRecord, match=r"cannot read the video none.mp4: No such file"):
            video.open_video("none.mp4")
    monkeypatch.setattr(LIMITS, "picture_pixels", 1000)
    with pytest.raises(BrokenRecord, match="64x48 pixels; raise the limit 'picture_pixels'"):
        video.open_video(tmp_path / "whole.mp4")


def test_no_camera(monkeypatch):
    if Path("/dev/video17").exists():
        pytest.skip("there is a camera 17")
    with pytest.raises(DataError, match="camera 17"):
        video.open_camera(17)


def test_without_a_module_that_reads_videos(tiny, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("boxpresso.data.video.backend", lambda: None)
    (tmp_path / "a.mp4").touch()
    for words in (["a.mp4"], ["0"]):
        status, out, err = call(capsys, "detect", *tiny, *words)
        assert (status, out) == (1, "")
        assert "pip install 'boxpresso[video]'" in err
    scene().save("a.png")
    status, _, err = call(capsys, "detect", *tiny, "a.png", "--out", "b.mp4")
    assert status == 1
    assert "pip install 'boxpresso[video]'" in err


# The command


def test_a_folder_with_a_broken_picture(tiny, tmp_path, capsys):
    (tmp_path / "img").mkdir()
    for name in "abd":
        scene().save(f"img/{name}.png")
    (tmp_path / "img" / "c.png").write_bytes(b"broken")
    status, out, err = call(capsys, "detect", *tiny, "img", "--out", "drawn", "--batch", "2")
    assert status == 1
    assert [line.split(" ")[0] for line in out.splitlines() if "detection" in line and line.startswith("img")] == [
        "img/a.png", "img/b.png", "img/d.png",
    ]  # fmt: skip
    assert "c.png is not an image" in err
    assert "failed" not in err  # of a few it is seen
    assert sorted(path.name for path in (tmp_path / "drawn").iterdir()) == [f"{n}.detections.png" for n in "abd"]
    words = [*["img/a.png"] * 9, "img/c.png"]
    assert "1 of 10 pictures failed" in call(capsys, "detect", *tiny, *words, "--no-drawing")[2]
    status, out, _ = call(capsys, "detect", *tiny, "img/[ab].png", "--no-drawing", "--json")
    single = json.loads(out)
    assert (status, len(single)) == (0, 2)
    status, out, _ = call(capsys, "detect", *tiny, "img/[ab].png", "--no-drawing", "--json", "--batch", "2")
    assert json.loads(out) == single


def test_without_detections_no_copy_is_written(tiny, tmp_path, capsys):
    scene().save("a.png")
    status, out, _ = call(capsys, "detect", *tiny, "a.png", "--threshold", "1", "--draw")
    assert status == 0
    assert "no detections" in out
    assert "drawn" not in out
    assert sorted(path.name for path in tmp_path.glob("*.png")) == ["a.png"]


def test_a_video_through_the_net(any_backend, tiny, tmp_path, capsys):
    with video.VideoWriter(tmp_path / "scene.mp4", 20) as out:
        for _ in range(FRAMES):
            out.add(np.asarray(scene().convert("RGB")))
    status, out, _ = call(
        capsys, "detect", *tiny, "scene.mp4", "--every", "4", "--batch", "2", "--voc", "xml", "--draw"
    )
    assert status == 0
    assert [line.split(" (")[0] for line in out.splitlines() if line.startswith("scene")] == [
        "scene.mp4 #0", "scene.mp4 #4", "scene.mp4 #8",
    ]  # fmt: skip
    assert "drawn in scene.detections.mp4" in out
    drawn = video.open_video("scene.detections.mp4")
    frames = list(drawn.frames())
    assert (drawn.rate, len(frames)) == (5, 3)
    assert abs(frames[0].pixels.astype(int) - np.asarray(scene().convert("RGB"))).max() > 100  # there is a frame on it
    assert len(list((tmp_path / "xml").glob("scene-00000*.xml"))) == 3
    words = ("--json", "--frames", "2", "--out", "two.mp4")
    status, out, _ = call(capsys, "detect", *tiny, "scene.mp4", *words)
    rows = json.loads(out)
    assert [(row["frame"], row["time"]) for row in rows] == [(0, 0.0), (1, 0.05)]
    assert len(list(video.open_video("two.mp4").frames())) == 2


def test_a_quiet_video_has_a_line_a_second(any_backend, tiny, tmp_path, capsys):
    with video.VideoWriter(tmp_path / "scene.mp4", 4) as out:
        for _ in range(6):
            out.add(np.asarray(scene().convert("RGB")))
    status, out, err = call(capsys, "detect", *tiny, "scene.mp4", "scene.mp4", "--quiet")
    count = len(json.loads(call(capsys, "detect", *tiny, "scene.mp4", "--json")[1])[0]["detections"])
    lines = [f"scene.mp4 0 s: 4 frames, {4 * count} detections", f"scene.mp4 1 s: 2 frames, {2 * count} detections"]
    assert (status, out.splitlines(), err) == (0, lines * 2, "")


def test_pictures_as_a_video(any_backend, tiny, capsys):
    for name in "abc":
        scene().save(f"{name}.png")
    status, out, _ = call(capsys, "detect", *tiny, "a.png", "b.png", "c.png", "--out", "all.avi")
    assert status == 0
    assert out.count("drawn in all.avi") == 1
    assert len(list(video.open_video("all.avi").frames())) == 3


def test_a_broken_video_is_passed_over(any_backend, tiny, tmp_path, capsys):
    (tmp_path / "a.mp4").write_text("no video")
    scene().save("b.png")
    status, out, err = call(capsys, "detect", *tiny, "a.mp4", "b.png", "--draw")
    assert status == 1
    assert "cannot read the video a.mp4" in err
    assert "b.png (" in out
    assert not (tmp_path / "a.detections.mp4").exists()


def test_places_that_cannot_be(tiny, capsys):
    for name in "ab":
        scene().save(f"{name}.png")
    for words, said in (
        (["a.png", "b.png", "--out", "x.png"], "is one file, but there are 2 pictures"),
        (["a.png", "--out", "a.png"], "is the picture itself"),
    ):
        status, _, err = call(capsys, "detect", *tiny, *words)
        assert status == 1
        assert said in err
    status, _, err = call(capsys, "detect", *tiny, "a.png", "--out", "missing/x.png")
    assert status == 1
    assert "cannot write missing/x.png" in err
    assert "choose another place with --out" in err


# What is assumed


def test_a_known_model_is_prepared_as_it_was_trained(capsys):
    model, weights = (str(need(f"models/ultralight_face/RFB-320.{end}")) for end in ("prototxt", "caffemodel"))
    image = str(need("images/ulf_2.jpg"))
    status, out, err = call(capsys, "detect", model, weights, image, "--no-drawing")
    assert status == 0
    assert "4 detections" in out
    assert "recognised as Ultra-Light face detector RFB-320 (all 52 layers with weights match): (pixel - 127" in err
    assert "red, green, blue" in err
    status, out, _ = call(capsys, "detect", model, weights, image, "--no-drawing", "--explain", "--scale", "1/127")
    assert "scale: 0.00787402, as given" in out
    assert "mean: 127,127,127, of rfb-320, https://github.com/Linzaer/" in out
    assert "labels: 1 name of" in out
    assert "decoder: " in out


def test_a_detector_takes_the_settings_of_a_known_model():
    net = Net(str(need("models/wechat_qrcode/detect.prototxt")), str(need("models/wechat_qrcode/detect.caffemodel")))
    detector = Detector(net)
    assert detector.settings.scale == pytest.approx(1 / 255)
    assert detector.names == {1: "QR code"}
    assert len(detector(str(need("images/qr_0.png")))) == 1
    assert "QR code detector of WeChat" in assumed(detector)
    changed = Detector(net, scale=1 / 128, labels={1: "code"})
    assert (changed.settings.scale, changed.names) == (1 / 128, {1: "code"})
    lines = explain(changed)
    assert "scale: 0.0078125, as given" in lines
    assert "labels: 1 name, as given" in lines


def test_an_unknown_model_is_said_to_be(tiny, capsys):
    scene().save("a.png")
    status, out, err = call(capsys, "detect", *tiny, "a.png", "--no-drawing", "--explain")
    assert (status, err) == (0, "")
    assert "recognised: none of the known models" in out
    assert "mean: none, the default of ssd" in out
    assert call(capsys, "detect", *tiny, "a.png", "--no-drawing")[2] == ""


def test_progress_has_rate_and_time_left(monkeypatch, capsys):
    clock = [0.0]
    monkeypatch.setattr("boxpresso.cli.output.time.monotonic", lambda: clock[0])
    progress = Progress("detect", "pictures")
    for done in range(1, 101):
        clock[0] += 0.25
        progress.tell(done, 100)
    progress.end()
    assert capsys.readouterr().err.splitlines() == [
        "detect: 40 of 100 pictures, 4.0 a second, 0:00:15 left",
        "detect: 80 of 100 pictures, 4.0 a second, 0:00:05 left",
    ]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    progress = Progress("detect")
    clock[0] += 1
    progress.tell(4, None)
    progress.clear()
    assert capsys.readouterr().err == "\rdetect: 4, 4.0 a second\x1b[K\r\x1b[K"
