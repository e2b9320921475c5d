package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanCheck;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.Layer;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.network.ConvolutionAddWeights;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The gradients of a convolution's weights that are used several times are added up in place. */
class WeightSumsTest {
    /** Uses one layer several times, one after the other. */
    private static Network training(int uses, int kernel) {
        return Network.define(1, g -> {
            Layer layer = g.layers().conv2d(32, 32, kernel).padding(kernel / 2);
            Value y = g.data("x", DType.FLOAT32, 2, 32, 10, 9);
            for (int i = 0; i < uses; i++) {
                y = layer.apply(y).tanh();
            }
            Value loss = y.square().mean();
            g.minimize(loss, Sgd.of(0.5));
            return Outputs.of("loss", loss);
        });
    }

    private static long stages(CompiledPlan plan, Predicate<Stage> wanted) {
        return plan.tasks().stream().flatMap(task -> task instanceof Task.Compute compute
                ? compute.stages().stream()
                : List.<Stage>of().stream()).filter(wanted).count();
    }

    private record Run(List<Tensor> results, CompiledPlan plan) {
        static Run of(Executor.Builder builder, Network network) {
            Tensor x = Bits.normal(1, 2, 32, 10, 9);
            List<Tensor> found = new ArrayList<>();
            String loss = Objects.requireNonNull(network.outputs().values().get("loss")).name();
            try (Executor executor = builder.build()) {
                executor.run(network.startup());
                Plan plan = executor.compile(network.main(), Executor.feeds("x"), new Fetches(List.of(loss)));
                CompiledPlan compiled = Internals.compiled(plan, executor.scope(), x);
                PlanCheck.assertRight(compiled, Internals.options(executor).inOrder(), "");
                for (int i = 0; i < 3; i++) {
                    found.add(Bits.copy(plan.run(x).get(loss)));
                }
                network.main().persistables().forEach(
                        each -> found.add(Bits.copy(Objects.requireNonNull(executor.scope().get(each.name())))));
                return new Run(found, compiled);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void noSumStandsAlone(int kernel) {
        for (int uses = 2; uses <= 4; uses++) {
            Network network = training(uses, kernel);
            Run separate = Run.of(Executor.builder().without(Pass.EPILOGUES), network);
            Run joined = Run.of(Executor.builder(), network);
            for (int i = 0; i < separate.results().size(); i++) {
                Bits.assertSame(separate.results().get(i), joined.results().get(i), "result " + i);
            }
            assertEquals(0, stages(joined.plan(), WeightSumsTest::isSum), "sums of four dimensions");
            assertTrue(stages(separate.plan(), WeightSumsTest::isSum) > 0, "sums without the pass");
            assertEquals(uses - 1,
                    stages(joined.plan(), stage -> stage.computation() instanceof ConvolutionAddWeights));
            assertEquals(1, stages(joined.plan(), stage -> stage.computation() instanceof ConvolutionGradWeights));
        }
    }

    /** A sum of gradients of weights, [32, 32, …]. */
    private static boolean isSum(Stage stage) {
        return Binary.of(Binary.Function.ADD).equals(stage.computation())
                && stage.outputs().stream().anyMatch(out -> out != null && out.spec().shape().rank() == 4
                        && out.spec().shape().dim(0) == 32 && out.spec().shape().dim(1) == 32);
    }
}
