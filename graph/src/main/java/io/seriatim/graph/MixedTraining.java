package io.seriatim.graph;

import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Trains in mixed precision: casts are put around the operations of the first block, the loss is scaled, and gradients are scaled back and checked before the optimizer gets them.
 */
final class MixedTraining {
    private final Graph graph;
    private final Block block;
    private final Optimizer optimizer;
    private final MixedPrecision precision;

    MixedTraining(Graph graph, Optimizer optimizer, MixedPrecision precision) {
        this.graph = graph;
        this.block = graph.main().global();
        this.optimizer = optimizer;
        this.precision = precision;
    }

    List<ParameterGradient> minimize(Value loss, List<Value> parameters, Set<Value> noGradient) {
        castOperations();
        Value single = loss.dtype() == DType.FLOAT32 ? loss : loss.cast(DType.FLOAT32);
        String scale = graph.names().next("loss_scaling");
        graph.persistent(scale, DType.FLOAT32, new long[]{1}, precision.scale(), true, "");
        Value scaled = single.times(graph.value(scale));
        List<ParameterGradient> pairs = graph.backward(scaled, parameters, noGradient);
        moveCasts(pairs);
        String found = check(pairs, scale);
        if (precision.dynamic()) {
            adjust(pairs, scale, found);
        }
        new Training(graph, optimizer, optimizer.canSkip() ? flag(found) : null).apply(pairs);
        return pairs;
    }

    private void castOperations() {
        List<OpDesc> ops = List.copyOf(block.ops());
        block.setOps(List.of());
        Map<String, OpDesc> producers = new HashMap<>();
        Set<OpDesc> low = new HashSet<>();
        Set<OpDesc> full = new HashSet<>();
        Map<String, String> casts = new HashMap<>();
        for (OpDesc op : ops) {
            boolean inLow = isLow(op, producers, low, full);
            (inLow ? low : full).add(op);
            OpDesc changed = inLow
                    ? withInputs(op, DType.FLOAT32, precision.dtype(), ".cast_fp16", casts)
                    : mustBeFull(op, full) ? withInputs(op, precision.dtype(), DType.FLOAT32, ".cast_fp32", casts) : op;
            op.outputNames().forEach(name -> {
                producers.put(name, op);
                casts.keySet().removeIf(key -> key.startsWith(name + ".cast_"));
            });
            Appender.append(block, changed, Roles.of(op));
        }
    }

    private static boolean mustBeFull(OpDesc op, Set<OpDesc> full) {
        return full.contains(op) && !op.type().equals("cast") && ControlGradients.block(op) < 0;
    }

    private static boolean isLow(OpDesc op, Map<String, OpDesc> producers, Set<OpDesc> low, Set<OpDesc> full) {
        if (PrecisionLists.FULL.contains(op.type()) || !PrecisionLists.FOLLOW.contains(op.type())) {
            return PrecisionLists.LOW.contains(op.type());
        }
        boolean afterLow = false;
        for (String name : op.inputNames()) {
            OpDesc producer = producers.get(name);
            if (producer != null && full.contains(producer) && !PrecisionLists.FOLLOW.contains(producer.type())) {
                return false;
            }
            afterLow |= producer != null && low.contains(producer);
        }
        return afterLow;
    }

    private OpDesc withInputs(OpDesc op, DType from, DType to, String suffix, Map<String, String> casts) {
        // Statistics and their scale stay in float32, as the kernels take them.
        Set<String> kept = op.type().equals("batch_norm") ? Set.of("Scale", "Bias", "Mean", "Variance") : Set.of();
        Map<String, List<String>> inputs = new java.util.LinkedHashMap<>();
        op.inputs().forEach((slot, names) -> inputs.put(slot,
                kept.contains(slot) ? names : names.stream().map(name -> cast(name, from, to, suffix, casts)).toList()));
        return op.with(inputs, op.outputs());
    }

    private String cast(String name, DType from, DType to, String suffix, Map<String, String> casts) {
        VarDesc desc = block.find(name);
        VarType.TensorType type = desc == null || !(desc.type() instanceof VarType.Dense) ? null : desc.type().tensorType();
        if (desc == null || type == null || type.dataType() != DataTypes.number(from)) {
            return name;
        }
        return casts.computeIfAbsent(name + suffix, key -> {
            block.put(VarDesc.of(key, VarType.dense(to, type.shape())).stopping(desc.stopsGradient()));
            Appender.append(block, OpDesc.of("cast").in("X", name).out("Out", key).attr("in_dtype", DataTypes.number(from))
                    .attr("out_dtype", DataTypes.number(to)).build(), Roles.FORWARD);
            return key;
        });
    }

    /** The casts of parameters' gradients come after all of backward: an optimizer may be given them in 16 bits. */
    private void moveCasts(List<ParameterGradient> pairs) {
        Set<String> gradients = new HashSet<>();
        pairs.forEach(pair -> gradients.add(pair.gradient()));
        List<OpDesc> before = new ArrayList<>();
        List<OpDesc> after = new ArrayList<>();
        for (OpDesc op : block.ops()) {
            boolean moves = op.type().equals("cast") && (Roles.of(op) & Roles.BACKWARD) != 0 && gradients.containsAll(op.outputNames());
            (moves ? after : before).add(moves ? op.with(Roles.ATTRIBUTE, Roles.OPTIMIZE) : op);
        }
        before.addAll(after);
        block.setOps(before);
    }

    private String check(List<ParameterGradient> pairs, String scale) {
        String found = "find_infinite_scale.tmp_0";
        List<String> gradients = pairs.stream().map(ParameterGradient::gradient).toList();
        block.put(VarDesc.of(found, VarType.dense(DType.BOOL, 1)).stopping(true));
        Appender.append(block, OpDesc.of("check_finite_and_unscale").in("X", gradients).in("Scale", scale).out("Out", gradients)
                .out("FoundInfinite", found).build(), Roles.OPTIMIZE);
        return found;
    }

    private void adjust(List<ParameterGradient> pairs, String scale, String found) {
        String good = graph.names().next("num_good_steps");
        String bad = graph.names().next("num_bad_steps");
        graph.persistent(good, DType.INT32, new long[]{1}, 0, true, "");
        graph.persistent(bad, DType.INT32, new long[]{1}, 0, true, "");
        List<String> gradients = pairs.stream().map(ParameterGradient::gradient).toList();
        Appender.append(block, OpDesc.of("update_loss_scaling").in("X", gradients).in("FoundInfinite", found).in("PrevLossScaling", scale)
                .in("InGoodSteps", good).in("InBadSteps", bad).in("StopUpdate").out("Out", gradients).out("LossScaling", scale)
                .out("OutGoodSteps", good).out("OutBadSteps", bad).attr("incr_every_n_steps", precision.raiseAfter())
                .attr("decr_every_n_nan_or_inf", 1).attr("incr_ratio", 2f).attr("decr_ratio", 0.5f).attr("stop_update", false).build(),
                Roles.OPTIMIZE);
    }

    private String flag(String found) {
        String flag = graph.names().next(found);
        Appender.append(block, OpDesc.of("memcpy").in("X", found).out("Out", flag).attr("dst_place_type", 0).build(), Roles.OPTIMIZE);
        return flag;
    }
}
