"""
A geoopt network, epoch by epoch
================================

Pictures of points in training. With ``warm_start=True`` each picture is aligned with the previous one, so points move only if
the network has moved them.
"""

import geoopt
import torch

from horopca import HoroPCA, from_geoopt
from horopca.datasets import make_hierarchy
from horopca.plots import plot_comparison

# %%
# A small Poincaré embedding: parents and children attract each other, other pairs repel each other.
torch.manual_seed(0)
tree = make_hierarchy(3, 4, random_state=0)
parents = torch.as_tensor(tree.edges)
ball = geoopt.PoincareBall(c=1.0)
points = geoopt.ManifoldParameter(torch.empty(len(tree.points), 5, dtype=torch.float64).uniform_(-0.01, 0.01), manifold=ball)
optimizer = geoopt.optim.RiemannianAdam([points], lr=0.05)


def train(steps):
    for _ in range(steps):
        others = torch.randint(len(points), (len(parents), 10))
        candidates = torch.cat([parents[:, :1], others], dim=1)
        d = ball.dist(points[parents[:, 1], None], points[candidates])
        loss = torch.nn.functional.cross_entropy(-2 * d, torch.zeros(len(parents), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


# %%
# ``from_geoopt`` returns the model and the curvature of the points. The root stays at the centre of every picture.
X, model, curvature = from_geoopt(points)
pca = HoroPCA(2, spine="free", model=model, curvature=curvature, warm_start=True)
images, done = {}, 0
for steps in (20, 60, 120, 300):
    train(steps)
    done += steps
    pca.set_params(centre=points[0].detach()).fit(points.detach())
    images[f"after {done} steps"] = pca.transform(points.detach()).numpy()
plot_comparison(images, tree.labels, edges=tree.edges)
