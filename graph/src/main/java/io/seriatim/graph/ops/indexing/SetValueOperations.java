package io.seriatim.graph.ops.indexing;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes into a part of a tensor. */
public final class SetValueOperations {
    private static final String[] BOUNDS = {"StartsTensorList", "EndsTensorList", "StepsTensorList"};

    private SetValueOperations() {
    }

    public static void register(Operations registry) {
        String signature = "set_value_grad(EndsTensorList, Out@GRAD, StartsTensorList, StepsTensorList, ValueTensor)"
                + " -> Input@GRAD, ValueTensor@GRAD";
        Operation.Builder set = Operation.define("set_value")
                .in("Input", "ValueTensor?", "StartsTensorList*?", "EndsTensorList*?", "StepsTensorList*?").out("Out")
                .attr("dtype", 5)
                .required("axes", Attribute.Int64s.class).attr("starts", new long[0]).attr("ends", new long[0])
                .attr("steps", new long[0])
                .attr("decrease_axes", new long[0]).attr("none_axes", new long[0])
                .attr("values", new Attribute.Scalars(List.of()))
                .attr("shape", new long[0]).values(BOUNDS).infer(SetValueOperations::set).lower(SetValueOperations::set)
                .grad(signature);
        set.gradOperation(signature, SetValueOperations::gradient).values(BOUNDS).shapesOnly("ValueTensor")
                .lower(SetValueOperations::gradient).register(registry);
        set.register(registry);
    }

    private static void set(Inference inference) {
        inference.same("Input", "Out");
        if (inference.has("ValueTensor")) {
            inference.require(inference.dtype("ValueTensor") == inference.dtype("Input"),
                    "ValueTensor must be %s as Input is, but is %s",
                    inference.dtype("Input"), inference.dtype("ValueTensor"));
        }
        check(inference, "Input");
    }

    private static void gradient(Inference inference) {
        inference.same("Out@GRAD", "Input@GRAD");
        if (inference.outputs("ValueTensor@GRAD") > 0) {
            inference.same("ValueTensor", "ValueTensor@GRAD");
        }
        check(inference, "Out@GRAD");
    }

    private static void check(Inference inference, String whole) {
        long[] dims = inference.dims(whole);
        int[] axes = Dims.axes(inference, whole, inference.attrs().getLongs("axes"));
        inference.require(dims.length > 0 || axes.length == 0, "a tensor without dimensions has no part to be set");
        long @Nullable [] starts = bounds(inference, "Starts", "starts", axes.length);
        long @Nullable [] ends = bounds(inference, "Ends", "ends", axes.length);
        long @Nullable [] steps = bounds(inference, "Steps", "steps", axes.length);
        inference.require(steps == null || Arrays.stream(steps).noneMatch(step -> step == 0), "no step may be 0");
        if (starts == null || ends == null || steps == null || Inference.size(dims) < 0) {
            return;
        }
        for (int i = 0; i < axes.length; i++) {
            inference.require(Cut.leads(starts[i], ends[i], steps[i], dims[axes[i]]),
                    "step %d does not lead from %d to %d on axis %d",
                    steps[i],
                    starts[i], ends[i], axes[i]);
            dims[axes[i]] = Cut.of(axes[i], starts[i], ends[i], steps[i], dims[axes[i]]).count();
        }
        for (int axis : Dims.axes(inference, whole, inference.attrs().getLongs("decrease_axes"))) {
            inference.require(dims[axis] == 1, "axis %d is in decrease_axes, but %d elements of it are set", axis,
                    dims[axis]);
        }
        long[] part = assigned(dims, inference.attrs());
        long[] value = inference.has("ValueTensor") ? inference.dims("ValueTensor") : valueDims(inference);
        inference.require(Inference.size(value) < 0 || fits(value, part),
                "a value of shape %s does not expand to the part of shape %s",
                Numbers.text(value), Numbers.text(part));
    }

    private static long[] valueDims(Inference inference) {
        if (inference.type().endsWith("_grad")) {
            return new long[0];
        }
        long[] shape = inference.attrs().getLongs("shape");
        int count = values(inference.attrs()).length;
        inference.require(Inference.size(shape) == count,
                "ValueTensor, or as many values as the attribute shape %s says, must be given; there are %d",
                Numbers.text(shape), count);
        return shape;
    }

    private static long @Nullable [] bounds(Inference inference, String slot, String attribute, int count) {
        long[] bounds = Dims.given(inference, slot + "TensorList", "", attribute);
        inference.require(bounds == null || bounds.length == count,
                "there must be as many %s as axes, %d, but there are %d", attribute,
                count,
                bounds == null ? 0 : bounds.length);
        return bounds;
    }

    private static boolean fits(long[] value, long[] part) {
        for (int i = 1; i <= value.length; i++) {
            long dim = value[value.length - i];
            if (dim != 1 && (i > part.length || dim != part[part.length - i])) {
                return false;
            }
        }
        return true;
    }

    /** The dimensions of the part as the value sees it: without the axes of which one element is set, with new ones. */
    private static long[] assigned(long[] dims, Attrs attrs) {
        boolean[] gone = new boolean[dims.length];
        for (int axis : attrs.getInts("decrease_axes")) {
            gone[Math.floorMod(axis, dims.length)] = true;
        }
        int[] none = attrs.getInts("none_axes");
        List<Long> seen = new ArrayList<>();
        int next = 0;
        for (int i = 0; i <= dims.length; i++) {
            for (; next < none.length && (none[next] <= i || i == dims.length); next++) {
                seen.add(1L);
            }
            if (i < dims.length && !gone[i]) {
                seen.add(dims[i]);
            }
        }
        return seen.stream().mapToLong(Long::longValue).toArray();
    }

    private static Operand part(Lowering l, Operand whole) {
        int[] axes = l.attrs().getInts("axes");
        long[] starts = Dims.given(l, "StartsTensorList", "", "starts");
        long[] ends = Dims.given(l, "EndsTensorList", "", "ends");
        long[] steps = Dims.given(l, "StepsTensorList", "", "steps");
        List<Cut> cuts = new ArrayList<>();
        for (int i = 0; i < axes.length; i++) {
            int axis = axes[i] < 0 ? axes[i] + whole.rank() : axes[i];
            cuts.add(Cut.of(axis, starts[i], ends[i], steps[i], whole.dim(axis)));
        }
        return Cut.view(whole, cuts);
    }

    /** The given value, expanded to the part as the value sees it, then with the dimensions of the part. */
    private static void set(Lowering l) {
        Operand whole = l.in("Input");
        // What is replaced altogether need not be copied before.
        boolean all = part(l, whole).shape().size() == whole.shape().size();
        Operand part = part(l, all ? l.output("Out") : l.mutable("Input", "Out"));
        long[] seen = assigned(part.shape().dims(), l.attrs());
        Operand value = l.has("ValueTensor") ? l.in("ValueTensor") : given(l.attrs(), l, part.dtype());
        long[] dims = value.shape().dims();
        int extra = Math.max(0, dims.length - seen.length);
        Operand expanded = value.reshape(Arrays.copyOfRange(dims, extra, dims.length)).expand(Shape.of(seen));
        l.into(new Copy(part.dtype()), List.of(alike(expanded, part)), List.of(part));
    }

    /** New axes go and those of one element come back: neither moves an element. */
    private static Operand alike(Operand seen, Operand part) {
        Operand view = seen;
        for (int i = view.rank() - 1; i >= 0; i--) {
            view = view.dim(i) == 1 ? view.squeeze(i) : view;
        }
        for (int i = 0; i < part.rank(); i++) {
            view = part.dim(i) == 1 ? view.unsqueeze(i) : view;
        }
        return view;
    }

    private static Operand given(Attrs attrs, Lowering l, DType dtype) {
        long[] shape = attrs.getLongs("shape");
        double[] values = values(attrs);
        if (!dtype.isFloating()
                && attrs.get("values") instanceof Attribute.Scalars(List<Attribute.ScalarNumber> numbers)
                && numbers.stream().allMatch(Attribute.ScalarNumber.OfLong.class::isInstance) && !numbers.isEmpty()) {
            return l.constant(Tensor.of(dtype, numbers.stream().mapToLong(SetValueOperations::whole).toArray(), shape));
        }
        return l.constant(Tensor.of(dtype, values, shape));
    }

    private static long whole(Attribute.ScalarNumber number) {
        return number instanceof Attribute.ScalarNumber.OfLong(long value) ? value : (long) number.asDouble();
    }

    /** Programs of before 2.5 have an attribute for each type. */
    private static double[] values(Attrs attrs) {
        double[] values = attrs.getDoubles("values");
        for (String type : List.of("fp32_values", "int32_values", "int64_values", "bool_values", "fp64_values",
                "fp16_values")) {
            if (values.length == 0 && attrs.has(type)) {
                values = attrs.getDoubles(type);
            }
        }
        return values;
    }

    private static void gradient(Lowering l) {
        if (l.wants("ValueTensor@GRAD")) {
            Operand part = part(l, l.in("Out@GRAD"));
            Operand value = l.output("ValueTensor@GRAD");
            long[] seen = assigned(part.shape().dims(), l.attrs());
            long[] dims = value.shape().dims();
            long[] inner = Arrays.copyOfRange(dims, Math.max(0, dims.length - seen.length), dims.length);
            Operand sum = Dims.sumTo(l, l.reshape(part, seen), inner);
            l.out("ValueTensor@GRAD", l.reshape(sum, dims));
        }
        if (l.wants("Input@GRAD")) {
            l.into(new Fill(0), List.of(), List.of(part(l, l.mutable("Out@GRAD", "Input@GRAD"))));
        }
    }
}
