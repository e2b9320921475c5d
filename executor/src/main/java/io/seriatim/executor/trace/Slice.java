package io.seriatim.executor.trace;

import java.util.ArrayList;
import java.util.List;

/**
 * A span with what is known of its instruction.
 *
 * @param plan
 *            the plan of its run
 * @param span
 *            its times
 * @param depth
 *            0 for the run itself, 1 for a block inside of an instruction, and so on
 * @param inner
 *            how long blocks inside of it kept its own lane
 */
record Slice(TracedPlan plan, RunTrace.Span span, int depth, long inner) {
    TracedPlan.Instruction instruction() {
        return plan.instructions().get(span.instruction());
    }

    /** How long the instruction itself ran, without the blocks inside of it. */
    long own() {
        return Math.max(0, span.duration() - inner);
    }

    String label() {
        return instruction().type() + " " + instruction().name();
    }

    /** All spans of a run, those of blocks inside of it too, each after that which it is inside of. */
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
