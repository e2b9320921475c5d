package io.seriatim.train.model;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.Program;
import io.seriatim.train.Model;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * The common part of all networks of this package. The evaluation program is copied after the loss and before the
 * backward part. The last feed is the label, which the saved model does not take.
 *
 * @param name
 *            the name of the output in the saved model
 * @param output
 *            the output of the saved model
 * @param loss
 *            the mean over the batch
 * @param metrics
 *            further results, by the name for display
 */
record Training(String name, Value output, Value loss, Map<String, Value> metrics) {
    /** Builds a model from a function that appends the output, the loss and the metrics. */
    static Model model(String name, List<String> feeds, Recipe recipe, long steps, String unit, int unitsPerExample,
            Function<Graph, Training> definition) {
        List<Training> parts = new ArrayList<>();
        List<Program> evaluations = new ArrayList<>();
        Network network = Network.define(graph -> {
            Training training = definition.apply(graph);
            parts.add(training);
            evaluations.add(graph.main().copyForTest());
            graph.minimize(training.loss, recipe.optimizer(steps,
                    parameter -> Objects.requireNonNull(graph.main().global().var(parameter)).tensor().dims()
                            .size() > 1));
            return Outputs.of("loss", training.loss);
        });
        Training training = parts.getFirst();
        Map<String, String> names = names(network.main(), training);
        Program main = network.main().renamed(names);
        // The program has the seed, not each operation: with a seed of its own an operation would draw the same numbers
        // in every run.
        main.randomSeed(recipe.seed());
        network.startup().randomSeed(recipe.seed());
        Map<String, String> metrics = new LinkedHashMap<>();
        training.metrics.forEach((metric, value) -> metrics.put(metric, value.name()));
        String output = training.output.name();
        return new Model(name, main, network.startup(), evaluations.getFirst().renamed(names), feeds,
                training.loss.name(), metrics, network.schedules(), feeds.subList(0, feeds.size() - 1),
                List.of(names.getOrDefault(output, output)), unit, unitsPerExample);
    }

    /** The variables to rename: the output, unless a field of the data has its name. */
    private static Map<String, String> names(Program main, Training training) {
        boolean taken = main.blocks().stream().anyMatch(block -> block.var(training.name) != null);
        return taken ? Map.of() : Map.of(training.output.name(), training.name);
    }
}
