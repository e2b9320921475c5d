package io.seriatim.engine;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** Emits a Flight Recorder event for each operation. */
final class FlightRecorder implements Recorder {
    /**
     * The event of one operation. Its time stamp is the end of the operation, because JFR cannot begin an event in the
     * past. Confined to the thread that reports it.
     */
    @Name("io.seriatim.Operation")
    @Label("Operation")
    @Category("Seriatim")
    @Description("An operation of a dependency engine has ended")
    @StackTrace(false)
    static final class OperationEvent extends Event {
        @Label("Name")
        String name = "";
        @Label("Group")
        @Description("The kind that the operation is counted as: by default its name up to the first blank")
        String group = "";
        @Label("Kind")
        String kind = "";
        @Label("Lane")
        String lane = "";
        @Label("Worker thread")
        String worker = "";
        @Label("Outcome")
        String outcome = "";
        @Label("Dependency wait")
        @Description("From the push until all operations that it depends on had ended")
        @Timespan(Timespan.NANOSECONDS)
        long dependencyWait;
        @Label("Queue wait")
        @Description("From then until a worker ran it")
        @Timespan(Timespan.NANOSECONDS)
        long queueWait;
        @Label("Run time")
        @Timespan(Timespan.NANOSECONDS)
        long runTime;
    }

    @Override
    public void ended(OpRecord op) {
        OperationEvent event = new OperationEvent();
        if (event.shouldCommit()) {
            event.name = op.name();
            event.group = op.group();
            event.kind = op.kind().name();
            event.lane = op.lane().toString();
            event.worker = op.thread();
            event.outcome = op.outcome().name();
            event.dependencyWait = op.ready() - op.pushed();
            event.queueWait = op.started() - op.ready();
            event.runTime = op.ended() - op.started();
            event.commit();
        }
    }
}
