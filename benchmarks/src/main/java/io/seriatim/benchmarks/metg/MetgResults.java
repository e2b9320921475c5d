package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.metg.MetgSystem.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Predicate;

/** The curves of all systems, by pattern and number of tasks a worker. */
final class MetgResults {
    /**
     * A system as the results show it.
     *
     * @param pusherRunsTasks
     *            whether the pushing thread is one of the threads that run tasks
     */
    record Contestant(String name, Kind kind, boolean pusherRunsTasks) {
        static Contestant of(MetgSystem system) {
            return new Contestant(system.name(), system.kind(), system.pusherRunsTasks());
        }
    }

    private record Key(TaskPattern pattern, int tasksPerWorker, Contestant system) {
    }

    private final List<TaskPattern> patterns;
    private final List<Integer> tasksPerWorker;
    private final List<Contestant> systems;
    private final Map<Key, List<EfficiencyCurve>> curves = new LinkedHashMap<>();

    MetgResults(List<TaskPattern> patterns, List<Integer> tasksPerWorker, List<Contestant> systems) {
        this.patterns = List.copyOf(patterns);
        this.tasksPerWorker = List.copyOf(tasksPerWorker);
        this.systems = List.copyOf(systems);
    }

    List<TaskPattern> patterns() {
        return patterns;
    }

    List<Integer> tasksPerWorker() {
        return tasksPerWorker;
    }

    List<Contestant> systems() {
        return systems;
    }

    void add(TaskPattern pattern, int tasks, Contestant system, EfficiencyCurve curve) {
        curves.computeIfAbsent(new Key(pattern, tasks, system), key -> new ArrayList<>()).add(curve);
    }

    /** Returns a curve for each repetition. */
    List<EfficiencyCurve> of(TaskPattern pattern, int tasks, Contestant system) {
        return curves.getOrDefault(new Key(pattern, tasks, system), List.of());
    }

    /** Returns the median METG(50 %) of the repetitions in nanoseconds, or NaN if one of them has none. */
    double metg(TaskPattern pattern, int tasks, Contestant system) {
        List<OptionalDouble> all = of(pattern, tasks, system).stream().map(EfficiencyCurve::metg).toList();
        if (all.isEmpty() || all.stream().anyMatch(OptionalDouble::isEmpty)) {
            return Double.NaN;
        }
        double[] sorted = all.stream().mapToDouble(OptionalDouble::getAsDouble).sorted().toArray();
        int n = sorted.length;
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }

    /** Returns the smallest METG(50 %) of the systems of a kind, or NaN if there is none. */
    double best(TaskPattern pattern, int tasks, Kind kind) {
        return systems.stream().filter(system -> system.kind() == kind)
                .mapToDouble(system -> metg(pattern, tasks, system)).filter(Double::isFinite).min().orElse(Double.NaN);
    }

    /** Returns ours divided by the best of a kind, or NaN. */
    double ratio(TaskPattern pattern, int tasks, Kind kind) {
        return best(pattern, tasks, Kind.OURS) / best(pattern, tasks, kind);
    }

    /** Returns the geometric mean of the ratios of patterns that have both figures, or NaN if none has. */
    double meanRatio(int tasks, Kind kind, Predicate<TaskPattern> which) {
        double[] logarithms = patterns.stream().filter(which).mapToDouble(pattern -> ratio(pattern, tasks, kind))
                .filter(Double::isFinite).map(Math::log).toArray();
        if (logarithms.length == 0) {
            return Double.NaN;
        }
        double sum = 0;
        for (double each : logarithms) {
            sum += each;
        }
        return Math.exp(sum / logarithms.length);
    }
}
