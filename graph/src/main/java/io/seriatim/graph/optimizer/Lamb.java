package io.seriatim.graph.optimizer;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.util.Ranges;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** LAMB (You et al., 2020): Adam's step scaled by ‖p‖/‖step‖. Immutable. */
public final class Lamb extends Optimizer {
    private final double weightDecay;
    private final double beta1;
    private final double beta2;
    private final double epsilon;
    private final Predicate<String> decays;

    private Lamb(Settings settings, double weightDecay, double beta1, double beta2, double epsilon,
            Predicate<String> decays) {
        super(settings);
        this.weightDecay = Ranges.notNegative("The decay of Lamb", weightDecay);
        this.beta1 = Ranges.decayRate("β₁ of Lamb", beta1);
        this.beta2 = Ranges.decayRate("β₂ of Lamb", beta2);
        this.epsilon = Ranges.notNegative("ε of Lamb", epsilon);
        this.decays = Objects.requireNonNull(decays, "decays");
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate
     * @return the optimizer
     */
    public static Lamb of(double rate) {
        return new Lamb(Settings.of(rate), 0.01, 0.9, 0.999, 1e-6, _ -> true);
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate of each step
     * @return the optimizer
     */
    public static Lamb of(Schedule rate) {
        return new Lamb(Settings.of(rate), 0.01, 0.9, 0.999, 1e-6, _ -> true);
    }

    /**
     * Sets the decay.
     *
     * @param value
     *            the decay; 0.01 unless set
     * @return a copy
     */
    public Lamb weightDecay(double value) {
        return new Lamb(settings(), value, beta1, beta2, epsilon, decays);
    }

    /**
     * Sets how slowly the mean of gradients changes, from 0 to 1.
     *
     * @param value
     *            how slowly the mean of gradients changes, from 0 to 1; 0.9 unless set
     * @return a copy
     */
    public Lamb beta1(double value) {
        return new Lamb(settings(), weightDecay, value, beta2, epsilon, decays);
    }

    /**
     * Sets how slowly the mean of their squares changes, from 0 to 1.
     *
     * @param value
     *            how slowly the mean of their squares changes, from 0 to 1; 0.999 unless set
     * @return a copy
     */
    public Lamb beta2(double value) {
        return new Lamb(settings(), weightDecay, beta1, value, epsilon, decays);
    }

    /**
     * Sets ε, which is added to the root of that.
     *
     * @param value
     *            is added to the root of that; 1e-6 unless set
     * @return a copy
     */
    public Lamb epsilon(double value) {
        return new Lamb(settings(), weightDecay, beta1, beta2, value, decays);
    }

    /**
     * Sets which parameters, by name, decay.
     *
     * @param value
     *            which parameters, by name, decay; all unless set
     * @return a copy
     */
    public Lamb decays(Predicate<String> value) {
        return new Lamb(settings(), weightDecay, beta1, beta2, epsilon, value);
    }

    @Override
    Lamb with(Settings settings) {
        return new Lamb(settings, weightDecay, beta1, beta2, epsilon, decays);
    }

    @Override
    public String type() {
        return "lamb";
    }

    @Override
    public List<Accumulator> accumulators() {
        return List.of(new Accumulator("moment1", "Moment1", 0, false, true),
                new Accumulator("moment2", "Moment2", 0, false, true),
                new Accumulator("beta1_pow_acc", "Beta1Pow", beta1, true, true),
                new Accumulator("beta2_pow_acc", "Beta2Pow", beta2, true, true));
    }

    @Override
    public void attributes(OpDesc.Builder op, String parameter, @Nullable Decay decay) {
        op.attr("beta1", (float) beta1).attr("beta2", (float) beta2).attr("epsilon", (float) epsilon)
                .attr("weight_decay", decays.test(parameter) ? (float) weightDecay : 0f).attr("always_adapt", false);
    }

    @Override
    public boolean canSkip() {
        return true;
    }
}
