package io.seriatim.executor.trace;

import io.seriatim.tensor.AtomicFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a {@link RunRecorder} has recorded. Immutable. All times are nanoseconds since the recorder was made. */
public final class RunTrace {
    private final List<Lane> lanes;
    private final List<Run> runs;
    private final long runsLeftOut;
    private final Map<String, String> notes;

    /**
     * What works on instructions.
     *
     * @param name
     *            the thread's or the stream's
     * @param place
     *            where it computes
     * @param stream
     *            a stream of a device, −1 for a thread
     */
    public record Lane(String name, String place, int stream) {
        boolean takes(TracedPlan.Instruction instruction) {
            return place.equals(instruction.place()) && (stream < 0 || stream == instruction.stream());
        }
    }

    /**
     * One instruction of one run.
     *
     * @param instruction
     *            its index in the plan
     * @param lane
     *            which of {@link RunTrace#lanes} ran it
     * @param ready
     *            when all that it waits for had ended
     * @param started
     *            when it started
     * @param ended
     *            when it ended; the end of the run if it failed
     * @param completed
     *            whether it did not fail
     * @param allocated
     *            bytes that it took beyond the plan
     * @param freed
     *            bytes beyond the plan that it gave back
     */
    public record Span(int instruction, int lane, long ready, long started, long ended, boolean completed,
            long allocated, long freed) {
        /**
         * How long it ran.
         *
         * @return in nanoseconds
         */
        public long duration() {
            return ended - started;
        }
    }

    /**
     * One run.
     *
     * @param number
     *            from 0, of all that were begun; that of the outer run for a block's
     * @param plan
     *            what was run
     * @param within
     *            for a block's run the instruction of the outer run, else −1
     * @param begun
     *            when it began
     * @param ended
     *            when it was over
     * @param lanes
     *            which of {@link RunTrace#lanes} worked on it
     * @param spans
     *            what ran, by instruction
     * @param nested
     *            the runs of blocks
     * @param nestedLeftOut
     *            how many spans of blocks were not kept
     */
    public record Run(long number, TracedPlan plan, int within, long begun, long ended, List<Integer> lanes,
            List<Span> spans,
            List<Run> nested, long nestedLeftOut) {
        /** Copies the lists. */
        public Run {
            lanes = List.copyOf(lanes);
            spans = List.copyOf(spans);
            nested = List.copyOf(nested);
        }

        /**
         * How long it took.
         *
         * @return in nanoseconds
         */
        public long duration() {
            return ended - begun;
        }
    }

    RunTrace(List<Lane> lanes, List<Run> runs, long runsLeftOut, Map<String, String> notes) {
        this.lanes = List.copyOf(lanes);
        this.runs = List.copyOf(runs);
        this.runsLeftOut = runsLeftOut;
        this.notes = Collections.unmodifiableMap(new LinkedHashMap<>(notes));
    }

    /**
     * Threads and streams.
     *
     * @return by number
     */
    public List<Lane> lanes() {
        return lanes;
    }

    /**
     * The runs that are kept.
     *
     * @return in the order in which they ended
     */
    public List<Run> runs() {
        return runs;
    }

    /**
     * Where the time of a run went.
     *
     * @param run
     *            one of {@link #runs}
     * @param threads
     *            how many there were for it; those that took no part were idle
     * @return the parts
     */
    public TimeShares shares(Run run, int threads) {
        return TimeShares.of(run, lanes, threads);
    }

    /**
     * How many older runs were recorded, but not kept.
     *
     * @return 0 if the recorder's size was enough
     */
    public long runsLeftOut() {
        return runsLeftOut;
    }

    /**
     * How the runs were made: what recorders note of the machine, and what was noted besides.
     *
     * @return in the order in which it was noted
     */
    public Map<String, String> notes() {
        return notes;
    }

    /**
     * What a page may say of the runs.
     *
     * @param last
     *            what the last run is called in the middle of a sentence, such as {@code step 20}
     * @return the parts; nothing if no run has ended
     */
    public Optional<ReportSections> sections(String last) {
        return runs.isEmpty() ? Optional.empty() : Optional.of(new ReportSections(this, last));
    }

    /**
     * Writes all runs in the Trace Event Format, which Perfetto and Chrome's tracing page open: a process for each
     * place, a track for each thread and stream, arrows where an instruction waited for one on another track, and the
     * memory in use.
     *
     * @param file
     *            replaced if it is there
     * @throws IOException
     *             if it cannot be written
     */
    public void writeTrace(Path file) throws IOException {
        AtomicFile.writeText(file, out -> new TraceEvents(this, out).write());
    }

    /**
     * Writes a page for a browser, which needs nothing else: where the time went, and why threads were idle. The last
     * run is drawn, costs are of all runs.
     *
     * @param file
     *            replaced if it is there
     * @throws IOException
     *             if it cannot be written
     */
    public void writeReport(Path file) throws IOException {
        ReportPage page = new ReportPage((runs.isEmpty() ? "No runs" : runs.getLast().plan().name()) + " – report");
        page.add(sections("the last run").map(ReportSections::all)
                .orElse("<p>No run has ended, so there is nothing to report.</p>\n"));
        page.list("Environment", notes).write(file);
    }
}
