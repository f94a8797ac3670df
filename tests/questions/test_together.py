"""One case asked by several threads, and readers beside a writer: as if it were one at a time."""

import os
import shutil
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import lifagu
from lifagu.basics import exchanging
from lifagu.basics.atomic_files import replaced_folder
from lifagu.basics.cached import cached_property
from lifagu.errors import FormatError
from lifagu.questions.comparing.results import result_of
from support.helpers import ROOT, mostly_full

EXAMPLES = ROOT / "src/lifagu/examples"


def asked(case, first=0):
    """All answers to some questions; each thread begins with another one."""
    questions = [
        lambda: [str(case.ask(name)) for name in list(case.graph.variable_names)[:3]],
        lambda: {name: dict(each) for name, each in case.marginals().items()},
        lambda: [repr(each) for each in case.transfer.record],
        lambda: case.lift().groups.factors,
        lambda: str(case.lifted),
    ]
    order = [(first + step) % len(questions) for step in range(len(questions))]
    found = {each: questions[each]() for each in order}
    return [found[each] for each in sorted(found)]


@pytest.mark.parametrize("name", mostly_full(["epidemic.json", "clinic.json"], ["epidemic.json"]))
def test_eight_threads_on_one_case(name):
    alone = asked(lifagu.open(EXAMPLES / name))
    case, ready = lifagu.open(EXAMPLES / name), threading.Barrier(8)

    def thread(number):
        ready.wait()
        return asked(case, number)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(thread, range(8))) == [alone] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are there only on Unix")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_fork_beside_a_thread_that_computes():
    begun, go_on = threading.Event(), threading.Event()

    class Computed:
        def __init__(self, wait):
            self.wait = wait

        @cached_property
        def value(self):
            begun.set()
            return self.wait()

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(lambda: Computed(go_on.wait).value)
        begun.wait()
        if not (number := os.fork()):
            signal.alarm(20)  # rather than for ever
            os._exit(Computed(lambda: 7).value)
        go_on.set()
        assert slow.result()
    assert os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 7


@pytest.mark.parametrize("way", ["exchanged", "renamed"])
def test_readers_of_results_see_one_run(tmp_path, monkeypatch, way):
    """While a folder is replaced again and again: all of one run, or one line."""
    if way == "renamed":
        monkeypatch.setattr(exchanging, "exchanged", lambda one, other: False)
    out, results = tmp_path / "out.csv", []
    for number, label in enumerate(("false", "true")):
        case = lifagu.open(EXAMPLES / "wards.json").observe({"Severe.p10": label})
        case.impute(out=tmp_path / f"{number}.csv")
        results.append(result(tmp_path / f"{number}.csv"))
    assert results[0] != results[1]
    shutil.copytree(tmp_path / "0.csv", out)
    done = threading.Event()

    def write():
        number = 0
        while not done.wait(0.005):
            number += 1
            held = list((tmp_path / f"{number % 2}.csv").iterdir())
            with replaced_folder(out, [each.name for each in held]) as temporary:
                for each in held:
                    shutil.copy(each, temporary)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            seen = [read(out) for _ in range(25)]
        finally:
            done.set()
        writing.result()
    assert any(each in results for each in seen)
    told = [each for each in seen if each not in results]
    assert all("was replaced while it was read" in each for each in told)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["0.csv", "1.csv", "out.csv"]


def read(out):
    try:
        return result(out)
    except FormatError as error:
        return str(error)


def result(path):
    """What `compare` sees in a folder of results: answers from one file, the run from another."""
    found = result_of(path)
    return found.probabilities.tolist(), found.transfers["share"].tolist(), dict(found.run)
