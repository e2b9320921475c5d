package io.seriatim.executor.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The sections of a {@link ReportPage} about a recording. Drawings show the last run; costs are sums over all runs.
 * Each section is well-formed markup without identifiers, so that one page may contain sections of several recordings.
 */
public final class ReportSections {
    private static final int LONGEST = 10;
    private static final int TYPES = 20;

    private final RunTrace trace;
    private final RunTrace.Run run;
    private final String called;
    private final List<Slice> slices;
    private final List<Cost> operations;
    private final List<Cost> types;
    private final Colours colours;
    private final List<Idleness> idleness;
    private final CriticalPath path;
    private final MemoryUse memory;

    /** An interval in which a lane was idle. */
    private record Gap(int lane, boolean queue, long from, long to) {
        long length() {
            return to - from;
        }
    }

    ReportSections(RunTrace trace, String called) {
        this.trace = trace;
        this.run = trace.runs().getLast();
        this.called = Markup.text(called);
        this.slices = Slice.of(run);
        List<Slice> all = trace.runs().stream().flatMap(each -> Slice.of(each).stream()).toList();
        this.operations = Cost.byOperation(all);
        this.types = Cost.byType(all);
        this.colours = new Colours(types);
        this.idleness = Idleness.of(run, slices, trace.lanes());
        this.path = CriticalPath.of(run);
        this.memory = MemoryUse.of(run);
    }

    /**
     * Returns all sections in reading order.
     *
     * @return markup
     */
    public String all() {
        return summary() + tiles() + timeline() + idleness() + memory() + costs() + criticalPath() + runs();
    }

    /**
     * Returns a summary of the number of recorded runs and operations, and the operation that failed, if any.
     *
     * @return paragraphs, as markup
     */
    public String summary() {
        StringBuilder part = new StringBuilder();
        long failed = run.spans().stream().filter(span -> !span.completed()).count();
        add(part, "<p class=\"subtitle\">%s operations a run; %s recorded%s.%s</p>\n",
                Markup.count(run.plan().instructions().size()),
                trace.runs().size() == 1 ? "1 run" : Markup.count(trace.runs().size()) + " runs",
                trace.runsLeftOut() == 0
                        ? ""
                        : ", the latest of " + Markup.count(trace.runs().size() + trace.runsLeftOut()),
                trace.runs().size() == 1
                        ? ""
                        : " Drawings show the last run; costs are sums over all runs that were kept.");
        if (run.nestedLeftOut() > 0) {
            add(part, "<p class=\"subtitle\">%s operations ran in blocks but were not kept.</p>\n",
                    Markup.count(run.nestedLeftOut()));
        }
        if (failed > 0) {
            String first = run.spans().stream().filter(span -> !span.completed()).findFirst()
                    .map(span -> run.plan().instructions().get(span.instruction()))
                    .map(each -> each.type() + " " + each.name()).orElse("");
            add(part, "<section class=\"failed\">The recorded run failed in %s.</section>\n", Markup.text(first));
        }
        return part.toString();
    }

    /**
     * Returns the key figures: duration, busy time, critical path and peak memory.
     *
     * @return a row of tiles, as markup
     */
    public String tiles() {
        long busy = idleness.stream().mapToLong(each -> each.busy().length()).sum();
        long work = slices.stream().mapToLong(Slice::own).sum();
        double possible = (double) run.duration() * Math.max(1, run.lanes().size());
        long[] durations = trace.runs().stream().mapToLong(RunTrace.Run::duration).sorted().toArray();
        StringBuilder part = new StringBuilder("<div class=\"tiles\">\n");
        part.append(ReportPage.tile(capital(called), Markup.time(run.duration()),
                durations.length == 1 ? "one run" : "median of all " + Markup.time(durations[durations.length / 2])));
        part.append(ReportPage.tile("Busy", Markup.percent((double) busy, possible),
                lanes(run.lanes().size()) + ", " + Markup.time(work) + " of work"));
        part.append(ReportPage.tile("Critical path", Markup.time(path.length()),
                Markup.percent(path.length(), run.duration()) + " of the run"));
        part.append(ReportPage.tile("Peak memory of values", Markup.bytes(memory.peakBytes()),
                run.plan().arenaBytes() == 0 ? "no arena" : "arena of " + Markup.bytes(run.plan().arenaBytes())));
        part.append(ReportPage.tile("Parameters", Markup.bytes(run.plan().parameterBytes()),
                "and other state that outlives runs"));
        return part.append("</div>\n").toString();
    }

    /** Removes the article from the name of the run, and capitalises it. */
    private static String capital(String text) {
        String name = text.startsWith("the ") ? text.substring(4) : text;
        return name.isEmpty()
                ? name
                : name.substring(0, name.offsetByCodePoints(0, 1)).toUpperCase(Locale.ROOT)
                        + name.substring(name.offsetByCodePoints(0, 1));
    }

    private static String lanes(int count) {
        return count == 1 ? "1 thread or stream" : count + " threads and streams";
    }

    /**
     * Returns a timeline of all threads and streams, which can be zoomed and moved.
     *
     * @return a section, as markup
     */
    public String timeline() {
        TimelineSvg timeline = new TimelineSvg(run, slices, idleness, path, trace.lanes(), colours);
        StringBuilder part = new StringBuilder();
        add(part, "<section class=\"timeline\">\n<h2>Timeline of %s</h2>\n", called);
        part.append(timeline.svg());
        add(part, "\n<div class=\"hover\"><output>Shift and wheel or a double click zoom, dragging moves.</output>"
                + "<button class=\"in\" type=\"button\" hidden=\"hidden\">Zoom in</button><button class=\"out\" "
                + "type=\"button\" hidden=\"hidden\">Zoom out</button>"
                + "<button class=\"whole\" type=\"button\" hidden=\"hidden\">All</button></div>\n<ul "
                + "class=\"legend\">");
        List<String> named = colours.named();
        for (int i = 0; i < named.size(); i++) {
            legend(part, "c" + i, Markup.text(named.get(i)));
        }
        if (named.size() == Colours.OTHERS) {
            legend(part, "c" + Colours.OTHERS, "other types");
        }
        legend(part, "d", "idle: nothing was ready");
        legend(part, "q", "idle: ready, not started");
        legend(part, "k", "critical path");
        add(part, "</ul>\n<script type=\"application/json\">");
        part.append(timeline.json());
        return part.append("</script>\n</section>\n").toString();
    }

    private static void legend(StringBuilder part, String style, String text) {
        add(part, "<li><i class=\"%s\"></i>%s</li>", style, text);
    }

    /**
     * Returns the idle time of each thread and stream by reason, and the longest idle intervals.
     *
     * @return a section, as markup
     */
    public String idleness() {
        StringBuilder part = new StringBuilder(
                """
                        <section>
                        <h2>Idle time, explained</h2>
                        <p><b>Dependency</b>: no operation for the thread or stream was ready.
                        Other operations had to end first.
                        <b>Queue</b>: an operation was ready but had not started.
                        This is the overhead of scheduling, or a thread that woke up late.</p>
                        <table><thead><tr><th class="l">Thread or stream</th><th class="l">Busy, queue, dependency</th><th>Busy</th><th>Dependency</th><th>Queue</th><th>Gaps</th></tr></thead><tbody>
                        """);
        List<Gap> gaps = new ArrayList<>();
        for (Idleness lane : idleness) {
            int before = gaps.size();
            gaps(lane.lane(), lane.dependency(), false, gaps);
            gaps(lane.lane(), lane.queue(), true, gaps);
            long all = run.duration();
            add(part,
                    "<tr><td class=\"l name\">%s</td><td class=\"l share\"><div "
                            + "class=\"meter\">%s%s</div></td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                    Markup.text(lane(lane.lane())), meter("b", lane.busy().length(), all),
                    meter("q", lane.queue().length(), all),
                    timeAndShare(lane.busy().length(), all), timeAndShare(lane.dependency().length(), all),
                    timeAndShare(lane.queue().length(), all), Markup.count(gaps.size() - before));
        }
        part.append("</tbody></table>\n");
        longestGaps(part, gaps);
        return part.append("</section>\n").toString();
    }

    private static void gaps(int lane, Intervals intervals, boolean queue, List<Gap> gaps) {
        for (int i = 0; i < intervals.count(); i++) {
            gaps.add(new Gap(lane, queue, intervals.from(i), intervals.to(i)));
        }
    }

    private void longestGaps(StringBuilder part, List<Gap> gaps) {
        if (gaps.isEmpty()) {
            return;
        }
        gaps.sort(Comparator.comparingLong(Gap::length).reversed());
        add(part,
                "<h3>The longest gaps</h3>\n<table><thead><tr><th>At</th><th>Length</th><th "
                        + "class=\"l\">Reason</th><th class=\"l\">Thread or stream</th><th class=\"l\">Next "
                        + "there</th></tr></thead><tbody>\n");
        for (Gap gap : gaps.subList(0, Math.min(LONGEST, gaps.size()))) {
            String next = slices.stream()
                    .filter(slice -> slice.span().lane() == gap.lane() && slice.span().started() >= gap.to())
                    .min(Comparator.comparingLong(slice -> slice.span().started())).map(Slice::label)
                    .orElse("end of the run");
            add(part,
                    "<tr><td>%s</td><td>%s</td><td class=\"l\">%s</td><td class=\"l name\">%s</td><td class=\"l "
                            + "name\">%s</td></tr>\n",
                    Markup.time(gap.from() - run.started()), Markup.time(gap.length()),
                    gap.queue() ? "queue" : "dependency",
                    Markup.text(lane(gap.lane())), Markup.text(next));
        }
        part.append("</tbody></table>\n");
    }

    private String lane(int number) {
        RunTrace.Lane lane = trace.lanes().get(number);
        return lane.name() + " (" + lane.place() + ")";
    }

    /**
     * Returns the memory use over time, and the values in memory at its peak.
     *
     * @return a section, as markup; empty if no memory use was recorded
     */
    public String memory() {
        if (memory.peak() < 0) {
            return "";
        }
        StringBuilder part = new StringBuilder();
        add(part,
                "<section>\n<h2>Memory over %s</h2>\n<p>A value counts from the start of the operation that computes "
                        + "it to the end of the last operation that uses it. Parameters are not included.</p>\n",
                called);
        part.append(new MemorySvg(memory, run).svg());
        long held = memory.atPeak().stream().mapToLong(each -> each.value().bytes()).sum();
        add(part,
                "\n<h3>In memory at the peak</h3>\n<table><thead><tr><th class=\"l\">Value</th><th>Size</th><th "
                        + "class=\"l\">Share</th><th>From</th><th>To</th></tr></thead><tbody>\n");
        for (MemoryUse.Held each : memory.atPeak().subList(0, Math.min(LONGEST, memory.atPeak().size()))) {
            add(part,
                    "<tr><td class=\"l name\">%s</td><td>%s</td><td class=\"l share\"><div "
                            + "class=\"meter\">%s</div></td><td>%s</td><td>%s</td></tr>\n",
                    Markup.text(each.value().name()), Markup.bytes(each.value().bytes()),
                    meter("c0", each.value().bytes(), held),
                    Markup.time(each.from() - run.started()), Markup.time(each.to() - run.started()));
        }
        part.append("</tbody></table>\n");
        if (memory.atPeak().size() > LONGEST) {
            add(part, "<p>and %s smaller ones</p>\n", Markup.count(memory.atPeak().size() - LONGEST));
        }
        return part.append("</section>\n").toString();
    }

    /**
     * Returns the most expensive operations, and the time of each operation type.
     *
     * @return two sections, as markup
     */
    public String costs() {
        long all = types.stream().mapToLong(Cost::nanos).sum();
        StringBuilder part = new StringBuilder("<section>\n<h2>The ten costliest operations</h2>\n");
        costTable(part, operations.subList(0, Math.min(LONGEST, operations.size())), all, "Operation");
        part.append("</section>\n<section>\n<h2>Time by type of operation</h2>\n");
        costTable(part, types.subList(0, Math.min(TYPES, types.size())), all, "Type");
        if (types.size() > TYPES) {
            long rest = types.subList(TYPES, types.size()).stream().mapToLong(Cost::nanos).sum();
            add(part, "<p>and %s other types with %s</p>\n", Markup.count(types.size() - TYPES),
                    timeAndShare(rest, all));
        }
        return part.append("</section>\n").toString();
    }

    private void costTable(StringBuilder part, List<Cost> costs, long all, String what) {
        add(part,
                "<table><thead><tr><th class=\"l\">%s</th><th "
                        + "class=\"l\">Kernel</th><th>Runs</th><th>Total</th><th>Mean</th><th>Longest</th><th>Share</th><th class=\"l\"></th></tr></thead><tbody>\n",
                what);
        for (Cost cost : costs) {
            add(part,
                    "<tr><td class=\"l name\">%s <i>%s</i></td><td "
                            + "class=\"l\">%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td "
                            + "class=\"l share\"><div class=\"meter\">%s</div></td></tr>\n",
                    Markup.text(cost.type()), Markup.text(cost.name()), Markup.text(cost.provider()),
                    Markup.count(cost.count()),
                    Markup.time(cost.nanos()), Markup.time(cost.nanos() / cost.count()), Markup.time(cost.longest()),
                    Markup.percent(cost.nanos(), all), meter("c" + colours.of(cost.type()), cost.nanos(), all));
        }
        part.append("</tbody></table>\n");
    }

    /**
     * Returns the critical path: the chain of dependent operations whose times have the largest sum.
     *
     * @return a section, as markup
     */
    public String criticalPath() {
        StringBuilder part = new StringBuilder();
        add(part,
                "<section>\n<h2>Critical path of %s</h2>\n<p>The longest chain of dependent operations: "
                        + "%s operations, %s of the run's %s (%s). The run cannot take less time, "
                        + "however many threads it uses.</p>\n",
                called, Markup.count(path.spans().size()), Markup.time(path.length()), Markup.time(run.duration()),
                Markup.percent(path.length(), run.duration()));
        add(part,
                "<table><thead><tr><th class=\"l\">Its longest operations</th><th "
                        + "class=\"l\">Kernel</th><th>At</th><th>Time</th><th>Share</th><th "
                        + "class=\"l\"></th></tr></thead><tbody>\n");
        List<RunTrace.Span> longest = path.spans().stream()
                .sorted(Comparator.comparingLong(RunTrace.Span::duration).reversed())
                .limit(LONGEST).toList();
        for (RunTrace.Span span : longest) {
            TracedPlan.Instruction instruction = run.plan().instructions().get(span.instruction());
            add(part,
                    "<tr><td class=\"l name\">%s <i>%s</i></td><td "
                            + "class=\"l\">%s</td><td>%s</td><td>%s</td><td>%s</td><td class=\"l share\"><div "
                            + "class=\"meter\">%s</div></td></tr>\n",
                    Markup.text(instruction.type()), Markup.text(instruction.name()),
                    Markup.text(instruction.provider()),
                    Markup.time(span.started() - run.started()), Markup.time(span.duration()),
                    Markup.percent(span.duration(), path.length()),
                    meter("c" + colours.of(instruction.type()), span.duration(), path.length()));
        }
        return part.append("</tbody></table>\n</section>\n").toString();
    }

    /**
     * Returns the duration of each run.
     *
     * @return a section, as markup; empty if there is only one run
     */
    public String runs() {
        int n = trace.runs().size();
        if (n == 1) {
            return "";
        }
        long[] durations = trace.runs().stream().mapToLong(RunTrace.Run::duration).toArray();
        long[] sorted = durations.clone();
        Arrays.sort(sorted);
        StringBuilder part = new StringBuilder();
        add(part, "<section>\n<h2>All runs</h2>\n<p>Shortest %s, median %s, longest %s.</p>\n", Markup.time(sorted[0]),
                Markup.time(sorted[n / 2]), Markup.time(sorted[n - 1]));
        return part.append(RunsSvg.of(durations)).append("</section>\n").toString();
    }

    private static void add(StringBuilder part, String format, Object... values) {
        part.append(values.length == 0 ? format : Markup.format(format, values));
    }

    private static String meter(String style, long part, long whole) {
        return Markup.format("<i class=\"%s\" style=\"width:%.2f%%\"></i>", style, 100.0 * part / Math.max(1, whole));
    }

    private static String timeAndShare(long part, long whole) {
        return Markup.time(part) + ", " + Markup.percent(part, whole);
    }
}
