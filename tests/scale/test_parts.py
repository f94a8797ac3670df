"""Connected parts by SQL: those of memory, for stars, chains, grids and crowds, in few rounds."""

import random
from contextlib import closing

import numpy as np
import pytest

from lifagu.scale import parts
from lifagu.scale.engines.on_duckdb import DuckEngine
from lifagu.scale.engines.opening import open_engine
from lifagu.scale.journal import Journal
from lifagu.scale.parts import find_parts
from support.connected_parts import assert_same_parts, random_links


@pytest.fixture
def journal(tmp_path):
    with closing(open_engine("duckdb", tmp_path, 2**28)) as engine:
        yield Journal(engine)


@pytest.mark.parametrize("seed", range(16))
def test_random_graphs(journal, seed):
    assert_same_parts(journal, *random_links(random.Random(seed)), enough=[0, 3, 10**6][seed % 3])


SHAPES = {
    "star": [[0, each] for each in range(1, 2000)],
    "chain": [[each, each + 1] for each in range(1999)],
    "chain backwards": [[each + 1, each] for each in reversed(range(1999))],
    "grid": [[each, each + step] for each in range(1950) for step in (1, 50)],
    "pairs": [[each, each + 1] for each in range(0, 2000, 2)],
    "large factors": [list(range(each, each + 60)) for each in range(0, 1900, 90)],
    "hubs in a row": [[each, each // 40 * 40] for each in range(2000)]
    + [[each, each + 40] for each in range(0, 1960, 40)],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_few_rounds(journal, shape):
    """To the end by SQL; the number of rounds grows as the logarithm of the size."""
    scopes = [list(dict.fromkeys(scope)) for scope in SHAPES[shape]]
    assert assert_same_parts(journal, 2001, scopes, {7, 1000}, enough=0) <= 24


def test_only_the_parts_asked_about_are_listed(journal):
    assert_same_parts(journal, 10, [[0, 1], [1, 2], [3, 4]], set(), 0)
    found = find_parts(journal, np.array([0]), [4, 9], 0)
    assert (found[4] in (3, 4), found[9]) == (True, 9)
    assert sorted(journal.engine.rows("SELECT id FROM asked_parts")) == [(3,), (4,), (9,)]


@pytest.mark.parametrize("then", [0, 5, 10**6])
def test_an_interrupted_search_goes_on(journal, monkeypatch, then):
    """Rounds that were finished are not done again, also if there is more memory now, or less."""
    scopes = [[each, each + 1] for each in range(99)]
    with monkeypatch.context() as patch:
        patch.setattr(parts, "_finish", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            assert_same_parts(journal, 100, scopes, {50}, enough=5)
    before = {name for name in journal.engine.names() if name.startswith("going_")}
    assert len(before) > 2
    made, create = [], DuckEngine.create
    monkeypatch.setattr(
        DuckEngine,
        "create",
        lambda self, name, query: (made.append(name), create(self, name, query)),
    )
    found = find_parts(Journal(journal.engine), np.array([0]), [0, 49, 99], then)
    assert not before & set(made)
    assert found[0] == found[49] != found[99]
    assert len(journal.engine.rows("SELECT id FROM asked_parts")) == 99
