package io.seriatim.graph.ops.indexing;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.Pad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Parts of a tensor: slices, with strides, and crops. */
public final class SliceOperations {
    private static final String[] BOUNDS = {"StartsTensor", "EndsTensor", "StartsTensorList", "EndsTensorList"};

    private static final String[] STRIDED_BOUNDS = {"StartsTensor", "StartsTensorList", "EndsTensor", "EndsTensorList",
            "StridesTensor",
            "StridesTensorList"};

    private SliceOperations() {
    }

    public static void register(Operations registry) {
        String slots = "EndsTensor, EndsTensorList, StartsTensor, StartsTensorList";
        Operation.Builder slice = Operation.define("slice")
                .in("Input", "StartsTensor?", "EndsTensor?", "StartsTensorList*?", "EndsTensorList*?").out("Out")
                .required("axes", Attribute.Ints.class).attr("starts", new int[0]).attr("ends", new int[0]);
        register(registry, slice, "slice_grad(" + slots + ", Input, Out@GRAD) -> Input@GRAD",
                "slice(" + slots + ", Input=Input@GRAD@GRAD) -> Out=Out@GRAD@GRAD", BOUNDS);
        Operation.Builder strided = Operation.define("strided_slice")
                .in("Input", "StartsTensor?", "StartsTensorList*?", "EndsTensor?", "EndsTensorList*?", "StridesTensor?",
                        "StridesTensorList*?")
                .out("Out").required("axes", Attribute.Ints.class).attr("starts", new int[0]).attr("ends", new int[0])
                .attr("strides", new int[0]);
        register(registry, strided,
                "strided_slice_grad(" + slots + ", Input, Out@GRAD, StridesTensor, StridesTensorList) -> Input@GRAD",
                null,
                STRIDED_BOUNDS);
        crop(registry);
    }

    private static void register(Operations registry, Operation.Builder slice, String signature,
            @Nullable String doubleGradient,
            String... bounds) {
        slice.attr("infer_flags", new int[0]).attr("decrease_axis", new int[0]).values(bounds)
                .infer(SliceOperations::sliced)
                .shapeArithmetic().lower(SliceOperations::cut).grad(signature);
        Operation.Builder gradient = slice.gradOperation(signature, null).values(bounds).shapesOnly("Input")
                .lower(SliceOperations::gradient);
        if (doubleGradient != null) {
            gradient.grad(doubleGradient);
        }
        gradient.register(registry);
        slice.register(registry);
    }

    private static void sliced(Inference inference) {
        ArgType input = inference.in("Input");
        long[] dims = input.dims();
        int[] axes = Dims.axes(inference, "Input", inference.attrs().getLongs("axes"));
        inference.require(dims.length > 0 || axes.length == 0, "a tensor without dimensions cannot be sliced");
        boolean strided = inference.type().startsWith("strided");
        long @Nullable [] starts = bounds(inference, "Starts", "starts", axes.length);
        long @Nullable [] ends = bounds(inference, "Ends", "ends", axes.length);
        long @Nullable [] strides = strided ? bounds(inference, "Strides", "strides", axes.length) : ones(axes.length);
        if (starts == null || ends == null || strides == null) {
            dims = announced(inference, dims, axes, strided);
        } else {
            for (int i = 0; i < axes.length; i++) {
                dims[axes[i]] = dims[axes[i]] < 0
                        ? -1
                        : cut(inference, axes[i], starts[i], ends[i], strides[i], dims[axes[i]], strided).count();
            }
        }
        inference.set("Out", 0, ArgType.dense(input.dtype(), Dims.without(dims, decreased(inference, dims))));
    }

    /**
     * Some bounds come as tensors, whose values are not known yet. For lists of tensors the flags say which axes have
     * bounds that are known.
     */
    private static long[] announced(Inference inference, long[] dims, int[] axes, boolean strided) {
        boolean whole = inference.has("StartsTensor") || inference.has("EndsTensor") || inference.has("StridesTensor");
        long[] flags = inference.attrs().getLongs("infer_flags");
        if (strided && whole) {
            return Dims.unknown(dims.length);
        }
        for (int i = 0; i < axes.length; i++) {
            boolean known = !whole && i < flags.length && flags[i] != -1 && dims[axes[i]] >= 0;
            dims[axes[i]] = known ? announced(inference, axes[i], i, dims[axes[i]], strided) : -1;
        }
        return dims;
    }

    private static long announced(Inference inference, int axis, int index, long length, boolean strided) {
        Attrs attrs = inference.attrs();
        long[] starts = attrs.getLongs("starts");
        long[] ends = attrs.getLongs("ends");
        long[] strides = strided ? attrs.getLongs("strides") : ones(starts.length);
        boolean given = index < starts.length && index < ends.length && index < strides.length;
        return given ? cut(inference, axis, starts[index], ends[index], strides[index], length, strided).count() : -1;
    }

    private static long[] ones(int count) {
        long[] ones = new long[count];
        Arrays.fill(ones, 1);
        return ones;
    }

    private static long @Nullable [] bounds(Inference inference, String slot, String attribute, int count) {
        long[] bounds = Dims.given(inference, slot + "TensorList", slot + "Tensor", attribute);
        inference.require(bounds == null || bounds.length == count,
                "there must be as many %s as axes, %d, but there are %d", attribute,
                count,
                bounds == null ? 0 : bounds.length);
        return bounds;
    }

    private static Cut cut(Inference inference, int axis, long start, long end, long stride, long length,
            boolean strided) {
        if (!strided) {
            inference.require(Cut.leads(start, end, 1, length), "the end %d of axis %d must not be before the start %d",
                    end, axis, start);
            return Cut.of(axis, start, end, length);
        }
        inference.require(stride != 0, "the stride of axis %d must not be 0", axis);
        long from = start < 0 ? Math.max(0, start + length) : start;
        long to = end < 0 && (end != -1 || stride > 0) ? Math.max(0, end + length) : end;
        inference.require(stride > 0 ? from <= to : from >= to, "stride %d does not lead from %d to %d on axis %d",
                stride, start, end,
                axis);
        return strided(axis, start, end, stride, length);
    }

    /**
     * Not as Python: going back, −1 is the end before the first element, and an end further off is the first element,
     * which is left out.
     */
    private static Cut strided(int axis, long start, long end, long stride, long length) {
        long from = Math.clamp(start < 0 ? start + length : start, 0, stride > 0 ? length : Math.max(0, length - 1));
        long to = stride < 0 && end == -1 ? -1 : Math.clamp(end < 0 ? end + length : end, 0, length);
        long distance = length == 0 ? 0 : stride > 0 ? to - from : from - to;
        return new Cut(axis, from, stride, distance <= 0 ? 0 : (distance - 1) / Math.abs(stride) + 1);
    }

    private static boolean[] decreased(Inference inference, long[] dims) {
        boolean[] gone = new boolean[dims.length];
        for (int axis : Dims.axes(inference, "Input", inference.attrs().getLongs("decrease_axis"))) {
            inference.require(dims[axis] == 1 || dims[axis] < 0,
                    "axis %d is to be left out, but %d elements of it are taken", axis,
                    dims[axis]);
            gone[axis] = true;
        }
        return gone;
    }

    private static List<Cut> cuts(Lowering l) {
        int[] axes = l.attrs().getInts("axes");
        long[] dims = l.type("Input", 0).dims();
        boolean strided = l.type().startsWith("strided");
        long[] starts = Dims.given(l, "StartsTensorList", "StartsTensor", "starts");
        long[] ends = Dims.given(l, "EndsTensorList", "EndsTensor", "ends");
        long[] strides = strided ? Dims.given(l, "StridesTensorList", "StridesTensor", "strides") : ones(axes.length);
        List<Cut> cuts = new ArrayList<>();
        for (int i = 0; i < axes.length; i++) {
            int axis = axes[i] < 0 ? axes[i] + dims.length : axes[i];
            cuts.add(strided
                    ? strided(axis, starts[i], ends[i], strides[i], dims[axis])
                    : Cut.of(axis, starts[i], ends[i], dims[axis]));
        }
        return cuts;
    }

    private static void cut(Lowering l) {
        if (l.wants("Out")) {
            Operand view = Cut.view(l.in("Input"), cuts(l));
            Operand out = l.output("Out").reshape(view.shape().dims());
            l.into(Copy.PLAIN, List.of(view), List.of(out));
        }
    }

    private static void gradient(Lowering l) {
        if (l.wants("Input@GRAD")) {
            Operand whole = l.output("Input@GRAD");
            Operand view = Cut.view(whole, cuts(l));
            l.into(new Fill(0), List.of(), List.of(whole));
            l.into(Copy.PLAIN, List.of(l.reshape(l.in("Out@GRAD"), view.shape().dims())), List.of(view));
        }
    }

    private static void crop(Operations registry) {
        Operation.Builder forward = Operation.define("crop_tensor")
                .in("X", "Shape?", "ShapeTensor*?", "Offsets?", "OffsetsTensor*?")
                .out("Out").attr("shape", new int[0]).attr("offsets", new int[0])
                .values("Shape", "ShapeTensor", "Offsets", "OffsetsTensor");
        String gradient = "crop_tensor_grad(X, Offsets, OffsetsTensor, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X").values("Offsets", "OffsetsTensor").lower(l -> {
            long[] dims = l.outType("X@GRAD", 0).dims();
            long[] offsets = Dims.given(l, "OffsetsTensor", "Offsets", "offsets");
            Operand dout = l.in("Out@GRAD");
            List<Long> before = Arrays.stream(offsets).boxed().toList();
            List<Long> after = IntStream.range(0, dims.length).mapToObj(i -> dims[i] - offsets[i] - dout.dim(i))
                    .toList();
            l.out("X@GRAD", l.run(new Pad(before, after, Pad.Mode.CONSTANT, 0), dout));
        }).register(registry);
        forward.infer(SliceOperations::cropped).lower(l -> {
            long[] dims = l.outType("Out", 0).dims();
            long[] offsets = Dims.given(l, "OffsetsTensor", "Offsets", "offsets");
            Operand part = l.in("X");
            for (int i = 0; i < dims.length; i++) {
                part = part.slice(i, offsets[i], offsets[i] + dims[i]);
            }
            l.out("Out", part);
        }).grad(gradient).register(registry);
    }

    private static void cropped(Inference inference) {
        long[] x = inference.dims("X");
        long @Nullable [] shape = Dims.given(inference, "ShapeTensor", "Shape", "shape");
        long @Nullable [] offsets = Dims.given(inference, "OffsetsTensor", "Offsets", "offsets");
        inference.require(
                (shape == null || shape.length == x.length) && (offsets == null || offsets.length == x.length),
                "shape and offsets must have one number for each of %d dimensions", x.length);
        long[] dims = Dims.unknown(x.length);
        for (int i = 0; shape != null && i < x.length; i++) {
            long offset = offsets == null ? 0 : offsets[i];
            inference.require(offset >= 0 && shape[i] >= -1,
                    "offsets must be from 0, and shape from -1 on, but are %d and %d", offset,
                    shape[i]);
            dims[i] = shape[i] >= 0 ? shape[i] : x[i] < 0 || offsets == null ? -1 : x[i] - offset;
            inference.require(x[i] < 0 || dims[i] < 0 || offset + dims[i] <= x[i],
                    "%d elements from %d do not fit into axis %d of length %d",
                    dims[i], offset, i, x[i]);
        }
        inference.set("Out", inference.dtype("X"), dims);
    }
}
