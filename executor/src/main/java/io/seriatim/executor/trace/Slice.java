package io.seriatim.executor.trace;

import java.util.ArrayList;
import java.util.List;

/**
 * A span together with its plan and its depth of nesting.
 *
 * @param plan
 *            the plan of the run that contains the span
 * @param span
 *            the execution of an instruction
 * @param depth
 *            0 for an instruction of the outermost run, 1 for an instruction of a block that it runs, and so on
 * @param inner
 *            the time, in nanoseconds, for which instructions of blocks within this instruction used its lane
 */
record Slice(TracedPlan plan, RunTrace.Span span, int depth, long inner) {
    TracedPlan.Instruction instruction() {
        return plan.instructions().get(span.instruction());
    }

    /** Returns the time of the instruction without the blocks that it runs, in nanoseconds. */
    long own() {
        return Math.max(0, span.duration() - inner);
    }

    String label() {
        return instruction().type() + " " + instruction().name();
    }

    /** Returns all spans of a run and of the blocks within it; outer runs come before the runs nested in them. */
    static List<Slice> of(RunTrace.Run run) {
        List<Slice> slices = new ArrayList<>();
        add(run, 0, slices);
        return slices;
    }

    private static void add(RunTrace.Run run, int depth, List<Slice> slices) {
        long[] inner = inner(run);
        for (RunTrace.Span span : run.spans()) {
            slices.add(new Slice(run.plan(), span, depth, inner.length == 0 ? 0 : inner[span.instruction()]));
        }
        run.nested().forEach(each -> add(each, depth + 1, slices));
    }

    private static long[] inner(RunTrace.Run run) {
        if (run.nested().isEmpty()) {
            return new long[0];
        }
        int[] lane = new int[run.plan().instructions().size()];
        run.spans().forEach(span -> lane[span.instruction()] = span.lane());
        long[] inner = new long[lane.length];
        for (RunTrace.Run each : run.nested()) {
            for (RunTrace.Span span : each.spans()) {
                if (span.lane() == lane[each.within()]) {
                    inner[each.within()] += span.duration();
                }
            }
        }
        return inner;
    }
}
