package io.seriatim.graph.optimizer;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.util.Ranges;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Adagrad (Duchi, Hazan, Singer, 2011): m + g²; p − lr·g/(√m + ε). Immutable. */
public final class Adagrad extends Optimizer {
    private final double epsilon;
    private final double initial;

    private Adagrad(Settings settings, double epsilon, double initial) {
        super(settings);
        this.epsilon = Ranges.notNegative("ε of Adagrad", epsilon);
        this.initial = Ranges.notNegative("The initial value of Adagrad", initial);
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate
     * @return the optimizer
     */
    public static Adagrad of(double rate) {
        return new Adagrad(Settings.of(rate), 1e-6, 0);
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate of each step
     * @return the optimizer
     */
    public static Adagrad of(Schedule rate) {
        return new Adagrad(Settings.of(rate), 1e-6, 0);
    }

    /**
     * Sets ε, which is added to the root.
     *
     * @param value
     *            is added to the root; 1e-6 unless set
     * @return a copy
     */
    public Adagrad epsilon(double value) {
        return new Adagrad(settings(), value, initial);
    }

    /**
     * Sets what the sum of squares begins with.
     *
     * @param value
     *            what the sum of squares begins with; 0 unless set
     * @return a copy
     */
    public Adagrad initial(double value) {
        return new Adagrad(settings(), epsilon, value);
    }

    @Override
    Adagrad with(Settings settings) {
        return new Adagrad(settings, epsilon, initial);
    }

    @Override
    public String type() {
        return "adagrad";
    }

    @Override
    public List<Accumulator> accumulators() {
        return List.of(new Accumulator("moment", "Moment", initial, false, true));
    }

    @Override
    public void attributes(OpDesc.Builder op, String parameter, @Nullable Decay decay) {
        op.attr("epsilon", (float) epsilon);
    }
}
