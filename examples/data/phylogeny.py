"""
A phylogeny
===========

A tree with branch lengths, from Newick to a picture. The lengths are millions of years, rounded: how long ago the
lines of today's primates parted.
"""

from pathlib import Path
from tempfile import mkdtemp

from horopca import HoroPCA, explore
from horopca.embed import DistortionEmbedding
from horopca.io import load_edges
from horopca.plots import plot_equidistant

# %%
# A clade is its age and what it split into; the file format wants the length of each branch, which is the
# difference of two ages.
APES = (20, (15, (9, (6.4, "human", (2, "chimpanzee", "bonobo")), "gorilla"), "orangutan"), (8, "siamang", "lar gibbon"))
MONKEYS = (18, (12, "rhesus macaque", (8, "baboon", "mandrill")), (12, "colobus", (9, "langur", "proboscis monkey")))
NEW_WORLD = (25, (20, "marmoset", (17, "tamarin", "owl monkey")), (22, "howler", (16, "spider monkey", "woolly monkey")))
LEMURS = (60, (40, (30, "ring-tailed lemur", "sifaka"), "mouse lemur"), "aye-aye")
LORISES = (38, "slow loris", "galago")
PRIMATES = (74, (69, (43, (29, APES, MONKEYS), NEW_WORLD), "tarsier"), (65, LEMURS, LORISES))


def newick(clade, parent_age):
    age, *parts = clade if isinstance(clade, tuple) else (0,)
    inside = f"({','.join(newick(part, age) for part in parts)})" if parts else clade.replace(" ", "_")
    return f"{inside}:{parent_age - age}"


path = Path(mkdtemp()) / "primates.nwk"
path.write_text(newick(PRIMATES, PRIMATES[0]) + ";")

# %%
# The embedding puts the nodes into ten dimensions so that distances are those along the branches; what it could not
# keep is its distortion. Then HoroPCA takes them to the plane.
embedding = DistortionEmbedding(10, max_radius=6, random_state=0).fit(path)
X, names = embedding.embedding_, [name.replace("_", " ") for name in embedding.names_]
pca = HoroPCA(2, spine="free", objective="distortion", stretch=True)
Y = pca.fit_transform(X)
print(f"average distortion: {embedding.distortion_:.3f} in ten dimensions, then {-pca.score(X):.3f} in the plane")

# %%
# Inner nodes have no names of their own, and are not written. Colours are by family. The edges are in the file, in
# the order of the rows.
edges = load_edges(path).edges
families = {"apes": APES, "Old World monkeys": MONKEYS, "New World monkeys": NEW_WORLD, "lemurs": LEMURS, "lorises": LORISES}
labels = [next((family for family, clade in families.items() if f"'{name}'" in str(clade)), None) for name in names]
shown = ["" if name.startswith("inner") else name for name in names]
plot_equidistant(Y, labels, names=shown, edges=edges, title="Primates, by when they parted")

# %%
# The same to move around in: drag, scroll, double-click on a species.
explore(Y, labels, names=shown, edges=edges, original=X, title="Primates")
