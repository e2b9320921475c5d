package io.seriatim.benchmarks.executor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarType;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class ModelsTest {
    private static long parameters(Program program) {
        return program.parameters().stream()
                .mapToLong(desc -> Arrays.stream(Objects.requireNonNull(desc.type().tensorType()).shape()).reduce(1,
                        (a, b) -> a * b))
                .sum();
    }

    @Test
    void haveTheParametersThatTheirPapersSay() {
        long mlp = 784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10;
        long bertLayer = 4 * (128 * 128 + 128) + 2 * 128 * 512 + 512 + 128 + 4 * 128;
        long bert = 1000 * 128 + 64 * 128 + 2 * 128 + 2 * bertLayer + 128 * 1000 + 1000;
        // The weights of the recurrent layer also form one flat variable.
        long recurrent = 2 * 4 * 64 * 64 + 2 * 4 * 64;
        long lstm = 1000 * 64 + 2 * recurrent + 64 * 16 + 16;
        // torchvision's networks with 10 classes have the same numbers of parameters: 11,181,642 and 2,236,682.
        long[] expected = {mlp, 61_706, 11_181_642, 2_236_682, bert, lstm};
        assertArrayEquals(expected, Models.all().stream().mapToLong(model -> {
            long trained = parameters(model.training().program());
            assertEquals(trained, parameters(model.inference().program()), model.name());
            return trained - running(model.training().program());
        }).toArray());
    }

    /** The running statistics of batch normalisation are parameters that are not trained. */
    private static long running(Program program) {
        return program.global().ops().stream().filter(op -> op.type().equals("batch_norm"))
                .flatMap(op -> op.input("Mean").stream())
                .map(name -> Objects.requireNonNull(program.global().get(name).type().tensorType()))
                .map(VarType.TensorType::shape)
                .mapToLong(shape -> 2 * shape[0]).sum();
    }

    @Test
    void aModelIsMeasured() {
        Model model = Model.ofImages("one layer", 2, 1, 3, (g, x) -> g.linear(x.flatten(1), 10));
        StringWriter out = new StringWriter();
        Printer printer = new Printer(new PrintWriter(out, true), false);
        new ModelBench(new Turns(0, 1, 100_000), 2, new Progress(new PrintWriter(new StringWriter()), false))
                .run(printer, List.of(model));
        for (String text : List.of("one layer, training", "one layer, inference", "bare loop", "largest live set")) {
            assertTrue(out.toString().contains(text), () -> text + " is missing in\n" + out);
        }
    }

    @Test
    void allocationsAreCounted() {
        Object[] kept = new Object[1];
        Allocations found = Allocations.of(() -> kept[0] = new byte[100_000], 50);
        assertTrue(found.heap() > 99_000 && found.heap() < 200_000, found::toString);
        assertEquals(0, found.memory());
    }
}
