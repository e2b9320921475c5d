package io.seriatim.executor.trace;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;

/**
 * The longest chain of instructions of which each waits for the one before: no number of threads makes a run shorter
 * than it.
 *
 * @param length
 *            the time of its instructions
 * @param spans
 *            its instructions, in order
 */
record CriticalPath(long length, List<RunTrace.Span> spans) {
    static CriticalPath of(RunTrace.Run run) {
        int n = run.plan().instructions().size();
        RunTrace.Span[] ran = new RunTrace.Span[n];
        run.spans().forEach(span -> ran[span.instruction()] = span);
        long[] length = new long[n];
        int[] before = new int[n];
        Arrays.fill(before, -1);
        int last = -1;
        for (int i = 0; i < n; i++) {
            for (int dependency : run.plan().instructions().get(i).dependencies()) {
                if (length[dependency] > length[i]) {
                    length[i] = length[dependency];
                    before[i] = dependency;
                }
            }
            if (ran[i] != null) {
                length[i] += ran[i].duration();
                last = last < 0 || length[i] > length[last] ? i : last;
            }
        }
        ArrayDeque<RunTrace.Span> path = new ArrayDeque<>();
        for (int i = last; i >= 0; i = before[i]) {
            if (ran[i] != null) {
                path.push(ran[i]);
            }
        }
        return new CriticalPath(last < 0 ? 0 : length[last], List.copyOf(path));
    }
}
