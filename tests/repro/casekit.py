# SPDX-License-Identifier: Apache-2.0
"""What the cases share: how a case says what it found, how it runs under plain python, and small caches.

Only the standard library is imported with this module: torch and transformers are imported by the functions
that need them, so that an import that fails inside a case is judged like any other failure of the case.
"""

from __future__ import annotations

import math
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import torch
    from transformers import StaticCache

# The exit statuses that `git bisect run` understands.
GOOD, BAD, CANNOT_TELL = 0, 1, 125

HEADS, HEAD_DIM, MAX_CACHE_LEN = 2, 8, 16
# Channels and width of a convolution state. The width differs from HEAD_DIM, as it does in real models.
CONV_CHANNELS, CONV_WIDTH = 6, 4
HYBRID_LAYERS = ("full_attention", "linear_attention", "full_attention")
ATTENTION_LAYERS, LINEAR_LAYER = (0, 2), 1


class Absent(Exception):
    """The feature that the case is about does not exist in this tree."""

    headwater_outcome = "absent"


class Bug(AssertionError):
    """The bug shows in a value, where the library raised nothing."""


def absent(reason: str) -> NoReturn:
    """End the case: the feature is not there, because of `reason`."""
    raise Absent(reason)


def bug(message: str) -> NoReturn:
    """End the case: the bug was seen, as `message` says. The case lists a signature of type "Bug" for it."""
    raise Bug(message)


def require(holds: bool, otherwise: str) -> None:
    """End the case as a failure of another kind, `otherwise`, unless what its verdict rests on holds."""
    if not holds:
        raise AssertionError(otherwise)


def main(run: Callable[[str], None], case_file: str) -> NoReturn:
    """Run the case on the device HEADWATER_DEVICE (default cpu), print one line, exit with what was found."""
    # Whatever goes wrong here, the interpreter's own status for a crash, 1, must not pass for BAD.
    status, line = CANNOT_TELL, "harness error: the case could not be judged"
    try:
        status, line = judge(run, read_metadata(Path(case_file)))
    except Exception:
        traceback.print_exc()
    print(" ".join(line.split()))
    sys.exit(status)


def judge(run: Callable[[str], None], metadata: dict[str, Any]) -> tuple[int, str]:
    """The exit status and the line to print for one run of a case."""
    device = os.environ.get("HEADWATER_DEVICE", "cpu")
    if device.partition(":")[0] not in metadata.get("devices", [device.partition(":")[0]]):
        return CANNOT_TELL, f"unavailable: {metadata['id']} tells on {', '.join(metadata['devices'])} alone"
    try:
        run(device)
    except Absent as exc:
        return CANNOT_TELL, f"absent: {exc}"
    # An exit from within the library must not pass its own status off as a verdict either.
    except (Exception, SystemExit) as exc:
        frame = library_frame(exc)
        seen = f"{type(exc).__name__}: {exc}" + (f" ({frame})" if frame else "")
        if any(matches(signature, exc, frame) for signature in metadata["signature"]):
            return BAD, f"bad: {seen}"
        traceback.print_exc()
        return CANNOT_TELL, f"other failure: {seen}"
    return GOOD, f"good: {metadata['id']} not seen"


def read_metadata(case_file: Path) -> dict[str, Any]:
    """The TOML in the comment block of a case, between `# /// case` and `# ///`."""
    import tomllib  # here, because an interpreter without it (3.10) can still run a case through a probe

    lines = case_file.read_text(encoding="utf-8").splitlines()
    start = lines.index("# /// case") + 1
    block = lines[start : lines.index("# ///", start)]
    return tomllib.loads("\n".join(line.removeprefix("#").removeprefix(" ") for line in block))


def matches(signature: dict[str, str], exc: BaseException, frame: str) -> bool:
    """Whether `signature` describes `exc`, raised at the library's `frame` ("" if not raised there)."""
    return (
        type(exc).__name__ == signature["type"]
        and re.search(signature["message"], str(exc)) is not None
        and re.search(signature.get("frame", ""), frame) is not None
    )


def library_frame(exc: BaseException) -> str:
    """The deepest frame in the library, as `transformers/cache_utils.py:742 in update_conv_state`, or ""."""
    package_file = getattr(sys.modules.get("transformers"), "__file__", None)
    if package_file is None:
        return ""
    # Not resolved: the files of a tree may be links to ones that several trees share.
    package = Path(package_file).absolute().parent
    for entry in reversed(traceback.extract_tb(exc.__traceback__)):
        path = Path(entry.filename).absolute()
        if package in path.parents:
            return f"{path.relative_to(package.parent).as_posix()}:{entry.lineno} in {entry.name}"
    return ""


def static_cache(layer_types: Iterable[str]) -> StaticCache:
    """A StaticCache for MAX_CACHE_LEN tokens, holding nothing yet, with a layer for each of `layer_types`."""
    import transformers

    # 5.0.0 renamed the class.
    config_class = getattr(transformers, "PreTrainedConfig", None) or transformers.PretrainedConfig
    layer_types = list(layer_types)
    config = config_class(num_hidden_layers=len(layer_types), layer_types=layer_types)
    return transformers.StaticCache(config=config, max_cache_len=MAX_CACHE_LEN)


def hybrid_static_cache() -> StaticCache:
    """A StaticCache of HYBRID_LAYERS, holding nothing yet; absent where it has no linear-attention layer."""
    cache = static_cache(HYBRID_LAYERS)
    layer = cache.layers[LINEAR_LAYER]
    if not hasattr(layer, "update_conv_state"):
        absent(f"StaticCache has no linear-attention layers: it puts a {type(layer).__name__} in their place")
    return cache


def numbered(shape: tuple[int, ...], device: str) -> torch.Tensor:
    """Float32 values 1, 2, 3, ... in `shape`: all different, and none the zero that an empty cache holds."""
    import torch

    return torch.arange(1, math.prod(shape) + 1, dtype=torch.float32, device=device).reshape(shape)


def key_values(batch_size: int, tokens: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values for one attention layer, each of shape (batch_size, HEADS, tokens, HEAD_DIM)."""
    keys = numbered((batch_size, HEADS, tokens, HEAD_DIM), device)
    return keys, -keys


def conv_state(batch_size: int, tokens: int, device: str) -> torch.Tensor:
    """Convolution inputs for one linear-attention layer, of shape (batch_size, CONV_CHANNELS, tokens)."""
    return numbered((batch_size, CONV_CHANNELS, tokens), device)


def fill_attention(cache: StaticCache, layer_idx: int, batch_size: int, device: str) -> None:
    """Put three tokens into the attention layer `layer_idx`, which initialises it for `batch_size`."""
    cache.update(*key_values(batch_size, 3, device), layer_idx)


def same(found: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether both have one shape and, where the device keeps values, one content."""
    if found.shape != expected.shape or found.is_meta or expected.is_meta:
        return found.shape == expected.shape and found.is_meta == expected.is_meta
    return bool((found == expected).all())


def batch_size_names(cache: StaticCache) -> list[str]:
    """The properties by which this release tells a cache's batch size: max_batch_size, batch_size or both."""
    # Asked of the class, because reading the property of an instance may be what fails.
    names = [name for name in ("max_batch_size", "batch_size") if hasattr(type(cache), name)]
    if not names:
        absent("a cache has neither max_batch_size nor batch_size")
    return names
