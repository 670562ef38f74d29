"""
Vectors of an image-text model
==============================

Models such as MERU and HyCoCLIP place texts and images in one hyperbolic space, general texts near the origin and
images far out. From such vectors to a picture, and an answer: do texts lie between the origin and their images? The
vectors here are synthetic, with the shape and the conventions of MERU's: space components of Lorentz coordinates, in 64
dimensions, and a learnt curvature.
"""

import numpy as np

from horopca import HoroPCA
from horopca.geometry import inner, lift, log, origin
from horopca.plots import plot_cones, plot_plane

# %%
# **The vectors.** With a model of yours these lines are ``model.encode_text(...)`` and ``model.encode_image(...)``, and
# the curvature is ``-model.curv.exp()``.
rng = np.random.default_rng(0)
c, kinds = 0.5, ["dog", "cat", "car", "tree", "boat"]
towards = rng.normal(size=(5, 64)) / 8


def encode(radius, spread, n):
    v = np.repeat(towards, n, axis=0) + spread * rng.normal(size=(5 * n, 64))
    return v / np.linalg.norm(v, axis=1, keepdims=True) * np.sinh(np.sqrt(c) * radius) / np.sqrt(c)


texts, images = encode(0.6, 0.01, 1), encode(3.5, 0.04, 40)
X = np.concatenate([texts, images])
kind = np.concatenate([kinds, np.repeat(kinds, 40)])

# %%
# **Reduce both together.** The origin, where the most general text would be, stays in the centre. Texts are few: a
# weight for each point gives both kinds the same total weight.
weight = np.concatenate([np.full(5, 1 / 5), np.full(200, 1 / 200)])
pca = HoroPCA(2, model="lorentz-space", curvature=-c, centre="origin", stretch=True, tol=1e-5)
Y = pca.fit(X, sample_weight=weight).transform(X)

# %%
# **Draw it**: images as points, texts as diamonds, with the entailment cones of the texts.
where = {"model": "lorentz-space", "curvature": -c}
ax = plot_plane(Y[5:], kind[5:], companions=dict(zip(kinds, Y[:5], strict=True)), title="images and texts (synthetic)", **where)
plot_cones(Y[:5], ax=ax, **where)

# %%
# **The conclusion** must be drawn in 64 dimensions. In the picture nearly all images lie in the cones; here half of
# them do. An image lies in the cone of a text if the angle at the text, between the geodesic from the origin and the
# geodesic to the image, is smaller than the half-aperture of the cone.
x, y = lift(np.sqrt(c) * texts)[:, None], lift(np.sqrt(c) * images)[None]
out, to = -log(x, origin(64)), log(x, y)
angle = np.arccos(inner(out, to) / np.sqrt(inner(out, out) * inner(to, to)))
inside = angle < np.arcsin(2 * 0.1 / np.sqrt(c) / np.linalg.norm(texts, axis=1))[:, None]
own = kind[5:] == np.array(kinds)[:, None]
print(f"images in the cone of their text: {inside[own].mean():.0%}, of another text: {inside[~own].mean():.0%}")
