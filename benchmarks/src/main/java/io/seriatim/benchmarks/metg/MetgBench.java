package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.benchmarks.metg.EfficiencyCurve.Sample;
import io.seriatim.benchmarks.metg.MetgResults.Contestant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sweeps all systems over all patterns. In each repetition the systems take turns, so that other load on the machine
 * affects all of them, and the peak is measured before each sample, since the clock and the load change.
 */
final class MetgBench {
    private static final double FIRST_NANOS = 32_000;
    private static final double MOST_NANOS = 512_000;
    private static final double MOST_PEAK_SECONDS = 0.05;
    private static final double WARM_UPS = 4;
    private static final double FIRST_WARM_UPS = 100;
    private static final double MOST_FIRST_SECONDS = 2;
    private static final int WARM_UP_ITERATIONS = 4;
    private static final double WARM_UP_TASK = 500;
    private static final int MOST_TASKS = 8_000_000;
    private static final double NANOS = 1e9;

    private final MetgOptions options;
    private final Progress progress;
    private final List<MetgSystem> systems;
    private boolean right = true;

    MetgBench(MetgOptions options, Progress progress, List<MetgSystem> systems) {
        this.options = options;
        this.progress = progress;
        this.systems = new ArrayList<>(systems);
    }

    /** Returns whether no task found a wrong value. */
    boolean right() {
        return right;
    }

    MetgResults run() throws InterruptedException {
        MetgResults results = new MetgResults(options.patterns(), options.tasksPerWorker(),
                systems.stream().map(Contestant::of).toList());
        for (MetgSystem system : List.copyOf(systems)) {
            compile(system);
        }
        for (int tasks : options.tasksPerWorker()) {
            for (TaskPattern pattern : options.patterns()) {
                TaskGraph graph = pattern.graph(tasks * options.workers());
                progress.stage(pattern.label() + ", " + tasks + " a thread");
                for (int repetition = 0; repetition < options.repetitions(); repetition++) {
                    progress.round(repetition, 0, options.repetitions());
                    for (MetgSystem system : List.copyOf(systems)) {
                        sweep(system, pattern, tasks, graph, results, repetition == 0);
                    }
                }
            }
        }
        progress.done();
        return results;
    }

    /**
     * Runs all patterns in turn until the JVM has compiled a system of this process. The warm-up before each pattern is
     * too short for that, so the first patterns would be measured in the interpreter.
     */
    private void compile(MetgSystem system) throws InterruptedException {
        if (system.kind() == MetgSystem.Kind.NATIVE) {
            return;
        }
        progress.stage(system.name() + ", warm-up");
        double seconds = Math.min(MOST_FIRST_SECONDS, FIRST_WARM_UPS * options.seconds());
        long begin = System.nanoTime();
        do {
            for (TaskPattern pattern : options.patterns()) {
                try {
                    warmUp(system, pattern.graph(options.tasksPerWorker().get(0) * options.workers()));
                } catch (WrongValueException e) {
                    right = false;
                    leaves(system, "WRONG in " + pattern.label() + ": " + e.getMessage());
                    return;
                } catch (PeerUnavailableException e) {
                    leaves(system, e.getMessage());
                    return;
                }
            }
        } while (System.nanoTime() - begin < NANOS * seconds);
    }

    private void warmUp(MetgSystem system, TaskGraph graph)
            throws InterruptedException, WrongValueException, PeerUnavailableException {
        system.run(graph, steps(graph, WARM_UP_TASK, WARM_UPS * options.seconds()), WARM_UP_ITERATIONS);
    }

    private void sweep(MetgSystem system, TaskPattern pattern, int tasks, TaskGraph graph, MetgResults results,
            boolean cold) throws InterruptedException {
        try {
            if (cold && system.kind() != MetgSystem.Kind.NATIVE) {
                warmUp(system, graph);
            }
            double iterationsPerNano = peak(system) / FmaKernel.FLOPS / options.workers();
            int first = (int) Math.max(1, FIRST_NANOS * iterationsPerNano);
            int most = (int) Math.max(1, MOST_NANOS * iterationsPerNano);
            Estimate estimate = new Estimate(1 / iterationsPerNano);
            results.add(pattern, tasks, Contestant.of(system),
                    Sweep.run(first, most, iterations -> sample(system, graph, iterations, estimate)));
        } catch (WrongValueException e) {
            right = false;
            leaves(system, "WRONG in " + pattern.label() + ": " + e.getMessage());
        } catch (PeerUnavailableException e) {
            leaves(system, e.getMessage());
        }
    }

    private void leaves(MetgSystem system, @Nullable String reason) {
        progress.notice(system.name() + " is not measured any further: " + reason);
        systems.remove(system);
    }

    /** What a task took beside its kernel at the last sample, to choose the number of steps. */
    private static final class Estimate {
        private final double nanosPerIteration;
        private double overhead;

        Estimate(double nanosPerIteration) {
            this.nanosPerIteration = nanosPerIteration;
        }

        double of(int iterations) {
            return iterations * nanosPerIteration + overhead;
        }

        void saw(Sample sample) {
            overhead = Math.max(0, sample.granularity() - sample.iterations() * nanosPerIteration);
        }
    }

    private Sample sample(MetgSystem system, TaskGraph graph, int iterations, Estimate estimate)
            throws InterruptedException, WrongValueException, PeerUnavailableException {
        double peak = peak(system);
        int steps = steps(graph, estimate.of(iterations), options.seconds());
        long nanos = system.run(graph, steps, iterations);
        Sample sample = Sample.of(graph, steps, iterations, nanos, options.workers(), peak);
        estimate.saw(sample);
        return sample;
    }

    private double peak(MetgSystem system) throws InterruptedException, PeerUnavailableException {
        return system.peak((long) (NANOS * Math.min(MOST_PEAK_SECONDS, options.seconds() / 2)));
    }

    /** Returns the number of steps that take about the given time. */
    private int steps(TaskGraph graph, double taskNanos, double seconds) {
        double tasks = seconds * NANOS * options.workers() / taskNanos;
        double steps = Math.min(tasks, MOST_TASKS) / graph.columns();
        return (int) Math.max(options.leastSteps(), steps);
    }
}
