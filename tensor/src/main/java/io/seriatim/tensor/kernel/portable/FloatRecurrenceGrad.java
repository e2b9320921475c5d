package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Recurrence.Cell;
import io.seriatim.tensor.computation.network.RecurrenceGrad;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.FloatRecurrence.Products;
import io.seriatim.tensor.kernel.portable.FloatRecurrence.Workspace;
import io.seriatim.tensor.kernel.portable.PortableRecurrence.Backward;
import io.seriatim.tensor.kernel.portable.PortableRecurrence.Sequence;
import io.seriatim.tensor.kernel.portable.function.FloatGateGrads;
import io.seriatim.tensor.kernel.portable.function.FloatGates;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Gradients of recurrences of float32, all sequences together, as {@link FloatRecurrence} computes the recurrences: for
 * each step, from the last one, the gradients of the gates in vectorised loops over the states of all sequences, then
 * one product of them with the weights. The products with weights are those of the forward with other operands: du ·
 * weights is du · (weights transposed) transposed.
 *
 * <p>
 * Gradients are rounded to float32 in each step, where {@link PortableRecurrence} keeps doubles.
 */
public final class FloatRecurrenceGrad extends PortableKernel {
    /** Working memory of more numbers is allocated by each run. */
    private static final long MOST_KEPT = 1 << 20;
    private static final int CELL = 4;
    private static final int PEEPHOLES = 3;

    private final Backward operands;
    private final Sequence s;
    private final TensorSpec weights;
    private final CellProducts products;
    private final AtomicReference<@Nullable Memory> idle = new AtomicReference<>();

    private FloatRecurrenceGrad(Backward operands, TensorSpec weights, CellProducts products) {
        this.operands = operands;
        s = operands.s();
        this.weights = weights;
        this.products = products;
    }

    /**
     * A kernel.
     *
     * @param grad
     *            the computation
     * @param arguments
     *            its arguments
     * @param way
     *            the way to multiply the gradients of the gates with some weights, of which it gets the transposition;
     *            null if there is none
     * @return null if it has none for these arguments
     */
    public static @Nullable Kernel of(RecurrenceGrad grad, @Nullable TensorSpec[] arguments,
            Function<TensorSpec, @Nullable Products> way) {
        TensorSpec y = Objects.requireNonNull(arguments[0]);
        boolean floats = Arrays.stream(arguments)
                .allMatch(each -> each == null || ((each.dtype() == DType.FLOAT32 || !each.dtype().isFloating())
                        && !(each.layout() instanceof Layout.Opaque)));
        if (!floats || y.shape().size() == 0) {
            return null;
        }
        Backward operands = new Backward(grad, Sequence.of(grad.forward(), y));
        TensorSpec weights = transposed(Objects.requireNonNull(arguments[grad.weights()]));
        CellProducts products = CellProducts.of(way, weights, grad.forward().cell() == Cell.RESET_GRU
                ? transposed(Objects.requireNonNull(arguments[operands.more()]))
                : null);
        return products == null ? null : new FloatRecurrenceGrad(operands, weights, products);
    }

    private static TensorSpec transposed(TensorSpec matrix) {
        long[] strides = matrix.strides();
        return new TensorSpec(DType.FLOAT32, Shape.of(matrix.shape().dim(1), matrix.shape().dim(0)),
                Layout.strided(strides[1], strides[0]));
    }

    private static Tensor transposed(Tensor matrix) {
        return new Tensor(matrix.buffer(), matrix.offset(), transposed(matrix.spec()));
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

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Memory memory = idle.getAndSet(null);
        if (memory == null) {
            memory = new Memory(this);
        }
        new Run(this, new Arguments(arguments), memory, context).all();
        if (memory.size() <= MOST_KEPT) {
            idle.set(memory);
        }
    }

    /** The arrays of a run, each of all sequences. */
    private static final class Memory {
        final Workspace workspace;
        final @Nullable Workspace candidate;
        /** Numbers of one step as they lie in a tensor. */
        final float[] rows;
        /** The parts of what the forward saved, which become the gradients of the gates. */
        final float[][] parts;
        final float[] dh;
        final float[] dc;
        /** What is added to the product: the gradient that does not pass through it. */
        final float[] kept;
        /** The state or the cell before a step. */
        final float[] before;
        final float[] inner;
        final float[] dx;
        /** The gradient of what the product gave, if that is not dx. */
        final float[] du;
        final float[] dreset;
        /** For i, f and o, their peepholes as often as there are sequences. */
        final float[][] peepholes;

        Memory(FloatRecurrenceGrad kernel) {
            Sequence s = kernel.s;
            Cell cell = s.recurrence().cell();
            Products ofCandidate = kernel.products.candidate();
            workspace = kernel.products.gates().workspace(kernel.weights);
            candidate = ofCandidate == null ? null : ofCandidate.workspace(kernel.weights);
            int states = FloatRecurrence.padded(Math.multiplyExact(s.batch(), s.size()));
            int gates = FloatRecurrence.padded(Math.multiplyExact(s.batch(), s.gates()));
            rows = new float[FloatRecurrence.padded(s.batch() * Math.max(s.saved(), s.size()))];
            parts = new float[Math.max(1, cell.saved())][states];
            dh = new float[states];
            dc = new float[cell.isLstm() ? states : 0];
            kept = new float[states];
            before = new float[states];
            inner = new float[states];
            dx = new float[gates];
            du = cell.gates() == 3 ? new float[gates] : dx;
            dreset = new float[candidate == null ? 0 : states];
            peepholes = new float[PEEPHOLES][cell == Cell.PEEPHOLE_LSTM ? states : 0];
        }

        long size() {
            return 2L * dx.length + 2L * rows.length;
        }
    }

    /** One run. */
    private static final class Run {
        private final Backward operands;
        private final Sequence s;
        private final Cell cell;
        private final int n;
        private final Arguments all;
        private final Memory memory;
        private final KernelContext context;
        private final Tensor y;
        private final @Nullable Tensor saved;
        private final @Nullable Tensor dy;
        private final Tensor dx;
        private final @Nullable Tensor states;
        private final @Nullable Tensor du;
        private final int[] lengths;
        /** Which sequence each row is: the longest first, so that those with a step are always the first ones. */
        private final int[] order;
        private final double[] dpeepholes;

        Run(FloatRecurrenceGrad kernel, Arguments all, Memory memory, KernelContext context) {
            operands = kernel.operands;
            s = kernel.s;
            cell = s.recurrence().cell();
            n = s.size();
            this.all = all;
            this.memory = memory;
            this.context = context;
            y = all.get(0);
            saved = s.saved() > 0 ? all.get(1) : null;
            dy = all.optional(operands.gradients());
            dx = all.get(operands.outputs());
            states = all.optional(operands.outputs() + 1);
            du = cell == Cell.GRU ? all.optional(operands.outputs() + 3) : null;
            lengths = s.lengths(s.recurrence().lengths() ? all.get(operands.gradients() - 1) : null);
            order = s.longestFirst(lengths);
            dpeepholes = new double[cell == Cell.PEEPHOLE_LSTM ? PEEPHOLES * n : 0];
        }

        void all() {
            memory.workspace.begin(transposed(all.get(operands.grad().weights())), context);
            if (cell == Cell.PEEPHOLE_LSTM) {
                peepholes(all.get(operands.more()));
            } else if (cell == Cell.RESET_GRU) {
                Objects.requireNonNull(memory.candidate).begin(transposed(all.get(operands.more())), context);
            }
            Arrays.fill(memory.kept, 0);
            int active = 0;
            for (int step = s.steps() - 1; step >= 0; step--) {
                while (active < order.length && lengths[order[active]] > step) {
                    last(active++);
                }
                if (active > 0) {
                    step(step, active);
                }
            }
            while (active < order.length) {
                last(active++);
            }
            for (int row = 0; row < order.length; row++) {
                FloatRecurrence.store(all.optional(operands.outputs() + 2), 0, order[row], memory.dh, row * n, n);
                if (cell.isLstm()) {
                    FloatRecurrence.store(all.optional(operands.outputs() + 3), 0, order[row], memory.dc, row * n, n);
                }
            }
            if (cell == Cell.PEEPHOLE_LSTM) {
                dpeepholes(all.optional(operands.outputs() + 4));
            }
            if (s.recurrence().lengths()) {
                zeros();
            }
        }

        /** The gradients of what a sequence ends with. */
        private void last(int row) {
            last(all.optional(operands.gradients() + 1), row, memory.dh);
            if (cell.isLstm()) {
                last(all.optional(operands.gradients() + 2), row, memory.dc);
            }
        }

        private void last(@Nullable Tensor given, int row, float[] into) {
            if (given == null) {
                Arrays.fill(into, row * n, (row + 1) * n, 0);
            } else {
                FloatRecurrence.load(given, 0, order[row], into, row * n, n);
            }
        }

        private int time(int step, int row) {
            return s.step(step, lengths[order[row]]);
        }

        private void step(int step, int active) {
            int count = active * n;
            if (dy != null) {
                load(dy, step, active, n, memory.inner);
                FloatGates.add(memory.dh, memory.inner, memory.dh, count);
            }
            if (states != null || cell.gates() == 3) {
                stateBefore(step, active);
            }
            if (saved != null) {
                load(saved, step, active, s.saved(), memory.rows);
                for (int part = 0; part < cell.saved(); part++) {
                    for (int row = 0; row < active; row++) {
                        System.arraycopy(memory.rows, row * s.saved() + part * n, memory.parts[part], row * n, n);
                    }
                }
            } else {
                load(y, step, active, n, memory.rows);
            }
            switch (cell) {
                case LSTM, PEEPHOLE_LSTM -> lstm(step, active);
                case GRU -> gru(active);
                case RESET_GRU -> resetGru(active);
                case TANH -> FloatGateGrads.tanh(memory.dh, memory.rows, memory.parts[0], count);
                case RELU -> FloatGateGrads.relu(memory.dh, memory.rows, memory.parts[0], count);
            }
            for (int gate = 0; gate < cell.gates(); gate++) {
                scatter(memory.parts[gate], active, s.gates(), s.gate(gate), memory.dx);
            }
            store(dx, step, active, s.gates(), memory.dx);
            if (cell == Cell.GRU) {
                System.arraycopy(memory.dx, 0, memory.du, 0, active * s.gates());
                scatter(memory.inner, active, s.gates(), s.gate(2), memory.du);
                if (du != null) {
                    store(du, step, active, s.gates(), memory.du);
                }
            } else if (cell == Cell.RESET_GRU) {
                scatter(memory.parts[0], active, s.products(), s.gate(0), memory.du);
                scatter(memory.parts[1], active, s.products(), s.gate(1), memory.du);
            }
            memory.workspace.multiply(memory.du, memory.kept, memory.dh, active, context);
        }

        /** Loads the state before a step, which is a result too. */
        private void stateBefore(int step, int active) {
            if (step > 0) {
                load(y, step - 1, active, n, memory.before);
            } else {
                Tensor first = all.get(operands.grad().weights() + 1);
                for (int row = 0; row < active; row++) {
                    FloatRecurrence.load(first, 0, order[row], memory.before, row * n, n);
                }
            }
            if (states != null) {
                store(states, step, active, n, memory.before);
            }
        }

        private void cellBefore(int step, int active) {
            Tensor from = step > 0 ? Objects.requireNonNull(saved) : all.get(operands.grad().weights() + 2);
            long part = step > 0 ? (long) CELL * n : 0;
            for (int row = 0; row < active; row++) {
                FloatRecurrence.load(from, step > 0 ? time(step - 1, row) : 0, order[row], part, memory.before,
                        row * n, n);
            }
        }

        private void lstm(int step, int active) {
            int count = active * n;
            float[][] parts = memory.parts;
            cellBefore(step, active);
            FloatGates.tanh(parts[CELL], memory.inner, count);
            FloatGateGrads.output(memory.dh, memory.inner, parts[3], memory.dc, count);
            if (cell == Cell.PEEPHOLE_LSTM) {
                FloatGates.addProduct(memory.dc, parts[3], memory.peepholes[2], count);
            }
            FloatGateGrads.cell(memory.dc, parts[0], parts[1], parts[2], memory.before, count);
            if (cell == Cell.PEEPHOLE_LSTM) {
                FloatGates.addProduct(memory.dc, parts[0], memory.peepholes[0], count);
                FloatGates.addProduct(memory.dc, parts[1], memory.peepholes[1], count);
                dpeephole(0, parts[0], memory.before, active);
                dpeephole(1, parts[1], memory.before, active);
                dpeephole(3, parts[3], parts[CELL], active);
            }
        }

        private void gru(int active) {
            int count = active * n;
            float[][] parts = memory.parts;
            FloatGateGrads.mix(memory.dh, parts[1], parts[2], memory.before, memory.kept, count);
            System.arraycopy(parts[2], 0, memory.inner, 0, memory.inner.length);
            FloatGateGrads.reset(memory.inner, parts[3], parts[0], count);
        }

        private void resetGru(int active) {
            int count = active * n;
            float[][] parts = memory.parts;
            FloatGateGrads.mix(memory.dh, parts[1], parts[2], memory.before, memory.kept, count);
            System.arraycopy(parts[2], 0, memory.dreset, 0, count);
            Arrays.fill(memory.dh, 0);
            Objects.requireNonNull(memory.candidate).multiply(memory.dreset, memory.dh, memory.inner, active, context);
            FloatGateGrads.reset(memory.inner, memory.before, parts[0], count);
            FloatGates.add(memory.kept, memory.inner, memory.kept, count);
        }

        private void peepholes(Tensor given) {
            int[] gates = {0, 1, 3};
            for (int i = 0; i < PEEPHOLES; i++) {
                for (int row = 0; row < s.batch(); row++) {
                    FloatRecurrence.load(given, 0, 0, s.peephole(gates[i]), memory.peepholes[i], row * n, n);
                }
            }
        }

        private void dpeephole(int gate, float[] gradient, float[] cells, int active) {
            int at = s.peephole(gate);
            for (int row = 0; row < active; row++) {
                for (int j = 0; j < n; j++) {
                    dpeepholes[at + j] += (double) gradient[row * n + j] * cells[row * n + j];
                }
            }
        }

        private void dpeepholes(@Nullable Tensor to) {
            float[] sums = new float[dpeepholes.length];
            for (int j = 0; j < sums.length; j++) {
                sums[j] = (float) dpeepholes[j];
            }
            FloatRecurrence.store(to, 0, 0, sums, 0, sums.length);
        }

        private void scatter(float[] values, int active, int width, int at, float[] to) {
            for (int row = 0; row < active; row++) {
                System.arraycopy(values, row * n, to, row * width + at, n);
            }
        }

        private void load(Tensor tensor, int step, int active, int width, float[] into) {
            if (s.isTogether(tensor, width)) {
                FloatRecurrence.load(tensor, time(step, 0), 0, into, 0, active * width);
                return;
            }
            for (int row = 0; row < active; row++) {
                FloatRecurrence.load(tensor, time(step, row), order[row], into, row * width, width);
            }
        }

        private void store(Tensor tensor, int step, int active, int width, float[] values) {
            if (s.isTogether(tensor, width)) {
                FloatRecurrence.store(tensor, time(step, 0), 0, values, 0, active * width);
                return;
            }
            for (int row = 0; row < active; row++) {
                FloatRecurrence.store(tensor, time(step, row), order[row], values, row * width, width);
            }
        }

        /** Past the end of a sequence nothing has a gradient. */
        private void zeros() {
            float[] zeros = new float[s.gates()];
            for (int b = 0; b < lengths.length; b++) {
                for (int t = lengths[b]; t < s.steps(); t++) {
                    FloatRecurrence.store(dx, t, b, zeros, 0, s.gates());
                    FloatRecurrence.store(states, t, b, zeros, 0, n);
                    FloatRecurrence.store(du, t, b, zeros, 0, s.gates());
                }
            }
        }
    }
}
