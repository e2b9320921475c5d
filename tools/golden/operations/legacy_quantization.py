"""Makes graph/src/test/resources/golden/operations-legacy-quantization.npz: numbers rounded to the levels of few bits and back, with scales of
whole tensors, of channels, of windows of batches and of moving averages, in the entry format of operations.py, which see. Run from the root of the
repository: `python tools/golden/operations/legacy_quantization.py`. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import case, drawn, longs, rand, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-legacy-quantization.npz")


def rest(name, inputs, attributes=None, **options):
    """A case of the files with all cases only."""
    if cases.EVERYTHING:
        case(name, inputs, attributes, **options)


# With a scale of 127, every half lies between two levels.
HALVES = [[2.5, -1.5, 0.5, 127], [3.5, -2.5, 126.5, -127]]
STATE = {"OutState": "outstate", "OutAccum": "outaccum"}


def shape(rng, least=1, most=4):
    return tuple(int(d) for d in rng.integers(1, 6, rng.integers(least, most + 1)))


def numbers(rng, dims):
    """Numbers of any size, some of them 0, infinite or far from the others."""
    x = rng.normal(0, 10.0 ** rng.integers(-4, 5), dims).astype("float32")
    if rng.integers(0, 4) == 0:
        x[tuple(rng.integers(0, d) for d in dims)] = rng.choice([0, 1e4, -1e-6, np.nan])
    return x


def levels(rng):
    given = {"bit_length": int(rng.integers(2, 17))}
    return given if rng.integers(0, 3) == 0 else {**given, "round_type": int(rng.integers(0, 2))}


def positive(rng, *dims):
    return rng.uniform(0.1, 5, dims).astype("float32")


for op in ("fake_quantize_abs_max", "fake_quantize_dequantize_abs_max"):
    special = rest if "dequantize" in op else case
    case(f"{op}.to_even", {"X": values(HALVES)}, {"round_type": 0})
    case(f"{op}.away", {"X": values(HALVES)})
    special(f"{op}.zeros", {"X": values([0, 0, 0])})
    special(f"{op}.tiny", {"X": values([1e-7, -3e-7])})
    special(f"{op}.nan", {"X": values([1, np.nan, 3])})
    special(f"{op}.nan_first", {"X": values([np.nan, 1, 3])})
    special(f"{op}.infinite", {"X": values([1, np.inf, 3])})
    rest(f"{op}.sixteen_bits", {"X": rand(3, 4)}, {"bit_length": 16})
    unknown(f"{op}.unknown", {"X": rand(2, 3)}, {}, {"x": (0,)})
    drawn(op, lambda rng: ({"X": numbers(rng, shape(rng))}, levels(rng)))

for op in ("fake_channel_wise_quantize_abs_max", "fake_channel_wise_quantize_dequantize_abs_max"):
    case(f"{op}.to_even", {"X": values(HALVES)}, {"round_type": 0})
    rest(f"{op}.away", {"X": values(HALVES)})
    case(f"{op}.second", {"X": rand(2, 3, 2, 2)}, {"quant_axis": 1})
    rest(f"{op}.second_even", {"X": rand(2, 3, 2, 2)}, {"quant_axis": 1, "round_type": 0})
    rest(f"{op}.vector", {"X": rand(4)})
    case(f"{op}.nan", {"X": values([[1, np.nan], [np.nan, 1]])})
    rest(f"{op}.nan_second", {"X": values([[1, np.nan], [np.nan, 1]])}, {"quant_axis": 1})
    rest(f"{op}.unknown", {"X": rand(2, 3)}, {"quant_axis": 1}, unknown={"x": (0, 1)})
    drawn(op, lambda rng: ({"X": numbers(rng, shape(rng, 2))}, {**levels(rng), "quant_axis": int(rng.integers(0, 2))}))

WINDOW = {"X": rand(2, 3), "InScale": values([1.0])}
case("fake_quantize_range_abs_max.test", WINDOW, {"is_test": True}, hidden=("outscale",))
case("fake_quantize_range_abs_max.test_even", WINDOW, {"is_test": True, "round_type": 0, "bit_length": 4}, hidden=("outscale",))
drawn(
    "fake_quantize_range_abs_max",
    lambda rng: (
        {"X": numbers(rng, shape(rng)), "InScale": positive(rng, 1)},
        {**levels(rng), "is_test": True},
        {"hidden": ("outscale",)},
    ),
)

for op in ("fake_quantize_moving_average_abs_max", "fake_quantize_dequantize_moving_average_abs_max"):
    trained = {"X": rand(2, 3), "InScale": values([1.0]), "InAccum": values([3.0]), "InState": values([2.0])}
    fixed = ("inscale", "inaccum", "instate")
    rest(f"{op}.trained", trained, outputs=STATE, constant=fixed)
    rest(f"{op}.trained_even", trained, {"round_type": 0, "moving_rate": 0.5}, outputs=STATE, constant=fixed)
    case(f"{op}.twice", trained, outputs={"OutScale": "inscale", "OutState": "instate", "OutAccum": "inaccum"}, repeat=2, constant=fixed, grad=False)
    case(f"{op}.test", {"X": rand(2, 3), "InScale": values([1.0])}, {"is_test": True}, hidden=("outscale",), constant=fixed)
    rest(f"{op}.unknown", trained, unknown={"x": (0,)}, outputs=STATE, constant=fixed)

    def trained_drawn(rng):
        inputs = {"X": numbers(rng, shape(rng)), "InScale": positive(rng, 1), "InAccum": positive(rng, 1), "InState": positive(rng, 1)}
        return inputs, {**levels(rng), "moving_rate": float(rng.uniform(0, 1))}, {"outputs": STATE, "constant": fixed}

    drawn(op, trained_drawn)

OBSERVED = {"X": rand(2, 3), "InAccum": values([3.0]), "InState": values([2.0])}
FIXED = ("inaccum", "instate")
case("moving_average_abs_max_scale.trained", OBSERVED, outputs={"Out": "out", **STATE}, constant=FIXED)
case("moving_average_abs_max_scale.test", {"X": rand(2, 3)}, {"is_test": True}, outputs={"Out": "out"}, hidden=("outscale",))
drawn(
    "moving_average_abs_max_scale",
    lambda rng: (
        {"X": numbers(rng, shape(rng)), "InAccum": positive(rng, 1), "InState": positive(rng, 1)},
        {"moving_rate": float(rng.uniform(0, 1))},
        {"outputs": {"Out": "out", **STATE}, "constant": FIXED},
    ),
)


def linear(name, x, scales, attributes, kept=True, **options):
    inputs = {"X": x, "Scale": scales, "ZeroPoint": values([5.0])}
    (case if kept else rest)(name, {**inputs, **options.pop("inputs", {})}, attributes, **options)


AVERAGE = {"InAccum": values([3.0]), "InState": values([2.0])}
ALL = {"OutScale": "outscale", **STATE}
linear("quantize_linear.whole", values([*HALVES[0], -500, 500]), values([127.0]), {"quant_axis": -1})
linear("quantize_linear.whole_away", values([*HALVES[0], -500, 500]), values([127.0]), {"quant_axis": -1, "round_type": 1}, kept=False)
linear("quantize_linear.channels", rand(2, 3), values([1.0, 2.0]), {}, kept=False)
linear("quantize_linear.second", rand(2, 3, 2), values([1.0, 2.0, 0.5]), {"quant_axis": 1, "round_type": 1, "bit_length": 4})
linear("quantize_linear.observer", rand(2, 3), values([1.0]), {"quant_axis": -1, "only_observer": True}, kept=False)
linear("quantize_linear.trained", rand(2, 3), values([1.0]), {"quant_axis": -1, "is_test": False}, inputs=AVERAGE, outputs=ALL)
linear("quantize_linear.trained_channels", rand(2, 3), values([1.0]), {"quant_axis": 1, "is_test": False}, outputs={"OutScale": "outscale"})
OBSERVER = {"quant_axis": -1, "is_test": False, "only_observer": True}
linear("quantize_linear.trained_observer", rand(2, 3), values([1.0]), OBSERVER, inputs=AVERAGE, outputs=ALL, kept=False)
linear("quantize_linear.unknown", rand(2, 3), values([1.0, 2.0, 3.0]), {"quant_axis": 1}, unknown={"x": (0,)})
linear("quantize_linear.no_scale", values([1e-8, -2e-7]), values([9e-31]), {"quant_axis": -1, "bit_length": 16}, kept=False)
linear("quantize_linear.least_scale", values([1e-30, -2e-7]), values([2e-30]), {"quant_axis": -1, "bit_length": 16}, kept=False)
linear("quantize_linear.empty", rand(0, 3), values([1.0]), {"quant_axis": -1}, kept=False)
linear("dequantize_linear.empty", rand(0, 3), values([1.0]), {"quant_axis": -1}, kept=False)
linear("dequantize_linear.bytes", values([[1, -2], [127, -128]], "int8"), values([2.0]), {"quant_axis": -1})
linear("dequantize_linear.channels", values([[1, -2], [127, -128]], "int8"), values([2.0, 3.0]), {})
linear("dequantize_linear.floats", values([[1, -2], [127, -128]]), values([2.0, 3.0]), {"quant_axis": 1, "bit_length": 4}, kept=False)
linear("dequantize_linear.doubles", values([[1, -2], [127, -128]], "float64"), values([2.0], "float64"), {"quant_axis": -1})
linear("dequantize_linear.observer", values([[1, -2], [127, 3]], "int8"), values([2.0]), {"quant_axis": -1, "only_observer": True})
linear("dequantize_linear.unknown", values([[1, -2], [127, 3]], "int8"), values([2.0, 1.0]), {"quant_axis": 1}, unknown={"x": (0,)})


def drawn_linear(rng, x, dtype="float32"):
    axis = int(rng.integers(-1, 2))
    scale = positive(rng, 1 if axis < 0 else x.shape[axis]).astype(dtype)
    return {"X": x, "Scale": scale, "ZeroPoint": np.zeros(1, "float32")}, {**levels(rng), "quant_axis": axis}


def stored(rng):
    dtype = str(rng.choice(["int8", "float32", "float64"]))
    x = rng.integers(-128, 128, shape(rng, 2)).astype(dtype)
    return drawn_linear(rng, x, "float64" if dtype == "float64" else "float32")


drawn("quantize_linear", lambda rng: drawn_linear(rng, numbers(rng, shape(rng, 2))))
drawn("dequantize_linear", stored)

case("fake_dequantize_max_abs.plain", {"X": rand(2, 3, low=-127, high=127), "Scale": values([3.0])}, {"max_range": 127.0})
case("fake_dequantize_max_abs.double", {"X": rand(2, 3, dtype="float64"), "Scale": values([3.0], "float64")}, {"max_range": 7.0})


def whole(rng):
    dtype = str(rng.choice(["float32", "float64"]))
    x = np.round(rng.uniform(-127, 127, shape(rng))).astype(dtype)
    return {"X": x, "Scale": positive(rng, 1).astype(dtype)}, {"max_range": float(rng.integers(1, 32768))}


drawn("fake_dequantize_max_abs", whole)

case("fake_channel_wise_dequantize_max_abs.weight", {"X": rand(2, 3), "Scales": [values([3.0, 2.0])]})
case("fake_channel_wise_dequantize_max_abs.second", {"X": rand(2, 3, 2), "Scales": [values([3.0, 2.0, 1.0])]}, {"quant_axis": 1, "quant_bits": [4]})
both = [values([3.0, 2.0, 1.0]), values([2.0])]
case("fake_channel_wise_dequantize_max_abs.product", {"X": rand(2, 3), "Scales": both}, {"quant_bits": [8, 4]})
case("fake_channel_wise_dequantize_max_abs.last", {"X": rand(2, 2, 3), "Scales": both}, {"quant_bits": [8, 8], "x_num_col_dims": 2})


def channels(rng):
    dims = shape(rng, 2)
    dtype = str(rng.choice(["float32", "float64"]))
    x = np.round(rng.uniform(-127, 127, dims)).astype(dtype)
    if rng.integers(0, 2):
        axis = int(rng.integers(0, 2))
        return {"X": x, "Scales": [positive(rng, dims[axis]).astype(dtype)]}, {"quant_axis": axis, "quant_bits": [int(rng.integers(2, 17))]}
    axis = int(rng.integers(1, len(dims)))
    scales = [positive(rng, dims[axis]).astype(dtype), positive(rng, 1).astype(dtype)]
    return {"X": x, "Scales": scales}, {"x_num_col_dims": axis, "quant_bits": [int(b) for b in rng.integers(2, 9, 2)]}


drawn("fake_channel_wise_dequantize_max_abs", channels)

case("dequantize_abs_max.bytes", {"X": values([1, -3, 127], "int8"), "Scale": values([2.0])}, {"max_range": 127.0})
case("dequantize_abs_max.shorts", {"X": values([1, -3, 32767], "int16"), "Scale": values([2.0])}, {"max_range": 32767.0})


def stored_whole(rng):
    dtype, most = [("int8", 128), ("int16", 32768)][rng.integers(0, 2)]
    x = rng.integers(-most, most, shape(rng)).astype(dtype)
    return {"X": x, "Scale": positive(rng, 1)}, {"max_range": float(most - 1)}


drawn("dequantize_abs_max", stored_whole)
case("dequantize_log.plain", {"X": values([0, 1, -1, -3, -128, 127], "int8"), "Dict": rand(128)})
drawn("dequantize_log", lambda rng: ({"X": rng.integers(-128, 128, shape(rng)).astype("int8"), "Dict": rand(128)(rng)}, {}))


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
