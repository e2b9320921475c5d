package io.seriatim.executor.trace;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/** A page about a recording, for people: well-formed, with all that it needs inside. */
final class ReportPage {
    private static final int LONGEST = 10;
    private static final int TYPES = 20;

    private final RunTrace trace;
    private final StringBuilder page = new StringBuilder();

    /** A time in which a lane was idle. */
    private record Gap(int lane, boolean queue, long from, long to) {
        long length() {
            return to - from;
        }
    }

    ReportPage(RunTrace trace) {
        this.trace = trace;
    }

    void write(Writer out) throws IOException {
        RunTrace.Run run = trace.runs().isEmpty() ? null : trace.runs().getLast();
        String title = run == null ? "No runs" : run.plan().name();
        add("""
                <!DOCTYPE html>
                <html lang="en" xmlns="http://www.w3.org/1999/xhtml">
                <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <title>%s – report</title>
                <style>
                %s</style>
                </head>
                <body>
                <main>
                <h1>%s</h1>
                """, Markup.text(title), resource("report.css"), Markup.text(title));
        if (run == null) {
            add("<p>No run has ended, so there is nothing to report.</p>\n");
        } else {
            of(run);
        }
        environment();
        add("</main>\n");
        if (run != null) {
            page.append("<script>\n//<![CDATA[\n").append(resource("report.js")).append("//]]>\n</script>\n");
        }
        add("</body>\n</html>\n");
        out.append(page);
    }

    private static String resource(String name) {
        try (InputStream in = Objects.requireNonNull(ReportPage.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void add(String format, Object... values) {
        page.append(values.length == 0 ? format : Markup.format(format, values));
    }

    private void of(RunTrace.Run run) {
        List<Slice> slices = Slice.of(run);
        List<Slice> all = trace.runs().stream().flatMap(each -> Slice.of(each).stream()).toList();
        List<Cost> types = Cost.byType(all);
        Colours colours = new Colours(types);
        List<Idleness> idleness = Idleness.of(run, slices, trace.lanes());
        CriticalPath path = CriticalPath.of(run);
        MemoryUse memory = MemoryUse.of(run);
        subtitle(run);
        tiles(run, slices, idleness, path, memory);
        timeline(run, slices, idleness, path, colours);
        idle(run, slices, idleness);
        memory(run, memory);
        costs(Cost.byOperation(all), types, colours);
        chain(run, path, colours);
        runs();
    }

    private void subtitle(RunTrace.Run run) {
        long failed = run.spans().stream().filter(span -> !span.completed()).count();
        add("<p class=\"subtitle\">%s operations a run; %s recorded%s. The last run is drawn, costs are of all that are kept.</p>\n",
                Markup.count(run.plan().instructions().size()),
                trace.runs().size() == 1 ? "1 run" : Markup.count(trace.runs().size()) + " runs",
                trace.runsLeftOut() == 0 ? "" : ", the latest of " + Markup.count(trace.runs().size() + trace.runsLeftOut()));
        if (run.nestedLeftOut() > 0) {
            add("<p class=\"subtitle\">%s operations inside of blocks ran, but were not kept.</p>\n", Markup.count(run.nestedLeftOut()));
        }
        if (failed > 0) {
            String first = run.spans().stream().filter(span -> !span.completed()).findFirst()
                    .map(span -> run.plan().instructions().get(span.instruction())).map(each -> each.type() + " " + each.name()).orElse("");
            add("<section class=\"failed\">The last run failed in %s.</section>\n", Markup.text(first));
        }
    }

    private void tile(String value, String what, String more) {
        add("<div class=\"tile\"><span>%s</span><b>%s</b><span>%s</span></div>\n", what, value, more);
    }

    private void tiles(RunTrace.Run run, List<Slice> slices, List<Idleness> idleness, CriticalPath path, MemoryUse memory) {
        long busy = idleness.stream().mapToLong(each -> each.busy().length()).sum();
        long work = slices.stream().mapToLong(Slice::own).sum();
        double possible = (double) run.duration() * Math.max(1, run.lanes().size());
        long[] durations = trace.runs().stream().mapToLong(RunTrace.Run::duration).sorted().toArray();
        add("<div class=\"tiles\">\n");
        tile(Markup.time(run.duration()), "Last run",
                durations.length == 1 ? "one run" : "median of all " + Markup.time(durations[durations.length / 2]));
        tile(Markup.percent((double) busy, possible), "Busy", lanes(run.lanes().size()) + ", " + Markup.time(work) + " of work");
        tile(Markup.time(path.length()), "Critical path", Markup.percent(path.length(), run.duration()) + " of the run");
        tile(Markup.bytes(memory.peakBytes()), "Peak memory of values", run.plan().arenaBytes() == 0
                ? "no arena"
                : "arena of " + Markup.bytes(run.plan().arenaBytes()));
        tile(Markup.bytes(run.plan().parameterBytes()), "Parameters", "and what else outlives runs");
        add("</div>\n");
    }

    private static String lanes(int count) {
        return count == 1 ? "1 thread or stream" : count + " threads and streams";
    }

    private void timeline(RunTrace.Run run, List<Slice> slices, List<Idleness> idleness, CriticalPath path, Colours colours) {
        TimelineSvg timeline = new TimelineSvg(run, slices, idleness, path, trace.lanes(), colours);
        add("<section>\n<h2>Timeline of the last run</h2>\n");
        page.append(timeline.svg());
        add("\n<div class=\"hover\"><output id=\"hover\">Shift and wheel or a double click zoom, dragging moves.</output>"
                + "<button id=\"in\" type=\"button\" hidden=\"hidden\">Zoom in</button><button id=\"out\" type=\"button\" hidden=\"hidden\">Zoom out</button>"
                + "<button id=\"all\" type=\"button\" hidden=\"hidden\">All</button></div>\n<ul class=\"legend\">");
        List<String> named = colours.named();
        for (int i = 0; i < named.size(); i++) {
            legend("c" + i, Markup.text(named.get(i)));
        }
        if (named.size() == Colours.OTHERS) {
            legend("c" + Colours.OTHERS, "other types");
        }
        legend("d", "idle: nothing was ready");
        legend("q", "idle: ready, not started");
        legend("k", "critical path");
        add("</ul>\n<script type=\"application/json\" id=\"spans\">");
        page.append(timeline.json());
        add("</script>\n</section>\n");
    }

    private void legend(String style, String text) {
        add("<li><i class=\"%s\"></i>%s</li>", style, text);
    }

    private void idle(RunTrace.Run run, List<Slice> slices, List<Idleness> idleness) {
        add("""
                <section>
                <h2>Idle time, explained</h2>
                <p><b>Dependency</b>: nothing that the thread or stream may run was ready; other operations had to end first.
                <b>Queue</b>: something was ready and had not started; this is what scheduling costs, or a thread that came late.</p>
                <table><thead><tr><th class="l">Thread or stream</th><th class="l">Busy, queue, dependency</th><th>Busy</th><th>Dependency</th><th>Queue</th><th>Gaps</th></tr></thead><tbody>
                """);
        List<Gap> gaps = new ArrayList<>();
        for (Idleness lane : idleness) {
            int before = gaps.size();
            gaps(lane.lane(), lane.dependency(), false, gaps);
            gaps(lane.lane(), lane.queue(), true, gaps);
            long all = run.duration();
            add("<tr><td class=\"l name\">%s</td><td class=\"l share\"><div class=\"meter\">%s%s</div></td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                    Markup.text(lane(lane.lane())), part("b", lane.busy().length(), all), part("q", lane.queue().length(), all),
                    timeAndShare(lane.busy().length(), all), timeAndShare(lane.dependency().length(), all),
                    timeAndShare(lane.queue().length(), all),
                    Markup.count(gaps.size() - before));
        }
        add("</tbody></table>\n");
        longestGaps(run, slices, gaps);
        add("</section>\n");
    }

    private static void gaps(int lane, Intervals intervals, boolean queue, List<Gap> gaps) {
        for (int i = 0; i < intervals.count(); i++) {
            gaps.add(new Gap(lane, queue, intervals.from(i), intervals.to(i)));
        }
    }

    private void longestGaps(RunTrace.Run run, List<Slice> slices, List<Gap> gaps) {
        if (gaps.isEmpty()) {
            return;
        }
        gaps.sort(Comparator.comparingLong(Gap::length).reversed());
        add("<h2 style=\"margin-top:16px\">The longest gaps</h2>\n<table><thead><tr><th>At</th><th>Length</th><th class=\"l\">Reason</th><th class=\"l\">Thread or stream</th><th class=\"l\">Next there</th></tr></thead><tbody>\n");
        for (Gap gap : gaps.subList(0, Math.min(LONGEST, gaps.size()))) {
            String next = slices.stream().filter(slice -> slice.span().lane() == gap.lane() && slice.span().started() >= gap.to())
                    .min(Comparator.comparingLong(slice -> slice.span().started())).map(Slice::label).orElse("end of the run");
            add("<tr><td>%s</td><td>%s</td><td class=\"l\">%s</td><td class=\"l name\">%s</td><td class=\"l name\">%s</td></tr>\n",
                    Markup.time(gap.from() - run.begun()), Markup.time(gap.length()), gap.queue() ? "queue" : "dependency",
                    Markup.text(lane(gap.lane())),
                    Markup.text(next));
        }
        add("</tbody></table>\n");
    }

    private String lane(int number) {
        RunTrace.Lane lane = trace.lanes().get(number);
        return lane.name() + " (" + lane.place() + ")";
    }

    private static String part(String style, long part, long whole) {
        return Markup.format("<i class=\"%s\" style=\"width:%.2f%%\"></i>", style, 100.0 * part / Math.max(1, whole));
    }

    private static String timeAndShare(long part, long whole) {
        return Markup.time(part) + ", " + Markup.percent(part, whole);
    }

    private void memory(RunTrace.Run run, MemoryUse memory) {
        if (memory.peak() < 0) {
            return;
        }
        add("<section>\n<h2>Memory over the last run</h2>\n<p>Of values between the start of the operation that computes them and the end of the last that uses them; without parameters.</p>\n");
        page.append(new MemorySvg(memory, run).svg());
        long held = memory.atPeak().stream().mapToLong(each -> each.value().bytes()).sum();
        add("\n<h2 style=\"margin-top:16px\">In memory at the peak</h2>\n<table><thead><tr><th class=\"l\">Value</th><th>Size</th><th class=\"l\">Share</th><th>From</th><th>To</th></tr></thead><tbody>\n");
        for (MemoryUse.Held each : memory.atPeak().subList(0, Math.min(LONGEST, memory.atPeak().size()))) {
            add("<tr><td class=\"l name\">%s</td><td>%s</td><td class=\"l share\"><div class=\"meter\">%s</div></td><td>%s</td><td>%s</td></tr>\n",
                    Markup.text(each.value().name()), Markup.bytes(each.value().bytes()), part("c0", each.value().bytes(), held),
                    Markup.time(each.from() - run.begun()), Markup.time(each.to() - run.begun()));
        }
        add("</tbody></table>\n");
        if (memory.atPeak().size() > LONGEST) {
            add("<p>and %s smaller ones</p>\n", Markup.count(memory.atPeak().size() - LONGEST));
        }
        add("</section>\n");
    }

    private void costs(List<Cost> operations, List<Cost> types, Colours colours) {
        long all = types.stream().mapToLong(Cost::nanos).sum();
        add("<section>\n<h2>The ten costliest operations</h2>\n");
        costTable(operations.subList(0, Math.min(LONGEST, operations.size())), all, colours, "Operation");
        add("</section>\n<section>\n<h2>Time by type of operation</h2>\n");
        costTable(types.subList(0, Math.min(TYPES, types.size())), all, colours, "Type");
        if (types.size() > TYPES) {
            long rest = types.subList(TYPES, types.size()).stream().mapToLong(Cost::nanos).sum();
            add("<p>and %s other types with %s</p>\n", Markup.count(types.size() - TYPES), timeAndShare(rest, all));
        }
        add("</section>\n");
    }

    private void costTable(List<Cost> costs, long all, Colours colours, String what) {
        add("<table><thead><tr><th class=\"l\">%s</th><th class=\"l\">Kernel</th><th>Runs</th><th>Total</th><th>Mean</th><th>Longest</th><th>Share</th><th class=\"l\"></th></tr></thead><tbody>\n",
                what);
        for (Cost cost : costs) {
            add("<tr><td class=\"l name\">%s <i>%s</i></td><td class=\"l\">%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td class=\"l share\"><div class=\"meter\">%s</div></td></tr>\n",
                    Markup.text(cost.type()), Markup.text(cost.name()), Markup.text(cost.provider()), Markup.count(cost.count()),
                    Markup.time(cost.nanos()),
                    Markup.time(cost.nanos() / cost.count()), Markup.time(cost.longest()), Markup.percent(cost.nanos(), all),
                    part("c" + colours.of(cost.type()), cost.nanos(), all));
        }
        add("</tbody></table>\n");
    }

    private void chain(RunTrace.Run run, CriticalPath path, Colours colours) {
        add("<section>\n<h2>Critical path of the last run</h2>\n<p>The longest chain of operations of which each waits for the one before: %s operations, %s of the run's %s (%s). No number of threads makes the run shorter than that.</p>\n",
                Markup.count(path.spans().size()), Markup.time(path.length()), Markup.time(run.duration()),
                Markup.percent(path.length(), run.duration()));
        add("<table><thead><tr><th class=\"l\">Its longest operations</th><th class=\"l\">Kernel</th><th>At</th><th>Time</th><th>Share</th><th class=\"l\"></th></tr></thead><tbody>\n");
        List<RunTrace.Span> longest = path.spans().stream().sorted(Comparator.comparingLong(RunTrace.Span::duration).reversed())
                .limit(LONGEST).toList();
        for (RunTrace.Span span : longest) {
            TracedPlan.Instruction instruction = run.plan().instructions().get(span.instruction());
            add("<tr><td class=\"l name\">%s <i>%s</i></td><td class=\"l\">%s</td><td>%s</td><td>%s</td><td>%s</td><td class=\"l share\"><div class=\"meter\">%s</div></td></tr>\n",
                    Markup.text(instruction.type()), Markup.text(instruction.name()), Markup.text(instruction.provider()),
                    Markup.time(span.started() - run.begun()), Markup.time(span.duration()), Markup.percent(span.duration(), path.length()),
                    part("c" + colours.of(instruction.type()), span.duration(), path.length()));
        }
        add("</tbody></table>\n</section>\n");
    }

    private void runs() {
        int n = trace.runs().size();
        if (n > 1) {
            long[] durations = trace.runs().stream().mapToLong(RunTrace.Run::duration).toArray();
            long[] sorted = durations.clone();
            Arrays.sort(sorted);
            add("<section>\n<h2>All runs</h2>\n<p>Shortest %s, median %s, longest %s.</p>\n", Markup.time(sorted[0]),
                    Markup.time(sorted[n / 2]),
                    Markup.time(sorted[n - 1]));
            page.append(RunsSvg.of(durations));
            add("</section>\n");
        }
    }

    private void environment() {
        add("<section>\n<h2>Environment</h2>\n<dl>");
        trace.notes().forEach((name, value) -> add("<dt>%s</dt><dd>%s</dd>\n", Markup.text(name), Markup.text(value)));
        add("</dl>\n</section>\n");
    }
}
