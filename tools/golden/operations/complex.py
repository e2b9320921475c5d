"""Makes graph/src/test/resources/golden/operations-complex.npz: complex numbers in arithmetic, products, sums and movements, their parts, Fourier
transforms and frames of signals, and rarer linear algebra, in the entry format of operations.py, which see. Run from the root of the repository:
`python tools/golden/operations/complex.py`. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import case, complexes, drawn, longs, rand, second, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-complex.npz")
TYPES = ("complex64", "complex128")
PARTS = {"complex64": "float32", "complex128": "float64"}


def shape(rng, least=1, most=3, longest=5):
    return tuple(int(n) for n in rng.integers(1, longest, rng.integers(least, most + 1)))


def kind(rng):
    return TYPES[rng.integers(2)]


def broadcast(rng, full):
    """Some of the last dimensions, some of them 1."""
    part = full[rng.integers(0, len(full)) :]
    return tuple(1 if rng.integers(4) == 0 else n for n in part)


case("complex.scalars", {"X": rand(), "Y": rand()})
case("real.special", {"X": values([complex(np.inf, np.nan), complex(-0.0, -np.inf), 1j], "complex64")}, grad=False)
case("imag.special", {"X": values([complex(np.inf, np.nan), complex(-0.0, -np.inf), 1j], "complex128")}, grad=False)
case("conj.real", {"X": rand(2, 3)})
case("abs.zero", {"X": values([0, 3 + 4j, -1j], "complex64")})
case("abs.large", {"X": values([3e30 + 4e30j, 1e-30 - 1e-30j], "complex64")}, grad=False)
case("angle.zero", {"X": values([0, 1, -1, 1j, -1j, -2 + 2j], "complex64")})
for name in ("real", "imag", "conj", "as_real", "abs", "angle"):
    unknown(f"{name}.unknown", {"X": complexes(2, 3)}, {}, {"x": (0,)})
unknown("as_complex.unknown", {"X": rand(2, 3, 2)}, {}, {"x": (0,)})
unknown("complex.unknown", {"X": rand(2, 3), "Y": rand(3)}, {}, {"x": (0,)})


def of_parts(rng):
    full = shape(rng)
    part = PARTS[kind(rng)]
    pair = [full, broadcast(rng, full)]
    return {"X": rand(*pair[rng.integers(2)], dtype=part), "Y": rand(*pair[rng.integers(2)], dtype=part)}, {}


def of_one(rng):
    return {"X": complexes(*shape(rng), dtype=kind(rng))}, {}


def of_pairs(rng):
    return {"X": rand(*shape(rng), 2, dtype=PARTS[kind(rng)])}, {}


def narrow(rng):
    """Exponentials of complex128 are computed in float32 in Paddle."""
    return {"X": complexes(*shape(rng))}, {}


drawn("complex", of_parts)
drawn("as_complex", of_pairs)
for name in ("real", "imag", "conj", "as_real"):
    drawn(name, of_one)
for name in ("abs", "angle", "sin", "cos", "tanh"):
    drawn(f"{name}.complex", of_one)
for name in ("exp", "sigmoid", "silu"):
    drawn(f"{name}.complex", narrow)


def pair(rng):
    full = shape(rng)
    dtype = kind(rng)
    other = broadcast(rng, full) if rng.integers(2) else full
    x, y = complexes(*full, dtype=dtype), complexes(*other, dtype=dtype)
    return {"X": x, "Y": y}, {}


def divided(rng):
    inputs, attributes = pair(rng)
    y = inputs["Y"]
    inputs["Y"] = lambda r: y(r) + np.asarray(3, y(r).dtype)
    return inputs, attributes


for name in ("add", "sub", "mul"):
    drawn(f"elementwise_{name}.complex", pair)
drawn("elementwise_div.complex", divided)
inputs = {"X": complexes(2, 3), "Y": lambda r: complexes(3)(r) + np.complex64(3)}
second("elementwise_mul.complex_second", inputs, {}, ("x",), ("d_out", "y"), dtype="complex64")
# Paddle does not conjugate in the second gradient of a divisor.
second("elementwise_div.complex_second", inputs, {}, ("x",), ("d_out",), dtype="complex64")


def product(rng):
    m, k, n = (int(i) for i in rng.integers(1, 5, 3))
    dtype, batch = kind(rng), shape(rng, 0, 2, 3)
    tx, ty = bool(rng.integers(2)), bool(rng.integers(2))
    x = complexes(*batch, *((k, m) if tx else (m, k)), dtype=dtype)
    y = complexes(*(batch if rng.integers(2) else ()), *((n, k) if ty else (k, n)), dtype=dtype)
    return {"X": x, "Y": y}, {"trans_x": tx, "trans_y": ty}


drawn("matmul_v2.complex", product)
case("matmul_v2.complex_vectors", {"X": complexes(4), "Y": complexes(4)})
second("matmul_v2.complex_second", {"X": complexes(2, 3), "Y": complexes(3, 2)}, {}, ("x",), ("d_out", "y"), dtype="complex64")


def summed(rng):
    dims = shape(rng, 1, 3)
    axes = sorted(int(a) for a in rng.choice(len(dims), rng.integers(1, len(dims) + 1), replace=False))
    return {"X": complexes(*dims, dtype=kind(rng))}, {"dim": axes, "keep_dim": bool(rng.integers(2)), "reduce_all": bool(rng.integers(4) == 0)}


drawn("reduce_sum.complex", summed)
drawn("reduce_mean.complex", summed)
case("mean.complex", {"X": complexes(2, 3)})
case("sum.complex", {"X": [complexes(2, 3), complexes(2, 3)]})
case("scale.complex", {"X": complexes(2, 3)}, {"scale": -1.5, "bias": 0.5})
case("assign.complex", {"X": complexes(2, 3)})
case("cast.from_complex", {"X": complexes(2, 3)}, {"in_dtype": 23, "out_dtype": 5}, outputs={"Out": "out"}, grad=False)
case("cast.to_complex", {"X": rand(2, 3)}, {"in_dtype": 5, "out_dtype": 23}, grad=False)
case("cast.wider", {"X": complexes(2, 3)}, {"in_dtype": 23, "out_dtype": 24}, grad=False)
case("cast.truth", {"X": values([0, 1j, 2, 0j], "complex64")}, {"in_dtype": 23, "out_dtype": 0}, grad=False)
case("concat.complex", {"X": [complexes(2, 3), complexes(2, 2)]}, {"axis": 1})
case("stack.complex", {"X": [complexes(2, 3), complexes(2, 3)]}, {"axis": 1}, outputs={"Y": "y"})
case("unstack.complex", {"X": complexes(2, 3)}, {"axis": 0, "num": 2}, outputs={"Y": ["a", "b"]})
case("slice.complex", {"Input": complexes(4, 5)}, {"axes": [0, 1], "starts": [1, -3], "ends": [3, 5]})
case("strided_slice.complex", {"Input": complexes(4, 6)}, {"axes": [1], "starts": [5], "ends": [0], "strides": [-2], "infer_flags": [1]})
case("reshape2.complex", {"X": complexes(4, 6)}, {"shape": [3, -1]})
case("transpose2.complex", {"X": complexes(2, 3, 4)}, {"axis": [2, 0, 1]})
case("squeeze2.complex", {"X": complexes(2, 1, 4)}, {"axes": [1]})
case("unsqueeze2.complex", {"X": complexes(2, 4)}, {"axes": [1]})
case("expand_v2.complex", {"X": complexes(1, 3)}, {"shape": [2, 4, 3]})
case("tile.complex", {"X": complexes(2, 3)}, {"repeat_times": [2, 1]}, grad=False)
case("roll.complex", {"X": complexes(3, 4)}, {"shifts": [1, -2], "axis": [0, 1]})
case("flip.complex", {"X": complexes(3, 4)}, {"axis": [1]})
case("tril_triu.complex", {"X": complexes(3, 4)}, {"diagonal": 0, "lower": True})
case("pad.complex", {"X": complexes(3, 4)}, {"paddings": [0, 1, 2, 0], "pad_value": 0.0})
case("pad3d.complex", {"X": complexes(1, 1, 2, 3, 2)}, {"paddings": [1, 0, 1, 1, 0, 0], "mode": "constant", "value": 0.0})
case("pad3d.complex_reflect", {"X": complexes(1, 1, 2, 3, 3)}, {"paddings": [1, 1, 1, 1, 0, 0], "mode": "reflect"})
case("gather_nd.complex", {"X": complexes(3, 4), "Index": values([[0, 1], [2, 3]], "int64")})
case("index_select.complex", {"X": complexes(3, 4), "Index": longs(2, 0, 2)}, {"dim": 0})
case("index_sample.complex", {"X": complexes(3, 4), "Index": values([[0, 1], [2, 3], [1, 1]], "int64")})
case("fill_any_like.complex", {"X": complexes(3, 4)}, {"value": 1.5}, grad=False)
case("fill_constant.complex", {}, {"shape": [2, 3], "dtype": 23, "value": 1.5})
case("shape.complex", {"Input": complexes(3, 4)}, grad=False)
case("dot.complex", {"X": complexes(4), "Y": complexes(4)})
case("trace.complex", {"Input": complexes(3, 4)}, {"offset": 1})
case("diagonal.complex", {"Input": complexes(3, 4)}, {"offset": -1})
case("multiplex.complex", {"X": [complexes(2, 3), complexes(2, 3)], "Ids": values([[1], [0]], "int32")})
case("unbind.complex", {"X": complexes(2, 3)}, {"axis": 0}, outputs={"Out": ["a", "b"]})
case("isclose.complex", {"Input": values([1, 1j, 2], "complex64"), "Other": values([1, 1.1j, 2 + 1e-9j], "complex64")}, {"rtol": "1e-5", "atol": "1e-8"}, grad=False)

NORMS = ("backward", "forward", "ortho")


def transform(dims, rng, **attributes):
    count = int(rng.integers(1, len(dims) + 1))
    axes = sorted(int(a) for a in rng.choice(len(dims), count, replace=False))
    return {"axes": axes, "normalization": NORMS[rng.integers(3)], "forward": bool(rng.integers(2)), **attributes}


def c2c(rng):
    dims = shape(rng, 1, 3, 9)
    return {"X": complexes(*dims, dtype=kind(rng))}, transform(dims, rng)


def r2c(rng):
    dims = shape(rng, 1, 3, 9)
    return {"X": rand(*dims, dtype=PARTS[kind(rng)])}, transform(dims, rng, onesided=bool(rng.integers(2)))


def c2r(rng):
    dims = [int(n) + 1 for n in shape(rng, 1, 3, 6)]
    attributes = transform(dims, rng)
    last = dims[attributes["axes"][-1]]
    size = int(rng.choice([0, 2 * last - 2, 2 * last - 1]))
    return {"X": complexes(*dims, dtype=kind(rng))}, {**attributes, "last_dim_size": size}


drawn("fft_c2c", c2c)
drawn("fft_r2c", r2c)
drawn("fft_c2r", c2r)
plain = {"axes": [1], "normalization": "backward", "forward": True}
case("fft_c2c.prime", {"X": complexes(1, 37, dtype="complex128")}, plain)
case("fft_r2c.prime", {"X": rand(1, 41)}, {**plain, "onesided": True})
case("fft_c2r.prime", {"X": complexes(1, 19)}, {**plain, "last_dim_size": 37})
case("fft_c2c.order", {"X": complexes(2, 3)}, {**plain, "axes": [1, 0], "forward": False})
case("fft_r2c.order", {"X": rand(4, 3)}, {**plain, "axes": [1, 0], "onesided": True})
unknown("fft_c2c.unknown", {"X": complexes(2, 4)}, plain, {"x": (0, 1)})
unknown("fft_r2c.unknown", {"X": rand(2, 4)}, {**plain, "onesided": True}, {"x": (0, 1)})
unknown("fft_c2r.unknown", {"X": complexes(2, 4)}, {**plain, "last_dim_size": 0}, {"x": (0, 1)})


def frames(rng):
    length, hop = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    samples = length + int(rng.integers(0, 9))
    axis = int(rng.integers(2)) - 1
    rest = shape(rng, 0, 2, 4)
    dims = (samples, *rest) if axis == 0 else (*rest, samples)
    return {"X": rand(*dims, dtype=("float32", "float64")[rng.integers(2)])}, {"frame_length": length, "hop_length": hop, "axis": axis}


def added(rng):
    length, count = (int(n) for n in rng.integers(1, 7, 2))
    axis = int(rng.integers(2)) - 1
    rest = shape(rng, 0, 2, 4)
    dims = (count, length, *rest) if axis == 0 else (*rest, length, count)
    return {"X": rand(*dims, dtype=("float32", "float64")[rng.integers(2)])}, {"hop_length": int(rng.integers(1, length + 1)), "axis": axis}


def short_time(rng):
    length = int(rng.integers(2, 9))
    part = ("float32", "float64")[rng.integers(2)]
    inputs = {"X": rand(int(rng.integers(1, 3)), length + int(rng.integers(0, 9)), dtype=part), "Window": rand(length, dtype=part)}
    flags = {"normalized": bool(rng.integers(2)), "onesided": True}
    return inputs, {"n_fft": length, "hop_length": int(rng.integers(1, 5)), **flags}, {"constant": ("window",)}


drawn("frame", frames)
drawn("overlap_add", added)
drawn("stft", short_time)
case("frame.ints", {"X": values([1, 2, 3, 4, 5], "int32")}, {"frame_length": 3, "hop_length": 2, "axis": -1}, grad=False)
case("frame.complex", {"X": complexes(2, 6)}, {"frame_length": 3, "hop_length": 2, "axis": -1})
case("overlap_add.ints", {"X": values([[1, 2, 3], [4, 5, 6]], "int64")}, {"hop_length": 1, "axis": -1}, grad=False)
case("overlap_add.complex", {"X": complexes(3, 4)}, {"hop_length": 1, "axis": -1})
case("overlap_add.long", {"X": rand(70, 3)}, {"hop_length": 1, "axis": -1})
unknown("frame.unknown", {"X": rand(2, 6)}, {"frame_length": 3, "hop_length": 2, "axis": -1}, {"x": (0, 1)})
unknown("overlap_add.unknown", {"X": rand(2, 3, 4)}, {"hop_length": 1, "axis": -1}, {"x": (0, 2)})


def matrices(rng, least=1):
    m, n = (int(i) for i in rng.integers(least, 5, 2))
    return (*shape(rng, 0, 2, 3), m, n)


def factored(rng):
    return {"X": rand(*matrices(rng), dtype=("float32", "float64")[rng.integers(2)])}, {}


def unpacked(rng):
    dims = matrices(rng)
    least = min(dims[-2:])
    pivots = lambda r: np.stack([r.integers(i, dims[-2], dims[:-2]) + 1 for i in range(least)], -1).astype("int32")
    return {"X": rand(*dims, dtype=("float32", "float64")[rng.integers(2)]), "Pivots": pivots}, {}


def least_squares(rng):
    dims = matrices(rng)
    driver = ("gels", "gelsy", "gelsd", "gelss")[rng.integers(4)]
    part = ("float32", "float64")[rng.integers(2)]
    y = rand(*dims[:-1], int(rng.integers(1, 4)), dtype=part)
    # What a driver does not compute has no value.
    hidden = [*(["rank"] if driver == "gels" else []), *(["singularvalues"] if driver in ("gels", "gelsy") else [])]
    hidden += [] if dims[-2] > dims[-1] else ["residuals"]
    options = {"outputs": {"Residuals": "residuals"}, "grad": False, "hidden": tuple(hidden), "declared": {"rank": {"dtype": "int32"}}}
    return {"X": rand(*dims, dtype=part), "Y": y}, {"driver": driver, "rcond": 1e-6}, options


def kronecker(rng):
    dtype = ("float32", "float64", *TYPES)[rng.integers(4)]
    draw = (lambda *dims: complexes(*dims, dtype=dtype)) if dtype in TYPES else (lambda *dims: rand(*dims, dtype=dtype))
    return {"X": draw(*shape(rng, 1, 3, 4)), "Y": draw(*shape(rng, 1, 3, 4))}, {}


def forms(rng):
    batch, m, n, results = (int(i) for i in rng.integers(1, 5, 4))
    part = ("float32", "float64")[rng.integers(2)]
    inputs = {"X": rand(batch, m, dtype=part), "Y": rand(batch, n, dtype=part), "Weight": rand(results, m, n, dtype=part)}
    return {**inputs, **({"Bias": rand(1, results, dtype=part)} if rng.integers(2) else {})}, {}


def spaced(rng):
    dtype = ("float32", "float64", "int32", "int64")[rng.integers(4)]
    whole = dtype.startswith("int")
    number = lambda low, high: values([int(rng.integers(low, high)) if whole else rng.uniform(low, high)], dtype)
    inputs = {"Start": number(0, 3), "Stop": number(-1 if not whole else 3, 6), "Num": values([int(rng.integers(1, 9))], "int32"), "Base": number(2, 5)}
    return inputs, {"dtype": {"float32": 5, "float64": 6, "int32": 2, "int64": 3}[dtype]}


def medians(rng):
    dims = shape(rng, 1, 3, 6)
    dtype = ("float32", "float64", "int64")[rng.integers(3)]
    missing = rng.random() < 0.6

    def draw(r):
        x = rand(*dims, low=-50, high=50, dtype=dtype)(r) if dtype != "int64" else r.permutation(int(np.prod(dims))).reshape(dims)
        return np.where(r.random(dims) < 0.3, np.nan, x).astype(dtype) if missing and dtype != "int64" else x

    count = int(rng.integers(0, len(dims) + 1))
    axes = sorted(int(a) for a in rng.choice(len(dims), count, replace=False))
    # Only the first of the indexes are set.
    return {"X": draw}, {"axis": axes, "keepdim": bool(rng.integers(2))}, {"hidden": ("medianindex",)}


drawn("lu", factored)
drawn("lu_unpack", unpacked)
drawn("lstsq", least_squares)
drawn("kron", kronecker)
drawn("bilinear_tensor_product", forms)
drawn("logspace", spaced)
drawn("nanmedian", medians)
case("lu.singular", {"X": values([[[0, 0], [0, 0]], [[1, 2], [2, 4]]])}, grad=False)
case("lu_unpack.pivots_only", {"X": rand(3, 3), "Pivots": values([3, 2, 3], "int32")}, {"unpack_ludata": False}, hidden=("l", "u"), grad=False)
case("lstsq.rank", {"X": values([[1, 2], [2, 4], [3, 6]], "float64"), "Y": values([[1], [2], [4]], "float64")}, {"driver": "gelsd", "rcond": 1e-9}, outputs={"Residuals": "residuals"}, grad=False)
case("nanmedian.nothing", {"X": values([[np.nan, np.nan], [1, np.nan]])}, {"axis": [1], "keepdim": True}, hidden=("medianindex",))
unknown("kron.unknown", {"X": rand(2, 3), "Y": rand(2, 2)}, {}, {"x": (0,)})
unknown("lu.unknown", {"X": rand(2, 3, 3)}, {}, {"x": (0,)})
unknown("nanmedian.unknown", {"X": rand(2, 3)}, {"axis": [1], "keepdim": False}, {"x": (0,)}, hidden=("medianindex",))
unknown("bilinear_tensor_product.unknown", {"X": rand(2, 3), "Y": rand(2, 2), "Weight": rand(4, 3, 2)}, {}, {"x": (0,), "y": (0,)})


def square(rng):
    n = int(rng.integers(1, 5))
    return {"X": rand(*shape(rng, 0, 2, 3), n, n, dtype=("float32", "float64")[rng.integers(2)])}, {}


def square_complex(rng):
    n = int(rng.integers(1, 5))
    return {"X": complexes(*shape(rng, 0, 2, 3), n, n, dtype=kind(rng))}, {}


drawn("eigvals", square)
drawn("eigvals.complex", square_complex)
drawn("eig.complex", lambda rng: (*square_complex(rng), {"grad": False}))
case("eigvals.turn", {"X": values([[0, -2, 0], [1, 0, 0], [0, 0, 3]], "float64")})
case("eigvals.triangle", {"X": values([[1, 0, 0], [2, 3, 0], [4, 5, 6]], "float64")})


def spectrum(block):
    """Numbers of values and vectors that do not depend on the vectors' phases."""
    block.create_var(name="sizes", dtype="float64")
    block.append_op(type="abs", inputs={"X": "eigenvectors"}, outputs={"Out": "sizes"})
    return ["sizes"]


for i, (n, dtype) in enumerate(((2, "float32"), (3, "float64"), (4, "float64"))):
    # Vectors have free signs: only their sizes are compared, and values have a gradient; that of several matrices is right for the first one only.
    case(f"eig.values{i}", {"X": rand(n, n, dtype=dtype)}, targets=("eigenvalues",), hidden=("eigenvectors",), then=spectrum)
unknown("eig.unknown", {"X": rand(2, 3, 3)}, {}, {"x": (0,)}, grad=False, hidden=("eigenvectors",))

if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
