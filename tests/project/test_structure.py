"""The floors of the house: a file imports only from lower floors or its own room, and no two files import each other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from places import ROOMS, ROOT, TESTS

PACKAGE = ROOT / "boxpresso"
FLOORS = {
    "proto": 0,
    "hosts": 0,
    "device": 1,
    "data": 1,
    "layers.core": 2,
    **{
        f"layers.{family}": 3 for family in ["regions", "detection", "dense", "norm", "neuron", "loss", "shape", "data"]
    },
    "graph": 4,
    "ops": 4,
    "run": 5,
    "net": 6,
    "train": 7,
    "decoders": 7,
    "exports": 7,
    "": 8,  # the face: the files of the package's own folder
    "caffe": 9,
    "dnn": 9,
    "quantize": 9,
    "recipes": 9,
    "serve": 9,
    "reports": 9,
    "cli": 10,
}
FACES = {
    (),
    ("__main__",),
    ("layers",),
}  # they lead into every room: the package's names, each looked up on first use, and the command
FILES = [p for p in sorted(PACKAGE.rglob("*.py")) if not p.stem.endswith("_pb2")]


def path_of(file: Path) -> tuple[str, ...]:
    """A file's module path inside the package; of a package's `__init__` that of the package."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


MODULES = {path_of(file): file for file in FILES}


def room(module: tuple[str, ...]) -> str:
    """The room of a module given by its path inside the package, such as ("layers", "core", "layer")."""
    for name in (".".join(module[:2]), ".".join(module[:1])):
        if name in FLOORS:
            return name
    return ".".join(module) if module[:1] == ("layers",) else ""


def imports(file: Path, everywhere: bool = True) -> list[tuple[str, ...]]:
    """The modules of this package that a file imports; everywhere=False leaves out what it does for types alone."""
    package = file.relative_to(PACKAGE).parent.parts
    result = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            module = tuple((node.module or "").split(".")) if node.module else ()
            if node.level:
                full = (*package[: len(package) - node.level + 1], *module)
            elif module[:1] == ("boxpresso",):
                full = module[1:]
            else:
                continue
            for alias in node.names:
                inner = (*full, alias.name)
                result.append(inner if inner in MODULES else full)
        elif isinstance(node, ast.Import):
            result += [tuple(a.name.split("."))[1:] for a in node.names if a.name.split(".")[0] == "boxpresso"]
    return list(dict.fromkeys(result))


@pytest.mark.parametrize("file", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down(file):
    here = path_of(file)
    if here in FACES:
        return
    own = room(here)
    assert own in FLOORS, f"{file} is in no room that FLOORS names"
    for target in imports(file):
        other = room(target)
        assert other in FLOORS, f"{file.name} imports {'.'.join(target)}, which is in no room that FLOORS names"
        allowed = other == own or FLOORS[other] < FLOORS[own]
        assert allowed, f"{'.'.join(here)} on floor {FLOORS[own]} imports {'.'.join(target)} of floor {FLOORS[other]}"


def test_a_layer_imports_no_other_layer():
    from boxpresso.layers.core import REGISTRY, discover

    discover()
    layers = {
        tuple(c.__module__.split("."))[1:] for c in REGISTRY.values() if c.__module__.startswith("boxpresso.layers.")
    }
    for module in layers:
        others = [t for t in imports(MODULES[module]) if t in layers]
        assert not others, f"layer {'.'.join(module)} imports the layer {'.'.join(others[0])}"


def names_in(node: ast.AST) -> list[str]:
    """The texts that a collection holds, or a dictionary has for keys."""
    values = (
        node.elts
        if isinstance(node, (ast.Tuple, ast.List, ast.Set))
        else node.keys
        if isinstance(node, ast.Dict)
        else []
    )
    return [value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)]


def test_no_list_of_layer_types_stands_outside_layers():
    """What a file wants to know of a type it asks of its traits: a list somewhere else drifts."""
    from boxpresso.layers.core import REGISTRY, discover

    discover()
    assert [
        name for name in names_in(ast.parse('("ReLU", "Split", "LRN", 3)').body[0].value) if name.lower() in REGISTRY
    ]
    for module, file in MODULES.items():
        if module[0:1] == ("layers",) or module == ("proto", "upgrade"):  # V0's and V1's own names
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = names_in(node)
            types = [name for name in names if name.lower() in REGISTRY]
            few = len(types) < 3 or 2 * len(types) < len(names)  # some types are words, or functions of ops
            assert few, f"{file}:{node.lineno} lists the layer types {', '.join(types)}"


def test_nets_and_exports_import_no_family_of_layers():
    """They ask a layer how it runs: `lower`, `lower_gpu`, `lower_last`, `training_chain`."""
    wrong = {
        (module, target)
        for module, file in MODULES.items() if module[0:1] in (("net",), ("exports",))
        for target in imports(file) if target[:1] == ("layers",) and len(target) > 2 and target[1] != "core"
    }  # fmt: skip
    assert not wrong


def cycle(graph: dict[tuple[str, ...], list[tuple[str, ...]]]) -> list[tuple[str, ...]]:
    """A circle of imports, or nothing."""
    state: dict[tuple[str, ...], int] = {}
    path: list[tuple[str, ...]] = []

    def visit(module: tuple[str, ...]) -> list[tuple[str, ...]]:
        state[module] = 1
        path.append(module)
        for other in graph.get(module, []):
            if state.get(other) == 1:
                return [*path[path.index(other) :], other]
            if other not in state and (result := visit(other)):
                return result
        path.pop()
        state[module] = 2
        return []

    for module in graph:
        if module not in state and (result := visit(module)):
            return result
    return []


def test_no_two_files_import_each_other():
    """Imports inside functions and for types count too; a package's `__init__` stands for itself alone."""
    graph = {m: [t for t in imports(f) if t in MODULES and t != m] for m, f in MODULES.items() if m not in FACES}
    result = cycle(graph)
    assert not result, " -> ".join(".".join(m) for m in result)


def test_tests_mirror_the_package():
    """tests/<room>/test_<what>.py: each room is a folder of the package, or of those that are about something else."""
    others = {"examples", "project"}
    for folder in ROOMS:
        room = folder.relative_to(TESTS).as_posix()
        assert room in others or (PACKAGE / room).is_dir(), f"tests/{room} mirrors no folder of boxpresso/"
    assert not list(TESTS.glob("test_*.py")), "a file of tests lies in a room"
    names = [path.name for folder in ROOMS for path in folder.glob("test_*.py")]
    assert sorted(names) == sorted(set(names)), "two files of tests have one name, by which pytest knows them"


def test_faults_are_seen(tmp_path):
    assert cycle({("a",): [("b",)], ("b",): [("c",)], ("c",): [("a",)]}) == [("a",), ("b",), ("c",), ("a",)]
    assert cycle({("a",): [("b",), ("c",)], ("b",): [("c",)]}) == []
    assert room(("layers", "core", "layer")) == "layers.core"
    assert room(("layers", "neuron", "relu")) == "layers.neuron"
    assert room(("layers", "unknown", "relu")) not in FLOORS
    assert room(("detection",)) == ""
    assert ("device", "signature") in imports(PACKAGE / "device" / "host.py")


def test_pycuda_is_imported_in_one_place():
    for path in FILES:
        if path.name not in ("context.py", "cubin.py", "cuda.py"):
            assert "import pycuda" not in path.read_text(encoding="utf-8"), path
            assert "from pycuda" not in path.read_text(encoding="utf-8"), path


def test_top_level_names_lead_into_the_package():
    for name in ("proto", "layers", "net"):
        assert (PACKAGE.parent / name).resolve() == PACKAGE / name


def test_a_kernel_takes_at_most_12_arguments():
    from boxpresso.device import Kernels

    files = [Kernels(p) for p in sorted([*PACKAGE.rglob("*.cu"), *PACKAGE.rglob("*.cpp")])]
    assert len(files) > 80
    many = [f"{k}: {len(k.parameters)}" for f in files for k in f.table.values() if len(k.parameters) > 12]
    assert not many, many


def test_no_constant_of_a_text_is_repeated_in_python():
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        for said in ("as in ", "gemm.h's", "of slab.h", ".cu's "):
            lines = [
                line for line in text.splitlines() if said in line and "#" in line and (".cu" in line or ".h" in line)
            ]
            assert not [line for line in lines if " = " in line.split("#")[0]], f"{path.name}: {lines}"
