package io.seriatim.graph.optimizer;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.util.Ranges;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Adadelta (Zeiler, 2012). Immutable. */
public final class Adadelta extends Optimizer {
    private final double epsilon;
    private final double rho;

    private Adadelta(Settings settings, double epsilon, double rho) {
        super(settings);
        this.epsilon = Ranges.notNegative("ε of Adadelta", epsilon);
        this.rho = Ranges.decayRate("ρ of Adadelta", rho);
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate
     * @return the optimizer
     */
    public static Adadelta of(double rate) {
        return new Adadelta(Settings.of(rate), 1e-6, 0.95);
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate of each step
     * @return the optimizer
     */
    public static Adadelta of(Schedule rate) {
        return new Adadelta(Settings.of(rate), 1e-6, 0.95);
    }

    /**
     * Sets ε, which is added to both means.
     *
     * @param value
     *            is added to both means; 1e-6 unless set
     * @return a copy
     */
    public Adadelta epsilon(double value) {
        return new Adadelta(settings(), value, rho);
    }

    /**
     * Sets how slowly they change, from 0 to 1.
     *
     * @param value
     *            how slowly they change, from 0 to 1; 0.95 unless set
     * @return a copy
     */
    public Adadelta rho(double value) {
        return new Adadelta(settings(), epsilon, value);
    }

    @Override
    Adadelta with(Settings settings) {
        return new Adadelta(settings, epsilon, rho);
    }

    @Override
    public String type() {
        return "adadelta";
    }

    @Override
    public List<Accumulator> accumulators() {
        return List.of(new Accumulator("_avg_squared_grad", "AvgSquaredGrad", 0, false, true),
                new Accumulator("_avg_squared_update", "AvgSquaredUpdate", 0, false, true));
    }

    @Override
    public void attributes(OpDesc.Builder op, String parameter, @Nullable Decay decay) {
        op.attr("epsilon", (float) epsilon).attr("rho", (float) rho);
    }
}
