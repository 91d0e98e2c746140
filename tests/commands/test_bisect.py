# SPDX-License-Identifier: Apache-2.0
"""`headwater bisect` on real releases; what is decided by the search is tested on a small library beside this."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.releases
Run = Callable[..., Any]


def test_the_release_that_introduced_it(headwater: Run) -> None:
    done = headwater("bisect", "early-init", "--good", "5.4.0", "--bad", "5.10.1", "--json")
    assert done.status == 0, done.err
    assert done.json["result"] == "found"
    [change] = done.json["changes"]
    assert {"find": "introduced", "last_good": "5.4.0", "first_bad": "5.5.0", "candidates": ["5.5.0"]}.items() <= (
        change.items()
    )
    assert (change["level"], change["verdicts"], change["confirmed"]) == ("releases", ["absent", "bad"], True)
    # Two ends, and three halvings of the six releases between them; the ends and what is named are seen twice.
    assert len(done.json["probes"]) <= 5
    twice = {probe["revision"] for probe in done.json["probes"] if probe["repetitions"] == 2}
    assert twice == {"5.4.0", "5.5.0", "5.10.1"}


def test_a_person_sees_that_the_feature_arrived_there(headwater: Run) -> None:
    done = headwater("bisect", "early-init", "--good", "5.4.0", "--bad", "5.10.1")
    assert "early-init was introduced in 5.5.0: the feature arrived there, 5.4.0 is absent." in done.out


def test_ends_that_do_not_differ(headwater: Run) -> None:
    words = ("bisect", "batch-size", "--good", "5.4.0", "--bad", "5.10.1", "--json")
    done = headwater(*words)
    assert done.status == 3
    assert (done.json["result"], done.json["changes"]) == ("bad-endpoints", [])
    assert [probe["verdict"] for probe in done.json["probes"]] == ["good", "good"]
    assert "5.4.0 is good, 5.10.1 is good" in headwater(*words[:-1]).out


def test_a_release_that_cannot_be_had_leaves_a_range(headwater: Run, workspace: Path) -> None:
    """The hunt goes on around a release whose wheel the index does not have as pinned, and blames nothing for it."""
    pins = workspace / "upstream" / "transformers.toml"
    lines = pins.read_text(encoding="utf-8").splitlines()
    at = lines.index('version = "5.5.0"')
    wheel, tree = (next(n for n in range(at, at + 12) if lines[n].startswith(key)) for key in ("wheel", "tree"))
    lines[wheel] = lines[wheel].replace("transformers-5.5.0-", "transformers-5.5.0.no.such-")
    lines[tree] = f'tree = "{"0" * 40}"'
    pins.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = headwater("bisect", "early-init", "--good", "5.4.0", "--bad", "5.6.0", "--json", cwd=workspace)
    assert done.status == 4, done.err
    assert done.json["result"] == "range"
    assert done.json["changes"][0]["candidates"] == ["5.5.0", "5.6.0"]
    assert {p["revision"]: p["verdict"] for p in done.json["probes"]}["5.5.0"] == "harness-error"
    assert "5.5.0 cannot be probed: " in done.err


REPORT = """\
import torch
from transformers import PreTrainedConfig, StaticCache

kinds = ["full_attention", "linear_attention", "full_attention"]
cache = StaticCache(config=PreTrainedConfig(num_hidden_layers=3, layer_types=kinds), max_cache_len=16)
device = torch.device("cpu")
cache.early_initialization(batch_size=2, num_heads=2, head_dim=8, dtype=torch.float32, device=device)
cache.update_conv_state(torch.ones(2, 6, 4), 1)
"""


@pytest.mark.slow
def test_the_plain_script_of_the_report(headwater: Run, tmp_path: Path) -> None:
    """5.4.0 fails too, with another error, which is learned as `absent`."""
    (tmp_path / "report.py").write_text(REPORT, encoding="utf-8")
    done = headwater("bisect", str(tmp_path / "report.py"), "--good", "5.4.0", "--bad", "5.10.1", "--json")
    assert done.status == 0, done.err
    [change] = done.json["changes"]
    assert (change["first_bad"], change["verdicts"]) == ("5.5.0", ["absent", "bad"])
    assert "taken for absent: AttributeError" in " ".join(done.json["notes"])
