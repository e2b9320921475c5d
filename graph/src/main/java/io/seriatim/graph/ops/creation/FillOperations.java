package io.seriatim.graph.ops.creation;

import io.seriatim.graph.op.ArgType;
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
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Tensors of one value, of given values, and the unit matrix. */
public final class FillOperations {
    /** Of the whole part of a number of 64 bits. */
    private static final int MOST_DIGITS = 20;
    private static final Pattern DECIMAL = Pattern
            .compile("[+-]?(\\d{1,400}(\\.\\d{0,400})?|\\.\\d{1,400})([eE][+-]?\\d{1,4})?");

    private FillOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("fill_constant").in("ValueTensor?", "ShapeTensor?", "ShapeTensorList*?").out("Out")
                .attr("dtype", 5)
                .attr("shape", new long[0]).attr("value", 0f).attr("str_value", "").attr("force_cpu", false)
                .attr("place_type", -1)
                .values("ShapeTensor", "ShapeTensorList").infer(FillOperations::constant)
                .lower(FillOperations::constant).shapeArithmetic()
                .register(registry);
        Operation.define("fill_constant_batch_size_like").in("Input").out("Out").required("shape", Attribute.Ints.class)
                .attr("input_dim_idx", 0).attr("output_dim_idx", 0).attr("dtype", 5).attr("value", 0f)
                .attr("str_value", "")
                .attr("force_cpu", false).shapesOnly("Input").infer(FillOperations::batch)
                .lower(FillOperations::constant)
                .register(registry);
        Operation.define("fill_any_like").in("X").out("Out").attr("value", 0f).attr("dtype", -1).shapesOnly("X")
                .shapeArithmetic()
                .infer(inference -> inference.set("Out", 0, like(inference)))
                .lower(l -> fill(l, l.attrs().getDouble("value")))
                .register(registry);
        Operation.define("fill_zeros_like").in("X").out("Out").shapesOnly("X")
                .infer(inference -> inference.same("X", "Out"))
                .lower(l -> fill(l, 0)).register(registry);
        Operation.define("assign_value").out("Out").required("shape", Attribute.Ints.class)
                .required("dtype", Attribute.Int.class)
                .attr("bool_values", new int[0]).attr("fp32_values", new float[0]).attr("fp64_values", new double[0])
                .attr("int32_values", new int[0]).attr("int64_values", new long[0]).infer(FillOperations::assigned)
                .lower(l -> l.out("Out", l.constant(values(l.attrs())))).shapeArithmetic().register(registry);
        Operation.define("eye").out("Out").required("num_rows", Attribute.Int64.class).attr("num_columns", -1L)
                .attr("dtype", 5)
                .infer(FillOperations::eye).lower(FillOperations::eye).register(registry);
    }

    private static void constant(Inference inference) {
        long[] shape = inference.attrs().getLongs("shape");
        long @Nullable [] given = Dims.given(inference, "ShapeTensorList", "ShapeTensor", "shape");
        if (given != null) {
            inference.require(Arrays.stream(given).allMatch(dim -> dim >= 0),
                    "the shape %s must not hold negative dimensions",
                    Numbers.text(given));
            shape = given;
        } else if (shape.length == 0 && inference.has("ShapeTensor")) {
            shape = Dims.unknown(Dims.count(inference, "ShapeTensor"));
        }
        if (inference.has("ValueTensor")) {
            long size = Inference.size(inference.dims("ValueTensor"));
            inference.require(size == 1 || size < 0, "ValueTensor must have one element, but has %d", size);
        }
        value(inference);
        inference.set("Out", inference.attrs().getDType("dtype"), shape);
    }

    /** Checks that the value is one of the type's. */
    private static void value(Inference inference) {
        DType dtype = inference.attrs().getDType("dtype");
        String text = inference.attrs().getText("str_value").strip();
        double value = inference.attrs().getDouble("value");
        if (!text.isEmpty()) {
            Double special = special(text);
            BigDecimal decimal = special == null ? decimal(text) : null;
            inference.require(special != null || decimal != null, "str_value must be a number, inf or nan, but is '%s'",
                    text);
            inference.require(decimal == null || holds(dtype, decimal),
                    "the value %s is none of %s",
                    text, dtype);
            value = special != null ? special : Objects.requireNonNull(decimal).doubleValue();
        }
        inRange(inference, dtype, value);
    }

    /** Whether a type of 64 bits has a whole number; a double cannot say. */
    private static boolean holds(DType dtype, BigDecimal value) {
        if (dtype != DType.INT64 && dtype != DType.UINT64) {
            return true;
        }
        // A number with a huge exponent must not be written out.
        if ((long) value.precision() - value.scale() > MOST_DIGITS) {
            return false;
        }
        BigInteger whole = value.toBigInteger();
        return dtype == DType.INT64
                ? whole.bitLength() < Long.SIZE
                : whole.signum() >= 0 && whole.bitLength() <= Long.SIZE;
    }

    private static void inRange(Inference inference, DType dtype, double value) {
        if (!dtype.isDifferentiable() && dtype != DType.BOOL) {
            double end = Math.scalb(1.0, 8 * dtype.bytes() - (dtype.isUnsigned() ? 0 : 1));
            double start = dtype.isUnsigned() ? 0 : -end;
            // The largest number of 64 bits is rounded up when it becomes a double.
            boolean inside = Math.rint(value) >= start
                    && (value < end || (dtype.bytes() == Long.BYTES && value == end));
            inference.require(inside, "the value %s is none of %s", value, dtype);
        }
    }

    private static void batch(Inference inference) {
        long[] shape = inference.attrs().getLongs("shape");
        long[] input = inference.dims("Input");
        int from = inference.axis("Input", inference.attrs().getLong("input_dim_idx"));
        int to = inference.attrs().getInt("output_dim_idx");
        inference.require(to >= 0 && to < shape.length, "output_dim_idx must be from 0 to %d, but is %d",
                shape.length - 1, to);
        inference.require(input.length > 0, "Input needs a dimension");
        shape[to] = input[from];
        for (int i = 0; i < shape.length; i++) {
            inference.require(i == to || shape[i] >= 0,
                    "the shape %s must not hold negative dimensions but for output_dim_idx",
                    Numbers.text(shape));
        }
        value(inference);
        inference.set("Out", inference.attrs().getDType("dtype"), shape);
    }

    private static ArgType like(Inference inference) {
        ArgType type = inference.attrs().getInt("dtype") < 0
                ? inference.in("X")
                : inference.in("X").with(inference.attrs().getDType("dtype"));
        inRange(inference, type.dtype(), inference.attrs().getDouble("value"));
        return type;
    }

    private static void constant(Lowering l) {
        if (!l.wants("Out")) {
            return;
        }
        Operand out = l.output("Out");
        if (l.has("ValueTensor")) {
            l.into(new Copy(out.dtype()), List.of(l.in("ValueTensor").reshape()), List.of(out));
            return;
        }
        String text = l.attrs().getText("str_value").strip();
        Double special = special(text);
        BigDecimal decimal = special == null ? decimal(text) : null;
        if (decimal == null) {
            fill(l, special == null ? l.attrs().getDouble("value") : special);
        } else if (out.dtype() == DType.INT64 || out.dtype() == DType.UINT64) {
            // A whole number of 64 bits may not fit into a double.
            Tensor value = Tensor.of(out.dtype(), new long[]{decimal.longValue()});
            l.into(Copy.PLAIN, List.of(l.constant(value)), List.of(out));
        } else {
            fill(l, decimal.doubleValue());
        }
    }

    private static void fill(Lowering l, double value) {
        if (l.wants("Out")) {
            Operand out = l.output("Out");
            l.into(new Fill(out.dtype() == DType.BOOL && value != 0 ? 1 : value), List.of(), List.of(out));
        }
    }

    private static @Nullable Double special(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "inf", "+inf", "infinity" -> Double.POSITIVE_INFINITY;
            case "-inf", "-infinity" -> Double.NEGATIVE_INFINITY;
            case "nan", "-nan" -> Double.NaN;
            case "true" -> 1.0;
            case "false" -> 0.0;
            default -> null;
        };
    }

    private static @Nullable BigDecimal decimal(String text) {
        return DECIMAL.matcher(text).matches() ? new BigDecimal(text) : null;
    }

    private static void assigned(Inference inference) {
        long[] shape = inference.attrs().getLongs("shape");
        long size = Inference.size(shape);
        long count = attribute(inference.attrs()) == null ? 0 : count(inference.attrs());
        inference.require(size == count, "the shape %s must have as many elements as there are values, %d",
                Numbers.text(shape), count);
        inference.set("Out", inference.attrs().getDType("dtype"), shape);
    }

    private static @Nullable String attribute(Attrs attrs) {
        String name = switch (attrs.getDType("dtype")) {
            case BOOL -> "bool_values";
            case INT32 -> "int32_values";
            case INT64 -> "int64_values";
            case FLOAT64 -> "fp64_values";
            case FLOAT32 -> "fp32_values";
            default -> "values";
        };
        return attrs.has(name) && (name.equals("values") || count(attrs, name) > 0)
                ? name
                : attrs.has("values") ? "values" : null;
    }

    private static int count(Attrs attrs) {
        String name = attribute(attrs);
        return name == null ? 0 : count(attrs, name);
    }

    private static int count(Attrs attrs, String name) {
        return attrs.getDoubles(name).length;
    }

    private static Tensor values(Attrs attrs) {
        String name = attribute(attrs);
        DType dtype = attrs.getDType("dtype");
        long[] shape = attrs.getLongs("shape");
        if (name == null) {
            return Tensor.of(dtype, new long[0], shape);
        }
        return switch (attrs.get(name)) {
            case Attribute.Ints _,Attribute.Int64s _ -> Tensor.of(dtype, attrs.getLongs(name), shape);
            default -> Tensor.of(dtype, attrs.getDoubles(name), shape);
        };
    }

    private static void eye(Inference inference) {
        long rows = inference.attrs().getLong("num_rows");
        long columns = inference.attrs().getLong("num_columns");
        inference.require(rows >= 0 && columns >= -1,
                "num_rows and num_columns must not be negative, but are %d and %d", rows, columns);
        inference.set("Out", inference.attrs().getDType("dtype"), rows, columns < 0 ? rows : columns);
    }

    private static void eye(Lowering l) {
        if (l.wants("Out")) {
            Operand out = l.output("Out");
            fill(l, 0);
            TensorSpec diagonal = new TensorSpec(out.dtype(), Shape.of(Math.min(out.dim(0), out.dim(1))),
                    Layout.strided(out.dim(1) + 1));
            l.into(new Fill(1), List.of(), List.of(new Operand(out.source(), out.offset(), diagonal)));
        }
    }
}
