# SPDX-License-Identifier: Apache-2.0
"""Keys by value: everything that a verdict depends on counts, and nothing else does."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.keys import Device, Limits, digest, environment_key, verdict_key

MAPPINGS = st.dictionaries(st.text(max_size=4), st.text(max_size=4) | st.integers() | st.none(), max_size=4)

LOCK = """\
filelock==3.20.0 \\
    --hash=sha256:aa
numpy==2.3.5 \\
    --hash=sha256:bb
"""
ENVIRONMENT = {"lock": LOCK, "torch": "2.9.1+cpu", "python": "3.11.7", "platform": "linux-x86_64"}
DEVICE = Device("cuda:0", "H200", "570.1")
LIMITS = Limits(seconds=60, memory=2**33, output=2**20, processes=64)
VERDICT: dict[str, Any] = {
    "tree": "1" * 40,
    "case_file": "early_init.py",
    "case_files": {"early_init.py": b"one", "casekit.py": b"two"},
    "environment": "e" * 64,
    "device": DEVICE,
    "limits": LIMITS,
    "child": "1",
    "variables": {"OMP_NUM_THREADS": "2"},
    "repetition": 0,
}


def test_digest_is_the_sha256_of_canonical_json() -> None:
    canonical = b'{"a":"\\u00e9","b":[1,null,{"c":true}]}'
    assert digest({"b": [1, None, {"c": True}], "a": "é"}) == hashlib.sha256(canonical).hexdigest()


@given(MAPPINGS, st.randoms())
def test_the_order_of_a_mapping_does_not_matter(parts: dict[str, object], random: Any) -> None:
    items = list(parts.items())
    random.shuffle(items)
    assert digest(dict(items)) == digest(parts)
    assert digest({"inner": dict(items)}) == digest({"inner": parts})


@given(MAPPINGS, MAPPINGS)
def test_different_parts_have_different_keys(one: dict[str, object], other: dict[str, object]) -> None:
    assert (digest(one) == digest(other)) == (one == other)


@pytest.mark.parametrize(
    "changes",
    [
        {"lock": LOCK.replace("3.20.0", "3.20.1")},
        {"lock": LOCK.replace("sha256:bb", "sha256:bc")},
        {"lock": LOCK + "tqdm==4.67.1\n"},
        {"torch": "2.9.1+cu128"},
        {"python": "3.11.8"},
        {"platform": "macosx-arm64"},
    ],
)
def test_each_component_of_an_environment_counts(changes: dict[str, str]) -> None:
    assert environment_key(**ENVIRONMENT) != environment_key(**{**ENVIRONMENT, **changes})


@pytest.mark.parametrize(
    "lock",
    [
        "# made by uv pip compile\n\n" + LOCK,
        LOCK.replace("\n", "\n\n") + "\n\n",
        LOCK.replace("    --hash", "  --hash"),
        LOCK.replace("\n", "\r\n"),
        LOCK + "    # via transformers\n",
        LOCK.replace("sha256:aa", "sha256:aa  # via huggingface-hub"),
    ],
)
def test_comments_and_space_of_a_lock_do_not_count(lock: str) -> None:
    assert environment_key(**{**ENVIRONMENT, "lock": lock}) == environment_key(**ENVIRONMENT)


def test_a_hash_sign_inside_a_requirement_counts() -> None:
    one, other = ({**ENVIRONMENT, "lock": f"a @ file:///a.whl#sha256={digit}\n"} for digit in "01")
    assert environment_key(**one) != environment_key(**other)


CHANGES: list[dict[str, Any]] = [
    {"tree": "2" * 40},
    {"case_files": {"early_init.py": b"one!", "casekit.py": b"two"}},
    {"case_files": {"early_init.py": b"one", "casekit.py": b"two!"}},
    {"case_files": {"early_init.py": b"two", "casekit.py": b"one"}},
    {"case_files": {"early_init.py": b"one", "other.py": b"two"}},
    {"case_files": {"early_init.py": b"one"}},
    {"environment": "f" * 64},
    {"device": Device("cuda:1", DEVICE.model, DEVICE.driver)},
    {"device": Device(DEVICE.name, "H100", DEVICE.driver)},
    {"device": Device(DEVICE.name, DEVICE.model, "570.2")},
    *({"limits": dataclasses.replace(LIMITS, **{field.name: 1})} for field in dataclasses.fields(LIMITS)),
    {"case_file": "casekit.py"},
    {"child": "2"},
    {"variables": {"OMP_NUM_THREADS": "1"}},
    {"variables": {}},
    {"repetition": 1},
]


def test_each_component_of_a_verdict_counts() -> None:
    keys = {verdict_key(**VERDICT), *(verdict_key(**{**VERDICT, **change}) for change in CHANGES)}
    assert len(keys) == len(CHANGES) + 1
    assert {key for change in CHANGES for key in change} == set(VERDICT), "each component was changed"


def test_the_order_of_a_cases_files_does_not_count() -> None:
    turned = dict(reversed(VERDICT["case_files"].items()))
    assert verdict_key(**{**VERDICT, "case_files": turned}) == verdict_key(**VERDICT)
