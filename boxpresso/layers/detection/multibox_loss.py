"""MultiBoxLoss: the training loss of SSD."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data.boxes import PAIR, area, best, match
from ...device import AnyArray, Blob, Kernels
from ...proto.boxpresso_pb2 import PriorBoxParameter
from ..core import Layer
from ..core.normalizer import divisor, normalization, refuse_forks
from . import suppress


class MultiBoxLoss(
    Layer,
    type=("MultiBoxLoss", "MultiBoxSSDLoss"),
    param=("multibox_loss_param", "loss_param"),
    bottoms=(4, 6),
    tops=(0, 1),
    loss=True,
):
    """The training loss of SSD: of box locations and class scores, over priors matched with the true boxes.

    MultiBoxSSDLoss is the same layer under another name (yuqj1991/caffe_train).

    Matching: priors (or the predicted boxes, without `use_prior_for_matching`) are matched with the true boxes. Each
    true box takes the best prior; with PER_PREDICTION each further prior is matched that overlaps a true box by
    `overlap_threshold` or more. Each forward matches afresh.

    Mining (`mining_type`) chooses the other priors that take part, as background:

    - MAX_NEGATIVE: for each match `neg_pos_ratio` unmatched priors, those of largest loss among the priors that
      overlap nothing by `neg_overlap` or more.
    - HARD_EXAMPLE: the `sample_size` priors of largest loss, matched or not.
    - NONE: all priors. An image without true boxes takes part with NONE alone.

    RefineDet's second step has two more bottoms, what the first one says of each prior. Of its objectness, mining leaves
    out priors below `objectness_score`. Its locations move and scale each prior, per image: matches, targets and
    `bp_inside` are relative to the boxes that result.

    loss = (loc_weight * the loss of the matched locations + the loss of the chosen scores) / the number of matches,
    at least 1; or divided by what `normalization` of loss_param says. Gradients go to locations and scores.

    Parameters
    ----------
    bottom 0
        (N, P * L * 4), locations. L is 1, or num_classes without `share_location`.
    bottom 1
        (N, P * num_classes), scores.
    bottom 2
        (1, 2, P * 4), priors: boxes and variances.
    bottom 3
        (1, 1, G, 8), ground truth: item, label, instance, xmin, ymin, xmax, ymax, difficult. Rows with item -1 are
        skipped.
    bottom 4
        Optional. Objectness (N, P * 2) of the first step, probabilities: the second of each pair is that of an object.
    bottom 5
        Optional. Locations (N, P * 4) of the first step, coded as bottom 0.
    multibox_loss_param
        `num_classes` (required), with the background; `background_label_id` (0); `share_location` (true);
        `loc_loss_type` (SMOOTH_L1; or L2); `conf_loss_type` (SOFTMAX; or LOGISTIC); `loc_weight` (1);
        `match_type` (PER_PREDICTION; or BIPARTITE); `overlap_threshold` (0.5); `use_prior_for_matching` (true);
        `use_difficult_gt` (true); `mining_type` (MAX_NEGATIVE); `do_neg_mining`: its older name, true for
        MAX_NEGATIVE and false for NONE; `neg_pos_ratio` (3); `neg_overlap` (0.5); `sample_size` (64); `nms_param`:
        mining leaves out boxes that a box of larger loss suppresses (its `top_k` is 0 unless given, and then nothing
        is chosen: as Caffe); `use_prior_for_nms` (false); `code_type` (CORNER); `encode_variance_in_target` (false);
        `map_object_to_agnostic` (false): every label becomes the first one above the background;
        `ignore_cross_boundary_bbox` (false): priors that leave the image do not take part; `bp_inside` (false):
        coordinates of boxes outside the image do not count; `objectness_score` (0.01): the least objectness of a prior
        that mining may choose.
    loss_param
        `normalization` (VALID, the number of matches; or FULL, N * P; BATCH_SIZE, N; NONE, 1; PRE_FIXED);
        `weight_by_label_freqs` (false) and `class_weighting`, of SoftmaxWithLoss in SegNet's Caffe: with SOFTMAX true
        multiplies the loss of a prior's scores by the number that class_weighting has for its label.

    Returns
    -------
    top 0
        The loss, one number.

    Raises
    ------
    LayerError
        For `num_classes` or `sample_size` below 1, a `neg_pos_ratio` that is not above 0, a background that is
        not below `num_classes` (with SOFTMAX), `map_object_to_agnostic` with other than two classes, mining
        without `share_location`, `do_neg_mining` that contradicts `mining_type`, `ignore_difficult_gt` of another
        program, a `pre_fixed_normalizer` that is not above 0 with PRE_FIXED, label_smoothing of a fork, class weights with
        LOGISTIC or not one for each class, objectness with `nms_param`, first-step locations with HARD_EXAMPLE or without
        `share_location` and `use_prior_for_matching`, and bottoms of the wrong shape. In
        forward: variances that are not above 0; NaN, infinity or labels that cannot be in the ground truth; a matched
        prior without width or height. In backward: a gradient asked for another bottom than the first two.

    Source
    ------
    Liu et al. 2016 and SSD's Caffe; of six bottoms Zhang et al. 2018 and RefineDet's Caffe. As there, the gradient with
    `encode_variance_in_target` lacks the division by the variance. LOGISTIC without mining puts each label
    at its own prior; SSD's Caffe does so for image 0 alone.

    Examples
    --------
    One match, whose location is perfect, and one negative; two classes of equal score cost log(2) each:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "MultiBoxLoss" multibox_loss_param { num_classes: 2 }'
    >>> priors = [[[0, 0, 0.5, 0.5, 0.5, 0.5, 1, 1], [0.5] * 8]]
    >>> truth = [[[[0, 1, 0, 0, 0, 0.5, 0.5, 0]]]]
    >>> round(run_layer(text, [[0] * 8], [[0] * 4], priors, truth).item(), 3)
    1.386
    """

    kernels, suppress_kernels = Kernels("multibox_loss.cu"), suppress.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.p = self.param.multibox_loss_param
        self.need(p.num_classes > 0, f"num_classes must be at least 1, got {p.num_classes}")
        self.need(not p.ignore_difficult_gt, "ignore_difficult_gt is another program's; use use_difficult_gt: false")
        self.classes, self.background = p.num_classes, p.background_label_id
        self.loc_classes = 1 if p.share_location else self.classes
        self.need(
            not p.map_object_to_agnostic or self.classes == 2,
            f"map_object_to_agnostic takes num_classes: 2, background and object, got {self.classes}",
        )
        self.need(
            p.conf_loss_type == p.LOGISTIC or self.background < self.classes,
            f"background_label_id {self.background} is not below num_classes {self.classes}",
        )
        self.mining = p.mining_type
        if p.HasField("do_neg_mining"):  # the older name
            if not p.HasField("mining_type"):
                self.mining = p.MAX_NEGATIVE if p.do_neg_mining else p.NONE
            self.need(p.do_neg_mining == (self.mining != p.NONE), "do_neg_mining and mining_type contradict each other")
        self.need(self.mining == p.NONE or p.share_location, "mining needs share_location: true; or mining_type: NONE")
        if self.mining == p.MAX_NEGATIVE:
            self.need(p.neg_pos_ratio > 0, f"neg_pos_ratio must be positive, got {p.neg_pos_ratio}")
        if self.mining == p.HARD_EXAMPLE:
            self.need(p.sample_size > 0, f"sample_size must be positive, got {p.sample_size}")
        loss = self.param.loss_param
        self.mode = normalization(self, loss)
        refuse_forks(self, loss, () if p.conf_loss_type == p.LOGISTIC else ("weight_by_label_freqs", "class_weighting"))
        weights = list(loss.class_weighting) if loss.weight_by_label_freqs else []
        self.need(
            not loss.weight_by_label_freqs or len(weights) == self.classes,
            f"weight_by_label_freqs needs a class_weighting for each of {self.classes} classes, got {len(weights)}",
        )
        self.weights = self.device.table(np.asarray(weights), self.dtype) if weights else None
        self.need(len(bottom) < 5 or not p.HasField("nms_param"), "with objectness, bottom 4, it takes no nms_param")
        if len(bottom) > 5:
            plain = p.share_location and p.use_prior_for_matching and self.mining != p.HARD_EXAMPLE
            self.need(
                plain,
                "with locations of the first step, bottom 5, it needs share_location and use_prior_for_matching: true "
                "and takes no HARD_EXAMPLE",
            )
        self.coding = self.kernels.struct("Coding", code=p.code_type, in_target=p.encode_variance_in_target)
        self.smooth = int(p.loc_loss_type == p.SMOOTH_L1)
        down = [*self.param.propagate_down, True, True]
        self.learns = down[:2]  # without a gradient it does not count in the loss: as Caffe

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        loc, conf, prior, truth, *first = bottom
        self.batch, self.priors = (loc.shape or (1,))[0], prior.count // 8
        self.need(prior.shape[:2] == (1, 2), f"bottom 2, the priors, must be (1, 2, P * 4), got {prior.shape}")
        wanted = [("locations", loc, 4 * self.loc_classes), ("scores", conf, self.classes)]
        wanted += zip(("objectness", "first-step locations"), first, (2, 4))
        for subject, blob, each in wanted:
            self.need(
                blob.shape[:1] == (self.batch,) and blob.count == self.batch * self.priors * each,
                f"the {subject} must be (N, {self.priors} * {each}) for {self.priors} priors, got {blob.shape}",
            )
        self.need(truth.shape[-1:] == (8,), f"bottom 3, the ground truth, must be (1, 1, G, 8), got {truth.shape}")
        self.score_loss = self.device.empty((self.batch * self.priors,), self.dtype)
        top[0].reshape()

    # What is matched with what; on the host

    def ground_truth(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Item, label and box of the true boxes that count."""
        self.need(np.isfinite(rows).all(), "the ground truth, bottom 3, has NaN or infinity in it")
        rows = rows[rows[:, 0].astype(int) != -1]
        if not self.p.use_difficult_gt:
            rows = rows[rows[:, 7] == 0]
        item, label = rows[:, 0].astype(int), rows[:, 1].astype(int)
        most = np.inf if self.p.map_object_to_agnostic else self.classes
        bad = (label == self.background) | (label < 0) | (label >= most)
        self.need(
            not bad.any(),
            f"labels of the ground truth must be below num_classes {self.classes} and not the background "
            f"{self.background}, got {sorted(set(label[bad].tolist()))}",
        )
        if self.p.map_object_to_agnostic:
            label[:] = self.background + 1
        return item, label, rows[:, 3:7]

    def find_matches(
        self, item: np.ndarray, label: np.ndarray, truth: np.ndarray, priors: np.ndarray, predicted: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """matches (N, L, P): the index of the true box, -1 for none, -2 for left out; and largest overlaps (N, P).

        priors: (N, P, 4), or (1, P, 4) where all images have the same.
        """
        matches = np.full((self.batch, self.loc_classes, self.priors), -1)
        most = np.zeros((self.batch, self.priors), priors.dtype)
        threshold = self.p.overlap_threshold if self.p.match_type == self.p.PER_PREDICTION else None
        sides = [c for c in range(self.loc_classes) if self.p.share_location or c != self.background]
        for image in set(item.tolist()) & set(range(self.batch)):
            mine = np.flatnonzero(item == image)
            if predicted is None or self.p.use_prior_for_matching:
                matched, most[image] = self.match_boxes(priors[image % len(priors)], truth, mine, threshold)
                for c in sides:
                    own = self.p.share_location | (label[np.maximum(matched, 0)] == c)
                    matches[image, c] = np.where(own, matched, -1)
            else:
                for c in sides:
                    wanted = mine if self.p.share_location else mine[label[mine] == c]
                    matches[image, c], most[image] = self.match_boxes(predicted[image, :, c], truth, wanted, threshold)
        return matches, most

    def match_boxes(
        self, boxes: np.ndarray, truth: np.ndarray, numbers: np.ndarray, threshold: float | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """`match` with the true boxes of these numbers; with ignore_cross_boundary_bbox -2 for boxes outside the image."""
        outside = np.zeros(len(boxes), bool)
        if self.p.ignore_cross_boundary_bbox and len(numbers):
            outside = np.asarray(((boxes < 0) | (boxes > 1)).any(1))
        boxes = np.where(outside[:, None], 0, boxes)  # of no area: they match nothing
        self.need_pairs("overlaps of priors and true boxes", len(boxes) * len(numbers), PAIR)
        matched, most = match(boxes, truth[numbers], threshold)
        matched[matched >= 0] = numbers[matched[matched >= 0]]
        matched[outside] = -2
        return matched, most

    def mine(
        self,
        matches: np.ndarray,
        most: np.ndarray,
        loss: np.ndarray,
        boxes: np.ndarray,
        images: set[int],
        allowed: np.ndarray,
    ) -> np.ndarray:
        """The unmatched priors (N, P) that count as background, of those `allowed`, in the images that have true boxes.
        HARD_EXAMPLE removes from `matches` those that it does not choose."""
        negative = np.zeros((self.batch, self.priors), bool)
        for image in images & set(range(self.batch)):
            matched, free = matches[image, 0] >= 0, matches[image, 0] == -1
            if self.mining == self.p.MAX_NEGATIVE:
                eligible = np.flatnonzero(free & (most[image] < self.p.neg_overlap) & allowed[image])
                count = int(np.float32(matched.sum()) * np.float32(self.p.neg_pos_ratio))
            else:
                eligible, count = np.flatnonzero(allowed[image]), self.p.sample_size
            chosen = eligible[self.hardest(loss[image, eligible], boxes[image % len(boxes)], eligible, count)]
            selected = np.isin(np.arange(self.priors), chosen)
            negative[image] = selected & free
            if self.mining == self.p.HARD_EXAMPLE:
                matches[image, 0, matched & ~selected] = -1
        return negative

    def hardest(self, loss: np.ndarray, boxes: np.ndarray, eligible: np.ndarray, count: int) -> np.ndarray:
        """The `count` indices of largest loss; with nms_param, of boxes that no box of larger loss suppresses. Its top_k is
        0 unless given, and then nothing is chosen: as Caffe."""
        if not self.p.HasField("nms_param") or self.p.nms_param.nms_threshold <= 0:
            return best(loss, count)
        order = best(loss, self.p.nms_param.top_k)
        order = order[area(boxes[eligible[order]]) >= 1e-5]
        rows = self.device.table(boxes[eligible[order]], self.dtype)
        stay = suppress.suppress_rows(self.device, rows, self.p.nms_param.nms_threshold, above=True)
        return np.asarray(order[stay][:count])

    # The losses; in kernels

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        host = np.asarray(bottom[2].data).reshape(2, self.priors, 4)
        self.need((host[1] > 0).all(), "the variances of the priors, bottom 2, must be positive")
        item, label, truth = self.ground_truth(np.asarray(bottom[3].data).reshape(-1, 8))
        predicted, refined = self.predicted(bottom), self.refined(bottom)
        priors = host[:1] if refined is None else np.asarray(refined)
        matches, most = self.find_matches(item, label, truth, priors, predicted)
        negative = None
        if self.mining != self.p.NONE:
            self.set_targets(matches, label, np.ones((self.batch, self.priors), bool))
            self.score_losses(bottom)
            loss = np.array(self.score_loss).reshape(self.batch, self.priors)
            if self.mining == self.p.HARD_EXAMPLE:
                places = self.location_losses(bottom, matches, truth, priors, predicted, refined)
                np.add.at(loss, places[:2], np.asarray(self.location_loss))
            boxes = host[:1] if predicted is None or self.p.use_prior_for_nms else predicted[:, :, 0]
            negative = self.mine(matches, most, loss, boxes, set(item.tolist()), self.objects(bottom))
        self.location_losses(bottom, matches, truth, priors, predicted, refined)
        self.set_targets(matches, label, negative)
        self.score_losses(bottom)
        items = self.batch * self.priors
        self.divisor = divisor(self.param.loss_param, self.mode, items, self.batch, valid=self.match_count)
        self.kernels.multibox_total(
            1, self.location_loss, self.match_count, self.p.loc_weight * self.learns[0] / self.divisor, self.score_loss,
            self.batch * self.priors, self.learns[1] / self.divisor, top[0].data,
        )  # fmt: skip

    def predicted(self, bottom: list[Blob]) -> np.ndarray | None:
        """The predicted boxes (N, P, L, 4), or None when nothing asks for them."""
        p = self.p
        if p.use_prior_for_matching and (p.use_prior_for_nms or not p.HasField("nms_param")):
            return None
        return np.asarray(self.decode(bottom, bottom[0], self.loc_classes))

    def refined(self, bottom: list[Blob]) -> AnyArray | None:
        """The priors (N, P, 4) as the locations of the first step move them, or None without such a bottom."""
        if len(bottom) < 6:
            return None
        boxes: AnyArray = self.device.part(self.decode(bottom, bottom[5], 1), 0, (self.batch, self.priors, 4))
        return boxes

    def decode(self, bottom: list[Blob], locations: Blob, classes: int) -> AnyArray:
        """The boxes (N, P, classes, 4) of locations relative to the priors."""
        boxes: AnyArray = self.device.empty((self.batch, self.priors, classes, 4), self.dtype)
        self.kernels.multibox_decode(
            boxes.size // 4, locations.data, bottom[2].data, self.variances(bottom), boxes, self.priors, classes,
            self.coding,
        )  # fmt: skip
        return boxes

    def objects(self, bottom: list[Blob]) -> np.ndarray:
        """Which priors (N, P) mining may choose: those of enough objectness, all without that bottom."""
        if len(bottom) < 5:
            return np.ones((self.batch, self.priors), bool)
        objectness = np.asarray(bottom[4].data).reshape(self.batch, self.priors, 2)[..., 1]
        return np.asarray(objectness >= self.dtype.type(self.p.objectness_score))

    def variances(self, bottom: list[Blob]) -> AnyArray:
        """The second half of the priors' blob."""
        variances: AnyArray = self.device.part(bottom[2].data, 4 * self.priors, (4 * self.priors,))
        return variances

    def location_losses(
        self,
        bottom: list[Blob],
        matches: np.ndarray,
        truth: np.ndarray,
        priors: np.ndarray,
        predicted: np.ndarray | None,
        refined: AnyArray | None,
    ) -> tuple[np.ndarray, ...]:
        """The loss of each match; returns image, prior and location class of each. refined: the priors (N, P, 4) on the
        device where each image has its own."""
        image, side, prior = np.nonzero(matches >= 0)
        inside, own = np.ones((len(image), 4), bool), priors[image % len(priors), prior]
        if self.p.bp_inside:
            boxes = own
            if predicted is not None and not self.p.use_prior_for_matching:
                boxes = predicted[image, prior, side]
            inside = (boxes >= 0) & (boxes <= 1)
        proper = self.p.code_type == PriorBoxParameter.CORNER or (own[:, 2:] > own[:, :2]).all()
        self.need(
            proper, "a matched prior, of bottom 2, has no width or height, so a box cannot be encoded relative to it"
        )
        self.match_count = len(image)
        at = (image * self.priors + prior) * self.loc_classes + side
        self.at = self.device.table(at)
        self.residual = self.device.empty((self.match_count, 4), self.dtype)
        self.location_loss = self.device.empty((self.match_count,), self.dtype)
        own_box = prior if refined is None else image * self.priors + prior
        self.kernels.multibox_location(
            self.match_count, bottom[0].data, self.device.table(np.stack([at, own_box, prior], 1)),
            bottom[2].data if refined is None else refined, self.variances(bottom),
            self.device.table(truth[matches[image, side, prior]], self.dtype), self.device.table(inside), self.residual,
            self.location_loss, self.coding, self.smooth,
        )  # fmt: skip
        return image, prior, side

    def set_targets(self, matches: np.ndarray, label: np.ndarray, negative: np.ndarray | None) -> None:
        """The targets of the scores: of a match its label, of the `negative` priors background; if None, of all others."""
        image, side, prior = np.nonzero(matches >= 0)
        labels = label[matches[image, side, prior]]
        wanted = np.full((self.batch, self.priors), -1 if negative is not None else self.background)
        if negative is not None:
            wanted[negative] = self.background
        wanted[image, prior] = labels
        self.label = self.device.table(wanted)
        if self.p.conf_loss_type == self.p.LOGISTIC:
            target = np.zeros((self.batch, self.priors, self.classes), self.dtype)
            if negative is not None and self.background < self.classes:
                target[..., self.background] = wanted == self.background
            target[image, prior, labels] = 1
            self.target = self.device.table(target, self.dtype)

    def score_losses(self, bottom: list[Blob]) -> None:
        """The loss of each row of scores, 0 for those that do not take part."""
        rows = self.batch * self.priors
        if self.p.conf_loss_type == self.p.LOGISTIC:
            self.kernels.multibox_logistic(rows, bottom[1].data, self.label, self.target, self.score_loss, self.classes)
        else:
            self.kernels.multibox_softmax(rows, bottom[1].data, self.label, self.weights, self.score_loss, self.classes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(
            not any(propagate_down[2:]),
            "only locations and scores have gradients; set propagate_down: false for the other bottoms",
        )
        if propagate_down[0]:
            bottom[0].diff.fill(0)
            self.kernels.multibox_location_backward(
                self.match_count, self.residual, self.at, top[0].diff, bottom[0].diff, self.p.loc_weight / self.divisor,
                self.smooth,
            )  # fmt: skip
        if propagate_down[1]:
            rows, scores, loss_diff, wanted = self.batch * self.priors, bottom[1].data, top[0].diff, bottom[1].diff
            if self.p.conf_loss_type == self.p.LOGISTIC:
                self.kernels.multibox_logistic_backward(
                    rows, scores, self.label, self.target, loss_diff, wanted, self.classes, 1 / self.divisor
                )
            else:
                self.kernels.multibox_softmax_backward(
                    rows, scores, self.label, self.weights, loss_diff, wanted, self.classes, 1 / self.divisor
                )

    def allow_force_backward(self, index: int) -> bool:
        return index < 2
