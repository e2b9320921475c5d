package io.seriatim.graph.ops;

import io.seriatim.tensor.DType;
import org.junit.jupiter.api.Test;

/** The arguments that convolutions, poolings, normalisations and interpolations refuse, and the messages. */
class NetworkOperationsTest {
    private static final DType F = DType.FLOAT32;

    private static OneOperation convolution(String type, long... filter) {
        return new OneOperation(type).in("Input", F, 2, 4, 5, 6).in("Filter", F, filter).out("Output");
    }

    @Test
    void convolutionsRefuse() {
        convolution("conv2d", 3, 2, 3, 3)
                .isRefused("Input's channels (4) must be the groups (1) times dimension 1 of Filter (2)");
        convolution("conv2d", 3, 2, 3, 3).attr("groups", 2)
                .isRefused("dimension 0 of Filter (3) must be a multiple of the groups (2)");
        convolution("conv2d", 3, 4, 3, 3).attr("groups", 0).isRefused("'groups' must be 1 or more, but is 0");
        convolution("conv2d", 3, 4, 3).isRefused("the same number of dimensions", "4 and 3");
        convolution("conv2d", 3, 4, 7, 3).isRefused("a kernel of 7 does not fit into the spatial dimension 5");
        convolution("conv2d", 3, 4, 3, 3).attr("dilations", new int[]{3, 1}).isRefused("a kernel of 3 does not fit");
        convolution("conv2d", 3, 4, 3, 3).attr("strides", new int[]{1, 0})
                .isRefused("'strides' must have 2 numbers from 1 on, but is [1, 0]");
        convolution("conv2d", 3, 4, 3, 3).attr("dilations", new int[]{1})
                .isRefused("'dilations' must have 2 numbers from 1 on, but is [1]");
        convolution("conv2d", 3, 4, 3, 3).attr("paddings", new int[]{1, 0, 0})
                .isRefused("'paddings' must have 2 or 4 numbers, but is [1, 0, 0]");
        convolution("conv2d", 3, 4, 3, 3).attr("paddings", new int[]{-1, 0})
                .isRefused("'paddings' must have numbers from 0 on, but is [-1, 0]");
        convolution("conv2d", 3, 4, 3, 3).attr("padding_algorithm", "FULL")
                .isRefused("must be EXPLICIT, SAME, SAME_UPPER, SAME_LOWER or VALID, but is 'FULL'");
        new OneOperation("conv2d").in("Input", F, 2, 4, 5, 6).in("Filter", DType.FLOAT64, 3, 4, 3, 3).out("Output")
                .isRefused("one type",
                        "float64");
    }

    @Test
    void transposedConvolutionsRefuse() {
        convolution("conv2d_transpose", 3, 2, 3, 3).isRefused("Input's channels (4) must be dimension 0 of Filter (3)");
        convolution("conv2d_transpose", 4, 2, 3, 3).attr("groups", 3).isRefused("a multiple of the groups (3)");
        convolution("conv2d_transpose", 4, 2, 3, 3).attr("strides", new int[]{2, 2})
                .attr("output_padding", new int[]{2, 0})
                .isRefused("from 11 to 12, but output_size or output_padding make it 13");
        convolution("conv2d_transpose", 4, 2, 3, 3).attr("output_size", new int[]{7, 9})
                .isRefused("from 8 to 8, but output_size", "9");
        convolution("conv2d_transpose", 4, 2, 3, 3).attr("output_size", new int[]{7})
                .isRefused("'output_size' must have 2 numbers or none");
        convolution("conv2d_transpose", 4, 2, 3, 3).attr("output_padding", new int[]{7})
                .isRefused("'output_padding' must have 2 numbers or none");
        convolution("conv2d_transpose", 4, 2, 1, 1).attr("paddings", new int[]{3, 0}).isRefused("from 1 on");
        convolution("conv2d_transpose", 4, 2, 3, 3).in("Bias", F, 3).isRefused("Bias must be [2], but is [3]");
    }

    @Test
    void volumesRefuse() {
        convolution("conv3d", 3, 4, 3, 3).isRefused("'strides' must have 2 numbers from 1 on, but is [1, 1, 1]");
        convolution("conv3d_transpose", 4, 2, 3, 3)
                .isRefused("'strides' must have 2 numbers from 1 on, but is [1, 1, 1]");
        OneOperation volume = new OneOperation("conv3d").in("Input", F, 1, 2, 3, 3, 2).in("Filter", F, 2, 2, 2, 2, 3)
                .out("Output");
        volume.isRefused("a kernel of 3 does not fit into the spatial dimension 2");
        new OneOperation("pool3d").in("X", F, 1, 2, 3, 3).out("Out").attr("ksize", new int[]{2, 2, 2})
                .attr("pooling_type", "max")
                .isRefused("two dimensions more", "[2, 2, 2]");
        new OneOperation("max_pool3d_with_index").in("X", F, 1, 2, 3, 3).out("Out", "Mask")
                .attr("ksize", new int[]{2, 2, 2})
                .isRefused("X must have 5 dimensions and ksize, strides and paddings 3 numbers");
        new OneOperation("max_pool3d_with_index").in("X", F, 1, 2, 3, 3, 3).out("Out", "Mask")
                .attr("ksize", new int[]{2, 4, 2})
                .isRefused("no window fits into spatial axis 1 of X");
    }

    private static OneOperation pooling(String kind, int... kernel) {
        return new OneOperation("pool2d").in("X", F, 2, 3, 5, 6).out("Out").attr("ksize", kernel).attr("pooling_type",
                kind);
    }

    @Test
    void poolingsRefuse() {
        pooling("max", 2).isRefused("two dimensions more", "[2]");
        pooling("max", 2, 0).isRefused("'ksize' must have numbers from 1 on, but is [2, 0]");
        pooling("", 2, 2).isRefused("'pooling_type' must be max or avg, but is ''");
        pooling("max", 2, 7).isRefused("a window of 7 does not fit into the spatial dimension 6");
        pooling("avg", 2, 2).attr("paddings", new int[]{2, 0})
                .isRefused("lies outside of the spatial dimension 5, padded by 2 and 2");
        pooling("avg", 2, 2).attr("paddings", new int[]{0, 0, 0, 1}).attr("strides", new int[]{1, 3})
                .attr("ceil_mode", true)
                .isRefused("a window of 2, moved by 3, lies outside of the spatial dimension 6, padded by 0 and 1");
        new OneOperation("pool2d_double_grad").in("grad_x@GRAD", F, 2, 3, 5, 6).out("grad_out@GRAD")
                .attr("ksize", new int[]{2, 2})
                .attr("pooling_type", "max").isRefused("only averages have a second gradient");
    }

    private static OneOperation batchNorm(long channels) {
        return new OneOperation("batch_norm").in("X", F, 2, 3, 4).in("Scale", F, channels).in("Bias", F, 3)
                .in("Mean", F, 3)
                .in("Variance", F, 3)
                .out("Y", "MeanOut", "VarianceOut", "SavedMean", "SavedVariance");
    }

    @Test
    void normalisationsRefuse() {
        batchNorm(4).isRefused("Scale must have one value for each of the 3 channels, but is [4]");
        batchNorm(3).attr("epsilon", 0.1f).isRefused("'epsilon' must be from 0 to 0.001, but is 0.1");
        batchNorm(3).attr("data_layout", "NHWC")
                .isRefused("Scale must have one value for each of the 4 channels, but is [3]");
        batchNorm(3).in("Mean", DType.FLOAT64, 3).isRefused("Mean must be float32 for X of float32, but is float64");
        batchNorm(3).in("X", F, 3).isRefused("X needs 2 to 5 dimensions, but has 1");
        new OneOperation("batch_norm_grad_grad").in("X", F, 2, 3).out("DX").attr("is_test", true)
                .isRefused("no second gradient with is_test");
        new OneOperation("layer_norm").in("X", F, 2, 3).out("Y").attr("begin_norm_axis", 2)
                .isRefused("'begin_norm_axis' must be from 1 to 1, but is 2");
        new OneOperation("layer_norm").in("X", F, 2, 3).in("Bias", F, 2).out("Y")
                .isRefused("Bias must have one value for each of the 3 elements");
        new OneOperation("group_norm").in("X", F, 2, 6, 3).out("Y")
                .isRefused("must be a multiple of the attribute 'groups' (-1)");
        new OneOperation("group_norm").in("X", F, 2, 6, 3).out("Y").attr("groups", 4).isRefused("the channels (6)",
                "'groups' (4)");
        new OneOperation("instance_norm").in("X", F, 2, 3, 4).in("Scale", F, 2).out("Y").isRefused("Scale",
                "each of the 3 channels, but is [2]");
    }

    private static OneOperation interpolation(String method) {
        return new OneOperation("bilinear_interp_v2").in("X", F, 2, 3, 4, 5).out("Out").attr("interp_method", method);
    }

    @Test
    void interpolationsRefuse() {
        interpolation("bilinear")
                .isRefused("the sizes of X and of the result must be from 1 on, but are [4, 5] and [0, 0]");
        interpolation("area").isRefused(
                "'interp_method' must be one of [nearest, linear, bilinear, bicubic, trilinear], but is 'area'");
        interpolation("linear").isRefused("X needs 3 dimensions for linear interpolation, but has 4");
        interpolation("trilinear").isRefused("X needs 5 dimensions for trilinear interpolation, but has 4");
        interpolation("bicubic").in("X", DType.INT32, 2, 3, 4, 5)
                .isRefused("bicubic interpolation needs X of a floating-point type");
        interpolation("trilinear").in("X", F, 1, 1, 2, 3, 4).valued("OutSize", DType.INT32, 3, 4)
                .isRefused("OutSize must hold 3 numbers, but is [3, 4]");
        interpolation("bilinear").attr("scale", new float[]{2, -1})
                .isRefused("scales must be greater than 0, but are [2.0, -1.0]");
        interpolation("bilinear").valued("OutSize", DType.INT32, 3, 4, 5)
                .isRefused("OutSize must hold 2 numbers, but is [3, 4, 5]");
        interpolation("bilinear").valued("SizeTensor", DType.INT32, 3)
                .isRefused("SizeTensor must hold 2 tensors, but has 1");
        interpolation("nearest").in("X", F, 3, 4, 5)
                .isRefused("X needs 4 dimensions for nearest interpolation, but has 3");
        interpolation("bilinear").in("X", DType.INT64, 2, 3, 4, 5).isRefused("floating-point type, but it is int64");
    }

    private static OneOperation sampler(long... grid) {
        return new OneOperation("grid_sampler").in("X", F, 2, 3, 4, 5).in("Grid", F, grid).out("Output");
    }

    @Test
    void gridsRefuse() {
        sampler(2, 4, 5, 3).isRefused("the last dimension of Grid must be 2", "but is 3");
        sampler(2, 4, 5, 6, 3).isRefused("must both have 4 dimensions, or 5");
        sampler(1, 4, 5, 2).isRefused("one batch, but have 2 and 1");
        sampler(2, 4, 5, 2).attr("mode", "bicubic")
                .isRefused("'mode' must be one of [bilinear, nearest], but is 'bicubic'");
        sampler(2, 4, 5, 2).attr("padding_mode", "same")
                .isRefused("'padding_mode' must be one of [zeros, border, reflection]", "'same'");
        sampler(2, 4, 5, 2).in("X", F, 2, 3, 0, 5).isRefused("must not be empty");
        sampler(2, 4, 5, 2).in("Grid", DType.FLOAT64, 2, 4, 5, 2).isRefused("one floating-point type", "float64");
        new OneOperation("affine_grid").in("Theta", F, 2, 3, 3).out("Output")
                .isRefused("Theta must be [batch, 2, 3] or [batch, 3, 4]");
        new OneOperation("affine_grid").in("Theta", F, 2, 2, 3).out("Output")
                .isRefused("output_shape must have 4 numbers from 1 on, batch and channels included, but is []");
        new OneOperation("affine_grid").in("Theta", F, 2, 2, 3).valued("OutputShape", DType.INT32, 3, 1, 4, 4)
                .out("Output")
                .isRefused("the batch of output_shape, 3, but has 2");
    }
}
