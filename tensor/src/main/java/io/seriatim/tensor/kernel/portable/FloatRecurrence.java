package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.Recurrence.Cell;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.PortableRecurrence.Sequence;
import io.seriatim.tensor.kernel.portable.function.FloatGates;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Recurrences of float32, all sequences together: for each step one product of the states with the weights, which are
 * brought into another layout once a run, then the gates in vectorised loops over the states of several sequences. The
 * sequences are sorted by length, the longest first, so that those with another step are always the first ones.
 *
 * <p>
 * Sums, states and cells are rounded to float32 in each step, where {@link PortableRecurrence} keeps doubles.
 */
public final class FloatRecurrence extends PortableKernel {
    /** Several sequences share loops as long as their states are not more numbers than these. */
    private static final int BLOCK = KernelContext.TILE;
    private static final int VECTOR = 16;
    /** Working memory of more numbers is allocated by each run. */
    private static final long MOST_KEPT = 1 << 20;

    /** The products of states and weights. */
    public interface Products {
        /**
         * Makes what a run needs. It may be used for other runs, one after the other.
         *
         * @param weights
         *            the specification of the weights, [gates · size, size]
         * @return a new one
         */
        Workspace workspace(TensorSpec weights);

        /**
         * The library or kind of code.
         *
         * @return as {@link Kernel#provider}
         */
        String provider();

        /**
         * The memory off the heap.
         *
         * @return as {@link Kernel#bytes}
         */
        default long bytes() {
            return 0;
        }

        /**
         * The memory off the heap once they are loaded.
         *
         * @return as {@link Kernel#loadedBytes}
         */
        default long loadedBytes() {
            return bytes();
        }

        /** As {@link Kernel#load}. */
        default void load() {
            // Plain Java makes nothing.
        }

        /**
         * The form of the transposed weights, [size, gates · size], that spares runs to pack them.
         *
         * @return a layout of the library; null if there is none
         */
        default @Nullable TensorSpec packed() {
            return null;
        }

        /** Frees memory off the heap that kernels hold. */
        default void release() {
            // Plain Java holds none.
        }

        /** Ends all use. */
        default void close() {
            // Plain Java holds nothing.
        }
    }

    /** The products of one run. */
    public interface Workspace {
        /**
         * Reads the weights at the beginning of a run.
         *
         * @param weights
         *            [gates · size, size], or as {@link Products#packed}
         * @param context
         *            of the thread that runs
         */
        void begin(Tensor weights, KernelContext context);

        /**
         * Computes products and adds the bias.
         *
         * @param states
         *            the states of all sequences, one after the other; then zeros up to a multiple of four
         * @param bias
         *            the bias, as often as there are sequences
         * @param sums
         *            gets states · weights transposed + bias, and anything after them
         * @param count
         *            how many sequences, from the first
         * @param context
         *            of the thread that runs
         */
        void multiply(float[] states, float[] bias, float[] sums, int count, KernelContext context);
    }

    private final Sequence s;
    private final TensorSpec weights;
    private final CellProducts products;
    private final int rowsOfBlock;
    private final AtomicReference<@Nullable Memory> idle = new AtomicReference<>();

    private FloatRecurrence(Sequence s, TensorSpec weights, CellProducts products) {
        this.s = s;
        this.weights = weights;
        this.products = products;
        // The candidate's product is one for all sequences.
        rowsOfBlock = products.candidate() == null
                ? Math.max(1, Math.min(s.batch(), BLOCK / Math.max(1, s.size())))
                : s.batch();
    }

    /**
     * A kernel.
     *
     * @param recurrence
     *            the computation
     * @param arguments
     *            its arguments
     * @param way
     *            the way to multiply with some weights; null if there is none
     * @return null if it has none for these arguments
     */
    public static @Nullable Kernel of(Recurrence recurrence, @Nullable TensorSpec[] arguments,
            Function<TensorSpec, @Nullable Products> way) {
        TensorSpec y = Objects.requireNonNull(arguments[recurrence.inputs()]);
        boolean floats = Arrays.stream(arguments)
                .allMatch(each -> each == null || each.dtype() == DType.FLOAT32 || !each.dtype().isFloating());
        if (!floats || y.shape().size() == 0) {
            return null;
        }
        TensorSpec weights = Objects.requireNonNull(arguments[1]);
        CellProducts products = CellProducts.of(way, weights,
                recurrence.cell() == Cell.RESET_GRU ? Objects.requireNonNull(arguments[recurrence.more()]) : null);
        return products == null ? null : new FloatRecurrence(Sequence.of(recurrence, y), weights, products);
    }

    /** Rounded up to whole vectors, so that loops need no rest. */
    static int padded(int count) {
        return Math.max(FloatGates.LEAST, Math.ceilDiv(count, VECTOR) * VECTOR);
    }

    @Override
    public String provider() {
        return products.gates().provider();
    }

    @Override
    public void load() {
        products.load();
    }

    @Override
    public long bytes() {
        return products.bytes();
    }

    @Override
    public long loadedBytes() {
        return products.loadedBytes();
    }

    /** The weights may come packed: once for all runs instead of in each. */
    @Override
    public TensorSpec preferred(int argument, TensorSpec given) {
        Products of = argument == 1
                ? products.gates()
                : s.recurrence().isWeights(argument) ? products.candidate() : null;
        TensorSpec packed = of == null ? null : of.packed();
        return packed == null ? given : packed;
    }

    @Override
    public void release() {
        idle.set(null);
        products.release();
    }

    @Override
    public void close() {
        idle.set(null);
        products.close();
    }

    private void keep(Memory memory) {
        if (memory.size() <= MOST_KEPT) {
            idle.set(memory);
        }
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Memory memory = idle.getAndSet(null);
        if (memory == null) {
            memory = new Memory(this);
        }
        new Run(this, new Arguments(arguments), memory, context).all();
        keep(memory);
    }

    /** The arrays of a run. */
    private static final class Memory {
        final Workspace workspace;
        /** Of the candidate's own weights, and its bias, and the states that were reset. */
        final @Nullable Workspace candidate;
        final float[] candidateBias;
        final float[] reset;
        /** For i, f and o, their peepholes as often as a block has rows. */
        final float[][] peepholes;
        final float[] bias;
        final float[] states;
        final float[] inputs;
        final float[] sums;
        /** Inputs and sums; GRU needs both parts of the candidate too. */
        final float[] totals;
        /** The function of each sum of an LSTM. */
        final float[] scale;
        final float[] shift;
        /** For each block, the states of its sequences one after the other. */
        final float[][] hidden;
        /** For each block, its cells. */
        final float[][] cells;
        final float[] gates;
        final float[] candidates;
        final float[] kept;
        final float[] inner;
        final float[] saved;

        Memory(FloatRecurrence kernel) {
            Sequence s = kernel.s;
            Products ofCandidate = kernel.products.candidate();
            workspace = kernel.products.gates().workspace(kernel.weights);
            candidate = ofCandidate == null ? null : ofCandidate.workspace(kernel.weights);
            candidateBias = new float[candidate == null ? 0 : padded(s.batch() * s.size())];
            reset = new float[candidateBias.length];
            int blocks = Math.ceilDiv(s.batch(), kernel.rowsOfBlock);
            int block = padded(kernel.rowsOfBlock * s.size());
            int all = padded(Math.multiplyExact(s.batch(), s.gates()));
            bias = new float[all];
            states = new float[padded(s.batch() * s.size())];
            inputs = new float[all];
            sums = new float[all];
            totals = s.recurrence().cell() == Cell.GRU ? new float[all] : inputs;
            scale = new float[s.recurrence().cell() == Cell.LSTM ? all : 0];
            shift = new float[scale.length];
            for (int at = 0; at < scale.length && s.gates() > 0; at += s.size()) {
                FloatGates.function(scale, shift, at, Math.min(at + s.size(), scale.length),
                        at % s.gates() == s.gate(2));
            }
            hidden = new float[blocks][block];
            cells = s.recurrence().cell().isLstm() ? new float[blocks][block] : new float[0][];
            peepholes = new float[3][s.recurrence().cell() == Cell.PEEPHOLE_LSTM ? block : 0];
            gates = new float[2 * block];
            candidates = new float[block];
            kept = new float[block];
            inner = new float[block];
            saved = new float[s.saved()];
        }

        long size() {
            return 4L * sums.length;
        }
    }

    /** One run. */
    private static final class Run {
        private final FloatRecurrence kernel;
        private final Sequence s;
        private final Cell cell;
        private final int n;
        private final Arguments all;
        private final Memory memory;
        private final KernelContext context;
        private final int outputs;
        private final Tensor x;
        private final Tensor y;
        private final @Nullable Tensor saved;
        private final int[] lengths;
        /** Which sequence each row is. */
        private final int[] order;

        Run(FloatRecurrence kernel, Arguments all, Memory memory, KernelContext context) {
            this.kernel = kernel;
            this.s = kernel.s;
            this.cell = s.recurrence().cell();
            this.n = s.size();
            this.all = all;
            this.memory = memory;
            this.context = context;
            outputs = s.recurrence().inputs();
            x = all.get(0);
            y = all.get(outputs);
            saved = s.saved() > 0 ? all.optional(outputs + 1 + cell.states()) : null;
            lengths = s.lengths(s.recurrence().lengths() ? all.get(outputs - 1) : null);
            order = s.longestFirst(lengths);
        }

        void all() {
            memory.workspace.begin(all.get(1), context);
            for (int row = 0; row < s.batch(); row++) {
                load(all.get(2), 0, 0, memory.bias, row * s.products(), s.products());
            }
            switch (cell) {
                case PEEPHOLE_LSTM -> peepholes(all.get(s.recurrence().more()));
                case RESET_GRU -> candidate(all.get(s.recurrence().more()));
                default -> {
                    // It has no operand of its own.
                }
            }
            int active = s.batch();
            for (int row = 0; row < active; row++) {
                first(row);
            }
            for (int step = 0; step <= s.steps(); step++) {
                int before = active;
                while (active > 0 && lengths[order[active - 1]] == step) {
                    active--;
                }
                // At once, since shorter loops may overwrite the rows behind them.
                for (int row = active; row < before; row++) {
                    finish(row);
                }
                if (active == 0) {
                    break;
                }
                step(step, active);
            }
            if (s.recurrence().lengths()) {
                zeros();
            }
        }

        private void peepholes(Tensor given) {
            int[] gates = {0, 1, 3};
            for (int i = 0; i < gates.length; i++) {
                for (int row = 0; row < kernel.rowsOfBlock; row++) {
                    load(given, 0, 0, s.peephole(gates[i]), memory.peepholes[i], row * n, n);
                }
            }
        }

        private void candidate(Tensor weights) {
            Objects.requireNonNull(memory.candidate).begin(weights, context);
            for (int row = 0; row < s.batch(); row++) {
                load(all.get(2), 0, 0, s.products(), memory.candidateBias, row * n, n);
            }
        }

        private void first(int row) {
            int block = row / kernel.rowsOfBlock;
            load(all.get(3), 0, order[row], memory.hidden[block], within(row), n);
            System.arraycopy(memory.hidden[block], within(row), memory.states, row * n, n);
            if (cell.isLstm()) {
                load(all.get(4), 0, order[row], memory.cells[block], within(row), n);
            }
        }

        private int within(int row) {
            return row % kernel.rowsOfBlock * n;
        }

        private void finish(int row) {
            int block = row / kernel.rowsOfBlock;
            store(all.optional(outputs + 1), 0, order[row], memory.hidden[block], within(row), n);
            if (cell.isLstm()) {
                store(all.optional(outputs + 2), 0, order[row], memory.cells[block], within(row), n);
            }
        }

        private int time(int step, int row) {
            return s.step(step, lengths[order[row]]);
        }

        private void step(int step, int active) {
            if (s.isTogether(x, s.gates())) {
                load(x, time(step, 0), 0, memory.inputs, 0, active * s.gates());
            } else {
                for (int row = 0; row < active; row++) {
                    load(x, time(step, row), order[row], memory.inputs, row * s.gates(), s.gates());
                }
            }
            memory.workspace.multiply(memory.states, memory.bias, memory.sums, active, context);
            if (cell == Cell.RESET_GRU) {
                resetGru(step, active);
                return;
            }
            if (cell == Cell.LSTM) {
                // All gates in the places of their sums; without peepholes they need nothing else.
                FloatGates.activate(memory.totals, memory.sums, memory.scale, memory.shift, active * s.gates());
            } else {
                FloatGates.add(memory.inputs, memory.sums, memory.totals, active * s.gates());
            }
            for (int from = 0; from < active; from += kernel.rowsOfBlock) {
                block(step, from, Math.min(active - from, kernel.rowsOfBlock));
            }
        }

        private void block(int step, int from, int rows) {
            float[] hidden = memory.hidden[from / kernel.rowsOfBlock];
            switch (cell) {
                case LSTM, PEEPHOLE_LSTM -> lstm(step, from, rows, hidden);
                case GRU -> gru(step, from, rows, hidden);
                case RESET_GRU -> throw new AssertionError("computed for all rows at once");
                case TANH -> {
                    gather(memory.totals, from, rows, 0, hidden, 0);
                    FloatGates.tanh(hidden, hidden, rows * n);
                }
                case RELU -> {
                    gather(memory.totals, from, rows, 0, hidden, 0);
                    FloatGates.relu(hidden, hidden, rows * n);
                }
            }
            give(step, from, rows, hidden);
        }

        /** The states of some rows are those of the next step, and results. */
        private void give(int step, int from, int rows, float[] hidden) {
            System.arraycopy(hidden, 0, memory.states, from * n, rows * n);
            if (s.isTogether(y, n)) {
                store(y, time(step, from), from, hidden, 0, rows * n);
            } else {
                for (int i = 0; i < rows; i++) {
                    store(y, time(step, from + i), order[from + i], hidden, i * n, n);
                }
            }
        }

        /** Copies one gate of some rows. */
        private void gather(float[] values, int from, int rows, int gate, float[] to, int at) {
            gather(values, from, rows, s.gates(), gate, to, at);
        }

        private void gather(float[] values, int from, int rows, int width, int gate, float[] to, int at) {
            for (int i = 0; i < rows; i++) {
                System.arraycopy(values, (from + i) * width + s.gate(gate), to, at + i * n, n);
            }
        }

        private void lstm(int step, int from, int rows, float[] hidden) {
            int count = rows * n;
            float[] cells = memory.cells[from / kernel.rowsOfBlock];
            gather(memory.totals, from, rows, 0, memory.gates, 0);
            gather(memory.totals, from, rows, 1, memory.kept, 0);
            gather(memory.totals, from, rows, 2, memory.candidates, 0);
            gather(memory.totals, from, rows, 3, memory.inner, 0);
            if (cell == Cell.PEEPHOLE_LSTM) {
                FloatGates.tanh(memory.candidates, memory.candidates, count);
                FloatGates.addProduct(memory.gates, memory.peepholes[0], cells, count);
                FloatGates.addProduct(memory.kept, memory.peepholes[1], cells, count);
                FloatGates.sigmoid(memory.gates, memory.gates, count);
                FloatGates.sigmoid(memory.kept, memory.kept, count);
                FloatGates.cell(cells, memory.kept, memory.candidates, memory.gates, count);
                FloatGates.addProduct(memory.inner, memory.peepholes[2], cells, count);
                FloatGates.sigmoid(memory.inner, memory.inner, count);
            } else {
                FloatGates.cell(cells, memory.kept, memory.candidates, memory.gates, count);
            }
            FloatGates.tanhTimes(cells, memory.inner, hidden, count);
            if (saved != null) {
                for (int i = 0; i < rows; i++) {
                    save(0, memory.gates, i * n);
                    save(1, memory.kept, i * n);
                    save(2, memory.candidates, i * n);
                    save(3, memory.inner, i * n);
                    save(4, cells, i * n);
                    store(saved, time(step, from + i), order[from + i], memory.saved, 0, s.saved());
                }
            }
        }

        private void gru(int step, int from, int rows, float[] hidden) {
            int count = rows * n;
            gather(memory.totals, from, rows, 0, memory.gates, 0);
            gather(memory.totals, from, rows, 1, memory.gates, count);
            gather(memory.sums, from, rows, 2, memory.inner, 0);
            gather(memory.inputs, from, rows, 2, memory.candidates, 0);
            FloatGates.sigmoid(memory.gates, memory.gates, 2 * count);
            System.arraycopy(memory.gates, count, memory.kept, 0, count);
            FloatGates.addProduct(memory.candidates, memory.gates, memory.inner, count);
            FloatGates.tanh(memory.candidates, memory.candidates, count);
            FloatGates.mix(hidden, memory.kept, memory.candidates, count);
            saveGru(step, from, rows, memory.inner);
        }

        private void saveGru(int step, int from, int rows, float[] last) {
            if (saved != null) {
                for (int i = 0; i < rows; i++) {
                    save(0, memory.gates, i * n);
                    save(1, memory.kept, i * n);
                    save(2, memory.candidates, i * n);
                    save(3, last, i * n);
                    store(saved, time(step, from + i), order[from + i], memory.saved, 0, s.saved());
                }
            }
        }

        /** All rows at once: between the gates and the candidate is another product. */
        private void resetGru(int step, int rows) {
            int count = rows * n;
            float[] hidden = memory.hidden[0];
            gather(memory.inputs, 0, rows, 0, memory.gates, 0);
            gather(memory.sums, 0, rows, s.products(), 0, memory.inner, 0);
            FloatGates.add(memory.gates, memory.inner, memory.gates, count);
            gather(memory.inputs, 0, rows, 1, memory.kept, 0);
            gather(memory.sums, 0, rows, s.products(), 1, memory.inner, 0);
            FloatGates.add(memory.kept, memory.inner, memory.kept, count);
            FloatGates.sigmoid(memory.gates, memory.gates, count);
            FloatGates.sigmoid(memory.kept, memory.kept, count);
            FloatGates.multiply(memory.gates, hidden, memory.inner, count);
            System.arraycopy(memory.inner, 0, memory.reset, 0, count);
            Objects.requireNonNull(memory.candidate).multiply(memory.reset, memory.candidateBias, memory.sums, rows,
                    context);
            gather(memory.inputs, 0, rows, 2, memory.candidates, 0);
            FloatGates.add(memory.candidates, memory.sums, memory.candidates, count);
            FloatGates.tanh(memory.candidates, memory.candidates, count);
            FloatGates.mix(hidden, memory.kept, memory.candidates, count);
            saveGru(step, 0, rows, memory.reset);
            give(step, 0, rows, hidden);
        }

        private void save(int part, float[] values, int at) {
            System.arraycopy(values, at, memory.saved, part * n, n);
        }

        /** Past the end of a sequence all results are 0. */
        private void zeros() {
            float[] zeros = new float[Math.max(n, s.saved())];
            for (int b = 0; b < lengths.length; b++) {
                for (int t = lengths[b]; t < s.steps(); t++) {
                    store(y, t, b, zeros, 0, n);
                    store(saved, t, b, zeros, 0, s.saved());
                }
            }
        }
    }

    static void load(Tensor tensor, long outer, long middle, float[] into, int at, int count) {
        load(tensor, outer, middle, 0, into, at, count);
    }

    /** Loads numbers of a row, from one of them on. */
    static void load(Tensor tensor, long outer, long middle, long from, float[] into, int at, int count) {
        long stride = PortableRecurrence.last(tensor);
        Floats.load(tensor.memory(), DType.FLOAT32,
                PortableRecurrence.at(tensor, outer, middle) + from * stride * Float.BYTES, stride, into, at, count);
    }

    static void store(@Nullable Tensor tensor, long outer, long middle, float[] values, int from, int count) {
        if (tensor != null) {
            Floats.store(tensor.memory(), DType.FLOAT32, PortableRecurrence.at(tensor, outer, middle),
                    PortableRecurrence.last(tensor), values, from, count);
        }
    }
}
