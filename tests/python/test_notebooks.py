"""The examples run as notebooks, and their pages in docs/notebooks are theirs."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import edict

ROOT = Path(__file__).resolve().parents[2]
RENDER = ROOT / "scripts" / "render-notebook"
LARGEST = 400_000  # bytes of a page with its figures


def load_renderer():
    loader = importlib.machinery.SourceFileLoader("render_notebook", str(RENDER))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("render_notebook", loader))
    loader.exec_module(module)
    return module


def render(script, folder, *arguments):
    return subprocess.run(
        [sys.executable, RENDER, script, folder, *map(str, arguments)],
        capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "Agg"},
    )  # fmt: skip


def page_of(outcome, folder, name, figures):
    assert outcome.returncode == 0, outcome.stderr
    assert sorted(p.name for p in folder.glob(f"{name}-*.png")) == [
        f"{name}-{k}.png" for k in range(1, figures + 1)
    ]
    return (folder / f"{name}.md").read_text()


def test_own_data(tmp_path):
    page = page_of(render(ROOT / "examples/own_data.py", tmp_path), tmp_path, "own_data", 1)
    assert "| wave051 | 2024-03-31 06:03:56+02:00 | level | 4 |" in page  # the spoilt one comes first
    assert "in two folds" in page


def test_live(tmp_path):
    page = page_of(render(ROOT / "examples/live.py", tmp_path), tmp_path, "live", 1)
    assert "20 of 20 broken sensors found" in page
    assert "the same forecast from them: True" in page


def test_physionet_on_other_stays(tmp_path):
    """Without the data themselves: a table with two classes takes their place."""
    frame = edict.waves(series=120, events=12)
    frame["label"] = (frame["label"] == "fast").astype(int)
    frame["time"] *= 48 / frame.groupby("id")["time"].transform("max")
    frame.to_csv(tmp_path / "stays.csv", index=False)
    outcome = render(ROOT / "examples/physionet.py", tmp_path, tmp_path / "stays.csv", "hidden=8", "epochs=2")
    page = page_of(outcome, tmp_path, "physionet", 3)
    assert "| stays | deaths | AUROC |" in page


def test_a_cell_that_fails_ends_it_and_names_its_line(tmp_path):
    script = tmp_path / "broken.py"
    script.write_text("# %%\nx = 1\n\n# %%\nx.nothing\n")
    outcome = render(script, tmp_path)
    assert outcome.returncode == 1 and "broken.py\", line 5" in outcome.stderr
    assert "the cell at line 5 failed" in outcome.stderr
    assert not (tmp_path / "broken.md").exists()


@pytest.mark.parametrize("name", ["own_data", "physionet", "live"])
def test_the_pages_in_the_repository_are_those_of_the_scripts(name):
    renderer = load_renderer()
    folder = ROOT / "docs" / "notebooks"
    page = (folder / f"{name}.md").read_text()
    at = 0
    for first, is_text, lines in renderer.cells_of((ROOT / "examples" / f"{name}.py").read_text()):
        if first == 1:
            continue
        shown = renderer.text_of(lines) if is_text else renderer.code_of(lines)
        at = page.find(shown, at)
        assert at >= 0, f"render {name} anew: scripts/render-notebook examples/{name}.py docs/notebooks"
    size = sum(p.stat().st_size for p in [folder / f"{name}.md", *folder.glob(f"{name}-*.png")])
    assert size < LARGEST
