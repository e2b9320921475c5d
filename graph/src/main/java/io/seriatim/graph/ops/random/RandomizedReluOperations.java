package io.seriatim.graph.ops.random;

import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.RandomNumbers;
import io.seriatim.tensor.computation.RandomNumbers.Distribution;
import io.seriatim.tensor.computation.Where;
import java.util.List;
import java.util.Objects;

/** The rectifier whose slope for negative numbers is random in training, and the mean of its range otherwise. */
public final class RandomizedReluOperations {
    private RandomizedReluOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("rrelu").in("X").out("Out", "Noise~").effect(Effect.RANDOM).attr("is_test", false)
                .attr("lower", 0.125f).attr("upper", 1 / 3f).infer(RandomizedReluOperations::infer).lower(l -> {
                    Operand x = l.in("X");
                    Operand slope = slope(l, x);
                    l.out("Out", l.binary(Binary.Function.MULTIPLY, x, slope));
                    l.out("Noise", slope);
                }).grad("rrelu_grad(X, Noise, Out@GRAD) -> X@GRAD", l -> l.out("X@GRAD",
                        l.binary(Binary.Function.MULTIPLY, l.in("Out@GRAD"), l.in("Noise"))))
                .register(registry);
    }

    private static void infer(Inference inference) {
        float lower = inference.attrs().getFloat("lower");
        float upper = inference.attrs().getFloat("upper");
        inference.require(lower >= 0 && lower <= upper && upper <= 1,
                "lower and upper must be from 0 to 1, and lower not above upper, but they are %s and %s", lower,
                upper);
        inference.require(inference.dtype("X").isFloating(), "X must be of a floating-point type, but is %s",
                inference.dtype("X"));
        inference.same("X", "Out");
        inference.same("X", "Noise");
    }

    /** 1 unless a number is negative. */
    private static Operand slope(Lowering l, Operand x) {
        float lower = l.attrs().getFloat("lower");
        float upper = l.attrs().getFloat("upper");
        PaddleRandom shared = l.paddleRandom();
        if (shared != null && !l.attrs().getBool("is_test")) {
            Operand slopes = l.temporary(x.spec().rowMajor());
            l.call("rrelu", (in, out) -> {
                double[] values = Objects.requireNonNull(in.getFirst()).toDoubleArray();
                new PaddleDraws(shared).slopes(values, lower, upper);
                Elements.write(values, Objects.requireNonNull(out.getFirst()));
            }, List.of(x), List.of(slopes));
            return slopes;
        }
        Operand zero = l.number(x.dtype(), 0);
        Operand negative;
        if (l.attrs().getBool("is_test")) {
            negative = l.fill((lower + upper) / 2, x.spec());
        } else {
            negative = l.temporary(x.spec().rowMajor());
            l.into(new RandomNumbers(Distribution.UNIFORM, lower, upper, x.dtype()), List.of(l.randomKey()),
                    List.of(negative));
        }
        return l.run(new Where(), l.binary(Binary.Function.LESS, x, zero), negative, l.fill(1, x.spec()));
    }
}
