# SPDX-License-Identifier: Apache-2.0
"""The data that a report embeds for its script: small, since every cell of the atlas is in it."""

from __future__ import annotations

import json
from typing import Any

from headwater.core.report_data import MEASURED_ON, ReportData, Seen
from headwater.core.results import has_accelerator
from headwater.core.verdicts import Verdict

# A verdict is told by its letter, and by its class's shape and shade; never by colour alone.
LETTERS: dict[Verdict | None, str] = {
    Verdict.GOOD: "G", Verdict.BAD: "B", Verdict.OTHER_FAILURE: "F", Verdict.ABSENT: "\N{EN DASH}",
    Verdict.UNTESTABLE: "U", Verdict.FLAKY: "~", Verdict.UNAVAILABLE: "N", Verdict.HARNESS_ERROR: "H", None: "",
}  # fmt: skip
CODES: dict[Verdict | None, str] = {
    Verdict.GOOD: "g", Verdict.BAD: "b", Verdict.OTHER_FAILURE: "f", Verdict.ABSENT: "a",
    Verdict.UNTESTABLE: "u", Verdict.FLAKY: "k", Verdict.UNAVAILABLE: "n", Verdict.HARNESS_ERROR: "h", None: "o",
}  # fmt: skip


def embedded(data: ReportData) -> dict[str, Any]:
    """Releases with their neighbours, cases with a letter a cell, and what was seen, each text once."""
    texts = _Texts()
    places = {one.pin.version: place for place, one in enumerate(data.releases)}
    return {
        "verdicts": {CODES[v]: [LETTERS[v], v.words if v else "not measured"] for v in (*Verdict, None)},
        "devices": list(data.devices),
        # Of what an accelerator showed nobody asks whether it would show that today.
        "unasked": [has_accelerator(device) for device in data.devices],
        "measured_on": MEASURED_ON,
        "releases": [
            {
                "version": str(one.pin.version),
                "parent": None if one.parent is None else places[one.parent],
                "children": [places[child] for child in one.children],
                "beside": None if one.beside is None else places[one.beside],
            }
            for one in data.releases
        ],
        "cases": [
            {
                "id": one.case.id,
                "text": " ".join([one.case.id, one.case.title, one.case.user_sees, *one.case.references]).lower(),
                "cells": "".join(CODES[cell.verdict] for cell in one.cells),
                # Where the letter is not the atlas', it is the store's.
                "own": "".join("1" if cell.expected else "0" for cell in one.cells),
                "seen": {
                    str(place): [_seen(seen, data.devices, texts) for seen in cell.seen]
                    for place, cell in enumerate(one.cells)
                    if cell.seen
                },
            }
            for one in data.cases
        ],
        "texts": texts.found,
    }


def _seen(seen: Seen, devices: tuple[str, ...], texts: _Texts) -> list[Any]:
    said = seen.evidence
    title = ": ".join(filter(None, [said.type, " ".join((said.message or "").split())]))
    return [
        devices.index(seen.device), CODES[seen.verdict], texts.place(title), texts.place(said.frame or ""),
        texts.place(seen.environment[:12]), texts.place(when(seen.recorded)), int(seen.current),
    ]  # fmt: skip


class _Texts:
    """Texts in the order in which they are first met, each once."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        """Where a text stands."""
        if text not in self._places:
            self._places[text] = len(self.found)
            self.found.append(text)
        return self._places[text]


def when(recorded: str) -> str:
    """A recorded time as people read it, to the minute: `2026-11-30 18:58 UTC`."""
    return recorded[:16].replace("T", " ") + " UTC"


def script_text(value: object) -> str:
    """JSON that may stand in a script element: nothing in it can end the element, or begin a comment in it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
