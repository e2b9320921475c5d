package io.seriatim.executor.trace;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Records when each instruction of a run started and ended, and on which thread or stream. It keeps the latest runs up
 * to a maximum number of spans, so that it can stay switched on during a long training.
 *
 * <p>
 * A recorder is passed to the builder of an executor. It is thread-safe and records concurrent runs. {@link #trace} may
 * be called at any time; it contains the runs that have ended.
 */
public final class RunRecorder {
    /** The default capacity in spans, for which a report takes a few megabytes. */
    public static final int DEFAULT_SPANS = 200_000;
    private static final int SPARE = 8;

    private final long origin = System.nanoTime() - 1;
    private final int capacity;
    private final Map<RunTrace.Lane, Integer> laneNumbers = new LinkedHashMap<>();
    private final List<RunTrace.Lane> lanes = new ArrayList<>();
    private final Map<String, String> notes = new LinkedHashMap<>();
    private final ArrayDeque<RunLog> ended = new ArrayDeque<>();
    private final ArrayDeque<RunLog.Columns> spare = new ArrayDeque<>();
    private long started;
    private long kept;
    private long leftOut;
    private volatile boolean paused;

    /** Creates a recorder with a capacity of {@value #DEFAULT_SPANS} spans. */
    public RunRecorder() {
        this(DEFAULT_SPANS);
    }

    /**
     * Creates a recorder that keeps the latest runs.
     *
     * @param spans
     *            the capacity: the number of executed instructions to keep, at least 1. The last run is kept even if it
     *            has more
     * @throws IllegalArgumentException
     *             if {@code spans} is less than 1
     */
    public RunRecorder(int spans) {
        if (spans < 1) {
            throw new IllegalArgumentException("The capacity of a recorder must be 1 span or more, but is " + spans);
        }
        this.capacity = spans;
        notes.putAll(machine());
    }

    /**
     * Describes the environment that every recorder notes.
     *
     * @return the version of Java, the operating system, the number of processors and the maximum size of the heap, by
     * display name
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
     * Stops recording runs that begin from now on, until {@link #resume} is called. Such runs have no overhead. Runs
     * that have already begun are recorded to their end.
     *
     * @return this
     */
    public RunRecorder pause() {
        paused = true;
        return this;
    }

    /**
     * Resumes recording, for runs that begin from now on.
     *
     * @return this
     */
    public RunRecorder resume() {
        paused = false;
        return this;
    }

    /**
     * Returns whether a run that begins now is recorded. The executor calls it once for each run.
     *
     * @return false while the recorder is paused
     */
    public boolean isRecording() {
        return !paused;
    }

    /**
     * Adds a note to the report about the conditions of the runs, such as the number of threads.
     *
     * @param name
     *            the name of the note
     * @param value
     *            its text, which replaces that of an earlier note with the same name
     * @return this
     */
    public synchronized RunRecorder note(String name, String value) {
        notes.put(name, value);
        return this;
    }

    /**
     * Begins a run. The executor calls it.
     *
     * @param plan
     *            the description of the plan, the same object for each run of one compiled plan
     * @return the log of the run; {@link RunLog#end} must be called when the run ends, also if it failed
     */
    public RunLog begin(TracedPlan plan) {
        long number;
        RunLog.Columns columns;
        synchronized (this) {
            number = started++;
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

    /** Adds a run that has ended, and evicts the oldest runs that exceed the capacity. */
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
     * Returns the recording of the runs that have ended.
     *
     * @return an immutable snapshot
     */
    public synchronized RunTrace trace() {
        List<RunTrace.Run> runs = ended.stream().map(RunLog::snapshot).toList();
        return new RunTrace(lanes, runs, leftOut, notes);
    }
}
