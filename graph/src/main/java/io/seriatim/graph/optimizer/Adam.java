package io.seriatim.graph.optimizer;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.util.Ranges;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Adam (Kingma, Ba, 2015). Immutable. */
public final class Adam extends Optimizer {
    private final double beta1;
    private final double beta2;
    private final double epsilon;
    private final boolean lazy;

    private Adam(Settings settings, double beta1, double beta2, double epsilon, boolean lazy) {
        super(settings);
        this.beta1 = Ranges.decayRate("β₁ of Adam", beta1);
        this.beta2 = Ranges.decayRate("β₂ of Adam", beta2);
        this.epsilon = Ranges.notNegative("ε of Adam", epsilon);
        this.lazy = lazy;
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate
     * @return the optimizer
     */
    public static Adam of(double rate) {
        return new Adam(Settings.of(rate), 0.9, 0.999, 1e-8, false);
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate of each step
     * @return the optimizer
     */
    public static Adam of(Schedule rate) {
        return new Adam(Settings.of(rate), 0.9, 0.999, 1e-8, false);
    }

    /**
     * Sets how slowly the mean of gradients changes, from 0 to 1.
     *
     * @param value
     *            how slowly the mean of gradients changes, from 0 to 1; 0.9 unless set
     * @return a copy
     */
    public Adam beta1(double value) {
        return new Adam(settings(), value, beta2, epsilon, lazy);
    }

    /**
     * Sets how slowly the mean of their squares changes, from 0 to 1.
     *
     * @param value
     *            how slowly the mean of their squares changes, from 0 to 1; 0.999 unless set
     * @return a copy
     */
    public Adam beta2(double value) {
        return new Adam(settings(), beta1, value, epsilon, lazy);
    }

    /**
     * Sets ε, which is added to the root of that.
     *
     * @param value
     *            is added to the root of that; 1e-8 unless set
     * @return a copy
     */
    public Adam epsilon(double value) {
        return new Adam(settings(), beta1, beta2, value, lazy);
    }

    /**
     * Sets whether rows without gradient stay as they are.
     *
     * @param value
     *            whether rows without gradient stay as they are; false unless set
     * @return a copy
     */
    public Adam lazy(boolean value) {
        return new Adam(settings(), beta1, beta2, epsilon, value);
    }

    @Override
    Adam with(Settings settings) {
        return new Adam(settings, beta1, beta2, epsilon, lazy);
    }

    @Override
    public String type() {
        return "adam";
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
        op.in("Beta1Tensor").in("Beta2Tensor").in("EpsilonTensor").attr("beta1", (float) beta1)
                .attr("beta2", (float) beta2)
                .attr("epsilon", (float) epsilon).attr("lazy_mode", lazy).attr("min_row_size_to_use_multithread", 1000L)
                .attr("use_global_beta_pow", false);
    }

    @Override
    public boolean canSkip() {
        return true;
    }
}
