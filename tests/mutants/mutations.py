# SPDX-License-Identifier: Apache-2.0
"""Small mistakes put into a source file, one at a time: the operators, and where each applies.

Only what can change behaviour is touched: bodies of functions, and the values of a class's attributes where a function
of the class ran. Left alone are texts, annotations, decorators, default values, what an exception says, and statements
that only log or warn.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

# What each operator does, in the words that are printed.
OPERATORS = {
    "comparison": "`<` and `<=`, `>` and `>=`, `==` and `!=`, `is` and `is not`, `in` and `not in` change places",
    "arithmetic": "`+` and `-`, `*` and `//` change places, in assignments too",
    "off-by-one": "a whole number becomes the next one",
    "dimension": "a negative number becomes its neighbour: -1 becomes -2, and any other -n becomes -n + 1",
    "flag": "`True` and `False` change places",
    "connective": "`and` and `or` change places",
    "negation": "a `not` goes, or one comes before a condition that is no comparison by `==`, `!=`, `is`",
    "dropped statement": "a call, or an assignment to an attribute, an item or a name that has a value already, goes",
    "argument swap": "the first two positional arguments of a call change places, but of isinstance, hasattr, getattr",
    "return value": "a value that is returned becomes None",
}
_COMPARISONS = {
    "<=": "<", "<": "<=", ">=": ">", ">": ">=", "==": "!=", "!=": "==",
    "is not": "is", "is": "is not", "not in": "in", "in": "not in",
}  # fmt: skip
_WORDS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+", ast.Sub: "-", ast.Mult: "*",
    ast.FloorDiv: "//", ast.And: "and", ast.Or: "or",
}  # fmt: skip
_ARITHMETIC = {"+": "-", "-": "+", "*": "//", "//": "*"}
_TELLERS = ("logger", "warnings")
# Swapped, these raise wherever they stand: there is nothing to notice.
_ASKING = ("isinstance", "hasattr", "getattr")


@dataclass(frozen=True)
class Mutant:
    """One mistake: what stands in a source from byte `start` to `end` becomes `after`. `line` is where it begins,
    `function` the qualified name of what it is in."""

    operator: str
    function: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def applied(self, source: bytes) -> bytes:
        """The source with the mistake in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    @property
    def words(self) -> str:
        """What it does, in a line."""
        shown = " ".join(self.before.split())
        return f"line {self.line}, {self.function}: {self.operator}: `{shown}` becomes `{self.after}`"


def mutants(source: bytes, ran: Collection[int]) -> list[Mutant]:
    """Every mistake that the operators make at a place whose line is one of those that `ran`, in the order of the text.

    Each compiles, and differs from the source and from every other one.
    """
    finder = _Finder(source, ran)
    finder.visit(ast.parse(source))
    texts: dict[bytes, Mutant] = {}
    for mutant in sorted(finder.found, key=lambda one: (one.start, one.end, one.operator)):
        text = mutant.applied(source)
        if mutant.line in ran and text != source and _compiles(text):
            texts.setdefault(text, mutant)
    return list(texts.values())


def chosen(every: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """`count` of them by a seed, in the order of the text; all, where there are no more.

    Which ones hangs on what each is and on the seed alone: with another operator, or another line in the file, a few
    are exchanged and not all, and a larger sample holds the smaller one of its seed.
    """
    same: Counter[tuple[str, ...]] = Counter()
    ranks: list[tuple[bytes, int]] = []
    for place, mutant in enumerate(every):
        # By name and not by line: a line that is added would move all after it.
        what = (mutant.function, mutant.operator, mutant.before, mutant.after)
        same[what] += 1
        text = "\0".join((str(seed), *what, str(same[what])))
        ranks.append((hashlib.sha256(text.encode()).digest(), place))
    return [every[place] for place in sorted(place for _digest, place in sorted(ranks)[:count])]


def _compiles(text: bytes) -> bool:
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


@dataclass
class _Finder(ast.NodeVisitor):
    """Walks a module, and keeps what the operators make of it."""

    source: bytes
    ran: Collection[int]
    found: list[Mutant] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)
    _bound: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        lengths = [len(line) for line in self.source.splitlines(keepends=True)]
        self._starts = [sum(lengths[:n]) for n in range(len(lengths) + 1)]

    def visit_Module(self, node: ast.Module) -> None:
        for statement in node.body:
            if isinstance(statement, ast.ClassDef | ast.FunctionDef):
                self.visit(statement)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._names.append(node.name)
        for statement in node.body:
            if isinstance(statement, ast.ClassDef | ast.FunctionDef):
                self.visit(statement)
            elif isinstance(statement, ast.Assign) and self._has_run(node):
                self.visit(statement.value)
        self._names.pop()

    def _has_run(self, node: ast.ClassDef) -> bool:
        """Whether a line of a function of a class ran: its attributes are set by every import."""
        bodies = [statement for one in node.body if isinstance(one, ast.FunctionDef) for statement in one.body]
        return any(statement.lineno in self.ran for statement in bodies)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer, self._bound = self._bound, {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        self._names.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self._names.pop()
        self._bound = outer

    def visit_Raise(self, node: ast.Raise) -> None:
        self._replace("dropped statement", node, "pass")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call) and not _only_tells(node.value):
            self._replace("dropped statement", node, "pass")
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = {one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
        stored = any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
        if stored or names <= self._bound:
            self._replace("dropped statement", node, "pass")
        self.visit(node.value)
        self._bound |= names

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace("dropped statement", node, "pass")
        self._exchange("arithmetic", node.op, node.target, node.value, _ARITHMETIC, tail="=")
        self.visit(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            if not (isinstance(node.value, ast.Constant) and node.value.value is None):
                self._replace("return value", node.value, "None")
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for n, operator in enumerate(node.ops):
            self._exchange("comparison", operator, sides[n], sides[n + 1], _COMPARISONS)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._exchange("arithmetic", node.op, node.left, node.right, _ARITHMETIC)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = {"and": "or", "or": "and"}
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._exchange("connective", node.op, left, right, other)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._replace("negation", node, self._text(node.operand))
        if isinstance(node.op, ast.USub) and _is_whole(node.operand):
            number = ast.literal_eval(node.operand)
            self._replace("dimension", node, "-2" if number == 1 else str(1 - number))
            return
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace("flag", node, str(not node.value))
        elif _is_whole(node):
            self._replace("off-by-one", node, str(ast.literal_eval(node) + 1))

    def visit_Call(self, node: ast.Call) -> None:
        first, second = (*node.args[:2], None, None)[:2]
        asks = isinstance(node.func, ast.Name) and node.func.id in _ASKING
        if first and second and not asks and not any(isinstance(one, ast.Starred) for one in (first, second)):
            start, end = self._span(first)[0], self._span(second)[1]
            between = self.source[self._span(first)[1] : self._span(second)[0]].decode()
            self._add("argument swap", first.lineno, start, end, f"{self._text(second)}{between}{self._text(first)}")
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Texts are left alone."""

    def _negate(self, test: ast.expr) -> None:
        named = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot)
        if not named and not isinstance(test, ast.UnaryOp):
            self._replace("negation", test, f"not ({self._text(test)})")

    def _exchange(
        self, name: str, operator: ast.AST, left: ast.expr, right: ast.expr, others: dict[str, str], tail: str = ""
    ) -> None:  # fmt: skip
        """Exchange an operator, which has no place of its own: it stands between its sides."""
        word = _WORDS.get(type(operator))
        if word is None or word not in others:
            return
        low, high = self._span(left)[1], self._span(right)[0]
        at = self.source[low:high].decode().find(word + tail)
        if at >= 0:
            line = left.end_lineno or left.lineno
            self._add(name, line, low + at, low + at + len(word), others[word])

    def _replace(self, name: str, node: ast.expr | ast.stmt, after: str) -> None:
        start, end = self._span(node)
        self._add(name, node.lineno, start, end, after)

    def _add(self, name: str, line: int, start: int, end: int, after: str) -> None:
        function = ".".join(self._names)
        self.found.append(Mutant(name, function, line, start, end, self.source[start:end].decode(), after))

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[end_line - 1] + end_column

    def _text(self, node: ast.expr) -> str:
        return self.source[slice(*self._span(node))].decode()


def _is_whole(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool)


def _only_tells(call: ast.Call) -> bool:
    """Whether a call only logs or warns."""
    root: ast.AST = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in _TELLERS
