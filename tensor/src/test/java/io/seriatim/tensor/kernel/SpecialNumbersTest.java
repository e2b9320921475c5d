package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.ArgReduction;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Scan;
import io.seriatim.tensor.computation.TopK;
import io.seriatim.tensor.computation.Unary;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Functions of all pairs of special numbers, reductions and orders of rows of them, in all types, against NumPy;
 * {@code tools/golden/special/numpy_cases.py} made the results.
 */
class SpecialNumbersTest {
    /** Results of which zeros may have another sign than NumPy's, with the reasons. */
    private static final Map<Pattern, String> SIGNLESS = Map.of(
            Pattern.compile("(binary|reduction)/(MAXIMUM|MINIMUM|MAX|MIN)/float.*"),
            "0 is larger than -0; NumPy takes either",
            Pattern.compile("binary/MODULO/float.*"), "a remainder of 0 has the sign of x, as in PaddlePaddle",
            Pattern.compile("unary/SIGN/float.*"), "the sign of -0 is -0",
            Pattern.compile("order/.*"), "sums begin with the first element or with 0");

    private static Stream<Kernels> kernels() {
        return Stream.of(Kernels.system(), Kernels.portable());
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void resultsAreThoseOfNumpy(Kernels kernels) throws IOException, URISyntaxException {
        Map<String, Tensor> golden = Npz.read(Path.of(Objects.requireNonNull(
                SpecialNumbersTest.class.getResource("/golden/special-numpy.npz")).toURI()));
        List<String> wrong = new ArrayList<>();
        int count = 0;
        for (Map.Entry<String, Tensor> each : golden.entrySet()) {
            String[] parts = each.getKey().split("/");
            if (parts.length < 3) {
                continue;
            }
            DType dtype = Arrays.stream(DType.values()).filter(one -> one.toString().equals(parts[2])).findFirst()
                    .orElseThrow();
            boolean signs = SIGNLESS.keySet().stream().noneMatch(one -> one.matcher(each.getKey()).matches());
            if (each.getKey().equals("order/CUMSUM/float16")) {
                // NumPy rounds each of the sums on the way.
                continue;
            }
            String failure = difference(each.getValue(), run(kernels, parts, dtype, golden), signs);
            if (failure != null) {
                wrong.add(each.getKey() + ": " + failure);
            }
            count++;
        }
        assertEquals("", String.join("\n", wrong));
        assertTrue(count > 400, "cases: " + count);
    }

    private static Tensor run(Kernels kernels, String[] parts, DType dtype, Map<String, Tensor> golden) {
        Tensor x = Objects.requireNonNull(golden.get("x/" + dtype));
        long n = x.shape().size();
        Tensor rows = Objects.requireNonNull(golden.get("rows/" + dtype));
        return switch (parts[0]) {
            case "binary" -> {
                Tensor left = repeated(x, true);
                Tensor right = repeated(x, false);
                boolean divides = List.of("MODULO", "REMAINDER", "FLOOR_DIVIDE").contains(parts[1]);
                yield KernelRun.run(kernels, Binary.of(Binary.Function.valueOf(parts[1])), left,
                        divides && !dtype.isFloating() ? withoutZeros(right) : right)[0];
            }
            case "unary" -> KernelRun.run(kernels, Unary.of(Unary.Function.valueOf(parts[1])), x)[0];
            case "reduction" -> {
                Tensor of = switch (parts[3]) {
                    case "none" -> Tensor.allocate(dtype, 2, 0);
                    case "one" -> repeated(x, true).slice(1, 0, 1);
                    default -> pairs(x);
                };
                yield KernelRun.run(kernels,
                        new Reduction(Reduction.Function.valueOf(parts[1]), List.of(1), false), of)[0];
            }
            default -> switch (parts[1]) {
                case "SORT" -> KernelRun.run(kernels, new TopK(n, 1, false), rows)[1];
                case "CUMSUM" -> KernelRun.run(kernels, new Scan(1, false, false), rows)[0];
                default -> KernelRun.run(kernels, new ArgReduction(parts[1].equals("ARGMAX"), 1, false), rows)[0];
            };
        };
    }

    /** Each number in a row of its own, or all of them in each row. */
    private static Tensor repeated(Tensor x, boolean inRows) {
        int n = Math.toIntExact(x.shape().size());
        return filled(x, n, (i, j) -> inRows ? i : j);
    }

    private static Tensor pairs(Tensor x) {
        int n = Math.toIntExact(x.shape().size());
        int[] order = new int[2 * n * n];
        for (int i = 0; i < n * n; i++) {
            order[2 * i] = i / n;
            order[2 * i + 1] = i % n;
        }
        return picked(x, order, (long) n * n, 2);
    }

    private interface Place {
        int of(int row, int column);
    }

    private static Tensor filled(Tensor x, int n, Place place) {
        int[] order = new int[n * n];
        Arrays.setAll(order, i -> place.of(i / n, i % n));
        return picked(x, order, n, n);
    }

    private static Tensor picked(Tensor x, int[] order, long... dims) {
        if (x.dtype().isFloating()) {
            double[] values = x.toDoubleArray();
            return Tensor.of(x.dtype(), Arrays.stream(order).mapToDouble(i -> values[i]).toArray(), dims);
        }
        long[] values = x.toLongArray();
        return Tensor.of(x.dtype(), Arrays.stream(order).mapToLong(i -> values[i]).toArray(), dims);
    }

    private static Tensor withoutZeros(Tensor x) {
        return Tensor.of(x.dtype(), Arrays.stream(x.toLongArray()).map(each -> each == 0 ? 1 : each).toArray(),
                x.shape().dims());
    }

    private static @Nullable String difference(Tensor expected, Tensor actual, boolean signs) {
        if (!expected.dtype().isFloating()) {
            long[] want = expected.toLongArray();
            long[] have = actual.toLongArray();
            int at = Arrays.mismatch(want, have);
            return at < 0 ? null : have[at] + " instead of " + want[at] + " at " + at;
        }
        double[] want = expected.toDoubleArray();
        double[] have = actual.toDoubleArray();
        double tolerance = switch (expected.dtype()) {
            case FLOAT64 -> 1e-14;
            case FLOAT32 -> 1e-6;
            default -> 2e-3;
        };
        StringBuilder wrong = new StringBuilder();
        for (int i = 0; i < want.length && wrong.length() < 200; i++) {
            boolean sign = !signs || want[i] != 0 || have[i] != 0 || Double.compare(want[i], have[i]) == 0;
            boolean close = Double.compare(want[i], have[i]) == 0 || want[i] == have[i]
                    || Math.abs(want[i] - have[i]) <= tolerance * Math.abs(want[i]);
            if (!sign || !close) {
                wrong.append(have[i]).append(" instead of ").append(want[i]).append(" at ").append(i).append("; ");
            }
        }
        return wrong.isEmpty() ? null : wrong.toString();
    }
}
