"""MatWrite: files that scipy reads, their names, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso import LayerError
from boxpresso.layers.data.mat_write import mat_file

X = np.random.default_rng(1).standard_normal((2, 3, 4, 5))


def rig(text: str, bottoms: list, **options) -> Rig:
    return Rig(f'type: "MatWrite" mat_write_param {{ {text} }}', bottoms, tops=0, **options)


def test_bytes_by_the_layout_of_the_format():
    data = mat_file(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert data[:19] == b"MATLAB 5.0 MAT-file"
    assert data[124:136] == b"\x00\x01IM" + bytes([14, 0, 0, 0, 80, 0, 0, 0])
    assert np.frombuffer(data, "<i4", 2, 160).tolist() == [3, 2]  # columns, rows: MATLAB's first axis is the last here
    np.testing.assert_array_equal(np.frombuffer(data, "<f4", 6, 192), np.arange(6))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scipy_reads_the_files(dtype, tmp_path, device):
    io = pytest.importorskip("scipy.io", reason="scipy is not installed")
    names = tmp_path / "names.txt"
    names.write_text("a.jpg 3\nb.jpg 4\nc.jpg 5\n")
    case = rig(
        f'prefix: "{tmp_path}/f_" source: "{names}" strip: 4 period: 2', [X, X[0, 0]], device=device, dtype=dtype
    )
    for scale in (1, 2, 3):
        case.set_bottom(0, scale * X)
        case.forward()
    assert sorted(path.name for path in tmp_path.glob("*.mat")) == [
        "f_a_blob_0.mat", "f_a_blob_1.mat", "f_c_blob_0.mat", "f_c_blob_1.mat",
    ]  # fmt: skip
    read = io.loadmat(tmp_path / "f_c_blob_0.mat")["data"]
    assert read.dtype == dtype
    np.testing.assert_array_equal(read.transpose(), (3 * X).astype(dtype))
    np.testing.assert_array_equal(io.loadmat(tmp_path / "f_a_blob_1.mat")["data"].T, X[0, 0].astype(dtype))
    case.forward()  # forward 4 is not written
    with pytest.raises(LayerError, match=r"forward 5, .* names 3 files"):
        case.forward()


def test_names_without_a_source(tmp_path):
    case = rig(f'prefix: "{tmp_path}/"', [X])
    for _ in range(2):
        case.forward()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["iter_0_blob_0.mat", "iter_1_blob_0.mat"]


def test_what_is_refused(tmp_path):
    (tmp_path / "n.txt").write_text("ab\n")
    for text, message in (
        ("", "give mat_write_param"),
        ('prefix: "x" period: 0', "period must be 1 or more"),
        ('prefix: "x" strip: -1', "strip must not be negative"),
        (f'prefix: "{tmp_path}/x" source: "{tmp_path}/none.txt"', "cannot read the source"),
        (f'prefix: "{tmp_path}/x" source: "{tmp_path}/n.txt" strip: 2', "leaves nothing of the name 'ab'"),
    ):
        with pytest.raises(LayerError, match=message):
            rig(text, [X]).forward()
    with pytest.raises(LayerError, match="cannot write"):
        rig(f'prefix: "{tmp_path}/no/such/folder/"', [X]).forward()
