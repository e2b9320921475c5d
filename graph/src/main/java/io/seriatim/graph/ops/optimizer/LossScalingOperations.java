package io.seriatim.graph.ops.optimizer;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.AllFinite;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Loss scaling for training with 16-bit numbers: gradients are scaled back unless one has overflowed, and the scale
 * adapts to the frequency of overflows.
 */
public final class LossScalingOperations {
    private LossScalingOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("check_finite_and_unscale").in("X*", "Scale").out("Out*", "FoundInfinite").infer(inference -> {
            number(inference, "Scale");
            inference.sameEach("X", "Out");
            inference.set("FoundInfinite", DType.BOOL, 1);
        }).lower(LossScalingOperations::unscale).register(registry);
        Operation.define("update_loss_scaling")
                .in("X*", "FoundInfinite", "PrevLossScaling", "InGoodSteps", "InBadSteps", "StopUpdate?")
                .out("Out*", "LossScaling", "OutGoodSteps", "OutBadSteps")
                .required("incr_every_n_steps", Attribute.Int.class)
                .required("decr_every_n_nan_or_inf", Attribute.Int.class).required("incr_ratio", Attribute.Real.class)
                .required("decr_ratio", Attribute.Real.class).attr("stop_update", false).infer(inference -> {
                    List.of("FoundInfinite", "PrevLossScaling", "InGoodSteps", "InBadSteps")
                            .forEach(slot -> number(inference, slot));
                    inference.sameEach("X", "Out");
                    inference.set("LossScaling", inference.dtype("PrevLossScaling"), 1);
                    inference.set("OutGoodSteps", DType.INT32, 1);
                    inference.set("OutBadSteps", DType.INT32, 1);
                }).lower(LossScalingOperations::rescale).register(registry);
    }

    private static void number(Inference inference, String slot) {
        long size = Inference.size(inference.dims(slot));
        inference.require(size == 1 || size < 0, "%s must be one number, but are %d", slot, size);
    }

    private static void unscale(Lowering l) {
        if (l.count("X") == 0) {
            l.out("FoundInfinite", l.fill(0, l.output("FoundInfinite").spec()));
            return;
        }
        Map<DType, Operand> inverses = new EnumMap<>(DType.class);
        Operand finite = l.run(new AllFinite(), l.ins("X").toArray(Operand[]::new));
        for (int i = 0; i < l.count("X"); i++) {
            Operand x = l.in("X", i);
            Operand inverse = inverses.computeIfAbsent(scaleType(x.dtype()),
                    type -> l.unary(Unary.Function.RECIPROCAL, l.cast(l.in("Scale"), type)).reshape());
            set(l, i, l.binary(Binary.Function.MULTIPLY, l.cast(x, inverse.dtype()), inverse));
        }
        l.out("FoundInfinite", l.unary(Unary.Function.LOGICAL_NOT, finite).reshape(1));
    }

    /** The scale of 16-bit gradients is a float32, whose inverse may be too small for 16 bits. */
    private static DType scaleType(DType gradient) {
        return gradient == DType.FLOAT64 ? DType.FLOAT64 : DType.FLOAT32;
    }

    private static void set(Lowering l, int index, Operand values) {
        l.out("Out", index, values);
        if (l.type("X", index).kind() == ArgType.Kind.ROWS && l.wants("Out", index)) {
            Operand rows = l.rowIndexes("X", index);
            l.into(Copy.PLAIN, List.of(rows),
                    List.of(new Operand(new Operand.Source.OutputRowIndexes("Out", index), 0, rows.spec())));
        }
    }

    private static void rescale(Lowering l) {
        Operand found = l.in("FoundInfinite").reshape();
        for (int i = 0; i < l.count("X"); i++) {
            Operand x = l.in("X", i);
            set(l, i, l.run(new Where(), found, l.number(x.dtype(), 0), x));
        }
        Operand scale = l.mutable("PrevLossScaling", "LossScaling");
        Operand good = l.mutable("InGoodSteps", "OutGoodSteps");
        Operand bad = l.mutable("InBadSteps", "OutBadSteps");
        if (l.attrs().getBool("stop_update")) {
            return;
        }
        Rule rule = new Rule(l.attrs().getInt("incr_every_n_steps"), l.attrs().getInt("decr_every_n_nan_or_inf"),
                l.attrs().getFloat("incr_ratio"), l.attrs().getFloat("decr_ratio"));
        l.call("the rule of the loss's scale", rule::apply,
                Arrays.asList(l.in("FoundInfinite"), l.optional("StopUpdate")),
                List.of(scale, good, bad));
    }

    /** After some steps without overflow the scale grows, after some with it shrinks, but not below 1. */
    private record Rule(int raiseAfter, int lowerAfter, float raise, float lower) {
        void apply(List<@Nullable Tensor> in, List<@Nullable Tensor> state) {
            Tensor stop = in.get(1);
            if (stop != null && stop.toLongArray()[0] != 0) {
                return;
            }
            boolean found = Objects.requireNonNull(in.getFirst()).toLongArray()[0] != 0;
            Tensor scale = Objects.requireNonNull(state.get(0));
            Tensor good = Objects.requireNonNull(state.get(1));
            Tensor bad = Objects.requireNonNull(state.get(2));
            int goodSteps = found ? 0 : (int) good.toLongArray()[0] + 1;
            int badSteps = found ? (int) bad.toLongArray()[0] + 1 : 0;
            double before = scale.toDoubleArray()[0];
            if (found && badSteps == lowerAfter) {
                set(scale, Math.max(before * lower, 1));
                badSteps = 0;
            } else if (!found && goodSteps == raiseAfter) {
                double raised = before * raise;
                set(scale, raised <= Float.MAX_VALUE || scale.dtype() == DType.FLOAT64 ? raised : before);
                goodSteps = 0;
            }
            set(good, goodSteps);
            set(bad, badSteps);
        }

        private static void set(Tensor to, double value) {
            try (Tensor one = Tensor.of(to.dtype(), new double[]{value}, 1)) {
                to.memory().asSlice(to.offset(), to.dtype().bytes())
                        .copyFrom(one.memory().asSlice(one.offset(), one.dtype().bytes()));
            }
        }
    }
}
