package io.seriatim.graph.tutorial;

import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;

/**
 * The operation soft_relu: ln(1 + eˣ), and its gradient, dout · (1 − e⁻ʸ), for x between −threshold and threshold;
 * beyond, y stays as it is there.
 */
public final class SoftRelu implements Operations.Provider {
    @Override
    public void register(Operations registry) {
        Operation.define("soft_relu") // the name that Paddle's files have
                .in("X").out("Out").attr("threshold", 40f) // its slots and attributes
                .infer(inference -> inference.same("X", "Out")) // element type and shape, unknown dimensions included
                .lower(l -> {
                    float threshold = l.attrs().getFloat("threshold");
                    Operand inside = l.run(new Unary(Unary.Function.CLIP, -threshold, threshold), l.in("X"));
                    l.out("Out", l.unary(Unary.Function.LOG, l.linear(l.unary(Unary.Function.EXP, inside), 1, 1)));
                }).grad("soft_relu_grad(Out, Out@GRAD) -> X@GRAD", l -> {
                    Operand rest = l.unary(Unary.Function.EXP, l.unary(Unary.Function.NEGATE, l.in("Out")));
                    Operand threshold = l.number(rest.dtype(), l.attrs().getFloat("threshold"));
                    Operand inside = l.cast(l.binary(Binary.Function.LESS, l.in("Out"), threshold), rest.dtype());
                    Operand slope = l.binary(Binary.Function.MULTIPLY, l.linear(rest, -1, 1), inside);
                    l.out("X@GRAD", l.binary(Binary.Function.MULTIPLY, l.in("Out@GRAD"), slope));
                }).register(registry);
    }
}
