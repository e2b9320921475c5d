package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests branches and loops, derived from the reference system's tests and issues. */
class ReferenceControlFlowTest {
    @AfterEach
    void noHooks() {
        Probes.allOff();
    }

    /** Adds the block of a branch, which has two constants, and the operation that runs it. */
    private static void branch(Program program, String condition, String name, DType dtype, long[] dims, DType other,
            long[] otherDims) {
        Block block = program.addBlock(0, null);
        fill(block, name + ".0", dtype, name.equals("yes") ? 1 : 3, dims);
        fill(block, name + ".1", other, name.equals("yes") ? 1 : 2, otherDims);
        program.global().put(VarDesc.of(name + ".0", VarType.dense(dtype, dims)))
                .put(VarDesc.of(name + ".1", VarType.dense(other, otherDims)))
                .put(new VarDesc(name + ".scope", new VarType.Other(VarType.STEP_SCOPES), null, null, null, null))
                .add(OpDesc.of("conditional_block").in("Cond", condition).in("Input")
                        .out("Out", name + ".0", name + ".1")
                        .out("Scope", name + ".scope").attr("sub_block", block).attr("is_scalar_condition", true)
                        .attr("skip_eager_deletion_vars", new String[0]).build());
    }

    private static void fill(Block block, String name, DType dtype, int value, long... dims) {
        int number = switch (dtype) {
            case BOOL -> 0;
            case INT32 -> 2;
            case INT64 -> 3;
            default -> 5;
        };
        block.add(OpDesc.of("fill_constant").out("Out", name).attr("shape", dims).attr("dtype", number)
                .attr("value", (float) value)
                .attr("str_value", Integer.toString(value)).build());
    }

    private static Program differingBranches() {
        Program program = new Program();
        for (String name : List.of("x", "y")) {
            program.global().put(VarDesc.of(name, VarType.dense(FLOAT32, 1)));
        }
        for (String name : List.of("less", "not")) {
            program.global().put(VarDesc.of(name, VarType.dense(BOOL, 1)));
        }
        program.global().put(VarDesc.of("mask", VarType.dense(INT32, 1)))
                .put(VarDesc.of("out.0", VarType.dense(FLOAT32, -1, -1)))
                .put(VarDesc.of("out.1", VarType.dense(INT64, -1, -1)))
                .add(OpDesc.of("less_than").in("X", "x").in("Y", "y").out("Out", "less").attr("axis", -1).build());
        branch(program, "less", "yes", INT32, new long[]{1, 2}, BOOL, new long[]{2, 3});
        program.global().add(OpDesc.of("logical_not").in("X", "less").out("Out", "not").build());
        branch(program, "not", "no", FLOAT32, new long[]{3, 4}, INT64, new long[]{4, 5});
        program.global().add(
                OpDesc.of("cast").in("X", "less").out("Out", "mask").attr("in_dtype", 0).attr("out_dtype", 2).build());
        for (int i = 0; i < 2; i++) {
            program.global()
                    .add(OpDesc.of("select_input").in("X", "no." + i, "yes." + i).in("Mask", "mask")
                            .out("Out", "out." + i).build());
        }
        return program;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void branchesMayDifferInTypeAndShape(int threads) {
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(differingBranches(), feeds("x", "y"), fetches("out.0", "out.1"));
            for (int i = 0; i < 4; i++) {
                Results no = plan.run(Bits.floats(0.3), Bits.floats(0.1));
                Bits.assertSame(Tensor.of(FLOAT32, new double[]{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 3, 4),
                        no.get("out.0"), "no " + i);
                Bits.assertSame(
                        Tensor.of(INT64, LongStream.generate(() -> 2).limit(20).toArray(), 4, 5),
                        no.get("out.1"),
                        "no " + i);
                Results yes = plan.run(Bits.floats(0.1), Bits.floats(0.3));
                Bits.assertSame(Tensor.of(INT32, new long[]{1, 1}, 1, 2), yes.get("out.0"), "yes " + i);
                Bits.assertSame(Tensor.of(BOOL, new long[]{1, 1, 1, 1, 1, 1}, 2, 3), yes.get("out.1"), "yes " + i);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aLoopCountsToTen(int threads) {
        Network network = Network.define(g -> {
            Value ten = g.full(INT64, 10, 1);
            return Outputs.of("i",
                    g.whileLoop(v -> List.of(v.getFirst().lessThan(ten)), v -> List.of(v.getFirst().plus(1)),
                            g.full(INT64, 0, 1))
                            .getFirst());
        });
        String i = network.outputs().get("i").name();
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(network.main(), feeds(), fetches(i));
            for (int run = 0; run < 4; run++) {
                assertEquals(10, plan.run().scalar(i), "run " + run);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void whatGrowsInALoopKeepsGrowing(int threads) {
        Network network = Network.define(g -> {
            Value count = g.data("count", INT64, 1);
            List<Value> loop = g.whileLoop(v -> List.of(v.getFirst().lessThan(count)), v -> {
                Value last = v.get(1).slice(0, -1, Integer.MAX_VALUE);
                return List.of(v.getFirst().plus(1), g.concat(0, v.get(1), last.times(2)));
            }, g.full(INT64, 0, 1), g.data("start", FLOAT32, -1, 2));
            return Outputs.of("rows", loop.get(1));
        });
        String rows = network.outputs().get("rows").name();
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(network.main(), feeds("count", "start"), fetches(rows));
            for (long count : new long[]{3, 0, 7, 1}) {
                Tensor start = Tensor.of(new float[]{1, -1}, 1, 2);
                Tensor found = plan.run(Bits.longs(count), start).get(rows);
                assertArrayEquals(new long[]{count + 1, 2}, found.shape().dims());
                assertEquals(Math.scalb(1.0, (int) count), found.getDouble(count, 0));
                assertEquals(1, start.shape().dim(0), "what is fed stays as it is");
            }
        }
    }

    private interface Body {
        Value loss(Graph g, Value x);
    }

    /** Trains three steps and compares with the interpreter. */
    private static void trains(int threads, Body body, Tensor... batches) {
        Network network = Network.define(6, g -> {
            Value x = g.data("x", FLOAT32, -1, 4);
            Value loss = body.loss(g, x);
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        String loss = network.outputs().get("loss").name();
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(loss));
            for (int step = 0; step < batches.length; step++) {
                Tensor expected = Objects
                        .requireNonNull(
                                interpreter.run(network.main(), Map.of("x", batches[step]), List.of(loss)).get(loss));
                Bits.assertSame(expected, plan.run(batches[step]).get(loss), "loss of step " + step);
            }
            for (VarDesc each : network.main().persistables()) {
                Bits.assertSame(interpreter.get(each.name()), executor.scope().get(each.name()), each.name());
            }
        }
    }

    private static Value loop(Graph g, Value first, int steps, Function<Value, Value> body) {
        Value last = g.full(INT64, steps, 1);
        return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                v -> List.of(v.getFirst().plus(1), body.apply(v.getLast())),
                g.full(INT64, 0, 1), first).getLast();
    }

    private static Tensor[] batches() {
        return new Tensor[]{Bits.normal(1, 2, 4), Bits.normal(2, 2, 4), Bits.normal(3, 5, 4)};
    }

    /**
     * In the reference system, the gradient of a loop fails if the loop's initial value has another reader, because the
     * names of gradients inside and outside of the loop collide.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aLoopsVariableIsReadBeforeInsideAndAfter(int threads) {
        trains(threads, (g, x) -> {
            Value h = g.linear(x, 4);
            Value before = h.square();
            Value after = loop(g, h, 3, each -> each.times(0.5).plus(h.tanh()).times(before.mean()));
            return after.plus(before).plus(h).mean();
        }, batches());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aParameterIsReadInsideAndOutsideOfALoop(int threads) {
        trains(threads, (g, x) -> {
            Value w = g.parameter(ParameterSpec.DEFAULT, FLOAT32, 4, 4);
            return loop(g, x.matmul(w), 3, h -> h.matmul(w).tanh()).matmul(w).mean();
        }, batches());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aListIsWrittenInALoopAndReadByAnother(int threads) {
        trains(threads, (g, x) -> {
            Value w = g.parameter(ParameterSpec.DEFAULT, FLOAT32, 4, 4);
            Value zero = g.full(INT64, 0, 1);
            Value three = g.full(INT64, 3, 1);
            Value list = g.op("write_to_array").in("X", x.matmul(w)).in("I", zero).one("Out");
            g.whileLoop(v -> List.of(v.getFirst().lessThan(three)), v -> {
                Value h = g.op("read_from_array").in("X", list).in("I", v.getFirst()).one("Out");
                Value next = v.getFirst().plus(1);
                g.op("write_to_array").in("X", h.matmul(w).tanh()).in("I", next).to("Out", list).append();
                return List.of(next);
            }, g.full(INT64, 0, 1));
            List<Value> read = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                read.add(g.op("read_from_array").in("X", list).in("I", g.full(INT64, i, 1)).one("Out"));
            }
            return g.addAll(read.toArray(Value[]::new)).mean();
        }, batches());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aBranchIsTakenInSomeStepsOnly(int threads) {
        trains(threads, (g, x) -> {
            Value h = g.linear(x, 4);
            return g.ifElse(x.sum().greaterThan(0), () -> g.linear(h, 4).tanh(), () -> h.times(2)).mean();
        }, Bits.normal(1, 2, 4), Tensor.of(new float[]{-1, -2, -3, -4}, 1, 4),
                Tensor.of(new float[]{1, 2, 3, 4}, 1, 4));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aBranchGivesSomethingThatNeedsNoGradient(int threads) {
        trains(threads, (g, x) -> {
            Value h = g.linear(x, 4);
            List<Value> both = g.ifElseAll(x.sum().greaterThan(0), () -> List.of(h.tanh(), x.times(2)),
                    () -> List.of(h.sin(), h.cos()));
            return both.getFirst().plus(both.getLast()).mean();
        }, Tensor.of(new float[]{1, 2, 3, 4}, 1, 4), Tensor.of(new float[]{-1, -2, -3, -4}, 1, 4));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aFailureInsideOfALoopNamesTheOperationInside(int threads) {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1);
            Value last = g.full(INT64, 5, 1);
            List<Value> loop = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                Value probed = g.op(Probes.CALL).in("X", v.get(1)).attr("key", "inside").one("Out");
                return List.of(v.getFirst().plus(1), probed.plus(1));
            }, g.full(INT64, 0, 1), x.assign());
            return Outputs.of("y", loop.get(1));
        });
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            AtomicInteger times = new AtomicInteger();
            Probes.on("inside", _ -> {
                if (times.incrementAndGet() == 3) {
                    throw new IllegalStateException("the third time");
                }
            });
            ProgramFailedException thrown = assertThrows(ProgramFailedException.class,
                    () -> plan.run(Bits.floats(1, 2)));
            String text = String.valueOf(thrown.getMessage());
            assertTrue(text.contains(Probes.CALL) && text.contains("the third time"), text);
            assertEquals(3, times.get(), "nothing more is done");
            Probes.off("inside");
            assertArrayEquals(new float[]{6, 7}, plan.run(Bits.floats(1, 2)).get(y).toFloatArray(),
                    "the next run works");
        }
    }
}
