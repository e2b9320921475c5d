package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The message of a failure names the source line that built the operation. */
class BuiltAtTest {
    @AfterEach
    void off() {
        Probes.allOff();
    }

    private static <T> T noted(String[] line, T made) {
        StackTraceElement caller = new Throwable().getStackTrace()[1];
        line[0] = caller.getClassName() + "." + caller.getMethodName() + "(" + caller.getFileName() + ":"
                + caller.getLineNumber() + ")";
        return made;
    }

    private static void assertSaid(String[] line, String message) {
        assertTrue(message.contains("; built at " + line[0]), message);
        assertEquals(message.indexOf("; built at "), message.lastIndexOf("; built at "), message);
    }

    @Test
    void kernelThatFails() {
        String[] line = new String[1];
        Probes.on("built", _ -> {
            throw new IllegalStateException("planted");
        });
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2);
            Value y = noted(line, g.op(Probes.CALL).in("X", x).attr("key", "built").one("Out"));
            return Outputs.of("y", y);
        });
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(network.main(), Executor.feeds("x"),
                    Executor.fetches(Objects.requireNonNull(network.outputs().values().get("y")).name()));
            ProgramFailedException failed = assertThrows(ProgramFailedException.class,
                    () -> plan.run(Tensor.allocate(DType.FLOAT32, 2)));
            assertSaid(line, String.valueOf(failed.getMessage()));
        }
    }

    /** Incompatible shapes that are detected only when tensors are fed. */
    @Test
    void shapesThatDoNotFit() {
        String[] line = new String[1];
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1);
            Value y = g.data("y", FLOAT32, -1);
            return Outputs.of("sum", noted(line, x.plus(y)));
        });
        try (Executor executor = Executor.on(Place.CPU)) {
            RuntimeException failed = assertThrows(RuntimeException.class,
                    () -> executor.run(network.main(),
                            Map.of("x", Tensor.allocate(DType.FLOAT32, 2), "y", Tensor.allocate(DType.FLOAT32, 3)),
                            Executor.fetches(Objects.requireNonNull(network.outputs().values().get("sum")).name())));
            assertSaid(line, String.valueOf(failed.getMessage()));
        }
    }

    /** For the gradient of an operation, the message names the line that built the operation. */
    @Test
    void gradientThatFails() {
        String[] line = new String[1];
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 3);
            Value h = noted(line, g.linear(x, 2));
            g.minimize(h.mean(), Sgd.of(0.1));
            return Outputs.none();
        });
        var gradient = network.main().global().ops().stream().filter(op -> op.type().equals("matmul_v2_grad"))
                .findFirst().orElseThrow();
        assertEquals(line[0], gradient.builtAt().getFirst());
    }
}
