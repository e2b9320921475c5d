package io.seriatim.executor;

import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Streams;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Computes from streams and events alone which tasks have ended when a task begins on its device or on the host: the
 * earlier tasks of its stream, the tasks for which its stream or the host waits, and the tasks for which preceding
 * tasks of the host have waited.
 */
final class StreamCheck {
    private final CompiledPlan plan;
    private final Streams streams;
    private final BitSet[] ancestors;
    private final List<String> violations = new ArrayList<>();

    StreamCheck(CompiledPlan plan, BitSet[] ancestors) {
        this.plan = plan;
        this.streams = plan.streams();
        this.ancestors = ancestors;
    }

    List<String> violations() {
        BitSet[] ended = ended(-1, -1);
        boolean[] used = new boolean[ended.length];
        for (int i = 0; i < ended.length; i++) {
            for (int other : plan.before()[i]) {
                // Without devices, the run loop enforces the dependencies between tasks of the host.
                if (!ended[i].get(other) && !streams.isHostOnly()) {
                    violations.add("task " + i + " may begin before task " + other + " has ended, on which it depends");
                }
            }
            int[] waits = waits(i);
            for (int other : waits) {
                used[other] = true;
                if (!streams.recorded()[other] || !ancestors[i].get(other)) {
                    violations.add("task " + i + " waits for the event of task " + other + ", which may not be there");
                }
                if (streams.stream()[other] == streams.stream()[i] || ended(i, other)[i].get(other)) {
                    violations.add("that task " + i + " waits for the event of task " + other + " is not needed");
                }
            }
            passed(i, ended);
        }
        for (int i = 0; i < used.length; i++) {
            if (streams.recorded()[i] && !used[i]) {
                violations.add("nothing waits for the event of task " + i);
            }
        }
        return violations;
    }

    private int[] waits(int task) {
        return streams.stream()[task] < 0 ? streams.hostWaits()[task] : streams.waits()[task];
    }

    /** Returns the tasks that have ended when each task begins, if one of the waits is removed. */
    private BitSet[] ended(int without, int leftOut) {
        int[] stream = streams.stream();
        int[] last = new int[streams.streams().size()];
        Arrays.fill(last, -1);
        BitSet[] ended = new BitSet[stream.length];
        for (int i = 0; i < stream.length; i++) {
            ended[i] = host(i, ended);
            for (int other : waits(i)) {
                if (i != without || other != leftOut) {
                    ended[i].or(ended[other]);
                    ended[i].set(other);
                }
            }
            if (stream[i] >= 0) {
                if (last[stream[i]] >= 0) {
                    ended[i].or(ended[last[stream[i]]]);
                    ended[i].set(last[stream[i]]);
                }
                last[stream[i]] = i;
            }
        }
        return ended;
    }

    /** Returns the tasks that have ended because preceding tasks of the host have ended. */
    private BitSet host(int task, BitSet[] ended) {
        BitSet known = new BitSet();
        for (int other : plan.before()[task]) {
            if (streams.stream()[other] < 0) {
                known.or(ended[other]);
                known.set(other);
            }
        }
        return known;
    }

    /** Checks that {@code passed} names the tasks for which preceding tasks of the host have waited. */
    private void passed(int task, BitSet[] ended) {
        BitSet known = host(task, ended);
        BitSet told = new BitSet();
        for (int other : streams.passed()[task]) {
            if (!known.get(other) || !streams.recorded()[other]) {
                violations.add("task " + task + " takes it that task " + other + " has ended");
            }
            told.or(ended[other]);
            told.set(other);
        }
        known.stream().filter(other -> streams.stream()[other] >= 0 && !told.get(other))
                .forEach(other -> violations
                        .add("the thread of task " + task + " does not hear that task " + other + " has ended"));
    }
}
