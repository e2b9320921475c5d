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
 * Answers requests of many threads with fewer runs of a plan: requests that wait at the same time are run as one batch,
 * which reads the weights once for all of them, and each thread gets its rows of the results. Servers of models call
 * this dynamic batching. A request that finds fewer runs under way than there may be is run at once; one that must wait
 * is joined with those that wait beside it.
 *
 * <p>
 * It is for programs in which a row of a result depends on that row of what is fed and on nothing else, as in most
 * inference; that cannot be checked. Results may differ by rounding from those of a request alone, since kernels for
 * more rows may add in another order. A thread whose request is in a batch runs it. If a batch fails, each of its
 * requests is run again alone, so that only that with which something is wrong fails. For any number of threads,
 * virtual ones too.
 */
public final class RequestBatcher {
    /**
     * Those whom the last batch has answered come back at once if they come back. It pays to wait a little for them,
     * but not to fall asleep for less.
     */
    private static final int SHARE_TO_LINGER = 16;
    private static final long LEAST_NANOS_TO_LINGER = 50_000;

    private final Plan plan;
    private final int mostRows;
    private final int mostRuns;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrival = lock.newCondition();
    /** Those without a turn, in the order in which they came; guarded by the lock, as all that changes. */
    private final RequestLine waiting = new RequestLine();
    private int running;
    private int lastRequests = 1;
    private long lastNanos;
    private final LongAdder requests = new LongAdder();
    private final LongAdder runs = new LongAdder();
    private final LongAdder failures = new LongAdder();

    /** The program is none whose requests can be joined. */
    private static final class NoRowsException extends IllegalStateException {
        @Serial
        private static final long serialVersionUID = 1;

        NoRowsException(String message) {
            super(message);
        }
    }

    /**
     * What has been done.
     *
     * @param requests
     *            that came
     * @param runs
     *            of the plan for them: fewer than requests where these were joined
     * @param failures
     *            how many of these runs were of several requests and failed; each of those was run again alone
     */
    public record Counts(long requests, long runs, long failures) {
    }

    private RequestBatcher(Plan plan, int mostRows, int mostRuns) {
        this.plan = plan;
        this.mostRows = mostRows;
        this.mostRuns = mostRuns;
    }

    /**
     * Joins requests to a plan of one thread ({@link Executor.Builder#threads}): as many runs may be under way as there
     * are processors.
     *
     * @param plan
     *            whose program leaves the scope as it is, and whose feeds and fetches have rows, an unknown first
     *            dimension
     * @param mostRows
     *            of a batch, from 1. Batches have a power of two of rows wherever requests allow that, so that the plan
     *            meets few shapes
     * @return for any number of threads
     * @throws IllegalArgumentException
     *             if requests to the plan cannot be joined; the message says why
     */
    public static RequestBatcher of(Plan plan, int mostRows) {
        return of(plan, mostRows, Runtime.getRuntime().availableProcessors());
    }

    /**
     * Joins requests to a plan.
     *
     * @param plan
     *            whose program leaves the scope as it is, and whose feeds and fetches have rows, an unknown first
     *            dimension
     * @param mostRows
     *            of a batch, from 1
     * @param mostRuns
     *            that may be under way at the same time, from 1: the processors divided by the threads of a run keep
     *            all of them busy
     * @return for any number of threads
     * @throws IllegalArgumentException
     *             if requests to the plan cannot be joined; the message says why
     */
    public static RequestBatcher of(Plan plan, int mostRows, int mostRuns) {
        if (mostRows < 1 || mostRuns < 1) {
            throw new IllegalArgumentException(
                    "Rows of a batch and runs at the same time must be at least 1, but are " + mostRows + " and "
                            + mostRuns);
        }
        if (plan.writesScope()) {
            throw new IllegalArgumentException(
                    "Requests cannot be joined, since the plan changes variables of the scope: compile the program "
                            + "for inference, as Program.copyForTest gives it");
        }
        if (plan.feeds().names().isEmpty()) {
            throw new IllegalArgumentException("Requests cannot be joined, since the plan is fed nothing");
        }
        plan.feeds().names().forEach(name -> requireRows(plan, "feed", name));
        plan.fetches().names().forEach(name -> requireRows(plan, "fetch", name));
        return new RequestBatcher(plan, mostRows, mostRuns);
    }

    private static void requireRows(Plan plan, String what, String name) {
        VarType type = plan.program().global().get(name).type();
        VarType.TensorType tensor = type.tensorType();
        if (tensor == null || tensor.shape().length == 0 || tensor.shape()[0] >= 0) {
            throw new IllegalArgumentException(
                    "Requests cannot be joined, since " + what + " '" + name
                            + "' has no rows: its first dimension must be unknown (-1), but it is " + type);
        }
    }

    /**
     * Runs the plan once with each number of requests that a batch may have, so that none waits for the analysis of a
     * shape.
     *
     * @param values
     *            a request as for {@link #run}
     * @return this
     * @throws IllegalArgumentException
     *             if a value is missing or does not fit its variable
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws IllegalStateException
     *             if a result does not have a row for each row that is fed
     */
    public RequestBatcher prepare(Tensor... values) {
        BatchRequest request = new BatchRequest(false, checked(values));
        for (long count = 1; count * request.rows <= mostRows; count *= 2) {
            split(Collections.nCopies((int) count, request));
        }
        return this;
    }

    /**
     * Answers a request, when it is its turn. A thread that is interrupted while it waits gives up, and stays
     * interrupted.
     *
     * @param values
     *            one for each feed, in order, all with as many rows; not changed, and not to be changed before the call
     *            returns
     * @return what was fetched, with as many rows
     * @throws IllegalArgumentException
     *             if a value is missing or does not fit its variable
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws IllegalStateException
     *             if a result does not have a row for each row that is fed, or the executor is closed or being closed
     */
    public Results run(Tensor... values) {
        Tensor[] checked = checked(values);
        OpenRuns open = plan.executor().openRuns();
        // From here on the executor waits for the answer, whoever computes it.
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
     * Waits until the request leads a batch or is answered in that of another. However that ends, a turn that it had is
     * another's.
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
     * How many requests there were, and how few runs for them.
     *
     * @return what has been done since the beginning
     */
    public Counts counts() {
        return new Counts(requests.sum(), runs.sum(), failures.sum());
    }

    private Tensor[] checked(Tensor... values) {
        List<String> names = plan.feeds().names();
        if (values.length != names.size()) {
            throw new IllegalArgumentException(
                    "The plan is fed " + names + ", but is given " + values.length + " tensors");
        }
        for (int i = 0; i < values.length; i++) {
            if (values[i].shape().rank() == 0 || Rows.count(values[i]) != Rows.count(values[0])) {
                throw new IllegalArgumentException(
                        "All feeds of a request must have as many rows, but '" + names.getFirst() + "' is "
                                + values[0].spec() + ", and '" + names.get(i) + "' is " + values[i].spec());
            }
        }
        return values.clone();
    }

    private void enter(BatchRequest request) {
        lock.lock();
        try {
            if (running < mostRuns) {
                running++;
                request.leads = true;
            } else if (request.isAlone) {
                // It has waited before.
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
        // The thread that leads may need the engine of which this one is a worker.
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
                    throw new ProgramFailedException("plan", "Interrupted while the request waited for its turn",
                            new InterruptedException("while the request waited"));
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** A request with which nobody has begun can be taken back. */
    private boolean isWithdrawn(BatchRequest request) {
        lock.lock();
        try {
            return waiting.remove(request);
        } finally {
            lock.unlock();
        }
    }

    /** Runs a batch with the thread's own request in it. All get an answer, whatever happens. */
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
     * The request, and of those that wait as many as make a power of two of rows. Takes them out of the line when
     * nothing can fail any more.
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
                if (rows + each.rows <= mostRows && each.fits(leader)) {
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

    /** Until as many wait as there were in the last batch. */
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
            // The run that follows ends by it.
            Thread.currentThread().interrupt();
        }
    }

    /** The request's thread goes on. Its turn, if it has one, is that of the first that waits. */
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
        results.all().forEach((name, tensor) -> requireRows(name, tensor, request.rows));
        return results;
    }

    /** In a turn of its own: no more runs are under way at a time than there may be. */
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

    /** Runs requests as one, and gives each its rows. */
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
                    "Requests cannot be joined: fetch '" + name + "' must have a row for each of the " + rows
                            + " rows that were fed, but is " + tensor.spec());
        }
    }
}
