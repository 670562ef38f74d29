"""
A model of gensim
=================

gensim learns Poincaré embeddings from relations such as "a cat is a feline". From such a model on the disk to a
picture, and an answer: has the model learnt the hierarchy? The file is read without gensim, and nothing in it is
executed.
"""

from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from gensim.models.poincare import PoincareModel
from scipy.stats import spearmanr

from horopca import HoroPCA
from horopca.datasets import load_mammals
from horopca.embed import reconstruction
from horopca.io import load
from horopca.plots import plot_plane

# %%
# **The model**: the carnivores of WordNet, each with everything above it, trained for a few seconds. You may have such
# a file.
mammals = load_mammals()
parent, names = mammals.parent, mammals.synsets


def above(row):
    return [] if parent[row] < 0 else [parent[row], *above(parent[row])]


top = names.index("carnivore.n.01")
carnivores = [row for row in range(len(names)) if top in above(row)]
relations = [(names[row], names[other]) for row in carnivores for other in above(row) if other == top or other in carnivores]
model = PoincareModel(relations, size=5, negative=10, seed=0)
model.train(epochs=15)
path = Path(mkdtemp()) / "carnivores.model"
model.save(str(path))

# %%
# **Read and reduce it.** ``row_names`` are the names in the file.
table = load(path)
Y = HoroPCA(2, stretch=True, centre="origin").fit_transform(table.X)
rows = {name: row for row, name in enumerate(table.row_names)}
edges = [(rows[names[row]], rows[names[parent[row]]]) for row in carnivores]
shown = [name.partition(".")[0].replace("_", " ") for name in table.row_names]
radius = 2 * np.arctanh(np.linalg.norm(table.X, axis=1))
plot_plane(Y, values=radius, value_name="radius", names=shown, edges=edges, title="Carnivores of WordNet, learnt by gensim")

# %%
# **The conclusion.** If the hierarchy is learnt, the radius grows with the depth in WordNet: it does. The mean average
# precision is 1 if every word is closer to the words it is related to than to all others. After so few epochs it is far
# from that: this model knows which words are general, but needs more training to know what is above what.
depth = [len(above(names.index(name))) for name in table.row_names]
print(f"rank correlation of depth and radius: {spearmanr(depth, radius).statistic:.2f}")
pairs = [(rows[a], rows[b]) for a, b in relations]
print(f"mean average precision of the relations: {reconstruction(table.X, pairs).mean_average_precision:.2f}")
