"""ImageGtData, DetectionData and EvalData: what MS-CNN and Cascade R-CNN read, against their loops written again cell by cell."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from drawn import picture
from harness import Rig

from boxpresso import LayerError
from boxpresso.data.picture import encode, resize
from boxpresso.layers.data.detection_data import AspectOrder

SIZES = [(60, 80), (90, 50), (64, 64), (40, 44)]
BOXES = [  # class, ignore, difficult, x1, y1, x2, y2; then regions
    ([(1, 0, 0, 10, 12, 29, 35), (2, 1, 0, 40, 20, 70, 50), (1, 0, 1, 3, 40, 9, 46)], [(30, 0, 60, 18)]),
    ([(3, 0, 0, 5, 5, 44, 80)], []),
    ([], [(0, 0, 30, 30), (20, 20, 60, 60)]),
    ([(2, 0, 0, 1, 1, 14, 13), (2, 0, 0, 20, 20, 33, 30), (1, 1, 1, 2, 2, 30, 30)], []),
]
MEAN = (104.0, 117.0, 123.0)


def image(index: int) -> np.ndarray:
    return picture(index, *SIZES[index])


def listed(folder: Path, difficult: bool, only: tuple[int, ...] = (0, 1, 2, 3)) -> Path:
    text = ""
    for number, i in enumerate(only):
        (folder / f"{i}.png").write_bytes(encode(image(i), "PNG"))
        boxes, regions = BOXES[i]
        rows = [row if difficult else (*row[:2], *row[3:]) for row in boxes]
        text += f"# {number}\n/{i}.png\n3\n{SIZES[i][0]}\n{SIZES[i][1]}\n{len(rows)}\n"
        text += "".join(" ".join(map(str, row)) + "\n" for row in rows)
        text += f"{len(regions)}\n" + "".join(" ".join(map(str, row)) + "\n" for row in regions)
    (folder / "windows.txt").write_text(text)
    return folder / "windows.txt"


def rig_of(kind: str, source: Path, more: str = "", transform: str = "", tops: int = 3, **options) -> Rig:
    message = {"ImageGtData": "image_gt", "DetectionData": "detection", "EvalData": "eval"}[kind] + "_data_param"
    text = f'type: "{kind}" {message} {{ source: "{source.as_posix()}" root_folder: "{source.parent.as_posix()}" {more} }} transform_param {{ {transform} }}'
    return Rig(text, [], tops=tops, **{"phase": "TRAIN", **options})


def c_round(value: float) -> int:
    return int(np.sign(value) * np.floor(abs(value) + 0.5))


def iou(a, b, last: int, first: bool) -> float:
    """Of two boxes; over the first one's area with `first`."""
    if last:
        if a[2] < a[0] or a[3] < a[1] or b[2] < b[0] or b[3] < b[1]:
            return 0.0
    elif a[2] <= a[0] or a[3] <= a[1] or b[2] <= b[0] or b[3] <= b[1]:
        return 0.0
    x1, y1, x2, y2 = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    none = (x1 > x2 or y1 >= y2) if last else (x1 >= x2 or y1 >= y2)
    both = 0.0 if none else (x2 - x1 + last) * (y2 - y1 + last)
    sizes = [(v[2] - v[0] + last) * (v[3] - v[1] + last) for v in (a, b)]
    return float(np.float32(both) / np.float32(sizes[0] if first else sizes[0] + sizes[1] - both))


def maps_of(
    gts, regions, canvas, place, fields, last: int, threshold=0.5, margin=None, inside=None
) -> list[np.ndarray]:
    """The maps of one image, cell by cell. gts: x1, y1, x2, y2, class, ignored; place: left, top, width, height; fields:
    stride, width, height."""
    outs, matched = [], [0] * len(gts)
    best, best_map = [0.0] * len(gts), [0] * len(gts)
    for n, (stride, field_w, field_h) in enumerate(fields):
        high, wide = c_round(canvas[0] / stride), c_round(canvas[1] / stride)
        x0, y0, w, h = (c_round(v / stride) for v in place)
        out = np.zeros((6, high, wide), np.float32)
        for r in range(high):
            for c in range(wide):
                cx, cy = (c + 0.5) * stride, (r + 0.5) * stride
                cell = (cx - field_w / 2, cy - field_h / 2, cx + field_w / 2, cy + field_h / 2)
                off = c < x0 or c >= x0 + w or r < y0 or r >= y0 + h
                if margin is not None:
                    mx, my = margin * field_w / 2, margin * field_h / 2
                    off |= cell[0] < place[0] - mx or cell[2] >= place[0] + place[2] + mx
                    off |= cell[1] < place[1] - my or cell[3] >= place[1] + place[3] + my
                elif inside is not None:
                    whole = (place[0], place[1], place[0] + place[2], place[1] + place[3])
                    off |= iou(cell, whole, last, True) < inside
                shares = [np.float32(iou(cell, region, last, True)) for region in regions]
                crowd = float(sum(shares, np.float32(0))) >= (float(np.float32(0.4)) if last else 0.4)
                if off or (crowd and not last):
                    out[5, r, c] = 1
                    continue
                top, match = 0.0, -1
                for g, gt in enumerate(gts):
                    v = iou(gt[:4], cell, last, False)
                    if v > top:
                        top, match = v, g
                    if v > best[g]:
                        best[g], best_map[g] = v, n
                out[5, r, c] = top
                if match >= 0 and top > threshold:
                    x1, y1, x2, y2, label, ignored = gts[match]
                    out[:5, r, c] = [
                        0 if ignored else label,
                        (x1 + x2) / 2,
                        (y1 + y2) / 2,
                        x2 - x1 + last,
                        y2 - y1 + last,
                    ]
                    matched[match] += 1
                elif crowd:
                    out[5, r, c] = 1
        outs.append(out)
    for g, (x1, y1, x2, y2, label, ignored) in enumerate(gts):
        if ignored or matched[g] or best[g] < 0.2:
            continue
        out, stride = outs[best_map[g]], fields[best_map[g]][0]
        r = min(max(int(np.floor((y1 + y2) / 2 / stride)), 0), out.shape[1] - 1)
        c = min(max(int(np.floor((x1 + x2) / 2 / stride)), 0), out.shape[2] - 1)
        if out[0, r, c] <= 0:
            out[:5, r, c] = [label, (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1 + last, y2 - y1 + last]
            if last:
                out[5, r, c] = best[g]
    return outs


FIELDS = [(8, 16, 24), (8, 30, 30), (16, 60, 60)]
NAMES = " ".join(f"downsample_rate: {s} field_w: {w} field_h: {h}" for s, w, h in FIELDS)
MEANS = " ".join(f"mean_value: {v}" for v in MEAN)


def laid(
    index: int, turned: bool, left: int, top: int, canvas: tuple[int, int]
) -> tuple[np.ndarray, tuple[int, int, int, int]]:
    """The canvas with an image at a place, minus the mean, 0 around it; and the rectangle that it covers."""
    pixels = image(index)[:, ::-1] if turned else image(index)
    out = np.zeros((*canvas, 3), np.float32)
    y0, x0 = max(top, 0), max(left, 0)
    y1, x1 = min(top + pixels.shape[0], canvas[0]), min(left + pixels.shape[1], canvas[1])
    out[y0:y1, x0:x1] = pixels[y0 - top : y1 - top, x0 - left : x1 - left] - np.array(MEAN, np.float32)
    return out.transpose(2, 0, 1), (x0, y0, x1 - x0, y1 - y0)


def places_of(i: int, mine: np.ndarray, start: np.ndarray, canvas: tuple[int, int]) -> list[tuple[int, int]]:
    """Where an image may lie, left and top: as its boxes say, or without any all places."""
    if len(start):
        left, top = (int(v) for v in (mine[0, 1:3] - start[0, :2]))
        return [(left, top)] if np.allclose(mine[:, 1:5], start + [left, top] * 2) else []
    room = [side - size for side, size in zip(canvas, SIZES[i])]
    spans = [range(min(free, 0), max(free, 0) + 1) for free in room]
    return [(x, y) for x in spans[1] for y in spans[0]]


def one_image(i: int, data: np.ndarray, mine: np.ndarray, canvas: tuple[int, int], last: int) -> tuple:
    """Reads off where an image lies (or finds it, without boxes), checks its pixels and rows; what its maps follow from."""
    boxes = np.array([row[3:] for row in BOXES[i][0]], float).reshape(-1, 4)
    assert len(mine) == len(boxes)
    placements = []
    for turned in (False, True):
        start = boxes.copy()
        if turned:
            start[:, [0, 2]] = SIZES[i][1] - boxes[:, [2, 0]]
        for left, top in places_of(i, mine, start, canvas):
            wanted, place = laid(i, turned, left, top, canvas)
            if np.array_equal(data, wanted):
                placements.append((turned, left, top, place, start + [left, top] * 2))
    assert len(placements) == 1
    turned, left, top, place, moved = placements[0]
    for size, side, at in ((SIZES[i][1], canvas[1], left), (SIZES[i][0], canvas[0], top)):
        assert abs(at - c_round((side - size) / 2)) <= 10 if size <= side else side - size <= at <= 0
    gts = []
    for box, row in zip(moved, BOXES[i][0]):
        cx, cy = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        gone = cx < 0 or cx >= canvas[1] or cy < 0 or cy >= canvas[0] or box[2] - box[0] + 1 < 8
        gts.append((*box, row[0], bool(row[1] or gone)))
    extra = [(row[2],) if last else () for row in BOXES[i][0]]
    assert [tuple(row[5:]) for row in mine] == [(gt[4], gt[5], *more) for gt, more in zip(gts, extra)]
    regions = np.array(BOXES[i][1], float).reshape(-1, 4)
    if turned:
        regions[:, [0, 2]] = SIZES[i][1] - regions[:, [2, 0]]
    return turned, left, top, place, gts, regions + [left, top] * 2


CASES = [
    ("ImageGtData", (56, 48), "", {}), ("ImageGtData", (80, 72), "", {}), ("DetectionData", (56, 48), "", {}),
    ("DetectionData", (80, 72), "anchor_ignore_margin_ratio: 0.5", {"margin": 0.5}),
    ("DetectionData", (56, 72), "anchor_ignore_iou_thr: 0.6 fg_threshold: 0.4", {"inside": 0.6, "threshold": 0.4}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "canvas", "more", "rules"), CASES, ids=[f"{c[0]}-{c[2][:8]}{c[1][0]}" for c in CASES])
def test_images_on_a_canvas_and_their_maps(tmp_path, kind, canvas, more, rules):
    """Where an image lies is read off its boxes; its pixels and all maps must follow from that."""
    last = int(kind == "DetectionData")
    names = NAMES.replace("downsample_rate", "stride") if last else NAMES
    more += (
        f" batch_size: 2 crop_width: {canvas[1]} crop_height: {canvas[0]} output_gt_boxes: true min_gt_width: 8 {names}"
    )
    rig = rig_of(kind, listed(tmp_path, bool(last)), more, f"mirror: true {MEANS}", 5)
    turns, shifts = set(), set()
    for step in range(8):
        data, *maps, rows = rig.forward()
        for k in range(2):
            i = (2 * step + k) % 4
            mine = rows[rows[:, 0, 0, 0] == k].reshape(-1, rows.shape[1])
            turned, left, top, place, gts, regions = one_image(
                i, data[k], mine if BOXES[i][0] else mine[:0], canvas, last
            )
            for out, wanted in zip(maps, maps_of(gts, regions, canvas, place, FIELDS, last, **rules)):
                np.testing.assert_allclose(out[k], wanted, rtol=1e-5, atol=1e-6)
            turns.add(turned)
            shifts.add((i, left, top))
    assert turns == {True, False}
    assert len(shifts) > 8


def test_both_devices_and_the_same_again(tmp_path, device):
    more = f"batch_size: 3 crop_width: 40 crop_height: 40 {NAMES}"
    source = listed(tmp_path, False)
    rigs = [rig_of("ImageGtData", source, more, "mirror: true", 4, device=name) for name in (device, "cpu")]
    for _ in range(2):
        for first, second in zip(*[rig.forward() for rig in rigs]):
            np.testing.assert_array_equal(first, second)


def test_image_gt_data_in_scales_and_rounds(tmp_path):
    more = f"batch_size: 1 crop_width: 64 crop_height: 64 output_gt_boxes: true do_multiple_scale: true min_scale: 10 max_scale: 40 {NAMES}"
    rig = rig_of("ImageGtData", listed(tmp_path, False, (3,)), more, "", 5)
    factors = set()
    for _ in range(40):
        rows = rig.forward()[-1].reshape(-1, 7)
        boxes = np.array([row[3:] for row in BOXES[3][0]], float)
        across, down = ((rows[:, 3 + a] - rows[:, 1 + a]) / (boxes[:, 2 + a] - boxes[:, a]) for a in (0, 1))
        np.testing.assert_allclose(across, down, rtol=1e-4)  # no whaspect: the shape stays
        np.testing.assert_allclose(across, across[0], rtol=1e-4)
        factors.add(round(2 * float(np.log2(across[0])), 3))
    assert all(value == round(value) for value in factors)  # half octaves
    assert {-3.0, 0.0, 1.0} & factors
    assert len(factors) > 4
    rig = rig_of(
        "ImageGtData",
        listed(tmp_path, False, (0, 2)),
        f"batch_size: 4 fg_img_multiple: 3 crop_width: 8 crop_height: 8 output_gt_boxes: true {NAMES}",
        "",
        5,
    )
    rows = rig.forward()[-1].reshape(-1, 7)
    assert np.bincount(rows[:, 0].astype(int), minlength=4).tolist() == [
        3,
        3,
        3,
        0,
    ]  # thrice the one with boxes, once the other


def test_detection_data_in_scales(tmp_path):
    """By a factor between two bounds; so that a box gets a size between two bounds; to another shape of the same area."""
    more = "batch_size: 1 crop_width: 64 crop_height: 64 output_gt_boxes: true multiscale_prob: 0.75 "
    boxes = np.array([row[3:] for row in BOXES[3][0]], float)

    def factors(way: str) -> np.ndarray:
        """Across and down, in each of some batches."""
        rig, seen = rig_of("DetectionData", listed(tmp_path, True, (3,)), more + way, "", 2), []
        for _ in range(24):
            rows = rig.forward()[1].reshape(-1, 8)
            by = [(rows[:, 3 + a] - rows[:, 1 + a]) / (boxes[:, 2 + a] - boxes[:, a]) for a in (0, 1)]
            np.testing.assert_allclose(by, np.broadcast_to([[v[0]] for v in by], (2, 3)), rtol=1e-4)
            seen.append([v[0] for v in by])
        return np.array(seen)

    free = factors("low_scale_ratio: 0.5 high_scale_ratio: 2")
    np.testing.assert_allclose(free[:, 0], free[:, 1], rtol=1e-4)
    assert 0.5 <= free.min() < 0.8 < 1.25 < free.max() <= 2
    sized = factors("min_scale: 8 max_scale: 30")[:, 0]
    sizes = np.sqrt((boxes[:, 2] - boxes[:, 0] + 1) * (boxes[:, 3] - boxes[:, 1] + 1))
    moved = [v for v in sized if abs(v - 1) > 1e-4]
    assert 10 < len(moved) < 24
    assert all(any(7.99 <= v * size <= 30.01 for size in sizes) for v in moved)
    shaped = factors("low_scale_ratio: 1 high_scale_ratio: 1 min_whaspect: 0.5 max_whaspect: 2")
    np.testing.assert_allclose(shaped.prod(1), 1, rtol=1e-3)
    ratios = shaped[:, 0] / shaped[:, 1]
    assert 0.5 <= ratios.min() < 0.8 < 1.25 < ratios.max() <= 2


def test_the_first_image_says_whether_the_canvas_stands_or_lies(tmp_path):
    source = listed(tmp_path, True)
    more = "batch_size: 1 short_size: 64 long_size: 96 stride: 8 field_w: 20 field_h: 20"
    rig = rig_of("DetectionData", source, more, "", 2)
    assert [blob.shape for blob in rig.top] == [(1, 3, 96, 64), (1, 6, 12, 8)]
    for i in range(4):
        high, wide = (96, 64) if SIZES[i][0] >= SIZES[i][1] else (64, 96)
        data, map_ = rig.forward()
        assert (data.shape, map_.shape) == ((1, 3, high, wide), (1, 6, high // 8, wide // 8))
    ratios = {
        rig_of("DetectionData", source, more + f" template_ratio: {r}", "", 2).forward()[0].shape[2:]
        for r in (0.5, 1, 2)
    }
    assert ratios == {(32, 64), (64, 96), (128, 192)}  # 96 * 0.5 / 32 is rounded to 2
    data = rig_of("DetectionData", source, "batch_size: 1 resize_ratio: 0.5", "", 1).forward()[0]
    assert data.shape == (1, 3, 30, 40)
    order = [
        blob.shape for blob in (rig_of("DetectionData", source, more + ' shuffle: "random_aspect"', "", 2).forward())
    ]
    assert order[0][2:] in ((96, 64), (64, 96))


@pytest.mark.parametrize(("group", "runs"), [(0, 2), (2, 4)])
def test_tall_and_wide_images_apart(group, runs):
    order = AspectOrder([0, 1, 2, 3], [4, 5, 6, 7], group, 3)
    rounds = [[order[8 * turn + at] for at in range(8)] for turn in range(6)]
    assert all(sorted(each) == list(range(8)) for each in rounds)
    assert len({tuple(each) for each in rounds}) == 6
    for each in rounds:
        tall = [index < 4 for index in each]
        assert 1 + sum(a != b for a, b in pairwise(tall)) == runs
    assert {each[0] < 4 for each in rounds} == {True, False}
    uneven = AspectOrder([0], [1, 2, 3, 4, 5], 2, 1)
    assert sorted(uneven[at] for at in range(6)) == list(range(6))


def test_eval_data(tmp_path, device):
    more = "batch_size: 1 short_size: 70 long_size: 100"
    rig = rig_of("EvalData", listed(tmp_path, True), more, f"scale: 0.5 {MEANS}", device=device)
    for i in range(4):
        data, rows, size = rig.forward()
        factor = np.float32(70) / np.float32(min(SIZES[i]))
        high, wide = (c_round(min(c_round(float(np.float32(side) * factor)), 100) / 32) * 32 for side in SIZES[i])
        assert size.tolist() == [[[[high]], [[wide]]]]
        wanted = (resize(image(i), wide, high) - np.array(MEAN, np.float32)) * np.float32(0.5)
        np.testing.assert_allclose(data[0], wanted.transpose(2, 0, 1), rtol=1e-6)
        by = [wide / SIZES[i][1], high / SIZES[i][0]] * 2
        table = [(0, *(np.array(row[3:]) * by), *row[:3]) for row in BOXES[i][0]] or [(-1,) * 8]
        np.testing.assert_allclose(rows.reshape(-1, 8), table, rtol=1e-5)
    data, rows, _ = rig_of(
        "EvalData", listed(tmp_path, True), "batch_size: 4 resize_width: 64 resize_height: 70"
    ).forward()
    assert data.shape == (4, 3, 64, 64)
    assert rows[:, 0].ravel().tolist() == [0, 0, 0, 1, 3, 3, 3]


def test_an_empty_batch_has_the_row_of_ms_cnn(tmp_path):
    more = f"batch_size: 1 resize_width: 64 resize_height: 64 output_gt_boxes: true {NAMES}"
    assert rig_of("ImageGtData", listed(tmp_path, False, (2,)), more, "", 5).forward()[-1].ravel().tolist() == [
        0,
        1,
        1,
        2,
        2,
        1,
        1,
    ]


def test_wrong_window_files(tmp_path):
    source = listed(tmp_path, False)
    good = f"batch_size: 1 crop_width: 64 crop_height: 64 {NAMES}"

    def wrong(match: str, more: str = good, text: str | None = None, tops: int = 4) -> None:
        if text is not None:
            source.write_text(text)
        with pytest.raises(LayerError, match=match) as caught:
            rig_of("ImageGtData", source, more, "", tops).forward()
        assert "ImageGtData" in str(caught.value)

    wrong("has 4 tops", tops=3)
    wrong("give downsample_rate, field_w and field_h once for each map", good + " field_w: 3")
    wrong("give downsample_rate", "batch_size: 1")
    wrong("does not fit into images of 44x40", f"batch_size: 1 crop_width: 64 {NAMES}")
    wrong("line 1: `# number` must be here, not 1 word of 1 letters", text="x")
    wrong("line 6: the number of boxes must be here, not 1 word of 1 letters", text="# 0\na.png\n3\n4\n5\ny")
    wrong("ends where a box must follow", text="# 0 a.png 3 4 5 1 1 0 2")
    wrong("box of class 0; classes count from 1", text="# 0 a.png 3 4 5 1 0 0 1 2 3 4 0")
    wrong("there is no picture .*a.png", text="# 0 a.png 3 4 5 0 0")
    wrong("is empty", text="\n")
    listed(tmp_path, True)
    for more, match in [
        ("short_size: 9", "short_size and long_size go together"), ("short_size: 9 long_size: 5", "short_size 9 is above long_size 5"),
        ("resize_ratio: 2 short_size: 5 long_size: 9", "give one of resize_width"), ('shuffle: "some"', "shuffle must be one of random"),
        ("fg_threshold: 0", "fg_threshold must be above 0"), ("stride: 8", "give stride, field_w and field_h once"),
        ("crop_width: 4 crop_height: 4 crop_short_size: 3 crop_long_size: 4", "crop_width, or crop_short_size"),
    ]:  # fmt: skip
        with pytest.raises(LayerError, match=match):
            rig_of("DetectionData", source, f"batch_size: 1 {more}", "", 1)
    with pytest.raises(LayerError, match="batch_size must be 1"):
        rig_of("EvalData", source, "batch_size: 2")
    (tmp_path / "0.png").write_bytes(encode(image(0)[:1, :1], "PNG"))
    with pytest.raises(LayerError, match=r"0.png of 1x1 would become 0x0"):
        rig_of("EvalData", source, "batch_size: 1").forward()


def test_batches_are_the_same_for_all_workers_and_when_resumed(tmp_path):
    """What depends on the whole batch (the canvas, its ratio) is drawn where the batch is made, by the records' places alone."""
    names = NAMES.replace("downsample_rate", "stride")
    more = f'batch_size: 3 short_size: 64 long_size: 96 template_ratio: 1 template_ratio: 0.5 shuffle: "random_mix_aspect" mix_group_size: 2 {names}'
    runs = []
    for workers in (0, "threads", "processes:2"):
        rig = rig_of("DetectionData", listed(tmp_path, True), more, "mirror: true", 4)
        rig.layer.workers = workers
        runs.append([rig.forward() for _ in range(5)])
        rig.layer.close()
    resumed = rig_of("DetectionData", listed(tmp_path, True), more, "mirror: true", 4)
    resumed.layer.resume(4)
    for other in (*runs[1:], [*runs[0][:4], resumed.forward()]):
        for first, second in zip(runs[0], other):
            for a, b in zip(first, second):
                np.testing.assert_array_equal(a, b)
