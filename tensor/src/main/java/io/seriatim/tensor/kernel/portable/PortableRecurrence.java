package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.Recurrence.Cell;
import io.seriatim.tensor.computation.network.RecurrenceGrad;
import io.seriatim.tensor.kernel.Kernel;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Recurrences and their gradients, in double, one sequence after the other. */
final class PortableRecurrence {
    private PortableRecurrence() {
    }

    /** The sizes, and the order of the steps of a sequence. */
    record Sequence(Recurrence recurrence, int steps, int batch, int size) {
        static Sequence of(Recurrence recurrence, TensorSpec y) {
            return new Sequence(recurrence, Math.toIntExact(y.shape().dim(0)), Math.toIntExact(y.shape().dim(1)),
                    Math.toIntExact(y.shape().dim(2)));
        }

        int gates() {
            return Math.multiplyExact(recurrence.cell().gates(), size);
        }

        /** The rows of the weights. */
        int products() {
            return Math.multiplyExact(recurrence.cell().products(), size);
        }

        int saved() {
            return Math.multiplyExact(recurrence.cell().saved(), size);
        }

        /** Where a gate begins in x, u and their gradients. */
        int gate(int number) {
            return recurrence.order().place(recurrence.cell(), number) * size;
        }

        /** Where the peephole of a gate begins. */
        int peephole(int number) {
            return recurrence.order().peephole(number) * size;
        }

        /** The step that comes after some others. */
        int step(int after, int length) {
            return recurrence.backwards() ? length - 1 - after : after;
        }

        int length(@Nullable Tensor lengths, int sequence) {
            if (lengths == null) {
                return steps;
            }
            long length = Longs.get(lengths.memory(), lengths.dtype(),
                    lengths.offset() + sequence * lengths.spec().strides()[0] * lengths.dtype().bytes());
            if (length < 0 || length > steps) {
                throw new IndexRangeException(
                        "recurrence: length number " + sequence + " must be from 0 to " + steps + ", but is " + length);
            }
            return (int) length;
        }

        /** The lengths of all sequences. */
        int[] lengths(@Nullable Tensor given) {
            int[] lengths = new int[batch];
            for (int b = 0; b < batch; b++) {
                lengths[b] = length(given, b);
            }
            return lengths;
        }

        /** The sequences, the longest first. */
        int[] longestFirst(int[] lengths) {
            if (recurrence.lengths()) {
                return IntStream.range(0, batch).boxed().sorted(Comparator.comparingInt((Integer b) -> -lengths[b]))
                        .mapToInt(Integer::intValue).toArray();
            }
            int[] all = new int[batch];
            Arrays.setAll(all, b -> b);
            return all;
        }

        /** Whether the rows of one step lie one after the other, in the order of the sequences. */
        boolean isTogether(Tensor tensor, int width) {
            if (recurrence.lengths()) {
                return false;
            }
            if (tensor.spec().isRowMajor()) {
                return tensor.shape().dim(2) == width;
            }
            long[] strides = tensor.spec().strides();
            return strides[2] == 1 && strides[1] == width;
        }
    }

    private static void load(Tensor tensor, long outer, long middle, double[] into, int count) {
        Doubles.load(tensor.memory(), tensor.dtype(), at(tensor, outer, middle), last(tensor), into, 0, count);
    }

    private static void store(@Nullable Tensor tensor, long outer, long middle, double[] values, int count) {
        if (tensor != null) {
            Doubles.store(tensor.memory(), tensor.dtype(), at(tensor, outer, middle), last(tensor), values, 0, count);
        }
    }

    static long last(Tensor tensor) {
        if (tensor.spec().isRowMajor()) {
            return 1;
        }
        long[] strides = tensor.spec().strides();
        return strides[strides.length - 1];
    }

    /** The offset of a row of [outer, middle, row]; for [middle, row] or [row], the missing indices are ignored. */
    static long at(Tensor tensor, long outer, long middle) {
        return tensor.offset() + element(tensor.spec(), outer, middle) * tensor.dtype().bytes();
    }

    private static long element(TensorSpec spec, long outer, long middle) {
        Shape shape = spec.shape();
        int rank = shape.rank();
        if (rank == 1) {
            return 0;
        }
        if (spec.isRowMajor()) {
            // An array of strides in each step would take as long as some of the loops.
            return (rank == 2 ? middle : outer * shape.dim(1) + middle) * shape.dim(rank - 1);
        }
        long[] strides = spec.strides();
        return rank == 2 ? middle * strides[0] : outer * strides[0] + middle * strides[1];
    }

    /** The rows of a matrix, or its columns. */
    private static double[][] matrix(Tensor tensor, int rows, int columns, boolean transposed) {
        double[][] matrix = new double[rows][columns];
        for (int i = 0; i < rows; i++) {
            load(tensor, 0, i, matrix[i], columns);
        }
        if (!transposed) {
            return matrix;
        }
        double[][] other = new double[columns][rows];
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                other[j][i] = matrix[i][j];
            }
        }
        return other;
    }

    /**
     * Adds the rows of a matrix, each times a factor: four at once, in a loop that the JIT compiles to vector
     * instructions.
     *
     * @param at
     *            the first number of the sum
     * @param from
     *            the first factor
     */
    private static void addRows(double[] sum, int at, double[] factors, int from, double[][] rows) {
        int width = rows.length == 0 ? 0 : rows[0].length;
        int k = 0;
        for (; k + 3 < rows.length; k += 4) {
            double a = factors[from + k];
            double b = factors[from + k + 1];
            double c = factors[from + k + 2];
            double d = factors[from + k + 3];
            double[] rowA = rows[k];
            double[] rowB = rows[k + 1];
            double[] rowC = rows[k + 2];
            double[] rowD = rows[k + 3];
            for (int j = 0; j < width; j++) {
                sum[at + j] += a * rowA[j] + b * rowB[j] + (c * rowC[j] + d * rowD[j]);
            }
        }
        for (; k < rows.length; k++) {
            double a = factors[from + k];
            double[] row = rows[k];
            for (int j = 0; j < width; j++) {
                sum[at + j] += a * row[j];
            }
        }
    }

    private static double sigmoid(double x) {
        return 1 / (1 + Math.exp(-x));
    }

    /**
     * What only some cells have.
     *
     * @param peepholes
     *            zeros if there are none
     * @param candidate
     *            the weights of the candidate of a GRU that resets before the product, or their transposition
     */
    @SuppressWarnings("ArrayRecordComponent")
    private record More(double[] peepholes, double[][] candidate) {
        static More of(Sequence s, PortableKernel.Arguments all, int at, boolean transposed) {
            double[] peepholes = new double[3 * s.size()];
            if (s.recurrence().cell() == Cell.PEEPHOLE_LSTM) {
                load(all.get(at), 0, 0, peepholes, peepholes.length);
            }
            return new More(peepholes, s.recurrence().cell() == Cell.RESET_GRU
                    ? matrix(all.get(at), s.size(), s.size(), transposed)
                    : new double[0][]);
        }
    }

    /** The state of a sequence between two steps. */
    @SuppressWarnings("ArrayRecordComponent")
    private record State(Sequence s, More more, double[] h, double[] c, double[] x, double[] u, double[] saved) {
        static State of(Sequence s, More more) {
            return new State(s, more, new double[s.size()], new double[s.size()], new double[s.gates()],
                    new double[s.gates()],
                    new double[s.saved()]);
        }

        void step() {
            switch (s.recurrence().cell()) {
                case LSTM, PEEPHOLE_LSTM -> lstm();
                case GRU -> gru();
                case RESET_GRU -> resetGru();
                case TANH -> {
                    for (int j = 0; j < h.length; j++) {
                        h[j] = Math.tanh(x[j] + u[j]);
                    }
                }
                case RELU -> {
                    for (int j = 0; j < h.length; j++) {
                        h[j] = Math.max(0, x[j] + u[j]);
                    }
                }
            }
        }

        private void lstm() {
            int n = h.length;
            int i = s.gate(0);
            int f = s.gate(1);
            int g = s.gate(2);
            int o = s.gate(3);
            boolean peeps = s.recurrence().cell() == Cell.PEEPHOLE_LSTM;
            for (int j = 0; j < n; j++) {
                double before = c[j];
                double input = sigmoid(x[i + j] + u[i + j] + (peeps ? peep(0, j) * before : 0));
                double forget = sigmoid(x[f + j] + u[f + j] + (peeps ? peep(1, j) * before : 0));
                double candidate = Math.tanh(x[g + j] + u[g + j]);
                c[j] = forget * before + input * candidate;
                double output = sigmoid(x[o + j] + u[o + j] + (peeps ? peep(3, j) * c[j] : 0));
                h[j] = output * Math.tanh(c[j]);
                saved[j] = input;
                saved[n + j] = forget;
                saved[2 * n + j] = candidate;
                saved[3 * n + j] = output;
                saved[4 * n + j] = c[j];
            }
        }

        private double peep(int gate, int j) {
            return more.peepholes()[s.peephole(gate) + j];
        }

        private void resetGru() {
            int n = h.length;
            int r = s.gate(0);
            int z = s.gate(1);
            for (int j = 0; j < n; j++) {
                saved[j] = sigmoid(x[r + j] + u[r + j]);
                saved[n + j] = sigmoid(x[z + j] + u[z + j]);
                saved[3 * n + j] = saved[j] * h[j];
            }
            addRows(u, 2 * n, saved, 3 * n, more.candidate());
            for (int j = 0; j < n; j++) {
                double candidate = Math.tanh(x[2 * n + j] + u[2 * n + j]);
                saved[2 * n + j] = candidate;
                h[j] = saved[n + j] * h[j] + (1 - saved[n + j]) * candidate;
            }
        }

        private void gru() {
            int n = h.length;
            int r = s.gate(0);
            int z = s.gate(1);
            for (int j = 0; j < n; j++) {
                double reset = sigmoid(x[r + j] + u[r + j]);
                double keep = sigmoid(x[z + j] + u[z + j]);
                double candidate = Math.tanh(x[2 * n + j] + reset * u[2 * n + j]);
                h[j] = keep * h[j] + (1 - keep) * candidate;
                saved[j] = reset;
                saved[n + j] = keep;
                saved[2 * n + j] = candidate;
                saved[3 * n + j] = u[2 * n + j];
            }
        }
    }

    static Kernel forward(Recurrence recurrence, @Nullable TensorSpec[] arguments) {
        boolean lstm = recurrence.cell().isLstm();
        int inputs = recurrence.inputs();
        Sequence s = Sequence.of(recurrence, Objects.requireNonNull(arguments[inputs]));
        int savedAt = inputs + (lstm ? 3 : 2);
        return PortableKernel.of((all, _) -> {
            double[][] weights = matrix(all.get(1), s.products(), s.size(), true);
            double[] bias = new double[s.gates()];
            load(all.get(2), 0, 0, bias, s.gates());
            State state = State.of(s, More.of(s, all, recurrence.more(), true));
            double[] zeros = new double[Math.max(s.size(), s.saved())];
            Tensor saved = s.saved() > 0 ? all.optional(savedAt) : null;
            for (int b = 0; b < s.batch(); b++) {
                load(all.get(3), 0, b, state.h(), s.size());
                if (lstm) {
                    load(all.get(4), 0, b, state.c(), s.size());
                }
                int length = s.length(recurrence.lengths() ? all.get(inputs - 1) : null, b);
                for (int i = 0; i < length; i++) {
                    int t = s.step(i, length);
                    load(all.get(0), t, b, state.x(), s.gates());
                    System.arraycopy(bias, 0, state.u(), 0, s.gates());
                    addRows(state.u(), 0, state.h(), 0, weights);
                    state.step();
                    store(all.get(inputs), t, b, state.h(), s.size());
                    store(saved, t, b, state.saved(), s.saved());
                }
                for (int t = length; t < s.steps(); t++) {
                    store(all.get(inputs), t, b, zeros, s.size());
                    store(saved, t, b, zeros, s.saved());
                }
                store(all.optional(inputs + 1), 0, b, state.h(), s.size());
                if (lstm) {
                    store(all.optional(inputs + 2), 0, b, state.c(), s.size());
                }
            }
        });
    }

    /** The gradients of the state after a step become those of the state before it, of x and of u. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Gradient(Sequence s, More more, double[] dpeepholes, double[] dreset, double[] dh, double[] dc,
            double[] dx, double[] du, double[] before, double[] cellBefore, double[] y, double[] saved) {
        static Gradient of(Sequence s, More more) {
            int n = s.size();
            return new Gradient(s, more, new double[3 * n], new double[n], new double[n], new double[n],
                    new double[s.gates()],
                    new double[s.gates()],
                    new double[n],
                    new double[n], new double[n], new double[s.saved()]);
        }

        /** Leaves in dh the gradient that does not pass through u. */
        void step() {
            switch (s.recurrence().cell()) {
                case LSTM, PEEPHOLE_LSTM -> lstm();
                case GRU -> gru();
                case RESET_GRU -> resetGru();
                case TANH -> {
                    for (int j = 0; j < y.length; j++) {
                        dx[j] = dh[j] * (1 - y[j] * y[j]);
                    }
                }
                case RELU -> {
                    for (int j = 0; j < y.length; j++) {
                        dx[j] = y[j] > 0 ? dh[j] : 0;
                    }
                }
            }
            if (s.recurrence().cell() != Cell.GRU) {
                System.arraycopy(dx, 0, du, 0, dx.length);
            }
            if (s.recurrence().cell().gates() != 3) {
                Arrays.fill(dh, 0);
            }
        }

        private void lstm() {
            int n = y.length;
            int i = s.gate(0);
            int f = s.gate(1);
            int g = s.gate(2);
            int o = s.gate(3);
            int peepI = s.peephole(0);
            int peepF = s.peephole(1);
            int peepO = s.peephole(3);
            double[] peepholes = more.peepholes();
            for (int j = 0; j < n; j++) {
                double input = saved[j];
                double forget = saved[n + j];
                double candidate = saved[2 * n + j];
                double output = saved[3 * n + j];
                double squashed = Math.tanh(saved[4 * n + j]);
                dx[o + j] = dh[j] * squashed * output * (1 - output);
                double change = dc[j] + dh[j] * output * (1 - squashed * squashed) + dx[o + j] * peepholes[peepO + j];
                dx[i + j] = change * candidate * input * (1 - input);
                dx[f + j] = change * cellBefore[j] * forget * (1 - forget);
                dx[g + j] = change * input * (1 - candidate * candidate);
                dc[j] = change * forget + dx[i + j] * peepholes[peepI + j] + dx[f + j] * peepholes[peepF + j];
                dpeepholes[peepI + j] += dx[i + j] * cellBefore[j];
                dpeepholes[peepF + j] += dx[f + j] * cellBefore[j];
                dpeepholes[peepO + j] += dx[o + j] * saved[4 * n + j];
            }
        }

        private void resetGru() {
            int n = y.length;
            int r = s.gate(0);
            int z = s.gate(1);
            for (int j = 0; j < n; j++) {
                double keep = saved[n + j];
                double candidate = saved[2 * n + j];
                dx[2 * n + j] = dh[j] * (1 - keep) * (1 - candidate * candidate);
                dx[z + j] = dh[j] * (before[j] - candidate) * keep * (1 - keep);
                dh[j] *= keep;
            }
            Arrays.fill(dreset, 0);
            addRows(dreset, 0, dx, 2 * n, more.candidate());
            for (int j = 0; j < n; j++) {
                double reset = saved[j];
                dx[r + j] = dreset[j] * before[j] * reset * (1 - reset);
                dh[j] += dreset[j] * reset;
            }
        }

        private void gru() {
            int n = y.length;
            int r = s.gate(0);
            int z = s.gate(1);
            for (int j = 0; j < n; j++) {
                double reset = saved[j];
                double keep = saved[n + j];
                double candidate = saved[2 * n + j];
                double inner = dh[j] * (1 - keep) * (1 - candidate * candidate);
                dx[r + j] = inner * saved[3 * n + j] * reset * (1 - reset);
                dx[z + j] = dh[j] * (before[j] - candidate) * keep * (1 - keep);
                dx[2 * n + j] = inner;
                du[r + j] = dx[r + j];
                du[z + j] = dx[z + j];
                du[2 * n + j] = inner * reset;
                dh[j] *= keep;
            }
        }
    }

    static Kernel grad(RecurrenceGrad grad, @Nullable TensorSpec[] arguments) {
        return new Backward(grad, Sequence.of(grad.forward(), Objects.requireNonNull(arguments[0]))).kernel();
    }

    /** The gradient: where its operands are, and the way back through each sequence. */
    record Backward(RecurrenceGrad grad, Sequence s) {
        private boolean lstm() {
            return grad.forward().cell().isLstm();
        }

        private int states() {
            return grad.forward().cell().states();
        }

        int more() {
            return grad.weights() + 1 + states();
        }

        int gradients() {
            return more() + (grad.forward().cell().hasMore() ? 1 : 0) + (grad.forward().lengths() ? 1 : 0);
        }

        int outputs() {
            return gradients() + 1 + states();
        }

        Kernel kernel() {
            return PortableKernel.of((all, _) -> {
                double[][] weights = matrix(all.get(grad.weights()), s.products(), s.size(), false);
                Gradient g = Gradient.of(s, More.of(s, all, more(), false));
                for (int b = 0; b < s.batch(); b++) {
                    sequence(all, weights, g, b);
                }
                if (grad.forward().cell() == Cell.PEEPHOLE_LSTM) {
                    store(all.optional(outputs() + 4), 0, 0, g.dpeepholes(), g.dpeepholes().length);
                }
            });
        }

        private void sequence(PortableKernel.Arguments all, double[][] weights, Gradient g, int b) {
            int length = s.length(grad.forward().lengths() ? all.get(gradients() - 1) : null, b);
            start(all.optional(gradients() + 1), b, g.dh());
            start(lstm() ? all.optional(gradients() + 2) : null, b, g.dc());
            Tensor dy = all.optional(gradients());
            Tensor du = grad.forward().cell() == Cell.GRU ? all.optional(outputs() + 3) : null;
            double[] more = new double[s.size()];
            for (int i = length - 1; i >= 0; i--) {
                int t = s.step(i, length);
                if (dy != null) {
                    load(dy, t, b, more, s.size());
                    for (int j = 0; j < more.length; j++) {
                        g.dh()[j] += more[j];
                    }
                }
                before(all, g, b, i, length);
                load(all.get(0), t, b, g.y(), s.size());
                if (s.saved() > 0) {
                    load(all.get(1), t, b, g.saved(), s.saved());
                }
                g.step();
                addRows(g.dh(), 0, g.du(), 0, weights);
                store(all.get(outputs()), t, b, g.dx(), s.gates());
                store(all.optional(outputs() + 1), t, b, g.before(), s.size());
                store(du, t, b, g.du(), s.gates());
            }
            double[] zeros = new double[s.gates()];
            for (int t = length; t < s.steps(); t++) {
                store(all.get(outputs()), t, b, zeros, s.gates());
                store(all.optional(outputs() + 1), t, b, zeros, s.size());
                store(du, t, b, zeros, s.gates());
            }
            store(all.optional(outputs() + 2), 0, b, g.dh(), s.size());
            if (lstm()) {
                store(all.optional(outputs() + 3), 0, b, g.dc(), s.size());
            }
        }

        private void start(@Nullable Tensor given, int b, double[] gradient) {
            Arrays.fill(gradient, 0);
            if (given != null) {
                load(given, 0, b, gradient, s.size());
            }
        }

        /** The state before a step: that after the step before, or the first one. */
        private void before(PortableKernel.Arguments all, Gradient g, int b, int i, int length) {
            if (i == 0) {
                load(all.get(grad.weights() + 1), 0, b, g.before(), s.size());
                if (lstm()) {
                    load(all.get(grad.weights() + 2), 0, b, g.cellBefore(), s.size());
                }
                return;
            }
            int t = s.step(i - 1, length);
            load(all.get(0), t, b, g.before(), s.size());
            if (lstm()) {
                Tensor saved = all.get(1);
                Doubles.load(saved.memory(), saved.dtype(),
                        at(saved, t, b) + 4L * s.size() * last(saved) * saved.dtype().bytes(),
                        last(saved),
                        g.cellBefore(), 0, s.size());
            }
        }
    }
}
