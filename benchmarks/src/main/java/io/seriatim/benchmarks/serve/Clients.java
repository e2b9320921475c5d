package io.seriatim.benchmarks.serve;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Clients, each of which sends one request after the other.
 *
 * @param count
 *            the number of clients
 * @param size
 *            the size of a request
 */
record Clients(int count, int size) {
    /**
     * The result of a time slice.
     *
     * @param perSecond
     *            the answered requests per second
     * @param answers
     *            the latencies of each client
     */
    record Slice(double perSecond, List<Answers> answers) {
    }

    /** Numbers of a normal distribution. */
    static float[] request(long seed, int size) {
        Random random = new Random(seed);
        float[] values = new float[size];
        for (int i = 0; i < size; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    Slice call(ServePeer.Session service, long nanos) throws InterruptedException {
        CyclicBarrier together = new CyclicBarrier(count);
        try (ExecutorService threads = Executors.newFixedThreadPool(count)) {
            List<Future<Answers>> futures = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                float[] values = request(i, size);
                futures.add(threads.submit(() -> {
                    together.await();
                    return call(service, values, System.nanoTime() + nanos);
                }));
            }
            List<Answers> answers = new ArrayList<>();
            for (Future<Answers> future : futures) {
                answers.add(future.get());
            }
            return new Slice(answers.stream().mapToLong(Answers::count).sum() * 1e9 / nanos, answers);
        } catch (ExecutionException e) {
            throw new IllegalStateException("A request of " + count + " clients failed: " + e.getCause(), e);
        }
    }

    /** Requests answered after the end are not counted. */
    private static Answers call(ServePeer.Session service, float[] values, long end) {
        Answers answers = new Answers();
        long start = System.nanoTime();
        while (true) {
            service.call(values);
            long now = System.nanoTime();
            if (now - end > 0) {
                return answers;
            }
            answers.add(now - start);
            start = now;
        }
    }
}
