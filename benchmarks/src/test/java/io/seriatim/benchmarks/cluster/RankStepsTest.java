package io.seriatim.benchmarks.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.executor.trace.RunTrace;
import io.seriatim.executor.trace.TracedPlan;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Figures of recordings that are written by hand. */
class RankStepsTest {
    private static final double EXACT = 1e-9;

    private static TracedPlan.Instruction instruction(String type, Integer... dependencies) {
        return new TracedPlan.Instruction(type, type, "", "cpu", -1, List.of(dependencies));
    }

    private static RunTrace.Span span(int instruction, int lane, long from, long to) {
        return new RunTrace.Span(instruction, lane, from, from, to, true, 0, 0);
    }

    /** A gradient from 100 to 200, one from 200 to 300; their exchanges, the second behind the first; an update. */
    private static RunTrace.Run run(long late) {
        TracedPlan plan = new TracedPlan("p", List.of(instruction("matmul"), instruction("c_allreduce_sum", 0),
                instruction("matmul", 0), instruction("c_allreduce_sum", 1, 2), instruction("adam", 1, 3)),
                List.of(), 0, 0);
        return new RunTrace.Run(0, plan, -1, 90, 520 + late, List.of(0, 1),
                List.of(span(0, 0, 100, 200), span(1, 1, 205, 350), span(2, 0, 200, 300),
                        span(3, 1, 350, 450 + late), span(4, 0, 455 + late, 500 + late)),
                List.of(), 0);
    }

    @Test
    void aLaneWaitsWhileAnExchangeRunsAndNothingElse() {
        RankSteps steps = RankSteps.of(List.of(run(0)), List.of(40L, 80L));
        assertEquals(430, steps.step(), EXACT);
        assertEquals(145 + 100, steps.exchanging(), EXACT);
        assertEquals(150, steps.waiting(), EXACT, "from 300 to 450");
        assertEquals(1 - 150.0 / 245, steps.hidden(), EXACT);
        assertEquals(List.of(new ScaleModel.Bucket(40, 110), new ScaleModel.Bucket(80, 210)), steps.buckets(),
                "the second was computed before the first exchange had ended");
        assertEquals(70, steps.rest(), EXACT);
    }

    @Test
    void timesAreMediansAndSharesMeans() {
        RankSteps steps = RankSteps.of(List.of(run(0), run(300), run(0)), List.of(40L, 80L));
        assertEquals(430, steps.step(), EXACT);
        assertEquals(245 + 100, steps.exchanging(), EXACT);
        assertEquals(150 + 100, steps.waiting(), EXACT);
    }

    @Test
    void aLineHoldsThemAll() {
        RankSteps steps = RankSteps.of(List.of(run(3)), List.of(40L, 80L));
        assertEquals(steps, RankSteps.parse(steps.line()));
    }

    @Test
    void sizesThatAreNotOfTheProgramAreRefused() {
        assertThrows(IllegalStateException.class, () -> RankSteps.of(List.of(run(0)), List.of(40L)));
    }
}
