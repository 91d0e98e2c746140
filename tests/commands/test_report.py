# SPDX-License-Identifier: Apache-2.0
"""`headwater report`: what the atlas, the store and the last answers say, in one file, the same for the same input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hunting_ground import HISTORIES, UNMASK, Ground
from hypothesis import given
from hypothesis import strategies as st
from plain_atlas import PLAIN_ATLAS
from sample_report import hunt_document, reduction_document, sample_report
from sending import write_series

from headwater.report.html import reference_address, render, spans
from headwater.report.html_data import script_text


def data_of(page: Path) -> Any:
    """What a report embeds."""
    found = re.search(r'(?s)id="data">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found is not None
    return json.loads(found[1])


def seen_of(page: Path, case: str, release: str) -> list[list[Any]]:
    """What a report has of a cell, texts in place of their numbers."""
    data = data_of(page)
    column = [one["version"] for one in data["releases"]].index(release)
    [found] = [one for one in data["cases"] if one["id"] == case]
    rows = found["seen"].get(str(column), [])
    return [[data["devices"][row[0]], row[1], data["texts"][row[2]], row[6]] for row in rows]


@pytest.fixture
def reported(ground: Ground) -> Ground:
    """A ground with an atlas."""
    (ground.root / "tests" / "repro" / "atlas.toml").write_text(PLAIN_ATLAS, encoding="utf-8")
    return ground


def test_a_workspace_of_which_nothing_was_probed(reported: Ground) -> None:
    done = reported.run("report", "--json")
    assert done.status == 0, done.err
    assert (done.json["file"], done.json["cases"]) == ("headwater-report.html", len(HISTORIES))
    page = reported.here / "headwater-report.html"
    assert page.stat().st_size == done.json["bytes"]
    assert seen_of(page, "plain", "5.4.0") == []
    [plain] = [one for one in data_of(page)["cases"] if one["id"] == "plain"]
    assert plain["cells"] == "ggggggbbbbb"
    assert "the store of the machine that made this knows nothing of them" in page.read_text(encoding="utf-8")


def test_evidence_is_from_the_store_and_says_whether_it_holds_today(reported: Ground) -> None:
    assert reported.run("repro", "5.4.0", "--case", "plain").status == 0
    assert reported.run("repro", "5.3.0", "--case", "plain").status == 0
    page = reported.here / "report.html"
    assert reported.run("report", "--output", page).status == 0
    assert seen_of(page, "plain", "5.4.0") == [["cpu", "b", "RuntimeError: the cache broke at 8", 1]]
    assert seen_of(page, "plain", "5.3.0") == [["cpu", "g", "", 1]]
    case = reported.root / "tests" / "repro" / "plain.py"
    case.write_text(case.read_text(encoding="utf-8") + "# another text\n", encoding="utf-8")
    reported.run("report", "--output", page)
    assert seen_of(page, "plain", "5.4.0") == [["cpu", "b", "RuntimeError: the cache broke at 8", 0]]
    case.write_text(case.read_text(encoding="utf-8").replace("broke at", "is broken at"), encoding="utf-8")
    reported.run("report", "--output", page)
    assert seen_of(page, "plain", "5.4.0") == [["cpu", "f", "RuntimeError: the cache broke at 8", 0]]


def test_the_last_hunt_is_kept_and_shown_until_another_is_named(reported: Ground) -> None:
    page = reported.here / "report.html"
    assert reported.run("bisect", "plain", "--good", "5.0.0", "--bad", "5.7.0", "--repo", reported.repo).status == 0
    reported.run("report", "--output", page)
    text = page.read_text(encoding="utf-8")
    assert "<b>introduced</b> between <code>5.3.0</code> and <code>5.4.0</code>" in text
    assert f"<b>introduced</b> between <code>{reported.commits[13][:12]}</code>" in text
    assert text.count('class="narrowing"') == 2
    other = reported.write("hunt.json", json.dumps(hunt_document("plain")))
    reported.run("report", "--output", page, "--with", other)
    text = page.read_text(encoding="utf-8")
    assert "<code>5.4.0</code> and <code>5.5.0</code>" in text
    assert reported.commits[13][:12] not in text


def test_a_hunt_that_found_nothing_does_not_take_the_place_of_one_that_did(reported: Ground) -> None:
    reported.between("plain", "5.0.0", "5.7.0")
    [kept] = reported.cache.glob("answers/plain/*.json")
    before = kept.read_text(encoding="utf-8")
    assert kept.name == "hunt-introduced-cpu.json"
    assert reported.between("plain", "5.5.0", "5.7.0").status == 3
    assert kept.read_text(encoding="utf-8") == before


def test_the_last_reduction_is_kept_and_shown_with_what_its_hunk_rests_on(reported: Ground) -> None:
    page = reported.here / "report.html"
    assert reported.run("reduce", "plain", "--from", "5.3.0", "--to", "5.4.0").status == 0
    reported.run("report", "--output", page)
    text = page.read_text(encoding="utf-8")
    assert "Reduced difference, 5.3.0 → 5.4.0" in text
    assert "+    raise RuntimeError(&#39;the cache broke at 8&#39;)" in text
    [rests] = re.findall(r'(?s)<p class="rests">Without it.*?</p>', text)
    assert '<span class="chip v-g">' in rests


def test_a_patch_says_where_it_applies_on_the_releases_that_are_imported(reported: Ground) -> None:
    reported.series("mend", "5.4.0", UNMASK.replace("mend\n\n---", "mend\n\nHeadwater-Case: masked\n---"))
    page = reported.here / "report.html"
    assert reported.run("report", "--output", page).status == 0
    [article] = re.findall(r'(?s)<article class="view page" id="case=masked".*?</article>', page.read_text("utf-8"))
    states = [" ".join(re.sub(r"<.*?>", "", item).split()) for item in re.findall(r"(?s)<li class=.*?</li>", article)]
    assert states == [
        "clean on 5.0.0 to 5.1.0",
        "conflict on 5.2.0: conflicts in src/transformers/masked.py",
        "clean on 5.2.1 to 5.7.0",
    ]


@pytest.mark.slow
def test_what_was_seen_with_a_series_is_told_of_the_series_as_it_is_now(reported: Ground) -> None:
    series = write_series(reported, ["mended"], "5.3.0")
    page = reported.here / "report.html"

    def told() -> list[str]:
        assert reported.run("report", "--output", page).status == 0
        [article] = re.findall(r'(?s)<article class="view page" id="case=mended".*?</article>', page.read_text("utf-8"))
        cell = article.partition('<th scope="col">seen with the whole series')[2].rpartition("<td>")[2]
        return [" ".join(re.sub(r"<.*?>", "", item).split()) for item in re.findall(r"(?s)<li>.*?</li>", cell)]

    assert told() == []
    assert reported.run("repro", "5.3.0", "--case", "mended", "--series", "mend").status == 0
    assert told() == ["G good on 5.3.0 (cpu)"]
    text = series.files[0].read_text(encoding="utf-8")
    series.files[0].write_text(text.replace("+    return 8", "+    return 4 + 4"), encoding="utf-8")
    assert told() == []


def test_the_same_input_gives_the_same_bytes(reported: Ground) -> None:
    reported.run("repro", "5.4.0")
    pages = [reported.here / name for name in ("one.html", "two.html")]
    for seed, page in enumerate(pages):
        # In processes that order what is hashed in two ways.
        reported.environ["PYTHONHASHSEED"] = str(seed)
        assert reported.run("report", "--output", page).status == 0
    assert pages[0].read_bytes() == pages[1].read_bytes()


@pytest.mark.parametrize(("words", "said"), [
    (("--with", "no-such.json"), "no-such.json: cannot be read"),
    (("--with", "bad.json"), "bad.json: not what `headwater bisect`"),
    (("--output", "no/folder/report.html"), "the folder no/folder is not there"),
])  # fmt: skip
def test_what_cannot_be_read_or_written_is_named(reported: Ground, words: tuple[str, str], said: str) -> None:
    reported.write("bad.json", "{}")
    done = reported.run("report", *words)
    assert done.status == 2
    assert said in " ".join(done.err.split())
    assert not list(reported.here.glob("*.html"))


def test_a_report_of_the_size_of_the_atlas_is_small_and_holds_no_address_to_load(tmp_path: Path) -> None:
    text = render(sample_report())
    assert text == render(sample_report())
    assert len(text.encode()) < 2_000_000
    assert not re.search(r"(?i)<(link|img|iframe|script src|object|embed)|@import|url\(", text)
    assert "<b>& more</b>" not in text
    assert text.count("</script>") == 3


def test_answers_are_shown_once_and_their_text_is_escaped() -> None:
    text = render(sample_report(cases=2))
    assert "three &lt;/script&gt;&lt;!-- &amp; &lt;b&gt;" in text
    assert text.count('class="hunk"') == 2
    assert reduction_document("one")["diff"] not in text


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_embedded_json_is_read_back_and_ends_no_element(value: object) -> None:
    text = script_text(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


def test_references_and_spans() -> None:
    assert (
        reference_address("huggingface/transformers#46439")
        == "https://github.com/huggingface/transformers/issues/46439"
    )
    assert reference_address("javascript:alert(1)") is None
    versions = [one.pin.version for one in sample_report(cases=1).releases]
    assert spans(versions[:3] + versions[5:6], versions) == "4.56.0 to 4.56.2, 4.57.2"
    assert spans([], versions) == "none"
