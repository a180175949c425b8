"""The documentation: links that lead somewhere, pages that are found, layers and names that are described, a site that builds."""

from __future__ import annotations

import argparse
import functools
import html
import http.server
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from places import ROOT

import boxpresso
from boxpresso import ops
from boxpresso.cli.main import VERBS
from boxpresso.layers.core import Layer, catalogue
from boxpresso.proto import parse_net

DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*") if p.suffix in (".md", ".rst", ".ipynb") and "_build" not in p.parts)
TEXTS = sorted(
    [ROOT / "tests" / "README.md", *DOCS.rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def test_stops_of_the_walks_are_there():
    """Each stop of docs/architecture.md names files of the package, and classes or functions in them; a walk has at most ten."""
    rows = re.findall(r"(?m)^\| (\d+) \| (.*?) \|", (DOCS / "architecture.md").read_text(encoding="utf-8"))
    assert len(rows) == 30
    assert max(int(number) for number, _ in rows) == 10
    for _, cell in rows:
        code = ""
        for word in re.findall(r"`([^`]+)`", cell):
            file, _, names = (
                word.partition(": ") if "/" in word or word.endswith(".py") or ":" in word else ("", "", word)
            )
            if file:
                code = (ROOT / "boxpresso" / file).read_text(encoding="utf-8")
            for name in names.split(".") if names else ():
                assert re.search(rf"(?m)^ *(?:class|def) {name}\b", code), f"{cell}: no {name}"


def without_code(text: str) -> str:
    """A Markdown text without its blocks and spans of code, in which nothing is a link."""
    text = re.sub(r"(?ms)^ *(`{3,}|~{3,}).*?^ *\1 *$", "", text)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text, flags=re.DOTALL)


def slug(heading: str) -> str:
    """The anchor that GitHub and MyST give a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path: Path) -> set[str]:
    """All anchors of a Markdown file."""
    text = re.sub(r"(?ms)^ *(`{3,}|~{3,}).*?^ *\1 *$", "", path.read_text(encoding="utf-8"))
    return {slug(heading) for heading in re.findall(r"(?m)^#{1,6} +(.+?) *#*$", text)}


def broken(path: Path, text: str, address: str) -> list[str]:
    """The links of a Markdown text that lead to no file or anchor of the repository; links to elsewhere are not followed."""
    result = []
    for target in re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", without_code(text)):
        link = re.sub(rf"^{re.escape(address)}/(?:blob|tree|raw)/\w+/", "/", target)
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        name, _, anchor = link.partition("#")
        place = path if not name else ROOT / name[1:] if name.startswith("/") else path.parent / name
        if not place.resolve().exists() or (anchor and place.suffix == ".md" and anchor not in anchors(place)):
            result.append(target)
    return result


def repository() -> str:
    """The address of the repository, as conf.py has it: pyproject.toml's, or its own."""
    pattern = r'(?mi)^"?(?:repository|source(?: code)?)"? *= *"(https:.*?)/?"'
    named = re.search(pattern, (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    own = re.search(r'(?m)^repository = .*"(https://[^"]+)"', (DOCS / "conf.py").read_text(encoding="utf-8"))
    return (named or own)[1]


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    assert not broken(path, path.read_text(encoding="utf-8"), repository())


def test_links_of_notebooks_lead_somewhere():
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        assert not broken(path, text, repository()), path


def test_a_broken_link_is_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b` c: d\n[x](page.md#a-b-c-d)\n[y](#a-b-c-d)\n```\n[in code](nowhere.md)\n```\n`[z](nowhere.md)`\n"
    )
    assert not broken(page, page.read_text(), "https://example.org/r")
    wrong = "[a](nowhere.md) [b](#nowhere) [c](https://example.org/r/blob/main/nowhere.md) [d](https://example.org/)"
    assert broken(page, wrong, "https://example.org/r") == [
        "nowhere.md", "#nowhere", "https://example.org/r/blob/main/nowhere.md",
    ]  # fmt: skip
    assert not broken(page, "[a](https://example.org/r/blob/main/README.md)", "https://example.org/r")


def test_every_page_is_in_one_table_of_contents():
    listed: list[Path] = []
    for path in PAGES:
        text = path.read_text(encoding="utf-8") if path.suffix != ".ipynb" else ""
        blocks = re.findall(r"(?ms)^```\{toctree\}\n(.*?)^```$|^\.\. toctree::\n((?:\n|   [^\n]*\n)+)", text)
        for line in "\n".join(map("".join, blocks)).splitlines():
            if not line.strip() or line.strip().startswith(":"):
                continue
            name = line.strip().split("<")[-1].rstrip(">")
            pages = [path.parent / f"{name}{end}" for end in (".md", ".rst", ".ipynb")]
            listed += [page for page in pages if page in PAGES]
            assert any(page in PAGES for page in pages), f"{path.name} names {name}, which is missing"
    assert sorted([*listed, DOCS / "index.md"]) == PAGES


def unknown_options(text: str) -> list[str]:
    """The options behind `boxpresso VERB` in a text that the verb does not take."""
    known = {}
    for verb in VERBS:
        parser = argparse.ArgumentParser()
        verb.add_arguments(parser)
        known[verb.NAME] = {option for action in parser._actions for option in action.option_strings}
    commands = re.findall(r"\bboxpresso ([a-z_]+)\b([^`|#\n]*)", text.replace("\\\n", " "))
    return [
        f"{verb} {option}"
        for verb, words in commands
        for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", words)
        if verb in known and option not in known[verb]
    ]


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_options_are_those_of_the_commands(path):
    assert not unknown_options(path.read_text(encoding="utf-8"))


def test_an_unknown_option_is_seen():
    assert unknown_options("`boxpresso detect a b --as ssd --nonesuch 3 | x --y`, boxpresso other --z") == [
        "detect --nonesuch"
    ]


def test_the_number_of_layer_types_is_right():
    (said,) = re.findall(r"Some (\d+) layer types", (ROOT / "docs" / "what_it_reads.md").read_text(encoding="utf-8"))
    own = [cls for cls in catalogue.layer_types() if cls.__module__.startswith("boxpresso.")]  # tests register others
    assert abs(len(own) - int(said)) <= 10


def test_every_benchmark_is_shown():
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    for path in (ROOT / "benchmarks" / "results").glob("*.txt"):
        assert f"{{literalinclude}} ../benchmarks/results/{path.name}\n" in text, path.name


def test_every_public_name_is_in_the_reference():
    text = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.rst"))
    words = set(re.findall(r"\w+", text))
    # backward passes are shown with their operators
    names = {*boxpresso.__all__, *(name.removesuffix("_backward") for name in ops.__all__)} - {"ops"}
    missing = sorted(names - words)
    assert not missing


def layers() -> list[type[Layer]]:
    """The package's layers; other tests of this process have made some of their own."""
    return [cls for cls in catalogue.layer_types() if cls.__module__.startswith("boxpresso.layers.")]


def test_every_layer_is_in_the_gallery():
    families = {path.stem for path in (DOCS / "layers").glob("*.rst")} - {"index"}
    assert {cls.__module__.split(".")[2] for cls in layers()} == families
    for name in families:
        assert f".. layer-family:: {name}\n" in (DOCS / "layers" / f"{name}.rst").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_are_kept_without_outputs(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    for cell in notebook["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_examples_of_layers_are_prototxt():
    for cls in layers():
        assert parse_net(catalogue.example(cls), strict=True).layer[0].type == cls.type


@pytest.mark.slow
def test_site_builds(tmp_path):
    """As CONTRIBUTING.md says: every warning is an error, and no network is there. One test, so that it is built once."""
    for name in ("sphinx", "myst_nb", "furo", "sphinx_copybutton", "ipykernel"):
        pytest.importorskip(name, reason=f"{name} is not installed: pip install 'boxpresso[docs]'")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    environment = {**os.environ, **nowhere, "PYTHONPATH": str(ROOT), "no_proxy": "", "NO_PROXY": ""}
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2", "docs", str(tmp_path)]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-6000:]
    for page in PAGES:
        assert (tmp_path / page.relative_to(DOCS).with_suffix(".html")).is_file()
    check_gallery(tmp_path)
    check_links_to_files(tmp_path)
    check_fetches_nothing(tmp_path)
    check_notebooks_ran(tmp_path)
    check_in_browser(tmp_path)


WIDER = (
    "all => all.filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.innerText.slice(0, 200))"
)


def check_in_browser(site: Path) -> None:
    """What a question finds first, and that code fits a window of 1280 pixels, in a browser, where there is one."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None or importlib.util.find_spec("playwright") is None:
        return
    from playwright.sync_api import sync_playwright

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        for question, wanted in (
            ("roi align", "reference/ops.html#boxpresso.ops.boxpresso.ops.roi_align"),
            ("roi_align", "reference/ops.html#boxpresso.ops.boxpresso.ops.roi_align"),
            ("threshold", "detectors.html"),
            ("webcam", "detectors.html"),
            ("docker", "docker.html"),
        ):
            page.goto(f"http://127.0.0.1:{server.server_port}/search.html?q={question.replace(' ', '+')}")
            page.wait_for_function(
                "document.querySelector('#search-results .search-summary')?.textContent.includes('found')"
            )
            first = page.locator("#search-results li > a").first.get_attribute("href")
            assert first.partition("?")[0] == wanted, f"{question}: {first}"
        page.set_viewport_size({"width": 1280, "height": 900})
        for path in sorted(site.rglob("*.html")):
            page.goto(f"http://127.0.0.1:{server.server_port}/{path.relative_to(site)}")
            wide = page.eval_on_selector_all("article div:not(.long) > .highlight pre", WIDER)
            assert (path.name, page.evaluate("document.documentElement.scrollWidth <= innerWidth"), wide) == (
                path.name,
                True,
                [],
            )
        browser.close()
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without a word."""

    def log_message(self, *args: object) -> None:
        pass


def check_gallery(site: Path) -> None:
    """Every layer has a section."""
    pages = "".join(path.read_text(encoding="utf-8") for path in (site / "layers").glob("*.html"))
    for cls in layers():
        assert f">{cls.type}<a" in pages, f"the gallery has no section for {cls.type}"


def check_links_to_files(site: Path) -> None:
    """Links to files outside docs/ lead to the repository's address, and are no downloads."""
    text = (site / "decisions.html").read_text(encoding="utf-8")
    assert f'href="{repository()}/blob/main/benchmarks/results/plan.txt"' in text
    assert not (site / "_downloads").exists()


def check_fetches_nothing(site: Path) -> None:
    """What a page loads by itself lies in the site: no fonts, styles, scripts or pictures of other hosts."""
    loads = re.compile(r"<(?:script|img|iframe|source|video|audio)\b[^>]*>|<link\b[^>]*>")
    for path in site.rglob("*.html"):
        for loaded in loads.findall(path.read_text(encoding="utf-8")):
            assert not re.search(r"(?:src|href)=\"(?:https?:)?//", loaded), f"{path.name} loads {loaded}"
    for path in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", path.read_text(encoding="utf-8")), path


def check_notebooks_ran(site: Path) -> None:
    """All cells are there, most with what they printed, and none with an error."""
    for path in NOTEBOOKS:
        page = html.unescape((site / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8"))
        cells = [c for c in json.loads(path.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "code"]
        assert page.count('class="cell docutils') == len(cells)
        assert page.count("cell_output docutils") > len(cells) / 2
        assert "Traceback" not in page
