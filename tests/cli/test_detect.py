"""From a picture to the input of a net, and from its output to detections."""

from __future__ import annotations

import json

import numpy as np
import pytest
from harness import close
from PIL import Image
from shared import need
from tiny_ssd import picture, tiny_net

from boxpresso import BoxpressoError, Detection, Detector, ModelError, Net, detect
from boxpresso.detection import classes
from boxpresso.image import input_array, read_image, resize
from boxpresso.labels import read_labels
from boxpresso.proto import parse_net, to_text
from boxpresso.proto.errors import BoxpressoWarning

# Detections


@pytest.fixture(scope="module")
def net() -> Net:
    return tiny_net()


def test_a_cell_is_found_where_it_is(net):
    (detection,) = detect(net, picture())
    assert (detection.label, detection.box) == (1, pytest.approx((16, 8, 24, 16), abs=1e-4))
    assert detection.score == pytest.approx(1 / (1 + np.exp(-127 / 8)), abs=1e-6)


def test_boxes_are_in_pixels_of_the_picture_not_of_the_input(net):
    wide = np.repeat(picture(scale=4), 3, axis=1)  # 384 x 128
    (detection,) = detect(net, wide)
    assert detection.box == pytest.approx((192, 32, 288, 64), abs=1e-3)


def test_blue_is_channel_0_and_swap_rb_makes_it_red(net):
    red = picture(colour=(255, 0, 0))
    assert detect(net, red) == []
    assert len(detect(net, red, swap_rb=True)) == 1
    assert detect(net, picture(), swap_rb=True) == []


def test_best_first_and_threshold(net):
    two = np.maximum(picture(colour=(0, 0, 131)), picture(cell=(3, 0), colour=(0, 0, 140)))
    detections = detect(net, two)
    assert [d.box[:2] for d in detections] == [pytest.approx((0, 24), abs=1e-4), pytest.approx((16, 8), abs=1e-4)]
    assert detections[0].score > detections[1].score > 0.5
    assert len(detect(net, two, threshold=0.7)) == 1
    assert detect(net, two, threshold=0.95) == []
    assert len(detect(net, two, threshold=0.0)) == 2  # all others are below the net's own 0.01


def test_mean_and_scale_reach_the_net(net):
    assert detect(net, picture(), mean=(130, 0, 0)) == []
    assert len(detect(net, picture(), mean=(0, 200, 200))) == 1
    dark = picture(colour=(0, 0, 70))
    assert detect(net, dark) == []
    assert len(detect(net, dark, scale=2)) == 1


def test_size_reshapes_the_net():
    net = tiny_net()
    detections = detect(net, picture(scale=2), size=(64, 32))  # two cells of 8 where one was
    assert sorted(d.box for d in detections) == [pytest.approx((x, 16, x + 8, 32), abs=1e-4) for x in (32, 40)]
    assert net.blobs["data"].shape == (1, 3, 32, 64)
    assert len(detect(net, picture(), size=(32, 32))) == 1


def test_a_net_for_grey_pictures():
    (detection,) = detect(tiny_net(1), picture(colour=(200, 200, 200)))
    assert detection.box == pytest.approx((16, 8, 24, 16), abs=1e-4)


@pytest.mark.parametrize("kind", [str, "path", Image.fromarray, np.asarray])
def test_a_picture_is_a_path_an_image_or_an_array(net, tmp_path, kind):
    Image.fromarray(picture()).save(tmp_path / "a.png")
    source = str(tmp_path / "a.png") if kind is str else tmp_path / "a.png" if kind == "path" else kind(picture())
    assert len(detect(net, source)) == 1


@pytest.mark.parametrize("wrong", [np.zeros((4, 4, 3)), np.zeros((4, 4, 2), np.uint8), np.zeros((0, 4, 3), np.uint8)])
def test_an_array_that_is_no_picture_is_refused(net, wrong):
    with pytest.raises(BoxpressoError, match="uint8 array"):
        detect(net, wrong)


def test_boxes_that_are_not_finite_are_left_out_with_a_warning():
    net = tiny_net()
    net.params["loc"][1].data[3] = 1e4  # exp overflows
    with pytest.warns(BoxpressoWarning, match="1 of 1 detections have no finite box"):
        assert detect(net, picture()) == []


def test_nets_that_give_no_detections_are_refused_by_name():
    scores = (
        'name: "c" layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }'
    )
    with pytest.raises(ModelError, match=r"no layer of type DetectionOutput.*outputs are: d"):
        detect(Net(parse_net(scores), device="cpu"), picture())
    with pytest.raises(ModelError, match=r"bbox_pred.*come together"):
        detect(Net(parse_net(scores.replace('top: "d"', 'top: "bbox_pred"')), device="cpu"), picture())


def test_a_net_with_two_inputs_is_refused():
    net = tiny_net()
    net.inputs.append("priors")
    with pytest.raises(ModelError, match="only input is a picture"):
        detect(net, picture())


def test_fast_math_is_the_nets_and_so_is_no_choice_for_a_net_that_is_there(net, tmp_path):
    for options in ({"fast_math": True}, {"precision": "bf16"}):
        with pytest.raises(ModelError, match="give them to Net"):
            Detector(net, **options)
        with pytest.raises(ModelError, match="give them to Net"):
            Detector([net], **options)
    (tmp_path / "net.prototxt").write_text(to_text(net.param))
    net.save(tmp_path / "net.caffemodel")
    fast = Detector(tmp_path / "net.prototxt", tmp_path / "net.caffemodel", device="cpu", fast_math=True)
    detections, wanted = fast(picture()), Detector(net)(picture())
    assert [one.box for one in detections] == [one.box for one in wanted]
    with pytest.raises(ModelError, match="precision must be"):
        Detector(tmp_path / "net.prototxt", tmp_path / "net.caffemodel", device="cpu", precision="half")


def test_a_mean_that_does_not_fit_is_refused(net):
    with pytest.raises(ModelError, match=r"shape \(2,\).*3 channels"):
        detect(net, picture(), mean=(1, 2))
    with pytest.raises(ModelError, match=r"shape \(3, 0, 7\), without a number"):
        detect(net, picture(), mean=np.zeros((3, 0, 7)))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_mean_or_a_scale_that_is_not_finite_is_refused(net, number):
    """All pictures would be without detections."""
    for mean in (number, (1, 2, number), np.full((3, 4, 5), number)):
        with pytest.raises(ModelError, match="the mean has numbers that are not finite"):
            detect(net, picture(), mean=mean)
    for scale in (number, 0):
        with pytest.raises(BoxpressoError, match="scale must be a finite number other than 0"):
            detect(net, picture(), scale=scale)


@pytest.mark.parametrize("name", ["QR0", "QR1"])
def test_qr_codes_are_found_where_opencv_finds_them(name):
    """The real detector of WeChat's QR codes: preprocessing and boxes against what OpenCV 4.12 recorded."""
    model = need("models/wechat_qrcode/detect.prototxt")
    case = np.load(need(f"models/opencv_ref/wechat_detect__{name}.npz"))
    path = need(f"images/{name[:2].lower()}_{name[2]}.png")
    image = read_image(path)
    made = input_array(image, 1, 384, 384, scale=1 / 255)
    assert np.abs(made - case["in:data"]).max() < 1.5 / 255  # OpenCV rounds to 8 bits twice on its way
    detections = detect(Net(model, model.with_suffix(".caffemodel")), path, scale=1 / 255)
    rows = case["out:detection_output"].reshape(-1, 7)
    rows = rows[rows[:, 2] > 0.5]
    assert [d.label for d in detections] == rows[:, 1].tolist()
    for detection, row in zip(detections, rows):
        assert detection.score == pytest.approx(row[2], abs=1e-3)
        assert detection.box == pytest.approx(row[3:] * np.tile(image.size, 2), abs=1.0)


# Pictures


def test_reading_turns_as_exif_says(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright: turn by 90 degrees to the right
    Image.new("RGB", (30, 20)).save(tmp_path / "turned.jpg", exif=exif)
    assert read_image(tmp_path / "turned.jpg").size == (20, 30)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr"])
def test_every_mode_becomes_grey_or_colour(tmp_path, mode):
    image = Image.new("RGB", (6, 4), (255, 255, 255)).convert(mode)
    path = tmp_path / ("a.tif" if mode in ("CMYK", "YCbCr") else "a.png")
    image.save(path)
    read = read_image(path)
    assert read.mode in ("L", "RGB")
    assert np.asarray(read.convert("L")).min() >= 254


def test_16_bits_are_scaled_not_cut(tmp_path):
    values = np.array([[0, 257, 32768, 65535]], np.uint16)
    Image.fromarray(values).save(tmp_path / "deep.png")
    assert np.asarray(read_image(tmp_path / "deep.png")).tolist() == [[0, 1, 128, 255]]
    values = np.random.default_rng(0).integers(0, 65536, (700, 801)).astype(np.uint16)  # in several strips
    Image.fromarray(values).save(tmp_path / "deep.png")
    assert np.array_equal(read_image(tmp_path / "deep.png"), values >> 8)  # the upper half, as OpenCV


def test_transparency_is_dropped(tmp_path):
    Image.new("RGBA", (2, 2), (10, 20, 30, 0)).save(tmp_path / "a.png")
    assert read_image(tmp_path / "a.png").getpixel((0, 0)) == (10, 20, 30)


def test_what_is_no_picture_is_named(tmp_path):
    (tmp_path / "text.png").write_text("no picture")
    Image.new("RGB", (64, 64), "red").save(tmp_path / "whole.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:80])
    Image.fromarray(np.ones((2, 2), np.float32)).save(tmp_path / "float.tif")
    for name, said in (
        ("text.png", "is not an image that Pillow can read"), ("cut.png", "cannot read the picture"),
        ("none.png", "there is no picture"), ("float.tif", "floating-point"), ("", "is a folder"),
    ):  # fmt: skip
        with pytest.raises(BoxpressoError, match=said) as caught:
            read_image(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)


def test_resize_is_bilinear_between_centres():
    ramp = np.arange(4, dtype=np.float32).reshape(1, 4, 1)
    assert resize(ramp, 8, 1)[0, :, 0].tolist() == [0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3]
    assert resize(ramp, 2, 1)[0, :, 0].tolist() == [0.5, 2.5]
    assert resize(ramp, 1, 3)[:, 0, 0].tolist() == [1.5] * 3
    noise = np.random.default_rng(0).random((5, 7, 3), np.float32)
    np.testing.assert_array_equal(resize(noise, 7, 5), noise)
    turned = resize(noise.transpose(1, 0, 2), 11, 9)
    np.testing.assert_allclose(turned.transpose(1, 0, 2), resize(noise, 9, 11), atol=1e-6)


def test_the_input_is_blue_first_less_the_mean_then_scaled():
    pixel = np.array([[[10, 20, 30]]], np.uint8)
    made = input_array(pixel, 3, 1, 1, mean=(1, 2, 3), scale=0.5)
    assert made.dtype == np.float32
    assert made.ravel().tolist() == [14.5, 9, 3.5]
    assert input_array(pixel, 3, 1, 1, mean=(1, 2, 3), scale=0.5, swap_rb=True).ravel().tolist() == [4.5, 9, 13.5]
    assert input_array(pixel, 1, 1, 1, mean=8).ravel().tolist() == [10]  # 0.299 R + 0.587 G + 0.114 B


def test_a_mean_picture_from_a_file(tmp_path):
    mean = np.random.default_rng(0).random((3, 4, 6)).astype(np.float32)
    np.save(tmp_path / "mean.npy", mean)
    grey = np.full((4, 6, 3), 100, np.uint8)
    np.testing.assert_allclose(input_array(grey, 3, 6, 4, mean=tmp_path / "mean.npy")[0], 100 - mean, rtol=1e-6)
    smaller = input_array(grey, 3, 3, 2, mean=tmp_path / "mean.npy")[0]
    np.testing.assert_allclose(smaller, 100 - mean.reshape(3, 2, 2, 3, 2).mean((2, 4)), rtol=1e-6)


# Labels


@pytest.mark.parametrize(
    ("text", "classes", "labels"),
    [
        ("background\ncat\ndog\n", 3, {0: "background", 1: "cat", 2: "dog"}),
        ("cat\ndog\n", 3, {1: "cat", 2: "dog"}),  # one line short: without the background
        ("cat\ndog", 2, {0: "cat", 1: "dog"}),
        ("\ufeffcat\r\n\r\ndog\r\n\r\n", None, {0: "cat", 2: "dog"}),
        ('item { name: "n1" label: 4 display_name: "Katze" } item { name: "dog" label: 7 }', 9, {4: "Katze", 7: "dog"}),
    ],
)
def test_labels(tmp_path, text, classes, labels):
    (tmp_path / "labels").write_bytes(text.encode())
    assert read_labels(tmp_path / "labels", classes) == labels


def test_labels_that_do_not_fit(tmp_path):
    path = tmp_path / "labels.txt"
    path.write_text("a\nb\nc\nd\n")
    with pytest.warns(BoxpressoWarning, match="4 names, the net 21 classes"):
        assert read_labels(path, 21)[3] == "d"
    for content, said in (
        (b" \n", "empty"),
        (b"\xff\xfe\xfd", "not a text"),
        (b'item { name: "a" }', "has no label; write"),
    ):
        path.write_bytes(content)
        with pytest.raises(ModelError, match=said):
            read_labels(path)
    with pytest.raises(ModelError, match="cannot read the labels"):
        read_labels(tmp_path / "none")


def test_real_label_maps():
    names = read_labels(need("corpus/weiliu89+caffe/data/VOC0712/labelmap_voc.prototxt"), 21)
    assert (len(names), names[0], names[15]) == (21, "background", "person")


def test_a_detection_is_plain_data():
    detection = Detection(1, 0.5, (1.0, 2.0, 3.0, 4.0))
    plain = {name: value for name, value in json.loads(json.dumps(vars(detection))).items() if value is not None}
    assert plain == {"class_id": 1, "score": 0.5, "box": [1.0, 2.0, 3.0, 4.0]}
    assert (detection.label, detection.number, detection.name) == (1, 1, None)  # older names


# The R-CNN family. The net below says the same everywhere: each square of 100 pixels of its input has a region of 96 pixels
# and one slightly larger; each is of class 2 with a probability of 0.8 or, if it is the larger, too.

RCNN = """
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 224 dim: 224 } } }
layer { name: "info" type: "Input" top: "im_info" input_param { shape { dim: 1 dim: INFO } } }
layer { name: "rpn" type: "Convolution" bottom: "data" top: "rpn" convolution_param { num_output: 4 kernel_size: 1 stride: 100
  weight_filler { type: "constant" value: 0 } bias_filler { type: "constant" value: 0.5 } } }
layer { name: "moves" type: "Convolution" bottom: "data" top: "moves" convolution_param { num_output: COUNT kernel_size: 1
  stride: 100 weight_filler { type: "constant" value: 0 } } }
layer { name: "proposal" type: "Python" bottom: "rpn" bottom: "moves" bottom: "im_info" top: "rois"
  python_param { module: "MODULE" layer: "ProposalLayer"
  param_str: "{'feat_stride': 100, 'base_size': 96, 'ratios': [1], 'scales': [1, 1.02], 'angles': [0], 'rpn_nms_thresh': 0.99}" } }
POOL
layer { name: "score" type: "InnerProduct" bottom: "pool" top: "cls_score"
  inner_product_param { num_output: 3 weight_filler { type: "constant" value: 0 } } }
layer { name: "cls_prob" type: "Softmax" bottom: "cls_score" top: "cls_prob" }
layer { name: "bbox_pred" type: "InnerProduct" bottom: "pool" top: "bbox_pred"
  inner_product_param { num_output: OFFSETS weight_filler { type: "constant" value: 0 } } }
"""
POOL = """layer { name: "pool" type: "ROIPooling" bottom: "data" bottom: "rois" top: "pool"
  roi_pooling_param { pooled_w: 1 pooled_h: 1 spatial_scale: 1 } }"""
TURNED = """layer { name: "pool" type: "RotateROIPooling" bottom: "data" bottom: "rois" bottom: "im_info" top: "pool"
  rotate_pooling_param { pooled_w: 1 pooled_h: 1 spatial_scale: 1 } }"""


def rcnn(offsets, *, module="rpn.proposal_layer", pool=POOL, info=3, count=8, device="cpu"):
    text = RCNN.replace("MODULE", module).replace("POOL", pool).replace("INFO", str(info)).replace("COUNT", str(count))
    made = Net(parse_net(text.replace("OFFSETS", str(len(offsets)))), device=device)
    made.params["score"][1].data[...] = np.log([0.1, 0.1, 0.8])
    made.params["bbox_pred"][1].data[...] = offsets
    return made


def test_faster_rcnn_by_hand(device):
    """A picture of 300 x 200 becomes 900 x 600: 9 x 6 regions; in it they are 32 pixels wide."""
    net = rcnn([0] * 8 + [0.25, 0, 0, 0], device=device)
    detections = detect(net, np.zeros((200, 300, 3), np.uint8))
    assert net.blobs["data"].shape == (1, 3, 600, 900)
    assert np.array_equal(net.blobs["im_info"].data, [[600, 900, 3]])
    close(np.asarray(net.blobs["data"].data)[0, :, 9, 9], [-102.9801, -115.9465, -122.7717])
    assert net.blobs["rois"].shape == (2 * 54, 5)
    assert len(detections) == 54  # of two that overlap the first
    assert {d.label for d in detections} == {2}
    assert all(abs(d.score - 0.8) < 1e-6 for d in detections)
    size = 96 / 3 + 1  # a decoded region ends one pixel later than its anchor, as in Fast R-CNN
    left = 100 / 3 + 0.25 * size
    (second,) = (d for d in detections if d.box[1] < 1 and abs(d.box[0] - left) < 1)
    close(np.array(second.box), [left, 0, left + size, size])
    assert max(d.box[2] for d in detections) <= 299  # clipped
    assert detect(net, np.zeros((200, 300, 3), np.uint8), threshold=0.85) == []


def test_the_longest_side_and_a_size_of_ones_own(device):
    net = rcnn([0] * 12, device=device)
    detect(net, np.zeros((100, 400, 3), np.uint8))
    assert net.blobs["data"].shape == (1, 3, 250, 1000)
    assert np.array_equal(net.blobs["im_info"].data, [[250, 1000, 2.5]])
    detections = detect(net, np.zeros((100, 400, 3), np.uint8), size=(800, 300), mean=0)
    assert net.blobs["data"].shape == (1, 3, 300, 800)
    assert not np.asarray(net.blobs["data"].data).any()
    last = max(detections, key=lambda d: (d.box[1], d.box[0]))
    close(np.array(last.box), [700 / 2, 200 / 3, 350 + 96 / 2 + 1, 99])


def test_rfcn_has_offsets_of_background_and_object(device):
    agnostic = detect(rcnn([0] * 4 + [0.25, 0, 0, 0], device=device), np.zeros((200, 300, 3), np.uint8))
    assert agnostic == detect(rcnn([0] * 8 + [0.25, 0, 0, 0], device=device), np.zeros((200, 300, 3), np.uint8))
    with pytest.raises(ModelError, match="offsets of 4 classes, 'cls_prob' scores of 3"):
        detect(rcnn([0] * 16), np.zeros((200, 300, 3), np.uint8))


def test_pvanet_has_a_scale_for_each_direction():
    net = rcnn([0] * 12, info=6)
    detect(net, np.zeros((200, 300, 3), np.uint8))
    assert net.blobs["data"].shape == (1, 3, 576, 896)
    close(np.asarray(net.blobs["im_info"].data), [[576, 896, 896 / 300, 2.88, 896 / 300, 2.88]])


def test_rotated_boxes(device):
    net = rcnn(
        [0] * 10 + [0, 0, 0, 0, np.pi / 6], module="rotation.rproposal_layer", pool=TURNED, count=10, device=device
    )
    detections = detect(net, np.zeros((200, 300, 3), np.uint8))
    assert net.blobs["rois"].shape == (2 * 54, 6)
    assert len(detections) == 54
    (first,) = (d for d in detections if d.rotated[0] < 32 and d.rotated[1] < 32)
    close(np.array(first.rotated), [47 / 3, 47 / 3, 32, 32, 30])
    half = 16 * (np.cos(np.pi / 6) + np.sin(np.pi / 6))
    close(np.array(first.box), [47 / 3 - half, 47 / 3 - half, 47 / 3 + half, 47 / 3 + half])


def test_no_region_is_no_detection(device):
    net = rcnn([0] * 12, device=device)
    net.layer_dict["proposal"].settings["rpn_min_size"] = 500
    assert detect(net, np.zeros((200, 300, 3), np.uint8)) == []
    assert detect(net, np.zeros((200, 300, 3), np.uint8), size=(300, 200)) == []


def test_how_many_classes():
    assert classes(rcnn([0] * 8)) == 3
    assert classes(tiny_net()) == 2


def test_fast_rcnn_needs_regions_from_elsewhere():
    text = RCNN.replace("MODULE", "rpn.proposal_layer").replace("POOL", POOL).replace("INFO", "3").replace("COUNT", "8")
    text = text.replace("OFFSETS", "12").replace(
        'layer { name: "info" type: "Input" top: "im_info"', 'layer { name: "info" type: "Input" top: "rois"'
    )
    text = text[: text.index('layer { name: "rpn"')] + text[text.index(POOL) :]
    with pytest.raises(ModelError, match=r"bbox_pred.*regions that the net proposes itself.*inputs are: data, rois"):
        detect(Net(parse_net(text.replace("dim: 1 dim: 3 }", "dim: 2 dim: 5 }")), device="cpu"), picture())
