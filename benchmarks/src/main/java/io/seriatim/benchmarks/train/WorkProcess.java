package io.seriatim.benchmarks.train;

import io.seriatim.benchmarks.common.OwnProcess;
import io.seriatim.benchmarks.kernels.MatrixPeak;
import io.seriatim.executor.trace.TimeShares;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.onednn.OneDnn;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * Measures one workload in this process.
 *
 * @param work
 *            the workload
 * @param threads
 *            the number of the executor's threads
 * @param split
 *            whether each thread gets a part of the batch
 * @param setting
 *            the settings
 */
record WorkProcess(TrainWork work, int threads, boolean split, Setting setting) {
    /** The default JVM, except for a heap and a collector that suit programs with off-heap tensors. */
    private static final List<String> OPTIONS = List.of("-Xms48m", "-Xmx512m", "-XX:+UseSerialGC");
    private static final List<String> INHERITED = List.of("-Xshare", "-XX:SharedArchiveFile", "-XX:AOTCache",
            "-Xlog:disable",
            "-XX:NewSize", "-XX:TrimNativeHeapInterval");
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String PEAK = "VmHWM:";
    private static final double MEGABYTE = 1 << 20;
    private static final double KILOBYTES = 1024;

    private static final int WARM_CALLS = 5000;
    private static final int WARM_CHAIN_CALLS = 200;
    private static final int CALLS = 2000;
    private static final int CHAIN_CALLS = 200;
    /** The number of recorded steps. */
    private static final int RECORDED = 20;

    /** Measures the workload in a new process. */
    List<Figures> inOwnProcess() throws IOException, InterruptedException {
        List<String> options = new ArrayList<>(OPTIONS);
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> INHERITED.stream().anyMatch(option::startsWith)).forEach(options::add);
        String[] arguments = Stream
                .concat(Stream.of(work.name(), String.valueOf(threads), String.valueOf(split)), setting.arguments())
                .toArray(String[]::new);
        String output = OwnProcess.run(options, WorkProcess.class.getName(), arguments);
        List<Figures> figures = Figures.parse(output);
        if (figures.isEmpty()) {
            throw new IOException(
                    "The process that measures " + work + " with " + threads
                            + " threads ended with 0, but printed no figures: '"
                            + output.strip() + "'");
        }
        return figures;
    }

    /** Measures the workload in this process. */
    List<Figures> measure() {
        return switch (work) {
            case T1, T2, T3, T4, T4B, T6 -> List.of(steps());
            case T5 -> List.of(calls("infer_mlp", TrainPrograms.mlpCall(), true),
                    calls("infer_lenet", TrainPrograms.leNetCall(), false));
            case T7 -> List.of(chain());
        };
    }

    private Figures steps() {
        TrainPrograms.Task task = TrainPrograms.training(work, split, setting.isBfloat16());
        try (PlannedSteps steps = split
                ? PlannedSteps.split(task, threads, setting)
                : PlannedSteps.of(task, threads, setting)) {
            steps.step();
            double firstStep = sinceStart();
            double first = steps.step();
            for (int i = 1; i < setting.part(work.warmUps()); i++) {
                steps.step();
            }
            double last = first;
            double[] millis = new double[setting.part(work.steps())];
            for (int i = 0; i < millis.length; i++) {
                long start = System.nanoTime();
                last = steps.step();
                millis[i] = (System.nanoTime() - start) / 1e6;
            }
            Arrays.sort(millis);
            Figures figures = started(work.label()).with("first_step_s", firstStep, 2)
                    .with("median_ms", median(millis), 3)
                    .with("min_ms", millis[0], 3).with("first_loss", first, 4).with("last_loss", last, 4);
            if (threads > 1) {
                figures.with("how", split ? "DataParallel" : "executor");
            }
            shares(figures, steps, "_ms", 1e6, 3);
            return ended(figures, split ? TrainPrograms.training(work, false, setting.isBfloat16()) : task, steps,
                    median(millis) / 1e3);
        }
    }

    /** The time to the first call is meaningful only for the first network of a process. */
    private Figures calls(String label, TrainPrograms.Task task, boolean isFirst) {
        float[] x = task.data()[0].toFloatArray();
        try (PlannedSteps steps = PlannedSteps.of(task, threads, setting)) {
            steps.call(x);
            double firstCall = sinceStart();
            double[] micros = times(() -> steps.call(x), setting.part(WARM_CALLS), setting.part(CALLS));
            double median = micros[micros.length / 2];
            Figures figures = started(label);
            if (isFirst) {
                figures.with("first_step_s", firstCall, 2);
            }
            figures.with("median_us", median, 1).with("p99_us", micros[(int) (micros.length * 0.99)], 1);
            shares(figures, steps, "_us", 1e3, 1);
            return ended(figures, task, steps, median / 1e6);
        }
    }

    private Figures chain() {
        TrainPrograms.Task task = TrainPrograms.chain();
        try (PlannedSteps steps = PlannedSteps.of(task, threads, setting)) {
            steps.run();
            double firstCall = sinceStart();
            double[] micros = times(steps::run, setting.part(WARM_CHAIN_CALLS), setting.part(CHAIN_CALLS));
            // A run has a thousand operations, so its microseconds are the nanoseconds of one.
            Figures figures = started(work.label()).with("first_step_s", firstCall, 2).with("ns_per_op",
                    micros[micros.length / 2], 1);
            shares(figures, steps, "_us", 1e3, 1);
            return figures.with("arena_mb", steps.arenaBytes() / MEGABYTE, 2);
        }
    }

    /** In order. */
    private static double[] times(Runnable call, int warmUps, int count) {
        for (int i = 0; i < warmUps; i++) {
            call.run();
        }
        double[] micros = new double[count];
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            call.run();
            micros[i] = (System.nanoTime() - start) / 1e3;
        }
        Arrays.sort(micros);
        return micros;
    }

    /** Measures the split of the time in extra runs, because recording adds overhead. */
    private void shares(Figures figures, PlannedSteps steps, String unit, double nanos, int decimals) {
        TimeShares shares = steps.shares(threads, setting.part(RECORDED));
        figures.with("kernels" + unit, shares.busy() / nanos, decimals)
                .with("waiting" + unit, shares.waiting() / nanos, decimals)
                .with("idle" + unit, shares.idle() / nanos, decimals);
    }

    private static double median(double... sorted) {
        int n = sorted.length;
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }

    private Figures started(String label) {
        Figures figures = new Figures().with("lib", "seriatim").with("work", label).with("threads", threads, 0);
        peakMegabytes().ifPresent(value -> figures.with("rss_mb", Math.floor(value), 0));
        return setting.note(figures);
    }

    /** The arithmetic peak is measured last, because it needs memory of its own. */
    private Figures ended(Figures figures, TrainPrograms.Task task, PlannedSteps steps, double seconds) {
        int rounds = setting.quick() ? 3 : 20;
        // Without AVX-512 the library does not support bfloat16 products and computes in float32.
        boolean narrow = setting.isBfloat16() && OneDnn.status().hasAvx512();
        double peak = MatrixPeak.flops(narrow, threads, rounds);
        return figures.with("limit_share", Arithmetic.of(task.network().main()) / peak / seconds, 3)
                .with("peak_gflops", peak / 1e9, 0)
                .with("arena_mb", steps.arenaBytes() / MEGABYTE, 2);
    }

    private static double sinceStart() {
        long now = System.currentTimeMillis();
        return (now - ManagementFactory.getRuntimeMXBean().getStartTime()) / 1e3;
    }

    /** Returns the peak memory of this process, if the system reports it. */
    private static OptionalDouble peakMegabytes() {
        try {
            return Files.readAllLines(STATUS).stream().filter(line -> line.startsWith(PEAK))
                    .mapToDouble(line -> Long.parseLong(line.replaceAll("\\D", "")) / KILOBYTES).findFirst();
        } catch (IOException e) {
            return OptionalDouble.empty();
        }
    }

    /**
     * Prints the results of a workload.
     *
     * @param args
     *            the workload, the number of threads, whether each thread gets a part of the batch, and the settings
     */
    public static void main(String[] args) {
        Kernels.loadAhead();
        new WorkProcess(TrainWork.valueOf(args[0]), Integer.parseInt(args[1]), Boolean.parseBoolean(args[2]),
                Setting.parse(args[3], args[4], args[5])).measure().forEach(System.out::println);
    }
}
