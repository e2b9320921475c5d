package io.seriatim.tensor.onednn;

import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.ref.Reference;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Cross entropy of class numbers along the last axis: the library's softmax, then one logarithm for each row. If the
 * label's probability is so small that it has lost digits, the loss is computed from the logits.
 */
final class CrossEntropyKernel implements Kernel {
    private static final double EXACT = 1e-30;

    private final CrossEntropy computation;
    private final SoftmaxKernel softmax;
    private final long rows;
    private final long classes;

    private CrossEntropyKernel(CrossEntropy computation, SoftmaxKernel softmax, long rows, long classes) {
        this.computation = computation;
        this.softmax = softmax;
        this.rows = rows;
        this.classes = classes;
    }

    static @Nullable Kernel of(Dnnl dnnl, CrossEntropy computation, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[2]);
        int axis = x.shape().axis(computation.axis());
        if (computation.soft() || axis != x.shape().rank() - 1 || !NormalisationRecipes.isWhole(arguments)
                || !NormalisationRecipes.isRowMajor(arguments)
                || !NormalisationRecipes.areFloat32(x, y)) {
            return null;
        }
        DnnlKernel fast = DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor data = builder.describe(x);
            PrimitiveDescriptor descriptor = builder.keepFast(NormalisationRecipes.trySoftmax(builder,
                    DnnlConstants.FORWARD_INFERENCE, false, data, data, axis));
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor, new Operand(DnnlConstants.SRC, 0, data), new Operand(DnnlConstants.DST, 2, data));
            return true;
        });
        SoftmaxKernel softmax = SoftmaxKernel.of(dnnl, fast, 2, y, axis);
        return softmax == null
                ? null
                : new CrossEntropyKernel(computation, softmax, x.shape().size() / x.shape().dim(-1), x.shape().dim(-1));
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        try {
            compute(arguments, context);
        } finally {
            Reference.reachabilityFence(arguments);
        }
    }

    private void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor labels = Objects.requireNonNull(arguments[1]);
        for (long row = 0; row < rows; row++) {
            label(labels, row);
        }
        softmax.run(arguments, context);
        Tensor logits = Objects.requireNonNull(arguments[0]);
        Tensor probabilities = Objects.requireNonNull(arguments[2]);
        Tensor losses = Objects.requireNonNull(arguments[3]);
        for (long row = 0; row < rows; row++) {
            long label = label(labels, row);
            double loss = label == computation.ignoreIndex() ? 0 : loss(logits, probabilities, row, label);
            Doubles.set(losses.memory(), losses.dtype(), losses.offset() + row * losses.dtype().bytes(), loss);
        }
    }

    private double loss(Tensor logits, Tensor probabilities, long row, long label) {
        double probability = get(probabilities, row * classes + label);
        if (probability >= EXACT || Double.isNaN(probability)) {
            return -Math.log(probability);
        }
        double most = Double.NEGATIVE_INFINITY;
        for (long j = 0; j < classes; j++) {
            most = Math.max(most, get(logits, row * classes + j));
        }
        double sum = 0;
        for (long j = 0; j < classes; j++) {
            sum += Math.exp(get(logits, row * classes + j) - most);
        }
        return most + Math.log(sum) - get(logits, row * classes + label);
    }

    private static double get(Tensor tensor, long index) {
        return Doubles.get(tensor.memory(), tensor.dtype(), tensor.offset() + index * tensor.dtype().bytes());
    }

    private long label(Tensor labels, long row) {
        long label = Longs.get(labels.memory(), labels.dtype(), labels.offset() + row * labels.dtype().bytes());
        if (label != computation.ignoreIndex() && (label < 0 || label >= classes)) {
            throw new IndexRangeException(
                    "cross_entropy: the label of row " + row + " must be from 0 to " + (classes - 1) + ", or "
                            + computation.ignoreIndex()
                            + " to be ignored, but is " + label);
        }
        return label;
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public void load() {
        softmax.load();
    }

    @Override
    public long bytes() {
        return softmax.bytes();
    }

    @Override
    public void release() {
        softmax.release();
    }

    @Override
    public void close() {
        softmax.close();
    }
}
