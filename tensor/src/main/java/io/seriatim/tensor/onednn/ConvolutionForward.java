package io.seriatim.tensor.onednn;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Descriptors;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Geometry;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Images;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Convolutions with post-ops. The library computes post-ops that it cannot vectorise element by element, hundreds of
 * times slower than the convolution. So an operand as large as the result is reordered to the result's layout, and a
 * post-op whose operand has neither that shape, nor one value a channel, nor a single one, runs as a kernel of its own.
 */
final class ConvolutionForward {
    /** The index of the weights among the arguments. */
    private static final int WEIGHTS = 1;
    /** Whether the library has a fast convolution. */
    private static final Decisions<ConvolutionStructure, Boolean> FAST = new Decisions<>();
    /** The order in which the layouts of images are tried. */
    private static final Decisions<ConvolutionStructure, List<Images>> ORDER = new Decisions<>();

    private final Convolution convolution;
    private final Geometry geometry;
    private final TensorSpec x;
    private final TensorSpec w;
    private final @Nullable TensorSpec bias;
    private final List<TensorSpec> combined = new ArrayList<>();
    private final TensorSpec y;

    private ConvolutionForward(Convolution convolution, @Nullable TensorSpec[] arguments) {
        this.convolution = convolution;
        geometry = new Geometry(convolution.window(), convolution.groups());
        x = Objects.requireNonNull(arguments[0]);
        w = Objects.requireNonNull(arguments[1]);
        bias = convolution.bias() ? Objects.requireNonNull(arguments[2]) : null;
        y = Objects.requireNonNull(arguments[arguments.length - 1]);
        for (int i = convolution.bias() ? 3 : 2; i < arguments.length - 1; i++) {
            combined.add(padded(Specs.collapsed(Objects.requireNonNull(arguments[i])), y.shape().rank()));
        }
    }

    static @Nullable Kernel kernel(Dnnl dnnl, Convolution convolution, @Nullable TensorSpec[] arguments) {
        ConvolutionForward forward = new ConvolutionForward(convolution, arguments);
        if (!forward.isReadable()) {
            return null;
        }
        Im2colProducts pixels = forward.im2col();
        if (pixels != null && pixels.arePacked()) {
            return pixels.kernel(dnnl);
        }
        Kernel dilated = DilatedDepthwise.of(convolution, arguments);
        if (dilated != null) {
            return dilated;
        }
        Kernel product = forward.x.dtype().isFloating() && forward.isPointwise() ? forward.product(dnnl) : null;
        if (product == null) {
            product = forward.products(dnnl, arguments);
        }
        if (product == null) {
            product = forward.blocks(dnnl);
        }
        if (product != null) {
            return product;
        }
        if (forward.isCertain(dnnl)) {
            return new LazyKernel(() -> forward.make(dnnl, arguments), WEIGHTS,
                    given -> forward.preferred(dnnl, arguments, given));
        }
        Kernel known = DescribedKernels.take(convolution, arguments);
        return known != null ? known : forward.described(dnnl, arguments);
    }

    private @Nullable Kernel described(Dnnl dnnl, @Nullable TensorSpec[] arguments) {
        Kernel fused = DnnlKernel.of(dnnl, this::build, this::preferred);
        return fused != null
                ? fused
                : UnfusedPostOps.of(convolution.postOps(), plain(), arguments,
                        (plain, operands) -> kernel(dnnl, plain, operands));
    }

    private Kernel make(Dnnl dnnl, @Nullable TensorSpec[] arguments) {
        Kernel kernel = described(dnnl, arguments);
        // The library may treat some sizes unlike others.
        return kernel != null ? kernel : Kernels.portable().prepare(convolution, Place.CPU, arguments);
    }

    /** Whether the library has a fast convolution for images of any sizes that are laid out like these. */
    private boolean isCertain(Dnnl dnnl) {
        if (!geometry.hasLibraryRank() || isMisread()) {
            return false;
        }
        List<TensorSpec> operands = new ArrayList<>(List.of(x, w));
        if (bias != null) {
            operands.add(bias);
        }
        operands.addAll(combined);
        operands.add(y);
        ConvolutionStructure structure = ConvolutionStructure.of(convolution, operands);
        return structure != null && FAST.get(structure, () -> isFast(dnnl, structure));
    }

    private static boolean isFast(Dnnl dnnl, ConvolutionStructure structure) {
        ConvolutionForward forward =
                new ConvolutionForward(structure.convolution(), structure.operands().toArray(TensorSpec[]::new));
        try (DnnlKernel kernel = DnnlKernel.of(dnnl, forward::build)) {
            return kernel != null;
        }
    }

    /** Post-ops run as kernels of their own, which costs little, since the images are small. */
    private @Nullable Kernel products(Dnnl dnnl, @Nullable TensorSpec[] arguments) {
        ConvolutionProducts products = ConvolutionProducts.of(geometry, x, w, y);
        if (products == null || (bias != null && (!bias.isRowMajor() || bias.dtype() != x.dtype()))) {
            return null;
        }
        DnnlKernel.Preference preference = (builder, argument,
                given) -> x.isRowMajor() ? given : preferred(builder, argument, given);
        return convolution.postOps().isEmpty()
                ? products.forward(dnnl, bias != null, preference)
                : UnfusedPostOps.of(convolution.postOps(), plain(), arguments,
                        (_, _) -> products.forward(dnnl, bias != null, preference));
    }

    private @Nullable Im2colProducts im2col() {
        return Im2colProducts.of(convolution, x, w, bias, combined, y);
    }

    private @Nullable Kernel blocks(Dnnl dnnl) {
        ConvolutionBlocks blocks = ConvolutionBlocks.ofForward(geometry, x, w, y);
        List<TensorSpec> operands = new ArrayList<>(combined);
        List<PostOp> postOps = new ArrayList<>(convolution.postOps());
        if (bias != null) {
            operands.addFirst(bias);
            postOps.addFirst(new PostOp.Combine(Binary.Function.ADD));
        }
        boolean plain = postOps.stream().noneMatch(PostOp.Accumulate.class::isInstance)
                && operands.stream().allMatch(TensorSpec::isRowMajor)
                && combined.stream().map(TensorSpec::shape)
                        .allMatch(shape -> shape.size() == 1 || shape.size() == shape.dim(1));
        return blocks == null || !plain ? null : blocks.forward(dnnl, postOps, operands);
    }

    private Convolution plain() {
        return new Convolution(convolution.window(), convolution.groups(), convolution.bias(), List.of());
    }

    private Convolution unbiased() {
        return new Convolution(convolution.window(), convolution.groups(), false, List.of());
    }

    private boolean isReadable() {
        return ConvolutionRecipes.isReadable(x, w, y) && (bias == null || Specs.areForward(bias))
                && combined.stream().allMatch(Specs::areForward);
    }

    /** Adds dimensions of length 1 in front. */
    private static TensorSpec padded(TensorSpec spec, int rank) {
        int added = rank - spec.shape().rank();
        if (added <= 0) {
            return spec;
        }
        long[] dims = new long[rank];
        long[] strides = new long[rank];
        Arrays.fill(dims, 0, added, 1);
        Arrays.fill(strides, 0, added, 1);
        System.arraycopy(spec.shape().dims(), 0, dims, added, rank - added);
        System.arraycopy(spec.strides(), 0, strides, added, rank - added);
        return new TensorSpec(spec.dtype(), Shape.of(dims), Layout.strided(strides));
    }

    /** Of depthwise ones, which only scale channels, the library has better kernels. */
    private boolean isPointwise() {
        return (geometry.groups() == 1 || w.shape().dim(1) > 1) && geometry.isPointwise(w.shape())
                && x.isRowMajor() && w.isRowMajor() && y.isRowMajor();
    }

    /**
     * A convolution with a kernel of one element is a matrix product, for which the library has better post-ops: the
     * weights, [outputs, channels], times the pixels of each image, [channels, pixels]. Groups are one more dimension
     * of the batch.
     */
    private @Nullable Kernel product(Dnnl dnnl) {
        int groups = geometry.groups();
        List<PostOp> postOps = new ArrayList<>(convolution.postOps());
        long[] matrix = {1, groups, w.shape().dim(0) / groups, w.shape().dim(1)};
        List<TensorSpec> specs = new ArrayList<>(
                List.of(pixels(x), TensorSpec.of(w.dtype(), groups == 1 ? Arrays.copyOfRange(matrix, 2, 4) : matrix)));
        if (bias != null) {
            postOps.addFirst(new PostOp.Combine(Binary.Function.ADD));
            long step = bias.strides()[0];
            long outputs = bias.shape().dim(0) / groups;
            specs.add(groups == 1
                    ? new TensorSpec(bias.dtype(), Shape.of(outputs, 1), Layout.strided(step, 1))
                    : new TensorSpec(bias.dtype(), Shape.of(groups, outputs, 1),
                            Layout.strided(outputs * step, step, 1)));
        }
        for (TensorSpec spec : combined) {
            Shape spatial = spec.shape().slice(2, spec.shape().rank());
            boolean whole = spec.isRowMajor() && spatial.equals(y.shape().slice(2, y.shape().rank()));
            if (spatial.size() != 1 && !whole) {
                return null;
            }
            specs.add(pixels(spec));
        }
        specs.add(pixels(y));
        return MatMulRecipe.fused(dnnl, new MatMul(false, false, false, postOps), true,
                specs.toArray(TensorSpec[]::new));
    }

    /** With pixels in one dimension, and groups in one of their own if there are several. */
    private TensorSpec pixels(TensorSpec images) {
        TensorSpec flat = flat(images);
        int groups = geometry.groups();
        if (groups == 1) {
            return flat;
        }
        long[] dims = flat.shape().dims();
        long[] strides = flat.strides();
        long channels = dims[1];
        // A single value for all channels stays one for all groups.
        boolean split = channels > 1;
        long each = split ? channels / groups : 1;
        return new TensorSpec(flat.dtype(), Shape.of(dims[0], split ? groups : 1, each, dims[2]),
                Layout.strided(strides[0], strides[1] * each, strides[1], strides[2]));
    }

    /** With pixels in one dimension. */
    static TensorSpec flat(TensorSpec images) {
        Shape shape = images.shape();
        Shape flat = Shape.of(shape.dim(0), shape.dim(1), shape.slice(2, shape.rank()).size());
        long[] strides = images.strides();
        return images.isRowMajor()
                ? TensorSpec.of(images.dtype(), flat)
                : new TensorSpec(images.dtype(), flat, Layout.strided(strides[0], strides[1], 1));
    }

    /**
     * Whether the library's convolution is wrong (oneDNN 3.11). It reads beyond memory if a window lies in the padding.
     * With one output position in a line, for a single channel or in 16 bits, it finds other lines wrongly if the
     * window's stride is not 1. Depthwise convolutions in float16 apply post-ops to wrong operands. In 8 bits, it reads
     * images of a single channel wrongly and, with a single output position, groups and the operands of post-ops.
     */
    private boolean isMisread() {
        boolean single = w.shape().dim(1) == 1;
        boolean onePlace = y.shape().slice(2, y.shape().rank()).size() == 1;
        boolean grouped = geometry.groups() > 1;
        if (!x.dtype().isFloating() && ((single && !grouped) || (onePlace && (grouped || !combined.isEmpty())))) {
            return true;
        }
        boolean stepped = (single || x.dtype().bytes() <= 2) && y.shape().dim(-1) == 1
                && geometry.window().stride(geometry.window().rank() - 1) > 1;
        boolean combines = single && geometry.groups() > 1 && x.dtype() == DType.FLOAT16 && !combined.isEmpty();
        return stepped || combines || !geometry.meetsImage(x.shape(), w.shape(), y.shape());
    }

    private boolean build(SequenceBuilder builder) {
        return build(builder, null);
    }

    /** Adds the convolution; if {@code packed} is there, of packed weights, whose layout becomes known. */
    private boolean build(SequenceBuilder builder, @Nullable Packed packed) {
        return build(builder, ofSums(), packed) || build(builder, 0, packed);
    }

    /** Weights that are given as the library wants them. */
    private static final class Packed {
        @Nullable
        TensorSpec spec;
    }

    /**
     * The number of post-ops that the library applies to sums of 8-bit integers faster in another form: first a factor
     * of each channel or of all as the scale of the weights, then one addend of each channel as the bias.
     */
    private int ofSums() {
        List<PostOp> postOps = convolution.postOps();
        if (x.dtype().isFloating() || bias != null || postOps.isEmpty()
                || !postOps.getFirst().equals(new PostOp.Combine(Binary.Function.MULTIPLY))
                || !isOfChannels(combined.getFirst())) {
            return 0;
        }
        boolean shifted = postOps.size() > 1 && postOps.get(1).equals(new PostOp.Combine(Binary.Function.ADD))
                && isOfChannels(combined.get(1)) && combined.get(1).shape().size() == y.shape().dim(1);
        return shifted ? 2 : 1;
    }

    private boolean isOfChannels(TensorSpec spec) {
        return spec.dtype() == DType.FLOAT32 && spec.isRowMajor() && (spec.shape().size() == 1
                || (spec.shape().size() == y.shape().dim(1) && spec.shape().dim(1) == y.shape().dim(1)));
    }

    private boolean build(SequenceBuilder builder, int ofSums, @Nullable Packed packed) {
        List<TensorSpec> rest = combined.subList(ofSums, combined.size());
        if (!geometry.hasLibraryRank() || isMisread() || !combined.stream()
                .allMatch(spec -> isWhole(spec) || spec.shape().size() == 1
                        || spec.shape().size() == spec.shape().dim(1))) {
            return false;
        }
        List<MemoryDescriptor> wanted = new ArrayList<>();
        for (TensorSpec spec : rest) {
            wanted.add(isWhole(spec)
                    ? builder.describeAny(spec.shape().dims(), spec.dtype())
                    : builder.describe(spec.rowMajor()));
        }
        MemoryDescriptor biasDescriptor = bias != null
                ? builder.describe(bias.rowMajor())
                : ofSums > 1 ? builder.rowMajor(y.shape().dim(1)) : null;
        Attributes attributes = builder
                .tryAttributes(convolution.postOps().subList(ofSums, convolution.postOps().size()), wanted);
        if (attributes == null) {
            return false;
        }
        if (ofSums > 0) {
            int outputs = geometry.groups() > 1 ? 0b11 : 0b1;
            builder.dnnl().setScales(attributes, DnnlConstants.WEIGHTS,
                    combined.getFirst().shape().size() == 1 ? 0 : outputs);
        }
        for (Images images : inOrder(builder)) {
            PrimitiveDescriptor descriptor = tryDescribe(builder, images, biasDescriptor, attributes);
            if (descriptor != null) {
                add(builder, descriptor, biasDescriptor, ofSums, packed);
                return true;
            }
        }
        return false;
    }

    /**
     * The layouts of images, in the order in which they are tried: first the given one, unless the library has nothing
     * fast for it even without post-ops. That is decided once for each structure, since the library takes about as long
     * to find that out as to describe the convolution.
     */
    private List<Images> inOrder(SequenceBuilder builder) {
        ConvolutionStructure structure =
                ConvolutionStructure.of(unbiased(), List.of(x, TensorSpec.of(w.dtype(), w.shape()), y));
        return structure == null
                ? Images.GIVEN_FIRST
                : ORDER.get(structure, () -> {
                    ConvolutionForward forward = new ConvolutionForward(structure.convolution(),
                            structure.operands().toArray(TensorSpec[]::new));
                    return forward.isMisread() || forward.tryDescribe(builder, Images.AS_GIVEN, null,
                            builder.attributes()) != null ? Images.GIVEN_FIRST : Images.GIVEN_LAST;
                });
    }

    /** Null if the library has no fast implementation. */
    private @Nullable PrimitiveDescriptor tryDescribe(SequenceBuilder builder, Images images,
            @Nullable MemoryDescriptor biasDescriptor, Attributes attributes) {
        Descriptors descriptors = new Descriptors(ConvolutionRecipes.image(builder, x, images),
                ConvolutionRecipes.weights(builder, geometry, w), biasDescriptor,
                ConvolutionRecipes.image(builder, y, images));
        PrimitiveDescriptor descriptor = builder.keepFast(ConvolutionRecipes.tryForward(builder, geometry, descriptors,
                attributes, DnnlConstants.FORWARD_INFERENCE));
        return descriptor == null || isSlow(builder.dnnl(), descriptor, images) ? null : descriptor;
    }

    private boolean isWhole(TensorSpec spec) {
        return spec.shape().equals(y.shape()) && y.shape().size() > y.shape().dim(1);
    }

    /** The library's convolution by matrix products computes post-ops with operands one element at a time. */
    private boolean isSlow(Dnnl dnnl, PrimitiveDescriptor descriptor, Images images) {
        return (images == Images.AS_GIVEN || !combined.isEmpty()) && ConvolutionRecipes.isByColumns(dnnl, descriptor);
    }

    private void add(SequenceBuilder builder, PrimitiveDescriptor descriptor,
            @Nullable MemoryDescriptor biasDescriptor, int ofSums, @Nullable Packed packed) {
        Dnnl dnnl = builder.dnnl();
        List<Operand> operands = new ArrayList<>();
        operands.add(builder.input(DnnlConstants.SRC, 0, builder.describe(x),
                dnnl.find(descriptor, DnnlConstants.QUERY_SRC)));
        operands.add(weights(builder, descriptor, packed));
        int slot = 2;
        if (bias != null) {
            operands.add(builder.input(DnnlConstants.BIAS, slot++, builder.describe(bias), biasDescriptor));
        }
        if (ofSums > 0) {
            operands.add(new Operand(DnnlConstants.SCALES | DnnlConstants.WEIGHTS, slot++,
                    builder.rowMajor(combined.getFirst().shape().size())));
        }
        if (ofSums > 1) {
            operands.add(new Operand(DnnlConstants.BIAS, slot++, builder.rowMajor(y.shape().dim(1))));
        }
        boolean accumulates = false;
        int next = ofSums;
        for (int i = ofSums; i < convolution.postOps().size(); i++) {
            PostOp postOp = convolution.postOps().get(i);
            accumulates |= postOp instanceof PostOp.Accumulate;
            if (postOp instanceof PostOp.Combine) {
                int argument = DnnlConstants.POST_OP * (i - ofSums + 1) | DnnlConstants.SRC_1;
                TensorSpec spec = combined.get(next++);
                MemoryDescriptor wanted = isWhole(spec)
                        ? dnnl.find(descriptor, DnnlConstants.QUERY_ARGUMENT, argument)
                        : builder.describe(spec.rowMajor());
                operands.add(builder.input(argument, slot++, builder.describe(spec), wanted));
            }
        }
        MemoryDescriptor given = builder.describe(y);
        Operand result = builder.output(DnnlConstants.DST, slot, given,
                dnnl.find(descriptor, DnnlConstants.QUERY_DST));
        if (accumulates && result.slot() != slot) {
            builder.copy(new Operand(DnnlConstants.SRC, slot, given),
                    new Operand(DnnlConstants.DST, result.slot(), result.descriptor()));
        }
        operands.add(result);
        builder.step(descriptor, operands.toArray(Operand[]::new));
    }

    private Operand weights(SequenceBuilder builder, PrimitiveDescriptor descriptor, @Nullable Packed packed) {
        if (packed == null) {
            return builder.input(DnnlConstants.WEIGHTS, WEIGHTS, ConvolutionRecipes.givenWeights(builder, geometry, w),
                    builder.dnnl().find(descriptor, DnnlConstants.QUERY_WEIGHTS));
        }
        TensorSpec spec = wanted(builder, descriptor);
        packed.spec = spec;
        return new Operand(DnnlConstants.WEIGHTS, WEIGHTS, ConvolutionRecipes.givenWeights(builder, geometry, spec));
    }

    /** The weights in the layout that the library wants. */
    private TensorSpec wanted(SequenceBuilder builder, PrimitiveDescriptor descriptor) {
        Dnnl dnnl = builder.dnnl();
        MemoryDescriptor wanted = dnnl.get(descriptor, DnnlConstants.QUERY_WEIGHTS);
        return dnnl.equal(wanted, ConvolutionRecipes.givenWeights(builder, geometry, w))
                ? w
                : new TensorSpec(w.dtype(), w.shape(),
                        new Layout.Opaque(OneDnnKernels.PROVIDER, dnnl.blob(wanted), dnnl.size(wanted)));
    }

    /**
     * The layout in which weights are read fastest. To find it out, the library describes the whole convolution, so
     * that the kernel of packed weights need not be described again.
     */
    private TensorSpec preferred(Dnnl dnnl, @Nullable TensorSpec[] arguments, TensorSpec given) {
        if (!x.isRowMajor() && im2col() != null) {
            return DnnlKernel.preferred(dnnl, this::preferred, WEIGHTS, given);
        }
        Packed packed = new Packed();
        @Nullable
        TensorSpec[] specs = arguments.clone();
        DnnlKernel kernel = DnnlKernel.of(dnnl, builder -> build(builder, packed),
                builder -> new ConvolutionForward(convolution, specs).build(builder));
        TensorSpec wanted = packed.spec;
        if (kernel == null || wanted == null) {
            return DnnlKernel.preferred(dnnl, this::preferred, WEIGHTS, given);
        }
        if (wanted.layout() instanceof Layout.Opaque) {
            specs[WEIGHTS] = wanted;
            DescribedKernels.put(convolution, specs, kernel);
        } else {
            kernel.close();
        }
        return wanted;
    }

    private TensorSpec preferred(SequenceBuilder builder, int argument, TensorSpec given) {
        if (argument != WEIGHTS) {
            return given;
        }
        Im2colProducts pixels = x.isRowMajor() ? null : im2col();
        return pixels == null ? preferredWeights(builder) : pixels.preferred(builder);
    }

    private TensorSpec preferredWeights(SequenceBuilder builder) {
        if (w.layout() instanceof Layout.Opaque || !geometry.hasLibraryRank() || isMisread()) {
            return w;
        }
        for (Images images : inOrder(builder)) {
            PrimitiveDescriptor descriptor = tryDescribe(builder, images, null, builder.attributes());
            if (descriptor != null) {
                return wanted(builder, descriptor);
            }
        }
        return w;
    }
}
