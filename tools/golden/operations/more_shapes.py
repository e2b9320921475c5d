"""Makes graph/src/test/resources/golden/operations-shapes.npz: operations on shapes and parts of tensors where dimensions are unknown while the
program is built, second gradients, and what shape.py does not try.

Run from the root of the repository: `python tools/golden/operations/more_shapes.py`. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26. The
entries are those that operations.py explains.
"""
import sys
from pathlib import Path

import cases
from cases import bools, case, dtype_number, gradients, int32s, ints, longs, rand

OUTPUT = Path("graph/src/test/resources/golden/operations-shapes.npz")


def unknown(**shapes):
    return {name: {"shape": shape} for name, shape in shapes.items()}


def second(given, wanted, **more):
    """Appends the gradients of the gradients: of those of `wanted`, seeded with `more`, for the output gradient `given`."""

    def append(block):
        return list(gradients(block, [name + "@GRAD" for name in wanted], list(more), [given]).values())

    return {"more": more, "then": append}


def outs(slot, count):
    return {"outputs": {slot: [f"{slot.lower()}{i}" for i in range(count)]}}


case("reshape2.unknown", {"X": rand(2, 3, 2)}, {"shape": [0, -1, 1]}, declared=unknown(x=[-1, 3, 2]))
case("reshape2.unknown_kept", {"X": rand(4, 3)}, {"shape": [-1, 6]}, declared=unknown(x=[-1, 3]))
case("reshape2.tensor_announced", {"X": rand(2, 3), "Shape": int32s(3, 2)}, {"shape": [-1, 2]})
case("reshape2.second", {"X": rand(2, 3)}, {"shape": [3, 2]}, **second("d_out", ["x"], dd_x=rand(2, 3)))
case("transpose2.unknown", {"X": rand(2, 3, 1)}, {"axis": [2, 0, 1]}, declared=unknown(x=[-1, 3, -1]))
case("transpose2.second", {"X": rand(2, 3, 2)}, {"axis": [1, 2, 0]}, **second("d_out", ["x"], dd_x=rand(2, 3, 2)))
case("flatten_contiguous_range.unknown", {"X": rand(2, 3, 2)}, {"start_axis": 1, "stop_axis": -1}, declared=unknown(x=[2, -1, 2]))
case("squeeze2.unknown", {"X": rand(1, 3, 1)}, {"axes": [0]}, declared=unknown(x=[-1, 3, 1]))
case("squeeze2.unknown_kept", {"X": rand(2, 1, 3)}, declared=unknown(x=[-1, 1, 3]))
case("squeeze2.second", {"X": rand(2, 1, 3)}, {"axes": [1]}, **second("d_out", ["x"], dd_x=rand(2, 1, 3)))
case("unsqueeze2.unknown", {"X": rand(2, 3), "AxesTensor": int32s(0, -1)}, declared=unknown(x=[-1, 3]))
case("unsqueeze2.second", {"X": rand(2, 3)}, {"axes": [1]}, **second("d_out", ["x"], dd_x=rand(2, 3)))
case("concat.unknown", {"X": [rand(2, 3), rand(2, 1)]}, {"axis": 1}, declared=unknown(x0=[-1, 3], x1=[2, -1]))
case("concat.empty", {"X": [rand(0), rand(2)]}, {"axis": 0}, grad=False)
case("concat.bools", {"X": [bools(2, 1), bools(2, 3)]}, {"axis": -1})
case(
    "concat.second",
    {"X": [rand(2, 1), rand(2, 2)]},
    {"axis": 1},
    **second("d_out", ["x0", "x1"], dd_x0=rand(2, 1), dd_x1=rand(2, 2)),
)
case("split.last", {"X": rand(2, 5)}, {"sections": [2, -1], "axis": 1}, **outs("Out", 2))
case("split.unknown", {"X": rand(5, 2)}, {"sections": [2, 3], "axis": 0}, declared=unknown(x=[-1, 2]), **outs("Out", 2))
case("split.unknown_beside", {"X": rand(2, 4)}, {"num": 2, "axis": 1}, declared=unknown(x=[-1, 4]), **outs("Out", 2))
case("stack.unknown", {"X": [rand(2, 3), rand(2, 3)]}, {"axis": 1}, declared=unknown(x0=[-1, 3], x1=[2, -1]))
case("unstack.unknown", {"X": ints(2, 3)}, {"axis": 0, "num": 2}, declared=unknown(x=[-1, 3]), **outs("Y", 2))
case("meshgrid.unknown", {"X": [rand(2), rand(), rand(3)]}, declared=unknown(x0=[-1]), **outs("Out", 3))

case("slice.unknown", {"Input": rand(4, 3)}, {"axes": [0], "starts": [1], "ends": [3], "infer_flags": [1]}, declared=unknown(input=[-1, 3]))
case("slice.flags", {"Input": rand(4, 3), "StartsTensorList": [int32s(1), int32s(0)]}, {"axes": [0, 1], "starts": [-1, 0], "ends": [3, 2], "infer_flags": [-1, 1]})
case("slice.unknown_beside", {"Input": rand(3, 4)}, {"axes": [1], "starts": [-2], "ends": [-1], "decrease_axis": [1], "infer_flags": [1]}, declared=unknown(input=[-1, 4]))
case("slice.nothing", {"Input": rand(3, 2)}, {"axes": [0], "starts": [2], "ends": [2], "infer_flags": [1]}, grad=False)
case("slice.second", {"Input": rand(3, 2)}, {"axes": [0], "starts": [1], "ends": [3]}, **second("d_out", ["input"], dd_input=rand(3, 2)))
case(
    "strided_slice.unknown",
    {"Input": rand(3, 5)},
    {"axes": [0, 1], "starts": [0, -1], "ends": [3, 0], "strides": [2, -3], "infer_flags": [1, 1]},
    declared=unknown(input=[-1, 5]),
)
case("strided_slice.to_first", {"Input": ints(4)}, {"axes": [0], "starts": [3], "ends": [-1], "strides": [-1], "infer_flags": [1]})
case(
    "strided_slice.over",
    {"Input": rand(2, 4)},
    {"axes": [1], "starts": [-9], "ends": [9], "strides": [3], "infer_flags": [1]},
)

case("expand_v2.unknown", {"X": rand(2, 1)}, {"shape": [3, -1, 2]}, declared=unknown(x=[-1, 1]))
case("expand_v2.longer_tensor", {"X": rand(2), "Shape": int32s(3, -1)})
case("expand_v2.second", {"X": rand(2, 1)}, {"shape": [2, 3]}, **second("d_out", ["x"], dd_x=rand(2, 1)))
case("expand_as_v2.unknown", {"X": rand(1, 2), "Y": rand(3, 2)}, {"target_shape": [-1, 2]}, declared=unknown(y=[-1, 2]), constant=("y",), grad=False)
case("tile.unknown", {"X": rand(2, 3)}, {"repeat_times": [2, 1, 2]}, declared=unknown(x=[-1, 3]))
case("tile.longer_tensor", {"X": rand(2), "RepeatTimes": int32s(2, 2)})
case("tile.second", {"X": rand(2, 1)}, {"repeat_times": [2, 3]}, **second("d_out", ["x"], dd_x=rand(2, 1)))
case("flip.bools", {"X": bools(3, 2)}, {"axis": [0, 1]})
case("flip.second", {"X": rand(3, 2)}, {"axis": [0]}, **second("d_out", ["x"], dd_x=rand(3, 2)))
case("roll.twice", {"X": rand(3, 4)}, {"shifts": [1, 2, 1], "axis": [1, 0, 1]})
case("roll.scalar", {"X": rand()}, {"shifts": [3]})
case("tril_triu.unknown", {"X": bools(3, 3)}, {"diagonal": 1}, declared=unknown(x=[-1, 3]))
case("pixel_shuffle.nothing", {"X": rand(1, 2, 2, 3)}, {"upscale_factor": 1})
for mode in ("constant", "reflect", "replicate", "circular"):
    case(f"pad3d.{mode}_cut", {"X": rand(1, 2, 1, 3, 4)}, {"mode": mode, "paddings": [-1, 2, 1, -2, 0, 0], "value": 0.5})
case("pad3d.unknown", {"X": rand(1, 2, 2, 2, 3)}, {"paddings": [1, 0, 0, 1, 0, 0]}, declared=unknown(x=[-1, 2, -1, 2, 3]))
case(
    "pad3d.second",
    {"X": rand(1, 1, 2, 2, 2)},
    {"mode": "reflect", "paddings": [1, 1, 0, 1, 0, 0]},
    **second("d_out", ["x"], dd_x=rand(1, 1, 2, 2, 2)),
)

number = dtype_number("float32")
case(
    "set_value.unknown",
    {"Input": rand(3, 4), "ValueTensor": rand(3, 1)},
    {"axes": [1], "starts": [-3], "ends": [4], "steps": [2], "dtype": number},
    declared=unknown(input=[-1, 4]),
)
# Paddle's gradients do not know new axes, nor that going back may end at the first element.
case(
    "set_value.new_axes",
    {"Input": rand(3, 4), "ValueTensor": rand(2, 1, 2)},
    {"axes": [0, 1], "starts": [0, 1], "ends": [2, 3], "steps": [1, 1], "none_axes": [1], "dtype": number},
    hidden=("valuetensor@GRAD",),
)
case(
    "set_value.to_first",
    {"Input": rand(3, 2), "ValueTensor": rand(2)},
    {"axes": [0], "starts": [-1], "ends": [-4], "steps": [-1], "dtype": number},
    grad=False,
)
case(
    "set_value.leading_ones",
    {"Input": rand(3, 2), "ValueTensor": rand(1, 1, 2)},
    {"axes": [0], "starts": [0], "ends": [2], "steps": [1], "dtype": number},
)
case(
    "set_value.bools",
    {"Input": bools(2, 3)},
    {"axes": [0], "starts": [1], "ends": [2], "steps": [1], "values": [True], "shape": [1], "dtype": dtype_number("bool")},
)
case(
    "set_value.in_place",
    {"Input": rand(3), "ValueTensor": rand(2)},
    {"axes": [0], "starts": [1], "ends": [3], "steps": [1], "dtype": number},
    outputs={"Out": "input"},
    grad=False,
)

for copy in ("memcpy", "memcpy_d2h", "memcpy_h2d"):
    case(f"{copy}.plain", {"X": rand(2, 3)}, {"dst_place_type": 0}, declared=unknown(x=[-1, 3]), grad=False)
case("transfer_dtype.plain", {"X": rand(2, 3)}, {"in_dtype": number, "out_dtype": dtype_number("float64")}, grad=False)
case("shape.unknown", {"Input": rand(2, 3)}, declared=unknown(input=[-1, 3]))
case("size.unknown", {"Input": rand(2, 3)}, declared=unknown(input=[-1, 3]))
case("share_data.unknown", {"X": ints(2, 3)}, declared=unknown(x=[-1, 3]))
case(
    "coalesce_tensor.aligned",
    {"Input": [rand(2, 3), rand(4)]},
    {"dtype": number, "set_constant": True, "constant": -0.5, "align_size": 16},
    outputs={"FusedOutput": "fused", "Output": ["input0", "input1"]},
    hidden=("fused",),
    grad=False,
)
case("fill_constant.text_bool", {}, {"shape": [2], "str_value": "True", "dtype": dtype_number("bool")})
case("fill_constant.truncated", {}, {"shape": [2], "str_value": "-2.5", "dtype": dtype_number("int64")})
case("fill_constant.announced", {"ShapeTensor": longs(2, 3)}, {"shape": [-1, 3], "value": 2.0})
case("fill_constant_batch_size_like.unknown", {"Input": rand(3, 2)}, {"shape": [-1, 4], "value": 1.0}, declared=unknown(input=[-1, 2]), constant=("input",))
case("fill_any_like.unknown", {"X": ints(2, 3)}, {"value": 2.0}, declared=unknown(x=[-1, 3]))
case("linspace.long", {"Start": longs(-3), "Stop": longs(4), "Num": int32s(6)}, {"dtype": dtype_number("int64")})
case("eye.nothing", {}, {"num_rows": 0, "num_columns": 2})


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
