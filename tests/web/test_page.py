"""The page in a real browser, as people walk it: on laptop and phone, by mouse and keyboard."""

import gzip
import json
import re

import pytest

import lifagu
from lifagu.symmetry.colour import colour_rounds
from support.drawn import grid
from support.helpers import ROOT
from support.page_walk import LAPTOP, PHONE, WHY_NOT, Walk
from support.web_server import served

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "it is here")

WARDS = lifagu.read(ROOT / "examples/wards.json")
TABS = ("Overview", "Individual", "List", "Ask", "Holes", "Compare", "Colours", "Keep")
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
    page = walk.open("An epidemic, and eve", "Holes")
    assert page.locator("#graph .node.variable").count() == 13
    assert page.locator("#graph .node.factor").count() == 10
    assert page.locator("#graph .node.unknown").count() == 3
    assert page.locator("#graph .arrow").count() == 3
    assert page.title() == "An epidemic, and eve – lifagu"
    assert "3 of 3 unknown factors filled" in page.inner_text("#holes-summary")
    page.get_by_role("button", name="Larger").first.click()
    assert page.evaluate("document.querySelector('#graph svg').getBoundingClientRect().width") > 400


def test_colours_pass_round_by_round_forwards_and_back(walk):
    page = walk.open("Two factors alike")
    walk.tab("Colours")
    rounds = list(colour_rounds(lifagu.read(ROOT / "examples/figure3.json")))

    def shown():
        return [
            page.locator(f"#graph [data-node=v{each}] .sign").text_content() for each in range(3)
        ]

    page.get_by_role("button", name="To the start").click()
    assert page.inner_text("#round-title") == "Start"
    for number, each in enumerate(rounds):
        colours = each.variable_colours
        signs = shown()
        assert [[one == other for other in signs] for one in signs] == (
            colours[:, None] == colours
        ).tolist()
        if number + 1 < len(rounds):
            page.get_by_role("button", name="Forwards").click()
    assert "B no longer looks like A, C" not in page.inner_text("#round-words")
    assert page.get_by_role("button", name="Forwards").is_disabled()
    page.get_by_role("button", name="Back", exact=True).click()
    assert "B no longer looks like A, C" in page.inner_text("#round-words")
    assert shown() == ["1", "2", "1"]


def test_moving_theta_says_which_holes_fill_from_whom_and_why(walk):
    page = walk.open(tab="Holes")
    slider = page.get_by_role("slider")
    assert slider.count() == 0  # nobody has to agree there
    assert [
        page.locator(f"#holes .record.{each}").count()
        for each in ("transferred", "below_threshold")
    ] == [4, 0]
    assert page.get_by_role("radio", name="Auto").is_checked()
    page.get_by_role("radio", name="Share").check()
    slider.fill("0.6")
    page.locator("#holes-summary", has_text="2 of 4 unknown factors filled, 2 left").wait_for()
    record = page.locator(".record.below_threshold").first
    assert "less than the 0.6 asked for" in record.inner_text()
    assert "57.1" in record.inner_text()
    assert page.locator("#graph .arrow").count() == 2
    page.locator(".record.transferred", has_text="r.p9").hover()
    assert page.locator("#graph .lit").count() == 2  # the hole and its donor
    slider.focus()
    slider.press("End")
    page.locator("#holes-summary", has_text="1 of 4").wait_for()
    page.get_by_label("Published").check()
    page.locator("#holes-summary", has_text="0 of 4").wait_for()
    slider.press("Home")
    page.locator("#holes-summary", has_text="4 of 4").wait_for()
    page.get_by_label("k steps").check()
    page.locator(".record", has_text="known factors in such a place").first.wait_for()
    page.get_by_label("How many steps").select_option("2")
    page.locator(".record", has_text="cannot be told apart").first.wait_for()
    slider.fill("0.6")
    page.get_by_role("radio", name="Auto").check()
    page.locator("#holes-summary", has_text="4 of 4").wait_for()
    page.get_by_role("radio", name="Share").check()
    assert slider.input_value() == "0"


def test_a_hole_says_who_is_nearest_and_how_tables_are_used(walk):
    page = walk.open(tab="Holes")
    page.get_by_role("radio", name="Share").check()
    walk.settled()
    record = page.locator(".record", has_text="r.p9").first
    for each in ("r.p9", "r.p10"):  # both are asked for at once
        about = page.locator(f'.record [data-key="nearest {each}"]')
        about.locator("summary").click()
    told = str(lifagu.transfer(WARDS).explain("r.p9")).splitlines()[0]
    record.locator(".explanation", has_text=told).wait_for()
    assert "takes the table of" in record.inner_text()
    page.get_by_role("slider").press("ArrowRight")  # the list is replaced; what is open stays open
    page.locator("#theta-value", has_text="0.01").wait_for()
    walk.settled()
    assert page.locator(".record details[open]").count() == 2
    page.locator(".explanation:not(:empty)").nth(1).wait_for()
    assert told in record.inner_text()
    walk.tab("Ask")
    page.locator("#unknown").select_option("mean")
    page.get_by_role("tab", name="Holes").click()
    page.locator(".record", has_text="takes the mean of").first.wait_for()


def test_a_square_leads_to_its_reason(walk):
    page = walk.open()
    walk.tab("Keep")
    page.locator(f"#graph [data-node=f{WARDS.factor_names.number('r.p9')}] .shape").click()
    assert page.get_by_role("tab", name="Holes").get_attribute("aria-selected") == "true"
    assert "Answers sum over all cohorts" in page.locator(".record:focus").inner_text()


def test_the_lifted_model_lights_up_its_members_and_they_it(walk):
    page = walk.open()
    lifted = lifagu.lift(lifagu.transfer(WARDS))
    largest = max(
        range(len(lifted.relations)), key=lambda each: len(lifted.relations[each].names or ())
    )
    node = page.locator(f"#lifted [data-node=r{largest}]")
    node.hover()
    assert page.locator("#graph .lit").count() == 6
    page.mouse.move(5, 5)
    assert page.locator("#graph .lit").count() == 0
    page.keyboard.press("Tab")  # from here on the focus is a keyboard's
    node.focus()
    assert page.locator("#graph .lit").count() == 6
    page.locator("#graph [data-node=v1]").hover()
    assert page.locator("#lifted .lit").count() >= 1
    assert "the same 21 variables" in page.locator("#lifted-words").text_content()


def test_evidence_by_clicking_moves_the_bars(walk):
    page = walk.open()
    moved = lifagu.transfer(WARDS, by="auto")
    walk.tab("Ask")
    page.locator('.answer[data-name="Recovers.p9"]').wait_for()
    assert percents(page, "Recovers.p9") == expected(moved, "Recovers.p9")
    page.locator("#graph [data-node=v0]").click()
    page.get_by_role("dialog").get_by_role("button", name="false").click()
    page.locator('.answer.observed[data-name="Staffed"]').wait_for()
    evidence = {"Staffed": "false"}
    assert percents(page, "Recovers.p9") == expected(moved, "Recovers.p9", evidence=evidence)
    assert (
        page.locator("#graph [data-node=v0]").get_attribute("aria-label")
        == "variable Staffed, group 1, observed false"
    )
    page.locator('.answer[data-name="Severe.p9"] .value', has_text="true").click()
    page.locator('.answer.observed[data-name="Severe.p9"]').wait_for()
    evidence["Severe.p9"] = "true"
    assert percents(page, "Recovers.p9") == expected(moved, "Recovers.p9", evidence=evidence)
    page.get_by_role("button", name="Staffed = false").click()
    page.locator('.answer:not(.observed)[data-name="Staffed"]').wait_for()
    del evidence["Staffed"]
    assert percents(page, "Recovers.p9") == expected(moved, "Recovers.p9", evidence=evidence)
    page.get_by_label("Competing tables").select_option("bounds")
    page.locator(".limits:not(:empty)").first.wait_for()
    assert "between" in page.locator('.answer[data-name="Recovers.p10"]').inner_text()


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


WAYS = [
    {"by": "auto"},
    {"published": True},
    {},
    {"by": "profiles"},
    {"steps": 4},
    {"by": "cohorts"},
    {"by": "structure"},
]


def test_ways_to_fill_side_by_side(walk):
    page = walk.open()
    walk.tab("Compare")
    row = page.locator("#compared tr", has_text="Recovers.p9 = true")
    row.wait_for()
    shown = [float(re.sub(r"[^\d.]", "", each.inner_text())) for each in row.locator("td").all()]
    truths = [lifagu.query(lifagu.transfer(WARDS, **way), "Recovers.p9")["true"] for way in WAYS]
    assert shown == [pytest.approx(100 * each, abs=0.06) for each in truths]
    said = page.locator("#compared tr", has_text="r.p9").first.inner_text()
    assert "r.p1 57.1 % r.p6 66.7 % r.p6" in " ".join(said.split())
    assert said.count("the tables of all cohorts") == 2  # by the default, and by cohorts


def test_cohorts_are_summed_over_unless_something_else_is_chosen(walk):
    page = walk.open(tab="Holes")
    assert page.locator("#unknown").input_value() == "posterior"
    page.get_by_label("Profiles").check()
    page.locator("#holes:not(:has-text('likely')) .share", has_text="agree").first.wait_for()
    assert page.locator("#unknown").input_value() == "one"
    page.get_by_label("Cohorts").check()
    page.locator("#holes:not(:has-text('agree')) .share", has_text="likely").first.wait_for()
    page.locator("#holes .record", has_text="the tables of all cohorts").first.wait_for()
    assert page.locator("#unknown").input_value() == "posterior"


KEPT = [
    ("The completed model", ".json", b"{"),
    ("The lifted model", ".json", b"{"),
    ("The completed model", ".uai", b"MARKOV"),
    ("The graph", ".svg", b"<svg"),
    ("Who lends to whom", ".png", b"\x89PNG"),
    ("Its groups in colour", ".pdf", b"%PDF"),
]


def test_models_and_figures_are_kept(walk, tmp_path):
    page = walk.open()
    walk.tab("Keep")
    for what, ending, start in KEPT:
        with page.expect_download() as waiting:
            page.get_by_role("button", name=f"{what} as {ending}", exact=True).first.click()
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        assert path.suffix == ending, what
        assert path.read_bytes().startswith(start), what
        if ending == ".json":
            kept = lifagu.ground(lifagu.read(path))
            assert lifagu.log_partition(kept) == pytest.approx(
                lifagu.log_partition(lifagu.transfer(WARDS))
            )


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
    walk.tab("Holes")
    page.locator("#holes-summary", has_text="nothing to fill").wait_for()
    page.get_by_label("Name", exact=True).fill("eve")
    page.get_by_label("like", exact=True).fill("bo")
    page.locator("#add-likes option[value=bob]").wait_for(state="attached")
    page.get_by_label("like", exact=True).fill("bob")
    page.get_by_role("button", name="Add").click()
    page.locator("#holes-summary", has_text="3 of 3").wait_for()
    assert page.locator("#graph .node.variable").count() == 13
    page.get_by_label("Name", exact=True).fill("eve")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("alert").wait_for()
    assert "already" in page.get_by_role("alert").inner_text()
    walk.was_refused(422)
    page.get_by_label("Name", exact=True).fill("dan")  # who could not be added is not in the way
    page.get_by_role("button", name="Add").click()
    page.locator("#holes-summary", has_text="6 of 6").wait_for()
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
    for name in (*TABS[1:], TABS[0]):
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
    for name, waited in [
        ("List", "#list table"),
        ("Holes", ".record"),
        ("Colours", "#groups li"),
        ("Ask", ".answer"),
        ("Compare", "#compared table"),
        ("Keep", ".keep"),
    ]:
        walk.tab(name)
        walk.page.locator(waited).first.wait_for()
        walk.check(name, "#tools")  # beside it, all is as it was
    walk.page.locator("#graph [data-node=v0]").click()
    walk.check("dialog")
    walk.context.close()


def test_nodes_have_names_and_landmarks_are_there(walk):
    page = walk.open()
    tree = page.locator("body").aria_snapshot()
    for words in (
        "- banner",
        "- main",
        'tab "Overview" [selected]',
        'button "variable Staffed, group 1"',
        'button "unknown factor r.p5',
    ):
        assert words in tree, words


def test_large_models_are_shown_lifted_and_stay_quick(walk, tmp_path):
    path = tmp_path / "large.json"
    path.write_text(
        (ROOT / "examples/smokers.json").read_text().replace('"Person": 4', '"Person": 100000')
    )
    walk.page.get_by_label("Choose a model file").set_input_files(path)
    page = walk.settled()
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


def test_large_graphs_show_holes_colours_and_answers_by_group(walk, tmp_path):
    people = [f"Sick.{number}" for number in range(1500)]
    build = lifagu.FactorGraph.build().variable("Epid", kind="Epid").variables(people, kind="Sick")
    build = build.factors({f"f.{each}": [each, "Epid"] for each in people[10:]}, [4, 1, 1, 3])
    graph = build.factors({f"f.{each}": [each, "Epid"] for each in people[:10]}, None).graph()
    path = tmp_path / "many.json.gz"
    lifagu.write(graph, path)
    walk.page.get_by_label("Choose a model file").set_input_files(path)
    page = walk.settled()
    assert "1,501 variables and 1,500 factors are too many to draw" in page.inner_text(
        "#lifted-about"
    )
    page.get_by_role("button", name="Show", exact=True).click()
    page.locator("#lifted .node").first.wait_for()
    assert page.locator("#lifted .node").count() == 3
    walk.tab("Holes")
    assert "10 of 10 unknown factors filled" in page.inner_text("#holes-summary")
    walk.tab("Colours")
    page.locator("#groups li", has_text="1,500").first.wait_for()
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
    walk.tab("Colours")  # by another process
    page.locator("#groups li").first.wait_for()


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
