"""Sessions beside one another: nobody at work is pushed out, and nobody takes everything."""

import asyncio

import pytest

import lifagu
from lifagu.web.limits import Limits
from lifagu.web.model_process import CANCELLED
from lifagu.web.sessions import AT_WORK, Sessions
from lifagu.web.sources import ModelSource, upload_source
from support.helpers import ROOT

SECONDS = 30  # after which a test gives up


def test_whoever_works_is_not_pushed_out_by_new_sessions(tmp_path, monkeypatch):
    async def walk():
        monkeypatch.setattr("lifagu.web.sessions.MOST_SESSIONS", 3)
        sessions = Sessions(tmp_path, Limits(), at_once=1)

        def begin():
            name = sessions.new()
            identity, room = sessions.room_for()
            source = upload_source(room.folder, "upload", ".json")
            sessions.open(sessions.find(name), identity, room, source)
            return name

        working, uploading = begin(), sessions.new()
        sessions.find(uploading).opening += 1
        for _ in range(10):
            sessions.new()
        assert sessions.find(working) is not None
        assert sessions.find(uploading) is not None
        sessions.find(uploading).opening -= 1
        others = [begin(), begin()]
        with pytest.raises(lifagu.TooLargeError, match="too many people"):
            sessions.new()
        left = sessions.find(others[0])
        left.used -= 2 * AT_WORK
        sessions.new()
        assert sessions.find(others[0]) is None
        # what comes to its end after its session stays nowhere
        identity, room = sessions.room_for()
        source = upload_source(room.folder, "upload", ".json")
        with pytest.raises(lifagu.ModelError, match="over"):
            sessions.open(left, identity, room, source)
        sessions.close()

    asyncio.run(walk())


def test_computations_together_are_bounded(tmp_path, monkeypatch):
    async def walk():
        monkeypatch.setattr("lifagu.web.sessions.MOST_WAITING", 3)
        sessions = Sessions(tmp_path, Limits(), at_once=1)
        people = [sessions.find(sessions.new()) for _ in range(5)]
        source = upload_source(tmp_path, "upload", ".json")
        await sessions._places.acquire()  # nothing begins
        for each in people:
            sessions.open(each, *sessions.room_for(), source)
        started = [
            sessions.start(each, *each.models.values(), "open", b"{}")[1] for each in people[:3]
        ]
        with pytest.raises(lifagu.TooLargeError, match="ask later"):
            sessions.start(people[3], *people[3].models.values(), "open", b"{}")
        for job in started:
            job.stop.set()
        sessions._places.release()
        await asyncio.wait([job.task for job in started])
        for _ in range(3):  # replies that nobody fetched go, those of the longest unused first
            _, job = sessions.start(people[3], *people[3].models.values(), "open", b"{}")
            job.stop.set()
            await asyncio.wait([job.task])
        _, job = sessions.start(people[4], *people[4].models.values(), "open", b"{}")
        job.stop.set()
        await asyncio.wait([job.task])
        assert [len(each.jobs) for each in people] == [0, 0, 0, 3, 1]
        sessions.close()

    asyncio.run(walk())


def test_whoever_asks_for_much_leaves_places_to_others(tmp_path):
    async def walk():
        sessions = Sessions(tmp_path, Limits(), at_once=4)
        greedy, other = (sessions.find(sessions.new()) for _ in range(2))
        path = ROOT / "examples/figure3.json"
        for session, count in ((greedy, 4), (other, 1)):
            for _ in range(count):
                sessions.open(session, *sessions.room_for(), ModelSource("model", path))
        for model in greedy.models.values():
            model.aside.ask = lambda *given: (given[-1].wait(SECONDS), CANCELLED)[1]
        jobs = [sessions.start(greedy, each, "open", b"{}")[1] for each in greedy.models.values()]
        reply = await sessions.start(other, *other.models.values(), "open", b"{}")[1].task
        assert reply.status == 200
        assert not any(job.task.done() for job in jobs)
        for job in jobs:
            job.stop.set()
        await asyncio.wait([job.task for job in jobs])
        sessions.close()

    asyncio.run(walk())
