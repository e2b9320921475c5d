"""More cases of operations on indexes and of random ones: graph/src/test/resources/golden/operations-indexes.npz, entries as operations.py describes.

Run from the root of the repository: `python tools/golden/operations/more_indexes.py`. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import numpy as np

import cases
from cases import bools, case, dtype_number, rand, values

OUTPUT = Path("graph/src/test/resources/golden/operations-indexes.npz")
double = dtype_number("float64")


def longs(*numbers):
    return values(numbers, "int64")


def int32s(*numbers):
    return values(numbers, "int32")


case("gather.column", {"X": rand(4, 3), "Index": values([[2], [0], [2]], "int32")})
# Paddle's gradient on processors gives all rows that of the first where the axis is not the first: an error of its kernel.
case("gather.scalar_axis", {"X": rand(4, 1, dtype="float64"), "Index": values(0, "int64")}, {"axis": 1}, hidden=("x@GRAD",))
case("gather_nd.whole", {"X": rand(2, 2), "Index": values([[], []], "int64")})
case("gather_nd.bool", {"X": bools(4), "Index": values([[3], [0]], "int64")})
case("index_select.column", {"X": rand(4, 3), "Index": values([[2], [0]], "int64")}, {"dim": 1}, grad=False)
case("take_along_axis.short", {"Input": rand(3, 4), "Index": values([[2, 1]], "int64")}, {"Axis": 1})
case("take_along_axis.long", {"Input": values([5, -3, 8], "int64"), "Index": values([1, 1], "int32")}, {"Axis": 0})
case("masked_select.mask_broadcast", {"X": rand(2, 3), "Mask": values([1, 0, 1], "bool")})
case("masked_select.x_broadcast", {"X": rand(1, 3), "Mask": values([[1, 0, 1], [0, 1, 1]], "bool")})
case("masked_select.long", {"X": values([[5, 6], [7, 8]], "int64"), "Mask": values([[0, 1], [1, 1]], "bool")})
case("where_index.fractions", {"Condition": values([0.25, 0, -0.5, np.nan])})
case("where_index.deep", {"Condition": values([[[0, 1], [1, 0]], [[0, 0], [1, 1]]], "int32")})
case("one_hot_v2.typed", {"X": values(1, "int64")}, {"depth": 3, "dtype": dtype_number("int64")})
case("scatter.column", {"X": rand(4, 2), "Ids": values([[1], [2]], "int64"), "Updates": rand(2, 2)})
case("scatter.scalar", {"X": rand(4, 2), "Ids": values(1, "int64"), "Updates": rand(2)}, {"overwrite": False})
case("scatter.repeated", {"X": rand(4, 2), "Ids": longs(1, 1), "Updates": rand(2, 2)})
case("scatter.long", {"X": values([1, 2, 3], "int64"), "Ids": int32s(1, 1), "Updates": values([8, 9], "int64")}, {"overwrite": False})
case("scatter_nd_add.tuple", {"X": rand(4, 2), "Index": longs(1, 1), "Updates": rand()})
case("scatter_nd_add.whole", {"X": rand(2, 2), "Index": values([[], []], "int64"), "Updates": rand(2, 2, 2)})
case("scatter_nd_add.long", {"X": values([1, 2, 3], "int64"), "Index": values([[1], [1]], "int32"), "Updates": values([8, 9], "int64")})

crowded = values([[2, 2, 1, 0], [2, 0, 0, 0]], "int64")
case("put_along_axis.assign", {"Input": rand(3, 4), "Index": crowded, "Value": rand(2, 4)}, {"Axis": 0})
case("put_along_axis.last", {"Input": rand(2, 4, dtype="float64"), "Index": crowded, "Value": rand(2, 4, dtype="float64")}, {"Axis": 1})
case("put_along_axis.long", {"Input": values([4, 5], "int64"), "Index": longs(1, 1), "Value": longs(7, 8)}, {"Axis": 0, "Reduce": "add"})
for reduce in ("add", "mul", "amin", "amax", "mean"):
    for self in (True, False):
        case(
            f"put_along_axis.{reduce}_{'with' if self else 'without'}",
            {"Input": rand(3, 4), "Index": crowded, "Value": rand(2, 4)},
            {"Axis": 0, "Reduce": reduce, "Include_self": self},
        )
    tied = {"Input": longs(3, 4, 5), "Index": longs(0, 0), "Value": longs(-7, 2)}
    case(f"put_along_axis.{reduce}_long", tied, {"Axis": 0, "Reduce": reduce})
ties = {"Input": values([-5, -10, 7]), "Index": longs(0, 0, 1), "Value": values([-5, -5, -20])}
case("put_along_axis.amin_ties", ties, {"Axis": 0, "Reduce": "amin"})
case("put_along_axis.amin_ties_without", ties, {"Axis": 0, "Reduce": "amin", "Include_self": False})

case("lookup_table.column", {"W": rand(4, 3), "Ids": values([[2], [0], [2]], "int64")})
case("lookup_table.padding", {"W": rand(4, 3, dtype="float64"), "Ids": values([[[2], [0]], [[2], [1]]], "int64")}, {"padding_idx": 2})
case("lookup_table_v2.negative_padding", {"W": rand(4, 3), "Ids": longs(-5, 1, -5, 1)}, {"padding_idx": -5})
case("lookup_table_v2.scalar", {"W": rand(4, 3), "Ids": values(2, "int64")})


def dense(block):
    for name in ("merged", "dense"):
        block.create_var(name=name, dtype="float32", shape=[5, 2])
    block.append_op(type="merge_selected_rows", inputs={"X": ["w@GRAD"]}, outputs={"Out": ["merged"]})
    block.append_op(type="get_tensor_from_selected_rows", inputs={"X": ["merged"]}, outputs={"Out": ["dense"]})
    return ["dense"]


def unmerged(block):
    block.create_var(name="dense", dtype="float32", shape=[5, 2])
    block.append_op(type="get_tensor_from_selected_rows", inputs={"X": ["w@GRAD"]}, outputs={"Out": ["dense"]})
    return ["dense"]


table = rand(5, 2)
case("lookup_table_v2.sparse_padding", {"W": table, "Ids": longs(3, 1, 3)}, {"is_sparse": True, "padding_idx": 3}, then=dense)
case("lookup_table_v2.sparse_unmerged", {"W": table, "Ids": values([[3, 1], [3, 0]], "int32")}, {"is_sparse": True}, then=unmerged)
case("lookup_table.sparse", {"W": table, "Ids": values([[3], [1], [3]], "int64")}, {"is_sparse": True}, then=unmerged)

case("uniform_random.shared", {}, {"shape": [5], "min": 0.0, "max": 3.0})
case("uniform_random.reversed", {}, {"shape": [3], "min": 3.0, "max": 1.0})
case("uniform_random.scalar", {}, {"shape": []})
case("uniform_random.attribute_first", {"ShapeTensor": longs(2)}, {"shape": [3]})
case("gaussian_random.shared", {}, {"shape": [7]})
case("gaussian_random.negative", {}, {"shape": [2, 2], "std": -2.0, "dtype": double})
case("gaussian_random.attribute", {"ShapeTensorList": [int32s(1), int32s(4)]}, {"shape": [-1, 4]})
case("truncated_gaussian_random.shared", {}, {"shape": [9]})
case("randint.shared", {}, {"shape": [9], "low": -5, "high": 17})
case("randint.wide", {}, {"shape": [5], "low": -2147483648, "high": 2147483647, "dtype": dtype_number("int32")})
case("randperm.one", {}, {"n": 1})
case("randperm.none", {}, {"n": 0})
case("randperm.double", {}, {"n": 23, "dtype": double})
case("uniform_random_batch_size_like.plain", {"Input": rand(3, 2)}, {"shape": [-1, 4]}, constant=("input",))
case(
    "uniform_random_batch_size_like.dims",
    {"Input": rand(3, 2)},
    {"shape": [5, -1], "input_dim_idx": 1, "output_dim_idx": 1, "seed": 3, "diag_num": 2, "diag_step": 2},
    constant=("input",),
)
case("multinomial.replacement", {"X": rand(4, low=0, high=5)}, {"num_samples": 9, "replacement": True}, grad=False)
case("multinomial.once", {"X": rand(3, 5, low=0, high=5)}, {"num_samples": 5}, grad=False)
case("multinomial.zeros", {"X": values([[0, 2, 0, 1], [1, 0, 0, 3]], "float64")}, {"num_samples": 2}, grad=False)
for implementation in ("downgrade_in_infer", "upscale_in_train"):
    attributes = {"dropout_implementation": implementation}
    case(f"dropout.{implementation}_shared", {"X": rand(4, 5)}, {**attributes, "dropout_prob": 0.4})
    case(f"dropout.{implementation}_seed_not_fixed", {"X": rand(9)}, {**attributes, "dropout_prob": 0.2, "seed": 3})
    case(f"dropout.{implementation}_none", {"X": rand(3)}, {**attributes, "dropout_prob": 0.0})
case("dropout.seed_tensor_zero", {"X": rand(3, 4), "Seed": int32s(0)}, {"dropout_prob": 0.5})
shown = {"first_n": 1, "message": "shown", "summarize": 2}
case("print.backward", {"In": rand(2, 2)}, {**shown, "print_phase": "BACKWARD"})


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
