package io.seriatim.executor;

import io.seriatim.graph.VarType;
import io.seriatim.tensor.Tensor;
import java.io.Serial;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests of many threads with fewer runs of a plan: requests that wait at the same time are run as one batch, which reads the weights once for all of them, and each thread gets its rows of the results. Servers
 * of models call this dynamic batching. A request that finds fewer runs under way than there may be is run at once; one that must wait is joined with those that wait beside it.
 *
 * <p>
 * It is for programs in which a row of a result depends on that row of what is fed and on nothing else, as in most inference; that cannot be checked. Results may differ by rounding from those of a
 * request alone, since kernels for more rows may add in another order. A thread whose request is in a batch runs it. If a batch fails, each of its requests is run again alone, so that only that with which something is wrong
 * fails. For any number of threads, virtual ones too.
 */
public final class RequestBatcher {
    /** Those whom the last batch has answered come back at once if they come back. It pays to wait a little for them, but not to fall asleep for less. */
    private static final int SHARE_TO_LINGER = 16;
    private static final long LEAST_NANOS_TO_LINGER = 50_000;

    private final Plan plan;
    private final int mostRows;
    private final int mostRuns;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrival = lock.newCondition();
    /** In the order in which they came; guarded by the lock, as all that changes. */
    private final Set<Request> waiting = new LinkedHashSet<>();
    private int running;
    private int lastRequests = 1;
    private long lastNanos;
    private final LongAdder requests = new LongAdder();
    private final LongAdder runs = new LongAdder();
    private final LongAdder failures = new LongAdder();

    /** What a thread asks for, and what has become of it. */
    private static final class Request {
        private final Tensor[] values;
        private final long rows;
        private final Thread thread = Thread.currentThread();
        /** Its thread runs the next batch. */
        private volatile boolean leads;
        private volatile @Nullable Outcome outcome;

        Request(Tensor... values) {
            this.values = values;
            this.rows = Rows.count(values[0]);
        }

        /** Whether only the numbers of rows differ. */
        boolean fits(Request other) {
            for (int i = 0; i < values.length; i++) {
                if (values[i].dtype() != other.values[i].dtype() || !Rows.shape(values[i]).equals(Rows.shape(other.values[i]))) {
                    return false;
                }
            }
            return true;
        }

        void end(Outcome result) {
            outcome = result;
            LockSupport.unpark(thread);
        }
    }

    private sealed interface Outcome {
        record Answered(Results results) implements Outcome {
        }

        /** The batch has failed: whether it was because of this request shows when that is run alone. */
        record Failed(Throwable cause) implements Outcome {
        }
    }

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
     * Joins requests to a plan of one thread ({@link Executor.Builder#threads}): as many runs may be under way as there are processors.
     *
     * @param plan
     *            whose program leaves the scope as it is, and whose feeds and fetches have rows, an unknown first dimension
     * @param mostRows
     *            of a batch, from 1. Batches have a power of two of rows wherever requests allow that, so that the plan meets few shapes
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
     *            whose program leaves the scope as it is, and whose feeds and fetches have rows, an unknown first dimension
     * @param mostRows
     *            of a batch, from 1
     * @param mostRuns
     *            that may be under way at the same time, from 1: the processors divided by the threads of a run keep all of them busy
     * @return for any number of threads
     * @throws IllegalArgumentException
     *             if requests to the plan cannot be joined; the message says why
     */
    public static RequestBatcher of(Plan plan, int mostRows, int mostRuns) {
        if (mostRows < 1 || mostRuns < 1) {
            throw new IllegalArgumentException(
                    "Rows of a batch and runs at the same time must be at least 1, but are " + mostRows + " and " + mostRuns);
        }
        if (plan.writesScope()) {
            throw new IllegalArgumentException(
                    "Requests cannot be joined, since the plan changes variables of the scope: compile the program for inference, as Program.copyForTest gives it");
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
     * Runs the plan once with each number of requests that a batch may have, so that none waits for the analysis of a shape.
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
        Request request = request(values);
        for (long count = 1; count * request.rows <= mostRows; count *= 2) {
            split(Collections.nCopies((int) count, request));
        }
        return this;
    }

    /**
     * Answers a request, when it is its turn. A thread that is interrupted while it waits gives up, and stays interrupted.
     *
     * @param values
     *            one for each feed, in order, all with as many rows; not changed, and not to be changed before the call returns
     * @return what was fetched, with as many rows
     * @throws IllegalArgumentException
     *             if a value is missing or does not fit its variable
     * @throws ProgramFailedException
     *             if an operation fails
     * @throws IllegalStateException
     *             if a result does not have a row for each row that is fed
     */
    public Results run(Tensor... values) {
        Request request = request(values);
        requests.increment();
        enter(request);
        await(request);
        if (request.leads) {
            lead(request);
        }
        return switch (Objects.requireNonNull(request.outcome)) {
            case Outcome.Answered(Results results) -> results;
            case Outcome.Failed(NoRowsException cause) -> throw new IllegalStateException(cause.getMessage(), cause);
            case Outcome.Failed(Throwable cause) -> again(request, cause);
        };
    }

    /**
     * How many requests there were, and how few runs for them.
     *
     * @return what has been done since the beginning
     */
    public Counts counts() {
        return new Counts(requests.sum(), runs.sum(), failures.sum());
    }

    private Request request(Tensor... values) {
        List<String> names = plan.feeds().names();
        if (values.length != names.size()) {
            throw new IllegalArgumentException("The plan is fed " + names + ", but is given " + values.length + " tensors");
        }
        for (int i = 0; i < values.length; i++) {
            if (values[i].shape().rank() == 0 || Rows.count(values[i]) != Rows.count(values[0])) {
                throw new IllegalArgumentException("All feeds of a request must have as many rows, but '" + names.getFirst() + "' is "
                        + values[0].spec() + ", and '" + names.get(i) + "' is " + values[i].spec());
            }
        }
        return new Request(values.clone());
    }

    private void enter(Request request) {
        lock.lock();
        try {
            waiting.add(request);
            if (running < mostRuns) {
                running++;
                request.leads = true;
            }
            arrival.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void await(Request request) {
        boolean interrupted = false;
        while (!request.leads && request.outcome == null) {
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
    private boolean isWithdrawn(Request request) {
        lock.lock();
        try {
            return !request.leads && waiting.remove(request);
        } finally {
            lock.unlock();
        }
    }

    /** Runs a batch with the thread's own request in it, and lets another one lead. */
    private void lead(Request request) {
        List<Request> batch = batch(request);
        long start = System.nanoTime();
        try {
            if (batch.size() == 1) {
                request.end(new Outcome.Answered(alone(request)));
            } else {
                answer(batch);
            }
        } finally {
            handOver(batch.size(), System.nanoTime() - start);
        }
    }

    /** The request, and of those that wait as many as make a power of two of rows. */
    private List<Request> batch(Request leader) {
        lock.lock();
        try {
            linger();
            List<Request> all = new ArrayList<>(List.of(leader));
            long rows = leader.rows;
            int best = 1;
            for (Request each : waiting) {
                if (!each.leads && rows + each.rows <= mostRows && each.fits(leader)) {
                    all.add(each);
                    rows += each.rows;
                    best = Long.bitCount(rows) == 1 ? all.size() : best;
                }
            }
            List<Request> batch = List.copyOf(all.subList(0, best));
            batch.forEach(waiting::remove);
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
            while (left > 0 && waiting.size() < lastRequests) {
                left = arrival.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            // The run that follows ends by it.
            Thread.currentThread().interrupt();
        }
    }

    /** All get an outcome, whatever happens. */
    private void answer(List<Request> batch) {
        runs.increment();
        try {
            List<Results> results = split(batch);
            for (int i = 0; i < batch.size(); i++) {
                batch.get(i).end(new Outcome.Answered(results.get(i)));
            }
        } catch (RuntimeException | Error e) {
            failures.increment();
            batch.forEach(request -> request.end(new Outcome.Failed(e)));
            if (e instanceof Error error) {
                throw error;
            }
        }
    }

    private void handOver(int batch, long nanos) {
        Request next = null;
        lock.lock();
        try {
            lastRequests = batch;
            lastNanos = nanos;
            for (Request each : waiting) {
                if (!each.leads) {
                    next = each;
                    break;
                }
            }
            if (next == null) {
                running--;
            } else {
                next.leads = true;
            }
        } finally {
            lock.unlock();
        }
        if (next != null) {
            LockSupport.unpark(next.thread);
        }
    }

    private Results alone(Request request) {
        runs.increment();
        Results results = plan.run(request.values);
        results.all().forEach((name, tensor) -> requireRows(name, tensor, request.rows));
        return results;
    }

    private Results again(Request request, Throwable cause) {
        try {
            return alone(request);
        } catch (RuntimeException e) {
            e.addSuppressed(cause);
            throw e;
        }
    }

    /** Runs requests as one, and gives each its rows. */
    private List<Results> split(List<Request> batch) {
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
            for (Request request : batch) {
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
            throw new NoRowsException("Requests cannot be joined: fetch '" + name + "' must have a row for each of the " + rows
                    + " rows that were fed, but is " + tensor.spec());
        }
    }
}
