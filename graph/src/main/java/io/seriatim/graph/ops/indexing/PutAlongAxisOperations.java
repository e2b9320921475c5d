package io.seriatim.graph.ops.indexing;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary.Function;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.TakeAlongAxis;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Puts one value at each index along an axis. Values at the same place are assigned, so that the last one counts, or
 * reduced, with or without the earlier element.
 */
public final class PutAlongAxisOperations {
    private enum Reduce {
        ASSIGN, ADD, MUL, MEAN, AMIN, AMAX;

        static @Nullable Reduce find(String name) {
            String upper = name.equals("multiply") ? "MUL" : name.toUpperCase(Locale.ROOT);
            return Arrays.stream(values()).filter(each -> each.name().equals(upper)).findFirst().orElse(null);
        }

        static Reduce of(Lowering l) {
            return Objects.requireNonNull(find(l.attrs().getText("Reduce")));
        }

        double apply(double a, double b) {
            return switch (this) {
                case ASSIGN -> b;
                case ADD, MEAN -> a + b;
                case MUL -> a * b;
                case AMIN -> Math.min(a, b);
                case AMAX -> Math.max(a, b);
            };
        }

        long apply(long a, long b, boolean unsigned) {
            int order = unsigned ? Long.compareUnsigned(a, b) : Long.compare(a, b);
            return switch (this) {
                case ASSIGN -> b;
                case ADD, MEAN -> a + b;
                case MUL -> a * b;
                case AMIN -> order < 0 ? a : b;
                case AMAX -> order > 0 ? a : b;
            };
        }
    }

    private PutAlongAxisOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("put_along_axis").in("Input", "Index", "Value").out("Result")
                .required("Axis", Attribute.Int.class)
                .attr("Reduce", "assign").attr("Include_self", true)
                // PaddlePaddle 2 rounds means of whole numbers towards 0, PaddlePaddle 3 down.
                .attr("floors_mean", false)
                .refuse((_, attrs) -> Reduce.find(attrs.getText("Reduce")) != null
                        ? null
                        : "the attribute Reduce must be assign, add, mul, multiply, mean, amin or amax, but is '"
                                + attrs.getText("Reduce") + "'")
                .infer(PutAlongAxisOperations::infer).lower(PutAlongAxisOperations::put)
                .grad("put_along_axis_grad(Index, Input, Result, Result@GRAD, Value) -> Input@GRAD, Value@GRAD",
                        PutAlongAxisOperations::grad)
                .register(registry);
    }

    private static void infer(Inference inference) {
        GatherOperations.requireAlongAxis(inference, "Input", "Index");
        long[] index = inference.dims("Index");
        long[] value = inference.dims("Value");
        boolean fits = index.length == value.length;
        for (int i = 0; fits && i < index.length; i++) {
            fits = index[i] == value[i] || index[i] < 0 || value[i] < 0;
        }
        inference.require(fits, "Index and Value must have the same shape, but have %s and %s", Numbers.text(index),
                Numbers.text(value));
        inference.require(inference.dtype("Input") == inference.dtype("Value"),
                "Input and Value must have the same type, but have %s and %s",
                inference.dtype("Input"), inference.dtype("Value"));
        inference.same("Input", "Result");
    }

    private static void put(Lowering l) {
        Reduce reduce = Reduce.of(l);
        boolean self = l.attrs().getBool("Include_self");
        Operand input = l.in("Input");
        if (reduce == Reduce.ASSIGN) {
            l.out("Result", assign(l, input, l.in("Value")));
        } else if (reduce == Reduce.ADD) {
            l.out("Result", add(l, self ? input : cleared(l, input), l.in("Value")));
        } else {
            int axis = input.shape().axis(l.attrs().getInt("Axis"));
            Operand result = l.temporary(input.spec());
            boolean floors = l.attrs().getBool("floors_mean");
            l.call("put_along_axis",
                    (in, out) -> reduce(reduce, self, floors, axis, in, Objects.requireNonNull(out.getFirst())),
                    List.of(input, l.in("Index"), l.in("Value")), List.of(result));
            l.out("Result", result);
        }
    }

    private static Operand assign(Lowering l, Operand input, Operand values) {
        return l.run(new PutAlongAxis(l.attrs().getInt("Axis"), false), input, l.in("Index"), values);
    }

    private static Operand add(Lowering l, Operand input, Operand values) {
        return l.run(new PutAlongAxis(l.attrs().getInt("Axis"), true), input, l.in("Index"), values);
    }

    private static Operand cleared(Lowering l, Operand input) {
        return assign(l, input, l.fill(0, l.in("Index").spec().with(input.dtype())));
    }

    private static Operand taken(Lowering l, Operand from) {
        return l.run(new TakeAlongAxis(l.attrs().getInt("Axis")), from, l.in("Index"));
    }

    private static void reduce(Reduce reduce, boolean self, boolean floors, int axis, List<@Nullable Tensor> in,
            Tensor out) {
        Tensor input = Objects.requireNonNull(in.get(0));
        Tensor values = Objects.requireNonNull(in.get(2));
        int[] places = places(input, Objects.requireNonNull(in.get(1)), axis);
        if (self && out.dtype() == DType.FLOAT32 && (reduce == Reduce.AMIN || reduce == Reduce.AMAX)) {
            Elements.write(extremes(reduce, input.toFloatArray(), values.toFloatArray(), places), out);
            return;
        }
        if (self && reduce == Reduce.MUL && out.dtype().isFloating()) {
            Elements.write(products(input.toDoubleArray(), values.toDoubleArray(), places), out);
            return;
        }
        int[] counts = new int[WorkingMemory.length(input.shape().size())];
        Arrays.fill(counts, self ? 1 : 0);
        if (out.dtype().arithmetic() == DType.INT64) {
            long[] result = input.toLongArray();
            long[] given = values.toLongArray();
            boolean unsigned = out.dtype() == DType.UINT64;
            for (int i = 0; i < places.length; i++) {
                result[places[i]] = counts[places[i]]++ == 0
                        ? given[i]
                        : reduce.apply(result[places[i]], given[i], unsigned);
            }
            for (int i = 0; reduce == Reduce.MEAN && i < result.length; i++) {
                int count = Math.max(1, counts[i]);
                result[i] = unsigned
                        ? Long.divideUnsigned(result[i], count)
                        : floors ? Math.floorDiv(result[i], count) : result[i] / count;
            }
            Elements.write(result, out);
        } else {
            double[] result = input.toDoubleArray();
            double[] given = values.toDoubleArray();
            for (int i = 0; i < places.length; i++) {
                result[places[i]] = counts[places[i]]++ == 0 ? given[i] : reduce.apply(result[places[i]], given[i]);
            }
            for (int i = 0; reduce == Reduce.MEAN && i < result.length; i++) {
                result[i] /= Math.max(1, counts[i]);
            }
            Elements.write(result, out);
        }
    }

    /** Extremes need no wider type, as they round nothing. */
    private static float[] extremes(Reduce reduce, float[] result, float[] given, int[] places) {
        if (reduce == Reduce.AMAX) {
            for (int i = 0; i < places.length; i++) {
                result[places[i]] = Math.max(result[places[i]], given[i]);
            }
        } else {
            for (int i = 0; i < places.length; i++) {
                result[places[i]] = Math.min(result[places[i]], given[i]);
            }
        }
        return result;
    }

    private static double[] products(double[] result, double[] given, int[] places) {
        for (int i = 0; i < places.length; i++) {
            result[places[i]] *= given[i];
        }
        return result;
    }

    /** For each index, which element of the input it stands for. */
    private static int[] places(Tensor input, Tensor indexes, int axis) {
        long[] index = indexes.toLongArray();
        int[] places = new int[index.length];
        int last = input.shape().rank() - 1;
        long length = input.shape().dim(axis);
        long[] strides = new long[last + 1];
        for (int d = last; d >= 0; d--) {
            strides[d] = d == last ? 1 : strides[d + 1] * input.shape().dim(d + 1);
        }
        long[] at = new long[last + 1];
        int row = Math.toIntExact(indexes.shape().dim(last));
        for (int first = 0; first < index.length; first += row) {
            long start = 0;
            for (int d = 0; d < last; d++) {
                start += d == axis ? 0 : at[d] * strides[d];
            }
            long step = axis == last ? 0 : 1;
            for (int i = 0; i < row; i++) {
                long chosen = index[first + i];
                if (chosen < 0 || chosen >= length) {
                    throw new IndexRangeException("put_along_axis: index number " + (first + i)
                            + " must be from 0 to " + (length - 1) + ", but is " + chosen);
                }
                places[first + i] = Math.toIntExact(start + i * step + chosen * strides[axis]);
            }
            for (int d = last - 1; d >= 0 && ++at[d] == indexes.shape().dim(d); d--) {
                at[d] = 0;
            }
        }
        return places;
    }

    private static void grad(Lowering l) {
        Operand dy = l.in("Result@GRAD");
        switch (Reduce.of(l)) {
            case ASSIGN -> {
                inputGrad(l, false, dy);
                valueGrad(l, last(l, dy));
            }
            case ADD -> {
                inputGrad(l, l.attrs().getBool("Include_self"), dy);
                valueGrad(l, taken(l, dy));
            }
            case MEAN -> {
                Operand counts = counts(l, dy);
                Operand share = l.binary(Function.DIVIDE, dy, counts);
                inputGrad(l, l.attrs().getBool("Include_self"), share);
                valueGrad(l, taken(l, share));
            }
            case MUL -> {
                Operand product = l.binary(Function.MULTIPLY, dy, l.in("Result"));
                inputGrad(l, l.attrs().getBool("Include_self"), l.binary(Function.DIVIDE, product, l.in("Input")));
                valueGrad(l, l.binary(Function.DIVIDE, taken(l, product), l.in("Value")));
            }
            case AMIN, AMAX -> extremeGrad(l, dy);
        }
    }

    /**
     * The input gets the result's gradient at places without a value, and a share of it at the others if the input
     * counts there.
     */
    private static void inputGrad(Lowering l, boolean self, Operand where) {
        if (l.wants("Input@GRAD")) {
            Operand dy = l.in("Result@GRAD");
            l.out("Input@GRAD", self ? assign(l, dy, taken(l, where)) : cleared(l, dy));
        }
    }

    private static void valueGrad(Lowering l, Operand gradient) {
        l.out("Value@GRAD", gradient);
    }

    /**
     * The value that was put last gets all of the gradient. To find it, the numbers of the values are put in the same
     * way: a value that finds its own number was the last.
     */
    private static Operand last(Lowering l, Operand dy) {
        Operand index = l.in("Index");
        long[] numbers = new long[WorkingMemory.length(index.shape().size())];
        Arrays.setAll(numbers, i -> i);
        Operand own = l.constant(Tensor.of(numbers, index.shape().dims()));
        Operand put = assign(l, l.fill(0, dy.spec().with(DType.INT64)), own);
        Operand isLast = l.cast(l.binary(Function.EQUAL, taken(l, put), own), dy.dtype());
        return l.binary(Function.MULTIPLY, taken(l, dy), isLast);
    }

    private static Operand counts(Lowering l, Operand dy) {
        Operand one = l.fill(1, dy.spec());
        return add(l, l.attrs().getBool("Include_self") ? one : cleared(l, one), l.fill(1, l.in("Value").spec()));
    }

    /**
     * All that equal the result share its gradient; as in Paddle the input has its share even where it does not count.
     */
    private static void extremeGrad(Lowering l, Operand dy) {
        Operand result = l.in("Result");
        Operand inputHits = l.cast(l.binary(Function.EQUAL, l.in("Input"), result), dy.dtype());
        Operand valueHits = l.cast(l.binary(Function.EQUAL, l.in("Value"), taken(l, result)), dy.dtype());
        Operand share = l.binary(Function.DIVIDE, dy, add(l, inputHits, valueHits));
        inputGrad(l, l.attrs().getBool("Include_self"), l.binary(Function.MULTIPLY, inputHits, share));
        valueGrad(l, l.binary(Function.MULTIPLY, valueHits, taken(l, share)));
    }
}
