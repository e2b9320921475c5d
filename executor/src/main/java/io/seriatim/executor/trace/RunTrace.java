package io.seriatim.executor.trace;

import io.seriatim.tensor.AtomicFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The immutable recording of a {@link RunRecorder}. All times are nanoseconds since the recorder was created. */
public final class RunTrace {
    private final List<Lane> lanes;
    private final List<Run> runs;
    private final long runsLeftOut;
    private final Map<String, String> notes;

    /**
     * A thread or a stream that runs instructions.
     *
     * @param name
     *            the name of the thread or stream
     * @param place
     *            the place at which it computes
     * @param stream
     *            the index of the stream on its device; −1 for a thread
     */
    public record Lane(String name, String place, int stream) {
        boolean takes(TracedPlan.Instruction instruction) {
            return place.equals(instruction.place()) && (stream < 0 || stream == instruction.stream());
        }
    }

    /**
     * The execution of one instruction in one run.
     *
     * @param instruction
     *            the index of the instruction in the plan
     * @param lane
     *            the index in {@link RunTrace#lanes} of the lane that ran it
     * @param ready
     *            the time at which all its dependencies had ended
     * @param started
     *            the time at which it started
     * @param ended
     *            the time at which it ended; the end of the run if it failed
     * @param completed
     *            false if it failed
     * @param allocated
     *            the bytes that it allocated outside of the memory plan
     * @param freed
     *            the bytes that it freed outside of the memory plan
     */
    public record Span(int instruction, int lane, long ready, long started, long ended, boolean completed,
            long allocated, long freed) {
        /**
         * Returns the time for which the instruction ran.
         *
         * @return the duration in nanoseconds
         */
        public long duration() {
            return ended - started;
        }
    }

    /**
     * One run of a plan.
     *
     * @param number
     *            the number of the run, from 0, in the order in which runs began; the run of a block has the number of
     *            the outermost run
     * @param plan
     *            the description of the plan
     * @param within
     *            for the run of a block, the instruction of the outer run that ran it; otherwise −1
     * @param started
     *            the time at which the run began
     * @param ended
     *            the time at which the run ended
     * @param lanes
     *            the indices in {@link RunTrace#lanes} of the lanes that took part
     * @param spans
     *            the executed instructions, by index
     * @param nested
     *            the runs of blocks
     * @param nestedLeftOut
     *            the number of spans of blocks that were not kept
     */
    public record Run(long number, TracedPlan plan, int within, long started, long ended, List<Integer> lanes,
            List<Span> spans,
            List<Run> nested, long nestedLeftOut) {
        /** Copies the lists. */
        public Run {
            lanes = List.copyOf(lanes);
            spans = List.copyOf(spans);
            nested = List.copyOf(nested);
        }

        /**
         * Returns the time that the run took.
         *
         * @return the duration in nanoseconds
         */
        public long duration() {
            return ended - started;
        }
    }

    RunTrace(List<Lane> lanes, List<Run> runs, long runsLeftOut, Map<String, String> notes) {
        this.lanes = List.copyOf(lanes);
        this.runs = List.copyOf(runs);
        this.runsLeftOut = runsLeftOut;
        this.notes = Collections.unmodifiableMap(new LinkedHashMap<>(notes));
    }

    /**
     * Returns the threads and streams of all runs.
     *
     * @return the lanes, by index
     */
    public List<Lane> lanes() {
        return lanes;
    }

    /**
     * Returns the runs that were kept.
     *
     * @return the runs, in the order in which they ended
     */
    public List<Run> runs() {
        return runs;
    }

    /**
     * Divides the time of a run into busy, waiting and idle time.
     *
     * @param run
     *            one of {@link #runs}
     * @param threads
     *            the number of threads that were available; threads that took no part count as idle
     * @return the shares
     */
    public TimeShares shares(Run run, int threads) {
        return TimeShares.of(run, lanes, threads);
    }

    /**
     * Returns the number of recorded runs that were evicted.
     *
     * @return the number; 0 if the capacity of the recorder was sufficient
     */
    public long runsLeftOut() {
        return runsLeftOut;
    }

    /**
     * Returns the notes about the conditions of the runs: those of {@link RunRecorder#machine} and those added by
     * {@link RunRecorder#note}.
     *
     * @return the notes, in the order in which they were added
     */
    public Map<String, String> notes() {
        return notes;
    }

    /**
     * Returns the sections of a report about the runs.
     *
     * @param last
     *            the name of the last run as it appears within a sentence, such as {@code step 20}
     * @return the sections; empty if no run has ended
     */
    public Optional<ReportSections> sections(String last) {
        return runs.isEmpty() ? Optional.empty() : Optional.of(new ReportSections(this, last));
    }

    /**
     * Writes all runs in the Trace Event Format, which Perfetto and Chrome's tracing page open. It has a process for
     * each place, a track for each thread and stream, an arrow for each dependency between tracks, and a counter of the
     * memory use.
     *
     * @param file
     *            the file, which is replaced if it exists
     * @throws IOException
     *             if the file cannot be written
     */
    public void writeTrace(Path file) throws IOException {
        AtomicFile.writeText(file, out -> new TraceEvents(this, out).write());
    }

    /**
     * Writes a self-contained page for a browser that shows the costs of operations and the reasons for idle time.
     * Drawings show the last run; costs are sums over all runs.
     *
     * @param file
     *            the file, which is replaced if it exists
     * @throws IOException
     *             if the file cannot be written
     */
    public void writeReport(Path file) throws IOException {
        ReportPage page = new ReportPage((runs.isEmpty() ? "No runs" : runs.getLast().plan().name()) + " – report");
        page.add(sections("the last run").map(ReportSections::all)
                .orElse("<p>No run has ended, so there is nothing to report.</p>\n"));
        page.list("Environment", notes).write(file);
    }
}
