"""Makes graph/src/test/resources/golden/operations-products.npz: more products, reductions and losses; second and third gradients, and unknown dimensions.

Run from the root of the repository: `python tools/golden/operations/more_products.py [part of a case's name ...]`; with arguments the cases are
run but nothing is written. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26. Entries as in operations.npz.
"""
import sys
from pathlib import Path

import cases
from cases import bools, case, dtype_number, gradients, ints, rand, second, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-products.npz")

plain = {"X": rand(2, 3), "Y": rand(3, 4)}
every = ["x", "y", "d_out"]
second("matmul_v2.second", plain, {}, ["x", "y"], every)
second("matmul_v2.second_transposed", {"X": rand(2, 3, 2, dtype="float64"), "Y": rand(2, 4, 3, dtype="float64")}, {"trans_x": True, "trans_y": True}, ["x", "y"], every, "float64")
second("matmul_v2.second_of_x", plain, {}, ["x"], every)
second("matmul_v2.second_of_y", {"X": rand(2, 3, 4), "Y": rand(5, 4)}, {"trans_y": True}, ["y"], every)
second("matmul_v2.second_broadcast", {"X": rand(2, 1, 2, 3), "Y": rand(1, 2, 3, 2)}, {}, ["x", "y"], every)
second("matmul_v2.second_vectors", {"X": rand(3), "Y": rand(3)}, {}, ["x", "y"], every)
second("matmul.second", {"X": rand(3, 2), "Y": rand(4, 3)}, {"transpose_X": True, "transpose_Y": True, "alpha": 0.5}, ["x", "y"], every)
second("mul.second", {"X": rand(2, 3, 2), "Y": rand(3, 2, 4)}, {"y_num_col_dims": 2}, ["x", "y"], every)
second("reduce_sum.second", {"X": rand(2, 3)}, {"dim": [1]}, ["x"], ["d_out"])
second("reduce_mean.second", {"X": rand(2, 3, dtype="float64")}, {"dim": [0], "keep_dim": True}, ["x"], ["d_out"], "float64")


def third(block):
    found = list(gradients(block, ["x@GRAD", "y@GRAD"], ["dd_x", "dd_y"], every).values())
    return found + list(gradients(block, found, ["ddd_x", "ddd_y", "ddd_out"], every + ["dd_x", "dd_y"]).values())


thirds = {"dd_x": rand(2, 3), "dd_y": rand(4, 3), "ddd_x": rand(2, 3), "ddd_y": rand(4, 3), "ddd_out": rand(2, 4)}
case("matmul_v2.third", {"X": rand(2, 3), "Y": rand(4, 3)}, {"trans_y": True}, more=thirds, then=third)

case("matmul_v2.long", {"X": ints(2, 3), "Y": ints(3, 2)})
case("matmul_v2.row", {"X": rand(1, 4), "Y": rand(3, 4, 2)})
case("matmul_v2.batch_left_transposed", {"X": rand(2, 4, 3), "Y": rand(4, 2)}, {"trans_x": True})
case("matmul_v2.batch_right_transposed", {"X": rand(2, 3, 4), "Y": rand(2, 4)}, {"trans_y": True})
unknown("matmul_v2.unknown_rows", {"X": rand(2, 3), "Y": rand(3, 4)}, {}, {"x": [0]})
unknown("matmul_v2.unknown_batch", {"X": rand(2, 2, 3), "Y": rand(2, 3, 4)}, {}, {"x": [0, 1], "y": [0]})
unknown("matmul_v2.unknown_either", {"X": rand(2, 2, 3), "Y": rand(2, 3, 4)}, {}, {"x": [0]})
unknown("matmul_v2.unknown_inner", {"X": rand(2, 2, 3), "Y": rand(3, 4)}, {}, {"x": [0, 2], "y": [0]})
case("matmul.batches", {"X": rand(2, 3, 2, 3), "Y": rand(6, 3, 4)}, {}, grad=False)
case("matmul.row_by_column", {"X": rand(3), "Y": rand(4)}, {"transpose_X": True, "transpose_Y": True}, grad=False)
case("matmul.vector_left", {"X": rand(3), "Y": rand(2, 3, 4)}, {"alpha": 3.0})
case("matmul.vector_right", {"X": rand(2, 3, 4), "Y": rand(4)})
unknown("matmul.unknown", {"X": rand(2, 2, 3), "Y": rand(2, 4, 3)}, {"transpose_Y": True}, {"x": [0, 1]})
unknown("mul.unknown", {"X": rand(2, 3, 2), "Y": rand(6, 4)}, {}, {"x": [0], "y": [1]})
unknown("bmm.unknown", {"X": rand(2, 3, 4), "Y": rand(2, 4, 2)}, {}, {"x": [0], "y": [2]})

for op in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_prod"):
    # Paddle fails on this gradient of a mean.
    case(f"{op}.single", {"X": rand()}, {"dim": [0]}, grad=op != "reduce_mean")
    unknown(f"{op}.unknown", {"X": rand(2, 3, 4)}, {"dim": [1]}, {"x": [0, 1]})
unknown("reduce_mean.unknown_kept", {"X": rand(2, 3, dtype="float64")}, {"dim": [0], "keep_dim": True}, {"x": [0, 1]})
case("reduce_sum.to_double", {"X": rand(2, 3)}, {"dim": [1], "in_dtype": dtype_number("float32"), "out_dtype": dtype_number("float64")})
case("reduce_prod.zeros", {"X": values([[0, 2, 3], [0, 4, 0]])}, {"dim": [0]})
case("reduce_any.whole", {"X": bools(2, 3)}, {"dim": []})
unknown("reduce_all.unknown", {"X": bools(2, 3)}, {"dim": [1], "keep_dim": True}, {"x": [0]})
unknown("mean.unknown", {"X": rand(2, 3)}, {}, {"x": [0]})
case("logsumexp.none", {"X": rand(2, 3)}, {"axis": []})
case("logsumexp.scalar", {"X": rand()}, {"axis": [0]})
unknown("logsumexp.unknown", {"X": rand(2, 3)}, {"axis": [1], "keepdim": True}, {"x": [0]})
case("p_norm.vector_kept", {"X": rand(2, 3)}, {"porder": 3.0, "asvector": True, "keepdim": True})
case("p_norm.one_double", {"X": rand(2, 3, dtype="float64")}, {"porder": 1.0, "axis": 0})
case("p_norm.ties", {"X": values([[2, -2, 1], [-3, 3, 3]])}, {"porder": float("inf"), "axis": 1})
# Paddle's gradient at 0 is NaN for orders below 1.
for porder, kind in ((3.0, "three"), (1.0, "one"), (1.5, "between")):
    case(f"p_norm.{kind}_of_zero", {"X": values([[0, 1, -2], [3, 0, 2]])}, {"porder": porder, "axis": 1})
unknown("p_norm.unknown", {"X": rand(2, 3)}, {"porder": 2.0, "axis": 1}, {"x": [0]})
unknown("squared_l2_norm.unknown", {"X": rand(2, 3)}, {}, {"x": [0]})

case("argsort.scalar", {"X": rand()}, {"axis": -1})
case("top_k_v2.scalar", {"X": rand()}, {"k": 1})
unknown("top_k_v2.unknown", {"X": rand(2, 5), "K": values([2], "int32")}, {"k": 1}, {"x": [0]})
for op in ("arg_max", "arg_min"):
    case(f"{op}.scalar", {"X": rand()}, {"axis": 0})
    case(f"{op}.flat_kept", {"X": rand(2, 3, dtype="float64")}, {"axis": 0, "flatten": True, "keepdims": True})
    unknown(f"{op}.unknown", {"X": rand(2, 3)}, {"axis": 0}, {"x": [1]})
case("cumsum.flat_reverse", {"X": rand(2, 3, dtype="float64")}, {"flatten": True, "reverse": True, "exclusive": True})
case("cumsum.scalar", {"X": rand()}, {})
case("cumsum.int", {"X": ints(2, 3, dtype="int32")}, {"axis": 1})
unknown("cumsum.unknown", {"X": rand(2, 3)}, {"axis": 0}, {"x": [0]})

crossed = "softmax_with_cross_entropy"
loss = {"targets": ("loss",)}


def distribution(*shape, axis=-1, dtype="float32"):
    def draw(rng):
        drawn = rng.uniform(0.1, 1, shape)
        return (drawn / drawn.sum(axis, keepdims=True)).astype(dtype)

    return draw


soft = {"soft_label": True}
label = values([[2], [0], [3]], "int64")
case(f"{crossed}.soft_middle", {"Logits": rand(2, 3, 2), "Label": distribution(2, 3, 2, axis=1)}, {**soft, "axis": 1}, constant=("label",), **loss)
case(f"{crossed}.soft_double", {"Logits": rand(2, 3, dtype="float64"), "Label": distribution(2, 3, dtype="float64")}, soft, constant=("label",), **loss)
case(f"{crossed}.soft_probabilities", {"Logits": distribution(3, 4), "Label": distribution(3, 4)}, {**soft, "use_softmax": False}, constant=("label",), **loss)
case(f"{crossed}.probabilities_ignored", {"Logits": distribution(3, 4), "Label": label}, {"use_softmax": False, "ignore_index": 0}, **loss)
case(f"{crossed}.probabilities_first", {"Logits": distribution(3, 2, axis=0), "Label": values([[2, 0]], "int64")}, {"use_softmax": False, "axis": 0}, **loss)
unknown(f"{crossed}.unknown", {"Logits": rand(3, 4), "Label": label}, {}, {"logits": [0], "label": [0]}, **loss)
case("cross_entropy2.bare", {"X": distribution(2, 2, 3), "Label": values([[1, 0], [2, 2]], "int64")})
case("cross_entropy2.impossible", {"X": values([[0, 1], [1, 0]]), "Label": values([[0], [0]], "int64")}, grad=False)
unknown("cross_entropy2.unknown", {"X": distribution(3, 4, dtype="float64"), "Label": label}, {}, {"x": [0], "label": [0]})
logits = "sigmoid_cross_entropy_with_logits"
case(f"{logits}.ignored_zero", {"X": rand(5), "Label": values([0, 0.5, 1, 0.9, -0.5])}, {"ignore_index": 0}, constant=("label",))
case(
    f"{logits}.weighted_normalized",
    {"X": rand(2, 3), "Label": values([[0, 1, -1], [1, -1, 0]]), "pos_weight": rand(2, 3, low=0.4, high=1.7)},
    {"ignore_index": -1, "normalize": True},
    constant=("label", "pos_weight"),
)
unknown(f"{logits}.unknown", {"X": rand(2, 3), "Label": rand(2, 3, low=0, high=1)}, {}, {"x": [0]}, constant=("label",))
unknown("bce_loss.unknown", {"X": rand(2, 3, low=0.05, high=0.95), "Label": rand(2, 3, low=0, high=1)}, {}, {"x": [0]}, constant=("label",))
unknown("huber_loss.unknown", {"X": rand(4, 1), "Y": rand(4, 1)}, {"delta": 0.5}, {"x": [0], "y": [0]})
indices = values([[1, 0], [2, 1], [0, 3], [3, 2]], "int64")
right = values([[0], [2], [1], [2]], "int64")
unknown("accuracy.unknown", {"Out": rand(4, 2, low=0, high=1, dtype="float64"), "Indices": indices, "Label": right}, {}, {"out": [0], "indices": [0], "label": [0]}, grad=False)


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
