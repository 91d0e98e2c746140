# SPDX-License-Identifier: Apache-2.0
"""A case made worse on purpose, in one place at a time: a self-test that passes all the same shows nothing there.

The two ways are those of mutation testing (DeMillo, Lipton, Sayward: Hints on Test Data Selection, 1978) that matter
here: the comparison that tells the bug is inverted, and a call is replaced by nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from headwater.core.cases import after_block

# Of the helpers, those that call what is tested; the others make ready, or measure.
_HELPERS = {"layerkit.append", "layerkit.fill", "modelkit.forward", "modelkit.greedy", "modelkit.continued"}


@dataclass(frozen=True)
class Mutant:
    """A case's text with one change, in `line` of the case as it is; `what` names the change in words."""

    line: int
    what: str
    source: str


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a case, in the order of its lines; the metadata block stays, other comments go.

    - A condition under which the case tells its bug is inverted; where a bug is told under none (in an `except` or an
      `else`), it is not told.
    - A call of a method (`cache.crop(-2)`), of a model, of what `getattr` gives, or of a helper that makes such calls,
      does nothing: a statement goes, a value is None. What makes caches and models is left, and so are modules.

    What is right to do nothing stands below a line `# idle: REASON`, and is left out.
    """
    lines = source.splitlines(keepends=True)
    head = "".join(lines[: after_block(source)])
    found = []
    for spot in _spots(ast.parse(source)):
        if lines[spot.line - 2].strip().startswith("# idle: "):
            continue
        tree = ast.parse(source)
        _Change(spot).visit(tree)
        found.append(Mutant(spot.line, spot.what, f"{head}{ast.unparse(ast.fix_missing_locations(tree))}\n"))
    return sorted(found, key=lambda mutant: mutant.line)


@dataclass(frozen=True)
class _Spot:
    """A node to be changed, by its place, from the first line and column to the last, and what that does."""

    place: tuple[int, int, int | None, int | None]
    what: str

    @property
    def line(self) -> int:
        """The line in which it begins."""
        return self.place[0]


def _place(node: ast.stmt | ast.expr) -> tuple[int, int, int | None, int | None]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _spots(tree: ast.Module) -> Iterator[_Spot]:
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        inside = list(ast.walk(function))
        told = []
        for node in inside:
            if isinstance(node, ast.If) and (bugs := [one for one in node.body if _is_bug(one)]):
                told += bugs
                yield _Spot(_place(node.test), f"`{ast.unparse(node.test)}` inverted")
        for node in inside:
            if isinstance(node, ast.Expr) and _is_bug(node) and node not in told:
                yield _Spot(_place(node), "the bug not told")
        variables = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        calls = [node for node in inside if isinstance(node, ast.Call)]
        named = [call.func for call in calls]  # what is called and not asked: getattr(cache, name)(-1)
        for call in calls:
            if call not in named and _is_under_test(call, variables):
                yield _Spot(_place(call), f"`{ast.unparse(call)}` left out")


def _is_bug(node: ast.AST) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) == "casekit.bug"


def _is_under_test(call: ast.Call, variables: Collection[str]) -> bool:
    called = ast.unparse(call.func)
    if called in _HELPERS or called.startswith("getattr("):
        return True
    if called == "getattr":
        return len(call.args) == 2  # with a third it looks whether something is there
    if isinstance(call.func, ast.Name):
        return called in variables
    root: ast.AST = call.func
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    return isinstance(root, ast.Name) and root.id in variables


class _Change(ast.NodeTransformer):
    """Changes one spot of a tree: a condition is inverted, a call or a statement goes."""

    def __init__(self, spot: _Spot) -> None:
        self._spot = spot

    def visit(self, node: ast.AST) -> ast.AST:
        """Every node comes by here, a statement before what stands in its very place."""
        if not isinstance(node, ast.stmt | ast.expr) or _place(node) != self._spot.place:
            return super().generic_visit(node)
        if isinstance(node, ast.Expr):
            return ast.Pass()
        if isinstance(node, ast.expr) and self._spot.what.endswith("inverted"):
            return ast.UnaryOp(ast.Not(), node)
        return ast.Constant(None)
