package io.seriatim.graph.optimizer;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.util.Ranges;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** RMSProp (Tieleman, Hinton, 2012; centred: Graves, 2013). Immutable. */
public final class RmsProp extends Optimizer {
    private final double rho;
    private final double epsilon;
    private final double momentum;
    private final boolean centered;

    private RmsProp(Settings settings, double rho, double epsilon, double momentum, boolean centered) {
        super(settings);
        this.rho = Ranges.decayRate("ρ of RmsProp", rho);
        this.epsilon = Ranges.notNegative("ε of RmsProp", epsilon);
        this.momentum = Ranges.notNegative("The momentum of RmsProp", momentum);
        this.centered = centered;
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate
     * @return the optimizer
     */
    public static RmsProp of(double rate) {
        return new RmsProp(Settings.of(rate), 0.95, 1e-6, 0, false);
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate of each step
     * @return the optimizer
     */
    public static RmsProp of(Schedule rate) {
        return new RmsProp(Settings.of(rate), 0.95, 1e-6, 0, false);
    }

    /**
     * Sets how slowly the mean of squares changes, from 0 to 1.
     *
     * @param value
     *            how slowly the mean of squares changes, from 0 to 1; 0.95 unless set
     * @return a copy
     */
    public RmsProp rho(double value) {
        return new RmsProp(settings(), value, epsilon, momentum, centered);
    }

    /**
     * Sets ε, which is added under the root.
     *
     * @param value
     *            is added under the root; 1e-6 unless set
     * @return a copy
     */
    public RmsProp epsilon(double value) {
        return new RmsProp(settings(), rho, value, momentum, centered);
    }

    /**
     * Sets the part of the last step that is done again.
     *
     * @param value
     *            the part of the last step that is done again; 0 unless set
     * @return a copy
     */
    public RmsProp momentum(double value) {
        return new RmsProp(settings(), rho, epsilon, value, centered);
    }

    /**
     * Sets whether the mean of gradients is subtracted.
     *
     * @param value
     *            whether the mean of gradients is subtracted; false unless set
     * @return a copy
     */
    public RmsProp centered(boolean value) {
        return new RmsProp(settings(), rho, epsilon, momentum, value);
    }

    @Override
    RmsProp with(Settings settings) {
        return new RmsProp(settings, rho, epsilon, momentum, centered);
    }

    @Override
    public String type() {
        return "rmsprop";
    }

    @Override
    public List<Accumulator> accumulators() {
        return List.of(new Accumulator("momentum", "Moment", 0, false, true),
                new Accumulator("mean_square", "MeanSquare", 0, false, true),
                new Accumulator("mean_grad", "MeanGrad", 0, false, true));
    }

    @Override
    public void attributes(OpDesc.Builder op, String parameter, @Nullable Decay decay) {
        op.attr("epsilon", (float) epsilon).attr("decay", (float) rho).attr("momentum", (float) momentum)
                .attr("centered", centered);
    }
}
