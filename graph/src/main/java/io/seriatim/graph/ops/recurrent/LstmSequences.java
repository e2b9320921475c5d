package io.seriatim.graph.ops.recurrent;

/**
 * Long short-term memory (Hochreiter, Schmidhuber, 1997; with peepholes Gers, Schmidhuber, 2000) over sequences of
 * different lengths. Gates are, in order, candidate, input, forget and output. All rows are in the order of the
 * recurrence.
 */
final class LstmSequences {
    private final SequenceBatch batch;
    private final int width;
    private final double[] weights;
    private final double[] checks;
    private final GateFunction ofGates;
    private final GateFunction ofCells;
    private final GateFunction ofCandidates;

    /**
     * A recurrence.
     *
     * @param weights
     *            of the state before, [width, 4 · width]
     * @param checks
     *            the factors by which cells enter the input, forget and output gates, [3 · width]; zeros without
     *            peepholes
     */
    LstmSequences(SequenceBatch batch, int width, double[] weights, double[] checks, GateFunction ofGates,
            GateFunction ofCells, GateFunction ofCandidates) {
        this.batch = batch;
        this.width = width;
        this.weights = weights;
        this.checks = checks;
        this.ofGates = ofGates;
        this.ofCells = ofCells;
        this.ofCandidates = ofCandidates;
    }

    /** Where the state before a row is: in the rows of the step before, or among the first states. */
    private int before(int step, int index) {
        return (step == 0 ? index : batch.steps[step - 1] + index) * width;
    }

    /**
     * Computes all rows.
     *
     * @param gates
     *            input and bias, [rows, 4 · width]; become the gates
     * @param hidden
     *            is written
     * @param cells
     *            is written
     * @param active
     *            is written: a function of the cells
     */
    void forward(double[] gates, double[] firstHidden, double[] firstCells, double[] hidden, double[] cells,
            double[] active) {
        for (int t = 0; t < batch.longest(); t++) {
            for (int i = 0; i < batch.size(t); i++) {
                int row = batch.steps[t] + i;
                int before = before(t, i);
                int at = row * 4 * width;
                RowProducts.add(t == 0 ? firstHidden : hidden, before, width, weights, 0, 4 * width, gates, at);
                double[] cellsBefore = t == 0 ? firstCells : cells;
                for (int k = 0; k < width; k++) {
                    double cellBefore = cellsBefore[before + k];
                    double candidate = ofCandidates.apply(gates[at + k]);
                    double in = ofGates.apply(gates[at + width + k] + cellBefore * checks[k]);
                    double forget = ofGates.apply(gates[at + 2 * width + k] + cellBefore * checks[width + k]);
                    double cell = candidate * in + cellBefore * forget;
                    double out = ofGates.apply(gates[at + 3 * width + k] + cell * checks[2 * width + k]);
                    gates[at + k] = candidate;
                    gates[at + width + k] = in;
                    gates[at + 2 * width + k] = forget;
                    gates[at + 3 * width + k] = out;
                    cells[row * width + k] = cell;
                    active[row * width + k] = ofCells.apply(cell);
                    hidden[row * width + k] = out * active[row * width + k];
                }
            }
        }
    }

    /**
     * What the forward direction has computed.
     *
     * @param gates
     *            the gates
     * @param hidden
     *            the states
     * @param cells
     *            the cells
     * @param active
     *            a function of the cells
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Saved(double[] gates, double[] hidden, double[] cells, double[] active) {
    }

    /**
     * Gradients, to which is added.
     *
     * @param gates
     *            before their functions
     * @param weights
     *            of the weights
     * @param checks
     *            of the peepholes
     * @param firstHidden
     *            of the first states
     * @param firstCells
     *            of the first cells
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Gradients(double[] gates, double[] weights, double[] checks, double[] firstHidden, double[] firstCells) {
    }

    /**
     * Computes the gradients.
     *
     * @param gradient
     *            of the states; is changed
     */
    void backward(Saved saved, double[] firstHidden, double[] firstCells, double[] gradient, Gradients to) {
        double[] ofCell = new double[saved.cells.length];
        for (int t = batch.longest() - 1; t >= 0; t--) {
            for (int i = 0; i < batch.size(t); i++) {
                int row = batch.steps[t] + i;
                int before = before(t, i);
                int at = row * 4 * width;
                cell(saved, row, t == 0 ? firstCells : saved.cells, before, gradient, ofCell, to,
                        t == 0 ? to.firstCells : ofCell);
                RowProducts.addTransposed(to.gates, at, 4 * width, weights, 0, width,
                        t == 0 ? to.firstHidden : gradient, before);
                RowProducts.addOuter(t == 0 ? firstHidden : saved.hidden, before, width, to.gates, at, 4 * width,
                        to.weights, 0);
            }
        }
    }

    private void cell(Saved saved, int row, double[] cellsBefore, int before, double[] gradient, double[] ofCell,
            Gradients to, double[] ofCellBefore) {
        int at = row * 4 * width;
        for (int k = 0; k < width; k++) {
            double candidate = saved.gates[at + k];
            double in = saved.gates[at + width + k];
            double forget = saved.gates[at + 2 * width + k];
            double out = saved.gates[at + 3 * width + k];
            double active = saved.active[row * width + k];
            double dy = gradient[row * width + k];
            double dOut = dy * active * ofGates.slope(out);
            double dCell = ofCell[row * width + k] + dy * out * ofCells.slope(active) + dOut * checks[2 * width + k];
            double dIn = dCell * candidate * ofGates.slope(in);
            double dForget = dCell * cellsBefore[before + k] * ofGates.slope(forget);
            to.gates[at + k] = dCell * in * ofCandidates.slope(candidate);
            to.gates[at + width + k] = dIn;
            to.gates[at + 2 * width + k] = dForget;
            to.gates[at + 3 * width + k] = dOut;
            to.checks[k] += dIn * cellsBefore[before + k];
            to.checks[width + k] += dForget * cellsBefore[before + k];
            to.checks[2 * width + k] += dOut * saved.cells[row * width + k];
            ofCellBefore[before + k] += dIn * checks[k] + dForget * checks[width + k] + dCell * forget;
        }
    }
}
