package io.seriatim.graph.ops;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Runs programs of a few operations without declared variables. */
public final class SmallProgram {
    private SmallProgram() {
    }

    public static Program program(OpDesc... ops) {
        Program program = new Program();
        for (OpDesc op : ops) {
            program.global().add(op);
        }
        return program;
    }

    public static Tensor run(OpDesc op, Map<String, Tensor> feeds, String fetch) {
        return run(Interpreter.of(Kernels.system()), program(op), feeds, fetch);
    }

    public static Tensor run(Interpreter interpreter, Program program, Map<String, Tensor> feeds, String fetch) {
        return Objects.requireNonNull(interpreter.run(program, feeds, List.of(fetch)).get(fetch));
    }

    /** The operation is refused with a message that has all parts. */
    public static void refused(OpDesc op, Map<String, Tensor> feeds, String... parts) {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
                () -> Interpreter.of(Kernels.system()).run(program(op), feeds, List.of()));
        for (String part : parts) {
            assertTrue(Objects.requireNonNull(refusal.getMessage()).contains(part),
                    () -> "'" + refusal.getMessage() + "' must say '" + part + "'");
        }
    }
}
