package io.seriatim.train.model;

import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Program;
import io.seriatim.train.Model;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Makes models of training programs that were read from files, such as those of PaddlePaddle: finds out what the loss
 * is, what is fed and what a saved model gives.
 */
public final class ProgramModel {
    private ProgramModel() {
    }

    /**
     * Makes a model.
     *
     * @param name
     *            for people
     * @param main
     *            forward, backward and optimizer; it is not changed
     * @param startup
     *            sets its parameters
     * @param feeds
     *            the variable of each field of the data; if there are none, {@link #feeds} finds them
     * @param loss
     *            the variable that is minimised; null if {@link #loss} shall find it
     * @return the model; its inference model computes what the loss is computed of beside labels
     * @throws IllegalArgumentException
     *             if the program does not train, or something cannot be found out; the message says what to give
     */
    public static Model of(String name, Program main, Program startup, List<String> feeds, @Nullable String loss) {
        return new ProgramParts(main).model(name, startup, feeds, loss);
    }

    /**
     * The variable that is minimised: the one at which backward begins, else the only one that the program fetches.
     *
     * @param main
     *            a training program
     * @return its name
     * @throws IllegalArgumentException
     *             if there are none or several
     */
    public static String loss(Program main) {
        return new ProgramParts(main).loss();
    }

    /**
     * The variables that the program must be fed.
     *
     * @param main
     *            a training program
     * @return names, in the order of the program's feed operations, or else in that in which operations use them first
     */
    public static List<String> feeds(Program main) {
        return new ProgramParts(main).feeds();
    }

    /**
     * The variable that outlives runs and that the optimizer's operations read as learning rate.
     *
     * @param main
     *            a training program
     * @return the one that most operations read; none if the program computes its rate itself or has no optimizer
     */
    public static Optional<String> rate(Program main) {
        return new ProgramParts(main).rate();
    }

    /**
     * A model whose rate is set before each step; else it stays what the startup program sets, also where
     * PaddlePaddle's own schedulers would change it, which are no part of a program.
     *
     * @param model
     *            of a training program
     * @param schedule
     *            the rate of each step
     * @return a copy
     * @throws IllegalArgumentException
     *             if the program computes its rate itself
     */
    public static Model scheduled(Model model, Schedule schedule) {
        String rate = rate(model.main())
                .orElseThrow(() -> new IllegalArgumentException("The learning rate of '" + model.name()
                        + "' cannot be set, as the program computes it itself: train it without a rate of your own"));
        return new Model(model.name(), model.main(), model.startup(), model.evaluation(), model.feeds(), model.loss(),
                model.metrics(),
                Map.of(rate, schedule), model.inputs(), model.outputs(), model.unit(), model.unitsPerExample());
    }
}
