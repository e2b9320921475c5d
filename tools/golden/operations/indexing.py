"""Operations that sort, pick and place elements by index, and those that make tensors from nothing."""
from cases import bools, case, dtype_number, int32s, ints, longs, rand, values


def number(*numbers, dtype="float32"):
    return values(numbers, dtype)


for op in ("arg_max", "arg_min"):
    case(f"{op}.first", {"X": rand(3, 4)}, {"axis": 0})
    case(f"{op}.negative", {"X": rand(2, 3, 2, dtype="float64")}, {"axis": -1, "keepdims": True})
    case(f"{op}.flat", {"X": rand(2, 3)}, {"axis": 0, "flatten": True})
    case(f"{op}.int", {"X": ints(2, 4)}, {"axis": 1, "dtype": dtype_number("int32")})
    case(f"{op}.ties", {"X": values([[2, 1, 2, 1], [3, 3, 3, 3]])}, {"axis": 1})
case("argsort.last", {"X": rand(3, 4)})
case("argsort.descending", {"X": rand(4, 3, dtype="float64")}, {"axis": 0, "descending": True})
case("argsort.middle", {"X": rand(2, 4, 2)}, {"axis": 1})
case("argsort.long", {"X": values([[5, -3, 9, 0], [4, 8, -7, 1]], "int64")}, {"axis": -1})
case("top_k_v2.last", {"X": rand(3, 5)}, {"k": 2})
case("top_k_v2.smallest", {"X": rand(4, 3, dtype="float64")}, {"k": 3, "axis": 0, "largest": False})
case("top_k_v2.tensor", {"X": rand(2, 5), "K": int32s(3)}, {"k": 1})
case("top_k_v2.middle", {"X": rand(2, 4, 2)}, {"k": 1, "axis": -2})
case("top_k_v2.long", {"X": values([[5, -3, 9, 0], [4, 8, -7, 1]], "int64")}, {"k": 2})

case("gather.rows", {"X": rand(4, 3), "Index": longs(2, 0, 2)})
# The gradient of Paddle 2.6.2 along an axis other than the first repeats that of the first outer index.
case("gather.axis", {"X": rand(2, 4, 2, dtype="float64"), "Index": int32s(3, 1, 1)}, {"axis": 1}, hidden=("x@GRAD",))
case("gather.tensor", {"X": rand(2, 4), "Index": longs(3, 0), "Axis": int32s(1)}, hidden=("x@GRAD",))
case("gather.scalar", {"X": rand(4, 3), "Index": values(2, "int64")})
case("gather.long", {"X": ints(5), "Index": longs(4, 4, 0)})
case("gather_nd.rows", {"X": rand(3, 4), "Index": values([[2], [0], [2]], "int64")})
case("gather_nd.elements", {"X": rand(3, 4, dtype="float64"), "Index": values([[2, 1], [0, 3]], "int32")})
case("gather_nd.deep", {"X": rand(2, 3, 2), "Index": values([[[1, 2]], [[0, 0]]], "int64")})
case("index_select.rows", {"X": rand(4, 3), "Index": longs(3, 1, 3)}, {"dim": 0})
case("index_select.negative", {"X": rand(2, 3, 4, dtype="float64"), "Index": int32s(0, 2)}, {"dim": -1})
case("index_sample.plain", {"X": rand(3, 4), "Index": values([[0, 3], [2, 2], [1, 0]], "int64")})
case("index_sample.double", {"X": rand(2, 3, dtype="float64"), "Index": values([[0, 1, 2], [2, 2, 2]], "int32")})
case("take_along_axis.rows", {"Input": rand(3, 4), "Index": values([[0, 2, 1, 0]], "int64")}, {"Axis": 0})
case("take_along_axis.last", {"Input": rand(2, 4, dtype="float64"), "Index": values([[3, 3], [0, 1]], "int32")}, {"Axis": 1})
case("take_along_axis.middle", {"Input": rand(2, 3, 2), "Index": ints(2, 2, 2, high=3)}, {"Axis": 1})
case("masked_select.plain", {"X": rand(3, 4), "Mask": bools(3, 4)})
case("masked_select.double", {"X": rand(5, dtype="float64"), "Mask": values([1, 0, 0, 1, 1], "bool")})
case("masked_select.none", {"X": rand(3), "Mask": values([0, 0, 0], "bool")}, grad=False)
case("scatter.overwrite", {"X": rand(4, 2), "Ids": longs(2, 0), "Updates": rand(2, 2)})
case("scatter.add", {"X": rand(4, 2, dtype="float64"), "Ids": int32s(1, 3, 1), "Updates": rand(3, 2, dtype="float64")}, {"overwrite": False})
case("scatter.vector", {"X": rand(5), "Ids": longs(4, 0), "Updates": rand(2)})
case("scatter_nd_add.rows", {"X": rand(3, 2), "Index": values([[2], [0], [2]], "int64"), "Updates": rand(3, 2)})
case(
    "scatter_nd_add.elements",
    {"X": rand(3, 4, dtype="float64"), "Index": values([[2, 1], [0, 3]], "int32"), "Updates": rand(2, dtype="float64")},
)
case("where.plain", {"Condition": bools(2, 3), "X": rand(2, 3), "Y": rand(2, 3)})
case("where.double", {"Condition": bools(5), "X": rand(5, dtype="float64"), "Y": rand(5, dtype="float64")})
case("where.long", {"Condition": bools(4), "X": ints(4), "Y": ints(4)})
case("where.scalar", {"Condition": values(True, "bool"), "X": rand(), "Y": rand()})
case("where_index.matrix", {"Condition": values([[0, 1, 1], [1, 0, 0]], "bool")})
case("where_index.float", {"Condition": values([0, 2.5, -1, 0])})
case("where_index.none", {"Condition": values([0, 0], "int64")})
case("lookup_table_v2.matrix", {"Ids": values([[0, 3], [3, 1]], "int64"), "W": rand(4, 3)})
case("lookup_table_v2.padding", {"Ids": longs(2, 0, 2), "W": rand(4, 3, dtype="float64")}, {"padding_idx": 2})
case("lookup_table_v2.int", {"Ids": values([[1]], "int32"), "W": rand(2, 2)})
case("one_hot_v2.plain", {"X": longs(1, 0, 3)}, {"depth": 4})
case("one_hot_v2.matrix", {"X": values([[2], [0]], "int32")}, {"depth": 3, "dtype": dtype_number("float32")})
case("one_hot_v2.tensor", {"X": longs(1, 2), "depth_tensor": int32s(3)}, {"depth": -1})


def dense(block):
    """The rows of a sparse gradient merged, then made dense, as clipping by the global norm does."""
    rows = "w@GRAD"
    for name in ("merged", "dense"):
        block.create_var(name=name, dtype="float32", shape=[5, 2])
    block.append_op(type="merge_selected_rows", inputs={"X": [rows]}, outputs={"Out": ["merged"]})
    block.append_op(type="get_tensor_from_selected_rows", inputs={"X": ["merged"]}, outputs={"Out": ["dense"]})
    return ["dense"]


def sparse_step(block):
    """A step on the table with its sparse gradient."""
    block.append_op(type="sgd", inputs={"Param": ["w"], "Grad": ["w@GRAD"], "LearningRate": ["lr"]}, outputs={"ParamOut": ["w"]})
    return ["w"]


sparse = {"Ids": longs(3, 1, 3, 0), "W": rand(5, 2)}
case("lookup_table_v2.sparse_merged", sparse, {"is_sparse": True}, then=dense)
case("lookup_table_v2.sparse_sgd", sparse, {"is_sparse": True}, then=sparse_step, more={"lr": values([0.5])})

case("fill_constant.plain", {}, {"shape": [2, 3], "value": 1.5})
case("fill_constant.string", {}, {"shape": [2], "value": 0.0, "str_value": "0.1", "dtype": dtype_number("float64")})
case("fill_constant.infinite", {}, {"shape": [1], "str_value": "-inf"})
case("fill_constant.long", {}, {"shape": [3], "str_value": "9007199254740993", "dtype": dtype_number("int64")})
case("fill_constant.bool", {}, {"shape": [2], "value": 1.0, "dtype": dtype_number("bool")})
case("fill_constant.half", {}, {"shape": [2], "value": 0.1, "dtype": dtype_number("float16")})
case("fill_constant.scalar", {}, {"shape": [], "value": -2.5})
case("fill_constant.tensors", {"ValueTensor": number(7.5), "ShapeTensor": longs(2, 2)}, {"value": 1.0}, constant=("valuetensor",))
case("fill_constant.shape_tensors", {"ShapeTensorList": [int32s(2), int32s(3)]}, {"shape": [-1, -1], "value": 4.0})
case("fill_constant_batch_size_like.plain", {"Input": rand(3, 2)}, {"shape": [-1, 4], "value": 2.5}, constant=("input",))
case(
    "fill_constant_batch_size_like.dims",
    {"Input": rand(3, 2)},
    {"shape": [5, -1], "input_dim_idx": 1, "output_dim_idx": 1, "str_value": "3", "dtype": dtype_number("int64")},
    constant=("input",),
)
case("fill_any_like.plain", {"X": rand(2, 3)}, {"value": 1.5}, constant=("x",))
case("fill_any_like.typed", {"X": rand(2, 3)}, {"value": 3.0, "dtype": dtype_number("int64")}, constant=("x",))
case("fill_any_like.scalar", {"X": ints()}, {"value": -2.0})
case("fill_zeros_like.plain", {"X": rand(2, 3)}, constant=("x",))
case("fill_zeros_like.long", {"X": ints(4)})
case("assign_value.float", {}, {"shape": [2, 2], "dtype": dtype_number("float32"), "fp32_values": [1.5, -2.0, 0.1, 4.0]})
case("assign_value.double", {}, {"shape": [2], "dtype": dtype_number("float64"), "fp64_values": [0.1, -2.0]})
case("assign_value.int", {}, {"shape": [3], "dtype": dtype_number("int32"), "int32_values": [1, -2, 3]})
case("assign_value.long", {}, {"shape": [2], "dtype": dtype_number("int64"), "int64_values": [9007199254740993, -2]})
case("assign_value.bool", {}, {"shape": [3, 1], "dtype": dtype_number("bool"), "bool_values": [1, 0, 1]})
case("eye.square", {}, {"num_rows": 3})
case("eye.wide", {}, {"num_rows": 2, "num_columns": 4, "dtype": dtype_number("int64")})
case("eye.tall", {}, {"num_rows": 3, "num_columns": 2, "dtype": dtype_number("float64")})
case("linspace.plain", {"Start": number(-1), "Stop": number(2.5), "Num": int32s(8)}, {"dtype": dtype_number("float32")}, grad=False)
case("linspace.down", {"Start": number(5), "Stop": number(-1), "Num": int32s(4)}, {"dtype": dtype_number("float64")}, grad=False)
case("linspace.one", {"Start": number(5), "Stop": number(-1), "Num": int32s(1)}, {"dtype": dtype_number("float32")}, grad=False)
case("linspace.int", {"Start": int32s(0), "Stop": int32s(10), "Num": int32s(4)}, {"dtype": dtype_number("int32")}, grad=False)
case("range.float", {"Start": number(0.5), "End": number(3), "Step": number(0.7)}, grad=False)
case("range.long", {"Start": longs(10), "End": longs(-3), "Step": longs(-4)})
case("range.empty", {"Start": int32s(3), "End": int32s(4), "Step": int32s(2)})
case("range.scalars", {"Start": values(0, "int64"), "End": values(5, "int64"), "Step": values(2, "int64")})
