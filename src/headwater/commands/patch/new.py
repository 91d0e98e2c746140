# SPDX-License-Identifier: Apache-2.0
"""`headwater patch new`: a person's edits as a new patch on top of a series, or as the first of a new one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from headwater.commands.context import Context
from headwater.commands.patch.on_tree import OnTree, on_tree
from headwater.commands.patch.refresh import applied_on_base, extend, require_same
from headwater.core.applied import AppliedPatch, AppliedSeries
from headwater.core.errors import BadInput
from headwater.core.mail import read_patch
from headwater.core.naming import no_such
from headwater.core.series import SeriesFile, require_name
from headwater.core.series_text import file_name, new_series, next_number, with_patch
from headwater.core.tree_results import NewReport
from headwater.effects.edits import Edits, read_edits
from headwater.effects.merging import split_author
from headwater.effects.patch_text import patch_text
from headwater.effects.quarantine import Quarantine
from headwater.effects.series_folder import SERIES, Series

_TRAILER = re.compile(r"[A-Za-z][A-Za-z0-9-]*: \S")


@dataclass(frozen=True)
class NewRequest:
    """What a new patch is called and says. `author` is `Name <mail>`, None for the person's own by their git settings;
    `add` are new files to take."""

    series: str
    subject: str
    body: str
    cases: Sequence[str]
    author: str | None
    add: Sequence[Path]


def new(context: Context, request: NewRequest, tree: Path) -> NewReport:
    """Make a patch of a tree's edits, on top of the series that is applied there; on a release where no series of that
    name is there yet it begins one.

    Raises:
        BadInput: no such tree or case; nothing is edited; the series is not applied there, or not to the release that
            it is written against; the tree is no release; nobody is known to be the author.
    """
    if not request.subject.strip() or "\n" in request.subject:
        raise BadInput(f"the subject must be one line, not {request.subject!r}")
    known = context.workspace.cases()
    if unknown := [case for case in request.cases if case not in known]:
        raise no_such("case", unknown[0], known)
    with on_tree(context, tree) as ground:
        return context.mirror.mending(_new, ground, request)


def _new(ground: OnTree, request: NewRequest) -> NewReport:
    folder = ground.context.workspace.patches / request.series
    began = not (folder / SERIES).is_file()
    head = ground.tree.head()
    author = request.author or ground.tree.identity()
    if author is None:
        raise BadInput("your git settings name no author (user.name, user.email); pass --author 'Name <mail>'")
    with ground.quarantine() as made:
        series, applied = _begun(ground, made, request) if began else _existing(ground, made, request)
        edits = read_edits(ground.tree, made, request.add)
        if not edits.paths:
            hint = f"; --add takes {', '.join(edits.left_out[:5])}" if edits.left_out else ""
            raise BadInput(f"nothing is edited in {ground.tree.path}: there is no patch to make{hint}")
        commit = _commit(made, request, author, edits, head)
        content = patch_text(made.bench.git, commit)
        name = file_name(next_number(series.file.patches), request.subject)
        file = replace(series.file, patches=(*series.file.patches, name))
        fresh = replace(series, file=file, patches=(*series.patches, read_patch(name, content)))
        require_same(ground, made, fresh, applied, commit)
        made.hand_over(ground.tree, [commit])
    patches = (*applied.patches, AppliedPatch(name, hashlib.sha256(content).hexdigest(), commit))
    extend(ground, f"new {series.name}", applied, head, commit, patches, _files(fresh, name, content, began))
    path = (folder / name).relative_to(ground.context.workspace.root).as_posix()
    return NewReport(series.name, ground.tree.path, path, author, commit, began, edits.paths, edits.left_out)


def _existing(ground: OnTree, made: Quarantine, request: NewRequest) -> tuple[Series, AppliedSeries]:
    series = ground.context.workspace.series(request.series)
    applied = applied_on_base(ground, made, series)
    if applied.variant is not None:
        raise BadInput(
            f"{ground.tree.path} has the variant {applied.variant} of series {series.name}; a new patch is written "
            f"against {series.file.base}, and `headwater patch carry` brings it to other releases"
        )
    if ground.tree.head() != applied.after:
        raise BadInput(
            f"HEAD of {ground.tree.path} is not the last patch of series {series.name}; `headwater patch refresh` "
            "takes commits that were amended"
        )
    return series, applied


def _begun(ground: OnTree, made: Quarantine, request: NewRequest) -> tuple[Series, AppliedSeries]:
    require_name(request.series, "the series' name")
    head = ground.tree.head()
    release, exact = ground.release_of(made, head)
    if release is None or not exact:
        raise BadInput(
            f"the commit in {ground.tree.path} is no release of the index, and a series is written against one; edit a "
            "checkout of a release: `headwater checkout RELEASE`"
        )
    file = SeriesFile(release, ground.library_tree(made, head), ())
    folder = ground.context.workspace.patches / request.series
    return Series(request.series, folder, file, ()), AppliedSeries(
        request.series, str(release), None, head, head, (), ()
    )


def _commit(made: Quarantine, request: NewRequest, author: str, edits: Edits, head: str) -> str:
    name, address = split_author(author)
    if not name or "@" not in address:
        raise BadInput(f"the author must be written `Name <mail>`, not {author!r}")
    message = made.bench.folder / "message"
    message.write_text(message_of(request), encoding="utf-8")
    when = datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S%z")
    who = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": address, "GIT_AUTHOR_DATE": when}
    return made.bench.git("commit-tree", "-p", head, "-F", message, edits.tree, environ=who)


def message_of(request: NewRequest) -> str:
    """The commit message: subject, body, and a trailer for each case, in the paragraph of the body's own trailers."""
    body = request.body.strip()
    trailers = "\n".join(f"Headwater-Case: {case}" for case in request.cases)
    last = body.rpartition("\n\n")[2].splitlines()
    joined = bool(body) and all(_TRAILER.match(line) for line in last)
    parts = [request.subject.strip(), body, trailers]
    if joined and trailers:
        parts = [request.subject.strip(), f"{body}\n{trailers}"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _files(series: Series, name: str, content: bytes, began: bool) -> dict[Path, bytes]:
    """The files to write; `series` last, so that it never names what is not there."""
    path = series.folder / SERIES
    if began:
        text = new_series(str(series.file.base), series.file.base_tree, (name,))
    else:
        text = with_patch(path.read_bytes().decode("utf-8"), name)
    return {series.folder / name: content, path: text.encode("utf-8")}
