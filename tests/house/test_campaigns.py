"""The campaigns of `fuzz/`, short; whatever they keep in their corpus is read in every run."""

import json
import signal
import subprocess
import sys

import pytest

from support.helpers import ROOT

CORPUS = sorted((ROOT / "fuzz/corpus").glob("*.json"))


def ran(name, *words):
    """What a campaign prints, which has found nothing."""
    command = [sys.executable, str(ROOT / "fuzz" / name), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def test_every_kept_input_is_read_as_promised():
    kept = sum(len(texts) for path in CORPUS for texts in json.loads(path.read_text()).values())
    made = 5  # a database and tables, which are no texts
    assert ran("inputs.py", "--corpus") == f"{kept + made} kept inputs\n0 failures\n"


def test_mutated_inputs():
    assert "seed 8: 800 inputs" in ran("inputs.py", "--inputs", 800, "--seed", 8)


def test_a_campaign_that_is_ended_says_what_it_read():
    command = [sys.executable, str(ROOT / "fuzz/inputs.py"), "--inputs", "1000000", "--progress"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stderr.read(len("\r1 inputs, "))  # it has begun
        running.send_signal(signal.SIGTERM)
        out, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    assert out.startswith(b"seed 0: ")
    assert out.endswith(b"\n0 failures\n")


@pytest.mark.full
def test_what_goes_wrong_is_found(tmp_path):
    """With a reader that breaks, grows or hangs, the campaign says so and makes inputs small."""
    program = tmp_path / "broken.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT / 'fuzz')!r})\n"
        "import inputs, lifagu.formats.uai as uai\n"
        "right = uai.parse_uai\n"
        "def wrong(text, *more):\n"
        "    if '7' in text: raise KeyError(text)\n"
        "    if '65' in text: bytearray(300 * 2**20)\n"
        "    while '999' in text: pass\n"
        "    return right(text, *more)\n"
        "uai.parse_uai, inputs.PATIENCE = wrong, 6\n"
        "sys.argv[1:] = ['--inputs', '150', '--only', 'uai', '--seed', '3']\n"
        "sys.exit(inputs.main())\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "150 inputs" in done.stdout
    for what in ("KeyError", "takes 299 MiB for", "ends with signal 9, or takes 6 s"):
        assert f"failed: uai: {what}" in done.stdout, done.stdout
    assert "read' on b'7'\n" in done.stdout


@pytest.mark.full
@pytest.mark.parametrize("name", ["agreement.py", "together.py"])
def test_agreement_and_company(name):
    assert "\n0 failures" in ran(name, "--seconds", 60, "--seed", 4)


@pytest.mark.full
def test_all_campaigns_run_one_after_the_other():
    out = ran("campaign.py", "--seconds", 100, "--seed", 3)
    assert out.count("== ") == 6
    assert out.endswith("== nothing failed\n")
