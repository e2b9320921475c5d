package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A recurrent cell over all steps of a batch of sequences. What the input gives to each step is a product of matrices
 * of its own, so it comes ready; here is what a step needs of the one before: u = weights · h + bias.
 *
 * <p>
 * Inputs x [t, b, g·h], the input's part of the g gates; weights [g·h, h] and bias [g·h] of the recurrent part; h [b,
 * h], the state before the first step; c [b, h], the cell before the first step (LSTM only); what a cell has of its own
 * ({@link Cell#PEEPHOLE_LSTM}, {@link Cell#RESET_GRU}); lengths [b], int32 or int64 (left out unless given). Outputs y
 * [t, b, h]; h and, for LSTM, c after each sequence's last step; saved [t, b, s·h], what the gradient needs (unless s =
 * 0). Past the length of a sequence y is 0.
 *
 * @param cell
 *            what a step computes
 * @param backwards
 *            whether the last step of a sequence comes first
 * @param lengths
 *            whether sequences have lengths of their own
 * @param order
 *            where the gates are in x, weights and bias
 */
public record Recurrence(Cell cell, boolean backwards, boolean lengths, Order order) implements Computation {
    /**
     * A recurrence with the gates in the order that {@link Cell} states.
     *
     * @param cell
     *            what a step computes
     * @param backwards
     *            whether the last step of a sequence comes first
     * @param lengths
     *            whether sequences have lengths of their own
     */
    public Recurrence(Cell cell, boolean backwards, boolean lengths) {
        this(cell, backwards, lengths, Order.PADDLE);
    }

    /** With fewer sequences, a step takes about as long as with one. */
    private static final int FEWEST_SEQUENCES = 4;

    /** The orders of the gates in x, weights and bias. What the gradient needs is saved in one order. */
    public enum Order {
        /** LSTM i, f, g, o; GRU r, z, n. */
        PADDLE(new int[]{0, 1, 2, 3}, new int[]{0, 1, 2}),
        /** LSTM i, o, f, g; GRU z, r, n. */
        ONNX(new int[]{0, 2, 3, 1}, new int[]{1, 0, 2});

        private static final int CANDIDATE = 2;

        @SuppressWarnings("ImmutableEnumChecker") // Nothing changes them.
        private final int[] lstm;
        @SuppressWarnings("ImmutableEnumChecker")
        private final int[] gru;

        Order(int[] lstm, int[] gru) {
            this.lstm = lstm;
            this.gru = gru;
        }

        /**
         * Where a gate is.
         *
         * @param cell
         *            the cell
         * @param gate
         *            the gate's number in the order that {@link Cell} states
         * @return its place, from 0
         */
        public int place(Cell cell, int gate) {
            return switch (cell) {
                case LSTM, PEEPHOLE_LSTM -> lstm[gate];
                case GRU, RESET_GRU -> gru[gate];
                case TANH, RELU -> gate;
            };
        }

        /**
         * Where the peephole of a gate is: as the gate, but the candidate has none.
         *
         * @param gate
         *            the number of i, f or o in the order that {@link Cell} states
         * @return its place, from 0
         */
        public int peephole(int gate) {
            return lstm[gate] > lstm[CANDIDATE] ? lstm[gate] - 1 : lstm[gate];
        }
    }

    /** The cells. */
    public enum Cell {
        /**
         * Long short-term memory (Hochreiter, Schmidhuber, 1997). With σ of the gates i, f, o and tanh of g: c = f · c
         * + i · g, h = o · tanh c. Gates in the order i, f, g, o.
         */
        LSTM(4, 5),
        /**
         * An LSTM whose gates see the cell (Gers, Schmidhuber, 2000): i and f add their peepholes times the cell before
         * the step, o times that after it. The peepholes [3·h] follow c, without one of g.
         */
        PEEPHOLE_LSTM(4, 5),
        /**
         * A gated recurrent unit (Cho et al., 2014). With σ of the gates r, z: n = tanh(x + r · u), h = z · h + (1 − z)
         * · n. Gates in the order r, z, n.
         */
        GRU(3, 4),
        /**
         * A gated recurrent unit as it was first published, which resets the state before the product: with the weights
         * w [h, h] of the candidate, n = tanh(x + w · (r · h) + bias). The weights are those of r and z, [2·h, h]; w
         * follows h.
         */
        RESET_GRU(3, 4),
        /** h = tanh(x + u). */
        TANH(1, 0),
        /** h = max(0, x + u). */
        RELU(1, 0);

        private final int gates;
        private final int saved;

        Cell(int gates, int saved) {
            this.gates = gates;
            this.saved = saved;
        }

        /**
         * How many gates there are.
         *
         * @return from 1
         */
        public int gates() {
            return gates;
        }

        /**
         * How many numbers a step saves for each number of the state.
         *
         * @return from 0
         */
        public int saved() {
            return saved;
        }

        /**
         * Whether there is a cell beside the state.
         *
         * @return for LSTM
         */
        public boolean isLstm() {
            return this == LSTM || this == PEEPHOLE_LSTM;
        }

        /**
         * How many states there are.
         *
         * @return 2 for LSTM, else 1
         */
        public int states() {
            return isLstm() ? 2 : 1;
        }

        /**
         * How many gates are rows of the weights.
         *
         * @return from 1
         */
        public int products() {
            return this == RESET_GRU ? 2 : gates;
        }

        /**
         * Whether a cell has an operand of its own, after its states.
         *
         * @return for peepholes, and the weights of a candidate
         */
        public boolean hasMore() {
            return this == PEEPHOLE_LSTM || this == RESET_GRU;
        }
    }

    /**
     * How many inputs there are.
     *
     * @return from 4
     */
    public int inputs() {
        return 3 + cell.states() + (cell.hasMore() ? 1 : 0) + (lengths ? 1 : 0);
    }

    /**
     * Where the operand is that only this cell has.
     *
     * @return the index of the input, if the cell has one
     */
    public int more() {
        return 3 + cell.states();
    }

    /**
     * Whether an input is weights that multiply states in each step, which kernels may read packed.
     *
     * @param input
     *            the index of an input
     * @return for the weights of the gates, and those that only the candidate has
     */
    public boolean isWeights(int input) {
        return input == 1 || (cell == Cell.RESET_GRU && input == more());
    }

    /**
     * By sequences, which do not depend on one another. Products of fewer rows may be computed by another kernel of the
     * library.
     */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        Integer[] axes = new Integer[arguments.length];
        Arrays.fill(axes, Split.WHOLE);
        for (int i = 0; i < axes.length; i++) {
            boolean state = i >= 3 && i < 3 + cell.states();
            boolean last = i > inputs() && i <= inputs() + cell.states();
            if (arguments[i] == null) {
                continue;
            }
            if (i == 0 || (i >= inputs() && !last)) {
                axes[i] = 1;
            } else if (state || last || (lengths && i == inputs() - 1)) {
                axes[i] = 0;
            }
        }
        return List.of(new Split(List.of(axes), FEWEST_SEQUENCES, null, 2));
    }

    static void checkMore(Operands in, int at, Cell cell, TensorSpec like, long size) {
        if (cell == Cell.PEEPHOLE_LSTM) {
            check(in, "the peepholes", in.get(at, "peepholes"), like, 3 * size);
        } else if (cell == Cell.RESET_GRU) {
            check(in, "the candidate's weights", in.get(at, "weights"), like, size, size);
        }
    }

    @Override
    public String operation() {
        return "recurrence";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        boolean lstm = cell.isLstm();
        int count = inputs();
        Operands in = Operands.of(operation(), inputs, count, count);
        TensorSpec x = in.get(0, "x");
        TensorSpec h = in.get(3, "h");
        in.floating(x, "x");
        in.require(x.shape().rank() == 3 && h.shape().rank() == 2, "x needs three dimensions and h two");
        long batch = x.shape().dim(1);
        long size = h.shape().dim(1);
        check(in, "x", x, x, x.shape().dim(0), batch, cell.gates * size);
        check(in, "weights", in.get(1, "weights"), x, cell.products() * size, size);
        check(in, "bias", in.get(2, "bias"), x, cell.gates * size);
        check(in, "h", h, x, batch, size);
        if (lstm) {
            check(in, "c", in.get(4, "c"), x, batch, size);
        }
        checkMore(in, more(), cell, x, size);
        if (lengths) {
            TensorSpec given = in.get(count - 1, "lengths");
            in.whole(given, "lengths");
            in.require(given.shape().rank() == 1 && given.shape().dim(0) == batch, "lengths must be [%d], but is %s",
                    batch, given.shape());
        }
        List<TensorSpec> outputs = new ArrayList<>();
        outputs.add(TensorSpec.of(x.dtype(), x.shape().dim(0), batch, size));
        outputs.add(h.rowMajor());
        if (lstm) {
            outputs.add(h.rowMajor());
        }
        if (cell.saved > 0) {
            outputs.add(TensorSpec.of(x.dtype(), x.shape().dim(0), batch, cell.saved * size));
        }
        return outputs.toArray(TensorSpec[]::new);
    }

    static void check(Operands in, String name, TensorSpec spec, TensorSpec like, long... dims) {
        TensorSpec wanted = TensorSpec.of(like.dtype(), dims);
        in.require(spec.dtype() == wanted.dtype() && spec.shape().equals(wanted.shape()), "%s must be %s, but is %s",
                name, wanted, spec);
    }
}
