package io.seriatim.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Runs ranks as threads of this process, each with sockets of its own. */
final class Ranks {
    static final byte[] SECRET = new byte[ClusterOptions.FEWEST_SECRET_BYTES];
    /** No test waits longer for anything. */
    static final long LIMIT_SECONDS = 60;

    static {
        Arrays.fill(SECRET, (byte) 42);
    }

    private Ranks() {
    }

    /** What a rank does. */
    interface Body<T> {
        T run(Cluster cluster) throws Exception;
    }

    static ClusterOptions options(int rank, int ranks) {
        return ClusterOptions.of(rank, ranks, SECRET).joinLimit(Duration.ofSeconds(30));
    }

    /** A rendezvous of threads. */
    static Rendezvous gathering(int ranks) {
        String[] all = new String[ranks];
        CyclicBarrier barrier = new CyclicBarrier(ranks);
        return (address, options) -> {
            all[options.rank()] = address;
            try {
                barrier.await(LIMIT_SECONDS, TimeUnit.SECONDS);
            } catch (BrokenBarrierException | TimeoutException e) {
                throw new IllegalStateException(e);
            }
            return List.of(all);
        };
    }

    static <T> List<T> run(int ranks, Body<T> body) throws Exception {
        return run(ranks, Function.identity(), gathering(ranks), body);
    }

    /** The results of all ranks; the failures of those that failed are suppressed by what is thrown. */
    static <T> List<T> run(int ranks, Function<ClusterOptions, ClusterOptions> change, Rendezvous rendezvous,
            Body<T> body) throws Exception {
        AssertionError failure = new AssertionError("a rank failed");
        List<T> results = new ArrayList<>();
        for (Outcome<T> each : outcomes(ranks, change, rendezvous, body)) {
            if (each.failure() != null) {
                failure.addSuppressed(each.failure());
            }
            results.add(each.result());
        }
        if (failure.getSuppressed().length > 0) {
            throw failure;
        }
        return results;
    }

    /** What became of a rank. */
    record Outcome<T>(@Nullable T result, @Nullable Throwable failure) {
    }

    /** What became of all ranks; a rank that does not end is an error of the test. */
    static <T> List<Outcome<T>> outcomes(int ranks, Function<ClusterOptions, ClusterOptions> change,
            Rendezvous rendezvous, Body<T> body) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(ranks, Thread.ofPlatform().daemon().factory());
        List<Future<T>> running = new ArrayList<>();
        for (int i = 0; i < ranks; i++) {
            ClusterOptions options = change.apply(options(i, ranks));
            running.add(threads.submit(() -> {
                try (Cluster cluster = Cluster.join(options, rendezvous)) {
                    return body.run(cluster);
                }
            }));
        }
        List<Outcome<T>> outcomes = new ArrayList<>();
        for (Future<T> each : running) {
            try {
                outcomes.add(new Outcome<>(each.get(LIMIT_SECONDS, TimeUnit.SECONDS), null));
            } catch (ExecutionException e) {
                outcomes.add(new Outcome<>(null, e.getCause()));
            }
        }
        threads.shutdownNow();
        return outcomes;
    }
}
