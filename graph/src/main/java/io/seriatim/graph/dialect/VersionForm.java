package io.seriatim.graph.dialect;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Operations that mean something else in PaddlePaddle 3 than in PaddlePaddle 2, which an attribute of ours says. Where
 * the other inputs and attributes leave it no influence, it gets the value of the version that is written.
 */
final class VersionForm {
    private VersionForm() {
    }

    /** For PaddlePaddle 2. */
    static void register(Map<String, PaddleForms.Rule> rules) {
        register(rules, false);
    }

    /** For PaddlePaddle 3. */
    static void registerNewer(Map<String, PaddleForms.Rule> rules) {
        register(rules, true);
        // In inference it leaves the statistics as they are, and there is nothing in the variables of its results.
        for (String type : List.of("fake_quantize_moving_average_abs_max",
                "fake_quantize_dequantize_moving_average_abs_max")) {
            rules.put(type, (op, steps, _) -> attrs(op).getBool("is_test")
                    && unchanged(op, steps, List.of(), "Scale", "State", "Accum"));
        }
        rules.put("rmsprop", (op, steps, _) -> !attrs(op).getBool("centered")
                && unchanged(op, steps, List.of("MeanGrad"), "MeanGrad"));
        rules.put("truncated_gaussian_random", (op, steps, _) -> truncated(op, steps));
        rules.put("strided_slice", (op, steps, _) -> slice(op, steps));
        rules.put("one_hot_v2", (op, steps, _) -> ofType(op, steps, DType.FLOAT32));
    }

    private static void register(Map<String, PaddleForms.Rule> rules, boolean newer) {
        rules.put("grid_sampler", (op, steps, _) -> !attrs(op).getText("mode").equals("nearest")
                ? changed(op, steps, "half_to_even", newer)
                : newer && !attrs(op).getBool("half_to_even") && toNearest(op, steps));
        rules.put("put_along_axis", (op, steps, _) -> (!attrs(op).getText("Reduce").equals("mean")
                || steps.tensor(op.input("Input").getFirst()).dtype().isFloating())
                && changed(op, steps, "floors_mean", newer));
        rules.put("digamma", (op, steps, _) -> digamma(op, steps, newer));
        rules.put("lu", (op, steps, reads) -> lu(op, steps, reads, newer));
        rules.put("matrix_rank", (op, steps, _) -> ofType(op, steps, newer ? DType.INT64 : DType.INT32));
        rules.put("sigmoid_cross_entropy_with_logits", (op, steps, _) -> op.input("pos_weight").isEmpty()
                && changed(op, steps, "weighs_labels", newer));
    }

    /** PaddlePaddle 2 cuts at two deviations from the mean, PaddlePaddle 3 at the numbers −2 and 2. */
    private static boolean truncated(OpDesc op, Steps steps) {
        float mean = attrs(op).getFloat("mean");
        float deviation = attrs(op).getFloat("std");
        String out = op.output("Out").getFirst();
        VarType.@Nullable TensorType wanted = steps.known(out);
        if (wanted == null || (mean == 0 && deviation == 1)) {
            return false;
        }
        String drawn = steps.declare(VarType.dense(wanted.dtype(), wanted.shape()));
        steps.keep(op.with("mean", 0f).with("std", 1f).with(op.inputs(), Map.of("Out", List.of(drawn))));
        steps.linear(drawn, deviation, mean).into("Out", out);
        return true;
    }

    /** At zero, PaddlePaddle 3 has infinities where PaddlePaddle 2 has no number. */
    private static boolean digamma(OpDesc op, Steps steps, boolean newer) {
        String x = op.input("X").getFirst();
        String out = op.output("Out").getFirst();
        if (attrs(op).getBool("infinite_at_zero") == newer) {
            return false;
        }
        DType dtype = steps.tensor(x).dtype();
        String isOther = steps.cast(x, DType.BOOL);
        OpDesc changed = op.with("infinite_at_zero", newer);
        if (newer) {
            String undefined = steps.binary("elementwise_div", x, steps.cast(isOther, dtype));
            steps.keep(changed.with(Map.of("X", List.of(undefined)), op.outputs()));
            return true;
        }
        String elsewhere = steps.declare(VarType.dense(dtype, steps.tensor(x).shape()));
        steps.keep(changed.with(op.inputs(), Map.of("Out", List.of(elsewhere))));
        String minus = steps.op("fill_any_like").in("X", x).attr("value", -1f).attr("dtype", DataTypes.number(dtype))
                .out("Out");
        String pole = steps.binary("elementwise_div", minus, x);
        steps.op("where").in("Condition", isOther).in("X", elsewhere).in("Y", pole).into("Out", out);
        return true;
    }

    /** Of one matrix, PaddlePaddle 3 has a scalar and PaddlePaddle 2 a vector with one number. */
    private static boolean lu(OpDesc op, Steps steps, PaddleForms.Reads reads, boolean newer) {
        List<String> infos = op.output("Infos");
        OpDesc changed = op.with("scalar_infos", newer);
        if (attrs(op).getBool("scalar_infos") == newer || infos.stream().noneMatch(reads::isRead)
                || steps.tensor(op.input("X").getFirst()).dims().size() != 2) {
            return keep(changed, steps);
        }
        String made = steps.declare(newer ? VarType.dense(DType.INT32) : VarType.dense(DType.INT32, 1));
        Map<String, List<String>> outputs = new LinkedHashMap<>(op.outputs());
        outputs.put("Infos", List.of(made));
        steps.keep(changed.with(op.inputs(), outputs));
        steps.op(newer ? "unsqueeze2" : "squeeze2").in("X", made).attr("axes", new int[]{0})
                .into("Out", infos.getFirst());
        return true;
    }

    private static boolean keep(OpDesc op, Steps steps) {
        steps.keep(op);
        return true;
    }

    /**
     * PaddlePaddle 3 leaves no dimensions out. Backwards, it takes ends as Python does; for PaddlePaddle 2, −1 is the
     * place before the first element, and an end further off the first, which is left out.
     */
    private static boolean slice(OpDesc op, Steps steps) {
        List<Long> dims = steps.tensor(op.input("Input").getFirst()).dims();
        int[] strides = attrs(op).getInts("strides");
        int[] axes = attrs(op).getInts("axes");
        int[] ends = attrs(op).getInts("ends").clone();
        for (int i = 0; i < Math.min(ends.length, strides.length); i++) {
            if (strides[i] < 0 && ends[i] < 0) {
                long length = dims.get(axes[i] < 0 ? axes[i] + dims.size() : axes[i]);
                if (ends[i] < -1 && length < 0) {
                    return false;
                }
                ends[i] = ends[i] == -1 ? -Integer.MAX_VALUE : Math.toIntExact(Math.max(0, ends[i] + length));
            }
        }
        OpDesc changed = op.with("ends", ends);
        int[] dropped = attrs(op).getInts("decrease_axis");
        String out = op.output("Out").getFirst();
        VarType.@Nullable TensorType wanted = steps.known(out);
        if (dropped.length == 0) {
            steps.keep(changed);
            return true;
        }
        if (wanted == null || wanted.dims().size() + dropped.length != dims.size()) {
            return false;
        }
        List<Long> whole = new ArrayList<>(wanted.dims());
        Arrays.stream(dropped).map(axis -> axis < 0 ? axis + dims.size() : axis).sorted()
                .forEach(axis -> whole.add(axis, 1L));
        String part = steps.declare(VarType.dense(wanted.dtype(),
                whole.stream().mapToLong(Long::longValue).toArray()));
        steps.keep(changed.with("decrease_axis", new int[0]).with(op.inputs(), Map.of("Out", List.of(part))));
        steps.op("squeeze2").in("X", part).attr("axes", dropped).into("Out", out);
        return true;
    }

    /** An operation whose numbers are of one type there, and are wanted in another. */
    private static boolean ofType(OpDesc op, Steps steps, DType made) {
        String out = op.output("Out").getFirst();
        VarType.@Nullable TensorType wanted = steps.known(out);
        if (wanted == null || wanted.dataType() == DataTypes.number(made)) {
            return false;
        }
        String numbers = steps.declare(VarType.dense(made, wanted.shape()));
        steps.keep(op.with("dtype", DataTypes.number(made)).with(op.inputs(), Map.of("Out", List.of(numbers))));
        steps.op("cast").in("X", numbers).attr("in_dtype", DataTypes.number(made)).attr("out_dtype", wanted.dataType())
                .into("Out", out);
        return true;
    }

    /** An operation without results that are their operands, which other variables get as copies. */
    private static boolean unchanged(OpDesc op, Steps steps, List<String> unused, String... states) {
        Map<String, List<String>> inputs = new LinkedHashMap<>(op.inputs());
        Map<String, List<String>> outputs = new LinkedHashMap<>(op.outputs());
        boolean found = false;
        for (String state : states) {
            String in = inputs.containsKey(state) ? state : "In" + state;
            String out = inputs.containsKey(state) ? state + "Out" : "Out" + state;
            List<String> given = inputs.getOrDefault(in, List.of());
            List<String> made = outputs.getOrDefault(out, List.of());
            if (given.size() == 1 && made.size() == 1) {
                found = true;
                outputs.remove(out);
                if (!made.equals(given)) {
                    steps.op("assign").in("X", given).into("Out", made.getFirst());
                }
            }
        }
        unused.forEach(inputs::remove);
        if (found) {
            steps.keep(op.with(inputs, outputs));
        }
        return found;
    }

    private static Attrs attrs(OpDesc op) {
        return new Attrs(op, Operations.system().get(op.type()));
    }

    /**
     * Moves places to the middle of the nearest element: in the middle between two, PaddlePaddle 3 takes that with an
     * even number, PaddlePaddle 2 the outer one.
     */
    private static boolean toNearest(OpDesc op, Steps steps) {
        VarType.TensorType x = steps.tensor(op.input("X").getFirst());
        int spatial = x.dims().size() - 2;
        if (x.dims().subList(2, spatial + 2).stream().anyMatch(length -> length < 0)
                || attrs(op).getText("padding_mode").equals("reflection")) {
            return false;
        }
        boolean corners = attrs(op).getBool("align_corners");
        double[] halves = new double[spatial];
        for (int i = 0; i < spatial; i++) {
            long span = x.dims().get(spatial + 1 - i) - (corners ? 1 : 0);
            halves[i] = span == 0 ? 1 : span / 2.0;
        }
        String half = steps.cast(steps.op("assign_value").attr("shape", new int[]{spatial})
                .attr("dtype", DataTypes.number(DType.FLOAT64)).attr("fp64_values", halves).out("Out"), x.dtype());
        float first = corners ? 0 : -0.5f;
        String place = moved(steps, steps.binary("elementwise_mul", moved(steps, op.input("Grid").getFirst(), 1), half),
                first);
        String whole = RoundingForm.awayFromZero(steps, place);
        if (spatial == 3 && attrs(op).getText("padding_mode").equals("zeros")) {
            whole = withoutOutside(steps, whole, place, x);
        }
        String grid = moved(steps, steps.binary("elementwise_div", moved(steps, whole, -first), half), -1);
        steps.keep(op.with("half_to_even", true).with(Map.of("X", op.input("X"), "Grid", List.of(grid)), op.outputs()));
        return true;
    }

    /** Of volumes, PaddlePaddle 2 takes no element for places behind the ends: they are moved further away. */
    private static String withoutOutside(Steps steps, String whole, String place, VarType.TensorType x) {
        double[] ends = {x.dims().get(4) - 1, x.dims().get(3) - 1, x.dims().get(2) - 1};
        String last = steps.cast(steps.op("assign_value").attr("shape", new int[]{3})
                .attr("dtype", DataTypes.number(DType.FLOAT64)).attr("fp64_values", ends).out("Out"), x.dtype());
        String before = steps.unary("ceil", steps.unary("relu", steps.linear(place, -1, 0).out("Out")));
        String behind = steps.unary("ceil", steps.unary("relu", steps.binary("elementwise_sub", place, last)));
        return steps.binary("elementwise_add", steps.binary("elementwise_sub", whole, before), behind);
    }

    private static String moved(Steps steps, String x, float by) {
        return by == 0
                ? x
                : steps.linear(x, 1, by).out("Out");
    }

    private static boolean changed(OpDesc op, Steps steps, String attribute, boolean value) {
        return keep(op.with(attribute, value), steps);
    }
}
