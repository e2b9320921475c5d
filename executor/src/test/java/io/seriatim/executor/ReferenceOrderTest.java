package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the order of operations, derived from the reference system's tests. */
class ReferenceOrderTest {
    @AfterEach
    void noHooks() {
        Probes.allOff();
    }

    private static VarDesc passing(String name, long... dims) {
        return VarDesc.of(name, VarType.dense(FLOAT32, dims));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void theLastOfTwoWritersWins(int threads) {
        Network network = Network.define(g -> {
            Value out = g.full(FLOAT32, 1, 1);
            Value two = g.full(FLOAT32, 2, 1);
            Value three = g.full(FLOAT32, 3, 1);
            g.op("assign").in("X", two).to("Out", out).append();
            g.op("assign").in("X", three).to("Out", out).append();
            return Outputs.of("out", out);
        });
        String out = network.outputs().get("out").name();
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(network.main(), feeds(), fetches(out));
            for (int i = 0; i < 5; i++) {
                assertEquals(3, plan.run().scalar(out), "run " + i);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1,false", "4,false", "4,true"})
    void readersSeeTheWriterBeforeThem(int threads, boolean persistable) {
        Program program = new Program();
        program.global().put(passing("x", 1)).put(persistable ? passing("v", 1).persistent() : passing("v", 1));
        List<String> seen = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            String name = "seen" + i;
            seen.add(name);
            program.global().put(passing(name, 1))
                    .add(OpDesc.of("scale").in("X", "x").out("Out", "v").attr("scale", 1f).attr("bias", (float) i)
                            .build())
                    .add(OpDesc.of("scale").in("X", "v").out("Out", name).attr("scale", 1f).build());
        }
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(program, feeds("x"), fetches(seen.toArray(String[]::new)));
            for (int run = 0; run < 5; run++) {
                Results results = plan.run(Bits.floats(1000 * run));
                for (int i = 0; i < 60; i++) {
                    assertEquals(1000 * run + i, results.scalar(seen.get(i)), "run " + run);
                }
            }
        }
    }

    /**
     * All reductions of a step end before its last operation changes the variables that they read. The reductions of
     * the next step read the changed values.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void stepsDoNotOverlapWhereTheyMustNot(int threads) {
        int reductions = 1500;
        Program program = new Program();
        program.global().put(passing("x", 64).persistent()).put(passing("total", 1));
        List<String> sums = IntStream.range(0, reductions).mapToObj(i -> "sum" + i).toList();
        for (String sum : sums) {
            program.global().put(passing(sum, 1))
                    .add(OpDesc.of("reduce_sum").in("X", "x").out("Out", sum).attr("dim", new int[]{0})
                            .attr("keep_dim", true)
                            .attr("reduce_all", true).build());
        }
        program.global().add(OpDesc.of("scale").in("X", "x").out("Out", "x").attr("scale", 2f).build())
                .add(OpDesc.of("sum").in("X", sums).out("Out", "total").build());
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            float[] fives = new float[64];
            Arrays.fill(fives, 5);
            executor.scope().set("x", Tensor.of(fives, 64));
            Plan plan = executor.compile(program, feeds(), fetches("total", "sum0", "sum" + (reductions - 1)));
            for (int step = 0; step < 3; step++) {
                Results results = plan.run();
                double sum = 5.0 * 64 * (1 << step);
                assertEquals(sum, results.scalar("sum0"), "step " + step);
                assertEquals(sum, results.scalar("sum" + (reductions - 1)), "step " + step);
                assertEquals(reductions * sum, results.scalar("total"), "step " + step);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void sequentialRunsKeepTheProgramsOrder(int threads) {
        int branches = 40;
        Program program = new Program();
        program.global().put(passing("x", 4));
        List<Integer> ran = Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < branches; i++) {
            int number = i;
            program.global().put(passing("y" + i, 4))
                    .add(OpDesc.of(i % 2 == 0 ? Probes.CALL : Probes.KERNEL).in("X", "x").out("Out", "y" + i)
                            .attr("key", "order" + i).build());
            Probes.on("order" + i, _ -> ran.add(number));
        }
        try (Executor executor = Executor.builder().threads(threads).eager().sequential().build()) {
            Plan plan = executor.compile(program, feeds("x"), fetches("y0", "y" + (branches - 1)));
            for (int run = 0; run < 5; run++) {
                ran.clear();
                assertArrayEquals(new float[]{1, 2, 3, 4},
                        plan.run(Bits.floats(1, 2, 3, 4)).get("y" + (branches - 1)).toFloatArray());
                assertEquals(IntStream.range(0, branches).boxed().toList(), ran, "run " + run);
            }
        }
    }

    /**
     * There are as many threads as branches, and the branches wait for each other, so the run ends only if all branches
     * run at the same time.
     */
    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void branchesRunAtOnce(int threads) {
        Program program = new Program();
        program.global().put(passing("x", 1)).put(passing("all", 1));
        List<String> names = new ArrayList<>();
        Meeting meeting = new Meeting(threads);
        for (int i = 0; i < threads; i++) {
            names.add("y" + i);
            program.global().put(passing("y" + i, 1))
                    .add(OpDesc.of(Probes.CALL).in("X", "x").out("Out", "y" + i).attr("key", "meet" + i).build());
            Probes.on("meet" + i, _ -> meeting.await());
        }
        program.global().add(OpDesc.of("sum").in("X", names).out("Out", "all").build());
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(program, feeds("x"), fetches("all"));
            for (int run = 0; run < 3; run++) {
                assertEquals(7 * threads, plan.run(Bits.floats(7)).scalar("all"));
                assertEquals(run + 1, meeting.held());
            }
        }
    }
}
