package io.seriatim.graph.ops.ordering;

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
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Gather;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The different elements of a tensor, of all of it or of runs of equal ones. */
public final class UniqueOperations {
    private static final Set<DType> WHOLE = Set.of(DType.INT32, DType.INT64);

    private UniqueOperations() {
    }

    public static void register(Operations registry) {
        unique(registry);
        consecutive(registry);
        counted(registry);
    }

    /** Where each different element is first, and how often it is there, in the order of their size. */
    private static SortedMap<Double, long[]> found(double[] values) {
        SortedMap<Double, long[]> found = new TreeMap<>();
        for (int i = 0; i < values.length; i++) {
            found.computeIfAbsent(values[i] + 0.0, _ -> new long[2])[1]++;
        }
        for (int i = values.length - 1; i >= 0; i--) {
            Objects.requireNonNull(found.get(values[i] + 0.0))[0] = i;
        }
        return found;
    }

    private static void unique(Operations registry) {
        Operation.define("unique").in("X").out("Out", "Indices?", "Index?", "Counts?").attr("return_index", false)
                .attr("return_inverse", false).attr("return_counts", false).attr("axis", new int[0]).attr("dtype", 3)
                .attr("is_sorted", false).values("X")
                .refuse((_, attrs) -> attrs.getBool("is_sorted")
                        ? null
                        : "only the sorted elements are found here: set the attribute is_sorted")
                .infer(inference -> {
                    int[] axes = Dims.axes(inference, "X", inference.attrs().getLongs("axis"));
                    inference.require(axes.length <= 1, "axis must name at most one dimension, but is %s",
                            Numbers.text(axes));
                    DType places = inference.attrs().getDType("dtype");
                    if (axes.length == 1) {
                        inferSlices(inference, axes[0], places);
                        return;
                    }
                    double[] values = inference.numbers("X");
                    long count = values == null ? -1 : found(values).size();
                    inference.set("Out", inference.dtype("X"), count);
                    inference.set("Indices", places, count);
                    inference.set("Index", places, Inference.size(inference.dims("X")));
                    inference.set("Counts", places, count);
                }).lower(l -> {
                    if (l.attrs().getLongs("axis").length > 0) {
                        slices(l);
                        return;
                    }
                    double[] values = Objects.requireNonNull(l.numbers("X"));
                    SortedMap<Double, long[]> found = found(values);
                    double[] sorted = found.keySet().stream().mapToDouble(Double::doubleValue).toArray();
                    l.out("Out", l.constant(Tensor.of(l.in("X").dtype(), sorted, sorted.length)));
                    places(l, "Indices", found.values().stream().mapToLong(each -> each[0]).toArray());
                    places(l, "Index",
                            Arrays.stream(values).mapToLong(each -> Arrays.binarySearch(sorted, each + 0.0)).toArray());
                    places(l, "Counts", found.values().stream().mapToLong(each -> each[1]).toArray());
                }).register(registry);
    }

    private static void inferSlices(Inference inference, int axis, DType places) {
        long[] dims = inference.dims("X");
        Values values = Values.of(inference.dtype("X"), inference.values("X"), inference.numbers("X"));
        long count = values == null ? -1 : values.sorted(dims, axis).size();
        inference.set("Out", inference.dtype("X"), Dims.with(dims, axis, count));
        inference.set("Indices", places, count);
        inference.set("Index", places, dims[axis]);
        inference.set("Counts", places, count);
    }

    /** The different slices along an axis, in the order of their elements. */
    private static void slices(Lowering l) {
        Operand x = l.in("X");
        int axis = x.shape().axis(l.attrs().getInts("axis")[0]);
        Values values = Objects.requireNonNull(Values.of(x.dtype(), l.values("X"), l.numbers("X")));
        List<List<Integer>> groups = values.sorted(x.shape().dims(), axis);
        long[] firsts = groups.stream().mapToLong(List::getFirst).toArray();
        long[] index = new long[WorkingMemory.length(x.dim(axis))];
        for (int i = 0; i < groups.size(); i++) {
            for (int place : groups.get(i)) {
                index[place] = i;
            }
        }
        l.out("Out", l.run(new Gather(axis, Gather.NO_PADDING), x, l.constant(Tensor.of(firsts, firsts.length))));
        places(l, "Indices", firsts);
        places(l, "Index", index);
        places(l, "Counts", groups.stream().mapToLong(List::size).toArray());
    }

    private static void places(Lowering l, String slot, long[] places) {
        if (l.wants(slot)) {
            l.out(slot, l.constant(Tensor.of(l.attrs().getDType("dtype"), places, places.length)));
        }
    }

    /** Elements, or slices along an axis, without consecutive repetitions. */
    private static void consecutive(Operations registry) {
        Operation.define("unique_consecutive").in("X").out("Out", "Index?", "Counts?").attr("return_inverse", false)
                .attr("return_counts", false).attr("axis", new int[0]).attr("dtype", 5).values("X").infer(inference -> {
                    int[] axes = Dims.axes(inference, "X", inference.attrs().getLongs("axis"));
                    inference.require(axes.length <= 1, "axis must name at most one dimension, but is %s",
                            Numbers.text(axes));
                    long[] dims = axes.length == 0
                            ? new long[]{Inference.size(inference.dims("X"))}
                            : inference.dims("X");
                    int axis = axes.length == 0 ? 0 : axes[0];
                    Values values = Values.of(inference.dtype("X"), inference.values("X"), inference.numbers("X"));
                    long count = values == null ? -1 : firsts(values, dims, axis).length;
                    inference.set("Out", inference.dtype("X"), Dims.with(dims, axis, count));
                    if (inference.outputs("Index") + inference.outputs("Counts") > 0) {
                        DType places = inference.attrs().getDType("dtype");
                        inference.require(WHOLE.contains(places), "dtype must be int32 or int64, but is %s", places);
                        inference.set("Index", places, dims[axis]);
                        inference.set("Counts", places, count);
                    }
                }).lower(UniqueOperations::consecutive).register(registry);
    }

    /** Different elements in the order in which they occur. */
    private static void counted(Operations registry) {
        Operation.define("unique_with_counts").in("X").out("Out", "Index", "Count")
                .required("dtype", Attribute.Int.class).values("X").infer(inference -> {
                    long[] dims = inference.dims("X");
                    DType places = inference.attrs().getDType("dtype");
                    inference.require(dims.length == 1, "X must be a vector, but has %d dimensions", dims.length);
                    inference.require(WHOLE.contains(places), "dtype must be int32 or int64, but is %s", places);
                    Values values = Values.of(inference.dtype("X"), inference.values("X"), inference.numbers("X"));
                    long count = values == null ? -1 : values.groups().size();
                    inference.set("Out", inference.dtype("X"), count);
                    inference.set("Index", places, dims);
                    inference.set("Count", places, count);
                }).lower(l -> {
                    Values values = Objects.requireNonNull(Values.of(l.in("X").dtype(), l.values("X"), l.numbers("X")));
                    List<List<Integer>> groups = values.groups();
                    long[] firsts = groups.stream().mapToLong(List::getFirst).toArray();
                    long[] index = new long[WorkingMemory.length(l.in("X").shape().size())];
                    for (int i = 0; i < groups.size(); i++) {
                        for (int place : groups.get(i)) {
                            index[place] = i;
                        }
                    }
                    l.out("Out", l.run(new Gather(0, Gather.NO_PADDING), l.in("X"),
                            l.constant(Tensor.of(firsts, firsts.length))));
                    written(l, "Index", index);
                    written(l, "Count", groups.stream().mapToLong(List::size).toArray());
                }).register(registry);
    }

    private static void consecutive(Lowering l) {
        Operand x = l.in("X");
        long[] axes = l.attrs().getLongs("axis");
        Operand flat = axes.length == 0 ? x.reshape(x.shape().size()) : x;
        int axis = axes.length == 0 ? 0 : x.shape().axis(Math.toIntExact(axes[0]));
        Values values = Objects.requireNonNull(Values.of(x.dtype(), l.values("X"), l.numbers("X")));
        long[] firsts = firsts(values, flat.shape().dims(), axis);
        l.out("Out", l.run(new Gather(axis, Gather.NO_PADDING), flat, l.constant(Tensor.of(firsts, firsts.length))));
        int length = Math.toIntExact(flat.dim(axis));
        long[] index = new long[WorkingMemory.length(length)];
        long[] counts = new long[firsts.length];
        for (int i = 0, group = -1; i < length; i++) {
            group += group + 1 < firsts.length && firsts[group + 1] == i ? 1 : 0;
            index[i] = group;
            counts[group]++;
        }
        written(l, "Index", index);
        written(l, "Counts", counts);
    }

    private static void written(Lowering l, String slot, long[] places) {
        if (l.wants(slot)) {
            l.out(slot, l.constant(Tensor.of(l.outType(slot, 0).dtype(), places, places.length)));
        }
    }

    /** Where along an axis a part begins that differs from the one before. */
    private static long[] firsts(Values values, long[] dims, int axis) {
        int inner = Math.toIntExact(Inference.size(Arrays.copyOfRange(dims, axis + 1, dims.length)));
        int outer = Math.toIntExact(Inference.size(Arrays.copyOf(dims, axis)));
        int length = Math.toIntExact(dims[axis]);
        List<Long> firsts = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            if (i == 0 || values.differ(i, outer, length, inner)) {
                firsts.add((long) i);
            }
        }
        return firsts.stream().mapToLong(Long::longValue).toArray();
    }

    /** Elements compared in their own type: a double cannot hold all 64-bit integers. */
    private static final class Values {
        private final long @Nullable [] whole;
        private final double[] numbers;

        private Values(long @Nullable [] whole, double[] numbers) {
            this.whole = whole;
            this.numbers = numbers;
        }

        static @Nullable Values of(DType dtype, long @Nullable [] whole, double @Nullable [] numbers) {
            // Numbers without a sign are in order when the first of their bits is changed.
            long[] ordered = whole != null && dtype == DType.UINT64
                    ? Arrays.stream(whole).map(bits -> bits ^ Long.MIN_VALUE).toArray()
                    : whole;
            return numbers == null ? null : new Values(dtype.isFloating() ? null : ordered, numbers);
        }

        /** The places of equal elements, in the order of the first ones; a NaN equals none. */
        List<List<Integer>> groups() {
            Map<Object, List<Integer>> found = new LinkedHashMap<>();
            for (int i = 0; i < numbers.length; i++) {
                // Both zeros are equal.
                Object key = whole != null ? (Object) whole[i] : (Object) (numbers[i] + 0.0);
                found.computeIfAbsent(Double.isNaN(numbers[i]) ? new Object() : key, _ -> new ArrayList<>()).add(i);
            }
            return List.copyOf(found.values());
        }

        /** The places along an axis of equal slices, in the order of the slices' elements. */
        List<List<Integer>> sorted(long[] dims, int axis) {
            int inner = Math.toIntExact(Inference.size(Arrays.copyOfRange(dims, axis + 1, dims.length)));
            int outer = Math.toIntExact(Inference.size(Arrays.copyOf(dims, axis)));
            int length = Math.toIntExact(dims[axis]);
            SortedMap<Integer, List<Integer>> groups = new TreeMap<>(
                    (first, second) -> compare(first, second, outer, length, inner));
            for (int i = 0; i < length; i++) {
                groups.computeIfAbsent(i, _ -> new ArrayList<>()).add(i);
            }
            return List.copyOf(groups.values());
        }

        private int compare(int first, int second, int outer, int length, int inner) {
            for (int i = 0; i < outer; i++) {
                for (int j = 0; j < inner; j++) {
                    int a = (i * length + first) * inner + j;
                    int b = (i * length + second) * inner + j;
                    // Both zeros are equal.
                    int order = whole == null
                            ? Double.compare(numbers[a] + 0.0, numbers[b] + 0.0)
                            : Long.compare(whole[a], whole[b]);
                    if (order != 0) {
                        return order;
                    }
                }
            }
            return 0;
        }

        /** Whether the part at an index is not the one before. */
        boolean differ(int index, int outer, int length, int inner) {
            for (int i = 0; i < outer; i++) {
                int start = (i * length + index) * inner;
                for (int at = start; at < start + inner; at++) {
                    if (whole == null ? numbers[at] != numbers[at - inner] : whole[at] != whole[at - inner]) {
                        return true;
                    }
                }
            }
            return false;
        }
    }
}
