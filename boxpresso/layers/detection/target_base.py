"""RegionTargets: what the layers share that draw the regions a detector learns from: settings, the draw, box targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from ..core.param_str import settings
from . import suppress
from .rcnn import Boxes, Upright


class Drawn(NamedTuple):
    """The regions of one image that were drawn.

    Attributes
    ----------
    regions
        (D, columns + 1), objects first.
    truth
        (G, columns + 1), the true boxes: a box and its label.
    matched
        (D,), the number of the true box that each region overlaps most.
    objects
        How many regions are objects.
    labels
        (D,), those of the true boxes, 0 for background.
    """

    regions: np.ndarray
    truth: np.ndarray
    matched: np.ndarray
    objects: int
    labels: np.ndarray


def give(top: Blob, values: np.ndarray, trailing: Sequence[int] = ()) -> None:
    """Gives a top the shape of an array, with further axes behind it, and its values."""
    top.reshape(*values.shape, *trailing)
    top.data[...] = values.reshape(top.shape)


def put(top: Blob, width: int, rows: np.ndarray, place: np.ndarray, values: np.ndarray) -> None:
    """Makes a top (D, P * width, ..) zeros, but for the values (N, width), or (width,), of places (N,) in rows (N,)."""
    data = top.data
    data[...] = 0
    if len(rows):
        data.reshape(top.shape[0], top.shape[1] // width, width)[rows, place] = values


class RegionTargets(Layer, traits=Trait.CHOOSES_ROWS):
    """A layer whose bottoms 0 and 1 are the regions and the true boxes of one image; its settings are
    ProposalTarget's."""

    boxes: ClassVar[Boxes] = Upright
    trailing: ClassVar[tuple[int, ...]] = ()  # further axes of the tops
    extra: ClassVar[dict[str, Any]] = {
        "bbox_normalize_stds": (0.1, 0.1, 0.2, 0.2), "r_positive_angle_filter": 180, "r_negative_angle_filter": 180
    }  # fmt: skip
    changed: ClassVar[dict[str, Any]] = {}  # settings that go before those of the messages
    fills_up: ClassVar[bool] = False  # whether regions are drawn again where there are fewer than batch_size
    kernels: ClassVar[Kernels] = suppress.kernels

    def read_settings(self) -> None:
        """The settings, from `param_str` and the messages; checked."""
        columns = self.boxes.columns
        defaults: dict[str, Any] = {
            "num_classes": 0, "batch_size": 128, "fg_fraction": 0.25, "fg_thresh": 0.5, "bg_thresh_hi": 0.5,
            "bg_thresh_lo": 0.1, "bbox_inside_weights": (1.0,) * columns, "bbox_normalize_targets_precomputed": False,
            "bbox_normalize_means": (0.0,) * columns, "append_gtbox": True, **self.extra,
        }  # fmt: skip
        p, regression = self.param.proposal_target_param, self.param.bbox_reg_param
        if self.param.HasField("proposal_target_param"):
            defaults.update(
                num_classes=p.cls_num if p.HasField("cls_num") else p.n_classes, batch_size=p.batch_size,
                fg_fraction=p.fg_fraction, fg_thresh=p.fg_thr, bg_thresh_hi=p.bg_thr_hg, bg_thresh_lo=p.bg_thr_lw,
                append_gtbox=p.append_gtbox,
            )  # fmt: skip
        if regression.bbox_mean and regression.bbox_std:
            defaults.update(bbox_normalize_targets_precomputed=True, bbox_normalize_means=list(regression.bbox_mean))
            defaults.update(bbox_normalize_stds=list(regression.bbox_std))
        s = self.settings = settings(self, {**defaults, **self.changed})
        if self.changed and s["num_classes"] == 0:
            s["num_classes"] = p.cls_num or (p.n_classes if p.HasField("n_classes") else 0)
        self.classes = s["num_classes"]
        self.need(
            isinstance(self.classes, int) and self.classes > 1,
            f"param_str must give num_classes, 2 or more with the background; got {self.classes!r}",
        )
        size = s["batch_size"]
        self.need(
            isinstance(size, (int, float)) and float(size).is_integer() and (size > 0 or size == -1),
            f"batch_size must be a whole number above 0, or -1 for all, got {size!r}",
        )
        s["batch_size"] = int(size)
        self.need_share("fg_fraction")
        for name in ("bbox_inside_weights", "bbox_normalize_means", "bbox_normalize_stds"):
            self.need(np.shape(s[name]) == (columns,), f"{name} must have {columns} numbers, got {s[name]!r}")

    def need_share(self, name: str) -> None:
        """Raises LayerError unless a setting is from 0 to 1, or a list of such numbers."""
        value = self.settings[name]
        parts = value if isinstance(value, (list, tuple)) else [value]
        fits = all(isinstance(part, (int, float)) and 0 <= part <= 1 for part in parts)
        self.need(fits, f"{name} must be from 0 to 1, got {value!r}")

    @property
    def whole(self) -> float:
        """How many regions are drawn at most."""
        size = self.settings["batch_size"]
        return np.inf if size == -1 else float(size)

    @staticmethod
    def drawn_of(many: int, part: float, whole: float) -> int:
        """How many of so many regions are drawn, for a part of the whole."""
        return int(min(np.round(part * whole), many)) if part else 0

    def check_bottoms(self, bottom: list[Blob]) -> None:
        """Raises LayerError for regions or true boxes of another shape."""
        columns = self.boxes.columns
        for i, subject in ((0, "the regions"), (1, "the true boxes")):
            shape = (*bottom[i].shape, 1, 1)[:2]
            self.need(
                len(bottom[i].shape) >= 2 and shape[1] == columns + 1 and bottom[i].count == shape[0] * shape[1],
                f"bottom {i}, {subject}, must be (R, {columns + 1}), got {bottom[i].shape}",
            )

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        rows = bottom[0].shape[0] + (bottom[1].shape[0] if self.settings["append_gtbox"] else 0)
        batch = int(self.settings["batch_size"])
        return rows if batch < 0 else batch if self.fills_up else min(batch, rows)

    def give(self, drawn: Drawn, top: Sequence[Blob]) -> None:
        """Regions (D, columns + 1), labels (D), and offsets and weights (D, columns * classes) in five tops."""
        give(top[0], drawn.regions, self.trailing)
        give(top[1], drawn.labels[:, None] if self.trailing else drawn.labels, self.trailing)
        self.give_offsets(drawn, top[2:5])

    def sample(self, bottom: list[Blob]) -> Drawn:
        """The regions drawn from those of the bottom and, with `append_gtbox`, the true boxes."""
        columns = self.boxes.columns
        regions = np.asarray(bottom[0].data).reshape(-1, columns + 1)
        truth = self.truth(bottom[1])
        if regions[:, 0].any():
            self.need(False, f"takes one image at a time, got regions of image {regions[:, 0].max():g}")
        self.check_truth(truth)
        regions = self.screen(regions, truth)
        self.drawn = self.draws()
        if self.settings["append_gtbox"]:
            own = self.own_regions(truth)
            regions = np.concatenate([regions, np.column_stack([np.zeros(len(own), own.dtype), own])])
        self.need_pairs("overlaps of regions and true boxes", len(regions) * len(truth))
        chosen, matched, objects = self.draw(regions[:, 1:].astype(np.float64), truth.astype(np.float64))
        labels = np.zeros(len(chosen))
        labels[:objects] = truth[matched[:objects], -1]
        return Drawn(regions[chosen], truth, matched, objects, labels)

    def truth(self, blob: Blob) -> np.ndarray:
        """The true boxes (G, columns + 1), each with its label."""
        return np.asarray(blob.data).reshape(-1, self.boxes.columns + 1)

    def own_regions(self, truth: np.ndarray) -> np.ndarray:
        """The boxes that are regions with `append_gtbox`: here all true ones."""
        return np.asarray(truth[:, :-1])

    def learned(self, boxes: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """Which boxes may be drawn: here all."""
        return np.ones(len(boxes), bool)

    def give_offsets(self, drawn: Drawn, top: Sequence[Blob]) -> None:
        """Offsets, weights inside and weights outside of the loss, (D, columns * classes) each, in three tops."""
        s, labels = self.settings, drawn.labels
        rows = np.flatnonzero(labels > 0)
        place = np.minimum(labels[rows], self.classes - 1).astype(int)
        truth = drawn.truth[drawn.matched[rows], :-1].astype(np.float64)
        offsets = self.boxes.encode(drawn.regions[rows, 1:].astype(np.float64), truth)
        if s["bbox_normalize_targets_precomputed"]:
            offsets = (offsets - np.asarray(s["bbox_normalize_means"])) / np.asarray(s["bbox_normalize_stds"])
        self.give_places(top, len(labels), rows, place, offsets, s["bbox_inside_weights"])

    def give_places(
        self, top: Sequence[Blob], count: int, rows: np.ndarray, place: np.ndarray, values: np.ndarray, inside: Sequence[float]
    ) -> None:  # fmt: skip
        """Values (N, W) at places (N,) of rows (N,), and their weights, in three tops (count, W * classes) of zeros."""
        weights = np.asarray(inside, np.float64)
        for blob in top:
            blob.reshape(count, values.shape[1] * self.classes, *self.trailing)
        for blob, each in zip(top, (values, weights, weights > 0)):
            put(blob, values.shape[1], rows, place, each)

    def screen(self, regions: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """The regions that are looked at: here all."""
        return regions

    def check_truth(self, truth: np.ndarray) -> None:
        """Raises LayerError for a true box with NaN or infinity, or with a label that is no class."""
        wrong = np.flatnonzero(~np.isfinite(truth).all(1))
        if len(wrong):
            self.need(False, f"true box {wrong[0]} holds NaN or infinity: {truth[wrong[0]].tolist()}")
        labels = truth[:, -1]
        wrong = np.flatnonzero((labels < 0) | (labels != np.floor(labels)))
        if len(wrong):
            self.need(False, f"true box {wrong[0]} has the label {labels[wrong[0]]:g}; labels are whole numbers from 0")
        most = labels.max(initial=0)
        self.need(
            self.classes == 2 or most < self.classes,
            f"a true box has the label {most:g}, num_classes is {self.classes}",
        )

    def draw(self, boxes: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """The boxes drawn, objects first; the true box that each overlaps most; how many are objects."""
        s, draws, learned = self.settings, self.drawn, self.learned(boxes, truth)
        matched, most = self.boxes.nearest(self.device, boxes, truth[:, :-1])
        turned = self.boxes.turn(boxes, truth[matched]) if len(truth) else np.zeros(len(boxes))
        far = (most >= s["fg_thresh"]) & (turned > s["r_negative_angle_filter"])
        objects = np.flatnonzero(learned & (most >= s["fg_thresh"]) & (turned <= s["r_positive_angle_filter"]))
        others = np.flatnonzero(learned & (((most < s["bg_thresh_hi"]) & (most >= s["bg_thresh_lo"])) | far))
        count = self.drawn_of(len(objects), s["fg_fraction"], self.whole)
        if len(objects):
            objects = draws.choice(objects, size=count, replace=False)
        if len(others):
            others = draws.choice(others, size=int(min(self.whole - count, len(others))), replace=False)
        chosen = np.append(objects, others)
        return chosen, matched[chosen], count

    def allow_force_backward(self, index: int) -> bool:
        return False
