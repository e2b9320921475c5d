package io.seriatim.graph.ops.random;

import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.RandomNumbers;
import io.seriatim.tensor.computation.RandomNumbers.Distribution;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

/** Operations that draw each element from a distribution with a parameter of its own, or with one for all. */
public final class DistributionOperations {
    private DistributionOperations() {
    }

    public static void register(Operations registry) {
        poisson(registry);
        exponential(registry);
        dirichlet(registry);
    }

    /** Replaces the parameters of a tensor by numbers that are drawn. */
    @FunctionalInterface
    private interface Sampler {
        void replace(double[] values, PaddleDraws draws);
    }

    private static void poisson(Operations registry) {
        Operation.define("poisson").in("X").out("Out").effect(Effect.RANDOM).infer(inference -> {
            requireFloating(inference, "X");
            inference.same("X", "Out");
        }).lower(l -> l.out("Out", sampled(l, l.in("X"), (values, draws) -> {
            for (int i = 0; i < values.length; i++) {
                values[i] = PoissonDraws.draw(draws, values[i]);
            }
        }))).grad("poisson_grad(Out@GRAD) -> X@GRAD", l -> l.out("X@GRAD", l.fill(0, l.in("Out@GRAD").spec())))
                .register(registry);
    }

    private static void requireFloating(Inference inference, String slot) {
        inference.require(inference.dtype(slot).isFloating(), "%s must be of a floating-point type, but is %s", slot,
                inference.dtype(slot));
    }

    /** X only gives the shape. */
    private static void exponential(Operations registry) {
        Operation.define("exponential").in("X").out("Out").shapesOnly("X").effect(Effect.RANDOM).attr("lambda", 1f)
                .infer(inference -> {
                    requireFloating(inference, "X");
                    float rate = inference.attrs().getFloat("lambda");
                    inference.require(rate > 0 && Float.isFinite(rate), "lambda must be above 0 and finite, but is %s",
                            rate);
                    inference.same("X", "Out");
                }).lower(l -> l.out("Out", exponential(l))).grad(DistributionOperations::zeros).register(registry);
    }

    private static Operand exponential(Lowering l) {
        float rate = l.attrs().getFloat("lambda");
        TensorSpec spec = l.outType("Out", 0).spec();
        PaddleRandom shared = l.paddleRandom();
        if (shared != null) {
            Operand numbers = l.temporary(spec);
            l.call("exponential", (_, out) -> new PaddleDraws(shared).exponential(rate,
                    Objects.requireNonNull(out.getFirst())), List.of(), List.of(numbers));
            return numbers;
        }
        // A 16-bit number could be rounded to 1, whose logarithm is infinite.
        DType dtype = spec.dtype() == DType.FLOAT64 ? DType.FLOAT64 : DType.FLOAT32;
        Operand uniform = l.temporary(spec.with(dtype).rowMajor());
        l.into(new RandomNumbers(Distribution.UNIFORM, 0, 1, dtype), List.of(l.randomKey()), List.of(uniform));
        Operand logarithm = l.unary(Unary.Function.LOG, l.linear(uniform, -1, 1));
        return l.binary(Binary.Function.DIVIDE, logarithm, l.number(dtype, -rate));
    }

    private static List<OpDesc> zeros(OpDesc forward, Predicate<String> wanted) {
        String x = forward.input("X").getFirst();
        return wanted.test(x)
                ? List.of(OpDesc.of("fill_any_like").in("X", GradientRule.gradient(forward.output("Out").getFirst()))
                        .out("Out", GradientRule.gradient(x)).attr("value", 0f).build())
                : List.of();
    }

    /** Gamma numbers, of which each row is divided by its sum. */
    private static void dirichlet(Operations registry) {
        Operation.define("dirichlet").in("Alpha").out("Out").effect(Effect.RANDOM).infer(inference -> {
            requireFloating(inference, "Alpha");
            inference.require(inference.dims("Alpha").length > 0, "Alpha must have a dimension of categories");
            inference.same("Alpha", "Out");
        }).lower(l -> {
            Operand alpha = l.in("Alpha");
            Operand gamma = sampled(l, alpha, (values, draws) -> {
                GammaDraws gammas = new GammaDraws(draws, alpha.dtype());
                for (int i = 0; i < values.length; i++) {
                    values[i] = gammas.draw(concentration(values[i]));
                }
            });
            Operand sum = l.run(new Reduction(Reduction.Function.SUM, List.of(-1), true), gamma);
            l.out("Out", l.binary(Binary.Function.DIVIDE, gamma, sum));
        }).register(registry);
    }

    private static double concentration(double alpha) {
        if (!(alpha >= 0 && Double.isFinite(alpha))) {
            throw new IllegalArgumentException(
                    "dirichlet: the elements of Alpha must be finite and 0 or more, but one is " + alpha);
        }
        return alpha;
    }

    /**
     * As many numbers as there are parameters. They are drawn one after the other, since each takes as many draws as it
     * needs: from the generator of the process in Paddle, or from one that starts with the key of the run.
     */
    private static Operand sampled(Lowering l, Operand parameters, Sampler sampler) {
        Operand numbers = l.temporary(parameters.spec().rowMajor());
        PaddleRandom shared = l.paddleRandom();
        List<Operand> inputs = shared == null ? List.of(parameters, l.randomKey()) : List.of(parameters);
        l.call(l.type(), (in, out) -> {
            double[] values = Objects.requireNonNull(in.getFirst()).toDoubleArray();
            sampler.replace(values, new PaddleDraws(
                    shared == null ? generator(Objects.requireNonNull(in.get(1))) : shared));
            Elements.write(values, Objects.requireNonNull(out.getFirst()));
        }, inputs, List.of(numbers));
        return numbers;
    }

    static PaddleRandom generator(Tensor key) {
        long[] parts = key.toLongArray();
        return new PaddleRandom(parts[0] ^ Long.rotateLeft(parts[1] * 0x9E3779B97F4A7C15L, 32));
    }
}
