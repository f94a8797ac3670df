"""The page in a real browser, as people walk it: on laptop and phone, by mouse and keyboard."""

import gzip
import json
import re

import pytest

import lifagu
from support.drawn import grid
from support.helpers import ROOT
from support.page_walk import LAPTOP, PHONE, WHY_NOT, Walk
from support.web_server import served

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "it is here")

WARDS = lifagu.read(ROOT / "examples/wards.json")
TABS = ("Overview", "Individual", "List", "Ask", "Model")
PANELS = {"Individual": "card"}


@pytest.fixture
def walk(examples, chromium):
    """A fresh user on a laptop; whatever the console complains about is a failure."""
    walk = Walk(chromium, examples.address)
    yield walk
    walk.done()


def percents(page, name):
    """label → shown probability of one answer."""
    values = page.locator(f'.answer[data-name="{name}"] .value')
    return {
        each.locator(".label").inner_text().rstrip(" ✓"): float(
            re.sub(r"[^\d.]", "", each.locator(".figure").inner_text())
        )
        for each in values.all()
    }


def expected(moved, name, **settings):
    answer = lifagu.query(moved, name, **settings)
    return {label: pytest.approx(100 * value, abs=0.06) for label, value in answer.items()}


def test_an_example_shows_its_graph(walk):
    page = walk.open("An epidemic, and eve", "Model")
    assert page.locator("#graph .node.variable").count() == 13
    assert page.locator("#graph .node.factor").count() == 10
    assert page.locator("#graph .node.unknown").count() == 3
    assert page.locator("#graph .arrow").count() == 3
    assert page.title() == "An epidemic, and eve – lifagu"
    assert "3 of 3 unknown factors filled" in page.inner_text("#borrowed-summary")
    page.get_by_role("button", name="Larger").first.click()
    assert page.evaluate("document.querySelector('#graph svg').getBoundingClientRect().width") > 400


def test_a_square_leads_to_its_reason(walk):
    page = walk.open(tab="Model")
    page.locator(f"#graph [data-node=f{WARDS.factor_names.number('r.p9')}] .shape").click()
    assert "Answers sum over all cohorts" in page.locator(".record:focus").inner_text()


def test_the_lifted_model_stands_beside_the_graph_and_in_words(walk):
    page = walk.open(tab="Model")
    lifted = lifagu.lift(lifagu.transfer(WARDS, by="auto"))
    assert page.locator("#lifted .node").count() == len(lifagu.draw(lifted).nodes)
    assert page.locator("#lifted-words").text_content() == str(lifted)


def test_evidence_by_clicking_moves_the_bars(walk):
    page = walk.open(tab="Ask")
    moved = lifagu.transfer(WARDS, by="auto")
    page.locator('.answer[data-name="Recovers.p9"]').wait_for()
    assert percents(page, "Recovers.p9") == expected(moved, "Recovers.p9")
    walk.tab("Model")
    page.locator("#graph [data-node=v0]").click()
    page.get_by_role("dialog").get_by_role("button", name="false").click()
    page.locator("#graph [data-node=v0].observed").wait_for()
    walk.tab("Ask")
    page.locator('.answer.observed[data-name="Staffed"]').wait_for()
    evidence = {"Staffed": "false"}
    assert percents(page, "Recovers.p9") == expected(moved, "Recovers.p9", evidence=evidence)
    assert (
        page.locator("#graph [data-node=v0]").get_attribute("aria-label")
        == "variable Staffed, observed false"
    )
    page.locator('.answer[data-name="Severe.p9"] .value', has_text="true").click()
    page.locator('.answer.observed[data-name="Severe.p9"]').wait_for()
    evidence["Severe.p9"] = "true"
    assert percents(page, "Recovers.p9") == expected(moved, "Recovers.p9", evidence=evidence)
    page.get_by_role("button", name="Staffed = false").click()
    page.locator('.answer:not(.observed)[data-name="Staffed"]').wait_for()
    del evidence["Staffed"]
    assert percents(page, "Recovers.p9") == expected(moved, "Recovers.p9", evidence=evidence)
    page.get_by_label("Competing tables").select_option("best")
    page.get_by_label("Competing tables").select_option("average")
    assert percents(page, "Recovers.p9") == expected(moved, "Recovers.p9", evidence=evidence)


def test_the_plan_comes_before_it_is_run(walk):
    page = walk.open()
    walk.tab("Ask")
    page.locator(".answer").first.wait_for()
    page.get_by_label("Answer at once").uncheck()
    page.get_by_role("button", name="Run it").wait_for()
    page.get_by_label("Variables to ask about").fill("Recovers.p10; Staffed")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator("#plan", has_text="ground engine, 1 connected part").wait_for()
    assert page.locator(".answers.stale").count() == 1
    page.get_by_role("button", name="Run it").click()
    page.locator(".answers:not(.stale)").wait_for()
    assert page.locator(".answer").count() == 2
    page.get_by_label("Variables to ask about").fill("Nobody")
    page.get_by_role("button", name="Ask", exact=True).click()
    assert "no variable 'Nobody'" in page.get_by_role("alert").inner_text()
    walk.was_refused(422)


def test_files_are_opened_or_refused_in_words(walk, tmp_path):
    page = walk.page
    packed = tmp_path / "Mine.json.gz"
    packed.write_bytes(gzip.compress((ROOT / "examples/figure3.json").read_bytes()))
    page.get_by_label("Choose a model file").set_input_files(packed)
    walk.settled()
    assert page.inner_text("#title") == "Mine.json.gz"
    page.get_by_role("button", name="Open…").click()
    broken = tmp_path / "broken.json"
    broken.write_text(
        '{"format": "lifagu/1",\n"variables": [{"name": "A"}],\n'
        '"factors": [{"name": "f", "args": ["B"]}]}'
    )
    page.get_by_label("Choose a model file").set_input_files(broken)
    page.get_by_role("alert").wait_for()
    assert "broken.json:3" in page.get_by_role("alert").inner_text()
    page.get_by_role("button", name="Close this message").click()
    assert page.get_by_role("alert").count() == 0
    page.get_by_label("Choose a model file").set_input_files(
        {"name": "x.exe", "mimeType": "", "buffer": b"x"}
    )
    assert "x.exe: the ending tells no format" in page.get_by_role("alert").inner_text()
    page.get_by_label("Choose a model file").set_input_files(
        {"name": "x.json", "mimeType": "", "buffer": b" " * (2**23 + 1)}
    )
    assert "more than 8 MB" in page.get_by_role("alert").inner_text()
    walk.was_refused(422)


def test_a_template_is_told_how_to_be_opened(walk):
    page, files = walk.page, walk.page.get_by_label("Choose a model file")
    model = {"format": "lifagu/1", "source": "sqlite:///m.db", "queries": []}
    for name, is_template in (("factory.json", True), ("broken.json", False)):
        if not is_template:
            model = {"format": "lifagu/1", "factors": [{"name": "f", "args": ["source"]}]}
        body = json.dumps(model).encode()
        files.set_input_files({"name": name, "mimeType": "", "buffer": body})
        page.get_by_role("alert").filter(has_text=name).wait_for()
        help_shown = page.locator("#upload-help").inner_text()
        assert ("lifagu serve factory.json --db" in help_shown) == is_template
        page.get_by_role("button", name="Close this message").click()
    walk.was_refused(422)


def test_names_are_text_whatever_they_are(walk, tmp_path):
    name = '<img src=x onerror="alert(1)">'
    model = {
        "format": "lifagu/1",
        "variables": [{"name": name}],
        "factors": [{"name": "<b>f", "args": [name], "table": [1, 3]}],
    }
    path = tmp_path / "names.json"
    path.write_text(json.dumps(model))
    walk.page.get_by_label("Choose a model file").set_input_files(path)
    page = walk.settled()
    walk.tab("Ask")
    page.locator(".answer").wait_for()
    assert page.locator(".answer h3").inner_text() == name
    assert page.locator("main img").count() == 0


def test_somebody_new_joins(walk):
    page = walk.open("An epidemic")
    page.get_by_role("button", name="Open…").click()
    page.get_by_role("button", name="An epidemic Figure 1 of the paper: two patients").click()
    walk.tab("Model")
    page.locator("#borrowed-summary", has_text="nothing to fill").wait_for()
    page.get_by_label("Name", exact=True).fill("eve")
    page.get_by_label("like", exact=True).fill("bo")
    page.locator("#add-likes option[value=bob]").wait_for(state="attached")
    page.get_by_label("like", exact=True).fill("bob")
    page.get_by_role("button", name="Add").click()
    page.locator("#borrowed-summary", has_text="3 of 3").wait_for()
    assert page.locator("#graph .node.variable").count() == 13
    page.get_by_label("Name", exact=True).fill("eve")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("alert").wait_for()
    assert "already" in page.get_by_role("alert").inner_text()
    walk.was_refused(422)
    page.get_by_label("Name", exact=True).fill("dan")  # who could not be added is not in the way
    page.get_by_role("button", name="Add").click()
    page.locator("#borrowed-summary", has_text="6 of 6").wait_for()
    page.get_by_role("button", name="Open…").click()
    page.get_by_role("button", name="Back").click()
    assert page.locator("#graph .node.variable").count() == 17


def test_everything_by_keyboard(walk):
    page = walk.page
    page.locator("#examples button").first.wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(3):
        page.keyboard.press("Tab")
    assert "Two wards" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    walk.settled()
    page.get_by_role("tab", name="Overview").focus()
    page.keyboard.press("End")
    page.locator("#graph [tabindex='0']").focus()
    before = page.evaluate("document.activeElement.dataset.node")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.node") != before
    page.locator("#graph [data-node=v0]").focus()
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.node") == "v0"
    page.keyboard.press(" ")
    page.keyboard.press("Enter")
    page.locator("#graph [data-node=v0].observed").wait_for()
    page.get_by_role("tab", name="Overview").focus()
    for name in TABS:  # from the last one, which is open
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.textContent") == name
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_light_and_dark_by_system_and_by_choice(examples, chromium):
    walk = Walk(chromium, examples.address, scheme="dark")
    page = walk.page
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.get_by_label("Light or dark").select_option("light")
    light = page.evaluate(paper)
    assert light != dark
    page.reload()
    assert page.evaluate(paper) == light
    page.get_by_label("Light or dark").select_option("")
    assert page.evaluate(paper) == dark
    walk.done()


def test_a_phone_shows_everything_without_scrolling_sideways(examples, chromium):
    walk = Walk(chromium, examples.address, PHONE)
    page = walk.page
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    page.locator(".card").first.wait_for()
    assert page.evaluate(sideways) == 0
    wrong = {"name": "figure.png", "mimeType": "", "buffer": b"x"}
    page.get_by_label("Choose a model file").set_input_files(wrong)
    assert page.get_by_role("alert").bounding_box()["width"] > 0.85 * PHONE["width"]
    walk.open()
    for name in TABS:
        walk.tab(name)
        page.locator(
            f"[role=tabpanel][aria-labelledby=tab-{PANELS.get(name, name.lower())}]"
        ).wait_for()
        assert page.evaluate(sideways) == 0, name
    small = page.evaluate(
        "[...document.querySelectorAll('button, select, input, summary')]"
        ".filter(e => e.checkVisibility())"
        ".map(e => [e.textContent, e.getBoundingClientRect().height])"
        ".filter(([, height]) => height < 18)"
    )
    assert small == []
    walk.done()


@pytest.mark.parametrize(
    ("size", "scheme"), [(LAPTOP, "light"), (LAPTOP, "dark"), (PHONE, "light")]
)
def test_accessibility(examples, chromium, size, scheme):
    walk = Walk(chromium, examples.address, size, scheme)
    walk.page.locator(".card").first.wait_for()
    walk.check("welcome")
    walk.open()
    walk.check("Overview")
    for name, waited in [("List", "#list table"), ("Ask", ".answer"), ("Model", ".record")]:
        walk.tab(name)
        walk.page.locator(waited).first.wait_for()
        walk.check(name, "#tools")  # beside it, all is as it was
    walk.page.locator("#graph [data-node=v0]").click()
    walk.check("dialog")
    walk.context.close()


def test_nodes_have_names_and_landmarks_are_there(walk):
    page = walk.open(tab="Model")
    tree = page.locator("body").aria_snapshot()
    for words in (
        "- banner",
        "- main",
        'tab "Model" [selected]',
        'button "variable Staffed"',
        'button "unknown factor r.p5',
    ):
        assert words in tree, words


def test_large_models_are_shown_lifted_and_stay_quick(walk, tmp_path):
    path = tmp_path / "large.json"
    path.write_text(
        (ROOT / "examples/smokers.json").read_text().replace('"Person": 4', '"Person": 100000')
    )
    walk.page.get_by_label("Choose a model file").set_input_files(path)
    walk.settled()
    page = walk.tab("Model")
    assert "too many to draw" in page.inner_text("#lifted-about")
    assert page.locator("#graph svg").count() == page.locator("#lifted svg").count() == 0
    page.get_by_role("button", name="Show", exact=True).click()
    page.locator("#lifted svg").wait_for()
    walk.tab("Ask")
    page.get_by_label("Observe", exact=True).fill("Smokes(1..300)")
    page.get_by_label("as", exact=True).fill("true")
    page.get_by_role("button", name="Set").click()
    page.get_by_role("button", name="Run it").click()
    page.locator(".answer").first.wait_for()
    whole = lifagu.read(path)
    name = page.locator(".answer").last.get_attribute("data-name")
    assert percents(page, name) == expected(whole, name, evidence={"Smokes(1..300)": "true"})


def test_large_graphs_show_what_was_borrowed_and_answers_by_group(walk, tmp_path):
    people = [f"Sick.{number}" for number in range(1500)]
    build = lifagu.FactorGraph.build().variable("Epid", kind="Epid").variables(people, kind="Sick")
    build = build.factors({f"f.{each}": [each, "Epid"] for each in people[10:]}, [4, 1, 1, 3])
    graph = build.factors({f"f.{each}": [each, "Epid"] for each in people[:10]}, None).graph()
    path = tmp_path / "many.json.gz"
    lifagu.write(graph, path)
    walk.page.get_by_label("Choose a model file").set_input_files(path)
    walk.settled()
    page = walk.tab("Model")
    assert "1,501 variables and 1,500 factors are too many to draw" in page.inner_text(
        "#lifted-about"
    )
    page.get_by_role("button", name="Show", exact=True).click()
    page.locator("#lifted .node").first.wait_for()
    assert page.locator("#lifted .node").count() == 3
    assert "10 of 10 unknown factors filled" in page.inner_text("#borrowed-summary")
    walk.tab("Ask")
    page.get_by_role("button", name="Run it").click()
    page.locator(".answer h3", has_text="and 1,499 more").wait_for()
    assert percents(page, "Sick.0") == expected(lifagu.transfer(graph), "Sick.0")


def test_long_work_shows_progress_and_can_be_cancelled(walk, tmp_path):
    path = tmp_path / "grid.json.gz"
    lifagu.write(grid(24), path)
    walk.page.get_by_label("Choose a model file").set_input_files(path)
    page = walk.settled()
    walk.tab("Ask")
    page.get_by_label("Variables to ask about").fill("x0")
    page.get_by_role("button", name="Run it").click()  # which takes minutes
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("alert").wait_for()
    assert page.get_by_role("alert").locator("p").inner_text() == "cancelled"
    assert page.locator("#busy").is_hidden()
    walk.was_refused(409)
    walk.tab("Model")  # by another process
    page.locator("#borrowed-summary", has_text="Every table is known").wait_for()


def test_two_users_see_their_own_models(examples, chromium):
    one, other = Walk(chromium, examples.address), Walk(chromium, examples.address)
    one.open("Two wards")
    other.open("Two factors alike")
    one.tab("Ask")
    one.page.locator(".answer").first.wait_for()
    assert one.page.locator(".answer").count() == 21
    assert other.page.locator("#graph .node").count() == 5
    for walk in (one, other):
        walk.done()


def test_a_server_that_was_given_a_model_shows_it_and_says_when_it_is_gone(chromium):
    with served("--read-only", str(ROOT / "examples/epidemic.json")) as own:
        walk = Walk(chromium, own.address)
        page = walk.settled()
        assert page.inner_text("#title") == "epidemic.json"
        assert "token" not in page.url
        page.get_by_role("button", name="Open…").click()
        assert (
            page.get_by_label("Choose a model file").count() == 0
            or page.locator("#uploading").is_hidden()
        )
        own.end()
        page.get_by_role("button", name="Two wards").click()
        page.get_by_role("alert").wait_for()
        assert "is lifagu serve still running?" in page.get_by_role("alert").inner_text()
        walk.context.close()
