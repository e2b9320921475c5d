"""Makes graph/src/test/resources/golden/operations-families.npz: volumes, grids, running extremes and other rarer families, in the entry format of
operations.py, which see. Run from the root of the repository: `python tools/golden/operations/more_families.py [part of a case's name ...]`; with
arguments the cases are run but nothing is written. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
from cases import case, int32s, ints, rand, second, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-families.npz")

case("broadcast_tensors.three", {"X": [rand(3), rand(2, 1), rand(1, 1, 1)]}, outputs={"Out": ["out0", "out1", "out2"]})
case("broadcast_tensors.long", {"X": [ints(2, 1), ints(1, 3)]}, outputs={"Out": ["out0", "out1"]})
unknown("broadcast_tensors.unknown", {"X": [rand(2, 1, 3), rand(2, 4, 1)]}, {}, {"x0": [0], "x1": [0]}, outputs={"Out": ["out0", "out1"]})

volume = rand(1, 2, 4, 3, 4)
case("conv3d.strided", {"Input": volume, "Filter": rand(2, 2, 2, 2, 3)}, {"strides": [2, 1, 2], "paddings": [1, 0, 2]})
case("conv3d.padding_six", {"Input": rand(1, 1, 3, 3, 3), "Filter": rand(2, 1, 2, 2, 2)}, {"paddings": [1, 0, 0, 1, 2, 1]})
case("conv3d.dilated_groups", {"Input": rand(1, 4, 3, 2, 2), "Filter": rand(4, 2, 2, 2, 1)}, {"dilations": [2, 1, 1], "groups": 2})
case("conv3d.same", {"Input": rand(1, 1, 3, 4, 3), "Filter": rand(2, 1, 2, 3, 2)}, {"strides": [2, 2, 1], "padding_algorithm": "SAME"})
case("conv3d.valid_double", {"Input": rand(1, 1, 3, 3, 3, dtype="float64"), "Filter": rand(2, 1, 2, 2, 2, dtype="float64")}, {"paddings": [1, 1, 1], "padding_algorithm": "VALID"})
case("conv3d.channels_last", {"Input": rand(1, 3, 3, 2, 2), "Filter": rand(2, 2, 2, 2, 2)}, {"data_format": "NDHWC", "paddings": [1, 0, 1]})
unknown("conv3d.unknown", {"Input": rand(1, 1, 3, 3, 3), "Filter": rand(2, 1, 2, 2, 2)}, {}, {"input": [0, 2, 4]})
both, every = ["input", "filter"], ["input", "filter", "d_output"]
second("conv3d.second", {"Input": rand(1, 2, 3, 2, 3), "Filter": rand(2, 2, 2, 2, 2)}, {"paddings": [1, 0, 0]}, both, every)
case(
    "conv3d_transpose.strided",
    {"Input": rand(1, 2, 2, 3, 2), "Filter": rand(2, 2, 3, 2, 3)},
    {"strides": [2, 2, 1], "paddings": [1, 0, 1], "output_padding": [1, 0, 0]},
)
case("conv3d_transpose.groups", {"Input": rand(1, 4, 2, 2, 2, dtype="float64"), "Filter": rand(4, 1, 2, 2, 1, dtype="float64")}, {"groups": 2, "dilations": [1, 2, 1]})
case("conv3d_transpose.output_size", {"Input": rand(1, 2, 2, 2, 2), "Filter": rand(2, 1, 2, 2, 2)}, {"strides": [2, 2, 2], "output_size": [5, 4, 5]})
case("conv3d_transpose.channels_last", {"Input": rand(1, 2, 2, 2, 3), "Filter": rand(3, 2, 2, 1, 2)}, {"data_format": "NHWC"})
unknown("conv3d_transpose.unknown", {"Input": rand(1, 2, 2, 3, 2), "Filter": rand(2, 1, 2, 2, 2)}, {"strides": [2, 1, 2]}, {"input": [0, 2]})

for kind in ("max", "avg"):
    pool = {"pooling_type": kind}
    case(f"pool3d.{kind}", {"X": volume}, {**pool, "ksize": [2, 3, 2], "strides": [2, 1, 1]})
    case(f"pool3d.{kind}_padded", {"X": volume}, {**pool, "ksize": [3, 2, 2], "strides": [2, 2, 2], "paddings": [1, 1, 0]})
    case(f"pool3d.{kind}_ceil", {"X": rand(1, 2, 5, 4, 3)}, {**pool, "ksize": [2, 2, 2], "strides": [2, 3, 2], "ceil_mode": True})
    case(f"pool3d.{kind}_global", {"X": volume}, {**pool, "ksize": [1, 1, 1], "global_pooling": True})
case("pool3d.max_channels_last", {"X": rand(1, 3, 2, 4, 2)}, {"pooling_type": "max", "ksize": [2, 2, 2], "strides": [1, 1, 2], "data_format": "NDHWC"})
case("pool3d.avg_same", {"X": rand(1, 1, 3, 4, 3, dtype="float64")}, {"pooling_type": "avg", "ksize": [3, 2, 2], "strides": [2, 2, 1], "padding_algorithm": "SAME"})
case("pool3d.avg_adaptive", {"X": rand(1, 1, 4, 5, 3)}, {"pooling_type": "avg", "ksize": [2, 3, 2], "adaptive": True})  # as in two dimensions, Paddle errs in maxima
case("pool3d.avg_inclusive", {"X": volume}, {"pooling_type": "avg", "ksize": [3, 2, 2], "strides": [2, 2, 2], "paddings": [1, 1, 1], "exclusive": False})
case("pool3d.avg_padding_six", {"X": volume}, {"pooling_type": "avg", "ksize": [2, 2, 2], "strides": [1, 2, 2], "paddings": [1, 0, 0, 1, 1, 1]})
unknown("pool3d.unknown", {"X": rand(1, 2, 5, 4, 3)}, {"pooling_type": "max", "ksize": [2, 2, 2], "strides": [2, 2, 1], "ceil_mode": True}, {"x": [0, 3]})
case("max_pool3d_with_index.plain", {"X": volume}, {"ksize": [2, 2, 3], "strides": [1, 1, 2]})
case("max_pool3d_with_index.padded", {"X": volume}, {"ksize": [3, 2, 2], "strides": [2, 1, 2], "paddings": [1, 1, 0]})
case("max_pool3d_with_index.adaptive", {"X": rand(1, 2, 4, 5, 3, dtype="float64")}, {"ksize": [2, 3, 2], "adaptive": True})

lengths = {"linear": ["out_w"], "bicubic": ["out_h", "out_w"], "trilinear": ["out_d", "out_h", "out_w"]}
for method, names in lengths.items():
    op, rank = f"{method}_interp_v2", len(names)
    shape, target = [3, 4, 2][:rank], [4, 3, 3][:rank]
    size, taken = dict(zip(names, target)), {"interp_method": method}
    small = rand(1, 1, *shape)
    case(f"{op}.aligned", {"X": small}, {**taken, **size, "align_corners": True})
    case(f"{op}.half_pixel", {"X": small}, {**taken, **size, "align_corners": False, "align_mode": 0})
    if method != "bicubic":
        case(f"{op}.asymmetric", {"X": small}, {**taken, **size, "align_corners": False, "align_mode": 1})
    case(f"{op}.scale", {"X": small}, {**taken, "scale": [2.0, 1.5, 2.5][:rank], "align_corners": False, "align_mode": 0})
    if method != "linear":  # Paddle rounds factors in the cubic gradient of float64 to float32
        case(f"{op}.smaller", {"X": rand(1, 1, *[5, 7, 4][:rank], dtype="float32" if method == "bicubic" else "float64")}, {**taken, **dict(zip(names, [2, 3, 2])), "align_corners": False, "align_mode": 0})
    if method != "trilinear":
        case(f"{op}.channels_last", {"X": rand(1, *shape[::-1], 2)}, {**taken, **size, "align_corners": False, "data_layout": "NHWC"})
    if method == "linear":
        case(f"{op}.out_size", {"X": small, "OutSize": int32s(*target)}, {**taken, **{n: -1 for n in names}, "align_corners": False})
    if method == "trilinear":
        case(f"{op}.size_tensors", {"X": small, "SizeTensor": [int32s(n) for n in target]}, {**taken, **{n: -1 for n in names}, "align_corners": False})
    if method != "linear":
        case(f"{op}.scale_tensor", {"X": small, "Scale": values([1.5])}, {**taken, "align_corners": False}, constant=("scale",))
    if method == "trilinear":
        case(f"{op}.same_size", {"X": small}, {**taken, "scale": [1.2] * rank, "align_corners": False, "align_mode": 0})
    if method != "bicubic":
        unknown(f"{op}.unknown", {"X": small}, {**taken, "scale": [2.0] * rank, "align_corners": False}, {"x": [0, 2]})
volumes = {"interp_method": "nearest", "out_d": 4, "out_h": 3, "out_w": 3}
case("nearest_interp_v2.volume", {"X": rand(1, 2, 3, 2, 2)}, {**volumes, "align_corners": False})
case("nearest_interp_v2.volume_aligned", {"X": ints(1, 2, 2, 2, 3)}, {**volumes, "data_layout": "NDHWC", "align_corners": True})
case("bilinear_interp_v2.same_size", {"X": rand(1, 2, 3, 4)}, {"interp_method": "bilinear", "scale": [1.2, 1.1], "align_corners": False, "align_mode": 0})

image = rand(1, 2, 3, 4)
around = rand(1, 3, 2, 2, low=-2.7, high=2.7)
for mode in ("bilinear", "nearest"):
    for padding in ("zeros", "border", "reflection"):
        for corners in (True, False) if mode == "bilinear" else (False,):
            name = f"grid_sampler.{mode}_{padding}{'' if corners else '_areas'}"
            case(name, {"X": image, "Grid": around}, {"mode": mode, "padding_mode": padding, "align_corners": corners})
exact = values([[[[-1, -1], [0, 0], [1, 1]], [[-0.5, 0.5], [-3, 1], [0.25, -0.75]]]])
for padding in ("zeros", "border", "reflection"):
    case(f"grid_sampler.exact_{padding}", {"X": rand(1, 1, 3, 5), "Grid": exact}, {"padding_mode": padding})
    if padding != "zeros":
        case(f"grid_sampler.volume_{padding}", {"X": rand(1, 1, 2, 3, 2), "Grid": rand(1, 2, 1, 3, 3, low=-1.9, high=1.9)}, {"padding_mode": padding, "align_corners": False})
case("grid_sampler.halves", {"X": rand(1, 1, 1, 5), "Grid": values([[[[-0.75, 0], [-0.25, 0], [0.25, 0], [0.75, 0], [1.25, 0]]]])}, {"mode": "nearest"})
# Paddle's processors, unlike its accelerators, take places of volumes for outside before they are rounded.
case("grid_sampler.volume_nearest", {"X": rand(1, 1, 2, 3, 2), "Grid": rand(1, 2, 1, 3, 3, low=-1.3, high=1.3)}, {"mode": "nearest", "padding_mode": "border"})
case("grid_sampler.double", {"X": rand(1, 2, 4, 3, dtype="float64"), "Grid": rand(1, 2, 2, 2, dtype="float64")}, {"padding_mode": "reflection"})
unknown("grid_sampler.unknown", {"X": rand(2, 3, 3, 4), "Grid": rand(2, 3, 2, 2)}, {}, {"x": [0, 2], "grid": [0, 1]})
for corners in (True, False):
    end = "" if corners else "_areas"
    case(f"affine_grid.plain{end}", {"Theta": rand(2, 2, 3)}, {"output_shape": [2, 3, 2, 3], "align_corners": corners})
case("affine_grid.volume", {"Theta": rand(1, 3, 4, dtype="float64")}, {"output_shape": [1, 2, 2, 3, 2], "align_corners": False})
unknown("affine_grid.unknown", {"Theta": rand(2, 2, 3)}, {"output_shape": [2, 3, 2, 3]}, {"theta": [0]})

case("cummax.scalar", {"x": rand()}, grad=False)  # Paddle ends in its gradient
case("logcumsumexp.last", {"X": rand(3, 4)})
case("logcumsumexp.far", {"X": values([[-300, 500, 2, 500.5], [90, -80, 90.5, -2000]])}, grad=False)
unknown("cummax.unknown", {"x": rand(2, 3)}, {"axis": 1}, {"x": [0]})
for op in ("cummax", "cummin"):
    case(f"{op}.first", {"x": rand(3, 2, 2, dtype="float64")}, {"axis": 0})
    case(f"{op}.ties", {"x": values([[1, 1, 0, 1, 2, 2, 0, 0], [3, 3, 3, 2, 2, 4, 4, 1]])}, {"dtype": 2})
    case(f"{op}.nan", {"x": values([[1, float("nan"), 3, 0], [2, 1, float("nan"), float("nan")]])}, grad=False)
    case(f"{op}.long", {"x": values([[2**60, 2**60 + 1, 2**60 - 1]], "int64")}, {"axis": -1})
case("logcumsumexp.flat", {"X": rand(2, 3)}, {"flatten": True})
case("logcumsumexp.reverse", {"X": rand(2, 3, 2)}, {"axis": 1, "reverse": True})
case("logcumsumexp.exclusive", {"X": rand(2, 4)}, {"exclusive": True})
case("logcumsumexp.exclusive_reverse", {"X": rand(4, 2, dtype="float64")}, {"axis": 0, "exclusive": True, "reverse": True})
case("kthvalue.last", {"X": rand(3, 5)}, {"k": 2})
case("kthvalue.first", {"X": rand(4, 2, 3, dtype="float64")}, {"k": 3, "axis": 0, "keepdim": True})
case("kthvalue.long", {"X": values([[5, 1, 3], [2, 9, 4]], "int64")}, {"k": 3})
unknown("kthvalue.unknown", {"X": rand(2, 3)}, {"k": 1, "axis": 0}, {"x": [0]})
repeated = values([[1, 3, 2, 3, 1], [2, 2, 5, 5, 5], [4, 1, 0, 3, 2]])
case("mode.last", {"X": repeated})
case("mode.first", {"X": values([[1, 2], [3, 2], [1, 0], [0, 0]], "float64")}, {"axis": 0, "keepdim": True})
case("mode.long", {"X": values([[2**60, 2**60 + 1, 2**60 + 1]], "int64")})

case("erfinv.plain", {"X": rand(3, 4, low=-0.97, high=0.97)})
case("erfinv.double", {"X": values([-0.999999, -0.95, -0.5, -1e-9, 0, 1e-3, 0.3, 0.85, 0.9, 0.999], "float64")})
case("erfinv.ends", {"X": values([-1, 1])}, grad=False)
case("cross.found", {"X": rand(2, 3, 3), "Y": rand(2, 3, 3)})
case("cross.last", {"X": rand(3, 2, 3, dtype="float64"), "Y": rand(3, 2, 3, dtype="float64")}, {"dim": -1})
unknown("cross.unknown", {"X": rand(2, 3), "Y": rand(2, 3)}, {"dim": 1}, {"x": [0], "y": [0]})
rows = {"X": [rand(4, 2) for _ in range(3)], "Ids": values([[2], [0], [1], [0]], "int32")}
case("multiplex.plain", rows)
case("multiplex.deep", {"X": [rand(2, 2, 2, dtype="float64") for _ in range(2)], "Ids": values([[1], [1]], "int32")})
unknown("multiplex.unknown", rows, {}, {"x0": [0], "x1": [0], "x2": [0], "ids": [0]})
case("renorm.two", {"X": rand(3, 4, 2)}, {"p": 2.0, "axis": 0, "max_norm": 2.5})
case("renorm.one", {"X": rand(3, 4, dtype="float64")}, {"p": 1.0, "axis": 1, "max_norm": 3.0})
case("renorm.other", {"X": rand(2, 3, 2)}, {"p": 2.5, "axis": 2, "max_norm": 1.0})
unknown("renorm.unknown", {"X": rand(2, 3)}, {"p": 2.0, "axis": 0, "max_norm": 1.0}, {"x": [1]})
case("shard_index.first", {"X": values([[0], [5], [9], [10], [19]], "int64")}, {"index_num": 20, "nshards": 2, "shard_id": 0})
case("shard_index.uneven", {"X": ints(6, 1, high=19, dtype="int32")}, {"index_num": 19, "nshards": 3, "shard_id": 2, "ignore_value": -7})


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
