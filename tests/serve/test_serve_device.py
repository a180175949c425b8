"""boxpresso serve on each device: the nets are made in one thread and run in another."""

from __future__ import annotations

import numpy as np
from served import NAMES, answered, cells, get, png, post, rows, started, wide_net
from tiny_ssd import TINY

from boxpresso import Detector, Net
from boxpresso.proto import parse_net


def test_detections_another_overlap_and_blobs(device):
    other = wide_net()
    net = Net(parse_net(TINY), device=device)
    for mine, theirs in zip(net.params.values(), other.params.values()):
        for blob, values in zip(mine, theirs):
            blob.data[...] = np.array(values.data)
    wanted = Detector(other, labels=NAMES)
    with started(Detector(net, labels=NAMES)) as server:
        first = post(server, png(cells(1)))
        assert answered(first) == rows(wanted(cells(1)))
        assert answered(post(server, png(cells(2)))) == rows(wanted(cells(2)))
        again = post(server, None, picture=first.json()["picture"], nms=0.2)
        assert (len(answered(again)), again.json()["timing"]["passes"]) == (
            len(rows(wanted(cells(1)).suppress(0.2))),
            0,
        )
        seen = get(server, "api/blobs/feature", picture=first.json()["picture"]).json()
        assert seen["shape"] == [1, 1, 4, 4]
        np.testing.assert_allclose(seen["mean"], cells(1)[..., 2].mean(), rtol=1e-6)
