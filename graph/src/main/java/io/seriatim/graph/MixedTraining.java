package io.seriatim.graph;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.autodiff.ControlGradients;
import io.seriatim.graph.optimizer.MixedPrecision;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.ParameterGradient;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Trains in mixed precision: casts are put around the operations of the first block, the loss is scaled, and gradients
 * are scaled back and checked before the optimizer gets them.
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
        List<ParameterGradient> pairs = graph.backwardToSome(scaled, parameters, noGradient);
        moveCasts(pairs);
        String found = check(pairs, scale);
        if (precision.dynamic()) {
            adjust(pairs, scale, found);
        }
        new Training(graph, optimizer, optimizer.canSkip() ? flag(found) : null).apply(pairs);
        return pairs;
    }

    /**
     * Gives each operation its inputs in the type in which it computes. Inner blocks compute in float32, and so do the
     * operations whose results they read.
     */
    private void castOperations() {
        List<OpDesc> ops = List.copyOf(block.ops());
        Set<String> kept = readInBlocks();
        block.setOps(List.of());
        Map<String, Boolean> low = new HashMap<>();
        Map<String, String> casts = new HashMap<>();
        for (OpDesc op : ops) {
            OpDesc changed = op;
            if (op.type().equals("cast")) {
                changed = op.with("in_dtype", block.get(op.input("X").getFirst()).tensor().dataType());
            } else if (isProcessed(op)) {
                boolean inLow = isLow(op, low) && Collections.disjoint(op.outputNames(), kept);
                changed = inLow
                        ? withInputs(op, DType.FLOAT32, precision.dtype(), ".cast_fp16", casts)
                        : withInputs(op, precision.dtype(), DType.FLOAT32, ".cast_fp32", casts);
                op.outputNames().forEach(name -> low.put(name, inLow));
            }
            op.outputNames().forEach(name -> casts.keySet().removeIf(key -> key.startsWith(name + ".cast_")));
            Appender.append(block, changed, Roles.of(op));
        }
    }

    private Set<String> readInBlocks() {
        Set<String> names = new HashSet<>();
        for (Block each : graph.main().blocks()) {
            if (each != block) {
                each.ops().forEach(op -> names.addAll(op.inputNames()));
            }
        }
        for (OpDesc op : block.ops()) {
            if (ControlGradients.block(op) >= 0) {
                names.addAll(op.inputNames());
            }
        }
        return names;
    }

    /** Operations without floating-point inputs stay as they are, and so do those whose type an attribute gives. */
    private boolean isProcessed(OpDesc op) {
        List<String> names = op.inputNames();
        boolean typed = op.attribute("in_dtype") == null
                && (isFloating(op.attribute("out_dtype")) || isFloating(op.attribute("dtype")));
        return ControlGradients.block(op) < 0 && !typed
                && (names.isEmpty() || names.stream().anyMatch(this::isFloating));
    }

    private static boolean isFloating(@Nullable Attribute type) {
        DType dtype = type instanceof Attribute.Int(int number) ? DataTypes.find(number) : null;
        return dtype != null && dtype.isFloating();
    }

    private boolean isFloating(String name) {
        VarDesc desc = block.find(name);
        VarType.TensorType type = desc == null ? null : desc.type().tensorType();
        DType dtype = type == null ? null : DataTypes.find(type.dataType());
        return dtype != null && dtype.isFloating();
    }

    private static boolean isLow(OpDesc op, Map<String, Boolean> low) {
        if (PrecisionLists.FULL.contains(op.type()) || !PrecisionLists.FOLLOW.contains(op.type())) {
            return PrecisionLists.LOW.contains(op.type());
        }
        // If there are several inputs, the last one decides.
        boolean result = true;
        for (String name : op.inputNames()) {
            result = low.getOrDefault(name, result);
        }
        return result;
    }

    private OpDesc withInputs(OpDesc op, DType from, DType to, String suffix, Map<String, String> casts) {
        // Statistics and their scale stay in float32, as the kernels take them.
        Set<String> kept = op.type().endsWith("batch_norm") ? Set.of("Scale", "Bias", "Mean", "Variance") : Set.of();
        Map<String, List<String>> inputs = new LinkedHashMap<>();
        List<OpDesc> added = new ArrayList<>();
        op.inputs().forEach((slot, names) -> inputs.put(slot,
                kept.contains(slot)
                        ? names
                        : names.stream().map(name -> cast(name, from, to, suffix, casts, added)).toList()));
        added.reversed().forEach(each -> Appender.append(block, each, Roles.FORWARD));
        return op.with(inputs, op.outputs());
    }

    private String cast(String name, DType from, DType to, String suffix, Map<String, String> casts,
            List<OpDesc> added) {
        VarDesc desc = block.find(name);
        VarType.TensorType type = desc == null || !(desc.type() instanceof VarType.Dense)
                ? null
                : desc.type().tensorType();
        if (desc == null || type == null || type.dataType() != DataTypes.number(from)) {
            return name;
        }
        return casts.computeIfAbsent(name + suffix, key -> {
            block.put(VarDesc.of(key, VarType.dense(to, type.shape())).stopping(desc.stopsGradient()));
            added.add(OpDesc.of("cast").in("X", name).out("Out", key).attr("in_dtype", DataTypes.number(from))
                    .attr("out_dtype", DataTypes.number(to)).build());
            return key;
        });
    }

    /** The casts of parameters' gradients come after all of backward: an optimizer may be given them in 16 bits. */
    private void moveCasts(List<ParameterGradient> pairs) {
        List<String> gradients = pairs.stream().map(ParameterGradient::gradient).toList();
        List<OpDesc> before = new ArrayList<>();
        List<OpDesc> after = new ArrayList<>();
        for (OpDesc op : block.ops()) {
            boolean moves = op.type().equals("cast") && (Roles.of(op) & Roles.BACKWARD) != 0
                    && gradients.containsAll(op.outputNames());
            if (moves) {
                after.add(op.without(Set.of(Roles.VARIABLES)).with(Roles.VARIABLES, new String[0]).with(Roles.ATTRIBUTE,
                        Roles.OPTIMIZE));
                finishes(before, op);
            } else {
                before.add(op);
            }
        }
        after.sort(Comparator.comparingInt(op -> gradients.indexOf(op.output("Out").getFirst())));
        before.addAll(after);
        block.setOps(before);
    }

    /** The note that the cast completes a gradient moves to the operation that computes the cast's input. */
    private static void finishes(List<OpDesc> ops, OpDesc cast) {
        String gradient = cast.input("X").getFirst();
        if (cast.attribute(Roles.VARIABLES) instanceof Attribute.Texts(List<String> pair) && !pair.isEmpty()) {
            for (int i = ops.size() - 1; i >= 0; i--) {
                if (ops.get(i).outputNames().contains(gradient)) {
                    List<String> pairs = new ArrayList<>();
                    if (ops.get(i).attribute(Roles.VARIABLES) instanceof Attribute.Texts(List<String> before)) {
                        pairs.addAll(before);
                    }
                    pairs.addAll(List.of(pair.getFirst(), gradient));
                    ops.set(i, ops.get(i).with(Roles.VARIABLES, pairs.toArray(String[]::new)));
                    return;
                }
            }
        }
    }

    private String check(List<ParameterGradient> pairs, String scale) {
        String found = "find_infinite_scale.tmp_0";
        List<String> gradients = pairs.stream().map(ParameterGradient::gradient).toList();
        block.put(VarDesc.of(found, VarType.dense(DType.BOOL, 1)));
        Appender.append(block,
                OpDesc.of("check_finite_and_unscale").in("X", gradients).in("Scale", scale).out("Out", gradients)
                        .out("FoundInfinite", found).attr(Roles.VARIABLES, gradients.toArray(String[]::new)).build(),
                Roles.OPTIMIZE);
        return found;
    }

    private void adjust(List<ParameterGradient> pairs, String scale, String found) {
        String good = graph.names().next("num_good_steps");
        String bad = graph.names().next("num_bad_steps");
        graph.persistent(good, DType.INT32, new long[]{1}, 0, true, "");
        graph.persistent(bad, DType.INT32, new long[]{1}, 0, true, "");
        List<String> gradients = pairs.stream().map(ParameterGradient::gradient).toList();
        Appender.append(block, OpDesc.of("update_loss_scaling").in("X", gradients).in("FoundInfinite", found)
                .in("PrevLossScaling", scale)
                .in("InGoodSteps", good).in("InBadSteps", bad).in("StopUpdate").out("Out", gradients)
                .out("LossScaling", scale)
                .out("OutGoodSteps", good).out("OutBadSteps", bad).attr("incr_every_n_steps", precision.raiseAfter())
                .attr("decr_every_n_nan_or_inf", 1).attr("incr_ratio", 2f).attr("decr_ratio", 0.5f)
                .attr("stop_update", false).build(),
                Roles.OPTIMIZE);
    }

    private String flag(String found) {
        String flag = graph.names().next(graph.names().next("memcpy") + ".tmp");
        Appender.append(block, OpDesc.of("memcpy").in("X", found).out("Out", flag).attr("dst_place_type", 0).build(),
                Roles.OPTIMIZE);
        return flag;
    }
}
