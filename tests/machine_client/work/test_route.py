import pytest

from machine_client.work.route import Point, Route


def passed(route: Route, *parts: float) -> list[Point]:
    return [
        place
        for after, until in zip((0.0, *parts), parts, strict=False)
        for place in route.between(after, until)
    ]


def test_straight_way_has_the_places_at_its_parts() -> None:
    assert passed(Route([(0, 10), (100, 30)]), 0.25, 0.5, 1) == [(25, 15), (50, 20), (100, 30)]


def test_parts_are_those_of_the_whole_length() -> None:
    """The first leg is a quarter of it, so it takes a quarter of the time."""
    route = Route([(0, 0), (100, 0), (100, 300)])
    assert passed(route, 0.25, 0.5, 0.75, 1) == [(100, 0), (100, 100), (100, 200), (100, 300)]


def test_every_point_is_passed_once_though_all_parts_are_skipped() -> None:
    corners = [(0, 0), (7, 7), (3, 100), (50, 2), (9, 9)]
    assert passed(Route(corners), 1) == corners[1:]


@pytest.mark.parametrize(
    ("points", "places"),
    [
        ([(5, 5), (5, 5)], [(5, 5), (5, 5)]),
        ([(5, 5), (5, 5), (5, 5)], [(5, 5), (5, 5)]),
        ([(0, 0), (0, 0), (10, 0)], [(5, 0), (10, 0)]),
        ([(0, 0), (10, 0), (10, 0)], [(5, 0), (10, 0)]),
        ([(0, 0), (5, 0), (5, 0), (10, 0)], [(5, 0), (10, 0)]),
    ],
)
def test_points_may_be_one_place(points: list[Point], places: list[Point]) -> None:
    assert passed(Route(points), 0.5, 1) == places


def test_longest_way_ends_at_its_end() -> None:
    points = [(n % 3 * 40_000, n % 5 * -40_000) for n in range(257)] + [(1, 2)]
    places = passed(Route(points), *(n / 6000 for n in range(1, 6001)))
    assert places[-1] == (1, 2)
    expected = iter(places)
    assert all(point in expected for point in points[1:])
