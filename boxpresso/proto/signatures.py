"""What a file is, from its first bytes: for messages about a file that was given in place of another."""

from __future__ import annotations

HDF5 = b"\x89HDF\r\n\x1a\n"
JPEG, PNG = "a JPEG image", "a PNG image"
UNPACK = "unpack it first"
SIGNATURES: dict[bytes, tuple[str, str]] = {  # the first bytes: what the file is, and what to do about it
    b"\x93NUMPY": ("a numpy array (.npy)", ""),
    HDF5: ("an HDF5 file", ""),
    b"PK\x03\x04": ("a zip archive", UNPACK),
    b"\x1f\x8b": ("a gzip archive", UNPACK),
    b"BZh": ("a bzip2 archive", UNPACK),
    b"\xfd7zXZ": ("an xz archive", UNPACK),
    b"7z\xbc\xaf": ("a 7z archive", UNPACK),
    b"Rar!": ("a RAR archive", UNPACK),
    b"\x89PNG": (PNG, ""),
    b"\xff\xd8\xff": (JPEG, ""),
    b"%PDF": ("a PDF document", ""),
    b"\x7fELF": ("a program (ELF)", ""),
    b"\x80\x02": ("a Python pickle (PyTorch's older form)", ""),
    b"\x80\x03": ("a Python pickle", ""),
    b"\x80\x04": ("a Python pickle", ""),
    b"7767517\n": ("an ncnn .param file", ""),
}
LFS_POINTER = b"version https://git-lfs"
PAGES = (b"<!doctype", b"<html", b"<?xml", b"<head", b"<script")
BOM = b"\xef\xbb\xbf"


def signature_of(data: bytes) -> tuple[str, str] | None:
    """What a file of a known signature is, and what to do about it ("" for nothing); None for other files.

    Examples
    --------
    >>> signature_of(b"\\x1f\\x8b\\x08")
    ('a gzip archive', 'unpack it first')
    """
    return next((kind for start, kind in SIGNATURES.items() if data.startswith(start)), None)


def is_page(start: bytes) -> bool:
    """Whether a text, without blanks before it, is an HTML or XML page, as a server sends in place of a file."""
    return start.lower().startswith(PAGES)


def is_lfs_pointer(start: bytes) -> bool:
    """Whether a text, without blanks before it, is the pointer that Git LFS leaves in place of a file."""
    return start.lower().startswith(LFS_POINTER)


def what_is(data: bytes) -> str | None:
    """What a file is that is no .caffemodel, in words for a message; None when it could be one.

    Examples
    --------
    >>> what_is(b"PK\\x03\\x04 ..")
    'a zip archive; unpack it first'
    >>> what_is(b'name: "LeNet"')
    'a prototxt, not weights; was it given in place of them? (it starts with \\'name: "LeNet"\\')'
    """
    head = data[:4096]
    start = head.removeprefix(BOM).lstrip()
    if is_page(start):
        return f"an HTML or XML page (it starts with {_quote(start)}), as a server sends in place of a file"
    if is_lfs_pointer(head):
        return "a git-lfs pointer, not the file itself; `git lfs pull` fetches it"
    if known := signature_of(head):
        if known[0] == "a zip archive" and b"data.pkl" in head:
            return "a PyTorch file (a zip with data.pkl)"
        return "; ".join(filter(None, known))
    if head[257:262] == b"ustar":
        return f"a tar archive; {UNPACK}"
    if not any(head):
        return "filled with zeros: a download or a disk that failed"
    if head[:1] == b"\x08":  # field 1 is a number: neither a net's name nor its layers
        if b".caffemodel" in head or b"_iter_" in head:
            return "a .solverstate; the weights are in the .caffemodel beside it"
        return (
            "an ONNX model"
            if head[2:3] in (b"\x12", b"\x1a", b"\x3a")
            else "a mean image or another single blob (.binaryproto)"
        )
    if start and _is_text(start[:512]):
        looks_net = any(word in start for word in (b"layer", b"input", b"name:", b"net:"))
        kind = "a prototxt, not weights; was it given in place of them?" if looks_net else "a text"
        return f"{kind} (it starts with {_quote(start)})"
    return None


def _is_text(head: bytes) -> bool:
    """Whether bytes are UTF-8 without control characters, but for a character that is cut off at the end."""
    if any(byte < 32 and byte not in b"\t\n\r\f" for byte in head):
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4
    return True


def _quote(start: bytes) -> str:
    return repr(start.splitlines()[0][:40].decode("utf-8", "replace"))
