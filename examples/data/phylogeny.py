"""
A phylogeny: the tree of life
=============================

From a Newick file to a picture of 332 species, and an answer: are archaea closer to us or to bacteria, and does the
picture show it? The file is in ``docs/data`` of the source (its licence is beside it); species have UniProt's codes.
"""

from pathlib import Path

import numpy as np

from horopca import HoroPCA, explore
from horopca.embed import DistortionEmbedding
from horopca.geometry import pairwise_distance, to_hyperboloid
from horopca.io import load_edges
from horopca.metrics import average_distortion, neighbours_kept
from horopca.plots import plot_plane

# %%
# **Read the tree.** It has no branch lengths, so every branch has length 1; otherwise they are used.
path = Path("../../docs/data/tree_of_life.nwk")
tree = load_edges(path)
print(f"{len(tree.names)} nodes, {len(tree.edges)} branches")

# %%
# **Embed it in ten dimensions**, so that distances between points are the distances along the branches. The attribute
# ``distortion_`` is the mean relative error of the distances.
embedding = DistortionEmbedding(10, random_state=0).fit(path)
X = embedding.embedding_
print(f"distances are off by {embedding.distortion_:.1%} on average")

# %%
# **Reduce it to the plane**, with the last common ancestor in the centre.
Y = HoroPCA(2, stretch=True, centre=X[tree.names.index("cellular_organisms")]).fit_transform(X)
print(f"average distortion {average_distortion(X, Y):.3f}, neighbours kept {neighbours_kept(X, Y):.0%}")

# %%
# **Colour by domain.** An edge is a pair (child, parent) of rows.
parent = {tree.names[child]: tree.names[above] for child, above in tree.edges}
DOMAINS = {"Eukaryota", "Archaea", "Bacteria"}
domain = lambda name: name if name in DOMAINS or name is None else domain(parent.get(name))
labels = [domain(name) for name in tree.names]
shown = [name if name in ("HUMAN", "YEAST", "ECOLI", "ARATH", *DOMAINS) else "" for name in tree.names]
plot_plane(Y, labels, names=shown, edges=tree.edges, title="The tree of life, 332 species", view="equidistant")

# %%
# **The conclusion.** In this tree archaea and eukaryotes have an ancestor in common, Neomura, that bacteria do not have. So
# archaea are closer to eukaryotes than to bacteria, by one branch on average, and the plane shows it. These are the mean
# distances between species of two domains, in branches.
species = np.array([name not in parent.values() for name in tree.names])
for a, b in (("Archaea", "Eukaryota"), ("Archaea", "Bacteria"), ("Eukaryota", "Bacteria")):
    rows = [np.flatnonzero(species & (np.array(labels) == name)) for name in (a, b)]
    means = [pairwise_distance(*(to_hyperboloid(Z[r]) for r in rows)).mean() / embedding.distance_scale_ for Z in (X, Y)]
    print(f"{a} to {b}: {means[0]:.1f} in ten dimensions, {means[1]:.1f} in the plane")

# %%
# The same points on a page: drag, scroll, double-click on a point to centre it.
explore(Y, labels, names=tree.names, edges=tree.edges, original=X, title="The tree of life")
