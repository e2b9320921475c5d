package io.seriatim.graph.ops.signal;

import static io.seriatim.graph.ops.SmallProgram.refused;

import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * What operations on complex numbers, signals and matrices refuse, with messages that name the operation and the value.
 */
class HostileSignalsTest {
    private static final long[] FIRST = {0};

    private static OneOperation transform(String type, DType dtype, long... dims) {
        return new OneOperation(type).in("X", dtype, dims).out("Out").attr("forward", true);
    }

    private static OneOperation c2c(Object axes, String normalization, long... dims) {
        return transform("fft_c2c", DType.COMPLEX64, dims).attr("axes", axes).attr("normalization", normalization);
    }

    private static OneOperation c2r(long size, long... dims) {
        return transform("fft_c2r", DType.COMPLEX64, dims).attr("axes", FIRST).attr("normalization", "backward")
                .attr("last_dim_size", size);
    }

    private static OneOperation frame(int length, int hop, int axis, long... dims) {
        return new OneOperation("frame").in("X", DType.FLOAT32, dims).out("Out").attr("frame_length", length)
                .attr("hop_length", hop).attr("axis", axis);
    }

    private static OneOperation overlapAdd(int hop, int axis, long... dims) {
        return new OneOperation("overlap_add").in("X", DType.FLOAT32, dims).out("Out").attr("hop_length", hop)
                .attr("axis", axis);
    }

    private static OneOperation stft(int length, int hop, long window, long... dims) {
        return new OneOperation("stft").in("X", DType.FLOAT32, dims).in("Window", DType.FLOAT32, window).out("Out")
                .attr("n_fft", length).attr("hop_length", hop).attr("normalized", false).attr("onesided", true);
    }

    private static OneOperation two(String type, DType x, DType y) {
        return new OneOperation(type).in("X", x, 2, 2).in("Y", y, 2, 2).out("Out");
    }

    private record Refusal(OneOperation operation, List<String> parts) {
        Refusal(OneOperation operation, String... parts) {
            this(operation, List.of(parts));
        }
    }

    private static Stream<Refusal> refusals() {
        return Stream.of(new Refusal(c2c(new long[0], "backward", 4), "axes", "at least one"),
                new Refusal(c2c(new long[]{2}, "backward", 4, 3), "axis 2"),
                new Refusal(c2c(new long[]{0, -2}, "backward", 4, 3), "repeat"),
                new Refusal(c2c(FIRST, "", 4), "normalization", "''"),
                new Refusal(c2c(FIRST, "backward", 0), "axis 0"),
                new Refusal(c2c(FIRST, "backward", 1L << 40), "axis 0", "1099511627776"),
                new Refusal(transform("fft_c2c", DType.FLOAT32, 4).attr("axes", FIRST).attr("normalization", "ortho"),
                        "complex64", "float32"),
                new Refusal(transform("fft_r2c", DType.INT64, 4).attr("axes", FIRST).attr("normalization", "ortho")
                        .attr("onesided", true), "float32", "int64"),
                new Refusal(c2r(-1, 4), "last_dim_size", "-1"),
                new Refusal(c2r(1L << 60, 4), "last_dim_size"),
                new Refusal(c2r(9, 4), "at least 5"),
                new Refusal(c2r(0, 1), "last_dim_size"),
                new Refusal(frame(0, 1, -1, 4), "frame_length", "0"),
                new Refusal(frame(2, 0, -1, 4), "hop_length", "0"),
                new Refusal(frame(2, -1, 0, 4), "hop_length", "-1"),
                new Refusal(frame(5, 1, -1, 4), "frame_length", "5"),
                new Refusal(frame(2, 1, 1, 4, 4), "axis", "1"),
                new Refusal(frame(2, 1, -1), "dimension"),
                new Refusal(overlapAdd(0, -1, 3, 3), "hop_length", "0"),
                new Refusal(overlapAdd(4, -1, 3, 5), "hop_length", "4"),
                new Refusal(overlapAdd(1, 2, 3, 5), "axis", "2"),
                new Refusal(overlapAdd(1, -1, 3), "two dimensions"),
                new Refusal(overlapAdd(1, -1, 0, 3), "frames"),
                new Refusal(stft(8, 0, 8, 1, 20), "hop_length"),
                new Refusal(stft(8, 2, 7, 1, 20), "n_fft = 8"),
                new Refusal(stft(21, 2, 21, 1, 20), "n_fft", "21"),
                new Refusal(stft(8, 2, 8, 20), "signals, samples"),
                new Refusal(two("complex", DType.FLOAT32, DType.FLOAT64), "float64"),
                new Refusal(two("complex", DType.INT32, DType.INT32), "int32"),
                new Refusal(two("elementwise_add", DType.COMPLEX64, DType.INT64), "complex64", "int64"),
                new Refusal(two("kron", DType.FLOAT32, DType.FLOAT64), "float64"),
                new Refusal(new OneOperation("as_complex").in("X", DType.FLOAT32, 2, 3).out("Out"), "length 2",
                        "[2, 3]"),
                new Refusal(new OneOperation("real").in("X", DType.FLOAT32, 2).out("Out"), "float32"),
                new Refusal(new OneOperation("eigvals").in("X", DType.FLOAT32, 2, 3).out("Out"), "square", "[2, 3]"),
                new Refusal(new OneOperation("eigvals").in("X", DType.INT32, 2, 2).out("Out"), "int32"),
                new Refusal(new OneOperation("lu").in("X", DType.FLOAT32, 2, 2).out("Out", "Pivots", "Infos")
                        .attr("pivots", false), "pivots"),
                new Refusal(new OneOperation("lu_unpack").in("X", DType.FLOAT32, 3, 2).in("Pivots", DType.INT32, 3)
                        .out("Pmat", "L", "U"), "Pivots"),
                new Refusal(new OneOperation("lstsq").in("X", DType.FLOAT32, 3, 2).in("Y", DType.FLOAT32, 2, 2)
                        .out("Solution", "Rank", "SingularValues"), "rows"),
                new Refusal(new OneOperation("lstsq").in("X", DType.FLOAT32, 3, 2).in("Y", DType.FLOAT32, 3, 2)
                        .out("Solution", "Rank", "SingularValues").attr("driver", "qr"), "driver", "'qr'"),
                new Refusal(new OneOperation("nanmedian").in("X", DType.FLOAT32, 3).out("Out", "MedianIndex")
                        .attr("axis", new int[]{1}), "axis 1"),
                new Refusal(new OneOperation("nanmedian").in("X", DType.BOOL, 3).out("Out", "MedianIndex"), "bool"),
                new Refusal(new OneOperation("logspace").in("Start", DType.FLOAT32, 1).in("Stop", DType.FLOAT32, 1)
                        .valued("Num", DType.INT32, -3).in("Base", DType.FLOAT32, 1).out("Out").attr("dtype", 5),
                        "Num"),
                new Refusal(new OneOperation("bilinear_tensor_product").in("X", DType.FLOAT32, 2, 3)
                        .in("Y", DType.FLOAT32, 2, 4).in("Weight", DType.FLOAT32, 5, 3, 3).out("Out"), "Weight"));
    }

    @TestFactory
    Stream<DynamicTest> attributesAndShapesAreChecked() {
        return refusals().map(each -> DynamicTest.dynamicTest(String.join(" ", each.parts()),
                () -> each.operation().isRefused(each.parts().toArray(String[]::new))));
    }

    @Test
    void valuesAreChecked() {
        Tensor square = Tensor.of(new double[]{1, 2, 3, 4}, 2, 2);
        Tensor broken = Tensor.of(new double[]{1, Double.NaN, 3, 4}, 2, 2);
        OpDesc unpack = OpDesc.of("lu_unpack").in("X", "x").in("Pivots", "p").out("Pmat", "m").out("L", "l")
                .out("U", "u").build();
        refused(unpack, Map.of("x", square, "p", Tensor.of(DType.INT32, new long[]{1, 3})), "'lu_unpack'", "pivot 1",
                "3");
        refused(unpack, Map.of("x", square, "p", Tensor.of(DType.INT32, new long[]{0, 2})), "pivot 0", "0");
        refused(OpDesc.of("eigvals").in("X", "x").out("Out", "y").build(), Map.of("x", broken), "'eigvals'",
                "not a number");
        refused(OpDesc.of("check_numerics").in("tensor", "x").out("stats", "s").out("values", "v").build(),
                Map.of("x", Tensor.ofComplex(new float[]{1, 2})), "'check_numerics'", "complex64");
        refused(OpDesc.of("unique").in("X", "x").out("Out", "y").out("Index", "i").attr("dtype", 3)
                .attr("is_sorted", true).build(),
                Map.of("x", Tensor.ofComplex(new float[]{1, 2})), "'unique'", "complex64");
        refused(OpDesc.of("elementwise_max").in("X", "x").in("Y", "x").out("Out", "y").build(),
                Map.of("x", Tensor.ofComplex(new float[]{1, 2})), "elementwise_max", "complex64");
    }
}
