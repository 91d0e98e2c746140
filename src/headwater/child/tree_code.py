# SPDX-License-Identifier: Apache-2.0
"""Byte code of the files of a tree, kept by their content: what imports a library in a probed environment. Standard
library only."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import json
import marshal
import os
import sys
import tempfile
from collections.abc import Callable
from types import CodeType
from typing import Any, Protocol


class Speaker(Protocol):
    """What tells the caller of damage."""

    def say(self, event: str, **fields: object) -> None: ...


class TreeCode:
    """Byte code of a tree's files by their content, shared between all trees that hold the same file.

    A file's key is its git blob id, which its manifest gives and its source is checked against; no time stamp has a
    say. An entry begins with the sha256 of what follows it.
    """

    def __init__(self, request: dict[str, Any], speaker: Speaker) -> None:
        self.root = request["tree"]
        with open(request["manifest"], encoding="utf-8") as stream:
            self.files = json.load(stream)["files"]
        tag = f"{sys.implementation.cache_tag}-{importlib.util.MAGIC_NUMBER.hex()}"
        self._cache = os.path.join(request["code"], tag)
        self._speaker = speaker
        self.compiled, self.loaded = 0, 0
        self.damaged: list[str] = []
        self.is_writing = False  # to its own cache

    def counts(self) -> dict[str, Any]:
        """What was compiled, loaded and found damaged since it was made, or since `speak_for` a probe."""
        return {"compiled": self.compiled, "loaded": self.loaded, "damaged": self.damaged}

    def speak_for(self, speaker: Speaker) -> None:
        """Serve a probe, in a fork of the process that imported the library."""
        self._speaker = speaker
        self.compiled, self.loaded, self.damaged = 0, 0, []

    def load(self, path: str, read: Callable[[str], bytes]) -> CodeType:
        """The code of a file that is imported."""
        return self.code(path, read(path))

    def code(self, path: str, source: bytes) -> CodeType:
        inside = os.path.relpath(path, self.root).replace(os.sep, "/")
        blob = hashlib.sha1(b"blob %d\0" % len(source) + source).hexdigest()
        if self.files.get(inside, [None])[0] != blob:
            # At once: the library may catch what is raised here.
            self._speaker.say("damage", path=inside)
            os._exit(1)
        entry = os.path.join(self._cache, blob[:2], blob)
        found = self._read(entry)
        if found is not None:
            self.loaded += 1
            # The entry may have been made for the same file of another tree.
            sys.modules["_imp"]._fix_co_filename(found, path)
            return found
        self.compiled += 1
        made = compile(source, path, "exec", dont_inherit=True)
        # Where it cannot be kept, it is made again next time: that is no matter of the library.
        self.is_writing = True
        with contextlib.suppress(OSError):
            self._write(entry, marshal.dumps(made))
        self.is_writing = False
        return made

    def _read(self, entry: str) -> CodeType | None:
        try:
            with open(entry, "rb") as stream:
                content = stream.read()
        except OSError:
            return None
        if hashlib.sha256(content[32:]).digest() != content[:32]:
            self.damaged.append(os.path.basename(entry))
            return None
        with contextlib.suppress(EOFError, TypeError, ValueError):
            code = marshal.loads(content[32:])
            if isinstance(code, CodeType):
                return code
        self.damaged.append(os.path.basename(entry))
        return None

    def _write(self, entry: str, content: bytes) -> None:
        folder = os.path.dirname(entry)
        os.makedirs(folder, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(content).digest() + content)
        os.replace(part, entry)

    def install(self) -> None:
        """Have every import from the tree come through here."""
        tree_code = self

        class Loader(importlib.machinery.SourceFileLoader):
            def get_code(self, fullname: str) -> CodeType:
                return tree_code.load(self.get_filename(fullname), self.get_data)

        def hook(path: str) -> importlib.machinery.FileFinder:
            if path != self.root and not path.startswith(self.root + os.sep):
                raise ImportError(f"{path} is outside of the tree")
            return importlib.machinery.FileFinder(path, (Loader, [".py"]))

        sys.path_hooks.insert(0, hook)
        sys.path.insert(0, self.root)
