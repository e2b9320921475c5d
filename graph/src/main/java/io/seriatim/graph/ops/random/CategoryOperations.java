package io.seriatim.graph.ops.random;

import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.TopK;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** One category for each row of probabilities. */
public final class CategoryOperations {
    private static final String SAMPLING = "sampling_id";
    private static final String TOP = "top_p_sampling";

    private CategoryOperations() {
    }

    public static void register(Operations registry) {
        sampling(registry);
        top(registry);
    }

    /** The category in which an even number falls, if the probabilities are laid one after the other. */
    private static void sampling(Operations registry) {
        Operation.define(SAMPLING).in("X").out("Out").effect(Effect.RANDOM).attr("min", 0f).attr("max", 1f)
                .attr("seed", 0).infer(inference -> {
                    Checks.floating(inference, "X");
                    long[] x = inference.dims("X");
                    inference.require(x.length == 2 && x[1] != 0,
                            "X must have the shape [batch, categories], but has %s",
                            Numbers.text(x));
                    inference.set("Out", DType.INT64, x[0]);
                }).lower(CategoryOperations::sampling).register(registry);
    }

    private static void sampling(Lowering l) {
        float least = l.attrs().getFloat("min");
        float end = l.attrs().getFloat("max");
        RunGenerator generator = RunGenerator.of(l, Integer.toUnsignedLong(l.attrs().getInt("seed")));
        l.call(SAMPLING, (in, out) -> {
            Tensor x = Checks.tensor(in, 0);
            boolean single = x.dtype() == DType.FLOAT32;
            PaddleDraws draws = PaddleDraws.of(generator.start(Checks.tensor(in, 1)));
            int width = Checks.dim(x, 1);
            double[] values = x.toDoubleArray();
            long[] chosen = new long[values.length / width];
            for (int i = 0; i < chosen.length; i++) {
                double left = single
                        ? (float) draws.unit(x.dtype()) * (end - least) + least
                        : draws.unit(x.dtype()) * ((double) end - least) + least;
                int at = 0;
                for (; at < width - 1; at++) {
                    left = single ? (float) left - (float) values[i * width + at] : left - values[i * width + at];
                    if (left < 0) {
                        break;
                    }
                }
                chosen[i] = at;
            }
            Elements.write(chosen, Checks.tensor(out, 0));
        }, List.of(l.in("X"), l.randomKey()), List.of(l.output("Out")));
    }

    /**
     * One of the most probable categories that together reach a probability, and how probable it is. Paddle has it for
     * graphics processors only.
     */
    private static void top(Operations registry) {
        Operation.define(TOP).in("x", "ps", "threshold?").out("out", "ids").effect(Effect.RANDOM).attr("seed", -1)
                .infer(inference -> {
                    inference.require(inference.dtype("x").isFloating() && inference.dtype("ps").isFloating(),
                            "x and ps must be of floating-point types, but are %s and %s", inference.dtype("x"),
                            inference.dtype("ps"));
                    long[] x = inference.dims("x");
                    inference.require(x.length == 2 && x[1] != 0,
                            "x must have the shape [batch, categories], but has %s",
                            Numbers.text(x));
                    Checks.elements(inference, "ps", x[0]);
                    if (inference.has("threshold")) {
                        Checks.elements(inference, "threshold", x[0]);
                    }
                    inference.set("out", inference.dtype("x"), x[0], 1);
                    inference.set("ids", DType.INT64, x[0], 1);
                }).lower(CategoryOperations::top).register(registry);
    }

    private static void top(Lowering l) {
        Operand x = l.in("x");
        List<Operand> sorted = l.runAll(new TopK(x.dim(1), 1, true), x);
        int seed = l.attrs().getInt("seed");
        RunGenerator generator = RunGenerator.of(l, Math.max(seed, 0));
        Operand ids = l.outputOrTemporary("ids", TensorSpec.of(DType.INT64, x.dim(0), 1));
        l.call(TOP, (in, out) -> {
            PaddleRandom random = generator.start(Checks.tensor(in, 4));
            choose(Checks.tensor(in, 0), Checks.tensor(in, 1), Checks.tensor(in, 2), in.get(3),
                    PaddleDraws.of(random)::unitDouble, Checks.tensor(out, 0), Checks.tensor(out, 1));
        }, Arrays.asList(sorted.get(0), sorted.get(1), l.in("ps"), l.optional("threshold"), l.randomKey()),
                List.of(l.output("out"), ids));
    }

    /** A number from 0 to the wanted probability falls into a category; those below a threshold are passed over. */
    private static void choose(Tensor sorted, Tensor indexes, Tensor wanted, @Nullable Tensor thresholds,
            DoubleSupplier uniform, Tensor probability, Tensor ids) {
        double[] values = sorted.toDoubleArray();
        long[] categories = indexes.toLongArray();
        double[] parts = wanted.toDoubleArray();
        double[] least = thresholds == null ? new double[parts.length] : thresholds.toDoubleArray();
        int width = Checks.dim(sorted, 1);
        double[] chosen = new double[parts.length];
        long[] of = new long[parts.length];
        for (int i = 0; i < parts.length; i++) {
            double left = uniform.getAsDouble() * parts[i];
            int at = i * width;
            for (int j = at; j < (i + 1) * width && values[j] >= least[i]; j++) {
                at = j;
                left -= values[j];
                if (left <= 0) {
                    break;
                }
            }
            chosen[i] = values[at];
            of[i] = categories[at];
        }
        Elements.write(chosen, probability);
        Elements.write(of, ids);
    }
}
