package io.seriatim.graph.format;

import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;

/** What a model is made of that is built here, not loaded: a network's program, its outputs and its values. */
public interface Definition {
    /**
     * The program of the network.
     *
     * @return what is run many times
     */
    Program main();

    /**
     * The variables that are fed.
     *
     * @return in the order of their declaration
     */
    List<String> feeds();

    /**
     * The schedules of learning rates.
     *
     * @return by the variable that is to be set before each run
     */
    Map<String, Schedule> schedules();

    /**
     * The variables of the outputs.
     *
     * @return by the names that the user gave them, in order
     */
    Map<String, String> outputNames();

    /**
     * The values of persistable variables before any training.
     *
     * @return new tensors by name
     */
    Map<String, Tensor> initialValues();
}
