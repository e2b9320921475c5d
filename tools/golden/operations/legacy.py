"""Makes graph/src/test/resources/golden/operations-legacy.npz: former types of operations that newer ones replace, rarer small ones, and what Paddle
sees of a tensor's memory without a copy, in the entry format of operations.py, which see. Run from the root of the repository:
`python tools/golden/operations/legacy.py`. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import json
import sys
import zlib
from pathlib import Path

import cases
import numpy as np
import paddle
from cases import Build, Case, bools, case, drawn, int32s, ints, longs, rand, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-legacy.npz")


def rest(name, inputs, attributes=None, **options):
    """A case of the files with all cases only."""
    if cases.EVERYTHING:
        case(name, inputs, attributes, **options)


FLOATS = ("float32", "float64")
NUMBERS = (*FLOATS, "int32", "int64")


def shape(rng, least=0, most=4, longest=4):
    return tuple(int(d) for d in rng.integers(1, longest + 1, rng.integers(least, most + 1)))


def numbers(rng, dims, dtypes=FLOATS):
    dtype = str(rng.choice(dtypes))
    return rng.integers(-9, 10, dims).astype(dtype) if "int" in dtype else rng.normal(0, 2, dims).astype(dtype)


case("reshape.attribute", {"X": rand(2, 3)}, {"shape": [3, 2]})
case("reshape.inferred", {"X": rand(2, 3, 4)}, {"shape": [0, -1, 2]})
case("reshape.tensor", {"X": rand(2, 3), "Shape": int32s(3, -1)}, {})
case("reshape.list", {"X": rand(2, 3), "ShapeTensor": [int32s(3), int32s(2)]}, {"shape": [-1, 2]})
case("reshape.ints", {"X": ints(2, 3)}, {"shape": [6]})
unknown("reshape.unknown", {"X": rand(2, 6)}, {"shape": [-1, 3, 2]}, {"x": (0,)})


def reshaped(rng):
    x = numbers(rng, shape(rng, 1), NUMBERS)
    dims = [int(d) for d in rng.permutation(x.shape)]
    if rng.integers(0, 2):
        dims[rng.integers(0, len(dims))] = -1
    return {"X": x}, {"shape": dims}


drawn("reshape", reshaped)

case("transpose.matrix", {"X": rand(2, 3)}, {"axis": [1, 0]})
case("transpose.cube", {"X": rand(2, 3, 4, dtype="float64")}, {"axis": [2, 0, 1]})
case("transpose.negative", {"X": rand(2, 3, 4)}, {"axis": [-1, 0, 1]})
unknown("transpose.unknown", {"X": rand(2, 3)}, {"axis": [1, 0]}, {"x": (0,)})


def transposed(rng):
    x = numbers(rng, shape(rng, 1))
    return {"X": x}, {"axis": [int(a) for a in rng.permutation(x.ndim)]}


drawn("transpose", transposed)

case("expand.attribute", {"X": rand(2, 1)}, {"expand_times": [2, 3]})
case("expand.tensor", {"X": rand(2, 1), "ExpandTimes": int32s(1, 2)}, {})
case("expand.list", {"X": rand(2, 2), "expand_times_tensor": [int32s(2), int32s(1)]}, {"expand_times": [-1, -1]})
case("expand.ints", {"X": ints(2, 2)}, {"expand_times": [1, 2]})
case("expand.double", {"X": rand(2, 1, 2, dtype="float64")}, {"expand_times": [2, 1, 3]})
unknown("expand.unknown", {"X": rand(2, 3)}, {"expand_times": [2, 2]}, {"x": (0,)})


def expanded(rng):
    x = numbers(rng, shape(rng, 1), NUMBERS)
    return {"X": x}, {"expand_times": [int(t) for t in rng.integers(1, 4, x.ndim)]}


drawn("expand", expanded)

for axes in ([0], [1], [-1, 0]):
    case(f"reverse.{len(axes)}_{axes[0]}", {"X": rand(2, 3)}, {"axis": axes})
case("reverse.ints", {"X": ints(2, 3)}, {"axis": [1]})
case("reverse.bools", {"X": bools(2, 3)}, {"axis": [1]})


def reversed_(rng):
    x = numbers(rng, shape(rng, 1), NUMBERS)
    chosen = rng.permutation(x.ndim)[: rng.integers(1, x.ndim + 1)]
    return {"X": x}, {"axis": [int(a) - (x.ndim if rng.integers(0, 2) else 0) for a in chosen]}


drawn("reverse", reversed_)

PROBABILITIES = [[0.2, 0.8], [0.5, 0.5], [0.0, 1.0]]
case("cross_entropy.plain", {"X": values(PROBABILITIES), "Label": values([[1], [0], [0]], "int64")})
rest("cross_entropy.ignored", {"X": values(PROBABILITIES), "Label": values([[1], [-100], [0]], "int64")})
case("cross_entropy.ignored_class", {"X": values(PROBABILITIES), "Label": values([[1], [0], [1]], "int64")}, {"ignore_index": 0})
rest("cross_entropy.rows", {"X": rand(3, 4, low=0.1, high=1), "Label": ints(3, high=4)})
case("cross_entropy.cube", {"X": rand(2, 2, 3, low=0.1, high=1, dtype="float64"), "Label": ints(2, 2, 1, high=3)})
SOFT = {"X": values(PROBABILITIES), "Label": values([[1, 0], [0.5, 0.5], [0.1, 0.9]])}
case("cross_entropy.soft", SOFT, {"soft_label": True}, constant=("label",))
SOFT_CUBE = {"X": rand(2, 2, 3, low=0.1, high=1), "Label": rand(2, 2, 3, low=0, high=1)}
rest("cross_entropy.soft_cube", SOFT_CUBE, {"soft_label": True}, constant=("label",))
unknown("cross_entropy.unknown", {"X": rand(3, 4, low=0.1, high=1), "Label": ints(3, 1, high=4)}, {}, {"x": (0,), "label": (0,)})


def crossed(rng):
    dims = (*shape(rng, 1, 3), int(rng.integers(2, 6)))
    x = rng.uniform(0.01, 1, dims).astype(str(rng.choice(FLOATS)))
    if rng.integers(0, 2):
        return {"X": x, "Label": rng.uniform(0, 1, dims).astype(x.dtype)}, {"soft_label": True}, {"constant": ("label",)}
    label = rng.integers(0, dims[-1], (*dims[:-1], 1)).astype("int64")
    return {"X": x, "Label": label if rng.integers(0, 2) else label[..., 0]}, {"ignore_index": int(rng.integers(-1, dims[-1]))}


drawn("cross_entropy", crossed)

case("fill_any.plain", {"X": rand(2, 2)}, {"value": 1.5})
case("fill_any.ints", {"X": ints(2, 2)}, {"value": 1.5})
case("fill_any.negative", {"X": ints(2, 2, dtype="int32")}, {"value": -1.5})
case("fill_any.bools", {"X": bools(2, 2)}, {"value": 0.5})
case("fill_any.half", {"X": rand(2, dtype="float16")}, {"value": 2.5})
unknown("fill_any.unknown", {"X": rand(2, 2)}, {"value": 1.5}, {"x": (0,)})
drawn("fill_any", lambda rng: ({"X": numbers(rng, shape(rng), NUMBERS)}, {"value": float(np.float32(rng.normal(0, 9)))}))
case("fill_zeros_like2.plain", {"X": rand(2, 2)}, {"dtype": 5})
case("fill_zeros_like2.ints", {"X": rand(2, 2)}, {"dtype": 3})
case("fill_zeros_like2.of_ints", {"X": ints(2, 2)})
drawn("fill_zeros_like2", lambda rng: ({"X": numbers(rng, shape(rng), NUMBERS)}, {"dtype": int(rng.choice([0, 2, 3, 5, 6]))}))

case("minus.plain", {"X": rand(2, 3), "Y": rand(2, 3)})
unknown("minus.unknown", {"X": rand(2, 3), "Y": rand(2, 3)}, {}, {"x": (0,)})


def pair(rng):
    dims = shape(rng)
    return {"X": numbers(rng, dims, ["float32"]), "Y": numbers(rng, dims, ["float32"])}, {}


drawn("minus", pair)

for op in ("isinf", "isnan"):
    case(f"{op}.none", {"X": rand(2, 3)})
    case(f"{op}.infinite", {"X": values([1, np.inf, -np.inf])})
    case(f"{op}.nan", {"X": values([1, np.nan], "float64")})
    case(f"{op}.ints", {"X": ints(3)})
    case(f"{op}.number", {"X": values(np.nan)})
    unknown(f"{op}.unknown", {"X": rand(2, 3)}, {}, {"x": (0,)})

    def special(rng):
        x = numbers(rng, shape(rng, 1))
        x[tuple(rng.integers(0, d) for d in x.shape)] = rng.choice([1, np.inf, -np.inf, np.nan])
        return {"X": x}, {}

    drawn(op, special)

case("unique_with_counts.int32", {"X": ints(8, high=4)}, {"dtype": 2})
case("unique_with_counts.floats", {"X": values([2, 1, 2.5, 1])}, {"dtype": 3})
case("unique_with_counts.zeros", {"X": values([0, -0.0, 1, -0.0], "float64")}, {"dtype": 3})
case("unique_with_counts.large", {"X": longs(2**60, 2**60 + 1, 2**60)}, {"dtype": 3})
unknown("unique_with_counts.unknown", {"X": ints(6, high=3)}, {"dtype": 3}, {"x": (0,)})


def repeated(rng):
    x = rng.integers(0, 5, rng.integers(1, 12)).astype(str(rng.choice(NUMBERS)))
    return {"X": x}, {"dtype": int(rng.integers(2, 4))}


drawn("unique_with_counts", repeated)

case("l1_norm.plain", {"X": rand(2, 3)})
case("l1_norm.zeros", {"X": values([0, -1, 2])})
case("l1_norm.empty", {"X": rand(0, 3)})
unknown("l1_norm.unknown", {"X": rand(2, 3)}, {}, {"x": (0,)})
drawn("l1_norm", lambda rng: ({"X": numbers(rng, shape(rng), ["float32"])}, {}))

case("soft_relu.plain", {"X": values([-90, -50, -40, -3, 0, 20, 40, 41, 60])})
case("soft_relu.threshold", {"X": values([-50, -3, -1.5, 0, 1, 2, 2.5, 20], "float64")}, {"threshold": 2.0})
drawn("soft_relu", lambda rng: ({"X": numbers(rng, shape(rng))}, {"threshold": float(np.float32(rng.uniform(0.1, 5)))}))

LABELS = {"X": values([[1.5], [1.0], [-0.6], [-0.2], [-1.4]]), "Y": values([[0], [1], [1], [0], [1]])}
case("modified_huber_loss.plain", LABELS, constant=("y",))
case("modified_huber_loss.edges", {"X": values([[-1], [1], [1], [-1]]), "Y": values([[1], [1], [0], [0]])}, constant=("y",))
unknown("modified_huber_loss.unknown", LABELS, {}, {"x": (0,), "y": (0,)}, constant=("y",))


def labelled(rng):
    n = int(rng.integers(1, 8))
    return {"X": numbers(rng, (n, 1), ["float32"]), "Y": rng.integers(0, 2, (n, 1)).astype("float32")}, {}, {"constant": ("y",)}


drawn("modified_huber_loss", labelled)

for reduction in range(3):
    case(f"identity_loss.{reduction}", {"X": rand(2, 3)}, {"reduction": reduction})
case("identity_loss.double", {"X": rand(2, 3, dtype="float64")})
case("identity_loss.number", {"X": values(3.0)})
unknown("identity_loss.unknown", {"X": rand(2, 3)}, {"reduction": 2}, {"x": (0,)})
drawn("identity_loss", lambda rng: ({"X": numbers(rng, shape(rng))}, {"reduction": int(rng.integers(0, 3))}))

case("check_numerics.plain", {"tensor": values([1, 0, -3])}, {"op_type": "relu", "var_name": "x"})
case("check_numerics.infinite", {"tensor": values([1, np.inf, 0, -3])}, {"check_nan_inf_level": 1})
case("check_numerics.nan", {"tensor": values([np.nan, np.nan], "float64")}, {"check_nan_inf_level": 3})


def checked(rng):
    x = numbers(rng, shape(rng, 1))
    if rng.integers(0, 2):
        x[tuple(rng.integers(0, d) for d in x.shape)] = rng.choice([0, np.inf, -np.inf])
    return {"tensor": x}, {"check_nan_inf_level": int(rng.integers(1, 4)), "op_type": "tanh", "var_name": "y"}


drawn("check_numerics", checked)

# Forms of operations that have cases elsewhere, too.
case("fill_diagonal_tensor.row", {"X": rand(4, 3), "Y": rand(1, 3)}, constant=("y",))
case("fill_diagonal_tensor.flat", {"X": rand(2, 2, 3, 2), "Y": rand(6, 2)}, constant=("y",))
case("fill_diagonal_tensor.three", {"X": rand(2, 2, 3, 2), "Y": rand(3, 2, 2)}, constant=("y",))
case("searchsorted.floats_in_ints", {"SortedSequence": longs(1, 3, 3, 5), "Values": values([0.5, 3, 3.2, 9])})
case("searchsorted.ints_in_floats", {"SortedSequence": values([1, 2.5, 4]), "Values": longs(1, 2, 3, 9)}, {"right": True})
case("searchsorted.singles_in_doubles", {"SortedSequence": values([1, 2.5, 4], "float64"), "Values": values([1, 2.5, 9])}, {"out_int32": True})
for reduction in ("none", "mean", "sum"):
    column = {"X": rand(3, 4), "Label": ints(3, 1, high=4), "Weight": rand(4)}
    case(f"nll_loss.column_{reduction}", column, {"reduction": reduction}, constant=("weight",))
unknown("nll_loss.column_unknown", {"X": rand(3, 4), "Label": ints(3, 1, high=4)}, {}, {"x": (0,), "label": (0,)})
case("solve.vector", {"X": rand(3, 3, dtype="float64"), "Y": rand(3, dtype="float64")})
case("solve.same_vector", {"X": rand(2, 3, 3, dtype="float64"), "Y": rand(3, dtype="float64")})
case("solve.vectors", {"X": rand(2, 3, 3, dtype="float64"), "Y": rand(2, 3, dtype="float64")})
case("solve.same_matrix", {"X": rand(3, 3, dtype="float64"), "Y": rand(2, 3, 1, dtype="float64")})

EAGER = {}


def eager(name, slot, x, attributes, run, differentiable=True):
    """A case of an operation that Paddle's static executor has no kernel for: its values are those of the eager mode."""
    EAGER[name] = (slot, x, attributes, run, differentiable)


def computed(name):
    """The entries of such a case. Of elements that are seen several times Paddle's gradient keeps one; it is left out then."""
    slot, x, attributes, run, differentiable = EAGER[name]
    c = Case(name, {slot: x}, attributes, grad=differentiable)
    x = x(np.random.default_rng(zlib.crc32(name.encode()))) if callable(x) else x
    paddle.disable_static()
    out = run(paddle.to_tensor(x)).numpy()
    paddle.enable_static()
    build = Build(c, {"out": (out.shape, out.dtype.name)} if differentiable else None, {"out": out.dtype.name})
    program = cases.framework_pb2.ProgramDesc.FromString(build.program.desc.serialize_to_string())
    program.ClearField("op_version_map")
    given = build.feeds[slot]
    entries = {"program": np.frombuffer(program.SerializeToString(), np.uint8)}
    entries["meta"] = np.frombuffer(json.dumps(build.meta, sort_keys=True).encode(), np.uint8)
    entries |= {f"in/{n}": v for n, v in build.feeds.items()}
    paddle.disable_static()
    tensor = paddle.to_tensor(given, stop_gradient=not differentiable)
    result = run(tensor)
    entries["out/out"] = result.numpy()
    if differentiable:
        numbered = paddle.to_tensor(np.arange(given.size, dtype="float64").reshape(given.shape))
        if numbered.dtype == tensor.dtype or "dtype" not in attributes:
            places = run(numbered if "offset" not in attributes else numbered.astype(tensor.dtype)).numpy()
            alone = len(np.unique(places)) == places.size
            if alone:
                result.backward(paddle.to_tensor(build.feeds["d_out"]))
                entries[f"out/{slot}@GRAD"] = tensor.grad.numpy()
    paddle.enable_static()
    return {f"{name}/{k}": v for k, v in entries.items()}


def strided(name, x, dims, strides, offset=0):
    attributes = {"dims": dims, "stride": strides, "offset": offset}
    eager(f"as_strided.{name}", "input", x, attributes, lambda t: paddle.as_strided(t, dims, strides, offset))


strided("transposed", rand(2, 3), [3, 2], [1, 3])
strided("part", rand(3, 4), [2, 2], [4, 1], 20)
strided("overlapping", rand(6), [4, 3], [1, 1])
strided("double", rand(2, 3, dtype="float64"), [2, 2], [3, 1], 8)
strided("repeated", rand(3), [2, 3], [0, 1])


def unfolded(name, x, axis, size, step):
    eager(f"tensor_unfold.{name}", "input", x, {"axis": axis, "size": size, "step": step}, lambda t: t.unfold(axis, size, step))


unfolded("apart", rand(6), 0, 2, 2)
unfolded("gaps", rand(2, 7), 1, 2, 3)
unfolded("overlapping", rand(2, 5), -1, 3, 1)
unfolded("first", rand(5, 2, dtype="float64"), 0, 2, 3)


def selected(name, x, index, axis):
    def run(tensor):
        return paddle._C_ops.index_select_strided(tensor, index, axis)

    # There is no shape inference for its gradient in a program.
    eager(f"index_select_strided.{name}", "x", x, {"index": index, "axis": axis}, run, differentiable=False)


selected("first", rand(3, 2), 1, 0)
selected("last", rand(2, 3, 2, dtype="float64"), 0, -1)
selected("ints", rand(2, 3), 2, 1)


def viewed(name, x, dtype):
    number = cases.dtype_number(dtype)
    eager(f"view_dtype.{name}", "input", x, {"dtype": number}, lambda t: t.view(dtype), differentiable=False)


viewed("same", rand(2, 3), "int32")
viewed("smaller", rand(2, 3), "int16")
viewed("bytes", rand(2, 1, dtype="float64"), "uint8")


def view_shape(name, x, dims):
    eager(f"view_shape.{name}", "input", x, {"dims": dims}, lambda t: t.view(dims), differentiable=False)


view_shape("given", rand(2, 3), [3, 2])
view_shape("cube", rand(2, 3, 2), [3, 4])
view_shape("flat", rand(2, 3, dtype="float64"), [6])

for i in range(20 if cases.EVERYTHING else cases.COMMITTED):
    rng = np.random.default_rng(zlib.crc32(f"draw strided {i}".encode()))
    drawn_x = numbers(rng, shape(rng, 1))
    axis = int(rng.integers(-drawn_x.ndim, drawn_x.ndim))
    size = int(rng.integers(1, drawn_x.shape[axis] + 1))
    unfolded(f"drawn{i:02}", drawn_x, axis, size, int(rng.integers(1, 4)))
    selected(f"drawn{i:02}", drawn_x, int(rng.integers(0, drawn_x.shape[axis])), axis)
    view_shape(f"drawn{i:02}", drawn_x, [int(d) for d in rng.permutation(drawn_x.shape)])
    viewed(f"drawn{i:02}", drawn_x, str(rng.choice(["int32", "int16", "uint8", "float32"])))
    rows, step = int(rng.integers(1, 4)), int(rng.integers(0, 2))
    rows = 1 if rows * step > drawn_x.size else rows
    count = int(rng.integers(1, drawn_x.size - (rows - 1) * step + 1))
    skipped = int(rng.integers(0, drawn_x.size - (rows - 1) * step - count + 1))
    strided(f"drawn{i:02}", drawn_x, [rows, count], [step, 1], drawn_x.itemsize * skipped)


if __name__ == "__main__":
    chosen = [n for n in EAGER if not sys.argv[1:] or any(p in n for p in sys.argv[1:])]
    more = {}
    for n in chosen:
        more |= computed(n)
    if sys.argv[1:]:
        print({k: v for k, v in more.items() if "/out/" in k})
    sys.exit(cases.write(OUTPUT, sys.argv[1:], more))
