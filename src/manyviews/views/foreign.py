"""Arrays of other libraries as NumPy's: torch, jax, zarr and whatever else follows a protocol of exchange."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.views.stored import is_store, numbers_of_store

__all__ = ["is_foreign", "to_numpy"]

_NATIVE = (np.ndarray, np.generic, list, tuple, str, bytes, int, float, complex)


def is_foreign(item: Any) -> bool:
    """Tell whether a thing is an array of another library, by the protocols that it follows."""
    return not isinstance(item, _NATIVE) and (hasattr(item, "__array__") or hasattr(item, "__dlpack__"))


def to_numpy(item: Any, where: str) -> NDArray[Any]:
    """Return an array-like as an array, without a copy where the library shares its memory.

    Parameters
    ----------
    item : array-like
        Lists, and what has ``__array__`` or ``__dlpack__``. Of a torch tensor that records gradients, the numbers. A
        large zarr array becomes the map of a temporary file.
    where : str
        What it is, for messages.

    Returns
    -------
    ndarray
        The same numbers.

    Raises
    ------
    ValueError
        If rows have differing lengths.
    TypeError
        If the library does not hand its numbers over, as for tensors on a GPU.
    """
    if isinstance(item, np.ndarray):
        return item
    if is_store(item):
        return np.asanyarray(numbers_of_store(item, where))
    if callable(detach := getattr(item, "detach", None)):
        item = detach()
    try:
        if not hasattr(item, "__array__") and hasattr(item, "__dlpack__"):
            return np.from_dlpack(item)
        return np.asarray(item)
    except (TypeError, RuntimeError, BufferError) as error:
        if not is_foreign(item):
            raise
        kind = f"{type(item).__module__.partition('.')[0]} {type(item).__name__}"
        raise TypeError(
            f"{where} is a {kind} whose numbers NumPy cannot read ({' '.join(str(error).split())}); give it dense, in "
            "the memory of the CPU and in a dtype that NumPy has, as x.detach().cpu().float().numpy() of a torch tensor"
        ) from error
