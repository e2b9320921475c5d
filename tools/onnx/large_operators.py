#!/usr/bin/env python3
"""Writes models of one operator each, with operands of some 100,000 elements: large_operators.py FOLDER [REGEX].

What no network that anybody measures contains may still be slow; these show it. Operators with fixed sizes, of the
newest versions that ONNX Runtime has. FOLDER gets NAME/model.onnx and NAME/input_I.pb, as speed.py reads them; REGEX
chooses models by their names. Those that ONNX Runtime refuses are left out. Tested with onnx 1.23.2 and onnxruntime
1.32.
"""
import pathlib
import re
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

SHAPE = (8, 64, 200)
RNG = np.random.default_rng(0)
CASES = []


def real(*dims):
    return RNG.standard_normal(dims).astype(np.float32)


def positive(*dims):
    return RNG.random(dims).astype(np.float32) * 0.9 + 0.05


def whole(most, *dims):
    return RNG.integers(0, most, dims)


def ints(*values):
    return np.array(values, np.int64)


def case(name, operator, feeds, constants=(), outputs=1, opset=20, **attributes):
    CASES.append((name, operator, feeds, constants, outputs, opset, attributes))


def functions():
    for operator in ("Abs Asinh Atan Ceil Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish Hardmax IsInf IsNaN "
                     "LeakyRelu LogSoftmax Mish Neg Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus "
                     "Softsign Tan Tanh ThresholdedRelu").split():
        case(operator.lower(), operator, [real(*SHAPE)])
    for operator in "Acos Asin Atanh Log Reciprocal Sqrt".split():
        case(operator.lower(), operator, [positive(*SHAPE)])
    case("acosh", "Acosh", [positive(*SHAPE) + 1])
    case("not", "Not", [real(*SHAPE) > 0])
    case("clip", "Clip", [real(*SHAPE)], [np.float32(-0.5), np.float32(0.5)])
    for operator in "Softmax LogSoftmax".split():
        case(operator.lower() + "_columns", operator, [real(*SHAPE)], axis=1)
    for name, to, x in (("int64", 7, real(*SHAPE)), ("float", 1, whole(99, *SHAPE)), ("bool", 9, real(*SHAPE)),
                        ("half", 10, real(*SHAPE)), ("int32", 6, whole(99, *SHAPE)), ("double", 11, real(*SHAPE))):
        case("cast_" + name, "Cast", [x], to=to)


def pairs():
    for operator in "Add Sub Mul Div Max Min Greater Less Equal GreaterOrEqual LessOrEqual PRelu".split():
        case(operator.lower(), operator, [real(*SHAPE), real(*SHAPE)])
    for operator in "Add Mul Max Equal".split():
        case(operator.lower() + "_rows", operator, [real(*SHAPE), real(64, 1)])
        case(operator.lower() + "_int64", operator, [whole(99, *SHAPE), whole(99, *SHAPE)])
    for operator in "And Or Xor".split():
        case(operator.lower(), operator, [real(*SHAPE) > 0, real(*SHAPE) > 0])
    for operator in "Sum Mean Max".split():
        case(operator.lower() + "_three", operator, [real(*SHAPE), real(*SHAPE), real(*SHAPE)])
    case("pow", "Pow", [positive(*SHAPE), real(*SHAPE)])
    case("mod", "Mod", [real(*SHAPE), real(*SHAPE)], fmod=1)
    case("bitwise_and", "BitwiseAnd", [whole(99, *SHAPE), whole(99, *SHAPE)])
    case("where", "Where", [real(*SHAPE) > 0, real(*SHAPE), real(*SHAPE)])
    case("where_rows", "Where", [real(8, 1, 200) > 0, real(*SHAPE), real(1)])


def reductions():
    for function in "Sum Mean Max Min Prod L1 L2 LogSum LogSumExp SumSquare".split():
        for name, axes in (("last", [-1]), ("middle", [1]), ("outer", [0, 2])):
            case(f"reduce_{function.lower()}_{name}", "Reduce" + function, [positive(*SHAPE)], [ints(*axes)])
    for operator in "ArgMax ArgMin".split():
        for name, axis in (("last", -1), ("middle", 1)):
            case(f"{operator.lower()}_{name}", operator, [real(*SHAPE)], axis=axis)
    for name, axis in (("last", 2), ("middle", 1)):
        case("cumsum_" + name, "CumSum", [real(*SHAPE)], [np.array(axis, np.int64)])
    for k in (5, 50):
        for name, axis in (("last", -1), ("middle", 1)):
            case(f"topk_{k}_{name}", "TopK", [real(*SHAPE)], [ints(k)], 2, axis=axis)
    case("topk_long", "TopK", [real(1, 100000)], [ints(100)], 2)
    case("sort", "TopK", [real(10, 10000)], [ints(10000)], 2)
    case("unique", "Unique", [whole(1000, 20000)], outputs=4)
    case("nonzero", "NonZero", [real(300, 300) > 1])


def places():
    case("gather_rows", "Gather", [real(5000, 64), whole(5000, 2000)])
    case("gather_columns", "Gather", [real(64, 500), whole(500, 300)], axis=1)
    case("gather_elements_last", "GatherElements", [real(*SHAPE), whole(200, *SHAPE)], axis=2)
    case("gather_elements_first", "GatherElements", [real(*SHAPE), whole(8, *SHAPE)], axis=0)
    case("gather_nd", "GatherND", [real(64, 64, 32), whole(64, 1000, 2)])
    for reduction in "none add".split():
        case("scatter_nd_" + reduction, "ScatterND", [real(64, 64, 32), whole(64, 1000, 2), real(1000, 32)],
             reduction=reduction)
        case("scatter_elements_" + reduction, "ScatterElements",
             [real(*SHAPE), whole(200, 8, 64, 50), real(8, 64, 50)], axis=2, reduction=reduction)
    case("one_hot", "OneHot", [whole(50, 2000)], [np.array(50, np.int64), np.array([0, 1], np.float32)])
    for name, dims, permutation in (("rows", SHAPE, [0, 2, 1]), ("heads", (4, 128, 8, 64), [0, 2, 1, 3]),
                                    ("image", (2, 64, 56, 56), [0, 2, 3, 1]), ("all", (20, 30, 40, 5), [3, 2, 1, 0])):
        case("transpose_" + name, "Transpose", [real(*dims)], perm=permutation)
    case("concat_middle", "Concat", [real(8, 30, 50), real(8, 34, 50)], axis=1)
    case("concat_last", "Concat", [real(800, 3), real(800, 5)], axis=1)
    for name, axis in (("middle", 1), ("last", 2)):
        case("split_" + name, "Split", [real(*SHAPE)], outputs=4, axis=axis, num_outputs=4)
    case("slice", "Slice", [real(*SHAPE)], [ints(1, 3), ints(60, 190), ints(1, 2)])
    case("slice_reversed", "Slice", [real(*SHAPE)], [ints(-1), ints(-1000), ints(2), ints(-1)])
    case("slice_steps", "Slice", [real(*SHAPE)], [ints(0), ints(200), ints(2), ints(2)])
    for mode in "constant reflect edge".split():
        case("pad_image_" + mode, "Pad", [real(2, 16, 40, 40)], [ints(0, 0, 2, 3, 0, 0, 2, 3)], mode=mode)
        case("pad_line_" + mode, "Pad", [real(8, 16, 400)], [ints(0, 0, 20, 0, 0, 30)], mode=mode)
    case("tile", "Tile", [real(8, 16, 50)], [ints(1, 4, 2)])
    case("expand_middle", "Expand", [real(8, 1, 200)], [ints(*SHAPE)])
    case("expand_last", "Expand", [real(8, 64, 1)], [ints(*SHAPE)])
    case("trilu", "Trilu", [real(8, 128, 128)], upper=0)
    case("compress", "Compress", [real(500, 64), real(500) > 0], axis=0)
    case("reverse_sequence", "ReverseSequence", [real(50, 16, 64), whole(50, 16)], time_axis=0, batch_axis=1)
    case("depth_to_space", "DepthToSpace", [real(1, 64, 40, 40)], blocksize=2)
    case("space_to_depth", "SpaceToDepth", [real(1, 16, 80, 80)], blocksize=2)
    case("col2im", "Col2Im", [real(1, 72, 100)], [ints(12, 12), ints(3, 3)])


def images():
    nothing = np.array([], np.float32)
    for mode, coordinates in (("nearest", "asymmetric"), ("linear", "half_pixel"), ("cubic", "half_pixel"),
                              ("linear", "align_corners")):
        for name, size, factor in (("up", 40, 2), ("down", 80, 0.4)):
            case(f"resize_{name}_{mode}_{coordinates}", "Resize", [real(1, 16, size, size)],
                 [nothing, np.array([1, 1, factor, factor], np.float32)], mode=mode,
                 coordinate_transformation_mode=coordinates)
    image = (2, 32, 56, 56)
    case("max_pool", "MaxPool", [real(*image)], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    case("max_pool_indices", "MaxPool", [real(*image)], outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    case("max_pool_5", "MaxPool", [real(1, 64, 20, 20)], kernel_shape=[5, 5], pads=[2, 2, 2, 2])
    case("max_pool_line", "MaxPool", [real(4, 64, 400)], kernel_shape=[3], strides=[2])
    case("average_pool", "AveragePool", [real(*image)], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    case("global_average", "GlobalAveragePool", [real(2, 256, 14, 14)])
    case("global_max", "GlobalMaxPool", [real(2, 256, 14, 14)])
    small = (2, 32, 28, 28)
    case("instance_norm", "InstanceNormalization", [real(*small)], [positive(32), real(32)])
    case("layer_norm", "LayerNormalization", [real(128, 768)], [positive(768), real(768)])
    case("group_norm", "GroupNormalization", [real(*small)], [positive(32), real(32)], opset=21, num_groups=8)
    case("batch_norm", "BatchNormalization", [real(*small)], [positive(32), real(32), real(32), positive(32)])
    case("lrn", "LRN", [real(*small)], size=5)
    case("lp_norm", "LpNormalization", [real(*SHAPE)], axis=-1, p=2)
    for mode in "linear nearest".split():
        case("grid_sample_" + mode, "GridSample", [real(1, 16, 32, 32), positive(1, 32, 32, 2) * 2 - 1], mode=mode)
    corners = np.abs(real(20, 4)).cumsum(1) * 8
    case("roi_align", "RoiAlign", [real(1, 32, 40, 40), corners, whole(1, 20)], output_height=7, output_width=7,
         sampling_ratio=2)


def products():
    image = real(1, 32, 40, 40)
    case("conv", "Conv", [image], [real(64, 32, 3, 3), real(64)], pads=[1, 1, 1, 1])
    case("conv_depthwise", "Conv", [image], [real(32, 1, 3, 3)], group=32, pads=[1, 1, 1, 1])
    case("conv_groups", "Conv", [image], [real(64, 8, 3, 3)], group=4, pads=[1, 1, 1, 1])
    case("conv_dilated", "Conv", [image], [real(32, 32, 3, 3)], dilations=[2, 2], pads=[2, 2, 2, 2])
    case("conv_line", "Conv", [real(4, 64, 300)], [real(64, 64, 5)], pads=[2, 2])
    case("conv_volume", "Conv", [real(1, 8, 16, 28, 28)], [real(16, 8, 3, 3, 3)], pads=[1] * 6)
    case("conv_one_channel", "Conv", [real(1, 1, 64, 400)], [real(16, 1, 3, 9)], pads=[1, 4, 1, 4])
    case("conv_first", "Conv", [real(1, 3, 112, 112)], [real(32, 3, 7, 7)], strides=[2, 2], pads=[3, 3, 3, 3])
    case("conv_transposed", "ConvTranspose", [real(1, 32, 20, 20)], [real(32, 16, 4, 4)], strides=[2, 2],
         pads=[1, 1, 1, 1])
    case("conv_transposed_depthwise", "ConvTranspose", [real(1, 32, 20, 20)], [real(32, 1, 4, 4)], strides=[2, 2],
         pads=[1, 1, 1, 1], group=32)
    case("conv_transposed_line", "ConvTranspose", [real(1, 64, 100)], [real(64, 32, 8)], strides=[4], pads=[2, 2])
    case("matmul", "MatMul", [real(128, 256)], [real(256, 256)])
    case("matmul_batch", "MatMul", [real(16, 64, 64), real(16, 64, 64)])
    case("matmul_row", "MatMul", [real(1, 1024)], [real(1024, 1024)])
    case("matmul_thin", "MatMul", [real(2000, 8)], [real(8, 4)])
    case("matmul_outer", "MatMul", [real(300, 1), real(1, 300)])
    case("gemm", "Gemm", [real(64, 256)], [real(128, 256), real(128)], transB=1)
    case("einsum", "Einsum", [real(4, 32, 8, 16), real(4, 24, 8, 16)], equation="bqhd,bkhd->bhqk")
    case("matmul_integer", "MatMulInteger", [whole(99, 64, 128).astype(np.uint8)],
         [(whole(99, 128, 64) - 50).astype(np.int8)])
    case("quantize", "QuantizeLinear", [real(*SHAPE)], [np.float32(0.05), np.uint8(128)])
    case("dequantize", "DequantizeLinear", [whole(255, *SHAPE).astype(np.uint8)], [np.float32(0.05), np.uint8(128)])
    for operator, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for batch in (1, 4):
            case(f"{operator.lower()}_{batch}", operator, [real(20, batch, 64)],
                 [real(1, 64 * gates, 64) / 10, real(1, 64 * gates, 64) / 10], 2, hidden_size=64)
    case("dft", "DFT", [real(8, 256, 1)], opset=17, axis=1)
    case("stft", "STFT", [real(2, 2000, 1)], [np.array(100, np.int64), positive(200)], opset=17)


def write(folder, name, operator, feeds, constants, outputs, opset, attributes):
    fed = [f"input_{i}" for i in range(len(feeds))]
    known = [f"constant_{i}" for i in range(len(constants))]
    results = [f"result_{i}" for i in range(outputs)]
    node = helper.make_node(operator, fed + known, results, **attributes)
    inputs = [helper.make_tensor_value_info(each, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
              for each, x in zip(fed, feeds)]
    graph = helper.make_graph([node], name, inputs, [helper.make_empty_tensor_value_info(each) for each in results],
                              [numpy_helper.from_array(np.asarray(x), each) for each, x in zip(known, constants)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    model = onnx.shape_inference.infer_shapes(model)
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        session.run(None, dict(zip(fed, feeds)))
    except Exception as problem:  # Whatever it refuses.
        print(name, "left out:", str(problem).split("\n", maxsplit=1)[0][:100])
        return
    path = pathlib.Path(folder, name)
    path.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path / "model.onnx")
    for i, x in enumerate(feeds):
        (path / f"input_{i}.pb").write_bytes(numpy_helper.from_array(x).SerializeToString())


def main():
    for group in (functions, pairs, reductions, places, images, products):
        group()
    chosen = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    for each in CASES:
        if chosen.search(each[0]):
            write(sys.argv[1], *each)


if __name__ == "__main__":
    main()
