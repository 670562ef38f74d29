"""
Publication figures
===================

A figure for a paper: the right width, the font of the journal, colours that can be distinguished with every kind of colour
vision, vector output, and a second view of a detail.
"""

from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt

from horopca import HoroPCA
from horopca.datasets import load_mammals
from horopca.plots import plot_plane

mammals = load_mammals()
Y = HoroPCA(2, spine="free").fit_transform(mammals.points)

# %%
# Five groups have a colour; points with label None are grey. Both panels have the same classes, so their colours agree.
groups = ("feline", "canine", "rodent", "primate", "bat")
labels = [label if label in groups else None for label in mammals.labels]
cat = mammals.names.index("cat")

with plt.rc_context({"font.family": "serif", "font.size": 8, "savefig.dpi": 300}):
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.9, 3.3), layout="constrained")
    plot_plane(Y, labels, edges=mammals.edges, title="a. centred at the mean", ax=left, view="equidistant")
    plot_plane(Y, labels, names=mammals.names, edges=mammals.edges, centre=cat, title="b. centred at the cat", ax=right)
    left.get_legend().remove()
    figure.savefig(Path(mkdtemp()) / "mammals.pdf")  # or .svg

# %%
# Both panels show the same points: moving the centre changes no distance. A note in the corner says how many names were left
# out. Sizes are in proportion to the axes, so a figure of 3.3 inches (one column) is legible too:
with plt.rc_context({"font.family": "serif", "font.size": 8}):
    figure, ax = plt.subplots(figsize=(3.3, 3.3), layout="constrained")
    plot_plane(Y, labels, edges=mammals.edges, ax=ax, view="equidistant")
