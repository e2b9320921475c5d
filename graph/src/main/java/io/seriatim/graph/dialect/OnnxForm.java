package io.seriatim.graph.dialect;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** ONNX's operations whose meaning some operation of PaddlePaddle has, where their axes and sizes are known. */
final class OnnxForm {
    private static final double CUBIC = -0.75;

    private OnnxForm() {
    }

    static void register(Map<String, PaddleForms.Rule> rules) {
        rules.put("onnx_reduce", OnnxForm::reduce);
        rules.put("onnx_resize", OnnxForm::resize);
        rules.put("onnx_pool", OnnxPoolForm::pool);
    }

    private static double @Nullable [] numbers(OpDesc op, String slot, PaddleForms.Reads reads) {
        Tensor known = op.input(slot).size() == 1 ? reads.constant(op.input(slot).getFirst()) : null;
        if (known == null) {
            return null;
        }
        return known.dtype().isFloating()
                ? known.toDoubleArray()
                : Arrays.stream(known.toLongArray()).asDoubleStream().toArray();
    }

    private static boolean reduce(OpDesc op, Steps steps, PaddleForms.Reads reads) {
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        String x = op.input("X").getFirst();
        List<Long> dims = steps.tensor(x).dims();
        double[] given = op.input("Axes").isEmpty() ? new double[0] : numbers(op, "Axes", reads);
        // PaddlePaddle refuses to reduce what may be empty, and scalars have no axes.
        if (given == null || dims.isEmpty() || dims.contains(0L)
                || (given.length == 0 && attrs.getBool("noop_with_empty_axes"))) {
            return false;
        }
        int[] axes = given.length == 0
                ? IntStream.range(0, dims.size()).toArray()
                : Arrays.stream(given).mapToInt(axis -> (int) (axis < 0 ? axis + dims.size() : axis)).toArray();
        boolean real = steps.tensor(x).dtype().isFloating();
        String function = attrs.getText("function");
        String out = op.output("Out").getFirst();
        boolean keep = attrs.getBool("keepdims");
        switch (function) {
            case "sum", "max", "min", "prod" -> reduction(steps, "reduce_" + function, x, axes, keep).into("Out", out);
            case "l1" -> reduction(steps, "reduce_sum", steps.unary("abs", x), axes, keep).into("Out", out);
            case "sum_square" -> reduction(steps, "reduce_sum", steps.unary("square", x), axes, keep)
                    .into("Out", out);
            case "mean" -> {
                if (!real) {
                    return false;
                }
                reduction(steps, "reduce_mean", x, axes, keep).into("Out", out);
            }
            case "l2" -> {
                if (!real) {
                    return false;
                }
                String sum = reduction(steps, "reduce_sum", steps.unary("square", x), axes, keep).out("Out");
                steps.op("sqrt").in("X", sum).into("Out", out);
            }
            case "log_sum" -> {
                if (!real) {
                    return false;
                }
                steps.op("log").in("X", reduction(steps, "reduce_sum", x, axes, keep).out("Out")).into("Out", out);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static Steps.Step reduction(Steps steps, String type, String x, int[] axes, boolean keep) {
        return steps.op(type).in("X", x).attr("dim", axes).attr("keep_dim", keep).attr("reduce_all", false);
    }

    private static boolean resize(OpDesc op, Steps steps, PaddleForms.Reads reads) {
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        String x = op.input("X").getFirst();
        List<Long> dims = steps.tensor(x).dims();
        double[] scales = numbers(op, "Scales", reads);
        double[] sizes = numbers(op, "Sizes", reads);
        int rank = dims.size();
        int spatial = rank - 2;
        if ((scales == null) == (sizes == null) || spatial < 1 || spatial > 3 || !op.input("Roi").isEmpty()
                || attrs.getBool("antialias") || attrs.getBool("exclude_outside")
                || !attrs.getText("policy").equals("stretch")) {
            return false;
        }
        int[] axes = attrs.getInts("axes");
        double[] wanted = scales == null ? sizes : scales;
        double[] images = new double[spatial];
        Arrays.fill(images, -1);
        for (int i = 0; i < axes.length; i++) {
            if (axes[i] >= 2) {
                images[axes[i] - 2] = wanted[i];
            } else if (scales != null ? wanted[i] != 1 : wanted[i] != dims.get(axes[i])) {
                return false;
            }
        }
        if (Arrays.stream(images).anyMatch(each -> each < 0)) {
            return false;
        }
        for (int i = 0; i < spatial; i++) {
            if (!takesSamePlaces(attrs, dims.get(2 + i), images[i], scales != null)) {
                return false;
            }
        }
        boolean whole = scales != null && Arrays.stream(images).allMatch(each -> each == Math.rint(each));
        String kind = kind(attrs, spatial, whole);
        if (kind == null) {
            return false;
        }
        String coordinates = attrs.getText("coordinates");
        boolean nearest = attrs.getText("mode").equals("nearest");
        Steps.Step step = steps.op(kind + "_interp_v2").in("X", x).attr("data_layout", "NCHW")
                .attr("interp_method", kind).attr("align_corners", coordinates.equals("align_corners"))
                .attr("align_mode", nearest || coordinates.equals("asymmetric") ? 1 : 0);
        if (scales != null) {
            float[] factors = new float[spatial];
            for (int i = 0; i < spatial; i++) {
                factors[i] = (float) images[i];
            }
            step.attr("scale", factors);
        } else {
            List<String> names = List.of("out_d", "out_h", "out_w");
            for (int i = 0; i < spatial; i++) {
                step.attr(names.get(3 - spatial + i), (int) images[i]);
            }
        }
        step.into("Out", op.output("Out").getFirst());
        return true;
    }

    /** Whether PaddlePaddle takes the same places along an axis: for one result it takes the first element. */
    private static boolean takesSamePlaces(Attrs attrs, long length, double wanted, boolean isScale) {
        boolean whole = wanted == Math.rint(wanted);
        if (attrs.getText("mode").equals("nearest") || (isScale && whole)) {
            return true;
        }
        return switch (attrs.getText("coordinates")) {
            case "half_pixel" -> isScale
                    ? length >= 0 && Math.floor(length * wanted) > 1
                    : wanted > 1 || length == 1;
            // ONNX does not round the length that a scale gives.
            case "align_corners" -> !isScale || (length >= 0 && length * wanted == Math.rint(length * wanted));
            default -> true;
        };
    }

    /** PaddlePaddle's name for it; null if it takes other places. */
    private static @Nullable String kind(Attrs attrs, int spatial, boolean whole) {
        String coordinates = attrs.getText("coordinates");
        String nearest = attrs.getText("nearest");
        boolean same = coordinates.equals("half_pixel") || coordinates.equals("align_corners");
        return switch (attrs.getText("mode")) {
            case "nearest" -> {
                boolean floor = coordinates.equals("asymmetric") && nearest.equals("floor");
                // Whole scales put no element in the middle: the nearest is the one that is repeated.
                boolean repeats = whole && coordinates.equals("half_pixel") && nearest.startsWith("round");
                yield spatial > 1 && (floor || repeats) ? "nearest" : null;
            }
            case "linear" -> same || coordinates.equals("asymmetric")
                    ? List.of("linear", "bilinear", "trilinear").get(spatial - 1)
                    : null;
            case "cubic" -> spatial == 2 && same && attrs.getFloat("cubic_coeff_a") == (float) CUBIC ? "bicubic" : null;
            default -> null;
        };
    }
}
