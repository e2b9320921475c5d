"""Special numbers in place of some elements of an array, as SpecialNumbers in the tests makes them too."""
import zlib

import numpy as np

MASK = 0xFFFFFFFF
KINDS = {
    "nan": lambda info: [np.nan],
    "inf": lambda info: [np.inf, -np.inf],
    "small": lambda info: [0.0, -0.0, info.smallest_subnormal, -info.smallest_subnormal, 1.0, 1.0, -1.0],
    "huge": lambda info: [info.max, -info.max, info.tiny],
}
KINDS["all"] = lambda info: [n for kind in ("nan", "inf", "small", "huge") for n in KINDS[kind](info)]


def hashed(seed, i):
    x = (i * 0x9E3779B1 + seed) & MASK
    x ^= x >> 16
    x = (x * 0x85EBCA6B) & MASK
    return x ^ (x >> 13)


def replaced(array, kind, name):
    """Every fourth element or so, and at least one; of whole numbers the least, the greatest and those around 0."""
    if array.dtype.kind == "f":
        numbers = KINDS[kind](np.finfo(array.dtype))
    else:
        info = np.iinfo(array.dtype)
        numbers = [n for n in (info.min, info.max, 0, 1, -1) if n >= info.min]
    result = np.array(array).reshape(-1)
    seed = zlib.crc32(name.encode())
    for i in range(result.size):
        x = hashed(seed, i)
        if x % 4 == 0 or i == seed % result.size:
            result[i] = numbers[(x >> 2) % len(numbers)]
    return result.reshape(array.shape)
