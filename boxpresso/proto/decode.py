"""From the bytes of a prototxt to its text, in whatever encoding; other files are told by their first bytes."""

from __future__ import annotations

from .errors import ModelError
from .signatures import is_lfs_pointer, is_page, signature_of, what_is

BINARY = "a binary file (a caffemodel, perhaps); the prototxt is named first, then the weights"


def decode_text(text: str | bytes, source: str) -> tuple[str, str]:
    """The text and the encoding that takes its strings back to bytes; a ModelError when this is plainly something else.

    Comments come in any encoding. Latin-1 gives every byte a character and keeps ASCII, so it always reads on.
    """
    encoding = "utf-8"
    if isinstance(text, bytes):
        kind, _, advice = _binary_kind(text).partition("; ")
        if kind:
            raise ModelError(f"{source} is {kind}, not a prototxt{advice and f'; {advice}'}")
        try:
            decoded = text.decode("utf-16" if text[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
        except UnicodeDecodeError:
            decoded, encoding = text.decode("latin-1"), "latin-1"
        text = decoded
    head = text[:1000].lstrip("\ufeff \t\r\n")
    lowered = head.lower()
    if not text.strip("\ufeff \t\r\n"):
        raise ModelError(f"{source} is empty")
    if is_page(lowered.encode(errors="replace")):
        raise ModelError(f"{source} is an HTML or XML page, not a prototxt; download the raw file, not its web page")
    if is_lfs_pointer(lowered.encode(errors="replace")):
        raise ModelError(f"{source} is a Git LFS pointer, not the file itself; fetch it with `git lfs pull`")
    if head.startswith(("{", "[")):
        raise ModelError(f"{source} looks like JSON, not a prototxt (which starts with a field such as `name:`)")
    if lowered.startswith(("404", "not found", "access denied")):
        raise ModelError(f"{source} is a failed download ({head.splitlines()[0][:60]!r}), not a prototxt")
    return text, encoding


def _binary_kind(data: bytes) -> str:
    """What a binary file is, in words; empty for a text."""
    if known := signature_of(data):
        return known[0]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return ""
    if b"\0" not in data[:8192]:
        return ""
    return (what_is(data) if data[:1] == b"\x08" else None) or BINARY
