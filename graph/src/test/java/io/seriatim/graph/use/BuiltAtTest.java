package io.seriatim.graph.use;

import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Operations remember the user's line that made them; files and comparisons ignore it. */
class BuiltAtTest {
    /** Notes the caller's line, as in a stack trace. The argument is made in the same line. */
    private static <T> T noted(String[] lines, int index, T made) {
        StackTraceElement caller = new Throwable().getStackTrace()[1];
        lines[index] = "(" + caller.getFileName() + ":" + caller.getLineNumber() + ")";
        return made;
    }

    private static OpDesc only(Program program, String type) {
        List<OpDesc> found = program.global().ops().stream().filter(op -> op.type().equals(type)).toList();
        assertEquals(1, found.size(), () -> type + " in " + program);
        return found.getFirst();
    }

    private static Value helper(Value x) {
        return x.tanh();
    }

    @Test
    void innermostLinesOfTheUser() {
        String[] lines = new String[2];
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2, 3);
            Value y = noted(lines, 0, x.relu());
            noted(lines, 1, helper(y));
            return Outputs.none();
        });
        List<String> relu = only(network.main(), "relu").builtAt();
        assertTrue(
                relu.getFirst().startsWith(BuiltAtTest.class.getName() + ".lambda$")
                        && relu.getFirst().endsWith(lines[0]),
                relu::toString);
        List<String> tanh = only(network.main(), "tanh").builtAt();
        assertTrue(tanh.getFirst().startsWith(BuiltAtTest.class.getName() + ".helper(BuiltAtTest.java:"),
                tanh::toString);
        assertTrue(tanh.get(1).endsWith(lines[1]), tanh::toString);
        assertEquals(3, tanh.size());
        assertTrue(tanh.stream().noneMatch(frame -> frame.contains("io.seriatim.graph.Value")), tanh::toString);
    }

    @Test
    void gradientsAndUpdates() {
        String[] lines = new String[2];
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2, 3);
            Value y = noted(lines, 0, g.linear(x, 4));
            Value loss = y.tanh().mean();
            noted(lines, 1, g.minimize(loss, Sgd.of(0.1)));
            return Outputs.none();
        });
        for (String type : List.of("matmul_v2", "matmul_v2_grad")) {
            assertTrue(only(network.main(), type).builtAt().getFirst().endsWith(lines[0]), type);
        }
        for (OpDesc op : network.main().global().ops()) {
            assertFalse(op.builtAt().isEmpty(), op::toString);
            if (op.type().equals("sgd") || op.outputNames().contains("mean_0.tmp_0@GRAD")) {
                assertTrue(op.builtAt().getFirst().endsWith(lines[1]), op::toString);
            }
        }
        assertTrue(network.startup().global().ops().getFirst().builtAt().getFirst().endsWith(lines[0]));
    }

    private static Network network(UnaryOperator<Value> function) {
        return Network.define(g -> {
            Value y = function.apply(g.data("x", FLOAT32, -1, 3));
            return Outputs.of("y", y);
        });
    }

    @Test
    void noPartOfThePrograms() throws FileFormatException {
        Network one = network(Value::relu);
        Network other = network(x -> helper(x.relu()));
        Network third = network(x -> x.relu());
        OpDesc first = only(one.main(), "relu");
        OpDesc second = only(third.main(), "relu");
        assertNotEquals(first.builtAt(), second.builtAt());
        assertEquals(first, second);
        assertEquals(first.hashCode(), second.hashCode());
        assertEquals(ProgramFiles.hash(one.main()), ProgramFiles.hash(third.main()));
        assertArrayEquals(ProgramFiles.toBytes(one.main()), ProgramFiles.toBytes(third.main()));
        assertNotEquals(ProgramFiles.hash(one.main()), ProgramFiles.hash(other.main()));
        Program read = ProgramFiles.parse("memory", ProgramFiles.toBytes(one.main()));
        assertEquals(List.of(), only(read, "relu").builtAt());
    }

    @Test
    void copiesKeepIt() {
        Program program = network(Value::relu).main();
        OpDesc op = only(program, "relu");
        assertFalse(op.builtAt().isEmpty());
        assertEquals(op.builtAt(), only(program.copy(), "relu").builtAt());
        assertEquals(op.builtAt(), op.with("scheduling_priority", 1).builtAt());
        assertEquals(op.builtAt(), op.without(List.of("op_role")).builtAt());
        assertEquals(op.builtAt(), op.renamed(name -> "a", name -> "b").builtAt());
    }

    @Test
    void wrongShapesSayIt() {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2, 3);
            x.matmul(x);
            return Outputs.none();
        })).getMessage());
        assertTrue(message.contains("; built at " + BuiltAtTest.class.getName() + ".lambda$wrongShapesSayIt$"),
                message);
    }

    @Test
    void failedRunsSayIt() {
        String[] line = new String[1];
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 3);
            Value y = g.data("y", FLOAT32, -1, 3);
            Value sum = noted(line, 0, x.plus(y));
            return Outputs.of("sum", sum);
        });
        Map<String, Tensor> feeds = Map.of("x", Tensor.allocate(DType.FLOAT32, 2, 3), "y",
                Tensor.allocate(DType.FLOAT32, 4, 3));
        String message = String.valueOf(assertThrows(IllegalArgumentException.class,
                () -> Interpreter.of(Kernels.portable()).run(network.main(), feeds, List.of("tmp_0"))).getMessage());
        assertTrue(message.contains(line[0]), message);
        assertEquals(message.indexOf("; built at "), message.lastIndexOf("; built at "), message);
    }

    /** Operations that user code makes without a graph. */
    @Test
    void descriptionsMadeByHand() {
        OpDesc op = OpDesc.of("relu").in("X", "x").out("Out", "y").build();
        assertTrue(op.builtAt().getFirst().startsWith(BuiltAtTest.class.getName() + ".descriptionsMadeByHand("),
                op.builtAt()::toString);
    }

    private static void define(Graph g) {
        g.data("x", FLOAT32, 1).relu();
    }

    @Test
    void deepStacks() {
        OpDesc[] made = new OpDesc[1];
        deep(500, () -> Network.define(g -> {
            define(g);
            made[0] = only(g.main(), "relu");
            return Outputs.none();
        }));
        assertTrue(made[0].builtAt().getFirst().contains(".define(BuiltAtTest.java:"), made[0].builtAt()::toString);
    }

    private static void deep(int depth, Runnable then) {
        if (depth == 0) {
            then.run();
        } else {
            deep(depth - 1, then);
        }
    }
}
