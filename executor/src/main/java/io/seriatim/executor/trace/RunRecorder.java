package io.seriatim.executor.trace;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Records runs of plans: when each instruction started and ended, and on which thread or stream. It keeps the latest
 * runs up to a number of spans, so that a long training may be recorded from beginning to end. For many threads and
 * runs at once.
 *
 * <p>
 * Given to an executor's builder; {@link #trace} may be called at any time and has the runs that have ended.
 */
public final class RunRecorder {
    /** How many instructions' times are kept: their report is a few megabytes. */
    public static final int DEFAULT_SPANS = 200_000;
    private static final int SPARE = 8;

    private final long origin = System.nanoTime() - 1;
    private final int capacity;
    private final Map<RunTrace.Lane, Integer> laneNumbers = new LinkedHashMap<>();
    private final List<RunTrace.Lane> lanes = new ArrayList<>();
    private final Map<String, String> notes = new LinkedHashMap<>();
    private final ArrayDeque<RunLog> ended = new ArrayDeque<>();
    private final ArrayDeque<RunLog.Columns> spare = new ArrayDeque<>();
    private long begun;
    private long kept;
    private long leftOut;
    private volatile boolean paused;

    /** Keeps {@value #DEFAULT_SPANS} spans. */
    public RunRecorder() {
        this(DEFAULT_SPANS);
    }

    /**
     * Keeps the latest runs.
     *
     * @param spans
     *            how many instructions' times in all; the last run is kept even if it has more
     */
    public RunRecorder(int spans) {
        if (spans < 1) {
            throw new IllegalArgumentException("A recorder keeps 1 span or more, but was asked for " + spans);
        }
        this.capacity = spans;
        notes.putAll(machine());
    }

    /**
     * What every recorder notes.
     *
     * @return Java, the system, the number of processors and the size of the heap, by their names for people
     */
    public static Map<String, String> machine() {
        Runtime machine = Runtime.getRuntime();
        Map<String, String> notes = new LinkedHashMap<>();
        notes.put("Java", System.getProperty("java.vm.name") + " " + Runtime.version());
        notes.put("System", System.getProperty("os.name") + " " + System.getProperty("os.version") + ", "
                + System.getProperty("os.arch"));
        notes.put("Processors", Integer.toString(machine.availableProcessors()));
        notes.put("Heap", "up to " + Markup.bytes(machine.maxMemory()));
        return notes;
    }

    /**
     * Leaves out all runs that begin from now on, until {@link #resume}. They cost nothing; those that have begun are
     * recorded to their end.
     *
     * @return this
     */
    public RunRecorder pause() {
        paused = true;
        return this;
    }

    /**
     * Records the runs that begin from now on.
     *
     * @return this
     */
    public RunRecorder resume() {
        paused = false;
        return this;
    }

    /**
     * Whether a run that begins now is recorded. Asked by the executor, once a run.
     *
     * @return false while it is paused
     */
    public boolean isRecording() {
        return !paused;
    }

    /**
     * Notes something that the report should say of how the runs were made, such as the number of threads.
     *
     * @param name
     *            what it is
     * @param value
     *            replaces one of that name
     * @return this
     */
    public synchronized RunRecorder note(String name, String value) {
        notes.put(name, value);
        return this;
    }

    /**
     * Begins a run. Called by the executor.
     *
     * @param plan
     *            what is run; the same object for each run of one specialisation
     * @return takes the times; {@link RunLog#end} must be called when the run is over, however it ended
     */
    public RunLog begin(TracedPlan plan) {
        long number;
        RunLog.Columns columns;
        synchronized (this) {
            number = begun++;
            columns = columns(plan.instructions().size());
        }
        return new RunLog(this, plan, columns, number, null, -1, now());
    }

    RunLog begin(TracedPlan plan, RunLog outer, int instruction) {
        RunLog.Columns columns;
        synchronized (this) {
            columns = columns(plan.instructions().size());
        }
        return new RunLog(this, plan, columns, outer.number(), outer, instruction, now());
    }

    private RunLog.Columns columns(int count) {
        for (RunLog.Columns each : spare) {
            if (each.count() == count) {
                spare.remove(each);
                each.clear();
                return each;
            }
        }
        return new RunLog.Columns(count);
    }

    long now() {
        return System.nanoTime() - origin;
    }

    int capacity() {
        return capacity;
    }

    synchronized int number(RunTrace.Lane lane) {
        Integer known = laneNumbers.putIfAbsent(lane, lanes.size());
        if (known != null) {
            return known;
        }
        lanes.add(lane);
        return lanes.size() - 1;
    }

    /** Keeps a run that is over, and lets the oldest go that no longer fit. */
    synchronized void keep(RunLog run) {
        ended.add(run);
        kept += run.spans();
        while (kept > capacity && ended.size() > 1) {
            RunLog oldest = ended.remove();
            kept -= oldest.spans();
            leftOut++;
            recycle(oldest.columns());
        }
    }

    synchronized void recycle(RunLog.Columns columns) {
        if (spare.size() < SPARE) {
            spare.add(columns);
        }
    }

    /**
     * What was recorded of the runs that have ended.
     *
     * @return a snapshot; later runs do not change it
     */
    public synchronized RunTrace trace() {
        List<RunTrace.Run> runs = ended.stream().map(RunLog::snapshot).toList();
        return new RunTrace(lanes, runs, leftOut, notes);
    }
}
