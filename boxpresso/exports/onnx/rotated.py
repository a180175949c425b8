"""Rotated boxes: how regions are decoded, and a loop that suppresses those that overlap a better one."""

from __future__ import annotations

from math import pi

import numpy as np

from .graph import OnnxGraph


def rotated_rows(g: OnnxGraph, anchors: np.ndarray, by: str) -> str:
    """(N, K, 5): the anchors (K, 5), x, y, height, width, degrees, moved by offsets; as Rotated.decode."""
    size = g.const(anchors[:, 3:1:-1])  # width, height
    centre = g.add(g.mul(g.slice(by, 2, 0, 2), size), g.const(anchors[:, :2]))
    grown = g.mul(g.op("Exp", g.slice(by, 2, 2, 4)), size)
    angle = g.add(g.mul(g.slice(by, 2, 4, 5), float(np.float32(180 / pi))), g.const(anchors[:, 4:]))
    angle = g.op("Where", g.op("Less", angle, g.const(-45.0)), g.add(angle, 180.0), angle)
    angle = g.op("Where", g.op("Greater", angle, g.const(135.0)), g.sub(angle, 180.0), angle)
    return g.concat([centre, g.slice(grown, 2, 1, 2), g.slice(grown, 2, 0, 1), angle], 2)


def suppressed_rotated(g: OnnxGraph, boxes: str, scores: str, threshold: float, limit: int) -> str:
    """Indices of the boxes (K, 5), best first, that overlap no better one that stays by more than the threshold.

    A box whose score is minus infinity is out. Each turn of the loop takes the first box that is left and leaves out those
    that it overlaps; it ends when none is left, or `limit` stay.
    """
    count = g.size(scores, 0)
    alive = g.op("Greater", scores, g.const(-float(np.finfo(np.float32).max)))
    angle = g.mul(g.slice(boxes, 1, 4, 5), float(np.float32(pi / 180)))
    parts = [g.slice(boxes, 1, 0, 1), g.slice(boxes, 1, 1, 2), g.slice(boxes, 1, 3, 4), g.slice(boxes, 1, 2, 3), angle]
    rows = g.concat(parts, 1)  # x, y, width, height, radians
    survivors = g.op("Cast", g.op("Expand", g.const(0, "int64"), count), to=g.onnx.TensorProto.BOOL)
    turns = g.squeeze(count, 0) if limit < 0 else g.const(limit, "int64")
    undecided = any_true(g, alive)
    h, types = g.onnx.helper, g.onnx.TensorProto
    names = {key: g.fresh(key) for key in ("turn", "go", "alive_in", "kept_in", "go_out", "alive_out", "kept_out")}
    with g.body() as nodes:
        first = g.op("ArgMax", g.cast(names["alive_in"], "float"), axis=0, keepdims=1)
        numbers = g.count_up(g.size(names["alive_in"], 0), "int64")
        itself = g.op("Equal", numbers, first)
        over = g.op("Greater", overlaps(g, g.gather(rows, first), rows), g.const(float(np.float32(threshold))))
        going = g.op("Not", g.op("Or", over, itself))
        alive_out = g.op("And", names["alive_in"], going)
        kept_out = g.op("Or", names["kept_in"], itself)
        results = {"alive_out": alive_out, "kept_out": kept_out, "go_out": any_true(g, alive_out)}
        for key, value in results.items():
            nodes.append(h.make_node("Identity", [value], [names[key]], name=names[key]))
    infos = [
        h.make_tensor_value_info(names["turn"], types.INT64, []), h.make_tensor_value_info(names["go"], types.BOOL, []),
        *(h.make_tensor_value_info(names[key], types.BOOL, ["boxes"]) for key in ("alive_in", "kept_in")),
    ]  # fmt: skip
    ends = [h.make_tensor_value_info(names["go_out"], types.BOOL, [])]
    ends += [h.make_tensor_value_info(names[key], types.BOOL, ["boxes"]) for key in ("alive_out", "kept_out")]
    body = h.make_graph(nodes, g.fresh("suppression"), infos, ends)
    _, last = g.ops("Loop", [turns, undecided, alive, survivors], 2, body=body)
    return g.squeeze(g.op("NonZero", last), 0)


def any_true(g: OnnxGraph, x: str) -> str:
    """Whether one of a list of truth values is true: a single one."""
    most = g.reduce("ReduceMax", g.cast(x, "float"), [0], keep=False)
    return g.cast(most, "bool")


def overlaps(g: OnnxGraph, one: str, rows: str) -> str:
    """(K,): intersection over union of a box (1, 5) with boxes (K, 5): centre x, y, width, height, radians.

    The area that both share is a sum over its edges, by Green's theorem: the part of each edge of one box that lies in the
    other. An edge that lies on the border of both counts once.
    """
    px, py, pw, ph, pa = (g.slice(one, 1, k, k + 1) for k in range(5))
    qx, qy, qw, qh, qa = (g.slice(rows, 1, k, k + 1) for k in range(5))
    cos, sin = g.op("Cos", pa), g.op("Sin", pa)
    dx, dy = g.sub(qx, px), g.sub(qy, py)
    # in the first box's own axes: it is upright around 0
    cx, cy = g.add(g.mul(dx, cos), g.mul(dy, sin)), g.sub(g.mul(dy, cos), g.mul(dx, sin))
    turn = g.sub(qa, pa)
    c, s = g.op("Cos", turn), g.op("Sin", turn)
    zero = g.mul(qx, 0.0)
    half_p = g.mul(pw, 0.5), g.mul(ph, 0.5)
    half_q = g.mul(qw, 0.5), g.mul(qh, 0.5)
    mine = border(g, zero, zero, g.add(zero, 1.0), zero, (g.add(half_p[0], zero), g.add(half_p[1], zero)))
    other = border(g, cx, cy, c, s, half_q)
    inside_other = clipped(g, mine, (cx, cy, c, s), half_q, strict=False)
    inside_mine = clipped(g, other, (zero, zero, g.add(zero, 1.0), zero), half_p, strict=True)
    shared = g.larger(g.mul(g.add(inside_other, inside_mine), 0.5), 0.0)
    area_p, area_q = g.mul(pw, ph), g.mul(qw, qh)
    good = g.op(
        "And", g.op("Greater", g.smaller(pw, ph), g.const(0.0)), g.op("Greater", g.smaller(qw, qh), g.const(0.0))
    )
    union = g.sub(g.add(area_p, area_q), shared)
    value = g.op("Where", good, g.div(shared, g.op("Where", good, union, g.const(1.0))), g.const(0.0))
    return g.squeeze(value, 1)


def border(g: OnnxGraph, x: str, y: str, c: str, s: str, half: tuple[str, str]) -> tuple[str, str, str, str]:
    """Where the four edges of boxes start and how they run, (K, 4) each: counter-clockwise in axes x, y."""
    signs_w, signs_h = g.const([[-1, 1, 1, -1]]), g.const([[-1, -1, 1, 1]])
    wide, high = g.mul(half[0], signs_w), g.mul(half[1], signs_h)
    xs = g.add(g.sub(g.mul(wide, c), g.mul(high, s)), x)
    ys = g.add(g.add(g.mul(wide, s), g.mul(high, c)), y)
    after = g.ints(1, 2, 3, 0)
    return xs, ys, g.sub(g.gather(xs, after, 1), xs), g.sub(g.gather(ys, after, 1), ys)


def clipped(
    g: OnnxGraph, edges: tuple[str, str, str, str], box: tuple[str, str, str, str], half: tuple[str, str], strict: bool
) -> str:
    """(K, 1): twice the part of an area that the edges inside a box contribute.

    strict: whether an edge that runs along a side of the box is outside of it.
    """
    x, y, run_x, run_y = edges
    cx, cy, c, s = box
    dx, dy = g.sub(x, cx), g.sub(y, cy)
    u, v = g.add(g.mul(dx, c), g.mul(dy, s)), g.sub(g.mul(dy, c), g.mul(dx, s))  # in the box's own axes
    along_u, along_v = g.add(g.mul(run_x, c), g.mul(run_y, s)), g.sub(g.mul(run_y, c), g.mul(run_x, s))
    enter, leave = g.mul(u, 0.0), g.add(g.mul(u, 0.0), 1.0)
    fits = g.op("GreaterOrEqual", leave, enter)
    for at, run, most in ((u, along_u, half[0]), (v, along_v, half[1])):
        flat = g.op("Equal", run, g.const(0.0))
        within = g.op("Less" if strict else "LessOrEqual", g.op("Abs", at), most)
        fits = g.op("And", fits, g.op("Or", g.op("Not", flat), within))
        safe = g.op("Where", flat, g.const(1.0), run)
        first, second = g.div(g.sub(g.op("Neg", most), at), safe), g.div(g.sub(most, at), safe)
        low = g.op("Where", flat, g.const(0.0), g.smaller(first, second))
        high = g.op("Where", flat, g.const(1.0), g.larger(first, second))
        enter, leave = g.larger(enter, low), g.smaller(leave, high)
    fits = g.op("And", fits, g.op("Greater", leave, enter))
    part = g.op("Where", fits, g.sub(leave, enter), g.const(0.0))
    # the cross product of both ends of the part is that of the edge's start and run, times its length
    return g.reduce("ReduceSum", g.mul(g.sub(g.mul(x, run_y), g.mul(y, run_x)), part), [1])
