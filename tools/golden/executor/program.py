"""What a program of shapes.py and learning.py hands to the recorder, and the values that it is fed."""
import dataclasses
import math
import typing
import zlib

import numpy as np


@dataclasses.dataclass
class Built:
    """A program, under the current program guard."""

    fetches: list
    feeds: typing.List[dict]
    """What is fed at each run; the runs follow each other in one scope."""


_random = None


def seed(name):
    """Values depend on the program's name alone."""
    global _random
    _random = np.random.default_rng(zlib.crc32(name.encode()))


def real(*shape):
    """Multiples of 1/8, which are exact in each format and compress well."""
    return (_random.integers(-8, 9, shape) / 8).astype(np.float32)


def whole(*values, dtype="int64"):
    return np.array(values, dtype)


def constant(value):
    return np.array([value], np.float32)


def distinct(*shape):
    """Without equal elements, so that an order of them has no choice."""
    size = math.prod(shape)
    return ((_random.permutation(size) - size // 2) / 16).astype(np.float32).reshape(shape)
