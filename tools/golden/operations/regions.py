"""Makes graph/src/test/resources/golden/operations-regions.npz: regions of images and what is made of them, convolutions with offsets, and rarer
operations on images, in the entry format of operations.py, which see. Run from the root of the repository:
`python tools/golden/operations/regions.py`. Made with PaddlePaddle 2.6.2 (CPU) and NumPy 1.26.
"""
import sys
from pathlib import Path

import cases
import numpy as np
from cases import case, drawn, int32s, ints, longs, rand, unknown, values

OUTPUT = Path("graph/src/test/resources/golden/operations-regions.npz")


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def boxes(rng, count, height, width, dtype="float32", outside=0.2, scale=1.0):
    """Regions of an image, some of which extend beyond it."""
    low = np.array([-outside * width, -outside * height] * 2)
    high = np.array([(1 + outside) * width, (1 + outside) * height] * 2)
    points = rng.uniform(low, high, (count, 4)) / scale
    return np.concatenate([np.minimum(points[:, :2], points[:, 2:]), np.maximum(points[:, :2], points[:, 2:])], 1).astype(dtype)


def counts(rng, total, batch):
    cuts = np.sort(rng.integers(0, total + 1, batch - 1))
    return np.diff(np.concatenate([[0], cuts, [total]])).astype("int32")


def images_and_regions(rng, channels=None):
    dtype = pick(rng, "float32", "float32", "float64")
    batch, channels = int(rng.integers(1, 4)), channels or int(rng.integers(1, 4))
    height, width = (int(n) for n in rng.integers(3, 9, 2))
    scale = pick(rng, 1.0, 0.5, 0.25)
    total = int(rng.integers(1, 6))
    inputs = {
        "X": rand(batch, channels, height, width, dtype=dtype),
        "ROIs": boxes(rng, total, height, width, dtype, scale=scale),
        "RoisNum": counts(rng, total, batch),
    }
    return inputs, {"spatial_scale": scale, "pooled_height": int(rng.integers(1, 4)), "pooled_width": int(rng.integers(1, 4))}


FIXED = {"constant": ("rois",)}
TWO = values([[0.5, 1, 4.2, 3], [1, 0, 3, 3.5], [-1, -2, 8, 9]])


def draw_roi_align(rng):
    inputs, attributes = images_and_regions(rng)
    # Paddle's gradient takes regions that are smaller than an element for larger ones.
    inputs["ROIs"][:, 2:] = np.maximum(inputs["ROIs"][:, 2:], inputs["ROIs"][:, :2] + 1.01 / attributes["spatial_scale"])
    return inputs, {**attributes, "sampling_ratio": pick(rng, -1, 0, 1, 2, 3), "aligned": bool(rng.integers(2))}, FIXED


drawn("roi_align", draw_roi_align)
TWO_INPUTS = {"X": rand(2, 2, 4, 5), "ROIs": TWO, "RoisNum": int32s(1, 2)}
case("roi_align.plain", TWO_INPUTS, {"pooled_height": 2, "pooled_width": 3}, **FIXED)
case("roi_align.aligned", TWO_INPUTS, {"pooled_height": 2, "pooled_width": 2, "aligned": True, "spatial_scale": 0.5}, **FIXED)
case("roi_align.small", {"X": rand(1, 1, 3, 3), "ROIs": values([[0.5, 1, 1.2, 2.7]]), "RoisNum": int32s(1)}, {"aligned": True}, **FIXED)
case("roi_align.image_without", {**TWO_INPUTS, "RoisNum": int32s(0, 3)}, {"sampling_ratio": 2}, **FIXED)
case("roi_align.outside", {"X": rand(1, 1, 3, 3), "ROIs": values([[-9, -9, -4, -4], [2.9, 2.9, 3, 3], [-1, -1, -1, -1], [3, 3, 9, 9]]), "RoisNum": int32s(4)}, {"pooled_height": 2, "pooled_width": 2, "sampling_ratio": 2}, **FIXED)
case("roi_align.one_element", {"X": rand(1, 2, 1, 1), "ROIs": values([[0, 0, 1, 1]]), "RoisNum": int32s(1)}, {"pooled_height": 2, "pooled_width": 2}, **FIXED)
case("roi_align.empty", {"X": rand(2, 1, 3, 3), "ROIs": rand(0, 4), "RoisNum": int32s(0, 0)}, {"pooled_height": 2}, grad=False, **FIXED)
case("roi_align.no_samples", {"X": rand(1, 1, 3, 3), "ROIs": values([[1, 1, 1, 2]]), "RoisNum": int32s(1)}, {"pooled_width": 2, "aligned": True}, **FIXED)
unknown("roi_align.unknown", TWO_INPUTS, {"pooled_height": 2}, {"x": (0, 2, 3), "rois": (0,), "roisnum": (0,)}, **FIXED)


def draw_roi_pool(rng):
    return (*images_and_regions(rng), FIXED)


drawn("roi_pool", draw_roi_pool)
case("roi_pool.plain", TWO_INPUTS, {"pooled_height": 2, "pooled_width": 2}, **FIXED)
case("roi_pool.half", {"X": rand(1, 1, 4, 4), "ROIs": values([[0.5, 1.5, 2.5, 3.5], [3, 3, 1, 1], [9, 9, 12, 12]]), "RoisNum": int32s(3)}, {"pooled_height": 2, "pooled_width": 3}, **FIXED)
case("roi_pool.special", {"X": values([[[[np.nan, -np.inf], [np.nan, np.nan]], [[np.inf, 1], [2, np.nan]]]]), "ROIs": values([[0, 0, 1, 1]]), "RoisNum": int32s(1)}, grad=False, **FIXED)
unknown("roi_pool.unknown", TWO_INPUTS, {"pooled_width": 2}, {"x": (0, 2, 3), "rois": (0,), "roisnum": (0,)}, **FIXED)


def draw_psroi_pool(rng):
    rows, columns, channels = (int(n) for n in rng.integers(1, 4, 3) + [0, 0, 1])
    inputs, attributes = images_and_regions(rng, rows * columns * channels)
    return inputs, {**attributes, "pooled_height": rows, "pooled_width": columns, "output_channels": channels}, FIXED


drawn("psroi_pool", draw_psroi_pool)
case("psroi_pool.half", {"X": rand(1, 8, 4, 4), "ROIs": values([[0.5, 1.5, 2.5, 3.5], [3, 3, 1, 1], [9, 9, 12, 12]]), "RoisNum": int32s(3)}, {"pooled_height": 2, "pooled_width": 2, "output_channels": 2}, **FIXED)
unknown("psroi_pool.unknown", {**TWO_INPUTS, "X": rand(2, 4, 4, 5)}, {"pooled_width": 2, "output_channels": 2}, {"x": (0, 2, 3), "rois": (0,), "roisnum": (0,)}, **FIXED)


def convolution(rng, masked):
    dtype = pick(rng, "float32", "float64")
    deformable, groups = pick(rng, (1, 1), (2, 1), (1, 2), (2, 2))
    batch, channels, results = int(rng.integers(1, 3)), 2 * int(rng.integers(1, 3)), groups * deformable * int(rng.integers(1, 3))
    kernel, size = rng.integers(1, 4, 2), rng.integers(3, 7, 2)
    strides, dilations, paddings = rng.integers(1, 3, 2), rng.integers(1, 3, 2), rng.integers(0, 3, 2)
    extent = dilations * (kernel - 1) + 1
    paddings = np.maximum(paddings, (extent - size + 1) // 2)
    places = (size + 2 * paddings - extent) // strides + 1
    inputs = {
        "Input": rand(batch, channels, *size, dtype=dtype),
        "Offset": rand(batch, deformable * 2 * int(np.prod(kernel)), *places, dtype=dtype),
        "Filter": rand(results, channels // groups, *kernel, dtype=dtype),
    }
    if masked:
        inputs["Mask"] = rand(batch, deformable * int(np.prod(kernel)), *places, low=0, high=1, dtype=dtype)
    names = {"strides": strides, "dilations": dilations, "paddings": paddings}
    # With another im2col_step, Paddle's gradients mix the images of a step, or are 0.
    return inputs, {"im2col_step": 1, "deformable_groups": deformable, "groups": groups, **{k: [int(n) for n in v] for k, v in names.items()}}


drawn("deformable_conv", lambda rng: convolution(rng, True))
drawn("deformable_conv_v1", lambda rng: convolution(rng, False))
WHOLE = {"Input": rand(1, 2, 4, 3), "Offset": ints(1, 8, 3, 2, low=-2, high=3, dtype="float32"), "Filter": rand(3, 2, 2, 2), "Mask": rand(1, 4, 3, 2)}
ONE = {"im2col_step": 1}
case("deformable_conv.whole_offsets", WHOLE, ONE)
case("deformable_conv.large_step", WHOLE, {"im2col_step": 64}, grad=False)
case("deformable_conv.far", {**WHOLE, "Offset": values(np.tile([[[[-9.0]], [[9e9]], [[0.5]], [[-0.5]]]], (1, 2, 3, 2)))}, ONE)
unknown("deformable_conv.unknown", WHOLE, ONE, {"input": (0, 2), "offset": (0, 2), "mask": (0, 2)})
unknown("deformable_conv_v1.unknown", {k: v for k, v in WHOLE.items() if k != "Mask"}, ONE, {"input": (0, 2, 3), "offset": (0, 2, 3)})

DIVIDED = {"rois": [[0, 1, 3]]}
TWO_DIVIDED = {k: v for k, v in TWO_INPUTS.items() if k != "RoisNum"}
case("roi_align.offsets", TWO_DIVIDED, {"pooled_width": 2}, lod=DIVIDED, **FIXED)
case("roi_pool.offsets", TWO_DIVIDED, {"pooled_width": 2}, lod=DIVIDED, **FIXED)
case("psroi_pool.offsets", {**TWO_DIVIDED, "X": rand(2, 4, 4, 5)}, {"pooled_width": 2, "output_channels": 2}, lod=DIVIDED, **FIXED)


def draw_deformable_pooling(rng):
    rows, columns = (int(n) for n in rng.integers(1, 4, 2))
    classes, group = int(rng.integers(1, 3)), [int(n) for n in rng.integers(1, 3, 2)]
    channels = classes * int(rng.integers(1, 3))
    inputs, attributes = images_and_regions(rng, channels * group[0] * group[1])
    total, dtype = inputs["ROIs"].shape[0], inputs["ROIs"].dtype.name
    # In its gradient, Paddle takes the height of the parts for their width.
    part = [int(rng.integers(1, min(rows, columns) + 1))] * 2
    starts = np.cumsum(np.concatenate([[0], inputs.pop("RoisNum")]))
    inputs = {"Input": inputs.pop("X"), **inputs, "Trans": rand(total, 2 * classes, *part, low=-1, high=1, dtype=dtype)}
    attributes.update(pooled_height=rows, pooled_width=columns, output_dim=channels, group_size=group, part_size=part)
    attributes.update(no_trans=bool(rng.integers(4) == 0), sample_per_part=int(rng.integers(1, 4)), trans_std=pick(rng, 0.1, 0.5))
    return inputs, attributes, {"lod": {"rois": [[int(n) for n in starts]]}, **FIXED}


drawn("deformable_psroi_pooling", draw_deformable_pooling)


def draw_unpool(spatial):
    def draw(rng):
        batch, channels = (int(n) for n in rng.integers(1, 3, 2))
        size, out = rng.integers(1, 4, spatial), rng.integers(3, 6, spatial)
        places = np.stack([np.stack([rng.permutation(np.prod(out))[: np.prod(size)] for _ in range(channels)]) for _ in range(batch)])
        indices = places.reshape(batch, channels, *size).astype("int32")
        inputs = {"X": rand(batch, channels, *size, dtype=pick(rng, "float32", "float64")), "Indices": indices}
        type = {"unpooling_type": "max"} if spatial == 2 else {}
        return inputs, {"ksize": [2] * spatial, "strides": [2] * spatial, "output_size": [int(n) for n in out], **type}

    return draw


drawn("unpool", draw_unpool(2))
drawn("unpool3d", draw_unpool(3))
UNPOOL = {"ksize": [2, 2], "unpooling_type": "max", "output_size": [3, 4]}
case("unpool.repeated", {"X": rand(1, 1, 2, 2), "Indices": values([[[[5, 5], [0, 11]]]], "int32")}, UNPOOL)
unknown("unpool.unknown", {"X": rand(1, 1, 2, 2), "Indices": values([[[[5, 4], [0, 11]]]], "int32")}, UNPOOL, {"x": (0, 2), "indices": (0, 2)})


def draw_spp(rng):
    batch, channels = (int(n) for n in rng.integers(1, 3, 2))
    levels = int(rng.integers(1, 4))
    # Bins that lie in the padding altogether are left to a case of their own.
    size = [int(n) * 2 ** (levels - 1) - int(rng.integers(2)) * (n > 1) for n in rng.integers(1, 4, 2)]
    type = pick(rng, "max", "avg")
    # Factors of the gradients of float64 averages are rounded to float32.
    return {"X": rand(batch, channels, *size, dtype=pick(rng, "float32", "float64") if type == "max" else "float32")}, {"pyramid_height": levels, "pooling_type": type}


drawn("spp", draw_spp)
case("spp.padding", {"X": rand(1, 2, 5, 3)}, {"pyramid_height": 3, "pooling_type": "max"}, grad=False)
case("spp.padding_mean", {"X": rand(1, 1, 5, 3)}, {"pyramid_height": 3, "pooling_type": "avg"}, grad=False)
unknown("spp.unknown", {"X": rand(2, 2, 4, 4)}, {"pyramid_height": 2, "pooling_type": "max"}, {"x": (0,)})


def draw_lrn(rng):
    attributes = {"n": int(2 * rng.integers(0, 4) + 1), "k": float(rng.uniform(0.5, 3)), "alpha": float(rng.uniform(0.01, 1)), "beta": float(rng.uniform(0.2, 1.5))}
    return {"X": rand(*(int(n) for n in rng.integers(1, 5, 4)))}, {**attributes, "data_format": pick(rng, "AnyLayout", "NCHW", "NHWC")}


drawn("lrn", draw_lrn)
ROWS = {"lod": {"x": [[0, 1, 2]]}}
case("lrn.plain", {"X": rand(2, 7, 3, 2)}, **ROWS)
unknown("lrn.unknown", {"X": rand(2, 3, 1, 2)}, {}, {"x": (0, 2)})


def draw_shuffle(rng):
    group = int(rng.integers(1, 4))
    shape = int(rng.integers(1, 3)), group * int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    # Of float64, Paddle copies the first half of the elements; and it moves gradients as it moves elements, which is right for as many groups as channels
    # in a group.
    return {"X": rand(*shape)}, {"group": group}, {"grad": group * group == shape[1]}


drawn("shuffle_channel", draw_shuffle)
case("shuffle_channel.gradient", {"X": rand(1, 6, 1, 1)}, {"group": 2})
unknown("shuffle_channel.unknown", {"X": rand(2, 4, 1, 2)}, {"group": 2}, {"x": (0, 2)}, **ROWS)


def draw_affine(rng):
    shape = [int(n) for n in rng.integers(2, 5, pick(rng, 2, 4, 4))]
    layout = pick(rng, "AnyLayout", "NCHW", "NHWC")
    channels, dtype = shape[1 if layout == "NCHW" else -1], pick(rng, "float32", "float64")
    return {"X": rand(*shape, dtype=dtype), "Scale": rand(channels, dtype=dtype), "Bias": rand(channels, dtype=dtype)}, {"data_layout": layout}


drawn("affine_channel", draw_affine)
unknown("affine_channel.unknown", {"X": rand(2, 3, 1, 2), "Scale": rand(3), "Bias": rand(3)}, {"data_layout": "NCHW"}, {"x": (0, 2)}, **ROWS)


def draw_fsp(rng):
    batch, one, other, height, width = (int(n) for n in rng.integers(1, 5, 5))
    dtype = pick(rng, "float32", "float64")
    return {"X": rand(batch, one, height, width, dtype=dtype), "Y": rand(batch, other, height, width, dtype=dtype)}, {}


drawn("fsp", draw_fsp)
unknown("fsp.unknown", {"X": rand(2, 2, 3, 2), "Y": rand(2, 4, 3, 2)}, {}, {"x": (0, 2), "y": (0, 2)}, **ROWS)


def draw_focus(rng):
    shape, axis = [int(n) for n in rng.integers(1, 5, 4)], int(rng.integers(1, 4))
    return {"X": rand(*shape, dtype=pick(rng, "float32", "float64"))}, {"axis": axis, "indexes": [int(n) for n in rng.integers(0, shape[axis], 2)]}


drawn("similarity_focus", draw_focus)


def draw_crop(rng):
    shape = rng.integers(1, 5, rng.integers(1, 5))
    size = np.array([rng.integers(1, n + 1) for n in shape])
    offsets = np.array([rng.integers(0, n - m + 1) for n, m in zip(shape, size)])
    dtype = pick(rng, "float32", "float64")
    inputs, attributes = {"X": rand(*shape, dtype=dtype)}, {}
    if rng.integers(2):
        inputs["Y"] = rand(*size, dtype=dtype)
    else:
        attributes["shape"] = [int(n) for n in size]
    if rng.integers(2):
        inputs["Offsets"] = offsets.astype("int32")
    else:
        attributes["offsets"] = [int(n) for n in offsets]
    return inputs, attributes, {"constant": ("y",)}


drawn("crop", draw_crop)
unknown("crop.unknown", {"X": rand(3, 4)}, {"shape": [-1, 2], "offsets": [0, 1]}, {"x": (0,)}, lod={"x": [[0, 1, 3]]})
unknown("crop.unknown_offsets", {"X": rand(3, 4), "Y": rand(2, 2), "Offsets": int32s(1, 2)}, {}, {"x": (0,), "y": (0,)}, constant=("y",))


def draw_resize(method, rank):
    def draw(rng):
        dtype, layout = pick(rng, "float32", "float64"), pick(rng, "NCHW", "NHWC")
        batch, channels = (int(n) for n in rng.integers(1, 3, 2))
        size, out = rng.integers(1, 6, rank), [int(n) for n in rng.integers(1, 9, rank)]
        shape = (batch, channels, *size) if layout == "NCHW" else (batch, *size, channels)
        inputs, attributes = {"X": rand(*shape, dtype=dtype)}, {}
        how = pick(rng, "attribute", "scale", "OutSize", "SizeTensor", "Scale")
        if how == "scale":
            attributes["scale"] = float(pick(rng, 2.0, 1.5, 3.3))
        elif how == "OutSize":
            inputs["OutSize"] = np.asarray(out, "int32")
        elif how == "SizeTensor":
            inputs["SizeTensor"] = [np.asarray([n], "int32") for n in out]
        elif how == "Scale":
            inputs["Scale"] = np.asarray([pick(rng, 2.0, 1.7)], "float32")
        attributes.update({f"out_{axis}": n for axis, n in zip("dhw"[3 - rank :], out)})
        attributes.update(interp_method=method, align_corners=bool(rng.integers(2)), align_mode=int(rng.integers(2)), data_layout=layout)
        return inputs, attributes, {"constant": ("scale",)}

    return draw


for method, rank in {"linear": 1, "bilinear": 2, "nearest": 2, "bicubic": 2, "trilinear": 3}.items():
    drawn(f"{method}_interp", draw_resize(method, rank))
    sizes = {"x": tuple(range(2, 2 + rank))}
    unknown(f"{method}_interp.unknown", {"X": rand(1, 1, *[3] * rank)}, {"interp_method": method, "scale": 2.0}, sizes)
unknown("bilinear_interp.unknown_size", {"X": rand(2, 1, 3, 2), "OutSize": int32s(4, 5)}, {"out_h": -1, "out_w": -1}, {"x": (0,)})
unknown("nearest_interp.unknown_scale", {"X": rand(1, 1, 3, 2), "Scale": values([2])}, {"interp_method": "nearest"}, {"x": (0,)}, constant=("scale",))


if __name__ == "__main__":
    sys.exit(cases.write(OUTPUT, sys.argv[1:]))
