package io.seriatim.executor.ir;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Block;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The results of the blocks of loops and branches. */
class InnerResultsTest {
    private static Network loop(boolean trains) {
        return Network.define(1, g -> {
            Value x = g.data("x", FLOAT32, -1, 4);
            Value first = trains ? g.linear(x, 4) : x.times(1);
            Value end = g.whileLoop(v -> List.of(v.getFirst().lessThan(3)), v -> {
                Value local = v.get(1).tanh();
                Value either =
                        g.ifElse(local.mean().greaterThan(0), () -> local.times(2), () -> local.plus(v.get(1)));
                return List.of(v.getFirst().plus(1), either.plus(local));
            }, g.full(INT64, 0, 1), first).get(1);
            Value loss = end.mean();
            if (trains) {
                g.minimize(loss, Sgd.of(0.1));
            }
            return Outputs.of("loss", loss);
        });
    }

    /** Returns the names of the results of the first loop's block that the block declares. */
    private static Set<String> local(Network network) {
        Block block = network.main().block(1);
        ValueNumbering numbered = ValueNumbering.inner(block, ValueNumbering.mentions(network.main()));
        Set<String> names = new HashSet<>();
        numbered.wanted().stream().map(value -> numbered.values().get(value).name())
                .filter(name -> block.var(name) != null).forEach(names::add);
        return names;
    }

    @Test
    void whatOnlyBlocksWithinABlockReadIsNoResult() {
        assertEquals(Set.of(), local(loop(false)));
    }

    @Test
    void whatTheBlockOfAGradientReadsIsAResult() {
        Set<String> local = local(loop(true));
        assertTrue(local.stream().anyMatch(name -> name.startsWith("tanh")), local::toString);
    }
}
