package io.seriatim.train;

import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
 */
public record Model(String name, Program main, Program startup, Program evaluation, List<String> feeds, String loss,
        Map<String, String> metrics, Map<String, Schedule> schedules, List<String> inputs, List<String> outputs,
        String unit, int unitsPerExample, Map<String, Tensor> values) {
    /** Copies lists and maps. */
    public Model {
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
     * Returns the model with other schedules of learning rates.
     *
     * @param other
     *            the schedules, by the variable that is set before each step
     * @return a copy
     */
    public Model withSchedules(Map<String, Schedule> other) {
        return new Model(name, main, startup, evaluation, feeds, loss, metrics, other, inputs, outputs, unit,
                unitsPerExample, values);
    }
}
