package io.seriatim.graph;

import io.seriatim.graph.format.Definition;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * A network: the main program, which runs many times, the startup program, which sets the parameters once before, and
 * the outputs that the user asks for.
 *
 * @param main
 *            what is run many times
 * @param startup
 *            what is run once before
 * @param outputs
 *            what a user wants to see
 * @param schedules
 *            the schedules of learning rates, by the variable that is to be set before each run
 * @param values
 *            the values of variables that are set before the startup program runs, by name: the parameters of a loaded
 *            model. They are not to be changed, so a program that trains them gets copies
 * @param feeds
 *            the variables that are fed, in the order of their declaration
 */
public record Network(Program main, Program startup, Outputs outputs, Map<String, Schedule> schedules,
        Map<String, Tensor> values, List<String> feeds)
        implements
            Definition {
    /** Copies the maps. */
    public Network {
        feeds = List.copyOf(feeds);
        schedules = Map.copyOf(schedules);
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    /**
     * A network whose startup program sets all parameters.
     *
     * @param main
     *            what is run many times
     * @param startup
     *            what is run once before
     * @param outputs
     *            what a user wants to see
     * @param schedules
     *            the schedules of learning rates, by the variable that is to be set before each run
     */
    public Network(Program main, Program startup, Outputs outputs, Map<String, Schedule> schedules) {
        this(main, startup, outputs, schedules, Map.of());
    }

    /**
     * A network with values. What is fed is in the order of the names.
     *
     * @param main
     *            what is run many times
     * @param startup
     *            what is run once before
     * @param outputs
     *            what a user wants to see
     * @param schedules
     *            the schedules of learning rates, by the variable that is to be set before each run
     * @param values
     *            the values of variables that are set before the startup program runs, by name
     */
    public Network(Program main, Program startup, Outputs outputs, Map<String, Schedule> schedules,
            Map<String, Tensor> values) {
        this(main, startup, outputs, schedules, values, fed(main));
    }

    /** The variables of a program that are fed, in its order. */
    static List<String> fed(Program main) {
        return main.global().vars().stream().filter(desc -> Boolean.TRUE.equals(desc.needCheckFeed()))
                .map(VarDesc::name).toList();
    }

    /**
     * Describes a network.
     *
     * @param definition
     *            adds variables and operations
     * @return the network
     */
    public static Network define(Function<Graph, Outputs> definition) {
        return define(0, definition);
    }

    /**
     * Describes a network whose random numbers are the same each time.
     *
     * @param seed
     *            of initialisers and dropout that have none of their own; 0 for none
     * @param definition
     *            adds variables and operations
     * @return the network
     * @throws IllegalArgumentException
     *             if something does not fit; the message names the operation, its variables and their shapes
     */
    public static Network define(long seed, Function<Graph, Outputs> definition) {
        Graph graph = new Graph(seed);
        Outputs outputs = definition.apply(graph);
        return graph.finish(outputs);
    }

    /**
     * Describes a network that begins with a loaded model: its operations are in their form for training, and the
     * definition adds a loss and an optimizer. {@link Graph#var} gives the model's variables, such as its feeds and
     * fetches, by their names.
     *
     * <p>
     * The model's floating-point parameters that have dimensions are trained, unless the definition names others.
     * Running statistics of batch normalisation are updated, but not trained. Batch normalisation and dropout are in
     * training mode if the model still has them as operations; {@link Program#copyForTest} undoes that. The startup
     * program does not set the model's parameters: set {@link #values} before it runs.
     *
     * @param model
     *            the model, which is not changed, and stays open as long as the network's values are needed
     * @param definition
     *            adds variables and operations to those of the model
     * @return the network
     * @throws IllegalArgumentException
     *             if something does not fit, or an operation between a trained parameter and the loss has no gradient;
     *             the message names all such operations
     */
    public static Network from(InferenceModel model, Function<Graph, Outputs> definition) {
        return from(0, model, definition);
    }

    /**
     * Describes a network that begins with a loaded model and whose random numbers are the same each time, see
     * {@link #from(InferenceModel, Function)}.
     *
     * @param seed
     *            of initialisers and dropout that have none of their own; 0 for none
     * @param model
     *            the model, which is not changed, and stays open as long as the network's values are needed
     * @param definition
     *            adds variables and operations to those of the model
     * @return the network
     * @throws IllegalArgumentException
     *             if something does not fit, or an operation between a trained parameter and the loss has no gradient;
     *             the message names all such operations
     */
    public static Network from(long seed, InferenceModel model, Function<Graph, Outputs> definition) {
        Graph graph = new Graph(seed, LoadedProgram.of(model));
        Outputs outputs = definition.apply(graph);
        Network network = graph.finish(outputs);
        Set<String> feeds = new LinkedHashSet<>(model.feeds());
        feeds.addAll(network.feeds);
        return new Network(network.main, network.startup, network.outputs, network.schedules, network.values,
                List.copyOf(feeds));
    }

    @Override
    public Map<String, String> outputNames() {
        Map<String, String> names = new LinkedHashMap<>();
        outputs.values().forEach((name, value) -> names.put(name, value.name()));
        return names;
    }

    /** {@inheritDoc} They are those that the startup program sets, after {@link #values} were set. */
    @Override
    public Map<String, Tensor> initialValues() {
        Interpreter interpreter = Interpreter.of(Kernels.system());
        values.forEach(interpreter::set);
        interpreter.run(startup, Map.of(), List.of());
        Map<String, Tensor> initial = new LinkedHashMap<>();
        interpreter.names().forEach(name -> initial.put(name, interpreter.get(name)));
        return initial;
    }
}
