package io.seriatim.graph.ops.shape;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What Paddle sees of the memory of a tensor without a copy: here the results are tensors of their own. Where elements
 * are seen several times, their gradients are summed; Paddle keeps one of them.
 */
public final class StridedOperations {
    private StridedOperations() {
    }

    public static void register(Operations registry) {
        strided(registry);
        selected(registry);
        unfolded(registry);
        reinterpreted(registry);
        reshaped(registry);
    }

    private static void strided(Operations registry) {
        String signature = "as_strided_grad(input, out@GRAD) -> input@GRAD";
        Operation.Builder strided = Operation.define("as_strided").in("input").out("out").attr("dims", new long[0])
                .attr("stride", new long[0]).attr("offset", 0L).infer(inference -> {
                    checkStrided(inference);
                    inference.set("out", inference.dtype("input"), inference.attrs().getLongs("dims"));
                }).lower(l -> {
                    Operand x = l.in("input");
                    TensorSpec spec = new TensorSpec(x.dtype(), Shape.of(l.attrs().getLongs("dims")),
                            Layout.strided(l.attrs().getLongs("stride")));
                    l.out("out", new Operand(x.source(), x.offset() + l.attrs().getLong("offset"), spec));
                }).grad(signature);
        strided.gradOperation(signature, null).shapesOnly("input").lower(l -> {
            if (l.wants("input@GRAD")) {
                Shape x = l.in("input").shape();
                Operand dout = l.in("out@GRAD");
                long[] places = places(l);
                Operand flat = l.run(new GatherGrad(new Gather(0, Gather.NO_PADDING), List.of(x.size())),
                        dout.reshape(places.length), l.constant(Tensor.of(places, places.length)));
                l.out("input@GRAD", flat.reshape(x.dims()));
            }
        }).register(registry);
        strided.register(registry);
    }

    /** All elements must be those of the tensor; the offset is in bytes. */
    private static void checkStrided(Inference inference) {
        long[] dims = inference.attrs().getLongs("dims");
        long[] strides = inference.attrs().getLongs("stride");
        long offset = inference.attrs().getLong("offset");
        int width = inference.dtype("input").bytes();
        inference.require(dims.length == strides.length && Arrays.stream(dims).allMatch(dim -> dim >= 0)
                && Arrays.stream(strides).allMatch(stride -> stride >= 0),
                "dims and stride must hold as many numbers from 0 on, but are %s and %s", Numbers.text(dims),
                Numbers.text(strides));
        inference.require(offset >= 0 && offset % width == 0,
                "offset must be a multiple of %d bytes, the size of an element, but is %d", width, offset);
        long last = offset / width;
        for (int i = 0; i < dims.length; i++) {
            last = Math.addExact(last, Math.multiplyExact(Math.max(dims[i] - 1, 0), strides[i]));
        }
        long size = Inference.size(inference.dims("input"));
        boolean empty = Arrays.stream(dims).anyMatch(dim -> dim == 0);
        inference.require(empty || size < 0 || last < size,
                "dims %s, stride %s and offset %d lead to element %d, but the input has %d", Numbers.text(dims),
                Numbers.text(strides), offset, last, size);
    }

    /** The number of the input's element that each element of the result is. */
    private static long[] places(Lowering l) {
        long[] dims = l.attrs().getLongs("dims");
        long[] strides = l.attrs().getLongs("stride");
        long[] places = new long[WorkingMemory.length(Shape.of(dims).size())];
        Arrays.fill(places, l.attrs().getLong("offset") / l.in("input").dtype().bytes());
        long inner = 1;
        for (int axis = dims.length - 1; axis >= 0; axis--) {
            for (int i = 0; i < places.length; i++) {
                places[i] += i / inner % dims[axis] * strides[axis];
            }
            inner *= dims[axis];
        }
        return places;
    }

    private static void selected(Operations registry) {
        String signature = "index_select_strided_grad(x, out@GRAD) -> x@GRAD";
        Operation.Builder select = Operation.define("index_select_strided").in("x").out("out")
                .required("index", Attribute.Int64.class).attr("axis", 0).infer(inference -> {
                    long[] dims = inference.dims("x");
                    int axis = inference.axis("x", inference.attrs().getInt("axis"));
                    long index = inference.attrs().getLong("index");
                    inference.require(dims.length > 0, "x needs a dimension of which an index is selected");
                    inference.require(index >= 0 && (dims[axis] < 0 || index < dims[axis]),
                            "index must be from 0 and below %d, the length of axis %d, but is %d", dims[axis], axis,
                            index);
                    boolean[] gone = new boolean[dims.length];
                    gone[axis] = true;
                    inference.set("out", inference.dtype("x"), Dims.without(dims, gone));
                }).lower(l -> l.out("out", selected(l, l.in("x")))).grad(signature);
        select.gradOperation(signature, null).shapesOnly("x").lower(l -> {
            if (l.wants("x@GRAD")) {
                Operand dx = l.output("x@GRAD");
                l.into(new Fill(0), List.of(), List.of(dx));
                l.into(Copy.PLAIN, List.of(l.in("out@GRAD")), List.of(selected(l, dx)));
            }
        }).register(registry);
        select.register(registry);
    }

    private static Operand selected(Lowering l, Operand whole) {
        return whole.select(l.attrs().getInt("axis"), l.attrs().getLong("index"));
    }

    private static void unfolded(Operations registry) {
        String signature = "tensor_unfold_grad(input, out@GRAD) -> input@GRAD";
        Operation.Builder unfold = Operation.define("tensor_unfold").in("input").out("out")
                .required("axis", Attribute.Int64.class).required("size", Attribute.Int64.class)
                .required("step", Attribute.Int64.class).infer(inference -> {
                    long[] dims = inference.dims("input");
                    int axis = inference.axis("input", inference.attrs().getLong("axis"));
                    long size = inference.attrs().getLong("size");
                    long step = inference.attrs().getLong("step");
                    inference.require(dims.length > 0, "input needs a dimension in which windows lie");
                    inference.require(size >= 0 && (dims[axis] < 0 || size <= dims[axis]),
                            "size must be from 0 to %d, the length of axis %d, but is %d", dims[axis], axis, size);
                    inference.require(step > 0, "step must be 1 or more, but is %d", step);
                    long windows = dims[axis] < 0 ? -1 : (dims[axis] - size) / step + 1;
                    inference.set("out", inference.dtype("input"),
                            Dims.inserted(Dims.with(dims, axis, windows), dims.length, size));
                }).lower(l -> {
                    Operand x = l.in("input");
                    int axis = x.shape().axis(l.attrs().getInt("axis"));
                    long[] strides = x.spec().strides();
                    long[] wide = Dims.inserted(strides, strides.length, strides[axis]);
                    wide[axis] *= l.attrs().getLong("step");
                    l.out("out", new Operand(x.source(), x.offset(), new TensorSpec(x.dtype(),
                            Shape.of(l.outType("out", 0).dims()), Layout.strided(wide))));
                }).grad(signature);
        unfold.gradOperation(signature, null).shapesOnly("input").lower(StridedOperations::fold).register(registry);
        unfold.register(registry);
    }

    /** Sums the windows: those of the gradient are put one after the other along the axis. */
    private static void fold(Lowering l) {
        Shape x = l.in("input").shape();
        Operand dout = l.in("out@GRAD");
        int axis = x.axis(l.attrs().getInt("axis"));
        int windows = Math.toIntExact(dout.dim(axis));
        int size = Math.toIntExact(dout.dim(-1));
        long step = l.attrs().getLong("step");
        long[] places = new long[WorkingMemory.length(windows, size)];
        Arrays.setAll(places, i -> i / size * step + i % size);
        int[] order = new int[dout.rank()];
        for (int i = 0; i < order.length; i++) {
            order[i] = i <= axis ? i : i == axis + 1 ? order.length - 1 : i - 1;
        }
        Operand lined = l.reshape(dout.transpose(order), x.with(axis, places.length).dims());
        l.out("input@GRAD", l.run(new GatherGrad(new Gather(axis, Gather.NO_PADDING),
                Arrays.stream(x.dims()).boxed().toList()), lined, l.constant(Tensor.of(places, places.length))));
    }

    private static void reinterpreted(Operations registry) {
        String signature = "view_dtype_grad(input, out@GRAD) -> input@GRAD";
        Operation.Builder view = Operation.define("view_dtype").in("input").out("out")
                .required("dtype", Attribute.Int.class).infer(StridedOperations::inferReinterpreted)
                .lower(l -> reinterpret(l, "input", "out")).grad(signature);
        view.gradOperation(signature, null).shapesOnly("input").lower(l -> reinterpret(l, "out@GRAD", "input@GRAD"))
                .register(registry);
        view.register(registry);
    }

    /** The bytes stay: elements of other sizes change the last dimension. */
    private static void inferReinterpreted(Inference inference) {
        DType from = inference.dtype("input");
        DType to = inference.attrs().getDType("dtype");
        long[] dims = inference.dims("input");
        if (from.bytes() != to.bytes()) {
            inference.require(dims.length > 0, "a tensor without dimensions cannot be seen as %s", to);
            int last = dims.length - 1;
            long bytes = Dims.times(dims[last], from.bytes());
            inference.require(bytes < 0 || bytes % to.bytes() == 0,
                    "the last dimension of %d elements of %s does not hold a whole number of elements of %s",
                    dims[last], from, to);
            dims[last] = bytes < 0 ? -1 : bytes / to.bytes();
        }
        inference.set("out", to, dims);
    }

    private static void reinterpret(Lowering l, String from, String to) {
        if (l.wants(to)) {
            l.call(l.type(), StridedOperations::copyBytes, List.of(l.in(from)), List.of(l.output(to)));
        }
    }

    private static void copyBytes(List<@Nullable Tensor> in, List<@Nullable Tensor> out) {
        Tensor from = Objects.requireNonNull(in.getFirst());
        Tensor to = Objects.requireNonNull(out.getFirst());
        MemorySegment.copy(from.memory(), from.offset(), to.memory(), to.offset(), to.spec().bytes());
    }

    private static void reshaped(Operations registry) {
        String signature = "view_shape_grad(input, out@GRAD) -> input@GRAD";
        Operation.Builder view = Operation.define("view_shape").in("input").out("out").attr("dims", new long[0])
                .infer(inference -> inference.set("out", inference.dtype("input"),
                        ShapeOperations.inferred(inference, "input", inference.attrs().getLongs("dims"))))
                .lower(l -> ShapeOperations.reshape(l, "input", "out")).grad(signature);
        view.gradOperation(signature, null).shapesOnly("input")
                .lower(l -> ShapeOperations.reshape(l, "out@GRAD", "input@GRAD"))
                .grad("view_shape(input=input@GRAD@GRAD) -> out=out@GRAD@GRAD").register(registry);
        view.register(registry);
    }
}
