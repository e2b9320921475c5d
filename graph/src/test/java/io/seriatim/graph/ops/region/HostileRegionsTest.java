package io.seriatim.graph.ops.region;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT32;

import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Attributes, shapes and values of regions, convolutions with offsets and rarer operations on images that are refused.
 */
class HostileRegionsTest {
    private static OneOperation roi(String type) {
        OneOperation operation = new OneOperation(type).in("X", FLOAT32, 2, 8, 5, 4).in("ROIs", FLOAT32, 3, 4)
                .in("RoisNum", INT32, 2).out("Out").attr("pooled_height", 2).attr("pooled_width", 2)
                .attr("spatial_scale", 1f);
        return type.equals("psroi_pool") ? operation.attr("output_channels", 2) : operation;
    }

    private static OneOperation convolution() {
        return new OneOperation("deformable_conv").in("Input", FLOAT32, 1, 4, 5, 5).in("Filter", FLOAT32, 2, 4, 3, 3)
                .in("Offset", FLOAT32, 1, 18, 3, 3).in("Mask", FLOAT32, 1, 9, 3, 3).out("Output");
    }

    private static OneOperation image(String type, String slot) {
        return new OneOperation(type).in(slot, FLOAT32, 2, 6, 5, 4).out("Out");
    }

    private static OneOperation unpool() {
        return image("unpool", "X").in("Indices", INT32, 2, 6, 5, 4).attr("ksize", new int[]{2, 2})
                .attr("unpooling_type", "max");
    }

    private static OneOperation focus() {
        return image("similarity_focus", "X").attr("axis", 1);
    }

    private static DynamicTest of(OneOperation operation, String... parts) {
        return DynamicTest.dynamicTest(String.join(" ", parts), () -> operation.isRefused(parts));
    }

    @TestFactory
    Stream<DynamicTest> regions() {
        return Stream.of("roi_align", "roi_pool", "psroi_pool").flatMap(type -> Stream.of(
                of(roi(type).attr("pooled_height", 0), type, "pooled_height", "0"),
                of(roi(type).attr("pooled_width", -3), type, "pooled_width", "-3"),
                of(roi(type).attr("spatial_scale", 0f), type, "spatial_scale", "0.0"),
                of(roi(type).attr("spatial_scale", Float.NaN), type, "spatial_scale", "NaN"),
                of(roi(type).in("X", FLOAT32, 2, 8, 5), type, "four dimensions"),
                of(roi(type).in("X", FLOAT32, 2, 8, 0, 4), type, "must not be empty"),
                of(roi(type).in("ROIs", FLOAT32, 3, 5), type, "[regions, 4]"),
                of(roi(type).in("ROIs", FLOAT64, 3, 4), type, "one floating-point type"),
                of(roi(type).in("RoisNum", FLOAT32, 2), type, "RoisNum", "int32 or int64"),
                of(roi(type).in("RoisNum", INT32, 3), type, "RoisNum", "2 images")));
    }

    @TestFactory
    Stream<DynamicTest> more() {
        return Stream.of(of(roi("roi_align").attr("sampling_ratio", Integer.MAX_VALUE), "sampling_ratio", "2147483647"),
                of(roi("roi_align").attr("pooled_height", Integer.MAX_VALUE).attr("pooled_width", Integer.MAX_VALUE),
                        "more elements than there can be"),
                of(roi("psroi_pool").attr("output_channels", 0), "output_channels", "0"),
                of(roi("psroi_pool").attr("output_channels", 3), "output_channels", "8"),
                of(roi("psroi_pool").attr("pooled_height", 1 << 20).attr("pooled_width", 1 << 20), "channels"),
                of(convolution().attr("strides", new int[]{0, 1}), "strides", "[0, 1]"),
                of(convolution().attr("strides", new int[]{1}), "strides", "[1]"),
                of(convolution().attr("dilations", new int[]{1, -1}), "dilations", "[1, -1]"),
                of(convolution().attr("paddings", new int[]{-1, 0}), "paddings", "[-1, 0]"),
                of(convolution().attr("groups", 0), "groups", "0"),
                of(convolution().attr("groups", 2), "groups (2)"),
                of(convolution().attr("deformable_groups", 3), "deformable_groups (3)"),
                of(convolution().attr("deformable_groups", -1), "deformable_groups", "-1"),
                of(convolution().attr("deformable_groups", 2), "Offset must be [1, 36, 3, 3]"),
                of(convolution().attr("im2col_step", 0), "im2col_step", "0"),
                of(convolution().attr("dilations", new int[]{9, 9}), "does not fit"),
                of(convolution().in("Filter", FLOAT32, 2, 4, 0, 3), "does not fit"),
                of(convolution().in("Mask", FLOAT32, 1, 9, 3, 4), "Mask must be"),
                of(convolution().in("Offset", FLOAT64, 1, 18, 3, 3), "Offset must have the type"));
    }

    @TestFactory
    Stream<DynamicTest> images() {
        return Stream.of(of(unpool().attr("output_size", new int[]{0, 4}), "output_size", "[0, 4]"),
                of(unpool().attr("output_size", new int[]{3}), "output_size", "[3]"),
                of(unpool().attr("output_size", new int[]{3, 3}).in("Indices", INT32, 2, 6, 5, 5), "one shape"),
                of(image("spp", "X").attr("pyramid_height", 0).attr("pooling_type", "max"), "pyramid_height", "0"),
                of(image("spp", "X").attr("pyramid_height", 40).attr("pooling_type", "max"), "pyramid_height", "40"),
                of(image("spp", "X").attr("pyramid_height", 2).attr("pooling_type", "min"), "pooling_type", "'min'"),
                of(image("lrn", "X").attr("n", 4), "'n'", "4"), of(image("lrn", "X").attr("n", -1), "'n'", "-1"),
                of(image("lrn", "X").attr("alpha", 0f), "alpha"),
                of(image("shuffle_channel", "X").attr("group", 0), "group"),
                of(image("shuffle_channel", "X").attr("group", 4), "group", "4"),
                of(image("affine_channel", "X").in("Scale", FLOAT32, 5).in("Bias", FLOAT32, 4), "Scale", "4"),
                of(image("fsp", "X").in("Y", FLOAT32, 2, 6, 5, 5), "alike"),
                of(focus().attr("indexes", new int[0]), "indexes", "[]"),
                of(focus().attr("indexes", new int[]{6}), "indexes", "[6]"),
                of(focus().attr("indexes", new int[]{-1}), "indexes", "[-1]"),
                of(image("similarity_focus", "X").attr("axis", 0).attr("indexes", new int[]{0}), "axis", "0"),
                of(image("pad2d", "X").attr("paddings", new int[]{1, 2}), "paddings", "[1, 2]"),
                of(image("pad2d", "X").attr("paddings", new int[]{5, 0, 0, 0}).attr("mode", "reflect"), "at most 4"),
                of(image("pad2d", "X").attr("paddings", new int[]{-3, -3, 0, 0}), "take away more"),
                of(image("pad2d", "X").attr("paddings", new int[4]).attr("mode", "mirror"), "mode", "'mirror'"),
                of(image("crop", "X").attr("shape", new int[]{2, 6}).attr("offsets", new int[4]), "shape", "[2, 6]"),
                of(image("crop", "X").attr("shape", new int[]{2, 6, 5, 4}).attr("offsets", new int[]{0, 1, 0, 0}),
                        "dimension 1"),
                of(image("crop", "X").attr("shape", new int[]{1, 1, 1, 1}).attr("offsets", new int[]{-1, 0, 0, 0}),
                        "offset -1"),
                of(image("crop", "X").attr("shape", new int[]{1, -2, 1, 1}).attr("offsets", new int[4]), "-2"));
    }

    private static OpDesc align(String counts) {
        return OpDesc.of("roi_align").in("X", "x").in("ROIs", "r").in("RoisNum", counts).out("Out", "y").build();
    }

    @Test
    void numbersOfRegionsThatDoNotFitAreRefused() {
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new double[16], 2, 1, 2, 4), "r",
                Tensor.of(new double[12], 3, 4), "few", Tensor.of(new long[]{1, 1}, 2), "many",
                Tensor.of(new long[]{Long.MAX_VALUE, Long.MAX_VALUE}, 2), "negative",
                Tensor.of(new long[]{4, -1}, 2));
        refused(align("few"), feeds, "roi_align", "RoisNum", "[1, 1]", "3");
        refused(align("many"), feeds, "roi_align", "RoisNum");
        refused(align("negative"), feeds, "roi_align", "RoisNum", "[4, -1]");
    }

    @Test
    void indexesBeyondTheResultAreRefused() {
        OpDesc unpool = OpDesc.of("unpool").in("X", "x").in("Indices", "i").out("Out", "y")
                .attr("ksize", new int[]{1, 1}).attr("unpooling_type", "max").attr("output_size", new int[]{1, 2})
                .build();
        Tensor x = Tensor.of(new double[1], 1, 1, 1, 1);
        for (long index : new long[]{2, -1}) {
            refused(unpool, Map.of("x", x, "i", Tensor.of(new long[]{index}, 1, 1, 1, 1)), "unpool", "" + index);
        }
    }

    @Test
    void placesBeyondTheImageAreRefused() {
        OpDesc gradient = OpDesc.of("roi_pool_grad").in("X", "x").in("ROIs", "r").in("RoisNum", "n").in("Argmax", "a")
                .in("Out@GRAD", "d").out("X@GRAD", "y").build();
        refused(gradient,
                Map.of("x", Tensor.of(new double[4], 1, 1, 2, 2), "r", Tensor.of(new double[4], 1, 4), "n",
                        Tensor.of(new long[]{1}, 1), "a", Tensor.of(new long[]{4}, 1, 1, 1, 1), "d",
                        Tensor.of(new double[1], 1, 1, 1, 1)),
                "roi_pool_grad", "Argmax", "4");
    }
}
