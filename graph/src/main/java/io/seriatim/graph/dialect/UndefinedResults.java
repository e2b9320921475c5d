package io.seriatim.graph.dialect;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Operations whose results PaddlePaddle takes from rounding errors, or from memory behind the operand. */
final class UndefinedResults {
    /** What float32 may add to a place, which PaddlePaddle computes in it. */
    private static final double ROUNDING = 1e-4;

    private UndefinedResults() {
    }

    /** Why the results are not defined, and what to do; null if they are. */
    static @Nullable String problem(OpDesc op, Steps steps, PaddleForms.Reads reads) {
        return switch (op.type()) {
            case "matrix_rank" -> rank(op);
            case "nearest_interp_v2", "linear_interp_v2", "bilinear_interp_v2", "trilinear_interp_v2" ->
                interpolation(op, steps, reads);
            default -> null;
        };
    }

    private static Attrs attrs(OpDesc op) {
        return new Attrs(op, Operations.system().get(op.type()));
    }

    private static @Nullable String rank(OpDesc op) {
        float tolerance = attrs(op).getFloat("tol");
        return attrs(op).getBool("use_default_tol") || !op.input("TolTensor").isEmpty() || tolerance > 0
                ? null
                : "with tol = " + tolerance + ", which counts rounding errors as rank: give a tolerance above 0, or "
                        + "set use_default_tol";
    }

    /** A scale decides on the places that a size counts: PaddlePaddle does not hold them against the image's end. */
    private static @Nullable String interpolation(OpDesc op, Steps steps, PaddleForms.Reads reads) {
        Attrs attrs = attrs(op);
        double[] scales = attrs.getDoubles("scale");
        if (op.input("OutSize").isEmpty() || !op.input("SizeTensor").isEmpty() || attrs.getBool("align_corners")
                || (scales.length == 0 && op.input("Scale").isEmpty())) {
            return null;
        }
        Tensor size = reads.constant(op.input("OutSize").getFirst());
        VarType.@Nullable TensorType x = steps.known(op.input("X").getFirst());
        String advice = ": give OutSize without a scale, or a scale without OutSize";
        if (size == null || x == null || !op.input("Scale").isEmpty()) {
            return "with both OutSize and a scale, which reads behind the image where they do not fit, and only a "
                    + "run knows them" + advice;
        }
        long[] sizes = size.toLongArray();
        List<Long> dims = x.dims();
        int first = attrs.getText("data_layout").equals("NHWC") ? 1 : 2;
        boolean areas = attrs.getInt("align_mode") == 0 && !attrs.getText("interp_method").equals("nearest");
        for (int i = 0; i < sizes.length; i++) {
            double step = 1 / scales[Math.min(i, scales.length - 1)];
            double last = areas ? step * (sizes[i] - 0.5) - 0.5 : step * (sizes[i] - 1);
            long length = dims.get(first + i);
            if (length < 0 || last >= length - ROUNDING) {
                return String.format(Locale.ROOT, "with OutSize %d and scale %s, which reads behind the %s elements "
                        + "of spatial axis %d%s", sizes[i], scales[Math.min(i, scales.length - 1)],
                        length < 0 ? "unknown number of" : length, i, advice);
            }
        }
        return null;
    }
}
