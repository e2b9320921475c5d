package io.seriatim.executor.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes the times of one run. Called by the executor; {@link #started} and {@link #ended} cost a clock reading and a
 * few plain stores.
 *
 * <p>
 * The columns have a place for each instruction, which runs once, on one thread. So threads write to different places
 * without locks; whoever calls {@link #end} has waited for all of them before. When all that an instruction waits for
 * had ended is not recorded: it follows from the other instructions' times.
 */
public final class RunLog {
    private final RunRecorder recorder;
    private final TracedPlan plan;
    private final Columns columns;
    private final long number;
    private final @Nullable RunLog outer;
    private final int instruction;
    private final long begun;
    private final Set<Integer> lanes = new LinkedHashSet<>();
    private final List<RunLog> nested = new ArrayList<>();
    private int nestedSpans;
    private long nestedLeftOut;
    private long over;

    /** The times of all instructions; 0 is none. */
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
            long begun) {
        this.recorder = recorder;
        this.plan = plan;
        this.columns = columns;
        this.number = number;
        this.outer = outer;
        this.instruction = instruction;
        this.begun = begun;
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
     * Says that the calling thread works on this run. A thread that finds nothing to do is seen in the report if it has
     * said so.
     *
     * @param place
     *            of the instructions that threads run
     * @return the lane for {@link #started}
     */
    public int thread(String place) {
        Thread thread = Thread.currentThread();
        String name = thread.getName();
        return lane(new RunTrace.Lane(name.isEmpty() ? "thread " + thread.threadId() : name, place, -1));
    }

    /**
     * Says that a stream of a device works on this run.
     *
     * @param place
     *            the device
     * @param stream
     *            its number, from 0, as in {@link TracedPlan.Instruction#stream}
     * @param name
     *            what people call it
     * @return the lane for {@link #started}
     */
    public int stream(String place, int stream, String name) {
        if (stream < 0) {
            throw new IllegalArgumentException("Streams are counted from 0, but this is " + stream);
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
     * An instruction starts.
     *
     * @param index
     *            its index in the plan
     * @param lane
     *            where it runs
     */
    public void started(int index, int lane) {
        started(index, lane, recorder.now());
    }

    void started(int index, int lane, long time) {
        columns.lane[index] = lane;
        columns.started[index] = time;
    }

    /**
     * An instruction has ended. One that fails does not end.
     *
     * @param index
     *            its index in the plan
     */
    public void ended(int index) {
        ended(index, recorder.now());
    }

    void ended(int index, long time) {
        columns.ended[index] = time;
    }

    /**
     * An instruction takes memory that the plan did not foresee, or gives it back. Called by the thread that runs the
     * instruction.
     *
     * @param index
     *            its index in the plan
     * @param bytes
     *            how much is taken, negative for what is given back
     */
    public void memory(int index, long bytes) {
        if (bytes > 0) {
            columns.allocated[index] += bytes;
        } else {
            columns.freed[index] -= bytes;
        }
    }

    /**
     * Begins a run of a block inside of an instruction, such as a turn of a loop.
     *
     * @param index
     *            the instruction in this plan
     * @param inner
     *            the block's plan
     * @return takes the times of the block's instructions; end it before the instruction ends
     */
    public RunLog nested(int index, TracedPlan inner) {
        return recorder.begin(inner, this, index);
    }

    /** The run is over: no thread works on it any more, and nothing is called after this. */
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

    /** Keeps an inner run while there is room for it: a loop of very many turns is not kept whole. */
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
        return new RunTrace.Run(number, plan, instruction, begun, over, List.copyOf(lanes), spans,
                nested.stream().map(RunLog::snapshot).toList(), nestedLeftOut);
    }

    private long ready(int index) {
        long ready = begun;
        for (int dependency : plan.instructions().get(index).dependencies()) {
            ready = Math.max(ready, columns.ended[dependency]);
        }
        return ready;
    }
}
