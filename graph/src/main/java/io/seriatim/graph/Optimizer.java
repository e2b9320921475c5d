package io.seriatim.graph;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How parameters follow their gradients. Immutable: settings make copies. Names, order and defaults are Paddle's.
 * Learning rates, and numbers added or multiplied, are finite and from 0 on; rates at which means change are from 0 to
 * below 1.
 */
public abstract sealed class Optimizer permits Sgd, Momentum, Adam, AdamW, Adagrad, Adadelta, Adamax, RmsProp, Lamb {
    private final Settings settings;

    Optimizer(Settings settings) {
        this.settings = settings;
    }

    /** What all optimizers have. */
    record Settings(double rate, @Nullable Schedule schedule, @Nullable Clip clip, @Nullable Decay decay,
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
    record Accumulator(String name, String slot, double initial, boolean single, boolean written) {
    }

    final Settings settings() {
        return settings;
    }

    abstract Optimizer with(Settings other);

    abstract String type();

    abstract List<Accumulator> accumulators();

    /** Sets the attributes of a parameter's operation. */
    void attributes(OpDesc.Builder op, String parameter, @Nullable Decay decay) {
        // The simplest has none.
    }

    /** Whether the operation adds a regularisation itself. */
    boolean fuses(Decay decay) {
        return false;
    }

    /** Whether the operation can be told to do nothing, when gradients are not finite. */
    boolean canSkip() {
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
