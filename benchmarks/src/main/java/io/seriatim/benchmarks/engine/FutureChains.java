package io.seriatim.benchmarks.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A solution with the JDK alone: each operation is a {@link CompletableFuture} that follows the last mutation of what
 * it reads, and the last mutation and the reads since then of what it mutates, on a fixed pool.
 */
final class FutureChains implements Contender {
    private final int workers;
    private final ExecutorService pool;

    FutureChains(int workers) {
        this.workers = workers;
        pool = Executors.newFixedThreadPool(workers, Thread.ofPlatform().daemon().name("futures-", 0).factory());
    }

    @Override
    public String name() {
        return "CompletableFuture" + Workers.text(workers);
    }

    @Override
    public int workers() {
        return workers;
    }

    @Override
    public Lap run(Work work) throws InterruptedException {
        List<WorkloadRun> runs = work.begin();
        List<Chains> all = runs.stream().map(run -> new Chains(run, pool)).toList();
        List<Runnable> pushers = new ArrayList<>(all);
        long nanos = Pushers.time(pushers, () -> all.forEach(Chains::await));
        return work.lap(nanos, runs);
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }

    /** One program's futures. */
    private static final class Chains implements Runnable {
        private final WorkloadRun run;
        private final ExecutorService pool;
        private final CompletableFuture<?>[] lastMutation;
        private final List<List<CompletableFuture<?>>> readsSince = new ArrayList<>();
        private final List<CompletableFuture<?>> before = new ArrayList<>();

        Chains(WorkloadRun run, ExecutorService pool) {
            this.run = run;
            this.pool = pool;
            int vars = run.workload().vars();
            lastMutation = new CompletableFuture<?>[vars];
            for (int v = 0; v < vars; v++) {
                lastMutation[v] = CompletableFuture.completedFuture(null);
                readsSince.add(new ArrayList<>());
            }
        }

        @Override
        public void run() {
            Workload workload = run.workload();
            int n = workload.size();
            for (int i = 0; i < n; i++) {
                push(i, workload.firstRead(i), workload.secondRead(i), workload.mutates(i));
            }
        }

        private void push(int id, int first, int second, int mutated) {
            before.clear();
            if (first >= 0) {
                before.add(lastMutation[first]);
            }
            if (second >= 0) {
                before.add(lastMutation[second]);
            }
            if (mutated >= 0) {
                // A read follows the last mutation.
                if (readsSince.get(mutated).isEmpty()) {
                    before.add(lastMutation[mutated]);
                } else {
                    before.addAll(readsSince.get(mutated));
                }
            }
            CompletableFuture<?> end = after().thenRunAsync(() -> run.operation(id), pool);
            if (first >= 0) {
                readsSince.get(first).add(end);
            }
            if (second >= 0) {
                readsSince.get(second).add(end);
            }
            if (mutated >= 0) {
                lastMutation[mutated] = end;
                readsSince.get(mutated).clear();
            }
        }

        private CompletableFuture<?> after() {
            return before.size() == 1
                    ? before.getFirst()
                    : CompletableFuture.allOf(before.toArray(CompletableFuture[]::new));
        }

        void await() {
            for (CompletableFuture<?> mutation : lastMutation) {
                mutation.join();
            }
            for (List<CompletableFuture<?>> reads : readsSince) {
                reads.forEach(CompletableFuture::join);
            }
        }
    }
}
