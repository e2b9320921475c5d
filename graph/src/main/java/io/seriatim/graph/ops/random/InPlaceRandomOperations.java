package io.seriatim.graph.ops.random;

import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.computation.RandomNumbers.Distribution;

/** Operations that fill a tensor of the shape and type of another with random numbers; mostly they are the same. */
public final class InPlaceRandomOperations {
    private InPlaceRandomOperations() {
    }

    public static void register(Operations registry) {
        // Paddle declares attributes of a diagonal, but sets none.
        Operation.define("uniform_random_inplace").in("X").out("Out").shapesOnly("X").effect(Effect.RANDOM)
                .attr("min", -1f).attr("max", 1f).attr("seed", 0).attr("diag_num", 0).attr("diag_step", 0)
                .attr("diag_val", 1f).infer(inference -> {
                    requireFinite(inference, "min", "max");
                    infer(inference, "X", "Out");
                }).lower(l -> {
                    float least = l.attrs().getFloat("min");
                    float end = l.attrs().getFloat("max");
                    l.out("Out", RandomOperations.draw(l, "Out", Distribution.UNIFORM, Math.min(least, end),
                            Math.max(least, end), (draws, out) -> draws.uniform(least, end, out)));
                }).grad("uniform_random_inplace_grad(Out@GRAD) -> X@GRAD",
                        l -> l.out("X@GRAD", l.fill(0, l.in("Out@GRAD").spec())))
                .register(registry);
        Operation.define("gaussian_inplace").in("x").out("out").shapesOnly("x").effect(Effect.RANDOM).attr("mean", 0f)
                .attr("std", 1f).attr("seed", 0).infer(inference -> {
                    requireFinite(inference, "mean", "std");
                    infer(inference, "x", "out");
                }).lower(l -> {
                    float mean = l.attrs().getFloat("mean");
                    float deviation = l.attrs().getFloat("std");
                    l.out("out", RandomOperations.draw(l, "out", Distribution.NORMAL, mean, Math.abs(deviation),
                            (draws, out) -> draws.normal(mean, deviation, out)));
                }).grad("gaussian_inplace_grad(out@GRAD) -> x@GRAD",
                        l -> l.out("x@GRAD", l.fill(0, l.in("out@GRAD").spec())))
                .register(registry);
    }

    private static void requireFinite(Inference inference, String... attributes) {
        for (String attribute : attributes) {
            float value = inference.attrs().getFloat(attribute);
            inference.require(Float.isFinite(value), "%s must be finite, but is %s", attribute, value);
        }
    }

    private static void infer(Inference inference, String from, String to) {
        inference.require(inference.dtype(from).isFloating(), "%s must be of a floating-point type, but is %s", from,
                inference.dtype(from));
        inference.same(from, to);
    }
}
