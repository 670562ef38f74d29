"""HyperbolicAutoencoder: a nonlinear reduction by hyperbolic neural networks."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from .._input.arguments import check_choice, check_count, check_generator, check_number
from .._input.rows import Rows
from .._input.threads import one_blas_thread
from .._input.validation import ModelChoice
from .._search.ending import Ending
from ..geometry import Chunk, distance, lift, translate, translate_to_origin
from ..geometry._arrays import Array, array_namespace, from_numpy, to_numpy
from ..statistics import FRAME_ROWS, frame_of, principal_axes
from .base import HyperbolicReduction
from .fitting import as_fitted, ending_after, store_mean, tell
from .network import ACTIVATIONS, Layer, Recipe, run, train

DEVICES = ("auto", "cpu", "cuda", "mps")


class HyperbolicAutoencoder(HyperbolicReduction):
    """A hyperbolic neural network that squeezes points through K dimensions and unfolds them again.

    Encoder and decoder are hyperbolic fully connected layers (Ganea et al.): a matrix in the tangent space at the origin, a
    bias as a translation, an activation in the tangent space. What is minimised is the mean squared distance between points
    and their reconstructions, as a fraction of the variance of the points, and (a reconstruction alone leaves the
    scale and the shape of the code open) `isometry` times the mean squared relative error of the distances in the code.

    Needs torch for `fit`: ``pip install torch``. What was learnt is kept as NumPy arrays, so that `transform` does
    without it. The map lengthens distances as well as shortening them; it is no projection.

    Parameters
    ----------
    n_components : int or None, default=2
        K, the dimension of the code, from 1 to the dimension of the data (and at most the number of points). None: all.
    hidden : tuple of int, default=(32,)
        Dimensions of the layers between the points and the code; the decoder has them in the opposite order. ``()`` is one
        layer to encode and one to decode.
    activation : {"elu", "tanh", "relu", "identity"}, default="elu"
        Applied after every hidden layer.
    isometry : float, default=1.0
        Weight of the distances of the code in the loss; 0: reconstruction alone.
    learning_rate : float, default=0.01
        Of Adam, at the start; it falls to 0 along a cosine.
    batch_size : int, default=1024
        Points per step.
    max_iter : int, default=500
        Steps.
    patience : int, default=200
        Stop early after so many steps in which the loss on held-out points did not improve. The best weights are kept.
    validation_fraction : float, default=0.1
        Share of the points held out for that. With fewer than 20 such points the training points take their place.
    device : {"auto", "cpu", "cuda", "mps"}, default="auto"
        Where to train; "auto" is a GPU of Nvidia's if there is one.
    model : {"poincare", "lorentz", "lorentz-space", "lorentz-time-last", "klein", "halfspace", "tangent", "auto"}
        The coordinates of the input, and of the output, "poincare" by default.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    random_state : int, RandomState, Generator or None, default=None
        Seeds the weights, the batches and the pairs.
    verbose : int, default=0
        1: a line on stderr for every tenth of the steps.

    Attributes
    ----------
    n_components_ : int
        How many components there are. (They are not nested: there is no variance that each of them adds.)
    reconstruction_error_ : float
        Mean squared distance between the points and their reconstructions.
    loss_curve_ : list of float
        The loss on the held-out points, every ten steps.
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean, in the estimator's model: what the network sees as the origin.
    n_iter_, converged_, status_
        How the training ended. Converged is one that `patience` has stopped; one that has used all its steps might find better
        with more of them.
    objective_ : str
        What `score` measures: "residual", the mean squared distance between the points and their reconstructions.
    activation_ : str
        The activation of the fit, whatever ``activation`` is set to since.
    model_, curvature_
        Those of the fit, in which `transform` reads and writes, whatever is set since.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,), if X had column names

    See Also
    --------
    HoroPCA : a projection in closed form, in seconds and not minutes.

    Examples
    --------
    >>> from horopca import HyperbolicAutoencoder
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> autoencoder = HyperbolicAutoencoder(n_components=2, learning_rate=0.03, patience=10, random_state=0)
    >>> autoencoder.fit_transform(X).shape
    (121, 2)
    """

    objective = "residual"

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        hidden: tuple[int, ...] = (32,),
        activation: Literal["elu", "tanh", "relu", "identity"] = "elu",
        isometry: float = 1.0,
        learning_rate: float = 1e-2,
        batch_size: int = 1024,
        max_iter: int = 500,
        patience: int = 200,
        validation_fraction: float = 0.1,
        device: Literal["auto", "cpu", "cuda", "mps"] = "auto",
        model: ModelChoice = "poincare",
        curvature: float = -1.0,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.hidden = hidden
        self.activation = activation
        self.isometry = isometry
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.device = device
        self.model = model
        self.curvature = curvature
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        self._check_plan()
        if isinstance(self.n_components, float):
            raise ValueError(
                f"n_components must be a whole number or None, since the components of a network are not nested, but is "
                f"{self.n_components!r}."
            )

    def _fit_components(self, rows: Rows, K: int) -> Ending:
        rng = check_generator(self.random_state)
        mean = store_mean(self, rows)
        x = translate_to_origin(to_numpy(rows.all()), self._mean)
        self._axes, variances = principal_axes(x)
        with one_blas_thread():
            s, spread = x[:, 1:] @ self._axes.T, float(variances.sum())
            training = train(s, K, spread, self._check_plan(), rng, partial(tell, self))
        self._encoder, self._decoder, self.activation_ = training.encoder, training.decoder, self.activation
        self._frame = frame_of(self._encode(x[:: -(-len(x) // FRAME_ROWS)]))
        self.loss_curve_ = training.losses
        self.reconstruction_error_ = self._error(rows)
        sound = np.isfinite(training.losses[-1])
        remedy = f"Raise max_iter (now {self.max_iter})." if sound else "Lower learning_rate, or leave out the farthest points."
        return ending_after(mean, Ending.of(training, remedy))

    def _check_plan(self) -> Recipe:
        check_choice("activation", self.activation, ACTIVATIONS)
        check_choice("device", self.device, DEVICES)
        hidden = [check_count("hidden", width, 1, why=" in each entry") for width in np.atleast_1d(self.hidden).tolist()]
        for name in ("batch_size", "max_iter", "patience"):
            check_count(name, getattr(self, name), 1)
        check_number("learning_rate", self.learning_rate, "a positive number", above=0)
        check_number("isometry", self.isometry, "a weight >= 0", least=0)
        if check_number("validation_fraction", self.validation_fraction, "from 0 to below 1", least=0) >= 1:
            raise ValueError(f"validation_fraction must be from 0 to below 1, but is {self.validation_fraction!r}.")
        return Recipe(**{name: getattr(self, name) for name in Recipe._fields} | {"hidden": hidden})

    def _encode(self, x: Array) -> Array:
        """Codes (n, K+1) of points seen from the mean."""
        s = x[:, 1:] @ from_numpy(self._axes.T.copy(), x)
        return lift(run(s, _like(self._encoder, x), as_fitted(self, "activation")))

    def _project(self, x: Array) -> Array:
        return self._frame.enter(self._encode(translate_to_origin(x, from_numpy(self._mean, x))))

    def _embed(self, y: Array) -> Array:
        s = run(self._frame.leave(y)[:, 1:], _like(self._decoder, y), as_fitted(self, "activation"))
        return translate(lift(s @ from_numpy(self._axes, y)), from_numpy(self._mean, y))

    def _error(self, rows: Rows) -> float:
        """Mean squared distance between points and their reconstructions, in the user's unit of length."""

        def total(chunk: Chunk) -> float:
            x = chunk.points()
            error = distance(x, self._embed(self._project(x)))
            return float(array_namespace(error).sum(error * error))

        return rows.fold(total) / rows.shape[0] / rows.coordinates.scale**2


def _like(layers: list[Layer], x: Array) -> list[Layer]:
    return [Layer(from_numpy(W, x), from_numpy(b, x)) for W, b in layers]
