"""A Detector as people call it: pictures of every kind, settings of one call, threads, keywords that do not exist."""

from __future__ import annotations

import http.server
import io
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from places import ROOT
from shared import need
from tiny_ssd import TINY, picture, tiny_net

from boxpresso import BoxpressoError, Detector, Net, detect
from boxpresso.data.image import as_image
from boxpresso.data.picture import encode
from boxpresso.proto import parse_net


def rows(detections):
    return [(one.class_id, round(one.score, 5), *np.round(one.box, 2)) for one in detections]


def wide_net(overlap: float = 0.45) -> Net:
    """The tiny net with boxes so wide that neighbours overlap by 0.46, and this overlap in its last layer."""
    first = tiny_net()
    first.params["loc"][1].data[...] = [0, 0, 5, 5]
    param = parse_net(TINY)
    param.layer[-1].detection_output_param.nms_param.nms_threshold = overlap
    net = Net(param, device="cpu")
    net.share_with(first)
    return net


@pytest.fixture
def detector() -> Detector:
    return Detector(tiny_net(), labels={1: "cell"})


def test_a_detector_says_what_it_is(detector):
    said = "ssd: pixels from 0 to 255 in the order blue, green, red, from a score of 0.5 on"
    assert repr(detector) == f"Detector({said})"
    assert repr(Detector(tiny_net(), mean=2, threshold=0.25)).endswith("from a score of 0.25 on)")


def test_pictures_of_every_kind(tmp_path, detector):
    pixels = picture()
    data = encode(pixels[..., ::-1], "PNG")
    path = tmp_path / "a.png"
    path.write_bytes(data)
    wanted = rows(detector(pixels))
    assert wanted
    with open(path, "rb") as file:
        kinds = [str(path), path, data, bytearray(data), io.BytesIO(data), file, as_image(pixels)]
        assert [rows(detector(one)) for one in kinds] == [wanted] * len(kinds)
    assert [rows(detections) for detections in detector.batch([pixels, path])] == [wanted] * 2
    with open(path, encoding="latin-1") as file, pytest.raises(BoxpressoError, match="open in binary mode"):
        detector(file)
    with pytest.raises(BoxpressoError, match=r"several pictures go to batch\(pictures\)"):
        detector([pixels])
    with pytest.raises(BoxpressoError, match=r"holds several pictures: .* detector\.each"):
        detector(tmp_path)


def test_states_of_boxes_change_nothing(detector):
    """A DetectionOutput that hands further scores on has longer rows; the detections are the same, at every overlap."""
    first, param = tiny_net(), parse_net(TINY)
    last = param.layer[-1]
    last.bottom.append("loc_flat")
    last.detection_output_param.do_state_prediction, last.detection_output_param.num_states = True, 4
    net = Net(param, device="cpu")
    net.share_with(first)
    assert net.forward(data=np.zeros((1, 3, 32, 32)))["found"].shape[-1] == 11
    own = Detector(net, labels={1: "cell"})
    assert rows(own(picture())) == rows(detector(picture())) != []
    assert rows(own(picture(), overlap=0.9)) == rows(detector(picture(), overlap=0.9))


def test_tensors(detector):
    torch = pytest.importorskip("torch")
    pixels = picture()
    wanted = rows(detector(pixels))
    tensor = torch.from_numpy(pixels.copy())
    for one in (tensor, tensor.permute(2, 0, 1), tensor.permute(2, 0, 1) / 255, (tensor / 255).requires_grad_()):
        assert rows(detector(one)) == wanted
    with pytest.raises(BoxpressoError, match="from 0 to 1, got 0 to 255: pass the picture before it is normalised"):
        detector(tensor.float())


def test_an_address(detector, monkeypatch):
    data = encode(picture()[..., ::-1], "PNG")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/a.png" else 404)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        assert rows(detector(f"{address}/a.png")) == rows(detector(picture()))
        with pytest.raises(BoxpressoError, match=r"cannot read the picture http://.*/b\.png: Not Found"):
            detector(f"{address}/b.png")
        monkeypatch.setattr("boxpresso.data.image.DOWNLOADED", 10)
        with pytest.raises(BoxpressoError, match="has more than 0 MiB"):
            detector(f"{address}/a.png")
        server.shutdown()
    with pytest.raises(BoxpressoError, match=r"cannot read the picture http://127.0.0.1:\d+/a.png: .*refused"):
        detector(f"{address}/a.png")


def test_a_folder_one_after_another(tmp_path, detector):
    for name in "ab":
        (tmp_path / f"{name}.png").write_bytes(encode(picture()[..., ::-1], "PNG"))
    wanted = rows(detector(picture()))
    detections = list(detector.each(tmp_path, batch=3))
    assert [(one.image, rows(one)) for one in detections] == [(str(tmp_path / f"{name}.png"), wanted) for name in "ab"]
    assert [rows(one) for one in detector.each(iter([picture()] * 3), batch=2)] == [wanted] * 3
    for one in (picture(), picture()[..., 0], as_image(picture()), encode(picture(), "PNG"), io.BytesIO()):
        with pytest.raises(BoxpressoError, match="one picture goes to detector"):
            list(detector.each(one))  # not the rows of its pixels
        with pytest.raises(BoxpressoError, match="one picture goes to detector"):
            detector.batch(one)
    assert [rows(one) for one in detector.batch(np.stack([picture()] * 2))] == [wanted] * 2
    with pytest.raises(BoxpressoError, match=r"every must be 1 .*, got 0"):
        list(detector.each(tmp_path, every=0))
    with pytest.raises(BoxpressoError, match=r"camera 0|needs PyAV or OpenCV"):
        list(detector.each(0))
    (tmp_path / "c.png").write_bytes(b"no picture")
    with pytest.raises(BoxpressoError, match=r"c\.png is not an image"):
        list(detector.each(tmp_path))


def test_a_video_frame_by_frame(tmp_path, detector):
    pytest.importorskip("av")
    from boxpresso.data.video import VideoWriter

    with VideoWriter(tmp_path / "v.mp4", 5) as video:
        for _ in range(5):
            video.add(picture(2))
    assert [detections.image.shape for detections in detector.each(tmp_path / "v.mp4", every=2)] == [(64, 64, 3)] * 3


def test_settings_of_one_call(detector):
    """As a Detector that was made with them; overlap too, which is the last layer's own otherwise."""
    faint = picture(colour=(0, 0, 125))  # a score of 0.407
    assert (len(detector(faint, threshold=0.4)), len(detector(faint)), len(detector(faint, threshold=0.41))) == (
        1,
        0,
        0,
    )
    bright, counts, wide = np.full((32, 32, 3), 255, np.uint8), [], Detector(wide_net())
    for overlap in (0.05, 0.9, 0.45):
        wanted = rows(Detector(wide_net(overlap))(bright))
        counts.append(len(wanted))
        assert rows(wide(bright, overlap=overlap)) == wanted
        assert rows(wide.batch([picture(), bright], overlap=overlap)[1]) == wanted
    assert counts[0] < counts[2] < counts[1] == 16
    assert len(detector(picture(), classes=["cell"])) == len(detector(picture()))
    assert (
        len(detector(picture(), classes=["cell", 7])) == len(detector(picture())) > len(detector(picture(), classes=7))
    )
    for run in (
        detector,
        lambda one, **more: detector.batch([one], **more),
        lambda one, **more: list(detector.each([one], **more)),
    ):
        with pytest.raises(BoxpressoError, match="no class is called 'cel'; did you mean 'cell'"):
            run(picture(), classes="cel")
    flat = parse_net(
        """layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
        layer { name: "f" type: "InnerProduct" bottom: "d" top: "f" inner_product_param { num_output: 4 } }
        layer { name: "s" type: "Softmax" bottom: "f" top: "s" }"""
    )
    with pytest.raises(BoxpressoError, match="overlap cannot be set: the decoder classification suppresses nothing"):
        Detector(Net(flat, device="cpu"))(picture(), overlap=0.5)


def test_keywords_that_do_not_exist(detector):
    for call, said in (
        (lambda: Detector(tiny_net(), treshold=0.5), r"Detector\(\) has no argument 'treshold'.*threshold"),
        (lambda: detector(picture(), treshold=0.5), r"Detector\(\) has no argument 'treshold'.*threshold"),
        (lambda: detector.batch([], labels=1), r"Detector\.batch\(\) has no argument 'labels'"),
        (lambda: detect(tiny_net(), picture(), swap=True), r"detect\(\) has no argument 'swap'"),
    ):
        with pytest.raises(TypeError, match=said):
            call()


def test_threads_share_one_detector():
    """Each picture's own detections, whichever thread asks; no more nets than allowed, and all over the same weights."""
    net = tiny_net()
    detector = Detector(net, threads=3)
    pictures = [np.roll(picture(), 8 * shift, axis=1) for shift in range(8)]
    wanted = [rows(detector(one)) for one in pictures]
    assert len({str(one) for one in wanted}) > 1
    gate = threading.Barrier(4)

    def work(number):
        gate.wait()
        return [
            (number + i) % 8
            for i in range(40)
            if rows(detector(pictures[(number + i) % 8])) != wanted[(number + i) % 8]
        ]

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, range(4))) == [[]] * 4
    assert 1 <= len(detector.pool.decoders) <= 3
    with detector.pool.borrow() as first, detector.pool.borrow() as second:
        assert first is detector.decoder
        assert second is not first
        for name, blobs in net.params.items():
            for mine, other in zip(blobs, second.nets[0].params[name], strict=True):
                assert np.shares_memory(mine.data, other.data)
    with detector.pool.borrow() as again:
        assert again is detector.decoder  # a script that looks at net.blobs after a call sees that call's


def test_nets_for_other_threads_begin_with_the_shapes_of_the_first():
    """By which its decoder was recognised and built: MTCNN's first net is as large as 12 x 12 only before its first picture."""
    detector = Detector(tiny_net(), size=(64, 48))
    detector(picture())
    assert detector.decoder.nets[0].blobs["data"].shape == (1, 3, 48, 64)
    with detector.pool.borrow(), detector.pool.borrow() as second:
        assert second.nets[0].blobs["data"].shape == (1, 3, 32, 32)


@pytest.mark.later
def test_threads_share_a_cascade():
    folder = need("models/mtcnn_kpzhang")
    pictures = [need(f"images/{name}.jpg") for name in ("mtcnn_test", "mtcnn_kp_test1", "ulf_2")]
    detector = Detector(folder, device="cpu")
    wanted = [rows(detector(one)) for one in pictures]
    assert sum(map(len, wanted)) > 3
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda one: rows(detector(one)), pictures * 2)) == wanted * 2


def test_all_names_without_torch():
    """`from boxpresso import *` needs nothing that numpy, protobuf and Pillow do not bring."""
    code = "import sys; sys.modules['torch'] = None\nfrom boxpresso import *\nDetector, Net, NetSpec, detect, ops, quantize"
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=ROOT, check=True)
