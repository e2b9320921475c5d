package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.MatMul;
import io.seriatim.tensor.kernel.PostOp;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Matrix products. All operands get the same number of dimensions; where y has no batch, x's batch dimensions become rows of one large product. */
final class MatMulRecipe {
    private static final int MOST_DIMENSIONS = 12;

    private final MatMul computation;
    private final TensorSpec y;
    private final TensorSpec out;
    private final List<TensorSpec> extra;
    /** Operands with equal numbers of dimensions. */
    private final Matrix left;
    private final @Nullable Matrix right;
    private final Matrix result;

    /** Dimensions and strides. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Matrix(long[] dims, long[] strides, DType dtype) {
        Matrix rows() {
            int rank = dims.length;
            long rows = 1;
            for (int i = 0; i < rank - 1; i++) {
                rows *= dims[i];
            }
            return new Matrix(new long[]{rows, dims[rank - 1]}, new long[]{strides[rank - 2], strides[rank - 1]}, dtype);
        }

        /** Whether all dimensions but the last lie one after the other. */
        boolean hasRows() {
            for (int i = 0; i < dims.length - 2; i++) {
                if (dims[i] != 1 && strides[i] != strides[i + 1] * dims[i + 1]) {
                    return false;
                }
            }
            return true;
        }
    }

    private MatMulRecipe(MatMul computation, TensorSpec x, TensorSpec y, List<TensorSpec> extra, TensorSpec out) {
        this.computation = computation;
        this.y = y;
        this.out = out;
        this.extra = extra;
        int rank = Math.max(2, Math.max(x.shape().rank(), y.shape().rank()));
        Matrix a = matrix(x, rank, computation.transposeX() && x.shape().rank() > 1, true);
        Matrix c = resultMatrix(x, rank);
        boolean flat = rank > 2 && y.shape().rank() <= 2 && !computation.transposeX() && a.hasRows() && c.hasRows()
                && extra.stream().allMatch(this::isFlat);
        left = flat ? a.rows() : a;
        result = flat ? c.rows() : c;
        right = y.layout() instanceof Layout.Opaque
                ? null
                : matrix(y, flat ? 2 : rank, computation.transposeY() && y.shape().rank() > 1, false);
    }

    static @Nullable Kernel kernel(Dnnl dnnl, MatMul computation, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        TensorSpec out = Objects.requireNonNull(arguments[arguments.length - 1]);
        List<TensorSpec> extra = new ArrayList<>();
        for (int i = 2; i < arguments.length - 1; i++) {
            extra.add(Objects.requireNonNull(arguments[i]));
        }
        boolean weightsOpaque = y.layout() instanceof Layout.Opaque;
        if (out.shape().size() == 0 || x.shape().size() == 0 || !Specs.areForward(x, out) || (!weightsOpaque && !Specs.areForward(y))
                || !Specs.areDense(extra)
                || Math.max(x.shape().rank(), y.shape().rank()) > MOST_DIMENSIONS || (weightsOpaque && y.shape().rank() != 2)) {
            return null;
        }
        MatMulRecipe recipe = new MatMulRecipe(computation, x, y, extra, out);
        return DnnlKernel.of(dnnl, recipe::build, recipe::preferred);
    }

    private static Matrix matrix(TensorSpec spec, int rank, boolean transposed, boolean isLeft) {
        long[] own = spec.shape().dims();
        long[] ownStrides = spec.strides();
        if (own.length == 1) {
            own = isLeft ? new long[]{1, own[0]} : new long[]{own[0], 1};
            ownStrides = isLeft ? new long[]{ownStrides[0] * own[1], ownStrides[0]} : new long[]{ownStrides[0], 1};
        }
        long[] dims = new long[rank];
        long[] strides = new long[rank];
        int added = rank - own.length;
        for (int i = rank - 1; i >= 0; i--) {
            dims[i] = i < added ? 1 : own[i - added];
            strides[i] = i < added ? Math.max(1, strides[i + 1] * dims[i + 1]) : ownStrides[i - added];
        }
        if (transposed) {
            swap(dims, rank);
            swap(strides, rank);
        }
        return new Matrix(dims, strides, spec.dtype());
    }

    private static void swap(long[] values, int rank) {
        long last = values[rank - 1];
        values[rank - 1] = values[rank - 2];
        values[rank - 2] = last;
    }

    /** A vector's dimension, which the result leaves out, is put back. */
    private Matrix resultMatrix(TensorSpec x, int rank) {
        boolean vectorX = x.shape().rank() == 1;
        boolean vectorY = y.shape().rank() == 1;
        long[] own = out.shape().dims();
        long[] ownStrides = out.strides();
        long[] dims = new long[rank];
        long[] strides = new long[rank];
        int from = own.length - 1;
        for (int i = rank - 1; i >= 0; i--) {
            boolean added = (i == rank - 1 && vectorY) || (i == rank - 2 && vectorX) || from < 0;
            dims[i] = added ? 1 : own[from];
            strides[i] = added ? i == rank - 1 ? 1 : Math.max(1, strides[i + 1] * dims[i + 1]) : ownStrides[from];
            from -= added ? 0 : 1;
        }
        return new Matrix(dims, strides, out.dtype());
    }

    /** What repeats for every row, or has the whole result's shape, can be seen with rows in place of batches. */
    private boolean isFlat(TensorSpec operand) {
        int rank = operand.shape().rank();
        boolean row = rank <= 1 || operand.shape().size() == operand.shape().dim(-1);
        return row || operand.shape().equals(out.shape());
    }

    /** An operand that broadcasts to the result. */
    private Matrix broadcast(TensorSpec operand) {
        int rank = result.dims().length;
        if (operand.shape().equals(out.shape()) && operand.shape().rank() != rank) {
            return new Matrix(result.dims(), Shape.of(result.dims()).strides(), operand.dtype());
        }
        long[] dims = new long[rank];
        long[] strides = new long[rank];
        long[] own = operand.shape().dims();
        long[] ownStrides = operand.strides();
        int added = rank - own.length;
        for (int i = rank - 1; i >= 0; i--) {
            boolean one = i < added;
            dims[i] = one ? 1 : own[i - added];
            strides[i] = one ? i == rank - 1 ? 1 : Math.max(1, strides[i + 1] * dims[i + 1]) : ownStrides[i - added];
        }
        return new Matrix(dims, strides, operand.dtype());
    }

    private long describe(SequenceBuilder builder, Matrix matrix) {
        return builder.describe(matrix.dims(), matrix.dtype(), matrix.strides());
    }

    private boolean build(SequenceBuilder builder) {
        long src = describe(builder, left);
        long weights = right == null ? builder.describe(y) : describe(builder, right);
        long dst = describe(builder, result);
        List<Long> others = new ArrayList<>();
        for (TensorSpec operand : extra) {
            Matrix matrix = operand.shape().rank() > result.dims().length && !operand.shape().equals(out.shape())
                    ? null
                    : broadcast(squeezed(operand));
            if (matrix == null) {
                return false;
            }
            others.add(describe(builder, matrix));
        }
        long bias = computation.bias() ? others.getFirst() : 0;
        List<Long> combined = computation.bias() ? others.subList(1, others.size()) : others;
        long attributes = builder.attributes(computation.postOps(), combined);
        if (src == 0 || weights == 0 || dst == 0 || attributes == 0 || (computation.bias() && bias == 0)) {
            return false;
        }
        long description = describe(builder, src, weights, bias, dst, attributes);
        if (description == 0 || builder.dnnl().implementation(description).startsWith("ref")) {
            return false;
        }
        List<Operand> operands = new ArrayList<>();
        operands.add(new Operand(DnnlConstants.SRC, 0, src));
        operands.add(new Operand(DnnlConstants.WEIGHTS, 1, weights));
        if (bias != 0) {
            operands.add(new Operand(DnnlConstants.BIAS, 2, bias));
        }
        addCombined(operands, combined, 2 + (bias == 0 ? 0 : 1));
        operands.add(new Operand(DnnlConstants.DST, 2 + extra.size(), dst));
        builder.step(description, operands.toArray(Operand[]::new));
        return true;
    }

    /** Leading dimensions of length 1 beyond those of the result's matrix go. */
    private TensorSpec squeezed(TensorSpec operand) {
        int rank = result.dims().length;
        int more = operand.shape().rank() - rank;
        if (more <= 0 || operand.shape().equals(out.shape())) {
            return operand;
        }
        long[] strides = operand.strides();
        return new TensorSpec(operand.dtype(), operand.shape().slice(more, operand.shape().rank()),
                Layout.strided(java.util.Arrays.copyOfRange(strides, more, strides.length)));
    }

    private void addCombined(List<Operand> operands, List<Long> combined, int firstSlot) {
        int slot = firstSlot;
        for (int i = 0; i < computation.postOps().size(); i++) {
            if (computation.postOps().get(i) instanceof PostOp.Combine) {
                operands.add(new Operand(DnnlConstants.POST_OP * (i + 1) | DnnlConstants.SRC_1, slot, combined.get(slot - firstSlot)));
                slot++;
            }
        }
    }

    private static long describe(SequenceBuilder builder, long src, long weights, long bias, long dst, long attributes) {
        Dnnl dnnl = builder.dnnl();
        return builder.keep(Dnnl.handle(
                out -> dnnl.call("dnnl_matmul_primitive_desc_create", "ppppppp", out, dnnl.engine(), src, weights, bias, dst, attributes)));
    }

    private TensorSpec preferred(SequenceBuilder builder, int argument, TensorSpec given) {
        if (argument != 1 || right == null || right.dims().length != 2 || given.shape().rank() != 2 || computation.transposeY()) {
            return given;
        }
        long any = builder.describeAny(right.dims(), right.dtype());
        long description = describe(builder, describe(builder, left), any, 0, describe(builder, result), builder.attributes());
        long wanted = description == 0 ? 0 : builder.dnnl().query(description, DnnlConstants.QUERY_WEIGHTS);
        if (wanted == 0 || builder.dnnl().equal(wanted, describe(builder, right))) {
            return given;
        }
        byte[] blob = builder.dnnl().blob(wanted);
        return new TensorSpec(given.dtype(), Shape.of(right.dims()),
                new Layout.Opaque(OneDnnKernels.PROVIDER, blob, builder.dnnl().size(wanted)));
    }
}
