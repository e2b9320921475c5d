package io.seriatim.graph.optimizer;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.util.Ranges;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Adam with decoupled weight decay (Loshchilov, Hutter, 2019): p·(1 − lr·decay) before the step. Immutable. */
public final class AdamW extends Optimizer {
    private final double beta1;
    private final double beta2;
    private final double epsilon;
    private final double weightDecay;
    private final boolean lazy;
    private final Predicate<String> decays;

    private AdamW(Settings settings, double beta1, double beta2, double epsilon, double weightDecay, boolean lazy,
            Predicate<String> decays) {
        super(settings);
        this.beta1 = Ranges.decayRate("β₁ of AdamW", beta1);
        this.beta2 = Ranges.decayRate("β₂ of AdamW", beta2);
        this.epsilon = Ranges.notNegative("ε of AdamW", epsilon);
        this.weightDecay = Ranges.notNegative("The decay of AdamW", weightDecay);
        this.lazy = lazy;
        this.decays = Objects.requireNonNull(decays, "decays");
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate
     * @return the optimizer
     */
    public static AdamW of(double rate) {
        return new AdamW(Settings.of(rate), 0.9, 0.999, 1e-8, 0.01, false, _ -> true);
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate of each step
     * @return the optimizer
     */
    public static AdamW of(Schedule rate) {
        return new AdamW(Settings.of(rate), 0.9, 0.999, 1e-8, 0.01, false, _ -> true);
    }

    /**
     * Sets how slowly the mean of gradients changes, from 0 to 1.
     *
     * @param value
     *            how slowly the mean of gradients changes, from 0 to 1; 0.9 unless set
     * @return a copy
     */
    public AdamW beta1(double value) {
        return new AdamW(settings(), value, beta2, epsilon, weightDecay, lazy, decays);
    }

    /**
     * Sets how slowly the mean of their squares changes, from 0 to 1.
     *
     * @param value
     *            how slowly the mean of their squares changes, from 0 to 1; 0.999 unless set
     * @return a copy
     */
    public AdamW beta2(double value) {
        return new AdamW(settings(), beta1, value, epsilon, weightDecay, lazy, decays);
    }

    /**
     * Sets ε, which is added to the root of that.
     *
     * @param value
     *            is added to the root of that; 1e-8 unless set
     * @return a copy
     */
    public AdamW epsilon(double value) {
        return new AdamW(settings(), beta1, beta2, value, weightDecay, lazy, decays);
    }

    /**
     * Sets the decay.
     *
     * @param value
     *            the decay; 0.01 unless set
     * @return a copy
     */
    public AdamW weightDecay(double value) {
        return new AdamW(settings(), beta1, beta2, epsilon, value, lazy, decays);
    }

    /**
     * Sets whether rows without gradient stay as they are.
     *
     * @param value
     *            whether rows without gradient stay as they are; false unless set
     * @return a copy
     */
    public AdamW lazy(boolean value) {
        return new AdamW(settings(), beta1, beta2, epsilon, weightDecay, value, decays);
    }

    /**
     * Sets which parameters, by name, decay.
     *
     * @param value
     *            which parameters, by name, decay; all unless set
     * @return a copy
     */
    public AdamW decays(Predicate<String> value) {
        return new AdamW(settings(), beta1, beta2, epsilon, weightDecay, lazy, value);
    }

    @Override
    AdamW with(Settings settings) {
        return new AdamW(settings, beta1, beta2, epsilon, weightDecay, lazy, decays);
    }

    @Override
    public String type() {
        return "adamw";
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
                .attr("use_global_beta_pow", false).attr("coeff", (float) weightDecay).attr("lr_ratio", 1f)
                .attr("with_decay", decays.test(parameter));
    }

    @Override
    public boolean canSkip() {
        return true;
    }
}
