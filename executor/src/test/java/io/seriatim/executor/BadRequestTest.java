package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.SymbolicDims;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A caller's mistake is told apart from a failure of a program, wherever it is found. */
class BadRequestTest {
    private static final Tensor X = Tensor.of(new float[]{1, 2, 3, 4, 5, 6}, 3, 2);

    private static String message(Throwable thrown) {
        return String.valueOf(thrown.getMessage());
    }

    private static OpDesc.Builder of(String type, String index) {
        return OpDesc.of(type).in("X", "x").in(index, "i").out("Out", "y");
    }

    /** Operations that look places up, each with indexes of which one is not there. */
    @SuppressWarnings("ImmutableEnumChecker") // Never changed.
    enum Lookup {
        EMBEDDING(OpDesc.of("lookup_table_v2").in("W", "x").in("Ids", "i").out("Out", "y"), 2), GATHER(
                of("gather", "Index"), 2), GATHER_ND(of("gather_nd", "Index"), 2,
                        1), INDEX_SELECT(of("index_select", "Index").attr("dim", 0), 2), TAKE_ALONG(
                                OpDesc.of("take_along_axis").in("Input", "x").in("Index", "i").out("Result", "y")
                                        .attr("Axis", 0),
                                1,
                                2), INDEX_SAMPLE(of("index_sample", "Index"), 3, 1), ONE_HOT(
                                        OpDesc.of("one_hot_v2").in("X", "i").out("Out", "y").attr("depth", 3),
                                        2), CROSS_ENTROPY(OpDesc.of("softmax_with_cross_entropy").in("Logits", "x")
                                                .in("Label", "i").out("Loss", "y")
                                                .out("Softmax", "s"), 3, 1);

        final OpDesc op;
        final long[] dims;

        Lookup(OpDesc.Builder op, long... dims) {
            this.op = op.build();
            this.dims = dims;
        }

        Program program() {
            Program program = new Program();
            program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 3, 2)))
                    .put(VarDesc.of("i", VarType.dense(DType.INT64, dims)))
                    .put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1)))
                    .put(VarDesc.of("s", VarType.dense(DType.FLOAT32, -1))).add(op);
            return program;
        }

        Tensor index(long last) {
            long[] values = new long[(int) (dims.length == 2 ? dims[0] * dims[1] : dims[0])];
            values[values.length - 1] = last;
            return Tensor.of(values, dims);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anIndexThatIsFedIsTheCallersMistake(Lookup lookup) {
        Program program = lookup.program();
        for (int threads : new int[]{1, 3}) {
            try (Executor executor = Executor.builder().threads(threads).eager().build()) {
                for (long outside : new long[]{9, Long.MAX_VALUE}) {
                    Map<String, Tensor> fed = Map.of("x", X, "i", lookup.index(outside));
                    BadRequestException thrown = assertThrows(BadRequestException.class,
                            () -> executor.run(program, fed, fetches("y")));
                    ProgramFailedException failed = assertInstanceOf(ProgramFailedException.class, thrown.getCause());
                    assertEquals(lookup.op.type(), failed.operation());
                    assertEquals(failed.getMessage(), thrown.getMessage());
                    assertTrue(message(thrown).contains("=i int64") && message(thrown).contains("" + outside),
                            message(thrown));
                    assertFalse(assertThrows(IllegalArgumentException.class,
                            () -> Interpreter.of(Kernels.system()).run(program, fed,
                                    List.of("y"))) instanceof BadRequestException);
                }
                executor.run(program, Map.of("x", X, "i", lookup.index(0)), fetches("y"));
            }
        }
    }

    /** An index that follows from what is fed is the caller's; one of the program or of its parameters is not. */
    @Test
    void anIndexThatDoesNotDependOnFeedsIsAFailureOfTheProgram() {
        Program program = Lookup.GATHER.program();
        program.global().setOps(List.of(OpDesc.of("scale").in("X", "j").out("Out", "i").attr("scale", 2f).build(),
                Lookup.GATHER.op));
        program.global().put(VarDesc.of("j", VarType.dense(DType.INT64, 2)));
        Tensor outside = Tensor.of(new long[]{0, 2}, 2);
        try (Executor executor = Executor.builder().build()) {
            assertThrows(BadRequestException.class,
                    () -> executor.run(program, Map.of("x", X, "j", outside), fetches("y")));
            program.global().put(VarDesc.of("j", VarType.dense(DType.INT64, 2)).persistent())
                    .put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 3, 2)).persistent())
                    .put(VarDesc.of("z", VarType.dense(DType.FLOAT32, 3, 2)));
            executor.scope().set("j", outside).set("x", X);
            assertThrows(ProgramFailedException.class, () -> executor.run(program, Map.of("z", X), fetches("y")));
        }
    }

    @Test
    void plansWithEqualDimensionsAreNotThoseOfOthers() {
        Program program = new Program();
        for (String name : List.of("a", "b")) {
            program.global().put(new VarDesc(name, VarType.dense(DType.FLOAT32, -1), null, true, null, true))
                    .put(VarDesc.of("of_" + name, VarType.dense(DType.FLOAT32, -1)))
                    .add(OpDesc.of("assign").in("X", name).out("Out", "of_" + name).build());
        }
        Program named = program.copy().symbolicDims(new SymbolicDims(Map.of("a", List.of("n"), "b", List.of("n"))));
        Map<String, Tensor> fed = Map.of("a", Bits.floats(1), "b", Bits.floats(1, 2));
        try (Executor executor = Executor.builder().build()) {
            executor.run(program, fed, fetches("of_a", "of_b"));
            assertThrows(BadRequestException.class, () -> executor.run(named, fed, fetches("of_a", "of_b")));
            executor.run(program, fed, fetches("of_a", "of_b"));
        }
    }

    @Test
    void whatIsForgottenWithANetworkIsSaid() {
        Network network = Network.define(
                g -> Outputs.of("y", g.linear(g.data("x", DType.FLOAT32, -1, 2), 1)));
        try (Executor executor = Executor.on(Place.CPU)) {
            assertEquals("The program has no variable 'y' to fetch. A fetch is the name of a variable; that of a "
                    + "network's output is network.outputs().get(\"y\").name()",
                    message(assertThrows(IllegalArgumentException.class,
                            () -> executor.compile(network.main(), feeds("x"), fetches("y")))));
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(network.outputs().get("y").name()));
            assertEquals("Variable 'linear_0.w_0' has no value, but operation 0 (matmul_v2) reads it: run the startup "
                    + "program first, or set it in the scope, a loaded model's parameters by "
                    + "parameters().forEach(scope::set)",
                    message(assertThrows(IllegalArgumentException.class, () -> plan.run(X))));
        }
    }

    @Test
    void aClosedFeedIsNamedWhereverItIsGiven() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1)))
                .put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1)))
                .add(OpDesc.of("relu").in("X", "x").out("Out", "y").build());
        try (Executor executor = Executor.builder().build();
                Engine engine = Engine.builder().build();
                Executor shared = Executor.builder().engine(engine).build()) {
            for (Executor each : List.of(executor, shared)) {
                Plan plan = each.compile(program, feeds("x"), fetches("y"));
                Tensor closed = Tensor.of(new float[40], 40);
                closed.close();
                for (Exception thrown : List.of(
                        assertThrows(BadRequestException.class, () -> plan.run(closed)),
                        assertThrows(BadRequestException.class,
                                () -> RequestBatcher.of(plan, 8).run(closed)))) {
                    assertTrue(message(thrown).contains("Feed 'x', float32 [40], is a closed tensor"),
                            message(thrown));
                }
            }
        }
    }

    @Test
    void theInterpreterNamesAClosedFeed() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1)))
                .put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1)))
                .add(OpDesc.of("relu").in("X", "x").out("Out", "y").build());
        Interpreter interpreter = Interpreter.of(Kernels.system());
        Tensor closed = Tensor.of(new float[40], 40);
        closed.close();
        String fed = message(assertThrows(IllegalStateException.class,
                () -> interpreter.run(program, Map.of("x", closed), List.of("y"))));
        assertTrue(fed.contains("Feed 'x', float32 [40], is a closed tensor"), fed);
        String set = message(assertThrows(IllegalStateException.class, () -> interpreter.set("x", closed)));
        assertTrue(set.contains("The value of variable 'x', float32 [40], is a closed tensor"), set);
    }
}
