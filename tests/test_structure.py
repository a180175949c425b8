"""The floors of the house: a file imports only from lower floors, and a layer never from a sibling layer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "boxpresso"
FLOORS = {"proto": 0, "layers.core": 1, "data": 1, "layers": 2, "net": 3, "": 4}
FILES = [p for p in sorted(PACKAGE.rglob("*.py")) if not p.stem.endswith("_pb2")]


def floor(parts: tuple[str, ...]) -> tuple[int, str]:
    """The floor and the room of a module given by its path inside the package, such as ("layers", "core", "blob")."""
    for room in (".".join(parts[:2]), ".".join(parts[:1])):
        if room in FLOORS and parts[1:]:
            return FLOORS[room], room
    return (FLOORS.get(parts[0], 4), parts[0]) if parts and parts[0] in FLOORS else (4, "")


def imports(path: Path) -> list[tuple[str, ...]]:
    """What a file imports from this package, as module paths inside it."""
    here = path.relative_to(PACKAGE).with_suffix("").parts
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level] if node.level else ()
            module = tuple((node.module or "").split(".")) if node.module else ()
            if node.level:
                full = (*base, *module)
                found += [full] if module else [(*base, alias.name) for alias in node.names]
            elif module[0] == "boxpresso":
                found.append(module[1:])
        elif isinstance(node, ast.Import):
            found += [tuple(a.name.split("."))[1:] for a in node.names if a.name.split(".")[0] == "boxpresso"]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down(path):
    here = path.relative_to(PACKAGE).with_suffix("").parts
    level, room = floor(here)
    for target in imports(path):
        other, other_room = floor(target)
        assert other <= level, f"{path.name} on floor {level} imports {'.'.join(target)} of floor {other}"
        if room == "layers" and here[-1] != "__init__":
            assert other_room != "layers", f"layer {path.name} imports its sibling {'.'.join(target)}"


def test_a_step_upward_is_found(tmp_path):
    assert floor(("layers", "core", "blob"))[0] == 1
    assert floor(("layers", "relu"))[0] == 2
    assert floor(("net", "net"))[0] == 3
    assert floor(("proto", "text"))[0] == 0
    assert floor(("detection",))[0] == 4


def test_pycuda_is_imported_in_one_place():
    for path in FILES:
        if path.name != "cuda.py":
            assert "import pycuda" not in path.read_text(encoding="utf-8"), path
            assert "from pycuda" not in path.read_text(encoding="utf-8"), path


def test_top_level_names_lead_into_the_package():
    for name in ("proto", "layers", "net"):
        assert (PACKAGE.parent / name).resolve() == PACKAGE / name
