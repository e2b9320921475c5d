package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import java.util.ArrayList;
import java.util.List;

/**
 * Collects the primitives of a kernel, and the reorders that lie between the layouts that it is given and those that
 * the primitives want.
 */
final class SequenceBuilder {
    private final Dnnl dnnl;
    private final Handles handles;
    /** The primitives' descriptions, of up to 250 kB each. */
    private final Handles plans = new Handles();
    private final int threads;
    private final List<Sequence.Step> steps = new ArrayList<>();
    private final List<Sequence.Step> last = new ArrayList<>();
    private int once;
    private int until;
    private int times = 1;
    private boolean toAndFro;
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
        // All steps share one scratchpad, after the regions that carry values from one step to the next.
        List<Sequence.Step> placed = new ArrayList<>();
        for (Sequence.Step step : steps) {
            List<Operand> operands = new ArrayList<>();
            for (Operand operand : step.operands()) {
                operands.add(operand.argument() == DnnlConstants.SCRATCHPAD
                        ? new Operand(operand.argument(), Operand.scratch(scratch), operand.description())
                        : operand);
            }
            placed.add(new Sequence.Step(step.primitiveDescription(), operands, step.action()));
        }
        return new Sequence(dnnl, handles, plans, threads, placed, new Sequence.Repetition(once, end, times, toAndFro),
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
            case FLOAT64, INT16, INT64, BOOL -> 0;
        };
    }

    /** A tensor as it lies in memory; a single element has one dimension. */
    long describe(TensorSpec spec) {
        if (spec.layout() instanceof Layout.Opaque opaque) {
            return handles.description(dnnl, dnnl.describe(opaque.descriptor()));
        }
        return spec.shape().rank() == 0
                ? describe(new long[]{1}, spec.dtype(), new long[]{1})
                : describe(spec.shape().dims(), spec.dtype(),
                        outermost(spec.shape().dims(), spec.strides(), spec.shape().rank()));
    }

    long describe(long[] dims, DType dtype, long[] strides) {
        return handles.description(dnnl, dnnl.describe(dims, type(dtype), outermost(dims, strides)));
    }

    /** A float32 tensor whose elements lie one after the other. */
    long rowMajor(long... dims) {
        return describe(dims, DType.FLOAT32, Shape.of(dims).strides());
    }

    /**
     * The step of a dimension of one element is never taken, but the library orders dimensions by steps, and gives
     * wrong results if such a one seems to lie within others. Here that of batches of matrices.
     */
    static long[] outermost(long[] dims, long[] strides) {
        return outermost(dims, strides, dims.length - 2);
    }

    /** For the first so many dimensions: those of a matrix have steps that mean something. */
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

    long describeAny(long[] dims, DType dtype) {
        return handles.description(dnnl, dnnl.describeAny(dims, type(dtype)));
    }

    /**
     * Attributes: scratch memory comes from the caller, and these post-ops follow. The descriptions are those of the
     * inputs that they combine with. 0 if the library cannot do that.
     */
    long attributes(List<PostOp> postOps, List<Long> combined) {
        if (combined.contains(0L)) {
            return 0;
        }
        long attributes = Dnnl.handle(out -> dnnl.call("dnnl_primitive_attr_create", "p", out));
        handles.onEnd(() -> dnnl.call("dnnl_primitive_attr_destroy", "p", attributes));
        dnnl.call("dnnl_primitive_attr_set_scratchpad_mode", "pi", attributes, 1);
        if (!postOps.isEmpty()) {
            long list = Dnnl.handle(out -> dnnl.call("dnnl_post_ops_create", "p", out));
            handles.onEnd(() -> dnnl.call("dnnl_post_ops_destroy", "p", list));
            int next = 0;
            for (PostOp postOp : postOps) {
                int status = switch (postOp) {
                    case PostOp.Apply apply -> {
                        Algorithms.Eltwise eltwise = Algorithms.postOp(apply.function(), apply.alpha(), apply.beta());
                        yield eltwise == null
                                ? -1
                                : dnnl.call("dnnl_post_ops_append_eltwise", "piff", list, eltwise.algorithm(),
                                        eltwise.alpha(),
                                        eltwise.beta());
                    }
                    case PostOp.Combine combine -> {
                        int algorithm = Algorithms.binary(combine.function());
                        yield algorithm == 0
                                ? -1
                                : dnnl.call("dnnl_post_ops_append_binary", "pip", list, algorithm,
                                        combined.get(next++));
                    }
                    case PostOp.Accumulate accumulate ->
                        dnnl.call("dnnl_post_ops_append_sum", "pfii", list, accumulate.scale(), 0, 0);
                };
                if (status != 0) {
                    return 0;
                }
            }
            dnnl.call("dnnl_primitive_attr_set_post_ops", "pp", attributes, list);
        }
        return attributes;
    }

    long attributes() {
        return attributes(List.of(), List.of());
    }

    /** Keeps a primitive description until the primitives are made. */
    long keep(long primitiveDescription) {
        plans.onEnd(() -> dnnl.destroyPrimitiveDescription(primitiveDescription));
        return primitiveDescription;
    }

    /** A description for the life of the kernel of one that belongs to a primitive description. */
    long copied(long description) {
        return handles.description(dnnl, dnnl.copy(description));
    }

    /** An input that the primitive may want in another layout. */
    Operand input(int argument, int slot, long given, long wanted) {
        if (wanted == 0 || dnnl.equal(given, wanted)) {
            return new Operand(argument, slot, given);
        }
        Operand inside = temporary(argument, wanted);
        steps.add(reorder(new Operand(DnnlConstants.SRC, slot, given),
                new Operand(DnnlConstants.DST, inside.slot(), inside.description())));
        return inside;
    }

    /** An output that the primitive may write in another layout. */
    Operand output(int argument, int slot, long given, long wanted) {
        if (wanted == 0 || dnnl.equal(given, wanted)) {
            return new Operand(argument, slot, given);
        }
        Operand inside = temporary(argument, wanted);
        last.add(reorder(new Operand(DnnlConstants.SRC, inside.slot(), inside.description()),
                new Operand(DnnlConstants.DST, slot, given)));
        return inside;
    }

    /** A value that lives from one step to a later one. */
    Operand temporary(int argument, long description) {
        return new Operand(argument, region(dnnl.size(description)), copied(description));
    }

    private long region(long bytes) {
        long offset = scratch;
        scratch += bytes + 63 & -64L;
        return Operand.scratch(offset);
    }

    private Sequence.Step reorder(Operand from, Operand to) {
        return reorder(from, to, attributes());
    }

    private Sequence.Step reorder(Operand from, Operand to, long attributes) {
        long description = describeReorder(from, to, attributes);
        if (description == 0) {
            throw new IllegalStateException("oneDNN has no reorder between two layouts of its own");
        }
        return stepOf(description, List.of(from, to));
    }

    /** The description of a reorder; 0 if the library has none between the two types and layouts. */
    private long describeReorder(Operand from, Operand to, long attributes) {
        return keep(Dnnl.handle(
                out -> dnnl.call("dnnl_reorder_primitive_desc_create", "pppppp", out, from.description(), dnnl.engine(),
                        to.description(), dnnl.engine(), attributes)));
    }

    /** Adds a reorder of a value that the caller gives; false if the library has none between the two types. */
    boolean tryCopy(Operand from, Operand to) {
        long description = describeReorder(from, to, attributes());
        if (description != 0) {
            steps.add(stepOf(description, List.of(from, to)));
        }
        return description != 0;
    }

    void copy(Operand from, Operand to) {
        steps.add(reorder(from, to));
    }

    /** Adds the first to the second. */
    void add(Operand from, Operand to) {
        steps.add(reorder(from, to, attributes(List.of(new PostOp.Accumulate(1)), List.of())));
    }

    /** Fills a temporary value with zeros. */
    void clear(Operand operand) {
        long from = ~operand.slot();
        long to = from + dnnl.size(operand.description());
        action((memory, _) -> memory.asSlice(from, to - from).fill((byte) 0));
    }

    /** The steps that follow are run so many times, each time with their operands a pitch further on. */
    void repeat(int count) {
        once = steps.size();
        times = count;
    }

    /** The steps that follow are run once. */
    void endRepeat() {
        until = steps.size();
    }

    /**
     * The steps that follow do not depend on one another: every second run goes through them backwards, and so begins
     * with what is still in the cache.
     */
    void toAndFro() {
        once = steps.size();
        toAndFro = true;
    }

    int threads() {
        return threads;
    }

    void step(long primitiveDescription, Operand... operands) {
        steps.add(stepOf(primitiveDescription, List.of(operands)));
    }

    /** Adds what Java does; it reads and writes regions of scratch memory only. */
    void action(Sequence.Action action) {
        steps.add(new Sequence.Step(0, List.of(), action));
    }

    private Sequence.Step stepOf(long primitiveDescription, List<Operand> operands) {
        List<Operand> all = new ArrayList<>(operands);
        long wanted = dnnl.query(primitiveDescription, DnnlConstants.QUERY_SCRATCHPAD);
        long bytes = wanted == 0 ? 0 : dnnl.size(wanted);
        if (bytes > 0) {
            pad = Math.max(pad, bytes);
            all.add(new Operand(DnnlConstants.SCRATCHPAD, 0, copied(wanted)));
        }
        return new Sequence.Step(primitiveDescription, all, null);
    }
}
