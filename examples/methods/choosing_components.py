"""
Choosing the number of components
=================================

Two components make a picture. For features, or to know how much a picture leaves out, look at more.
"""

from horopca import HoroPCA, HoroPCACV
from horopca.datasets import make_hierarchy
from horopca.metrics import component_curve
from horopca.plots import plot_components

X = make_hierarchy(branching=3, depth=4, random_state=0).points  # 121 points in ten dimensions

# %%
# Found one after another, as PCA's are, components of one fit tell what each further one adds; and a share of the variance
# may stand for their number. (The default finds all at once, which keeps more in the end, but less in the first few.)
pca = HoroPCA(n_components=8, strategy="greedy").fit(X)
print("variance kept by 1, 2, … components:", pca.explained_variance_ratio_.cumsum().round(2))
print(f"for nine tenths of the variance: {HoroPCA(n_components=0.9).fit(X).n_components_} components")

# %%
# How large a share is enough? Two better questions: what do points keep that the fit has not seen, and does a component
# show more than chance would? Chance is the same points with random directions across the components before.
curve = component_curve(X, max_components=6, cv=3)
plot_components(curve)
print(curve.sentence)

# %%
# The same as an estimator, for pipelines.
chosen = HoroPCACV(max_components=6, cv=3).fit(X)
print(f"{chosen.n_components_} components were chosen, and {chosen.explained_variance_ratio_.sum():.0%} is kept")
