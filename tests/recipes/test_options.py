"""`boxpresso new --options`: what a TOML file says, what is written of it, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from places import ROOT

from boxpresso.__main__ import main
from boxpresso.proto import read_net, read_solver
from boxpresso.proto.errors import BoxpressoError
from boxpresso.recipes.options import options_text, read_options

sys.path.insert(0, str(ROOT))

from examples.own_pictures.draw import draw

pytest.importorskip("lmdb", reason="records are LMDBs")
pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")

TEXT = """
size = 96
batch = 4
iterations = 120
rate = 0.002

[augmentation]
mirror = false
distort = false
expand = 1
patches = 0.7
mosaic = 0.5
mixup = 0
"""


def test_what_is_written_is_read(tmp_path):
    """Classes of any signs, behind the mark that Windows puts before a text; no numbers without end."""
    path = tmp_path / "options.toml"
    weights = {'\U0001f600 "cat"': 2.0, "d\u00f6g\\": 0.5}
    path.write_text(options_text("boxpresso new", {"size": 64}, {"mirror": True}, weights), encoding="utf-8-sig")
    assert read_options(path) == ({"size": 64}, {"mirror": True}, weights)
    path.write_text("rate = inf")
    with pytest.raises(BoxpressoError, match="rate is a number above 0, got inf"):
        read_options(path)


@pytest.fixture
def new(monkeypatch, tmp_path):
    """`boxpresso new ssd` over the small backbone, on pictures that are drawn."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")
    monkeypatch.chdir(tmp_path)
    draw(Path("shapes"), "voc", 8, workers=0)

    def run(*words: object) -> int:
        return main(["new", "ssd", "--backbone", "small", "--data", "shapes", *map(str, words)])

    return run


def test_the_file_is_followed_and_the_folder_can_be_made_again(new):
    Path("mine.toml").write_text(TEXT)
    assert new("--options", "mine.toml", "--out", "a", "--batch", 3) == 0
    data = read_net("a/train.prototxt").layer[0]
    transform = data.transform_param
    assert (transform.resize_param[0].height, data.data_param.batch_size) == (96, 3)  # the command's batch goes first
    assert not transform.mirror
    assert not transform.HasField("distort_param")
    assert not transform.HasField("expand_param")
    patches = data.annotated_data_param.batch_sampler[1:]
    assert data.annotated_data_param.mosaic_prob == 0.5
    assert not data.annotated_data_param.HasField("mixup_prob")
    assert [patch.sampler.min_scale for patch in patches] == [pytest.approx(0.7)] * len(patches)
    assert read_solver("a/solver.prototxt").base_lr == pytest.approx(0.002)

    assert "--options a/options.toml" in Path("a/options.toml").read_text()
    assert new("--options", "a/options.toml", "--out", "b") == 0
    for name in ("train.prototxt", "test.prototxt", "deploy.prototxt", "solver.prototxt", "options.toml"):
        assert Path("b", name).read_text().replace('"b/', '"a/').replace(" b/", " a/") == Path("a", name).read_text()


def test_classes_have_weights(new):
    Path("mine.toml").write_text("[class_weights]\nbox = 4\ntriangle = 0.5\n")
    assert new("--options", "mine.toml", "--out", "a") == 0
    (loss,) = (layer for layer in read_net("a/train.prototxt").layer if layer.type == "MultiBoxLoss")
    assert Path("a/labelmap.prototxt").read_text().index("box") < Path("a/labelmap.prototxt").read_text().index(
        "circle"
    )
    assert list(loss.loss_param.class_weighting) == [1, 4, 1, 0.5]
    assert new("--options", "a/options.toml", "--out", "b") == 0
    assert Path("b/train.prototxt").read_text().replace('"b/', '"a/') == Path("a/train.prototxt").read_text()
    for kind in ("faster_rcnn", "rfcn"):
        words = ["new", kind, "--data", "shapes", "--size", "96", "--options", "mine.toml", "--out", kind]
        assert main(words) == 0
        (loss,) = (layer for layer in read_net(f"{kind}/train.prototxt").layer if layer.name == "loss_cls")
        assert list(loss.loss_param.class_weighting) == [1, 4, 1, 0.5]
        assert loss.loss_param.weight_by_label_freqs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("iteration = 5", "there is no option iteration; did you mean 'iterations'?"),
        ("mirror = true", "there is no option mirror; it belongs into [augmentation]"),
        ("[augmentation]\nmiror = true", "there is no option augmentation.miror; did you mean 'mirror'?"),
        ("size = 1.5", "size is a whole number above 0, got 1.5"),
        ("batch = true", "batch is a whole number above 0, got True"),
        ("rate = 0", "rate is a number above 0, got 0"),
        ("augmentation = 3", "augmentation is a table, [augmentation]; got 3"),
        ("[augmentation]\nexpand = 0.5", "augmentation.expand is a number from 1, got 0.5"),
        ("[class_weights]\nboxs = 2", "class_weights: there is no class 'boxs'; did you mean 'box'?"),
        ("[class_weights]\nbox = 0", "class_weights.box is a number above 0, got 0"),
        ("class_weights = [1, 2]", "class_weights is a table, [class_weights]; got [1, 2]"),
        ("size: 3", "is not TOML"),
        ("\xe9 = 3", "is not TOML"),
    ],
)
def test_what_is_refused(text, said, new, capsys):
    Path("mine.toml").write_text(text, encoding="latin-1")
    assert new("--options", "mine.toml", "--out", "a") == 1
    assert said in capsys.readouterr().err
    assert not Path("a").exists()
