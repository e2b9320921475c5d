package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.ir.Stage;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.network.Convolution;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Which plans fuse functions that lose NaN. */
final class NanPolicyTest {
    @Test
    void plansThatInferFuseWhatLosesNaN() {
        assertEquals(2, fused(network(false).main(), UnaryOperator.identity()));
        assertEquals(2, fused(network(false).main(), Executor.Builder::relaxedNan));
    }

    @Test
    void strictPlansKeepNaN() {
        assertEquals(0, fused(network(false).main(), Executor.Builder::strictNan));
        assertKeepsNaN(network(false), Executor.Builder::strictNan);
    }

    @Test
    void plansThatTrainKeepNaNUnlessItIsGivenUp() {
        Program training = network(true).main();
        assertEquals(0, fused(training, UnaryOperator.identity()));
        assertEquals(0, fused(training, Executor.Builder::strictNan));
        assertKeepsNaN(network(true), UnaryOperator.identity());
        assertEquals(2, fused(training.copyForTest(), UnaryOperator.identity()), "what the copy for evaluation fuses");
    }

    @Test
    void bothOptionsAreRefused() {
        Executor.Builder both = Executor.builder().strictNan().relaxedNan();
        String message = String.valueOf(assertThrows(IllegalStateException.class, both::build).getMessage());
        assertTrue(message.contains("strictNan()") && message.contains("relaxedNan()"), message);
    }

    /** Returns a network with a convolution and a product before functions of which the library loses NaN. */
    private static Network network(boolean trains) {
        return Network.define(1, g -> {
            Value x = g.data("x", DType.FLOAT32, 1, 3, 8, 8);
            Value hidden = g.conv2d(x, 4, 3, 1, 1).relu().flatten(1);
            Value loss = g.linear(hidden, 5).relu().mean();
            if (trains) {
                g.minimize(loss, Sgd.of(0.1));
            }
            return Outputs.of("loss", loss);
        });
    }

    private static Tensor input(float first) {
        float[] numbers = Bits.normal(3, 1, 3, 8, 8).toFloatArray();
        numbers[0] = first;
        return Tensor.of(numbers, 1, 3, 8, 8);
    }

    /** Returns how many functions that lose NaN are part of a product or a convolution. */
    private static long fused(Program main, UnaryOperator<Executor.Builder> option) {
        Network network = network(true);
        try (Executor executor = option.apply(Executor.builder()).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(main, Executor.feeds("x"), Executor.fetches(loss(network)));
            return ImagePasses.stages(plan.specialisation(executor.scope(), input(1))).map(Stage::computation)
                    .flatMap(computation -> switch (computation) {
                        case MatMul product -> product.postOps().stream();
                        case Convolution convolution -> convolution.postOps().stream();
                        case null, default -> List.<PostOp>of().stream();
                    })
                    .filter(postOp -> postOp instanceof PostOp.Apply apply && !apply.keepsNaN()).count();
        }
    }

    private static void assertKeepsNaN(Network network, UnaryOperator<Executor.Builder> option) {
        try (Executor executor = option.apply(Executor.builder()).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), Executor.feeds("x"), Executor.fetches(loss(network)));
            assertTrue(Float.isFinite(plan.run(input(1)).get(loss(network)).toFloatArray()[0]), "without NaN");
            assertTrue(Float.isNaN(plan.run(input(Float.NaN)).get(loss(network)).toFloatArray()[0]), "with NaN");
        }
    }

    private static String loss(Network network) {
        return ImagePasses.names(network).getFirst();
    }
}
