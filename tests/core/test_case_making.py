# SPDX-License-Identifier: Apache-2.0
"""From a reporter's script to a case: the same statements in a function, and a signature that knows its failure."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.case_making import NewCase, case_id_of, case_source, read_reference, signature_from
from headwater.core.cases import read_case
from headwater.core.errors import BadInput
from headwater.core.learning import signature_of
from headwater.core.verdicts import Evidence, Signature

FRAME = "transformers/cache_utils.py:742 in update"
NEW = NewCase(
    "it-breaks", 'It "breaks"', "huggingface/transformers#1", "crash", Signature("KeyError", r"^no \d+$", r"^a\.py$")
)


REPOSITORY = "huggingface/transformers"


@pytest.mark.parametrize(
    "text",
    [
        "46439", "#46439", "huggingface/transformers#46439", "https://host/huggingface/transformers/issues/46439",
        "https://host/huggingface/transformers/pull/46439/files",
        "https://host/huggingface/transformers/issues/46439#issuecomment-1",
    ],
)  # fmt: skip
def test_references(text: str) -> None:
    assert read_reference(text, REPOSITORY) == "huggingface/transformers#46439"


def test_a_reference_elsewhere() -> None:
    assert read_reference("https://host/some-one/vllm.x/issues/7", REPOSITORY) == "some-one/vllm.x#7"


def test_a_number_without_a_repository() -> None:
    with pytest.raises(
        BadInput, match=r"#12 of which repository\? Say owner/name#12, or put `repository` into the pins"
    ):
        read_reference("#12", None)
    with pytest.raises(BadInput, match="'x' is no issue, such as owner/name#1234"):
        read_reference("x", None)


@pytest.mark.parametrize("text", ["", "issue 7", "transformers#7", "https://host/issues/7", "-1", "a/b/c#1"])
def test_what_is_no_reference(text: str) -> None:
    with pytest.raises(BadInput, match="is no issue, such as huggingface/transformers#1234"):
        read_reference(text, REPOSITORY)


@pytest.mark.parametrize(("stem", "case_id"), [("My_Report 2", "my-report-2"), ("__x__", "x"), ("é", "")])
def test_ids_of_names(stem: str, case_id: str) -> None:
    assert case_id_of(stem) == case_id


def learned(type_: str, message: str, frame: str | None = FRAME) -> Signature:
    evidence = Evidence(type_, message, frame)
    return signature_from(signature_of(evidence), evidence)


def test_the_signature_of_a_failure() -> None:
    made = learned("RuntimeError", "The size of tensor a (8) must match (see x-y)")
    assert (made.type, made.message) == ("RuntimeError", r"^The size of tensor a \(\d+\) must match \(see x-y\)$")
    assert made.frame == r"^transformers/cache_utils\.py:\d+ in update$"
    assert made.matches(Evidence("RuntimeError", "The size of tensor a (16) must match (see x-y)", FRAME))
    assert not made.matches(Evidence("RuntimeError", "The size of tensor a (16) must match (see x-y)", "a.py:1 in b"))
    assert not made.matches(Evidence("KeyError", "The size of tensor a (8) must match (see x-y)", FRAME))


@pytest.mark.parametrize(
    ("message", "other"),
    [
        ("differs by -0.25e-3", "differs by 17"),
        ("two\nlines  apart", "two lines apart"),
        ("mat1 and mat2 (2x8 and 4x16)", "mat1 and mat2 (3x1 and 44x1)"),
        ("no file /tmp/one/two.json", "no file /home/x/two.json"),
        ("at 0x7f00deadbeef", "at 0x7f1234567890"),
    ],
)
def test_what_differs_between_runs_does_not_matter(message: str, other: str) -> None:
    assert learned("E", message, None).matches(Evidence("E", other))


def test_a_long_message_is_cut_at_a_word() -> None:
    words = " ".join(f"word{n}x" for n in range(60))
    made = learned("E", words, None)
    assert made.message.startswith("^word0x word1x ")
    assert not made.message.endswith("$")
    assert len(made.message) < 100
    assert made.matches(Evidence("E", words + " and more"))


@given(st.text(max_size=300))
def test_a_signature_matches_what_it_was_learned_from(message: str) -> None:
    evidence = Evidence("E", message, None)
    try:
        made = signature_from(signature_of(evidence), evidence)
    except BadInput:
        return
    assert made.matches(evidence)
    assert made.message not in ("^", "^$", r"^\s*")


def test_a_failure_that_says_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="AssertionError without a message is nothing to know the bug by"):
        learned("AssertionError", "")


SCRIPT = '''\
#!/usr/bin/env python
"""A report."""
from __future__ import annotations
import os; import sys

# a constant
TEXT = """one
  two"""

@property
def helper():
    """Says
    nothing."""
    return f"""{TEXT}
three"""



if __name__ == "__main__":
    # the bug
    if helper:
        print(TEXT)
'''


def run_of(source: str) -> list[str]:
    [function] = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    return [ast.dump(node) for node in function.body]


def test_the_case_around_a_script() -> None:
    source = case_source(NEW, SCRIPT)
    case = read_case("it_breaks.py", source, {"casekit.py": b""})
    assert (case.id, case.title, case.references, case.severity) == (
        "it-breaks", 'It "breaks"', ("huggingface/transformers#1",), "crash",
    )  # fmt: skip
    assert case.signatures == (NEW.signature,)
    assert list(case.files) == ["it_breaks.py", "casekit.py"]
    body = ast.parse(SCRIPT).body
    wanted = [ast.dump(node) for node in body[2:5]] + [ast.dump(body[5])]
    main = body[6]
    assert isinstance(main, ast.If)
    assert run_of(source) == wanted + [ast.dump(node) for node in main.body]
    # As it was written, with its comments.
    assert '    # a constant\n    TEXT = """one\n  two"""\n\n    @property\n    def helper():\n' in source
    assert "\n    # the bug\n    if helper:\n        print(TEXT)\n" in source
    assert '# ///\n"""A report."""\n\nfrom __future__ import annotations\n\nimport casekit\n' in source
    assert "/usr/bin" not in source


@pytest.mark.parametrize(
    "script",
    [
        "import os\nif __name__ == '__main__': os.getcwd()\n",
        "if '__main__' == __name__:\n\timport os\n\tos.getcwd()\n",
        "x = 1; y = (2 +\n3)\n",
        "def f():\n    return '''a\n    b'''\nf()",
    ],
)
def test_scripts_in_every_form_mean_the_same(script: str) -> None:
    source = case_source(NEW, script)
    statements = []
    for node in ast.parse(script).body:
        statements += node.body if isinstance(node, ast.If) else [node]
    assert run_of(source) == [ast.dump(node) for node in statements]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("x = 1\ndef f():\n    global x\n", "line 3: `global x` has no module to reach"),
        ("from os import *\n", "line 1: `from os import \\*` is not allowed inside `run`"),
        ("import sys\nsys.exit(1)\n", "line 2: a case says what it saw by returning or by an exception"),
        ("exit()\n", "line 1: a case says what it saw"),
        ("print(globals())\n", "line 1: `globals\\(\\)` would not see"),
        ("if __name__ == '__main__':\n    a = 1\nelse:\n    a = 2\n", "line 1: .* has an else"),
        ('"""Nothing."""\n', "the script does nothing"),
    ],
)
def test_what_would_mean_something_else_is_refused(script: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        case_source(NEW, script)


def test_a_title_of_any_characters() -> None:
    new = NewCase("it-breaks", "a \\ \"b\" 'c' é \x07\n", "o/r#1", "crash", Signature("E", "it's \\d", None), open=True)
    case = read_case("it_breaks.py", case_source(new, "x = 1\n"), {})
    assert (case.title, case.signatures, case.open) == (new.title, (new.signature,), True)


def test_a_failure_of_which_no_pattern_can_be_made_is_refused() -> None:
    """Its message holds the very words that stand for what differs between runs."""
    with pytest.raises(BadInput, match="no pattern could be made of E: 'no <number> in it'; write the case's"):
        learned("E", "no <number> in it")


# Both levels are indented by a tab somewhere, so that four columns more on either part them.
TABS = "if True:\n      \tif True:\n\t       {}\n"


def test_lines_that_cannot_be_moved_are_written_anew() -> None:
    script = TABS.format("x = {'a': 1}  # said")
    assert run_of(case_source(NEW, script)) == [ast.dump(node) for node in ast.parse(script).body]
    assert "\n    if True:\n        if True:\n            x = {'a': 1}\n" in case_source(NEW, script)


def test_a_script_that_would_not_stay_as_it_is_is_refused() -> None:
    with pytest.raises(BadInput, match="could not be put into a function unchanged; write the case by hand"):
        case_source(NEW, TABS.format('def f(): """one\ntwo"""'))
