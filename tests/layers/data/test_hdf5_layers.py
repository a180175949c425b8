"""HDF5Data and HDF5Output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from harness import Rig

from boxpresso import LayerError, Net
from boxpresso.proto import parse_net

h5py = pytest.importorskip("h5py")


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
        f'layer {{ name: "h" type: "HDF5Data" top: "data" top: "label" hdf5_data_param {{ source: "{Path(source).as_posix()}" batch_size: 5 {more} }} }}'
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
    with pytest.raises(
        LayerError, match=r"line 1, which must name an HDF5 file, has 1 word of \d+ letters: no file there"
    ):
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
    values, labels = (
        np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32),
        np.array([1, 2], np.float32),
    )
    rig = Rig(
        f'type: "HDF5Output" hdf5_output_param {{ file_name: "{path.as_posix()}" }}',
        [values, labels],
        tops=0,
        device=device,
    )
    rig.forward()
    rig.set_bottom(0, values + 1)
    rig.forward()
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["data"], np.concatenate([values, values + 1]))
        np.testing.assert_array_equal(file["label"], [1, 2, 1, 2])
    with pytest.raises(LayerError, match="no folder '/nowhere'"):
        Rig('type: "HDF5Output" hdf5_output_param { file_name: "/nowhere/x.h5" }', [values, labels], tops=0)
    with pytest.raises(LayerError, match="as many rows, got 2 and 3"):
        Rig(f'type: "HDF5Output" hdf5_output_param {{ file_name: "{path.as_posix()}" }}', [values, np.zeros(3)], tops=0)


def test_hdf5_output_of_single_numbers(tmp_path):
    """A loss and an accuracy, of no axes: a row for each forward."""
    path = tmp_path / "out.h5"
    text = f'type: "HDF5Output" hdf5_output_param {{ file_name: "{path.as_posix()}" }}'
    rig = Rig(text, [np.float32(0.5), np.ones(1, np.float32)], tops=0)
    rig.forward()
    rig.set_bottom(0, np.float32(0.25))
    rig.forward()
    with h5py.File(path) as file:
        assert file["data"][()].tolist() == [0.5, 0.25]
        assert file["label"][()].tolist() == [1, 1]
