"""The command line as its users meet it: what it prints, writes and answers, and how it fails."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from places import ROOT
from shared import need
from tiny_ssd import TINY, picture, tiny_net, write_tiny

from boxpresso import Net, cli
from boxpresso.__main__ import main
from boxpresso.cli.main import VERBS
from boxpresso.proto import parse_net
from boxpresso.summary import macs, summarise

DEFAULT = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
INTERRUPTIBLE = [sys.executable, "-c", DEFAULT]  # before a command: under nohup SIGINT is ignored from the start


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch, tmp_path):
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def tiny(tmp_path):
    Image.fromarray(picture(scale=10)).save(tmp_path / "a.png")
    return write_tiny(tmp_path)


def call(capsys, *words: object) -> tuple[int, str, str]:
    status = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return status, out, err


# The whole


def test_help_and_version(capsys):
    for words in (["--help"], *([verb.NAME, "--help"] for verb in VERBS)):
        status, out, _ = call(capsys, *words)
        assert status == 0
        assert out.startswith("usage: boxpresso")
        assert max(map(len, out.splitlines())) <= 80
    assert call(capsys, "--version")[1].startswith("boxpresso ")
    assert call(capsys, "version") == call(capsys, "--version")
    assert call(capsys, "help") == call(capsys, "--help")
    assert call(capsys, "help", "detect") == call(capsys, "detect", "--help")


def test_words_that_do_not_go_together_are_a_wrong_use(capsys):
    for words, said in (
        (("train",), "give a FOLDER, or --solver"),
        (("test",), "give the model"),
        (("info", "x", "--data", "read", "--shape", "data=1x3x8x8"), "--shape is for --data shapes"),
    ):
        status, _, error = call(capsys, *words)
        assert status == 2
        assert error.startswith(f"usage: boxpresso {words[0]} ")
        assert f"boxpresso: error: {said}" in error


def test_a_public_model_is_told_by_its_name(capsys):
    status, out, _ = call(capsys, "models", "ultralight-face")
    assert (status, "MIT" in out, "RFB-320.caffemodel" in out) == (0, True, True)
    assert "did you mean 'ultralight-face'" in call(capsys, "models", "ultralight-fase")[2]


def test_each_verb_is_a_file():
    names = {path.stem for path in Path(cli.__file__).parent.glob("*.py")}
    assert {verb.NAME for verb in VERBS} == names - {"__init__", "arguments", "main", "many", "model", "output"}
    assert all(verb.__name__ == f"boxpresso.cli.{verb.NAME}" for verb in VERBS)


def test_wrong_use_is_2(capsys):
    for words in (
        [],
        ["frobnicate"],
        ["detect"],
        ["time", "x", "--iterations", "0"],
        ["detect", *"abc", "--size", "0x1"],
    ):
        status, out, err = call(capsys, *words)
        assert (status, out) == (2, "")
        assert "usage: boxpresso" in err


def test_a_misspelt_verb_or_option_is_met_with_the_nearest(capsys):
    for words, said in (
        (["detct", "a"], "there is no verb 'detct'; did you mean 'detect'?\n  boxpresso --help lists"),
        (
            ["detect", "--treshold", "1", *"abc"],
            "no option --treshold; did you mean '--threshold'?\n  boxpresso detect --help",
        ),
        (["models", "--jsn=1"], "there is no option --jsn; did you mean '--json'?\n  boxpresso models --help"),
        (["--vesion"], "there is no option --vesion; did you mean '--version'?"),
        (["info", *"abc"], "there is no place for c"),
    ):
        status, out, err = call(capsys, *words)
        assert (status, out) == (2, "")
        assert said in err
        assert len(err.splitlines()) == 3  # the usage, which has no list of options, the error, and where the help is


def test_common_options_come_first(capsys):
    for verb in ("detect", "serve"):
        out = call(capsys, verb, "--help")[1]
        assert max(map(len, out.splitlines())) <= 80
        places = [
            out.index(f"  {name} ")
            for name in ("--threshold", "--labels", "--mean", "--memory-limit", "--python-layers")
        ]
        assert places == sorted(places)


def test_the_table_of_models_fits_a_terminal(capsys, monkeypatch):
    wide = call(capsys, "models")[1].splitlines()
    assert wide[0].split() == ["name", "get", "size", "order", "mean", "scale", "family", "labels"]
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("boxpresso.cli.output.Visible.isatty", lambda self: True, raising=False)
    narrow = call(capsys, "models")[1].splitlines()
    assert max(map(len, narrow)) <= 80
    assert narrow[0].split() == ["name", "get", "size", "order"]
    assert narrow[-1] == "4 columns more in a wider terminal, or in a pipe"
    assert [line.split()[0] for line in narrow[:-1]] == [line.split()[0] for line in wide]


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from boxpresso.__main__ import main; main(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    for module in ("numpy", "PIL", "boxpresso.net"):
        assert f"'{module}'" not in run.stderr


def test_python_dash_m():
    run = subprocess.run(
        [sys.executable, "-m", "boxpresso", "info", "no.prototxt"], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 1
    assert run.stderr.startswith("boxpresso: error: cannot read no.prototxt")
    assert "Traceback" not in run.stderr


def test_debug_lets_errors_through(monkeypatch):
    monkeypatch.setenv("BOXPRESSO_DEBUG", "1")
    with pytest.raises(Exception, match="cannot read"):
        main(["info", "no.prototxt"])


def test_a_fault_of_our_own_is_one_line_too(capsys, monkeypatch):
    monkeypatch.setattr("boxpresso.cli.device_query.run", lambda args: 1 // 0)
    status, _, err = call(capsys, "device_query")
    assert status == 1
    assert "ZeroDivisionError" in err
    assert err.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
def test_a_closed_pipe_and_an_interrupt_are_silent(tiny):
    command = f"{sys.executable} -m boxpresso time {tiny[0]} --iterations 3000"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    piped = subprocess.run(["bash", "-c", f"{command} | head -n 2"], env=env, capture_output=True, text=True)
    assert piped.stdout.startswith("*** Benchmark begins ***")
    assert piped.stderr == ""
    running = subprocess.Popen(
        [*INTERRUPTIBLE, *command.split()], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    running.stdout.readline()
    time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    assert running.communicate()[1] == ""
    assert running.returncode == 130


# detect


def test_detect_prints_a_table_and_draws(capsys, tiny):
    Path("names.txt").write_text("background\ncat\n")
    before = sorted(os.listdir())
    assert call(capsys, "detect", *tiny, "a.png", "--labels", "names.txt")[0] == 0
    assert sorted(os.listdir()) == before  # nothing is written that was not asked for
    status, out, err = call(capsys, "detect", *tiny, "a.png", "--labels", "names.txt", "--draw")
    assert (status, err) == (0, "")
    assert "a.png (320 x 320): 1 detection" in out
    assert call(capsys, "detect", *tiny, "a.png", "--quiet")[1] == "a.png (320 x 320): 1 detection\n"
    assert re.search(r"cat +1\.000 +160\.0 +80\.0 +240\.0 +160\.0", out)
    drawn = np.asarray(Image.open("a.detections.png"))
    assert drawn.shape == (320, 320, 3)
    assert (drawn != picture(scale=10)).any()


def test_options_stand_anywhere_among_the_words(capsys, tiny):
    wanted = call(capsys, "detect", *tiny, "a.png", "--quiet", "--threshold", "0.3")
    assert wanted[0] == 0
    model, weights = tiny
    for words in (
        [model, weights, "--threshold", "0.3", "a.png", "--quiet"],
        [model, "--threshold=0.3", weights, "-q", "a.png"],
        ["-q", "--threshold", "0.3", model, weights, "a.png"],
    ):
        assert call(capsys, "detect", *words) == wanted


def test_detect_json(capsys, tiny):
    Image.fromarray(picture(colour=(9, 9, 9))).save("dark.png")
    Path("names.txt").write_text("Käse\n", encoding="utf-8")
    status, out, err = call(capsys, "detect", *tiny, "a.png", "none.png", "dark.png", "--json", "--labels", "names.txt",
                            "--out", "drawn/here")  # fmt: skip
    first, missing, dark = json.loads(out)
    assert (status, err) == (1, "boxpresso: error: there is no picture none.png\n")
    assert (first["file"], first["width"], first["height"]) == ("a.png", 320, 320)
    (detection,) = first["detections"]
    assert detection == {
        "class_id": 1,
        "class_name": "Käse",
        "score": pytest.approx(1),
        "box": pytest.approx([160, 80, 240, 160], abs=0.01),
        "label": 1,  # older names
        "name": "Käse",
    }
    assert missing == {"file": "none.png", "error": "there is no picture none.png"}
    assert dark["detections"] == []
    assert os.listdir("drawn/here") == ["a.detections.png"]  # there is nothing to draw on the dark one


def test_detect_options_reach_the_net(capsys, tiny):
    def count(*words):
        status, out, _ = call(capsys, "detect", *tiny, "a.png", "--no-drawing", "--json", *words)
        assert status == 0
        return len(json.loads(out)[0]["detections"])

    assert count() == 1
    assert count("--swap-rb") == 0
    assert count("--mean", "130,0,0") == 0
    assert count("--mean", "0,130,130") == 1
    assert count("--scale", "1/255") == 0
    assert count("--threshold", "1") == 0
    assert count("--size", "16x16") == 0  # 2 x 2 cells, none of them all blue
    assert not Path("a.detections.png").exists()


def test_two_pictures_never_go_to_one_place(capsys, tiny):
    Image.fromarray(picture()).save("a.bmp")
    Path("sub").mkdir()
    Image.fromarray(picture()).save("sub/a.png")
    Image.fromarray(picture()).save("a.detections.png")
    before = Path("a.detections.png").read_bytes()
    pictures = ["a.png", "a.bmp", "sub/a.png", "a.detections.png"]
    status, out, _ = call(capsys, "detect", *tiny, *pictures, "--json", "--out", ".")
    places = [result["drawn"] for result in json.loads(out)]
    assert status == 0
    assert len({Path(place).resolve() for place in places}) == 4
    assert Path("a.detections.png").read_bytes() == before


def test_out_as_a_file(capsys, tiny):
    assert call(capsys, "detect", *tiny, "a.png", "--out", "b.jpg")[0] == 0
    assert Path("b.jpg").read_bytes().startswith(b"\xff\xd8")
    for words, said in (
        (["a.png", "a.png", "--out", "b.jpg"], "one file, but there are 2"),
        (["a.png", "--out", "./a.png"], "is the picture itself"),
        (["a.png", "--out", "no/b.jpg"], "cannot write"),
        (["a.png", "--out", "b.jpg/c"], "cannot make the folder"),
    ):
        status, _, err = call(capsys, "detect", *tiny, *words)
        assert status == 1
        assert said in err


def test_weights_that_do_not_fit(capsys, tiny):
    Path("other.prototxt").write_text(
        TINY.replace('name: "conf"', 'name: "other"').replace('bottom: "conf"', 'bottom: "conf"')
    )
    status, _, err = call(capsys, "detect", "other.prototxt", tiny[1], "a.png")
    assert status == 0
    assert "no weights for other" in err
    renamed = parse_net(TINY)
    for layer in renamed.layer:
        layer.name += "_"
    net = Net(renamed, device="cpu")
    net.save("renamed.caffemodel")
    status, _, err = call(capsys, "detect", tiny[0], "renamed.caffemodel", "a.png")
    assert status == 1
    assert "do not belong together" in err


def test_a_net_that_no_decoder_reads_is_2_and_shows_its_outputs(capsys):
    text = TINY[: TINY.index('layer { name: "found"')]
    Path("half.prototxt").write_text(text)
    tiny_net().save("w.caffemodel")
    Image.fromarray(picture()).save("a.png")
    status, out, err = call(capsys, "detect", "half.prototxt", "w.caffemodel", "a.png")
    assert (status, out) == (2, "")
    assert "conf_flat (1, 32)" in err
    assert re.search(r"^  ssd: a layer of type DetectionOutput$", err, re.M)
    assert "--as NAME" in err
    assert not Path("a.detections.png").exists()
    Path("pred.prototxt").write_text(text.replace('"loc_flat"', '"bbox_pred"'))
    status, _, err = call(capsys, "detect", "pred.prototxt", "w.caffemodel", "a.png")
    assert status == 2
    assert "faster_rcnn: regions that the net proposes itself; an output cls_prob; an input im_info" in err
    status, _, err = call(capsys, "detect", "half.prototxt", "w.caffemodel", "a.png", "--as", "sdd")
    assert status == 2
    assert "there is no decoder 'sdd'; did you mean ssd?" in err
    status, _, err = call(capsys, "detect", "half.prototxt", "w.caffemodel", "a.png", "--as", "ssd")
    assert status == 2
    assert "no layer of type DetectionOutput" in err


def test_detect_writes_an_annotation_for_each_of_two_pictures_of_one_name(capsys, tiny):
    for folder in "ab":
        Path(folder).mkdir()
        Path(folder, "x.png").write_bytes(Path("a.png").read_bytes())
    assert call(capsys, "detect", *tiny, "a/x.png", "b/x.png", "--no-drawing", "--voc", "voc")[0] == 0
    assert sorted(path.name for path in Path("voc").iterdir()) == ["x.png.xml", "x.xml"]


def test_detect_writes_coco_results_and_voc(capsys, tiny):
    Image.fromarray(picture(scale=10)).save("000042.png")
    words = ("000042.png", "a.png", "--no-drawing", "--coco", "out/results.json", "--voc", "voc")
    assert call(capsys, "detect", *tiny, *words)[0] == 0
    first, second = json.loads(Path("out/results.json").read_text())
    assert first == {"image_id": 42, "category_id": 1, "bbox": [160, 80, 80, 80], "score": pytest.approx(1)}
    assert second["image_id"] == "a.png"
    text = Path("voc/000042.xml").read_text()
    assert "<width>320</width>" in text
    assert re.search(r"<xmin>161</xmin>\s*<ymin>81</ymin>\s*<xmax>240</xmax>\s*<ymax>160</ymax>", text)


def test_no_two_pictures_have_one_coco_id(capsys, tiny):
    for name in ("x/7.png", "y/7.png", "cam1_0007.png", "0008.png"):
        Path(name).parent.mkdir(exist_ok=True)
        Image.fromarray(picture()).save(name)
    pictures = ("x/7.png", "y/7.png", "cam1_0007.png", "0008.png")
    assert call(capsys, "detect", *tiny, *pictures, "--no-drawing", "--coco", "ids.json")[0] == 0
    ids = [row["image_id"] for row in json.loads(Path("ids.json").read_text())]
    assert ids == ["x/7.png", "y/7.png", "cam1_0007.png", 8]
    twice = ("0008.png", "x/7.png", "0008.png")
    assert call(capsys, "detect", *tiny, *twice, "--no-drawing", "--coco", "twice.json")[0] == 0
    assert [row["image_id"] for row in json.loads(Path("twice.json").read_text())] == [8, 7]


def test_real_qr_codes(capsys, tmp_path):
    model = need("models/wechat_qrcode/detect.prototxt")
    images = [need("images/qr_0.png"), need("images/qr_1.png")]
    status, out, err = call(capsys, "detect", model, model.with_suffix(".caffemodel"), *images, "--scale", "1/255",
                            "--out", tmp_path / "drawn", "--json")  # fmt: skip
    assert (status, err) == (0, "")
    for result in json.loads(out):
        (detection,) = result["detections"]
        assert detection["label"] == 1
        assert detection["score"] > 0.99
        left, top, right, bottom = detection["box"]
        code = np.asarray(Image.open(result["file"]).convert("L"))[
            round(top) : round(bottom), round(left) : round(right)
        ]
        assert ((code < 60) | (code > 200)).mean() > 0.95  # black and white, as no other part of the photo


# info


def test_info(capsys, tiny):
    status, out, err = call(capsys, "info", *tiny)
    assert (status, err) == (0, "")
    assert "tiny: 12 layers, phase TEST" in out
    assert re.search(r"Convolution +feature +1 x 1 x 4 x 4 +193 +3,072", out)
    assert re.search(r"total +205 +3,168", out)
    assert "copied to 3 layers" in out
    assert "split" not in out


def test_info_json(capsys, tiny):
    net = tiny_net()
    net.layer_dict["conf"].name = "stranger"
    net.save("strange.caffemodel")
    status, out, _ = call(capsys, "info", tiny[0], "strange.caffemodel", "--json")
    made = json.loads(out)
    assert status == 0
    assert (made["parameters"], made["macs"], made["inputs"], made["outputs"]) == (205, 3168, ["data"], ["found"])
    assert made["weights"]["missing"] == ["conf"]
    assert made["weights"]["unused"] == ["stranger"]
    feature = made["layers"][1]
    assert feature["tops"] == {"feature": [1, 1, 4, 4]}
    assert feature["bytes"] == 64
    assert next(layer for layer in made["layers"] if layer["name"] == "loc_flat")["bytes"] == 0  # its bottom's memory


@pytest.mark.parametrize(
    ("layer", "shape", "wanted"),
    [
        ('type: "Convolution" convolution_param { num_output: 6 kernel_size: 3 group: 2 }', (2, 4, 8, 8), 2 * 6 * 36 * 2 * 9),
        ('type: "Convolution" convolution_param { num_output: 4 kernel_size: 3 group: 4 }', (1, 4, 8, 8), 4 * 36 * 9),
        ('type: "Deconvolution" convolution_param { num_output: 6 kernel_size: 2 stride: 2 group: 2 }', (1, 4, 5, 5), 4 * 25 * 3 * 4),
        ('type: "InnerProduct" inner_product_param { num_output: 7 }', (3, 4, 5), 3 * 20 * 7),
        ('type: "InnerProduct" inner_product_param { num_output: 7 transpose: true }', (3, 20), 3 * 20 * 7),
        ('type: "ReLU"', (3, 20), 0),
        ('type: "Scale"', (3, 20), 0),
    ],
)  # fmt: skip
def test_macs(layer, shape, wanted):
    dims = " ".join(f"dim: {size}" for size in shape)
    text = f'layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}'
    net = Net(parse_net(text + f'layer {{ name: "y" bottom: "x" top: "y" {layer} }}'), device="cpu")
    assert macs(net.layers[1], [shape], [net.blobs["y"].shape]) == wanted
    assert summarise(net).macs == wanted


def test_shared_parameters_count_once():
    conv = (
        'type: "Convolution" param { name: "w" } param { name: "b" } convolution_param { num_output: 3 kernel_size: 1 }'
    )
    text = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 4 dim: 4 } } }'
    text += f'layer {{ name: "a" bottom: "x" top: "a" {conv} }} layer {{ name: "b" bottom: "a" top: "b" {conv} }}'
    made = summarise(Net(parse_net(text), device="cpu"))
    assert [row.parameters for row in made.layers] == [0, 12, 12]
    assert made.parameters == 12


# time


def test_time(capsys, tiny):
    status, out, err = call(capsys, "time", *tiny, "--iterations", 2)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[1] == "Testing for 2 iterations."
    assert re.fullmatch(r"Iteration: 2 forward-backward time: [\d.e-]+ ms\.", lines[3])
    assert re.search(r"^ *feature\tforward: [\d.e-]+ ms\.$", out, re.M)
    assert re.search(r"^ *feature\tbackward: [\d.e-]+ ms\.$", out, re.M)
    numbers = {}
    for title in ("Average Forward pass", "Average Backward pass", "Average Forward-Backward", "Total Time"):
        numbers[title] = float(re.search(rf"^{title}: ([\d.e-]+) ms\.$", out, re.M)[1])
    both = numbers["Average Forward pass"] + numbers["Average Backward pass"]
    assert numbers["Average Forward-Backward"] >= 0.99 * both
    assert numbers["Total Time"] == pytest.approx(2 * numbers["Average Forward-Backward"], rel=0.01)


def test_time_forward_only(capsys, tiny):
    status, out, _ = call(capsys, "time", tiny[0], "--iterations", 1, "--forward-only")
    assert status == 0
    assert "Average Forward pass" in out
    assert "ackward" not in out


def test_backward_really_runs(tiny):
    from boxpresso.timing import time_net, timing_net

    Path("half.prototxt").write_text(TINY[: TINY.index('layer { name: "conf_rows"')])
    net = timing_net("half.prototxt", tiny[1])
    times = time_net(net, 1)
    assert np.abs(net.params["loc"][0].diff).sum() > 0
    assert len(times.passes) == 1
    assert times.passes[0][1] > 0


# device_query


def test_device_query(capsys):
    status, out, _ = call(capsys, "device_query")
    assert status == 0
    assert out.startswith("cpu: ")
    assert "\ncuda" in out  # a GPU, or why there is none


# upgrade

V1 = """
name: "old" input: "data" input_dim: 1 input_dim: 1 input_dim: 4 input_dim: 4
layers { name: "ip" type: INNER_PRODUCT bottom: "data" top: "ip" inner_product_param { num_output: 2 } }
"""


def test_upgrade_a_net(capsys):
    Path("old.prototxt").write_text(V1)
    status, out, _ = call(capsys, "upgrade", "old.prototxt", "new.prototxt")
    assert status == 0
    assert "from V1" in out
    text = Path("new.prototxt").read_text()
    assert 'type: "InnerProduct"' in text
    assert parse_net(text) == parse_net(V1)
    assert "already" in call(capsys, "upgrade", "new.prototxt", "again.prototxt")[1]
    assert Path("again.prototxt").read_text() == text


def test_upgrade_a_solver(capsys):
    Path("old.prototxt").write_text('net: "a.prototxt" base_lr: 0.1 solver_type: ADAM')
    assert call(capsys, "upgrade", "old.prototxt", "new.prototxt")[0] == 1  # a solver is no net
    assert call(capsys, "upgrade", "--solver", "old.prototxt", "new.prototxt")[0] == 0
    assert 'type: "Adam"' in Path("new.prototxt").read_text()


def test_upgrade_weights(capsys):
    old, new = need("golden/io/net_v1_legacy4d.caffemodel"), need("golden/io/net.caffemodel")
    assert call(capsys, "upgrade", old, "up.caffemodel")[0] == 0
    from boxpresso.net.weights import read_weights

    made, wanted = read_weights("up.caffemodel"), read_weights(new)
    names = [layer.name for layer in made.layers if layer.blobs]
    assert names == ["conv1", "ip"]
    for name in names:
        assert made[name].type == wanted[name].type
        for a, b in zip(made[name].blobs, wanted[name].blobs):
            np.testing.assert_array_equal(a.ravel(), b.ravel())


def test_upgrade_refuses(capsys):
    Path("page.html").write_text("<!DOCTYPE html><html></html>")
    Image.new("RGB", (4, 4)).save("a.png")
    for old, said in (("page.html", "error"), ("a.png", "PNG"), ("none", "cannot read")):
        status, _, err = call(capsys, "upgrade", old, "new")
        assert status == 1
        assert said in err
        assert not Path("new").exists()
    Path("old.prototxt").write_text(V1)
    assert "cannot write" in call(capsys, "upgrade", "old.prototxt", "no/new")[2]


def test_upgrade_in_place_keeps_the_old_where_it_cannot_write(capsys, monkeypatch):
    Path("old.prototxt").write_text(V1)

    def full(self, text, **options):
        self.write_bytes(text.encode()[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert "old.prototxt: No space left" in call(capsys, "upgrade", "old.prototxt", "old.prototxt")[2]
    assert Path("old.prototxt").read_text() == V1
    assert [path.name for path in Path().iterdir()] == ["old.prototxt"]


def test_a_net_of_the_rcnn_kind(capsys):
    from test_detect import POOL, RCNN, rcnn

    text = RCNN.replace("MODULE", "rpn.proposal_layer").replace("POOL", POOL)
    Path("rcnn.prototxt").write_text(text.replace("INFO", "3").replace("COUNT", "8").replace("OFFSETS", "12"))
    rcnn([0] * 12).save("rcnn.caffemodel")
    Image.fromarray(np.zeros((200, 300, 3), np.uint8)).save("a.png")
    Path("names.txt").write_text("__background__\ncat\ndog\n")
    status, out, err = call(
        capsys, "detect", "rcnn.prototxt", "rcnn.caffemodel", "a.png", "--labels", "names.txt", "--draw"
    )
    assert (status, err) == (0, "")
    assert "a.png (300 x 200): 54 detections" in out
    assert "dog    0.800" in out
    assert Path("a.detections.png").exists()
    options = ("--json", "--size", "300x200", "--no-drawing")
    detections = json.loads(call(capsys, "detect", "rcnn.prototxt", "rcnn.caffemodel", "a.png", *options)[1])[0][
        "detections"
    ]
    assert detections[0] == {
        "class_id": 2, "class_name": None, "score": 0.8, "box": [0.0, 0.0, 97.0, 97.0], "label": 2, "name": None,
    }  # fmt: skip


def test_python_layers_are_allowed_by_name(capsys, monkeypatch):
    Path("mine.py").write_text(
        "import caffe\n\nclass Double(caffe.Layer):\n"
        "    def reshape(self, bottom, top): top[0].reshape(*bottom[0].shape)\n"
        "    def forward(self, bottom, top): top[0].data[...] = 2 * bottom[0].data\n"
    )
    monkeypatch.syspath_prepend(str(Path.cwd()))
    Path("net.prototxt").write_text(
        'layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 2 dim: 3 } } }'
        'layer { name: "L" type: "Python" bottom: "d" top: "t" python_param { module: "mine" layer: "Double" } }'
    )
    status, _, err = call(capsys, "info", "net.prototxt")
    assert status == 1
    assert "--python-layers mine" in err
    status, out, err = call(capsys, "info", "net.prototxt", "--python-layers", "mine")
    assert (status, err) == (0, "")
    assert "2 x 3" in out
    status, out, _ = call(capsys, "time", "net.prototxt", "--python-layers", "mine", "--iterations", "1")
    assert status == 0
    sys.modules.pop("mine")


def test_faster_rcnn_is_timed_with_regions(capsys):
    from test_detect import POOL, RCNN

    from boxpresso.timing import timing_net

    text = RCNN.replace("MODULE", "rpn.proposal_layer").replace("POOL", POOL)
    Path("rcnn.prototxt").write_text(text.replace("INFO", "6").replace("COUNT", "8").replace("OFFSETS", "12"))
    net = timing_net("rcnn.prototxt", device="cpu")
    assert net.blobs["im_info"].data.tolist() == [[224, 224, 1, 1, 1, 1]]
    net.forward()
    assert net.blobs["rois"].shape[0] > 1
