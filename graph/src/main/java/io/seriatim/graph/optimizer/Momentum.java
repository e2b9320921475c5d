package io.seriatim.graph.optimizer;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.util.Ranges;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Momentum (Polyak, 1964; Nesterov, 1983): v = μ·v + g; p − lr·v, or p − lr·(g + μ·v). Immutable. */
public final class Momentum extends Optimizer {
    private final double mu;
    private final boolean nesterov;

    private Momentum(Settings settings, double mu, boolean nesterov) {
        super(settings);
        this.mu = Ranges.notNegative("μ of Momentum", mu);
        this.nesterov = nesterov;
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate
     * @return the optimizer
     */
    public static Momentum of(double rate) {
        return new Momentum(Settings.of(rate), 0.9, false);
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate of each step
     * @return the optimizer
     */
    public static Momentum of(Schedule rate) {
        return new Momentum(Settings.of(rate), 0.9, false);
    }

    /**
     * Sets μ.
     *
     * @param value
     *            μ; 0.9 unless set
     * @return a copy
     */
    public Momentum mu(double value) {
        return new Momentum(settings(), value, nesterov);
    }

    /**
     * Sets whether it looks ahead.
     *
     * @param value
     *            whether it looks ahead; false unless set
     * @return a copy
     */
    public Momentum nesterov(boolean value) {
        return new Momentum(settings(), mu, value);
    }

    @Override
    Momentum with(Settings settings) {
        return new Momentum(settings, mu, nesterov);
    }

    @Override
    public String type() {
        return "momentum";
    }

    @Override
    public List<Accumulator> accumulators() {
        return List.of(new Accumulator("velocity", "Velocity", 0, false, true));
    }

    @Override
    public void attributes(OpDesc.Builder op, String parameter, @Nullable Decay decay) {
        Decay.L2 l2 = decay instanceof Decay.L2 own ? own : null;
        op.attr("mu", (float) mu).attr("use_nesterov", nesterov).attr("rescale_grad", 1f)
                .attr("regularization_method", l2 == null ? "" : "l2_decay")
                .attr("regularization_coeff", l2 == null ? 0f : (float) l2.coefficient());
    }

    /** The operation adds it itself. */
    @Override
    public boolean fuses(Decay decay) {
        return decay instanceof Decay.L2;
    }
}
