package io.seriatim.graph.ops.elementwise;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Unary;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

/** scale and similar operations, whose gradients are operations of the same kind. */
public final class ScaleOperations {
    private ScaleOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("scale").in("X", "ScaleTensor?").out("Out").attr("scale", 1f).attr("bias", 0f)
                .attr("bias_after_scale", true)
                .infer(ScaleOperations::inferScale).shapeArithmetic().lower(ScaleOperations::scale)
                .grad(ScaleOperations::scaleGradient)
                .register(registry);
        Operation.define("sign").in("X").out("Out").infer(inference -> inference.same("X", "Out"))
                .lower(l -> l.out("Out", l.unary(Unary.Function.SIGN, l.in("X"))))
                .grad((op, wanted) -> scaled(op.output("Out"), op.input("X"), wanted, 0)).register(registry);
        Operation.define("increment").in("X").out("Out").attr("step", 1f).infer(ScaleOperations::inferIncrement)
                .lower(ScaleOperations::increment).grad((op, _) -> List.of(undone(op))).register(registry);
        Operation.define("cast").in("X").out("Out").required("in_dtype", Attribute.Int.class)
                .required("out_dtype", Attribute.Int.class)
                .attr("use_mkldnn", false).infer(ScaleOperations::inferCast).shapeArithmetic()
                .lower(ScaleOperations::cast)
                .grad(ScaleOperations::castGradient).register(registry);
    }

    /** Where X holds rows, those of Out are the same. */
    public static void copyRowIndexes(Lowering l) {
        if (l.isRows("X") && l.wants("Out")) {
            l.into(Copy.PLAIN, List.of(l.rowIndexes("X", 0)), List.of(l.outputRowIndexes("Out")));
        }
    }

    private static void inferScale(Inference inference) {
        requireNumber(inference, "ScaleTensor");
        inference.same("X", "Out");
    }

    /** One element, if it is there. */
    public static void requireNumber(Inference inference, String slot) {
        if (inference.has(slot)) {
            long size = Inference.size(inference.dims(slot));
            inference.require(size < 0 || size == 1, "%s takes one element, not %d", slot, size);
        }
    }

    private static void scale(Lowering l) {
        copyRowIndexes(l);
        Operand x = l.in("X");
        double bias = l.attrs().getDouble("bias");
        if (x.dtype() == DType.BOOL) {
            x = l.cast(x, DType.INT64);
        }
        if (!x.dtype().isDifferentiable()) {
            long whole = (long) bias;
            bias = (double) whole;
        }
        boolean after = l.attrs().getBool("bias_after_scale");
        Operand moved = after || bias == 0 ? x : l.linear(x, 1, bias);
        l.out("Out", factor(l, moved, after ? bias : 0));
    }

    private static Operand factor(Lowering l, Operand x, double bias) {
        if (l.has("ScaleTensor")) {
            Operand product = l.binary(Binary.Function.MULTIPLY, x, l.cast(l.in("ScaleTensor").reshape(), x.dtype()));
            return bias == 0 ? product : l.linear(product, 1, bias);
        }
        double scale = l.attrs().getDouble("scale");
        return l.linear(x, x.dtype().isDifferentiable() ? scale : (long) scale, bias);
    }

    private static List<OpDesc> scaleGradient(OpDesc op, Predicate<String> wanted) {
        Attribute scale = op.attribute("scale");
        return op.input("X").stream().filter(wanted)
                .map(x -> scaled(op.output("Out"), x, scale == null ? Attribute.of(1f) : scale)
                        .in("ScaleTensor", op.input("ScaleTensor"))
                        .build())
                .toList();
    }

    /** For each of some inputs: the gradient of the output, scaled. */
    static List<OpDesc> scaled(List<String> outputs, List<String> inputs, Predicate<String> wanted, float scale) {
        return inputs.stream().filter(wanted).map(input -> scaled(outputs, input, Attribute.of(scale)).build())
                .toList();
    }

    private static OpDesc.Builder scaled(List<String> outputs, String input, Attribute scale) {
        return OpDesc.of("scale").in("X", outputs.stream().map(GradientRule::gradient).toList())
                .out("Out", GradientRule.gradient(input))
                .attr("scale", scale).attr("bias", 0f).attr("bias_after_scale", true);
    }

    private static void inferIncrement(Inference inference) {
        long size = Inference.size(inference.dims("X"));
        inference.require(size < 0 || size == 1, "X must have one element, but has %d", size);
        inference.same("X", "Out");
    }

    private static void increment(Lowering l) {
        double step = l.attrs().getDouble("step");
        Operand x = l.mutable("X", "Out");
        l.into(new Unary(Unary.Function.LINEAR, 1, (float) (x.dtype().isFloating() ? step : (long) step)), List.of(x),
                List.of(x));
    }

    /**
     * The gradient sets the counter back, so that gradients of earlier operations read the value that those operations
     * read.
     */
    private static OpDesc undone(OpDesc op) {
        double step = new Attrs(op, Operations.system().get(op.type())).getDouble("step");
        return OpDesc.of("increment").in("X", op.output("Out")).out("Out", op.input("X")).attr("step", (float) -step)
                .build();
    }

    private static void inferCast(Inference inference) {
        inference.set("Out", 0, inference.in("X").with(inference.attrs().getDType("out_dtype")));
    }

    private static void cast(Lowering l) {
        copyRowIndexes(l);
        Operand x = l.in("X");
        boolean truth = x.dtype().isComplex() && l.outType("Out", 0).dtype() == DType.BOOL;
        l.out("Out", truth ? l.binary(Binary.Function.NOT_EQUAL, x, l.number(x.dtype(), 0)) : x);
    }

    private static List<OpDesc> castGradient(OpDesc op, Predicate<String> wanted) {
        return op.input("X").stream().filter(wanted)
                .map(x -> OpDesc.of("cast").in("X", op.output("Out").stream().map(GradientRule::gradient).toList())
                        .out("Out", GradientRule.gradient(x)).attr("in_dtype", number(op, "out_dtype"))
                        .attr("out_dtype", number(op, "in_dtype"))
                        .build())
                .toList();
    }

    private static Object number(OpDesc op, String attribute) {
        return ((Attribute.Int) Objects.requireNonNull(op.attribute(attribute), attribute)).value();
    }
}
