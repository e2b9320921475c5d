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

/** The ordered batches of one reader: those that are read ahead, and those that runs have claimed. */
final class BatchQueue {
    /*
     * A Slot is a position in the order of batches. Operations of the engine call the source. All of them mutate the
     * reader's variable, so one runs at a time. Each calls the source for the first slot that has not been requested
     * yet, and stores the outcome in that slot. The queue contains the slots that no run has claimed.
     *
     * A run claims a slot under the lock, pushes operations without the lock, and waits only for its own slot. A push
     * must not wait for capacity, because the caller may hold a scope for which the operations wait that fill the
     * engine. Pushes from within an operation never wait, so each push is made from within an operation of a second
     * engine, which runs it on the pushing thread. On a shared engine without threads, a push runs operations, which
     * may claim slots themselves; no lock is held then. An operation does not belong to a slot, so no run depends on a
     * push that another run has yet to make: before a run waits, at least as many operations are pending as slots are
     * unrequested. An operation that finds no unrequested slot does nothing. The run waits through the engine, so the
     * wait also ends on engines with one worker or without threads.
     *
     * The end of the data is an outcome like a batch: the run that has claimed it throws. Later slots of the same epoch
     * are void: their operations do not call the source, and a run that has claimed one claims again. Both runs first
     * begin a new epoch, unless another run has done so; the first of them discards the queue. The first operation of
     * the new epoch resets the source. The variable orders it after all operations of the old epoch that have begun.
     *
     * A run that reads from several readers claims from all of them, and restarts all of them, while it holds all their
     * locks, which it acquires in the order of the readers' numbers. So the k-th claims of an epoch belong together.
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
     * An engine without threads, whose operations push the operations of the reader on the calling thread; null if the
     * reader owns its engine, which always has capacity. It need not be closed.
     */
    private final @Nullable Engine pusher;
    private final Var var;
    private final ReentrantLock lock = new ReentrantLock();
    @GuardedBy("lock")
    private final Deque<Slot> ahead = new ArrayDeque<>();
    /** The slots that have not been requested from the source, in order. */
    @GuardedBy("lock")
    private final Deque<Slot> unasked = new ArrayDeque<>();
    /**
     * The number of operations that have been pushed and have not begun. It is decremented when an operation begins,
     * which may be before the pushing thread has incremented it.
     */
    @GuardedBy("lock")
    private int coming;
    @GuardedBy("lock")
    private Epoch epoch = new Epoch(false);

    /** One pass through the data. Only operations access the mutable fields; the engine variable orders them. */
    static final class Epoch {
        private final boolean again;
        private boolean started;
        private boolean ended;

        Epoch(boolean again) {
            this.again = again;
        }
    }

    /** A position in the order of batches. */
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

        /** Requests the batch from the source. */
        void ask() {
            try {
                outcome.complete(gate.ask(this::answer));
            } catch (Throwable e) {
                // An OutOfMemoryError while the outcome was created.
                outcome.completeExceptionally(e);
            }
        }

        private Reader.Outcome answer(BatchSource source) throws Exception {
            if (discarded || of.ended) {
                return Reader.Outcome.Sign.VOID;
            }
            if (!of.started) {
                if (of.again) {
                    source.reset();
                }
                of.started = true;
            }
            List<Tensor> batch = source.next();
            of.ended = batch == null;
            return batch == null ? Reader.Outcome.Sign.END : new Reader.Outcome.Batch(List.copyOf(batch));
        }
    }

    /** An operation that requests the first unrequested slot from the source. */
    private final class Question implements Body {
        @GuardedBy("lock")
        private boolean started;

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
            if (!started) {
                started = true;
                coming--;
            }
        }

        /** Fails all unrequested slots if the engine was shut down before the operation began. */
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
     * Creates a queue.
     *
     * @param shared
     *            the engine that runs the operations that call the source; null if the queue creates its own engine
     */
    BatchQueue(SourceGate gate, int capacity, @Nullable Engine shared) {
        this.gate = gate;
        this.capacity = capacity;
        this.engine = shared == null ? Engine.builder().perDevice().workers(LANE, 1).name("reader").build() : shared;
        this.pusher = shared == null ? null : Engine.builder().naive().name("pushes of a reader").build();
        this.var = engine.newVar("reader");
    }

    void requireOpen() {
        gate.requireOpen();
    }

    /** Restarts the data, if the reader is open. */
    void reset() {
        lock.lock();
        try {
            gate.requireOpen();
            begin();
        } finally {
            lock.unlock();
        }
    }

    /** Pushes operations, without a lock, until as many are pending as slots are unrequested. */
    void push() {
        for (int missing = missing(); missing > 0; missing--) {
            try {
                Question question = new Question();
                CompletableFuture<Void> pushed = pusher == null || Engine.isInside()
                        ? submit(question)
                        : submitInside(pusher, question);
                pushed.whenComplete((_, cause) -> question.end(cause)).isDone();
            } catch (IllegalStateException e) {
                // If the reader was closed meanwhile, it has closed the engine; report that instead.
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

    /** Submits an operation without waiting for capacity. */
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

    /** Runs an action while holding the locks of several queues, so that no run claims from only some of them. */
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

    /** Waits for the outcome of a slot. */
    Reader.Outcome await(Slot slot) throws InterruptedException {
        try {
            engine.await(slot.outcome);
            return slot.outcome.get();
        } catch (ExecutionException | CancellationException e) {
            throw new IllegalStateException(
                    "The engine of a reader was shut down while a run waited: create the reader on an open engine",
                    e);
        }
    }

    /** Returns a claimed slot to the queue, so that the next run gets it. */
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

    /** Discards the queue, and closes the engine if the queue owns it. */
    void close() {
        begin();
        if (pusher == null) {
            HelperPool.close(engine);
        }
    }
}
