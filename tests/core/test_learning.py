# SPDX-License-Identifier: Apache-2.0
"""What the ends of a hunt teach: numbers, addresses and places do not matter; types, words and functions do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.cases import Case
from headwater.core.learning import LearnedSignature, learn, normalise_message, rejudged, signature_of
from headwater.core.results import ProbeResult
from headwater.core.verdicts import End, Evidence, Outcome, Verdict, judge

FILES: Mapping[str, bytes] = {"script.py": b""}
CASE = Case("script.py", "script.py", "script.py", (), "unclear", (), 60, False, "", "", FILES)
SIZES = "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}"
FRAME = "transformers/cache_utils.py:{} in update_conv_state"
BUG = Evidence("RuntimeError", SIZES.format(8, 4, 3), FRAME.format(806))
MISSING = Evidence("AttributeError", "'StaticCache' object has no attribute 'update_conv_state'")
OTHER = Evidence("KeyError", "'x'")
WELL = Outcome("returned", "run", Evidence(), 1.0)

NUMBER = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)).map(str)
ADDRESS = st.integers(min_value=1 << 24, max_value=1 << 64).map(hex)
NAME = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
FOLDER = st.lists(NAME, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))
TEMPORARY = st.builds("{}/tmp{}".format, FOLDER, st.from_regex(r"[a-z0-9_]{8}", fullmatch=True))
SHAPE = st.lists(st.integers(min_value=0, max_value=99999), min_size=2, max_size=4).map(
    lambda sizes: "x".join(map(str, sizes))
)
WORDS = st.lists(st.from_regex(r"[A-Za-z_][A-Za-z_0-9]{0,10}", fullmatch=True), min_size=1, max_size=6)
GLUE = st.sampled_from([" ", ": ", "=", "-", "(", ">", "_"])
MESSAGE = st.one_of(
    st.text(max_size=80),
    st.text(alphabet="0123456789abcdefxX-+./<>_ \n(e", max_size=80),
    st.lists(st.one_of(NUMBER, ADDRESS, TEMPORARY, NAME, SHAPE, GLUE)).map("".join),
)


def failed(evidence: Evidence, end: End = "raised") -> Outcome:
    return Outcome(end, "run", evidence, 1.0)


@given(MESSAGE)
def test_normalising_again_changes_nothing(message: str) -> None:
    once = normalise_message(message)
    assert normalise_message(once) == once


@pytest.mark.parametrize("values", [NUMBER, ADDRESS, TEMPORARY, SHAPE], ids=["number", "address", "temporary", "shape"])
@given(st.data())
def test_values_do_not_matter(values: st.SearchStrategy[str], data: st.DataObject) -> None:
    before, after = data.draw(WORDS), data.draw(WORDS)
    one, two = data.draw(values), data.draw(values)
    texts = [f"{' '.join(before)} ({value}): {' '.join(after)}" for value in (one, two)]
    assert normalise_message(texts[0]) == normalise_message(texts[1])
    assert one not in normalise_message(texts[0]).split(" (")[1].split(")")[0]


@given(FOLDER, FOLDER, NAME, NAME)
def test_of_a_file_the_folder_does_not_matter_and_its_name_does(one: str, two: str, name: str, other: str) -> None:
    assert normalise_message(f"no {one}/{name}.json") == normalise_message(f"no {two}/{name}.json")
    same = normalise_message(f"no {one}/{name}.json") == normalise_message(f"no {one}/{other}.json")
    assert same == (name == other)


@given(WORDS, WORDS)
def test_words_matter(one: list[str], two: list[str]) -> None:
    assert (normalise_message(" ".join(one)) == normalise_message(" ".join(two))) == (one == two)


@pytest.mark.parametrize(
    ("message", "normal"),
    [
        (
            SIZES.format(8, 4, 3),
            "The size of tensor a (<number>) must match the size of tensor b (<number>) at non-singleton dimension "
            "<number>",
        ),
        (
            "mat1 and mat2 shapes cannot be multiplied (2x8 and 4x6)",
            "mat1 and mat2 shapes cannot be multiplied (<number>x<number> and <number>x<number>)",
        ),
        ("a matrix of 0x8", "a matrix of <number>x<number>"),
        ("<Layer object at 0x7f3a91c0> is gone", "<Layer object at <address>> is gone"),
        ("expected float32 but got float16 in Qwen2Model", "expected float32 but got float16 in Qwen2Model"),
        ("layers.12.weight is nan at -1.5e-3", "layers.<number>.weight is nan at <number>"),
        ("[Errno 2] No such file: '/tmp/tmpab12cd/config.json'", "[Errno <number>] No such file: '<path>/config.json'"),
        ("org/model and https://host/a/b are no folders", "org/model and https://host/a/b are no folders"),
        ("request 123e4567-e89b-12d3-a456-426614174000 failed", "request <id> failed"),
        ("  two\n  lines ", "two lines"),
    ],
)
def test_normalised_messages(message: str, normal: str) -> None:
    assert normalise_message(message) == normal


def test_where_a_long_message_was_cut_off_does_not_matter() -> None:
    whole = [f"{number}: " + "missing key, " * 1000 for number in (1, 123456)]
    cut = [text[:4000] for text in whole]
    assert cut[0][-5:] != cut[1][-5:]
    assert normalise_message(cut[0]) == normalise_message(cut[1])


@given(st.integers(min_value=0), st.integers(min_value=0), st.integers(min_value=1))
def test_the_same_failure_with_other_sizes_on_another_line(one: int, two: int, line: int) -> None:
    seen = Evidence("RuntimeError", SIZES.format(one, two, 1), FRAME.format(line))
    assert signature_of(BUG).matches(seen)


@pytest.mark.parametrize(
    "other",
    [
        replace(BUG, type="ValueError"),
        replace(BUG, message="The size of tensor a (8) must match"),
        replace(BUG, frame="transformers/cache_utils.py:806 in update"),
        replace(BUG, frame="transformers/masking_utils.py:806 in update_conv_state"),
        replace(BUG, frame=None),
        Evidence(),
    ],
)
def test_another_type_message_or_function_is_another_failure(other: Evidence) -> None:
    assert not signature_of(BUG).matches(other)
    assert not signature_of(other).matches(BUG)


def test_names_of_failed_tests_are_no_numbers() -> None:
    one, two = (Evidence("TestsFailed", f"test_x[{n}]: KeyError") for n in (1, 2))
    assert signature_of(one).matches(one)
    assert not signature_of(one).matches(two)


def test_the_failure_at_the_bad_end_is_bad_and_another_at_the_good_end_absent() -> None:
    learned = learn(CASE, "transformers", [failed(BUG)], [failed(MISSING)])
    assert learned.bug == signature_of(BUG)
    assert learned.absent == signature_of(MISSING)
    assert learned.why is None
    verdicts = {Verdict.BAD: BUG, Verdict.ABSENT: MISSING, Verdict.OTHER_FAILURE: OTHER}
    for verdict, evidence in verdicts.items():
        assert judge(failed(evidence), learned.case.signatures, learned.case.absent) is verdict
    assert judge(WELL, learned.case.signatures, learned.case.absent) is Verdict.GOOD
    assert learned.case.files == CASE.files


@pytest.mark.parametrize("good", [[], [WELL]])
def test_a_good_end_without_a_failure_teaches_nothing_absent(good: list[Outcome]) -> None:
    learned = learn(CASE, "transformers", [failed(BUG)], good)
    assert (learned.absent, learned.case.absent) == (None, ())
    assert judge(failed(MISSING), learned.case.signatures, learned.case.absent) is Verdict.OTHER_FAILURE


def test_ends_that_fail_alike_do_not_differ() -> None:
    good = failed(replace(BUG, message=SIZES.format(16, 2, 3), frame=FRAME.format(1)))
    learned = learn(CASE, "transformers", [failed(BUG)], [good])
    assert learned.absent is None
    assert judge(good, learned.case.signatures, learned.case.absent) is Verdict.BAD


ENDS: list[tuple[End, str]] = [
    ("returned", "without a failure"),
    ("absent", "absent"),
    ("skipped", "skipped"),
    ("harness", "harness"),
    ("killed", "killed"),
    ("no-device", "no-device"),
]


@pytest.mark.parametrize(("end", "why"), ENDS)
def test_what_says_nothing_of_the_library_teaches_nothing(end: End, why: str) -> None:
    seen = Outcome(end, "run", OTHER, 1.0)
    learned = learn(CASE, "transformers", [seen], [failed(MISSING)])
    assert (learned.bug, learned.absent, learned.case.signatures, learned.case.absent) == (None, None, (), ())
    assert why in str(learned.why)
    assert learn(CASE, "transformers", [failed(BUG)], [seen]).absent is None


def test_nothing_ran_at_the_bad_end() -> None:
    assert learn(CASE, "transformers", []).why == "nothing ran at the bad end"


@pytest.mark.parametrize("end", ["died", "time-limit", "output-limit", "process-limit"])
def test_a_crash_or_a_hang_is_learned_like_an_exception(end: End) -> None:
    seen = failed(Evidence("ProcessDied", "ended by signal 11 (Segmentation fault); it printed nothing"), end)
    learned = learn(CASE, "transformers", [seen], [WELL])
    assert judge(seen, learned.case.signatures) is Verdict.BAD


def test_of_repetitions_the_first_that_fails_is_learned() -> None:
    learned = learn(CASE, "transformers", [WELL, failed(BUG)], [failed(BUG), failed(MISSING)])
    assert (learned.bug, learned.absent) == (signature_of(BUG), signature_of(MISSING))


NOT_THERE = Evidence("ModuleNotFoundError", "No module named 'accelerate.utils'")


def test_a_module_that_the_environment_lacks_is_no_bug() -> None:
    seen = Outcome("raised", "run", NOT_THERE, 1.0, import_failure=True)
    learned = learn(CASE, "transformers", [seen], [seen])
    assert learned.bug is None
    assert learned.why == "it imports accelerate, and the environment has no such module"


@pytest.mark.parametrize(
    "seen",
    [
        Outcome("raised", "run", Evidence("ModuleNotFoundError", "No module named 'transformers.gone'"), 1.0, True),
        Outcome("raised", "run", replace(NOT_THERE, frame="transformers/x.py:1 in f"), 1.0, True),
        Outcome("raised", "library", NOT_THERE, 1.0, True),
        Outcome("raised", "run", Evidence("ImportError", "cannot import name 'X' from 'transformers'"), 1.0, True),
    ],
    ids=["module of the library", "imported by the library", "on import of the library", "name of the library"],
)
def test_an_import_that_breaks_inside_the_library_is_learned(seen: Outcome) -> None:
    learned = learn(CASE, "transformers", [seen], [WELL])
    assert judge(seen, learned.case.signatures) is Verdict.BAD
    assert learn(CASE, "transformers", [failed(BUG)], [seen]).absent == signature_of(seen.evidence)


def row(*outcomes: Outcome) -> ProbeResult:
    verdict = judge(outcomes[0], ()) if outcomes else Verdict.UNTESTABLE
    evidence = outcomes[0].evidence if outcomes else Evidence("EnvironmentUnavailable", "none")
    return ProbeResult("script.py", "1.0", None, "cpu", verdict, evidence, 1.0, False, "t", None, outcomes=outcomes)


def test_rows_are_judged_anew() -> None:
    learned = learn(CASE, "transformers", [failed(BUG)], [failed(MISSING)]).case
    verdicts = [rejudged(row(seen), learned).verdict for seen in (failed(BUG), failed(MISSING), failed(OTHER), WELL)]
    assert verdicts == [Verdict.BAD, Verdict.ABSENT, Verdict.OTHER_FAILURE, Verdict.GOOD]
    assert rejudged(row(), learned) == row()


def test_repetitions_that_disagree_once_more_is_known() -> None:
    learned = learn(CASE, "transformers", [failed(BUG)]).case
    before = row(failed(OTHER), failed(BUG))
    assert before.verdict is Verdict.OTHER_FAILURE
    after = rejudged(before, learned)
    assert after.verdict is Verdict.FLAKY
    assert after.evidence == replace(BUG, message=f"other failure, bad: {BUG.message}")


def test_a_signature_in_words() -> None:
    assert LearnedSignature("KeyError", "'x'", None).words == "KeyError: 'x'"
    assert signature_of(BUG).words.endswith("(transformers/cache_utils.py in update_conv_state)")
