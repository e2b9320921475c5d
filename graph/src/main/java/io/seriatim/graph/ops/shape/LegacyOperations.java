package io.seriatim.graph.ops.shape;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Indexes;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Binary;
import io.seriatim.tensor.kernel.Gather;
import io.seriatim.tensor.kernel.GatherGrad;
import io.seriatim.tensor.kernel.Pad;
import io.seriatim.tensor.kernel.PutAlongAxis;
import io.seriatim.tensor.kernel.TopK;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Rearranging operations, some of them older forms of others that models of earlier versions hold. */
public final class LegacyOperations {
    private LegacyOperations() {
    }

    public static void register(Operations registry) {
        unbind(registry);
        repeat(registry);
        pad(registry);
        flatten(registry);
        top(registry);
        mask(registry);
        search(registry);
        add(registry);
    }

    private static void unbind(Operations registry) {
        Operation.define("unbind").in("X").out("Out*").attr("axis", 0).infer(inference -> {
            long[] dims = inference.dims("X");
            inference.require(dims.length > 0, "a tensor without dimensions cannot be taken apart");
            int axis = inference.axis("X", inference.attrs().getInt("axis"));
            int count = inference.outputs("Out");
            inference.require(dims[axis] < 0 || dims[axis] == count,
                    "axis %d of length %d cannot be taken apart into %d outputs", axis,
                    dims[axis], count);
            boolean[] gone = new boolean[dims.length];
            gone[axis] = true;
            for (int i = 0; i < count; i++) {
                inference.set("Out", i, ArgType.dense(inference.dtype("X"), Dims.without(dims, gone)));
            }
        }).lower(l -> {
            int axis = l.in("X").shape().axis(l.attrs().getInt("axis"));
            for (int i = 0; i < l.outputs("Out"); i++) {
                l.out("Out", i, l.in("X").select(axis, i));
            }
        }).grad("stack(X=Out@GRAD) -> Y=X@GRAD").register(registry);
    }

    private static void repeat(Operations registry) {
        Operation.Builder forward = Operation.define("repeat_interleave").in("X", "RepeatsTensor?").out("Out")
                .attr("Repeats", 0)
                .attr("dim", 0).values("RepeatsTensor");
        String gradient = "repeat_interleave_grad(X, RepeatsTensor, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).values("RepeatsTensor").shapesOnly("X").lower(l -> {
            long[] dims = l.outType("X@GRAD", 0).dims();
            int axis = Math.floorMod(l.attrs().getInt("dim"), dims.length);
            GatherGrad sum = new GatherGrad(new Gather(axis, Gather.NO_PADDING), Arrays.stream(dims).boxed().toList());
            l.out("X@GRAD", l.run(sum, l.in("Out@GRAD"), repeated(l, dims[axis])));
        }).register(registry);
        forward.infer(inference -> {
            long[] dims = inference.dims("X");
            int axis = inference.axis("X", inference.attrs().getInt("dim"));
            inference.require(dims.length > 0, "a tensor without dimensions cannot be repeated along one");
            if (!inference.has("RepeatsTensor")) {
                int times = inference.attrs().getInt("Repeats");
                inference.require(times > 0, "Repeats must be 1 or more, but is %d", times);
                dims[axis] = Dims.times(dims[axis], times);
            } else {
                long[] times = inference.values("RepeatsTensor");
                inference.require(times == null || dims[axis] < 0 || times.length == dims[axis] || times.length == 1,
                        "RepeatsTensor must have one number for each of %d slices", dims[axis]);
                inference.require(
                        times == null || Arrays.stream(times).allMatch(each -> each >= 0 && each <= Integer.MAX_VALUE),
                        "RepeatsTensor must hold numbers from 0 on");
                dims[axis] = times == null || dims[axis] < 0
                        ? -1
                        : times.length == 1 ? dims[axis] * times[0] : Arrays.stream(times).sum();
            }
            inference.set("Out", inference.dtype("X"), dims);
        }).lower(l -> {
            int axis = l.in("X").shape().axis(l.attrs().getInt("dim"));
            l.out("Out", l.run(new Gather(axis, Gather.NO_PADDING), l.in("X"), repeated(l, l.in("X").dim(axis))));
        }).grad(gradient).register(registry);
    }

    private static Operand repeated(Lowering l, long length) {
        long @Nullable [] given = l.values("RepeatsTensor");
        long[] times = given == null ? new long[]{l.attrs().getInt("Repeats")} : given;
        long[] places = LongStream.range(0, length)
                .flatMap(i -> LongStream.range(0, times[times.length == 1 ? 0 : (int) i]).map(_ -> i)).toArray();
        return l.constant(Tensor.of(places, places.length));
    }

    private static void pad(Operations registry) {
        Operation.define("pad").in("X").out("Out").attr("paddings", new int[0]).attr("pad_value", 0f)
                .infer(inference -> {
                    long[] dims = inference.dims("X");
                    int[] around = inference.attrs().getInts("paddings");
                    inference.require(
                            around.length == 2 * dims.length && Arrays.stream(around).allMatch(each -> each >= 0),
                            "paddings must be two numbers from 0 on for each of %d dimensions, but are %s", dims.length,
                            Arrays.toString(around));
                    for (int i = 0; i < dims.length; i++) {
                        dims[i] = dims[i] < 0 ? -1 : dims[i] + around[2 * i] + around[2 * i + 1];
                    }
                    inference.set("Out", inference.dtype("X"), dims);
                }).lower(l -> l.out("Out",
                        l.run(new Pad(padding(l, 0), padding(l, 1), Pad.Mode.CONSTANT, l.attrs().getFloat("pad_value")),
                                l.in("X"))))
                .grad("pad_grad(Out@GRAD) -> X@GRAD", inference -> {
                    long[] dims = inference.dims("Out@GRAD");
                    int[] around = inference.attrs().getInts("paddings");
                    inference.require(around.length == 2 * dims.length,
                            "paddings must be two numbers for each dimension");
                    for (int i = 0; i < dims.length; i++) {
                        dims[i] = dims[i] < 0 ? -1 : dims[i] - around[2 * i] - around[2 * i + 1];
                    }
                    inference.set("X@GRAD", inference.dtype("Out@GRAD"), dims);
                }, l -> {
                    Operand inner = l.in("Out@GRAD");
                    for (int i = 0; i < inner.rank(); i++) {
                        long before = padding(l, 0).get(i);
                        inner = inner.slice(i, before, inner.dim(i) - padding(l, 1).get(i));
                    }
                    l.out("X@GRAD", inner);
                }).register(registry);
    }

    private static List<Long> padding(Lowering l, int side) {
        int[] around = l.attrs().getInts("paddings");
        return IntStream.range(0, around.length / 2).mapToObj(i -> (long) around[2 * i + side]).toList();
    }

    private static void flatten(Operations registry) {
        String gradient = "flatten2_grad(XShape, Out@GRAD) -> X@GRAD";
        Operation.Builder forward = Operation.define("flatten2").in("X").out("Out", "XShape~").attr("axis", 1);
        forward.gradOperation(gradient, Dims::gradientLikeXShape)
                .lower(l -> l.out("X@GRAD", l.reshape(l.in("Out@GRAD"), l.outType("X@GRAD", 0).dims())))
                .register(registry);
        forward.infer(inference -> {
            long[] dims = inference.dims("X");
            int axis = inference.attrs().getInt("axis");
            inference.require(axis >= 0 && axis <= dims.length, "axis must be from 0 to %d, but is %d", dims.length,
                    axis);
            inference.set("Out", inference.dtype("X"), Inference.size(Arrays.copyOf(dims, axis)),
                    Inference.size(Arrays.copyOfRange(dims, axis, dims.length)));
            Dims.rememberX(inference);
        }).lower(l -> l.out("Out", l.reshape(l.in("X"), l.outType("Out", 0).dims()))).grad(gradient).register(registry);
    }

    private static void top(Operations registry) {
        Operation.Builder forward = Operation.define("top_k").in("X", "K?").out("Out", "Indices").attr("k", 1)
                .values("K");
        String gradient = "top_k_grad(X, Indices, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X")
                .lower(l -> l.out("X@GRAD", l.run(new PutAlongAxis(-1, false),
                        l.fill(0, l.outType("X@GRAD", 0).spec()), l.in("Indices"), l.in("Out@GRAD"))))
                .register(registry);
        forward.infer(inference -> {
            long[] dims = inference.dims("X");
            long[] given = inference.values("K");
            long k = given != null && given.length == 1
                    ? given[0]
                    : inference.has("K") ? -1 : inference.attrs().getInt("k");
            inference.require(
                    dims.length > 0
                            && (k == -1 || (k > 0 && (dims[dims.length - 1] < 0 || k <= dims[dims.length - 1]))),
                    "k must be from 1 to the length of the last axis of X, %s, but is %d", Arrays.toString(dims), k);
            dims[dims.length - 1] = k;
            inference.set("Out", inference.dtype("X"), dims);
            inference.set("Indices", DType.INT64, dims);
        }).lower(l -> {
            long[] dims = l.outType("Out", 0).dims();
            List<Operand> found = l.runAll(new TopK(dims[dims.length - 1], -1, true), l.in("X"));
            l.out("Out", found.get(0));
            l.out("Indices", found.get(1));
        }).grad(gradient).register(registry);
    }

    /** For each length, that many ones, then zeros. */
    private static void mask(Operations registry) {
        Operation.define("sequence_mask").in("X", "MaxLenTensor?").out("Y").attr("maxlen", -1).attr("out_dtype", 3)
                .values("X", "MaxLenTensor").infer(inference -> {
                    long[] dims = inference.dims("X");
                    Indexes.require(inference, "X");
                    inference.set("Y", inference.attrs().getDType("out_dtype"),
                            Dims.inserted(dims, dims.length, longest(inference)));
                }).lower(l -> {
                    long[] dims = l.outType("Y", 0).dims();
                    long[] places = LongStream.range(0, dims[dims.length - 1]).toArray();
                    Operand x = l.in("X");
                    Operand place = l.constant(Tensor.of(x.dtype(), places, places.length));
                    l.out("Y", l.cast(l.binary(Binary.Function.LESS, place, x.unsqueeze(x.rank())),
                            l.outType("Y", 0).dtype()));
                }).register(registry);
    }

    private static long longest(Inference inference) {
        long[] given = inference.values("MaxLenTensor");
        long attribute = inference.attrs().getInt("maxlen");
        if (given != null && given.length == 1) {
            return given[0];
        }
        if (inference.has("MaxLenTensor") || attribute > 0) {
            return inference.has("MaxLenTensor") ? -1 : attribute;
        }
        long[] lengths = inference.values("X");
        long longest = lengths == null ? -1 : Arrays.stream(lengths).max().orElse(0);
        inference.require(longest <= 1 << 26, "the longest sequence would have %d elements", longest);
        return longest;
    }

    private static void search(Operations registry) {
        Operation.define("searchsorted").in("SortedSequence", "Values").out("Out").attr("out_int32", false)
                .attr("right", false)
                .infer(inference -> {
                    long[] sorted = inference.dims("SortedSequence");
                    long[] values = inference.dims("Values");
                    boolean fits = sorted.length == 1 || sorted.length == values.length;
                    for (int i = 0; fits && sorted.length > 1 && i < values.length - 1; i++) {
                        fits = sorted[i] < 0 || values[i] < 0 || sorted[i] == values[i];
                    }
                    inference.require(fits,
                            "SortedSequence must be a vector or have all but the last dimension of Values, but "
                                    + "they are %s and %s",
                            Arrays.toString(sorted), Arrays.toString(values));
                    inference.require(inference.dtype("SortedSequence") == inference.dtype("Values"),
                            "SortedSequence and Values must have one type");
                    inference.set("Out", inference.attrs().getBool("out_int32") ? DType.INT32 : DType.INT64, values);
                }).lower(l -> {
                    boolean right = l.attrs().getBool("right");
                    Operand found = l.temporary(l.outType("Out", 0).spec());
                    Operand sorted = l.in("SortedSequence");
                    int length = Math.toIntExact(sorted.dim(sorted.rank() - 1));
                    boolean shared = sorted.rank() == 1;
                    l.call("searchsorted",
                            (in, out) -> Elements.write(found(Objects.requireNonNull(in.get(0)).toDoubleArray(),
                                    Objects.requireNonNull(in.get(1)).toDoubleArray(), length, shared, right),
                                    Objects.requireNonNull(out.getFirst())),
                            List.of(sorted, l.in("Values")), List.of(found));
                    l.out("Out", found);
                }).register(registry);
    }

    private static long[] found(double[] sorted, double[] values, int length, boolean shared, boolean right) {
        long[] places = new long[values.length];
        int each = shared || length == 0 ? values.length : values.length / Math.max(1, sorted.length / length);
        for (int i = 0; i < values.length; i++) {
            int start = shared ? 0 : i / each * length;
            int low = 0;
            int high = length;
            while (low < high) {
                int middle = (low + high) >>> 1;
                double at = sorted[start + middle];
                boolean before = right ? !(at > values[i]) : !(at >= values[i]);
                low = before ? middle + 1 : low;
                high = before ? high : middle;
            }
            places[i] = low;
        }
        return places;
    }

    private static void add(Operations registry) {
        Operation.define("index_add").in("X", "Index", "AddValue").out("Out").attr("axis", 0).infer(inference -> {
            inference.axis("X", inference.attrs().getInt("axis"));
            Indexes.requireVector(inference, "Index");
            inference.require(inference.dims("AddValue").length == inference.dims("X").length,
                    "AddValue must have the dimensions of X");
            inference.require(inference.dtype("AddValue") == inference.dtype("X"), "AddValue must have the type of X");
            inference.same("X", "Out");
        }).lower(l -> {
            Operand values = l.in("AddValue");
            l.out("Out", l.run(new PutAlongAxis(l.attrs().getInt("axis"), true), l.in("X"), index(l, values), values));
        }).grad("index_add_grad(Index, AddValue, Out@GRAD) -> X@GRAD, AddValue@GRAD", inference -> {
            inference.same("Out@GRAD", "X@GRAD");
            inference.same("AddValue", "AddValue@GRAD");
        }, l -> {
            l.out("X@GRAD", l.in("Out@GRAD"));
            if (l.wants("AddValue@GRAD")) {
                l.out("AddValue@GRAD",
                        l.run(new Gather(l.attrs().getInt("axis"), Gather.NO_PADDING), l.in("Out@GRAD"),
                                Indexes.vector(l, "Index")));
            }
        }).register(registry);
    }

    /** The indices, once for each element of the values. */
    private static Operand index(Lowering l, Operand values) {
        int axis = values.shape().axis(l.attrs().getInt("axis"));
        long[] dims = new long[values.rank()];
        Arrays.fill(dims, 1);
        dims[axis] = values.dim(axis);
        return l.copy(l.reshape(l.in("Index"), dims).expand(values.shape()));
    }
}
