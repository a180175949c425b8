"""Memory and time in proportion to a file's size, and a net that is refused before it takes more than its limit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from boxpresso import Net
from boxpresso.cli.main import main
from boxpresso.device import host
from boxpresso.layers.core.boundary import Named
from boxpresso.net import memory
from boxpresso.net.weights import read_weights
from boxpresso.proto import BoxpressoError, DeviceError, ModelError, SolverState, parse_net
from boxpresso.proto.limits import LIMITS, Limits
from boxpresso.train.state import read_state

pytestmark = pytest.mark.later

NET = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 64 dim: 64 } } }
    layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 16 kernel_size: 1 } }
    layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
    layer { name: "s" type: "Flatten" bottom: "c" top: "s" }
    layer { name: "f" type: "InnerProduct" bottom: "s" top: "f" inner_product_param { num_output: 100 bias_term: false } }"""
BLOBS = 4 * (3 + 16) * 64 * 64 + 4 * 100
PARAMETERS = 4 * (16 * 3 + 16) + 4 * 100 * 16 * 64 * 64


@pytest.fixture
def limits(monkeypatch):
    for name, value in vars(Limits()).items():
        monkeypatch.setattr(LIMITS, name, value)
    monkeypatch.setenv("BOXPRESSO_LIMITS", "")
    return LIMITS


def test_a_net_knows_what_it_needs(device):
    """Layers that work in place or share memory add none, and no blob has taken any yet."""
    net = Net(parse_net(NET), device=device, optimize=False)
    assert (net.memory.parameters, net.memory.tops, net.memory.total) == (PARAMETERS, BLOBS, PARAMETERS + BLOBS)
    assert net.blobs["c"].touched == 0


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (PARAMETERS + BLOBS, None), (PARAMETERS + BLOBS - 1, r"'f': its top 'f' of shape \(1, 100\) takes 400 bytes"),
        (BLOBS, r"InnerProduct layer 'f': its parameter 0 takes 25.0 MB, 25.0 MB with what comes before; memory_limit"),
        (4 * 3 * 64 * 64 + 300, r"'c': its top 'c' of shape \(1, 16, 64, 64\) takes 256.0 kB"),
    ],
)  # fmt: skip
def test_a_limit_is_refused_before_memory_is_taken(limit, message, device):
    if message is None:
        Net(parse_net(NET), device=device, memory_limit=limit, optimize=False)
        return
    with pytest.raises(DeviceError, match=message) as caught:
        Net(parse_net(NET), device=device, memory_limit=limit, optimize=False)
    assert "The largest blobs: " in str(caught.value)


def test_a_larger_input_is_counted_too(device):
    net = Net(parse_net(NET.replace('layer { name: "f" type: "InnerProduct"', 'layer { name: "f" type: "Silence"')
                        .replace('top: "f" inner_product_param { num_output: 100 bias_term: false }', "")),
              device=device, memory_limit=700_000)  # fmt: skip
    net.forward(x=np.zeros((1, 3, 64, 64)))
    net.forward(x=np.zeros((1, 3, 8, 8)))
    with pytest.raises(DeviceError, match=r"'c': its top 'c' of shape \(1, 16, 128, 128\) takes .*memory_limit"):
        net.forward(x=np.zeros((1, 3, 128, 128)))


def test_without_a_limit_it_is_the_machines(monkeypatch):
    assert memory.machine_memory() is None or memory.machine_memory() > 2**28
    monkeypatch.setattr(memory, "machine_memory", lambda: 10**6)
    with pytest.raises(DeviceError, match=r"this machine has 976\.6 kB"):
        Net(parse_net(NET), device="cpu")
    for wrong in (0, -1, True, 1.5, "2G"):
        with pytest.raises(ModelError, match="memory_limit must be a whole number of bytes"):
            Net(parse_net(NET), device="cpu", memory_limit=wrong)


def test_a_net_of_many_gigabytes_is_refused_at_once():
    text = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 40000 } } }'
    for i in range(40):
        text += f"""layer {{ name: "f{i}" type: "InnerProduct" bottom: "x" top: "f{i}"
                    inner_product_param {{ num_output: 40000 }} }}"""
    with pytest.raises(DeviceError, match=r"'f0': its parameter 0 takes 6\.0 GB"):
        Net(parse_net(text), device="cpu", memory_limit=2**30)


def test_memory_that_is_not_there_is_named(monkeypatch):
    def empty(size: int) -> None:
        raise OSError(12, "Cannot allocate memory")

    net = Net(parse_net(NET), device="cpu")
    monkeypatch.setattr(host, "zeros", empty)
    with pytest.raises(
        DeviceError, match=r"Convolution layer 'c': there is no memory left \(\d+ bytes were asked for"
    ) as caught:
        net.forward()
    assert "the largest blobs: 'c' (1, 16, 64, 64), " in str(caught.value)
    with pytest.raises(DeviceError, match="'r': there is no memory left"), Named(net.layer_dict["r"]):
        np.empty(2**60, np.uint8)


def test_the_command_tells_the_need_and_refuses(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)  # which the stand-in sets: errors would go through
    (tmp_path / "net.prototxt").write_text(NET)
    assert main(["info", str(tmp_path / "net.prototxt")]) == 0
    text = capsys.readouterr().out
    assert re.search(r"needs \d+\.\d MiB to run, 5\d\.\d MiB of them in arrays\n  parameters  +25\.0 MiB", text)
    for verb in (["info"], ["time", "--iterations", "1"]):
        assert main([*verb, str(tmp_path / "net.prototxt"), "--memory-limit", "20M"]) == 1
        assert "memory_limit (--memory-limit) allows 20.0 MB" in capsys.readouterr().err
    assert main(["info", str(tmp_path / "net.prototxt"), "--memory-limit", "lots"]) == 2


# Texts and files that become more than they are

TEXTS = {
    "comments": '("# a comment of a usual length" + chr(10)) * (M // 30)',
    "short comments": '("#" + chr(10)) * (M // 2)',
    "white space": '(" " + chr(10)) * (M // 2)',
    "a long string": "'name: \"' + 'x' * M + '\"'",
    "a string of escapes": "'name: \"' + chr(92) + 'n' * M + '\"'",
    "a string without end": "'name: \"' + 'x' * M",
    "strings": "'name: ' + '\"x\"' * (M // 3)",
    "layers": "'layer{}' * (M // 7)",
    "messages": "'layer{' + 'blobs{}' * (M // 7) + '}'",
    "numbers": "'layer{loss_weight:[' + '1,' * (M // 2) + '1]}'",
    "unknown fields": "'a:1 ' * (M // 4)",
    "a field again": "'name:\"\" ' * (M // 8)",
    "messages in messages": "'a{' * (M // 2)",
    "a word": "'x' * M",
}
MEASURE = """
    import time, warnings
    from boxpresso.proto import BoxpressoError, parse_net
    warnings.simplefilter("ignore")
    M = {size}
    text = {text}
    def peak():  # ru_maxrss would begin with what the parent had
        return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
    before, start = peak(), time.process_time()
    try:
        parse_net(text)
        said = ""
    except BoxpressoError as error:
        said = str(error)[-200:]
    print(peak() - before, time.process_time() - start, said)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the largest size of a process is measured as on Linux")
@pytest.mark.parametrize(
    "kind",
    [k if k in ("comments", "a long string", "layers") else pytest.param(k, marks=pytest.mark.slow) for k in TEXTS],
)
def test_a_text_takes_memory_in_proportion(kind):
    size = 1_200_000
    code = textwrap.dedent(MEASURE).format(size=size, text=TEXTS[kind])
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    grown, seconds, *said = result.stdout.split(maxsplit=2)
    assert int(grown) * 1024 < 64 * 2**20 + 20 * size, said
    assert float(seconds) < 20


@pytest.mark.later(but=2)
@pytest.mark.skipif(sys.platform != "linux", reason="the largest size of a process is measured as on Linux")
@pytest.mark.parametrize(
    ("mode", "format", "most"), [("RGB", "TIFF", 8.5), ("RGB", "PNG", 8.5), ("I;16", "PNG", 4.5), ("P", "GIF", 9.5)]
)
def test_a_picture_takes_memory_in_proportion(mode, format, most, tmp_path):
    """Bytes a pixel at the peak: what Pillow holds of it, what it hands over, and ours."""
    from PIL import Image

    wide, high = 4000, 3000
    Image.new(mode, (wide, high)).save(tmp_path / "large", format=format)
    code = """
        from boxpresso.data.picture import decode
        from boxpresso.image import read_image
        def peak():
            return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
        {read}("small")  # loads what reads the format
        before = peak()
        {read}("large")
        print(peak() - before)
    """
    Image.new(mode, (8, 8)).save(tmp_path / "small", format=format)
    for read in ("decode", "read_image"):
        text = textwrap.dedent(code).format(read=read)
        result = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, cwd=tmp_path)
        assert int(result.stdout) * 1024 < most * wide * high, (read, result.stdout, result.stderr)


def test_the_limits_of_a_text(limits):
    limits.set(layers=3, text_messages=50, text_tokens=200, text_depth=5)
    parse_net("layer { name: 'a' } " * 3)
    for text, name in (
        ("layer { name: 'a' } " * 4, "layers"), ("layers { name: 'a' } " * 4, "layers"),
        ("layer { " + "blobs { } " * 60 + "}", "text_messages"), ("name: 'a' " * 80, "text_tokens"),
        ("x { " * 9 + "} " * 9, None), ("layer { loss_weight: [" + "1, " * 150 + "1] }", "text_tokens"),
    ):  # fmt: skip
        with pytest.raises(ModelError) as caught:
            parse_net(text)
        assert (f"raise the limit {name!r} if you trust it" if name else "nested more than 5 deep") in str(caught.value)


def field(number: int, body: bytes) -> bytes:
    def varint(value: int) -> bytes:
        return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])

    return varint(number << 3 | 2) + varint(len(body)) + body


WEIGHTS = {
    "layers": field(100, b"") * 300_000,
    "old layers": field(2, b"") * 300_000,
    "unknown fields": b"\x98\x06\x00" * 500_000,
    "fields of a layer": field(100, b"\x18\x00" * 1_100_000),
    "blobs": field(100, field(7, b"") * 1_100_000),
    "axes": field(100, field(7, field(7, field(1, b"\x01" * 2_000_000)))),
    "floats one by one": field(100, field(7, b"\x2d\0\0\0\0" * 1_100_000)),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_of_many_small_parts(kind, tmp_path):
    (tmp_path / "w.caffemodel").write_bytes(WEIGHTS[kind])
    with pytest.raises(ModelError, match=r"w\.caffemodel"):
        read_weights(tmp_path / "w.caffemodel")


def test_the_limits_of_weights(tmp_path, limits):
    (tmp_path / "w.caffemodel").write_bytes(field(100, b"\x0a\x01a") * 50)
    assert len(read_weights(tmp_path / "w.caffemodel").layers) == 50
    limits.set(weight_fields=99)
    with pytest.raises(ModelError, match="it has more than 99 fields; raise the limit 'weight_fields'"):
        read_weights(tmp_path / "w.caffemodel")
    limits.set(weight_fields=1000, layers=12)
    with pytest.raises(ModelError, match="it has more than 48 layers; raise the limit 'layers'"):
        read_weights(tmp_path / "w.caffemodel")


def test_a_state_of_many_small_parts(tmp_path):
    (tmp_path / "s.solverstate").write_bytes(
        SolverState(iter=1, learned_net="x").SerializeToString() + b"\x1a\x00" * 10**6
    )
    with pytest.raises(ModelError, match="more than 40000 layers"):
        read_state(tmp_path / "s.solverstate")


def test_a_net_of_many_layers_takes_time_in_proportion():
    """Three thousand are made in a moment, and a hundred thousand are refused."""
    text = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 } } }'
    net = Net(parse_net(text + "".join(f'layer {{ name: "{i}" type: "ReLU" bottom: "x" top: "x" }}' for i in range(3000))),
              device="cpu")  # fmt: skip
    assert len(net.layers) == 3001
    with pytest.raises(ModelError, match="there are more than 10000 layers"):
        parse_net(text + 'layer { name: "r" type: "ReLU" bottom: "x" top: "x" }' * 10_000)


def test_limits_reach_the_command(tmp_path):
    (tmp_path / "net.prototxt").write_text(NET)
    result = subprocess.run(
        [sys.executable, "-m", "boxpresso", "info", "--json", str(tmp_path / "net.prototxt")],
        env={**os.environ, "BOXPRESSO_LIMITS": "layers=3"}, capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 1
    assert "there are more than 3 layers" in result.stderr
    result = subprocess.run(
        [sys.executable, "-m", "boxpresso", "info", "--json", str(tmp_path / "net.prototxt")],
        env={**os.environ, "BOXPRESSO_LIMITS": "layers=5"}, capture_output=True, text=True,
    )  # fmt: skip
    assert len(json.loads(result.stdout)["layers"]) == 5
    assert issubclass(ModelError, BoxpressoError)


def test_the_gradients_of_a_training_count():
    text = """force_backward: true
        layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 1000 } } }
        layer { name: "y" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 1000 } }"""
    net = Net(parse_net(text), device="cpu", phase="TRAIN")
    ones = net.layer_dict["y"].own_bytes(*[[net.blobs[name]] for name in "xy"], True)
    assert net.memory.total == 4 * (2 * 1_001_000 + 2 * 1000 + 2 * 1000) + ones
    with pytest.raises(
        DeviceError, match=r"layer 'y': its gradient of a parameter of shape \(1000, 1000\) takes 3\.8 MB"
    ):
        Net(parse_net(text), device="cpu", phase="TRAIN", memory_limit=5_000_000)
    Net(parse_net(text.replace("force_backward: true", "")), device="cpu", memory_limit=5_000_000, optimize=False)
