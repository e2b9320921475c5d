package io.seriatim.graph.ops.recurrent;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.List;

/**
 * One step of a gated recurrent unit (Cho et al., 2014). Its gates are, in order, update, reset and candidate; of the
 * weights, all those of the first two come before those of the last.
 */
public final class GruUnitOperations {
    private static final MatMul TRANSPOSED_X = new MatMul(true, false, false, List.of());
    private static final MatMul TRANSPOSED_Y = new MatMul(false, true, false, List.of());

    private GruUnitOperations() {
    }

    /** The functions of gates, by Paddle's numbers. */
    private enum Activation {
        IDENTITY, SIGMOID, TANH, RELU;

        static Activation of(Lowering l, String attribute) {
            return values()[l.attrs().getInt(attribute)];
        }

        Term apply(Term x) {
            return switch (this) {
                case IDENTITY -> x;
                case SIGMOID -> x.unary(Unary.Function.SIGMOID);
                case TANH -> x.unary(Unary.Function.TANH);
                case RELU -> x.unary(Unary.Function.RELU);
            };
        }

        /** The gradient of the function's input. */
        Term gradient(Term y, Term dy) {
            return switch (this) {
                case IDENTITY -> dy;
                case SIGMOID -> dy.times(y).times(y.linear(-1, 1));
                case TANH -> dy.times(y.times(y).linear(-1, 1));
                case RELU -> y.isAbove(0).orZero(dy);
            };
        }
    }

    public static void register(Operations registry) {
        Operation.define("gru_unit").in("Input", "HiddenPrev", "Weight", "Bias?")
                .out("Gate~", "ResetHiddenPrev~", "Hidden").attr("activation", 2).attr("gate_activation", 1)
                .attr("origin_mode", false).infer(GruUnitOperations::infer).lower(GruUnitOperations::lower)
                .grad("gru_unit_grad(Input, HiddenPrev, Weight, Bias, Gate, ResetHiddenPrev, Hidden@GRAD)"
                        + " -> Input@GRAD, HiddenPrev@GRAD, Weight@GRAD, Bias@GRAD", GruUnitOperations::gradient)
                .register(registry);
    }

    private static void infer(Inference inference) {
        Checks.floating(inference, "Input", "HiddenPrev", "Weight");
        long[] hidden = inference.dims("HiddenPrev");
        inference.require(hidden.length == 2, "HiddenPrev must have the shape [batch, width], but has %s",
                Numbers.text(hidden));
        long gates = hidden[1] < 0 ? -1 : Math.multiplyExact(3, hidden[1]);
        Checks.shape(inference, "Input", hidden[0], gates);
        Checks.shape(inference, "Weight", hidden[1], gates);
        if (inference.has("Bias")) {
            Checks.floating(inference, "Input", "Bias");
            Checks.shape(inference, "Bias", 1, gates);
        }
        for (String attribute : List.of("activation", "gate_activation")) {
            long number = inference.attrs().getLong(attribute);
            inference.require(number >= 0 && number < Activation.values().length,
                    "%s must be 0 (identity), 1 (sigmoid), 2 (tanh) or 3 (relu), but is %d", attribute, number);
        }
        long[] input = inference.dims("Input");
        inference.set("Gate", inference.dtype("Input"), input[0], gates);
        inference.same("HiddenPrev", "ResetHiddenPrev");
        inference.same("HiddenPrev", "Hidden");
    }

    /** The weights of the first two gates, [width, 2 · width]. */
    private static Operand ofGates(Operand weight) {
        long width = weight.dim(0);
        return weight.reshape(3 * width * width).slice(0, 0, 2 * width * width).reshape(width, 2 * width);
    }

    /** The weights of the candidate, [width, width]. */
    private static Operand ofCandidate(Operand weight) {
        long width = weight.dim(0);
        return weight.reshape(3 * width * width).slice(0, 2 * width * width, 3 * width * width).reshape(width, width);
    }

    private static Term gate(Lowering l, Operand gates, int index) {
        long width = gates.dim(1) / 3;
        return new Term(l, gates.slice(1, index * width, (index + 1) * width));
    }

    private static Term product(Lowering l, MatMul product, Operand a, Operand b) {
        return new Term(l, l.run(product, a, b));
    }

    private static void lower(Lowering l) {
        Term previous = Term.of(l, "HiddenPrev");
        long width = previous.operand().dim(1);
        Operand weight = l.in("Weight");
        Term input = l.has("Bias") ? Term.of(l, "Input").plus(Term.of(l, "Bias")) : Term.of(l, "Input");
        Term both = new Term(l, input.operand().slice(1, 0, 2 * width))
                .plus(product(l, MatMul.PLAIN, previous.operand(), ofGates(weight)));
        Term gates = Activation.of(l, "gate_activation").apply(both);
        Term update = new Term(l, gates.operand().slice(1, 0, width));
        Term reset = new Term(l, gates.operand().slice(1, width, 2 * width)).times(previous);
        Term candidate = Activation.of(l, "activation").apply(gate(l, input.operand(), 2)
                .plus(product(l, MatMul.PLAIN, reset.operand(), ofCandidate(weight))));
        if (l.wants("Gate")) {
            l.into(Copy.PLAIN, List.of(gates.operand()), List.of(l.output("Gate").slice(1, 0, 2 * width)));
            l.into(Copy.PLAIN, List.of(candidate.operand()),
                    List.of(l.output("Gate").slice(1, 2 * width, 3 * width)));
        }
        reset.to("ResetHiddenPrev");
        boolean origin = l.attrs().getBool("origin_mode");
        Term from = origin ? candidate : previous;
        from.plus(update.times((origin ? previous : candidate).minus(from))).to("Hidden");
    }

    private static void gradient(Lowering l) {
        Operand gates = l.in("Gate");
        Operand weight = l.in("Weight");
        Term previous = Term.of(l, "HiddenPrev");
        Term dy = Term.of(l, "Hidden@GRAD");
        Term update = gate(l, gates, 0);
        Term reset = gate(l, gates, 1);
        Term candidate = gate(l, gates, 2);
        boolean origin = l.attrs().getBool("origin_mode");
        Activation ofGates = Activation.of(l, "gate_activation");
        Term difference = origin ? previous.minus(candidate) : candidate.minus(previous);
        Term dUpdate = ofGates.gradient(update, dy.times(difference));
        Term dCandidate = Activation.of(l, "activation").gradient(candidate,
                dy.times(origin ? update.linear(-1, 1) : update));
        Term dResetHidden = product(l, TRANSPOSED_Y, dCandidate.operand(), ofCandidate(weight));
        Term dReset = ofGates.gradient(reset, dResetHidden.times(previous));
        Operand all = l.temporary(gates.spec());
        long width = gates.dim(1) / 3;
        List<Term> parts = List.of(dUpdate, dReset, dCandidate);
        for (int i = 0; i < parts.size(); i++) {
            l.into(Copy.PLAIN, List.of(parts.get(i).operand()), List.of(all.slice(1, i * width, (i + 1) * width)));
        }
        Operand both = all.slice(1, 0, 2 * width);
        l.out("Input@GRAD", all);
        if (l.wants("HiddenPrev@GRAD")) {
            dResetHidden.times(reset).plus(dy.times(origin ? update : update.linear(-1, 1)))
                    .plus(product(l, TRANSPOSED_Y, both, ofGates(weight))).to("HiddenPrev@GRAD");
        }
        if (l.wants("Weight@GRAD")) {
            Operand to = l.output("Weight@GRAD");
            l.into(TRANSPOSED_X, List.of(previous.operand(), both), List.of(ofGates(to)));
            l.into(TRANSPOSED_X, List.of(l.in("ResetHiddenPrev"), dCandidate.operand()), List.of(ofCandidate(to)));
        }
        if (l.wants("Bias@GRAD")) {
            l.out("Bias@GRAD", l.run(new Reduction(Reduction.Function.SUM, List.of(0), true), all));
        }
    }
}
