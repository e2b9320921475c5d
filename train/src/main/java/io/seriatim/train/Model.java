package io.seriatim.train;

import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Program;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A network as it is trained, evaluated and saved.
 *
 * @param name
 *            for people, such as {@code lenet}
 * @param main
 *            one step: forward, backward, optimizer
 * @param startup
 *            sets its parameters
 * @param evaluation
 *            the forward part only, in the form for inference: no dropout, no optimizer
 * @param feeds
 *            the variable of each field of the data
 * @param loss
 *            the variable of one element that is minimised, a mean over the batch
 * @param metrics
 *            what else is of interest: the name for people, and the variable of one element, a mean over the batch
 * @param schedules
 *            of learning rates, by the variable that is set before each step
 * @param inputs
 *            what the saved inference model is given, in order
 * @param outputs
 *            what it computes, in order
 * @param unit
 *            what throughput counts, such as {@code tokens}
 * @param unitsPerExample
 *            how many of them an example has, from 1
 */
public record Model(String name, Program main, Program startup, Program evaluation, List<String> feeds, String loss,
        Map<String, String> metrics, Map<String, Schedule> schedules, List<String> inputs, List<String> outputs,
        String unit,
        int unitsPerExample) {
    /** Copies lists and maps. */
    public Model {
        feeds = List.copyOf(feeds);
        metrics = Collections.unmodifiableMap(new LinkedHashMap<>(metrics));
        schedules = Map.copyOf(schedules);
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }
}
