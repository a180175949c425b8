"""Which layers run backward, and for which bottoms: one sweep forward from the parameters, one back from the losses."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from ..layers.core import Layer
from ..proto import NetParameter


class Gradients:
    """`layer_needs[i]`: whether layer i runs backward; `bottom_needs[i][j]`: whether it gives bottom j a diff.

    `refused[i]`: the bottoms to which layer i gives none though one of its tops has one.

    The rules are Caffe's. A bottom needs a diff when a parameter lies before it (or `propagate_down` says so), and a layer
    runs backward when a loss lies after it. `force_backward: true` asks for every diff that a layer can give; unlike in Caffe,
    an explicit `propagate_down: false` takes precedence over it.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        names: Sequence[tuple[list[str], list[str]]],
        net: NetParameter,
        loss_weights: Sequence[Sequence[float]],
    ) -> None:
        self.layer_needs: list[bool] = []
        self.bottom_needs: list[list[bool]] = []
        self.warned = False
        self._what_learns(layers, names)
        self._what_a_loss_sees(layers, names, loss_weights)
        if net.force_backward:
            self._force(layers, names)
        self.refused = self._what_is_refused(names, loss_weights)

    def _what_learns(self, layers: Sequence[Layer], names: Sequence[tuple[list[str], list[str]]]) -> None:
        needed: dict[str, bool] = {}  # blob -> whether the layers before it can use its diff
        for layer, (bottoms, tops) in zip(layers, names):
            asked = list(layer.param.propagate_down)
            layer.need(
                len(asked) in (0, len(bottoms)), f"has {len(asked)} propagate_down values for {len(bottoms)} bottoms"
            )
            down = asked or [needed[name] for name in bottoms]
            for i in range(len(layer.blobs)):
                if i < len(layer.param.param) and layer.param.param[i].lr_mult == 0:
                    layer.param_propagate_down[i] = False
            need = any(needed[name] for name in bottoms) or any(layer.param_propagate_down)
            if layer.no_gradient:
                need, down = False, [False] * len(bottoms)
            for name in tops:
                needed[name] = need or (name in bottoms and needed[name])
            self.layer_needs.append(need)
            self.bottom_needs.append(down)

    def _what_a_loss_sees(
        self,
        layers: Sequence[Layer],
        names: Sequence[tuple[list[str], list[str]]],
        loss_weights: Sequence[Sequence[float]],
    ) -> None:
        under_loss: set[str] = set()
        skipped: set[str] = (
            set()
        )  # blobs that a propagate_down: false cuts off, as long as no other reader needs their diff
        for i in range(len(layers) - 1, -1, -1):
            bottoms, tops = names[i]
            contributes = any(w or name in under_loss for name, w in zip(tops, loss_weights[i]))
            skip = all(name in skipped for name in tops) if tops else False
            if skip or not contributes:
                self.layer_needs[i] = False
            if not self.layer_needs[i]:
                self.bottom_needs[i] = [False] * len(bottoms)
            for name, down in zip(bottoms, self.bottom_needs[i]):
                if contributes:
                    under_loss.add(name)
                else:
                    down = False
                skipped.discard(name) if down else skipped.add(name)

    def _force(self, layers: Sequence[Layer], names: Sequence[tuple[list[str], list[str]]]) -> None:
        for i, layer in enumerate(layers):
            self.layer_needs[i] = True
            refused = [value is False for value in layer.param.propagate_down] or [False] * len(names[i][0])
            self.bottom_needs[i] = [
                (need or layer.allow_force_backward(j)) and not refused[j]
                for j, need in enumerate(self.bottom_needs[i])
            ]
            layer.param_propagate_down = [True] * len(layer.blobs)

    def _what_is_refused(
        self, names: Sequence[tuple[list[str], list[str]]], loss_weights: Sequence[Sequence[float]]
    ) -> list[list[int]]:
        refused: list[list[int]] = []
        with_diffs: set[str] = set()  # blobs that a later layer, or a loss, gives a diff
        for (bottoms, tops), needs, weights in list(zip(names, self.bottom_needs, loss_weights))[::-1]:
            has = any(weights) or not with_diffs.isdisjoint(tops)
            refused.append([j for j, need in enumerate(needs) if has and not need])
            with_diffs.difference_update(tops)
            with_diffs.update(name for name, need in zip(bottoms, needs) if need)
        return refused[::-1]

    def warn_if_idle(self) -> None:
        if not any(self.layer_needs) and not self.warned:
            self.warned = True
            warnings.warn(
                "backward does nothing: the net has no loss that reaches a parameter; add `force_backward: true` to its "
                "prototxt to get gradients of its outputs",
                stacklevel=4,
            )
