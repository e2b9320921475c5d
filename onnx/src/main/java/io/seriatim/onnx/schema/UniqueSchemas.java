package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Gather;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The different elements of a tensor, or slices along an axis, with their places and counts. */
final class UniqueSchemas {
    private UniqueSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_unique").in("X").out("Out", "Indices?", "Inverse?", "Counts?").attr("axis", new int[0])
                .attr("sorted", true).values("X").infer(UniqueSchemas::infer).lower(UniqueSchemas::lower)
                .register(registry);
    }

    /**
     * Parts that are compared: elements, or slices along an axis.
     *
     * @param numbers
     *            all elements, if they are floating-point numbers
     * @param bits
     *            all elements, if they are whole numbers; ordered as longs
     * @param outer
     *            the number of elements before the axis
     * @param length
     *            the number of parts
     * @param inner
     *            the number of elements after the axis
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Parts(double @Nullable [] numbers, long @Nullable [] bits, int outer, int length, int inner) {
        static Parts of(DType dtype, long[] dims, long[] axes, long[] values, double[] numbers) {
            long[] bits = dtype == DType.UINT64
                    ? Arrays.stream(values).map(each -> each ^ Long.MIN_VALUE).toArray()
                    : values;
            boolean real = dtype.isFloating();
            if (axes.length == 0) {
                return new Parts(real ? numbers : null, real ? null : bits, 1, numbers.length, 1);
            }
            Shape shape = Shape.of(dims);
            int axis = shape.axis((int) axes[0]);
            return new Parts(real ? numbers : null, real ? null : bits,
                    Math.toIntExact(shape.slice(0, axis).size()), Math.toIntExact(shape.dim(axis)),
                    Math.toIntExact(shape.slice(axis + 1, shape.rank()).size()));
        }

        private int compare(int first, int second) {
            for (int i = 0; i < outer; i++) {
                for (int j = 0; j < inner; j++) {
                    int a = (i * length + first) * inner + j;
                    int b = (i * length + second) * inner + j;
                    // Both zeros are equal; NaN equals NaN and is the largest.
                    int order = numbers != null
                            ? Double.compare(numbers[a] + 0.0, numbers[b] + 0.0)
                            : Long.compare(Objects.requireNonNull(bits)[a], bits[b]);
                    if (order != 0) {
                        return order;
                    }
                }
            }
            return 0;
        }

        /** The places of equal parts, in the order of the parts or of their first places. */
        List<List<Integer>> groups(boolean sorted) {
            Map<Integer, List<Integer>> groups = new TreeMap<>(this::compare);
            for (int i = 0; i < length; i++) {
                groups.computeIfAbsent(i, _ -> new ArrayList<>()).add(i);
            }
            List<List<Integer>> found = new ArrayList<>(groups.values());
            if (!sorted) {
                found.sort((a, b) -> Integer.compare(a.getFirst(), b.getFirst()));
            }
            return found;
        }
    }

    private static void infer(Inference inference) {
        long[] axes = inference.attrs().getLongs("axis");
        inference.require(axes.length <= 1, "axis must name at most one dimension, but is %s", Numbers.text(axes));
        DType dtype = inference.dtype("X");
        long[] dims = inference.dims("X");
        long[] values = inference.values("X");
        double[] numbers = inference.numbers("X");
        long count = values == null || numbers == null
                ? -1
                : Parts.of(dtype, dims, axes, values, numbers).groups(true).size();
        long parts = Inference.size(dims);
        long[] result = {count};
        if (axes.length == 1) {
            int axis = inference.axis("X", axes[0]);
            parts = dims[axis];
            result = dims.clone();
            result[axis] = count;
        }
        inference.set("Out", dtype, result);
        inference.set("Indices", DType.INT64, count);
        inference.set("Inverse", DType.INT64, parts);
        inference.set("Counts", DType.INT64, count);
    }

    private static void lower(Lowering l) {
        Operand x = l.in("X");
        long[] axes = l.attrs().getLongs("axis");
        Parts parts = Parts.of(x.dtype(), x.shape().dims(), axes, Objects.requireNonNull(l.values("X")),
                Objects.requireNonNull(l.numbers("X")));
        List<List<Integer>> groups = parts.groups(l.attrs().getBool("sorted"));
        long[] firsts = groups.stream().mapToLong(List::getFirst).toArray();
        long[] inverse = new long[parts.length()];
        for (int i = 0; i < groups.size(); i++) {
            for (int place : groups.get(i)) {
                inverse[place] = i;
            }
        }
        Operand from = axes.length == 0 ? l.reshape(x, x.shape().size()) : x;
        int axis = axes.length == 0 ? 0 : x.shape().axis((int) axes[0]);
        l.out("Out", l.run(Gather.of(axis), from, l.constant(Tensor.of(firsts, firsts.length))));
        written(l, "Indices", firsts);
        written(l, "Inverse", inverse);
        written(l, "Counts", groups.stream().mapToLong(List::size).toArray());
    }

    private static void written(Lowering l, String slot, long[] values) {
        if (l.wants(slot)) {
            l.out(slot, l.constant(Tensor.of(values, values.length)));
        }
    }
}
