"""A net between its text and its layers: pure functions from a message to a new message.

select    keeps the layers that a phase, level and stages ask for     (Caffe's FilterNet)
split     gives every reader of a blob its own copy                   (Caffe's InsertSplits)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from ..proto import LayerParameter, ModelError, NetParameter, NetState, NetStateRule, nearest

Top = tuple[int, int]  # which layer, which of its tops


def select(net: NetParameter, phase: str, level: int = 0, stages: Sequence[str] = ()) -> NetParameter:
    """The net with only the layers that its include and exclude rules select: Caffe's FilterNet.

    A layer without rules is always selected; one with `include` if it meets any of them, one with `exclude` unless it meets
    any.

    Parameters
    ----------
    net
        The whole net.
    phase
        "TRAIN" or "TEST"; it takes precedence over the net's own `state`.
    level
        Takes precedence too where it is not 0.
    stages
        Added to those of the net's own `state`.

    Returns
    -------
    NetParameter
        Its `state` says what was selected.

    Raises
    ------
    ModelError
        For an unknown phase, and for a layer with both include and exclude.

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> net = parse_net('layer { name: "a" type: "Silence" include { phase: TRAIN } } layer { name: "b" type: "Silence" }')
    >>> [layer.name for layer in select(net, "TEST").layer]
    ['b']
    """
    state = _state(net, phase, level, stages)
    selected = NetParameter()
    selected.CopyFrom(net)
    selected.ClearField("layer")
    selected.state.CopyFrom(state)
    selected.layer.extend(layer for layer in net.layer if _included(layer, state))
    return selected


def split(net: NetParameter) -> NetParameter:
    """The net with a Split layer after every top that has several readers, bottoms or losses: Caffe's InsertSplits.

    The copies of top number 0, `conv1`, of layer `conv1` are `conv1_conv1_0_split_0`, `.._1`, in the order of their
    readers, and the layer is `conv1_conv1_0_split`. A top with a loss_weight gives it to its first copy. An in-place
    layer has a new top of the same name: readers before it and after it are counted separately. Caffe clears all loss weights
    of a layer when one of its tops is split; here the other tops keep theirs.

    Raises
    ------
    ModelError
        For a bottom that is not a top of an earlier layer, with the nearest name that is.

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> net = parse_net('''layer { name: "x" type: "Input" top: "x" } layer { name: "a" type: "ReLU" bottom: "x" top: "a" }
    ...                    layer { name: "b" type: "ReLU" bottom: "x" top: "b" }''')
    >>> [(layer.type, *layer.bottom) for layer in split(net).layer]
    [('Input',), ('Split', 'x'), ('ReLU', 'x_x_0_split_0'), ('ReLU', 'x_x_0_split_1')]
    """
    source, readers = _trace(net)
    result = NetParameter()
    result.CopyFrom(net)
    result.ClearField("layer")
    used: Counter[Top] = Counter()  # of each top, how many copies have a reader already
    for i, original in enumerate(net.layer):
        layer = result.layer.add()
        layer.CopyFrom(original)
        for j, blob in enumerate(original.bottom):
            top = source[i, j]
            if readers[top] > 1:
                layer.bottom[j] = f"{_split_name(net.layer[top[0]], blob, top[1])}_{used[top]}"
                used[top] += 1
        for j, blob in enumerate(original.top):
            if readers[i, j] > 1:
                weight = original.loss_weight[j] if j < len(original.loss_weight) else 0.0
                _add_split(result, original, blob, j, readers[i, j], weight)
                if weight:
                    layer.loss_weight[j] = 0
                    used[i, j] += 1
        if len(layer.loss_weight) and not any(layer.loss_weight) and any(original.loss_weight):
            layer.ClearField("loss_weight")
    return result


# -- select ------------------------------------------------------------------------------------------------------------


def _state(net: NetParameter, phase: str, level: int, stages: Iterable[str]) -> NetState:
    state = NetState()
    state.CopyFrom(net.state)
    phases = NetState.DESCRIPTOR.fields_by_name["phase"].enum_type.values_by_name
    if str(phase).upper() not in phases:
        raise ModelError(f"unknown phase {phase!r}: it is TRAIN or TEST")
    if isinstance(stages, str):
        raise ModelError(f"stages are a list of names, got the string {stages!r}: write [{stages!r}]")
    state.phase = phases[str(phase).upper()].number
    state.level = level or net.state.level
    state.stage.extend(stage for stage in stages if stage not in net.state.stage)
    return state


def _included(layer: LayerParameter, state: NetState) -> bool:
    if layer.include and layer.exclude:
        raise ModelError(f"layer {layer.name!r} has both include and exclude rules: use one kind")
    if layer.include:
        return any(_meets(state, rule) for rule in layer.include)
    return not any(_meets(state, rule) for rule in layer.exclude)


def _meets(state: NetState, rule: NetStateRule) -> bool:
    """Whether the state satisfies every part of one rule; a part that is not given is always satisfied."""
    return (
        (not rule.HasField("phase") or rule.phase == state.phase)
        and (not rule.HasField("min_level") or rule.min_level <= state.level)
        and (not rule.HasField("max_level") or rule.max_level >= state.level)
        and set(rule.stage) <= set(state.stage)
        and not set(rule.not_stage) & set(state.stage)
    )


# -- split -------------------------------------------------------------------------------------------------------------


def _trace(net: NetParameter) -> tuple[dict[tuple[int, int], Top], dict[Top, int]]:
    """Which top each bottom (layer, index) reads, and how many readers each top has; a loss is a reader."""
    last: dict[str, Top] = {}  # blob name -> its latest top
    source: dict[tuple[int, int], Top] = {}
    readers: dict[Top, int] = defaultdict(int)
    for i, layer in enumerate(net.layer):
        for j, blob in enumerate(layer.bottom):
            if blob not in last:
                raise ModelError(
                    f"layer {layer.name!r} ({layer.type}) reads bottom {blob!r}, which is not a top of an earlier layer"
                    f"{nearest(blob, last) or _known(last)}"
                )
            source[i, j] = last[blob]
            readers[last[blob]] += 1
        for j, blob in enumerate(layer.top):
            last[blob] = i, j
        for blob, weight in zip(layer.top, layer.loss_weight, strict=False):  # Caffe: whichever list is shorter
            if weight:
                readers[last[blob]] += 1
    return source, readers


def _known(blobs: Iterable[str]) -> str:
    names = list(blobs)
    return f"; the tops before it: {', '.join(names[-8:])}" if names else "; no layer before it has a top"


def _split_name(layer: LayerParameter, blob: str, top: int) -> str:
    return f"{blob}_{layer.name}_{top}_split"


def _add_split(net: NetParameter, layer: LayerParameter, blob: str, top: int, count: int, weight: float) -> None:
    name = _split_name(layer, blob, top)
    added = net.layer.add(name=name, type="Split", bottom=[blob], top=[f"{name}_{k}" for k in range(count)])
    if weight:
        added.loss_weight[:] = [weight] + [0] * (count - 1)
