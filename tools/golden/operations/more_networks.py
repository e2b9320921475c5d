"""Makes graph/src/test/resources/golden/operations-networks.npz: more of networks' operations; second gradients, layouts, and unknown dimensions.

Run from the root of the repository: `python tools/golden/operations/more_networks.py [part of a case's name ...]`; with arguments the cases are
run but nothing is written. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26. Entries as in operations.npz. On a CPU, Paddle has no second gradients of transposed and
depthwise convolutions.
"""
import sys
from pathlib import Path

import cases
from cases import case, int32s, ints, rand, second, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-networks.npz")

both, every = ["input", "filter"], ["input", "filter", "d_output"]
grouped = {"Input": rand(2, 4, 5, 4), "Filter": rand(6, 2, 2, 3)}
uneven = {"strides": [2, 1], "paddings": [1, 0, 2, 1]}
second("conv2d.second", grouped, {**uneven, "groups": 2, "dilations": [1, 2]}, both, every)
second("conv2d.second_channels_last", {"Input": rand(1, 4, 3, 2), "Filter": rand(3, 2, 2, 2)}, {"data_format": "NHWC"}, both, every)
second("conv2d.second_of_input", {"Input": rand(1, 2, 3, 3), "Filter": rand(2, 2, 2, 2)}, {}, ["input"], every)
second("conv2d.second_of_filter", {"Input": rand(1, 2, 3, 3), "Filter": rand(2, 2, 2, 2)}, {}, ["filter"], every)
averaged = {"pooling_type": "avg", "ksize": [2, 3], "strides": [2, 1], "paddings": [1, 1]}
second("pool2d.second", {"X": rand(2, 2, 5, 4)}, averaged, ["x"], ["d_out"])
second("pool2d.second_inclusive", {"X": rand(1, 4, 5, 2)}, {**averaged, "exclusive": False, "ceil_mode": True, "data_format": "NHWC"}, ["x"], ["d_out"])
positive = {"low": 0.4, "high": 1.7}
running = {"outputs": {"ReserveSpace": "reserve", "MeanOut": "mean", "VarianceOut": "variance"}, "constant": ("mean", "variance"), "targets": ("y",)}
unsaved = {**running, "hidden": ("savedmean", "savedvariance")}


def channels(count, dtype="float32", low=0.4):
    return rand(count, low=low, high=1.7, dtype=dtype)


def normed(x, count, dtype="float32"):
    return {"X": x, "Scale": channels(count, dtype), "Bias": channels(count, dtype, -1.0)}


def batch(x, count, dtype="float32"):
    return {**normed(x, count, dtype), "Mean": channels(count, dtype, -0.4), "Variance": channels(count, dtype)}


parameters, all_of_norm = ["x", "scale", "bias"], ["x", "scale", "d_y"]
second("batch_norm.second", batch(rand(3, 2, 2, 3), 2), {}, parameters, all_of_norm, **running)
second("batch_norm.second_rows", batch(rand(5, 2, dtype="float64"), 2, "float64"), {}, parameters, all_of_norm, dtype="float64", **running)
second("batch_norm.second_channels_last", batch(rand(2, 2, 3, 2), 2), {"data_layout": "NHWC"}, parameters, all_of_norm, **running)
second("batch_norm.second_global", batch(rand(3, 2, 2, 2), 2), {"use_global_stats": True}, parameters, all_of_norm, **unsaved)
second("instance_norm.second", normed(rand(2, 3, 2, 3), 3), {}, parameters, all_of_norm)
second("instance_norm.second_bare", {"X": rand(2, 2, 4, dtype="float64")}, {}, ["x"], ["x", "d_y"], dtype="float64")

unknown("conv2d.unknown", {"Input": rand(2, 2, 5, 4), "Filter": rand(3, 2, 3, 2)}, {"paddings": [1, 0]}, {"input": [0, 2]})
unknown("conv2d.unknown_same", {"Input": rand(2, 5, 4, 2), "Filter": rand(3, 2, 3, 2)}, {"padding_algorithm": "SAME", "strides": [2, 2], "data_format": "NHWC"}, {"input": [0, 1]})
case("conv2d.same_dilated", {"Input": rand(1, 2, 5, 6), "Filter": rand(2, 2, 3, 2)}, {"padding_algorithm": "SAME", "dilations": [2, 2], "strides": [1, 2]})
case("conv2d.groups_channels_last", {"Input": rand(2, 3, 4, 4), "Filter": rand(4, 2, 2, 2)}, {"data_format": "NHWC", "groups": 2, "paddings": [1, 0, 0, 1]})
case("depthwise_conv2d.channels_last", {"Input": rand(1, 4, 3, 3), "Filter": rand(3, 1, 2, 2)}, {"groups": 3, "data_format": "NHWC", "paddings": [1, 1]})
unknown("conv2d_transpose.unknown", {"Input": rand(2, 2, 3, 2), "Filter": rand(2, 2, 2, 3)}, {"strides": [2, 2]}, {"input": [0, 2]})
unknown("conv2d_transpose.unknown_size", {"Input": rand(2, 2, 3, 2), "Filter": rand(2, 2, 2, 3)}, {"strides": [2, 2], "output_size": [7, 6]}, {"input": [0, 2, 3]})
case("conv2d_transpose.padding_four", {"Input": rand(1, 2, 3, 4), "Filter": rand(2, 1, 3, 3)}, {"strides": [2, 1], "paddings": [1, 0, 2, 1]})
case("conv2d_transpose.dilated_channels_last", {"Input": rand(1, 3, 2, 4), "Filter": rand(4, 2, 2, 2)}, {"groups": 2, "dilations": [2, 1], "data_format": "NHWC"})
case("depthwise_conv2d_transpose.plain", {"Input": rand(2, 3, 2, 3), "Filter": rand(3, 1, 2, 3)}, {"groups": 3})
case(
    "depthwise_conv2d_transpose.strided",
    {"Input": rand(1, 2, 3, 2, dtype="float64"), "Filter": rand(2, 1, 3, 2, dtype="float64")},
    {"groups": 2, "strides": [2, 3], "paddings": [1, 0], "output_padding": [1, 2]},
)

unknown("pool2d.unknown", {"X": rand(2, 2, 5, 4)}, {"pooling_type": "max", "ksize": [2, 2], "strides": [2, 2], "ceil_mode": True}, {"x": [0, 3]})
unknown("pool2d.unknown_global", {"X": rand(2, 2, 5, 4)}, {"pooling_type": "avg", "ksize": [1, 1], "global_pooling": True}, {"x": [0, 2]})
unknown("pool2d.unknown_adaptive", {"X": rand(2, 2, 5, 4)}, {"pooling_type": "avg", "ksize": [3, 2], "adaptive": True}, {"x": [0, 2, 3]})
ceiled = {"ksize": [3, 3], "strides": [2, 2], "paddings": [1, 0], "ceil_mode": True}
for kind in ("max", "avg"):
    case(f"pool2d.{kind}_ceil_padded", {"X": rand(1, 2, 6, 6)}, {"pooling_type": kind, **ceiled})
case("pool2d.avg_inclusive_ceil", {"X": rand(1, 2, 6, 6)}, {"pooling_type": "avg", "exclusive": False, **ceiled})
case("pool2d.avg_inclusive_same", {"X": rand(1, 5, 4, 2)}, {"pooling_type": "avg", "exclusive": False, "padding_algorithm": "SAME", "ksize": [3, 2], "strides": [2, 2], "data_format": "NHWC"})
case("pool2d.avg_channels_last", {"X": rand(2, 4, 6, 3)}, {"pooling_type": "avg", "ksize": [2, 3], "adaptive": True, "data_format": "NHWC"})
case("pool2d.avg_global_channels_last", {"X": rand(2, 3, 4, 3)}, {"pooling_type": "avg", "ksize": [1, 1], "global_pooling": True, "data_format": "NHWC"})
case("pool2d.max_same_channels_last", {"X": rand(1, 5, 4, 2)}, {"pooling_type": "max", "padding_algorithm": "SAME", "ksize": [3, 3], "strides": [2, 2], "data_format": "NHWC"})

unknown("batch_norm.unknown", batch(rand(3, 2, 2, 3), 2), {}, {"x": [0, 2, 3]}, **running)
case("batch_norm.global_channels_last", batch(rand(2, 3, 2, 2), 2), {"use_global_stats": True, "data_layout": "NHWC"}, **unsaved)
unknown("layer_norm.unknown", {"X": rand(2, 3, 4), "Scale": channels(4), "Bias": channels(4)}, {"begin_norm_axis": 2}, {"x": [0, 1]})
case("layer_norm.bias_only", {"X": rand(3, 5), "Bias": rand(5)})
unknown("group_norm.unknown", normed(rand(2, 4, 2, 2), 4), {"groups": 2}, {"x": [0, 2]})
case("group_norm.rows", normed(rand(2, 8), 8), {"groups": 2})
case("instance_norm.rows", normed(rand(3, 2, 1, 4), 2))

for op in ("nearest_interp_v2", "bilinear_interp_v2"):
    method = {"interp_method": op.split("_")[0], "align_corners": False}
    small = rand(2, 2, 3, 2)
    unknown(f"{op}.unknown", {"X": small}, {**method, "scale": [2.0, 3.0], "align_mode": 0}, {"x": [0, 2]})
    unknown(f"{op}.unknown_known_size", {"X": small}, {**method, "out_h": 5, "out_w": 3}, {"x": [0, 2, 3]})
    case(f"{op}.scales", {"X": small, "Scale": values([2.5, 1.5])}, method, constant=("scale",))
    case(f"{op}.size_over_scale", {"X": small, "OutSize": int32s(5, 3)}, {**method, "scale": [2.0, 1.7]})
    case(f"{op}.single", {"X": small}, {**method, "align_corners": True, "out_h": 1, "out_w": 5})
    sized = {**method, "out_h": -1, "out_w": -1, "data_layout": "NHWC"}
    case(f"{op}.size_channels_last", {"X": rand(1, 3, 2, 2), "OutSize": int32s(4, 5)}, sized)
case("nearest_interp_v2.long", {"X": ints(1, 2, 3, 2)}, {"interp_method": "nearest", "out_h": 4, "out_w": 5, "align_corners": False})
case("nearest_interp_v2.int_channels_last", {"X": ints(1, 3, 2, 2, dtype="int32")}, {"interp_method": "nearest", "out_h": 4, "out_w": 5, "data_layout": "NHWC"})


def recurrent(mode, layers, length=3, batch=2, size=3, hidden=2):
    gates = {"LSTM": 4, "GRU": 3}.get(mode, 1)
    weights = []
    for layer in range(layers):
        weights += [rand(gates * hidden, size if layer == 0 else hidden, low=-0.9, high=0.9), rand(gates * hidden, hidden, low=-0.9, high=0.9)]
    weights += [rand(gates * hidden, low=-0.5, high=0.5) for _ in range(2 * layers)]
    states = [rand(layers, batch, hidden, low=-0.8, high=0.8) for _ in range(2 if mode == "LSTM" else 1)]
    inputs = {"Input": rand(length, batch, size), "PreState": states, "WeightList": weights}
    attributes = {"mode": mode, "num_layers": layers, "input_size": size, "hidden_size": hidden}
    return inputs, attributes, {"State": [f"state{i}" for i in range(len(states))], "DropoutState": "dropoutstate"}


for mode in ("LSTM", "RNN_TANH"):
    inputs, attributes, outputs = recurrent(mode, 1, length=4)
    inputs["SequenceLength"] = int32s(2, 4)
    axes = {"input": [0, 1], "prestate0": [1], "prestate1": [1], "sequencelength": [0]}
    unknown(f"rnn.{mode.lower()}_unknown", inputs, attributes, axes, outputs=outputs)
inputs, attributes, outputs = recurrent("LSTM", 3)
case("rnn.lstm_dropout", inputs, {**attributes, "dropout_prob": 0.3, "seed": 5}, outputs=outputs)


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
