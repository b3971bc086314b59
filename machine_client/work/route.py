"""The way of a drag: straight from each of its points to the next."""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

Point = tuple[int, int]


class Route:
    """At least two points; a place on the way is a part of its length, from 0 to 1."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = points
        lengths = (math.dist(begin, end) for begin, end in pairwise(points))
        passed = list(accumulate(lengths, initial=0.0))
        self._parts = [each / (passed[-1] or 1.0) for each in passed]
        """Where each point lies."""

    def between(self, after: float, until: float) -> Iterator[Point]:
        """The points that lie between two parts of the way, and then where the second one is."""
        for point, part in zip(self._points, self._parts, strict=True):
            if after < part < until:
                yield point
        yield self._at(until)

    def _at(self, part: float) -> Point:
        legs = zip(pairwise(self._points), pairwise(self._parts), strict=True)
        for (begin, end), (begins, ends) in legs:
            if part < ends:
                done = (part - begins) / (ends - begins)
                x, y = (round((to - start) * done) for start, to in zip(begin, end, strict=True))
                return begin[0] + x, begin[1] + y
        return self._points[-1]
