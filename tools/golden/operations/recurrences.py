"""Makes graph/src/test/resources/golden/operations-recurrences.npz: recurrences over sequences of different lengths, and searches along beams, in the
entry format of operations.py, which see. Run from the root of the repository: `python tools/golden/operations/recurrences.py`. Made with
PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import case, drawn, rand, unknown, values

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

ARRAY = cases.core.VarDesc.VarType.LOD_TENSOR_ARRAY


def append(block, kind, inputs, outputs, attributes=None, lists=()):
    for name in outputs.values():
        if not block.has_var(name):
            dtype = "float32" if name.endswith(("scores", "scores2", "sums")) else "int32" if name.startswith("parent") else "int64"
            block.create_var(name=name, dtype=dtype, type=ARRAY if name in lists else cases.core.VarDesc.VarType.LOD_TENSOR)
    block.append_op(type=kind, inputs={k: [v] for k, v in inputs.items()}, outputs={k: [v] for k, v in outputs.items()}, attrs=attributes or {})


def decoded(block):
    """A second step, and the sentences of both."""
    append(
        block,
        "beam_search",
        {"pre_ids": "selected_ids", "pre_scores": "selected_scores", "ids": "ids2", "scores": "scores2"},
        {"selected_ids": "selected_ids2", "selected_scores": "selected_scores2", "parent_idx": "parent_idx2"},
        BEAM,
    )
    for step, suffix in enumerate(("", "2")):
        at = {"shape": [1], "dtype": cases.dtype_number("int64"), "value": float(step)}
        append(block, "fill_constant", {}, {"Out": f"step{step}"}, at)
        for kind in ("ids", "scores"):
            append(block, "write_to_array", {"X": f"selected_{kind}{suffix}", "I": f"step{step}"}, {"Out": f"list_{kind}"}, lists=("list_ids", "list_scores"))
    append(block, "beam_search_decode", {"Ids": "list_ids", "Scores": "list_scores"}, {"SentenceIds": "sentences", "SentenceScores": "sums"}, {"beam_size": 2, "end_id": 0})
    return ["selected_ids2", "parent_idx2", "sentences", "sums"]


BEAM = {"level": 0, "beam_size": 2, "end_id": 0, "is_accumulated": True}
STEPS = [[0, 1, 2], [0, 1, 2]]
NEXT = [[0, 2, 4], [0, 1, 2, 3, 4]]
for name, first, second in (("decoded", [[3, 0, 2], [1, 4, 5]], [[5, 6, 0], [0, 7, 8], [1, 2, 3], [4, 0, 6]]), ("ended", [[0, 0, 2], [1, 0, 5]], [[5, 6, 0], [0, 7, 8], [1, 2, 3], [4, 0, 6]])):
    case(
        f"beam_search.{name}",
        {"pre_ids": values([[1], [2]], "int64"), "pre_scores": rand(2, 1), "ids": values(first, "int64"), "scores": values([[0.9, 0.5, 0.1], [0.2, 0.8, 0.4]])},
        BEAM,
        grad=False,
        outputs={"parent_idx": "parent_idx"},
        more={"ids2": values(second, "int64"), "scores2": values([[1.2, 1.9, 1.1], [1.7, 0.6, 0.3], [1.4, 1.6, 0.2], [1.0, 1.8, 1.3]])},
        lod={"pre_ids": STEPS, "pre_scores": STEPS, "ids": STEPS, "scores": STEPS, "ids2": NEXT, "scores2": NEXT},
        then=decoded,
    )

if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
