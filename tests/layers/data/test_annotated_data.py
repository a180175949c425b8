"""AnnotatedData on records drawn here, and a small SSD that learns from them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from drawn import annotated_lmdb, boxes_of, datum_lmdb, picture
from harness import Rig

from boxpresso import LayerError, Solver
from boxpresso.data.picture import encode
from boxpresso.data.records import make_annotated, make_datum, write_records
from boxpresso.proto import parse_net, parse_solver
from boxpresso.proto.errors import BoxpressoWarning

pytest.importorskip("lmdb")


def annotated(source, batch=4, more="", **options) -> Rig:
    text = (
        f'type: "AnnotatedData" data_param {{ source: "{source.as_posix()}" backend: LMDB batch_size: {batch} }} {more}'
    )
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
    from boxpresso.layers.data.annotated_data import label_rows

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
    with pytest.raises(LayerError, match="not an AnnotatedDatum"):
        annotated(datum_lmdb(tmp_path / "db"))


MIXED = "annotated_data_param { mosaic_prob: 0.5 mixup_prob: 0.5 } transform_param { resize_param { height: 40 width: 40 } }"


def test_batches_of_mixed_pictures_are_the_same_again(tmp_path):
    """By the seed alone, with any workers; and others than without."""
    source = annotated_lmdb(tmp_path / "db")
    rigs = [annotated(source, 6, MIXED, seed=seed) for seed in (1, 1, 2)]
    rigs[0].layer.workers, rigs[1].layer.workers = 0, "threads:2"
    plain = annotated(source, 6, MIXED.replace("0.5", "0"), seed=1)
    for _ in range(3):
        (one, rows), (same, same_rows), (other, _), (unmixed, _) = (rig.forward() for rig in (*rigs, plain))
        np.testing.assert_array_equal(one, same)
        np.testing.assert_array_equal(rows, same_rows)
        assert (one != other).any()
        assert (one != unmixed).any()


def test_batches_are_the_same_where_decoded_pictures_stay(tmp_path, monkeypatch):
    """Over three rounds, through all that changes a picture: what stays is not written to."""
    records = [make_annotated(make_datum(encode(picture(i), "PNG")), boxes_of(i)).SerializeToString() for i in range(6)]
    write_records(tmp_path / "db", [(str(i), record) for i, record in enumerate(records)])
    more = MIXED.replace(
        "transform_param {",
        "transform_param { mirror: true expand_param { prob: 0.5 max_expand_ratio: 2 } distort_param { brightness_prob: 0.5 "
        "brightness_delta: 32 hue_prob: 0.5 hue_delta: 18 random_order_prob: 0.5 } noise_param { prob: 0.5 inverse: true }",
    )
    rigs = []
    for megabytes in "0", "":
        monkeypatch.setenv("BOXPRESSO_DECODED", megabytes)
        rigs.append(annotated(tmp_path / "db", 6, more, seed=1))
        rigs[-1].layer.workers = 0
    for _ in range(3):
        (one, rows), (same, same_rows) = (rig.forward() for rig in rigs)
        np.testing.assert_array_equal(one, same)
        np.testing.assert_array_equal(rows, same_rows)


def test_a_broken_record_is_in_no_mosaic(tmp_path):
    """The next one takes its place; where broken records are refused, it is so in its own turn."""
    records = [make_annotated(make_datum(picture(i)), boxes_of(i)).SerializeToString() for i in range(3)]
    write_records(tmp_path / "db", [(str(i), record) for i, record in enumerate([*records, b"no record"])])
    rig = annotated(tmp_path / "db", 3, MIXED.replace("0.5", "1"), seed=1)
    rig.layer.workers = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rig.forward()
    with pytest.warns(BoxpressoWarning, match="skipped .*1 skipped so far"):
        rig.forward()


def test_how_often_pictures_are_mixed_is_checked(tmp_path):
    for name, value in (("mosaic_prob", "1.5"), ("mixup_prob", "-1"), ("mosaic_prob", "nan")):
        with pytest.raises(LayerError, match=f"{name} must be from 0 to 1, got {value}"):
            annotated(tmp_path / "db", more=f"annotated_data_param {{ {name}: {value} }}")


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
            box = np.array([xs.min(), ys.min(), xs.max() + 1, ys.max() + 1])
            np.testing.assert_allclose(row[3:7] * 100, box, atol=3.5)  # crops are at whole pixels of a small picture
            seen.add(tuple(box))
            assert row[1] == 7
    assert len(seen) > 30


def test_sampler_settings_are_checked(tmp_path):
    with pytest.raises(LayerError, match="batch_sampler 0: it must be 0 < min_scale"):
        annotated(tmp_path, more="annotated_data_param { batch_sampler { sampler { max_scale: 3 } } }")


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
    net = (
        f"""layer {{ name: "data" type: "AnnotatedData" top: "data" top: "label"
        data_param {{ source: "{tmp_path.as_posix()}/db" batch_size: 8 backend: LMDB }}
        transform_param {{ mirror: true scale: 0.0078 mean_value: 104 mean_value: 117 mean_value: 123
          resize_param {{ height: 32 width: 32 }} emit_constraint {{ emit_type: CENTER }}
          expand_param {{ prob: 0.5 max_expand_ratio: 1.5 }} }}
        annotated_data_param {{ batch_sampler {{ max_sample: 1 max_trials: 1 }}
          batch_sampler {{ sampler {{ min_scale: 0.5 max_scale: 1 min_aspect_ratio: 0.5 max_aspect_ratio: 2 }}
            sample_constraint {{ min_jaccard_overlap: 0.3 }} max_sample: 1 max_trials: 50 }} }} }}
      {trunk} {head.replace("NAME", "loc").replace("COUNT", "8")} {head.replace("NAME", "conf").replace("COUNT", "6")}"""
        + """
      layer { name: "prior" type: "PriorBox" bottom: "c3" bottom: "data" top: "prior"
        prior_box_param { min_size: 10 max_size: 16 variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 } }
      layer { name: "loss" type: "MultiBoxLoss" bottom: "loc_f" bottom: "conf_f" bottom: "prior" bottom: "label" top: "loss"
        propagate_down: true propagate_down: true propagate_down: false propagate_down: false
        multibox_loss_param { num_classes: 3 neg_pos_ratio: 3 code_type: CENTER_SIZE mining_type: MAX_NEGATIVE } }"""
    )
    param = parse_solver('base_lr: 0.01 momentum: 0.9 lr_policy: "fixed" max_iter: 80 random_seed: 3 solver_mode: CPU')
    param.train_net_param.CopyFrom(parse_net(net))
    solver = Solver(param, log=lambda line: None)
    losses = []
    for _ in range(80):
        solver.step(1)
        losses.append(solver.net.loss())
    assert np.mean(losses[-10:]) < np.mean(losses[:10]) / 2
