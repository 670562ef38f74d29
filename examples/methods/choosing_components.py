"""
Choosing the number of components
=================================

Two components make a picture. For features, or to know how much a picture leaves out, look at more.
"""

from textwrap import fill

import numpy as np

from horopca import HoroPCA, HoroPCACV
from horopca.metrics import component_curve
from horopca.plots import plot_components

# %%
# 150 points in ten dimensions, as tangent vectors at the origin. Three dimensions hold most of the variance, the others noise.
X = np.random.default_rng(0).normal(size=(150, 10)) * ([2.0, 1.5, 1.0] + 7 * [0.2])

# %%
# With ``strategy="greedy"`` components are found one after another, as in PCA, so one fit shows what each of them adds. (The
# default optimises all components together, which keeps more in total, but less in the first few.) A fraction of the variance
# can be passed instead of a number.
pca = HoroPCA(n_components=8, strategy="greedy", model="tangent").fit(X)
print("variance kept by 1, 2, … components:", pca.explained_variance_ratio_.cumsum().round(2))
print(f"90 % of the variance: {HoroPCA(n_components=0.9, model='tangent').fit(X).n_components_} components")

# %%
# Which fraction is enough? Two questions have better answers: how well are points represented that the fit has not seen, and
# does a component add more than chance would? Chance means copies of the points with random directions orthogonal to the
# previous components.
curve = component_curve(X, max_components=6, estimator=HoroPCA(model="tangent"), cv=3)
plot_components(curve)
print(fill(curve.sentence, 100))

# %%
# The same as an estimator, for pipelines. If rows are related, such as the leaves of a subtree or the cells of a donor, pass
# ``groups=`` to both; a warning says if rows look related.
chosen = HoroPCACV(max_components=6, cv=3, model="tangent").fit(X)
print(f"{chosen.n_components_} components keep {chosen.explained_variance_ratio_.sum():.0%} of the variance")
