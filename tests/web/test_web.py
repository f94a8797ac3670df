"""The page's server: it answers as the library; who may ask, how much, and what is left."""

import asyncio
import gzip
import importlib.util
import json
import signal
import socket
from pathlib import Path

import pytest

import lifagu
from lifagu.errors import LifaguError
from lifagu.questions.planning import prepare
from lifagu.web.guard import Gate
from lifagu.web.inputs import Request
from lifagu.web.limits import Limits
from lifagu.web.model_process import PRELOADED
from lifagu.web.reply import json_reply
from lifagu.web.sessions import IDLE, Sessions
from lifagu.web.sources import EXAMPLES, ModelSource, example_source, read_source, upload_source
from lifagu.web.views import OPERATIONS
from lifagu.web.workbench import Workbench
from support.helpers import ROOT, run_cli
from support.web_server import Tap, served

EVE = {"add": [["eve", "alice"]]}


class Silent:
    def stage(self, text): ...

    def __call__(self, done, total): ...


def bench_of(path, folder, **settings) -> Workbench:
    return Workbench.opened(
        ModelSource("model", Path(path), **settings), Limits(), folder, Silent()
    )


def asked(bench, operation, **request):
    reply = OPERATIONS[operation](bench, request)
    assert reply.status == 200
    return json.loads(reply.body)


@pytest.fixture
def wards(tmp_path):
    return bench_of(ROOT / "examples/wards.json", tmp_path)


# ---- what is shown is what the library says


def test_what_is_probably_not_meant_so_stands_beside_answers(tmp_path):
    builder = lifagu.FactorGraph.build().variables(["A", "B"]).factor("f", ["A", "B"], [1, 2, 3, 4])
    lifagu.write(builder.factor("g", ["A", "B"], [1, 2, 3, 4]).graph(), tmp_path / "twice.json")
    (suspected,) = lifagu.open(tmp_path / "twice.json").suspicions
    notes = asked(bench_of(tmp_path / "twice.json", tmp_path), "ask")["notes"]
    assert notes == [f"Warning: {suspected}"]


def test_answers_are_those_of_the_library(wards):
    moved = lifagu.transfer(lifagu.read(ROOT / "examples/wards.json"), by="auto")
    evidence = {"Staffed": "true", "Severe.p1": "false"}
    for found in asked(wards, "ask", evidence=evidence)["answers"]:
        truth = lifagu.query(moved, found["name"], evidence=evidence)
        assert dict(zip(found["labels"], found["probabilities"], strict=True)) == pytest.approx(
            dict(truth.items())
        )
    best = asked(wards, "ask", combine="best", variables=["Recovers.p10"])["answers"][0]
    truth = lifagu.query(moved, "Recovers.p10", combine="best")
    assert best["probabilities"] == pytest.approx(truth.probabilities.tolist())
    assert best["rests_on_count"] == len(truth.rests_on)


def test_what_is_borrowed_is_what_the_library_says(wards):
    moved = lifagu.transfer(wards.came.model, by="auto")
    found = asked(wards, "transfers")
    assert found["filled"] == len(moved.transferred)
    reasons = {factor: each["reason"] for each in found["classes"] for factor in each["factors"]}
    assert reasons == {each.factor: each.reason for each in moved.record}
    donors = {each.factor: each.donor for each in moved.record if each.status == "transferred"}
    names = moved.original.factor_names
    assert {names[int(one[1:])]: names[int(other[1:])] for one, other in found["loans"]} == donors
    assert "the same 21 variables and the same 21 factors" in asked(wards, "lifted")["proof"]


def test_the_plan_is_known_before_anything_is_computed(wards):
    plan = asked(wards, "plan", variables=["Recovers.p10"])["plan"]
    moved = lifagu.transfer(wards.came.model, by="auto")
    assert plan == str(prepare(moved, [("Recovers.p10",)], combine="average"))
    assert asked(wards, "ask", variables=["Recovers.p10"])["plan"] == plan


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_can_be_walked_through(name, tmp_path):
    source = example_source(name)
    bench = Workbench.opened(source, Limits(), tmp_path, Silent())
    start = {
        "add": [list(pair) for pair in source.add],
        "evidence": asked(bench, "open")["evidence"],
    }
    for operation in ("graph", "transfers", "lifted", "plan", "ask"):
        assert asked(bench, operation, **start)
    assert asked(bench, "ask", engine="ground", **start)["answers"]


def test_large_relational_models_are_shown_as_they_are(tmp_path):
    path = tmp_path / "large.json"
    text = (ROOT / "examples/smokers.json").read_text()
    path.write_text(text.replace('"Person": 4', '"Person": 1000000'))
    bench = bench_of(path, tmp_path)
    assert asked(bench, "graph")["scene"] is None
    assert asked(bench, "lifted")["scene"]["nodes"]
    found = asked(bench, "ask", evidence={"Smokes(1..300)": "true"}, variables=["Smokes(301)"])
    whole = lifagu.query(lifagu.read(path), "Smokes(301)", evidence={"Smokes(1..300)": "true"})
    assert found["answers"][0]["probabilities"][1] == pytest.approx(whole["true"])
    assert asked(bench, "transfers")["total"] == 0
    with pytest.raises(lifagu.TooLargeError, match="it can be asked as it is"):
        OPERATIONS["ask"](bench, {"engine": "ground"})


def test_the_server_knows_the_operations_of_its_processes():
    from lifagu.web import app

    assert set(app.OPERATIONS) == set(OPERATIONS)


@pytest.mark.parametrize("name", PRELOADED)
def test_what_processes_need_is_there_to_be_imported_beforehand(name):
    assert importlib.util.find_spec(name) is not None


def test_numbers_that_json_lacks_are_null():
    assert json.loads(json_reply([float("inf"), {"a": float("nan")}, 1.5]).body) == [
        None,
        {"a": None},
        1.5,
    ]


# ---- what may be asked


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"theta": 0.5}, "no field theta"),
        ({"engine": ["auto"]}, "choose one of auto"),
        ({"combine": "all"}, "choose one of average, best"),
        ({"evidence": [1]}, "evidence must be an object"),
        ({"evidence": {"A": 3}}, "must be a label"),
        ({"variables": "A"}, "a list of names"),
        ({"variables": ["A"] * 1001}, "at most 1000"),
        ({"add": [["eve"]]}, "pairs"),
        ({"path": "/etc/passwd"}, "no field path"),
        ([], "a JSON object"),
    ],
)
def test_requests_are_checked(request_, message):
    with pytest.raises(LifaguError, match=message):
        Request.of(request_)


def test_errors_are_those_of_the_command_line(wards, capsys):
    for request, options in [
        ({"evidence": {"Staffd": "true"}}, ["--evidence", "Staffd=true"]),
        ({"evidence": {"Staffed": "maybe"}}, ["--evidence", "Staffed=maybe"]),
    ]:
        _, _, written = run_cli(
            capsys, "query", str(ROOT / "examples/wards.json"), "Severe.p10", *options
        )
        with pytest.raises(LifaguError) as raised:
            OPERATIONS["ask"](wards, {"variables": ["Severe.p10"], **request})
        assert written.strip() == f"error: {raised.value}"


@pytest.mark.parametrize(
    "ending", ["", ".exe", ".json/../../x", "../.json", ".parquet", ".o3prm", ".json\0", ".JSON"]
)
def test_endings_that_are_no_models(ending, tmp_path):
    with pytest.raises(LifaguError, match="tells no format"):
        upload_source(tmp_path, "upload", ending)


def test_packed_uploads_are_bounded_and_checked(tmp_path):
    limits = Limits(upload=100_000)
    source = upload_source(tmp_path, "upload", ".json.gz")
    for body, message in [
        (gzip.compress(b" " * 10**7, mtime=0), "more than 97.7K when unpacked"),
        (b"not packed", "not compressed by gzip"),
        (gzip.compress(b"{}" * 4000, mtime=0)[:20], "ends too early"),
        (gzip.compress(b"{", mtime=0), r"^upload\.json"),
    ]:
        source.path.write_bytes(body)
        with pytest.raises(LifaguError, match=message):
            read_source(source, limits)
    source.path.write_bytes(gzip.compress((ROOT / "examples/figure3.json").read_bytes()))
    assert read_source(source, limits).model == lifagu.read(ROOT / "examples/figure3.json")


def test_the_gate():
    gate = Gate("127.0.0.1", 8350, open=False)
    same = {
        "host": "localhost:8350",
        "origin": "http://localhost:8350",
        "sec-fetch-site": "same-origin",
    }
    assert gate.refusal("POST", same) is None
    assert gate.refusal("GET", {"host": "evil.example"}).status == 421
    assert gate.refusal("GET", {"host": "127.0.0.1:8351"}).status == 421
    assert gate.refusal("GET", {}).status == 421
    assert gate.refusal("POST", {**same, "origin": "http://evil.example"}).status == 403
    assert gate.refusal("POST", {**same, "origin": "null"}).status == 403
    assert gate.refusal("DELETE", {**same, "sec-fetch-site": "cross-site"}).status == 403
    fetched = {"host": "localhost:8350", "sec-fetch-site": "cross-site"}
    assert gate.refusal("GET", {**fetched, "sec-fetch-dest": "image"}).status == 403
    assert gate.refusal("GET", {**fetched, "sec-fetch-dest": "iframe"}).status == 403
    assert gate.refusal("GET", {**fetched, "sec-fetch-dest": "document"}) is None  # a link
    assert gate.refusal("POST", {**fetched, "sec-fetch-dest": "document"}).status == 403  # a form
    behind = {"host": "lifagu.example", "origin": "https://lifagu.example"}  # a proxy that encrypts
    assert Gate("0.0.0.0", 8350, open=True).refusal("POST", behind) is None
    assert Gate("::1", 8350, open=False).refusal("GET", {"host": "[::1]:8350"}) is None


def test_idle_sessions_and_too_many_are_forgotten_with_all_they_had(tmp_path, monkeypatch):
    async def walk():
        sessions = Sessions(tmp_path, Limits(), at_once=1)
        name = sessions.new()
        session = sessions.find(name)
        identity, room = sessions.room_for()
        sessions.open(session, identity, room, upload_source(room.folder, "upload", ".json"))
        sessions.forget_idle()
        assert sessions.find(name) is session
        session.used -= 2 * IDLE
        sessions.forget_idle()
        assert sessions.find(name) is None
        assert list(tmp_path.iterdir()) == []
        monkeypatch.setattr("lifagu.web.sessions.MOST_SESSIONS", 3)
        names = [sessions.new() for _ in range(5)]
        assert [sessions.find(each) is not None for each in names] == [
            False,
            False,
            True,
            True,
            True,
        ]
        sessions.close()

    asyncio.run(walk())


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with served("--time-limit", "20", folder=str(folder)) as running:
        yield running
        status, written = running.end()
        assert (status, "Traceback" in written) == (0, False), written
    assert list(folder.glob("lifagu-serve-*")) == []  # nothing is kept


def test_replies_carry_the_headers_that_keep_browsers_safe(server):
    client = server.client()
    for path in ("/", "/static/main.js", "/api/start", "/nothing", "/api/models/x/y"):
        headers = client.send("GET", path).headers
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in headers
    cookie = server.client().send("GET", server.client().entrance).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie


def test_nothing_is_fetched_from_outside():
    for path in (ROOT / "src/lifagu/web/static").iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text, path
        assert "https:" not in text, path
        assert "innerHTML" not in text, path
        assert "eval(" not in text, path


@pytest.fixture
def tap(tmp_path):
    return Tap(tmp_path)


@pytest.fixture
def waiting(tap):
    """A server whose given model takes years to open, until a test lets it."""
    with served(str(tap.template)) as running:
        tap.shut()
        yield running


def test_two_users_do_not_see_each_other(server):
    one, other = server.client().visit(), server.client().visit()
    assert one.cookie != other.cookie
    one.open("example=wards")
    other.open("example=figure3")
    assert one.ask("open").json["summary"] != other.ask("open").json["summary"]
    for operation in ("open", "graph", "ask"):
        reply = other.send("POST", f"/api/models/{one.model}/{operation}", b"{}")
        assert (reply.status, reply.json["error"]) == (
            404,
            "this model is not open (any more); open it again",
        )
    assert other.send("DELETE", f"/api/models/{one.model}").status == 404


def test_two_users_do_not_see_each_others_work(waiting):
    one, other = waiting.client().visit(), waiting.client().visit()
    job = one.send("POST", "/api/models?given=yes")
    assert job.status == 202
    assert other.send("GET", f"/api/jobs/{job.json['job']}").status == 404
    assert other.send("DELETE", f"/api/jobs/{job.json['job']}").status == 404
    assert one.send("DELETE", f"/api/jobs/{job.json['job']}").status == 204
    assert one.finished(job).status == 409


def test_a_session_is_needed(server):
    stranger = server.client()
    for method, path in [
        ("GET", "/api/start"),
        ("POST", "/api/models?example=wards"),
        ("GET", "/api/jobs/x"),
    ]:
        assert stranger.send(method, path).status == 401
        assert stranger.send(method, path, cookie=f"lifagu-{server.port}=guessed").status == 401


def test_uploads_are_read_and_errors_name_no_path(server):
    client = server.client().visit()
    assert (
        client.open("ending=.json", (ROOT / "examples/epidemic.json").read_bytes()).json["facts"][
            "variables"
        ]
        == 9
    )
    assert client.ask("ask", variables=["Epid"]).json["answers"][0]["name"] == "Epid"
    assert (
        client.open("ending=.blog", (ROOT / "examples/smokers.blog").read_bytes()).json["kind"]
        == "relational"
    )
    broken = client.open("ending=.json", b'{"format": "lifagu/1",\n "factors": [{"name": "f"}]}')
    assert broken.status == 422
    assert broken.json["error"].startswith("upload.json")
    assert "/" not in broken.json["error"].replace("lifagu/1", "")


def test_remedies_are_in_the_words_of_the_page(server):
    client = server.client().visit()
    client.open("example=wards")
    reply = client.ask("ask", variables=["Severe"])
    assert reply.status == 422
    assert reply.json["error"].endswith("; name one of its variables")


def test_an_upload_leads_to_no_other_file(server):
    client = server.client().visit()
    sourced = {"format": "lifagu/1", "source": "/etc/passwd", "variables": [], "factors": []}
    reply = client.open("ending=.json", json.dumps(sourced).encode())
    assert "root:" not in reply.body.decode()
    sql = {"format": "lifagu/1", "source": {"duckdb": "/etc/passwd"}, "variables": "SELECT 1"}
    assert client.open("ending=.json", json.dumps(sql).encode()).status == 422


def large_model(count: int) -> bytes:
    variables = ",".join(f'{{"name": "x{each}"}}' for each in range(count))
    factors = ",".join(
        f'{{"name": "f{each}", "args": ["x{each}"], "table": [1, {each + 1}]}}'
        for each in range(count)
    )
    return f'{{"format": "lifagu/1", "variables": [{variables}], "factors": [{factors}]}}'.encode()


def test_long_work_shows_progress_can_be_cancelled_and_begun_again(waiting, tap):
    client = waiting.client().visit()
    started = client.send("POST", "/api/models?given=yes")
    client.model = started.headers["x-lifagu-model"]
    job, told = f"/api/jobs/{started.json['job']}", started
    while told.json["progress"]["stage"] != "reading the model":  # it waits for a place before
        told = client.send("GET", job)
    assert client.send("DELETE", job).status == 204
    assert client.finished(started).json["error"] == "cancelled"
    tap.open()
    assert client.ask("open").json["facts"]["variables"] == 1


def test_only_a_few_models_stay_open(server):
    client = server.client().visit()
    client.open("example=figure3")
    first = client.model
    for _ in range(4):
        client.open("example=figure3")
    assert client.ask("open").status == 200
    client.model = first
    assert client.ask("open").status == 404


def test_limits_of_time_memory_and_size(tap):
    with served(str(tap.template), "--time-limit", "5", "--upload-limit", "1M") as running:
        tap.shut()
        client = running.client().visit()
        reply = client.open("given=yes")
        assert reply.status == 422
        assert "ended after 5 seconds" in reply.json["error"]
        assert client.open("ending=.json", b" " * (2 * 2**20)).status == 413
        assert running.client(client.cookie).open("example=figure3").status == 200
    with served("--memory-limit", "50M") as running:
        reply = running.client().visit().open("ending=.json", large_model(200_000))
        assert reply.status == 422
        assert (
            "but the limit is 50 MiB in all; start lifagu serve with a higher"
            in reply.json["error"]
        )
        assert reply.json["exit_status"] == 4


def test_the_page_opens_by_the_printed_address_and_says_where_to_find_it():
    with served("--read-only", str(ROOT / "examples/epidemic.json")) as running:
        token = running.address.rpartition("token=")[2]
        assert len(token) >= 40
        for wrong in (
            "/",
            "/?token=",
            "/?token=wrong",
            f"/?token={token[:-1]}",
            f"/?token={token}x",
            "/?token=%00",
        ):
            reply = running.client().send("GET", wrong)
            assert reply.status == 401
            assert "set-cookie" not in reply.headers
            assert "Look into the terminal" in reply.body.decode()
            assert token not in reply.body.decode()
        client = running.client()
        entered = client.send("GET", f"/?token={token}")
        assert (entered.status, entered.headers["location"]) == (303, "/")
        assert client.send("GET", "/").status == 200
        assert client.open("given=yes").json["facts"]["variables"] == 9
        refused = client.open("ending=.json", b"{}")
        assert (refused.status, refused.json["error"]) == (
            403,
            "this server shows its own models only (--read-only)",
        )
        # a browser whose session is over, or that was idle for long, comes in again by itself
        again = running.client(client.cookie.partition(".")[0] + ".forgotten")
        over = again.send("GET", "/api/start")
        assert (over.status, "load the page again" in over.json["error"]) == (401, True)
        assert again.send("GET", "/").status == 200
        assert again.send("GET", "/api/start").status == 200
        # the name of a session alone does not
        name = client.cookie.replace(token, "")
        assert running.client(name).send("GET", "/").status == 401


# ---- beginning and ending


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_whatever_is_under_way(how, tmp_path, tap):
    with served(str(tap.template), folder=str(tmp_path)) as running:
        tap.shut()
        client = running.client().visit()
        client.open("ending=.json", b"{}")
        assert any(tmp_path.glob("lifagu-serve-*/*/upload.json"))
        assert client.send("POST", "/api/models?given=yes").status == 202
        status, written = running.end(how)
    assert (status, written) == (0, "Ctrl-C ends it; nothing is kept then\nended\n")
    assert list(tmp_path.glob("lifagu-serve-*")) == []


def test_what_cannot_be_served_is_said_in_one_line(capsys, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"format": "lifagu/1", "variables": 3}')
    _, _, checked = run_cli(capsys, "check", broken)
    assert run_cli(capsys, "serve", broken)[::2] == (2, checked)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        status, _, written = run_cli(capsys, "serve", "--port", port)
    assert status == 2
    assert written.startswith(
        f"error: cannot listen on 127.0.0.1, port {port}: Address already in use; choose another"
    )
    for arguments, message in [
        (("nowhere.json",), "error: nowhere.json: there is no such file or folder"),
        (("--host", "no such host"), "error: cannot listen on no such host"),
        (("--host", "203.0.113.1"), "error: cannot listen on 203.0.113.1"),
        (("--port", "70000"), "is not a port between 0 and 65535"),
    ]:
        status, _, written = run_cli(capsys, "serve", *arguments)
        assert status == 2
        assert message in written
        assert written.count("\n") == 1
