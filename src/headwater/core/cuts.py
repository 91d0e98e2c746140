# SPDX-License-Identifier: Apache-2.0
"""Where to cut a range of revisions: in the middle, in k+1 equal parts, and away from what could not be judged.

What could not be judged seldom comes alone: a release that does not import has neighbours that do not. Taking the
middle of what is left over after each such probe creeps along the block one by one (jj's bisect has this as a TODO;
`git bisect` jumps by pseudo-random numbers, `skip_away` in its bisect.c; cargo-bisect-rustc walks to both ends of the
block). Here the m-th silent probe in a range keeps the next cut 2**m positions away from every silent one, so that a
block is left behind after about as many probes as its length has binary digits. The distance gives way wherever it
does not fit, down to 1, so every position is tried before the search gives up.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection


def cut(low: int, high: int, silent: Collection[int], pending: Collection[int] = (), count: int = 1) -> list[int]:
    """Up to `count` untried positions strictly between `low` and `high`, in order, that part them evenly.

    `silent` are the positions that were probed and could not be judged, `pending` those being probed now; both may
    reach outside of the range. The parts are even in untried positions: with nothing silent or pending, each holds
    at most one more than another. Fewer are returned only where fewer are left. The same arguments, the same cuts.
    """
    still = {p for p in silent if low < p < high}
    borders = sorted({low, high, *(p for p in pending if low < p < high)})
    segments = [
        sorted({a, b, *(p for p in still if a < p < b and p not in borders)}) for a, b in itertools.pairwise(borders)
    ]
    shares = _share(count, [_untried(walls) for walls in segments])
    cuts: list[int] = []
    for walls, share in zip(segments, shares, strict=True):
        cuts += _cut_segment(walls, share, 2 ** len(still))
    return sorted(cuts)


def _share(count: int, sizes: list[int]) -> list[int]:
    """How many of `count` cuts each segment gets, so that the largest part becomes as small as it can."""
    shares = [0] * len(sizes)
    for _ in range(min(count, sum(sizes))):
        largest = max(range(len(sizes)), key=lambda n: ((sizes[n] - shares[n]) / (shares[n] + 1), -n))
        shares[largest] += 1
    return shares


def _cut_segment(walls: list[int], share: int, distance: int) -> list[int]:
    """`share` positions between walls, at equal ranks, moved until they are `distance` away from all walls."""
    size = _untried(walls)
    roomy = max(1, min(distance, size // (2 * (share + 1))))
    targets = [_at_rank(walls, n * size // (share + 1)) for n in range(1, share + 1)]
    taken: list[int] = []
    for target in targets:
        taken.append(_nearest_clear(target, sorted([*walls, *taken]), roomy))
    return taken


def _nearest_clear(target: int, walls: list[int], distance: int) -> int:
    """The position nearest to `target` that is `distance` away from every wall, or as far as the widest gap allows."""
    gaps = list(itertools.pairwise(walls))
    room = max(1, min(distance, max(b - a for a, b in gaps) // 2))
    clear = [min(max(target, a + room), b - room) for a, b in gaps if b - a >= 2 * room]
    return min(clear, key=lambda p: (abs(p - target), p))


def _untried(walls: list[int]) -> int:
    return walls[-1] - walls[0] + 1 - len(walls)


def _at_rank(walls: list[int], rank: int) -> int:
    """The untried position between walls that has `rank` untried ones before it."""
    position = walls[0] + 1 + rank
    for wall in walls[1:-1]:
        position += wall <= position
    return position
