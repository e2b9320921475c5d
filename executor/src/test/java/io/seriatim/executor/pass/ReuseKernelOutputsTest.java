package io.seriatim.executor.pass;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanProbe;
import io.seriatim.executor.Scope;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Reduction;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Gradients of biases before poolings are sums of fewer elements, and the same but for rounding. */
class ReuseKernelOutputsTest {
    private static final int STEPS = 3;
    /** Sums of some hundred gradients of about 0.01, taken in two orders, over some steps. */
    private static final float BOUND = 1e-6f;

    private static Network training(UnaryOperator<Value> pooling) {
        return Network.define(7, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, 12, 12);
            Value images = pooling.apply(g.conv2d(x, 5, 3, 1, 1));
            Value loss = pooling.apply(g.conv2d(images, 4, 3, 1, 1)).square().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
    }

    private static Executor executor(int threads, boolean on) {
        Executor.Builder builder = Executor.builder().threads(threads);
        builder = threads > 1 ? PlanProbe.eager(builder) : builder;
        return (on ? builder : builder.without(Pass.BY_PRODUCTS)).build();
    }

    private static long summed(Plan plan, Scope scope, Tensor x) {
        return Task.stages(Internals.compiled(plan, scope, x).tasks())
                .filter(stage -> stage.computation() instanceof Reduction)
                .mapToLong(stage -> Objects.requireNonNull(stage.inputs().getFirst()).spec().shape().size()).sum();
    }

    /** Trains with and without; says how many elements fewer are added up. */
    private static long saved(Network network, Program main, int threads, float bound) {
        Tensor x = Bits.normal(1, 2, 3, 12, 12);
        try (Executor with = executor(threads, true); Executor without = executor(threads, false)) {
            with.run(network.startup());
            without.run(network.startup());
            Plan taken = with.compile(main, feeds("x"), fetches(network.outputs().get("loss").name()));
            Plan plain = without.compile(main, feeds("x"), fetches(network.outputs().get("loss").name()));
            for (int i = 0; i < STEPS; i++) {
                taken.run(x);
                plain.run(x);
            }
            for (VarDesc each : main.persistables()) {
                float[] expected = without.scope().get(each.name()).toFloatArray();
                float[] found = with.scope().get(each.name()).toFloatArray();
                for (int i = 0; i < expected.length; i++) {
                    assertEquals(expected[i], found[i], bound, each.name() + ", element " + i);
                }
            }
            return summed(plain, without.scope(), x) - summed(taken, with.scope(), x);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void sumsOfGradientsOfMaxima(int threads) {
        Network pairs = training(images -> images.maxPool2d(2, 2, 0));
        assertEquals(2 * (5 * (144 - 36) + 4 * (36 - 9)), saved(pairs, pairs.main(), threads, BOUND));
        Network overlapping = training(images -> images.maxPool2d(3, 2, 1));
        assertEquals(2 * (5 * (144 - 36) + 4 * (36 - 9)), saved(overlapping, overlapping.main(), threads, BOUND));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void sumsOfGradientsOfMeans(int threads) {
        Network adaptive = training(images -> images.adaptiveAveragePool2d(5, 4));
        assertEquals(2 * (5 * (144 - 20)), saved(adaptive, adaptive.main(), threads, BOUND));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void whatIsBetweenIsLeftAlone(int threads) {
        Network network = training(images -> images.maxPool2d(2, 2, 0).tanh());
        Network before = training(images -> images.tanh().maxPool2d(2, 2, 0));
        assertTrue(saved(network, network.main(), threads, BOUND) > 0);
        assertEquals(0, saved(before, before.main(), threads, 0));
    }

    /** An operation may write the variable of the gradients that came in: as another value, or in the same memory. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void overwrittenGradientsAreNotSummed(int threads) {
        Network network = training(images -> images.maxPool2d(2, 2, 0));
        Program other = writing(network,
                gradient -> OpDesc.of("scale").in("X", gradient).out("Out", gradient).attr("scale", 0.5f)
                        .attr("bias", 0f).attr("bias_after_scale", true).build());
        assertTrue(saved(network, other, threads, BOUND) > 0);
        Program same = writing(network, gradient -> OpDesc.of("set_value").in("Input", gradient).out("Out", gradient)
                .attr("axes", new long[]{0}).attr("starts", new long[]{0}).attr("ends", new long[]{1})
                .attr("steps", new long[]{1})
                .attr("decrease_axes", new long[0]).attr("none_axes", new long[0]).attr("shape", new long[]{1})
                .attr("dtype", 5)
                .attr("fp32_values", new float[]{3}).build());
        assertEquals(0, saved(network, same, threads, 0));
    }

    private static Program writing(Network network, Function<String, OpDesc> operation) {
        Program program = network.main().copy();
        Block block = program.global();
        for (int i = block.ops().size() - 1; i >= 0; i--) {
            if (block.ops().get(i).type().equals("pool2d_grad")) {
                block.add(i + 1, operation.apply(block.ops().get(i).input("Out@GRAD").getFirst()));
            }
        }
        return program;
    }
}
