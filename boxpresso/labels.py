"""Names of classes: a text with one per line, or SSD's label map."""

from __future__ import annotations

import os
import re
import warnings

from .data.lines import words_of
from .proto import LabelMap, parse_text
from .proto.errors import BoxpressoWarning, ModelError
from .proto.reading import read_file

ITEM = re.compile(r"^[^\S\n]*item(?:\s*[{<]|\s*:\s*[{<])", re.M)  # what a label map begins with
BACKGROUND = {"background", "__background__", "none_of_the_above"}


def read_labels(path: str | os.PathLike[str], classes: int | None = None) -> dict[int, str]:
    """Reads the names of classes.

    A label map (`item { name: "n2" label: 2 display_name: "cat" }`) gives the labels itself. In a text the first line is
    label 0, the background; a text without the background, one line shorter than the `classes` of the net, starts at label
    1.

    Parameters
    ----------
    path
        A text with one name per line, or a label map.
    classes
        How many the net has, the background included; a warning says when a text has fewer lines.

    Returns
    -------
    dict
        {label: name}.

    Raises
    ------
    ModelError
        For a file that cannot be read, is neither, or has more names than the net has classes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/names.txt", "w") as file:
    ...         _ = file.write("cat\\ndog\\n")
    ...     read_labels(f"{folder}/names.txt", classes=3)
    {1: 'cat', 2: 'dog'}
    """
    name = os.fspath(path)
    try:
        text = read_file(path, "text_bytes").decode("utf-8-sig")
    except ModelError as error:
        raise ModelError(str(error).replace("cannot read ", "cannot read the labels ", 1)) from error
    except UnicodeDecodeError:
        raise ModelError(f"the labels {name} are not a text in UTF-8") from None
    if ITEM.search(text):
        items = parse_text(text, LabelMap(), source=name).item
        unlabelled = [item.name for item in items if not item.HasField("label") and not item.HasField("label_id")]
        if unlabelled:
            raise ModelError(f"{name}: item {unlabelled[0]!r} has no label; write `label: 1`, `label: 2` and so on")
        return {i.label if i.HasField("label") else i.label_id: i.display_name or i.name for i in items}
    lines = [line.strip() for line in text.rstrip().splitlines()]
    if not any(lines):
        raise ModelError(f"the labels {name} are empty; write one name per line")
    with_background = lines[0].lower() in BACKGROUND
    if line := next((line for line in lines if is_prose(line)), ""):
        raise ModelError(
            f"{name} is a text, not a list of names: line {lines.index(line) + 1} has {words_of(line)}; write one name per line"
        )
    if classes and len(lines) not in (classes, classes if with_background else classes - 1):
        names = f"{len(lines)} name{'s' * (len(lines) != 1)}"
        message = f"{name} has {names}, the net {classes} classes (with the background): are they of this net?"
        if len(lines) > classes:
            raise ModelError(
                f"{message} Write {classes} lines, or {classes - 1} without the background, or a label map"
            )
        warnings.warn(f"{message} Classes without a name are shown by their number", BoxpressoWarning, stacklevel=2)
    start = 1 if classes and len(lines) == classes - 1 and not with_background else 0
    return {label: line for label, line in enumerate(lines, start) if line}


def is_prose(line: str) -> bool:
    """Whether a line is of a document, not the name of a class: Markdown, HTML, or a long sentence.

    >>> is_prose("# Boxpresso"), is_prose("n02119789 kit fox, Vulpes macrotis")
    (True, False)
    """
    marked = line.startswith(("# ", "## ", "```", "<!", "<html", "---", "![", "|")) or "](" in line
    return marked or len(line) > 200 or (line.endswith((".", ":")) and len(line.split()) > 12)
