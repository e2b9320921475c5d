"""Makes graph/src/test/resources/golden/operations-fused.npz: linear layers and attention as one operation, in the entry format of operations.py,
which see. Run from the root of the repository: `python tools/golden/operations/fused.py`. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import case, drawn, rand, unknown

OUTPUT = Path("graph/src/test/resources/golden/operations-fused.npz")


def real(rng, *shape, dtype="float32"):
    return np.asarray(rng.uniform(-2, 2, shape).astype(dtype))


def linear(rng):
    shape = [int(n) for n in rng.integers(1, 5, rng.integers(2, 5))]
    kept, outputs, dtype = int(rng.integers(1, len(shape))), int(rng.integers(1, 6)), ("float32", "float64")[rng.integers(2)]
    inputs = {"Input": real(rng, *shape, dtype=dtype), "W": real(rng, int(np.prod(shape[kept:])), outputs, dtype=dtype)}
    if rng.integers(2):
        inputs["Bias"] = real(rng, *([1] * int(rng.integers(2))), outputs, dtype=dtype)
    return inputs, {"in_num_col_dims": kept, "activation_type": ("", "relu")[rng.integers(2)] if "Bias" in inputs else ""}, {"grad": False}


case("fc.padded", {"Input": rand(3, 4), "W": rand(8, 9), "Bias": rand(5)}, {"padding_weights": True}, grad=False)
unknown("fc.unknown", {"Input": rand(2, 3, 4), "W": rand(4, 5)}, {"in_num_col_dims": 2}, {"input": (0, 1)}, grad=False)
drawn("fc", linear)


def attention(rng):
    batch, steps, heads = (int(n) for n in rng.integers(1, 4, 3))
    return {"X": real(rng, batch, steps, 3, heads, 16)}, {"alpha": float(rng.uniform(0.1, 1)), "head_number": heads}, {"grad": False}


drawn("self_dp_attention", attention)


def step(rng):
    batch, width, dtype = int(rng.integers(1, 5)), int(rng.integers(1, 5)), ("float32", "float64")[rng.integers(2)]
    inputs = {"Input": real(rng, batch, 3 * width, dtype=dtype), "HiddenPrev": real(rng, batch, width, dtype=dtype), "Weight": real(rng, width, 3 * width, dtype=dtype)}
    if rng.integers(2):
        inputs["Bias"] = real(rng, 1, 3 * width, dtype=dtype)
    attributes = {"activation": int(rng.integers(4)), "gate_activation": int(rng.integers(4)), "origin_mode": bool(rng.integers(2))}
    return inputs, attributes


GRU = {"Input": rand(3, 6), "HiddenPrev": rand(3, 2), "Weight": rand(2, 6), "Bias": rand(1, 6)}
case("gru_unit.plain", GRU)
case("gru_unit.origin", GRU, {"origin_mode": True})
unknown("gru_unit.unknown", GRU, {}, {"input": (0,), "hiddenprev": (0,)})
drawn("gru_unit", step)

if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
