"""What a network hands to the recorder, and the values that it is fed."""
import dataclasses
import typing
import zlib

import numpy as np


@dataclasses.dataclass
class Network:
    """A forward network under the current program guard, before its optimizer has added anything to the program."""

    loss: typing.Any
    feed: dict
    optimizer: typing.Any = None
    output: typing.Any = None
    """What is exported for inference, from the first fed variable; None where nothing is exported."""
    export: bool = True
    """Whether a network with an output is also exported as an inference model."""
    no_grad_set: set | None = None
    schedule: typing.Any = None
    fetch: dict = dataclasses.field(default_factory=dict)
    """Variables other than the loss whose values at the first step are recorded."""
    random: bool = False
    """Whether training draws random numbers, so that no loss can be compared."""


class Feed:
    """Small batches of a network, the same at each run: multiples of 1/8, which are exact in each format and compress well."""

    def __init__(self, name):
        self._random = np.random.default_rng(zlib.crc32(name.encode()))

    def real(self, *shape):
        return (self._random.integers(-8, 9, shape) / 8).astype(np.float32)

    def sparse(self, *shape):
        """Four fifths zeros, as in pictures of digits."""
        return self.real(*shape) * (self._random.integers(0, 5, shape) == 0)

    def index(self, bound, *shape):
        return self._random.integers(0, bound, shape).astype(np.int64)
