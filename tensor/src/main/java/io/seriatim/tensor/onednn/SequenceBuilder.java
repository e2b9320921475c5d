package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PostOpList;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Collects the primitives of a kernel, and the reorders between the layouts of its operands and those that the
 * primitives need.
 */
final class SequenceBuilder {
    private final Dnnl dnnl;
    private final Handles handles;
    /** The primitive descriptors, of up to 250 kB each. */
    private final Handles plans = new Handles();
    private final int threads;
    private final List<Sequence.Step> steps = new ArrayList<>();
    private final List<Sequence.Step> last = new ArrayList<>();
    private int once;
    private int until;
    private int times = 1;
    private boolean alternateDirection;
    private long scratch;
    private long pad;

    SequenceBuilder(Dnnl dnnl, Handles handles, int threads) {
        this.dnnl = dnnl;
        this.handles = handles;
        this.threads = threads;
        handles.onEnd(plans);
    }

    Dnnl dnnl() {
        return dnnl;
    }

    Sequence build() {
        steps.addAll(last);
        int end = until == 0 ? steps.size() : until;
        // All steps share one scratchpad, which follows the regions for values that later steps read.
        List<Sequence.Step> placed = new ArrayList<>();
        for (Sequence.Step step : steps) {
            List<Operand> operands = new ArrayList<>();
            for (Operand operand : step.operands()) {
                operands.add(operand.argument() == DnnlConstants.SCRATCHPAD
                        ? new Operand(operand.argument(), Operand.scratch(scratch), operand.descriptor())
                        : operand);
            }
            placed.add(new Sequence.Step(step.descriptor(), operands, step.action()));
        }
        return new Sequence(dnnl, handles, plans, threads, placed,
                new Sequence.Repetition(once, end, times, alternateDirection),
                scratch + pad);
    }

    /** The library's number for a type, or 0 if it has none for these kernels. */
    static int type(DType dtype) {
        return switch (dtype) {
            case FLOAT32 -> DnnlConstants.F32;
            case FLOAT16 -> DnnlConstants.F16;
            case BFLOAT16 -> DnnlConstants.BF16;
            case INT32 -> DnnlConstants.S32;
            case INT8 -> DnnlConstants.S8;
            case UINT8 -> DnnlConstants.U8;
            case FLOAT64, INT16, INT64, UINT16, UINT32, UINT64, BOOL, COMPLEX64, COMPLEX128 -> 0;
        };
    }

    /**
     * Describes a tensor as it lies in memory; a single element has one dimension.
     *
     * @throws NoDescriptorException
     *             if the library cannot describe it
     */
    MemoryDescriptor describe(TensorSpec spec) {
        if (spec.layout() instanceof Layout.Opaque opaque) {
            return handles.owned(dnnl, dnnl.describe(opaque.descriptor()));
        }
        return spec.shape().rank() == 0
                ? describe(new long[]{1}, spec.dtype(), new long[]{1})
                : describe(spec.shape().dims(), spec.dtype(),
                        outermost(spec.shape().dims(), spec.strides(), spec.shape().rank()));
    }

    /**
     * Describes a tensor with strides.
     *
     * @throws NoDescriptorException
     *             if the library cannot describe it
     */
    MemoryDescriptor describe(long[] dims, DType dtype, long[] strides) {
        long[] all = outermost(dims, strides);
        if (dims.length > DnnlConstants.MOST_DIMENSIONS || Specs.overlaps(dims, all)) {
            throw new NoDescriptorException("oneDNN describes up to " + DnnlConstants.MOST_DIMENSIONS
                    + " dimensions whose elements do not overlap, but dimensions are " + Arrays.toString(dims)
                    + " and strides " + Arrays.toString(all));
        }
        return handles.owned(dnnl, dnnl.describe(dims, typeOrThrow(dtype), all));
    }

    private static int typeOrThrow(DType dtype) {
        int type = type(dtype);
        if (type == 0) {
            throw new NoDescriptorException("oneDNN has no kernels for " + dtype);
        }
        return type;
    }

    /** A float32 tensor whose elements are contiguous. */
    MemoryDescriptor rowMajor(long... dims) {
        return describe(dims, DType.FLOAT32, Shape.of(dims).strides());
    }

    /**
     * The strides with those of batch dimensions of length 1 replaced by that of an outermost dimension. Nothing uses
     * such a stride, but the library orders dimensions by strides, and gives wrong results if one of length 1 is placed
     * within others.
     */
    static long[] outermost(long[] dims, long[] strides) {
        return outermost(dims, strides, dims.length - 2);
    }

    /** Replaces the strides of the first dimensions only: those of a matrix are significant. */
    private static long[] outermost(long[] dims, long[] strides, int count) {
        long[] all = strides.clone();
        long reach = 1;
        for (int i = dims.length - 1; i >= 0; i--) {
            if (dims[i] == 1 && i < count) {
                all[i] = reach;
            }
            reach = Math.max(reach, dims[i] * all[i]);
        }
        return all;
    }

    /** Describes a tensor whose layout the primitive chooses. */
    MemoryDescriptor describeAny(long[] dims, DType dtype) {
        return handles.owned(dnnl, dnnl.describeAny(dims, typeOrThrow(dtype)));
    }

    /**
     * Attributes: scratch memory comes from the caller, and these post-ops follow.
     *
     * @param combined
     *            the descriptors of the inputs that the post-ops combine with
     * @return null if the library does not have one of the post-ops, or not so many of them
     */
    @Nullable
    Attributes tryAttributes(List<PostOp> postOps, List<MemoryDescriptor> combined) {
        if (postOps.size() > DnnlConstants.MOST_POST_OPS) {
            return null;
        }
        Attributes attributes = dnnl.attributes();
        handles.onEnd(() -> dnnl.destroy(attributes));
        if (!postOps.isEmpty()) {
            PostOpList list = dnnl.postOps();
            handles.onEnd(() -> dnnl.destroy(list));
            int next = 0;
            for (PostOp postOp : postOps) {
                boolean appended = switch (postOp) {
                    case PostOp.Apply apply -> tryAppend(list, apply);
                    case PostOp.Combine combine -> tryAppend(list, combine, combined.get(next++));
                    case PostOp.Accumulate accumulate -> {
                        dnnl.appendSum(list, accumulate.scale());
                        yield true;
                    }
                };
                if (!appended) {
                    return null;
                }
            }
            dnnl.set(attributes, list);
        }
        return attributes;
    }

    private boolean tryAppend(PostOpList list, PostOp.Apply apply) {
        Algorithms.Eltwise eltwise = Algorithms.postOp(apply.function(), apply.alpha(), apply.beta());
        if (eltwise != null) {
            dnnl.appendEltwise(list, eltwise.algorithm(), eltwise.alpha(), eltwise.beta());
        }
        return eltwise != null;
    }

    private boolean tryAppend(PostOpList list, PostOp.Combine combine, MemoryDescriptor operand) {
        int algorithm = Algorithms.binary(combine.function());
        if (algorithm != 0) {
            dnnl.appendBinary(list, algorithm, operand);
        }
        return algorithm != 0;
    }

    /** Attributes without post-ops. */
    Attributes attributes() {
        return attributes(List.of());
    }

    /** Attributes with post-ops that have no operands, and that the library is known to have. */
    private Attributes attributes(List<PostOp> postOps) {
        return Objects.requireNonNull(tryAttributes(postOps, List.of()));
    }

    /** Attributes whose primitives add to the elements that the output has. */
    Attributes accumulating() {
        return attributes(List.of(new PostOp.Accumulate(1)));
    }

    PrimitiveDescriptors primitives() {
        return dnnl.primitives();
    }

    /** Keeps a primitive descriptor until the primitives are made; null stays null. */
    @Nullable
    PrimitiveDescriptor keep(@Nullable PrimitiveDescriptor descriptor) {
        if (descriptor != null) {
            plans.onEnd(() -> dnnl.destroy(descriptor));
        }
        return descriptor;
    }

    /** Keeps a primitive descriptor. Null if there is none, or only the library's reference implementation. */
    @Nullable
    PrimitiveDescriptor keepFast(@Nullable PrimitiveDescriptor descriptor) {
        PrimitiveDescriptor kept = keep(descriptor);
        return kept == null || isReference(dnnl.implementation(kept)) ? null : kept;
    }

    /** Returns whether an implementation is a reference, or one that only reorders images around a reference. */
    private static boolean isReference(String implementation) {
        return implementation.startsWith("ref") || implementation.contains("+ref");
    }

    /** Copies a descriptor that belongs to a primitive descriptor, for the life of the kernel. */
    MemoryDescriptor copied(MemoryDescriptor descriptor) {
        return handles.owned(dnnl, dnnl.copy(descriptor));
    }

    /** An input, which is reordered if the primitive needs another layout. */
    Operand input(int argument, int slot, MemoryDescriptor given, @Nullable MemoryDescriptor wanted) {
        if (wanted == null || dnnl.equal(given, wanted)) {
            return new Operand(argument, slot, given);
        }
        Operand inside = temporary(argument, wanted);
        steps.add(reorder(new Operand(DnnlConstants.SRC, slot, given),
                new Operand(DnnlConstants.DST, inside.slot(), inside.descriptor())));
        return inside;
    }

    /** An output, which is reordered if the primitive writes another layout. */
    Operand output(int argument, int slot, MemoryDescriptor given, @Nullable MemoryDescriptor wanted) {
        return output(new Operand(argument, slot, given), wanted);
    }

    /** An output, which is reordered if the primitive writes another layout. */
    Operand output(Operand to, @Nullable MemoryDescriptor wanted) {
        int argument = to.argument();
        long slot = to.slot();
        MemoryDescriptor given = to.descriptor();
        if (wanted == null || dnnl.equal(given, wanted)) {
            return to;
        }
        Operand inside = temporary(argument, wanted);
        last.add(reorder(new Operand(DnnlConstants.SRC, inside.slot(), inside.descriptor()),
                new Operand(DnnlConstants.DST, slot, given)));
        return inside;
    }

    /** A value in scratch memory that later steps read. */
    Operand temporary(int argument, MemoryDescriptor descriptor) {
        return new Operand(argument, region(dnnl.size(descriptor)), copied(descriptor));
    }

    private long region(long bytes) {
        long offset = scratch;
        scratch += bytes + 63 & -64L;
        return Operand.scratch(offset);
    }

    private Sequence.Step reorder(Operand from, Operand to) {
        return reorder(from, to, attributes());
    }

    private Sequence.Step reorder(Operand from, Operand to, Attributes attributes) {
        PrimitiveDescriptor descriptor = tryDescribeReorder(from, to, attributes);
        if (descriptor == null) {
            throw new IllegalStateException("oneDNN has no reorder between two layouts of its own");
        }
        return stepOf(descriptor, List.of(from, to));
    }

    /** Null if the library has no reorder between the two types and layouts. */
    private @Nullable PrimitiveDescriptor tryDescribeReorder(Operand from, Operand to, Attributes attributes) {
        return keep(primitives().tryReorder(from.descriptor(), to.descriptor(), attributes));
    }

    /** Adds a reorder of a value that the caller gives; false if the library has none between the two types. */
    boolean tryCopy(Operand from, Operand to) {
        PrimitiveDescriptor descriptor = tryDescribeReorder(from, to, attributes());
        if (descriptor != null) {
            steps.add(stepOf(descriptor, List.of(from, to)));
        }
        return descriptor != null;
    }

    void copy(Operand from, Operand to) {
        steps.add(reorder(from, to));
    }

    /** Adds the first to the second. */
    void add(Operand from, Operand to) {
        steps.add(reorder(from, to, accumulating()));
    }

    /** Fills a temporary value with zeros. */
    void clear(Operand operand) {
        long from = ~operand.slot();
        long to = from + dnnl.size(operand.descriptor());
        action((memory, _) -> memory.asSlice(from, to - from).fill((byte) 0));
    }

    /** Repeats the steps that follow; operands move by their pitch with each repetition. */
    void repeat(int count) {
        once = steps.size();
        times = count;
    }

    /** The steps that follow run once. */
    void endRepeat() {
        until = steps.size();
    }

    /**
     * The steps that follow are independent of one another: every second run goes through them backwards, so that it
     * begins with data that is still in the cache.
     */
    void alternateDirection() {
        once = steps.size();
        alternateDirection = true;
    }

    int threads() {
        return threads;
    }

    void step(PrimitiveDescriptor descriptor, Operand... operands) {
        steps.add(stepOf(descriptor, List.of(operands)));
    }

    /** Adds a step that follows the reorders of outputs. */
    void stepLast(PrimitiveDescriptor descriptor, Operand... operands) {
        last.add(stepOf(descriptor, List.of(operands)));
    }

    /** Adds Java code, which reads and writes regions of scratch memory only. */
    void action(Sequence.Action action) {
        steps.add(new Sequence.Step(null, List.of(), action));
    }

    private Sequence.Step stepOf(PrimitiveDescriptor descriptor, List<Operand> operands) {
        List<Operand> all = new ArrayList<>(operands);
        MemoryDescriptor wanted = dnnl.find(descriptor, DnnlConstants.QUERY_SCRATCHPAD);
        long bytes = wanted == null ? 0 : dnnl.size(wanted);
        if (wanted != null && bytes > 0) {
            pad = Math.max(pad, bytes);
            all.add(new Operand(DnnlConstants.SCRATCHPAD, 0, copied(wanted)));
        }
        return new Sequence.Step(descriptor, all, null);
    }
}
