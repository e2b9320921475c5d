package io.seriatim.tensor.onednn;

import io.seriatim.device.Buffer;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Computes products of float16 in float32, on processors for which the library has no kernels in float16: operands are
 * widened in scratch memory and the result is rounded once. That is far faster than plain Java, which converts each
 * element wherever it is read.
 */
final class WidenedHalves implements Kernel {
    private static final int LINE = 64;

    private final Kernel wide;
    private final @Nullable TensorSpec[] specs;
    /** The conversion of each argument of float16; null for the others. */
    private final @Nullable Kernel[] conversions;
    /** The product and the conversions. */
    private final List<Kernel> kernels;
    private final long scratchBytes;

    private WidenedHalves(Kernel wide, @Nullable TensorSpec[] specs, @Nullable Kernel[] conversions) {
        this.wide = wide;
        this.specs = specs;
        this.conversions = conversions;
        kernels = Stream.concat(Stream.of(wide), Arrays.stream(conversions).filter(Objects::nonNull)).toList();
        long bytes = 0;
        for (int i = 0; i < specs.length; i++) {
            TensorSpec spec = specs[i];
            bytes += spec != null && conversions[i] != null ? aligned(spec) : 0;
        }
        scratchBytes = bytes;
    }

    /** Null for operands in a library's own layout and for results that are added to. */
    static @Nullable Kernel of(Computation computation, List<PostOp> postOps, @Nullable TensorSpec[] arguments) {
        boolean accumulates = postOps.stream().anyMatch(PostOp.Accumulate.class::isInstance);
        if (accumulates || Arrays.stream(arguments).anyMatch(WidenedHalves::isOpaque)) {
            return null;
        }
        @Nullable
        TensorSpec[] specs = new TensorSpec[arguments.length];
        @Nullable
        Kernel[] conversions = new Kernel[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            TensorSpec given = arguments[i];
            if (given == null || given.dtype() != DType.FLOAT16) {
                specs[i] = given;
                continue;
            }
            TensorSpec widened = given.with(DType.FLOAT32);
            specs[i] = widened;
            conversions[i] = i == arguments.length - 1
                    ? Kernels.system().prepare(new Copy(DType.FLOAT16), Place.CPU, widened, given)
                    : Kernels.system().prepare(new Copy(DType.FLOAT32), Place.CPU, given, widened);
        }
        return new WidenedHalves(Kernels.system().prepare(computation, Place.CPU, specs), specs, conversions);
    }

    private static boolean isOpaque(@Nullable TensorSpec spec) {
        return spec != null && spec.layout() instanceof Layout.Opaque;
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        @Nullable
        Tensor[] widened = widen(arguments, context.nested().scratch(scratchBytes));
        int output = arguments.length - 1;
        for (int i = 0; i < output; i++) {
            Kernel conversion = conversions[i];
            if (conversion != null) {
                conversion.run(new Tensor[]{arguments[i], widened[i]}, context);
            }
        }
        wide.run(widened, context);
        Kernel rounding = conversions[output];
        if (rounding != null) {
            rounding.run(new Tensor[]{widened[output], arguments[output]}, context);
        }
    }

    private @Nullable Tensor[] widen(@Nullable Tensor[] arguments, Buffer scratch) {
        @Nullable
        Tensor[] widened = arguments.clone();
        long offset = 0;
        for (int i = 0; i < specs.length; i++) {
            TensorSpec spec = specs[i];
            if (spec != null && conversions[i] != null) {
                widened[i] = new Tensor(scratch, offset, spec);
                offset += aligned(spec);
            }
        }
        return widened;
    }

    private static long aligned(TensorSpec spec) {
        return Math.ceilDiv(spec.bytes(), LINE) * LINE;
    }

    @Override
    public String provider() {
        return wide.provider();
    }

    @Override
    public void load() {
        kernels.forEach(Kernel::load);
    }

    @Override
    public long bytes() {
        return kernels.stream().mapToLong(Kernel::bytes).sum();
    }

    @Override
    public long loadedBytes() {
        return kernels.stream().mapToLong(Kernel::loadedBytes).sum();
    }

    @Override
    public void release() {
        kernels.forEach(Kernel::release);
    }

    @Override
    public void close() {
        kernels.forEach(Kernel::close);
    }
}
