package io.seriatim.engine.core;

import io.seriatim.engine.dependency.Epoch;
import io.seriatim.engine.dependency.Operation;
import io.seriatim.engine.dependency.Tracker;
import io.seriatim.engine.queue.ReadyQueue;
import org.jspecify.annotations.Nullable;

/**
 * Takes the log in: in order, and only as far as it must, because what was taken in just now is in the cache of the
 * processor that will run it. Guarded by the tracker lock.
 */
public final class LogReader {
    /** How many operations a worker takes in at most before it releases the tracker lock for a moment. */
    private static final int READ_AHEAD = 1024;
    /** How many operations may go before one that was ready when it was pushed and that was pushed after them. */
    public static final int MAX_OVERTAKEN = 60;

    private final EngineCore core;
    private final Tracker tracker;
    /**
     * Whether so few operations may be pending that a batch is too much to keep back from a thread that waits to push.
     */
    private final boolean small;
    private @Nullable Cut firstCut;
    private @Nullable Cut lastCut;
    private long nextCut = Long.MAX_VALUE;

    /** What is to happen between two operations of the order. */
    public static final class Cut {
        private final long at;
        private final Runnable action;
        /** Whether it is still to come. */
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

    /** Takes in all that was pushed before. */
    public void admitAll() {
        admitUpTo(core.log.pushed());
        core.dispatcher.harvest();
    }

    /**
     * Takes in all that was pushed before, if it is much with the tracker lock given back in between; under no lock.
     */
    public void admitInSlices() {
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
     * Takes all in where what goes first can only be told when all is known; under the tracker lock, before operations
     * end.
     */
    public void lookAhead(ReadyQueue queue) {
        if (core.counts.isPressed() || queue.isPressed() || core.counts.hasOffMain()) {
            admitAll();
        } else if (core.attention.isWanted()) {
            core.attention.dismiss();
            if (core.hasWaits() || core.counts.isPressed() || core.counts.hasOffMain() || small) {
                core.attention.want();
            }
        }
    }

    /**
     * Finds the next operation for a worker of a lane; under the tracker lock. Takes the log in only as far as it must:
     * what was just taken in is in this processor's cache.
     *
     * @param overtaken
     *            how many operations this worker has run without looking for those that were ready when they were
     *            pushed
     */
    @Nullable
    public Operation next(ReadyQueue queue, int overtaken) {
        if (overtaken >= MAX_OVERTAKEN) {
            admitEarly();
        }
        Operation op = queue.poll();
        for (int i = 0; op == null && i < READ_AHEAD && admitNext(); i++) {
            core.completions.settle();
            op = queue.poll();
        }
        return op;
    }

    private void admitUpTo(long end) {
        boolean more = true;
        while (more && core.counts.position < end) {
            more = admitNext();
        }
        core.completions.settle();
    }

    /**
     * Does something under the tracker lock when all that was pushed before has been taken in: at once, or, if that is
     * much, when a worker has come so far. To take it in here would move it into this processor's cache, and out of the
     * one of those who run it. Nothing that was pushed later is taken in before.
     *
     * @return what {@link #withdraw} takes, or null if it was done
     */
    @Nullable
    public Cut whenAdmitted(Runnable action) {
        core.dispatcher.harvest();
        long end = core.log.pushed();
        if (end - core.counts.position <= READ_AHEAD) {
            admitUpTo(end);
            action.run();
            core.completions.settle();
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

    /** Takes back what is to be done when the log has been taken in so far, unless that has come. */
    public void withdraw(@Nullable Cut cut) {
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
            // So that a wait that ends at once is not counted by the next one on its variable.
            core.completions.settle();
            cut.action.run();
            cut = firstCut;
        }
    }

    /**
     * Whether a cut will be reached soon: the workers have taken in so much since this was asked last that they had
     * better go on alone.
     */
    public boolean isNear(Cut cut, long positionBefore) {
        return !cut.waits || core.counts.position - positionBefore >= READ_AHEAD;
    }

    /** Whether a cut has been reached, or was withdrawn. */
    public static boolean isPassed(Cut cut) {
        return !cut.waits;
    }

    private boolean admitNext() {
        Operation op = core.log.peek();
        if (op == null) {
            return false;
        }
        try {
            take(op);
        } catch (Throwable t) {
            core.broke(t);
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
     * Takes in an operation that was ready when it was pushed, before those that were pushed before it: none of these
     * uses its variables. But a wait may stand between them, and it is not to wait for what was pushed after it.
     */
    private void admitEarly() {
        Operation op = core.log.pollEarly(core.rules.earlyBelow(core.log.pushed(), nextCut));
        if (op != null) {
            core.counts.early++;
            admit(op, core.epochs.current());
            core.completions.settle();
        }
    }

    /** Whether the log holds something; under the tracker lock. */
    public boolean hasUnadmitted() {
        return core.log.peek() != null;
    }

    /** Whether the log seems to hold something. */
    public boolean seemsPushed() {
        return core.log.pushed() != core.counts.position;
    }
}
