"""The same data, the same draft: whatever the kind of database, chance, threads, order or zone."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import lifagu
from support.drafts import KINDS, made
from support.odd_databases import ODD
from support.planted_databases import NOISE, PLANTED

DRAFTS = {
    **{name: ODD[name] for name in ("large_keys", "truths", "moments", "many_to_many", "dangling")},
    **{name: (lambda make=PLANTED[name][0]: make(Random(3))) for name in ("bosses", "linked")},
    **{name: (lambda make=NOISE[name]: make(Random(3))) for name in ("lists", "generations")},
}


def told(draft):
    """What a draft says, but for where the data is and how it is asked for."""
    found = draft.found
    relations = [(each.name, each.labels, each.size, each.gaps) for each in found.used]
    return relations, [(each.name, each.by, round(each.gain, 6)) for each in found.drafted]


@pytest.mark.parametrize("name", ["dangling", "large_keys", "a_pair", "a_list", "how_much"])
def test_all_kinds_of_databases_lead_to_the_same_draft(name, tmp_path, request):
    """Of databases without declared keys files say as much as others do."""
    tables = ODD[name]() if name in ODD else PLANTED[name][0](Random(3))
    drafts = {}
    for kind in KINDS:
        url = request.getfixturevalue("new_database")() if kind == "postgresql" else ""
        drafts[kind] = told(lifagu.draft(made(kind, tmp_path, tables, url)))
    assert drafts == dict.fromkeys(KINDS, drafts["sqlite"])


@pytest.mark.parametrize("name", DRAFTS)
def test_the_order_of_rows_means_nothing(name, tmp_path):
    texts = []
    for seed in range(3):
        rng = Random(seed)
        tables = {key: each.shuffled(rng) if seed else each for key, each in DRAFTS[name]().items()}
        draft = lifagu.draft(made("csv", tmp_path, tables))
        texts.append(draft.text() + draft.report())
    assert texts[1:] == texts[:1] * 2


SCRIPT = """
import sys, lifagu
for each in sys.argv[1:]:
    draft = lifagu.draft(each)
    sys.stdout.write(draft.text() + draft.report())
"""


def run_elsewhere(addresses, **settings):
    """What other processes with such an environment make of databases."""
    environment = {**os.environ, "PYTHONPATH": str(Path(lifagu.__file__).parents[1]), **settings}
    words = [sys.executable, "-c", SCRIPT, *addresses]
    return subprocess.run(words, env=environment, capture_output=True, check=True).stdout


def test_neither_hashes_nor_threads_nor_zones_mean_anything(tmp_path):
    addresses = [
        made(kind, tmp_path / name, DRAFTS[name]())
        for name in ("truths", "moments", "lists", "bosses")
        for kind in ("sqlite", "csv")
    ]
    found = {
        run_elsewhere(addresses, PYTHONHASHSEED=seed, OMP_NUM_THREADS=threads, TZ=zone)
        for seed, threads, zone in (("0", "1", "UTC"), ("1", "2", "Asia/Tokyo"))
    }
    assert len(found) == 1


@pytest.mark.full
def test_nor_do_they_for_any_database(tmp_path):
    addresses = [
        made(kind, tmp_path / name, make())
        for name, make in ODD.items()
        for kind in ("sqlite", "duckdb")
    ]
    found = {
        run_elsewhere(addresses, PYTHONHASHSEED=seed, OMP_NUM_THREADS=threads, TZ=zone)
        for seed, threads, zone in (
            ("0", "1", "UTC"),
            ("1", "2", "Asia/Tokyo"),
            ("2", "1", "America/New_York"),
        )
    }
    assert len(found) == 1
