# SPDX-License-Identifier: Apache-2.0
"""The door to git, on GitPython's `Git().execute`.

Every call names its repository; the user's configuration, hooks and GIT_* variables have no say, so that the same
input gives the same ids on every machine.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

# GitPython looks for git on import, and where there is none it would print, or raise, if the user's variable says so.
os.environ["GIT_PYTHON_REFRESH"] = "quiet"
import git

from headwater.core.diagnosis import OLDEST_GIT
from headwater.core.errors import HarnessError
from headwater.core.redaction import redact

_ISOLATION = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_AUTHOR_NAME": "Headwater",
    "GIT_AUTHOR_EMAIL": "headwater@invalid.example",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00+0000",
    "GIT_COMMITTER_NAME": "Headwater",
    "GIT_COMMITTER_EMAIL": "headwater@invalid.example",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00+0000",
    "TZ": "UTC",
}
# Variables that point git at another repository; they are set, e.g., where Headwater runs inside a git hook.
_LEAKING = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
    "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_ATTR_SOURCE", "GIT_LITERAL_PATHSPECS", "GIT_ICASE_PATHSPECS",
    "GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT",
)  # fmt: skip
# Not isolated from where a remote is spoken to: credentials, proxies and certificates are in the user's settings.
_USERS_SETTINGS = ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL")
_SETTINGS = ("core.autocrlf=false", "core.quotePath=false", "gc.auto=0", "advice.detachedHead=false")
# In a person's own work tree that person's settings say how files are written there (line ends, filters); programs that
# git would start by the way have no say.
_PERSONAL_ISOLATION = {
    name: _ISOLATION[name] for name in ("GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_NO_REPLACE_OBJECTS")
}
_PERSONAL_SETTINGS = ("core.quotePath=false", "gc.auto=0", f"core.hooksPath={os.devnull}", "core.fsmonitor=false")


class GitFailed(HarnessError):
    """A git command ended with a status other than 0."""

    def __init__(self, argv: Sequence[str], status: int, stdout: bytes, stderr: str) -> None:
        self.status, self.stderr = status, redact(stderr.strip())
        self.output = stdout.decode(errors="replace")
        super().__init__(redact(f"git {argv[0]} ended with status {status}: {self.stderr}"))


def shed_git_variables() -> None:
    """Forget the GIT_* variables that would point every git call at another repository."""
    for name in _LEAKING:
        os.environ.pop(name, None)


class GitDir:
    """A repository, by its git directory (bare or not). `environ` goes over every call's environment."""

    _isolation: Mapping[str, str] = _ISOLATION
    _settings: Sequence[str] = _SETTINGS

    def __init__(self, path: Path, environ: Mapping[str, str] | None = None) -> None:
        self.path = path
        self._environ = dict(environ or {})
        self._work_tree: Path | None = None

    def __call__(
        self,
        *argv: str | Path,
        work_tree: Path | None = None,
        index: Path | None = None,
        stdin: IO[bytes] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> str:
        """Run `git ARGV` and return its standard output without the last newline.

        Raises:
            GitFailed: with git's own words.
        """
        return self.raw(*argv, work_tree=work_tree, index=index, stdin=stdin, environ=environ).decode(
            errors="surrogateescape"
        ).removesuffix("\n")  # fmt: skip

    def words(self, *argv: str | Path, work_tree: Path | None = None, index: Path | None = None) -> str:
        """Run `git ARGV` and return what it says on standard error: what it did, in words."""
        return self._run(argv, work_tree, index, None, None)[1]

    def talk(
        self, *argv: str | Path, settings: Mapping[str, str], users: bool, stdin: IO[bytes] | None = None
    ) -> tuple[str, str]:
        """Run a `git ARGV` that speaks to a remote; its standard output, and what it says on standard error.

        `settings` are settings for this one call, kept from the command line, where everybody reads addresses with
        passwords. `users`: the user's and the machine's git configuration count too, except for hooks.

        Raises:
            GitFailed: with git's own words.
        """
        given = {**settings, "core.hooksPath": os.devnull, "protocol.version": "2"}
        environ = {"GIT_CONFIG_COUNT": str(len(given)), "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}
        for number, (name, value) in enumerate(given.items()):
            environ |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        out, err = self._run(argv, None, None, stdin, environ, _USERS_SETTINGS if users else ())
        return out.decode(errors="surrogateescape").removesuffix("\n"), err

    def raw(
        self,
        *argv: str | Path,
        work_tree: Path | None = None,
        index: Path | None = None,
        stdin: IO[bytes] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> bytes:
        """Like calling the object, with the output as it came."""
        return self._run(argv, work_tree, index, stdin, environ)[0]

    def _run(
        self,
        argv: Sequence[str | Path],
        work_tree: Path | None,
        index: Path | None,
        stdin: IO[bytes] | None,
        environ: Mapping[str, str] | None,
        without: Collection[str] = (),
    ) -> tuple[bytes, str]:
        words = [str(word) for word in argv]
        command = [_executable(), f"--git-dir={self.path}"]
        if work_tree := work_tree or self._work_tree:
            command.append(f"--work-tree={work_tree}")
        for setting in self._settings:
            command += ["-c", setting]
        variables = {name: value for name, value in self._isolation.items() if name not in without}
        variables |= {**self._environ, **(environ or {})}
        if index is not None:
            variables["GIT_INDEX_FILE"] = str(index)
        status, out, err = _execute([*command, *words], variables, stdin, self._work_tree)
        if status != 0:
            raise GitFailed(words, status, out, err)
        return out, err


def repository_around(folder: Path) -> tuple[GitDir, str] | None:
    """The repository that a folder lies in, whoever owns it, and the folder's path in it ("" or ending in a slash);
    None where it lies in none."""
    # What is found so is read and written by plumbing only: its hooks do not run.
    words = ["-c", "safe.directory=*", "rev-parse", "--absolute-git-dir", "--show-prefix"]
    status, out, _err = _execute([_executable(), *words], _ISOLATION, None, folder)
    if status != 0:
        return None
    path, prefix = out.decode(errors="surrogateescape").removesuffix("\n").split("\n")
    return GitDir(Path(path)), prefix


class PersonalGit(GitDir):
    """The repository of a person's work tree, read and written as that person's own git would, by the settings of
    person and machine: line ends, filters, identity. Hooks and file system monitors are not run."""

    _isolation = _PERSONAL_ISOLATION
    _settings = _PERSONAL_SETTINGS

    def __init__(self, path: Path, work_tree: Path) -> None:
        super().__init__(path)
        # Attributes are looked for in the current folder, which so has to be the tree.
        self._work_tree = work_tree


def version() -> str:
    """The version of git: "2.39.5".

    Raises:
        HarnessError: there is no git, or it does not start.
    """
    words = ["--version"]
    status, out, err = _execute([_executable(), *words], _ISOLATION, None, None)
    if status != 0:
        raise GitFailed(words, status, out, err)
    # "git version 2.39.5 (Apple Git-154)"
    return out.decode(errors="replace").removeprefix("git version ").split()[0]


def init_bare(path: Path) -> None:
    """Make an empty bare repository, without templates (no sample hooks)."""
    words = ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--object-format=sha1", str(path)]
    status, out, err = _execute([_executable(), *words], _ISOLATION, None, None)
    if status != 0:
        raise GitFailed(words, status, out, err)
    # Files are laid out as they are, whatever a .gitattributes among them says.
    (path / "info").mkdir(exist_ok=True)
    (path / "info" / "attributes").write_text("* -text -ident -filter -working-tree-encoding\n", encoding="utf-8")


@contextmanager
def lines_of(words: Sequence[str]) -> Iterator[IO[bytes]]:
    """A file for a command's standard input, with a word a line."""
    with tempfile.TemporaryFile() as file:
        file.write("".join(f"{word}\n" for word in words).encode())
        file.seek(0)
        yield file


def missing_of(repository: GitDir, objects: Sequence[str]) -> list[str]:
    """Those of `objects` that a repository does not hold, each once."""
    with lines_of(list(dict.fromkeys(objects))) as names:
        answer = repository("cat-file", "--buffer", "--batch-check=%(objectname)", stdin=names)
    return [line.removesuffix(" missing") for line in answer.splitlines() if line.endswith(" missing")]


def _executable() -> str:
    return git.Git.GIT_PYTHON_GIT_EXECUTABLE or "git"


def _execute(
    command: list[str], variables: Mapping[str, str], stdin: IO[bytes] | None, folder: Path | None
) -> tuple[int, bytes, str]:
    door: Any = git.Git(folder)
    try:
        status, out, err = door.execute(
            command,
            istream=stdin,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            env=dict(variables),
        )
    except git.GitCommandNotFound as error:
        raise HarnessError(f"git is not installed, or not on PATH; Headwater needs {OLDEST_GIT} or later") from error
    except OSError as error:
        raise HarnessError(f"git cannot be started: {error}; Headwater needs {OLDEST_GIT} or later") from error
    return int(status), bytes(out), err if isinstance(err, str) else err.decode(errors="replace")
