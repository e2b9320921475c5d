package io.seriatim.graph.optimizer;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.util.Ranges;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Adamax (Kingma, Ba, 2015). Immutable. */
public final class Adamax extends Optimizer {
    private final double beta1;
    private final double beta2;
    private final double epsilon;

    private Adamax(Settings settings, double beta1, double beta2, double epsilon) {
        super(settings);
        this.beta1 = Ranges.decayRate("β₁ of Adamax", beta1);
        this.beta2 = Ranges.decayRate("β₂ of Adamax", beta2);
        this.epsilon = Ranges.notNegative("ε of Adamax", epsilon);
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate
     * @return the optimizer
     */
    public static Adamax of(double rate) {
        return new Adamax(Settings.of(rate), 0.9, 0.999, 1e-8);
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate of each step
     * @return the optimizer
     */
    public static Adamax of(Schedule rate) {
        return new Adamax(Settings.of(rate), 0.9, 0.999, 1e-8);
    }

    /**
     * Sets how slowly the mean of gradients changes, from 0 to 1.
     *
     * @param value
     *            how slowly the mean of gradients changes, from 0 to 1; 0.9 unless set
     * @return a copy
     */
    public Adamax beta1(double value) {
        return new Adamax(settings(), value, beta2, epsilon);
    }

    /**
     * Sets how slowly the largest gradient fades, from 0 to 1.
     *
     * @param value
     *            how slowly the largest gradient fades, from 0 to 1; 0.999 unless set
     * @return a copy
     */
    public Adamax beta2(double value) {
        return new Adamax(settings(), beta1, value, epsilon);
    }

    /**
     * Sets ε, which is added to that.
     *
     * @param value
     *            is added to that; 1e-8 unless set
     * @return a copy
     */
    public Adamax epsilon(double value) {
        return new Adamax(settings(), beta1, beta2, value);
    }

    @Override
    Adamax with(Settings settings) {
        return new Adamax(settings, beta1, beta2, epsilon);
    }

    @Override
    public String type() {
        return "adamax";
    }

    @Override
    public List<Accumulator> accumulators() {
        return List.of(new Accumulator("moment", "Moment", 0, false, true),
                new Accumulator("inf_norm", "InfNorm", 0, false, true),
                new Accumulator("beta1_pow_acc", "Beta1Pow", beta1, true, false));
    }

    @Override
    public void attributes(OpDesc.Builder op, String parameter, @Nullable Decay decay) {
        op.attr("beta1", (float) beta1).attr("beta2", (float) beta2).attr("epsilon", (float) epsilon);
    }
}
