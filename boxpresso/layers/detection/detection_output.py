"""DetectionOutput: the last layer of SSD, from predictions relative to priors to a list of detections."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from ...device import Blob
from ...proto.boxpresso_pb2 import DetectionOutputParameter
from ...proto.errors import BoxpressoWarning, LayerError
from ..core import Trait
from ..core.doubt import warn_of_nan
from ..core.writing import refusal
from . import detection_choice
from .choosing import ChoosingBy
from .detection_choice import DetectionChoice
from .results import Results

_CODES = DetectionOutputParameter.DESCRIPTOR.fields_by_name["code_type"].enum_type.values_by_name
CENTER_SIZE = _CODES["CENTER_SIZE"].number


class DetectionOutput(
    ChoosingBy[DetectionChoice],
    type="DetectionOutput",
    param="detection_output_param",
    bottoms=(3, 5),
    tops=1,
    traits=Trait.DETECTS,
):
    """The last layer of SSD: turns predictions relative to priors into a list of detections.

    For each image and each class but `background_label_id`, these steps choose the detections:

    1. Scores above `confidence_threshold`.
    2. Of these the `top_k` best.
    3. Of these those that overlap no better one that stays by more than `nms_threshold`. The threshold is
       multiplied by `eta` each time a box stays, while it is above 0.5.
    4. Of all classes together the `keep_top_k` best of the image.

    A location of 12 numbers (TextBoxes++) is a box, then the offsets of four corners, clockwise from the top left, each
    from the prior's own corner by its variance times the prior's size.

    Of equal scores the first prior wins. Boxes are not clipped unless OpenCV's `clip: true` asks for it. In the form
    with five bottoms (RefineDet), the first locations refine the priors, and priors of low objectness are dropped. With
    `do_state_prediction` (traffic lights) bottom 3 holds further scores of each prior, which its row hands on.

    Parameters
    ----------
    bottom 0
        (N, P * L * 4), locations. L is 1, or num_classes without `share_location`.
    bottom 1
        (N, P * num_classes), scores.
    bottom 2
        (1, 2, P * 4), priors: boxes and variances.
    bottom 3
        Optional. Of four bottoms, the image, which is not read, or states (N, P * num_states). Of five, RefineDet's
        objectness (N, P * 2).
    bottom 4
        Optional: RefineDet's first locations (N, P * 4).
    detection_output_param
        `num_classes` (required), with the background; `share_location` (true); `background_label_id` (0; -1 for
        none); `code_type` (CORNER); `variance_encoded_in_target` (false): offsets are not multiplied by the
        variances; `confidence_threshold` (none: all scores); `keep_top_k` (-1: all); `nms_param` with
        `nms_threshold` (0.3), `top_k` (all) and `eta` (1); `objectness_score` (0.01): scores of priors with less
        become 0; `clip` (false); `use_polygon` (true): whether locations may have 12 numbers; `do_state_prediction`
        (false) and `num_states` (6): whether there are states, and how many of a prior. `save_output_param`
        writes the detections to files for the VOC, COCO and ILSVRC servers, see results.py; if these files cannot be
        written there is a warning. `visualize` is ignored, with a warning.

    Returns
    -------
    top 0
        (1, 1, D, 7), rows (image, label, score, xmin, ymin, xmax, ymax) of D detections, by image, label and falling
        score. Without any detection N rows (image, -1, ...). With polygons (1, 1, D, 15), the corners x1, y1, ..., x4,
        y4 at the end of each row. With states (1, 1, D, 7 + num_states), the states between score and xmin.

    Raises
    ------
    LayerError
        For a missing `num_classes`, a negative `nms_threshold`, an `eta` that is not above 0 and at most 1, bottoms of
        the wrong shape, states of other than four bottoms or with polygons, or fields of other programs:
        `tflite_detection`, `ratio_permute`, `no_permute`, `arm_conf_no_concat`, `arm_loc_no_concat`, `scale_xywh`.

    Source
    ------
    SSD's and RefineDet's Caffe; polygons: TextBoxes++ (Liao et al. 2018) and its Caffe; states: julimueller/tl_ssd.

    Examples
    --------
    Two priors with the same box; the one with the lower score is suppressed:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "DetectionOutput" detection_output_param { num_classes: 2 confidence_threshold: 0.25 }'
    >>> locations, scores = [[0.5, 0, 0.5, 0] * 2], [[0.25, 0.75, 0.5, 0.5]]
    >>> run_layer(text, locations, scores, [[[0, 0, 0.5, 0.5] * 2, [0.5] * 8]]).tolist()
    [[[[0.0, 1.0, 0.75, 0.25, 0.0, 0.75, 0.5]]]]
    """

    overlap_field = "detection_output_param.nms_param.nms_threshold"
    list_shapes = ((1, 1, -1, 7),)
    files = detection_choice.FILES
    choice: DetectionChoice

    row_axis = 2

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.detection_output_param
        self.need(p.HasField("num_classes"), "num_classes is missing")
        for name in ("tflite_detection", "ratio_permute", "no_permute", "arm_conf_no_concat", "arm_loc_no_concat"):
            self.need(
                not getattr(p, name), f"{name}: true is another program's DetectionOutput, which is not supported"
            )
        self.need(not p.scale_xywh, "scale_xywh is another program's, which is not supported")
        self.classes, self.background = p.num_classes, p.background_label_id
        self.loc_classes = 1 if p.share_location else self.classes
        coding = detection_choice.kernels.struct("Coding", code=p.code_type, in_target=p.variance_encoded_in_target)
        self.threshold = p.confidence_threshold if p.HasField("confidence_threshold") else -np.inf
        self.top_k = p.nms_param.top_k if p.nms_param.HasField("top_k") else -1
        self.need(
            p.nms_param.nms_threshold >= 0, f"nms_threshold must not be negative, got {p.nms_param.nms_threshold}"
        )
        self.need(0 < p.nms_param.eta <= 1, f"eta must be above 0 and at most 1, got {p.nms_param.eta}")
        self.states = p.num_states if p.do_state_prediction else 0
        if self.states:
            self.need(
                len(bottom) == 4,
                f"do_state_prediction needs four bottoms, of which the last is the states, got {len(bottom)}",
            )
            self.traits &= ~Trait.DETECTS  # whose rows have seven numbers
        self.results = self.results_of(p)
        if self.results is not None:
            self.traits |= Trait.RUNS_ONCE  # it writes files
        self.choice = DetectionChoice(self, coding)
        if p.visualize:
            warnings.warn(
                f"{self}: visualize is ignored; `boxpresso detect` draws boxes", BoxpressoWarning, stacklevel=2
            )

    def results_of(self, p: Any) -> Results | None:
        """The files to write, or None, with a warning where a directory is named but they cannot be."""
        if not p.save_output_param.output_directory:
            return None
        try:
            directory = p.save_output_param.output_directory
            refused = refusal(self, os.path.join(directory, f"{p.save_output_param.output_name_prefix}x"))
            self.need(not refused, refused)
            return Results(p.save_output_param, self.background)
        except LayerError as error:
            message = f"{self}: detections are not saved to {p.save_output_param.output_directory!r}: {error}"
            warnings.warn(message, BoxpressoWarning, stacklevel=2)
            return None

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        loc, conf, prior = bottom[:3]
        self.batch, self.priors = (loc.shape or (1,))[0], prior.count // 8
        self.need(prior.shape[:2] == (1, 2), f"bottom 2, the priors, must be (1, 2, P * 4), got {prior.shape}")
        p = self.param.detection_output_param
        polygons = bottom[0].count == self.batch * self.priors * 12 * self.loc_classes > 0 and len(bottom) < 5
        self.corners = 8 if polygons and p.use_polygon else 0
        self.need(
            not self.corners or (p.code_type == CENTER_SIZE and not p.variance_encoded_in_target),
            "polygons need code_type: CENTER_SIZE, and variances that are not in the targets",
        )
        wanted = [("locations", loc, (4 + self.corners) * self.loc_classes), ("scores", conf, self.classes)]
        if len(bottom) == 5:
            wanted += [("objectness", bottom[3], 2), ("first-step locations", bottom[4], 4)]
        if self.states:
            self.need(not self.corners, "polygons have no states")
            wanted.append(("states", bottom[3], self.states))
        for subject, blob, each in wanted:
            self.need(
                blob.shape[:1] == (self.batch,) and blob.count == self.batch * self.priors * each,
                f"the {subject} must be (N, {self.priors} * {each}) for {self.priors} priors, got {blob.shape}",
            )
        self.columns = 7 + self.corners + self.states
        self.choice.reshape(self.batch, self.priors, self.corners, self.states)
        top[0].reshape(1, 1, 1, self.columns)  # forward knows how many rows there are

    def launch(self, choice: DetectionChoice, bottom: list[Blob], top: list[Blob]) -> None:
        choice.launch(bottom, top[0])

    def finish(self, choice: DetectionChoice, bottom: list[Blob], top: list[Blob]) -> None:
        if not choice.finish(top[0]):
            warn_of_nan(self, bottom)
        if self.results:
            self.save(np.asarray(top[0].data)[0, 0])

    def save(self, rows: np.ndarray) -> None:
        """Adds the detections of each image to the files."""
        assert self.results is not None
        for i in range(self.batch):
            own = rows[(rows[:, 0] == i) & (rows[:, 1] >= 0)]
            self.results.add(np.concatenate([own[:, 1:3], own[:, 3 + self.states : 7 + self.states]], 1))

    def forward_empty(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = np.full((self.batch, self.columns), -1, self.dtype)
        rows[:, 0] = np.arange(self.batch)
        if self.results:
            self.save(rows)
        top[0].reshape(1, 1, *rows.shape)
        top[0].data[...] = rows
