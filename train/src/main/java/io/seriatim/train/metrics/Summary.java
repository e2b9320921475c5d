package io.seriatim.train.metrics;

import io.seriatim.train.TrainingListener.End;
import io.seriatim.train.TrainingListener.Evaluation;
import io.seriatim.train.TrainingListener.Started;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The lines printed at the end of a training. */
public final class Summary {
    private Summary() {
    }

    /**
     * Returns the lines to print: the reason for the end and the duration, the best and the last evaluation,
     * throughput, memory, and files.
     *
     * @param history
     *            the history of the training
     * @param files
     *            the written files by their description, in the order of the lines
     * @return the lines, without line separators
     */
    public static List<String> lines(History history, Map<String, Path> files) {
        List<String> lines = new ArrayList<>();
        lines.add(end(history));
        history.best().ifPresent(best -> {
            Evaluation last = history.evaluations().getLast();
            lines.add("best validation " + evaluation(best));
            if (last.step() != best.step()) {
                lines.add("last validation " + evaluation(last));
            }
        });
        speed(history, lines);
        int width = files.keySet().stream().mapToInt(String::length).max().orElse(0);
        files.forEach((what, file) -> lines.add(what + " ".repeat(width - what.length() + 2) + file));
        return lines;
    }

    private static String end(History history) {
        String how = switch (history.end().orElse(null)) {
            case End.DONE -> "done";
            case End.EARLY -> "ended early, since the validation loss no longer fell";
            case End.STOPPED -> "stopped, can be continued";
            case null -> "failed";
        };
        return how + ": " + Figures.count(history.trainedSteps(), "step") + " in "
                + Figures.time(history.elapsedSeconds())
                + (history.lastStep() == history.trainedSteps()
                        ? ""
                        : ", " + Figures.whole(history.lastStep()) + " in all");
    }

    private static String evaluation(Evaluation evaluation) {
        StringBuilder out = new StringBuilder("loss ").append(Figures.value(evaluation.loss()));
        evaluation.metrics()
                .forEach((name, value) -> out.append("  ").append(name).append(' ').append(Figures.value(value)));
        return out.append("  after step ").append(Figures.whole(evaluation.step())).toString();
    }

    private static void speed(History history, List<String> lines) {
        if (history.trainedSteps() == 0) {
            return;
        }
        String unit = history.training().map(Started::unit).orElse("units");
        lines.add(Figures.speed(history.meanThroughput()) + " " + unit + "/s on average, "
                + Figures.bytes(history.peakMemory())
                + " of memory at most");
    }
}
