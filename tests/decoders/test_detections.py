"""The one type of detections, the Detector, and how a decoder is chosen."""

from __future__ import annotations

import io
import json
import sys
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from decoder_nets import net_of
from PIL import Image
from shared import need
from tiny_ssd import picture, tiny_net, write_tiny

from boxpresso import BoxpressoError, Detection, Detections, Detector, ModelError, Net, detect
from boxpresso.__main__ import main
from boxpresso.decoders import HOMES, decoders, nearest, recognise
from boxpresso.decoders.detections import DetailedDetection, RotatedDetection, as_detections
from boxpresso.decoders.files import pairs_of
from boxpresso.decoders.saving import as_json, coco_results, run_lengths, voc_results, voc_xml
from boxpresso.detection import UnrecognisedError
from boxpresso.drawing import colour, draw_detections
from boxpresso.evaluation import evaluate
from boxpresso.image import read_image
from boxpresso.proto import parse_net
from boxpresso.proto.errors import BoxpressoWarning


def three(**more) -> Detections:
    boxes = [[0, 0, 10, 10], [1, 0, 11, 10], [40, 40, 60, 50]]
    return Detections(boxes, [0.5, 0.9, 0.7], [1, 2, 1], {1: "cat"}, **more)


# Detections


def test_shapes_and_dtypes():
    detections = three(landmarks=np.zeros((3, 5, 2)), masks=np.zeros((3, 4, 6)))
    assert [a.dtype for a in (detections.boxes, detections.scores, detections.labels, detections.masks)] == [
        np.float32,
        np.float32,
        np.int64,
        bool,
    ]
    assert (len(detections), detections.landmarks.shape) == (3, (3, 5, 2))
    assert Detections.none().boxes.shape == (0, 4)
    assert Detections([], [], [], landmarks=[]).landmarks.shape == (0, 0, 2)
    for wrong in ({"angles": [1, 2]}, {"quadrilaterals": np.zeros((3, 4))}, {"masks": np.zeros((2, 4, 6))}):
        with pytest.raises(BoxpressoError, match="of 3 detections must have the shape"):
            three(**wrong)
    with pytest.raises(BoxpressoError, match=r"boxes of 3 detections .* got \(3, 5\)"):
        Detections(np.zeros((3, 5)), [1, 1, 1], [1, 1, 1])


def test_a_box_larger_than_float32_is_infinite():
    """Without a word of numpy's: weights that are no good, as random ones, give such boxes."""
    assert Detections([[0, 0, 1e60, 1]], [0.5], [1]).boxes.tolist() == [[0, 0, np.inf, 1]]


def test_indexing_filtering_joining():
    detections = three(landmarks=np.arange(30).reshape(3, 5, 2))
    assert detections[-1].label == "cat"
    assert detections[1].label == 2
    assert detections[[2, 0]].scores.tolist() == pytest.approx([0.7, 0.5])
    assert detections[detections.labels == 1].landmarks[1, 0].tolist() == [20, 21]
    assert len(detections[1:]) == 2
    with pytest.raises(IndexError):
        detections[3]
    assert len(detections.filter(0.6)) == 2
    assert detections.filter(labels=["cat"]).labels.tolist() == [1, 1]
    assert detections.filter(labels=[2]).labels.tolist() == [2]
    assert [detections.filter(labels=one).labels.tolist() for one in ("cat", 2, np.int64(1))] == [[1, 1], [2], [1, 1]]
    both = Detections.concatenate([detections, detections[:1], Detections.none()])
    assert (len(both), both.landmarks.shape) == (4, (4, 5, 2))
    with pytest.raises(BoxpressoError, match="some of the detections have landmarks"):
        Detections.concatenate([detections, three()])
    with pytest.raises(BoxpressoError, match="label 1 is 'cat' in one"):
        Detections.concatenate(
            [detections, Detections([[0, 0, 1, 1]], [1], [1], {1: "dog"}, landmarks=np.zeros((1, 5, 2)))]
        )
    assert Detections.concatenate([]).boxes.shape == (0, 4)


def test_suppression_by_class_across_and_of_rotated_boxes():
    detections = three()
    assert detections.suppress(0.5).scores.tolist() == pytest.approx([0.9, 0.7, 0.5])
    assert detections.suppress(0.5, across=True).labels.tolist() == [2, 1]
    assert len(detections.suppress(9 / 11 + 1e-3, across=True)) == 3
    cross = np.array([[[0, 4], [20, 4], [20, 6], [0, 6]], [[9, 15], [9, -5], [11, -5], [11, 15]]], float)
    crossed = Detections([[0, 4, 20, 6], [9, -5, 11, 15]], [0.9, 0.8], [1, 1], angles=[0, 90], quadrilaterals=cross)
    assert len(crossed.suppress(0.2)) == 2  # they share 4 of 76 pixels
    assert len(crossed.suppress(0.04)) == 1


def test_a_row_is_plain_values():
    assert three()[1] == Detection(2, pytest.approx(0.9), (1, 0, 11, 10))
    cat = three(landmarks=[[[1, 2], [np.nan, 3]]] * 3)[0]
    assert isinstance(cat, DetailedDetection)
    assert (cat.label, cat.number, cat.landmarks) == ("cat", 1, ((1, 2), None))
    turned = Detections([[0, 0, 4, 4]], [1], [3], angles=[30], quadrilaterals=[[[0, 1], [3, 1], [3, 3], [0, 3]]])[0]
    assert isinstance(turned, RotatedDetection)
    assert turned.rotated == (1.5, 2, 2, 3, 30)
    back = as_detections([turned, turned])
    np.testing.assert_allclose(back.rotated, [[1.5, 2, 2, 3, 30]] * 2, rtol=1e-6)
    assert as_detections([Detection(1, 0.5, (0, 0, 1, 1))], {1: "a"})[0].label == "a"
    assert as_detections([cat])[0] == cat
    with pytest.raises(BoxpressoError, match="number of the class 'cat' is not known"):
        Detection("cat", 1.0, (0, 0, 1, 1))
    assert repr(three()[0]) == "Detection(class_id=1, score=0.5, box=(0.0, 0.0, 10.0, 10.0), class_name='cat')"


def test_saving():
    mask = np.zeros((1, 4, 5), bool)
    mask[0, 1:3, 2:4] = True
    detections = Detections([[2, 1, 4, 3]], [0.5], [7], masks=mask, landmarks=[[[1, 2], [np.nan, 0]]])
    (row,) = json.loads(json.dumps(as_json(detections)))
    assert row["landmarks"] == [[1, 2], None]
    assert row["mask"] == {"size": [4, 5], "counts": [9, 2, 2, 2, 5]}
    assert run_lengths(np.ones((2, 2), bool)) == {"size": [2, 2], "counts": [0, 4]}
    (result,) = coco_results(detections, "a/COCO_val2014_000000000042.jpg")
    assert result["image_id"] == 42
    assert result["bbox"] == [2, 1, 2, 2]
    assert result["keypoints"] == [1, 2, 2, 0, 0, 0]
    text = ElementTree.fromstring(voc_xml(detections, "x/a<b.jpg", 5, 4))
    assert [e.text for e in text.find("object/bndbox")] == ["3", "2", "4", "3"]
    assert (text.findtext("filename"), text.findtext("object/name")) == ("a<b.jpg", "label 7")
    thin = ElementTree.fromstring(voc_xml(Detections([[3.6, 0, 4.4, 4]], [0.5], [1]), "a.jpg", 9, 4))
    assert [e.text for e in thin.find("object/bndbox")] == ["5", "1", "5", "4"]  # a pixel wide, not -1


def test_names_with_blanks_in_voc_results_are_told():
    """VOC's development kit and numpy.loadtxt split at them."""
    one = Detections([[0, 0, 9, 9]], [0.5], [1])
    with pytest.warns(BoxpressoWarning, match="1 pictures have blanks in their names, such as 'my cat'"):
        files = voc_results(["a", "my cat"], [one, one], {1: "cat"})
    assert files["comp4_det_test_cat.txt"].count("\n") == 2


def test_no_class_of_voc_results_takes_the_place_of_another():
    found = Detections(np.zeros((4, 4)), [0.5, 0.6, 0.7, 0.8], [1, 2, 3, 4])
    files = voc_results(["a"], [found], {1: "crane", 2: "a/b", 3: "a_b", 4: "crane"})
    scores = {name: [float(line.split()[1]) for line in text.splitlines()] for name, text in files.items()}
    wanted = {"crane": [0.5, 0.8], "a_b": [0.6], "a_b-3": [0.7]}
    assert scores == {f"comp4_det_test_{name}.txt": values for name, values in wanted.items()}


def test_one_vocabulary_and_its_older_names():
    """class_id, class_name, score, box: in rows, arrays and JSON; older names say the same."""
    detections = three()
    assert (detections.class_ids.tolist(), detections.class_names) == ([1, 2, 1], ["cat", None, "cat"])
    assert detections.labels is detections.class_ids
    for one, row in zip(detections, detections.to_json(), strict=True):
        assert (row["class_id"], row["class_name"], row["box"]) == (one.class_id, one.class_name, list(one.box))
        assert (row["label"], row["name"]) == (one.class_id, one.class_name) == (one.number, one.name)
    assert [one.label for one in detections] == ["cat", 2, "cat"]


def test_the_picture_is_drawn_shown_and_saved(tmp_path):
    path = tmp_path / "street.png"
    Image.new("RGB", (120, 90), "white").save(path)
    for image in (str(path), path, path.read_bytes(), np.full((90, 120, 3), 255, np.uint8)):
        drawing = three(image=image).plot()
        assert drawing.size == (120, 90)
        assert (np.asarray(drawing) != 255).any()
    detections = three(image=path)
    detections.save(tmp_path / "out.png")
    detections.save(tmp_path / "out.jpg")
    detections.save(tmp_path / "out.json")
    assert np.array_equal(np.asarray(Image.open(tmp_path / "out.png")), np.asarray(detections.plot()))
    assert json.loads((tmp_path / "out.json").read_text()) == detections.to_json()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.jpg", "out.json", "out.png", "street.png"]
    with pytest.raises(BoxpressoError, match=r"out\.txt ends in no picture's ending"):
        detections.save(tmp_path / "out.txt")
    with pytest.raises(BoxpressoError, match="cannot write"):
        detections.save(tmp_path / "none" / "out.png")
    with pytest.raises(BoxpressoError, match="picture of these detections is not known"):
        three().plot()
    assert detections[:1].image is path
    assert Detections.concatenate([detections, three(image=str(path))]).image is None
    assert three().plot(path).size == (120, 90)


def test_a_notebook_shows_a_drawing_and_a_table():
    detections = Detections([[1, 2, 3, 4]], [0.5], [1], {1: "<b>cat"})
    assert detections._repr_png_() is None
    assert "<td>&lt;b&gt;cat</td><td>0.500</td><td>1.0</td>" in detections._repr_html_()
    assert "<img" not in detections._repr_html_()
    drawn = Detections([[1, 2, 3, 4]], [0.5], [1], image=np.zeros((3000, 1500, 3), np.uint8))
    with Image.open(io.BytesIO(drawn._repr_png_())) as image:
        assert image.size == (400, 800)
    assert '<img src="data:image/png;base64,' in drawn._repr_html_()
    many = Detections(np.zeros((50, 4)), np.ones(50), np.ones(50))._repr_html_()
    assert (many.count("<tr>"), "and 30 more" in many) == (21, True)
    gone = Detections([[1, 2, 3, 4]], [0.5], [1], image="no/such.png")
    assert "<img" not in gone._repr_html_()


def test_tables_of_others():
    pandas = pytest.importorskip("pandas")
    table = three(angles=[1, 2, 3]).to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert list(table) == ["class_id", "class_name", "score", "xmin", "ymin", "xmax", "ymax", "angle"]
    assert table[table.class_id == 1].xmax.tolist() == [10, 60]
    assert three().to_coco(7, {1: 17, 2: 18})[2] == {
        "image_id": 7,
        "category_id": 17,
        "bbox": [40, 40, 20, 10],
        "score": 0.7,
    }


def test_supervision():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that OpenCV is missing
        supervision = pytest.importorskip("supervision")
    quads = np.arange(24).reshape(3, 4, 2)
    theirs = three(quadrilaterals=quads, masks=np.zeros((3, 4, 6), bool)).to_supervision()
    assert isinstance(theirs, supervision.Detections)
    assert (theirs.class_id.tolist(), theirs.data["class_name"].tolist()) == ([1, 2, 1], ["cat", "label 2", "cat"])
    assert (theirs.xyxy.shape, theirs.mask.shape, theirs.data["xyxyxyxy"].shape) == ((3, 4), (3, 4, 6), (3, 4, 2))
    assert len(theirs[theirs.confidence > 0.6]) == 2


def test_a_package_that_is_missing_is_named(monkeypatch):
    for name in ("pandas", "supervision"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(BoxpressoError, match=f"to_{name} needs {name}: pip install {name}"):
            getattr(three(), f"to_{name}")()


def test_evaluation_takes_detections():
    truth = [[(1, 0, 0, 10, 10), (1, 40, 40, 60, 50)]]
    named = evaluate([three()], truth)
    listed = evaluate([list(three())], truth)
    assert named.curves[2].right.tolist() == listed.curves[2].right.tolist() == [False]
    assert named.aps[1] == listed.aps[1] == 1


def test_drawing_outlines_landmarks_masks_and_classes():
    image = Image.new("RGB", (200, 160), "white")
    quad = [[[100, 20], [180, 80], [150, 120], [70, 60]]]
    detections = Detections(
        [[70, 20, 180, 120]], [0.9], [1], angles=[-37], quadrilaterals=quad, landmarks=[[[30, 140]]]
    )
    pixels = np.asarray(draw_detections(image, detections))
    assert tuple(pixels[90, 110]) == colour(1)  # on a side of it, not of the box around
    assert tuple(pixels[118, 72]) == (255, 255, 255)
    assert (pixels[136:144, 26:34] != 255).any()
    mask = np.zeros((1, 160, 200), bool)
    mask[0, 100:] = True
    segments = Detections([[0, 100, 200, 160]], [0.9], [2], masks=mask, kind="segments")
    pixels = np.asarray(draw_detections(image, segments))
    assert (pixels[150, ::10] != 255).any(1).all()
    assert (pixels[10] == 255).all()
    classes = Detections([[0, 0, 200, 160]] * 2, [0.9, 0.1], [3, 4], {3: "cat"}, kind="classes")
    pixels = np.asarray(draw_detections(image, classes))
    assert (pixels[:40, :60] != 255).any()
    assert (pixels[100:] == 255).all()
    result = np.full((10, 20, 3), 7, np.uint8)
    made = draw_detections(image, Detections.none(kind="picture", picture=result))
    assert (made.size, np.asarray(made).max()) == ((20, 10), 7)


# The Detector


def test_a_detector_is_built_once(tmp_path):
    model, weights = write_tiny(tmp_path)
    detector = Detector(model, weights, labels=["background", "cell"], threshold=0.6, device="cpu")
    assert (detector.decoder.NAME, detector.settings.threshold, detector.names[1]) == ("ssd", 0.6, "cell")
    (detection,) = detector(picture())
    assert (detection.label, detection.number, detection.name) == ("cell", 1, "cell")
    assert detection.box == pytest.approx((16, 8, 24, 16), abs=1e-4)
    assert detector(picture(colour=(0, 0, 131))).boxes.shape == (0, 4)
    assert "blue, green, red" in detector.describe()


def test_labels_of_detect():
    net = tiny_net()
    assert detect(net, picture())[0].label == 1
    assert detect(net, picture(), labels={1: "cell"})[0].label == "cell"
    assert detect(net, picture(), labels=["none", "cell"])[0].label == "cell"
    assert detect(net, picture(), labels=np.array(["none", "cell"]))[0].label == "cell"


def test_a_batch_is_as_one_by_one():
    detector = Detector(tiny_net())
    pictures = [picture(cell=(0, 1)), picture(scale=3, cell=(2, 2)), picture(colour=(0, 0, 0)), picture(cell=(3, 0))]
    together = detector.batch(pictures)
    assert [detections.boxes.tolist() for detections in together] == [detector(one).boxes.tolist() for one in pictures]
    assert [len(detections) for detections in together] == [1, 1, 0, 1]
    assert detector.batch([]) == []


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 3e38])
def test_outputs_that_are_no_numbers_are_told_once(wrong):
    """By what `Detector` says of them, and by nothing that numpy says."""
    detector = Detector(net_of({"boxes": (1, 4420, 4), "scores": (1, 4420, 2)}, (240, 320), last="Softmax"))
    values = {"boxes": np.full((1, 4420, 4), wrong, np.float32), "scores": np.tile(np.float32([0, 1]), (1, 4420, 1))}
    detector.decoder.run = lambda inputs, settings: values
    with pytest.warns(BoxpressoWarning, match="have no finite box and are left out: are the weights sound") as warned:
        assert len(detector(np.zeros((9, 9, 3), np.uint8))) == 0
    assert len(warned) == 1


def test_settings_in_place_of_the_decoders_own():
    net = net_of({"boxes": (1, 4420, 4), "scores": (1, 4420, 2)}, (240, 320))
    own = Detector(net).settings
    assert (own.mean, own.swap_rb, own.threshold) == (127.0, True, 0.7)
    other = Detector(net, swap_rb=False, mean=(1, 2, 3), threshold=0.0).settings
    assert (other.mean, other.swap_rb, other.threshold, other.scale) == ((1, 2, 3), False, 0.0, 1 / 128)


def test_what_is_not_recognised_names_the_nearest():
    net = net_of({"scores": (1, 99, 2), "boxes": (1, 99, 4)})
    assert recognise([net]) is None
    with pytest.raises(UnrecognisedError) as caught:
        Detector(net)
    message = str(caught.value)
    assert "boxes (1, 99, 4), scores (1, 99, 2)" in message
    assert "ultralight: P = 354, the number of priors" in message
    assert "--as NAME (decoder=NAME in Python)" in message
    assert all(name in message for name in HOMES)
    assert [decoder.NAME for decoder, missing in nearest([net], 30) if not missing] == []
    with pytest.raises(ModelError, match=r"no decoder 'retina'; did you mean retinaface\?"):
        Detector(net, decoder="retina")
    for name in HOMES:
        with pytest.raises(ModelError):
            Detector(net, decoder=name)


def test_each_decoder_is_a_file_and_says_what_it_is():
    for name, decoder in zip(HOMES, decoders()):
        assert name == decoder.NAME
        assert decoder.TITLE
        assert decoder.__doc__
        assert "Source" in decoder.__doc__
    assert len({module for module, _ in HOMES.values()}) == len(HOMES)


# Files


def test_the_files_of_a_folder_are_paired_by_name(tmp_path):
    for name in ("det1.prototxt", "det1_.prototxt", "det1_.caffemodel", "det2.prototxt", "det2_half.caffemodel",
                 "P-1.prototxt", "P-2.prototxt", "P.caffemodel", "P-3.prototxt", "P-3.caffemodel", "read.me"):  # fmt: skip
        (tmp_path / name).touch()
    pairs = {model.name: weights.name for model, weights in pairs_of(tmp_path)}
    assert pairs == {
        "det1_.prototxt": "det1_.caffemodel",
        "det2.prototxt": "det2_half.caffemodel",
        "P-1.prototxt": "P.caffemodel",
        "P-2.prototxt": "P.caffemodel",
        "P-3.prototxt": "P-3.caffemodel",
    }
    with pytest.raises(ModelError, match="0 prototxts and 0 files of weights"):
        pairs_of(need("golden"))


def test_lists_of_nets(tmp_path):
    model, weights = write_tiny(tmp_path)
    with pytest.raises(ModelError, match="2 nets need as many files of weights, or one for all; got 3"):
        Detector([model, model], [weights] * 3)
    with pytest.raises(ModelError, match="no weights are given"):
        Detector(model)
    with pytest.raises(ModelError, match="no net is given"):
        Detector([])
    with pytest.raises(ModelError, match="the decoder ssd reads one net, got 2"):
        Detector([model, model], weights, decoder="ssd")
    assert Detector([model], weights).decoder.NAME == "ssd"


def test_a_net_that_takes_one_picture_alone_gets_them_one_by_one():
    """RetinaFace's Reshape layers fix the number of pictures."""
    model = need("models/retinaface_mnet25/mnet.prototxt")
    detector = Detector(model, model.with_suffix(".caffemodel"), device="cpu", size=(320, 320))
    pictures = [read_image(need(f"images/{name}")) for name in ("mtcnn_test.jpg", "mtcnn_kp_test2.jpg")]
    together = detector.batch(pictures)
    assert [len(detections) for detections in together] == [1, 1]
    for detections, one in zip(together, pictures):
        np.testing.assert_array_equal(detections.landmarks, detector(one).landmarks)


def test_landmarks_after_a_face_detector():
    """The box that the first net finds is what the second sees; its points are parts of that box."""
    values = np.tile([0.25, 0.5], 68)
    text = """layer { name: "in" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 16 dim: 16 } } }
    layer { name: "points" type: "InnerProduct" bottom: "data" top: "points" inner_product_param { num_output: 136 } }"""
    points = Net(parse_net(text), device="cpu")
    points.params["points"][0].data[...] = 0
    points.params["points"][1].data[...] = values
    detector = Detector([tiny_net(), points])
    assert (detector.decoder.NAME, len(detector.decoder.nets)) == ("landmarks", 2)
    (face,) = detector(picture(scale=10))
    assert face.box == pytest.approx((160, 80, 240, 160), abs=1e-3)
    np.testing.assert_allclose(face.landmarks, [(180, 120)] * 68, atol=0.1)
    assert len(detector(picture(colour=(0, 0, 0)))) == 0
    alone = Detector(points)(np.zeros((20, 40, 3), np.uint8))
    np.testing.assert_allclose(alone.landmarks[0], [(10, 10)] * 68, atol=1e-4)
    assert detect(points, np.zeros((20, 40, 3), np.uint8))[0].landmarks[0] == pytest.approx((10, 10))


def test_detect_of_a_cascade_and_its_lists(capsys, tmp_path, monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)  # which gives tracebacks for errors
    folder, image = need("models/mtcnn_imistyrain/fast"), need("images/mtcnn_test.jpg")
    status = main(["detect", str(folder), str(image), "--json", "--out", str(tmp_path / "face.png"), "--device", "cpu"])
    (result,) = json.loads(capsys.readouterr().out)
    assert status == 0
    assert (result["detections"][0]["name"], len(result["detections"][0]["landmarks"])) == ("face", 5)
    with Image.open(tmp_path / "face.png") as drawn:
        assert drawn.size == (616, 389)
    models = ",".join(str(need(f"models/pcn/PCN-{i}.prototxt")) for i in (1, 2, 3))
    words = ["detect", models, str(need("models/pcn/PCN.caffemodel")), str(need("images/pcn_11.jpg")), "--no-drawing"]
    assert main([*words, "--device", "cpu"]) == 0
    out = capsys.readouterr().out
    assert "2 detections" in out
    assert "angle" in out
    assert main(["detect", str(need("models/pcn/PCN-1.prototxt")), str(image)]) == 1
    assert "needs WEIGHTS" in capsys.readouterr().err
