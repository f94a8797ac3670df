"""Templates that were drafted are validated by drafts that never saw what is hidden."""

import json

import numpy as np
import pandas as pd
import pytest

import lifagu
from lifagu.formats.drafted_json import meaning
from support.drafts import said

ROWS = 130


def noise(seed, columns=12):
    """Few rows and many columns, none of which tells anything about another."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"c{n}": rng.choice(list("abc"), ROWS) for n in range(columns)})
    frame.insert(0, "id", range(ROWS))
    frame["died"] = rng.choice(["no", "yes"], ROWS, p=[0.7, 0.3])
    return frame


@pytest.fixture(scope="module")
def wards(tmp_path_factory):
    """A template drafted from 300 patients, and their table: weight goes with age and sex."""
    rng = np.random.default_rng(3)
    age = rng.normal(50, 15, 300)
    sex = rng.choice(["f", "m"], 300)
    weight = np.where(age + 20 * (sex == "m") + rng.normal(0, 5, 300) > 60, "high", "low")
    frame = pd.DataFrame({"id": range(300), "age": age.round(1), "sex": sex, "weight": weight})
    folder = tmp_path_factory.mktemp("wards")
    frame.to_csv(folder / "patient.csv", index=False)
    return lifagu.draft(str(folder / "patient.csv"), predict=["weight", "age"]), frame, folder


def written(draft, path, **changed):
    template = {**json.loads(draft.text(path.parent)), **changed}
    path.write_text(json.dumps(template))
    return path


def test_shuffled_columns_are_called_weak():
    """As it stands a draft of noise looks good; made anew it scores like frequencies."""
    too_good = []
    for seed in range(3):
        found = lifagu.draft(noise(seed), predict=["died", "c0"]).validate(folds=3, seed=seed)
        assert found.structure.how == "drafted anew"
        assert "trust" not in found.judgement()
        error = found.gain(next(iter(found.methods))).error
        assert abs(found.log_loss - found.baseline.log_loss.value) < 3 * error + 0.02
        too_good.append(found.too_good(next(iter(found.methods))).value)
    assert np.mean(too_good) > 0, "the structure of a draft of noise fits the noise"


def test_it_is_what_a_draft_from_a_copy_without_them_scores(wards, tmp_path):
    """Cells are emptied by hand, a template is drafted of that, and scored on them."""
    draft, frame, folder = wards
    found = draft.validate(seed=1)
    relations = [found.cells.relations[each] for each in found.cells.relation_of]
    who = found.cells.individuals(np.arange(len(found.cells)))
    hidden = [(relations[each], who[each]) for each in found.hidden_cells.tolist()]
    copy = frame.astype(object).set_index("id")
    for relation, individual in hidden:
        copy.loc[int(individual), relation.lower()] = None
    copy.reset_index().to_csv(tmp_path / "patient.csv", index=False)
    blind = lifagu.draft(str(tmp_path / "patient.csv"), predict=["weight", "age"])
    template = json.loads(blind.text())
    template["source"] = str(folder / "patient.csv")
    del template["drafted"]
    (tmp_path / "blind.json").write_text(json.dumps(template))
    by_hand = lifagu.open(tmp_path / "blind.json").validate(hidden=hidden)
    assert by_hand.structure.how == ""
    assert found.log_loss == pytest.approx(by_hand.log_loss, abs=1e-6)
    assert found.baseline.log_loss.value == pytest.approx(by_hand.baseline.log_loss.value)


def test_hashes_follow_the_meaning(wards):
    template = json.loads(wards[0].text())
    settings, noted = template["drafted"]["settings"], template["drafted"]["meaning"]
    assert meaning(template, settings) == noted

    def changed(**parts):
        return meaning({**template, **parts}, settings)

    told = [{"comment": "mine", **each} for each in template["parfactors"]]
    assert changed(source="other.csv", queries=["Sex"], comment="edited", parfactors=told) == noted
    assert changed(**dict(reversed(template.items()))) == noted
    assert changed(parfactors=template["parfactors"][1:]) != noted
    assert changed(domains={"Patient": {"sql": "SELECT id FROM patient WHERE id < 9"}}) != noted
    assert meaning(template, {**settings, "bins": 4}) != noted


def test_edited_templates_say_so(wards):
    draft, _, folder = wards
    path = written(draft, folder / "edited.json")
    template = json.loads(path.read_text())
    template["parfactors"] = template["parfactors"][:1]
    path.write_text(json.dumps(template))
    told = said("validate", path, "--quiet", "--json")
    found = json.loads(told.out)
    assert found["structure"] == "has seen these values"
    assert "edited after it was drafted" in found["why"]
    assert "the structure has seen these values" in found["judgement"]
    assert "draft again" in found["judgement"]
    assert "as_it_stands" not in found


def test_notes_about_drafts_are_checked(wards):
    draft, _, folder = wards
    path = written(draft, folder / "odd.json", drafted={"version": "1"})
    told = said("check", path)
    assert told.status == 2
    assert "meaning" in told.err
    assert len(told.err.strip().splitlines()) == 1
    noted = json.loads(draft.text())["drafted"]
    path = written(draft, path, drafted={**noted, "settings": {}})
    assert (
        json.loads(said("validate", path, "--quiet", "--json").out)["structure"] != "drafted anew"
    )


@pytest.mark.parametrize(
    "options", [["--folds", "2"], ["--hide-individuals", "60"], ["--only", "Age"], ["--hidden"]]
)
def test_every_way_to_hide_works_with_it(wards, options):
    draft, frame, folder = wards
    path = written(draft, folder / "draft.json")
    if options == ["--hidden"]:
        cells = [("Weight", each) for each in frame["id"][:40]]
        cells += [("Age", each) for each in frame["id"][20:50]] + [("Sex", 7)]
        pd.DataFrame(cells, columns=["relation", "individual"]).to_csv(
            folder / "hidden.csv", index=False
        )
        options = ["--hidden", folder / "hidden.csv"]
    found = json.loads(said("validate", path, "--quiet", "--json", *options).out)
    assert found["structure"] == "drafted anew"
    assert found["unanswered"] == 0
    stands = found["as_it_stands"]
    assert {"log_loss", "accuracy", "relations", "too_good"} <= set(stands)
    assert stands["hidden"] <= found["hidden"]
    assert (
        found["relations"]["Age"]["log_loss"]
        < 1.2 * found["relations"]["Age"]["baseline"]["log_loss"]
    )
    assert any("drafted anew in each fold" in each for each in found["notes"])


def test_hidden_individuals_are_told_by_nothing_of_their_own(wards):
    """Whole individuals are predicted from nothing of their own, so by frequencies."""
    found = wards[0].validate(hide_individuals=60)
    assert found.structure.how == "drafted anew"
    assert found.log_loss == pytest.approx(found.baseline.log_loss.value, abs=0.02)


def test_what_is_no_column_cannot_be_hidden(wards):
    draft, _, folder = wards
    path = written(draft, folder / "observed.json")
    found = lifagu.open(path).observe({"Sex(1)": "f"}).validate()
    assert found.structure.how == "has seen these values"
    assert "beside the database" in found.structure.why
