package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;

/**
 * The test of the reference engine: each operation reads some of 100 variables, with repeats, and writes one. The
 * result must be exactly that of the serial loop.
 */
final class RandomSums {
    private static final int VARS = 100;

    /** Runs operations: a real engine or a mutant. */
    interface Machine {
        void push(int[] reads, int write, Body body);

        void drain() throws Exception;
    }

    private final long seed;
    private final int[][] reads;
    private final int[] write;

    RandomSums(long seed, int operations) {
        this.seed = seed;
        reads = new int[operations][];
        write = new int[operations];
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < operations; i++) {
            reads[i] = random.ints(random.nextInt(2, 20), 0, VARS).toArray();
            write[i] = random.nextInt(VARS);
        }
    }

    private void step(int i, long[] values) {
        long sum = i;
        for (int read : reads[i]) {
            sum = sum * 31 + values[read];
        }
        values[write[i]] = sum;
    }

    private long[] serial() {
        long[] values = new long[VARS];
        for (int i = 0; i < write.length; i++) {
            step(i, values);
        }
        return values;
    }

    /** Runs the operations, each of which takes the given number of nanoseconds, and compares the results. */
    void check(Machine machine, IntUnaryOperator nanos) throws Exception {
        long[] values = new long[VARS];
        for (int i = 0; i < write.length; i++) {
            int at = i;
            machine.push(reads[i], write[i], () -> {
                TestSupport.spin(nanos.applyAsInt(at));
                step(at, values);
            });
        }
        machine.drain();
        assertArrayEquals(serial(), values, () -> "not the serial result, seed " + seed);
    }

    /** Adapts an engine. */
    static Machine on(Engine engine) {
        Var[] vars = TestSupport.vars(engine, VARS);
        return new Machine() {
            @Override
            public void push(int[] reads, int write, Body body) {
                OpBuilder op = engine.op("sum");
                for (int read : reads) {
                    op.reads(vars[read]);
                }
                op.mutates(vars[write]).push(body);
            }

            @Override
            public void drain() throws InterruptedException {
                engine.waitForAll();
            }
        };
    }
}
