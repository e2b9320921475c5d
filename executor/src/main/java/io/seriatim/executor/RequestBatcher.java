package io.seriatim.executor;

import io.seriatim.engine.Engine;
import io.seriatim.executor.run.Cancellation;
import io.seriatim.executor.run.OpenRuns;
import io.seriatim.tensor.Tensor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.jspecify.annotations.Nullable;

/**
 * Dynamic batching for inference servers: serves requests of many threads with fewer runs of a plan. Requests that wait
 * at the same time are run as one batch, which reads the weights once for all of them; each thread receives its rows of
 * the results. A request is run immediately if fewer than the maximum number of runs are in progress. Otherwise it
 * waits and is batched with other waiting requests. With a waiting time, a request that could be run immediately also
 * waits for others, until they have the maximum number of rows.
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
    private final long maxWaitNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrival = lock.newCondition();
    /** Requests without a turn, in order of arrival. The lock guards this field and all other mutable state. */
    private final RequestLine waiting = new RequestLine();
    /**
     * Requests that have the turn and wait for others, at most one for each shape, so that requests of a shape come
     * together. Sized once, so that adding one allocates no memory.
     */
    private final List<BatchRequest> gathering;
    private int running;
    private int lastRequests = 1;
    private long lastNanos;
    private final LongAdder requests = new LongAdder();
    private final LongAdder runs = new LongAdder();
    private final LongAdder failures = new LongAdder();

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

    private RequestBatcher(Plan plan, int maxRows, int maxRuns, Duration wait) {
        this.plan = plan;
        this.maxRows = maxRows;
        this.maxRuns = maxRuns;
        this.maxWaitNanos = StoppableRun.nanos(wait);
        this.gathering = new ArrayList<>(maxWaitNanos > 0 ? maxRuns : 0);
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
        return of(plan, maxRows, maxRuns, Duration.ZERO);
    }

    /**
     * Creates a batcher whose requests wait for others. This increases throughput if many requests arrive at nearly the
     * same time while processors are idle, and delays each request by up to the waiting time.
     *
     * @param plan
     *            a plan that does not change the scope, and whose feeds and fetches have an unknown first dimension,
     *            the rows
     * @param maxRows
     *            the maximum number of rows of a batch, at least 1
     * @param maxRuns
     *            the maximum number of concurrent runs, at least 1
     * @param wait
     *            how long a request waits for others while it and the waiting ones that it could be batched with have
     *            fewer rows than the maximum; at least 0. A request with a time limit waits for others at most half of
     *            it. Closing the executor waits for these requests too
     * @return a thread-safe batcher
     * @throws IllegalArgumentException
     *             if requests to the plan cannot be batched, or the waiting time is negative; the message states the
     *             reason
     */
    public static RequestBatcher of(Plan plan, int maxRows, int maxRuns, Duration wait) {
        requireWait(wait);
        if (maxRows < 1 || maxRuns < 1) {
            throw new IllegalArgumentException(
                    "The maximum rows of a batch and the maximum concurrent runs must be at least 1, but are "
                            + maxRows + " and "
                            + maxRuns);
        }
        Rows.require(plan);
        return new RequestBatcher(plan, maxRows, maxRuns, wait);
    }

    static Duration requireWait(Duration wait) {
        if (wait.isNegative()) {
            throw new IllegalArgumentException(
                    "The time for which requests wait for others must be 0 or more, but is " + wait);
        }
        return wait;
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
        BatchRequest request = new BatchRequest(false, new Cancellation(), null, checked(values));
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
        return run(new Cancellation(), null, values);
    }

    /**
     * Serves a request with a time limit, for example. A request that ends early does not affect others: while it
     * waits, it is withdrawn; when another thread runs its batch, it ends without its rows; when its own thread runs a
     * batch of several requests, it ends with the batch.
     *
     * @param options
     *            when the request ends early
     * @param values
     *            a value for each feed, in order, all with the same number of rows; they are not changed, and must not
     *            be changed before the call returns
     * @return the fetched values, with the same number of rows
     * @throws BadRequestException
     *             if a value is missing or closed, or if its type or shape does not match that of its variable, before
     *             anything is computed; or if an index that is fed, or computed from feeds, is out of range
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws RunTimeoutException
     *             if the time limit of the options is over
     * @throws java.util.concurrent.CancellationException
     *             if the options cancel the request
     * @throws IllegalStateException
     *             if a result does not have a row for each row that is fed, or the executor is closed or being closed
     */
    public Results run(RunOptions options, Tensor... values) {
        return StoppableRun.run(options, cancellation -> run(cancellation, options.timeout(), values));
    }

    private Results run(Cancellation cancellation, @Nullable Duration limit, Tensor... values) {
        Tensor[] checked = checked(values);
        OpenRuns open = plan.executor().openRuns();
        // From here on, closing the executor waits for the request, whichever thread runs it.
        OpenRuns.Inside inside = open.begin();
        try {
            requests.increment();
            BatchRequest request = new BatchRequest(false, cancellation, limit, checked);
            takeTurn(request);
            Throwable cause = request.failure;
            if (cause == null) {
                return Objects.requireNonNull(request.results);
            }
            if (cause instanceof NoRowsException) {
                throw new IllegalStateException(cause.getMessage(), cause);
            }
            return again(request, cause);
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
            if (running < maxRuns && !isGathered(request)) {
                running++;
                giveTurn(request);
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

    /** Returns whether a request of the same shape waits for others and will take this one along. */
    private boolean isGathered(BatchRequest request) {
        for (BatchRequest each : gathering) {
            if (request.fits(each)) {
                return true;
            }
        }
        return false;
    }

    /** Gives a request the turn to run a batch, and lets it gather others if there is a waiting time. */
    private void giveTurn(BatchRequest request) {
        request.leads = true;
        if (maxWaitNanos > 0 && !request.isAlone) {
            gathering.add(request);
        }
    }

    /** Gives turns to waiting requests, in order, as long as there are any. */
    private void giveTurns() {
        BatchRequest next = waiting.first;
        while (running < maxRuns && next != null) {
            BatchRequest after = next.after;
            if (!isGathered(next)) {
                waiting.remove(next);
                running++;
                giveTurn(next);
                LockSupport.unpark(next.thread);
            }
            next = after;
        }
    }

    private void await(BatchRequest request) {
        if (request.leads && (maxWaitNanos == 0 || request.isAlone)) {
            return;
        }
        // The thread that runs the batch may need the engine of which this thread is a worker.
        Engine.blocking(() -> request.cancellation.waiting(() -> {
            awaitTurn(request);
            if (request.leads && maxWaitNanos > 0 && !request.isAlone) {
                gather(request);
            }
            return request;
        }));
    }

    private void awaitTurn(BatchRequest request) {
        boolean interrupted = false;
        while (!request.leads && !request.hasEnded) {
            LockSupport.park(this);
            if (Thread.interrupted()) {
                interrupted = true;
                if (isWithdrawn(request)) {
                    Thread.currentThread().interrupt();
                    throw interrupted(new InterruptedException("while the request waited"));
                }
            }
            // Another thread runs the request. It must not read the values after the call has returned.
            if (request.isJoined && request.cancellation.isStopped()) {
                throw new CancellationException("Stopped while another thread ran the request");
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static ProgramFailedException interrupted(InterruptedException cause) {
        return new ProgramFailedException("plan", "Interrupted while the request waited for its turn; it was not run",
                cause);
    }

    /**
     * Waits until the request and those that can be batched with it have the maximum number of rows, until the waiting
     * time since its arrival is over, or until one of them is to wait no longer because of its time limit.
     */
    private void gather(BatchRequest request) {
        lock.lock();
        try {
            long wait = Math.min(maxWaitNanos, request.patience(request.arrival));
            while (true) {
                long waited = System.nanoTime() - request.arrival;
                long rows = request.rows;
                for (BatchRequest each = waiting.first; each != null; each = each.after) {
                    if (each.fits(request)) {
                        rows += each.rows;
                        wait = Math.min(wait, each.patience(request.arrival));
                    }
                }
                if (rows >= maxRows || waited >= wait) {
                    return;
                }
                arrival.awaitNanos(wait - waited);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted(e);
        } finally {
            lock.unlock();
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
            if (maxWaitNanos == 0) {
                linger();
            }
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
            if (gathering.remove(leader)) {
                giveTurns();
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

    /** Removes a request. If its thread has the turn, passes it to a waiting request. */
    private void leave(BatchRequest request) {
        lock.lock();
        try {
            waiting.remove(request);
            if (request.leads) {
                request.leads = false;
                lastRequests = request.batch;
                lastNanos = request.nanos;
                gathering.remove(request);
                running--;
                giveTurns();
            }
        } finally {
            lock.unlock();
        }
    }

    private Results alone(BatchRequest request) {
        runs.increment();
        Results results = plan.run(request.cancellation, request.values);
        if (!request.isDivided) {
            results.all().forEach((name, tensor) -> requireRows(name, tensor, request.rows));
        }
        return results;
    }

    /** Runs a request again alone, with a new turn, so that the limit of concurrent runs also applies to it. */
    private Results again(BatchRequest failed, Throwable cause) {
        BatchRequest request = new BatchRequest(true, failed.cancellation, null, failed.values);
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
            batch.forEach(BatchRequest::setJoined);
            whole = plan.run(BatchRequest.limits(batch), joined).all();
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
