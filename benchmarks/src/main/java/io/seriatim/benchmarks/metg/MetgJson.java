package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.metg.EfficiencyCurve.Sample;
import io.seriatim.benchmarks.metg.MetgResults.Contestant;
import io.seriatim.executor.trace.Markup;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes results as JSON: where they were measured, and each sample of each repetition. */
final class MetgJson {
    private final MetgResults results;
    private final Map<String, Object> origin;

    /**
     * Creates a writer.
     *
     * @param origin
     *            where and how the results were measured, such as {@code commit}, {@code processor}, {@code cores}:
     *            texts and numbers
     */
    MetgJson(MetgResults results, Map<String, Object> origin) {
        this.results = results;
        this.origin = origin;
    }

    String text() {
        String members = origin.entrySet().stream().map(each -> Markup.quoted(each.getKey()) + ": "
                + (each.getValue() instanceof Number number
                        ? number.toString()
                        : Markup.quoted(each.getValue().toString())))
                .collect(Collectors.joining(",\n  "));
        StringBuilder json = new StringBuilder("{\n  ").append(members).append(",\n  \"results\": [");
        String separator = "\n    ";
        for (int tasks : results.tasksPerWorker()) {
            for (TaskPattern pattern : results.patterns()) {
                for (Contestant system : results.systems()) {
                    if (!results.of(pattern, tasks, system).isEmpty()) {
                        json.append(separator).append(entry(pattern, tasks, system));
                        separator = ",\n    ";
                    }
                }
            }
        }
        return json.append("\n  ]\n}\n").toString();
    }

    private String entry(TaskPattern pattern, int tasks, Contestant system) {
        List<EfficiencyCurve> curves = results.of(pattern, tasks, system);
        return "{\"pattern\": " + Markup.quoted(pattern.key()) + ", \"tasksPerWorker\": " + tasks + ", \"system\": "
                + Markup.quoted(system.name()) + ", \"pusherRunsTasks\": " + system.pusherRunsTasks()
                + ", \"metgNanos\": " + number(results.metg(pattern, tasks, system)) + ",\n     \"repetitions\": ["
                + curves.stream().map(MetgJson::repetition).collect(Collectors.joining(",\n      ")) + "]}";
    }

    private static String repetition(EfficiencyCurve curve) {
        return "{\"metgNanos\": " + number(curve.metg().orElse(Double.NaN)) + ", \"samples\": ["
                + curve.samples().stream().map(MetgJson::sample).collect(Collectors.joining(", ")) + "]}";
    }

    private static String sample(Sample sample) {
        return "{\"iterations\": " + sample.iterations() + ", \"tasks\": " + sample.tasks() + ", \"nanos\": "
                + sample.nanos() + ", \"granularityNanos\": " + number(sample.granularity()) + ", \"efficiency\": "
                + number(sample.efficiency()) + "}";
    }

    /** Formats a number; one that JSON lacks is null. */
    private static String number(double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%.4f", value) : "null";
    }
}
