package io.seriatim.train.report;

import java.util.Arrays;
import java.util.Optional;

/** The numbers at the beginning of the page that follow from curves. */
final class Tiles {
    private Tiles() {
    }

    static Optional<TrainingReport.Tile> metric(Chart chart, TrainingReport.Better better) {
        String compared = String.join("", chart.lines().stream()
                .map(line -> "; " + line.name() + " " + Numbers.value(chart.unit(), line.value())).toList());
        return curve(chart, Chart.Style.POINTS).map(curve -> judged(chart, curve, better, compared))
                .or(() -> curve(chart, Chart.Style.NOISY).map(curve -> trained(chart, curve, compared)));
    }

    private static Optional<Curve> curve(Chart chart, Chart.Style style) {
        return chart.series().stream().filter(each -> each.style() == style && each.curve().size() > 0).map(Chart.Series::curve)
                .findFirst();
    }

    private static TrainingReport.Tile judged(Chart chart, Curve curve, TrainingReport.Better better, String compared) {
        double[] values = curve.values();
        int best = 0;
        for (int i = 1; i < values.length; i++) {
            boolean improves = better == TrainingReport.Better.LOWER ? values[i] < values[best] : values[i] > values[best];
            best = improves || !Double.isFinite(values[best]) ? i : best;
        }
        String last = best == values.length - 1 ? "" : "; last " + Numbers.value(chart.unit(), values[values.length - 1]);
        return new TrainingReport.Tile(chart.title(), Numbers.value(chart.unit(), values[best]),
                "best of " + curve.name() + ", at " + chart.along() + " " + Numbers.place(curve.at()[best]) + last + compared);
    }

    private static TrainingReport.Tile trained(Chart chart, Curve curve, String compared) {
        double[] smoothed = Smoothing.smoothed(curve.values());
        return new TrainingReport.Tile(chart.title(), Numbers.value(chart.unit(), smoothed[smoothed.length - 1]),
                curve.name() + ", average of the last steps" + compared);
    }

    static Optional<TrainingReport.Tile> throughput(Curve curve, String unit) {
        double[] sorted = Arrays.stream(curve.values()).filter(Double::isFinite).sorted().toArray();
        return sorted.length == 0
                ? Optional.empty()
                : Optional.of(new TrainingReport.Tile("Throughput", Numbers.number(sorted[sorted.length / 2]) + " /s",
                        unit + " per second, median"));
    }
}
