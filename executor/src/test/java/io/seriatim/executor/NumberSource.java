package io.seriatim.executor;

import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Supplies batches of one number: 100 times the number of the pass through the data, plus the index in it. Some batches
 * may be failures.
 */
class NumberSource implements BatchSource {
    final AtomicInteger asked = new AtomicInteger();
    final AtomicInteger resets = new AtomicInteger();
    final AtomicInteger closings = new AtomicInteger();
    private final AtomicInteger inside = new AtomicInteger();
    private final int count;
    private final Map<Integer, Exception> failures = new ConcurrentHashMap<>();
    private int place;

    NumberSource(int count) {
        this.count = count;
    }

    NumberSource failing(int at, Exception failure) {
        failures.put(at, failure);
        return this;
    }

    @Override
    public @Nullable List<Tensor> next() throws Exception {
        require(inside.incrementAndGet() == 1, "asked by two threads at once");
        try {
            require(place <= count, "asked after its end");
            asked.incrementAndGet();
            int now = place++;
            Exception failure = failures.get(now);
            if (failure != null) {
                throw failure;
            }
            return now == count ? null : batch(resets.get() * 100 + now);
        } finally {
            inside.decrementAndGet();
        }
    }

    List<Tensor> batch(int number) {
        return List.of(Tensor.of(new float[]{number}, 1));
    }

    @Override
    public void reset() {
        resets.incrementAndGet();
        place = 0;
    }

    @Override
    public void close() {
        closings.incrementAndGet();
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError("The source is " + otherwise);
        }
    }
}
