"""Operations of networks: convolution, pooling, interpolation, normalisation, softmax and losses, recurrence."""
from cases import case, int32s, ints, rand, values

image = rand(2, 2, 5, 4)
case("conv2d.plain", {"Input": image, "Filter": rand(3, 2, 3, 2)})
case("conv2d.strided", {"Input": image, "Filter": rand(3, 2, 2, 2)}, {"strides": [2, 1], "paddings": [1, 2]})
case("conv2d.padding_four", {"Input": image, "Filter": rand(2, 2, 3, 3)}, {"paddings": [1, 0, 0, 2]})
case("conv2d.dilated_groups", {"Input": rand(1, 4, 6, 5), "Filter": rand(4, 2, 2, 3)}, {"dilations": [2, 1], "groups": 2, "paddings": [1, 1]})
case("conv2d.same", {"Input": image, "Filter": rand(2, 2, 3, 2)}, {"strides": [2, 2], "padding_algorithm": "SAME"})
double = {"Input": rand(1, 2, 4, 4, dtype="float64"), "Filter": rand(2, 2, 3, 2, dtype="float64")}
case("conv2d.valid", double, {"paddings": [1, 1], "padding_algorithm": "VALID"})
case("conv2d.channels_last", {"Input": rand(1, 4, 3, 2), "Filter": rand(2, 2, 2, 2)}, {"data_format": "NHWC", "paddings": [1, 0]})
case("depthwise_conv2d.plain", {"Input": rand(2, 3, 4, 4), "Filter": rand(3, 1, 3, 2)}, {"groups": 3, "paddings": [1, 1]})
double = {"Input": rand(1, 2, 5, 4, dtype="float64"), "Filter": rand(2, 1, 2, 2, dtype="float64")}
case("depthwise_conv2d.strided", double, {"groups": 2, "strides": [2, 2], "dilations": [2, 1]})
case("depthwise_conv2d.multiplied", {"Input": rand(1, 2, 4, 3), "Filter": rand(4, 1, 2, 2)}, {"groups": 2, "padding_algorithm": "SAME"})
case("conv2d_transpose.plain", {"Input": rand(2, 2, 3, 2), "Filter": rand(2, 3, 2, 3)})
case(
    "conv2d_transpose.strided",
    {"Input": rand(1, 2, 3, 2), "Filter": rand(2, 2, 3, 3)},
    {"strides": [2, 2], "paddings": [1, 0], "output_padding": [1, 0]},
)
case("conv2d_transpose.groups", {"Input": rand(1, 4, 2, 3, dtype="float64"), "Filter": rand(4, 1, 2, 2, dtype="float64")}, {"groups": 2, "dilations": [2, 1]})
case(
    "conv2d_transpose.output_size",
    {"Input": rand(1, 2, 3, 3), "Filter": rand(2, 1, 3, 3)},
    {"strides": [2, 2], "output_size": [8, 7]},
)
case("conv2d_transpose.same", {"Input": rand(1, 2, 3, 3), "Filter": rand(2, 1, 3, 2)}, {"strides": [2, 1], "padding_algorithm": "SAME"})
case("conv2d_transpose.channels_last", {"Input": rand(1, 3, 2, 2), "Filter": rand(2, 2, 2, 2)}, {"data_format": "NHWC", "paddings": [1, 0]})

for kind in ("max", "avg"):
    pool = {"pooling_type": kind}
    case(f"pool2d.{kind}", {"X": image}, {**pool, "ksize": [2, 3], "strides": [2, 1]})
    case(f"pool2d.{kind}_padded", {"X": image}, {**pool, "ksize": [3, 2], "strides": [2, 2], "paddings": [1, 1]})
    case(f"pool2d.{kind}_ceil", {"X": rand(1, 2, 5, 4)}, {**pool, "ksize": [2, 2], "strides": [2, 3], "ceil_mode": True})
    case(f"pool2d.{kind}_global", {"X": image}, {**pool, "ksize": [1, 1], "global_pooling": True})
    case(f"pool2d.{kind}_adaptive", {"X": rand(1, 2, 5, 7)}, {**pool, "ksize": [2, 3], "adaptive": True})
    case(f"pool2d.{kind}_same", {"X": rand(1, 2, 5, 4)}, {**pool, "ksize": [3, 2], "strides": [2, 2], "padding_algorithm": "SAME"})
four = {"ksize": [2, 2], "strides": [1, 2], "paddings": [1, 0, 0, 1]}
case("pool2d.avg_padding_four", {"X": image}, {"pooling_type": "avg", **four})
last = {"ksize": [2, 2], "strides": [2, 2], "data_format": "NHWC"}
case("pool2d.max_channels_last", {"X": rand(1, 4, 4, 3)}, {"pooling_type": "max", **last})
valid = {"ksize": [3, 2], "strides": [2, 2], "paddings": [1, 1], "padding_algorithm": "VALID"}
case("pool2d.avg_valid", {"X": rand(1, 2, 5, 4, dtype="float64")}, {"pooling_type": "avg", **valid})
case(
    "pool2d.avg_inclusive",
    {"X": image},
    {"pooling_type": "avg", "ksize": [3, 2], "strides": [2, 2], "paddings": [1, 1], "exclusive": False},
)
case("pool2d.max_ties", {"X": values([[[[1, 1, 0], [1, 1, 0], [0, 0, 0]]]])}, {"pooling_type": "max", "ksize": [2, 2], "strides": [1, 1]})

for op in ("nearest_interp_v2", "bilinear_interp_v2"):
    method = {"interp_method": op.split("_")[0]}
    small = rand(1, 2, 3, 2)
    case(f"{op}.aligned", {"X": small}, {**method, "out_h": 5, "out_w": 4, "align_corners": True})
    case(f"{op}.half_pixel", {"X": small}, {**method, "out_h": 5, "out_w": 4, "align_corners": False, "align_mode": 0})
    case(f"{op}.asymmetric", {"X": small}, {**method, "out_h": 4, "out_w": 5, "align_corners": False, "align_mode": 1})
    case(f"{op}.scale", {"X": small}, {**method, "scale": [2.0, 1.5], "align_corners": False, "align_mode": 0})
    case(f"{op}.smaller", {"X": rand(1, 1, 5, 7, dtype="float64")}, {**method, "out_h": 2, "out_w": 3, "align_corners": False, "align_mode": 0})
    case(f"{op}.channels_last", {"X": rand(1, 3, 2, 2)}, {**method, "out_h": 4, "out_w": 4, "align_corners": False, "data_layout": "NHWC"})
    case(f"{op}.out_size", {"X": small, "OutSize": int32s(4, 3)}, {**method, "out_h": -1, "out_w": -1, "align_corners": False})
bilinear = {"interp_method": "bilinear"}
case("bilinear_interp_v2.size_tensors", {"X": small, "SizeTensor": [int32s(4), int32s(3)]}, {**bilinear, "out_h": -1, "out_w": -1, "align_corners": False})
case("bilinear_interp_v2.scale_tensor", {"X": small, "Scale": values([2.0])}, {**bilinear, "align_corners": False}, constant=("scale",))
for mode in ("constant", "reflect", "replicate", "circular"):
    case(f"pad3d.{mode}", {"X": rand(1, 1, 2, 3, 4)}, {"mode": mode, "paddings": [2, 1, 1, 2, 1, 0], "value": 1.5})
case("pad3d.channels_last", {"X": rand(1, 2, 2, 3, 2, dtype="float64")}, {"mode": "reflect", "paddings": [1, 1, 0, 1, 0, 1], "data_format": "NDHWC"})
case("pad3d.tensor", {"X": rand(1, 1, 1, 2, 2), "Paddings": int32s(1, 0, 0, 1, 0, 0)}, {"paddings": [0, 0, 0, 0, 0, 0]})
case("pad3d.long", {"X": ints(1, 1, 1, 2, 2)}, {"paddings": [1, 0, 0, 1, 0, 0], "value": 7.0})
case("prelu.all", {"X": rand(2, 3, 2), "Alpha": rand(1)}, {"mode": "all"})
case("prelu.channel", {"X": rand(2, 3, 2, 2), "Alpha": rand(3)}, {"mode": "channel"})
case("prelu.channel_last", {"X": rand(2, 2, 2, 3), "Alpha": rand(3)}, {"mode": "channel", "data_format": "NHWC"})
case("prelu.element", {"X": rand(2, 3, 2, dtype="float64"), "Alpha": rand(1, 3, 2, dtype="float64")}, {"mode": "element"})

positive = {"low": 0.4, "high": 1.7}
moments = {"Mean": rand(3, low=-0.4, high=0.4), "Variance": rand(3, **positive)}
affine = {"Scale": rand(3, **positive), "Bias": rand(3)}
norm = {"constant": ("mean", "variance"), "targets": ("y",)}
# Paddle wants the running moments in place.
running = {"outputs": {"ReserveSpace": "reserve", "MeanOut": "mean", "VarianceOut": "variance"}, **norm}
unsaved = {**running, "hidden": ("savedmean", "savedvariance")}
case("batch_norm.train", {"X": rand(2, 3, 2, 2), **affine, **moments}, **running)
case("batch_norm.channels_last", {"X": rand(2, 2, 2, 3), **affine, **moments}, {"data_layout": "NHWC"}, **running)
case("batch_norm.rows", {"X": rand(5, 3), **affine, **moments}, {"momentum": 0.7, "epsilon": 1e-3}, **running)
case("batch_norm.global", {"X": rand(2, 3, 2, 2), **affine, **moments}, {"use_global_stats": True}, **unsaved)
case("batch_norm.test", {"X": rand(2, 3, 2, 2), **affine, **moments}, {"is_test": True}, **unsaved)
# On a CPU, Paddle does not read this input.
momentum = {"MomentumTensor": values([0.25])}
case("batch_norm.momentum_tensor_ignored", {"X": rand(2, 3, 4), **affine, **moments, **momentum}, **{**running, "constant": ("mean", "variance", "momentumtensor")})
case(
    "batch_norm.trainable",
    {
        "X": rand(2, 2, 3, dtype="float64"),
        "Scale": rand(2, dtype="float64"),
        "Bias": rand(2, dtype="float64"),
        "Mean": rand(2, dtype="float64"),
        "Variance": rand(2, dtype="float64", **positive),
    },
    {"is_test": True, "trainable_statistics": True},
    **running,
)
case("layer_norm.plain", {"X": rand(3, 4), "Scale": rand(4, **positive), "Bias": rand(4)})
case("layer_norm.two_axes", {"X": rand(2, 3, 2, dtype="float64"), "Scale": rand(6, dtype="float64"), "Bias": rand(6, dtype="float64")}, {"epsilon": 1e-3})
case("layer_norm.last", {"X": rand(2, 3, 4)}, {"begin_norm_axis": 2})
case("layer_norm.scale_only", {"X": rand(3, 5), "Scale": rand(5, **positive)})
case("group_norm.plain", {"X": rand(2, 4, 2, 2), "Scale": rand(4, **positive), "Bias": rand(4)}, {"groups": 2})
case("group_norm.bare", {"X": rand(2, 6, 2, dtype="float64")}, {"groups": 3, "epsilon": 1e-3})
case("group_norm.channels_last", {"X": rand(1, 2, 3, 4), "Scale": rand(4, **positive), "Bias": rand(4)}, {"groups": 2, "data_layout": "NHWC"})
case("instance_norm.plain", {"X": rand(2, 3, 2, 2), **affine})
case("instance_norm.bare", {"X": rand(2, 2, 5, dtype="float64")}, {"epsilon": 1e-3})

for op in ("softmax", "log_softmax"):
    case(f"{op}.last", {"X": rand(3, 4)})
    case(f"{op}.middle", {"X": rand(2, 3, 2, dtype="float64")}, {"axis": 1})
    case(f"{op}.large", {"X": rand(2, 3, low=-20, high=30)})  # further apart Paddle clips at -64
case("softmax.scalar", {"X": rand()}, {"axis": -1})
case("log_softmax.first", {"X": rand(3, 2)}, {"axis": 0})
crossed = "softmax_with_cross_entropy"
label = values([[2], [0], [3]], "int64")
loss = {"targets": ("loss",)}


def distribution(rng):
    drawn = rng.uniform(0.1, 1, (3, 4))
    return (drawn / drawn.sum(1, keepdims=True)).astype("float32")


case(f"{crossed}.hard", {"Logits": rand(3, 4), "Label": label}, **loss)
case(f"{crossed}.soft", {"Logits": rand(3, 4), "Label": distribution}, {"soft_label": True}, constant=("label",), **loss)
case(f"{crossed}.ignored", {"Logits": rand(3, 4), "Label": label}, {"ignore_index": 0}, **loss)
case(f"{crossed}.ignored_negative", {"Logits": rand(3, 4), "Label": values([[2], [-100], [3]], "int64")}, **loss)
case(f"{crossed}.middle", {"Logits": rand(2, 3, 2, dtype="float64"), "Label": ints(2, 1, 2, high=3)}, {"axis": 1}, **loss)
case(f"{crossed}.int_label", {"Logits": rand(2, 3, low=-50, high=60), "Label": values([[1], [2]], "int32")}, **loss)
case(f"{crossed}.probabilities", {"Logits": distribution, "Label": label}, {"use_softmax": False}, **loss)
case(f"{crossed}.rank", {"Logits": rand(2, 2, 3), "Label": ints(2, 2, 1, high=3)}, {"axis": -1}, **loss)
case("cross_entropy2.plain", {"X": distribution, "Label": label})
case("cross_entropy2.ignored", {"X": distribution, "Label": label}, {"ignore_index": 0})
case("bce_loss.plain", {"X": rand(2, 3, low=0.05, high=0.95), "Label": values([[0, 1, 1], [1, 0, 0]])}, constant=("label",))
case("bce_loss.soft", {"X": rand(5, low=0.05, high=0.95, dtype="float64"), "Label": rand(5, low=0, high=1, dtype="float64")}, constant=("label",))
case("bce_loss.edges", {"X": values([0, 1, 0, 1]), "Label": values([0, 1, 1, 0])}, constant=("label",))
logits = "sigmoid_cross_entropy_with_logits"
case(f"{logits}.plain", {"X": rand(2, 3), "Label": rand(2, 3, low=0, high=1)}, constant=("label",))
case(f"{logits}.ignored", {"X": rand(2, 3), "Label": values([[0, 1, -1], [1, -1, 0]])}, {"ignore_index": -1}, constant=("label",))
case(f"{logits}.normalized", {"X": rand(2, 3), "Label": values([[0, 1, -1], [1, -1, 0]])}, {"ignore_index": -1, "normalize": True}, constant=("label",))
case(
    f"{logits}.weighted",
    {"X": rand(4, dtype="float64"), "Label": rand(4, low=0, high=1, dtype="float64"), "pos_weight": rand(4, dtype="float64", **positive)},
    constant=("label", "pos_weight"),
)
case(f"{logits}.large", {"X": values([-90, -20, 20, 90]), "Label": values([0, 1, 1, 0])}, constant=("label",))
case("huber_loss.plain", {"X": rand(4, 1), "Y": rand(4, 1)}, {"delta": 1.0})
case("huber_loss.narrow", {"X": rand(2, 3, dtype="float64"), "Y": rand(2, 3, dtype="float64")}, {"delta": 0.3})
case(
    "accuracy.plain",
    {"Out": rand(4, 2, low=0, high=1), "Indices": values([[1, 0], [2, 1], [0, 3], [3, 2]], "int64"), "Label": values([[0], [2], [1], [2]], "int64")},
    grad=False,
)
case("accuracy.one", {"Out": rand(3, 1), "Indices": values([[1], [2], [0]], "int64"), "Label": values([[1], [1], [0]], "int64")}, grad=False)


def recurrent(mode, layers, directions, length=3, batch=2, size=2, hidden=2, dtype="float32"):
    gates = {"LSTM": 4, "GRU": 3}.get(mode, 1)
    weights = []
    for layer in range(layers):
        width = size if layer == 0 else directions * hidden
        for _ in range(directions):
            weights += [rand(gates * hidden, width, low=-0.9, high=0.9, dtype=dtype), rand(gates * hidden, hidden, low=-0.9, high=0.9, dtype=dtype)]
    weights += [rand(gates * hidden, low=-0.5, high=0.5, dtype=dtype) for _ in range(2 * layers * directions)]
    states = [rand(layers * directions, batch, hidden, low=-0.8, high=0.8, dtype=dtype) for _ in range(2 if mode == "LSTM" else 1)]
    inputs = {"Input": rand(length, batch, size, dtype=dtype), "PreState": states, "WeightList": weights}
    attributes = {"mode": mode, "num_layers": layers, "is_bidirec": directions == 2, "input_size": size, "hidden_size": hidden}
    outputs = {"State": [f"state{i}" for i in range(len(states))], "DropoutState": "dropoutstate"}
    return inputs, attributes, outputs


for mode, layers, directions in (("LSTM", 1, 1), ("LSTM", 2, 2), ("GRU", 1, 1), ("GRU", 2, 2), ("RNN_TANH", 1, 2), ("RNN_RELU", 2, 1)):
    inputs, attributes, outputs = recurrent(mode, layers, directions)
    case(f"rnn.{mode.lower()}_{layers}_{directions}", inputs, attributes, outputs=outputs)
for mode in ("LSTM", "GRU"):
    inputs, attributes, outputs = recurrent(mode, 1, 2, length=4)
    inputs["SequenceLength"] = int32s(2, 4)
    case(f"rnn.{mode.lower()}_lengths", inputs, attributes, outputs=outputs)
inputs, attributes, outputs = recurrent("LSTM", 2, 1, dtype="float64")
case("rnn.lstm_test", inputs, {**attributes, "is_test": True}, outputs=outputs, grad=False)
inputs, attributes, outputs = recurrent("GRU", 2, 1)
case("rnn.gru_dropout", inputs, {**attributes, "dropout_prob": 0.4, "seed": 11}, outputs=outputs)
