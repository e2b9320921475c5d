package io.seriatim.executor.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records the times of one run. The executor calls it. {@link #started} and {@link #ended} each read the clock once and
 * perform a few plain stores.
 *
 * <p>
 * The columns have one element for each instruction. An instruction runs once, on one thread, so threads write to
 * different elements and need no lock. The thread that calls {@link #end} must have waited for all of them. The time at
 * which an instruction became ready is not recorded; it is computed from the times at which its dependencies ended.
 */
public final class RunLog {
    private final RunRecorder recorder;
    private final TracedPlan plan;
    private final Columns columns;
    private final long number;
    private final @Nullable RunLog outer;
    private final int instruction;
    private final long started;
    private final Set<Integer> lanes = new LinkedHashSet<>();
    private final List<RunLog> nested = new ArrayList<>();
    private int nestedSpans;
    private long nestedLeftOut;
    private long over;

    /** The times of all instructions; 0 means that the instruction did not start, or did not end. */
    static final class Columns {
        private final long[] started;
        private final long[] ended;
        private final long[] allocated;
        private final long[] freed;
        private final int[] lane;

        Columns(int count) {
            started = new long[count];
            ended = new long[count];
            allocated = new long[count];
            freed = new long[count];
            lane = new int[count];
        }

        int count() {
            return started.length;
        }

        void clear() {
            for (long[] column : new long[][]{started, ended, allocated, freed}) {
                Arrays.fill(column, 0);
            }
        }
    }

    RunLog(RunRecorder recorder, TracedPlan plan, Columns columns, long number, @Nullable RunLog outer, int instruction,
            long started) {
        this.recorder = recorder;
        this.plan = plan;
        this.columns = columns;
        this.number = number;
        this.outer = outer;
        this.instruction = instruction;
        this.started = started;
    }

    long number() {
        return number;
    }

    Columns columns() {
        return columns;
    }

    synchronized int spans() {
        return columns.count() + nestedSpans;
    }

    /**
     * Registers the calling thread as a lane of this run. The report also shows a registered thread that executed no
     * instruction.
     *
     * @param place
     *            the place of the instructions that threads run
     * @return the index of the lane, for {@link #started}
     */
    public int thread(String place) {
        Thread thread = Thread.currentThread();
        String name = thread.getName();
        return lane(new RunTrace.Lane(name.isEmpty() ? "thread " + thread.threadId() : name, place, -1));
    }

    /**
     * Registers a stream of a device as a lane of this run.
     *
     * @param place
     *            the device
     * @param stream
     *            the index of the stream, at least 0, as in {@link TracedPlan.Instruction#stream}
     * @param name
     *            the display name of the stream
     * @return the index of the lane, for {@link #started}
     * @throws IllegalArgumentException
     *             if {@code stream} is negative
     */
    public int stream(String place, int stream, String name) {
        if (stream < 0) {
            throw new IllegalArgumentException("The index of a stream must be 0 or more, but is " + stream);
        }
        return lane(new RunTrace.Lane(name, place, stream));
    }

    private int lane(RunTrace.Lane lane) {
        int id = recorder.number(lane);
        synchronized (this) {
            lanes.add(id);
        }
        return id;
    }

    /**
     * Records that an instruction starts.
     *
     * @param index
     *            the index of the instruction in the plan
     * @param lane
     *            the lane that runs it
     */
    public void started(int index, int lane) {
        started(index, lane, recorder.now());
    }

    void started(int index, int lane, long time) {
        columns.lane[index] = lane;
        columns.started[index] = time;
    }

    /**
     * Records that an instruction has completed. It is not called for an instruction that failed.
     *
     * @param index
     *            the index of the instruction in the plan
     */
    public void ended(int index) {
        ended(index, recorder.now());
    }

    void ended(int index, long time) {
        columns.ended[index] = time;
    }

    /**
     * Records that an instruction allocates or frees memory that the memory plan does not contain. The thread that runs
     * the instruction calls it.
     *
     * @param index
     *            the index of the instruction in the plan
     * @param bytes
     *            the number of bytes allocated; negative if they are freed
     */
    public void memory(int index, long bytes) {
        if (bytes > 0) {
            columns.allocated[index] += bytes;
        } else {
            columns.freed[index] -= bytes;
        }
    }

    /**
     * Begins the run of a block within an instruction, such as one iteration of a loop.
     *
     * @param index
     *            the index of the instruction in this plan
     * @param inner
     *            the block's plan
     * @return a log for the block's instructions, which must be ended before the instruction ends
     */
    public RunLog nested(int index, TracedPlan inner) {
        return recorder.begin(inner, this, index);
    }

    /** Ends the log. No thread may use it afterwards. */
    public void end() {
        end(recorder.now());
    }

    void end(long time) {
        over = time;
        if (outer == null) {
            recorder.keep(this);
        } else if (!outer.adopt(this)) {
            recorder.recycle(columns);
        }
    }

    /** Keeps the run of a block if capacity is left. The log of a loop with very many iterations is truncated. */
    private synchronized boolean adopt(RunLog inner) {
        int spans = inner.spans();
        if (spans() + spans > recorder.capacity()) {
            nestedLeftOut += spans;
            return false;
        }
        nested.add(inner);
        nestedSpans += spans;
        lanes.addAll(inner.lanes);
        return true;
    }

    synchronized RunTrace.Run snapshot() {
        List<RunTrace.Span> spans = new ArrayList<>();
        for (int i = 0; i < columns.count(); i++) {
            if (columns.started[i] != 0) {
                boolean completed = columns.ended[i] != 0;
                spans.add(new RunTrace.Span(i, columns.lane[i], Math.min(ready(i), columns.started[i]),
                        columns.started[i],
                        completed ? columns.ended[i] : over, completed, columns.allocated[i], columns.freed[i]));
            }
        }
        return new RunTrace.Run(number, plan, instruction, started, over, List.copyOf(lanes), spans,
                nested.stream().map(RunLog::snapshot).toList(), nestedLeftOut);
    }

    private long ready(int index) {
        long ready = started;
        for (int dependency : plan.instructions().get(index).dependencies()) {
            ready = Math.max(ready, columns.ended[dependency]);
        }
        return ready;
    }
}
