package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.cli.text.Table;
import io.seriatim.engine.Body;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.engine.OpBuilder;
import io.seriatim.engine.Var;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Measures the heap of a pending operation. Operations are pushed behind one that mutates every variable and waits for
 * a latch, so all of them are pending when the heap is measured. They share one body, which is not counted.
 */
final class MemoryBench {
    private static final int TRIES = 3;
    private static final int SPARE = 16; // maxPending is exact to within so many

    private final int ops;
    private final Progress progress;

    MemoryBench(int ops, Progress progress) {
        this.ops = ops;
        this.progress = progress;
    }

    /** The kinds of access to the three variables of an operation. */
    private enum Use {
        READS_AND_MUTATION("2 reads, 1 mutation") {
            @Override
            OpBuilder of(OpBuilder op, Var a, Var b, Var c) {
                return op.reads(a, b).mutates(c);
            }
        },
        MUTATIONS("3 mutations") {
            @Override
            OpBuilder of(OpBuilder op, Var a, Var b, Var c) {
                return op.mutates(a, b, c);
            }
        },
        READS("3 reads") {
            @Override
            OpBuilder of(OpBuilder op, Var a, Var b, Var c) {
                return op.reads(a, b, c);
            }
        };

        private final String text;

        Use(String text) {
            this.text = text;
        }

        abstract OpBuilder of(OpBuilder op, Var a, Var b, Var c);
    }

    /** Bytes per operation, while it is pending and after its end. */
    private record Bytes(double pending, double retained) {
    }

    void run(Printer printer) throws InterruptedException {
        Table table = new Table(List.of("bytes per operation", "pending", "retained after its end"));
        for (Use use : Use.values()) {
            progress.stage("memory, " + use.text);
            Bytes bytes = median(use);
            table.row(List.of(use.text, Printer.nanos(bytes.pending), Printer.nanos(bytes.retained)));
        }
        progress.done();
        printer.print("Memory: " + Printer.count(ops) + " pending operations of three variables, one worker, median of "
                + TRIES, table);
    }

    private Bytes median(Use use) throws InterruptedException {
        double[] pending = new double[TRIES];
        double[] retained = new double[TRIES];
        try (Engine engine = Engine.builder().workers(Lane.CPU, 1).maxPending(ops + SPARE).name("memory").build()) {
            Workload shape = Workload.of("random", ops);
            Var[] vars = Stream.generate(engine::newVar).limit(shape.vars()).toArray(Var[]::new);
            measure(engine, vars, shape, use); // loads classes and fills pools
            for (int i = 0; i < TRIES; i++) {
                Bytes bytes = measure(engine, vars, shape, use);
                pending[i] = bytes.pending;
                retained[i] = bytes.retained;
            }
        }
        Arrays.sort(pending);
        Arrays.sort(retained);
        return new Bytes(pending[TRIES / 2], retained[TRIES / 2]);
    }

    private static Bytes measure(Engine engine, Var[] vars, Workload shape, Use use) throws InterruptedException {
        CountDownLatch gate = new CountDownLatch(1);
        Body body = () -> {
        };
        int n = shape.size();
        try {
            engine.op("gate").mutates(vars).push(gate::await);
            long before = usedHeap();
            for (int i = 0; i < n; i++) {
                use.of(engine.op("pending"), vars[shape.firstRead(i)], vars[shape.secondRead(i)],
                        vars[shape.mutates(i)]).push(body);
            }
            long pending = usedHeap();
            gate.countDown();
            engine.waitForAll();
            long after = usedHeap();
            return new Bytes((double) (pending - before) / n, (double) (after - before) / n);
        } finally {
            gate.countDown();
        }
    }

    /**
     * Returns the minimum of several measurements, because one garbage collection may miss objects that the next one
     * frees.
     */
    private static long usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        return IntStream.range(0, TRIES).mapToLong(i -> {
            System.gc();
            return runtime.totalMemory() - runtime.freeMemory();
        }).min().orElseThrow();
    }
}
