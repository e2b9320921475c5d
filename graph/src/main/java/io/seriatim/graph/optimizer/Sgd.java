package io.seriatim.graph.optimizer;

import java.util.List;

/** Stochastic gradient descent: p − lr·g. Immutable. */
public final class Sgd extends Optimizer {

    private Sgd(Settings settings) {
        super(settings);
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate
     * @return the optimizer
     */
    public static Sgd of(double rate) {
        return new Sgd(Settings.of(rate));
    }

    /**
     * With a learning rate.
     *
     * @param rate
     *            the learning rate of each step
     * @return the optimizer
     */
    public static Sgd of(Schedule rate) {
        return new Sgd(Settings.of(rate));
    }

    @Override
    Sgd with(Settings settings) {
        return new Sgd(settings);
    }

    @Override
    public String type() {
        return "sgd";
    }

    @Override
    public List<Accumulator> accumulators() {
        return List.of();
    }
}
