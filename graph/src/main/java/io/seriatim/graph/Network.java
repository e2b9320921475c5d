package io.seriatim.graph;

import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Program;
import java.util.Map;
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
 */
public record Network(Program main, Program startup, Outputs outputs, Map<String, Schedule> schedules) {
    /** Copies the map. */
    public Network {
        schedules = Map.copyOf(schedules);
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
}
