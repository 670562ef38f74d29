"""
A hierarchy of gensim's
=======================

gensim learns Poincaré embeddings from relations such as "a cat is a feline". Its models are read as they lie on the
disk, and nothing in them is executed.
"""

from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from gensim.models.poincare import PoincareModel

from horopca import HoroPCA
from horopca.datasets import load_mammals
from horopca.io import load
from horopca.plots import plot_disk

# %%
# The carnivores of WordNet, each with everything above it.
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
print(f"{len(model.kv)} synsets, {len(relations)} relations")

# %%
# From here on gensim is not needed. Rows of the file have their names.
table = load(path)
Y = HoroPCA(2, spine="free", objective="distortion", stretch=True).fit_transform(table.X)
print(table.X.shape, "to", Y.shape)

# %%
# General words lie in the middle, special ones outside: the radius of the five-dimensional point is how special a
# word is.
rows = {name: row for row, name in enumerate(table.row_names)}
edges = [(rows[names[row]], rows[names[parent[row]]]) for row in carnivores]
shown = [name.partition(".")[0].replace("_", " ") for name in table.row_names]
radius = 2 * np.arctanh(np.linalg.norm(table.X, axis=1))
plot_disk(Y, values=radius, names=shown, edges=edges, title="WordNet's carnivores as gensim has learnt them")
