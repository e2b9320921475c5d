package io.seriatim.graph.tutorial;

import static io.seriatim.tensor.DType.FLOAT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SnakeTest {
    private static final double[] POINTS = {-3, -0.5, 0, 0.25, 8, 50};

    @Test
    void computesItsFormulaAndItsGradient() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT64, -1).wantGradient();
            Value y = g.op("snake").in("X", x).attr("alpha", 0.5f).one("Out");
            Value dx = g.gradients(List.of(y), List.of(x)).getFirst();
            return Outputs.of("y", y, "dx", assertNotNullValue(dx));
        });
        String y = network.outputs().get("y").name();
        String dx = network.outputs().get("dx").name();
        for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
            Map<String, Tensor> results = Interpreter.of(kernels).run(network.main(),
                    Map.of("x", Tensor.of(POINTS, POINTS.length)),
                    List.of(y, dx));
            double[] want = new double[POINTS.length];
            double[] slope = new double[POINTS.length];
            for (int i = 0; i < want.length; i++) {
                want[i] = POINTS[i] + 2 * Math.pow(Math.sin(POINTS[i] / 2), 2);
                slope[i] = 1 + Math.sin(POINTS[i]);
            }
            assertArrayEquals(want, Objects.requireNonNull(results.get(y)).toDoubleArray(), 1e-12);
            assertArrayEquals(slope, Objects.requireNonNull(results.get(dx)).toDoubleArray(), 1e-12);
        }
        assertEquals(List.of("snake", "fill_any_like", "snake_grad"),
                network.main().global().ops().stream().map(op -> op.type()).toList());
    }

    private static Value assertNotNullValue(@Nullable Value value) {
        assertNotNull(value);
        return Objects.requireNonNull(value);
    }

    /** The tutorial shows the code that is compiled and tested here. */
    @Test
    void theTutorialShowsThisCode() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        Path docs = Files.exists(root.resolve("docs")) ? root.resolve("docs") : root.resolve("../docs");
        String page = Files.readString(docs.resolve("add-an-operation.md"));
        String code = Files.readString(docs.resolve("../graph/src/test/java/io/seriatim/graph/tutorial/Snake.java"));
        String shown = code.substring(code.indexOf("/**"));
        assertTrue(page.contains(shown.strip()), "docs/add-an-operation.md must show Snake.java as it is");
    }
}
