package io.seriatim.graph.ops.loss;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Reduction;
import java.util.List;

/** The modified Huber loss, and numbers that are a loss already. */
public final class RarerLossOperations {
    private static final int SUM = 0;
    private static final int MEAN = 1;
    private static final int NONE = 2;

    private RarerLossOperations() {
    }

    public static void register(Operations registry) {
        modifiedHuber(registry);
        identity(registry);
    }

    private static void modifiedHuber(Operations registry) {
        Operation.define("modified_huber_loss").in("X", "Y").out("IntermediateVal~", "Out").infer(inference -> {
            DType dtype = inference.dtype("X");
            long[] x = inference.dims("X");
            long[] y = inference.dims("Y");
            boolean fits = x.length == 2 && y.length == 2;
            for (int i = 0; fits && i < 2; i++) {
                fits = x[i] < 0 || y[i] < 0 || x[i] == y[i];
            }
            inference.require(fits && (x[1] == 1 || x[1] < 0), "X and Y must both be [batch, 1], but are %s and %s",
                    Numbers.text(x), Numbers.text(y));
            inference.require(dtype.isFloating() && inference.dtype("Y") == dtype,
                    "X and Y must be of one floating-point type, but are %s and %s", dtype, inference.dtype("Y"));
            inference.set("IntermediateVal", dtype, x);
            inference.set("Out", dtype, x[0], 1);
        }).lower(l -> {
            Term margin = Term.of(l, "X").times(sign(l));
            margin.to("IntermediateVal");
            Term rest = margin.linear(-1, 1);
            Term curved = margin.isBelow(1).orZero(rest.times(rest));
            margin.isBelow(-1).choose(margin.linear(-4, 0), curved).to("Out");
        }).grad("modified_huber_loss_grad(IntermediateVal, Y, Out@GRAD) -> X@GRAD", l -> {
            Term margin = Term.of(l, "IntermediateVal");
            Term curved = margin.isBelow(1).orZero(margin.linear(2, -2));
            Term slope = margin.isBelow(-1).choose(margin.number(-4), curved);
            slope.times(sign(l)).times(Term.of(l, "Out@GRAD")).to("X@GRAD");
        }).register(registry);
    }

    /** −1 or 1 for labels of 0 or 1. */
    private static Term sign(Lowering l) {
        return Term.of(l, "Y").linear(2, -1);
    }

    private static void identity(Operations registry) {
        Operation.define("identity_loss").in("X").out("Out").attr("reduction", MEAN).infer(inference -> {
            checkIdentity(inference, "X");
            boolean whole = inference.attrs().getInt("reduction") != NONE;
            inference.set("Out", inference.dtype("X"), whole ? new long[0] : inference.dims("X"));
        }).lower(l -> l.out("Out", switch (l.attrs().getInt("reduction")) {
            case SUM -> l.run(new Reduction(Reduction.Function.SUM, List.of(), false), l.in("X"));
            case MEAN -> l.run(new Reduction(Reduction.Function.MEAN, List.of(), false), l.in("X"));
            default -> l.in("X");
        })).grad("identity_loss_grad(X, Out@GRAD) -> X@GRAD", inference -> {
            checkIdentity(inference, "X");
            inference.same("X", "X@GRAD");
        }, l -> {
            Operand x = l.in("X");
            Operand dout = l.in("Out@GRAD");
            int reduction = l.attrs().getInt("reduction");
            if (reduction == MEAN) {
                dout = new Term(l, dout).over(new Term(l, l.number(x.dtype(), (double) x.shape().size()))).operand();
            }
            l.out("X@GRAD", reduction == NONE ? dout : l.expand(dout.reshape(), x.shape()));
        }).register(registry);
    }

    private static void checkIdentity(Inference inference, String slot) {
        int reduction = inference.attrs().getInt("reduction");
        inference.require(reduction >= SUM && reduction <= NONE,
                "reduction must be 0 for the sum, 1 for the mean, or 2 for none, but is %d", reduction);
        inference.require(inference.dtype(slot).isFloating(), "%s must be of a floating-point type, but is %s", slot,
                inference.dtype(slot));
    }
}
