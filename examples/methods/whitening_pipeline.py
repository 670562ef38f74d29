"""
Whitening in a pipeline, with a grid search
===========================================

`horopca.BusemannWhitener` turns hyperbolic points into features for any classifier. In a ``Pipeline``, ``GridSearchCV``
chooses its parameters like those of any transformer.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from horopca import BusemannWhitener, HyperbolicSVC
from horopca.datasets import make_hierarchical_normals

# %%
# Points around the thirteen nodes of a tree; the class is the node.
data = make_hierarchical_normals(600, 6, branching=3, depth=2, step=1.2, scale=0.45, random_state=0)
X, X_test, y, y_test = train_test_split(data.points, data.labels, random_state=0, stratify=data.labels)

# %%
# How many directions? The default is twice the dimension; here cross-validation chooses the number.
pipeline = Pipeline([("whiten", BusemannWhitener(random_state=0)), ("svm", LinearSVC(dual=False))])
grid = {"whiten__n_components": [2, 4, 8, 12], "svm__C": [0.1, 1.0, 10.0]}
search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
print("chosen:", search.best_params_)

# %%
# For comparison: the same classifier on the raw coordinates, and a support vector machine in hyperbolic space.
plain = LinearSVC(dual=False).fit(X, y)
hyperbolic = HyperbolicSVC().fit(X, y)
scores = {
    "raw coordinates": plain.score(X_test, y_test),
    "whitened": search.score(X_test, y_test),
    "HyperbolicSVC": hyperbolic.score(X_test, y_test),
}
figure, ax = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
bars = ax.barh(list(scores), list(scores.values()), color=["#B6B8BC", "#196EA7", "#009E71"])
ax.bar_label(bars, [f"{score:.2f}" for score in scores.values()], padding=3)
ax.axvline(np.bincount(y_test).max() / len(y_test), color="#8D4000", linestyle="dashed")
ax.set(xlim=(0, 1), xlabel="accuracy on unseen points (dashed: the largest class)")
