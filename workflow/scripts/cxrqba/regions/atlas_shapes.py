"""Outlines of the structures that the backend ``atlas`` fits to an image.

Corners (u, v) lie in the box of the structure, ``v`` downwards. They were drawn by hand after the
look of the manual masks (SCR) of every other JSRT film (Shiraishi et al. 2000, van Ginneken et al.
2006); no film is contained in them. The lateral outlines were drawn without any film.
"""

from __future__ import annotations

from cxrqba.regions.contours import Shape, outline

LEFT_LUNG = (
    (0.270, 0.000), (0.450, 0.030), (0.600, 0.085), (0.750, 0.180), (0.810, 0.250),
    (0.850, 0.360), (0.880, 0.500), (0.920, 0.650), (0.960, 0.780), (0.990, 0.840),
    (1.000, 0.920), (0.985, 1.000), (0.930, 0.960), (0.820, 0.910), (0.720, 0.880),
    (0.600, 0.850), (0.540, 0.800), (0.500, 0.720), (0.420, 0.630), (0.330, 0.570),
    (0.240, 0.530), (0.170, 0.460), (0.140, 0.380), (0.140, 0.310), (0.070, 0.240),
    (0.000, 0.180), (0.000, 0.110), (0.050, 0.050), (0.120, 0.020),
)  # fmt: skip
"""Medial border at u = 0, lateral at 1."""
LEFT_DOME = {12: 0.25, 13: 0.44, 14: 0.62, 15: 0.81, 16: 1.0, 17: 0.8, 18: 0.4}
LEFT_BULGE = {16: 0.48, 17: 0.71, 18: 0.88, 19: 0.98, 20: 0.99, 21: 0.89, 22: 0.69, 23: 0.3}

RIGHT_LUNG = (
    (0.240, 0.000), (0.360, 0.010), (0.480, 0.040), (0.610, 0.085), (0.720, 0.145),
    (0.800, 0.225), (0.860, 0.340), (0.905, 0.460), (0.920, 0.580), (0.940, 0.670),
    (0.970, 0.760), (0.995, 0.850), (1.000, 0.920), (0.985, 1.000), (0.920, 0.960),
    (0.800, 0.880), (0.620, 0.830), (0.450, 0.810), (0.310, 0.800), (0.240, 0.790),
    (0.185, 0.760), (0.180, 0.700), (0.185, 0.640), (0.110, 0.545), (0.070, 0.450),
    (0.040, 0.340), (0.000, 0.220), (0.000, 0.120), (0.030, 0.060), (0.090, 0.020),
)  # fmt: skip
RIGHT_DOME = {14: 0.25, 15: 0.38, 16: 0.5, 17: 0.62, 18: 0.75, 19: 0.88, 20: 1.0, 21: 0.7, 22: 0.35}
RIGHT_BULGE = {20: 0.48, 21: 0.83, 22: 1.0, 23: 0.95, 24: 0.7, 25: 0.3}

HEART = (
    (0.250, 0.045), (0.120, 0.250), (0.030, 0.450), (0.000, 0.620), (0.040, 0.800),
    (0.120, 0.930), (0.350, 0.990), (0.620, 1.000), (0.860, 0.950), (0.970, 0.860),
    (1.000, 0.760), (0.960, 0.620), (0.870, 0.450), (0.750, 0.280), (0.620, 0.120),
    (0.500, 0.030), (0.380, 0.000),
)  # fmt: skip
HEART_EDGES = (0.3, 0.6, 1, 1, 0.8, 0.2, 0, 0, 0.2, 0.8, 1, 1, 1, 0.8, 0.5, 0.2, 0.2)
"""Seen against the lungs; the lower border lies in front of the liver and is not."""

CLAVICLE = (
    (0.000, 0.750), (0.030, 0.550), (0.120, 0.500), (0.300, 0.420), (0.500, 0.330),
    (0.700, 0.200), (0.850, 0.050), (0.970, 0.000), (1.000, 0.150), (0.970, 0.280),
    (0.850, 0.420), (0.700, 0.550), (0.500, 0.680), (0.300, 0.800), (0.150, 1.000),
    (0.040, 0.970),
)  # fmt: skip

LATERAL_LUNG = (
    (0.480, 0.000), (0.270, 0.050), (0.090, 0.230), (0.000, 0.490), (0.020, 0.780),
    (0.105, 1.000), (0.235, 0.910), (0.430, 0.840), (0.640, 0.805), (0.810, 0.825),
    (0.970, 0.910), (1.000, 0.730), (0.970, 0.520), (0.880, 0.340), (0.750, 0.180),
    (0.620, 0.050),
)  # fmt: skip
"""Back at u = 0, sternum at 1."""
LATERAL_EDGES = (0.5, 0.7, 1, 1, 1, 1, 1, 1, 0.8, 0.6, 0.6, 0.8, 0.8, 0.8, 0.7, 0.5)
LATERAL_DOME = {6: 0.4, 7: 0.9, 8: 1.0, 9: 0.8}


Moves = dict[int, float]


def _mode(number: int, moves: Moves, axis: int, sign: float) -> list[tuple[float, float]]:
    """How each of ``number`` corners moves: its share along u (axis 0) or v (axis 1)."""
    mode = [(0.0, 0.0)] * number
    for index, share in moves.items():
        mode[index] = (sign * share, 0.0) if axis == 0 else (0.0, sign * share)
    return mode


def _lung(points: tuple[tuple[float, float], ...], dome: Moves, bulge: Moves) -> Shape:
    count = len(points)
    modes = [_mode(count, dome, 1, -1.0), _mode(count, bulge, 0, 1.0)]
    return outline(points, modes=modes)


LUNGS = {
    "right": _lung(RIGHT_LUNG, RIGHT_DOME, RIGHT_BULGE).mirrored(),
    "left": _lung(LEFT_LUNG, LEFT_DOME, LEFT_BULGE),
}
"""In image order: the patient's right lung lies on the image's left."""

HEART_SHAPE = outline(HEART, weights=HEART_EDGES, outwards=-1.0, samples=64)
CLAVICLES = {
    "left": outline(CLAVICLE, outwards=-1.0, samples=64),
    "right": outline(CLAVICLE, outwards=-1.0, samples=64).mirrored(),
}
LATERAL = outline(
    LATERAL_LUNG,
    weights=LATERAL_EDGES,
    modes=[_mode(len(LATERAL_LUNG), LATERAL_DOME, 1, -1.0)],
)

LATERAL_HEART = (
    (0.220, 0.000), (0.050, 0.290), (0.000, 0.560), (0.070, 0.800), (0.260, 0.970),
    (0.650, 1.000), (0.930, 0.860), (1.000, 0.560), (0.850, 0.230), (0.540, 0.000),
)  # fmt: skip
LATERAL_HEART_SHAPE = outline(LATERAL_HEART, outwards=-1.0, samples=64)
