package io.seriatim.train.report;

import io.seriatim.executor.trace.Markup;
import io.seriatim.train.TrainingListener.Evaluation;
import io.seriatim.train.metrics.Curve;
import io.seriatim.train.metrics.History;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The key figures of a history at the top of the page. */
final class Tiles {
    private final History history;
    private final List<TrainingReport.Tile> tiles = new ArrayList<>();

    private Tiles(History history) {
        this.history = history;
    }

    static List<TrainingReport.Tile> of(History history, Map<String, Double> baselines) {
        Tiles tiles = new Tiles(history);
        tiles.loss(baselines);
        history.metrics().forEach(tiles::metric);
        tiles.work();
        return tiles.tiles;
    }

    private void add(String what, String value, String more) {
        tiles.add(new TrainingReport.Tile(what, value, more));
    }

    private void loss(Map<String, Double> baselines) {
        StringBuilder more = new StringBuilder();
        baselines.forEach((name, value) -> more.append("; ").append(name).append(' ').append(Numbers.number(value)));
        Optional<Evaluation> best = history.best();
        if (best.isPresent()) {
            Evaluation last = history.evaluations().getLast();
            String same = last.step() == best.get().step()
                    ? ""
                    : ", last " + Numbers.value(Chart.Unit.NUMBER, last.loss());
            add("Validation loss", Numbers.number(best.get().loss()),
                    "best, at step " + Markup.count(best.get().step()) + same + more);
        } else if (!history.loss().points().isEmpty()) {
            add("Training loss", Numbers.value(Chart.Unit.NUMBER, latest(history.loss())),
                    "average of the last steps" + more);
        }
    }

    private void metric(String name, Curve trained) {
        Chart.Unit unit = Chart.Unit.of(trained);
        Optional<Double> best = history.best().map(each -> each.metrics().get(name));
        if (best.isPresent()) {
            double last = Objects.requireNonNullElse(history.evaluations().getLast().metrics().get(name), Double.NaN);
            add("Validation " + name, Numbers.value(unit, best.get()),
                    "with the best loss" + (last == best.get() ? "" : ", last " + Numbers.value(unit, last)));
        } else if (!trained.points().isEmpty()) {
            add("Training " + name, Numbers.value(unit, latest(trained)), "average of the last steps");
        }
    }

    private static double latest(Curve curve) {
        double[] shown = Series.of(curve.name(), Series.Style.NOISY, curve).shown();
        return shown[shown.length - 1];
    }

    private void work() {
        if (history.trainedSteps() > 0) {
            String unit = history.training().map(each -> each.unit() + " per second").orElse("per second");
            add("Throughput", Numbers.value(Chart.Unit.NUMBER, history.meanThroughput()), unit);
            add("Time", Numbers.duration(history.elapsedSeconds()),
                    Numbers.count(history.trainedSteps(), "step") + ", with evaluations");
        }
        history.training()
                .ifPresent(each -> add("Parameters", Markup.count(each.parameters()), "trained numbers"));
        if (history.peakMemory() > 0) {
            add("Peak memory", Markup.bytes(history.peakMemory()), "of the process: " + history.memory().name());
        }
    }
}
