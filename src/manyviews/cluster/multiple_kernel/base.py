"""What the multiple-kernel methods share: steps on the weights, and the way from views to kernels to clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.constraints import NON_NEGATIVE, POSITIVE_INT
from manyviews.cluster.kernel_base import ConsensusClusterer
from manyviews.cluster.memory import copy_bytes
from manyviews.cluster.parallel import jobs_at_a_time
from manyviews.cluster.result import FitResult
from manyviews.kernels.embedding import SpectralPartition
from manyviews.kernels.kernel_set import ExactKernels, KernelSet, new_rows
from manyviews.linalg.simplex_qp import solve_simplex_qp
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History
from manyviews.views import Views

__all__ = [
    "ExactKernelClusterer",
    "MultipleKernelClusterer",
    "WeightedKernels",
    "cut_weights",
    "mixture_of",
    "residual_traces",
    "settle",
    "shares",
    "simplex_minimum",
]

Array = NDArray[Any]


@dataclass(frozen=True)
class WeightedKernels:
    """What a solver finds.

    Attributes
    ----------
    weights : ndarray of shape (m,)
        Weights of the kernels.
    mixture : ndarray of shape (m,)
        What the kernels are multiplied with in the combination: the weights to some power.
    partition : SpectralPartition
        Leading eigenvalues and vectors of the combination.
    history : History
        The objective.
    """

    weights: Array
    mixture: Array
    partition: SpectralPartition
    history: History


def shares(kernels: KernelSet, wanted: Array | None = None) -> Array:
    """Return how often each kernel is there (m,), as parts of 1; equal by default."""
    return np.full(len(kernels), 1.0 / len(kernels)) if wanted is None else np.asarray(wanted / wanted.sum())


def mixture_of(gamma: Array, power: float, wanted: Array | None = None) -> Array:
    r"""Return what kernels of weights γ (m,) are multiplied with, :math:`w_p (\gamma_p / w_p)^q`.

    That is :math:`\gamma_p^q` where each kernel is there once, and where it is there w times the sum over its copies,
    which share its weight.
    """
    return np.asarray(gamma**power if wanted is None else wanted * (gamma / wanted) ** power)


def residual_traces(kernels: KernelSet, H: Array) -> Array:
    r"""Return what each kernel keeps beside H, :math:`\operatorname{Tr} K_p - \operatorname{Tr}(H^\top K_p H) >= 0`."""
    return np.maximum(kernels.own_traces - kernels.traces(H), 0.0)


def cut_weights(gamma: Array, least: float) -> Array:
    """Return weights of sum 1 with those below ``least`` set to 0."""
    gamma = np.where(gamma < least, 0.0, gamma)
    return np.asarray(gamma / gamma.sum())


def simplex_minimum(A: Array, f: Array, *, least: float) -> Array:
    r"""Return the minimiser of :math:`\tfrac12 \gamma^\top A \gamma + f^\top \gamma` on the simplex, cut at ``least``.

    The program is brought to scale 1 first: products of kernels grow with n².
    """
    scale = max(float(np.abs(A).max()), np.finfo(float).tiny)
    return cut_weights(solve_simplex_qp(A / scale, f[None] / scale)[0], least)


def settle(
    kernels: KernelSet,
    k: int,
    step: Callable[[Array], tuple[Array, float]],
    *,
    power: float,
    wanted: Array | None = None,
    tol: float,
    max_iter: int,
) -> WeightedKernels:
    """Repeat a step on the weights from those wanted, then take the partition that belongs to the last of them."""
    gamma, history = alternate(step, shares(kernels, wanted), tol=tol, max_iter=max_iter)
    mixture = mixture_of(gamma, power, wanted)
    return WeightedKernels(gamma, mixture, kernels.leading(mixture, k), history)


class MultipleKernelClusterer(ConsensusClusterer):
    """Base of the methods that weigh the kernels of all views, then group the unit rows of one partition by k-means.

    A method implements ``_solve(kernels)``. It sees no kernel of a constant view, which would cost nothing and take
    all the weight.
    """

    _base_inputs: ClassVar[tuple[str, ...]] = ("features", "kernel", "distance")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = ConsensusClusterer._parameter_constraints | {
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
    }
    # n × n arrays beside the kernels: the combination, and what its decomposition works on
    _work_arrays: ClassVar[int] = 2

    tol: float
    max_iter: int

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        kernel_rng, start_rng = rng.spawn(2)
        kernels, live = self._kernel_set(views, kernel_rng)
        self._say(f"{len(kernels)} kernels, {self.approximation_}")
        self._live, self._wanted = live, self._weights[live]
        result = self._solve(kernels)
        weights = np.zeros(len(views.names))
        weights[live] = result.weights
        self._keep_rule(kernels, result)
        labels = self._discretize(kernels.embedding(result.partition.vectors), start_rng)
        return self._record(FitResult(labels, result.history, weights=weights))

    def _solve(self, kernels: Any) -> WeightedKernels:
        raise TypeError(f"{type(self).__name__} defines no solver")

    def _kernel_set(self, views: Views, rng: np.random.Generator) -> tuple[KernelSet, NDArray[np.int64]]:
        """Return the kernels of the views that tell samples apart, and the numbers of these views."""
        self._choose_kernels(views)
        if self.approximation_ == "nystrom":
            kernels: KernelSet = self._landmark_kernels(views, rng)
        else:
            found = list(self._exact_kernels(views))
            maps = tuple(kernel.view_map for kernel in found if kernel.view_map is not None)
            kernels = ExactKernels(tuple(kernel.K for kernel in found), maps)
        self._check_signal(views, kernels.silent)
        live = np.flatnonzero([not silent.all() for silent in kernels.silent])
        if live.size == 0:  # one cluster of samples that are all alike
            live = np.arange(1)
        return kernels.select(live), live

    def _keep_rule(self, kernels: KernelSet, result: Any) -> None:
        """Store what gives new samples their rows of the partition."""
        self._maps = kernels.maps
        self._projection = kernels.projection(result.mixture, result.partition)

    def _consensus_rows(self, views: Views) -> Array:
        return new_rows(self._maps, [views.arrays[p] for p in self._live], self._projection)

    def _kernel_bytes(self, views: Views) -> int:
        n, m = len(views), len(views.names)
        if self.base == "features" and self._chosen_approximation(n) == "nystrom":
            return super()._kernel_bytes(views)
        jobs = jobs_at_a_time(self.n_jobs, m) if self.base == "features" else 1
        # in a job the kernel, and a block of it on the way there, small beside it
        return sum(map(copy_bytes, views.arrays)) + 8 * n * n * (m + max(self._work_arrays, jobs - 1))


class ExactKernelClusterer(MultipleKernelClusterer):
    """Base of the methods that need entries of the kernels: no landmarks, no rule for new samples."""

    _memory_hint: ClassVar[str] = "use MKKM, MKKMMM, SimpleMKKM and MKKMMiR, which take landmarks"
    _memory_order: ClassVar[int] = 2

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: allowed
        for name, allowed in MultipleKernelClusterer._parameter_constraints.items()
        if name not in ("approximation", "n_landmarks")
    }

    approximation = "exact"

    def _can_predict(self) -> bool:
        return False
