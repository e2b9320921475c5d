package io.seriatim.graph.tutorial;

import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.kernel.Binary;
import io.seriatim.tensor.kernel.Unary;

/** The operation softsign: x / (1 + |x|), and its gradient, dout / (1 + |x|)². */
public final class Softsign implements Operations.Provider {
    @Override
    public void register(Operations registry) {
        Operation.define("softsign") // the name that Paddle's files have
                .in("X").out("Out") // its slots
                .infer(inference -> inference.same("X", "Out")) // element type and shape, unknown dimensions included
                .lower(l -> l.out("Out",
                        l.binary(Binary.Function.DIVIDE, l.in("X"), denominator(l.unary(Unary.Function.ABS, l.in("X")), l))))
                .grad("softsign_grad(X, Out@GRAD) -> X@GRAD", l -> {
                    Operand denominator = denominator(l.unary(Unary.Function.ABS, l.in("X")), l);
                    Operand square = l.unary(Unary.Function.SQUARE, denominator);
                    l.out("X@GRAD", l.binary(Binary.Function.DIVIDE, l.in("Out@GRAD"), square));
                }).register(registry);
    }

    private static Operand denominator(Operand magnitude, io.seriatim.graph.op.Lowering l) {
        return l.linear(magnitude, 1, 1);
    }
}
