# SPDX-License-Identifier: Apache-2.0
"""Cases: the block is read as PEP 723 reads one; a wrong one is refused with the line in the case's file."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from packaging.version import Version

from headwater.core.cases import DEVICES, SEVERITIES, Case, metadata_block, read_case, traveling_files
from headwater.core.errors import BadInput
from headwater.core.verdicts import Signature, Verdict

CASE = r'''# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "early-init"
# title = "StaticCache.early_initialization corrupts layers"
# references = ["huggingface/transformers#46439"]
# severity = "crash"
#
# [[signature]]
# type = "RuntimeError"
# message = 'size \(8\) must match'
# frame = 'cache_utils\.py:\d+ in update_conv_state$'
# [[signature]]
# type = "Bug"
# message = "^wiped"
# ///
"""The case."""

import casekit


def run(device: str) -> None:
    casekit.require(True, device)
'''
NOTHING: Mapping[str, bytes] = {}


def read(source: str) -> Case:
    return read_case("early_init.py", source, NOTHING)


def refuse(source: str) -> str:
    with pytest.raises(BadInput) as caught:
        read(source)
    assert str(caught.value).startswith("early_init.py")
    return str(caught.value)


def test_what_a_case_says() -> None:
    case = read_case("early_init.py", CASE, {"casekit.py": b"import math\n", "other.py": b""})
    assert (case.id, case.file, case.severity) == ("early-init", "early_init.py", "crash")
    assert case.title == "StaticCache.early_initialization corrupts layers"
    assert case.references == ("huggingface/transformers#46439",)
    assert case.signatures == (
        Signature("RuntimeError", r"size \(8\) must match", r"cache_utils\.py:\d+ in update_conv_state$"),
        Signature("Bug", "^wiped"),
    )
    assert (case.time_limit, case.network, case.user_sees, case.meanwhile) == (120, False, "", "")
    assert (case.applies, case.devices) == (None, DEVICES)
    assert case.files == {"early_init.py": CASE.encode(), "casekit.py": b"import math\n"}


def test_what_a_case_may_say() -> None:
    extra = '# time_limit = 60\n# network = true\n# user_sees = "a"\n# meanwhile = "b"\n#\n# [[signature]]'
    case = read(CASE.replace("#\n# [[signature]]", extra))
    assert (case.time_limit, case.network, case.user_sees, case.meanwhile) == (60, True, "a", "b")


def with_extra(line: str) -> Case:
    return read(CASE.replace("#\n# [[signature]]", f"# {line}\n#\n# [[signature]]"))


@pytest.mark.parametrize(
    ("release", "verdict"),
    [("5.4.0", Verdict.ABSENT), ("5.5.0", None), ("5.12.1", None), ("5.13.0rc1", None), ("5.13.0", Verdict.ABSENT)],
)
def test_outside_of_what_it_applies_to_a_release_has_not_got_the_feature(release: str, verdict: Verdict | None) -> None:
    case = with_extra('applies = ">=5.5.0,<=5.13.0rc1"')
    stands = case.without_probe(Version(release), "cpu", False)
    assert (stands and stands[0]) == verdict
    assert case.without_probe(None, "cpu", False) is None, "of a commit or a folder it says nothing"
    assert read(CASE).without_probe(Version(release), "cpu", False) is None


@pytest.mark.parametrize(
    ("device", "tells"), [("cpu", True), ("cuda", True), ("cuda:1", True), ("meta", False), ("xpu:0", False)]
)
def test_where_it_cannot_tell_the_device_is_unavailable(device: str, tells: bool) -> None:
    case = with_extra('devices = ["cpu", "cuda"]')
    assert case.tells_on(device) == tells
    stands = case.without_probe(Version("5.10.1"), device, False)
    assert (stands is None) == tells
    if stands is not None:
        assert (stands[0], stands[1].message) == (Verdict.UNAVAILABLE, "tells on cpu, cuda alone")
    assert all(read(CASE).tells_on(name) for name in DEVICES)
    assert (case.tells_everywhere, read(CASE).tells_everywhere) == (False, True)


def test_a_case_for_the_network_is_unavailable_without() -> None:
    case = with_extra("network = true")
    stands = case.without_probe(None, "cpu", False)
    assert stands is not None
    assert stands[0] is Verdict.UNAVAILABLE
    assert case.without_probe(None, "cpu", True) is None


@pytest.mark.parametrize(
    ("source", "block"),
    [
        ("# /// case\n# a = 1\n# ///\n", "a = 1\n"),
        ("x\n# /// case\n# a = 1\n#\n#  b = 2\n# ///\nrest", "a = 1\n\n b = 2\n"),
        ("# /// case\n# a = 1\n# ///\n\n# comment\n", "a = 1\n"),
        ("# /// script\n# b = 1\n# ///\n\n# /// case\n# a = 1\n# ///\n", "a = 1\n"),
        ("", None),
        ("# /// script\n# a = 1\n# ///\n", None),
        ("# /// case\n# a = 1\n", None),
        ("# /// case\n# ///\n", None),
        ("# /// case\n#a = 1\n# ///\n", None),
        ("# /// case\na = 1\n# ///\n", None),
        (" # /// case\n # a = 1\n # ///\n", None),
        ("# /// cases\n# a = 1\n# ///\n", None),
    ],
)
def test_metadata_block(source: str, block: str | None) -> None:
    assert metadata_block(source) == block


def test_no_block() -> None:
    assert "no `# /// case` block" in refuse("def run(device): ...\n")


def test_two_blocks() -> None:
    # PEP 723: "When there are multiple comment blocks of the same TYPE defined, tools MUST produce an error."
    assert "case` block" in refuse(CASE + '\n# /// case\n# id = "other"\n# ///\n')


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ('id = "early-init"', 'id = "Early_Init"', 3, "'id' must be kebab-case"),
        ('id = "early-init"', 'id = "early-init-"', 3, "'id' must be kebab-case"),
        ('id = "early-init"', 'id = "early--init"', 3, "'id' must be kebab-case"),
        ('id = "early-init"', 'id = ""', 3, "'id' must be kebab-case"),
        ('id = "early-init"', "id = 1", 3, "'id' must be a str"),
        ('id = "early-init"', "id = ", 3, "not valid TOML"),
        ('severity = "crash"', 'severity = "bad"', 6, "'severity' must be one of crash"),
        ('severity = "crash"', 'severity = "crash"\n# colour = 1', 7, "'colour' is not a key"),
        ('severity = "crash"', 'severity = "crash"\n# time_limit = true', 7, "'time_limit' must be a int"),
        ('severity = "crash"', 'severity = "crash"\n# network = 1', 7, "'network' must be a bool"),
        ('severity = "crash"', 'severity = "crash"\n# applies = 5', 7, "'applies' must be a str"),
        ('severity = "crash"', 'severity = "crash"\n# applies = "5.5.0"', 7, "'applies' must be a specifier"),
        ('severity = "crash"', 'severity = "crash"\n# applies = " "', 7, "'applies' must be a specifier"),
        ('severity = "crash"', 'severity = "crash"\n# devices = "cpu"', 7, "'devices' must be a list"),
        ('severity = "crash"', 'severity = "crash"\n# devices = []', 7, "'devices' must be some of cpu, meta"),
        ('severity = "crash"', 'severity = "crash"\n# devices = ["cpu", "tpu"]', 7, "'devices' must be some of cpu"),
        ('46439"]', '46439", 1]', 5, "'references' must be a list of strings"),
        (r"\(8\)", r"(8", 10, "'message' in [signature] is no regular expression"),
        (r"\d+ in", r"\d+ (in", 11, "'frame' in [signature] is no regular expression"),
        ('"^wiped"', '"^wiped["', 14, "'message' in [signature] is no regular expression"),
        ('"^wiped"', '"^wiped"\n# colour = 1', 15, "'colour' in [signature] is not a key"),
        ('# type = "Bug"\n', "", 12, "'type' in [signature] is missing"),
        ('# message = "^wiped"\n', "", 12, "'message' in [signature] is missing"),
    ],
)
def test_refused_with_the_line(old: str, new: str, line: int, what: str) -> None:
    assert CASE.count(old) == 1
    message = refuse(CASE.replace(old, new))
    assert what in message
    assert f"line {line}" in message


@pytest.mark.parametrize("key", ["id", "title", "references", "severity"])
def test_what_a_case_must_say(key: str) -> None:
    lines = [line for line in CASE.splitlines(keepends=True) if not line.startswith(f"# {key} =")]
    assert f"{key!r} is missing" in refuse("".join(lines))


@pytest.mark.parametrize("signature", ["", "# signature = []\n", "# signature = ['Bug']\n", "# signature = 'Bug'\n"])
def test_a_case_has_one_signature_or_several(signature: str) -> None:
    start, end = CASE.index("#\n# [[signature]]"), CASE.index("# ///\n")
    assert "'signature'" in refuse(CASE[:start] + signature + CASE[end:])


def test_the_line_is_right_below_words_about_the_block() -> None:
    above = '# In front of a "# /// case" block\n# stands whatever one likes.\n\n'
    message = refuse(above + CASE.replace('severity = "crash"', 'severity = "bad"'))
    assert "line 9: 'severity'" in message


@pytest.mark.parametrize("severity", SEVERITIES)
def test_severities(severity: str) -> None:
    assert read(CASE.replace('"crash"', f'"{severity}"')).severity == severity


@pytest.mark.parametrize(
    "definition",
    [
        "",
        "def run(): ...",
        "def run(device, more): ...",
        "def runs(device): ...",
        "class A:\n    def run(self): ...",
        "run = print",
    ],
)
def test_no_run(definition: str) -> None:
    assert "def run(device)" in refuse(CASE[: CASE.index("def run")] + definition + "\n")


@pytest.mark.parametrize("definition", ["def run(:", "def run(device):\n\x00"])
def test_no_python(definition: str) -> None:
    assert "not valid Python" in refuse(CASE[: CASE.index("def run")] + definition + "\n")


SIBLINGS = {
    "casekit.py": b"import deep\nfrom os import path\n",
    "deep.py": b"def f():\n    from deeper.inner import x\n",
    "deeper.py": b"import casekit, early_init\n",
    "other.py": b"import unseen\n",
    "unseen.py": b"def broken(:\n",
    "os.py.bak": b"",
}


@pytest.mark.parametrize(
    ("source", "others"),
    [
        ("", ""),
        ("import os, sys", ""),
        ("import casekit", "casekit deep deeper"),
        ("from casekit import bug", "casekit deep deeper"),
        ("import os, deep as d", "casekit deep deeper"),
        ("def run(device):\n    import deeper.inner", "casekit deep deeper"),
        ("'import casekit'  # import other", ""),
        ("from .other import x\nfrom . import other", ""),
    ],
)
def test_traveling_files(source: str, others: str) -> None:
    files = traveling_files("early_init.py", source, SIBLINGS)
    assert files.pop("early_init.py") == source.encode()
    assert files == {f"{name}.py": SIBLINGS[f"{name}.py"] for name in others.split()}


def test_a_helper_that_is_no_python_is_named() -> None:
    with pytest.raises(BadInput, match=r"unseen\.py: not valid Python"):
        traveling_files("early_init.py", "import other", SIBLINGS)


def test_a_limit_of_no_time_is_refused() -> None:
    assert "must be at least 1 second, not 0" in refuse(
        CASE.replace('severity = "crash"', 'severity = "crash"\n# time_limit = 0', 1)
    )
