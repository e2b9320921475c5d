package io.seriatim.benchmarks.executor;

import io.seriatim.benchmarks.common.OwnProcess;
import io.seriatim.executor.Executor;
import io.seriatim.graph.Network;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The times, in seconds, of compiling a random program of small operations in a new JVM.
 *
 * @param operations
 *            the number of operations
 * @param define
 *            the description of the program
 * @param compile
 *            the compilation
 * @param first
 *            the first run, which prepares kernels and memory
 * @param cpu
 *            the processor time of the thread that compiled and ran it first, which is less sensitive to other load on
 *            the machine
 * @param next
 *            a later run
 * @param heap
 *            the bytes that program and plan hold afterwards
 */
record Building(int operations, double define, double compile, double first, double cpu, double next, long heap) {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int RUNS = 5;
    private static final int LOOKS = 3;

    /** Measures in this process. */
    static Building measure(int operations) {
        long before = usedHeap();
        long start = System.nanoTime();
        Network network = TinyProgram.RANDOM.network(operations);
        long cpuBefore = THREADS.getCurrentThreadCpuTime();
        long defined = System.nanoTime();
        try (PlanRun run = PlanRun.of(Executor.builder().build(), null, network.main(), List.of("x"),
                network.outputs().get("y").name(),
                TinyProgram.feed())) {
            long compiled = System.nanoTime();
            run.run();
            long ran = System.nanoTime();
            long cpuAfter = THREADS.getCurrentThreadCpuTime();
            double[] next = new double[RUNS];
            for (int i = 0; i < RUNS; i++) {
                long from = System.nanoTime();
                run.run();
                next[i] = seconds(from, System.nanoTime());
            }
            Arrays.sort(next);
            long heap = usedHeap() - before;
            int counted = network.main().global().ops().size();
            return new Building(counted, seconds(start, defined), seconds(defined, compiled), seconds(compiled, ran),
                    seconds(cpuBefore, cpuAfter),
                    next[RUNS / 2],
                    Math.max(0, heap));
        }
    }

    /** Measures in a new process. */
    static Building inOwnProcess(int operations) throws IOException, InterruptedException {
        return parse(OwnProcess.run(Building.class.getName(), String.valueOf(operations)));
    }

    /** From a description to the first result. */
    double plan() {
        return compile + first;
    }

    String format() {
        return operations + " " + define + " " + compile + " " + first + " " + cpu + " " + next + " " + heap;
    }

    /** Parses the last line that a process has printed. */
    static Building parse(String text) {
        String[] parts = text.strip().lines().reduce("", (_, last) -> last).split(" ", -1);
        return new Building(Integer.parseInt(parts[0]), Double.parseDouble(parts[1]), Double.parseDouble(parts[2]),
                Double.parseDouble(parts[3]),
                Double.parseDouble(parts[4]), Double.parseDouble(parts[5]), Long.parseLong(parts[6]));
    }

    private static double seconds(long from, long to) {
        return (to - from) / 1e9;
    }

    /**
     * Returns the minimum of several measurements, because one garbage collection may miss objects that the next one
     * frees.
     */
    private static long usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        return IntStream.range(0, LOOKS).mapToLong(_ -> {
            System.gc();
            return runtime.totalMemory() - runtime.freeMemory();
        }).min().orElseThrow();
    }

    /**
     * Prints the times of compiling a plan.
     *
     * @param args
     *            the number of operations
     */
    public static void main(String[] args) {
        System.out.println(measure(Integer.parseInt(args[0])).format());
    }
}
