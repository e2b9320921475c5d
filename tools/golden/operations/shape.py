"""Operations that move, repeat, join and cut elements."""
from cases import bools, case, dtype_number, int32s, ints, longs, rand, values

case("reshape2.plain", {"X": rand(2, 3, 2)}, {"shape": [3, 4]})
case("reshape2.inferred", {"X": rand(2, 3, 2)}, {"shape": [0, -1]})
case("reshape2.tensor", {"X": rand(2, 3), "Shape": int32s(3, 2)})
case("reshape2.tensors", {"X": rand(2, 3), "ShapeTensor": [int32s(1), int32s(3), int32s(2)]}, {"shape": [1, -1, 2]})
case("reshape2.to_scalar", {"X": rand(1, 1)}, {"shape": []})
case("reshape2.from_scalar", {"X": rand()}, {"shape": [1, 1]})
case("reshape2.long", {"X": ints(2, 3)}, {"shape": [6]})
case("transpose2.plain", {"X": rand(2, 3)}, {"axis": [1, 0]})
case("transpose2.four", {"X": rand(2, 3, 1, 4)}, {"axis": [2, 0, 3, 1]})
case("transpose2.double", {"X": rand(2, 3, 2, dtype="float64")}, {"axis": [0, 2, 1]})
case("transpose2.negative", {"X": rand(2, 3, 2)}, {"axis": [-1, 0, 1]})
case("transpose2.scalar", {"X": rand()}, {"axis": []})
case("squeeze2.ones", {"X": rand(1, 3, 1, 2)})
case("squeeze2.axes", {"X": rand(1, 3, 1, 2)}, {"axes": [-2]})
case("squeeze2.not_one", {"X": rand(1, 3, 2)}, {"axes": [0, 1]})
case("squeeze2.to_scalar", {"X": rand(1)}, {"axes": [0]})
case("unsqueeze2.axes", {"X": rand(3, 2)}, {"axes": [0, 2]})
case("unsqueeze2.negative", {"X": rand(3, 2, dtype="float64")}, {"axes": [-1, 1]})
case("unsqueeze2.tensor", {"X": rand(3), "AxesTensor": int32s(1)})
case("unsqueeze2.tensors", {"X": rand(3), "AxesTensorList": [int32s(0), int32s(-1)]})
case("unsqueeze2.scalar", {"X": rand()}, {"axes": [0]})
case("flatten_contiguous_range.plain", {"X": rand(2, 3, 2, 2)}, {"start_axis": 1, "stop_axis": 2})
case("flatten_contiguous_range.negative", {"X": rand(2, 3, 2, dtype="float64")}, {"start_axis": 0, "stop_axis": -1})
case("flatten_contiguous_range.last", {"X": rand(2, 3, 2)}, {"start_axis": -2, "stop_axis": -1})
case("flatten_contiguous_range.scalar", {"X": rand()}, {"start_axis": 0, "stop_axis": -1})

case("concat.two", {"X": [rand(2, 3), rand(2, 1)]}, {"axis": 1})
case("concat.three", {"X": [rand(1, 2, dtype="float64"), rand(3, 2, dtype="float64"), rand(2, 2, dtype="float64")]}, {"axis": -2})
case("concat.tensor", {"X": [rand(2, 3), rand(2, 2)], "AxisTensor": int32s(1)}, {"axis": 0})
case("concat.one", {"X": [rand(2, 3)]}, {"axis": 0})
case("concat.long", {"X": [ints(2), ints(3)]}, {"axis": 0})
case("split.num", {"X": rand(2, 6)}, {"num": 3, "axis": 1}, outputs={"Out": ["out0", "out1", "out2"]})
case("split.sections", {"X": rand(6, 2, dtype="float64")}, {"sections": [1, 3, 2], "axis": 0}, outputs={"Out": ["out0", "out1", "out2"]})
# Paddle's kernel does not know negative axes: Python makes them positive before.
case("split.inferred", {"X": rand(2, 5)}, {"sections": [2, -1], "axis": 1}, outputs={"Out": ["out0", "out1"]})
case("split.tensor", {"X": rand(2, 4), "AxisTensor": int32s(1)}, {"num": 2, "axis": 0}, outputs={"Out": ["out0", "out1"]})
case(
    "split.section_tensors",
    {"X": rand(5, 2), "SectionsTensorList": [int32s(2), int32s(3)]},
    {"sections": [2, 3], "axis": 0},
    outputs={"Out": ["out0", "out1"]},
)
case("stack.first", {"X": [rand(2, 3), rand(2, 3)]})
case("stack.last", {"X": [rand(2, 3, dtype="float64") for _ in range(3)]}, {"axis": -1})
case("stack.middle", {"X": [rand(2, 3), rand(2, 3)]}, {"axis": 1})
case("stack.scalars", {"X": [rand(), rand()]})
case("unstack.first", {"X": rand(2, 3)}, {"axis": 0, "num": 2}, outputs={"Y": ["y0", "y1"]})
case("unstack.last", {"X": rand(2, 3, dtype="float64")}, {"axis": -1, "num": 3}, outputs={"Y": ["y0", "y1", "y2"]})
case("unstack.to_scalars", {"X": rand(2)}, {"axis": 0, "num": 2}, outputs={"Y": ["y0", "y1"]})

plain = {"axes": [0, 2], "starts": [1, 0], "ends": [3, 2]}
case("slice.plain", {"Input": rand(3, 2, 4)}, {**plain, "infer_flags": [1, 1]})
case("slice.negative", {"Input": rand(5, 3, dtype="float64")}, {"axes": [0], "starts": [-3], "ends": [-1]})
case("slice.over", {"Input": rand(5, 3)}, {"axes": [0, 1], "starts": [2, -9], "ends": [2147483647, 2]})
case("slice.decreased", {"Input": rand(3, 4)}, {"axes": [0], "starts": [1], "ends": [2], "decrease_axis": [0]})
case("slice.to_scalar", {"Input": rand(3, 4)}, {"axes": [0, 1], "starts": [1, 2], "ends": [2, 3], "decrease_axis": [0, 1]})
case(
    "slice.tensor",
    {"Input": rand(4, 3), "StartsTensor": int32s(1, 0), "EndsTensor": int32s(3, 2)},
    {"axes": [0, 1], "infer_flags": [-1, -1]},
)
case(
    "slice.tensors",
    {"Input": rand(4, 3), "StartsTensorList": [int32s(1), int32s(0)], "EndsTensorList": [int32s(3), int32s(2)]},
    {"axes": [0, 1], "starts": [-1, -1], "ends": [-1, -1], "infer_flags": [-1, -1]},
)
case("slice.long", {"Input": ints(5)}, {"axes": [0], "starts": [1], "ends": [4]})
case("strided_slice.plain", {"Input": rand(5, 4)}, {"axes": [0, 1], "starts": [0, 1], "ends": [5, 4], "strides": [2, 2], "infer_flags": [1, 1]})
case("strided_slice.reverse", {"Input": rand(5, 2, dtype="float64")}, {"axes": [0], "starts": [-1], "ends": [-6], "strides": [-2], "infer_flags": [1]})
# Paddle's gradient does not know decreased axes.
case(
    "strided_slice.decreased",
    {"Input": rand(3, 4)},
    {"axes": [0], "starts": [1], "ends": [2], "strides": [1], "decrease_axis": [0], "infer_flags": [1]},
    grad=False,
)
case(
    "strided_slice.tensor",
    {"Input": rand(5, 3), "StartsTensor": int32s(4), "EndsTensor": int32s(1), "StridesTensor": int32s(-1)},
    {"axes": [0], "infer_flags": [-1]},
)
case(
    "strided_slice.tensors",
    {"Input": rand(5, 3), "StartsTensorList": [int32s(0)], "EndsTensorList": [int32s(5)], "StridesTensorList": [int32s(2)]},
    {"axes": [0], "starts": [-1], "ends": [-1], "strides": [-1], "infer_flags": [-1]},
)

case("expand_v2.plain", {"X": rand(3, 1)}, {"shape": [2, 3, 4]})
case("expand_v2.kept", {"X": rand(2, 1, dtype="float64")}, {"shape": [-1, 3]})
case("expand_v2.tensor", {"X": rand(1, 2), "Shape": int32s(3, 2)})
case("expand_v2.tensors", {"X": rand(2, 1), "expand_shapes_tensor": [int32s(2), int32s(3)]}, {"shape": [-1, -1]})
case("expand_v2.scalar", {"X": rand()}, {"shape": [2, 2]})
case("expand_as_v2.shape", {"X": rand(3, 1)}, {"target_shape": [2, 3, 2]})
case("expand_as_v2.tensor", {"X": rand(1, 3), "Y": rand(2, 3)}, {"target_shape": [2, 3]}, constant=("y",))
case("tile.plain", {"X": rand(2, 3)}, {"repeat_times": [2, 1]})
case("tile.more", {"X": rand(3, dtype="float64")}, {"repeat_times": [2, 1, 2]})
case("tile.fewer", {"X": rand(2, 1, 3)}, {"repeat_times": [2]})
case("tile.tensor", {"X": rand(2, 2), "RepeatTimes": int32s(1, 3)})
case("tile.tensors", {"X": rand(2, 2), "repeat_times_tensor": [int32s(2), int32s(1)]}, {"repeat_times": [-1, -1]})
case("tile.scalar", {"X": rand()}, {"repeat_times": [3]})
case("flip.one", {"X": rand(2, 3)}, {"axis": [1]})
case("flip.negative", {"X": rand(2, 3, 2, dtype="float64")}, {"axis": [-1, 0]})
case("flip.long", {"X": ints(5)}, {"axis": [0]})
case("roll.flat", {"X": rand(2, 3)}, {"shifts": [2]})
case("roll.axes", {"X": rand(3, 4, dtype="float64")}, {"shifts": [1, -2], "axis": [0, 1]})
case("roll.over", {"X": rand(2, 5)}, {"shifts": [-13], "axis": [-1]})
case("roll.tensor", {"X": rand(4), "ShiftsTensor": longs(1)}, {"axis": [0]})
case("tril_triu.lower", {"X": rand(3, 4)}, {"lower": True})
case("tril_triu.upper", {"X": rand(2, 3, 3, dtype="float64")}, {"diagonal": 1, "lower": False})
case("tril_triu.below", {"X": rand(4, 3)}, {"diagonal": -2, "lower": True})
case("tril_triu.long", {"X": ints(3, 3)}, {"diagonal": -1})
case("meshgrid.two", {"X": [rand(2), rand(3)]}, outputs={"Out": ["out0", "out1"]})
case("meshgrid.three", {"X": [rand(2, dtype="float64"), rand(1, dtype="float64"), rand(3, dtype="float64")]}, outputs={"Out": ["out0", "out1", "out2"]})
case("meshgrid.long", {"X": [ints(3), ints(2)]}, outputs={"Out": ["out0", "out1"]})
case("pixel_shuffle.plain", {"X": rand(1, 8, 2, 3)}, {"upscale_factor": 2})
case("pixel_shuffle.channels_last", {"X": rand(2, 2, 1, 9, dtype="float64")}, {"upscale_factor": 3, "data_format": "NHWC"})

case("shape.plain", {"Input": rand(2, 3, 1)})
case("shape.scalar", {"Input": rand()})
case("size.plain", {"Input": rand(2, 3)})
case("size.scalar", {"Input": rand()})
case("assign.plain", {"X": rand(2, 3)})
case("assign.long", {"X": ints(3)})
case("assign.scalar", {"X": rand()})
case("assign.bool", {"X": bools(4)})
case("share_data.plain", {"X": rand(2, 3)})
case("share_buffer.plain", {"X": [rand(2, 3)]}, {"share_dims_and_dtype": [True]}, outputs={"Out": ["out0"], "XOut": ["x0"]})
case("increment.plain", {"X": rand(1)}, {"step": 2.5})
case("increment.long", {"X": ints(1)}, {"step": -3.0})
case("increment.in_place", {"X": ints(1, dtype="int32")}, {"step": 1.0}, outputs={"Out": "x"})
case("sum.two", {"X": [rand(2, 3), rand(2, 3)]})
case("sum.three", {"X": [rand(4, dtype="float64") for _ in range(3)]})
case("sum.one", {"X": [rand(2, 3)]})
case("sum.long", {"X": [ints(3), ints(3)]})
case("sum.scalars", {"X": [rand(), rand()]})
# The branch that is not selected keeps no value. Only select_input's gradient appends select_output, so that one is not differentiated.
for mask, kind in enumerate(("first", "second")):
    like = {"shape": [2, 3], "dtype": "float32"}
    case(
        f"select_input.{kind}",
        {"X": [rand(2, 3), rand(2, 3)], "Mask": int32s(mask)},
        declared={"out": like},
        hidden=(f"x{1 - mask}@GRAD",),
    )
    case(
        f"select_output.{kind}",
        {"X": rand(2, 3), "Mask": int32s(mask)},
        outputs={"Out": ["out0", "out1"]},
        declared={"out0": like, "out1": like},
        hidden=(f"out{1 - mask}",),
        grad=False,
    )

number = dtype_number("float32")
case("set_value.constant", {"Input": rand(3, 4)}, {"axes": [0], "starts": [1], "ends": [3], "steps": [1], "values": [2.5], "shape": [1], "dtype": number})
case(
    "set_value.tensor",
    {"Input": rand(3, 4), "ValueTensor": rand(2, 2)},
    {"axes": [0, 1], "starts": [0, -2], "ends": [2, 4], "steps": [1, 1], "dtype": number},
)
case(
    "set_value.broadcast",
    {"Input": rand(3, 4), "ValueTensor": rand(1)},
    {"axes": [1], "starts": [0], "ends": [4], "steps": [2], "dtype": number},
)
case(
    "set_value.decreased",
    {"Input": rand(3, 4), "ValueTensor": rand(4)},
    {"axes": [0], "starts": [1], "ends": [2], "steps": [1], "decrease_axes": [0], "dtype": number},
)
case(
    "set_value.reverse",
    {"Input": rand(4, 2, dtype="float64"), "ValueTensor": rand(2, 2, dtype="float64")},
    {"axes": [0], "starts": [3], "ends": [0], "steps": [-2], "dtype": dtype_number("float64")},
)
case(
    "set_value.none_axis",
    {"Input": rand(3, 4), "ValueTensor": rand(2, 1, 4)},
    {"axes": [0], "starts": [0], "ends": [2], "steps": [1], "none_axes": [1], "dtype": number},
    # Paddle's gradient does not know new axes.
    hidden=("valuetensor@GRAD",),
)
case(
    "set_value.tensors",
    {"Input": rand(4, 2), "ValueTensor": rand(2, 2), "StartsTensorList": [longs(1)], "EndsTensorList": [longs(3)], "StepsTensorList": [longs(1)]},
    {"axes": [0], "dtype": number},
)
case(
    "set_value.long",
    {"Input": ints(2, 3)},
    {"axes": [1], "starts": [0], "ends": [2], "steps": [1], "values": [7, 8], "shape": [2], "dtype": dtype_number("int64")},
)
case(
    "coalesce_tensor.copied",
    {"Input": [rand(2, 3), rand(4)]},
    {"dtype": number, "copy_data": True, "use_align": False},
    outputs={"FusedOutput": "fused", "Output": ["input0", "input1"]},
    grad=False,
)
case(
    "coalesce_tensor.constant",
    {"Input": [rand(2, 3), rand(4)]},
    {"dtype": number, "set_constant": True, "constant": 1.5, "use_align": False},
    outputs={"FusedOutput": "fused", "Output": ["input0", "input1"]},
    grad=False,
)
