"""Runs the pycaffe scripts of other projects as they are, on stub data and random weights: which end, and what stops the others.

    python tests/others/run.py --work SCRATCH PROJECT ...          # each a clone, or the git folder of one
    python tests/others/run.py --work SCRATCH --most 3 PROJECT     # at most three scripts of a project
    python tests/others/run.py --work SCRATCH --like demo PROJECT  # scripts with that in their path
    python tests/others/run.py --work SCRATCH --caffe TREE --outside PROJECT           # with paths of their author's machine
    nice -n 15 python tests/others/run.py --work SCRATCH --seconds 300 PROJECT ...     # as the table of the page was made

A project is exported into SCRATCH, but for pointers of Git LFS, and nothing of it is changed. Of each project the scripts are taken that
make a net (of caffe or cv2.dnn), a classifier, a solver, a prototxt, a datum or a mean, in the order of their paths' depth, but for those of
a copy of Caffe and modules that define functions and classes alone. A script runs in its own folder, or in the project's where its paths begin there, as
`python -m boxpresso.caffe SCRIPT` does, for --seconds at most; a training ends after 20 iterations (small.py), cv2.dnn is
boxpresso.dnn, and windows of OpenCV are not shown. Where it imports a module that lies elsewhere in the project, that folder joins
PYTHONPATH. It has no arguments at first; where it says that it needs some, or reads sys.argv by place, it gets those of ARGUMENTS,
or files of the project, pictures of noise and numbers by what the arguments, or the names that they are given to, are called.
Where it asks for a file below SCRATCH that is not there, such a file is made: a copy of the project's own file or folder whose path ends so, or of
Caffe's tree (--caffe; most of these scripts were written inside one), else a picture, a mean, a list of pictures or of labels, a folder of
pictures, an LMDB, or weights drawn for a net beside it; then it runs again, STUBS times at most. With --outside (Linux, unshare) a script sees below
/home, /mnt and other folders that this machine lacks a folder of SCRATCH, so that paths of its author's machine can be made, too. The table says how
each run stopped and, as far as the words of the error tell, whose that is.

Scripts of strangers do what they like: run this where that does no harm.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import resource
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from others.small import RAN_ON, mark, scene  # noqa: E402
from survey import randomise  # noqa: E402

from boxpresso import BoxpressoError, Net  # noqa: E402

SECONDS, STUBS, BYTES, LARGE = 60, 16, 7 << 30, 4 << 20
ARGUMENTS: dict[str, list[str]] = {  # of scripts that read sys.argv by place, by a part of their path
    "classify_nsfw.py": ["stub.jpg"],
}
WORDS = (  # what an argument gets, by a word of its name; {net}: a prototxt of the project, {solver}: one with a solver
    ("solver", "{solver}"), ("weight|model_file|caffemodel|pretrain|snapshot", "stub.caffemodel"), ("proto.?mean|binaryproto|mean.?file", "stub.binaryproto"), ("mean", "stub.npy"), ("point|hull", "pts_in_hull.npy"),
    ("video|stream", "stub.avi"), ("proto|model|net|def|deploy|arch|cfg", "{net}"),
    ("out.*(img|image|pic)|save_?(im|arr|pic)", "out.jpg"), ("out|save|dst|dest|result", "out.txt"),
    ("img|image|picture|input|src|in_|file|colou?rs", "stub.jpg"),
    ("list|txt|label|synset|data", "stub.txt"), ("gpu|device|id|iter|num|batch", "0"),
    ("dir|folder|root|path", "."), ("", "1"),
)  # fmt: skip
IMPORTS = re.compile(r"^\s*(import caffe\b|from caffe\b|import cv2\b|from cv2\b)", re.MULTILINE)
NETS = re.compile(
    r"caffe\.(Net|Classifier|Detector|NetSpec|\w*Solver|get_solver|io|layers|params|draw)\b|\bNetSpec\(|caffe_pb2\.|array_to_datum|blobproto_to_array"
    r"|dnn\.readNet(FromCaffe)?\("
)
COPIES = re.compile(
    r"(^|/)(python|caffe[^/]*|examples|tools|scripts/.*)/(caffe|examples|python|pycaffe|tools|scripts|src)/"
)
UNREAD = "imread_"
MISSING = (
    r"No such file or directory: ['\"]([^'\"\n]+)['\"]", r"cannot read (\S+?): ", r"Could not open file (\S+)",
    r"imread_\('([^']+)'\)", r"(\S+) does not exist", r"(\S+) not found\.", r"No such file: ['\"]([^'\"\n]+)['\"]",
    r"cannot read the (?:LMDB|image|picture|records|list) '?([^'\s]+?)'?: ", r"unable to open file: name = '([^']+)'", r"^[\w.]+: (\S+?): No such file",
    r"there is no LMDB at '([^']+)'", r"cannot write (\S+?): No such file",
)  # fmt: skip
CASCADES = re.compile(r"[\w./~-]*haarcascade_\w+\.xml")  # OpenCV's own, which it gives with its wheels
PICTURES = {".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".tif"}
NAMED = re.compile(r"""['"]([^'"\n]+\.caffemodel)['"]""")  # weights that a script has the name of
LACKING = re.compile(r"No module named '([\w.]+)'")
OPTIONS = re.compile(r"\[(--?[\w-]+) [A-Z]")  # of argparse's usage: those that take a value
BY_PLACE = re.compile(r"^[ \t]*(?:(\w+)[ \t]*=)?(.*?)\bsys\.argv\[(\d)\]", re.MULTILINE)
AUTHORS, SHARED = (
    ("home", "media", "mnt", "srv"),
    ("opt", "root"),
)  # folders of a machine in which its people's files lie, and programs, too
HOUSE = f"""
for top in /*; do
    case $top in
    /{"|/".join(AUTHORS)}) mkdir -p "$1$top"; continue;;
    /{"|/".join(SHARED)}) for one in $top/* $top/.[!.]*; do
        [ -d $one ] && mkdir -p "$1$one" && mount --rbind $one "$1$one"
    done; continue;;
    esac
    if [ -L $top ]; then cp -Pn $top "$1$top"; elif [ -d $top ]; then mkdir -p "$1$top" && mount --rbind $top "$1$top"; fi
done
machine=$1 folder=$2; shift 2
exec chroot "$machine" env -C "$folder" "$@"
"""
THEIRS = (  # how an error ends that is not ours to mend, and what the table says
    (r"No module named '(?!caffe)([\w.]+)'", "needs the module {}"),
    (r"(?:error: the following arguments|usage:|Usage:|IndexError: list index out of range)", "needs arguments"),
    (r"cannot import name '(\w+)' from '(?!caffe)", "needs another version of a module ({})"),
    (r"^SyntaxError|^(?:Indentation|Tab)Error", "neither Python 2 nor 3"),
    (r"Rebuild the library with|no display|could not connect to display", "needs a display"),
)


class Result(NamedTuple):
    """How a script ended: "ended", "ran on" for one that was still running, "stopped"."""

    script: str
    outcome: str
    reason: str
    stubs: int


def blobs(project: Path, wanted: Callable[[str, int], bool]) -> tuple[str, Iterator[tuple[str, bytes]]]:
    """The commit of a project's git folder, and the paths and bytes of its files that are `wanted` by path and size."""
    git = next(
        (
            folder
            for folder in (project / "repo/.git", project / "repo", project / ".git")
            if (folder / "HEAD").is_file()
        ),
        project,
    )

    def ask(*words: str) -> str:
        return subprocess.run(["git", "--git-dir", git, *words], capture_output=True, text=True, check=True).stdout

    def read() -> Iterator[tuple[str, bytes]]:
        entries = ask("ls-tree", "-rlz", "HEAD").split("\0")
        with subprocess.Popen(
            ["git", "--git-dir", git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as reader:
            for entry in filter(None, entries):
                meta, path = entry.split("\t", 1)
                mode, kind, blob, size = meta.split()
                if kind != "blob" or mode == "120000" or not size.isdecimal() or not wanted(path, int(size)):
                    continue  # submodules, links, what a snapshot lacks
                reader.stdin.write(f"{blob}\n".encode())
                reader.stdin.flush()
                if b"missing" not in reader.stdout.readline():
                    yield path, reader.stdout.read(int(size) + 1)[:-1]

    return ask("rev-parse", "--short", "HEAD").strip(), read()


def name_of(project: Path) -> str:
    """OWNER/NAME of a git folder OWNER+NAME, OWNER+NAME/repo or .../.git."""
    parts = [part for part in project.parts if "+" in part]
    return (parts[-1] if parts else project.name).replace("+", "/", 1)


def export(project: Path, work: Path) -> tuple[Path, str]:
    """The files of a project below `work`, but for large ones and what a Python of its author compiled, and its commit."""
    to = work / name_of(project).replace("/", "+")
    commit, files = blobs(project, lambda path, size: size <= LARGE and not path.endswith(".pyc"))
    if not to.exists():
        for inside, data in files:
            path = to / inside
            if data.startswith(b"version https://git-lfs"):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return to, commit


def scripts(project: Path, most: int, like: str) -> list[Path]:
    """The scripts of a project that make a net with pycaffe, those nearest its top first."""
    paths = []
    for path in project.rglob("*.py"):
        inside = str(path.relative_to(project))
        if COPIES.search(inside) or like not in inside or path.stat().st_size > 1 << 20:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if IMPORTS.search(text) and NETS.search(text) and does_something(text):
            paths.append(path)
    return sorted(paths, key=lambda path: (len(path.parts), str(path)))[:most]


def does_something(text: str) -> bool:
    """Whether a script does more than to define what others import.

    >>> does_something("import caffe\\ndef f():\\n    print(1)\\nclass A: x = f()\\nN = 3"), does_something("net = caffe.Net('a', 1)")
    (False, True)
    >>> does_something("def f():\\n    print 1\\nf()"), does_something("def f():\\n    print 1\\n")
    (True, False)
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text).body
    except (SyntaxError, ValueError):  # Python 2
        return bool(re.search(r"^(if __name__|for |while |with |[\w.]+\(|\w[\w, ]* = .*\()", text, re.MULTILINE))
    defining = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    return any(not isinstance(node, defining) and any(isinstance(n, ast.Call) for n in ast.walk(node)) for node in body)


def foresee(script: Path, tree: Path | None) -> bool:
    """Makes the weights that a script names, for one that looks whether they are there and ends without them; whether any were missing.
    A name without a folder may be joined to one: it is made beside the prototxts that the script names, too."""
    root = next((above for above in script.parents if "+" in above.name), script.parent)
    text = script.read_text(encoding="utf-8", errors="replace")
    beside = {net.parent for net in root.rglob("*.prototxt*") if net.name in text}
    made = False
    for name in dict.fromkeys(NAMED.findall(text)):
        inside = name.replace("\\", "/").lstrip("./")
        places = [folder / inside for folder in (script.parent, root)] + [
            folder / Path(inside).name for folder in beside
        ]
        for at in dict.fromkeys(place for place in places if place.parent.is_dir()):
            made |= not at.exists() and stub(at, script, tree)
    return made


def published(path: Path, root: Path, tree: Path | None) -> Path | None:
    """The project's own file or folder, or that of Caffe's tree, whose path ends as that of one that a script asks for: with two names
    at least, or with the name of a net, a script or an array that no other there has."""
    parts = path.parts
    for source in filter(None, (root, tree)):
        for at in range(1, len(parts) - 1):
            one = source.joinpath(*parts[at:])
            if one.exists() and one != path:
                return one
    for source in filter(None, (root, tree) if path.suffix in (".prototxt", ".py", ".npy", ".pt") else ()):
        named = sorted(one for one in source.rglob(path.name) if one != path)
        if len(named) == 1 or (named and source == tree and not re.match("deploy|train|test|solver", path.name)):
            return named[0]
    return None


def stub(path: Path, script: Path, tree: Path | None = None) -> bool:
    """Makes a file that a script asks for; whether it is of a kind that can be made."""
    kind, rng = path.suffix.lower().split(" ")[0], np.random.default_rng(0)  # "stub.jpg 0" of a list that is read whole
    root = next((above for above in script.parents if "+" in above.name), script.parent)
    if (source := published(path, root, tree)) and (kind or not source.is_dir() or len(list(source.rglob("*"))) < 5000):
        path.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, path)
        return True
    if not kind and not path.parent.exists():  # it may be what a script writes
        path.parent.mkdir(parents=True)
        return True
    path.parent.mkdir(parents=True, exist_ok=True)
    if (not kind or kind[1:].isdecimal()) and not path.name.isdecimal():
        if "lmdb" in str(path).lower():
            small = "mnist" in str(path).lower()
            size = (28, 28) if small else (256, 256, 3)
            from boxpresso.data.records import make_datum, write_records

            write_records(
                path,
                (
                    (f"{n:08d}", make_datum(rng.integers(0, 255, size, np.uint8), n % 2).SerializeToString())
                    for n in range(64)
                ),
            )
            return True
        for n in range(4):
            stub(path / f"{n}.jpg", script)
        return True
    if kind in PICTURES:
        from PIL import Image

        Image.fromarray(scene(480, 360)[..., ::-1]).save(path, Image.registered_extensions()[kind])
    elif kind == ".npy":
        np.save(path, np.full((3, 256, 256), 110.0))
    elif kind == ".binaryproto":
        from boxpresso.proto import BlobProto

        path.write_bytes(
            BlobProto(num=1, channels=3, height=256, width=256, data=[110.0] * (3 << 16)).SerializeToString()
        )
    elif kind in (".txt", ".names") and re.search("synset|label|class|name|word|categor", path.name.lower()):
        path.write_text("".join(f"n{label:08d} class{label}\n" for label in range(1000)))
    elif kind in (".txt", ".list", ".lst"):
        stub(path.with_name("stub.jpg"), script)
        path.write_text("".join(f"{path.with_name('stub.jpg')} {label}\n" for label in range(4)))
    elif kind == ".caffemodel":
        beside = None if any(path.parent.glob("*.prototxt*")) else published(path.parent, root, tree)
        nets = sorted(beside.glob("*deploy*.prototxt")) if beside else []
        return weights(path, script, nets[0] if nets else None)
    else:
        return False
    return True


def weights(path: Path, script: Path, of: Path | None = None) -> bool:
    """Random weights for a net, or for one beside them: one that the script names, else the nearest; False where none builds."""
    text = script.read_text(encoding="utf-8", errors="replace")
    root = next((above for above in script.parents if "+" in above.name), script.parent)
    near = [
        net for folder in (path.parent, script.parent, *path.parents[:2]) for net in sorted(folder.glob("*.prototxt*"))
    ]
    far = [net for ending in ("prototxt*", "pt") for net in sorted(root.rglob(f"*.{ending}"))]
    nets = [of] if of else list(dict.fromkeys([*near, *far]))

    def order(net: Path) -> tuple[object, ...]:
        """Those that the script names first, of these those with a word of the file's name, then nearest to where it names the file, in a folder that it is called
        by, then the nearest."""
        inside = net.relative_to(root).parts[:-1] if net.is_relative_to(root) else ()
        called = sum(part.lower() in path.name.lower() for part in inside)
        words = (set(re.findall("[a-z0-9]+", name.name.lower())) for name in (net, path))
        shared = set.intersection(*words) - {"net", "deploy", "prototxt", "caffemodel", "caffe", "model"}
        places = [
            [each.start() for each in re.finditer(rf"(?<![\w-]){re.escape(name)}", text)]
            for name in (net.name, path.name)
        ]
        return (
            not places[0],
            -len(shared),
            min((abs(a - b) for a in places[0] for b in places[1]), default=0),
            -called,
            "deploy" not in net.name and "test" not in net.name,
            nets.index(net),
        )

    for net, phase in [
        (net, phase) for net in ([of] if of else sorted(nets, key=order)[:6]) for phase in ("TEST", "TRAIN")
    ]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = Net(net, phase=phase, data="shapes", device="cpu", memory_limit=BYTES, lazy=True)
                randomise(made)
                roughen(made)
                made.save(path)
                mark(path).touch()
                return True
        except (BoxpressoError, MemoryError):
            continue
    return False


def roughen(net: Net) -> None:
    """Random biases and statistics, which a script that folds or copies them could lose unseen if they were 0 and 1."""
    rng = np.random.default_rng(2)
    for name, blobs in net.params.items():
        if "mbox_loc" in name:  # boxes as large as their priors, some times
            for blob in blobs:
                blob.data[...] *= 0.01
        elif net.layer_dict[name].type == "BatchNorm":
            blobs[0].data[...] = rng.normal(0, 0.1, blobs[0].shape)
            blobs[1].data[...] = rng.uniform(0.5, 1.5, blobs[1].shape)
        elif len(blobs) == 2:
            blobs[1].data[...] = rng.normal(0, 0.05, blobs[1].shape)


def wanted(text: str, script: Path, folder: Path, tree: Path | None = None) -> list[str] | None:
    """Arguments for a script that says that it needs some: by its argparse, or by place; None where it does not say so."""
    for part, arguments in ARGUMENTS.items():
        if part in str(script) and ("IndexError" in text or "arguments are required" in text):
            return arguments
    named = re.search(r"the following arguments are required: (.+)", text)
    if named:
        options = [each.split("/")[-1].strip() for each in named[1].split(", ")]
    elif "IndexError: list index out of range" in text and "sys.argv" in text:
        source = script.read_text(errors="replace")
        places = {int(at): name or used for name, used, at in reversed(BY_PLACE.findall(source))}
        options = [places.get(at, "") for at in range(1, max(places, default=0) + 1)]
    elif "''" in text and "getopt" in (source := script.read_text(errors="replace")):
        options = list(dict.fromkeys(name for pair in re.findall(r"(--?\w+)[ =]<(\w+)>", source) for name in pair))
        pairs = dict(zip(options[::2], options[1::2], strict=False))
        return [each for option, name in pairs.items() for each in (option, *(values([name], script, folder, tree)))]
    elif re.search(r"\bNone\b", text) and "add_argument" in (
        source := script.read_text(errors="replace")
    ):  # it asks for none
        options = re.findall(
            r"add_argument\(\s*(?:['\"]-\w['\"],\s*)?['\"](--\w[\w-]*)['\"](?![^)]*store_(?:true|false))", source
        )
    elif "sys.argv" in (source := script.read_text(errors="replace")) and (
        named := re.search(rf"(?i)usage:?.*?{re.escape(script.name)}[ \t]+(.+)", text)
    ):
        options = [word for word in re.findall(r"[\w./-]+", named[1]) if not word.startswith("-")]
    elif text.lstrip().startswith("usage:"):  # it helps who calls it without arguments
        options = OPTIONS.findall(text)
    else:
        return None
    return values(options, script, folder, tree)


def public(script: Path, tree: Path | None) -> list[Path]:
    """The net of Caffe's tree whose path has most words of the script's, for a project without one."""
    name = str(Path(*script.parts[-2:])).lower()
    nets = sorted(tree.rglob("*deploy*.prototxt")) if tree else []
    shared = {
        net: sum(word in name for word in set(re.findall("[a-z]{4,}", str(net.relative_to(tree)).lower())))
        for net in nets
    }
    best = max(shared.values(), default=0)
    return [net for net in nets if best and shared[net] == best][:1]


def values(options: list[str], script: Path, folder: Path, tree: Path | None = None) -> list[str]:
    """Values of arguments by what they are called, each behind its name where that is an option's."""
    nets = sorted(
        folder.rglob("*.prototxt*"),
        key=lambda path: (path.parent != script.parent, "deploy" not in path.name, len(path.parts), str(path)),
    )
    solvers = [path for path in nets if "solver" in path.name]
    files = {"{net}": [path for path in nets if path not in solvers] or public(script, tree), "{solver}": solvers}
    made: list[str] = []
    proto = any("proto" in option or option.strip("-") == "def" for option in options)  # then the model is its weights
    for option in options:
        if (
            re.search("weight|caffemodel|model|net$" if proto else "weight|caffemodel", option.lower())
            and "proto" not in option
        ):
            path = script.parent / "stub.caffemodel"
            if files["{net}"] and not path.exists():
                weights(path, script, files["{net}"][0])
            made += [option, str(path)] if option.startswith("-") else [str(path)]
            continue
        value = next(value for words, value in WORDS if re.search(words, option.lower().lstrip("-")))
        if value in files:
            value = str(files[value][0]) if files[value] else "absent.prototxt"
        elif "." in value[1:]:
            value = str(script.parent / value)
            if not Path(value).exists() and not value.endswith(("out.txt", "out.jpg")):
                stub(Path(value), script, tree)
        made += [option, value] if option.startswith("-") else [value]
    return made


def holder(module: str, root: Path) -> str | None:
    """The folder of a project in which a module lies that a script of it imports, the one nearest its top."""
    name = module.split(".")[0]
    places = [*root.rglob(f"{name}.py"), *(path for path in root.rglob(name) if any(path.glob("*.py")))]
    return str(min(places, key=lambda path: len(path.parts)).parent) if places else None


def last_error(words: list[str]) -> str:
    """The lines of the error that ended a script: the last line of a traceback that begins without a space, and all behind it."""
    starts = [i for i, line in enumerate(words) if re.match(r"[\w.]+(Error|Exception)\b", line)]
    return "\n".join(words[starts[-1] :]) if starts else ""


def outside(asked: str, folder: Path, work: Path, machine: Path | None) -> Path:
    """Where a path that a script asks for lies: below `machine`, if the script sees that in the place of this machine's folder."""
    at = (folder / asked).resolve()
    top = Path(*at.parts[: 3 if at.parts[1:2] in [(name,) for name in SHARED] else 2])
    if machine and not at.is_relative_to(work) and (at.parts[1] in AUTHORS or not top.exists()):
        return machine / at.relative_to("/")
    return at


def housed(machine: Path | None, folder: Path, command: list[str]) -> list[str]:
    """The command, in a namespace of mounts in which `machine` is the root, with all of this machine but AUTHORS in it."""
    if machine is None:
        return command
    machine.mkdir(parents=True, exist_ok=True)
    return ["unshare", "-rm", "sh", "-c", HOUSE, "house", str(machine), str(folder), *command]


def limits() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))  # an LMDB maps a terabyte of file


def run(
    script: Path,
    work: Path,
    seconds: int = SECONDS,
    tree: Path | None = None,
    machine: Path | None = None,
    recorded: Path | None = None,
) -> Result:
    """Runs one script, and makes what it asks for."""
    inside = str(script.relative_to(work))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]),
        "MPLBACKEND": "Agg",
        "BOXPRESSO_DEVICE": "cpu",
        "HOME": str(work),
    }
    if recorded:
        environment["RECORD"] = str(recorded)
    environment["SECONDS"] = str(seconds)
    command = [sys.executable, str(Path(__file__).with_name("small.py")), str(script)]
    folder, root = script.parent, work / script.relative_to(work).parts[0]
    foreseen = False
    for made in range(STUBS + 1):
        try:
            ended = subprocess.run(
                housed(machine, folder, command), cwd=folder, env=environment, capture_output=True, text=True, errors="replace", timeout=seconds + 20,
                input="1\n" * 20, preexec_fn=limits,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Result(inside, "ran on", f"still running after {seconds} s", made)
        counted, errors = (
            re.findall(r"^made: (.*)", ended.stderr, re.MULTILINE),
            re.sub("(?m)^made: .*\n", "", ended.stderr),
        )
        idle = not counted or counted[-1] == "nothing"
        if ended.returncode == RAN_ON:
            return Result(
                inside, "ran on", f"({counted[-1] if counted else 'nothing'}) still running after {seconds} s", made
            )
        if idle and not foreseen and not ended.returncode:
            foreseen = True
            if foresee(script, tree):
                continue
        if ended.returncode == 0 and not (
            idle and command[-1] == str(script) and re.search("(?i)usage", errors + ended.stdout)
        ):
            match = re.search(r"ended after \d+ iterations.*", ended.stdout)
            last = match[0] if match else (ended.stdout.strip().splitlines() or [""])[-1][:80]
            return Result(inside, "ended", f"({counted[-1] if counted else 'nothing'}) {last}", made)
        if "use --python 2" in errors:
            command[2:2] = ["--python", "2"]
            continue
        if wrong := re.search(r"argument (?:.*/)?(--?\w+): invalid (?:int|float) value", errors):
            command[command.index(wrong[1]) + 1] = "64"
            continue
        needs = wanted(errors + ended.stdout, script, root, tree) if command[-1] == str(script) else None
        if needs is not None:
            command += needs
            continue
        lacking = LACKING.search(errors)
        if lacking and (place := holder(lacking[1], root)) and place not in environment["PYTHONPATH"].split(os.pathsep):
            environment["PYTHONPATH"] += os.pathsep + place
            continue
        if ended.returncode == 0:
            return Result(inside, "ended", "(nothing) says how it is used", made)
        words = (errors.strip() or ended.stdout.strip()).splitlines()
        reason = next(
            (line for line in reversed(words) if line.strip() and not line.startswith(" ")), f"code {ended.returncode}"
        )
        for pattern in MISSING:  # OpenCV gives None for a picture that is not there, and says so before what follows
            asked = re.search(pattern, reason) or re.search(pattern, errors if UNREAD in pattern else last_error(words))
            at = outside(asked[1], folder, work, machine) if asked else work
            if asked and not at.exists():
                break
        else:
            if "detectMultiScale" in errors and cascades(script, folder, work, machine):
                continue
            if idle and not foreseen and foresee(script, tree):
                foreseen = True
                continue
            return Result(inside, "stopped", reason[:200], made)
        if folder != root and (root / asked[1]).exists():
            folder = root  # it means to be run from the project's top
            continue
        if not at.is_relative_to(work):  # `machine` is below it
            return Result(inside, "stopped", f"theirs: reads {asked[1]}, outside the project", made)
        if not stub(at, script, tree):
            return Result(inside, "stopped", f"theirs: reads {asked[1]}, which is not published", made)
    return Result(inside, "stopped", f"asks for more than {STUBS} files", STUBS)


def cascades(script: Path, folder: Path, work: Path, machine: Path | None) -> bool:
    """Whether cascades that a script names were missing, and OpenCV's own were copied there."""
    import cv2

    copied = False
    for name in set(CASCADES.findall(script.read_text(errors="replace"))):
        at, source = outside(name, folder, work, machine), Path(cv2.data.haarcascades) / Path(name).name
        if at.is_relative_to(work) and not at.exists() and source.exists():
            at.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, at)
            copied = True
    return copied


def whose(result: Result) -> str:
    """The reason, with the word "theirs" before one that is not ours to mend."""
    for pattern, words in THEIRS:
        if match := re.search(pattern, result.reason):
            return "theirs: " + words.format(*match.groups())
    return result.reason


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="+", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="the scratch folder")
    parser.add_argument("--most", type=int, default=2, help="scripts of a project")
    parser.add_argument(
        "--after", type=int, default=0, help="of a project's scripts those behind so many, for a later count"
    )
    parser.add_argument("--like", default="", help="what a script's path has in it")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="that a script may take")
    parser.add_argument(
        "--caffe", type=Path, metavar="TREE", help="a checkout of Caffe, whose nets and pictures scripts read"
    )
    parser.add_argument(
        "--outside", action="store_true", help="paths of the author's machine are made below the scratch folder"
    )
    parser.add_argument(
        "--record", type=Path, metavar="FOLDER", help="where nets and passes are written, for beside.py"
    )
    args = parser.parse_args(arguments)
    work, counts = args.work.resolve(), {"ended": 0, "ran on": 0, "theirs": 0, "stopped": 0}
    print("| project | commit | script | outcome | stubs | what stopped it |\n|---|---|---|---|---|---|", flush=True)
    for project in args.projects:
        folder, commit = export(project, work)
        for script in scripts(folder, args.after + args.most, args.like)[args.after :]:
            machine = work / "machines" / folder.name if args.outside else None
            result = run(
                script,
                work,
                args.seconds,
                args.caffe and args.caffe.resolve(),
                machine,
                args.record and args.record.resolve() / folder.name / script.stem,
            )
            reason = whose(result).replace("|", "\\|").replace(str(work), "")
            counts["theirs" if reason.startswith("theirs") else result.outcome] += 1
            name, _, inside = result.script.partition("/")
            row = name.replace("+", "/"), commit, inside, result.outcome, result.stubs, reason
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
