package io.seriatim.graph.ops.indexing;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Values that are put at, or added to, elements which tensors of indices or truth values choose. */
public final class IndexPutOperations {
    private IndexPutOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("index_put").in("x", "indices*", "value").out("out").attr("accumulate", false)
                .infer(inference -> {
                    int axes = 0;
                    for (int i = 0; i < inference.count("indices"); i++) {
                        ArgType index = inference.in("indices", i);
                        inference.require(
                                index.dtype() == DType.BOOL || index.dtype() == DType.INT64
                                        || index.dtype() == DType.INT32,
                                "indices must be bool, int32 or int64, but number %d is %s", i, index.dtype());
                        axes += index.dtype() == DType.BOOL ? index.dims().length : 1;
                    }
                    inference.require(axes > 0 && axes <= inference.dims("x").length,
                            "the indices are of %d axes, but x has %d", axes,
                            inference.dims("x").length);
                    inference.require(inference.dtype("x") == inference.dtype("value"),
                            "x and value must have one type, but are %s and %s",
                            inference.dtype("x"), inference.dtype("value"));
                    inference.same("x", "out");
                }).lower(l -> l.out("out", put(l, l.in("x"), l.in("value"), l.ins("indices"),
                        l.attrs().getBool("accumulate"))))
                .grad("index_put_grad(indices, value, x, out@GRAD) -> value@GRAD, x@GRAD",
                        IndexPutOperations::gradients)
                .register(registry);
    }

    private static Operand put(Lowering l, Operand x, Operand value, List<Operand> indices, boolean accumulate) {
        Operand result = l.temporary(x.spec().rowMajor());
        List<@Nullable Operand> from = new ArrayList<>(List.of(x, value));
        from.addAll(indices);
        Step.HostFunction function = (in, out) -> {
            Tensor target = Objects.requireNonNull(out.getFirst());
            int[] places = places(in.subList(2, in.size()), x.shape());
            if (target.dtype().arithmetic() == DType.INT64) {
                long[] all = Objects.requireNonNull(in.get(0)).toLongArray();
                long[] given = Objects.requireNonNull(in.get(1)).toLongArray();
                int[] sources = sources(value.shape(), places.length, given.length);
                for (int i = 0; i < places.length; i++) {
                    all[places[i]] = given[sources[i]] + (accumulate ? all[places[i]] : 0);
                }
                Elements.write(all, target);
            } else {
                double[] all = Objects.requireNonNull(in.get(0)).toDoubleArray();
                double[] given = Objects.requireNonNull(in.get(1)).toDoubleArray();
                int[] sources = sources(value.shape(), places.length, given.length);
                for (int i = 0; i < places.length; i++) {
                    all[places[i]] = given[sources[i]] + (accumulate ? all[places[i]] : 0);
                }
                Elements.write(all, target);
            }
        };
        l.call("index_put", new Step.Differentiable(function, (next, in, _, gradients) -> {
            Operand gradient = Objects.requireNonNull(gradients.getFirst());
            List<Operand> places = in.subList(2, in.size());
            List<@Nullable Operand> found = new ArrayList<>();
            found.add(accumulate ? gradient : put(next, gradient, next.number(gradient.dtype(), 0), places, false));
            found.add(taken(next, gradient, in.get(1), places));
            places.forEach(_ -> found.add(null));
            return found;
        }), from, List.of(result));
        return result;
    }

    /** The sums of the elements from where values were put. */
    private static Operand taken(Lowering l, Operand from, Operand like, List<Operand> indices) {
        Operand result = l.temporary(like.spec().rowMajor());
        List<@Nullable Operand> all = new ArrayList<>(List.of(from));
        all.addAll(indices);
        Step.HostFunction function = (in, out) -> {
            double[] elements = Objects.requireNonNull(in.getFirst()).toDoubleArray();
            int[] places = places(in.subList(1, in.size()), from.shape());
            double[] sums = new double[WorkingMemory.length(result.shape().size())];
            int[] sources = sources(result.shape(), places.length, sums.length);
            for (int i = 0; i < places.length; i++) {
                sums[sources[i]] += elements[places[i]];
            }
            Elements.write(sums, Objects.requireNonNull(out.getFirst()));
        };
        l.call("index_put_grad", new Step.Differentiable(function, (next, in, _, gradients) -> {
            List<Operand> places = in.subList(1, in.size());
            List<@Nullable Operand> found = new ArrayList<>();
            found.add(put(next, next.fill(0, from.spec().rowMajor()), Objects.requireNonNull(gradients.getFirst()),
                    places, true));
            places.forEach(_ -> found.add(null));
            return found;
        }), all, List.of(result));
        return result;
    }

    private static void gradients(Lowering l) {
        Operand dout = l.in("out@GRAD");
        if (l.wants("x@GRAD")) {
            l.out("x@GRAD", l.attrs().getBool("accumulate")
                    ? dout
                    : put(l, dout, l.number(dout.dtype(), 0), l.ins("indices"), false));
        }
        if (l.wants("value@GRAD")) {
            l.out("value@GRAD", taken(l, dout, l.in("value"), l.ins("indices")));
        }
    }

    /** Which of the given values goes to each place: they repeat from the right. */
    private static int[] sources(Shape value, int places, int given) {
        if (places > 0 && (given == 0 || places % given != 0)) {
            throw new IllegalArgumentException(
                    "Operation 'index_put': a value of " + value + " must fill the " + places
                            + " chosen elements, or repeat to do so");
        }
        return IntStream.range(0, places).map(i -> i % given).toArray();
    }

    /** The elements of x that are chosen, each slice in order. */
    private static int[] places(List<@Nullable Tensor> indices, Shape x) {
        List<long[]> each = new ArrayList<>();
        int count = 1;
        for (@Nullable
        Tensor tensor : indices) {
            Tensor index = Objects.requireNonNull(tensor);
            if (index.dtype() == DType.BOOL) {
                each.addAll(coordinates(index));
            } else {
                each.add(index.toLongArray());
            }
            count = Math.max(count, each.getLast().length);
        }
        boolean none = each.stream().anyMatch(axis -> axis.length == 0);
        int slice = IntStream.range(each.size(), x.rank()).map(i -> Math.toIntExact(x.dim(i))).reduce(1,
                Math::multiplyExact);
        int[] places = new int[none ? 0 : WorkingMemory.length(count, slice)];
        for (int i = 0; i < places.length; i++) {
            long at = 0;
            for (int axis = 0; axis < each.size(); axis++) {
                long[] given = each.get(axis);
                if (given.length != 1 && given.length != count) {
                    throw new IllegalArgumentException(
                            "Operation 'index_put': indices must be of one shape, but have " + given.length + " and "
                                    + count + " elements");
                }
                at = at * x.dim(axis) + checked(given[given.length == 1 ? 0 : i / slice], x.dim(axis), axis);
            }
            places[i] = Math.toIntExact(at * slice + i % slice);
        }
        return places;
    }

    private static long checked(long index, long length, int axis) {
        if (index < -length || index >= length) {
            throw new IndexRangeException(
                    "Operation 'index_put': index " + index + " is outside of axis " + axis + " of length " + length);
        }
        return index < 0 ? index + length : index;
    }

    /** For each axis, the places of what is true. */
    private static List<long[]> coordinates(Tensor mask) {
        long[] values = mask.toLongArray();
        long[] chosen = IntStream.range(0, values.length).filter(i -> values[i] != 0).asLongStream().toArray();
        long[] dims = mask.shape().dims();
        List<long[]> coordinates = new ArrayList<>();
        long inner = 1;
        for (int axis = dims.length - 1; axis >= 0; axis--) {
            long stride = inner;
            long length = dims[axis];
            coordinates.addFirst(Arrays.stream(chosen).map(i -> i / stride % length).toArray());
            inner *= length;
        }
        return coordinates;
    }
}
