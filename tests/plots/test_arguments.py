"""Invalid arguments of all plots but that of the plane."""

import numpy as np
import pytest

from conftest import new_figure
from horopca import plots

Y = np.random.default_rng(0).uniform(-0.6, 0.6, (20, 2))
IDEAL = np.array([np.cos(1.0), np.sin(1.0)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda ax: plots.plot_distortion(np.zeros((4, 2)), np.zeros((3, 2)), ax=ax),
            "the same number of rows, but have 4 and 3",
        ),
        (lambda ax: plots.plot_components(3, figure=new_figure()), "curve must be a result of component_curve"),
        (lambda ax: plots.animate([]), r"frames must be a sequence of arrays \(n, 2\), but is empty."),
        (lambda ax: plots.animate(Y), r"frames must be a sequence of arrays \(n, 2\), but its first entry has shape \(2,\)."),
        (
            lambda ax: plots.animate([Y, Y[:3]]),
            r"must contain the same points, row by row, but its arrays have \[20, 3\] rows.",
        ),
        (lambda ax: plots.animate([Y], titles=["a", "b"]), "titles must have one entry per frame, but has 2 for 1 frames."),
        (lambda ax: plots.animate([Y], regions=1), "regions belong to one picture"),
        (lambda ax: plots.plot_geodesics(Y[:2], Y[:3], ax=ax), "the same number of rows, but have 2 and 3"),
        (lambda ax: plots.plot_horocycles([0.5, 0.0], ax=ax), "q must be unit vectors"),
        (lambda ax: plots.plot_projection(Y, [IDEAL, IDEAL], ax=ax), "q must be one ideal point"),
        (lambda ax: plots.plot_cones(Y, K=0, ax=ax), "K must be a positive number, but is 0"),
        (lambda ax: plots.plot_cones(Y, angles=[0.1], ax=ax), "angles must have one number for each of 20 points"),
        (lambda ax: plots.plot_cones(Y[:1], angles=[60.0], ax=ax), "between 0 and pi, in radians, but are .60.0."),
        (lambda ax: plots.plot_cones(Y, root=[3.0, 0.0], ax=ax), "root must lie inside the unit ball"),
        (lambda ax: plots.plot_cones(Y, ax="x"), "ax must be matplotlib axes, such as plot_plane returns, but is 'x'"),
        (lambda ax: plots.plot_ball(np.zeros((4, 3)), ax=ax), "ax must be 3-D axes"),
        (lambda ax: plots.plot_ball(Y), r"points of the ball, of shape \(n, 3\)"),
        (lambda ax: plots.plot_comparison({}), "images must contain at least one"),
        (lambda ax: plots.plot_comparison({"one": Y}, captions=[]), "captions must have one entry per image"),
        (lambda ax: plots.plot_comparison({"one": Y}, view="round"), "view must be one of"),
        (lambda ax: plots.plot_comparison({"one": Y, "two": Y[:3]}), r"its arrays have \[20, 3\] rows"),
    ],
)
def test_errors(ax, call, message):
    with pytest.raises(ValueError, match=message):
        call(ax)
