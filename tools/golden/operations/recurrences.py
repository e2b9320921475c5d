"""Makes graph/src/test/resources/golden/operations-recurrences.npz: recurrences over sequences of different lengths, and searches along beams, in the
entry format of operations.py, which see. Run from the root of the repository: `python tools/golden/operations/recurrences.py`. Made with
PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import case, drawn, rand, unknown

OUTPUT = Path("graph/src/test/resources/golden/operations-recurrences.npz")
FUNCTIONS = ("sigmoid", "tanh", "relu", "identity")


def offsets(*lengths):
    return [[0, *(int(n) for n in np.cumsum(lengths))]]


def real(rng, *shape, dtype="float32"):
    return np.asarray(rng.uniform(-1, 1, shape).astype(dtype))


def memory(rng):
    n, width, dtype = [int(k) for k in rng.integers(1, 5, rng.integers(1, 4))], int(rng.integers(1, 4)), ("float32", "float64")[rng.integers(2)]
    peepholes = bool(rng.integers(2))
    inputs = {"Input": real(rng, sum(n), 4 * width, dtype=dtype), "Weight": real(rng, width, 4 * width, dtype=dtype)}
    inputs["Bias"] = real(rng, 1, (7 if peepholes else 4) * width, dtype=dtype)
    if rng.integers(2):
        inputs.update({slot: real(rng, len(n), width, dtype=dtype) for slot in ("H0", "C0")})
    attributes = {"use_peepholes": peepholes, "is_reverse": bool(rng.integers(2))}
    attributes.update({f"{kind}_activation": FUNCTIONS[rng.integers(4)] for kind in ("gate", "cell", "candidate")})
    return inputs, attributes, {"lod": {"input": offsets(*n)}, "targets": ("hidden",)}


LSTM = {"Input": rand(6, 8), "Weight": rand(2, 8), "Bias": rand(1, 14)}
LOD = {"input": offsets(2, 3, 1)}
case("lstm.plain", LSTM, lod=LOD, targets=("hidden",))
unknown("lstm.unknown", {**LSTM, "H0": rand(3, 2), "C0": rand(3, 2)}, {"is_reverse": True}, {"input": (0,), "h0": (0,), "c0": (0,)}, lod=LOD, targets=("hidden",))
drawn("lstm", memory)


def units(rng):
    n, width, dtype = [int(k) for k in rng.integers(1, 5, rng.integers(1, 4))], int(rng.integers(1, 4)), ("float32", "float64")[rng.integers(2)]
    inputs = {"Input": real(rng, sum(n), 3 * width, dtype=dtype), "Weight": real(rng, width, 3 * width, dtype=dtype)}
    if rng.integers(2):
        inputs["Bias"] = real(rng, 1, 3 * width, dtype=dtype)
    if rng.integers(2):
        inputs["H0"] = real(rng, len(n), width, dtype=dtype)
    attributes = {"origin_mode": bool(rng.integers(2)), "is_reverse": bool(rng.integers(2))}
    attributes.update({name: FUNCTIONS[rng.integers(4)] for name in ("activation", "gate_activation")})
    return inputs, attributes, {"lod": {"input": offsets(*n)}}


GRU = {"Input": rand(6, 6), "Weight": rand(2, 6), "Bias": rand(1, 6)}
case("gru.plain", GRU, lod=LOD)
unknown("gru.unknown", {**GRU, "H0": rand(3, 2)}, {"is_reverse": True}, {"input": (0,), "h0": (0,)}, lod=LOD)
drawn("gru", units)

# Searches along beams.


def two_levels(*groups):
    return [offsets(*(len(g) for g in groups))[0], offsets(*(n for g in groups for n in g))[0]]


def beam(rng):
    prefixes = [int(n) for n in rng.integers(1, 4, rng.integers(1, 4))]
    rows, width, accumulated = sum(prefixes), int(rng.integers(1, 5)), bool(rng.integers(2))
    inputs = {"pre_ids": np.asarray(rng.integers(0, 4, (rows, 1))), "pre_scores": real(rng, rows, 1)}
    inputs["scores"] = np.asarray(rng.uniform(0.01, 1, (rows, width)).astype("float32"))
    if rng.integers(2):
        inputs["ids"] = np.asarray(rng.integers(0, 9, (rows, width)))
    levels = two_levels(*([1] * n for n in prefixes))
    lod = {slot.lower(): levels for slot in inputs}
    attributes = {"level": 0, "beam_size": int(rng.integers(1, 4)), "end_id": 0, "is_accumulated": accumulated}
    return inputs, attributes, {"lod": lod, "grad": False, "outputs": {"parent_idx": "parent_idx"}}


drawn("beam_search", beam)

if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
