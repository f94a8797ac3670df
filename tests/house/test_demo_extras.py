"""What `make demo` installs suffices for what the first screen of README names."""

import re
import subprocess
import sys
import tomllib

from support.helpers import ROOT

MODULES = (
    *("duckdb", "psycopg", "vl_convert", "starlette", "uvicorn"),
    *("pandas", "pyspark", "pyagrum", "pgmpy"),
)
PROGRAM = """
import sys
for name in sys.argv[1].split():
    sys.modules[name] = None
import lifagu
from lifagu.cli import main
from lifagu.web import app
folder = sys.argv[2]
data, template = f"{folder}/p.csv", f"{folder}/t.json"
with open(data, "w") as file:
    file.write("id,a,b\\n")
    for row in range(60):
        file.write(f"{row},{row % 3 and 'yes'},{'' if row % 5 == 0 else row % 2 and 'x'}\\n")
commands = [
    ["init", data, "--out", template],
    ["validate", template],
    ["impute", template],
    ["show", template, "5"],
    ["plot", "examples/epidemic.json", "--what", "transfers", "--out", f"{folder}/x.svg"],
]
for command in commands:
    assert main([*command, "--quiet"] if command[0] != "plot" else command) == 0, command
try:
    lifagu.draft("postgresql://127.0.0.1:1/none")
except lifagu.LifaguError as error:
    assert "pip install" not in str(error), error
"""


def test_what_the_first_screen_names_works_after_make_demo(tmp_path):
    rule = re.search(r"installed-demo: .*\n.*-e '\.\[([\w,]+)\]'", (ROOT / "Makefile").read_text())
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        each for extra in rule[1].split(",") for each in known["optional-dependencies"][extra]
    ]
    installed = {re.match(r"[\w-]+", each)[0] for each in wanted}
    missing = " ".join(name for name in MODULES if name not in installed)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, missing, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]
