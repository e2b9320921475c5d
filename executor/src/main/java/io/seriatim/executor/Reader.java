package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.engine.Body;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.engine.Var;
import io.seriatim.executor.run.HelperPool;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What a program's {@code read} operations take their batches from: a source that is read ahead on the copy lane of an
 * engine. A scope makes it known to programs: {@code scope.set("data", reader)}; outside of programs {@link #next}
 * takes a batch.
 *
 * <ul>
 * <li>Runs get the batches in the order of the source, each batch once, whichever threads and plans they are of.
 * <li>After the last batch one run throws {@link EndOfDataException}; the one after it begins the data again.
 * <li>A program with several readers goes through them in step: a run takes a batch of each, and when one is at its end
 * all begin again.
 * <li>Reading ahead begins with the first run, and anew with the first after each end or reset, so that the source may
 * be changed in between.
 * </ul>
 */
public final class Reader implements AutoCloseable {
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
     * Closing looks at another lock, that of the source. Neither is taken while the other is wanted: the queue's comes
     * first, and closing has left the source's when it takes the queue's.
     */
    private static final Lane LANE = new Lane("cpu", Lane.Queue.COPY);
    private static final int AHEAD = 2;
    private static final AtomicLong MADE = new AtomicLong();

    private final long number = MADE.incrementAndGet();
    private final BatchSource source;
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
    private final Object use = new Object();
    @GuardedBy("use")
    private @Nullable Thread user;
    @GuardedBy("use")
    private boolean interrupted;
    @GuardedBy("use")
    private boolean closed;

    /** What the source said. */
    sealed interface Outcome {
        /**
         * A batch.
         *
         * @param tensors
         *            as the source gave them
         */
        record Batch(List<Tensor> tensors) implements Outcome {
        }

        /**
         * The source has thrown.
         *
         * @param cause
         *            what
         */
        record Failed(Throwable cause) implements Outcome {
        }

        /** What carries nothing. */
        enum Sign implements Outcome {
            /** The data are at their end. */
            END,
            /** The source was not asked, since the slot's epoch is over. */
            VOID,
            /** The source was not asked, or was interrupted, since the reader is closed. */
            CLOSED
        }
    }

    /** One passage through the data. Its fields belong to the operations, which the variable orders. */
    private static final class Epoch {
        private final boolean again;
        private boolean begun;
        private boolean ended;

        Epoch(boolean again) {
            this.again = again;
        }
    }

    /** A place in the order of the batches. */
    private final class Slot {
        private final Epoch of;
        private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
        private volatile boolean discarded;

        Slot(Epoch of) {
            this.of = of;
        }

        Reader reader() {
            return Reader.this;
        }

        /** Asks the source for it. */
        void ask() {
            try {
                outcome.complete(said());
            } catch (Throwable e) {
                // There was no memory to say what has happened.
                outcome.completeExceptionally(e);
            }
        }

        private Outcome said() {
            if (!enter()) {
                return Outcome.Sign.CLOSED;
            }
            try {
                return answer();
            } catch (Throwable e) {
                return isClosed() ? Outcome.Sign.CLOSED : new Outcome.Failed(e);
            } finally {
                leave();
            }
        }

        private Outcome answer() throws Exception {
            if (discarded || of.ended) {
                return Outcome.Sign.VOID;
            }
            if (!of.begun) {
                if (of.again) {
                    source.reset();
                }
                of.begun = true;
            }
            List<Tensor> batch = source.next();
            of.ended = batch == null;
            return batch == null ? Outcome.Sign.END : new Outcome.Batch(List.copyOf(batch));
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

    /** Collects options. */
    public static final class Builder {
        private final BatchSource source;
        private int ahead = AHEAD;
        private @Nullable Engine engine;

        private Builder(BatchSource source) {
            this.source = Objects.requireNonNull(source, "source");
        }

        /**
         * How many batches are read ahead of the runs.
         *
         * @param batches
         *            from 1; 2 unless set
         * @return this
         */
        public Builder ahead(int batches) {
            if (batches < 1) {
                throw new IllegalArgumentException("A reader reads at least 1 batch ahead, but was to read " + batches);
            }
            ahead = batches;
            return this;
        }

        /**
         * Reads on the copy lane of an engine, instead of one of the reader's own.
         *
         * @param shared
         *            must be open as long as the reader is used; the reader has up to one more operation pending than
         *            it reads ahead, and pushes them without waiting for room
         * @return this
         */
        public Builder engine(Engine shared) {
            engine = Objects.requireNonNull(shared, "engine");
            return this;
        }

        /**
         * The reader.
         *
         * @return has asked the source for nothing yet
         */
        public Reader build() {
            return new Reader(this);
        }
    }

    private Reader(Builder options) {
        source = options.source;
        capacity = options.ahead;
        engine = options.engine == null ? Engine.builder().workers(LANE, 1).name("reader").build() : options.engine;
        pusher = options.engine == null ? null : Engine.builder().naive().name("pushes of a reader").build();
        var = engine.newVar("reader");
    }

    /**
     * A reader with a thread of its own, which reads two batches ahead.
     *
     * @param source
     *            where batches come from; closed with the reader
     * @return the reader
     */
    public static Reader of(BatchSource source) {
        return builder(source).build();
    }

    /**
     * With options.
     *
     * @param source
     *            where batches come from; closed with the reader
     * @return collects them
     */
    public static Builder builder(BatchSource source) {
        return new Builder(source);
    }

    /**
     * Begins the data again with the next run, and discards what was read ahead. Runs that are waiting for a batch
     * still get it.
     */
    public void reset() {
        lock.lock();
        try {
            requireOpen();
            begin();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes a batch outside of a program, as a run of one would, waiting for it if it has not been read yet. After the
     * end of the data the next call begins them again.
     *
     * @return the tensors as the source gave them; null at the end
     * @throws InterruptedException
     *             if the thread is interrupted while it waits; the batch is the next one's
     * @throws IllegalStateException
     *             if the reader is closed, before or meanwhile, or its engine is
     * @throws Exception
     *             what the source threw in place of this batch; the next call gives the one after it
     */
    public @Nullable List<Tensor> next() throws Exception {
        return switch (take(List.of(this)).getFirst()) {
            case Outcome.Batch(List<Tensor> tensors) -> tensors;
            case Outcome.Failed(Exception e) -> throw e;
            case Outcome.Failed(Error e) -> throw e;
            case Outcome.Failed(Throwable e) -> throw new IllegalStateException("The source threw " + e, e);
            case Outcome.Sign.END -> null;
            case Outcome.Sign.CLOSED, Outcome.Sign.VOID -> throw new IllegalStateException(
                    "The reader was closed while a batch was waited for: close it after the last one was taken");
        };
    }

    /**
     * The next outcomes of some readers, taken together: batches and failures, or the end of one, after which all of
     * them begin again.
     *
     * @param readers
     *            one for each outcome; the same may occur several times
     */
    static List<Outcome> take(List<Reader> readers) throws InterruptedException {
        while (true) {
            List<Slot> slots = claim(readers);
            List<Outcome> outcomes = await(slots);
            if (!outcomes.contains(Outcome.Sign.END) && !outcomes.contains(Outcome.Sign.VOID)) {
                return outcomes;
            }
            locked(readers, () -> slots.forEach(slot -> slot.reader().begin(slot.of)));
            if (!cameLate(slots, outcomes)) {
                return outcomes;
            }
        }
    }

    /** Whether the end of a reader was another's. */
    private static boolean cameLate(List<Slot> slots, List<Outcome> outcomes) {
        List<Reader> ended = new ArrayList<>();
        for (int i = 0; i < outcomes.size(); i++) {
            Reader reader = slots.get(i).reader();
            if (outcomes.get(i) == Outcome.Sign.END) {
                ended.add(reader);
            } else if (outcomes.get(i) == Outcome.Sign.VOID && !ended.contains(reader)) {
                return true;
            }
        }
        return false;
    }

    private static List<Slot> claim(List<Reader> readers) {
        List<Slot> slots = new ArrayList<>();
        boolean claimed = false;
        try {
            locked(readers, () -> {
                readers.forEach(Reader::requireOpen);
                readers.forEach(reader -> slots.add(reader.claim()));
            });
            for (Reader reader : readers) {
                reader.push();
            }
            claimed = true;
            return slots;
        } finally {
            if (!claimed) {
                giveBack(slots);
            }
        }
    }

    /** Pushes operations until there are as many to come as slots to be asked for, under no lock. */
    private void push() {
        for (int missing = missing(); missing > 0; missing--) {
            try {
                Question question = new Question();
                CompletableFuture<Void> pushed = pusher == null || Engine.isInside()
                        ? submit(question)
                        : submitInside(pusher, question);
                pushed.whenComplete((_, cause) -> question.end(cause)).isDone();
            } catch (IllegalStateException e) {
                // If the reader was closed meanwhile, that is why the engine is.
                requireOpen();
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

    /** What is done to several readers is done to all of them before anyone claims from one. */
    private static void locked(List<Reader> readers, Runnable action) {
        List<Reader> inOrder = readers.stream().distinct().sorted(Comparator.comparingLong(reader -> reader.number))
                .toList();
        inOrder.forEach(reader -> reader.lock.lock());
        try {
            action.run();
        } finally {
            inOrder.forEach(reader -> reader.lock.unlock());
        }
    }

    private static List<Outcome> await(List<Slot> slots) throws InterruptedException {
        List<Outcome> outcomes = new ArrayList<>();
        try {
            for (Slot slot : slots) {
                slot.reader().engine.await(slot.outcome);
                outcomes.add(slot.outcome.get());
            }
            return outcomes;
        } catch (ExecutionException | CancellationException e) {
            throw new IllegalStateException("A reader's engine was shut down: make a reader on an engine that is open",
                    e);
        } finally {
            if (outcomes.size() < slots.size()) {
                giveBack(slots);
            }
        }
    }

    /** A run that does not get all that it has claimed takes nothing. */
    private static void giveBack(List<Slot> slots) {
        locked(slots.stream().map(Slot::reader).toList(),
                () -> slots.reversed().forEach(slot -> slot.reader().giveBack(slot)));
    }

    private void giveBack(Slot slot) {
        lock.lock();
        try {
            if (slot.of.equals(epoch)) {
                ahead.addFirst(slot);
            }
        } finally {
            lock.unlock();
        }
    }

    private Slot claim() {
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

    private void begin(Epoch after) {
        lock.lock();
        try {
            if (epoch.equals(after)) {
                begin();
            }
        } finally {
            lock.unlock();
        }
    }

    private void begin() {
        lock.lock();
        try {
            ahead.forEach(slot -> slot.discarded = true);
            ahead.clear();
            epoch = new Epoch(true);
        } finally {
            lock.unlock();
        }
    }

    private boolean enter() {
        synchronized (use) {
            if (!closed) {
                user = Thread.currentThread();
            }
            return !closed;
        }
    }

    private void leave() {
        synchronized (use) {
            user = null;
            if (interrupted) {
                // Closing meant the source, not what the thread does next.
                interrupted = false;
                Thread.interrupted();
            }
            use.notifyAll();
        }
    }

    private boolean isClosed() {
        synchronized (use) {
            return closed;
        }
    }

    private void requireOpen() {
        if (isClosed()) {
            throw new IllegalStateException("The reader is closed: set another in the scope");
        }
    }

    /**
     * Interrupts the source if it is asked just now, waits until it has answered, and closes it. Runs that wait for a
     * batch fail, and later ones too. Does nothing the second time.
     *
     * @throws IllegalStateException
     *             if the source calls it, or cannot be closed
     */
    @Override
    public void close() {
        synchronized (use) {
            Thread asking = user;
            if (Thread.currentThread().equals(asking)) {
                throw new IllegalStateException(
                        "A source cannot close its reader: let it return null, and close the reader after the run");
            }
            if (closed) {
                return;
            }
            closed = true;
            if (asking != null) {
                interrupted = true;
                asking.interrupt();
            }
        }
        awaitSource();
        try {
            source.close();
        } catch (IOException | RuntimeException e) {
            throw new IllegalStateException("The source of a reader could not be closed: " + e.getMessage(), e);
        } finally {
            begin();
            if (pusher == null) {
                HelperPool.close(engine);
            }
        }
    }

    /** Whoever asks it may need the engine of which this thread is a worker. */
    private void awaitSource() {
        Engine.blocking(this::awaitUser);
    }

    private void awaitUser() {
        boolean asked = false;
        synchronized (use) {
            while (user != null) {
                try {
                    use.wait();
                } catch (InterruptedException e) {
                    asked = true;
                }
            }
        }
        if (asked) {
            Thread.currentThread().interrupt();
        }
    }
}
