"""What is published: the version is the same everywhere, the archives lack nothing, and the wheel works in a bare environment."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from places import ROOT
from test_prebuilt import asking

from boxpresso.device import build as compile_ahead
from boxpresso.device import compiler, levels
from boxpresso.device.chain import CHAIN
from boxpresso.layers.neuron.relu import ReLU

sys.path.insert(0, str(ROOT / "packaging"))
LEFT_OUT = {".gitignore", "layers", "net", "proto"}  # the last three are links into boxpresso/


def tracked() -> set[str]:
    """The files that git has."""
    try:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no checkout of git")
    return {name for name in listed.splitlines() if (ROOT / name).exists()}


def test_one_version():
    import check_version

    stated = check_version.versions()
    assert set(stated.values()) == {stated["boxpresso/__init__.py"]}, stated


def test_a_version_that_differs_is_named(monkeypatch, tmp_path, capsys):
    import check_version

    for name in check_version.PLACES:
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text((ROOT / name).read_text(encoding="utf-8").replace("0.1.0", "0.2.0"), encoding="utf-8")
    monkeypatch.setattr(check_version, "ROOT", tmp_path)
    (tmp_path / "CITATION.cff").write_text("version: 0.1.0\n")
    assert check_version.main([]) == 1
    assert capsys.readouterr().out == "CITATION.cff says 0.1.0, not 0.2.0\n"
    (tmp_path / "CITATION.cff").write_text("version: 0.2.0\n")
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text("# Changes\n\n## 0.2.0 (unreleased)\n")
    assert check_version.main([]) == 0
    assert check_version.main(["0.2.0"]) == 1  # a release has a date
    changes.write_text("# Changes\n\n## 0.2.0 (2026-12-01)\n")
    assert check_version.main(["0.2.0"]) == 0


def test_the_long_description_has_addresses():
    """The README's links work in the tree; the package's page, which has no tree, gets them with the address of pyproject.toml."""
    import readme

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    made = readme.long_description(text, "https://example.org/o/r")
    relative, absolute = (re.findall(r"\]\(([^)\s]+)\)", each) for each in (text, made))
    assert len(relative) == len(absolute) > 20
    assert not [target for target in relative if target.startswith("http")]
    for before, after in zip(relative, absolute):
        kind = "raw" if before.endswith(".gif") else "blob"
        assert after == f"https://example.org/o/r/{kind}/main/{before}"
    assert re.sub(r"\]\([^)]*\)", "", made) == re.sub(r"\]\([^)]*\)", "", text)
    assert readme.address() == "https://github.com/boxpresso/boxpresso"
    fixed = "`[a](b)` [c](#d) [e](mailto:f@example.org)\n```\n[g](h)\n```\n"
    assert readme.long_description(fixed, "https://example.org/o/r") == fixed


def build(folder: Path, levels: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Makes archives with the kernels of these levels."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), *options, str(ROOT)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "BOXPRESSO_LEVELS": levels})


def tried(wheel: Path) -> str:
    """What try_package.py says of it."""
    command = [sys.executable, str(ROOT / "packaging" / "try_package.py"), str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_archives(tmp_path):
    """The source archive leaves nothing out, and the wheel works in a bare environment (numpy, protobuf and pillow come from the index).

    Without kernels, which take minutes: test_prebuilt.py compiles a few, the sweep all.
    """
    done = build(tmp_path, "none")
    assert done.returncode == 0, done.stdout + done.stderr
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    outside = {name for name in tracked() if not name.startswith((".ci/", ".github/"))} - LEFT_OUT
    assert not outside - packed, "MANIFEST.in leaves out what git has"
    wheel = next(tmp_path.glob("*.whl"))
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        stated = archive.read(metadata).decode()
    assert "Description-Content-Type: text/markdown" in stated
    assert "](https://github.com/boxpresso/boxpresso/blob/main/docs/start.md)" in stated
    assert "](docs/" not in stated
    assert "installed, boxes found, nothing missing" in tried(wheel)


@pytest.mark.slow
def test_a_wheel_whose_kernels_are_not_compiled_is_not_made(tmp_path):
    done = build(tmp_path, "v9", "--wheel")
    assert done.returncode != 0
    assert "has no level 'v9'" in done.stdout + done.stderr
    assert "BOXPRESSO_LEVELS=none makes a wheel without them" in done.stdout + done.stderr
    assert not list(tmp_path.glob("*.whl"))


@pytest.mark.sweep
def test_a_wheel_with_all_kernels(tmp_path):
    done = build(tmp_path, "all", "--wheel")
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert "-py3-none-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    assert wheel.stat().st_size < 15e6
    with zipfile.ZipFile(wheel) as archive:
        libraries = {Path(name).stem for name in archive.namelist() if "/prebuilt/" in name}
    assert libraries == {level.name for level in levels.levels()}
    assert "installed, boxes found, nothing missing" in tried(wheel)


def check_wheel(platform: str, tag: str, jobs: list, folder: Path, monkeypatch) -> None:
    """Compiles kernels, makes a wheel of them, and reads what is said of it, and of one that is not right."""
    import wheels

    monkeypatch.setitem(wheels.PLATFORMS, platform, (wheels.PLATFORMS[platform][0], tag))
    compile_ahead.build_cpu("all", jobs, folder / "kernels", 2)
    wheel = wheels.make(platform, folder / "kernels", folder)
    assert wheels.faults(wheel, jobs) == []
    assert wheels.faults(wheel, [*jobs, (CHAIN, "float")])[0].endswith(
        "lacks 1 of 3 files, such as chain.cpp for float"
    )
    monkeypatch.setattr(wheels, "MOST", 1e5)
    assert "more than 0" in wheels.faults(wheel, jobs)[0]
    another = "manylinux_2_17_x86_64" if tag == "win_amd64" else "win_amd64"
    seen = " ".join(wheels.faults(wheel.rename(wheel.with_name(wheel.name.replace(tag, another))), jobs))
    assert "is of another one" in seen
    assert f"is not a library of {another}" in seen or "its kernels are bf16.so, dotprod.so, neon.so, not v2.so" in seen


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the tag is Linux's")
def test_a_wheel_with_kernels(monkeypatch, tmp_path):
    """With those of two files, for this machine, as packaging/wheels.py makes it."""
    platform = f"linux-{levels.machine()}"
    check_wheel(
        platform,
        platform.replace("-", "_"),
        [(asking(tmp_path), "float"), (ReLU.kernels, "float")],
        tmp_path,
        monkeypatch,
    )


# A sweep, for zig first builds a C++ library for each, two minutes of a processor. Every run compiles for them: test_prebuilt.py,
# test_compilers.py.
@pytest.mark.sweep
@pytest.mark.parametrize("platform", ["windows-amd64", "linux-aarch64", "macos-arm64", "macos-x86_64"])
def test_wheels_of_other_platforms(platform, monkeypatch, tmp_path):
    pytest.importorskip("ziglang", reason="the ziglang wheel is not installed (pip install ziglang)")
    import wheels

    target, tag = wheels.PLATFORMS[platform]
    monkeypatch.setattr(compiler, "compiler", lambda: (sys.executable, "-m", "ziglang", "c++", "-target", target))
    check_wheel(platform, tag, [(asking(tmp_path), "float"), (ReLU.kernels, "float")], tmp_path, monkeypatch)
