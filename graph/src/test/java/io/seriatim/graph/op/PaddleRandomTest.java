package io.seriatim.graph.op;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * Random numbers that are Paddle's: computed by PaddlePaddle 2.6.2 with {@code paddle.seed(2024)}, in one program that
 * ran twice.
 */
class PaddleRandomTest {
    private static final long SEED = 2024;

    /** The 10000th number of the default generator is given by the standard of C++ ([rand.predef]). */
    @Test
    void theGeneratorIsTheStandardOne() {
        PaddleRandom random = new PaddleRandom(5489);
        long last = 0;
        for (int i = 0; i < 10_000; i++) {
            last = random.nextLong();
        }
        assertEquals("9981545732273789042", Long.toUnsignedString(last));
    }

    private static Program program() {
        return SmallProgram.program(OpDesc.of("uniform_random").out("Out", "u").attr("shape", new long[]{3}).build(),
                OpDesc.of("gaussian_random").out("Out", "g").attr("shape", new long[]{3}).build(),
                OpDesc.of("uniform_random").out("Out", "s").attr("shape", new long[]{2}).attr("seed", 11).build(),
                OpDesc.of("randint").out("Out", "i").attr("shape", new long[]{4}).attr("low", 0).attr("high", 100)
                        .build(),
                OpDesc.of("dropout").in("X", "u").out("Out", "d").out("Mask", "m")
                        .attr("dropout_implementation", "upscale_in_train")
                        .build(),
                OpDesc.of("truncated_gaussian_random").out("Out", "t").attr("shape", new int[]{2}).build(),
                OpDesc.of("randperm").out("Out", "p").attr("n", 5).build());
    }

    @Test
    void operationsDrawFromOneGeneratorAcrossRuns() {
        Interpreter interpreter = Interpreter.of(Kernels.system()).paddleRandom(SEED);
        Program program = program();
        Map<String, Tensor> first = interpreter.run(program, Map.of(), List.of("u", "g", "s", "i", "d", "t", "p"));
        exactly(first, "u", 0.8766231536865234, -0.526803731918335, -0.7965171933174133);
        nearly(first, "g", 1.7094534635543823, -1.166776418685913, 0.2989271581172943);
        exactly(first, "s", -0.6685737371444702, 0.5468517541885376);
        exactly(first, "i", 90, 65, 53, 57);
        nearly(first, "d", 1.7532463073730469, 0, -1.5930343866348267);
        nearly(first, "t", 0.1270187646150589, -0.1314483880996704);
        exactly(first, "p", 4, 2, 3, 1, 0);
        Map<String, Tensor> second = interpreter.run(program, Map.of(), List.of("u", "g", "s", "i", "d", "t", "p"));
        exactly(second, "u", 0.21891379356384277, -0.22820425033569336, 0.2909888029098511);
        nearly(second, "g", -0.7697214484214783, -0.6860615015029907, 0.9081317186355591);
        exactly(second, "s", -0.6685737371444702, 0.5468517541885376);
        exactly(second, "i", 78, 28, 45, 11);
        nearly(second, "d", 0, 0, 0);
        nearly(second, "t", 0.33236029744148254, 0.311663419008255);
        exactly(second, "p", 3, 2, 4, 1, 0);
    }

    private static void exactly(Map<String, Tensor> results, String name, double... expected) {
        assertArrayEquals(expected, Objects.requireNonNull(results.get(name)).toDoubleArray(), name);
    }

    private static void nearly(Map<String, Tensor> results, String name, double... expected) {
        assertArrayEquals(expected, Objects.requireNonNull(results.get(name)).toDoubleArray(), 1e-6, name);
    }
}
