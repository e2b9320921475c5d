"""Weights and batches that are computed and not stored. GoldenFormula.java computes the same, to the bit.

bits(name, i) is the i-th number of the generator splitmix64 with the seed crc32(name in UTF-8) * 2^32, i from 0 in row-major order.
unit(name, i) = (bits >> 40) / 2^24 - 1/2, which lies in [-1/2, 1/2). All that follows is in float64, rounded once to float32.

A parameter is
  1 + 0.4 * unit              where it is Scale of batch_norm or layer_norm,
  1 + unit                    where it is Variance of batch_norm,
  0.2 * unit                  otherwise, where it has one dimension,
  sqrt(20 / fan_in) * unit    otherwise; fan_in is the first dimension of two, else the product of all but the first.

A batch of numbers is 2 * unit, and one of whole numbers below a bound is (bits >> 33) mod bound.
"""
import math
import zlib

import numpy as np


def bits(name, size):
    seed = np.uint64(zlib.crc32(name.encode()) << 32)
    mixed = seed + (np.arange(size, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def unit(name, shape):
    return ((bits(name, math.prod(shape)) >> np.uint64(40)).astype(np.float64) / 2**24 - 0.5).reshape(shape)


def parameter(name, shape, ops):
    """The value of a parameter; ops are those of its program."""
    read_as = {(op.type, slot) for op in ops for slot in op.input_names if name in op.input(slot)}
    values = unit(name, shape)
    if read_as & {("batch_norm", "Scale"), ("layer_norm", "Scale")}:
        values = 1 + 0.4 * values
    elif ("batch_norm", "Variance") in read_as:
        values = 1 + values
    elif len(shape) == 1:
        values = 0.2 * values
    else:
        fan_in = shape[0] if len(shape) == 2 else math.prod(shape[1:])
        values = math.sqrt(20 / fan_in) * values
    return values.astype(np.float32)


def batch(name, shape, bound):
    """Numbers where bound is 0, else whole ones."""
    if bound == 0:
        return (2 * unit(name, shape)).astype(np.float32)
    return ((bits(name, math.prod(shape)) >> np.uint64(33)) % np.uint64(bound)).astype(np.int64).reshape(shape)
