package io.seriatim.graph.tutorial;

import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;

/** The operation snake: x + sin²(alpha·x) / alpha, and its gradient, dout · (1 + sin(2·alpha·x)). */
public final class Snake implements Operations.Provider {
    @Override
    public void register(Operations registry) {
        Operation.define("snake") // the name that programs and files have
                .in("X").out("Out").attr("alpha", 1f) // its slots and attributes
                .infer(inference -> inference.same("X", "Out")) // element type and shape, unknown dimensions included
                .lower(l -> {
                    float alpha = l.attrs().getFloat("alpha");
                    Operand sine = l.unary(Unary.Function.SIN, l.linear(l.in("X"), alpha, 0));
                    Operand wave = l.linear(l.unary(Unary.Function.SQUARE, sine), 1 / alpha, 0);
                    l.out("Out", l.binary(Binary.Function.ADD, l.in("X"), wave));
                }).grad("snake_grad(X, Out@GRAD) -> X@GRAD", l -> {
                    Operand twice = l.linear(l.in("X"), 2 * l.attrs().getFloat("alpha"), 0);
                    Operand slope = l.linear(l.unary(Unary.Function.SIN, twice), 1, 1);
                    l.out("X@GRAD", l.binary(Binary.Function.MULTIPLY, l.in("Out@GRAD"), slope));
                }).register(registry);
    }
}
