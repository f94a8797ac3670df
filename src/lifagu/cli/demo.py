"""``lifagu demo``: a hospital with holes, a new patient, test results, and the truth beside it."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

import numpy as np

import lifagu
from lifagu.basics.cached import cached_property
from lifagu.basics.temporary_folders import temporary_folder
from lifagu.cli.demo_learned import learned_beside_given
from lifagu.cli.demo_paper import demo_paper
from lifagu.cli.demo_results import results_tell
from lifagu.cli.imputed import lent_table
from lifagu.cli.output import say, table
from lifagu.examples.hospital import Hospital, hospital
from lifagu.examples.installing import install_hospital, learned_hospital, result_arrives

if TYPE_CHECKING:
    from lifagu import Case, FactorGraph
    from lifagu.questions.findings import Imputed

MISSING = {
    "intake": "nobody interviewed them, eve among them",
    "lab": "the table of the test kit 'strip' was never filled in",
    "age": "the ward 'isolation' opened last week: nothing to learn from",
    "stay": "the same ward, no former stays",
    "response": "their genotype was not determined",
    "roster": "was never kept, on no ward",
}
WATCHED = {
    "Sick(eve)": "true",
    "Test(eve)": "positive",
    "Stay(eve)": "long",
    "Effect(eve,gammadex)": "good",
}


def demo(options: argparse.Namespace) -> None:
    """``lifagu demo``."""
    if options.what == "paper":
        if options.out:
            raise lifagu.ModelError("the paper's examples need no folder; leave out --out")
        demo_paper()
        return
    drawn = hospital()
    with temporary_folder("demo") if options.out is None else nullcontext(options.out) as folder:
        template = install_hospital(folder, drawn)
        before = Visit.to(template, drawn)
        _introduce(drawn, before)
        _lend(before)
        with temporary_folder("demo") as copy:  # the database that is kept stays as it was
            later = install_hospital(copy, drawn)
            result_arrives(copy, "eve", "positive")
            _second_run(before, Visit.to(later, drawn))
        results_tell(before.case, drawn)
        blank = learned_hospital(template)
        learned_beside_given(before.case, blank, drawn, before.truth, WATCHED)
    if options.out:
        kept = Path(options.out) / "hospital.json"
        say(f"Go on with the database you have now: lifagu impute {kept}")
    else:
        say("Go on with the database in a folder: lifagu demo --out hospital")


@dataclass(frozen=True, eq=False)
class Visit:
    """One look into the database: what was read, what was imputed, and what is true."""

    case: Case
    found: Imputed
    drawn: Hospital

    @classmethod
    def to(cls, template: Path, drawn: Hospital) -> Visit:
        """Read the database and impute."""
        case = lifagu.open(template)
        return cls(case, case.impute(), drawn)

    @property
    def graph(self) -> FactorGraph:
        """The graph with its holes."""
        return self.case.graph

    @cached_property
    def truth(self) -> Mapping[str, Mapping[str, float]]:
        """All marginals with the true tables in the holes."""
        true = true_graph(self.graph, self.drawn.truth)
        return lifagu.marginals(true, evidence=self.case.evidence)


def true_graph(graph: FactorGraph, truth: Mapping[str, Sequence[float]]) -> FactorGraph:
    """The graph with the true tables in the holes; all others stay."""
    tables = [
        np.array(truth[each.name]) if each.table is None else each.table.reshape(-1)
        for each in graph.factors
    ]
    return lifagu.FactorGraph.from_arrays(
        ranges=graph.ranges.declared,
        variable_ranges=graph.variable_declared,
        offsets=graph.offsets,
        arguments=graph.arguments,
        tables=tables,
        factor_tables=np.arange(len(tables)),
        variable_names=graph.variable_names,
        factor_names=graph.factor_names,
    )


def _introduce(drawn: Hospital, visit: Visit) -> None:
    held = {
        "patient": "patients",
        "treatment": "treatments",
        "test": "test results",
        "stay_history": "former stays",
    }
    sizes = {name: len(next(iter(rows.values()))) for name, rows in drawn.tables.items()}
    counts = ", ".join(f"{sizes[name]} {things}" for name, things in held.items())
    say(f"A hospital's database: {counts}.")
    model = f"a model of {len(visit.graph.variable_names)} variables"
    say(f"A template says in SQL how it becomes {model}. Some of its tables are missing:\n")
    names = visit.graph.factor_names
    missing = Counter(names[each].partition("(")[0] for each in visit.graph.unknown.tolist())
    say(table((name, str(missing[name]), why) for name, why in MISSING.items()) + "\n")


def _lend(visit: Visit) -> None:
    found = visit.found
    filled = f"{found.filled} of {found.unknown} from patients who look alike"
    share = "the share says how many agree, or how likely the best table is"
    say(f"lifagu fills {filled}; {share}:\n")
    say(indent(lent_table(found), "  ") + "\n")
    record = next(each for each in found.transfer.record if each.factor == "intake(eve)")
    say(f"{visit.case.filled_by}.")
    say(f"intake(eve) is among them. {record.reason}")
    for line in found.left:
        say(f"All {line.count} of {line.factors}: {line.reason}")
    say()


def _second_run(before: Visit, after: Visit) -> None:
    arrives = "INSERT INTO test VALUES ('eve', 'positive')"
    say(f"Now eve's test result arrives: {arrives}. The second run:\n")
    rows = [("", "before", "after", "with the true tables", "in truth")]
    for name, label in WATCHED.items():
        first, second = (each.found.marginals[name][label] for each in (before, after))
        true = f"{before.truth[name][label]:.3f} and {after.truth[name][label]:.3f}"
        found = (f"{first:.3f}", f"{second:.3f}", true, before.drawn.world[name])
        rows.append((f"{name} = {label}", *found))
    say(table(rows) + "\n")
