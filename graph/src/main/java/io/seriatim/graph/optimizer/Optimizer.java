package io.seriatim.graph.optimizer;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.util.Ranges;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rule that updates parameters from their gradients. Immutable: settings make copies. Names, order and defaults are
 * Paddle's. Learning rates, and numbers added or multiplied, are finite and from 0 on; rates at which means change are
 * from 0 to below 1.
 */
public abstract sealed class Optimizer permits Sgd, Momentum, Adam, AdamW, Adagrad, Adadelta, Adamax, RmsProp, Lamb {
    private final Settings settings;

    Optimizer(Settings settings) {
        this.settings = settings;
    }

    /**
     * The settings that all optimizers have.
     *
     * @param rate
     *            learning rate, at least 0
     * @param schedule
     *            of the learning rate; null for a constant one
     * @param clip
     *            of gradients; null for none
     * @param decay
     *            of parameters that have none of their own; null for none
     * @param multiPrecision
     *            whether 16-bit parameters have a copy in float32
     * @param precision
     *            mixed precision; null for none
     */
    public record Settings(double rate, @Nullable Schedule schedule, @Nullable Clip clip, @Nullable Decay decay,
            boolean multiPrecision,
            @Nullable MixedPrecision precision) {
        static Settings of(double rate) {
            return new Settings(Ranges.notNegative("A learning rate", rate), null, null, null, false, null);
        }

        static Settings of(Schedule schedule) {
            double first = Objects.requireNonNull(schedule, "schedule").rate(0);
            return new Settings(Ranges.notNegative("The learning rate of step 0", first), schedule, null, null, false,
                    null);
        }
    }

    /**
     * A variable that an optimizer keeps for each parameter.
     *
     * @param name
     *            is put behind the parameter's name
     * @param slot
     *            its input slot; the output slot has Out behind it
     * @param initial
     *            what it begins with
     * @param single
     *            whether it has one element, else the parameter's shape
     * @param written
     *            whether the operation writes it
     */
    public record Accumulator(String name, String slot, double initial, boolean single, boolean written) {
    }

    /**
     * The settings that all optimizers have.
     *
     * @return as they were made
     */
    public final Settings settings() {
        return settings;
    }

    abstract Optimizer with(Settings other);

    /**
     * The type of the operation that updates a parameter.
     *
     * @return such as adam
     */
    public abstract String type();

    /**
     * The variables that the optimizer keeps for each parameter.
     *
     * @return in the order of the operation's slots
     */
    public abstract List<Accumulator> accumulators();

    /**
     * Sets the attributes of the operation that updates a parameter.
     *
     * @param op
     *            the operation
     * @param parameter
     *            its name
     * @param decay
     *            that holds for it, or null
     */
    public void attributes(OpDesc.Builder op, String parameter, @Nullable Decay decay) {
        // The simplest optimizer keeps none.
    }

    /**
     * Whether the operation adds a regularisation itself.
     *
     * @param decay
     *            the regularisation
     * @return false if operations of its own are needed
     */
    public boolean fuses(Decay decay) {
        return false;
    }

    /**
     * Whether the operation can be told to do nothing, when gradients are not finite.
     *
     * @return whether it has a slot for that
     */
    public boolean canSkip() {
        return false;
    }

    /**
     * Clips gradients.
     *
     * @param clip
     *            how
     * @return a copy
     */
    public final Optimizer clip(Clip clip) {
        return with(new Settings(settings.rate, settings.schedule, Objects.requireNonNull(clip, "clip"), settings.decay,
                settings.multiPrecision, settings.precision));
    }

    /**
     * Regularises parameters that have no regularisation of their own.
     *
     * @param decay
     *            how
     * @return a copy
     */
    public final Optimizer decay(Decay decay) {
        return with(
                new Settings(settings.rate, settings.schedule, settings.clip, Objects.requireNonNull(decay, "decay"),
                        settings.multiPrecision, settings.precision));
    }

    /**
     * Keeps a float32 copy of each 16-bit parameter, on which the steps are done.
     *
     * @return a copy
     */
    public final Optimizer multiPrecision() {
        return with(new Settings(settings.rate, settings.schedule, settings.clip, settings.decay, true,
                settings.precision));
    }

    /**
     * Computes in 16 bits what bears it; parameters stay float32.
     *
     * @param precision
     *            in which type, and how gradients are kept from vanishing
     * @return a copy
     */
    public final Optimizer precision(MixedPrecision precision) {
        return with(
                new Settings(settings.rate, settings.schedule, settings.clip, settings.decay, settings.multiPrecision,
                        Objects.requireNonNull(precision, "precision")));
    }
}
