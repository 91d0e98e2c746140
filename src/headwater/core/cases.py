# SPDX-License-Identifier: Apache-2.0
"""Cases: small scripts that each show one bug, with the signatures by which the bug is known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.toml_text import Table, parse
from headwater.core.verdicts import Evidence, Recogniser, Signature, Verdict

# The block's form is that of PEP 723, with "case" as its type.
_BLOCK = re.compile(r"(?m)^# /// case$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
SEVERITIES = ("crash", "wrong-result", "slow", "unclear")
DEVICES = ("cpu", "meta", "cuda", "mps", "xpu")


@dataclass(frozen=True)
class Case:
    """One case.

    `file` is its file name; `time_limit` in seconds; `files` maps the name of every file that travels into a
    probe (the case, its helper, other files beside it that it imports) to its content. `absent` are the signatures of
    failures that show the feature to be missing, where such were learned. `open`: no release is without the bug yet,
    but for those that have not got the feature; `same_as` are cases that may fail alike, since one bug shows in both.
    `applies` are the releases that have the feature, None for those where the case finds out itself; `devices` the
    kinds of device on which it can tell.
    """

    id: str
    title: str
    file: str
    references: tuple[str, ...]
    severity: str
    signatures: tuple[Recogniser, ...]
    time_limit: int
    network: bool
    user_sees: str
    meanwhile: str
    files: Mapping[str, bytes]
    absent: tuple[Recogniser, ...] = ()
    open: bool = False
    same_as: tuple[str, ...] = ()
    applies: SpecifierSet | None = None
    devices: tuple[str, ...] = DEVICES

    @property
    def tells_everywhere(self) -> bool:
        """Whether the case can tell on every kind of device."""
        return set(self.devices) == set(DEVICES)

    def tells_on(self, device: str) -> bool:
        """Whether the case can tell on a device such as `cuda:1`."""
        return device.partition(":")[0] in self.devices

    def without_probe(
        self, release: Version | None, device: str, allow_network: bool
    ) -> tuple[Verdict, Evidence] | None:
        """The verdict that stands before anything runs, and why; None where a probe has to say. `release` is None for
        what is no release, of which `applies` says nothing."""
        if self.network and not allow_network:
            return Verdict.UNAVAILABLE, Evidence("NetworkNotAllowed", "needs --allow-network")
        if not self.tells_on(device):
            return Verdict.UNAVAILABLE, Evidence("CaseNotForDevice", f"tells on {', '.join(self.devices)} alone")
        if release is not None and self.applies is not None and not self.applies.contains(release, prereleases=True):
            return Verdict.ABSENT, Evidence("CaseNotForRelease", f"applies to {self.applies} alone")
        return None


def is_case_id(text: str) -> bool:
    """Whether a case may be called so."""
    return _ID.fullmatch(text) is not None


def metadata_block(source: str) -> str | None:
    """The TOML text of a case's metadata block, or None where there is none."""
    match = _BLOCK.search(source)
    return None if match is None else _uncommented(match)


def after_block(source: str) -> int:
    """How many lines of a case go to the end of its metadata block; 0 where it has none."""
    match = _BLOCK.search(source)
    return 0 if match is None else source.count("\n", 0, match.end()) + 1


def _uncommented(block: re.Match[str]) -> str:
    return "\n".join(line[2:] for line in block["content"].split("\n"))


def read_case(file: str, source: str, siblings: Mapping[str, bytes]) -> Case:
    """Read a case; `siblings` are the contents of the python files of its folder, by file name.

    Raises:
        BadInput: no metadata block, unknown keys, a pattern that does not compile, no `run(device)`; with the line.
    """
    blocks = list(_BLOCK.finditer(source))
    if len(blocks) != 1:
        raise BadInput(f"{file}: {len(blocks) or 'no'} `# /// case` block{'s'[: len(blocks)]}; docs/cases.md shows one")
    # Pad the block to where it stands, so that the lines in its errors are the file's own.
    text = "\n" * source.count("\n", 0, blocks[0].start("content")) + _uncommented(blocks[0])
    table = Table(parse(text, file), text, file)
    case_id = _read_id(table)
    severity = _read_severity(table)
    time_limit = table.take("time_limit", int, 120)
    if time_limit < 1:
        raise table.error("time_limit", f"must be at least 1 second, not {time_limit}")
    signatures = tuple(_read_signature(inner) for inner in table.tables("signature"))
    if not signatures:
        raise table.error("signature", "is empty: without one the case can never say `bad`")
    case = Case(
        id=case_id,
        title=table.text("title"),
        file=file,
        references=table.texts("references"),
        severity=severity,
        signatures=signatures,
        time_limit=time_limit,
        network=table.take("network", bool, False),
        user_sees=table.text("user_sees", ""),
        meanwhile=table.text("meanwhile", ""),
        files=traveling_files(file, source, siblings),
        open=table.take("open", bool, False),
        same_as=table.texts("same_as", ()),
        applies=_read_applies(table),
        devices=_read_devices(table),
    )
    table.close()
    _require_run(file, source)
    return case


def _read_id(table: Table) -> str:
    case_id: str = table.text("id")
    if not is_case_id(case_id):
        raise table.error("id", f"must be kebab-case, not {case_id!r}")
    return case_id


def _read_severity(table: Table) -> str:
    severity: str = table.text("severity")
    if severity not in SEVERITIES:
        raise table.error("severity", f"must be one of {', '.join(SEVERITIES)}, not {severity!r}")
    return severity


def _read_applies(table: Table) -> SpecifierSet | None:
    text = table.text("applies", None)
    if text is None:
        return None
    wanted = f"must be a specifier, such as '>=5.5.0,<5.13', not {text!r}"
    try:
        specifiers = SpecifierSet(text)
    except InvalidSpecifier as error:
        raise table.error("applies", wanted) from error
    if not text.strip():
        raise table.error("applies", wanted)
    return specifiers


def _read_devices(table: Table) -> tuple[str, ...]:
    devices: tuple[str, ...] = table.texts("devices", DEVICES)
    if not devices or not set(devices) <= set(DEVICES):
        raise table.error("devices", f"must be some of {', '.join(DEVICES)}, not {list(devices)}")
    return devices


def _read_signature(table: Table) -> Signature:
    signature = Signature(table.text("type"), table.text("message"), table.text("frame", None))
    for key, pattern in (("message", signature.message), ("frame", signature.frame)):
        try:
            re.compile(pattern or "")
        except re.error as error:
            raise table.error(key, f"is no regular expression: {error}") from error
    table.close()
    return signature


def _syntax(file: str, source: str | bytes) -> ast.Module:
    try:
        return ast.parse(source, file)
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"{file}: not valid Python: {error}") from error


def _require_run(file: str, source: str) -> None:
    for node in _syntax(file, source).body:
        if isinstance(node, ast.FunctionDef) and node.name == "run" and len(node.args.args) == 1:
            return
    raise BadInput(f"{file}: a case defines `def run(device):` with one argument")


def traveling_files(file: str, source: str, siblings: Mapping[str, bytes]) -> dict[str, bytes]:
    """The case and every file beside it that it imports, directly or through another: what a probe's folder holds,
    and so what a verdict's key must cover."""
    found = {file: source.encode()}
    waiting = [file]
    while waiting:
        importer = waiting.pop()
        for name in _imported_names(importer, found[importer]):
            sibling = f"{name}.py"
            if sibling in siblings and sibling not in found:
                found[sibling] = siblings[sibling]
                waiting.append(sibling)
    return found


@lru_cache(maxsize=1024)
def _imported_names(file: str, source: bytes) -> frozenset[str]:
    names: set[str] = set()
    for node in _statements(_syntax(file, source)):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return frozenset(names)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """What lies below a node and is no expression: imports are among it, and most nodes are not."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from _statements(child)
