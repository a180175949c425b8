"""Face detectors with their real weights on photos: against the authors' programs, written here by loops, on the outputs
that OpenCV recorded, and on turned pictures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from decoder_nets import overlap_of, same, suppressed
from PIL import Image, ImageDraw, ImageFont
from shared import need

from boxpresso import Detector, ModelError, Net
from boxpresso.decoders import mtcnn, pcn
from boxpresso.decoders.base import Settings
from boxpresso.image import read_image, resize
from boxpresso.proto import parse_net
from boxpresso.proto.errors import BoxpressoWarning

MTCNN, FAST, PCN = "models/mtcnn_kpzhang", "models/mtcnn_imistyrain/fast", "models/pcn"


def photo(name: str, scale: float = 1.0) -> np.ndarray:
    image = read_image(need(f"images/{name}"))
    return np.asarray(image.resize((round(image.width * scale), round(image.height * scale))))


# MTCNN


def crop(image, x1, y1, x2, y2, side):
    """The pixels from (x1, y1) to (x2, y2), counted from 1, both included, resized; black outside the picture."""
    big = np.zeros((y2 - y1 + 1, x2 - x1 + 1, 3), np.float32)
    for y in range(y1, y2 + 1):
        for x in range(x1, x2 + 1):
            if 1 <= x <= image.shape[1] and 1 <= y <= image.shape[0]:
                big[y - y1, x - x1] = image[y - 1, x - 1]
    return resize(big, side, side)


def square(x1, y1, x2, y2):
    w, h = x2 - x1, y2 - y1
    side = max(w, h)
    x, y = x1 + w * 0.5 - side * 0.5, y1 + h * 0.5 - side * 0.5
    return [int(v) for v in (x, y, x + side, y + side)]


def detect_face(image, pnet, rnet, onet):
    """detect_face.m of MTCNNv1, with a smallest face of 20, the factor 0.709 and the thresholds 0.6, 0.7, 0.7."""
    every, scale = [], 12 / 20
    while min(image.shape[:2]) * scale >= 12:
        high, wide = math.ceil(image.shape[0] * scale), math.ceil(image.shape[1] * scale)
        values = (resize(image, wide, high) - 127.5) * 0.0078125
        out = pnet.forward(data=values.transpose(2, 1, 0)[None])
        candidates = []
        for x, y in np.argwhere(out["prob1"][0, 1] >= 0.6):
            box = [int((2 * v + add) / scale) for add in (1, 12) for v in (x, y)]
            candidates.append((box, out["prob1"][0, 1, x, y], out["conv4-2"][0, :, x, y]))
        every += [
            candidates[i] for i in suppressed([s[0] for s in candidates], [s[1] for s in candidates], 0.5, last=1)
        ]
        scale *= 0.709
    stay = suppressed([s[0] for s in every], [s[1] for s in every], 0.7, last=1)
    windows = []
    for box, _, move in (every[i] for i in stay):
        w, h = box[2] - box[0], box[3] - box[1]
        windows.append(square(*(b + m * s for b, m, s in zip(box, move, (w, h, w, h)))))
    candidates = []
    for box in windows:
        values = (crop(image, *box, 24) - 127.5) * 0.0078125
        out = rnet.forward(data=values.transpose(2, 1, 0)[None])
        if out["prob1"][0, 1] > 0.7:
            candidates.append((box, out["prob1"][0, 1], out["conv5-2"][0]))
    stay = suppressed([s[0] for s in candidates], [s[1] for s in candidates], 0.7, last=1)
    windows = []
    for box, _, move in (candidates[i] for i in stay):
        w, h = box[2] - box[0] + 1, box[3] - box[1] + 1
        windows.append(square(*(b + m * s for b, m, s in zip(box, move, (w, h, w, h)))))
    candidates = []
    for box in windows:
        values = (crop(image, *box, 48) - 127.5) * 0.0078125
        out = onet.forward(data=values.transpose(2, 1, 0)[None])
        if out["prob1"][0, 1] > 0.7:
            w, h = box[2] - box[0] + 1, box[3] - box[1] + 1
            ten = out["conv6-3"][0]
            marks = [(w * ten[k] + box[0] - 1, h * ten[k + 5] + box[1] - 1) for k in range(5)]
            moved = [b + m * s for b, m, s in zip(box, out["conv6-2"][0], (w, h, w, h))]
            candidates.append((moved, out["prob1"][0, 1], marks))
    candidates.sort(key=lambda s: -s[1])
    result = []
    for box, score, marks in candidates:
        for other, *_ in result:
            w = min(box[2], other[2]) - max(box[0], other[0]) + 1
            h = min(box[3], other[3]) - max(box[1], other[1]) + 1
            areas = [(b[2] - b[0] + 1) * (b[3] - b[1] + 1) for b in (box, other)]
            if max(0, w) * max(0, h) / min(areas) > 0.7:
                break
        else:
            result.append((box, score, marks))
    return result


def test_mtcnn_is_the_authors_program():
    image = photo("ulf_1.jpg")[40:150, 180:330]  # with about ten faces
    detector = Detector([need(f"{MTCNN}/det{i}.prototxt") for i in (1, 2, 3)],
                        [need(f"{MTCNN}/det{i}.caffemodel") for i in (1, 2, 3)], device="cpu", clip=False)  # fmt: skip
    assert detector.decoder.columns
    detections = detector(image)
    wanted = detect_face(image, *detector.decoder.nets)
    assert len(wanted) >= 6
    boxes = [[b[0] - 1, b[1] - 1, b[2], b[3]] for b, *_ in wanted]
    same(detections, boxes, [s for _, s, _ in wanted], [m for *_, m in wanted], tolerance=5e-4)


def test_the_mean_of_a_cascade(tmp_path):
    """Numbers, or a file as everywhere; here against a picture from which the mean is taken already."""
    np.save(tmp_path / "mean.npy", np.array([10, 20, 30], np.float32).reshape(3, 1, 1))
    crops = np.random.default_rng(0).integers(0, 256, (2, 5, 4, 15)).astype(np.float32)
    for mean in (tmp_path / "mean.npy", (10, 20, 30)):
        settings = Settings(mean=mean, scale=0.5)
        wanted = ((crops - np.tile([10, 20, 30], 5)) * 0.5).transpose(0, 3, 2, 1)
        np.testing.assert_array_equal(mtcnn.prepared(crops, settings), wanted)
        np.testing.assert_array_equal(pcn.prepared(crops[..., :3], settings), wanted[:, :3].swapaxes(2, 3))
    with pytest.raises(ModelError, match=r"the mean has the shape \(2,\).*give one number, or one for each channel"):
        pcn.prepared(crops[..., :3], Settings(mean=(1, 2)))


def test_windows_of_weights_that_are_no_good_are_left_out():
    """Offsets of a million sides: the pixels of such a window would take terabytes."""
    random, nets = np.random.default_rng(0), []
    for side, widths in ((12, (2, 4)), (24, (2, 4)), (48, (2, 4, 10))):
        text = f'layer {{ name: "in" type: "Input" top: "data" input_param {{ shape {{ dim: [1, 3, {side}, {side}] }} }} }}'
        for width in widths:
            own = f"convolution_param {{ num_output: {width} kernel_size: {side} stride: 2 }}"
            text += f'layer {{ name: "c{width}" type: "Convolution" bottom: "data" top: "c{width}" {own} }}'
        net = Net(parse_net(text + 'layer { name: "prob" type: "Softmax" bottom: "c2" top: "prob" }'), device="cpu")
        net.params["c2"][0].data[...] = random.normal(size=net.params["c2"][0].shape) * 0.05
        net.params["c4"][1].data[...] = (-1e6, -1e6, 1e6, 1e6)
        nets.append(net)
    with pytest.warns(BoxpressoWarning, match="far larger than the picture"):
        detections = Detector(nets, decoder="mtcnn")(random.integers(0, 256, (60, 80, 3)).astype(np.uint8))
    assert len(detections) == 0


@pytest.mark.parametrize(("folder", "columns"), [(MTCNN, True), (FAST, False)])
def test_both_folders_of_mtcnn(folder, columns):
    """The authors' nets want rows and columns swapped, the fast ones do not; the face is found by both, landmarks in it."""
    detector = Detector(need(folder), device="cpu")
    assert (detector.decoder.NAME, detector.decoder.columns, detector.settings.swap_rb) == ("mtcnn", columns, columns)
    assert detector.decoder.face == [int(columns), 1, 1]  # the fast folder's first net has faces as its first class
    (face,) = detector(photo("mtcnn_test.jpg"))
    assert overlap_of(face.box, (205, 50, 338, 224)) > 0.7
    eyes, nose, mouth = face.landmarks[:2], face.landmarks[2], face.landmarks[3:]
    assert eyes[0][0] < nose[0] < eyes[1][0]
    assert mouth[0][0] < nose[0] < mouth[1][0]
    assert max(y for _, y in eyes) < nose[1] < min(y for _, y in mouth)
    assert all(face.box[0] < x < face.box[2] and face.box[1] < y < face.box[3] for x, y in face.landmarks)
    assert len(detector(photo("ulf_11.jpg"))) >= 25  # of 26
    assert len(detector(np.zeros((60, 80, 3), np.uint8))) == 0
    assert len(detector(np.zeros((5, 5, 3), np.uint8))) == 0


# The others, on what OpenCV recorded of their nets


@pytest.mark.parametrize("name", ["RFB-320", "slim-320"])
def test_ultralight_on_recorded_outputs(name):
    model = need(f"models/ultralight_face/{name}.prototxt")
    case = np.load(need(f"models/opencv_ref/{name}__ulf_1.npz"))
    detector = Detector(model, model.with_suffix(".caffemodel"), device="cpu")
    values = {key[4:]: case[key] for key in case.files if key.startswith("out:")}
    recorded = detector.decoder.read(values, (478, 720), detector.settings).sorted()
    detections = detector(photo("ulf_1.jpg"))
    assert len(recorded) > 40
    pairs = [max((overlap_of(a, b), i) for i, b in enumerate(detections.boxes)) for a in recorded.boxes]
    assert np.mean([overlap > 0.9 for overlap, _ in pairs]) > 0.97  # OpenCV resizes in whole numbers


def test_retinaface_on_recorded_outputs():
    model = need("models/retinaface_mnet25/mnet.prototxt")
    case = np.load(need("models/opencv_ref/retinaface_mnet25__mtcnn_test.npz"))
    detector = Detector(model, model.with_suffix(".caffemodel"), device="cpu")
    values = {key[4:]: case[key] for key in case.files if key.startswith("out:")}
    (recorded,) = detector.decoder.read(values, (640, 640), detector.settings)
    image = photo("mtcnn_test.jpg")
    (stretched,) = detector(resize(image, 640, 640).round().astype(np.uint8))  # as it was recorded
    assert stretched.box == pytest.approx(recorded.box, abs=1.5)
    np.testing.assert_allclose(stretched.landmarks, recorded.landmarks, atol=1.5)
    (detection,) = detector(image)
    assert overlap_of(detection.box, (205, 50, 338, 224)) > 0.7
    eyes, nose = np.array(detection.landmarks[:2]), detection.landmarks[2]
    np.testing.assert_allclose([*eyes[0], *eyes[1], *nose], [232, 124, 282, 108, 258, 148], atol=10)


# PCN


def windows_of_first(net, image, row, col, shape):
    """Stage1 of PCN.cpp."""
    result, scale = [], 40 * 1.4 / 24
    small = resize(image, int(image.shape[1] / scale), int(image.shape[0] / scale))
    while min(small.shape[:2]) >= 24:
        out = net.forward(data=(small - [104, 117, 123]).transpose(2, 0, 1)[None].astype(np.float32))
        w = 24 * scale
        for i, j in np.argwhere(out["cls_prob"][0, 1] > 0.37):
            sn, xn, yn = out["bbox_reg_1"][0, :, i, j].astype(float)
            x = int(j * scale * 8 - 0.5 * sn * w + sn * xn * w + 0.5 * w) + col
            y = int(i * scale * 8 - 0.5 * sn * w + sn * yn * w + 0.5 * w) + row
            side = int(w * sn)
            if all(
                0 <= v < m
                for v, m in ((x, shape[1]), (y, shape[0]), (x + side - 1, shape[1]), (y + side - 1, shape[0]))
            ):
                angle = 0 if out["rotate_cls_prob"][0, 1, i, j] > 0.5 else 180
                result.append((x, y, side, angle, scale, out["cls_prob"][0, 1, i, j]))
        small = resize(small, int(small.shape[1] / 1.414), int(small.shape[0] / 1.414))
        scale = image.shape[0] / small.shape[0]
    return result


def test_the_first_stage_of_pcn_is_the_authors():
    image = photo("pcn_11.jpg", 0.6)[..., ::-1]
    decoder = Detector(need(PCN), device="cpu").decoder
    border = [min(int(0.2 * side), 100) for side in image.shape[:2]]
    shape = (image.shape[0] + 2 * border[0], image.shape[1] + 2 * border[1])
    wanted = np.array(windows_of_first(decoder.nets[0], image, *border, shape))
    assert len(wanted) >= 20
    np.testing.assert_allclose(decoder.propose(image, shape, border, decoder.settings), wanted, rtol=1e-5)


@pytest.mark.parametrize("turn", [0, 1, 2, 3])
def test_pcn_turns_with_the_picture(turn):
    """A quarter turn of the picture, anti-clockwise, turns each face by 90 degrees and moves it along."""
    detector = Detector(need(PCN), device="cpu")
    image = photo("pcn_12.jpg")
    upright = detector(image)
    assert (upright[0].label, len(upright)) == ("face", 2)
    assert sorted(round(float(a), -1) for a in upright.angles) == [-40, 20]
    detections = detector(np.ascontiguousarray(np.rot90(image, turn)))
    assert len(detections) == 2
    centres = upright.rotated[:, :2]
    high, wide = image.shape[:2]
    for _ in range(turn):
        centres = np.stack([centres[:, 1], wide - centres[:, 0]], 1)
        high, wide = wide, high
    for centre, angle, side in zip(centres, upright.angles, upright.rotated[:, 2]):
        i = int(np.linalg.norm(detections.rotated[:, :2] - centre, axis=1).argmin())
        assert np.linalg.norm(detections.rotated[i, :2] - centre) < 0.2 * side
        assert abs((detections.angles[i] - angle - 90 * turn + 180) % 360 - 180) < 20
        assert detections.rotated[i, 2] == pytest.approx(side, rel=0.2)


# Pictures out of pictures


def test_wechats_net_doubles_a_code():
    model = need("models/wechat_qrcode/sr.prototxt")
    detector = Detector(model, model.with_suffix(".caffemodel"), device="cpu")
    image = read_image(need("images/qr_0.png")).convert("L")
    made = detector(image).picture
    assert made.shape == (2 * image.height - 1, 2 * image.width - 1)
    plain = np.asarray(image.resize((made.shape[1], made.shape[0]), Image.Resampling.BICUBIC), int)
    assert np.corrcoef(made.ravel(), plain.ravel())[0, 1] > 0.9
    case = np.load(need("models/opencv_ref/wechat_sr__QR0.npz"))
    detector.decoder.net.forward(data=case["in:data"])
    small = (case["in:data"][0, 0] * 255).round().astype(np.uint8)
    wanted = (case["out:fc"][0, 0] * 255).round().clip(0, 255)
    assert np.abs(detector(small).picture.astype(int) - wanted).max() <= 2


def test_lenet_reads_drawn_digits():
    model = need("models/lenet_v2/lenet.prototxt")
    detector = Detector(model, need("models/lenet_v2/lenet_iter_10000.caffemodel"), device="cpu")
    assert detector.decoder.NAME == "classification"
    font = ImageFont.load_default(22)
    right = 0
    for digit in range(10):
        image = Image.new("L", (28, 28))
        ImageDraw.Draw(image).text((14, 14), str(digit), font=font, fill=255, anchor="mm")
        detections = detector(image)
        assert (detections.kind, len(detections)) == ("classes", 5)
        right += int(detections.labels[0]) == digit
    assert right >= 8  # it takes this font's 6 for a 5
