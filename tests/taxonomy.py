"""A small tree of mammals in the hyperbolic plane."""

import numpy as np

from horopca.geometry import lift, origin, to_hyperboloid, translate, translate_to_origin

TREE = {
    "mammal": ["placental", "marsupial", "monotreme"],
    "placental": ["carnivore", "rodent", "primate", "whale", "hoofed mammal"],
    "marsupial": ["kangaroo", "koala", "wombat", "opossum"],
    "monotreme": ["platypus", "echidna"],
    "carnivore": ["feline", "canine", "bear", "seal"],
    "feline": ["cat", "wildcat", "lion", "tiger", "lynx"],
    "canine": ["dog", "wolf", "fox", "jackal"],
    "bear": ["brown bear", "polar bear"],
    "rodent": ["mouse", "squirrel", "beaver", "porcupine"],
    "primate": ["monkey", "ape", "lemur"],
    "ape": ["gorilla", "chimpanzee", "human"],
    "whale": ["dolphin", "orca", "blue whale"],
    "hoofed mammal": ["horse", "cow", "pig", "giraffe"],
}


def mammals():
    """Points (n, 3) of the hyperboloid, names, labels (the branch under the second level) and edges (parent, child)."""
    names = list(dict.fromkeys([*TREE, *(child for children in TREE.values() for child in children)]))
    row = {name: i for i, name in enumerate(names)}
    edges = np.array([[row[parent], row[child]] for parent, children in TREE.items() for child in children])
    parent = dict(edges[:, ::-1].tolist())
    x = np.tile(origin(2), (len(names), 1))
    for name, children in TREE.items():
        here = row[name]
        back = translate_to_origin(x[parent[here]], x[here])[1:] if here in parent else np.zeros(2)
        first = np.arctan2(-back[1], -back[0]) if here in parent else 0.0
        spread = np.linspace(-1, 1, len(children)) * 1.2 if here in parent else np.arange(len(children)) * 2 * np.pi / 3
        for child, turn in zip(children, spread, strict=True):
            step = to_hyperboloid(1.3 * np.array([np.cos(first + turn), np.sin(first + turn)]), "tangent")
            x[row[child]] = translate(step, x[here])
    labels = [branch(name, names, parent, row) for name in names]
    return lift(x[:, 1:]), names, labels, edges


def branch(name, names, parent, row):
    """The child of the root, or of the placentals, that a name belongs to."""
    line = [row[name]]
    while line[-1] in parent:
        line.append(parent[line[-1]])
    path = [names[i] for i in reversed(line)]
    return path[0] if len(path) == 1 else path[1] if len(path) == 2 or path[1] != "placental" else path[2]
