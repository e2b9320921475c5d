package io.seriatim.graph.ops.shape;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Elements and slices repeated. */
public final class ExpandOperations {
    private ExpandOperations() {
    }

    public static void register(Operations registry) {
        expand(registry);
        expandAs(registry);
        tile(registry);
        expandByTimes(registry);
        broadcast(registry);
        repeatInterleave(registry);
    }

    private static void expand(Operations registry) {
        String signature = "expand_v2_grad(Out@GRAD, Shape, X, expand_shapes_tensor) -> X@GRAD";
        Operation.Builder expand = Operation.define("expand_v2").in("X", "Shape?", "expand_shapes_tensor*?").out("Out")
                .attr("shape", new int[0]).values("Shape", "expand_shapes_tensor").infer(ExpandOperations::expanded)
                .lower(l -> l.out("Out", l.expand(l.in("X"), l.output("Out").shape()))).grad(signature);
        expand.gradOperation(signature, null).shapesOnly("X", "Shape", "expand_shapes_tensor")
                .lower(ExpandOperations::sum)
                .grad("expand_v2(Shape, X=X@GRAD@GRAD, expand_shapes_tensor) -> Out=Out@GRAD@GRAD").register(registry);
        expand.register(registry);
    }

    private static void expandAs(Operations registry) {
        String signature = "expand_as_v2_grad(Out@GRAD, X) -> X@GRAD";
        Operation.Builder expand = Operation.define("expand_as_v2").in("X", "Y?").out("Out")
                .attr("target_shape", new int[0])
                .shapesOnly("Y")
                .infer(ExpandOperations::expandedAs)
                .lower(l -> l.out("Out", l.expand(l.in("X"), l.output("Out").shape()))).grad(signature);
        expand.gradOperation(signature, null).shapesOnly("X").lower(ExpandOperations::sum).register(registry);
        expand.register(registry);
    }

    private static void tile(Operations registry) {
        String signature = "tile_grad(Out@GRAD, RepeatTimes, X, repeat_times_tensor) -> X@GRAD";
        Operation.Builder tile = Operation.define("tile").in("X", "RepeatTimes?", "repeat_times_tensor*?").out("Out")
                .attr("repeat_times", new int[0]).values("RepeatTimes", "repeat_times_tensor")
                .infer(ExpandOperations::tiled)
                .lower(ExpandOperations::tile).grad(signature);
        tile.gradOperation(signature, null).shapesOnly("X", "RepeatTimes", "repeat_times_tensor")
                .lower(ExpandOperations::tileGradient)
                .grad("tile(RepeatTimes, X=X@GRAD@GRAD, repeat_times_tensor) -> Out=Out@GRAD@GRAD").register(registry);
        tile.register(registry);
    }

    /** The former form of expand: it tells how often each dimension is repeated, as tile does. */
    private static void expandByTimes(Operations registry) {
        String signature = "expand_grad(X, Out@GRAD, ExpandTimes, expand_times_tensor) -> X@GRAD";
        Operation.Builder expand = Operation.define("expand").in("X", "ExpandTimes?", "expand_times_tensor*?")
                .out("Out").attr("expand_times", new int[0]).values("ExpandTimes", "expand_times_tensor")
                .infer(ExpandOperations::repeated).lower(ExpandOperations::tile).grad(signature);
        expand.gradOperation(signature, null).shapesOnly("X", "ExpandTimes", "expand_times_tensor")
                .lower(ExpandOperations::tileGradient)
                .grad("expand(X=X@GRAD@GRAD, ExpandTimes, expand_times_tensor) -> Out=Out@GRAD@GRAD")
                .register(registry);
        expand.register(registry);
    }

    private static void repeated(Inference inference) {
        long[] dims = inference.dims("X");
        long @Nullable [] given = Dims.given(inference, "expand_times_tensor", "ExpandTimes", "expand_times");
        long[] times = given != null ? given : inference.attrs().getLongs("expand_times");
        times = times.length == 0 && given == null ? Dims.unknown(dims.length) : times;
        inference.require(times.length == dims.length,
                "expand_times must hold a number for each of the %d dimensions of X, but is %s", dims.length,
                Numbers.text(times));
        for (int i = 0; i < dims.length; i++) {
            inference.require(times[i] > 0 || (times[i] == -1 && !inference.isForRun()),
                    "expand_times must hold numbers from 1 on, but is %s", Numbers.text(times));
            dims[i] = Dims.times(dims[i], times[i]);
        }
        inference.set("Out", inference.dtype("X"), dims);
    }

    private static void broadcast(Operations registry) {
        String signature = "broadcast_tensors_grad(Out@GRAD, X) -> X@GRAD";
        Operation.Builder broadcast = Operation.define("broadcast_tensors").in("X*").out("Out*")
                .infer(ExpandOperations::broadcast)
                .lower(l -> {
                    for (int i = 0; i < l.outputs("Out"); i++) {
                        if (l.wants("Out", i)) {
                            l.out("Out", i, l.expand(l.in("X", i), l.output("Out", i).shape()));
                        }
                    }
                }).grad(signature);
        broadcast.gradOperation(signature, null).shapesOnly("X").lower(l -> {
            for (int i = 0; i < l.outputs("X@GRAD"); i++) {
                if (l.wants("X@GRAD", i)) {
                    l.out("X@GRAD", i, Dims.sumTo(l, l.in("Out@GRAD", i), l.type("X", i).dims()));
                }
            }
        }).register(registry);
        broadcast.register(registry);
    }

    /** Each output has the type of the input in its place, and the shape of all of them together. */
    private static void broadcast(Inference inference) {
        inference.require(inference.outputs("Out") == inference.count("X"),
                "X and Out must have as many variables, but have %d and %d",
                inference.count("X"), inference.outputs("Out"));
        long[] dims = new long[0];
        for (int i = 0; i < inference.count("X"); i++) {
            dims = inference.broadcast(dims, inference.in("X", i).dims());
        }
        for (int i = 0; i < inference.outputs("Out"); i++) {
            inference.set("Out", i, ArgType.dense(inference.in("X", i).dtype(), dims));
        }
    }

    private static void expanded(Inference inference) {
        long @Nullable [] wanted = Dims.given(inference, "expand_shapes_tensor", "Shape", "shape");
        inference.set("Out", inference.dtype("X"),
                inference.isForRun() && wanted != null ? expanded(inference, wanted) : announced(inference));
    }

    private static long[] expanded(Inference inference, long[] wanted) {
        long[] x = inference.dims("X");
        fits(inference, x, wanted);
        long[] dims = wanted.clone();
        for (int i = 0; i < dims.length; i++) {
            int from = i - (dims.length - x.length);
            inference.require(wanted[i] >= 0 || from >= 0, "the shape %s keeps dimension %d, which X does not have",
                    Numbers.text(wanted), i);
            dims[i] = wanted[i] < 0 ? x[from] : wanted[i];
        }
        return dims;
    }

    /** As Paddle infers it while a program is built: from the left, although X is expanded from the right. */
    private static long[] announced(Inference inference) {
        long[] x = inference.dims("X");
        long[] dims = inference.attrs().getLongs("shape");
        if (dims.length == 0) {
            dims = Dims.unknown(inference.has("Shape") ? Dims.count(inference, "Shape") : x.length);
        }
        fits(inference, x, dims);
        for (int i = 0; i < dims.length; i++) {
            boolean kept = dims[i] == -1 || (i < x.length && x[i] < 0);
            dims[i] = kept ? (i < x.length ? x[i] : -1) : Math.max(-1, dims[i]);
        }
        return dims;
    }

    private static void fits(Inference inference, long[] x, long[] wanted) {
        inference.require(wanted.length >= x.length, "the shape %s must have at least the %d dimensions of X",
                Numbers.text(wanted),
                x.length);
        for (int i = 1; i <= wanted.length; i++) {
            long to = wanted[wanted.length - i];
            long from = i > x.length ? 1 : x[x.length - i];
            // -2 stands for a dimension that a tensor tells.
            inference.require(to >= -2 && (from < 0 || (from == 1 && to != 0) || to < 0 || from == to),
                    "X does not expand to the shape %s",
                    Numbers.text(wanted));
        }
    }

    private static void expandedAs(Inference inference) {
        long[] target = inference.attrs().getLongs("target_shape");
        if (inference.has("Y") && (inference.isForRun() || target.length == 0)) {
            target = inference.dims("Y");
        }
        fits(inference, inference.dims("X"), target);
        inference.set("Out", inference.dtype("X"), target);
    }

    private static void sum(Lowering l) {
        if (l.wants("X@GRAD")) {
            l.out("X@GRAD", Dims.sumTo(l, l.in("Out@GRAD"), l.type("X", 0).dims()));
        }
    }

    private static void tiled(Inference inference) {
        long[] x = inference.dims("X");
        long @Nullable [] given = Dims.given(inference, "repeat_times_tensor", "RepeatTimes", "repeat_times");
        long[] times = given != null ? given : inference.attrs().getLongs("repeat_times");
        if (given == null && !inference.has("repeat_times_tensor")) {
            times = Dims.unknown(Dims.count(inference, "RepeatTimes"));
        }
        int rank = Math.max(x.length, times.length);
        long[] dims = Dims.leading(x, rank);
        long[] repeats = Dims.leading(times, rank);
        // Numbers that a run computes may be 0.
        long least = inference.has("RepeatTimes") ? 0 : 1;
        for (int i = 0; i < rank; i++) {
            inference.require(repeats[i] >= least || given == null, "repeat_times %s must be at least %d",
                    Numbers.text(times), least);
            dims[i] = Dims.times(dims[i], repeats[i]);
        }
        inference.set("Out", inference.dtype("X"), dims);
    }

    /**
     * The dimensions of what is tiled, with one of length 1 before each that is repeated; or that one as often as it is
     * repeated.
     */
    private static long[] interleaved(long[] small, long[] large, boolean repeated) {
        long[] dims = Dims.leading(small, large.length);
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] != large[i]) {
                all.add(repeated ? large[i] / dims[i] : 1);
            }
            all.add(dims[i]);
        }
        return all.stream().mapToLong(Long::longValue).toArray();
    }

    private static void tile(Lowering l) {
        if (!l.wants("Out")) {
            return;
        }
        Operand x = l.in("X");
        Operand out = l.output("Out");
        if (out.shape().size() > 0) {
            long[] from = interleaved(x.shape().dims(), out.shape().dims(), false);
            long[] to = interleaved(x.shape().dims(), out.shape().dims(), true);
            l.into(Copy.PLAIN, List.of(x.reshape(from)), List.of(out.reshape(to)));
        }
    }

    private static void tileGradient(Lowering l) {
        if (!l.wants("X@GRAD")) {
            return;
        }
        Operand dy = l.in("Out@GRAD");
        long[] x = l.type("X", 0).dims();
        if (dy.shape().size() == 0) {
            l.out("X@GRAD", l.fill(0, l.output("X@GRAD").spec()));
            return;
        }
        Operand parts = dy.reshape(interleaved(x, dy.shape().dims(), true));
        l.out("X@GRAD", l.reshape(Dims.sumTo(l, parts, interleaved(x, dy.shape().dims(), false)), x));
    }

    private static void repeatInterleave(Operations registry) {
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
        long count = times.length == 1
                ? Math.multiplyExact(length, times[0])
                : Arrays.stream(times).reduce(0, Math::addExact);
        WorkingMemory.length("its indexes", count);
        long[] places = LongStream.range(0, length)
                .flatMap(i -> LongStream.range(0, times[times.length == 1 ? 0 : (int) i]).map(_ -> i)).toArray();
        return l.constant(Tensor.of(places, places.length));
    }
}
