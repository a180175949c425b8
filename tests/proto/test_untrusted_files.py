"""Files from elsewhere: what reaches into other files, asks for too much, or is damaged is an error that names the file."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from places import ROOT

from boxpresso import Net
from boxpresso.data.errors import BrokenRecord, DataError
from boxpresso.data.hdf5 import Rows
from boxpresso.data.picture import decode, read_numbers, scans_of, size_of
from boxpresso.data.records import Records, open_records, write_records
from boxpresso.image import read_image
from boxpresso.labels import read_labels
from boxpresso.layers.core import run_layer
from boxpresso.net.weights import read_blob, read_mean, read_weights
from boxpresso.proto import BoxpressoError, LayerError, ModelError, parse_net, read_net, read_solver
from boxpresso.proto.limits import LIMITS, Limits
from boxpresso.proto.reading import read_file
from boxpresso.train.state import read_state

h5py = pytest.importorskip("h5py", reason="h5py is not installed (pip install 'boxpresso[train]')")
VALUES = np.arange(6.0, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def limits(monkeypatch):
    """Limits that a test may change."""
    for name, value in vars(Limits()).items():
        monkeypatch.setattr(LIMITS, name, value)
    monkeypatch.setenv("BOXPRESSO_LIMITS", "")
    return LIMITS


# HDF5


def secret(tmp_path: Path) -> Path:
    """A file of numbers that no other file may read."""
    path = tmp_path / "secret"
    path.write_bytes(VALUES.tobytes())
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["data/fc/0"] = VALUES
        file["history/0"] = VALUES
        file["label"] = VALUES
    return path


def external_storage(file, name, tmp_path):
    file.create_dataset(name, VALUES.shape, np.float32, external=[(str(tmp_path / "secret"), 0, VALUES.nbytes)])


def external_link(file, name, tmp_path):
    file[name] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/data/fc/0")


def virtual(file, name, tmp_path):
    layout = h5py.VirtualLayout(VALUES.shape, np.float32)
    layout[...] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "data/fc/0", VALUES.shape)
    file.create_virtual_dataset(name, layout)


def link_to_a_group(file, name, tmp_path):
    parent = name.rpartition("/")[0] or name
    file[parent] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/data/fc" if "/" in name else "/label")


REACHES = [external_storage, external_link, virtual, link_to_a_group]


@pytest.mark.parametrize("reach", REACHES)
def test_weights_that_lie_in_another_file_are_refused(reach, tmp_path):
    secret(tmp_path)
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file["data/conv/0"] = VALUES
        reach(file, "data/fc/0", tmp_path)
    with pytest.raises(ModelError, match=r"w\.h5: .*(other files; those are not read|not followed)"):
        read_weights(tmp_path / "w.h5")


@pytest.mark.parametrize("reach", REACHES)
def test_a_state_that_lies_in_another_file_is_refused(reach, tmp_path):
    secret(tmp_path)
    with h5py.File(tmp_path / "s.h5", "w") as file:
        file["iter"], file["learned_net"] = np.int32(3), "w.h5"
        reach(file, "history/0", tmp_path)
    with pytest.raises(ModelError, match=r"s\.h5: .*(other files; those are not read|not followed)"):
        read_state(tmp_path / "s.h5")


@pytest.mark.parametrize("reach", REACHES)
def test_data_that_lie_in_another_file_are_refused(reach, tmp_path):
    secret(tmp_path)
    with h5py.File(tmp_path / "d.h5", "w") as file:
        reach(file, "data", tmp_path)
    (tmp_path / "list.txt").write_text(str(tmp_path / "d.h5"))
    with pytest.raises(DataError, match=r"d\.h5: .*(other files; those are not read|not followed)"):
        Rows(str(tmp_path / "list.txt"), ["data"], False, 0, np.float32)


def test_a_link_inside_a_file_is_followed(tmp_path):
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file["data/conv/0"] = VALUES
        file["data/fc/0"] = h5py.SoftLink("/data/conv/0")
        file["data/same"] = h5py.SoftLink("/data/conv")
    assert [layer.name for layer in read_weights(tmp_path / "w.h5").layers] == ["conv", "fc", "same"]


@pytest.mark.parametrize("link", [h5py.SoftLink("/data"), h5py.SoftLink("/data/fc/loop"), "hard"])
def test_groups_without_end_are_refused(link, tmp_path):
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file["data/fc/0"] = VALUES
        file["data/fc/loop"] = file["data"] if link == "hard" else link
    with pytest.raises(ModelError, match=r"w\.h5"):
        read_weights(tmp_path / "w.h5")


def test_a_small_file_that_claims_2_gigabytes(tmp_path, limits):
    """The chunks are not even there: HDF5 would give zeros."""
    for name, inner in (("w.h5", "data/fc/0"), ("s.h5", "history/0"), ("d.h5", "data")):
        with h5py.File(tmp_path / name, "w") as file:
            file["iter"] = np.int32(1)
            file.create_dataset(inner, (2**29,), np.float32, chunks=(2**20,), compression="gzip")
    assert (tmp_path / "w.h5").stat().st_size < 10_000
    with pytest.raises(ModelError, match=r"makes 2147483648 bytes of a file of .*'expansion_factor'"):
        read_weights(tmp_path / "w.h5")
    with pytest.raises(ModelError, match="makes 2147483648 bytes"):
        read_state(tmp_path / "s.h5")
    (tmp_path / "list.txt").write_text(str(tmp_path / "d.h5"))
    with pytest.raises(DataError, match="makes 2147483648 bytes"):
        Rows(str(tmp_path / "list.txt"), ["data"], False, 0, np.float32)
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file.create_dataset("data/fc/0", data=np.zeros(2**20, np.float32), compression="gzip")
    assert read_weights(tmp_path / "w.h5")["fc"].blobs[0].size == 2**20
    limits.set(expansion_bytes=2**20)
    with pytest.raises(ModelError, match="makes 4194304 bytes"):
        read_weights(tmp_path / "w.h5")
    limits.set(expansion_factor=10**6)
    assert read_weights(tmp_path / "w.h5")["fc"].blobs[0].size == 2**20


# Damaged states and arrays


def state_of(tmp_path: Path, suffix: str) -> bytes:
    path = tmp_path / f"whole.solverstate{suffix}"
    if suffix:
        with h5py.File(path, "w") as file:
            file["iter"], file["learned_net"], file["current_step"] = np.int32(7), "w.caffemodel.h5", np.int32(2)
            for i in range(3):
                file[f"history/{i}"] = VALUES
    else:
        from boxpresso.proto import SolverState

        state = SolverState(iter=7, learned_net="w.caffemodel", current_step=2)
        for _ in range(3):
            blob = state.history.add()
            blob.shape.dim.extend(VALUES.shape)
            blob.data.extend(VALUES.ravel().tolist())
        path.write_bytes(state.SerializeToString())
    assert read_state(path).iter == 7
    return path.read_bytes()


@pytest.mark.parametrize("suffix", ["", ".h5"])
def test_a_damaged_state_is_an_error_of_ours(suffix, tmp_path):
    """Some of the damaged ones can still be read; the others are a ModelError that names the file."""
    whole = state_of(tmp_path, suffix)
    path, rng, refused = tmp_path / f"s.solverstate{suffix}", np.random.default_rng(5), 0
    for case in range(600):
        data = bytearray(whole)
        if case % 4 == 0:
            data = data[: rng.integers(0, len(data))]
        else:
            for at in rng.integers(0, len(data), rng.integers(1, 9)):
                data[at] = rng.choice([0, 1, 127, 128, 255, int(rng.integers(256))])
        path.write_bytes(data)
        try:
            read_state(path)
        except ModelError as error:
            refused += 1
            assert "s.solverstate" in str(error)  # noqa: PT017
    assert refused > 100


@pytest.mark.parametrize(
    ("member", "value"),
    [("iter", "seven"), ("iter", np.int32(-7)), ("iter", np.zeros(0)), ("history", VALUES), ("history/0", "words"),
     ("history/5", VALUES), ("history/x", VALUES), ("learned_net", VALUES), ("current_step", "two"),
     ("iter", np.float64(np.inf)), ("iter_last_event", VALUES), ("minimum_loss", np.float32(np.nan))],
)  # fmt: skip
def test_a_state_with_a_wrong_member(member, value, tmp_path):
    state_of(tmp_path, ".h5")
    with h5py.File(tmp_path / "whole.solverstate.h5", "a") as file:
        if member in file:
            del file[member]
        file[member] = value
    with pytest.raises(ModelError, match=r"whole\.solverstate\.h5"):
        read_state(tmp_path / "whole.solverstate.h5")


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode("latin1")
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + data


@pytest.mark.parametrize(
    "data",
    [
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }\n"),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }\n", bytes(8)),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2**99,), }\n"),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", bytes(8)),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1," * 99 + "), }\n", bytes(4)),
        npy("{'descr': '<f4', 'fortran_order': 3, 'shape': (2,), }\n", bytes(8)),
        npy("{'descr': [('a', '<f4', (99999999,))], 'fortran_order': False, 'shape': (2,), }\n", bytes(8)),
        npy("{'descr': '<V0', 'fortran_order': False, 'shape': (2,), }\n"),
        npy("(((((((((((("), npy("{" * 5000), npy("__import__('os').system('touch planted')\n"), npy("\0" * 20),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", bytes(8), b"\x09\x00"),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", bytes(7)), b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff",
    ],
)  # fmt: skip
def test_a_npy_whose_header_is_wrong(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mean.npy").write_bytes(data)
    for read in (read_blob, read_mean):
        with pytest.raises(ModelError, match=r"mean\.npy"):
            read(tmp_path / "mean.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["mean.npy"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<i2", "|u1", "<f2"])
def test_a_npy_is_read_as_numpy_reads_it(order, dtype, tmp_path):
    array = np.asarray(np.arange(24).reshape(2, 3, 4), dtype, order=order)
    np.save(tmp_path / "a.npy", array)
    read = read_blob(tmp_path / "a.npy")
    assert read.dtype == array.dtype
    np.testing.assert_array_equal(read, array)


# What is no regular file


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize(
    "read", [read_net, read_solver, read_weights, read_mean, read_state, read_labels, read_image, decode, size_of]
)
def test_pipes_and_devices_are_refused_at_once(read, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "pipe", "a pipe"), (Path("/dev/zero"), "a device"), (tmp_path, "a folder")):
        with pytest.raises(BoxpressoError) as caught:
            read(str(path))
        assert str(path) in str(caught.value)
        assert kind in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names and devices are POSIX's")
@pytest.mark.parametrize("source", ["pipe", "/dev/zero"])
def test_files_that_a_prototxt_names_are_regular(source, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / source
    for text in (
        f'type: "ImageData" image_data_param {{ source: "{path}" batch_size: 1 }}',
        f'type: "HDF5Data" hdf5_data_param {{ source: "{path}" batch_size: 1 }}',
        f'type: "WindowData" window_data_param {{ source: "{path}" batch_size: 1 }} transform_param {{ crop_size: 1 }}',
    ):
        with pytest.raises(LayerError, match="not a regular file"):
            run_layer(text, tops=2)


def test_a_file_that_is_too_large(tmp_path, limits):
    (tmp_path / "net.prototxt").write_text("# " + "x" * 1000)
    limits.set(text_bytes=500, file_bytes=600)
    with pytest.raises(ModelError, match=r"net\.prototxt: it has 1002 bytes; raise the limit 'text_bytes'"):
        read_net(tmp_path / "net.prototxt")
    with pytest.raises(ModelError, match="raise the limit 'file_bytes'"):
        read_weights(tmp_path / "net.prototxt")
    with pytest.raises(ModelError, match=r"zero byte|null"):
        read_file("a\0b")


# Pictures


def bomb(width: int, height: int) -> bytes:
    """A PNG of zeros whose pixels would take a thousand times its size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(9)
    rows = b"".join([packer.compress(bytes(width * 3 + 1)) for _ in range(height)]) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_a_picture_that_becomes_too_large(tmp_path, limits):
    data = bomb(6000, 5000)
    path = tmp_path / "bomb.png"
    path.write_bytes(data)
    assert len(data) < 200_000
    for read in (lambda: read_image(path), lambda: decode(str(path)), lambda: decode(data, name="bomb.png")):
        with pytest.raises(
            BoxpressoError, match=r"bomb\.png: its header says 6000x5000 pixels, 90000000 bytes"
        ) as caught:
            read()
        assert "'expansion_factor'" in str(caught.value)
    limits.set(expansion_factor=1000)
    assert read_image(path).size == (6000, 5000)
    limits.set(picture_pixels=29_999_999)
    with pytest.raises(BoxpressoError, match="'picture_pixels'"):
        read_image(path)


def test_a_large_photograph_is_read(tmp_path):
    """22 million pixels: within the limits whatever the size of the file."""
    Image.new("RGB", (5500, 4000)).save(tmp_path / "a.jpg", quality=20)
    assert decode(str(tmp_path / "a.jpg")).shape == (4000, 5500, 3)


def test_a_picture_that_would_run_a_program(tmp_path):
    """PostScript, for which Pillow runs Ghostscript."""
    postscript = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n%%EOF\n"
    assert Image.open(io.BytesIO(postscript)).format == "EPS"
    (tmp_path / "a.jpg").write_bytes(postscript)
    with pytest.raises(BoxpressoError, match=r"a\.jpg is not an image"):
        read_image(tmp_path / "a.jpg")
    with pytest.raises(BrokenRecord, match="is not an image"):
        decode(postscript)


@pytest.mark.parametrize("format", ["PNG", "JPEG", "BMP", "GIF", "PPM", "TIFF", "WEBP", "TGA"])
def test_pictures_of_every_kind_are_read(format, tmp_path):
    Image.new("RGB", (5, 4), (255, 0, 0)).save(tmp_path / "picture", format=format)
    assert read_image(tmp_path / "picture").size == (5, 4)


# Records


def test_a_truncated_lmdb_is_refused(tmp_path):
    """To read beyond its end would be a bus error."""
    pytest.importorskip("lmdb", reason="lmdb is not installed (pip install 'boxpresso[train]')")
    write_records(tmp_path / "db", [(f"{i:04}", bytes([i % 256]) * 3000) for i in range(200)])
    assert len(open_records(str(tmp_path / "db"))) == 200
    whole = (tmp_path / "db" / "data.mdb").read_bytes()
    (tmp_path / "cut").mkdir()
    end = len(whole.rstrip(b"\0"))  # on Windows the file is longer than what is in it
    for size in (0, 10, 100, 4096, 8000, 9000, end // 2, end - 4096):
        (tmp_path / "cut" / "data.mdb").write_bytes(whole[:size])
        with pytest.raises(DataError, match="cut"):
            open_records(str(tmp_path / "cut"))
    (tmp_path / "cut" / "data.mdb").write_bytes(b"no database" * 1000)
    with pytest.raises(DataError, match="cut"):
        open_records(str(tmp_path / "cut"))


def test_a_damaged_lmdb_is_refused(tmp_path):
    """The library would follow its pages out of the file, or end the process."""
    pytest.importorskip("lmdb", reason="lmdb is not installed (pip install 'boxpresso[train]')")
    write_records(tmp_path / "db", [(f"{i:04}", bytes([i % 256]) * (3000 if i % 5 == 0 else 90)) for i in range(200)])
    whole = (tmp_path / "db" / "data.mdb").read_bytes()
    file, draw, refused = tmp_path / "case", np.random.default_rng(1), 0
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(5):
            at = int(draw.integers(len(data) // 4096)) * 4096 + int(draw.integers(80))
            data[at] = int(draw.choice([0, 1, 2, 16, 64, 255]))
        file.write_bytes(data)
        try:
            records = Records(str(file))
            for i in range(len(records)):
                assert len(records[i]) <= len(whole)
                assert records.name(i)
        except DataError as error:
            refused += "case" in str(error) and "write" in str(error)
        else:
            continue
    assert refused > 100


# What a prototxt may write

WRITER = """
    layer {{ name: "x" type: "Input" top: "x" top: "y" input_param {{ shape {{ dim: 2 }} }} }}
    layer {{ name: "out" type: "HDF5Output" bottom: "x" bottom: "y" hdf5_output_param {{ file_name: "{}" }} }}"""


def test_a_net_writes_only_where_its_caller_says(tmp_path):
    target, inside = tmp_path / "precious", tmp_path / "out"
    target.write_text("precious")
    inside.mkdir()
    links = []
    if os.name == "posix":  # elsewhere a link takes rights
        links = [inside / "link"]
        links[0].symlink_to(target)
    for path, below in (
        (target, ()), (target, inside), (inside / ".." / "precious", inside), (inside, inside),
        *((link, folders) for link in links for folders in (inside, [inside, tmp_path / "other"])),
        (tmp_path / "outside.h5", inside), (Path("Z:/elsewhere.h5"), inside),  # on Windows another drive
    ):  # fmt: skip
        with pytest.raises(LayerError, match=r"HDF5Output layer 'out': it may not write to .*write_below=FOLDER"):
            Net(parse_net(WRITER.format(path.as_posix())), device="cpu", write_below=below)
    assert target.read_text() == "precious"
    assert list(inside.iterdir()) == links
    for below in (inside, [str(inside)], None, tmp_path, inside.anchor):
        net = Net(parse_net(WRITER.format((inside / "a.h5").as_posix())), device="cpu", write_below=below)
        net.forward(x=[1, 2], y=[3, 4])
        with h5py.File(inside / "a.h5") as file:
            assert file["data"][()].tolist() == [1, 2]


DETECTOR = """
    layer {{ name: "loc" type: "Input" top: "loc" input_param {{ shape {{ dim: 1 dim: 4 }} }} }}
    layer {{ name: "conf" type: "Input" top: "conf" input_param {{ shape {{ dim: 1 dim: 2 }} }} }}
    layer {{ name: "prior" type: "Input" top: "prior" input_param {{ shape {{ dim: 1 dim: 2 dim: 4 }} }} }}
    layer {{ name: "out" type: "DetectionOutput" bottom: "loc" bottom: "conf" bottom: "prior" top: "out"
            detection_output_param {{ num_classes: 2 nms_param {{ nms_threshold: 0.5 }} confidence_threshold: 0.1
                save_output_param {{ output_directory: "{0}/out" output_name_prefix: "{1}" output_format: "VOC"
                    label_map_file: "{0}/labels" name_size_file: "{0}/sizes" }} }} }}"""


def detect(folder: Path, prefix: str, name: str, **options: object) -> None:
    (folder / "labels").write_text(f'item {{ name: "none" label: 0 }} item {{ name: "{name}" label: 1 }}')
    (folder / "sizes").write_text("picture 100 100\n")
    net = Net(parse_net(DETECTOR.format(folder.as_posix(), prefix)), device="cpu", **options)
    prior = np.array([[[0.1, 0.1, 0.5, 0.5], [0.1, 0.1, 0.2, 0.2]]])
    net.forward(loc=np.zeros((1, 4)), conf=np.array([[0.1, 0.9]]), prior=prior)


def test_detections_are_saved_only_where_the_caller_says(tmp_path):
    """Published prototxts name folders of their authors, so that this is a warning."""
    with pytest.warns(UserWarning, match="detections are not saved .* may not write"):
        detect(tmp_path, "p_", "cat")
    assert not (tmp_path / "out").exists()
    detect(tmp_path, "p_", "cat", write_below=tmp_path)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["p_cat.txt"]


@pytest.mark.parametrize(("prefix", "name"), [("", "../../escaped"), ("x", "/escaped"), ("x/", "y")])
def test_a_label_is_no_path(prefix, name, tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(LayerError, match=r"DetectionOutput layer 'out': .*the file's name would be"):
        detect(tmp_path / "a", prefix, name, write_below=tmp_path)
    assert not list(tmp_path.rglob("*escaped*"))
    assert not list((tmp_path / "a" / "out").iterdir())


# Limits


def test_limits_by_name(limits):
    with pytest.raises(BoxpressoError, match="there is no limit 'picture_pixel'; did you mean 'picture_pixels'"):
        limits.set(picture_pixel=3)
    with pytest.raises(BoxpressoError, match="the limit layers must be a whole number from 1, got 0"):
        limits.set(layers=0)
    limits.set(layers=77, text_bytes=99)
    code = "from boxpresso.proto.limits import LIMITS; print(LIMITS.layers, LIMITS.text_bytes, LIMITS.text_depth)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "77 99 100\n"
    with pytest.raises(BoxpressoError, match="BOXPRESSO_LIMITS must be like"):
        limits.read("layers")


def test_the_page_of_limits_is_complete():
    """docs/limits.md has each limit with its default."""
    page = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1]: line.split("|")[2] for line in page.splitlines() if line.startswith("| `")}
    for name, value in vars(Limits()).items():
        (default,) = [cell for names, cell in rows.items() if f"`{name}`" in names]
        assert f"{value:,}" in default or f" {value}" in default, name


def test_a_text_of_variable_length_is_not_read(tmp_path):
    """HDF5 looks for it in a heap, in a damaged one for ever; the weights lie beside the state then."""
    with h5py.File(tmp_path / "s_iter_3.solverstate.h5", "w") as file:
        file["iter"], file["learned_net"], file["history/0"] = np.int32(3), "/elsewhere/w.caffemodel.h5", VALUES
    assert read_state(tmp_path / "s_iter_3.solverstate.h5").learned_net == str(tmp_path / "s_iter_3.caffemodel.h5")
    with h5py.File(tmp_path / "s_iter_3.solverstate.h5", "a") as file:
        del file["learned_net"]
        file["learned_net"] = np.bytes_(b"/elsewhere/w.caffemodel.h5")
    assert read_state(tmp_path / "s_iter_3.solverstate.h5").learned_net == "/elsewhere/w.caffemodel.h5"


# Scans of a JPEG


def many_scans(scans: int, side: int = 64) -> bytes:
    """A progressive JPEG whose last scan is there again and again."""
    to = io.BytesIO()
    Image.fromarray(np.random.default_rng(4).integers(0, 256, (side, side, 3), np.uint8)).save(
        to, "JPEG", progressive=True
    )
    data = to.getvalue()
    last = data[data.rfind(b"\xff\xda") : -2]
    return data[:-2] + last * (scans - data.count(b"\xff\xda")) + data[-2:]


def test_a_jpeg_of_many_scans_is_refused(tmp_path, limits):
    assert scans_of(many_scans(100), 1000) == 100
    assert scans_of(many_scans(3000), 100) == 101
    assert decode(many_scans(100)).shape == (64, 64, 3)
    (tmp_path / "a.jpg").write_bytes(many_scans(101))
    for source in (many_scans(101), many_scans(3000), tmp_path / "a.jpg"):
        for read in (decode, read_numbers):
            with pytest.raises(
                BrokenRecord, match=r"a JPEG of 101 scans or more, each over its 64x64 pixels; .*picture_scans"
            ):
                read(source)
    with pytest.raises(BoxpressoError, match="a JPEG of 101 scans"):
        read_image(tmp_path / "a.jpg")
    limits.set(scanned_pixels=64 * 64 * 20)
    with pytest.raises(BrokenRecord, match=r"a JPEG of 21 scans or more.*'scanned_pixels'"):
        decode(many_scans(21))
    assert decode(many_scans(20)).shape == (64, 64, 3)
    limits.set(scanned_pixels=2**30, picture_scans=3000)
    assert decode(many_scans(3000)).shape == (64, 64, 3)


def test_what_looks_like_scans_in_other_segments_is_none():
    data = many_scans(12)
    comment = b"\xff\xda" * 5000 + b"\xff\xd9"
    inside = data[:2] + b"\xff\xfe" + struct.pack(">H", len(comment) + 2) + comment + data[2:]
    assert decode(inside).tolist() == decode(data).tolist()
    last = inside.rfind(b"\xff\xda")
    hidden = (
        inside[:last]
        + b"\xff\xfe"
        + struct.pack(">H", 4)
        + b"\xff\xd9"
        + inside[last:-2]
        + inside[last:-2] * 200
        + inside[-2:]
    )
    with pytest.raises(BrokenRecord, match="a JPEG of 101 scans"):  # an end in a comment is none
        decode(hidden)
    with pytest.raises(BrokenRecord, match="segments"):
        decode(
            data[:2] + b"\xff\xfe\x00\x02" * 100_001 + data[2:-2] + data[data.rfind(b"\xff\xda") : -2] * 200 + data[-2:]
        )
