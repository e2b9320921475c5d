package io.seriatim.executor.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.engine.Engine;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanProbe;
import io.seriatim.executor.Probes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Of all ready operations, the one with the lowest {@code scheduling_priority} starts first. */
class PrioritiesTest {
    /**
     * The priorities of operations without dependencies. The last one has a successor, whose priority is
     * {@link #AFTER}.
     */
    private static final @Nullable Object[] PRIORITIES = {null, 3, -1, 2L, 0, -2};
    private static final int AFTER = 9;
    private static final List<String> ORDER = List.of("5", "2", "0", "4", "3", "1", "after");

    private final List<String> ran = Collections.synchronizedList(new ArrayList<>());

    @AfterEach
    void off() {
        Probes.allOff();
    }

    private void add(Program program, String key, String x, @Nullable Object priority) {
        program.global().put(VarDesc.of("y" + key, VarType.dense(DType.FLOAT32, 1)));
        OpDesc op = OpDesc.of(Probes.CALL).in("X", x).out("Out", "y" + key).attr("key", key).build();
        program.global().add(priority == null ? op : op.with("scheduling_priority", priority));
        Probes.on(key, _ -> ran.add(key));
    }

    private Program program() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 1)));
        for (int i = 0; i < PRIORITIES.length; i++) {
            add(program, "" + i, "x", PRIORITIES[i]);
        }
        add(program, "after", "y" + (PRIORITIES.length - 1), AFTER);
        return program;
    }

    private static List<String> results(Program program) {
        return program.global().vars().stream().map(VarDesc::name).filter(name -> name.startsWith("y")).toList();
    }

    private static void run(Executor executor, Program program) {
        Plan plan = executor.compile(program, Executor.feeds("x"),
                Executor.fetches(results(program).toArray(String[]::new)));
        plan.run(Tensor.of(DType.FLOAT32, new double[]{1}, 1));
    }

    @Test
    void oneThread() {
        try (Executor executor = Executor.builder().threads(1).build()) {
            run(executor, program());
        }
        assertEquals(ORDER, ran);
    }

    /** The most urgent operation blocks one of two threads; the other thread runs all ready operations. */
    @Test
    void twoThreads() {
        Program program = program();
        add(program, "gate", "x", Integer.MIN_VALUE);
        CountDownLatch others = new CountDownLatch(ORDER.size());
        List<Boolean> arrived = new ArrayList<>();
        ORDER.forEach(key -> Probes.on(key, _ -> {
            ran.add(key);
            others.countDown();
        }));
        Probes.on("gate", _ -> arrived.add(others.await(30, TimeUnit.SECONDS)));
        try (Executor executor = PlanProbe.eager(Executor.builder().threads(2)).build()) {
            run(executor, program);
        }
        assertEquals(List.of(true), arrived);
        assertEquals(ORDER, ran);
    }

    /** The engine's only worker pushes all tasks before it runs one. */
    @Test
    void onAnEngine() {
        try (Engine engine = Engine.builder().pooled(1).build();
                Executor executor = Executor.builder().engine(engine).build()) {
            run(executor, program());
        }
        assertEquals(ORDER, ran);
    }

    /** Dependencies take precedence over priorities. */
    @Test
    void dependenciesStay() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 1)));
        add(program, "0", "x", 5);
        add(program, "1", "y0", -5);
        add(program, "2", "x", 1);
        try (Executor executor = Executor.builder().threads(1).build()) {
            run(executor, program);
        }
        assertEquals(List.of("2", "0", "1"), ran);
    }

    @Test
    void orderOfTheProgramWithoutPriorities() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 1)));
        for (int i = 0; i < 4; i++) {
            add(program, "" + i, "x", null);
        }
        try (Executor executor = Executor.builder().threads(1).build()) {
            run(executor, program);
        }
        assertEquals(List.of("0", "1", "2", "3"), ran);
    }
}
