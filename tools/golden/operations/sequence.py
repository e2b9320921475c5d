"""Makes graph/src/test/resources/golden/operations-sequence.npz: operations on sequences of different lengths, in the entry format of operations.py,
which see, with the offsets of feeds and results. Run from the root of the repository: `python tools/golden/operations/sequence.py`. Made with
PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import case, core, drawn, int32s, ints, longs, rand, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-sequence.npz")
FLOAT = ("float32", "float32", "float64")


def offsets(*lengths):
    """One level for sequences of some lengths."""
    return [[0, *(int(n) for n in np.cumsum(lengths))]]


def lengths(rng, least=0, most=5, count=None):
    """Lengths of some sequences, of which at least one has rows."""
    drawn = rng.integers(least, most + 1, count or int(rng.integers(1, 6)))
    drawn[rng.integers(0, len(drawn))] = rng.integers(1, most + 1)
    return [int(n) for n in drawn]


def two_levels(*groups):
    """Two levels for groups of sequences, whose lengths are given."""
    return [offsets(*(len(g) for g in groups))[0], offsets(*(n for g in groups for n in g))[0]]


LOD = offsets(2, 3, 1)
POOLS = ("AVERAGE", "SUM", "SQRT", "MAX", "LAST", "FIRST")

INDEX = {"hidden": ("maxindex",)}
for kind in ("AVERAGE", "MAX"):
    case(f"sequence_pool.{kind.lower()}_empty", {"X": rand(5, 2)}, {"pooltype": kind, "pad_value": 1.5}, lod={"x": offsets(0, 3, 0, 2, 0)}, **INDEX)
case("sequence_pool.levels", {"X": rand(6, 2)}, {"pooltype": "SUM"}, lod={"x": two_levels([2, 1], [3])}, **INDEX)
case("sequence_pool.max_levels", {"X": rand(6, 2)}, {"pooltype": "MAX"}, lod={"x": two_levels([2, 0], [3, 1], [])}, **INDEX)
unknown("sequence_pool.unknown", {"X": rand(6, 2)}, {"pooltype": "FIRST"}, {"x": (0,)}, lod={"x": LOD}, **INDEX)


def pool(rng):
    n = lengths(rng)
    kind = POOLS[rng.integers(len(POOLS))]
    more = tuple(rng.integers(1, 4, rng.integers(1, 3)))
    attributes = {"pooltype": kind, "pad_value": float(rng.integers(-1, 2))}
    return {"X": rand(sum(n), *more, dtype=FLOAT[rng.integers(3)])}, attributes, {"lod": {"x": offsets(*n)}, **INDEX}


drawn("sequence_pool", pool)

case("lod_reset.target", {"X": rand(6, 2)}, {"target_lod": [0, 4, 6]}, lod={"x": LOD})
case("lod_reset.plain", {"X": rand(6, 2, dtype="float64")}, {"target_lod": [0, 1, 1, 6]})
case("lod_reset.append", {"X": rand(6, 2)}, {"target_lod": [0, 1, 2, 3, 4, 5, 6], "append": True}, lod={"x": LOD})
case("lod_reset.offsets", {"X": rand(6, 1), "Y": int32s(0, 2, 6)})
case("lod_reset.like", {"X": rand(6, 1), "Y": rand(6, 3)}, lod={"y": two_levels([2, 1], [3])}, constant=("y",))
case("lod_reset.ints", {"X": ints(4, 1)}, {"target_lod": [0, 4]}, grad=False)

case("sequence_expand.sequences", {"X": rand(5, 2), "Y": rand(6, 1)}, lod={"x": offsets(2, 0, 3), "y": LOD}, constant=("y",))
LEVELS = {"y": two_levels([2, 1], [], [3, 0])}
case("sequence_expand.first_level", {"X": rand(3, 2), "Y": rand(6, 1)}, {"ref_level": 0}, lod=LEVELS, constant=("y",))
case("sequence_expand.last_level", {"X": rand(4, 2, dtype="float64"), "Y": rand(6, 1)}, lod=LEVELS, constant=("y",))
unknown("sequence_expand.unknown", {"X": rand(3, 2), "Y": rand(6, 1)}, {}, {"x": (0,), "y": (0,)}, lod={"y": LOD}, constant=("y",))


def expand(rng):
    times = lengths(rng, most=3)
    n = lengths(rng, count=len(times))
    lod = {"y": offsets(*times)}
    if rng.integers(2):
        lod["x"] = offsets(*n)
    rows = sum(n) if "x" in lod else len(times)
    return {"X": rand(rows, int(rng.integers(1, 4)), dtype=FLOAT[rng.integers(3)]), "Y": rand(sum(times), 1)}, {}, {"lod": lod, "constant": ("y",)}


drawn("sequence_expand", expand)


def expand_as(rng):
    times = lengths(rng, most=4)
    inputs = {"X": rand(len(times), int(rng.integers(1, 4)), dtype=FLOAT[rng.integers(3)]), "Y": rand(sum(times), 1)}
    return inputs, {}, {"lod": {"y": offsets(*times)}, "constant": ("y",)}


unknown("sequence_expand_as.unknown", {"X": rand(3, 2), "Y": rand(6, 1)}, {}, {"x": (0,), "y": (0,)}, lod={"y": LOD}, constant=("y",))
drawn("sequence_expand_as", expand_as)


def reverse(rng):
    n = lengths(rng)
    more = tuple(rng.integers(1, 4, rng.integers(1, 3)))
    return {"X": rand(sum(n), *more, dtype=FLOAT[rng.integers(3)])}, {}, {"lod": {"x": offsets(*n), "d_y": offsets(*n)}}


case("sequence_reverse.ints", {"X": ints(6, 1)}, lod={"x": LOD}, grad=False)
drawn("sequence_reverse", reverse)


def cut(rng):
    n = lengths(rng)
    start = [int(rng.integers(0, k + 1)) for k in n]
    length = [int(rng.integers(0, k - s + 1)) for k, s in zip(n, start)]
    inputs = {"X": rand(sum(n), int(rng.integers(1, 4)), dtype=FLOAT[rng.integers(3)])}
    inputs |= {"Offset": values([[s] for s in start], "int64"), "Length": values([[k] for k in length], "int64")}
    return inputs, {}, {"lod": {"x": offsets(*n)}}


unknown("sequence_slice.unknown", {"X": rand(6, 2), "Offset": values([[1], [0], [0]], "int64"), "Length": values([[1], [2], [1]], "int64")}, {}, {"x": (0,)}, lod={"x": LOD})
drawn("sequence_slice", cut)


def concat(rng):
    count, width, kind = int(rng.integers(1, 5)), int(rng.integers(1, 4)), FLOAT[rng.integers(3)]
    parts = [lengths(rng, count=count) for _ in range(rng.integers(2, 4))]
    return {"X": [rand(sum(n), width, dtype=kind)(rng) for n in parts]}, {}, {"lod": {f"x{i}": offsets(*n) for i, n in enumerate(parts)}}


case("sequence_concat.ints", {"X": [np.arange(6)[:, None], np.arange(5)[:, None]]}, lod={"x0": LOD, "x1": offsets(0, 1, 4)}, grad=False)
drawn("sequence_concat", concat)


def pad(rng):
    n = lengths(rng)
    more = tuple(int(k) for k in rng.integers(1, 4, rng.integers(1, 3)))
    kind = FLOAT[rng.integers(3)]
    padding = rand(*more, dtype=kind) if rng.integers(2) else rand(1, dtype=kind)
    length = int(rng.choice([-1, max(n), max(n) + 2]))
    inputs = {"X": rand(sum(n), *more, dtype=kind), "PadValue": padding}
    return inputs, {"padded_length": length}, {"lod": {"x": offsets(*n)}, "constant": ("padvalue",)}


unknown("sequence_pad.unknown", {"X": rand(6, 2), "PadValue": values([0.5])}, {}, {"x": (0,)}, lod={"x": LOD}, constant=("padvalue",))
unknown("sequence_pad.length", {"X": rand(6, 1), "PadValue": values([0.5])}, {"padded_length": 4}, {"x": (0,)}, lod={"x": LOD}, constant=("padvalue",))
drawn("sequence_pad", pad)


def unpad(rng):
    n = lengths(rng)
    longest = max(n) + int(rng.integers(0, 2))
    more = tuple(int(k) for k in rng.integers(1, 4, rng.integers(0, 3)))
    inputs = {"X": rand(len(n), longest, *more, dtype=FLOAT[rng.integers(3)]), "Length": values(n, "int64")}
    return inputs, {}, {"lod": {"d_out": offsets(*n)}}


unknown("sequence_unpad.unknown", {"X": rand(2, 3, 2), "Length": longs(1, 3)}, {}, {"x": (0, 1), "length": (0,)}, lod={"d_out": offsets(1, 3)})
drawn("sequence_unpad", unpad)


def reshape(rng):
    new, factor = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    n = lengths(rng)
    if rng.integers(2):
        return {"X": rand(sum(n), new * factor, dtype=FLOAT[rng.integers(3)])}, {"new_dim": new}, {"lod": {"x": offsets(*n)}}
    n = [k * factor for k in n]
    return {"X": rand(sum(n), new)}, {"new_dim": new * factor}, {"lod": {"x": offsets(*n)}}


unknown("sequence_reshape.unknown", {"X": rand(6, 2)}, {"new_dim": 1}, {"x": (0,)}, lod={"x": LOD})
drawn("sequence_reshape", reshape)


def convolution(rng):
    n = lengths(rng, least=1)
    width, filters, length = (int(k) for k in rng.integers(1, 5, 3))
    start = int(rng.integers(1 - length, 1))
    attributes = {"contextLength": length, "contextStart": start}
    return {"X": rand(sum(n), width), "Filter": rand(length * width, filters)}, attributes, {"lod": {"x": offsets(*n)}}


TRAINED = {"contextLength": 3, "contextStart": -1, "paddingTrainable": True}
case("sequence_conv.trained", {"X": rand(6, 2), "PaddingData": rand(2, 2), "Filter": rand(6, 3)}, TRAINED, lod={"x": LOD})
unknown("sequence_conv.unknown", {"X": rand(6, 2), "Filter": rand(6, 3)}, {"contextLength": 3, "contextStart": -1}, {"x": (0,)}, lod={"x": LOD})
drawn("sequence_conv", convolution)


def row_convolution(rng):
    n = lengths(rng, least=1)
    width, length = (int(k) for k in rng.integers(1, 5, 2))
    filters = {"Filter": rand(length, width)}
    if rng.integers(3) == 0:
        return {"X": rand(len(n), n[0], width), **filters}, {}
    return {"X": rand(sum(n), width), **filters}, {}, {"lod": {"x": offsets(*n)}}


unknown("row_conv.batch", {"X": rand(2, 3, 2), "Filter": rand(2, 2)}, {}, {"x": (0, 1)})
drawn("row_conv", row_convolution)


def column(rng):
    n = lengths(rng)
    return {"X": rand(sum(n), 1, dtype=FLOAT[rng.integers(3)])}, {}, {"lod": {"x": offsets(*n)}}


case("sequence_softmax.vector", {"X": rand(6, low=-5, high=5)}, lod={"x": offsets(0, 4, 2)})
drawn("sequence_softmax", column)


def windows(rng):
    n = lengths(rng)
    attributes = {"win_size": int(rng.integers(2, 5)), "pad_value": int(rng.integers(-1, 8))}
    return {"X": ints(sum(n), 1, dtype=("int32", "int64")[rng.integers(2)])}, attributes, {"lod": {"x": offsets(*n)}}


unknown("sequence_enumerate.unknown", {"X": ints(6, 1)}, {"win_size": 2}, {"x": (0,)}, lod={"x": LOD})
drawn("sequence_enumerate", windows)


def erased(rng):
    n = lengths(rng, most=7)
    tokens = [int(t) for t in rng.integers(0, 6, rng.integers(0, 4))]
    return {"X": ints(sum(n), 1, high=6, dtype=("int32", "int64")[rng.integers(2)])}, {"tokens": tokens}, {"lod": {"x": offsets(*n)}}


unknown("sequence_erase.unknown", {"X": ints(6, 1)}, {"tokens": [2, 3, 5]}, {"x": (0,)}, lod={"x": LOD})
case("sequence_erase.levels", {"X": ints(6, 1, high=4)}, {"tokens": [2, 3]}, lod={"x": two_levels([2, 1], [3])})
drawn("sequence_erase", erased)


def scattered(rng):
    n = lengths(rng)
    width, kind = int(rng.integers(1, 6)), FLOAT[rng.integers(3)]
    inputs = {"X": rand(len(n), width, dtype=kind), "Ids": ints(sum(n), 1, high=width), "Updates": rand(sum(n), 1, dtype=kind)}
    return inputs, {}, {"lod": {"ids": offsets(*n), "updates": offsets(*n)}}


drawn("sequence_scatter", scattered)


def positions(rng):
    n = lengths(rng)
    width, kind = 2 * int(rng.integers(1, 4)), FLOAT[rng.integers(3)]
    attributes = {"alpha": float(rng.integers(0, 5)) / 2, "beta": float(rng.integers(1, 4)) / 2}
    if rng.integers(2):
        return {"X": rand(len(n), n[0], width, dtype=kind)}, attributes
    return {"X": rand(sum(n), width, dtype=kind)}, attributes, {"lod": {"x": offsets(*n)}}


unknown("add_position_encoding.unknown", {"X": rand(2, 3, 4)}, {}, {"x": (0, 1)})
drawn("add_position_encoding", positions)

case("is_empty.empty", {"X": lambda rng: np.zeros((0, 3), "float32")}, grad=False)
case("is_empty.full", {"X": ints(2, 1)}, grad=False)
unknown("is_empty.unknown", {"X": rand(2, 1)}, {}, {"x": (0,)}, grad=False)
case("sequence_mask.floats", {"X": values([1.5, 2, -1, 2.7])}, {"maxlen": 4, "out_dtype": 5}, grad=False)
case("sequence_mask.longest_float", {"X": values([[1.5], [2.7]], "float64")}, {"out_dtype": 3}, grad=False)


def images(rng):
    size, kernel = rng.integers(3, 7, 2), rng.integers(1, 4, 2)
    attributes = {"kernels": [int(k) for k in kernel], "strides": [int(k) for k in rng.integers(1, 3, 2)]}
    attributes["paddings"] = [int(k) for k in rng.integers(0, 3, 4)]
    return {"X": rand(int(rng.integers(1, 4)), int(rng.integers(1, 3)), *size)}, attributes


case("im2sequence.plain", {"X": rand(2, 1, 3, 4)}, {"kernels": [2, 2]})
REAL = {"kernels": [2, 1], "strides": [1, 2], "out_stride": [2, 3]}
case("im2sequence.sizes", {"X": rand(3, 1, 4, 5), "Y": values([[8, 15], [5, 7], [6, 12]])}, REAL, constant=("y",), grad=False)
case("im2sequence.size", {"X": rand(1, 1, 4, 5), "Y": values([[6, 9]])}, REAL, constant=("y",), grad=False)
unknown("im2sequence.unknown", {"X": rand(2, 2, 3, 4)}, {"kernels": [2, 2]}, {"x": (0, 2)})
drawn("im2sequence", images)


def append(block, op, inputs, outputs, **attributes):
    """Appends an operation with slots of one variable each."""
    kinds = {name: core.VarDesc.VarType.LOD_TENSOR for name in outputs.values()}
    if op == "lod_tensor_to_array":
        kinds = {name: core.VarDesc.VarType.LOD_TENSOR_ARRAY for name in outputs.values()}
    for name, kind in kinds.items():
        block.create_var(name=name, type=kind, dtype="int64" if op == "max_sequence_len" else "float32")
    block.append_op(type=op, inputs={s: [n] for s, n in inputs.items()}, outputs={s: [n] for s, n in outputs.items()}, attrs=attributes)


def ranked(name, x, lod, level=0, more=None, lods=None, then=lambda block: []):
    """A rank table and what is done with it."""

    def rest(block):
        append(block, "max_sequence_len", {"RankTable": "out"}, {"Out": "longest"})
        return ["longest", *then(block)]

    table = {"out": {"type": core.VarDesc.VarType.LOD_RANK_TABLE}}
    case(f"lod_rank_table.{name}", {"X": x}, {"level": level}, lod={"x": lod, **(lods or {})}, more=more or {}, hidden=("out",), declared=table, then=rest)


def steps(block):
    append(block, "lod_tensor_to_array", {"X": "x", "RankTable": "out"}, {"Out": "list"})
    append(block, "array_to_lod_tensor", {"X": "list", "RankTable": "out"}, {"Out": "joined"})
    return ["joined"]


def steps_gradient(block):
    return [*steps(block), *cases.gradients(block, ["joined"], ["d_joined"], ["x"]).values()]


def order(block):
    append(block, "reorder_lod_tensor_by_rank", {"X": "x", "RankTable": "out"}, {"Out": "ordered"})
    return ["ordered"]


def order_gradient(block):
    return [*order(block), *cases.gradients(block, ["ordered"], ["d_ordered"], ["x"]).values()]


def order_rows(block):
    append(block, "reorder_lod_tensor_by_rank", {"X": "rows", "RankTable": "out"}, {"Out": "ordered"})
    append(block, "shrink_rnn_memory", {"X": "ordered", "RankTable": "out", "I": "step"}, {"Out": "left"})
    block.var("d_left").desc.set_need_check_feed(False)
    block.var("d_left").desc.set_shape(block.var("left").shape)
    return ["ordered", "left", *cases.gradients(block, ["left"], ["d_left"], ["rows"]).values()]


ranked("steps", rand(6, 2), offsets(1, 3, 2), then=steps_gradient, more={"d_joined": rand(6, 2)}, lods={"d_joined": offsets(1, 3, 2)})
ranked("steps_levels", rand(6, 2), two_levels([1], [3, 2]), then=steps)
ranked("steps_fine", rand(6, 1), two_levels([1], [3, 2]), level=1, then=steps)
ranked("order", rand(6, 2), offsets(1, 3, 2), then=order_gradient, more={"d_ordered": rand(6, 2)}, lods={"d_ordered": offsets(3, 2, 1)})
ranked("order_levels", rand(6, 2), two_levels([1], [3, 2]), then=order)
ROWS = {"rows": rand(4, 2), "step": longs(1), "d_left": rand(3, 2)}
ranked("order_rows", rand(8, 1), offsets(2, 1, 2, 3), then=order_rows, more=ROWS)
ranked("empty", rand(5, 1), offsets(2, 0, 3), then=steps)


def masked(name, x, mask, lod, merge="merge_lod_tensor", **options):
    """Two groups, and both together again."""

    def merged(block):
        append(block, merge, {"X": "x", "Mask": "mask", "InTrue": "outtrue", "InFalse": "outfalse"}, {"Out": "merged"}, level=0)
        return ["merged"]

    made = {n: {"dtype": "float32"} for n in ("outtrue", "outfalse")}
    case(f"split_lod_tensor.{name}", {"X": x, "Mask": values(mask, "bool")}, {"level": 0}, lod={"x": lod} if lod else {}, declared=made, then=merged, **options)


masked("rows", rand(6, 2), [[1], [0], [1], [1], [0], [0]], None)
masked("sequences", rand(6, 2), [[1], [0], [1]], offsets(1, 3, 2), grad=False)
masked("levels", rand(6, 1), [[1], [0]], two_levels([1], [3, 2]), grad=False)
masked("all", rand(6, 1), [[1], [1], [1]], offsets(1, 3, 2), grad=False)
# For inference, merging frees the groups.
masked("inference", rand(6, 2), [[1], [0], [1]], offsets(1, 3, 2), merge="merge_lod_tensor_infer", grad=False, hidden=("outtrue", "outfalse"))


def merged(rng):
    lods, rows = {}, []
    mask = rng.integers(0, 2, int(rng.integers(2, 6)))
    mask[:2] = 1, 0
    divided = rng.integers(2)
    for name, count in (("intrue", mask.sum()), ("infalse", (mask == 0).sum())):
        n = lengths(rng, least=1, count=int(count)) if divided else [1] * int(count)
        rows.append(sum(n))
        if divided:
            lods[name] = offsets(*n)
    width, kind = int(rng.integers(1, 4)), FLOAT[rng.integers(3)]
    inputs = {"X": rand(sum(rows), width, dtype=kind), "Mask": values(mask[:, None], "bool")}
    inputs |= {"InTrue": rand(rows[0], width, dtype=kind), "InFalse": rand(rows[1], width, dtype=kind)}
    axes = {name: (0,) for name in ("x", "intrue", "infalse")}
    return inputs, {"level": 0}, {"lod": lods, "constant": ("x",), "grad": not divided, "unknown": axes}


drawn("merge_lod_tensor", merged)

if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
