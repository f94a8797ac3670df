"""A real database on the page, walked in a real browser: a factory, a hospital, hostile names."""

import csv
import json
import re
import sqlite3

import pytest

from support.page_databases import FACTORY, make_patients
from support.page_walk import LAPTOP, PHONE, WHY_NOT, Walk
from support.web_server import served

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "it is here")

SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
HOSTILE = (
    '<img src=x onerror="document.title=1">',
    "'; DROP TABLE m; --",
    "\u202egnorw\u202c",
    "W" * 300,
    "💥 ` ${x} \\",
    " ",
)
ENDLESS = "OilAtTheLastVisit" * 4


def walked(chromium, server, size=LAPTOP, scheme="light"):
    walk = Walk(chromium, server.address, size, scheme)
    walk.settled()
    return walk


def predicted(page, variable):
    """label → (percent, move) on the open card."""
    values = page.locator(f'#card .expected[data-variable="{variable}"] .value')
    return {
        each.locator(".label").inner_text(): (
            float(re.sub(r"[^\d.]", "", each.locator(".figure").inner_text())),
            each.locator(".moved").inner_text().replace("−", "-"),
        )
        for each in values.all()
    }


def settle_card(page):
    page.locator("#work[aria-busy=false] #card-title").wait_for()


def test_from_the_overview_to_a_list_to_a_card(factory, chromium, tmp_path):
    server, case = factory
    walk = walked(chromium, server)
    page = walk.page
    assert page.locator("#graph svg").count() == page.locator("#lifted svg").count() == 0
    assert "694 observed, 106 to be predicted" in page.inner_text("#overview-summary")
    page.locator("#judgement").wait_for()
    assert page.inner_text("#judgement") == f"In short: {case.validate().judgement()}."
    page.locator("#overview-relations").get_by_role("button", name="Failed").click()
    page.locator("#list tbody tr").first.wait_for()
    best = case.ask_all("Failed", unobserved=True, top=2)
    heads = page.locator("#list thead th").all_inner_texts()
    assert heads == ["Rank", "Who", "P(yes)", "Likeliest"]  # nothing is to be noted of anybody
    rows = page.locator("#list tbody tr")
    assert [rows.nth(each).get_attribute("data-name") for each in range(2)] == list(best)
    page.get_by_label("Only where it was observed that").select_option("Oil = dark")
    walk.settled()
    page.get_by_label("Only names with").first.fill("who")
    page.locator("#list-note", has_text="Nobody fits these filters.").wait_for()
    assert page.locator("#list table").count() == 0
    page.get_by_label("Only names with").first.fill("")
    rows.first.wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download as CSV").click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    with path.open(newline="") as file:
        kept = {row["machine"] for row in csv.DictReader(file)}
    assert kept
    assert all(case.own_evidence[f"Oil({each})"] == "dark" for each in kept)
    who = rows.first.get_by_role("button").inner_text()
    rows.first.get_by_role("button").click()
    settle_card(page)
    assert page.inner_text("#card-title") == who
    walk.done()


def test_what_if_by_clicking_and_scenarios_side_by_side(factory, chromium):
    server, case = factory
    walk = walked(chromium, server)
    page = walk.page
    page.keyboard.press("/")
    page.keyboard.type("m-20")
    page.locator("#search-found [role=option]").nth(1).wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    settle_card(page)
    assert page.inner_text("#card-title") == "M-200"
    before = case.ask("Failed(M-200)")["yes"]
    assert predicted(page, "Failed(M-200)")["yes"] == (pytest.approx(100 * before, abs=0.06), "")
    page.locator("#around svg").wait_for()
    assert (
        page.evaluate("(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(around)")
        == 0
    )
    page.get_by_title("What if Oil(M-200) were dark?").click()
    page.locator("#supposed", has_text="Oil(M-200) = dark").wait_for()
    settle_card(page)
    page.locator(".moved:not(:empty)").first.wait_for()
    after = case.observe({"Oil(M-200)": "dark"}).ask("Failed(M-200)")["yes"]
    shown, moved = predicted(page, "Failed(M-200)")["yes"]
    assert shown == pytest.approx(100 * after, abs=0.06)
    assert float(moved) == pytest.approx(100 * (after - before), abs=0.06)
    page.get_by_role("button", name="Keep as a scenario").click()
    page.get_by_role("button", name="Clear", exact=True).click()
    settle_card(page)
    page.get_by_role("button", name="what if unknown?").first.click()
    page.locator("#supposed", has_text="Age(M-200) = not observed").wait_for()
    settle_card(page)
    page.locator('#card .expected[data-variable="Age(M-200)"]').wait_for()
    page.get_by_role("button", name="Keep as a scenario").press("Enter")
    page.locator("button:focus", has_text="Kept: compare scenarios").press("Enter")
    page.locator("#scenarios-told tr", has_text="Age(M-200) = over 10").wait_for()  # as on the card
    heads = page.locator("#scenarios-told th[scope=col]").all_inner_texts()
    assert heads == ["as it is", "Oil(M-200) = dark", "Age(M-200) = not observed"]
    page.get_by_label("Variables to ask about").fill("Failed(M-200)")
    page.get_by_role("button", name="Age(M-200) = not observed leave").click()  # told anew
    page.locator("#scenarios-told thead th:nth-child(4)").wait_for(state="detached")
    cells = page.locator("#scenarios-told tbody tr").nth(1).locator("td").all_inner_texts()
    assert f"{100 * before:.1f}" in cells[0]
    assert f"{100 * after:.1f}" in cells[1]
    walk.done()


def test_enter_takes_what_was_typed_however_fast(factory, chromium):
    server, _ = factory
    walk = walked(chromium, server)
    page, asked = walk.page, []
    page.on("request", lambda each: asked.append(each.url.rpartition("/")[2]))
    page.keyboard.press("/")
    page.keyboard.type("m-2")
    page.locator("#search-found [role=option]", has_text="M-2").first.wait_for()
    page.keyboard.type("00")
    page.keyboard.press("Enter")
    settle_card(page)
    assert page.inner_text("#card-title") == "M-200"
    assert (asked.count("card"), asked.count("around")) == (1, 1)
    walk.tab("List")
    walk.tab("Individual")  # nothing has changed, so nothing is asked
    assert asked.count("card") == 1
    assert asked.count("overview") == 0
    page.get_by_title("What if Oil(M-200) were dark?").click()
    page.get_by_role("button", name="Clear", exact=True).click()  # before it is answered
    settle_card(page)
    assert page.get_by_role("button", name="as it was").count() == 0
    walk.done()


def test_what_is_open_stays_open_and_mistakes_change_nothing(factory, chromium):
    server, _ = factory
    walk = walked(chromium, server)
    page = walk.page
    walk.tab("Individual")
    page.get_by_label("Whom to show").fill("M-200")
    page.keyboard.press("Enter")
    settle_card(page)
    reason = page.locator('[data-key="why Failed(M-200)"]')
    reason.locator("summary").click()
    page.get_by_title("What if Oil(M-200) were dark?").focus()
    page.keyboard.press("Enter")
    page.locator(".moved:not(:empty)").first.wait_for()
    assert reason.get_attribute("open") is not None
    assert page.locator(":focus").inner_text() == "as it was"
    page.get_by_label("Whom to show").fill("nobody")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    assert "no individual 'nobody'" in page.get_by_role("alert").inner_text()
    page.get_by_role("button", name="as it was").click()  # it is still the card of M-200
    page.locator(".moved:not(:empty)").first.wait_for(state="detached")
    page.get_by_role("alert").wait_for(state="detached")
    walk.tab("Ask")
    page.get_by_label("Observe", exact=True).fill("Oil(M-200)")
    page.get_by_label("as", exact=True).fill("red")
    page.get_by_role("button", name="Set").click()
    page.get_by_role("alert").wait_for()
    assert "its range is clear, dark" in page.get_by_role("alert").inner_text()
    assert page.locator("#supposed").is_hidden()
    page.get_by_label("as", exact=True).fill("dark")
    page.get_by_role("button", name="Set").click()
    page.locator("#supposed", has_text="Oil(M-200) = dark").wait_for()
    page.get_by_role("alert").wait_for(state="detached")
    walk.was_refused(422)
    walk.done()


def test_scenarios_that_begin_alike_are_kept_apart(factory, chromium):
    server, _ = factory
    walk = walked(chromium, server)
    page = walk.page
    page.locator("#search").fill("M-200")
    page.keyboard.press("Enter")
    settle_card(page)
    for what in ("Oil(M-200) were dark", "Failed(M-200) were yes", "Vibration(M-200) were up to"):
        page.get_by_title(f"What if {what}").click()
        settle_card(page)
    keep = page.get_by_role("button", name="Keep as a scenario")
    keep.click()
    page.locator('[data-variable="Vibration(M-200)"]').get_by_role("button").click()
    page.get_by_title("What if Vibration(M-200) were over").click()
    settle_card(page)
    keep.click()
    walk.tab("Ask")
    kept = page.locator("#scenarios button").all_inner_texts()
    assert [each.split(" ×")[0] for each in kept] == [
        "Oil(M-200) = dark and 2 more",
        "Oil(M-200) = dark and 2 more (2)",
    ]
    walk.done()


def test_single_variables_are_asked_about_and_words_stay_whole(hospital, chromium):
    walk = walked(chromium, hospital, PHONE)
    page = walk.page
    page.locator("#overview-relations").get_by_role("button", name="Epid").click()
    page.locator('.answer[data-name="Epid"]').wait_for()
    assert page.get_by_role("tab", name="Ask").get_attribute("aria-selected") == "true"
    walk.tab("List")
    page.locator("#list tbody tr").first.wait_for()
    lines = "(each) => each.map((one) => one.getClientRects().length)"
    assert page.locator("#list th .link").evaluate_all(lines) == [1] * 50
    assert "Each rests on" in page.inner_text("#list-note")
    walk.done()


def test_the_lifted_model_is_large_enough_to_be_read(factory, chromium):
    walk = walked(chromium, factory[0])
    page = walk.tab("Model")
    page.get_by_role("button", name="Show", exact=True).click()
    page.locator("#lifted svg").wait_for()
    size = "(svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"
    assert page.locator("#lifted svg").evaluate(size) >= 0.849  # lengths on a page are rounded
    walk.done()


def test_evidence_is_a_table_that_is_searched_and_supposed_otherwise(factory, chromium):
    server, case = factory
    walk = walked(chromium, server)
    page = walk.page
    walk.tab("Ask")
    assert page.evaluate("document.querySelector('#planned').getBoundingClientRect().top") < 2000
    page.locator("#evidence > summary").click()
    page.locator("#evidence-rows tbody tr").first.wait_for()
    assert page.locator("#evidence-rows tbody tr").count() == 50
    page.locator("#evidence-containing").fill("Failed(M-1")
    page.locator("#evidence-count", has_text="of 694").wait_for()
    row = page.locator("#evidence-rows tr", has_text="Failed(M-1)")
    row.wait_for()
    name, value = "Failed(M-1)", case.own_evidence["Failed(M-1)"]
    assert row.locator("td").first.inner_text() == value
    row.get_by_role("combobox").select_option("not observed")
    page.locator("#supposed", has_text=f"{name} = not observed").wait_for()
    page.locator("#evidence-rows tr", has_text=name).wait_for(state="detached")
    walk.done()


def test_what_is_around_an_individual_opens(hospital, chromium):
    walk = walked(chromium, hospital)
    page = walk.page
    page.locator("#search").fill("eve")
    page.keyboard.press("Enter")
    settle_card(page)
    assert page.locator("#card").get_by_text("Filled tables").count() == 1
    page.locator("#around .node").first.wait_for()
    nodes = page.locator("#around .node").count()
    hub = page.locator("#around [aria-label*='Epid'][aria-label*='more factors']")
    hub.click()
    page.locator("#around .node").nth(nodes).wait_for()
    own, seen = (
        page.locator("#around .central").first.bounding_box(),
        page.locator("#around").bounding_box(),
    )
    assert abs(own["x"] + own["width"] / 2 - seen["x"] - seen["width"] / 2) < seen["width"] / 2
    assert abs(own["y"] - seen["y"] - seen["height"] / 2) < seen["height"] / 2
    neighbour = page.locator("#around .node.variable[aria-label*='Sick']:not(.central)").first
    other = re.search(r"Sick\((.+?)\)", neighbour.get_attribute("aria-label"))[1]
    neighbour.focus()
    page.keyboard.press("Enter")
    page.locator("#card-title", has_text=other).wait_for()
    walk.done()


@pytest.mark.parametrize(("size", "scheme"), [(LAPTOP, "dark"), (PHONE, "light")])
def test_the_desk_is_for_everybody(hospital, chromium, size, scheme):
    walk = walked(chromium, hospital, size, scheme)
    page = walk.page

    def check(where, part="#tools"):
        walk.check(where, part)
        assert page.evaluate(SIDEWAYS) == 0, where

    page.locator("#judgement").wait_for()
    check("overview", None)
    page.locator("#search").fill("eve")
    page.locator("#search-found [role=option]").first.wait_for()
    check("search", "header")
    page.keyboard.press("Enter")
    settle_card(page)
    page.locator("#card button.value").first.click()
    page.locator("#supposed strong").wait_for()
    settle_card(page)
    check("card")
    walk.tab("List")
    page.locator("#list table").wait_for()
    check("list")
    walk.tab("Ask")
    page.locator("#evidence > summary").click()
    page.locator("#evidence-rows table").wait_for()
    check("evidence")
    walk.tab("Model")
    page.locator(".record").first.wait_for()
    check("model")
    tree = page.locator("body").aria_snapshot()
    for words in (
        'combobox "Search individuals',
        'region "What is supposed"',
        'tab "Model" [selected]',
    ):
        assert words in tree, words
    walk.done()


def test_whatever_individuals_are_called_stays_text(chromium, tmp_path):
    with sqlite3.connect(tmp_path / "factory.db") as base:
        base.execute(
            'CREATE TABLE "Machine list" ("Serial no." TEXT, hall TEXT, "Age [a]" REAL, '
            'vibration REAL, "Oil?" TEXT, failed TEXT)'
        )
        rows = [
            (
                name,
                HOSTILE[each % 3],
                each % 12,
                each % 7 / 2,
                "dark" if each % 3 else "clear",
                "yes" if each % 4 else "no",
            )
            for each, name in enumerate([*HOSTILE, *(f"m{n}" for n in range(60))])
        ]
        base.executemany('INSERT INTO "Machine list" VALUES (?,?,?,?,?,?)', rows)
        base.execute('UPDATE "Machine list" SET failed = NULL WHERE "Serial no." NOT LIKE \'m%\'')
    base.close()
    template = tmp_path / "factory.json"
    written = json.dumps({**FACTORY, "queries": ["Failed", "Oil"]})
    template.write_text(re.sub(r'"Oil(?=["(])', f'"{ENDLESS}', written))
    with served(str(template)) as server:
        walk = walked(chromium, server, PHONE)
        page = walk.page
        page.locator("#judgement", has_text=ENDLESS).wait_for()
        page.locator("#search").fill("<img")
        page.locator("#search-found [role=option]").first.wait_for()
        page.keyboard.press("Enter")
        settle_card(page)
        assert page.locator("#card-title").inner_text() == HOSTILE[0]
        walk.tab("List")
        page.locator("#list tbody tr").first.wait_for()
        shown = page.locator("#list tbody th button").all_inner_texts()
        assert {each.strip() for each in shown} == {each.strip() for each in HOSTILE}
        for name in ("Overview", "Individual", "List", "Ask", "Model"):
            walk.tab(name)
            assert page.evaluate(SIDEWAYS) == 0, name
        assert page.locator("main img").count() == 0
        assert "factory.json" in page.title()
        walk.done()


@pytest.mark.full
def test_a_million_patients_ship_no_more_than_is_shown(chromium, tmp_path):
    template = make_patients(tmp_path)
    with served(str(template), "--memory-limit", "12G", "--time-limit", "600") as server:
        walk = Walk(chromium, server.address)
        walk.context.set_default_timeout(600_000)
        page, shipped = walk.page, []
        page.on("response", lambda each: shipped.append(int(each.headers.get("content-length", 0))))
        page.locator("#overview-relations tbody").wait_for(state="attached")
        walk.settled()
        page.locator("#search").fill("p99999")
        page.locator("#search-found [role=option]", has_text="p999990").wait_for()
        page.keyboard.press("Enter")
        settle_card(page)
        assert page.inner_text("#card-title") == "p99999"
        page.locator("#card button.value").first.click()
        page.locator("#supposed strong").wait_for()
        settle_card(page)
        walk.tab("List")
        page.locator("#list tbody tr").first.wait_for()
        assert "of 999,999 individuals" in page.inner_text("#list-note")
        page.get_by_label("Only where it was observed that").select_option("Test = positive")
        page.locator("#list-note:not(:has-text('of 999,999'))").wait_for()
        walk.tab("Ask")
        page.locator("#evidence > summary").click()
        page.locator("#evidence-rows tbody tr").first.wait_for()
        walk.tab("Model")
        assert sum(shipped) < 300_000
        walk.done()
