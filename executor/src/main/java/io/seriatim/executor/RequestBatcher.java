package io.seriatim.executor;

import io.seriatim.engine.Engine;
import io.seriatim.executor.run.OpenRuns;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.io.Serial;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Dynamic batching for inference servers: serves requests of many threads with fewer runs of a plan. Requests that wait
 * at the same time are run as one batch, which reads the weights once for all of them; each thread receives its rows of
 * the results. A request is run immediately if fewer than the maximum number of runs are in progress. Otherwise it
 * waits and is batched with other waiting requests.
 *
 * <p>
 * Each row of a result must depend only on the same row of the feeds, as is the case for most inference programs; this
 * cannot be checked. Results may differ by rounding from those of a request alone, since kernels for more rows may sum
 * in another order. One of the requesting threads runs the batch. If a batch fails, each of its requests is run again
 * alone, so that only the faulty request fails. A request whose rows are divided into sequences of different lengths is
 * run alone. Thread-safe, also for virtual threads.
 */
public final class RequestBatcher {
    /**
     * Threads whose requests were in the last batch usually send the next request immediately. Waiting for them for
     * this fraction of the last batch's time pays off, but only if the wait is long enough to park the thread.
     */
    private static final int SHARE_TO_LINGER = 16;
    private static final long LEAST_NANOS_TO_LINGER = 50_000;

    private final Plan plan;
    private final int maxRows;
    private final int maxRuns;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrival = lock.newCondition();
    /** Requests without a turn, in order of arrival. The lock guards this field and all other mutable state. */
    private final RequestLine waiting = new RequestLine();
    private int running;
    private int lastRequests = 1;
    private long lastNanos;
    private final LongAdder requests = new LongAdder();
    private final LongAdder runs = new LongAdder();
    private final LongAdder failures = new LongAdder();

    /** Thrown if a result does not have a row for each fed row, so that requests cannot be batched. */
    private static final class NoRowsException extends IllegalStateException {
        @Serial
        private static final long serialVersionUID = 1;

        NoRowsException(String message) {
            super(message);
        }
    }

    /**
     * The counts of requests and runs.
     *
     * @param requests
     *            the number of requests
     * @param runs
     *            the number of runs of the plan for them
     * @param failures
     *            the number of runs of several requests that failed; each of these requests was run again alone
     */
    public record Counts(long requests, long runs, long failures) {
    }

    private RequestBatcher(Plan plan, int maxRows, int maxRuns) {
        this.plan = plan;
        this.maxRows = maxRows;
        this.maxRuns = maxRuns;
    }

    /**
     * Creates a batcher for a plan whose runs use one thread ({@link Executor.Builder#threads}). The maximum number of
     * concurrent runs is the number of processors.
     *
     * @param plan
     *            a plan that does not change the scope, and whose feeds and fetches have an unknown first dimension,
     *            the rows
     * @param maxRows
     *            the maximum number of rows of a batch, at least 1. If possible, the number of rows is a power of two,
     *            so that the plan is compiled for few shapes
     * @return a thread-safe batcher
     * @throws IllegalArgumentException
     *             if requests to the plan cannot be batched; the message states the reason
     */
    public static RequestBatcher of(Plan plan, int maxRows) {
        return of(plan, maxRows, Runtime.getRuntime().availableProcessors());
    }

    /**
     * Creates a batcher for a plan.
     *
     * @param plan
     *            a plan that does not change the scope, and whose feeds and fetches have an unknown first dimension,
     *            the rows
     * @param maxRows
     *            the maximum number of rows of a batch, at least 1
     * @param maxRuns
     *            the maximum number of concurrent runs, at least 1; to use all processors, divide their number by the
     *            threads of a run
     * @return a thread-safe batcher
     * @throws IllegalArgumentException
     *             if requests to the plan cannot be batched; the message states the reason
     */
    public static RequestBatcher of(Plan plan, int maxRows, int maxRuns) {
        if (maxRows < 1 || maxRuns < 1) {
            throw new IllegalArgumentException(
                    "The maximum rows of a batch and the maximum concurrent runs must be at least 1, but are "
                            + maxRows + " and "
                            + maxRuns);
        }
        if (plan.writesScope()) {
            throw new IllegalArgumentException(
                    "Requests cannot be batched, because the plan changes variables of the scope"
                            + (plan.stored().isEmpty() ? "" : ", as it is fed the persistable ones " + plan.stored())
                            + ": compile the program for inference, such as the result of Program.copyForTest, and "
                            + "without feeds that are persistable");
        }
        if (plan.feeds().names().isEmpty()) {
            throw new IllegalArgumentException(
                    "Requests cannot be batched, because the plan has no feeds: compile it with at least one");
        }
        plan.feeds().names().forEach(name -> requireRows(plan, "feed", name));
        plan.fetches().names().forEach(name -> requireRows(plan, "fetch", name));
        return new RequestBatcher(plan, maxRows, maxRuns);
    }

    private static void requireRows(Plan plan, String what, String name) {
        VarType type = plan.program().global().get(name).type();
        VarType.TensorType tensor = type.tensorType();
        if (tensor == null || tensor.shape().length == 0 || tensor.shape()[0] >= 0) {
            throw new IllegalArgumentException(
                    "Requests cannot be batched, because " + what + " '" + name
                            + "' has no rows: its first dimension must be unknown (-1), but it is " + type);
        }
    }

    /**
     * Runs the plan once with each power of two of requests that a batch may contain, so that no later request waits
     * for compilation.
     *
     * @param values
     *            a request as for {@link #run}
     * @return this
     * @throws BadRequestException
     *             if a value is missing or closed, or if its type or shape does not match that of its variable, before
     *             anything is computed; or if an index that is fed, or computed from feeds, is out of range
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws IllegalStateException
     *             if a result does not have a row for each row that is fed
     */
    public RequestBatcher prepare(Tensor... values) {
        BatchRequest request = new BatchRequest(false, checked(values));
        for (long count = 1; count * request.rows <= maxRows; count *= 2) {
            split(Collections.nCopies((int) count, request));
        }
        return this;
    }

    /**
     * Serves a request. If the thread is interrupted while it waits, the request is withdrawn and the interrupt status
     * stays set.
     *
     * @param values
     *            a value for each feed, in order, all with the same number of rows; they are not changed, and must not
     *            be changed before the call returns
     * @return the fetched values, with the same number of rows
     * @throws BadRequestException
     *             if a value is missing or closed, or if its type or shape does not match that of its variable, before
     *             anything is computed; or if an index that is fed, or computed from feeds, is out of range
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws IllegalStateException
     *             if a result does not have a row for each row that is fed, or the executor is closed or being closed
     */
    public Results run(Tensor... values) {
        Tensor[] checked = checked(values);
        OpenRuns open = plan.executor().openRuns();
        // From here on, closing the executor waits for the request, whichever thread runs it.
        OpenRuns.Inside inside = open.begin();
        try {
            requests.increment();
            BatchRequest request = new BatchRequest(false, checked);
            takeTurn(request);
            Throwable cause = request.failure;
            if (cause == null) {
                return Objects.requireNonNull(request.results);
            }
            if (cause instanceof NoRowsException) {
                throw new IllegalStateException(cause.getMessage(), cause);
            }
            return again(checked, cause);
        } finally {
            open.end(inside);
        }
    }

    /**
     * Waits until the request gets the turn to run a batch, or another thread has run it in a batch. Afterwards, the
     * turn is passed on, also after a failure.
     */
    private void takeTurn(BatchRequest request) {
        enter(request);
        try {
            await(request);
            if (request.leads) {
                lead(request);
            }
        } finally {
            leave(request);
        }
    }

    /**
     * Returns the numbers of requests and runs.
     *
     * @return the counts since the batcher was created
     */
    public Counts counts() {
        return new Counts(requests.sum(), runs.sum(), failures.sum());
    }

    private Tensor[] checked(Tensor... values) {
        // The rows of other requests must not hide what is wrong with this one.
        plan.requirements().checked(values);
        List<String> names = plan.feeds().names();
        for (int i = 0; i < values.length; i++) {
            if (values[i].shape().rank() == 0 || Rows.count(values[i]) != Rows.count(values[0])) {
                throw new BadRequestException(
                        "All feeds of a request must have the same number of rows, but '" + names.getFirst() + "' is "
                                + values[0].spec() + ", and '" + names.get(i) + "' is " + values[i].spec());
            }
        }
        return values.clone();
    }

    private void enter(BatchRequest request) {
        lock.lock();
        try {
            if (running < maxRuns) {
                running++;
                request.leads = true;
            } else if (request.isAlone) {
                // The request has already waited once.
                waiting.addFirst(request);
            } else {
                waiting.add(request);
            }
            arrival.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void await(BatchRequest request) {
        if (request.leads) {
            return;
        }
        // The thread that runs the batch may need the engine of which this thread is a worker.
        Engine.blocking(() -> awaitTurn(request));
    }

    private void awaitTurn(BatchRequest request) {
        boolean interrupted = false;
        while (!request.leads && !request.hasEnded) {
            LockSupport.park(this);
            if (Thread.interrupted()) {
                interrupted = true;
                if (isWithdrawn(request)) {
                    Thread.currentThread().interrupt();
                    throw new ProgramFailedException("plan",
                            "Interrupted while the request waited for its turn; it was not run",
                            new InterruptedException("while the request waited"));
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Withdraws a request that no thread has started to run. Returns whether it was withdrawn. */
    private boolean isWithdrawn(BatchRequest request) {
        lock.lock();
        try {
            return waiting.remove(request);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs a batch that contains the thread's own request. All requests of the batch are ended, also after a failure.
     */
    private void lead(BatchRequest request) {
        List<BatchRequest> batch = List.of();
        long start = System.nanoTime();
        try {
            batch = batch(request);
            start = System.nanoTime();
            if (batch.size() == 1) {
                request.end(alone(request), null);
            } else {
                runs.increment();
                List<Results> results = split(batch);
                for (int i = 0; i < batch.size(); i++) {
                    batch.get(i).end(results.get(i), null);
                }
            }
        } catch (RuntimeException | Error e) {
            if (batch.size() <= 1) {
                throw e;
            }
            for (int i = 0; i < batch.size(); i++) {
                if (!batch.get(i).hasEnded) {
                    batch.get(i).end(null, e);
                }
            }
            failures.increment();
            if (e instanceof Error) {
                throw e;
            }
        } finally {
            request.batch = Math.max(1, batch.size());
            request.nanos = System.nanoTime() - start;
        }
    }

    /**
     * Selects the batch: the leader, and as many waiting requests as give a power of two of rows. Removes them from the
     * queue after the last allocation, so that a failure cannot lose them.
     */
    private List<BatchRequest> batch(BatchRequest leader) {
        if (leader.isAlone) {
            return List.of(leader);
        }
        lock.lock();
        try {
            linger();
            List<BatchRequest> all = new ArrayList<>(waiting.size + 1);
            all.add(leader);
            long rows = leader.rows;
            int best = 1;
            for (BatchRequest each = waiting.first; each != null; each = each.after) {
                if (rows + each.rows <= maxRows && each.fits(leader)) {
                    all.add(each);
                    rows += each.rows;
                    best = Long.bitCount(rows) == 1 ? all.size() : best;
                }
            }
            List<BatchRequest> batch = all.subList(0, best);
            for (int i = 1; i < best; i++) {
                waiting.remove(all.get(i));
            }
            return batch;
        } finally {
            lock.unlock();
        }
    }

    /** Waits briefly until as many requests have arrived as there were in the last batch. */
    private void linger() {
        long left = lastNanos / SHARE_TO_LINGER;
        if (left < LEAST_NANOS_TO_LINGER) {
            return;
        }
        try {
            while (left > 0 && waiting.size + 1 < lastRequests) {
                left = arrival.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            // The following run fails because of the interrupt.
            Thread.currentThread().interrupt();
        }
    }

    /** Removes a request. If its thread has the turn, passes it to the first waiting request. */
    private void leave(BatchRequest request) {
        BatchRequest next = null;
        lock.lock();
        try {
            waiting.remove(request);
            if (request.leads) {
                request.leads = false;
                lastRequests = request.batch;
                lastNanos = request.nanos;
                next = waiting.first;
                if (next == null) {
                    running--;
                } else {
                    waiting.remove(next);
                    next.leads = true;
                }
            }
        } finally {
            lock.unlock();
        }
        if (next != null) {
            LockSupport.unpark(next.thread);
        }
    }

    private Results alone(BatchRequest request) {
        runs.increment();
        Results results = plan.run(request.values);
        if (!request.isDivided) {
            results.all().forEach((name, tensor) -> requireRows(name, tensor, request.rows));
        }
        return results;
    }

    /** Runs a request again alone, with a new turn, so that the limit of concurrent runs also applies to it. */
    private Results again(Tensor[] values, Throwable cause) {
        BatchRequest request = new BatchRequest(true, values);
        try {
            takeTurn(request);
            return Objects.requireNonNull(request.results);
        } catch (RuntimeException e) {
            e.addSuppressed(cause);
            throw e;
        }
    }

    /** Runs requests as one batch, and returns the rows of each. */
    private List<Results> split(List<BatchRequest> batch) {
        Tensor[] joined = new Tensor[batch.getFirst().values.length];
        Map<String, Tensor> whole = Map.of();
        try {
            for (int i = 0; i < joined.length; i++) {
                int feed = i;
                joined[i] = Rows.joined(batch.stream().map(request -> request.values[feed]).toList());
            }
            whole = plan.run(joined).all();
            long rows = batch.stream().mapToLong(request -> request.rows).sum();
            whole.forEach((name, tensor) -> requireRows(name, tensor, rows));
            List<Results> parts = new ArrayList<>();
            long from = 0;
            for (BatchRequest request : batch) {
                Map<String, Tensor> part = LinkedHashMap.newLinkedHashMap(whole.size());
                for (Map.Entry<String, Tensor> result : whole.entrySet()) {
                    part.put(result.getKey(), Rows.part(result.getValue(), from, request.rows));
                }
                parts.add(new Results(part));
                from += request.rows;
            }
            return parts;
        } finally {
            whole.values().forEach(Tensor::close);
            for (Tensor tensor : joined) {
                if (tensor != null) {
                    tensor.close();
                }
            }
        }
    }

    private static void requireRows(String name, Tensor tensor, long rows) {
        if (tensor.shape().rank() == 0 || Rows.count(tensor) != rows) {
            throw new NoRowsException(
                    "Requests cannot be batched: fetch '" + name + "' must have a row for each of the " + rows
                            + " rows that were fed, but is " + tensor.spec());
        }
    }
}
