# SPDX-License-Identifier: Apache-2.0
"""Dataclasses to plain data and back: nothing is lost, and what is damaged is refused with its place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.errors import BadInput
from headwater.core.plain_data import flatten, from_plain, to_plain


class Colour(Enum):
    RED = "red"
    GREEN = "green"


@dataclass(frozen=True)
class Inner:
    name: str
    colour: Colour
    word: Literal["yes", "no"]


@dataclass(frozen=True)
class Outer:
    number: int
    flag: bool
    maybe: str | None
    inners: tuple[Inner, ...]
    sums: Mapping[str, Mapping[str, str]]


inners = st.builds(Inner, st.text(), st.sampled_from(Colour), st.sampled_from(("yes", "no")))
outers = st.builds(
    Outer, st.integers(), st.booleans(), st.none() | st.text(), st.lists(inners).map(tuple),
    st.dictionaries(st.text(), st.dictionaries(st.text(), st.text())),
)  # fmt: skip
WHOLE = to_plain(Outer(1, True, None, (Inner("a", Colour.RED, "yes"),), {"x": {"y": "z"}}))


@given(outers)
def test_there_and_back(value: Outer) -> None:
    assert from_plain(Outer, json.loads(json.dumps(to_plain(value))), "file") == value


@given(outers, outers)
def test_flat_data_is_the_same_where_the_data_is(one: Outer, other: Outer) -> None:
    same = flatten(to_plain(one)) == flatten(to_plain(other))
    assert same or one != other
    assert flatten(to_plain(one)) == flatten(json.loads(json.dumps(to_plain(one))))


def test_paths_name_things_instead_of_places() -> None:
    flat = flatten(WHOLE)
    assert flat == {
        "number": 1, "flag": True, "maybe": None, "inners[a].name": "a", "inners[a].colour": "red",
        "inners[a].word": "yes", "sums.x.y": "z",
    }  # fmt: skip
    assert flatten({"all": []}) == {"all": []}
    twice = {"all": [{"name": "a", "n": 1}, {"name": "a", "n": 2}]}
    assert flatten(twice) == {"all[0].name": "a", "all[0].n": 1, "all[1].name": "a", "all[1].n": 2}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"number": "1"}, "file.number: '1' is not int"),
        ({"number": True}, "file.number: True is not int"),
        ({"flag": 1}, "file.flag: 1 is not bool"),
        ({"maybe": 3}, "file.maybe: 3 is not str"),
        ({"inners": {}}, "file.inners: {} is not a list"),
        ({"inners": [None]}, "file.inners[0]: None is not an object"),
        ({"inners": [{"name": "a", "colour": "blue", "word": "yes"}]}, "'blue' is not one of red, green"),
        ({"inners": [{"name": "a", "colour": ["red"], "word": "yes"}]}, "file.inners[0].colour"),
        ({"inners": [{"name": "a", "colour": "red", "word": "maybe"}]}, "'maybe' is not one of yes, no"),
        ({"inners": [{"name": "a", "colour": "red"}]}, "file.inners[0]: the key 'word' is missing"),
        ({"sums": {"x": 1}}, "file.sums.x: 1 is not an object"),
        ({"more": 1}, "file: there is no key 'more'"),
    ],
)
def test_damage_is_named(change: dict[str, Any], named: str) -> None:
    with pytest.raises(BadInput) as error:
        from_plain(Outer, {**WHOLE, **change}, "file")
    assert named in str(error.value)
