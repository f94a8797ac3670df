"""``lifagu plot`` and `lifagu.plot`: files, options, notes and mistakes."""

import json
import sys
import xml.etree.ElementTree as ElementTree

import pytest

import lifagu
from support.drawn import SHAPES, marks
from support.helpers import ROOT, run_cli


def test_plot_writes_files(capsys, tmp_path):
    model = ROOT / "examples/epidemic.json"
    for what in ("graph", "colours", "lifted", "transfers"):
        target = tmp_path / f"{what}.svg"
        status, out, err = run_cli(
            capsys, "plot", model, "--add", "eve=alice", "--what", what, "--out", target
        )
        assert (status, err) == (0, "")
        assert out.startswith(f"{target}: {what}, ")
        ElementTree.parse(target)
    assert "3 arrows" in out
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF-")])
def test_plot_writes_images(ending, start, capsys, tmp_path):
    pytest.importorskip("vl_convert")
    target = tmp_path / f"figure.{ending}"
    arguments = ("--out", target, "--theta", "0.5", "--evidence", "Epid=true")
    status, out, err = run_cli(capsys, "plot", ROOT / "examples/epidemic.json", *arguments)
    assert (status, err) == (0, "")
    assert out.startswith(f"{target}: graph, ")
    assert target.read_bytes().startswith(start)


def test_plot_uses_the_options_for_filling(capsys, tmp_path):
    target = tmp_path / "figure.svg"
    published = (
        "plot",
        ROOT / "examples/epidemic.json",
        "--add",
        "eve=alice",
        "--what",
        "transfers",
        "--out",
        target,
    )
    run_cli(capsys, *published, "--fill", "lifagu", "--theta", "0.9")
    assert "less than the 0.9 asked for" in target.read_text()
    assert not marks(ElementTree.parse(target).getroot(), "arrow")


def test_plot_says_when_it_shows_the_lifted_graph_instead(capsys, tmp_path):
    target = tmp_path / "figure.svg"
    model = tmp_path / "model.json"
    smokers = json.loads((ROOT / "examples/smokers.json").read_text())
    model.write_text(json.dumps({**smokers, "domains": {"Person": 1000}}))
    status, out, err = run_cli(capsys, "plot", model, "--what", "colours", "--out", target)
    assert (status, out) == (0, f"{target}: lifted, 6 nodes, 5 edges\n")
    assert "too large to be drawn node by node" in err
    assert run_cli(capsys, "plot", model, "--what", "colours", "--out", target, "--quiet")[2] == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "figure.gif"], "figures are written as .svg, .png or .pdf"),
        (["--out", "none/figure.svg"], "cannot be written here"),
        (["--out", "figure.svg", "--evidence", "Nobody=true"], "there is no variable 'Nobody'"),
        (["--out", "figure.svg", "--what", "stars"], "invalid choice: 'stars'"),
        ([], "the following arguments are required: --out"),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    status, out, err = run_cli(capsys, "plot", ROOT / "examples/epidemic.json", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_wrong_figures_are_refused():
    graph = SHAPES["chain"]
    with pytest.raises(
        lifagu.ModelError, match="there is no figure 'stars'; choose one of graph, colours"
    ):
        lifagu.draw(graph, "stars")
    with pytest.raises(lifagu.ModelError, match="not list"):
        lifagu.draw([graph])
    with pytest.raises(
        lifagu.FormatError, match=r"figure.jpg: figures are written as \.svg, \.png or \.pdf"
    ):
        lifagu.plot(graph, "figure.jpg")


def test_without_the_converter_svg_is_there_and_png_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    lifagu.plot(SHAPES["chain"], tmp_path / "chain.svg")
    for ending in ("png", "pdf"):
        with pytest.raises(lifagu.MissingExtraError, match=r"pip install 'lifagu\[plot\]'"):
            lifagu.plot(SHAPES["chain"], tmp_path / f"chain.{ending}")
    assert [each.name for each in tmp_path.iterdir()] == ["chain.svg"]
