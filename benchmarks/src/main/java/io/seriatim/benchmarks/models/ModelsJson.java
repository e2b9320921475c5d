package io.seriatim.benchmarks.models;

import io.seriatim.executor.trace.Markup;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/** Writes figures as JSON: where they were measured, and the median of each round. */
final class ModelsJson {
    private ModelsJson() {
    }

    /**
     * Formats a document.
     *
     * @param origin
     *            where and how the figures were measured: texts and numbers
     * @param versions
     *            the version of each peer
     */
    static String text(Map<String, Object> origin, Map<String, String> versions, List<ModelFigures> figures) {
        String members = origin.entrySet().stream().map(each -> Markup.quoted(each.getKey()) + ": "
                + (each.getValue() instanceof Number number
                        ? number.toString()
                        : Markup.quoted(each.getValue().toString())))
                .collect(Collectors.joining(",\n  "));
        String peers = versions.entrySet().stream()
                .map(each -> Markup.quoted(each.getKey()) + ": " + Markup.quoted(each.getValue()))
                .collect(Collectors.joining(", ", "{", "}"));
        String results = figures.stream().map(ModelsJson::entry).collect(Collectors.joining(",\n    "));
        return "{\n  " + members + ",\n  \"peers\": " + peers + ",\n  \"results\": [\n    " + results + "\n  ]\n}\n";
    }

    private static String entry(ModelFigures each) {
        String peers = each.peers().entrySet().stream()
                .map(peer -> Markup.quoted(peer.getKey()) + ": " + numbers(peer.getValue()))
                .collect(Collectors.joining(", ", "{", "}"));
        return "{\"model\": " + Markup.quoted(each.name()) + ", \"threads\": " + each.threads() + ", \"leftOut\": "
                + ModelFile.isLeftOut(each.name()) + ", \"ratio\": " + number(each.ratio()) + ", \"difference\": "
                + number(each.difference()) + ",\n     \"oursMillis\": " + numbers(each.ours())
                + ", \"peersMillis\": " + peers + "}";
    }

    private static String numbers(Collection<Double> values) {
        return values.stream().map(value -> number(OptionalDouble.of(value)))
                .collect(Collectors.joining(", ", "[", "]"));
    }

    /** Formats a number; one that JSON lacks is null. */
    private static String number(OptionalDouble value) {
        return value.isPresent() && Double.isFinite(value.getAsDouble())
                ? String.format(Locale.ROOT, "%.6g", value.getAsDouble())
                : "null";
    }
}
