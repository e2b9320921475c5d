package io.seriatim.benchmarks.train;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One line of results: a flat JSON object in the format of the Python peers. Values that are not finite are null. */
final class Figures {
    /** The keys of comparable times, the most common first. */
    private static final List<String> TIMES = List.of("median_ms", "median_us", "ns_per_op");
    private static final Pattern MEMBER = Pattern
            .compile("\"(?<key>\\w+)\":\\s*(?:\"(?<text>[^\"\\\\]*)\"|(?<value>[-+.\\w]+))");

    private final Map<String, String> members = new LinkedHashMap<>();

    /** Adds a text without quotes and backslashes. */
    Figures with(String key, String text) {
        members.put(key, '"' + text + '"');
        return this;
    }

    /** Adds a number with at most the given number of decimals. */
    Figures with(String key, double number, int decimals) {
        members.put(key, Double.isFinite(number)
                ? new BigDecimal(number).setScale(decimals, RoundingMode.HALF_EVEN).toPlainString()
                : "null");
        return this;
    }

    /** Parses the results of a process; other lines are ignored. */
    static List<Figures> parse(String output) {
        return output.lines().filter(line -> line.startsWith("{")).map(Figures::parseLine).toList();
    }

    private static Figures parseLine(String line) {
        Figures figures = new Figures();
        Matcher matcher = MEMBER.matcher(line);
        while (matcher.find()) {
            String text = matcher.group("text");
            figures.members.put(Objects.requireNonNull(matcher.group("key")),
                    text == null ? Objects.requireNonNull(matcher.group("value")) : '"' + text + '"');
        }
        return figures;
    }

    /** Returns a line with the medians of several lines of the same workload. */
    static Figures median(List<Figures> lines) {
        Figures median = new Figures();
        lines.getFirst().members.forEach((key, value) -> {
            double[] numbers = lines.stream().map(line -> line.number(key)).flatMapToDouble(OptionalDouble::stream)
                    .sorted().toArray();
            int n = numbers.length;
            median.members.put(key, n == 0 ? value : String.valueOf((numbers[(n - 1) / 2] + numbers[n / 2]) / 2));
        });
        return median;
    }

    /** Returns a text, or empty if it is missing. */
    String text(String key) {
        return members.getOrDefault(key, "").replace("\"", "");
    }

    /** Returns a number, or empty if it is missing. */
    OptionalDouble number(String key) {
        String value = members.get(key);
        return value == null || value.equals("null") || value.startsWith("\"")
                ? OptionalDouble.empty()
                : OptionalDouble.of(Double.parseDouble(value));
    }

    /** Returns the key of the time. */
    String timeKey() {
        return TIMES.stream().filter(members::containsKey).findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("Figures must have one of " + TIMES + ", but are " + this));
    }

    /** Returns the time, in the unit of {@link #timeKey}. */
    double time() {
        return number(timeKey()).orElse(Double.NaN);
    }

    Stream<String> keys() {
        return members.keySet().stream();
    }

    @Override
    public String toString() {
        return members.entrySet().stream().map(entry -> '"' + entry.getKey() + "\": " + entry.getValue())
                .collect(Collectors.joining(", ", "{", "}"));
    }
}
