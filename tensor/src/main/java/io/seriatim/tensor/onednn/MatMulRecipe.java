package io.seriatim.tensor.onednn;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Matrix products. All operands get the same number of dimensions; if y has no batch dimensions, those of x become rows
 * of one large product.
 */
final class MatMulRecipe {
    private static final int MOST_DIMENSIONS = 12;
    private static final long FEW_ROWS = 4;
    /** The columns of a panel; a multiple of the library's blocks. */
    private static final long PANEL = 256;
    /** Fewer weights stay in the cache anyway. */
    private static final long MANY_WEIGHTS = 1 << 16;
    /** Rows whose distance is at least so many elements share a few sets of the first-level cache. */
    private static final long WIDE = 512;
    /** With so many products for each element of a result, a second pass over the result is cheap. */
    private static final long DEEP = 256;
    /** Elements of 16 bits in a row of a matrix unit. */
    private static final long TILE = 32;
    /** The index of y among the arguments. */
    private static final int WEIGHTS = 1;
    private static final PostOp ADD = new PostOp.Combine(Binary.Function.ADD);

    /** Columns of so many weights are read as fast one after the other as in blocks. */
    private static final long LONG_COLUMN = 768;
    /** So are those of as many times more weights than there are columns. */
    private static final long TALL = 3;
    /** Up to so many rows, the library chooses other layouts for each number of rows. */
    private static final long EXACT_ROWS = 16;
    /** Whether the library has a fast product. */
    private static final Decisions<ProductStructure, Boolean> FAST = new Decisions<>();
    /** The layouts that weights are packed to. */
    private static final Decisions<WeightsOfRows, TensorSpec> PREFERRED = new Decisions<>();

    /** Weights that so many rows are multiplied by. */
    private record WeightsOfRows(long rows, TensorSpec weights, boolean transposed) {
    }

    private final MatMul computation;
    private final boolean exchanged;
    private final boolean vectorX;
    private final TensorSpec y;
    private final TensorSpec out;
    private final List<TensorSpec> extra;
    /** Operands with equal numbers of dimensions. */
    private final MatrixView left;
    private final @Nullable MatrixView right;
    private final MatrixView result;
    /** The number of dimensions before those of batches became rows. */
    private final int wholeRank;

    private MatMulRecipe(MatMul computation, boolean exchanged, TensorSpec x, TensorSpec y, List<TensorSpec> extra,
            TensorSpec out) {
        this.computation = computation;
        this.exchanged = exchanged;
        this.vectorX = x.shape().rank() == 1;
        this.y = y;
        this.out = out;
        this.extra = extra;
        int rank = Math.max(2, Math.max(x.shape().rank(), y.shape().rank()));
        wholeRank = rank;
        MatrixView a = MatrixView.of(x, rank, computation.transposeX() && x.shape().rank() > 1, true).stepped();
        MatrixView c = resultMatrix(out, rank).stepped();
        boolean flat = rank > 2 && y.shape().rank() <= 2 && !computation.transposeX() && a.hasRows() && c.hasRows()
                && extra.stream().allMatch(this::isFlat);
        left = flat ? a.rows() : a;
        result = flat ? c.rows() : c;
        right = y.layout() instanceof Layout.Opaque
                ? null
                : MatrixView.of(y, flat ? 2 : rank, computation.transposeY() && y.shape().rank() > 1, false).stepped();
    }

    static @Nullable Kernel kernel(Dnnl dnnl, MatMul computation, @Nullable TensorSpec[] arguments) {
        MatMul likely = withBiasByColumn(computation, arguments);
        List<PostOp> postOps = likely.postOps();
        Kernel kernel = fused(dnnl, likely, false, arguments);
        // As many post-ops as the library can fuse; the others follow as kernels.
        for (int with = postOps.size() - 1; with >= 0 && kernel == null; with--) {
            MatMul first = new MatMul(likely.transposeX(), likely.transposeY(), likely.bias(),
                    postOps.subList(0, with));
            kernel = UnfusedPostOps.of(postOps.subList(with, postOps.size()), first, arguments,
                    (product, operands) -> fused(dnnl, product, false, operands));
        }
        return kernel;
    }

    /**
     * One value for each column is cheapest as a bias; other addends become post-ops, since the library has no other
     * biases.
     */
    private static MatMul withBiasByColumn(MatMul computation, @Nullable TensorSpec[] arguments) {
        List<PostOp> postOps = new ArrayList<>(computation.postOps());
        boolean first = !postOps.isEmpty() && postOps.getFirst().equals(ADD);
        if (arguments.length == 3 || (!computation.bias() && !first)) {
            return computation;
        }
        TensorSpec out = Objects.requireNonNull(arguments[arguments.length - 1]);
        TensorSpec addend = Specs.collapsed(Objects.requireNonNull(arguments[2]));
        boolean vectors = Objects.requireNonNull(arguments[0]).shape().rank() == 1
                || Objects.requireNonNull(arguments[1]).shape().rank() == 1;
        boolean byColumn = !vectors && addend.shape().rank() > 0 && addend.shape().dim(-1) == out.shape().dim(-1)
                && addend.shape().size() == out.shape().dim(-1);
        if (byColumn == computation.bias()) {
            return computation;
        }
        if (byColumn) {
            postOps.removeFirst();
        } else {
            postOps.addFirst(ADD);
        }
        return new MatMul(computation.transposeX(), computation.transposeY(), byColumn, postOps);
    }

    /**
     * Null where the library has no product with these post-ops, or only one that takes longer than separate kernels.
     *
     * @param exchanged
     *            whether y comes before x among the arguments
     */
    static @Nullable Kernel fused(Dnnl dnnl, MatMul computation, boolean exchanged, @Nullable TensorSpec[] arguments) {
        TensorSpec wholeX = Objects.requireNonNull(arguments[exchanged ? 1 : 0]);
        TensorSpec wholeY = Objects.requireNonNull(arguments[exchanged ? 0 : 1]);
        TensorSpec wholeOut = Objects.requireNonNull(arguments[arguments.length - 1]);
        boolean[] single = singleBatches(wholeX, wholeY, wholeOut);
        TensorSpec x = without(single, wholeX);
        TensorSpec y = without(single, wholeY);
        TensorSpec out = without(single, wholeOut);
        List<TensorSpec> extra = new ArrayList<>();
        for (int i = 2; i < arguments.length - 1; i++) {
            extra.add(without(single, Specs.collapsed(Objects.requireNonNull(arguments[i]))));
        }
        boolean weightsOpaque = y.layout() instanceof Layout.Opaque;
        if (out.shape().size() == 0 || x.shape().size() == 0 || !Specs.areForward(x, out)
                || (!weightsOpaque && !Specs.areForward(y))
                || !Specs.areForward(extra.toArray(TensorSpec[]::new))
                || Math.max(x.shape().rank(), y.shape().rank()) > MOST_DIMENSIONS
                || (weightsOpaque && y.shape().rank() != 2)) {
            return null;
        }
        MatMulRecipe recipe = new MatMulRecipe(computation, exchanged, x, y, extra, out);
        boolean batches = weightsOpaque && recipe.result.dims().length > 2;
        if (batches || recipe.hasSlowOperand() || recipe.hasMisreadOperand() || recipe.isMisread()) {
            return null;
        }
        Kernel blocks = weightsOpaque ? recipe.inBlocks(dnnl) : null;
        if (blocks != null) {
            return blocks;
        }
        return isCertain(dnnl, computation, x, y, extra, out)
                ? new LazyKernel(() -> recipe.make(dnnl, arguments), WEIGHTS,
                        given -> recipe.preferredWeights(dnnl, given))
                : DnnlKernel.of(dnnl, recipe::build, recipe::preferred);
    }

    /** Null if the library has no fast product of these matrices. */
    static @Nullable DnnlKernel whole(Dnnl dnnl, MatMul computation, List<TensorSpec> operands) {
        int last = operands.size() - 1;
        MatMulRecipe recipe = new MatMulRecipe(computation, false, operands.get(0), operands.get(1),
                operands.subList(2, last), operands.get(last));
        return DnnlKernel.of(dnnl, recipe::build);
    }

    /** Null if the rows are not computed in blocks. */
    private @Nullable Kernel inBlocks(Dnnl dnnl) {
        if (exchanged || left.dims().length != 2) {
            return null;
        }
        List<MatrixView> matrices = new ArrayList<>();
        matrices.add(left);
        extra.forEach(operand -> matrices.add(broadcast(squeezed(operand))));
        matrices.add(result);
        return RowBlocks.of(new MatMul(false, false, computation.bias(), computation.postOps()), matrices, y,
                () -> DnnlKernel.of(dnnl, this::build));
    }

    /** Whether the library has a fast product for operands of any sizes that are laid out like these. */
    private static boolean isCertain(Dnnl dnnl, MatMul computation, TensorSpec x, TensorSpec y, List<TensorSpec> extra,
            TensorSpec out) {
        List<TensorSpec> operands = new ArrayList<>(List.of(x, y));
        operands.addAll(extra);
        operands.add(out);
        if (!ProductStructure.represents(operands)) {
            return false;
        }
        ProductStructure structure = ProductStructure.of(computation, operands);
        return FAST.get(structure, () -> isFast(dnnl, structure));
    }

    private static boolean isFast(Dnnl dnnl, ProductStructure structure) {
        try (DnnlKernel kernel = whole(dnnl, structure.computation(), structure.operands())) {
            return kernel != null;
        }
    }

    private Kernel make(Dnnl dnnl, @Nullable TensorSpec[] arguments) {
        Kernel kernel = DnnlKernel.of(dnnl, this::build, this::preferred);
        if (kernel != null) {
            return kernel;
        }
        // The library may treat some sizes unlike others.
        @Nullable
        TensorSpec[] inOrder = arguments.clone();
        inOrder[0] = arguments[exchanged ? 1 : 0];
        inOrder[1] = arguments[exchanged ? 0 : 1];
        Kernel portable = Kernels.portable().prepare(computation, Place.CPU, inOrder);
        return exchanged ? new ExchangedOperands(portable) : portable;
    }

    /** A product whose operands are given in the other order. */
    private record ExchangedOperands(Kernel product) implements Kernel {
        @Override
        public void run(@Nullable Tensor[] arguments, KernelContext context) {
            @Nullable
            Tensor[] inOrder = arguments.clone();
            inOrder[0] = arguments[1];
            inOrder[1] = arguments[0];
            product.run(inOrder, context);
        }

        @Override
        public String provider() {
            return product.provider();
        }
    }

    /**
     * The batch dimensions of length 1 in the result and all operands. They are left out: some of their strides, which
     * nothing uses, mislead the library.
     */
    private static boolean[] singleBatches(TensorSpec x, TensorSpec y, TensorSpec out) {
        int rank = out.shape().rank();
        boolean[] single = new boolean[rank];
        if (x.shape().rank() > 1 && y.shape().rank() > 1) {
            for (int i = 0; i < rank - 2; i++) {
                single[i] = out.shape().dim(i) == 1;
            }
        }
        return single;
    }

    /** An operand without some dimensions of the result that it broadcasts to. */
    private static TensorSpec without(boolean[] left, TensorSpec operand) {
        int rank = operand.shape().rank();
        int more = left.length - rank;
        int[] kept = IntStream.range(0, rank).filter(i -> more + i < 0 || !left[more + i]).toArray();
        if (kept.length == rank) {
            return operand;
        }
        long[] dims = operand.shape().dims();
        long[] strides = operand.strides();
        return new TensorSpec(operand.dtype(), Shape.of(Arrays.stream(kept).mapToLong(i -> dims[i]).toArray()),
                Layout.strided(Arrays.stream(kept).mapToLong(i -> strides[i]).toArray()));
    }

    /**
     * Whether the library would read and write beyond memory (oneDNN 3.11). It takes batches for contiguous if the
     * ratio of their largest and smallest strides is the number of batches, which may be a coincidence, and those of y
     * if each has a single row.
     */
    private boolean isMisread() {
        int count = result.dims().length - 2;
        if (count == 0) {
            return false;
        }
        long batches = Arrays.stream(result.dims(), 0, count).reduce(1, Math::multiplyExact);
        boolean rowsApart = right != null && right.dims()[count] == 1 && !right.isDense();
        return rowsApart || left.isMisread(batches) || result.isMisread(batches)
                || (right != null && right.isMisread(batches));
    }

    /** The result, or an operand of its shape: a vector's dimension, which it leaves out, is put back. */
    private MatrixView resultMatrix(TensorSpec spec, int rank) {
        boolean vectorY = y.shape().rank() == 1;
        long[] own = spec.shape().dims();
        long[] ownStrides = spec.strides();
        long[] dims = new long[rank];
        long[] strides = new long[rank];
        int from = own.length - 1;
        for (int i = rank - 1; i >= 0; i--) {
            boolean added = (i == rank - 1 && vectorY) || (i == rank - 2 && vectorX) || from < 0;
            dims[i] = added ? 1 : own[from];
            strides[i] = added ? i == rank - 1 ? 1 : Math.max(1, strides[i + 1] * dims[i + 1]) : ownStrides[from];
            from -= added ? 0 : 1;
        }
        return new MatrixView(dims, strides, spec.dtype());
    }

    /**
     * An operand that repeats for every row, or has the shape of the result, can be viewed with rows in place of
     * batches.
     */
    private boolean isFlat(TensorSpec operand) {
        int rank = operand.shape().rank();
        boolean row = rank <= 1 || operand.shape().size() == operand.shape().dim(-1);
        return row || (operand.shape().equals(out.shape()) && resultMatrix(operand, wholeRank).stepped().hasRows());
    }

    /** An operand that broadcasts to the result. */
    private MatrixView broadcast(TensorSpec operand) {
        int rank = result.dims().length;
        if (operand.shape().equals(out.shape()) && operand.shape().rank() != rank) {
            MatrixView matrix = resultMatrix(operand, wholeRank);
            return rank == wholeRank ? matrix : matrix.stepped().rows();
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
        return new MatrixView(dims, strides, operand.dtype());
    }

    /**
     * With several batch dimensions, an operand that is repeated along some dimensions and not along others is read
     * element by element, but for a matrix that is the same for all. That one is read wrongly in products of 16 bits
     * (oneDNN 3.11).
     */
    private boolean hasSlowOperand() {
        int rank = result.dims().length;
        if (rank < 4) {
            return false;
        }
        for (TensorSpec operand : extra.subList(computation.bias() ? 1 : 0, extra.size())) {
            long size = operand.shape().size();
            boolean byColumn = operand.shape().rank() > 0 && size == operand.shape().dim(-1);
            boolean byMatrix = left.dtype() == DType.FLOAT32 && operand.shape().rank() > 1
                    && operand.shape().dim(-1) == result.dims()[rank - 1]
                    && operand.shape().dim(-2) == result.dims()[rank - 2]
                    && size == operand.shape().dim(-1) * operand.shape().dim(-2);
            if (size != 1 && !byColumn && !byMatrix && size != out.shape().size()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Where a result is not dense, as a part of another tensor may be, the library finds the elements of an operand
     * that is repeated along some dimensions as if it were: it reads other ones, or what lies behind them (oneDNN
     * 3.11).
     */
    private boolean hasMisreadOperand() {
        if (result.dims().length < 3 || result.isDense()) {
            return false;
        }
        return extra.subList(computation.bias() ? 1 : 0, extra.size()).stream()
                .mapToLong(operand -> operand.shape().size())
                .anyMatch(size -> size != 1 && size != out.shape().size());
    }

    private static MemoryDescriptor describe(SequenceBuilder builder, MatrixView matrix) {
        return builder.describe(matrix.dims(), matrix.dtype(), matrix.strides());
    }

    private boolean build(SequenceBuilder builder) {
        return (isOfFewRows() && builder.threads() == 1 && buildPanels(builder)) || buildWhole(builder);
    }

    /** With few rows, each weight is used few times, so that reading the weights takes most of the time. */
    private boolean isOfFewRows() {
        return right == null && y.dtype() == result.dtype() && left.dims().length == 2 && !readsBesideRows()
                && left.dims()[0] <= FEW_ROWS
                && computation.postOps().isEmpty()
                && result.dims()[1] > PANEL && left.dims()[1] * result.dims()[1] >= MANY_WEIGHTS
                && extra.stream().allMatch(TensorSpec::isRowMajor);
    }

    /**
     * Whether the library would read elements after the rows of x and multiply them by 0 (oneDNN 3.11): in 16 bits, if
     * rows are not contiguous, it reads whole tiles. That gives NaN if such an element is NaN or infinite, and reads
     * beyond memory after the last row.
     */
    private boolean readsBesideRows() {
        int last = left.dims().length - 1;
        return left.dtype().bytes() == 2 && left.dims()[last] % TILE != 0 && left.strides()[last] == 1
                && !left.isDense();
    }

    /**
     * Computes panels of columns one after the other, beginning with the packed weights of the last run that are still
     * in the cache.
     */
    private boolean buildPanels(SequenceBuilder builder) {
        Dnnl dnnl = builder.dnnl();
        MemoryDescriptor whole = builder.describe(y);
        long columns = result.dims()[1];
        MemoryDescriptor src = describe(builder, left);
        long offset = 0;
        List<Runnable> panels = new ArrayList<>();
        for (long from = 0; from < columns; from += PANEL) {
            long width = Math.min(PANEL, columns - from);
            MemoryDescriptor any = builder.describeAny(new long[]{left.dims()[1], width}, result.dtype());
            MemoryDescriptor bias = computation.bias()
                    ? builder.describe(new long[]{1, width}, result.dtype(), new long[]{width, 1})
                    : null;
            MemoryDescriptor dst =
                    builder.describe(new long[]{left.dims()[0], width}, result.dtype(), result.strides());
            PrimitiveDescriptor descriptor = builder
                    .keepFast(builder.primitives().tryMatMul(src, any, bias, dst, builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            MemoryDescriptor weights = builder.copied(dnnl.get(descriptor, DnnlConstants.QUERY_WEIGHTS));
            if (!dnnl.haveSameBlocks(whole, weights)) {
                return false;
            }
            List<Operand> operands = new ArrayList<>();
            operands.add(new Operand(DnnlConstants.SRC, exchanged ? 1 : 0, src));
            operands.add(new Operand(DnnlConstants.WEIGHTS, exchanged ? 0 : 1, weights, offset, 0));
            if (bias != null) {
                operands.add(new Operand(DnnlConstants.BIAS, 2, bias, from * result.dtype().bytes(), 0));
            }
            operands.add(new Operand(DnnlConstants.DST, 2 + extra.size(), dst, from * result.dtype().bytes(), 0));
            panels.add(() -> builder.step(descriptor, operands.toArray(Operand[]::new)));
            offset += dnnl.size(weights);
        }
        // Panels are contiguous only if the blocks of columns are.
        if (offset != dnnl.size(whole)) {
            return false;
        }
        builder.alternateDirection();
        panels.forEach(Runnable::run);
        return true;
    }

    private boolean buildWhole(SequenceBuilder builder) {
        MemoryDescriptor given = describe(builder, left);
        MemoryDescriptor src = readsBesideRows()
                ? builder.describe(left.dims(), left.dtype(), Shape.of(left.dims()).strides())
                : given;
        MemoryDescriptor weights = right == null ? builder.describe(y) : describe(builder, right);
        MemoryDescriptor dst = describe(builder, result);
        List<MatrixView> operandsGiven = new ArrayList<>();
        List<MemoryDescriptor> others = new ArrayList<>();
        for (TensorSpec operand : extra) {
            MatrixView matrix = broadcast(squeezed(operand));
            operandsGiven.add(matrix);
            // The library ignores the strides of these operands: those that are not dense are copied first.
            others.add(builder.describe(matrix.dims(), matrix.dtype(), Shape.of(matrix.dims()).strides()));
        }
        int ofSums = exchanged || left.dtype().isFloating() ? 0 : SumFactors.of(computation, operandsGiven, result);
        MemoryDescriptor bias = computation.bias() ? others.getFirst() : ofSums > 1 ? others.get(1) : null;
        List<MemoryDescriptor> combined = others.subList(computation.bias() ? 1 : ofSums, others.size());
        Attributes attributes =
                builder.tryAttributes(computation.postOps().subList(ofSums, computation.postOps().size()), combined);
        if (attributes == null) {
            return false;
        }
        SumFactors.set(ofSums, builder.dnnl(), attributes, operandsGiven);
        PrimitiveDescriptor preferred = builder
                .keepFast(builder.primitives().tryMatMul(src, weights, bias, dst, attributes));
        if (preferred == null) {
            return false;
        }
        PrimitiveDescriptor copying = isBetterCopied()
                ? GemmImplementation.tryFind(builder,
                        builder.keep(builder.primitives().tryMatMul(src, weights, bias, dst, attributes)), preferred)
                : null;
        List<Operand> operands = new ArrayList<>();
        operands.add(builder.input(DnnlConstants.SRC, exchanged ? 1 : 0, given, src));
        operands.add(new Operand(DnnlConstants.WEIGHTS, exchanged ? 0 : 1, weights));
        if (ofSums > 0) {
            operands.add(SumFactors.operand(builder, operandsGiven.getFirst()));
        }
        if (bias != null) {
            int at = computation.bias() ? 0 : 1;
            operands.add(builder.input(DnnlConstants.BIAS, 2 + at, describe(builder, operandsGiven.get(at)), bias));
        }
        addCombined(builder, operands, operandsGiven, others, ofSums);
        operands.add(new Operand(DnnlConstants.DST, 2 + extra.size(), dst));
        builder.step(copying == null ? preferred : copying, operands.toArray(Operand[]::new));
        return true;
    }

    /**
     * Whether it is faster to pack both operands into panels, as {@link GemmImplementation} does: if x is transposed,
     * or if the rows of y are so far apart that few of them fit into the first-level cache. Its post-ops are a second
     * pass over the result, which costs more than it saves if an element has few products. The parts of a product that
     * is split are decided alike.
     */
    private boolean isBetterCopied() {
        if (right == null || left.dims().length != 2 || left.dtype() != DType.FLOAT32 || right.dtype() != DType.FLOAT32
                || result.dtype() != DType.FLOAT32) {
            return false;
        }
        boolean plain = extra.isEmpty() && computation.postOps().isEmpty();
        boolean transposed = left.strides()[0] == 1 && left.strides()[1] > 1;
        boolean wide = right.strides()[1] == 1 && right.strides()[0] >= WIDE;
        return transposed ? plain : wide && (plain || left.dims()[1] >= DEEP);
    }

    /** Drops leading dimensions of length 1 beyond the rank of the result's matrix. */
    private TensorSpec squeezed(TensorSpec operand) {
        int rank = result.dims().length;
        int more = operand.shape().rank() - rank;
        if (more <= 0 || operand.shape().equals(out.shape())) {
            return operand;
        }
        long[] strides = operand.strides();
        return new TensorSpec(operand.dtype(), operand.shape().slice(more, operand.shape().rank()),
                Layout.strided(Arrays.copyOfRange(strides, more, strides.length)));
    }

    private void addCombined(SequenceBuilder builder, List<Operand> operands, List<MatrixView> given,
            List<MemoryDescriptor> wanted, int from) {
        int next = computation.bias() ? 1 : from;
        for (int i = from; i < computation.postOps().size(); i++) {
            if (computation.postOps().get(i) instanceof PostOp.Combine) {
                operands.add(builder.input(DnnlConstants.POST_OP * (i - from + 1) | DnnlConstants.SRC_1, 2 + next,
                        describe(builder, given.get(next)), wanted.get(next)));
                next++;
            }
        }
    }

    /** For weights that are read transposed, the layout of the transposed ones, which a plain product reads. */
    private TensorSpec preferred(SequenceBuilder builder, int argument, TensorSpec given) {
        return argument == WEIGHTS && isOfMatrices(given)
                ? preferredWeights(builder, given, describe(builder, left), describe(builder, result))
                : given;
    }

    private boolean isOfMatrices(TensorSpec given) {
        return !exchanged && right != null && right.dims().length == 2 && given.shape().rank() == 2;
    }

    private TensorSpec preferredWeights(SequenceBuilder builder, TensorSpec given, MemoryDescriptor src,
            MemoryDescriptor dst) {
        MatrixView weights = Objects.requireNonNull(right);
        MemoryDescriptor any = builder.describeAny(weights.dims(), weights.dtype());
        PrimitiveDescriptor descriptor =
                builder.keep(builder.primitives().tryMatMul(src, any, null, dst, builder.attributes()));
        MemoryDescriptor wanted = descriptor == null
                ? null
                : builder.dnnl().find(descriptor, DnnlConstants.QUERY_WEIGHTS);
        if (wanted == null || builder.dnnl().equal(wanted, describe(builder, weights))) {
            return given;
        }
        byte[] blob = builder.dnnl().blob(wanted);
        return new TensorSpec(given.dtype(), Shape.of(weights.dims()),
                new Layout.Opaque(OneDnnKernels.PROVIDER, blob, builder.dnnl().size(wanted)));
    }

    /**
     * The number of rows for which the library chooses the layout. For one row it prefers columns one after the other;
     * short ones are read faster in the blocks that it prefers for two.
     */
    private long rowsOfLayout() {
        long rows = left.dims()[0];
        long depth = left.dims()[1];
        if (rows == 1 && left.dtype() == DType.FLOAT32 && depth < Math.min(LONG_COLUMN, TALL * result.dims()[1])) {
            return 2;
        }
        return rows <= EXACT_ROWS ? rows : Long.highestOneBit(2 * rows - 1);
    }

    /**
     * The layout in which weights are read fastest. It is chosen once for a power of two of rows, so that products of
     * other numbers of rows read the same packed weights.
     */
    private TensorSpec preferredWeights(Dnnl dnnl, TensorSpec given) {
        if (!isOfMatrices(given) || !left.isDense() || !result.isDense()) {
            return isOfMatrices(given) ? DnnlKernel.preferred(dnnl, this::preferred, WEIGHTS, given) : given;
        }
        MatrixView weights = Objects.requireNonNull(right);
        long rows = rowsOfLayout();
        WeightsOfRows key = new WeightsOfRows(rows, given, computation.transposeY());
        return PREFERRED.get(key, () -> DnnlKernel.preferred(dnnl, (builder, _, spec) -> preferredWeights(builder, spec,
                builder.rowMajor(rows, weights.dims()[0]), builder.rowMajor(rows, weights.dims()[1])), WEIGHTS, given));
    }
}
