"""
A hyperbolic image-text model
=============================

Models such as MERU and HyCoCLIP place texts and images in one hyperbolic space: general texts near the origin, images
far out. This tutorial trains a small model of this kind, saves its vectors, and goes from the file to a picture and an
answer: do the texts lie between the origin and their images?

The images are real, 1,797 handwritten digits that come with scikit-learn, and the captions are made from their labels.
The model is small, two layers in each encoder and a few seconds of training, so its numbers say nothing about MERU. If you
have vectors of your own model, begin at "From the file".
"""

import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import torch
from sklearn.datasets import load_digits

from horopca import HoroPCA
from horopca.io import load
from horopca.plots import plot_cones, plot_plane

# %%
# **Images and captions.** Every image has three captions, such as "a digit", "an even digit" and "the digit four". A
# quarter of the images is held out.
digits = load_digits()
numbers = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
captions = ["a digit", "an even digit", "an odd digit", *(f"the digit {number}" for number in numbers)]
caption_of = np.stack([0 * digits.target, 1 + digits.target % 2, 3 + digits.target], axis=1)
words = sorted({word for caption in captions for word in caption.split()})
bags = torch.tensor([[float(word in caption.split()) for word in words] for caption in captions])
pixels = torch.tensor(digits.data / 16, dtype=torch.float32)
rng = np.random.default_rng(0)
held_out = rng.permutation(len(pixels)) < len(pixels) / 4

# %%
# **The model.** As in MERU, an encoder gives a tangent vector at the origin, the exponential map takes it to the space
# components of Lorentz coordinates, and the curvature -c is learnt.
torch.manual_seed(0)


def encoder(size):
    return torch.nn.Sequential(torch.nn.Linear(size, 64), torch.nn.GELU(), torch.nn.Linear(64, 16))


model = torch.nn.ModuleDict({"image": encoder(64), "text": encoder(len(words))})
model.curv = torch.nn.Parameter(torch.tensor(0.0))  # log c
model.temperature = torch.nn.Parameter(torch.tensor(-2.0))  # its logarithm


def encode(kind, rows):
    v = 0.6 * model[kind](rows)
    length = (model.curv / 2).exp() * v.norm(dim=-1, keepdim=True)
    return v * torch.sinh(length) / length


def time_and_cosh(x, y):
    """The time components of x and y, and the hyperbolic cosine of their distance, at curvature -1."""
    c = model.curv.exp()
    t, u = (1 + c * (x * x).sum(-1)).sqrt(), (1 + c * (y * y).sum(-1)).sqrt()
    return t, u, (t * u - c * (x * y).sum(-1)).clamp(min=1 + 1e-5)


def outside_cone(x, y):
    """The angle at x between y and the axis of the entailment cone, less the half-aperture: negative inside the cone."""
    t, u, cosh = time_and_cosh(x, y)
    length = (model.curv / 2).exp() * x.norm(dim=-1)
    angle = torch.acos(((u - t * cosh) / (length * (cosh**2 - 1).sqrt())).clamp(-1 + 1e-5, 1 - 1e-5))
    return angle - torch.asin((0.2 / length).clamp(max=1 - 1e-5))


# %%
# **Training** with the two losses of MERU. The contrastive loss makes the caption with the right number the nearest of
# ten. The entailment loss pulls images into the cones of their captions, and captions into the cones of more general ones.
optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
general, specific = np.array([(0, 1), (0, 2), *((1 + k % 2, 3 + k) for k in range(10))]).T
for _ in range(800):
    rows = rng.choice(np.flatnonzero(~held_out), size=128, replace=False)
    image, text = encode("image", pixels[rows]), encode("text", bags)
    distances = torch.acosh(time_and_cosh(image[:, None], text[None, 3:])[2]) / (model.curv / 2).exp()
    right = torch.tensor(digits.target[rows])
    contrastive = torch.nn.functional.cross_entropy(-distances / model.temperature.exp(), right)
    outside = outside_cone(text[caption_of[rows]], image[:, None]), outside_cone(text[general], text[specific])
    entailment = sum(angle.clamp(min=0).mean() for angle in outside)
    optimiser.zero_grad()
    (contrastive + 0.2 * entailment).backward()
    optimiser.step()

path = Path(mkdtemp()) / "digits.pth"
with torch.no_grad():
    vectors = {"text": encode("text", bags), "image": encode("image", pixels[held_out])}
torch.save({**vectors, "curv": model.curv.detach()}, path)

# %%
# **From the file**: ``horopca info`` lists what is in it, and which models of hyperbolic space the rows fit.
command = [sys.executable, "-m", "horopca", "info", path.name, "--key", "image"]
print(subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=True).stdout)

# %%
# The rows are vectors of any length, so they cannot be points of a ball, but the file does not say what they are. We know
# it: space components, with the logarithm of c beside them.
texts, images = load(path, key="text").X, load(path, key="image").X
c = torch.load(path)["curv"].exp().item()
coordinates = {"model": "lorentz-space", "curvature": -c}

# %%
# **Reduce texts and images together**, from 16 dimensions to 2. The origin stays in the centre. There are few texts: the
# weights give both kinds the same total weight.
X = np.concatenate([texts, images])
weight = np.repeat([1 / len(texts), 1 / len(images)], [len(texts), len(images)])
pca = HoroPCA(2, **coordinates, centre="origin", stretch=True, tol=1e-5).fit(X, sample_weight=weight)
Y = pca.transform(X)

# %%
# **Draw it**: images as points, the captions with numbers as diamonds with their entailment cones.
few = len(texts)
number = np.array(numbers)[digits.target[held_out]]
named = dict(zip(numbers, Y[3:few], strict=True))
ax = plot_plane(Y[few:], number, companions=named, title="handwritten digits and their captions", **coordinates)
plot_cones(Y[3:few], ax=ax, **coordinates)

# %%
# **The conclusion** must be drawn in 16 dimensions, because ten cones overlap in the plane. The radii show that the model
# has learnt the hierarchy: more specific captions are farther out, and images are beyond most of them. Nearly all held-out
# images are in the cones of their general captions, but almost a third are also in the wrong one of "even" and "odd". The
# cones of the numbers are narrower: little more than half of the images are in the right one, and hardly any in a wrong one.
radius = np.arcsinh(np.sqrt(c) * np.linalg.norm(X, axis=1)) / np.sqrt(c)
with torch.no_grad():
    inside = outside_cone(vectors["text"][None], vectors["image"][:, None]).numpy() < 0
own = (caption_of[held_out][:, :, None] == np.arange(few)).any(axis=1)
for level, columns in {"a digit": slice(0, 1), "even or odd": slice(1, 3), "the number": slice(3, few)}.items():
    there, right = inside[:, columns], own[:, columns]
    wrong = f", in a wrong one {there[~right].mean():.0%}" if columns.start else ""
    print(f"{level}: radius {np.median(radius[columns]):.2f}, images in the right cone {there[right].mean():.0%}{wrong}")
print(f"images: median radius {np.median(radius[few:]):.2f}")
