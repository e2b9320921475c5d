package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Geometry;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Images;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The library's transposed convolutions of float32, which take post-ops where they are products of small matrices. Its
 * others compute post-ops element by element, so that they are used without any.
 */
final class TransposedConvolution {
    private static final String FUSING = "brg_deconv";
    private static final PostOp ADD = new PostOp.Combine(Binary.Function.ADD);

    private final Geometry geometry;
    private final List<PostOp> postOps;
    private final TensorSpec x;
    private final TensorSpec w;
    private final List<TensorSpec> combined;
    private final TensorSpec y;

    private TransposedConvolution(Geometry geometry, List<PostOp> postOps, TensorSpec x, TensorSpec w,
            List<TensorSpec> combined, TensorSpec y) {
        this.geometry = geometry;
        this.postOps = postOps;
        this.x = x;
        this.w = w;
        this.combined = combined;
        this.y = y;
    }

    /** Null where the library has none for these arguments, or none that takes the post-ops. */
    static @Nullable TransposedConvolution of(ConvolutionGradInput transposed, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec w = Objects.requireNonNull(arguments[1]);
        TensorSpec y = Objects.requireNonNull(arguments[arguments.length - 1]);
        Geometry geometry = new Geometry(transposed.window(), transposed.groups());
        List<TensorSpec> combined = new ArrayList<>();
        for (int i = 2; i < arguments.length - 1; i++) {
            combined.add(Specs.collapsed(Objects.requireNonNull(arguments[i])));
        }
        boolean fits = geometry.hasLibraryRank() && NormalisationRecipes.areFloat32(x, w, y)
                && ConvolutionRecipes.isReadable(x, w, y) && geometry.meetsImage(y.shape(), w.shape(), x.shape())
                && combined.stream().allMatch(spec -> isOfChannels(spec, y.shape()))
                && transposed.postOps().stream().noneMatch(PostOp.Accumulate.class::isInstance);
        boolean fitsWeights = !(w.layout() instanceof Layout.Opaque layout)
                || layout.library().equals(OneDnnKernels.TRANSPOSED);
        return fits && fitsWeights
                ? new TransposedConvolution(geometry, transposed.postOps(), x, w, combined, y)
                : null;
    }

    /** Whether an operand has a single element, or one for each channel. */
    private static boolean isOfChannels(TensorSpec spec, Shape images) {
        int channels = spec.shape().rank() - images.rank() + 1;
        return spec.dtype() == DType.FLOAT32 && spec.isRowMajor() && (spec.shape().size() == 1
                || (channels >= 0 && spec.shape().size() == images.dim(1)
                        && spec.shape().dim(channels) == images.dim(1)));
    }

    /** The kernel with the images as they are or in the library's layout; null if it would be slow. */
    @Nullable
    Kernel kernel(Dnnl dnnl) {
        return DnnlKernel.of(dnnl, this::build, this::preferred);
    }

    private boolean build(SequenceBuilder builder) {
        Dnnl dnnl = builder.dnnl();
        boolean biased = !postOps.isEmpty() && postOps.getFirst().equals(ADD)
                && combined.getFirst().shape().size() == y.shape().dim(1);
        List<PostOp> rest = biased ? postOps.subList(1, postOps.size()) : postOps;
        List<MemoryDescriptor> others = new ArrayList<>();
        for (TensorSpec spec : combined.subList(biased ? 1 : 0, combined.size())) {
            others.add(builder.describe(channels(spec)));
        }
        Attributes attributes = builder.tryAttributes(rest, others);
        MemoryDescriptor bias = biased ? builder.rowMajor(y.shape().dim(1)) : null;
        PrimitiveDescriptor descriptor = attributes == null
                ? null
                : describe(builder, weights(builder), bias,
                        attributes);
        if (descriptor == null) {
            return false;
        }
        List<Operand> operands = new ArrayList<>();
        operands.add(builder.input(DnnlConstants.SRC, 0, builder.describe(x),
                dnnl.find(descriptor, DnnlConstants.QUERY_SRC)));
        operands.add(builder.input(DnnlConstants.WEIGHTS, 1, givenWeights(builder),
                dnnl.find(descriptor, DnnlConstants.QUERY_WEIGHTS)));
        int slot = 2;
        if (bias != null) {
            operands.add(new Operand(DnnlConstants.BIAS, slot++, bias));
        }
        int next = 0;
        for (int i = 0; i < rest.size(); i++) {
            if (rest.get(i) instanceof PostOp.Combine) {
                operands.add(new Operand(DnnlConstants.POST_OP * (i + 1) | DnnlConstants.SRC_1, slot++,
                        others.get(next++)));
            }
        }
        operands.add(builder.output(DnnlConstants.DST, slot, builder.describe(y),
                dnnl.find(descriptor, DnnlConstants.QUERY_DST)));
        builder.step(descriptor, operands.toArray(Operand[]::new));
        return true;
    }

    /** One with fused post-ops; where the library has none, another one without post-ops for packed weights. */
    private @Nullable PrimitiveDescriptor describe(SequenceBuilder builder, MemoryDescriptor weights,
            @Nullable MemoryDescriptor bias, Attributes attributes) {
        PrimitiveDescriptor best = fastest(builder, weights, bias, attributes);
        boolean other = w.layout() instanceof Layout.Opaque && bias == null && postOps.isEmpty();
        return best == null || other || isFusing(builder.dnnl(), best) ? best : null;
    }

    /** With the images as they are or in the library's layout; null if it has only slow implementations. */
    private @Nullable PrimitiveDescriptor fastest(SequenceBuilder builder, MemoryDescriptor weights,
            @Nullable MemoryDescriptor bias, Attributes attributes) {
        PrimitiveDescriptor other = null;
        for (Images images : Images.fitting(x, y)) {
            PrimitiveDescriptor descriptor = builder.keepFast(builder.primitives().tryTransposedConvolution(
                    ConvolutionRecipes.image(builder, x, images), weights, bias,
                    ConvolutionRecipes.image(builder, y, images), geometry.forLibrary(), attributes));
            if (descriptor != null && isFusing(builder.dnnl(), descriptor)) {
                return descriptor;
            }
            other = other == null && descriptor != null && isFast(builder.dnnl(), descriptor) ? descriptor : other;
        }
        return other;
    }

    private static boolean isFusing(Dnnl dnnl, PrimitiveDescriptor descriptor) {
        return dnnl.implementation(descriptor).startsWith(FUSING);
    }

    private static boolean isFast(Dnnl dnnl, PrimitiveDescriptor descriptor) {
        return !dnnl.implementation(descriptor).contains("ref") && !ConvolutionRecipes.isByColumns(dnnl, descriptor);
    }

    /** Weights as the library sees them: with groups first, and outputs before inputs. */
    private MemoryDescriptor givenWeights(SequenceBuilder builder) {
        return w.layout() instanceof Layout.Opaque
                ? builder.describe(w)
                : builder.describe(ConvolutionGradInput.packedWeights(w, geometry.groups()));
    }

    private MemoryDescriptor weights(SequenceBuilder builder) {
        return w.layout() instanceof Layout.Opaque
                ? builder.describe(w)
                : builder.describeAny(ConvolutionGradInput.packedWeights(w, geometry.groups()).shape().dims(),
                        DType.FLOAT32);
    }

    private TensorSpec channels(TensorSpec spec) {
        long[] dims = new long[y.shape().rank()];
        Arrays.fill(dims, 1);
        dims[1] = spec.shape().size();
        return TensorSpec.of(DType.FLOAT32, dims);
    }

    /** The layout in which the library reads the weights fastest. */
    TensorSpec preferred(SequenceBuilder builder, int argument, TensorSpec given) {
        if (argument != 1 || given.layout() instanceof Layout.Opaque) {
            return given;
        }
        PrimitiveDescriptor best = fastest(builder, weights(builder), null, builder.attributes());
        if (best == null) {
            return given;
        }
        MemoryDescriptor wanted = builder.dnnl().get(best, DnnlConstants.QUERY_WEIGHTS);
        return new TensorSpec(given.dtype(), given.shape(), new Layout.Opaque(OneDnnKernels.TRANSPOSED,
                builder.dnnl().blob(wanted), builder.dnnl().size(wanted)));
    }
}
