package io.seriatim.executor.trace;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;

/**
 * The critical path of a run: the chain of dependent instructions whose times have the largest sum. A run cannot take
 * less time than its critical path, however many threads it uses.
 *
 * @param length
 *            the sum of the times of its instructions, in nanoseconds
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
