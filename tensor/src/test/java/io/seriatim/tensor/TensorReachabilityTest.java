package io.seriatim.tensor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Memory is not given to others while it is read or written, though no one may name its tensor again. */
class TensorReachabilityTest {
    private static final int SIZE = 1 << 16;
    private static final int RUNS = Boolean.getBoolean("seriatim.full") ? 6_000 : 150;

    @Test
    void elementsAreThoseOfTheTensor() throws InterruptedException {
        double[] ones = new double[SIZE];
        Arrays.fill(ones, 1);
        double[] zeros = new double[SIZE];
        AtomicBoolean over = new AtomicBoolean();
        Thread other = Thread.ofPlatform().start(() -> {
            while (!over.get()) {
                System.gc();
                // What the collector found is given to the next allocations.
                for (int i = 0; i < 8; i++) {
                    Tensor.of(zeros).close();
                }
            }
        });
        int wrong = 0;
        for (int run = 0; run < RUNS; run++) {
            for (float value : Tensor.of(ones).toFloatArray()) {
                if (value != 1) {
                    wrong++;
                    break;
                }
            }
        }
        over.set(true);
        other.join();
        assertEquals(0, wrong);
    }
}
