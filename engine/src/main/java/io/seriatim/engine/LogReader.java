package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * Reads the log and passes the operations to the tracker, in push order. It reads no further than needed, because an
 * operation that was just admitted is in the cache of the processor that will run it. Guarded by the tracker lock.
 */
final class LogReader {
    /** The maximum number of operations that a worker admits before it releases the tracker lock. */
    private static final int READ_AHEAD = 1024;
    /** As {@link #READ_AHEAD}, while another worker may be waiting for the lock to report the end of an operation. */
    private static final int SLICE = 32;
    /**
     * The number of operations that a worker runs before it admits one from the queue of those that were ready when
     * they were pushed.
     */
    static final int MAX_OVERTAKEN = 60;

    private final EngineCore core;
    private final Tracker tracker;
    /** Whether {@code maxPending} is less than {@link EngineCore#SMALL}, so that workers must not keep batches. */
    private final boolean small;
    private @Nullable Cut firstCut;
    private @Nullable Cut lastCut;
    private long nextCut = Long.MAX_VALUE;

    /**
     * An action that runs between two operations of the push order, when the reader reaches its position. Guarded by
     * the tracker lock.
     */
    static final class Cut {
        private final long at;
        private final Runnable action;
        /** Whether the reader has not reached it yet. */
        private volatile boolean waits = true;
        private @Nullable Cut next;
        private @Nullable Cut previous;

        Cut(long at, Runnable action) {
            this.at = at;
            this.action = action;
        }
    }

    LogReader(EngineCore core, Tracker tracker, boolean small) {
        this.core = core;
        this.tracker = tracker;
        this.small = small;
    }

    /** Admits all operations pushed so far. */
    void admitAll() {
        admitUpTo(core.log.pushed());
        core.dispatcher.harvest();
    }

    /**
     * Admits the operations pushed so far, up to the last {@link #READ_AHEAD}, and releases the tracker lock in
     * between; under no lock.
     */
    void admitInSlices() {
        long end = core.log.pushed();
        long left = end - core.counts.position;
        while (left > READ_AHEAD) {
            core.lock.enter();
            try {
                admitUpTo(Math.min(end, core.counts.position + READ_AHEAD));
                left = end - core.counts.position;
            } finally {
                core.lock.leave();
            }
        }
    }

    /**
     * Admits the whole log if priorities or other lanes are in use, because the next operation to run is known only
     * then; under the tracker lock, before operations end.
     */
    void lookAhead(ReadyQueue queue) {
        if (core.counts.hasPriorities() || queue.hasPriorities() || core.counts.hasOffMain()) {
            admitAll();
        } else if (core.preemption.isRequested()) {
            core.preemption.clear();
            if (core.hasWaits() || core.counts.hasPriorities() || core.counts.hasOffMain() || small) {
                core.preemption.request();
            }
        }
    }

    /**
     * Returns the next operation for a worker of a lane, or null; under the tracker lock. Reads the log only as far as
     * needed, because an operation that was just admitted is in this processor's cache.
     *
     * @param overtaken
     *            the number of operations that this worker has run since it last admitted one early
     * @param shared
     *            whether other workers need the tracker lock too, so that it must be released soon
     */
    @Nullable
    Operation next(ReadyQueue queue, int overtaken, boolean shared) {
        if (overtaken >= MAX_OVERTAKEN) {
            admitEarly();
        }
        Operation op = queue.poll();
        int most = shared ? SLICE : READ_AHEAD;
        for (int i = 0; op == null && i < most && admitNext(); i++) {
            core.execution.settle();
            op = queue.poll();
        }
        return op;
    }

    private void admitUpTo(long end) {
        boolean more = true;
        while (more && core.counts.position < end) {
            more = admitNext();
        }
        core.execution.settle();
    }

    /**
     * Runs an action under the tracker lock when all operations pushed so far have been admitted: at once or, if the
     * backlog is long, when a worker has read the log that far. Admitting a long backlog here would move it into this
     * processor's cache, away from the processors that run it. No operation that is pushed later is admitted before the
     * action runs.
     *
     * @return the argument of {@link #withdraw}, or null if the action has run
     */
    @Nullable
    Cut whenAdmitted(Runnable action) {
        core.dispatcher.harvest();
        long end = core.log.pushed();
        if (end - core.counts.position <= READ_AHEAD) {
            admitUpTo(end);
            action.run();
            core.execution.settle();
            return null;
        }
        Cut cut = new Cut(end, action);
        Cut last = lastCut;
        cut.previous = last;
        if (last == null) {
            firstCut = cut;
            nextCut = end;
        } else {
            last.next = cut;
        }
        lastCut = cut;
        return cut;
    }

    /** Cancels an action, unless it has run. */
    void withdraw(@Nullable Cut cut) {
        assert core.lock.isHeldByCurrentThread();
        if (cut != null && cut.waits) {
            remove(cut);
            nextCut = firstCut == null ? Long.MAX_VALUE : firstCut.at;
        }
    }

    private void remove(Cut cut) {
        Cut before = cut.previous;
        Cut after = cut.next;
        if (before == null) {
            firstCut = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            lastCut = before;
        } else {
            after.previous = before;
        }
        cut.waits = false;
    }

    private void runCuts() {
        Cut cut = firstCut;
        while (cut != null && cut.at <= core.counts.position) {
            remove(cut);
            nextCut = firstCut == null ? Long.MAX_VALUE : firstCut.at;
            // End finished waits first, so that the action does not count them.
            core.execution.settle();
            cut.action.run();
            cut = firstCut;
        }
    }

    /**
     * Returns whether a cut was reached, or will be reached soon because workers have admitted at least
     * {@link #READ_AHEAD} operations since {@code positionBefore} was read.
     */
    boolean isNear(Cut cut, long positionBefore) {
        return !cut.waits || core.counts.position - positionBefore >= READ_AHEAD;
    }

    /** Returns whether a cut was reached or withdrawn. */
    static boolean isPassed(Cut cut) {
        return !cut.waits;
    }

    private boolean admitNext() {
        assert core.lock.isHeldByCurrentThread();
        Operation op = core.log.peek();
        if (op == null) {
            return false;
        }
        try {
            take(op);
        } catch (Throwable t) {
            core.markBroken(t);
            throw t;
        }
        return true;
    }

    private void take(Operation op) {
        core.log.advance(op);
        core.counts.position++;
        if (op.has(Operation.TAKEN_EARLY)) {
            core.counts.early--;
        } else {
            admit(op, core.epochs.current());
        }
        if (core.counts.position >= nextCut) {
            runCuts();
        }
    }

    private void admit(Operation op, Epoch e) {
        op.epoch = e;
        e.pending++;
        tracker.admit(op);
    }

    /**
     * Admits an operation that was ready when it was pushed before operations that were pushed earlier: none of these
     * conflicts with it. It must not pass a cut, because a wait must not wait for operations that were pushed after it.
     */
    private void admitEarly() {
        assert core.lock.isHeldByCurrentThread();
        Operation op = core.log.pollEarly(core.rules.earlyBelow(core.log.pushed(), nextCut));
        if (op != null) {
            core.counts.early++;
            admit(op, core.epochs.current());
            core.execution.settle();
        }
    }

    /** Returns whether the log holds an operation; under the tracker lock. */
    boolean hasUnadmitted() {
        return core.log.peek() != null;
    }

    /** Returns whether the log seems to hold an operation; a hint. */
    boolean seemsPushed() {
        return core.log.pushed() != core.counts.position;
    }
}
