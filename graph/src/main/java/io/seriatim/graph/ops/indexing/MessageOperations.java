package io.seriatim.graph.ops.indexing;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Alignment;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Indexes;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary.Function;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.ScatterNd;
import io.seriatim.tensor.computation.Where;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Messages along the edges of a graph, as graph neural networks pass them: each edge takes the features of its source,
 * perhaps combined with its own, and each node sums, averages or takes the largest or smallest of what arrives.
 */
public final class MessageOperations {
    private static final Set<String> REDUCTIONS = Set.of("SUM", "MEAN", "MAX", "MIN");
    private static final Set<String> COMBINATIONS = Set.of("ADD", "MUL");

    private MessageOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("graph_send_recv").in("X", "Src_index", "Dst_index", "Out_size?").out("Out", "Dst_count?~")
                .values("Out_size").attr("reduce_op", "SUM").attr("out_size", new long[]{0})
                .infer(inference -> {
                    edges(inference, "Src_index", "Dst_index");
                    received(inference, inference.dims("X"));
                })
                .lower(l -> receive(l, taken(l, "X", "Src_index")))
                .grad("graph_send_recv_grad(X, Src_index, Dst_index, Out, Dst_count, Out@GRAD) -> X@GRAD",
                        l -> {
                            Operand spread = spread(l, () -> taken(l, "X", "Src_index"));
                            l.out("X@GRAD", sum(l, spread, indexes(l, "Src_index"), l.in("X").shape().dims()));
                        })
                .register(registry);
        Operation.define("graph_send_ue_recv").in("X", "Y", "Src_index", "Dst_index", "Out_size?")
                .out("Out", "Dst_count?~").values("Out_size").attr("message_op", "ADD").attr("reduce_op", "SUM")
                .attr("out_size", new long[]{0})
                .infer(inference -> {
                    edges(inference, "Src_index", "Dst_index");
                    received(inference, combined(inference, "X", "Y"));
                })
                .lower(l -> receive(l, l.binary(combination(l), taken(l, "X", "Src_index"), l.in("Y"))))
                .grad("graph_send_ue_recv_grad(X, Y, Src_index, Dst_index, Out, Dst_count, Out@GRAD)"
                        + " -> X@GRAD, Y@GRAD", MessageOperations::gradientsOfEdges)
                .register(registry);
        Operation.define("graph_send_uv").in("x", "y", "src_index", "dst_index").out("out").attr("message_op", "ADD")
                .infer(inference -> {
                    long edges = edges(inference, "src_index", "dst_index");
                    long[] dims = combined(inference, "x", "y");
                    dims[0] = edges;
                    inference.set("out", inference.dtype("x"), dims);
                })
                .lower(l -> l.out("out",
                        l.binary(combination(l), taken(l, "x", "src_index"), taken(l, "y", "dst_index"))))
                .grad("graph_send_uv_grad(x, y, src_index, dst_index, out@GRAD) -> x@GRAD, y@GRAD")
                .register(registry);
    }

    /** The number of edges; −1 if it is not known. */
    private static long edges(Inference inference, String source, String destination) {
        Indexes.requireVector(inference, source);
        Indexes.requireVector(inference, destination);
        long[] from = inference.dims(source);
        long[] to = inference.dims(destination);
        long sources = Inference.size(from);
        long destinations = Inference.size(to);
        inference.require(sources == destinations || sources < 0 || destinations < 0,
                "%s and %s must have an element for each edge, but have the shapes %s and %s", source, destination,
                Numbers.text(from), Numbers.text(to));
        return destinations < 0 ? -1 : sources;
    }

    /** The features of messages that combine two operands, whose first dimensions are not compared. */
    private static long[] combined(Inference inference, String a, String b) {
        String combination = inference.attrs().getText("message_op");
        inference.require(COMBINATIONS.contains(combination), "message_op must be ADD or MUL, but is '%s'",
                combination);
        inference.require(inference.dtype(a) == inference.dtype(b),
                "%s and %s must have the same type, but have %s and %s", a, b, inference.dtype(a), inference.dtype(b));
        long[] x = inference.dims(a);
        long[] y = inference.dims(b);
        inference.require(x.length > 0 && x.length == y.length,
                "%s and %s must have the same number of dimensions, one or more, but have the shapes %s and %s", a, b,
                Numbers.text(x), Numbers.text(y));
        long[] dims = x.clone();
        for (int i = 1; i < x.length; i++) {
            inference.require(x[i] == y[i] || x[i] == 1 || y[i] == 1 || x[i] < 0 || y[i] < 0,
                    "the features of %s and %s must be broadcast to each other, but the shapes are %s and %s", a, b,
                    Numbers.text(x), Numbers.text(y));
            dims[i] = x[i] == 1 ? y[i] : x[i] < 0 && y[i] > 1 ? y[i] : x[i];
        }
        return dims;
    }

    private static void received(Inference inference, long[] dims) {
        DType dtype = inference.dtype("X");
        String reduction = inference.attrs().getText("reduce_op");
        inference.require(REDUCTIONS.contains(reduction), "reduce_op must be SUM, MEAN, MAX or MIN, but is '%s'",
                reduction);
        inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64 || dtype == DType.INT32
                || dtype == DType.INT64, "X must be float32, float64, int32 or int64, but is %s", dtype);
        inference.require(dims.length > 0, "X must have a row for each node, but has no dimension");
        long[] declared = inference.attrs().getLongs("out_size");
        long nodes = declared.length == 0 ? 0 : declared[0];
        if (inference.has("Out_size")) {
            long[] given = inference.values("Out_size");
            nodes = given == null || given.length == 0 ? -1 : Math.max(given[0], 0);
        }
        // As in PaddlePaddle, a program does not say how many rows there are.
        dims[0] = !inference.isForRun() ? -1 : nodes == 0 ? inference.dims("X")[0] : nodes;
        inference.set("Out", dtype, dims);
        if (inference.isForRun() || reduction.equals("MEAN")) {
            inference.set("Dst_count", DType.INT32, dims[0]);
        } else {
            inference.asDeclared("Dst_count");
        }
    }

    private static Function combination(Lowering l) {
        return l.attrs().getText("message_op").equals("MUL") ? Function.MULTIPLY : Function.ADD;
    }

    private static Operand indexes(Lowering l, String slot) {
        return l.in(slot).reshape(l.in(slot).shape().size());
    }

    private static Operand taken(Lowering l, String slot, String index) {
        return l.run(Gather.of(0), l.in(slot), indexes(l, index));
    }

    private static void receive(Lowering l, Operand messages) {
        Operand places = indexes(l, "Dst_index");
        long[] dims = l.output("Out").shape().dims();
        String reduction = l.attrs().getText("reduce_op");
        Operand result = switch (reduction) {
            case "SUM" -> sum(l, messages, places, dims);
            case "MEAN" -> mean(l, messages, places, dims);
            default -> chosen(l, reduction.equals("MAX"), messages, places, dims);
        };
        l.out("Out", result);
        if (l.wants("Dst_count")) {
            l.out("Dst_count", l.cast(counts(l, places, dims[0]), DType.INT32));
        }
    }

    private static Operand sum(Lowering l, Operand messages, Operand places, long[] dims) {
        if (messages.dtype().isFloating()) {
            return l.run(new GatherGrad(Gather.of(0), Arrays.stream(dims).boxed().toList()), messages, places);
        }
        return l.run(new ScatterNd(ScatterNd.Function.ADD), l.fill(0, TensorSpec.of(messages.dtype(), dims)),
                places.reshape(places.shape().size(), 1), messages);
    }

    private static Operand counts(Lowering l, Operand places, long nodes) {
        return sum(l, l.fill(1, TensorSpec.of(DType.FLOAT64, places.shape().size())), places, new long[]{nodes});
    }

    /** Means of whole numbers are rounded towards zero. */
    private static Operand mean(Lowering l, Operand messages, Operand places, long[] dims) {
        boolean whole = !messages.dtype().isFloating();
        Operand sums = sum(l, whole ? l.cast(messages, DType.FLOAT64) : messages, places, dims);
        return l.cast(shared(l, sums, places), messages.dtype());
    }

    /** Each row divided by the number of messages that arrive there. */
    private static Operand shared(Lowering l, Operand rows, Operand places) {
        long nodes = rows.dim(0);
        Operand counts = l.binary(Function.MAXIMUM, counts(l, places, nodes), l.number(DType.FLOAT64, 1));
        long[] column = new long[rows.rank()];
        Arrays.fill(column, 1);
        column[0] = nodes;
        return l.binary(Function.DIVIDE, rows, l.cast(counts, rows.dtype()).reshape(column));
    }

    private static void gradientsOfEdges(Lowering l) {
        Operand x = taken(l, "X", "Src_index");
        Operand y = l.in("Y");
        Operand spread = spread(l, () -> l.binary(combination(l), x, y));
        boolean products = combination(l) == Function.MULTIPLY;
        if (l.wants("X@GRAD")) {
            Operand ofX = products ? l.binary(Function.MULTIPLY, spread, y) : spread;
            l.out("X@GRAD", sum(l, Alignment.summed(l, ofX, x.shape().dims()), indexes(l, "Src_index"),
                    l.in("X").shape().dims()));
        }
        if (l.wants("Y@GRAD")) {
            Operand ofY = products ? l.binary(Function.MULTIPLY, spread, x) : spread;
            l.out("Y@GRAD", Alignment.summed(l, ofY, y.shape().dims()));
        }
    }

    /** The gradient of the messages; of several largest or smallest ones, each gets all of it. */
    private static Operand spread(Lowering l, Supplier<Operand> messages) {
        Operand places = indexes(l, "Dst_index");
        Operand gradient = l.in("Out@GRAD");
        return switch (l.attrs().getText("reduce_op")) {
            case "SUM" -> l.run(Gather.of(0), gradient, places);
            case "MEAN" -> l.run(Gather.of(0), shared(l, gradient, places), places);
            default -> {
                Operand arrived = l.run(Gather.of(0), l.in("Out"), places);
                Operand isChosen = l.binary(Function.EQUAL, messages.get(), arrived);
                yield l.run(new Where(), isChosen, l.run(Gather.of(0), gradient, places),
                        l.number(gradient.dtype(), 0));
            }
        };
    }

    /** The largest or smallest messages, 0 where none arrives. */
    private static Operand chosen(Lowering l, boolean largest, Operand messages, Operand places, long[] dims) {
        Operand result = l.temporary(TensorSpec.of(messages.dtype(), dims));
        l.call("graph_send_recv", (in, out) -> choose(largest, in, Checks.tensor(out, 0)), List.of(messages, places),
                List.of(result));
        return result;
    }

    private static void choose(boolean largest, List<@Nullable Tensor> in, Tensor out) {
        double[] messages = Checks.tensor(in, 0).toDoubleArray();
        long[] places = Checks.tensor(in, 1).toLongArray();
        long nodes = out.shape().dim(0);
        double[] results = new double[WorkingMemory.length(out.shape().size())];
        boolean[] arrived = new boolean[WorkingMemory.length(nodes)];
        int width = places.length == 0 ? 0 : messages.length / places.length;
        for (int edge = 0; edge < places.length; edge++) {
            long place = places[edge];
            if (place < 0 || place >= nodes) {
                throw new IndexRangeException("Dst_index must be from 0 to " + (nodes - 1) + ", but edge " + edge
                        + " has " + place + "; out_size says how many nodes there are");
            }
            int to = (int) place * width;
            int from = edge * width;
            for (int i = 0; i < width; i++) {
                double message = messages[from + i];
                results[to + i] = !arrived[(int) place]
                        ? message
                        : largest ? Math.max(results[to + i], message) : Math.min(results[to + i], message);
            }
            arrived[(int) place] = true;
        }
        Elements.write(results, out);
    }
}
