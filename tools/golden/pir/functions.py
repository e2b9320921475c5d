"""Programs of one function of PaddlePaddle 3 each, saved as in `networks.py`.

    python functions.py OUT [PATTERN]
"""
import re
import sys
from pathlib import Path

import numpy as np
import paddle
import paddle.nn.functional as F

from networks import arrays

X = (2, 3, 4)
FUNCTIONS = {}


def case(name, function, *inputs):
    key = name
    while key in FUNCTIONS:
        key += "_"
    FUNCTIONS[key] = (function, inputs or (X,))


def positive(*shape):
    return (np.random.default_rng(3).uniform(0.1, 0.9, shape)).astype("float32")


def whole(high, *shape):
    return np.random.default_rng(4).integers(0, high, shape).astype("int64")


for _name in ("abs acos acosh_ asin asinh atan atanh_ ceil cos cosh erf exp expm1 floor round sin sinh square tan tanh sign neg "
              "isnan isinf isfinite logical_not trunc frac deg2rad rad2deg angle sigmoid ones_like zeros_like numel").split():
    if not _name.endswith("_"):
        case(_name, getattr(paddle, _name, None) or getattr(F, _name), positive(2, 3, 4))
for _name in "log log2 log10 log1p sqrt rsqrt reciprocal lgamma digamma erfinv logit i0 i1".split():
    case(_name, getattr(paddle, _name), positive(2, 3, 4))
for _name in ("relu relu6 elu selu celu gelu silu swish mish softplus softsign tanhshrink softshrink hardshrink hardtanh hardsigmoid hardswish leaky_relu "
              "log_sigmoid log_softmax softmax thresholded_relu glu normalize").split():
    case(_name, lambda x, f=getattr(F, _name): f(x), (2, 4, 6))
case("gelu_tanh", lambda x: F.gelu(x, approximate=True))
case("softplus_b", lambda x: F.softplus(x, beta=2, threshold=5))
case("elu_a", lambda x: F.elu(x, alpha=0.3))
case("leaky", lambda x: F.leaky_relu(x, 0.2))
case("prelu", lambda x, w: F.prelu(x, w), (2, 3, 4), positive(3))
case("maxout", lambda x: F.maxout(x, 2), (2, 4, 3, 3))
for _name in "add subtract multiply divide maximum minimum fmax fmin pow atan2 mod floor_divide".split():
    case(_name, lambda x, y, f=getattr(paddle, _name): f(x, y), positive(2, 3, 4), positive(3, 1))
for _name in "equal not_equal less_than less_equal greater_than greater_equal".split():
    case(_name, lambda x, y, f=getattr(paddle, _name): f(x, y), whole(3, 4, 5), whole(3, 4, 5))
for _name in "logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor".split():
    case(_name, lambda x, y, f=getattr(paddle, _name): f(x > 1, y > 1), whole(3, 4, 5), whole(3, 4, 5))
case("bitwise_not", paddle.bitwise_not, whole(9, 3, 4))
for _name in "sum mean max min prod amax amin all any logsumexp std var median nanmean norm".split():
    for _axis, _keep in ((None, False), (1, True), ([0, 2], False)):
        if _name == "median" and _axis != 1:
            continue
        case(f"{_name}_{str(_axis).strip('[]').replace(', ', '')}", lambda x, n=_name, a=_axis, k=_keep: getattr(paddle, n)(
            x > 0.4 if n in ("all", "any") else x, axis=a, keepdim=k), positive(2, 3, 4))
case("sum_int", lambda x: paddle.sum(x, axis=0, dtype="int32"), whole(5, 3, 4))
case("argmax", lambda x: (paddle.argmax(x, axis=1), paddle.argmin(x, axis=-1, keepdim=True), paddle.argmax(x)))
case("argsort", lambda x: (paddle.argsort(x, axis=1, descending=True), paddle.sort(x, axis=0)))
case("topk", lambda x: paddle.topk(x, 2, axis=-1))
case("topk_small", lambda x: paddle.topk(x, 2, axis=1, largest=False))
case("kthvalue", lambda x: paddle.kthvalue(x, 2, axis=1))
case("mode", lambda x: paddle.mode(x, axis=-1), whole(3, 3, 5).astype("float32"))
case("cumsum", lambda x: (paddle.cumsum(x, axis=1), paddle.cumsum(x)))
case("cumprod", lambda x: paddle.cumprod(x, dim=1))
case("cummax", lambda x: paddle.cummax(x, axis=1))
case("logcumsumexp", lambda x: paddle.logcumsumexp(x, axis=1))
case("reshape", lambda x: (x.reshape([0, -1]), x.reshape([4, 6]), paddle.flatten(x, 1)))
case("transpose", lambda x: (x.transpose([2, 0, 1]), paddle.t(x[0])))
case("squeeze", lambda x: (x.unsqueeze([0, 2]), x.unsqueeze(0).squeeze(0), paddle.squeeze(x.unsqueeze(1))))
case("concat", lambda x, y: (paddle.concat([x, y], axis=1), paddle.stack([x, y], axis=-1)), X, X)
case("split", lambda x: paddle.split(x, 2, axis=2))
case("split_sections", lambda x: paddle.split(x, [1, -1], axis=1))
case("chunk", lambda x: paddle.chunk(x, 3, axis=1))
case("unbind", lambda x: paddle.unbind(x, axis=1))
case("unstack", lambda x: paddle.unstack(x, axis=0))
case("slices", lambda x: (x[:, 1:], x[0], x[..., -1], x[:, ::2], x[:, None], x[1:, 1:2, :-1], x[:, ::-1]))
case("slice_tensor", lambda x, i: (x[i[0]:], x[:, i[0]]), (3, 4), np.array([1], "int64"))
case("index", lambda x, i: (x[i], paddle.index_select(x, i, axis=1), paddle.gather(x, i, axis=0)), (3, 4), np.array([2, 0, 1], "int64"))
case("mask", lambda x: (paddle.where(x > 0, x, x * 2), paddle.masked_fill(x, x > 0.5, 3.0)))
case("masked_select", lambda x: paddle.masked_select(x, x > 0))
case("nonzero", lambda x: paddle.nonzero(x > 0))
case("gather_nd", lambda x, i: paddle.gather_nd(x, i), (3, 4, 2), whole(2, 5, 2))
case("take_along_axis", lambda x, i: paddle.take_along_axis(x, i, axis=1), (3, 4), whole(4, 3, 2))
case("put_along_axis", lambda x, i: paddle.put_along_axis(x, i, 2.0, axis=1), (3, 4), np.array([[0], [2], [1]], "int64"))
case("scatter", lambda x, i, u: paddle.scatter(x, i, u), (4, 3), np.array([2, 0], "int64"), (2, 3))
case("scatter_nd_add", lambda x, i, u: paddle.scatter_nd_add(x, i, u), (4, 3), whole(4, 2, 1), (2, 3))
case("index_sample", lambda x, i: paddle.index_sample(x, i), (3, 4), whole(4, 3, 2))
case("index_add", lambda x, i, u: paddle.index_add(x, i, 0, u), (4, 3), np.array([2, 0], "int64"), (2, 3))
case("tile", lambda x: (paddle.tile(x, [2, 1, 3]), paddle.expand(x.unsqueeze(0), [5, 2, 3, 4])))
case("expand_as", lambda x, y: paddle.expand_as(x, y), (1, 4), (3, 4))
case("broadcast_to", lambda x: paddle.broadcast_to(x, [3, 2, 4]), (2, 4))
case("flip", lambda x: (paddle.flip(x, [0, 2]), paddle.roll(x, 1, 1)))
case("rot90", lambda x: paddle.rot90(x, 1, [0, 1]))
case("pads", lambda x: (F.pad(x, [1, 2], mode="reflect", data_format="NCL"), F.pad(x, [0, 0, 1, 1, 0, 2])))
case("pad2d", lambda x: (F.pad(x, [1, 1, 2, 0]), F.pad(x, [1, 1, 1, 1], mode="replicate")), (1, 2, 4, 4))
case("tril", lambda x: (paddle.tril(x), paddle.triu(x, 1)), (4, 4))
case("diag", lambda x: (paddle.diag(x), paddle.diagonal(x), paddle.trace(x)), (4, 4))
case("diag_embed", lambda x: F.diag_embed(x), (3, 4))
case("repeat_interleave", lambda x: paddle.repeat_interleave(x, 2, axis=1))
case("unique", lambda x: paddle.unique(x, return_inverse=True, return_counts=True), whole(4, 9))
case("unique_consecutive", lambda x: paddle.unique_consecutive(x), whole(2, 9))
case("one_hot", lambda x: F.one_hot(x, 5), whole(5, 3, 2))
case("embedding", lambda x, w: F.embedding(x, w, padding_idx=1), whole(5, 3, 2), (5, 4))
case("cast", lambda x: (x.astype("int32"), x.astype("float64"), x.astype("bool"), x.astype("float16").astype("float32")))
case("full", lambda x: (paddle.full([2, 3], 1.5), paddle.full_like(x, 2.0), paddle.arange(1, 7, 2), paddle.linspace(0, 1, 5), paddle.eye(3) + x[0, 0, 0]))
case("arange_float", lambda x: paddle.arange(0, x.shape[0], 0.5), (3, 4))
case("assign", lambda x: (paddle.assign(x), x + paddle.to_tensor([1.0, 2.0, 3.0, 4.0])))
case("meshgrid", lambda x, y: paddle.meshgrid(x, y), (3,), (4,))
case("clip", lambda x: (paddle.clip(x, -0.5, 0.5), paddle.clip(x, min=0.0)))
case("lerp", lambda x, y: paddle.lerp(x, y, 0.3), X, X)
case("scale", lambda x: (x * 2 + 1, 1 - x, x / 3, 2 / (x * x + 1), x ** 2, -x, paddle.scale(x, 2.0, 1.0, bias_after_scale=False)))
case("matmul", lambda x, y: (x.matmul(y), paddle.matmul(x, y.transpose([0, 2, 1]), transpose_y=True)), (2, 3, 4), (2, 4, 5))
case("linear", lambda x, w, b: F.linear(x, w, b), (2, 3, 4), (4, 5), (5,))
case("bmm", lambda x, y: paddle.bmm(x, y), (2, 3, 4), (2, 4, 5))
case("mv", lambda x, y: (paddle.mv(x, y), paddle.dot(y, y), paddle.outer(y, y)), (3, 4), (4,))
case("addmm", lambda z, x, y: paddle.addmm(z, x, y, beta=0.5, alpha=2.0), (3, 5), (3, 4), (4, 5))
case("einsum", lambda x, y: paddle.einsum("bij,bjk->bik", x, y), (2, 3, 4), (2, 4, 5))
case("kron", lambda x, y: paddle.kron(x, y), (2, 3), (3, 2))
case("cross", lambda x, y: paddle.cross(x, y, axis=1), (2, 3), (2, 3))
case("dist", lambda x, y: (paddle.dist(x, y, 2), paddle.cdist(x, y)), (3, 4), (3, 4))
case("inverse", lambda x: (paddle.inverse(x + 4 * paddle.eye(4)), paddle.linalg.det(x)), (4, 4))
case("cholesky", lambda x: paddle.linalg.cholesky(x.matmul(x.t()) + paddle.eye(4)), (4, 4))
case("solve", lambda x, y: paddle.linalg.solve(x + 4 * paddle.eye(4), y), (4, 4), (4, 2))
case("triangular_solve", lambda x, y: paddle.linalg.triangular_solve(x + 4 * paddle.eye(4), y), (4, 4), (4, 2))
case("matrix_power", lambda x: paddle.linalg.matrix_power(x, 3), (4, 4))
case("norms", lambda x: (paddle.linalg.norm(x, p=1, axis=1), paddle.linalg.norm(x, p=np.inf, axis=1), paddle.linalg.norm(x, p="fro", axis=[0, 1])), (3, 4))
case("add_n", lambda x, y: paddle.add_n([x, y, x]), X, X)
case("increment", lambda x: paddle.increment(x.sum().reshape([1]), 2.0))
case("conv1d", lambda x, w: F.conv1d(x, w, stride=2, padding=1), (2, 3, 9), (4, 3, 3))
case("conv2d", lambda x, w, b: F.conv2d(x, w, b, stride=[2, 1], padding=[1, 2], dilation=[1, 2]), (2, 4, 9, 9), (6, 4, 3, 3), (6,))
case("conv2d_groups", lambda x, w: F.conv2d(x, w, padding="SAME", groups=2), (2, 4, 7, 7), (6, 2, 3, 3))
case("conv2d_depthwise", lambda x, w: F.conv2d(x, w, padding="VALID", groups=4), (2, 4, 7, 7), (8, 1, 3, 3))
case("conv3d", lambda x, w: F.conv3d(x, w, padding=1), (1, 2, 5, 5, 5), (3, 2, 3, 3, 3))
case("conv2d_transpose", lambda x, w: (F.conv2d_transpose(x, w, stride=2, padding=1, output_padding=1), F.conv2d_transpose(x, w, stride=2, output_size=[11, 11])), (1, 3, 5, 5), (3, 4, 3, 3))
case("conv2d_transpose_depth", lambda x, w: F.conv2d_transpose(x, w, stride=2, groups=3), (1, 3, 5, 5), (3, 1, 3, 3))
case("conv1d_transpose", lambda x, w: F.conv1d_transpose(x, w, stride=2), (1, 3, 5), (3, 4, 3))
case("max_pool", lambda x: (F.max_pool2d(x, 2), F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1, exclusive=False)), (1, 3, 8, 9))
case("adaptive_pool", lambda x: (F.adaptive_avg_pool2d(x, [3, 2]), F.adaptive_max_pool2d(x, 2), F.adaptive_avg_pool2d(x, 1)), (1, 3, 8, 9))
case("pool1d", lambda x: (F.max_pool1d(x, 2), F.avg_pool1d(x, 3, 2), F.adaptive_avg_pool1d(x, 2)), (1, 3, 8))
case("pool3d", lambda x: (F.max_pool3d(x, 2), F.avg_pool3d(x, 2)), (1, 2, 4, 4, 4))
case("max_pool_index", lambda x: F.max_pool2d(x, 2, return_mask=True), (1, 3, 8, 8))
case("batch_norm", lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b), (2, 3, 4, 4), positive(3), positive(3), positive(3), positive(3))
case("layer_norm", lambda x, w, b: (F.layer_norm(x, [4], w, b), F.layer_norm(x, [3, 4])), (2, 3, 4), (4,), (4,))
case("group_norm", lambda x: paddle.nn.GroupNorm(2, 4)(x), (2, 4, 3, 3))
case("instance_norm", lambda x: F.instance_norm(x), (2, 4, 3, 3))
case("rms_norm", lambda x: x * paddle.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6))
case("local_response_norm", lambda x: F.local_response_norm(x, 3), (2, 4, 3, 3))
for _mode in "nearest bilinear bicubic".split():
    case("interp_" + _mode, lambda x, m=_mode: (F.interpolate(x, size=[7, 5], mode=m), F.interpolate(x, scale_factor=1.5, mode=m)), (1, 2, 4, 4))
case("interp_corners", lambda x: (F.interpolate(x, size=[7, 5], mode="bilinear", align_corners=True), F.interpolate(x, size=[7, 5], mode="bilinear", align_mode=1)), (1, 2, 4, 4))
case("interp_linear", lambda x: F.interpolate(x, size=[7], mode="linear", data_format="NCW"), (1, 2, 4))
case("interp_trilinear", lambda x: F.interpolate(x, size=[3, 4, 5], mode="trilinear", data_format="NCDHW"), (1, 2, 4, 4, 4))
case("interp_shape", lambda x, y: F.interpolate(x, size=paddle.shape(y)[2:], mode="nearest"), (1, 2, 4, 4), (1, 2, 9, 8))
case("pixel_shuffle", lambda x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2), F.channel_shuffle(x, 2)), (1, 4, 4, 4))
case("grid_sample", lambda x, g: F.grid_sample(x, g), (1, 2, 4, 4), (1, 3, 3, 2))
case("affine_grid", lambda t: F.affine_grid(t, [1, 2, 4, 5]), (1, 2, 3))
case("unfold", lambda x: F.unfold(x, 3, 1, 1), (1, 2, 5, 5))
case("fold", lambda x: F.fold(x, [4, 4], 2, 2), (1, 8, 4))
case("dropout", lambda x: (F.dropout(x, 0.5, training=False), F.dropout(x, 0.3, training=False, mode="downscale_in_infer")))
case("losses", lambda x, y: (F.mse_loss(x, y), F.l1_loss(x, y), F.smooth_l1_loss(x, y), F.kl_div(x, y)), positive(3, 4), positive(3, 4))
case("bce", lambda x, y: (F.binary_cross_entropy(x, y), F.binary_cross_entropy_with_logits(x, y)), positive(3, 4), positive(3, 4))
case("cross_entropy", lambda x, y: F.cross_entropy(x, y), (3, 4), whole(4, 3))
case("nll_loss", lambda x, y: F.nll_loss(F.log_softmax(x), y), (3, 4), whole(4, 3))
case("cosine_similarity", lambda x, y: F.cosine_similarity(x, y), (3, 4), (3, 4))
case("label_smooth", lambda x: F.label_smooth(x), positive(3, 4))
case("attention", lambda q, k, v: F.scaled_dot_product_attention(q, k, v), (2, 5, 2, 4), (2, 5, 2, 4), (2, 5, 2, 4))
case("sequence_mask", lambda x: F.sequence_mask(x, maxlen=6, dtype="int64"), whole(5, 4))
case("searchsorted", lambda x, y: paddle.searchsorted(x, y), np.array([0.1, 0.5, 0.9], "float32"), positive(4))
case("bincount", lambda x: paddle.bincount(x, minlength=6), whole(5, 9))
case("histogram", lambda x: paddle.histogram(x, 4, 0, 1), positive(9))
case("shapes", lambda x: (paddle.shape(x), paddle.numel(x), x.reshape([x.shape[0] * x.shape[1], -1]), paddle.zeros([x.shape[0], 2]) + 1))
case("temporal_shift", lambda x: F.temporal_shift(x, 2, 0.25), (4, 4, 3, 3))
case("roi_align", lambda x, b, n: paddle.vision.ops.roi_align(x, b, n, 3), (1, 2, 8, 8), np.array([[0, 0, 4, 4], [1, 2, 7, 6]], "float32"), np.array([2], "int32"))
case("nms", lambda b: paddle.vision.ops.nms(b, 0.4), np.array([[0, 0, 4, 4], [0, 0, 4, 5], [5, 5, 9, 9]], "float32"))
case("yolo_box", lambda x, s: paddle.vision.ops.yolo_box(x, s, [10, 13, 16, 30], 2, 0.01, 8), (1, 14, 4, 4), np.array([[32, 32]], "int32"))
case("prior_box", lambda x, y: paddle.vision.ops.prior_box(x, y, [4.0], [8.0], [2.0], flip=True), (1, 2, 4, 4), (1, 3, 32, 32))
case("box_coder", lambda p, v, t: paddle.vision.ops.box_coder(p, v, t, "encode_center_size"), np.array([[0, 0, 4, 4], [1, 2, 7, 6]], "float32"), positive(2, 4), np.array([[0, 1, 4, 4], [1, 3, 7, 6]], "float32"))
case("multi", lambda x, y: (x + y, x - y, (x + y) * (x - y)), X, X)
case("inplace", lambda x: F.relu_(x + 1).add_(x).scale_(2.0).clip_(0, 3))
case("setitem", lambda x: _set(x))
case("complex", lambda x: paddle.real(paddle.fft.fft(x)), (4, 8))
case("rfft", lambda x: paddle.abs(paddle.fft.rfft(x)), (4, 8))
case("logic", lambda x: (paddle.allclose(x, x), paddle.isclose(x, x), paddle.equal_all(x, x), paddle.is_empty(x)))
case("int_math", lambda x, y: (x + y, x * 2, x // 2, x % 3, x - y), whole(9, 4, 5), whole(9, 4, 5))
case("heaviside", lambda x, y: paddle.heaviside(x, y), X, X)
case("nan_to_num", lambda x: paddle.nan_to_num(x / (x - x)), X)
case("stanh", lambda x: (paddle.stanh(x), paddle.multiplex([x, x * 2], paddle.to_tensor([[1], [0]], "int32"))), (2, 3))
case("shard", lambda x: paddle.shard_index(x, 20, 2, 0, -1), whole(20, 4, 1))
case("renorm", lambda x: paddle.renorm(x, 2.0, 0, 1.0))
case("moveaxis", lambda x: (paddle.moveaxis(x, 0, 2), paddle.swapaxes(x, 0, 1), paddle.as_real(paddle.as_complex(x.reshape([2, 6, 2])))))
case("unsqueeze_dynamic", lambda x: x.reshape([-1, x.shape[1] * x.shape[2]]).unsqueeze(1), (None, 3, 4)[1:] and (2, 3, 4))
case("strided", lambda x: (x[:, 1::2, ::3], paddle.strided_slice(x, [0, 2], [0, 3], [2, 0], [1, -2])))
case("view", lambda x: (x.view([6, 4]), paddle.crop(x, [1, 2, 3], [1, 0, 1])))
case("quantile", lambda x: paddle.quantile(x, 0.5, axis=1))
case("diff", lambda x: (paddle.diff(x), paddle.trapezoid(x)))


def _set(x):
    y = x * 1
    y[:, 0] = 3.0
    y[0, 1:] = y[1, 1:] * 2
    return y


def save(name, function, inputs, out, dynamic):
    """A static program, since Python code is not read again for it as for `jit.save`."""
    random = np.random.default_rng(sum(map(ord, name)))
    given = list(arrays(inputs, random))
    names = [f"x{i}" for i in range(len(given))]
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.static.scope_guard(paddle.static.Scope()):
        feeds = [paddle.static.data(n, [None if dynamic and a.ndim > 1 and i == 0 else d for i, d in enumerate(a.shape)], str(a.dtype))
                 for n, a in zip(names, given)]
        results = function(*feeds)
        results = [r for r in (results if isinstance(results, (tuple, list)) else (results,)) if r is not None]
        executor = paddle.static.Executor(paddle.CPUPlace())
        executor.run(startup)
        paddle.static.save_inference_model(str(out / name), feeds, results, executor, program=main)
        program, _, fetches = paddle.static.load_inference_model(str(out / name), executor)
        values = executor.run(program, feed=dict(zip(names, given)), fetch_list=fetches)
    np.savez(out / f"{name}.npz", **{"in/" + n: a for n, a in zip(names, given)},
             **{f"out/fetch_name_{i}": np.asarray(v) for i, v in enumerate(values)})


def main():
    paddle.enable_static()
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, (function, inputs) in FUNCTIONS.items():
        if not re.search(sys.argv[2] if len(sys.argv) > 2 else "", name):
            continue
        for kind, dynamic in (("", False), ("_dynamic", True)):
            if name + kind == "unstack_dynamic":
                continue  # It ends Paddle 3.3.1's process.
            try:
                save(name + kind, function, inputs, out, dynamic)
            except Exception as error:
                print("FAILED", name + kind, str(error).strip().splitlines()[-1][:200])


if __name__ == "__main__":
    main()
