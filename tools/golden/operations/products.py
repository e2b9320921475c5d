"""Products of matrices and reductions."""
from cases import bools, case, dtype_number, int32s, ints, rand, values

case("matmul_v2.plain", {"X": rand(2, 3), "Y": rand(3, 4)})
case("matmul_v2.transposed", {"X": rand(3, 2), "Y": rand(4, 3)}, {"trans_x": True, "trans_y": True})
case("matmul_v2.batch_transposed", {"X": rand(2, 4, 3, dtype="float64"), "Y": rand(2, 2, 4, dtype="float64")}, {"trans_x": True, "trans_y": True})
case("matmul_v2.batch_broadcast", {"X": rand(2, 1, 2, 3), "Y": rand(1, 2, 3, 2)})
# Paddle has no gradient for batch dimensions of different rank, nor for a transposed vector.
case("matmul_v2.batch_ranks", {"X": rand(2, 1, 2, 3), "Y": rand(2, 3, 2)}, grad=False)
case("matmul_v2.vector_transposed", {"X": rand(3), "Y": rand(4, 3)}, {"trans_x": True, "trans_y": True}, grad=False)
case("matmul_v2.matrix_right", {"X": rand(2, 3, 4), "Y": rand(4, 2)})
case("matmul_v2.matrix_left", {"X": rand(2, 4), "Y": rand(3, 4, 2)})
case("matmul_v2.vectors", {"X": rand(4), "Y": rand(4)})
case("matmul_v2.vector_right", {"X": rand(2, 3, 4), "Y": rand(4)})
case("matmul_v2.vector_left", {"X": rand(3), "Y": rand(2, 3, 4)})
case("matmul_v2.vector_by_transposed", {"X": rand(3), "Y": rand(4, 3)}, {"trans_y": True})
case("matmul.plain", {"X": rand(2, 3), "Y": rand(3, 4)})
case("matmul.alpha", {"X": rand(3, 2), "Y": rand(4, 3)}, {"transpose_X": True, "transpose_Y": True, "alpha": 0.5})
case("matmul.batch", {"X": rand(2, 3, 4), "Y": rand(2, 5, 4)}, {"transpose_Y": True, "alpha": -2.0})
case("matmul.matrix_right", {"X": rand(2, 3, 4, dtype="float64"), "Y": rand(4, 2, dtype="float64")})
case("matmul.vectors", {"X": rand(4), "Y": rand(4)})
case("mul.plain", {"X": rand(2, 3), "Y": rand(3, 4)})
case("mul.two_columns", {"X": rand(2, 3, 2, 2), "Y": rand(4, 3)}, {"x_num_col_dims": 2})
case("mul.flattened", {"X": rand(2, 3, 2), "Y": rand(3, 2, 2, 2)}, {"x_num_col_dims": 1, "y_num_col_dims": 2})
case("mul.double", {"X": rand(1, 3, dtype="float64"), "Y": rand(3, 1, dtype="float64")})
case("bmm.plain", {"X": rand(2, 3, 4), "Y": rand(2, 4, 2)})
case("bmm.double", {"X": rand(3, 1, 2, dtype="float64"), "Y": rand(3, 2, 1, dtype="float64")})

for op in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"):
    case(f"{op}.first", {"X": rand(2, 3, 2)}, {"dim": [0]})
    case(f"{op}.two", {"X": rand(2, 3, 2, 2)}, {"dim": [1, -1]})
    case(f"{op}.two_kept", {"X": rand(2, 3, 2, dtype="float64")}, {"dim": [-1, 0], "keep_dim": True})
    case(f"{op}.all", {"X": rand(2, 3)}, {"dim": [0], "reduce_all": True})
    case(f"{op}.empty_dim", {"X": rand(3, 2)}, {"dim": []})
    if op != "reduce_mean":
        case(f"{op}.long", {"X": ints(2, 3, low=-5)}, {"dim": [1]})
for op in ("reduce_sum", "reduce_max"):
    case(f"{op}.all_kept", {"X": rand(2, 3)}, {"dim": [], "reduce_all": True, "keep_dim": True})
    case(f"{op}.scalar", {"X": rand()}, {"dim": [], "reduce_all": True})
    case(f"{op}.int", {"X": ints(2, 3, low=-5, dtype="int32")}, {"dim": [1]})
case("reduce_sum.bool", {"X": bools(3, 4)}, {"dim": [1]})
case(
    "reduce_sum.cast",
    {"X": rand(3, 2)},
    {"dim": [0], "in_dtype": dtype_number("float32"), "out_dtype": dtype_number("float64")},
    grad=False,
)
case("reduce_max.ties", {"X": values([[1, 3, 3], [2, 2, 2]])}, {"dim": [1]})
case("reduce_min.ties", {"X": values([[1, 1, 3], [2, 2, 2]])}, {"dim": [1]})
# Paddle's gradient divides by zero here.
case("reduce_prod.zero", {"X": values([[1, 0, 3], [2, 4, 5]])}, {"dim": [0]}, grad=False)
for op in ("reduce_all", "reduce_any"):
    case(f"{op}.rows", {"X": values([[0, 0], [1, 0], [1, 1]], "bool")}, {"dim": [1]})
    case(f"{op}.negative", {"X": bools(2, 3, 2)}, {"dim": [-2], "keep_dim": True})
    case(f"{op}.two", {"X": bools(2, 2, 2)}, {"dim": [0, 2]})
    case(f"{op}.all", {"X": bools(2, 3)}, {"dim": [0], "reduce_all": True})
# Paddle lists these inputs and reads neither of them.
case("reduce_all.tensor_ignored", {"X": bools(2, 3), "AxisTensor": int32s(1)}, {"dim": [0]})
case("reduce_any.tensors_ignored", {"X": bools(2, 3, 2), "AxisTensorList": [int32s(0), int32s(2)]}, {"dim": [0]})
case("mean.plain", {"X": rand(2, 3, 2)})
case("mean.double", {"X": rand(5, dtype="float64")})
case("mean.scalar", {"X": rand()})
case("logsumexp.first", {"X": rand(2, 3, 2)}, {"axis": [0]})
case("logsumexp.negative", {"X": rand(2, 3, 2, dtype="float64")}, {"axis": [-1, 0], "keepdim": True})
case("logsumexp.all", {"X": rand(2, 3, low=-60, high=95)}, {"axis": [0], "reduce_all": True})
for porder, kind in ((2.0, "two"), (1.0, "one"), (3.0, "three"), (float("inf"), "max"), (float("-inf"), "min"), (0.0, "count")):
    case(f"p_norm.{kind}", {"X": rand(2, 3, 2)}, {"porder": porder, "axis": 1})
case("p_norm.kept", {"X": rand(2, 3, dtype="float64")}, {"porder": 2.0, "axis": -1, "keepdim": True})
case("p_norm.vector", {"X": rand(2, 3)}, {"porder": 2.0, "asvector": True})
case("p_norm.zero", {"X": values([[0, 0, 0], [1, 0, 2]])}, {"porder": 2.0, "axis": 1, "epsilon": 1e-6})
case("squared_l2_norm.plain", {"X": rand(2, 3)})
case("squared_l2_norm.double", {"X": rand(7, dtype="float64")})
case("cumsum.last", {"X": rand(2, 3)})
case("cumsum.middle", {"X": rand(2, 3, 2)}, {"axis": 1, "exclusive": True})
case("cumsum.reverse", {"X": rand(2, 3, dtype="float64")}, {"axis": 0, "reverse": True})
case("cumsum.reverse_exclusive", {"X": rand(2, 4)}, {"axis": -1, "reverse": True, "exclusive": True})
case("cumsum.flat", {"X": rand(2, 3)}, {"flatten": True})
case("cumsum.long", {"X": ints(3, 2)}, {"axis": 0})
