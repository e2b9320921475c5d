package io.seriatim.graph;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.UntrainedParameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** Parameters without a gradient are named, with the reason. */
class UntrainedParametersTest {
    private static final Logger LOGGER = Logger.getLogger("io.seriatim.graph");

    /** The first parameter is trained; the reason why the second is not. */
    private static String reason(Function<Graph, Value> loss) {
        List<String> reasons = new ArrayList<>();
        Network.define(g -> {
            Value w = parameter(g, "w");
            parameter(g, "left");
            g.minimize(loss.apply(g).plus(w.square().mean()), Sgd.of(0.1));
            g.untrained().forEach(each -> reasons.add(each.parameter() + ": " + each.reason()));
            return Outputs.none();
        });
        return String.join("\n", reasons);
    }

    private static Value parameter(Graph g, String name) {
        return g.parameter(ParameterSpec.DEFAULT.named(name), FLOAT32, 2, 2);
    }

    @Test
    void readByNoOperation() {
        assertEquals("left: no operation reads it", reason(g -> g.full(FLOAT32, 1)));
    }

    @Test
    void besideTheLoss() {
        assertTrue(reason(g -> {
            g.var("left").square();
            return g.full(FLOAT32, 1);
        }).matches("left: the loss 'tmp_\\d+' does not depend on it"));
    }

    @Test
    void operationWithoutGradient() {
        String reason = reason(g -> g.var("left").argMax(0).cast(FLOAT32).mean());
        assertEquals("left: operation 'arg_max' has no gradient", reason);
    }

    @Test
    void stopped() {
        assertEquals("left: the gradient of 'square_0.tmp_0' is stopped",
                reason(g -> g.var("left").square().stopGradient().mean()));
    }

    @Test
    void wholeNumbers() {
        assertEquals("left: 'cast_0.tmp_0' is int64[2, 2], through which no gradient flows",
                reason(g -> g.var("left").cast(INT64).cast(FLOAT32).mean()));
    }

    @Test
    void notWanted() {
        Network.define(g -> {
            Value left = parameter(g, "left");
            Value w = parameter(g, "w");
            Value between = left.tanh();
            g.minimize(between.matmul(w).mean(), Sgd.of(0.1), List.of(left, w), Set.of(between));
            assertEquals(List.of(new UntrainedParameter("left", "the gradient of 'tanh_0.tmp_0' is stopped")),
                    g.untrained());
            return Outputs.none();
        });
    }

    @Test
    void stoppedInALoop() {
        String reason = reason(g -> {
            Value last = g.full(INT64, 3, 1);
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.getLast().times(g.var("left")).stopGradient().plus(1)),
                    g.full(INT64, 0, 1),
                    g.full(FLOAT32, 1, 2, 2)).getLast().mean();
        });
        assertTrue(reason.matches("left: the gradient of 'tmp_\\d+' is stopped"), reason);
    }

    @Test
    void noneWhereAllAreTrained() {
        Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 5, 3);
            g.minimize(g.linear(g.layers().lstm(3, 4).apply(x), 2).mean(), Adam.of(0.1));
            assertEquals(List.of(), g.untrained());
            return Outputs.none();
        });
    }

    @Test
    void nothingToTrainSaysWhy() {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> Network.define(g -> {
            g.minimize(parameter(g, "left").stopGradient().mean().plus(g.data("x", FLOAT32, 1).wantGradient().mean()),
                    Sgd.of(0.1));
            return Outputs.none();
        })).getMessage());
        assertTrue(message.contains("No parameter has a gradient from the loss"), message);
    }

    /** One warning a call, which names the parameters. */
    @Test
    void warning() {
        List<LogRecord> records = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                records.add(record);
            }

            @Override
            public void flush() {
                // Nothing is buffered.
            }

            @Override
            public void close() {
                // No file is open.
            }
        };
        LOGGER.addHandler(handler);
        LOGGER.setUseParentHandlers(false);
        try {
            Network.define(g -> {
                Value w = parameter(g, "w");
                parameter(g, "a");
                parameter(g, "b");
                g.minimize(w.mean(), Sgd.of(0.1));
                return Outputs.none();
            });
        } finally {
            LOGGER.removeHandler(handler);
            LOGGER.setUseParentHandlers(true);
        }
        assertEquals(1, records.size());
        assertEquals(List.of("mean_0.tmp_0", "2", "3", "'a' (no operation reads it), 'b' (no operation reads it)"),
                Arrays.stream(records.getFirst().getParameters()).map(String::valueOf).toList());
    }
}
