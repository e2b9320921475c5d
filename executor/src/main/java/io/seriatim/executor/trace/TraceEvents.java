package io.seriatim.executor.trace;

import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes a recording in the Trace Event Format, whose times are microseconds. */
final class TraceEvents {
    private final RunTrace trace;
    private final Writer out;
    private final Map<String, Integer> processes = new LinkedHashMap<>();
    private final StringBuilder event = new StringBuilder();
    private boolean first = true;
    private long arrows;

    TraceEvents(RunTrace trace, Writer out) {
        this.trace = trace;
        this.out = out;
    }

    void write() throws IOException {
        out.write("{\"displayTimeUnit\":\"ns\",\"otherData\":{");
        boolean firstNote = true;
        for (Map.Entry<String, String> note : trace.notes().entrySet()) {
            out.write((firstNote ? "" : ",") + Markup.quoted(note.getKey()) + ":" + Markup.quoted(note.getValue()));
            firstNote = false;
        }
        out.write("},\"traceEvents\":[");
        for (int i = 0; i < trace.lanes().size(); i++) {
            tracks(i, trace.lanes().get(i));
        }
        for (RunTrace.Run run : trace.runs()) {
            spans(run, 0);
        }
        memory();
        out.write("\n]}\n");
    }

    private void tracks(int number, RunTrace.Lane lane) throws IOException {
        if (!processes.containsKey(lane.place())) {
            processes.put(lane.place(), processes.size() + 1);
            begin("process_name", "M", lane.place(), 0).append(",\"args\":{\"name\":")
                    .append(Markup.quoted(lane.place())).append('}');
            end();
        }
        begin("thread_name", "M", lane.place(), number + 1).append(",\"args\":{\"name\":")
                .append(Markup.quoted(lane.name())).append('}');
        end();
    }

    private void spans(RunTrace.Run run, int depth) throws IOException {
        RunTrace.Span[] ran = new RunTrace.Span[run.plan().instructions().size()];
        for (RunTrace.Span span : run.spans()) {
            ran[span.instruction()] = span;
            span(run, span, depth);
        }
        for (RunTrace.Span span : run.spans()) {
            for (int dependency : run.plan().instructions().get(span.instruction()).dependencies()) {
                RunTrace.Span cause = ran[dependency];
                if (cause != null && cause.lane() != span.lane()) {
                    arrow(cause, span);
                }
            }
        }
        for (RunTrace.Run nested : run.nested()) {
            spans(nested, depth + 1);
        }
    }

    private void span(RunTrace.Run run, RunTrace.Span span, int depth) throws IOException {
        TracedPlan.Instruction instruction = run.plan().instructions().get(span.instruction());
        begin(instruction.type(), "X", trace.lanes().get(span.lane()).place(), span.lane() + 1);
        event.append(",\"cat\":").append(Markup.quoted(instruction.provider()));
        micros(",\"ts\":", span.started());
        micros(",\"dur\":", span.duration());
        event.append(",\"args\":{\"output\":").append(Markup.quoted(instruction.name())).append(",\"program\":")
                .append(Markup.quoted(run.plan().name()))
                .append(",\"run\":").append(run.number()).append(",\"instruction\":").append(span.instruction());
        micros(",\"dependency_wait_us\":", span.ready() - run.started());
        micros(",\"queue_wait_us\":", span.started() - span.ready());
        if (depth > 0) {
            event.append(",\"depth\":").append(depth);
        }
        if (span.allocated() > 0) {
            event.append(",\"allocated_bytes\":").append(span.allocated());
        }
        event.append(",\"outcome\":\"").append(span.completed() ? "COMPLETED" : "FAILED").append("\"}");
        end();
    }

    private void arrow(RunTrace.Span from, RunTrace.Span to) throws IOException {
        arrows++;
        // A viewer attaches an arrow to the slice at the arrow's time. At the end of a slice, that is the next slice.
        // The arrow therefore begins one nanosecond earlier.
        half("s", from.lane(), Math.max(from.started(), from.ended() - 1)).append('}');
        write(event);
        half("f", to.lane(), to.started()).append(",\"bp\":\"e\"}");
        write(event);
    }

    private StringBuilder half(String phase, int lane, long time) {
        begin("dependency", phase, trace.lanes().get(lane).place(), lane + 1).append(",\"cat\":\"dependency\",\"id\":")
                .append(arrows);
        micros(",\"ts\":", time);
        return event;
    }

    /** Writes a counter of the memory use of all runs together. */
    private void memory() throws IOException {
        List<long[]> changes = new ArrayList<>();
        for (RunTrace.Run run : trace.runs()) {
            MemoryUse use = MemoryUse.of(run);
            for (int i = 0; i < use.times().length; i++) {
                changes.add(new long[]{use.times()[i], use.bytes()[i] - (i == 0 ? 0 : use.bytes()[i - 1])});
            }
        }
        changes.sort(Comparator.comparingLong(change -> change[0]));
        String place = processes.isEmpty() ? "" : processes.keySet().iterator().next();
        long now = 0;
        for (long[] change : changes) {
            now += change[1];
            begin("memory of values", "C", place, 0);
            micros(",\"ts\":", change[0]);
            event.append(",\"args\":{\"bytes\":").append(now).append('}');
            end();
        }
    }

    private StringBuilder begin(String name, String phase, String place, int track) {
        event.setLength(0);
        return event.append("{\"name\":").append(Markup.quoted(name)).append(",\"ph\":\"").append(phase)
                .append("\",\"pid\":")
                .append(processes.getOrDefault(place, 0)).append(",\"tid\":").append(track);
    }

    private void end() throws IOException {
        write(event.append('}'));
    }

    private void write(StringBuilder json) throws IOException {
        out.write(first ? "\n" : ",\n");
        first = false;
        out.append(json);
    }

    private void micros(String key, long nanos) {
        event.append(key).append(nanos / 1000).append('.');
        long rest = Math.abs(nanos % 1000);
        event.append((char) ('0' + rest / 100)).append((char) ('0' + rest / 10 % 10)).append((char) ('0' + rest % 10));
    }
}
