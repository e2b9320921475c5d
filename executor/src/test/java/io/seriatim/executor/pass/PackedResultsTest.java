package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.ImagePasses;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.RandomImages;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Convolution;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Weights that are computed from parameters are packed as parameters are. */
class PackedResultsTest {
    private static final int SIZE = 10;

    /** Weights without their mean, divided by their standard deviation, for each filter. */
    private static Value standardised(Graph g, long... dims) {
        Value w = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, dims);
        Value centred = w.minus(w.meanKeeping(1, 2, 3));
        return centred.dividedBy(centred.square().meanKeeping(1, 2, 3).plus(1e-3).sqrt());
    }

    private static Value convolution(Graph g, Value x, Value w, int groups) {
        int padding = (int) w.dim(2) / 2;
        return g.op("conv2d").in("Input", x).in("Filter", w).attr("strides", new int[]{1, 1})
                .attr("paddings", new int[]{padding, padding}).attr("groups", groups).one("Output");
    }

    private static Network network(int filters) {
        return Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, SIZE, SIZE);
            Value y = convolution(g, x, standardised(g, filters, 3, 3, 3), 1).times(0.2).relu();
            y = y.plus(convolution(g, y, standardised(g, filters, filters, 3, 3), 1).times(0.05));
            y = y.plus(convolution(g, y, standardised(g, filters, filters / 4, 3, 3), 4).times(0.05));
            Value v = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, filters, 96);
            return Outputs.of("y", y.mean(2, 3).matmul(v.dividedBy(v.square().sum().sqrt())));
        });
    }

    private static List<TensorSpec> kept(Plan plan, Executor executor, Tensor x) {
        return Internals.compiled(plan, executor.scope(), x).kept().stream()
                .flatMap(each -> each.recipe().results().stream()).toList();
    }

    private static Plan plan(Executor executor, Network network) {
        return executor.compile(network.main(), Executor.feeds("x"), new Fetches(ImagePasses.names(network)));
    }

    @Test
    void onlyThePackedFormIsKept() {
        Network network = network(128);
        Tensor x = Bits.normal(1, 2, 3, SIZE, SIZE);
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            List<TensorSpec> kept = kept(plan(executor, network), executor, x);
            assertEquals(4, kept.size(), kept::toString);
            assertTrue(kept.stream().allMatch(spec -> spec.layout() instanceof Layout.Opaque), kept::toString);
        }
        assertEquals(3, ImagePasses.count(network, network.main(),
                stage -> stage.computation() instanceof Convolution
                        && stage.specs()[1].layout() instanceof Layout.Opaque,
                x));
    }

    /** What is also read as it is remains, and its packed form too. */
    @Test
    void whatOthersReadIsKeptToo() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 3, SIZE, SIZE);
            Value w = standardised(g, 32, 32, 3, 3);
            Value y = g.conv2d(x, 32, 3, 1, 1);
            Value product = w.reshape(32, 288).matmul(y.flatten(1).slice(1, 0, 288).transpose(1, 0));
            return Outputs.of("y", convolution(g, y, w, 1), "product", product);
        });
        Tensor x = Bits.normal(1, 2, 3, SIZE, SIZE);
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            List<TensorSpec> kept = kept(plan(executor, network), executor, x);
            assertEquals(1, kept.stream().filter(spec -> spec.layout() instanceof Layout.Opaque).count(),
                    kept::toString);
            assertEquals(1,
                    kept.stream().filter(spec -> spec.isRowMajor() && spec.shape().size() == 32 * 32 * 9).count(),
                    kept::toString);
        }
        ImagePasses.assertAlike(network, network.main(), 3, x, Pass.LAYOUTS, "");
    }

    /** New tensors, memory that anyone may write, and sizes that alternate, with and without tiles. */
    @Test
    void theyFollowTheParameters() {
        List<Supplier<Executor.Builder>> builders = ImagePasses.executors();
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int i = 0; i < 8; i++) {
            Network network = network(32 << random.nextInt(3));
            Program main = network.main();
            String name = ImagePasses.names(network).getFirst();
            try (Executor executor = builders.get(i % builders.size()).get().build();
                    Executor plain = Executor.builder().threads(1).without(Pass.LAYOUTS).build()) {
                List<Executor> both = List.of(executor, plain);
                both.forEach(each -> each.run(network.startup()));
                Plan plan = plan(executor, network);
                Plan check = plan(plain, network);
                for (int change = 0; change < 6; change++) {
                    if (change % 2 == 0) {
                        long filled = random.nextLong();
                        both.forEach(each -> RandomImages.fill(each.scope(), main, filled));
                    } else if (change > 2) {
                        String weights = main.parameters().get(random.nextInt(3)).name();
                        float number = random.nextFloat();
                        both.forEach(each -> each.scope().get(weights).memory().setAtIndex(ValueLayout.JAVA_FLOAT, 5,
                                number));
                    }
                    Tensor x = Bits.normal(random.nextLong(), 1 + change % 3, 3, SIZE, SIZE);
                    ImagePasses.assertAlike(check.run(x).get(name), plan.run(x).get(name),
                            "seed " + seed + ", network " + i + ", change " + change);
                }
            }
        }
    }
}
