package io.seriatim.train;

import io.seriatim.graph.Network;
import io.seriatim.graph.format.NamedResults;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A network with its programs for training, evaluation and inference.
 *
 * @param name
 *            the name for display, such as {@code lenet}
 * @param main
 *            the program of one step: forward, backward, optimizer
 * @param startup
 *            the program that initialises the parameters
 * @param evaluation
 *            the forward part in inference mode: without dropout and optimizer
 * @param feeds
 *            the variables that the fields of the data are fed to, in order
 * @param loss
 *            the variable with the loss: one element, the mean over the batch
 * @param metrics
 *            further results: the name for display, and the variable with one element, the mean over the batch
 * @param schedules
 *            the schedules of learning rates, by the variable that is set before each step
 * @param inputs
 *            the feeds of the saved inference model, in order
 * @param outputs
 *            the fetches of the saved inference model, in order
 * @param unit
 *            the unit of throughput, such as {@code tokens}
 * @param unitsPerExample
 *            the number of units of an example, at least 1
 * @param values
 *            the initial values of variables that the startup program does not set, by name, such as the parameters
 *            of a loaded model; a training changes copies of them
 * @param named
 *            the variables of {@code main} by the names that the user gave them; empty for a model that was not made by
 *            {@link #of}
 */
public record Model(String name, Program main, Program startup, Program evaluation, List<String> feeds, String loss,
        Map<String, String> metrics, Map<String, Schedule> schedules, List<String> inputs, List<String> outputs,
        String unit, int unitsPerExample, Map<String, Tensor> values, Map<String, String> named) {
    /** Copies lists and maps. */
    public Model {
        named = Collections.unmodifiableMap(new LinkedHashMap<>(named));
        feeds = List.copyOf(feeds);
        metrics = Collections.unmodifiableMap(new LinkedHashMap<>(metrics));
        schedules = Map.copyOf(schedules);
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    /**
     * A network whose startup program initialises all parameters.
     *
     * @param name
     *            the name for display, such as {@code lenet}
     * @param main
     *            the program of one step: forward, backward, optimizer
     * @param startup
     *            the program that initialises the parameters
     * @param evaluation
     *            the forward part in inference mode: without dropout and optimizer
     * @param feeds
     *            the variables that the fields of the data are fed to, in order
     * @param loss
     *            the variable with the loss: one element, the mean over the batch
     * @param metrics
     *            further results: the name for display, and the variable with one element, the mean over the batch
     * @param schedules
     *            the schedules of learning rates, by the variable that is set before each step
     * @param inputs
     *            the feeds of the saved inference model, in order
     * @param outputs
     *            the fetches of the saved inference model, in order
     * @param unit
     *            the unit of throughput, such as {@code tokens}
     * @param unitsPerExample
     *            the number of units of an example, at least 1
     */
    public Model(String name, Program main, Program startup, Program evaluation, List<String> feeds, String loss,
            Map<String, String> metrics, Map<String, Schedule> schedules, List<String> inputs, List<String> outputs,
            String unit, int unitsPerExample) {
        this(name, main, startup, evaluation, feeds, loss, metrics, schedules, inputs, outputs, unit, unitsPerExample,
                Map.of());
    }

    /**
     * A model with initial values.
     *
     * @param name
     *            the name for display, such as {@code lenet}
     * @param main
     *            the program of one step: forward, backward, optimizer
     * @param startup
     *            the program that initialises the parameters
     * @param evaluation
     *            the forward part in inference mode: without dropout and optimizer
     * @param feeds
     *            the variables that the fields of the data are fed to, in order
     * @param loss
     *            the variable with the loss: one element, the mean over the batch
     * @param metrics
     *            further results: the name for display, and the variable with one element, the mean over the batch
     * @param schedules
     *            the schedules of learning rates, by the variable that is set before each step
     * @param inputs
     *            the feeds of the saved inference model, in order
     * @param outputs
     *            the fetches of the saved inference model, in order
     * @param unit
     *            the unit of throughput, such as {@code tokens}
     * @param unitsPerExample
     *            the number of units of an example, at least 1
     * @param values
     *            the initial values of variables that the startup program does not set, by name
     */
    public Model(String name, Program main, Program startup, Program evaluation, List<String> feeds, String loss,
            Map<String, String> metrics, Map<String, Schedule> schedules, List<String> inputs, List<String> outputs,
            String unit, int unitsPerExample, Map<String, Tensor> values) {
        this(name, main, startup, evaluation, feeds, loss, metrics, schedules, inputs, outputs, unit, unitsPerExample,
                values, Map.of());
    }

    /**
     * A model of a network: {@code Model.of("people", network).loss("loss").metric("accuracy").predicts("classes")}.
     * The names are those of the network's outputs. The feeds are the variables that the network declares by
     * {@code Graph.data}, in that order; the evaluation program is its copy for inference. Without further calls the
     * loss is the output {@code loss}, there are no metrics, and the saved model computes all other outputs.
     *
     * @param name
     *            the name for display, such as {@code lenet}
     * @param network
     *            a network that an optimizer trains
     * @return the model
     */
    public static Model of(String name, Network network) {
        Map<String, String> named = network.outputNames();
        Model model = new Model(name, network.main(), network.startup(), network.main().copyForTest(),
                network.feeds(),
                named.getOrDefault("loss", ""), Map.of(), network.schedules(), List.of(), List.of(), "examples", 1,
                network.values(), named);
        List<String> others = named.keySet().stream().filter(each -> !each.equals("loss")).toList();
        return others.isEmpty() ? model : model.predicts(others.toArray(String[]::new));
    }

    /**
     * Returns the model with another loss.
     *
     * @param output
     *            the network's name of the output: one element, the mean over the batch
     * @return a copy
     * @throws IllegalArgumentException
     *             if the network has no such output
     */
    public Model loss(String output) {
        return with(variable(output), metrics).without(output);
    }

    /**
     * Returns the model with one more metric, which is shown under the name of the output.
     *
     * @param output
     *            the network's name of the output: one element, the mean over the batch
     * @return a copy
     * @throws IllegalArgumentException
     *             if the network has no such output
     */
    public Model metric(String output) {
        Map<String, String> more = new LinkedHashMap<>(metrics);
        more.put(output, variable(output));
        return with(loss, more).without(output);
    }

    private Model with(String otherLoss, Map<String, String> otherMetrics) {
        return new Model(name, main, startup, evaluation, feeds, otherLoss, otherMetrics, schedules, inputs, outputs,
                unit, unitsPerExample, values, named);
    }

    /** Returns the model whose saved form does not compute an output, unless it is the only one. */
    private Model without(String output) {
        List<String> others = results().stream().filter(each -> !each.equals(output)).toList();
        return others.isEmpty() ? this : predicts(others.toArray(String[]::new));
    }

    /** Returns the network's names of the outputs that the saved model computes. */
    private List<String> results() {
        return outputs.stream().map(output -> named.containsKey(output)
                ? output
                : named.keySet().stream().filter(each -> output.equals(named.get(each))).findFirst().orElseThrow())
                .toList();
    }

    /**
     * Returns the model with other results of the saved inference model. They are saved under these names, as far as no
     * other variable has them, and the saved model is fed only what they need.
     *
     * @param results
     *            the network's names of the outputs
     * @return a copy
     * @throws IllegalArgumentException
     *             if the network has no such output, or none is named
     */
    public Model predicts(String... results) {
        List.of(results).forEach(this::variable);
        // Training and evaluation fetch these by the same names.
        Set<String> kept = new HashSet<>(metrics.values());
        kept.add(loss);
        NamedResults saved = NamedResults.of(main.copyForTest(), feeds, named, List.of(results), kept);
        return new Model(name, main, startup, saved.program(), feeds, loss, metrics, schedules, saved.feeds(),
                saved.fetches(), unit, unitsPerExample, values, named);
    }

    /**
     * Returns the model with another unit of throughput.
     *
     * @param shown
     *            the unit, such as {@code tokens}
     * @param perExample
     *            the number of units of an example, at least 1
     * @return a copy
     */
    public Model unit(String shown, int perExample) {
        return new Model(name, main, startup, evaluation, feeds, loss, metrics, schedules, inputs, outputs, shown,
                perExample, values, named);
    }

    private String variable(String output) {
        String variable = named.get(output);
        if (variable == null) {
            throw new IllegalArgumentException(named.isEmpty()
                    ? "The model '" + name + "' was not made of a network by Model.of, so that '" + output
                            + "' names nothing"
                    : "The network of '" + name + "' has no output '" + output + "': its outputs are "
                            + named.keySet());
        }
        return variable;
    }

    /**
     * Returns the model with other schedules of learning rates.
     *
     * @param other
     *            the schedules, by the variable that is set before each step
     * @return a copy
     */
    public Model withSchedules(Map<String, Schedule> other) {
        return new Model(name, main, startup, evaluation, feeds, loss, metrics, other, inputs, outputs, unit,
                unitsPerExample, values, named);
    }
}
