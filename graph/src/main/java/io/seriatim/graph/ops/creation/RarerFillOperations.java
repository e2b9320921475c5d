package io.seriatim.graph.ops.creation;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Fill;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tensors of listed values, tensors overwritten with a value, and tensors whose values do not matter. */
public final class RarerFillOperations {
    private RarerFillOperations() {
    }

    public static void register(Operations registry) {
        listed(registry);
        Operation.define("fill_any").in("X").out("Out").attr("value", 0f)
                .infer(inference -> inference.same("X", "Out")).lower(l -> fill(l, "Out", l.attrs().getFloat("value")))
                .grad("fill_any_grad(Out@GRAD) -> X@GRAD", l -> fill(l, "X@GRAD", 0)).register(registry);
        Operation.define("fill_zeros_like2").in("X").out("Out").attr("dtype", 5).shapesOnly("X").infer(inference -> {
            ArgType x = inference.in("X");
            int dtype = inference.attrs().getInt("dtype");
            inference.set("Out", 0, dtype < 0 ? x : x.with(inference.attrs().getDType("dtype")));
        }).lower(l -> fill(l, "Out", 0)).register(registry);
        Operation.define("empty").in("ShapeTensor?", "ShapeTensorList*?").out("Out").attr("shape", new long[0])
                .attr("dtype", 5).values("ShapeTensor", "ShapeTensorList").infer(RarerFillOperations::inferEmpty)
                .lower(l -> fill(l, "Out", 0)).register(registry);
    }

    private static void fill(Lowering l, String slot, float value) {
        if (l.wants(slot)) {
            DType dtype = l.output(slot).dtype();
            double kept = dtype.isFloating() || dtype.isWhole()
                    ? value
                    : dtype == DType.BOOL ? (value == 0 ? 0 : 1) : (long) value;
            l.into(new Fill(kept), List.of(), List.of(l.output(slot)));
        }
    }

    private static void listed(Operations registry) {
        Operation.define("fill").out("Out").required("value", Attribute.Reals.class)
                .required("shape", Attribute.Ints.class).attr("dtype", 5).attr("force_cpu", false).infer(inference -> {
                    long[] shape = inference.attrs().getLongs("shape");
                    requireDimensions(inference, shape);
                    int count = inference.attrs().getDoubles("value").length;
                    inference.require(Inference.size(shape) == count,
                            "the shape %s must have as many elements as there are values, %d", Numbers.text(shape),
                            count);
                    inference.set("Out", inference.attrs().getDType("dtype"), shape);
                }).lower(l -> l.out("Out", l.constant(Tensor.of(l.attrs().getDType("dtype"),
                        l.attrs().getDoubles("value"), l.attrs().getLongs("shape")))))
                .register(registry);
    }

    private static void requireDimensions(Inference inference, long... shape) {
        inference.require(Arrays.stream(shape).allMatch(dim -> dim >= 0),
                "the shape must hold dimensions from 0 on, but is %s", Numbers.text(shape));
    }

    private static void inferEmpty(Inference inference) {
        long @Nullable [] shape = Dims.given(inference, "ShapeTensorList", "ShapeTensor", "shape");
        if (shape == null) {
            int rank = inference.has("ShapeTensorList")
                    ? inference.count("ShapeTensorList")
                    : Dims.count(inference, "ShapeTensor");
            inference.set("Out", inference.attrs().getDType("dtype"), Dims.unknown(rank));
            return;
        }
        boolean known = inference.isForRun() || !(inference.has("ShapeTensorList") || inference.has("ShapeTensor"));
        if (known) {
            requireDimensions(inference, shape);
        }
        inference.set("Out", inference.attrs().getDType("dtype"), shape);
    }
}
