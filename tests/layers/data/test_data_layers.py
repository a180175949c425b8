"""Data, ImageData and MemoryData on records and pictures drawn here."""

from __future__ import annotations

import pickle
import shutil
import sys

import numpy as np
import pytest
from drawn import annotated_lmdb, boxes_of, data, datum_lmdb, picture
from harness import Rig

from boxpresso import LayerError
from boxpresso.data.errors import DataError
from boxpresso.data.picture import encode, resize
from boxpresso.data.records import make_datum, open_records, write_records
from boxpresso.proto import BoxpressoWarning

lmdb = pytest.importorskip("lmdb")


# LMDB


def test_data_goes_round_and_round(tmp_path, device):
    rig = data(datum_lmdb(tmp_path / "db"), device=device)
    assert rig.top[0].shape == (4, 3, 12, 16)
    assert rig.top[1].shape == (4,)
    for start in (0, 4, 8):
        pictures, labels = rig.forward()
        wanted = [i % 6 for i in range(start, start + 4)]
        np.testing.assert_array_equal(labels, wanted)
        np.testing.assert_array_equal(pictures, [picture(i).transpose(2, 0, 1) for i in wanted])


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 128:
            return value, at


def fields(data: bytes) -> dict[int, list]:
    """Protobuf's wire format, read without protobuf."""
    values, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 5:
            value, at = np.frombuffer(data[at : at + 4], np.float32)[0], at + 4
        else:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        values.setdefault(key >> 3, []).append(value)
    return values


def test_bytes_in_the_lmdb_are_caffes(tmp_path):
    """channels 1, height 2, width 3, data 4, label 5, encoded 7; an AnnotatedDatum has the Datum as 1, type 2, groups 3."""
    with lmdb.open(str(datum_lmdb(tmp_path / "plain", 2)), readonly=True, lock=False) as env, env.begin() as view:
        read = fields(view.get(b"00000001"))
    assert {n: read[n][0] for n in (1, 2, 3, 5)} == {1: 3, 2: 12, 3: 16, 5: 1}
    np.testing.assert_array_equal(np.frombuffer(read[4][0], np.uint8).reshape(3, 12, 16), picture(1).transpose(2, 0, 1))
    with lmdb.open(str(annotated_lmdb(tmp_path / "boxes", 3)), readonly=True, lock=False) as env, env.begin() as view:
        read = fields(view.get(b"00000002"))
    assert fields(read[1][0])[7] == [1]
    assert fields(read[1][0])[4][0].startswith(b"\x89PNG")
    assert read[2] == [0]
    groups = [fields(group) for group in read[3]]
    assert [g[1][0] for g in groups] == [1, 2]
    corners = fields(fields(groups[1][2][0])[2][0])
    np.testing.assert_array_equal([corners[n][0] for n in (1, 2, 3, 4, 6)], boxes_of(2)[1, 2:7])


def test_encoded_records_and_colour(tmp_path):
    source = datum_lmdb(tmp_path / "db", encoded=True)
    pictures, _ = data(source).forward()
    np.testing.assert_array_equal(pictures[3], picture(3).transpose(2, 0, 1))
    grey = data(source, more="transform_param { force_gray: true }")
    assert grey.forward()[0].shape == (4, 1, 12, 16)
    plain = data(datum_lmdb(tmp_path / "plain"), more="transform_param { force_gray: true crop_size: 5 }")
    with pytest.raises(LayerError, match="is not encoded and has 3 channels"):
        plain.forward()
    same = data(tmp_path / "plain", more="transform_param { force_color: true }")  # as Caffe, which only says so
    np.testing.assert_array_equal(same.forward()[0][3], picture(3).transpose(2, 0, 1))


def test_float_records(tmp_path):
    values = np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 3, 2)
    write_records(tmp_path / "db", [("a", make_datum(values, 7).SerializeToString())])
    pictures, labels = data(tmp_path / "db", 2, "transform_param { scale: 2 }").forward()
    np.testing.assert_allclose(pictures, np.stack([values.transpose(2, 0, 1) * 2] * 2))
    assert labels.tolist() == [7, 7]


def test_shuffle_gives_each_once_in_a_round(tmp_path):
    rig = data(datum_lmdb(tmp_path / "db"), batch=3, param="shuffle: true", seed=5)
    rounds = [np.concatenate([rig.forward()[1] for _ in range(2)]).tolist() for _ in range(8)]
    assert all(sorted(r) == list(range(6)) for r in rounds)
    assert len({tuple(r) for r in rounds}) > 4


def test_rand_skip(tmp_path):
    source = datum_lmdb(tmp_path / "db")
    starts = {int(data(source, param="rand_skip: 4", seed=seed).forward()[1][0]) for seed in range(40)}
    assert starts == {0, 1, 2, 3}


def test_shapes_without_data_and_a_missing_source():
    rig = data("/nowhere/train_lmdb", more="transform_param { crop_size: 7 force_color: true }")
    assert rig.top[0].shape == (4, 3, 7, 7)
    with pytest.raises(LayerError, match=r"Data layer 'layer': there is no LMDB at '/nowhere/train_lmdb'"):
        rig.forward()
    with pytest.raises(LayerError, match=r"no LMDB at '/nowhere/train_lmdb'"):
        data("/nowhere/train_lmdb")


def test_wrong_sources(tmp_path):
    with pytest.raises(LayerError, match=r"folder without data\.mdb"):
        data(tmp_path)
    (tmp_path / "CURRENT").write_text("MANIFEST")
    with pytest.raises(LayerError, match="LevelDB"):
        data(tmp_path)
    with pytest.raises(LayerError, match="batch_size must be 1 or more"):
        data(tmp_path, batch=0)
    env = lmdb.open(str(tmp_path / "none"))
    env.close()
    with pytest.raises(LayerError, match="is empty"):
        data(tmp_path / "none")
    datum_lmdb(tmp_path / "db", 2)
    with pytest.raises(LayerError, match=r"record 0 \(00000000\) of .*db: a crop of 50x50 does not fit"):
        data(tmp_path / "db", more="transform_param { crop_size: 50 }")
    with pytest.raises(LayerError, match="mean_file or mean_value"):
        data(tmp_path / "db", more='transform_param { mean_file: "a" mean_value: 4 }')
    with pytest.raises(Exception, match="exists already"):
        datum_lmdb(tmp_path / "db")


def test_without_the_package_an_lmdb_is_read_and_none_written(tmp_path, monkeypatch):
    source = datum_lmdb(tmp_path / "db")
    monkeypatch.setitem(sys.modules, "lmdb", None)
    assert data(source).forward()[1].tolist() == [0, 1, 2, 3]
    with pytest.raises(DataError, match=r"pip install 'boxpresso\[train\]'"):
        datum_lmdb(tmp_path / "other")


def test_two_nets_read_one_lmdb(tmp_path):
    source = datum_lmdb(tmp_path / "db")
    first, second = data(source), data(source)
    assert first.forward()[1].tolist() == second.forward()[1].tolist() == [0, 1, 2, 3]
    assert open_records(str(source)) is open_records(str(tmp_path / "." / "db"))


def test_an_lmdb_that_was_written_anew(tmp_path):
    """A net that is still open keeps its records, another reads the new ones."""
    source = datum_lmdb(tmp_path / "db", 2)
    old = data(source, 2)
    before = old.forward()[0]
    shutil.rmtree(source)
    write_records(source, [(f"{i}", make_datum(picture(9), 9).SerializeToString()) for i in range(3)])
    new = data(source, 2)
    assert new.forward()[1].tolist() == [9, 9]
    np.testing.assert_array_equal(old.forward()[0], before)
    with pytest.raises(DataError, match="written anew since it was opened"):  # a worker's copy would mix them
        pickle.loads(pickle.dumps(old.layer.loader.maker.source))


# ImageData


def image_list(tmp_path, count=5):
    (tmp_path / "images").mkdir()
    for i in range(count):
        (tmp_path / "images" / f"no {i}.png").write_bytes(encode(picture(i), "PNG"))
    (tmp_path / "list.txt").write_text("".join(f"no {i}.png {i * 10}\n" for i in range(count)))
    return tmp_path / "list.txt"


def images(source, more="", transform="", **options) -> Rig:
    text = (
        f'type: "ImageData" image_data_param {{ source: "{source.as_posix()}" batch_size: 3 root_folder: "{source.parent.as_posix()}/images/" {more} }} '
        f"transform_param {{ {transform} }}"
    )
    return Rig(text, [], tops=2, **{"phase": "TRAIN", **options})


def test_image_data(tmp_path, device):
    source = image_list(tmp_path)
    rig = images(source, device=device)
    pictures, labels = rig.forward()
    np.testing.assert_array_equal(pictures, [picture(i).transpose(2, 0, 1) for i in range(3)])
    assert labels.tolist() == [0, 10, 20]
    assert rig.forward()[1].tolist() == [30, 40, 0]
    resized, _ = images(source, "new_height: 7 new_width: 9").forward()
    np.testing.assert_array_equal(resized[1], resize(picture(1), 9, 7).transpose(2, 0, 1))
    grey, _ = images(source, "is_color: false", "scale: 0.5").forward()
    assert grey.shape == (3, 1, 12, 16)
    assert grey.max() <= 127.5
    order = np.concatenate([images(source, "shuffle: true", seed=3).forward()[1] for _ in range(1)])
    assert set(order) <= {0, 10, 20, 30, 40}


def test_pictures_with_several_labels(tmp_path, device):
    source = image_list(tmp_path)
    for i in range(5):
        (tmp_path / "images" / f"no {i}.png").rename(tmp_path / "images" / f"no{i}.png")
    text = (
        f'type: "MultiLabelImageData" multi_label_image_data_param {{ source: "{source.as_posix()}" batch_size: 3 '
        f'label_num: 3 root_folder: "{tmp_path.as_posix()}/images/" }}'
    )
    source.write_text("no1.png 4 -2 56\n\nno2.png 0 7 1e2\n")
    pictures, labels = Rig(text, [], tops=2, phase="TRAIN", device=device).forward()
    np.testing.assert_array_equal(pictures, [picture(i).transpose(2, 0, 1) for i in (1, 2, 1)])
    assert labels.tolist() == [[4, -2, 56], [0, 7, 100], [4, -2, 56]]
    for line, message in (
        ("no1.png 4 5", "line 1: it must be `path` and 3 numbers, it is 3 words"),
        ("no1.png 4 5 b", "line 1: it must be `path` and 3 numbers, it is 4 words"),
        ("", "is empty"),
    ):
        source.write_text(line)
        with pytest.raises(LayerError, match=message):
            Rig(text, [], tops=2, phase="TRAIN")
    with pytest.raises(LayerError, match="give multi_label_image_data_param"):  # those of happynear/caffe-windows
        Rig('type: "MultiLabelImageData" image_data_param { source: "list.txt" }', [], tops=2)


def test_image_data_without_its_list():
    from pathlib import Path

    rig = images(Path("/nowhere/list.txt"), "new_height: 5 new_width: 6")
    assert rig.top[0].shape == (3, 3, 5, 6)
    with pytest.raises(LayerError, match=r"cannot read the list '/nowhere/list.txt'"):
        rig.forward()
    with pytest.raises(LayerError, match="go together"):
        images(Path("/nowhere/list.txt"), "new_height: 5")


def test_image_data_leaves_out_what_is_missing(tmp_path):
    source = image_list(tmp_path)
    (tmp_path / "images" / "no 1.png").unlink()
    with pytest.warns(BoxpressoWarning, match=r"there is no picture .*no 1\.png"):
        assert images(source).forward()[1].tolist() == [0, 20, 20]
    source.write_text("picture\n")
    with pytest.raises(LayerError, match="line 1: it must be `path label`"):
        images(source)


def test_pictures_of_different_sizes(tmp_path):
    source = image_list(tmp_path)
    (tmp_path / "images" / "no 1.png").write_bytes(encode(picture(1, 20, 20), "PNG"))
    with pytest.raises(LayerError, match=r"pictures of one batch have the shapes"):
        images(source).forward()
    one = Rig(
        f'type: "ImageData" image_data_param {{ source: "{source.as_posix()}" root_folder: "{source.parent.as_posix()}/images/" }}',
        [],
        tops=2,
    )
    assert [one.forward()[0].shape[2:] for _ in range(3)] == [(12, 16), (20, 20), (12, 16)]


# MemoryData


def test_memory_data(device):
    rig = Rig(
        'type: "MemoryData" memory_data_param { batch_size: 2 channels: 3 height: 4 width: 5 } '
        "transform_param { crop_h: 4 crop_w: 5 scale: 2 }",
        [], tops=2, device=device,
    )  # fmt: skip
    with pytest.raises(LayerError, match="call set_input_arrays"):
        rig.forward()
    values = np.random.default_rng(0).standard_normal((4, 3, 4, 5)).astype(np.float32)
    rig.layer.set_input_arrays(values, np.arange(4))
    for rows in (slice(0, 2), slice(2, 4), slice(0, 2)):
        pictures, labels = rig.forward()
        np.testing.assert_array_equal(pictures, values[rows])
        np.testing.assert_array_equal(labels, np.arange(4)[rows])
    for wrong, message in (
        (values[:3], "multiple of batch_size 2"), (values[:, :2], r"shape \('N', 3, 4, 5\), got \(4, 2, 4, 5\)"), (values[:0], "multiple")
    ):  # fmt: skip
        with pytest.raises(LayerError, match=message):
            rig.layer.set_input_arrays(wrong)
    with pytest.raises(LayerError, match="4 pictures and 3 labels"):
        rig.layer.set_input_arrays(values, np.arange(3))
    rig.layer.add_pictures([picture(i, 6, 7) for i in range(2)], np.array([5, 6]))
    pictures, labels = rig.forward()
    np.testing.assert_array_equal(pictures[1], picture(1, 6, 7)[1:5, 1:6].transpose(2, 0, 1) * 2.0)
    assert labels.tolist() == [5, 6]
