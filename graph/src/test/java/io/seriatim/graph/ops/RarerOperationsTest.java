package io.seriatim.graph.ops;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rarer operations beyond the golden data: sums of products in Einstein's notation, and arguments that are refused. */
class RarerOperationsTest {
    private static final Tensor MATRIX = Tensor.of(new double[]{1, 2, 3, 4, 5, 6}, 2, 3);

    /** erfinv(1 − 2⁻⁴⁰) and erfinv(1 − 2⁻⁵³), reckoned with 40 digits. */
    private static final double TAIL_OF_40 = 5.05125408524939;
    private static final double TAIL_OF_53 = 5.8635847487551676;

    private static OpDesc einsum(String equation, String... operands) {
        return OpDesc.of("einsum").in("Operands", operands).out("Out", "y").attr("equation", equation).build();
    }

    /** As both versions of PaddlePaddle do. */
    @Test
    void sumOfOneElementIsTheElement() {
        Tensor y = SmallProgram.run(OpDesc.of("cumsum").in("X", "x").out("Out", "y").attr("axis", -1)
                .attr("exclusive", true).build(), Map.of("x", Tensor.of(new double[]{2.5}, new long[0])), "y");
        assertArrayEquals(new double[]{2.5}, y.toDoubleArray());
    }

    /** Of both flags, PaddlePaddle follows copy_data. */
    @Test
    void partsAreCopiedWhateverTheConstant() {
        Tensor y = SmallProgram.run(OpDesc.of("coalesce_tensor").in("Input", "a", "b").out("Output", "a", "b")
                .out("FusedOutput", "y").attr("dtype", 6).attr("copy_data", true).attr("set_constant", true)
                .attr("constant", 7f).attr("use_align", false).build(),
                Map.of("a", Tensor.of(new double[]{1, 2}, 2), "b", Tensor.of(new double[]{3}, 1)), "y");
        assertArrayEquals(new double[]{1, 2, 3}, y.toDoubleArray());
    }

    /** PaddlePaddle ignores truncated labels, but counts those that are not equal to the one to ignore. */
    @Test
    void labelsThatAreEqualDoNotCount() {
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new double[]{1, 1, 1, 1, 1}, 5), "label",
                Tensor.of(new double[]{0, 0.5, 1, 0.9, -0.5}, 5));
        double loss = Math.log1p(Math.exp(-1));
        assertArrayEquals(new double[]{0, 0, loss / 4, 0, 0}, SmallProgram.run(
                OpDesc.of("sigmoid_cross_entropy_with_logits").in("X", "x").in("Label", "label").out("Out", "y")
                        .attr("ignore_index", 0).attr("normalize", true).build(),
                feeds, "y").toDoubleArray(), 1e-12);
    }

    @Test
    void einsumMultipliesMatrices() {
        Tensor y = SmallProgram.run(einsum("ij,kj->ki", "a", "b"),
                Map.of("a", MATRIX, "b", Tensor.of(new double[]{1, 0, 1, 0, 2, 0}, 2, 3)), "y");
        assertEquals(Shape.of(2, 2), y.shape());
        assertArrayEquals(new double[]{4, 10, 4, 10}, y.toDoubleArray());
    }

    @Test
    void einsumBroadcastsLengthOneAndSumsItsGradient() {
        Tensor row = Tensor.of(new double[]{1, 2, 3}, 1, 3);
        Tensor column = Tensor.of(new double[]{1, 10, 100, 1000}, 4, 1);
        Tensor y = SmallProgram.run(einsum("ij,ij->j", "a", "b"), Map.of("a", row, "b", column), "y");
        assertArrayEquals(new double[]{1111, 2222, 3333}, y.toDoubleArray());
        OpDesc gradient = OpDesc.of("einsum_grad").in("x_shape", "a", "b").in("InnerCache", "a", "b")
                .in("Out@GRAD", "dy").out("Operands@GRAD", "da", "db").attr("equation", "ij,ij->j").build();
        Map<String, Tensor> feeds = Map.of("a", row, "b", column, "dy", Tensor.of(new double[]{1, 1, 2}, 3));
        assertArrayEquals(new double[]{1111, 1111, 2222}, SmallProgram.run(gradient, feeds, "da").toDoubleArray());
        assertArrayEquals(new double[]{9, 9, 9, 9}, SmallProgram.run(gradient, feeds, "db").toDoubleArray());
    }

    @Test
    void einsumKeepsWhatAnEllipsisStandsForAndSumsTheRest() {
        Tensor y = SmallProgram.run(einsum("...j,k->...", "a", "b"),
                Map.of("a", MATRIX, "b", Tensor.of(new double[]{1, 2}, 2)), "y");
        assertArrayEquals(new double[]{18, 45}, y.toDoubleArray());
    }

    @Test
    void theGradientOfWhatOnlyOneOperandHasIsTheSameEverywhere() {
        OpDesc gradient = OpDesc.of("einsum_grad").in("x_shape", "a", "b").in("InnerCache", "a", "b")
                .in("Out@GRAD", "dy")
                .out("Operands@GRAD", "da", "db").attr("equation", "ij,k->i").build();
        Map<String, Tensor> feeds = Map.of("a", MATRIX, "b", Tensor.of(new double[]{1, 2}, 2), "dy",
                Tensor.of(new double[]{1, 10}, 2));
        assertArrayEquals(new double[]{3, 3, 3, 30, 30, 30}, SmallProgram.run(gradient, feeds, "da").toDoubleArray());
        assertArrayEquals(new double[]{156, 156}, SmallProgram.run(gradient, feeds, "db").toDoubleArray());
    }

    @Test
    void equationsThatDoNotFitAreRefused() {
        refused(einsum("ij,jk->ik", "a"), Map.of("a", MATRIX), "'einsum'", "'ij,jk->ik'", "1 operands");
        refused(einsum("ijk->i", "a"), Map.of("a", MATRIX), "'ijk'", "one for each axis");
        refused(einsum("ii->i", "a"), Map.of("a", MATRIX), "label 'i'", "2 and 3");
        refused(einsum("ij->k", "a"), Map.of("a", MATRIX), "labels of the result");
        refused(einsum("ij,jk->ik", "a", "a"), Map.of("a", MATRIX), "label 'j'", "3 and 2");
    }

    @Test
    void indicesBeyondATensorAreRefused() {
        OpDesc put = OpDesc.of("index_put").in("x", "x").in("indices", "i").in("value", "v").out("out", "y").build();
        Tensor value = Tensor.of(new double[]{1}, 1);
        refused(put, Map.of("x", MATRIX, "i", Tensor.of(new long[]{2}, 1), "v", value), "index 2",
                "axis 0 of length 2");
        refused(put, Map.of("x", MATRIX, "i", Tensor.of(new long[]{0}, 1), "v", Tensor.of(new double[]{1, 2}, 2)),
                "[2]", "3 chosen");
        refused(put, Map.of("x", MATRIX, "i", value, "v", value), "must be bool, int32 or int64", "float64");
    }

    @Test
    void attributesThatDoNotFitAreRefused() {
        refused(OpDesc.of("crop_tensor").in("X", "a").out("Out", "y").attr("shape", new int[]{2, 2})
                .attr("offsets", new int[]{0, 2})
                .build(),
                Map.of("a", MATRIX), "2 elements from 2", "axis 1 of length 3");
        refused(OpDesc.of("kldiv_loss").in("X", "a").in("Target", "a").out("Loss", "y").attr("reduction", "median")
                .build(),
                Map.of("a", MATRIX), "'median'");
        refused(OpDesc.of("nll_loss").in("X", "a").in("Label", "l").out("Out", "y").out("Total_weight", "w").build(),
                Map.of("a", MATRIX, "l", Tensor.of(new long[]{0, 1, 2}, 3)), "same batch");
        refused(OpDesc.of("bitwise_not").in("X", "a").out("Out", "y").build(), Map.of("a", MATRIX),
                "whole numbers or bool");
        refused(OpDesc.of("diagonal").in("Input", "a").out("Out", "y").attr("axis1", 1).attr("axis2", -1).build(),
                Map.of("a", MATRIX),
                "axis1 and axis2 must differ");
        refused(OpDesc.of("trunc").in("X", "a").out("Out", "y").build(),
                Map.of("a", Tensor.of(DType.BOOL, new long[]{1}, 1)),
                "bool: cast it");
    }

    /** Volumes take the general form, of which images between four elements are a faster one. */
    @ParameterizedTest
    @CsvSource({"zeros, true", "zeros, false", "border, true", "border, false", "reflection, true",
            "reflection, false"})
    void imagesAreSampledAsVolumesOfOneLayer(String padding, boolean corners) {
        float[] images = new float[2 * 3 * 4 * 5];
        Random random = new Random(5);
        for (int i = 0; i < images.length; i++) {
            images[i] = i % 41 == 7 ? Float.POSITIVE_INFINITY : i % 53 == 9 ? Float.NaN : (float) random.nextGaussian();
        }
        float[] numbers = {0, 1, -1, -0f, 0.999f, -1.2f, 3.7f, -40, Float.NaN, Float.POSITIVE_INFINITY,
                Float.NEGATIVE_INFINITY, 1e30f, Float.MIN_VALUE};
        int places = numbers.length * numbers.length;
        float[] flat = new float[2 * places * 2];
        float[] deep = new float[2 * places * 3];
        for (int p = 0; p < 2 * places; p++) {
            boolean drawn = p >= places;
            flat[2 * p] = drawn ? (float) random.nextGaussian() : numbers[p % numbers.length];
            flat[2 * p + 1] = drawn ? (float) random.nextGaussian() : numbers[p / numbers.length % numbers.length];
            System.arraycopy(flat, 2 * p, deep, 3 * p, 2);
        }
        OpDesc sampler = OpDesc.of("grid_sampler").in("X", "x").in("Grid", "grid").out("Output", "y")
                .attr("padding_mode", padding).attr("align_corners", corners).build();
        Tensor volumes = SmallProgram.run(sampler, Map.of("x", Tensor.of(images, 2, 3, 1, 4, 5), "grid",
                Tensor.of(deep, 2, 1, places, 1, 3)), "y");
        Tensor sampled = SmallProgram.run(sampler, Map.of("x", Tensor.of(images, 2, 3, 4, 5), "grid",
                Tensor.of(flat, 2, places, 1, 2)), "y");
        assertEquals(Shape.of(2, 3, places, 1), sampled.shape());
        assertArrayEquals(volumes.toFloatArray(), sampled.toFloatArray());
    }

    @Test
    void theGradientOfAGridAloneIsTheSlopeOfTheImage() {
        OpDesc gradient = OpDesc.of("grid_sampler_grad").in("X", "x").in("Grid", "grid").in("Output@GRAD", "dy")
                .out("Grid@GRAD", "dgrid")
                .build();
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new double[]{1, 4, 16}, 1, 1, 1, 3), "grid",
                Tensor.of(new double[]{-0.5, 0, 0.5, 0}, 1, 1, 2, 2), "dy", Tensor.of(new double[]{1, 2}, 1, 1, 1, 2));
        assertArrayEquals(new double[]{3, 0, 24, 0}, SmallProgram.run(gradient, feeds, "dgrid").toDoubleArray());
    }

    @Test
    void aGridOfASizeThatATensorTellsIsThatOfTheAttribute() {
        OpDesc.Builder told = OpDesc.of("affine_grid").in("Theta", "theta").in("OutputShape", "size").out("Output",
                "y");
        Map<String, Tensor> feeds = Map.of("theta", Tensor.of(new double[]{1, 0, 0, 0, 2, 0}, 1, 2, 3), "size",
                Tensor.of(DType.INT32, new long[]{1, 1, 2, 2}, 4));
        Tensor y = SmallProgram.run(told.build(), feeds, "y");
        assertEquals(Shape.of(1, 2, 2, 2), y.shape());
        assertArrayEquals(new double[]{-1, -2, 1, -2, -1, 2, 1, 2}, y.toDoubleArray());
    }

    @Test
    void anAxisOfLengthOneHasTheGridsFirstPlace() {
        OpDesc grid = OpDesc.of("affine_grid").in("Theta", "theta").out("Output", "y")
                .attr("output_shape", new int[]{1, 1, 1, 2}).build();
        Map<String, Tensor> feeds = Map.of("theta", Tensor.of(new double[]{1, 0, 0, 0, 1, 0}, 1, 2, 3));
        assertArrayEquals(new double[]{-1, -1, 1, -1}, SmallProgram.run(grid, feeds, "y").toDoubleArray());
    }

    @Test
    void scalarsAreTheirOwnExtremes() {
        Map<String, Tensor> feeds = Map.of("a", Tensor.of(new double[]{3}), "i", Tensor.of(new long[]{0}), "d",
                Tensor.of(new double[]{7}));
        OpDesc gradient = OpDesc.of("cummax_grad").in("x", "a").in("indices", "i").in("out@GRAD", "d")
                .out("x@GRAD", "dx").build();
        assertArrayEquals(new double[]{7}, SmallProgram.run(gradient, feeds, "dx").toDoubleArray());
        for (String type : new String[]{"kthvalue", "mode"}) {
            OpDesc one = OpDesc.of(type).in("X", "a").out("Out", "y").out("Indices", "at").build();
            assertArrayEquals(new double[]{3}, SmallProgram.run(one, feeds, "y").toDoubleArray());
            OpDesc back = OpDesc.of(type + "_grad").in("X", "a").in("Indices", "i").in("Out@GRAD", "d")
                    .out("X@GRAD", "dx").build();
            assertArrayEquals(new double[]{7}, SmallProgram.run(back, feeds, "dx").toDoubleArray());
        }
    }

    @Test
    void infinitiesDoNotSpoilRunningLogarithms() {
        Map<String, Tensor> feeds = Map.of("a",
                Tensor.of(new double[]{Double.NEGATIVE_INFINITY, Double.NEGATIVE_INFINITY, 0, 0,
                        Double.POSITIVE_INFINITY}, 5));
        Tensor y = SmallProgram.run(OpDesc.of("logcumsumexp").in("X", "a").out("Out", "y").build(), feeds, "y");
        assertArrayEquals(
                new double[]{Double.NEGATIVE_INFINITY, Double.NEGATIVE_INFINITY, 0, Math.log(2),
                        Double.POSITIVE_INFINITY},
                y.toDoubleArray());
    }

    @Test
    void theInverseOfTheErrorFunctionReachesItsTail() {
        Map<String, Tensor> feeds = Map.of("a", Tensor.of(new double[]{1 - 0x1p-40, -1 + 0x1p-53}, 2));
        double[] y = SmallProgram.run(OpDesc.of("erfinv").in("X", "a").out("Out", "y").build(), feeds, "y")
                .toDoubleArray();
        assertArrayEquals(new double[]{TAIL_OF_40, -TAIL_OF_53}, y, 1e-13);
    }

    @Test
    void rarerChoicesThatDoNotFitAreRefused() {
        Map<String, Tensor> feeds = Map.of("a", MATRIX, "i", Tensor.of(new long[]{0, 2}, 2, 1), "v",
                Tensor.of(new long[]{5, 8}, 2, 1));
        refused(OpDesc.of("cummax").in("x", "a").out("out", "y").out("indices", "at").attr("dtype", 5).build(), feeds,
                "dtype must be int32 or int64, but is float32");
        refused(OpDesc.of("logcumsumexp").in("X", "i").out("Out", "y").build(), feeds,
                "floating-point type, but is int64");
        refused(OpDesc.of("kthvalue").in("X", "a").out("Out", "y").out("Indices", "at").attr("k", 4).build(), feeds,
                "k must be from 1 to 3", "is 4");
        refused(OpDesc.of("mode").in("X", "a").out("Out", "y").out("Indices", "at").attr("axis", 2).build(), feeds,
                "the axis 2");
        refused(OpDesc.of("cross").in("X", "a").in("Y", "a").out("Out", "y").attr("dim", 0).build(), feeds,
                "dimension 0 of X must have length 3, but has 2");
        refused(OpDesc.of("cross").in("X", "i").in("Y", "i").out("Out", "y").build(), feeds,
                "no dimension of X has length 3");
        refused(OpDesc.of("multiplex").in("X", "a", "a").in("Ids", "i").out("Out", "y").build(), feeds,
                "must be from 0 to 3, but is 5");
        refused(OpDesc.of("multiplex").in("X", "a").in("Ids", "i").out("Out", "y").build(), feeds,
                "two tensors or more");
        refused(OpDesc.of("multiplex").in("X", "a", "i").in("Ids", "i").out("Out", "y").build(), feeds,
                "all tensors of X must be float64 of shape [2, 3], but tensor 1 is int64 of [2, 1]");
        refused(OpDesc.of("renorm").in("X", "a").out("Out", "y").attr("p", 0f).attr("axis", 0).attr("max_norm", 1f)
                .build(), feeds,
                "p must be above 0");
        OpDesc.Builder shard = OpDesc.of("shard_index").in("X", "v").out("Out", "y").attr("index_num", 8)
                .attr("nshards", 2);
        refused(shard.attr("shard_id", 0).build(), feeds, "index number 1 must be from 0 to 7, but is 8");
        refused(shard.attr("shard_id", 2).build(), feeds, "shard_id must be from 0 to 1, but is 2");
    }
}
