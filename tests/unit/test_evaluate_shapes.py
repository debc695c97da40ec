"""Areas of rectangles and ellipses: closed forms, and a plain reference that cuts thin strips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxrqba.evaluate.rectangles import overlap as rectangle_overlap
from cxrqba.evaluate.shapes import Shape, overlap

WINDOW = Shape(0, 0, 100, 100)


def strips(
    predicted: Sequence[Shape],
    readers: Sequence[Sequence[Shape]],
    window: Shape,
    needed: int = 1,
    count: int = 500,
) -> tuple[float, float, float]:
    """Slow reference: the exact length of what is covered in each of many thin strips."""
    step = (window.x2 - window.x1) / count
    total = [0.0, 0.0, 0.0]
    for number in range(count):
        x = window.x1 + (number + 0.5) * step
        edges = {window.y1, window.y2}
        spans = [[_span(s, x) for s in group] for group in (predicted, *readers)]
        edges |= {y for group in spans for span in group if span for y in span}
        inside = sorted(y for y in edges if window.y1 <= y <= window.y2)
        for low, high in pairwise(inside):
            y = (low + high) / 2
            hit = [any(s and s[0] < y < s[1] for s in group) for group in spans]
            truth = sum(hit[1:]) >= needed
            for index, value in enumerate((hit[0], truth, hit[0] and truth)):
                total[index] += value * (high - low) * step
    return total[0], total[1], total[2]


def _span(shape: Shape, x: float) -> tuple[float, float] | None:
    if not shape.x1 < x < shape.x2:
        return None
    if not shape.ellipse:
        return shape.y1, shape.y2
    u = (2 * x - shape.x1 - shape.x2) / (shape.x2 - shape.x1)
    half = math.sqrt(1 - u * u) * (shape.y2 - shape.y1) / 2
    middle = (shape.y1 + shape.y2) / 2
    return middle - half, middle + half


def ellipse(cx: float, cy: float, a: float, b: float) -> Shape:
    return Shape(cx - a, cy - b, cx + a, cy + b, True)


def test_an_ellipse_has_the_area_pi_a_b() -> None:
    one = ellipse(50, 40, 30, 20)
    assert overlap([one], [[one]], WINDOW) == pytest.approx([math.pi * 600] * 3)


def test_an_ellipse_fills_a_quarter_of_pi_of_its_box() -> None:
    box = Shape(10, 20, 70, 60)
    p, t, both = overlap([box], [[box._replace(ellipse=True)]], WINDOW)
    assert (p, t, both) == pytest.approx((2400, math.pi / 4 * 2400, math.pi / 4 * 2400))


def test_two_circles_meet_in_a_lens() -> None:
    r, d = 20.0, 26.0
    lens = 2 * r * r * math.acos(d / (2 * r)) - d / 2 * math.sqrt(4 * r * r - d * d)
    one, two = ellipse(30, 50, r, r), ellipse(30 + d, 50, r, r)
    assert overlap([one], [[two]], WINDOW)[2] == pytest.approx(lens)
    assert overlap([one, two], [], WINDOW)[0] == pytest.approx(2 * math.pi * r * r - lens)


def test_stretching_a_lens_stretches_its_area() -> None:
    r, d, stretch = 10.0, 12.0, 2.5
    lens = 2 * r * r * math.acos(d / (2 * r)) - d / 2 * math.sqrt(4 * r * r - d * d)
    one, two = (ellipse(50, y, r * stretch, r) for y in (40, 40 + d))
    assert overlap([one], [[two]], WINDOW)[2] == pytest.approx(lens * stretch)


def test_a_circle_cut_by_a_rectangle_is_a_segment() -> None:
    r, h = 20.0, 12.0
    segment = r * r * math.acos(h / r) - h * math.sqrt(r * r - h * h)
    below = Shape(0, 50 + h, 100, 100)
    assert overlap([below], [[ellipse(50, 50, r, r)]], WINDOW)[2] == pytest.approx(segment)
    right = Shape(50 + h, 0, 100, 100)
    assert overlap([right], [[ellipse(50, 50, r, r)]], WINDOW)[2] == pytest.approx(segment)


def test_an_ellipse_over_the_edge_is_cut_there_not_squeezed() -> None:
    half = ellipse(0, 50, 10, 20)
    assert overlap([], [[half]], WINDOW)[1] == pytest.approx(math.pi * 200 / 2)
    corner = ellipse(100, 100, 10, 20)
    assert overlap([], [[corner]], WINDOW)[1] == pytest.approx(math.pi * 200 / 4)
    assert overlap([], [[ellipse(-30, 50, 10, 20)]], WINDOW) == (0.0, 0.0, 0.0)


def test_ellipses_that_touch_or_contain_one_another() -> None:
    inner, outer = ellipse(50, 50, 10, 10), ellipse(50, 50, 20, 30)
    assert overlap([inner], [[outer]], WINDOW)[2] == pytest.approx(math.pi * 100)
    inside = ellipse(60, 50, 10, 10)  # touches the big circle from within
    assert overlap([inside], [[ellipse(50, 50, 20, 20)]], WINDOW)[2] == pytest.approx(math.pi * 100)
    beside = ellipse(70, 50, 10, 10)
    assert overlap([inner], [[beside]], WINDOW)[2] == pytest.approx(0, abs=1e-9)


def test_majority_is_what_more_than_half_of_the_readers_cover() -> None:
    readers = [[Shape(0, 0, 30, 10)], [Shape(10, 0, 40, 10)], [Shape(20, 0, 50, 10)]]
    predicted = [Shape(0, 0, 25, 10)]
    assert overlap(predicted, readers, WINDOW, needed=1) == (250, 500, 250)
    assert overlap(predicted, readers, WINDOW, needed=2) == (250, 300, 150)
    assert overlap(predicted, readers, WINDOW, needed=3) == (250, 100, 50)


def test_two_shapes_of_one_reader_are_one_vote() -> None:
    twice = [[Shape(0, 0, 10, 10), Shape(0, 0, 10, 10)], [Shape(50, 50, 60, 60)]]
    assert overlap([], twice, WINDOW, needed=2)[1] == 0


def test_nothing_has_no_area() -> None:
    assert overlap([], [], WINDOW) == (0.0, 0.0, 0.0)


def sides(low: int, high: int) -> st.SearchStrategy[tuple[int, int]]:
    pairs = st.tuples(st.integers(low, high), st.integers(low, high))
    return pairs.filter(lambda p: p[0] != p[1]).map(lambda p: (min(p), max(p)))


shape = st.builds(
    lambda x, y, e: Shape(x[0], y[0], x[1], y[1], e),
    sides(-10, 110),
    sides(-10, 110),
    st.booleans(),
)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(shape, max_size=3),
    st.lists(st.lists(shape, max_size=3), max_size=3),
    st.integers(1, 3),
)
def test_areas_agree_with_thin_strips(
    predicted: list[Shape], readers: list[list[Shape]], needed: int
) -> None:
    exact = overlap(predicted, readers, WINDOW, needed)
    slow = strips(predicted, readers, WINDOW, needed)
    assert np.allclose(exact, slow, atol=3.0, rtol=0)  # of 10,000


@given(st.lists(shape, max_size=4), st.lists(shape, max_size=4))
def test_rectangles_agree_with_coordinate_compression(one: list[Shape], two: list[Shape]) -> None:
    one, two = ([s._replace(ellipse=False) for s in side] for side in (one, two))
    wide = Shape(-10, -10, 110, 110)
    expected = rectangle_overlap([s[:4] for s in one], [s[:4] for s in two])
    assert overlap(one, [two], wide) == pytest.approx(expected, abs=1e-9)
