package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.engine.Body;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.engine.Var;
import io.seriatim.executor.run.HelperPool;
import io.seriatim.tensor.Tensor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The batches of one reader in their order: those that are read ahead, and those that runs have claimed. */
final class BatchQueue {
    /*
     * A place in the order of the batches is a Slot. The source is asked by operations of the engine, which all mutate
     * the reader's variable, so one at a time; each asks for the first slot that has not been asked for, and keeps the
     * outcome there. The queue has the slots that no run has claimed.
     *
     * A run claims under the lock, pushes without it, and waits for its own slot only. A run holds its scope while it
     * reads, and a shared engine may be full of operations that wait for that scope: so a push must not wait for room.
     * Pushes inside of operations do not, which is why each is made inside of one, of an engine that runs it on the
     * pushing thread. On a shared engine without threads a push runs operations, which may claim in their turn: no lock
     * is held then. Since an operation belongs to no slot, no run depends on what another has yet to push: before a run
     * waits, there are as many operations to come as there are slots to be asked for, or more, and one that finds none
     * does nothing. The wait is one of the engine, so it ends on engines with one worker and without threads too.
     *
     * The end is an outcome like a batch: the run that has claimed it throws. Slots behind it in the same epoch are
     * void: their operations leave the source alone, and who has claimed one claims again. Both first begin a new
     * epoch, unless another has: whoever comes first discards the queue. The source is reset by the first operation of
     * the new epoch, in the order of the variable, so after all that the old one had begun.
     *
     * Runs that read from several readers claim from all at once, and begin all anew at once, holding all locks, taken
     * in the order of the readers' numbers: the k-th claims of an epoch belong together.
     *
     * Closing takes another lock, that of the source's gate. The queue's lock comes first, and closing has left the
     * gate's lock when it takes the queue's.
     */
    private static final Lane LANE = new Lane("cpu", Lane.Queue.COPY);
    private static final AtomicLong MADE = new AtomicLong();

    private final long number = MADE.incrementAndGet();
    private final SourceGate gate;
    private final int capacity;
    private final Engine engine;
    /**
     * Runs operations that push others, each on the thread that pushes it; null if the reader's engine is its own,
     * where there is room. Without threads, it needs no closing.
     */
    private final @Nullable Engine pusher;
    private final Var var;
    private final ReentrantLock lock = new ReentrantLock();
    @GuardedBy("lock")
    private final Deque<Slot> ahead = new ArrayDeque<>();
    /** Those that the source has not been asked for, in order. */
    @GuardedBy("lock")
    private final Deque<Slot> unasked = new ArrayDeque<>();
    /** Operations that have been pushed and have not begun; of one that begins before its push returns, less. */
    @GuardedBy("lock")
    private int coming;
    @GuardedBy("lock")
    private Epoch epoch = new Epoch(false);
    /** One passage through the data. Its fields belong to the operations, which the variable orders. */
    static final class Epoch {
        private final boolean again;
        private boolean begun;
        private boolean ended;

        Epoch(boolean again) {
            this.again = again;
        }
    }

    /** A place in the order of the batches. */
    final class Slot {
        private final Epoch of;
        private final CompletableFuture<Reader.Outcome> outcome = new CompletableFuture<>();
        private volatile boolean discarded;

        Slot(Epoch of) {
            this.of = of;
        }

        BatchQueue queue() {
            return BatchQueue.this;
        }

        /** Asks the source for it. */
        void ask() {
            try {
                outcome.complete(gate.ask(this::answer));
            } catch (Throwable e) {
                // There was no memory to say what has happened.
                outcome.completeExceptionally(e);
            }
        }

        private Reader.Outcome answer(BatchSource source) throws Exception {
            if (discarded || of.ended) {
                return Reader.Outcome.Sign.VOID;
            }
            if (!of.begun) {
                if (of.again) {
                    source.reset();
                }
                of.begun = true;
            }
            List<Tensor> batch = source.next();
            of.ended = batch == null;
            return batch == null ? Reader.Outcome.Sign.END : new Reader.Outcome.Batch(List.copyOf(batch));
        }
    }

    /** An operation that asks for the first slot that has not been asked for. */
    private final class Question implements Body {
        @GuardedBy("lock")
        private boolean begun;

        @Override
        public void run() {
            Slot slot;
            lock.lock();
            try {
                begin();
                slot = unasked.poll();
            } finally {
                lock.unlock();
            }
            if (slot != null) {
                slot.ask();
            }
        }

        @GuardedBy("lock")
        private void begin() {
            if (!begun) {
                begun = true;
                coming--;
            }
        }

        /** An engine that was shut down asks for nothing any more. */
        void end(@Nullable Throwable cause) {
            if (cause != null) {
                List<Slot> abandoned;
                lock.lock();
                try {
                    begin();
                    abandoned = List.copyOf(unasked);
                    unasked.clear();
                } finally {
                    lock.unlock();
                }
                abandoned.forEach(slot -> slot.outcome.completeExceptionally(cause));
            }
        }
    }

    /**
     * A queue that asks a source.
     *
     * @param shared
     *            runs the operations that ask the source; null for an engine of the queue's own
     */
    BatchQueue(SourceGate gate, int capacity, @Nullable Engine shared) {
        this.gate = gate;
        this.capacity = capacity;
        this.engine = shared == null ? Engine.builder().workers(LANE, 1).name("reader").build() : shared;
        this.pusher = shared == null ? null : Engine.builder().naive().name("pushes of a reader").build();
        this.var = engine.newVar("reader");
    }

    void requireOpen() {
        gate.requireOpen();
    }

    /** Begins the data again, if the reader is open. */
    void reset() {
        lock.lock();
        try {
            gate.requireOpen();
            begin();
        } finally {
            lock.unlock();
        }
    }

    /** Pushes operations until there are as many to come as slots to be asked for, under no lock. */
    void push() {
        for (int missing = missing(); missing > 0; missing--) {
            try {
                Question question = new Question();
                CompletableFuture<Void> pushed = pusher == null || Engine.isInside()
                        ? submit(question)
                        : submitInside(pusher, question);
                pushed.whenComplete((_, cause) -> question.end(cause)).isDone();
            } catch (IllegalStateException e) {
                // If the reader was closed meanwhile, that is why the engine is.
                gate.requireOpen();
                throw e;
            }
            lock.lock();
            try {
                coming++;
            } finally {
                lock.unlock();
            }
        }
    }

    private CompletableFuture<Void> submit(Question question) {
        return engine.op("read ahead").mutates(var).evenIfFailed().on(LANE).submit(question);
    }

    /** Without waiting for room. */
    private CompletableFuture<Void> submitInside(Engine on, Question question) {
        try {
            List<CompletableFuture<Void>> pushed = new ArrayList<>(1);
            on.op("push of a reader").submit(() -> pushed.add(submit(question))).join();
            return pushed.getFirst();
        } catch (CompletionException e) {
            throw e.getCause() instanceof IllegalStateException refused ? refused : e;
        }
    }

    private int missing() {
        lock.lock();
        try {
            return unasked.size() - coming;
        } finally {
            lock.unlock();
        }
    }

    /** Holds the locks of several queues, so that no run claims from one of them in between. */
    static void locked(Collection<BatchQueue> queues, Runnable action) {
        List<BatchQueue> inOrder = queues.stream().distinct().sorted(Comparator.comparingLong(queue -> queue.number))
                .toList();
        inOrder.forEach(queue -> queue.lock.lock());
        try {
            action.run();
        } finally {
            inOrder.forEach(queue -> queue.lock.unlock());
        }
    }

    /** Waits for what the source says for a slot. */
    Reader.Outcome await(Slot slot) throws InterruptedException {
        try {
            engine.await(slot.outcome);
            return slot.outcome.get();
        } catch (ExecutionException | CancellationException e) {
            throw new IllegalStateException("A reader's engine was shut down: make a reader on an engine that is open",
                    e);
        }
    }

    /** Puts a slot back that a run has claimed and does not take: the next run gets it. */
    void giveBack(Slot slot) {
        lock.lock();
        try {
            if (slot.of.equals(epoch)) {
                ahead.addFirst(slot);
            }
        } finally {
            lock.unlock();
        }
    }

    Slot claim() {
        lock.lock();
        try {
            while (ahead.size() <= capacity) {
                Slot slot = new Slot(epoch);
                unasked.addLast(slot);
                ahead.addLast(slot);
            }
            return ahead.removeFirst();
        } finally {
            lock.unlock();
        }
    }

    void begin(Slot after) {
        lock.lock();
        try {
            if (epoch.equals(after.of)) {
                begin();
            }
        } finally {
            lock.unlock();
        }
    }

    void begin() {
        lock.lock();
        try {
            ahead.forEach(slot -> slot.discarded = true);
            ahead.clear();
            epoch = new Epoch(true);
        } finally {
            lock.unlock();
        }
    }

    /** The reader is closed: lets its engine go, if that is its own. */
    void close() {
        begin();
        if (pusher == null) {
            HelperPool.close(engine);
        }
    }
}
