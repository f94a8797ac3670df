"""One snapshot: model, evidence and questions are of one state, even while somebody replaces it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lifagu
from lifagu import formats

BLOG = "random Boolean A; factor MultiArrayPotential[[1, 2]] (A); obs A = true; query A;"
PFL = "markov a::[t,f] ; [1, 2] ; []. a(t)."
JSON = {
    "format": "lifagu/1",
    "variables": [{"name": "A"}],
    "factors": [{"name": "f", "args": ["A"], "table": [1, 2]}],
    "evidence": {"A": "true"},
}

# ---- files


@pytest.mark.parametrize("ending", [".json", ".blog", ".pfl", ".uai"])
@pytest.mark.parametrize("reads", [lifagu.load, lifagu.read, lifagu.read_evidence])
def test_a_file_is_read_and_parsed_once(ending, reads, tmp_path, monkeypatch):
    path = tmp_path / f"model{ending}"
    path.write_text({".json": json.dumps(JSON), ".blog": BLOG, ".pfl": PFL}.get(ending, "MARKOV 1 2 1 1 0 2 1 2"))
    texts, parsed = [], []
    read_text, loads = formats.read_text, json.loads
    monkeypatch.setattr(formats, "read_text", lambda path: texts.append(path) or read_text(path))
    monkeypatch.setattr(json, "loads", lambda *given, **options: parsed.append(1) or loads(*given, **options))
    reads(path)
    assert len(texts) == (0 if ending == ".uai" and reads is lifagu.read_evidence else 1)
    assert len(parsed) == (ending == ".json")


def test_a_mistake_in_the_evidence_does_not_hide_the_model(tmp_path):
    path: Path = tmp_path / "model.json"
    path.write_text(json.dumps({**JSON, "evidence": 3}))
    assert len(lifagu.read(path).variable_names) == 1
    for reads in (lifagu.load, lifagu.read_evidence):
        with pytest.raises(lifagu.FormatError, match=r"model.json:1: evidence: an object"):
            reads(path)
