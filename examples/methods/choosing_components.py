"""
Choosing the number of components
=================================

Two components make a picture. For features, or to know how much a picture leaves out, look at more.
"""

import matplotlib.pyplot as plt

from horopca import HoroPCA, metrics
from horopca.datasets import make_hierarchy
from horopca.plots import plot_explained_variance

X = make_hierarchy(branching=3, depth=4, random_state=0).points  # 121 points in ten dimensions

# %%
# As with PCA, one fit tells what each further component adds, and a share of the variance may stand for their
# number.
pca = HoroPCA(n_components=8).fit(X)
plot_explained_variance(pca)
print(f"for nine tenths of the variance: {HoroPCA(n_components=0.9).fit(X).n_components_} components")

# %%
# Variance is not distance. What is off by how much in K dimensions is the average distortion, and the fits for it
# are others: the components of one are not the first of the next.
counts = range(1, 6)
search = {"spine": "free", "objective": "distortion", "n_init": 8}
projected = [HoroPCA(K, **search).fit(X) for K in counts]
stretched = [HoroPCA(K, **search, stretch=True).fit(X) for K in counts]

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, fits in (("projection: no distance grows", projected), ("with a stretch", stretched)):
    ax.plot(counts, [metrics.average_distortion(X, fit.transform(X)) for fit in fits], "o-", label=name)
ax.set(xlabel="components", ylabel="average distortion", ylim=(0, None))
ax.legend()

# %%
# The curve has no corner at two, so a picture of this tree leaves something out: an eighth of the distances without
# a stretch, a twelfth with it. From three or four components on little is gained. (``n_init=8`` climbs from fewer
# starts than usual, to keep this page quick.)
