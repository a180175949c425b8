"""Data, AnnotatedData, ImageData, MemoryData, HDF5Data and HDF5Output, on records and pictures drawn here."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from drawn import annotated_lmdb, boxes_of, datum_lmdb, picture
from harness import Rig

from boxpresso import LayerError, Net, Solver
from boxpresso.data.picture import encode, resize
from boxpresso.data.records import make_datum, open_records, write_records
from boxpresso.proto import BoxpressoWarning, parse_net, parse_solver

h5py, lmdb = pytest.importorskip("h5py"), pytest.importorskip("lmdb")


def data(source, batch=4, more="", param="", **options) -> Rig:
    text = f'type: "Data" data_param {{ source: "{source}" backend: LMDB batch_size: {batch} {param} }} {more}'
    return Rig(text, [], tops=2, **{"phase": "TRAIN", **options})


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
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 5:
            value, at = np.frombuffer(data[at : at + 4], np.float32)[0], at + 4
        else:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        found.setdefault(key >> 3, []).append(value)
    return found


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
    with pytest.raises(LayerError, match="is not encoded"):
        plain.forward()


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


@pytest.mark.parametrize("make", [datum_lmdb, annotated_lmdb])
def test_results_depend_on_the_seed_and_not_on_the_workers(tmp_path, make):
    source = make(tmp_path / "db", 20)
    kind = "Data" if make is datum_lmdb else "AnnotatedData"
    text = (
        f'type: "{kind}" data_param {{ source: "{source}" batch_size: 5 prefetch: %d shuffle: true }} '
        "transform_param { mirror: true crop_size: 6 resize_param { height: 8 width: 9 interp_mode: LINEAR interp_mode: AREA } "
        "distort_param { brightness_prob: 0.5 brightness_delta: 32 hue_prob: 0.5 hue_delta: 18 random_order_prob: 0.5 } "
        "expand_param { prob: 0.5 max_expand_ratio: 3 } }"
    )

    def run(workers, ahead, seed):
        rig = Rig(text % ahead, [], tops=2, phase="TRAIN", seed=seed)
        rig.layer.workers = workers
        made = [rig.forward() for _ in range(8)]
        rig.layer.close()
        return made

    one, many, other = run(1, 1, 3), run(5, 7, 3), run(1, 1, 4)
    for a, b in zip(one, many):
        np.testing.assert_array_equal(a[0], b[0])
        np.testing.assert_array_equal(a[1], b[1])
    assert any(not np.array_equal(a[0], b[0]) for a, b in zip(one, other))


def test_a_net_can_resume_and_share(tmp_path):
    source = datum_lmdb(tmp_path / "db", 12)
    whole = data(source, batch=4, seed=2, param="shuffle: true", more="transform_param { mirror: true crop_size: 6 }")
    batches = [whole.forward() for _ in range(4)]
    assert whole.layer.batch_number == 4
    whole.layer.batch_number = 1
    for wanted in batches[1:]:
        for a, b in zip(whole.forward(), wanted):
            np.testing.assert_array_equal(a, b)
    ranks = [data(source, batch=2, seed=2, param="shuffle: true", more="transform_param { mirror: true crop_size: 6 }") for _ in "ab"]
    for rank, rig in enumerate(ranks):
        rig.layer.share = (rank, 2)
    for wanted in batches:
        parts = [rig.forward() for rig in ranks]
        for i in range(2):
            np.testing.assert_array_equal(np.concatenate([p[i] for p in parts]), wanted[i])


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


def test_without_lmdb_the_error_says_what_to_install(tmp_path, monkeypatch):
    source = datum_lmdb(tmp_path / "db")
    monkeypatch.setitem(sys.modules, "lmdb", None)
    with pytest.raises(LayerError, match=r"pip install 'boxpresso\[train\]'"):
        data(source)


def broken_lmdb(path):
    good = make_datum(encode(picture(1), "PNG"), 1).SerializeToString()
    bad = make_datum(b"\xff\xd8 no picture", 2).SerializeToString()
    write_records(path, [("a", good), ("b", bad), ("c", b"\xff\xff\xff"), ("d", good)])
    return path


def test_broken_records_are_named_counted_and_left_out(tmp_path):
    rig = data(broken_lmdb(tmp_path / "db"))
    with pytest.warns(BoxpressoWarning) as seen:
        assert rig.forward()[1].tolist() == [1, 1, 1, 1]
    text = " ".join(str(w.message) for w in seen)
    assert "record 1 (b)" in text
    assert "record 2 (c)" in text
    assert sorted(rig.layer.broken) == [1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rig.forward()  # named once
    rig.layer.close()
    refusing = data(tmp_path / "db")
    refusing.layer.refuse_broken = True
    with pytest.raises(LayerError, match=r"record 1 \(b\)"):
        refusing.forward()


def test_nothing_but_broken_records(tmp_path):
    write_records(tmp_path / "db", [("a", b"\xff"), ("b", b"\xff")])
    with pytest.raises(LayerError, match="none of the 2 records can be read"):
        data(tmp_path / "db")


def test_two_nets_read_one_lmdb(tmp_path):
    source = datum_lmdb(tmp_path / "db")
    first, second = data(source), data(source)
    assert first.forward()[1].tolist() == second.forward()[1].tolist() == [0, 1, 2, 3]
    assert open_records(str(source)) is open_records(str(tmp_path / "." / "db"))


def test_waited_is_a_share(tmp_path):
    rig = data(datum_lmdb(tmp_path / "db"))
    assert rig.layer.waited == 0
    for _ in range(5):
        rig.forward()
        time.sleep(0.02)
    assert 0 <= rig.layer.waited < 0.7


def test_threads_end_with_the_net(tmp_path):
    rig = data(datum_lmdb(tmp_path / "db"))
    rig.forward()

    def threads(rig):
        return list(rig.layer.loader._pool._threads)

    def ended(some):
        for thread in some:
            thread.join(10)
        return not any(thread.is_alive() for thread in some)

    first = threads(rig)
    assert all(thread.is_alive() for thread in first)
    rig.layer.close()
    assert ended(first)
    assert rig.forward()[1].tolist() == [4, 5, 0, 1]  # it goes on where it was
    second = threads(rig)
    del rig  # without close
    gc.collect()
    assert ended(second)


def test_a_program_ends_while_batches_are_made(tmp_path):
    program = (
        "from boxpresso import Net\nfrom boxpresso.proto import parse_net\n"
        f"net = Net(parse_net('''layer {{ name: \"d\" type: \"Data\" top: \"x\" data_param {{ source: \"{datum_lmdb(tmp_path / 'db')}\" "
        "backend: LMDB batch_size: 64 prefetch: 10 } }'''), phase='TRAIN', device='cpu')\nnet.forward()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


# AnnotatedData


def annotated(source, batch=4, more="", **options) -> Rig:
    text = f'type: "AnnotatedData" data_param {{ source: "{source}" backend: LMDB batch_size: {batch} }} {more}'
    return Rig(text, [], tops=2, **{"phase": "TRAIN", **options})


def test_annotated_data_as_it_is(tmp_path, device):
    rig = annotated(annotated_lmdb(tmp_path / "db"), device=device)
    pictures, rows = rig.forward()
    np.testing.assert_array_equal(pictures[2], picture(2).transpose(2, 0, 1))
    wanted = [[i, b[0], b[1], *b[2:7]] for i in range(4) for b in boxes_of(i)]
    assert rows.shape == (1, 1, 3, 8)
    np.testing.assert_allclose(rows[0, 0], wanted, rtol=1e-6)
    assert rows[0, 0, 2, 7] == 1  # difficult
    assert rig.forward()[1].shape == (1, 1, 4, 8)  # pictures 4, 5, 0, 1


def test_a_batch_without_boxes(tmp_path):
    _, rows = annotated(annotated_lmdb(tmp_path / "db", 1), batch=2).forward()
    np.testing.assert_array_equal(rows, np.full((1, 1, 1, 8), -1))


def test_boxes_grouped_by_label():
    from boxpresso.layers.annotated_data import label_rows

    own = np.zeros((4, 7), np.float32)
    own[:, 0], own[:, 1] = [5, 2, 5, 2], [0, 0, 1, 1]
    rows = label_rows([own[:0], own])
    assert rows[0, 0, :, :3].tolist() == [[1, 5, 0], [1, 5, 1], [1, 2, 0], [1, 2, 1]]


def test_records_without_an_annotation_type(tmp_path):
    from boxpresso.proto import AnnotatedDatum

    record = AnnotatedDatum(datum=make_datum(picture(0), 9))
    write_records(tmp_path / "db", [("a", record.SerializeToString())])
    rig = annotated(tmp_path / "db", batch=2)
    assert rig.top[1].shape == (2,)
    assert rig.forward()[1].tolist() == [9, 9]
    forced = annotated(tmp_path / "db", batch=2, more="annotated_data_param { anno_type: BBOX }")
    assert forced.forward()[1].shape == (1, 1, 1, 8)


def test_plain_records_are_refused(tmp_path):
    with pytest.raises(LayerError, match="no AnnotatedDatum"):
        annotated(datum_lmdb(tmp_path / "db"))


def test_boxes_stay_on_their_objects_through_all_augmentation(tmp_path):
    """A white square on black, anywhere: after expansion, samplers, resizing, cropping and mirroring the box is around it."""
    from boxpresso.data.records import make_annotated

    canvas = np.zeros((60, 80, 3), np.uint8)
    canvas[20:40, 30:60] = 255
    boxes = np.array([[7, 0, 30 / 80, 20 / 60, 60 / 80, 40 / 60, 0]], np.float32)
    record = make_annotated(make_datum(encode(canvas, "PNG")), boxes)
    write_records(tmp_path / "db", [("a", record.SerializeToString())])
    rig = annotated(
        tmp_path / "db", batch=8, seed=1,
        more="transform_param { mirror: true mean_value: 0 mean_value: 0 mean_value: 0 resize_param { height: 100 width: 100 "
        "interp_mode: LINEAR } emit_constraint { emit_type: CENTER } expand_param { prob: 0.5 max_expand_ratio: 3 } } "
        "annotated_data_param { batch_sampler { max_sample: 1 max_trials: 1 } "
        "batch_sampler { sampler { min_scale: 0.3 max_scale: 1 min_aspect_ratio: 0.5 max_aspect_ratio: 2 } "
        "sample_constraint { min_jaccard_overlap: 0.3 } max_sample: 1 max_trials: 50 } }",
    )  # fmt: skip
    assert rig.top[0].shape == (8, 3, 100, 100)
    seen = set()
    for _ in range(20):
        pictures, rows = rig.forward()
        for row in rows[0, 0]:
            ys, xs = np.nonzero(pictures[int(row[0]), 0] > 127)
            found = np.array([xs.min(), ys.min(), xs.max() + 1, ys.max() + 1])
            np.testing.assert_allclose(row[3:7] * 100, found, atol=3.5)  # crops are at whole pixels of a small picture
            seen.add(tuple(found))
            assert row[1] == 7
    assert len(seen) > 30


def test_sampler_settings_are_checked(tmp_path):
    with pytest.raises(LayerError, match="batch_sampler 0: it must be 0 < min_scale"):
        annotated(tmp_path, more="annotated_data_param { batch_sampler { sampler { max_scale: 3 } } }")


# ImageData


def image_list(tmp_path, count=5):
    (tmp_path / "images").mkdir()
    for i in range(count):
        (tmp_path / "images" / f"no {i}.png").write_bytes(encode(picture(i), "PNG"))
    (tmp_path / "list.txt").write_text("".join(f"no {i}.png {i * 10}\n" for i in range(count)))
    return tmp_path / "list.txt"


def images(source, more="", transform="", **options) -> Rig:
    text = (
        f'type: "ImageData" image_data_param {{ source: "{source}" batch_size: 3 root_folder: "{source.parent}/images/" {more} }} '
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
        f'type: "ImageData" image_data_param {{ source: "{source}" root_folder: "{source.parent}/images/" }}', [], tops=2
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


# HDF5


def hdf5_files(tmp_path):
    for name, start, count in (("a", 0, 3), ("b", 3, 4)):
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            rows = np.arange(start, start + count, dtype=np.float32)
            file["data"] = rows[:, None, None] * np.ones((1, 2, 3), np.float32)
            file["label"] = rows * 10
    (tmp_path / "files.txt").write_text("".join(f"{tmp_path}/{name}.h5\n" for name in "ab"))
    return tmp_path / "files.txt"


def hdf5_net(source, more="") -> Net:
    return Net(parse_net(
        f'layer {{ name: "h" type: "HDF5Data" top: "data" top: "label" hdf5_data_param {{ source: "{source}" batch_size: 5 {more} }} }}'
    ), phase="TRAIN", device="cpu", seed=1)  # fmt: skip


def test_hdf5_data_crosses_files(tmp_path):
    net = hdf5_net(hdf5_files(tmp_path))
    assert net.blobs["data"].shape == (5, 2, 3)
    assert net.blobs["label"].shape == (5,)
    for start in (0, 5, 10):
        out = net.forward()
        wanted = np.arange(start, start + 5) % 7
        np.testing.assert_array_equal(out["label"], wanted * 10)
        np.testing.assert_array_equal(out["data"][:, 1, 2], wanted)


def test_hdf5_data_shuffled(tmp_path):
    net = hdf5_net(hdf5_files(tmp_path), "shuffle: true")
    labels = np.concatenate([net.forward()["label"] for _ in range(7)]).reshape(5, 7)
    assert all(sorted(row) == [0, 10, 20, 30, 40, 50, 60] for row in labels.tolist())
    assert len({tuple(row) for row in labels.tolist()}) > 2


@pytest.mark.parametrize("more", ["", "shuffle: true"])
def test_hdf5_data_resumes(tmp_path, more):
    net = hdf5_net(hdf5_files(tmp_path), more)
    labels = [net.forward()["label"] for _ in range(6)]
    layer = net.layers[0]
    assert layer.batch_number == 6
    for number in (4, 0, 2):
        layer.batch_number = number
        np.testing.assert_array_equal(net.forward()["label"], labels[number])


def test_hdf5_errors(tmp_path):
    with pytest.raises(LayerError, match=r"cannot read the list of HDF5 files '/nowhere/files.txt'"):
        hdf5_net("/nowhere/files.txt")
    (tmp_path / "files.txt").write_text(f"{tmp_path}/none.h5\n")
    with pytest.raises(LayerError, match=r"cannot read the HDF5 file .*none\.h5"):
        hdf5_net(tmp_path / "files.txt")
    with h5py.File(tmp_path / "none.h5", "w") as file:
        file["data"] = np.zeros(3)
    with pytest.raises(LayerError, match=r"has no data set 'label'; it has data"):
        hdf5_net(tmp_path / "files.txt")
    with h5py.File(tmp_path / "none.h5", "a") as file:
        file["label"] = np.zeros(2)
    with pytest.raises(LayerError, match="one number of rows"):
        hdf5_net(tmp_path / "files.txt")


def test_hdf5_output(tmp_path, device):
    path = tmp_path / "out.h5"
    values, labels = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32), np.array([1, 2], np.float32)
    rig = Rig(f'type: "HDF5Output" hdf5_output_param {{ file_name: "{path}" }}', [values, labels], tops=0, device=device)
    rig.forward()
    rig.set_bottom(0, values + 1)
    rig.forward()
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["data"], np.concatenate([values, values + 1]))
        np.testing.assert_array_equal(file["label"], [1, 2, 1, 2])
    with pytest.raises(LayerError, match="no folder '/nowhere'"):
        Rig('type: "HDF5Output" hdf5_output_param { file_name: "/nowhere/x.h5" }', [values, labels], tops=0)
    with pytest.raises(LayerError, match="as many rows, got 2 and 3"):
        Rig(f'type: "HDF5Output" hdf5_output_param {{ file_name: "{path}" }}', [values, np.zeros(3)], tops=0)


# Training


def test_a_small_net_learns_from_an_lmdb(tmp_path):
    """Bright and dark pictures: Convolution, Pooling and InnerProduct tell them apart after some steps."""
    rng = np.random.default_rng(0)
    records = []
    for i in range(64):
        label = i % 2
        values = np.clip(rng.normal(70 + 110 * label, 30, (12, 12, 1)), 0, 255).astype(np.uint8)
        records.append((f"{i:04d}", make_datum(values, label).SerializeToString()))
    write_records(tmp_path / "db", records)
    source = (
        f'layer {{ name: "data" type: "Data" top: "data" top: "label" data_param {{ source: "{tmp_path}/db" backend: LMDB batch_size: 8 shuffle: true }} '
        "transform_param { scale: 0.00390625 crop_size: 10 mirror: true } }"
    )
    net = source + """
      layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
        convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
      layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { kernel_size: 2 stride: 2 } }
      layer { name: "relu" type: "ReLU" bottom: "pool" top: "pool" }
      layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
      layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" }
    """
    param = parse_solver(
        'base_lr: 0.1 momentum: 0.9 lr_policy: "fixed" max_iter: 40 random_seed: 3 solver_mode: CPU iter_size: 2 '
        f'snapshot_after_train: false snapshot: 15 snapshot_prefix: "{tmp_path}/snap"'
    )
    param.train_net_param.CopyFrom(parse_net(net))
    losses = []
    for _ in range(2):
        solver = Solver(param, log=lambda line: None)
        seen = []
        for _ in range(40):
            solver.step(1)
            seen.append(solver.net.loss())
        losses.append(seen)
    assert losses[0][-1] < 0.1 < losses[0][0]
    assert losses[0] == losses[1]
    resumed = Solver(param, log=lambda line: None)
    resumed.restore(tmp_path / "snap_iter_30.solverstate")
    for wanted in losses[0][30:]:
        resumed.step(1)
        assert resumed.net.loss() == wanted  # the same batches, crops and flips, to the bit


def test_resuming_leaves_other_layers_alone(tmp_path):
    """Layers such as EuclideanLoss have a `batch` of their own; only makers of batches are told where to go on."""
    net = """layer { name: "x" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 4 dim: 3 } data_filler { type: "gaussian" } } }
      layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 3 } }
      layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" }"""
    param = parse_solver(f'base_lr: 0.1 lr_policy: "fixed" max_iter: 3 snapshot_prefix: "{tmp_path}/s" random_seed: 1 solver_mode: CPU')
    param.train_net_param.CopyFrom(parse_net(net))
    solver = Solver(param, log=lambda line: None)
    solver.step(3)
    before = [dict(vars(layer)) for layer in solver.net.layers]
    solver.restore(solver.snapshot()[1])
    for layer, old in zip(solver.net.layers, before):
        assert all(vars(layer)[k] == v for k, v in old.items() if isinstance(v, int))


def test_a_small_ssd_learns_from_an_annotated_lmdb(tmp_path):
    """Red and blue squares on noise, through expansion, samplers, resizing and mirroring, into MultiBoxLoss."""
    from boxpresso.data.records import make_annotated

    rng, records = np.random.default_rng(0), []
    for i in range(64):
        canvas = rng.integers(0, 60, (48, 64, 3)).astype(np.uint8)
        x, y, side = rng.integers(0, 32), rng.integers(0, 24), rng.integers(14, 24)
        canvas[y : y + side, x : x + side] = [250, 40, 40] if i % 2 else [40, 40, 250]
        boxes = np.array([[1 + i % 2, 0, x / 64, y / 48, (x + side) / 64, (y + side) / 48, 0]], np.float32)
        records.append((f"{i:04d}", make_annotated(make_datum(encode(canvas, "PNG")), boxes).SerializeToString()))
    write_records(tmp_path / "db", records)
    head = """layer { name: "NAME" type: "Convolution" bottom: "c3" top: "NAME"
        convolution_param { num_output: COUNT kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
      layer { name: "NAME_p" type: "Permute" bottom: "NAME" top: "NAME_p" permute_param { order: 0 order: 2 order: 3 order: 1 } }
      layer { name: "NAME_f" type: "Flatten" bottom: "NAME_p" top: "NAME_f" }"""
    trunk = "".join(
        f"""layer {{ name: "{top}" type: "Convolution" bottom: "{bottom}" top: "{top}"
        convolution_param {{ num_output: 16 kernel_size: 5 stride: 2 pad: 2 weight_filler {{ type: "xavier" }} }} }}
      layer {{ name: "{top}_relu" type: "ReLU" bottom: "{top}" top: "{top}" }}"""
        for bottom, top in (("data", "c1"), ("c1", "c2"), ("c2", "c3"))
    )
    net = f"""layer {{ name: "data" type: "AnnotatedData" top: "data" top: "label"
        data_param {{ source: "{tmp_path}/db" batch_size: 8 backend: LMDB }}
        transform_param {{ mirror: true scale: 0.0078 mean_value: 104 mean_value: 117 mean_value: 123
          resize_param {{ height: 32 width: 32 }} emit_constraint {{ emit_type: CENTER }}
          expand_param {{ prob: 0.5 max_expand_ratio: 1.5 }} }}
        annotated_data_param {{ batch_sampler {{ max_sample: 1 max_trials: 1 }}
          batch_sampler {{ sampler {{ min_scale: 0.5 max_scale: 1 min_aspect_ratio: 0.5 max_aspect_ratio: 2 }}
            sample_constraint {{ min_jaccard_overlap: 0.3 }} max_sample: 1 max_trials: 50 }} }} }}
      {trunk} {head.replace("NAME", "loc").replace("COUNT", "8")} {head.replace("NAME", "conf").replace("COUNT", "6")}""" + """
      layer { name: "prior" type: "PriorBox" bottom: "c3" bottom: "data" top: "prior"
        prior_box_param { min_size: 10 max_size: 16 variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 } }
      layer { name: "loss" type: "MultiBoxLoss" bottom: "loc_f" bottom: "conf_f" bottom: "prior" bottom: "label" top: "loss"
        propagate_down: true propagate_down: true propagate_down: false propagate_down: false
        multibox_loss_param { num_classes: 3 neg_pos_ratio: 3 code_type: CENTER_SIZE mining_type: MAX_NEGATIVE } }"""
    param = parse_solver('base_lr: 0.01 momentum: 0.9 lr_policy: "fixed" max_iter: 80 random_seed: 3 solver_mode: CPU')
    param.train_net_param.CopyFrom(parse_net(net))
    solver = Solver(param, log=lambda line: None)
    losses = []
    for _ in range(80):
        solver.step(1)
        losses.append(solver.net.loss())
    assert np.mean(losses[-10:]) < np.mean(losses[:10]) / 2
