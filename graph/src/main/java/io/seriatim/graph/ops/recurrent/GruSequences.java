package io.seriatim.graph.ops.recurrent;

import java.util.Arrays;

/**
 * Gated recurrent units (Cho et al., 2014) over sequences of different lengths. Gates are, in order, update, reset and
 * candidate; of the weights, all those of the first two come before those of the last. All rows are in the order of the
 * recurrence.
 */
final class GruSequences {
    private final SequenceBatch batch;
    private final int width;
    private final double[] weights;
    private final GateFunction ofGates;
    private final GateFunction ofCandidates;
    private final boolean origin;

    /**
     * A recurrence.
     *
     * @param origin
     *            whether the update gate says how much of the state before is kept, and not how much is replaced
     */
    GruSequences(SequenceBatch batch, int width, double[] weights, GateFunction ofGates, GateFunction ofCandidates,
            boolean origin) {
        this.batch = batch;
        this.width = width;
        this.weights = weights;
        this.ofGates = ofGates;
        this.ofCandidates = ofCandidates;
        this.origin = origin;
    }

    private int before(int step, int index) {
        return (step == 0 ? index : batch.steps[step - 1] + index) * width;
    }

    private int ofCandidate() {
        return 2 * width * width;
    }

    /**
     * Computes all rows.
     *
     * @param gates
     *            input and bias, [rows, 3 · width]; become the gates
     * @param reset
     *            is written: the state before, as far as the reset gate lets it pass
     * @param hidden
     *            is written
     */
    void forward(double[] gates, double[] firstHidden, double[] reset, double[] hidden) {
        for (int t = 0; t < batch.longest(); t++) {
            for (int i = 0; i < batch.size(t); i++) {
                int row = (batch.steps[t] + i) * width;
                int at = 3 * row;
                int before = before(t, i);
                double[] states = t == 0 ? firstHidden : hidden;
                RowProducts.add(states, before, width, weights, 0, 2 * width, gates, at);
                for (int k = 0; k < 2 * width; k++) {
                    gates[at + k] = ofGates.apply(gates[at + k]);
                }
                for (int k = 0; k < width; k++) {
                    reset[row + k] = gates[at + width + k] * states[before + k];
                }
                RowProducts.add(reset, row, width, weights, ofCandidate(), width, gates, at + 2 * width);
                for (int k = 0; k < width; k++) {
                    double candidate = ofCandidates.apply(gates[at + 2 * width + k]);
                    gates[at + 2 * width + k] = candidate;
                    double kept = origin ? gates[at + k] : 1 - gates[at + k];
                    hidden[row + k] = kept * states[before + k] + (1 - kept) * candidate;
                }
            }
        }
    }

    /**
     * Computes the gradients.
     *
     * @param gradient
     *            of the states; is changed
     * @param ofGate
     *            is written: the gradients of the gates before their functions
     * @param ofWeights
     *            is added to
     * @param ofFirst
     *            is added to: the gradients of the first states
     */
    void backward(double[] gates, double[] firstHidden, double[] reset, double[] hidden, double[] gradient,
            double[] ofGate, double[] ofWeights, double[] ofFirst) {
        double[] ofReset = new double[width];
        for (int t = batch.longest() - 1; t >= 0; t--) {
            for (int i = 0; i < batch.size(t); i++) {
                int row = (batch.steps[t] + i) * width;
                int at = 3 * row;
                int before = before(t, i);
                double[] states = t == 0 ? firstHidden : hidden;
                double[] ofStates = t == 0 ? ofFirst : gradient;
                Arrays.fill(ofReset, 0);
                for (int k = 0; k < width; k++) {
                    double update = gates[at + k];
                    double candidate = gates[at + 2 * width + k];
                    double dy = gradient[row + k];
                    double difference = origin ? states[before + k] - candidate : candidate - states[before + k];
                    double kept = origin ? update : 1 - update;
                    ofGate[at + k] = dy * difference * ofGates.slope(update);
                    ofGate[at + 2 * width + k] = dy * (1 - kept) * ofCandidates.slope(candidate);
                    ofStates[before + k] += dy * kept;
                }
                RowProducts.addTransposed(ofGate, at + 2 * width, width, weights, ofCandidate(), width, ofReset, 0);
                RowProducts.addOuter(reset, row, width, ofGate, at + 2 * width, width, ofWeights, ofCandidate());
                for (int k = 0; k < width; k++) {
                    double gate = gates[at + width + k];
                    ofGate[at + width + k] = ofReset[k] * states[before + k] * ofGates.slope(gate);
                    ofStates[before + k] += ofReset[k] * gate;
                }
                RowProducts.addTransposed(ofGate, at, 2 * width, weights, 0, width, ofStates, before);
                RowProducts.addOuter(states, before, width, ofGate, at, 2 * width, ofWeights, 0);
            }
        }
    }
}
