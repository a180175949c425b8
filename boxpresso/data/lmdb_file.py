"""An LMDB's file, read here: the library follows what the file says, and a damaged one ends the process.

What is read is the main database of an LMDB of 64 bits, a B+ tree of pages. A node of a branch page is the number of a page,
a node of a leaf page a key with its value or, for a large one, the number of the first of the pages that hold nothing else.

    https://github.com/LMDB/lmdb/blob/mdb.master/libraries/liblmdb/mdb.c
"""

from __future__ import annotations

import mmap
import os
import struct

import numpy as np

from .errors import DataError

MAGIC = 0xBEEFC0DE  # of the two meta pages
PAGES = tuple(2**i for i in range(8, 17))  # sizes of a page
# Of a page: its number, nothing, kind, the end of its table of nodes, the begin of its nodes.
HEADER = struct.Struct("=QHHHH")
HEAD = HEADER.size
COUNT = struct.Struct("=I")  # at 12 of the first of several pages: how many they are
META = struct.Struct("=QQQQ")  # at 120 of a meta page: entries, root, last page, transaction
# Of a node: two halves of a size or of a page's number, flags or its upper bits, size of the key.
NODE = struct.Struct("=HHHH")
NUMBER = struct.Struct("=Q")
BRANCH, LEAF, OVERFLOW, KIND = 1, 2, 4, 0x6F  # kinds of pages, and the bits that tell them
LARGE, DATABASE, SEVERAL = 1, 2, 4  # flags of a node: its value has pages of its own, is a database, is several
EMPTY = 2**64 - 1  # the root of none


class LmdbFile:
    """The keys and values of an LMDB, in the order of the keys, from any thread.

    Raises DataError that names the path for a file that is truncated, damaged or something else.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        file = os.path.join(path, "data.mdb") if os.path.isdir(path) else path
        try:
            if not os.path.isfile(file):
                raise DataError(f"{file!r} is not a regular file")
            with open(file, "rb") as opened:
                self._read_meta(opened.read(2 * PAGES[-1]), os.path.getsize(file))
                self.data = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise DataError(f"cannot read the LMDB {path!r}: {getattr(error, 'strerror', '') or error}") from error
        self.nodes = self._walk()  # where each key and value begins

    def _read_meta(self, head: bytes, size: int) -> None:
        """What the newer of the two meta pages says."""
        # Where the free list keeps the size of a page:
        page = struct.unpack_from("=I", head, 40)[0] if len(head) >= 44 else 0
        metas = [
            META.unpack_from(head, start + 120)[::-1]
            for start in (0, page)
            if page in PAGES and len(head) >= start + 152 and struct.unpack_from("=I", head, start + 16)[0] == MAGIC
        ]
        if not metas:
            raise DataError(f"{self.path!r} is not an LMDB of this kind of machine, or is damaged; write it again")
        _, self.last, self.root, self.entries = max(metas)
        self.page = page
        if size < (self.last + 1) * page:
            raise DataError(
                f"the LMDB {self.path!r} is truncated: it has {size} bytes of {(self.last + 1) * page}; write or fetch it again"
            )

    def _walk(self) -> np.ndarray:
        """Where the nodes of all leaf pages begin, by the order of their keys."""
        leaves, count = [np.empty(0, np.int64)], 0
        waiting = [] if self.root == EMPTY else [self.root]
        seen = set(waiting)
        while waiting:
            at = self._start(waiting.pop())
            _, _, kind, end, _ = HEADER.unpack_from(self.data, at)
            if not HEAD <= end <= self.page or kind & KIND not in (BRANCH, LEAF):
                raise self.damaged(f"page {at // self.page} is none of its tree")
            nodes = np.frombuffer(self.data, np.uint16, (end - HEAD) // 2, at + HEAD).astype(np.int64)
            if nodes.size and not end <= nodes.min() <= nodes.max() <= self.page - NODE.size:
                raise self.damaged(f"page {at // self.page} has a node outside it")
            nodes += at
            if kind & KIND == LEAF:
                leaves.append(nodes)
                count += nodes.size
                continue
            below = [low | middle << 16 | high << 32 for low, middle, high, _ in map(self._node, nodes.tolist())]
            if len(set(below)) < len(below) or not seen.isdisjoint(below):
                raise self.damaged(f"page {at // self.page} leads to a page that another leads to")
            seen.update(below)
            waiting += below[::-1]
        if count != self.entries:
            raise self.damaged(f"it says that it has {self.entries} records, and has {count}")
        return np.concatenate(leaves)

    def _node(self, at: int) -> tuple[int, int, int, int]:
        return NODE.unpack_from(self.data, at)

    def _start(self, number: int) -> int:
        """Where a page begins; the first two are those of `_read_meta`."""
        if not 2 <= number <= self.last:
            raise self.damaged(f"it leads to page {number} of {self.last + 1}")
        return number * self.page

    def damaged(self, why: str) -> DataError:
        """The error for a file that is not what it should be."""
        return DataError(f"the LMDB {self.path!r} is damaged: {why}; write or fetch it again")

    def __len__(self) -> int:
        return len(self.nodes)

    def _key(self, index: int) -> tuple[int, int, int]:
        """Where a key begins and ends, and where its page ends."""
        at = int(self.nodes[index])
        begin, end = at + NODE.size, (at // self.page + 1) * self.page
        stop = begin + self._node(at)[3]
        if stop > end:
            raise self.damaged(f"the key of record {index} is longer than its page")
        return begin, stop, end

    def key(self, index: int) -> bytes:
        """A key."""
        begin, stop, _ = self._key(index)
        return self.data[begin:stop]

    def value(self, index: int) -> bytes:
        """A value."""
        _, begin, end = self._key(index)
        low, high, flags, _ = self._node(int(self.nodes[index]))
        size = low | high << 16
        if flags & (DATABASE | SEVERAL):
            raise self.damaged(f"record {index} holds databases or several values, which Caffe's LMDBs do not")
        if flags & LARGE:
            if begin + NUMBER.size > end:
                raise self.damaged(f"record {index} is longer than its page")
            at = self._start(NUMBER.unpack_from(self.data, begin)[0])
            count = COUNT.unpack_from(self.data, at + 12)[0]
            if HEADER.unpack_from(self.data, at)[2] & KIND != OVERFLOW or at // self.page + count > self.last + 1:
                raise self.damaged(f"the pages of record {index} are not there")
            begin, end = at + HEAD, at + count * self.page
        if begin + size > end:
            raise self.damaged(f"record {index} of {size} bytes is longer than what it has")
        return self.data[begin : begin + size]
