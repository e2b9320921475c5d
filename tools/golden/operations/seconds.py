"""Makes graph/src/test/resources/golden/operations-seconds.npz: gradients of gradients that PaddlePaddle has operations for, with shapes and values
drawn at random, in the entry format of operations.py, which see. Run from the root of the repository: `python tools/golden/operations/seconds.py`.
Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
import zlib
from pathlib import Path

import cases
import numpy as np
from cases import gradients, rand

OUTPUT = Path("graph/src/test/resources/golden/operations-seconds.npz")


def dims(rng, least=1, most=3):
    return tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(least, most + 1))))


def twice(op, draw, count=20):
    """Draws cases of an operation with the gradients of its gradients: `draw(rng)` gives inputs, attributes, and the variables that want gradients."""

    for i in range(count if cases.EVERYTHING else cases.COMMITTED):
        name = f"{op}.twice{i:02}"
        rng = np.random.default_rng(zlib.crc32(f"draw {name}".encode()))
        inputs, attributes, wrt = draw(rng)
        shapes = {slot.lower(): given(rng).shape for slot, given in inputs.items()}
        more = {f"dd_{n}": rand(*shapes[n], dtype="float64") for n in wrt}
        cases.case(name, inputs, attributes, more=more, then=lambda block, wrt=wrt: second(block, wrt))


def second(block, wrt):
    """Appends the gradients of the gradients with respect to the variables; returns their names."""
    return list(gradients(block, [f"{n}@GRAD" for n in wrt], [f"dd_{n}" for n in wrt], wrt).values())


def unary(op, low=-2.0, high=2.0, **attributes):
    twice(op, lambda rng: ({"X": rand(*dims(rng), low=low, high=high, dtype="float64")}, {k: v(rng) for k, v in attributes.items()}, ["x"]))


unary("abs")
unary("celu", alpha=lambda rng: float(rng.uniform(0.3, 2)))
unary("elu", alpha=lambda rng: float(rng.uniform(0.3, 2)))
unary("leaky_relu", alpha=lambda rng: float(rng.uniform(0.01, 0.5)))
unary("log", low=0.2)
unary("pow", low=0.2, factor=lambda rng: float(rng.integers(2, 5)))
unary("relu")
unary("rsqrt", low=0.2)
unary("sigmoid")
unary("sin")
unary("softplus", beta=lambda rng: float(rng.uniform(0.5, 3)))
unary("sqrt", low=0.2)
unary("square")
unary("tanh")


def pair(op, low=-2.0):
    def draw(rng):
        shape = dims(rng, 2, 3)
        y = shape[int(rng.integers(0, len(shape))) :]
        return {"X": rand(*shape, dtype="float64"), "Y": rand(*y, low=low, dtype="float64")}, {"axis": -1}, ["x", "y"]

    twice(op, draw)


pair("elementwise_add")
pair("elementwise_sub")
pair("elementwise_mul")
pair("elementwise_div", low=0.5)


def product(rng):
    m, k, n = (int(i) for i in rng.integers(1, 5, 3))
    trans_x, trans_y = (bool(b) for b in rng.integers(0, 2, 2))
    x, y = (k, m) if trans_x else (m, k), (n, k) if trans_y else (k, n)
    return {"X": rand(*x, dtype="float64"), "Y": rand(*y, dtype="float64")}, {"trans_x": trans_x, "trans_y": trans_y}, ["x", "y"]


twice("matmul_v2", product)


def reduced(rng):
    shape = dims(rng, 2, 3)
    return {"X": rand(*shape, dtype="float64")}, {"dim": [int(rng.integers(0, len(shape)))], "keep_dim": bool(rng.integers(0, 2)), "reduce_all": False}, ["x"]


twice("reduce_mean", reduced)


def tiled(rng):
    shape = dims(rng, 2, 3)
    return {"X": rand(*shape, dtype="float64")}, {"repeat_times": [int(n) for n in rng.integers(1, 3, len(shape))]}, ["x"]


twice("tile", tiled)

if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
