package io.seriatim.benchmarks.models;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.cli.text.Table;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.Predicate;

/** The tables of the benchmark. */
final class ModelTables {
    private static final int WORST = 5;
    private static final String NONE = "–";

    private final List<ModelFigures> figures;
    private final List<String> peers;

    ModelTables(List<ModelFigures> figures, List<String> peers) {
        this.figures = List.copyOf(figures);
        this.peers = List.copyOf(peers);
    }

    void print(Printer printer) {
        printer.print("Median time of a run, ms; ÷ is ours divided by the faster peer's", times());
        if (figures.stream().noneMatch(each -> each.ratio().isPresent())) {
            printer.line("No peer ran, so that there are no ratios.");
            return;
        }
        printer.print("Geometric mean of ÷; the half that is left out of tuning is chosen by a checksum of the name",
                means());
        printer.print("The " + WORST + " highest ratios", worst());
    }

    private Table times() {
        List<String> header = new ArrayList<>(List.of("model", "threads", SeriatimModel.NAME));
        header.addAll(peers);
        header.addAll(List.of("÷", "difference", "half"));
        Table table = new Table(header);
        for (ModelFigures each : figures) {
            List<String> row = new ArrayList<>(
                    List.of(each.name(), String.valueOf(each.threads()), format("%.3f", each.millis())));
            peers.forEach(peer -> row.add(format("%.3f", each.millis(peer))));
            row.add(format("%.2f", each.ratio()));
            row.add(format("%.1e", each.difference()) + (each.isRight() ? "" : " WRONG"));
            row.add(ModelFile.isLeftOut(each.name()) ? "left out" : "tuned");
            table.row(row);
        }
        return table;
    }

    private Table means() {
        Table table = new Table(List.of("threads", "all", "models", "left out of tuning", "models", "tuned", "models"));
        figures.stream().mapToInt(ModelFigures::threads).distinct().forEach(threads -> {
            List<String> row = new ArrayList<>(List.of(String.valueOf(threads)));
            for (Predicate<ModelFigures> part : List.<Predicate<ModelFigures>>of(_ -> true,
                    each -> ModelFile.isLeftOut(each.name()), each -> !ModelFile.isLeftOut(each.name()))) {
                double[] ratios = figures.stream().filter(each -> each.threads() == threads).filter(part)
                        .flatMapToDouble(each -> each.ratio().stream()).toArray();
                row.add(format("%.2f", geometricMean(ratios)));
                row.add(String.valueOf(ratios.length));
            }
            table.row(row);
        });
        return table;
    }

    private Table worst() {
        Table table = new Table(List.of("model", "threads", "÷"));
        figures.stream().filter(each -> each.ratio().isPresent())
                .sorted(Comparator.comparingDouble((ModelFigures each) -> each.ratio().orElseThrow()).reversed())
                .limit(WORST)
                .forEach(each -> table
                        .row(List.of(each.name(), String.valueOf(each.threads()), format("%.2f", each.ratio()))));
        return table;
    }

    static OptionalDouble geometricMean(double... ratios) {
        double sum = 0;
        for (double ratio : ratios) {
            sum += Math.log(ratio);
        }
        return ratios.length == 0 ? OptionalDouble.empty() : OptionalDouble.of(Math.exp(sum / ratios.length));
    }

    private static String format(String format, OptionalDouble value) {
        return value.isPresent() ? format(format, value.getAsDouble()) : NONE;
    }

    @SuppressWarnings("AnnotateFormatMethod") // The callers' formats are constants for one number.
    private static String format(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
