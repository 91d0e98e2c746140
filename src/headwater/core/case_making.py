# SPDX-License-Identifier: Apache-2.0
"""From a reporter's script to the text of a case: the script's body becomes `run(device)`, and what was learned of its
failure becomes a signature."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from headwater.core.errors import BadInput
from headwater.core.learning import LearnedSignature
from headwater.core.verdicts import Evidence, Signature

_REFERENCE = re.compile(
    r"(?:https?://[^/\s]+/)?(?P<repo>[\w.-]+/[\w.-]+)(?:#|/(?:issues|pull)/)(?P<number>\d+)(?:[/?#]\S*)?"
)
_NUMBER = re.compile(r"#?(\d+)")
# What `learning.normalise_message` puts in the place of what differs between runs, as patterns of it: as simple ones as
# serve for most messages, and those that serve for all.
_PATTERNS = {
    "<number>x<number>": r"\d+(?:x\d+)+",
    "<number>": r"\d+",
    "<path>/": r"(?:/[\w.+@~-]+)+/",
    "<path>": r"(?:/[\w.+@~-]+)+",
    "<address>": r"0[xX][0-9a-fA-F]+",
    "<id>": r"[0-9a-f-]{32,}",
    " ": " ",
}
_GENERAL = {**_PATTERNS, "<number>": r"[-+]?\d+(?:\.\d+)*(?:[eE][-+]?\d+)?", " ": r"\s+"}
_PLACEHOLDER = re.compile("(" + "|".join(map(re.escape, _PATTERNS)) + ")")
_LENGTH = 96  # characters of a message's pattern, so that its line fits
QUOTES = '""'  # what makes three of a string's quotes
_TAIL = '\n\nif __name__ == "__main__":\n    casekit.main(run, __file__)\n'


def read_reference(text: str, repository: str | None) -> str:
    """An issue or a pull request as cases name it, `owner/repo#1`, from that form, an address, or a number, which is
    one of `repository`.

    Raises:
        BadInput: it is none of these, or a number and nobody says of which repository.
    """
    number = _NUMBER.fullmatch(text)
    if number is not None and repository is None:
        raise BadInput(f"{text} of which repository? Say owner/name#{number[1]}, or put `repository` into the pins")
    if number is not None:
        return f"{repository}#{number[1]}"
    found = _REFERENCE.fullmatch(text)
    if found is None:
        raise BadInput(f"{text!r} is no issue, such as {repository or 'owner/name'}#1234, or the address of one")
    return f"{found['repo']}#{found['number']}"


def case_id_of(stem: str) -> str:
    """A case id out of a file's name without its suffix."""
    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")


def signature_from(learned: LearnedSignature, seen: Evidence) -> Signature:
    """The signature that a case states for a failure that was learned: its type, the beginning of its message with
    patterns for what differs between runs, and its function inside the library.

    Raises:
        BadInput: the failure says too little to be known again by.
    """
    if not learned.message:
        raise BadInput(
            f"{learned.type} without a message is nothing to know the bug by; give the script's exception one"
        )
    frame = None
    if learned.frame is not None:
        path, _, function = learned.frame.partition(" in ")
        frame = f"^{re.escape(path)}:\\d+ in {re.escape(function)}$"
    for patterns in (_PATTERNS, _GENERAL):
        made = Signature(learned.type, _message_pattern(learned.message, patterns), frame)
        if made.matches(seen):
            return made
    raise BadInput(f"no pattern could be made of {seen.type}: {seen.message!r}; write the case's signature by hand")


def _message_pattern(message: str, patterns: Mapping[str, str]) -> str:
    """A pattern of a normalised message, or of as many of its first words as fit."""
    words = message.split(" ")

    def pattern(count: int) -> str:
        parts = _PLACEHOLDER.split(" ".join(words[:count]))
        # Outside of a set a hyphen means itself.
        return "".join(patterns.get(part) or re.escape(part).replace(r"\-", "-") for part in parts)

    fits = (count for count in range(len(words), 1, -1) if len(pattern(count)) <= _LENGTH)
    count = next(fits, 1)
    begin, end = (r"^\s*", r"\s*$") if patterns is _GENERAL else ("^", "$")
    return begin + pattern(count) + (end if count == len(words) else "")


@dataclass(frozen=True)
class NewCase:
    """What the metadata of a new case says; `severity` is one of `cases.SEVERITIES`."""

    id: str
    title: str
    reference: str
    severity: str
    signature: Signature
    open: bool = False
    network: bool = False


def case_source(new: NewCase, script: str) -> str:
    """The text of a case around a script.

    Raises:
        BadInput: the script cannot be made the body of a function; with the line and the reason.
    """
    tree = ast.parse(script)
    docstring, future, body = _parted(tree)
    for node in ast.walk(tree):
        _refuse(node)
    head = f"# SPDX-License-Identifier: Apache-2.0\n{_block(new)}"
    said = ast.get_source_segment(script, docstring) if docstring else None
    head += f"{said or QUOTES + json.dumps(new.title + '.', ensure_ascii=False) + QUOTES}\n\n"
    if future:
        head += "".join(f"{ast.get_source_segment(script, node)}\n" for node in future) + "\n"
    head += "import casekit\n\n\ndef run(device: str) -> None:\n"
    wanted = [ast.dump(node) for node in body]
    # With its comments and line breaks if that works out; else as Python writes it.
    for inside in (_indented(script, body), textwrap.indent("\n".join(map(ast.unparse, body)), "    ") + "\n"):
        if _run_of(head + inside) == wanted:
            return f"{head}{inside}{_TAIL}"
    raise BadInput("the script could not be put into a function unchanged; write the case by hand (docs/cases.md)")


def _run_of(source: str) -> list[str] | None:
    """What the statements of `run`, the last of a module, are; None where it is no Python."""
    try:
        function = ast.parse(source).body[-1]
    except SyntaxError:
        return None
    return [ast.dump(node) for node in function.body] if isinstance(function, ast.FunctionDef) else None


def _block(new: NewCase) -> str:
    lines = [
        "/// case",
        f"id = {_basic(new.id)}",
        f"title = {_basic(new.title)}",
        f"references = [{_basic(new.reference)}]",
        f"severity = {_basic(new.severity)}",
        *(["open = true"] if new.open else []),
        *(["network = true"] if new.network else []),
        "[[signature]]",
        f"type = {_basic(new.signature.type)}",
        f"message = {_literal(new.signature.message)}",
        *([f"frame = {_literal(new.signature.frame)}"] if new.signature.frame else []),
        "///",
    ]
    return "".join(f"# {line}\n" for line in lines)


def _basic(text: str) -> str:
    """A TOML basic string; what JSON escapes, TOML escapes alike."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _literal(text: str) -> str:
    """A pattern as a TOML literal string, so that its backslashes stand as they are, where it holds no quote."""
    return _basic(text) if "'" in text or not text.isprintable() else f"'{text}'"


def _parted(tree: ast.Module) -> tuple[ast.Constant | None, list[ast.ImportFrom], list[ast.stmt]]:
    """A module's docstring, its `from __future__` imports, and its other statements; those below
    `if __name__ == "__main__":` are among the latter."""
    docstring: ast.Constant | None = None
    future: list[ast.ImportFrom] = []
    body: list[ast.stmt] = []
    for n, node in enumerate(tree.body):
        if n == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and ast.get_docstring(tree):
            docstring = node.value
        elif isinstance(node, ast.ImportFrom) and node.module == "__future__":
            future.append(node)
        elif isinstance(node, ast.If) and ast.unparse(node.test) in (
            "__name__ == '__main__'",
            "'__main__' == __name__",
        ):
            if node.orelse:
                raise BadInput(f"line {node.lineno}: `if __name__ == ...` has an else; leave one of the two")
            body += node.body
        else:
            body.append(node)
    if not body:
        raise BadInput("the script does nothing")
    return docstring, future, body


def _refuse(node: ast.AST) -> None:
    """Refuse what means something else, or nothing, inside a function."""
    match node:
        case ast.Global():
            reason = f"`global {node.names[0]}` has no module to reach inside `run`; pass it, or return it"
        case ast.ImportFrom(names=[ast.alias(name="*")]):
            reason = f"`from {node.module} import *` is not allowed inside `run`; import names"
        case (
            ast.Call(func=ast.Name(id="exit" | "quit"))
            | ast.Call(func=ast.Attribute(attr="exit" | "_exit", value=ast.Name(id="sys" | "os")))
        ):
            reason = "a case says what it saw by returning or by an exception, not by an exit status; raise one"
        case ast.Name(id="globals"):
            reason = "`globals()` would not see what the script defines, once that is inside `run`"
        case _:
            return
    raise BadInput(f"line {getattr(node, 'lineno', 0)}: {reason}")


def _indented(script: str, body: list[ast.stmt]) -> str:
    """Statements, each with the comments above it, as the body of a function. Lines inside strings stay as they are."""
    lines = script.splitlines()
    kept = _lines_in_strings(body)
    made: list[str] = []
    before = 0
    for node in body:
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        # What stands between two statements that are kept is comments and blank lines, or code that is not kept.
        gap = [line for line in lines[before : start - 1] if re.match(r"\s*(#(?!!)|$)", line)]
        for line in gap:
            made += [f"    {line.strip()}"] if line.strip() else [""] if made and made[-1] else []
        margin = " " * node.col_offset
        # A statement behind a semicolon stands on a line that is there already.
        for number, line in list(enumerate(lines, 1))[max(before, start - 1) : node.end_lineno]:
            made.append(line if number in kept else f"    {line.removeprefix(margin)}" if line.strip() else "")
        before = max(before, node.end_lineno or start)
    return "\n".join(made).strip("\n") + "\n"


def _lines_in_strings(body: list[ast.stmt]) -> set[int]:
    """The lines that begin inside a string."""
    found: set[int] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.JoinedStr) or (
                isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
            ):
                found.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    return found
