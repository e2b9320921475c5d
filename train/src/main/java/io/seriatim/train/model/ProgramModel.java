package io.seriatim.train.model;

import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Program;
import io.seriatim.train.Model;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Creates models from training programs in files, such as PaddlePaddle's: it finds the loss, the feeds and the outputs
 * of the inference model.
 */
public final class ProgramModel {
    private ProgramModel() {
    }

    /**
     * Creates a model.
     *
     * @param name
     *            the name for display
     * @param main
     *            the program with forward, backward and optimizer, which is not changed
     * @param startup
     *            the program that initialises the parameters
     * @param feeds
     *            the variables of the fields of the data; if the list is empty, {@link #feeds} finds them
     * @param loss
     *            the variable that is minimised, or null to find it with {@link #loss}
     * @return the model; its inference model computes the predictions
     * @throws IllegalArgumentException
     *             if the program has no optimizer, or a part cannot be found; the message says what to specify
     */
    public static Model of(String name, Program main, Program startup, List<String> feeds, @Nullable String loss) {
        return new ProgramParts(main).model(name, startup, feeds, loss);
    }

    /**
     * Finds the loss: the variable at which backward begins, or otherwise the only variable that the program fetches.
     *
     * @param main
     *            a training program
     * @return the name of the loss
     * @throws IllegalArgumentException
     *             if there is no such variable, or several
     */
    public static String loss(Program main) {
        return new ProgramParts(main).loss();
    }

    /**
     * Finds the variables that must be fed.
     *
     * @param main
     *            a training program
     * @return their names, in the order of the program's feed operations, or otherwise in the order of their first use
     */
    public static List<String> feeds(Program main) {
        return new ProgramParts(main).feeds();
    }

    /**
     * Finds the persistable variable that the optimizer's operations read as learning rate.
     *
     * @param main
     *            a training program
     * @return the variable that most operations read; empty if the program computes the rate itself or has no optimizer
     */
    public static Optional<String> rate(Program main) {
        return new ProgramParts(main).rate();
    }

    /**
     * Returns a model with a learning rate schedule. Without one the rate stays as the startup program sets it, because
     * PaddlePaddle's schedulers are not part of a program.
     *
     * @param model
     *            the model of a training program
     * @param schedule
     *            the rate of each step
     * @return a copy
     * @throws IllegalArgumentException
     *             if the program computes its rate itself
     */
    public static Model scheduled(Model model, Schedule schedule) {
        String rate = rate(model.main())
                .orElseThrow(() -> new IllegalArgumentException("The learning rate of '" + model.name()
                        + "' cannot be set, because the program computes it itself: train without --rate"));
        return model.withSchedules(Map.of(rate, schedule));
    }
}
