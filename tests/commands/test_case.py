# SPDX-License-Identifier: Apache-2.0
"""`headwater case` on a small library: self-tests by the atlas, and reporters' scripts that become cases."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hunting_ground import Ground, case_source

HEAD = "schema = 1\n"
SCRIPT = '''\
"""The cache breaks."""
from transformers import {module}

if __name__ == "__main__":
    # as reported
    {module}.use()
'''


def entry(case: str, verdict: str, first: str, last: str) -> str:
    return f'\n[[entry]]\ncase = "{case}"\nverdict = "{verdict}"\nfirst = "{first}"\nlast = "{last}"\n'


GOOD_THEN_BAD = (("good", "5.0.0", "5.3.0"), ("bad", "5.4.0", "5.7.0"))


@pytest.fixture
def cases(ground: Ground, root: Path) -> Ground:
    """A ground with two cases, of bugs that came with 5.4.0, whose signatures tell them apart, and the helper."""
    folder = ground.root / "tests" / "repro"
    for path in folder.glob("*.py"):
        path.unlink()
    for name in ("plain", "wheel_only"):
        source = case_source(name).replace(
            f"    {name}.use()",
            f"    try:\n        {name}.use()\n    except RuntimeError as error:\n"
            f"        raise RuntimeError(f'{name}: {{error}}') from error",
        )
        write(ground, name, source.replace("message = 'the", f"message = '{name}: the"))
    shutil.copy(root / "tests" / "repro" / "casekit.py", folder)
    record(ground, {"plain": GOOD_THEN_BAD, "wheel-only": GOOD_THEN_BAD})
    return ground


def write(ground: Ground, name: str, source: str) -> None:
    (ground.root / "tests" / "repro" / f"{name}.py").write_text(source, encoding="utf-8")


def source_of(ground: Ground, name: str) -> str:
    return (ground.root / "tests" / "repro" / f"{name}.py").read_text(encoding="utf-8")


def record(ground: Ground, histories: dict[str, Any]) -> None:
    text = HEAD + "".join(entry(case, *one) for case, some in histories.items() for one in some)
    (ground.root / "tests" / "repro" / "atlas.toml").write_text(text, encoding="utf-8")


def test_the_list(cases: Ground) -> None:
    said = cases.run("case", "list")
    assert said.status == 0
    assert "plain" in said.out and "5.4.0 to 5.7.0" in said.out and "The cache breaks" in said.out
    [one, _two] = cases.run("case", "list", "--json").json["cases"]
    assert (one["id"], one["severity"], one["affected"], one["open"]) == ("plain", "crash", "5.4.0 to 5.7.0", False)


def test_self_tests_take_as_few_releases_as_serve_all(cases: Ground) -> None:
    done = cases.run("case", "check", "--json")
    assert done.status == 0, done.out
    assert [(one["case"], one["passed"], one["faults"]) for one in done.json["cases"]] == [
        ("plain", True, []), ("wheel-only", True, []),
    ]  # fmt: skip
    assert {probe["revision"] for probe in done.json["probes"]} == {"5.7.0", "5.3.0"}
    assert done.json["probes_run"] == 4
    assert "2 of 2 cases pass their self-test." in cases.run("case", "check").out
    assert cases.run("case", "check", "plain", "--json").json["probes_run"] == 0


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text: text.replace("        plain.use()", "        pass"), "it is good on 5.7.0, not bad"),
        (lambda text: text + "    raise RuntimeError('plain: the cache broke at 1')\n", "it is bad on 5.3.0, not good"),
        (lambda text: text.replace("plain: the cache", "another"), "it is other failure on 5.7.0, not bad"),
        (lambda text: text.replace("# [[signature]]", "# open = true\n# [[signature]]"), "it is marked open, and"),
    ],
)
def test_a_case_that_does_not_see_its_bug(cases: Ground, change: Callable[[str], str], fault: str) -> None:
    write(cases, "plain", change(source_of(cases, "plain")))
    done = cases.run("case", "check", "--json")
    assert done.status == 1
    [plain, other] = done.json["cases"]
    assert any(one.startswith(fault) for one in plain["faults"])
    assert other["passed"]
    assert f"plain: {plain['faults'][0]}" in cases.run("case", "check").out


def test_a_signature_that_matches_another_case_s_failure(cases: Ground) -> None:
    greedy = source_of(cases, "wheel_only").replace("'wheel_only: the", "'the")
    write(cases, "wheel_only", greedy)
    done = cases.run("case", "check")
    assert done.status == 1
    assert "is matched by a signature of wheel-only" in done.out
    write(cases, "wheel_only", greedy.replace("# [[signature]]", '# same_as = ["plain"]\n# [[signature]]'))
    assert cases.run("case", "check").status == 0


def test_a_case_that_was_made_worse_fails_its_self_test(cases: Ground) -> None:
    """Without the call that shows the bug nothing is bad; what is called besides tells nothing."""
    plain = source_of(cases, "plain")
    write(cases, "plain", plain.replace("        plain.use()", "        use = plain.use\n        use()"))
    done = cases.run("case", "check", "plain", "--mutants", "--json")
    assert done.status == 0, done.out
    [left_out] = done.json["cases"][0]["mutants"]
    assert (left_out["what"], left_out["caught"]) == ("`use()` left out", True)
    assert [(probe["revision"], probe["verdict"]) for probe in left_out["probes"]] == [("5.7.0", "good")]
    write(
        cases,
        "plain",
        source_of(cases, "plain").replace("        use()", "        title = str.title\n        use(), title('x')"),
    )
    idle = cases.run("case", "check", "plain", "--mutants")
    assert idle.status == 1
    assert "it passes all the same with `title('x')` left out" in idle.out
    assert "1 of 2 mutants fail theirs, as they must." in idle.out


def test_a_bug_that_is_still_open(cases: Ground) -> None:
    write(cases, "arrived", case_source("arrived").replace("# severity", "# open = true\n# severity"))
    write(cases, "plain", "")
    write(cases, "wheel_only", "")
    record(cases, {"arrived": (("absent", "5.0.0", "5.3.0"), ("bad", "5.4.0", "5.7.0"))})
    done = cases.run("case", "check", "--json")
    assert done.status == 0, done.out
    assert {probe["revision"]: probe["verdict"] for probe in done.json["probes"]} == {"5.3.0": "absent", "5.7.0": "bad"}
    write(cases, "arrived", case_source("arrived"))
    assert "mark it `open = true`" in cases.run("case", "check").out


def new(ground: Ground, *words: str) -> Any:
    return ground.run("case", "new", "o/r#7", "--script", "report.py", *words)


def test_a_script_becomes_a_case(cases: Ground) -> None:
    cases.write("report.py", SCRIPT.format(module="mended"))
    done = new(cases, "--bad", "5.2.0", "--good", "5.7.0", "--id", "it-breaks", "--json")
    assert done.status == 0, done.err
    assert done.json["path"] == "tests/repro/it_breaks.py"
    # The script and the case on either end, and the case on six releases around.
    assert done.json["probes_run"] == 10
    bad, good = ("5.0.0", "5.1.0", "5.2.0", "5.2.1", "5.2.2", "5.3.0"), ("5.4.0", "5.7.0")
    assert done.verdicts() == {**dict.fromkeys(bad, "bad"), **dict.fromkeys(good, "good")}
    assert [(one["verdict"], one["first"], one["last"]) for one in done.json["proposed"]] == [
        ("bad", "5.0.0", "5.3.0"), ("good", "5.4.0", "5.4.0"), ("good", "5.7.0", "5.7.0"),
    ]  # fmt: skip
    source = source_of(cases, "it_breaks")
    assert "# message = '^the cache broke at \\d+$'\n# frame = '^transformers/mended\\.py:\\d+ in use$'\n" in source
    assert "def run(device: str) -> None:\n    from transformers import mended\n\n    # as reported\n" in source
    assert cases.run("atlas", "update", "--cases", "it-breaks", "--write").status == 0
    assert cases.run("case", "check", "it-breaks").status == 0


def test_what_a_person_sees_of_it(cases: Ground) -> None:
    cases.write("report.py", SCRIPT.format(module="mended"))
    said = new(cases, "--bad", "5.2.0", "--releases", "5.2.0,5.4.0").out
    assert said.startswith("wrote tests/repro/report.py\nlearned: RuntimeError: the cache broke at <number>")
    assert 'verdict = "bad"\nfirst = "5.2.0"\n' in said
    assert "`headwater atlas update --cases report --write` measures it on all releases" in said


def test_a_script_that_fails_on_a_commit_alone(cases: Ground) -> None:
    """It broke with commit 6 and works again from 18 on; the releases around are those of the time of 17."""
    cases.write("report.py", SCRIPT.format(module="passed"))
    ends = ("--bad", cases.commits[17], "--good", cases.commits[18])
    done = new(cases, *ends, "--repo", str(cases.repo), "--releases", "5.4.0,5.5.0", "--json")
    assert done.status == 0, done.err
    assert list(done.verdicts().items()) == [
        ("5.4.0", "bad"), ("5.5.0", "good"), (cases.commits[17], "bad"), (cases.commits[18], "good"),
    ]  # fmt: skip
    proposed = [(one["verdict"], one["first"], one["last"]) for one in done.json["proposed"]]
    assert proposed == [("bad", "5.4.0", "5.4.0"), ("good", "5.5.0", "5.5.0")]
    (cases.root / "tests" / "repro" / "report.py").unlink()
    around = new(cases, "--bad", cases.commits[17], "--repo", str(cases.repo), "--json").verdicts()
    assert list(around)[:-1] == ["5.2.1", "5.2.2", "5.3.0", "5.4.0", "5.4.1", "5.5.0", "5.6.0"]
    assert "name a repository by --repo" in new(cases, "--bad", cases.commits[17]).err


def test_a_script_that_needs_the_network(cases: Ground) -> None:
    cases.write("report.py", SCRIPT.format(module="mended"))
    done = new(cases, "--bad", "5.2.0", "--releases", "5.2.0", "--allow-network", "--json")
    assert done.verdicts() == {"5.2.0": "bad"}, done.err
    assert "# network = true\n" in source_of(cases, "report")
    without = cases.run("repro", "5.2.0", "--case", "report", "--json")
    assert without.verdicts() == {"5.2.0": "unavailable"}


def test_nothing_is_overwritten(cases: Ground) -> None:
    cases.write("report.py", SCRIPT.format(module="mended"))
    before = source_of(cases, "plain")
    done = new(cases, "--bad", "5.2.0", "--id", "plain")
    assert (done.status, source_of(cases, "plain")) == (2, before)
    assert "there is a case plain already" in done.err
    write(cases, "mine", "# mine\n")
    done = new(cases, "--bad", "5.2.0", "--id", "mine")
    assert (done.status, source_of(cases, "mine")) == (2, "# mine\n")
    assert "tests/repro/mine.py is there already" in done.err


@pytest.mark.parametrize(
    ("script", "words", "why"),
    [
        (SCRIPT.format(module="never"), [], "learned from report.py on 5.2.0: it ended without a failure"),
        ("import nowhere\n", [], "the environment has no such module"),
        ("from transformers import mended\ntry:\n    mended.use()\nexcept Exception:\n    raise SystemExit(3)\n", [],
         "tells by an exit status"),
        ("from transformers import mended\nimport sys\nsys.exit(mended.use())\n", [], "line 3: a case says"),
        ("assert False\n", [], "AssertionError without a message"),
        (SCRIPT.format(module="always"), ["--good", "5.7.0"], "as a case it is bad on 5.7.0"),
        (case_source("mended"), [], "is a case already"),
        ("import beside\nraise KeyError('x')\n", [], "needs beside.py beside it"),
        (SCRIPT.format(module="mended"), ["--id", "No Id"], "'No Id' is no case id"),
        (SCRIPT.format(module="mended"), ["--good", "5.2.0"], "--good and --bad are both 5.2.0"),
        (SCRIPT.format(module="mended"), ["--good", "5.9.0"], "'5.9.0' is no pinned release; the nearest are"),
    ],
)  # fmt: skip
def test_what_is_refused_with_the_reason(cases: Ground, script: str, words: list[str], why: str) -> None:
    cases.write("report.py", script)
    cases.write("beside.py", "x = 1\n")
    before = sorted((cases.root / "tests" / "repro").iterdir())
    done = new(cases, "--bad", "5.2.0", *words)
    assert done.status == 2, done.err
    assert why in done.err
    assert sorted((cases.root / "tests" / "repro").iterdir()) == before
