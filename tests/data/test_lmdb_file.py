"""LMDBs as the library writes them, read by `LmdbFile` and by the library."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso.data.errors import DataError
from boxpresso.data.lmdb_file import LmdbFile

lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed (pip install 'boxpresso[train]')")


@pytest.mark.parametrize("subdir", [True, False])
def test_keys_and_values_are_the_librarys(tmp_path, subdir):
    """After several transactions, with keys removed, and values of none, in a page, and with pages of their own."""
    draw, path = np.random.default_rng(1), str(tmp_path / "db")
    with lmdb.open(path, map_size=1 << 24, subdir=subdir, sync=False) as env:
        for count in (1, 0, 700, 5):
            with env.begin(write=True) as change:
                for _ in range(count):
                    key, size = draw.bytes(int(draw.integers(1, 200))), int(draw.choice([0, 1, 30, 500, 2100, 9000]))
                    change.put(key, draw.bytes(size))
                cursor = change.cursor()
                if cursor.set_range(b"\x40"):
                    cursor.delete()
        with env.begin() as view:
            items = [(bytes(key), bytes(value)) for key, value in view.cursor()]
            assert env.stat()["depth"] == 3
    file = LmdbFile(path)
    assert len(file) == len(items)
    assert [(file.key(i), file.value(i)) for i in range(len(file))] == items


def test_what_caffes_lmdbs_do_not_have_is_refused(tmp_path):
    with lmdb.open(str(tmp_path), max_dbs=1) as env:
        env.open_db(b"inner")
    with pytest.raises(DataError, match="record 0 holds databases"):
        LmdbFile(str(tmp_path)).value(0)
