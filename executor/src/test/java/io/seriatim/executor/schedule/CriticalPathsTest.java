package io.seriatim.executor.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Plan;
import io.seriatim.executor.SilentRanks;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import org.junit.jupiter.api.Test;

/** What is sent to other ranks is computed before what only computations wait for. */
class CriticalPathsTest {
    private static final int CHAIN = 20;

    private static void add(Program program, String type, String from, String to) {
        program.global().put(VarDesc.of(to, VarType.dense(DType.FLOAT32, 8, 8)));
        program.global().add(OpDesc.of(type).in("X", from).out("Out", to).build());
    }

    /** A chain of products, and a function of the same input whose result is sent. */
    private static CriticalPaths paths(String last) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 8, 8)));
        String from = "x";
        for (int i = 0; i < CHAIN; i++) {
            String to = "chain" + i;
            program.global().put(VarDesc.of(to, VarType.dense(DType.FLOAT32, 8, 8)));
            program.global().add(OpDesc.of("matmul_v2").in("X", from).in("Y", from).out("Out", to).build());
            from = to;
        }
        add(program, "softmax", "x", "gradient");
        add(program, last, "gradient", "out");
        try (Executor executor = Executor.builder().communicator(new SilentRanks()).threads(2).build()) {
            Plan plan = executor.compile(program, Executor.feeds("x"), Executor.fetches(from, "out"));
            try (Tensor x = Tensor.of(new float[64], 8, 8)) {
                CompiledPlan compiled = Internals.compiled(plan, executor.scope(), x);
                assertEquals(CHAIN + 2, compiled.tasks().size());
                return CriticalPaths.of(compiled);
            }
        }
    }

    @Test
    void whatIsSentIsComputedFirst() {
        assertTrue(paths("c_allreduce_sum").isBefore(CHAIN, 0));
    }

    @Test
    void whatIsNotSentIsComputedByTheLongestPath() {
        assertFalse(paths("log_softmax").isBefore(CHAIN, 0));
    }
}
