"""What comes late, or is clicked while something else comes: what was wanted last is shown."""

import pytest

from support.page_walk import WHY_NOT, Walk

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "it is here")


@pytest.fixture
def walk(examples, chromium):
    walk = Walk(chromium, examples.address)
    yield walk
    walk.done()


@pytest.fixture
def at_work(factory, chromium):
    """A user of the factory's database."""
    walk = Walk(chromium, factory[0].address)
    walk.settled()
    yield walk
    walk.done()


def card_of(walk, who):
    walk.page.locator("#search").fill(who)
    walk.page.keyboard.press("Enter")
    walk.page.locator("#work[aria-busy=false] #card-title", has_text=who).wait_for()


def test_what_was_chosen_last_is_opened(walk):
    page = walk.page
    first = walk.hold("?example=wards")
    page.get_by_role("button", name="Two wards").click()
    walk.open("Two factors alike")
    with page.expect_response(lambda each: each.request.method == "DELETE") as closed:
        first.let_go()
    assert closed.value.ok
    walk.settled()
    assert page.inner_text("#title") == "Two factors alike"
    assert page.locator("#graph .node").count() == 5


def test_nothing_is_left_of_what_was_open_before(walk):
    page = walk.open(tab="Model")
    walk.tab("Ask")
    page.get_by_role("button", name="Open…").click()
    graph = walk.hold("/*/graph")
    page.get_by_role("button", name="Two factors alike").click()
    page.locator("#title", has_text="Two factors alike").wait_for()
    for left in ("#graph .node", "#lifted .node", ".record", ".answer"):
        assert page.locator(left).count() == 0, left
    graph.let_go()
    walk.settled()
    assert page.locator("#graph .node").count() == 5


def test_a_click_is_not_lost_when_the_list_is_replaced_under_it(at_work):
    at_work.page.clock.install()
    page = at_work.tab("List")
    ranked = at_work.hold("/*/ranked", '"containing":"M-1"')
    page.locator("#list-containing").fill("M-1")
    page.clock.run_for(1000)
    row = page.locator("#list tbody button").first
    who = row.inner_text()
    row.hover()
    page.mouse.down()
    ranked.let_go()
    page.clock.fast_forward(20_000)  # on a machine that is busy
    page.mouse.up()
    page.locator("#card-title", has_text=who).wait_for()


def test_what_was_released_outside_of_the_page_holds_nothing_back(at_work):
    page = at_work.tab("List")
    page.locator("#list tbody button").first.hover()
    page.mouse.down()
    page.locator("#tabs").dispatch_event("pointermove", {"buttons": 0})
    page.evaluate("document.querySelector('#list-unobserved').click()")
    page.locator("#list-note", has_text="of 200").wait_for()


def test_who_cannot_join_is_not_in_the_way_of_who_can(walk):
    page = walk.open("An epidemic Figure 1", "Model")
    graph = walk.hold("/*/graph")
    for name in ("alice", "eve"):  # alice is there already
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("like", exact=True).fill("bob")
        page.get_by_role("button", name="Add").click()
    graph.let_go()
    page.get_by_role("alert").wait_for()
    walk.settled()
    walk.was_refused(422)
    page.get_by_label("Name", exact=True).fill("dan")
    page.get_by_role("button", name="Add").click()
    page.locator("#borrowed-summary", has_text="3 of 3").wait_for()
    assert page.get_by_role("alert").count() == 0


def test_the_card_is_of_whom_was_chosen_last(at_work):
    page = at_work.page
    card_of(at_work, "M-200")
    page.get_by_title("What if Oil(M-200) were dark?").click()
    at_work.settled()
    usual = '"evidence":{},"combine":"average","engine":"auto","what":"M-11"'
    before = at_work.hold("/*/card", usual)
    page.locator("#search").fill("M-11")
    with page.expect_request(before.is_it):
        page.keyboard.press("Enter")
    page.locator("#search").fill("M-200")
    with page.expect_response(lambda each: each.url.endswith("/card")):
        page.keyboard.press("Enter")
    before.let_go()
    at_work.settled()
    assert page.inner_text("#card-title") == "M-200"
    assert page.get_by_role("button", name="as it was").count() == 1


def test_enter_twice_is_enter_once(at_work):
    page = at_work.page
    at_work.tab("Individual")
    page.get_by_label("Whom to show").fill("m-200")
    page.evaluate("for (const _ of [1, 2]) document.getElementById('looking-up').requestSubmit()")
    page.locator("#card-title", has_text="M-200").wait_for()
    at_work.settled()
    assert page.get_by_role("alert").count() == 0


def test_no_page_is_beyond_the_last(at_work):
    page = at_work.page
    at_work.tab("List")
    page.get_by_label("Only those of whom").uncheck()
    page.locator("#list-note", has_text="of 200").wait_for()
    page.evaluate("for (const _ of [1, 2, 3, 4, 5]) document.getElementById('list-on').click()")
    page.locator("#list-note", has_text="151 to 200 of 200").wait_for()
    at_work.tab("Ask")
    page.locator("#evidence > summary").click()
    page.locator("#evidence-rows tbody tr").nth(49).wait_for()
    page.evaluate(
        "for (let each = 0; each < 20; each++) document.getElementById('evidence-on').click()"
    )
    page.locator("#evidence-rows tbody tr").nth(43).wait_for()  # 694 = 13 * 50 + 44
    page.locator("#evidence-rows tbody tr").nth(44).wait_for(state="detached")
    name = page.locator("#evidence-rows tbody tr").first.get_attribute("data-name")
    choice = page.get_by_role("combobox", name=f"What if {name} were")
    choice.focus()
    choice.select_option("not observed")  # the row is gone, and the keyboard is still there
    page.locator("#supposed", has_text=f"{name} = not observed").wait_for()
    at_work.settled()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "What was observed"


def test_what_is_shown_again_is_new(at_work):
    page, lifted = at_work.page, []
    page.on("request", lambda each: lifted.append(each) if each.url.endswith("lifted") else None)
    at_work.tab("Model")
    page.get_by_role("button", name="Show", exact=True).click()
    at_work.settled()
    page.get_by_role("button", name="Hide", exact=True).click()
    page.get_by_role("button", name="Show", exact=True).click()  # nothing has changed
    page.get_by_role("button", name="Hide", exact=True).click()
    at_work.tab("Ask")
    page.get_by_label("Competing tables").select_option("best")
    at_work.settled()
    at_work.tab("Model")
    page.get_by_role("button", name="Show", exact=True).click()
    at_work.settled()
    assert len(lifted) == 2
