package io.seriatim.graph.ops.indexing;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Indexes;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary.Function;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.OneHot;
import io.seriatim.tensor.computation.Where;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * Elements that a mask selects, indexes of elements that are not zero, one-hot vectors of a depth, rows of one of
 * several tensors, and indexes within a shard.
 */
public final class SelectionOperations {
    private SelectionOperations() {
    }

    public static void register(Operations registry) {
        maskedSelect(registry);
        whereIndex(registry);
        oneHot(registry);
        multiplex(registry);
        shardIndex(registry);
    }

    private static void maskedSelect(Operations registry) {
        String signature = "masked_select_grad(Mask, X, Y@GRAD) -> X@GRAD";
        Operation.Builder select = Operation.define("masked_select").in("X", "Mask").out("Y").values("Mask")
                .infer(inference -> {
                    inference.require(inference.dtype("Mask") == DType.BOOL, "the mask must be bool, but is %s",
                            inference.dtype("Mask"));
                    long[] dims = inference.broadcast(inference.dims("X"), inference.dims("Mask"));
                    long[] mask = inference.values("Mask");
                    inference.set("Y", inference.dtype("X"), mask == null ? -1 : selected(mask, Shape.of(dims)));
                }).lower(l -> {
                    Operand x = l.in("X");
                    l.out("Y", l.run(Gather.of(0), x.reshape(x.shape().size()), positions(l)));
                }).byElements((_, operands, host) -> SelectedElements.chosen(Objects.requireNonNull(operands.get(0)),
                        Objects.requireNonNull(operands.get(1)), host))
                .grad(signature);
        select.gradOperation(signature, null).values("Mask").shapesOnly("X").lower(l -> {
            if (l.wants("X@GRAD")) {
                long size = l.in("X").shape().size();
                Operand flat = l.run(new GatherGrad(Gather.of(0), List.of(size)), l.in("Y@GRAD"), positions(l));
                l.out("X@GRAD", flat.reshape(l.in("X").shape().dims()));
            }
        }).register(registry);
        select.register(registry);
    }

    private static long selected(long[] mask, Shape shape) {
        long trues = Arrays.stream(mask).filter(each -> each != 0).count();
        return trues == 0 ? 0 : trues * (shape.size() / mask.length);
    }

    /** Which elements of X, by number, stand where the mask holds, when both are broadcast to one shape. */
    private static Operand positions(Lowering l) {
        Shape x = l.in("X").shape();
        Shape mask = l.in("Mask").shape();
        Shape shape = x.broadcast(mask);
        long[] numbers = new long[WorkingMemory.length(x.size())];
        Arrays.setAll(numbers, i -> i);
        long[] from = expanded(numbers, x, shape);
        long[] holds = expanded(Objects.requireNonNull(l.values("Mask")), mask, shape);
        long[] chosen = IntStream.range(0, from.length).filter(i -> holds[i] != 0).mapToLong(i -> from[i]).toArray();
        return l.constant(Tensor.of(chosen, chosen.length));
    }

    private static long[] expanded(long[] values, Shape shape, Shape target) {
        if (shape.equals(target)) {
            return values;
        }
        try (Tensor tensor = Tensor.of(values, shape.dims())) {
            return tensor.expand(target).toLongArray();
        }
    }

    private static void whereIndex(Operations registry) {
        Operation.define("where_index").in("Condition").out("Out").values("Condition").infer(inference -> {
            Indexes.requireDimensions(inference, "Condition");
            double[] values = inference.numbers("Condition");
            inference.set("Out", DType.INT64,
                    values == null ? -1 : countOfNonZeros(values), inference.dims("Condition").length);
        }).lower(l -> {
            long[] dims = l.type("Condition", 0).dims();
            double[] values = Objects.requireNonNull(l.numbers("Condition"));
            int found = countOfNonZeros(values);
            long[] tuples = tuplesOfNonZeros(values, dims, found);
            l.out("Out", l.constant(Tensor.of(tuples, found, dims.length)));
        }).byElements(
                (_, operands, host) -> SelectedElements.indexes(Objects.requireNonNull(operands.getFirst()), host))
                .register(registry);
    }

    private static int countOfNonZeros(double[] values) {
        int count = 0;
        for (double value : values) {
            count += value != 0 ? 1 : 0;
        }
        return count;
    }

    /** Returns the indices along all axes of the elements that are not 0, in their order. */
    private static long[] tuplesOfNonZeros(double[] values, long[] dims, int count) {
        int rank = dims.length;
        long[] tuples = new long[WorkingMemory.length((long) count * rank)];
        int at = 0;
        for (int i = 0; i < values.length; i++) {
            if (values[i] != 0) {
                long left = i;
                for (int axis = rank - 1; axis > 0; axis--) {
                    tuples[at + axis] = left % dims[axis];
                    left /= dims[axis];
                }
                if (rank > 0) {
                    tuples[at] = left;
                }
                at += rank;
            }
        }
        return tuples;
    }

    private static void oneHot(Operations registry) {
        Operation.define("one_hot_v2").in("X", "depth_tensor?").out("Out").attr("depth", -1).attr("dtype", 5)
                .attr("allow_out_of_range", false).values("depth_tensor").infer(SelectionOperations::inferOneHot)
                .lower(l -> {
                    long[] dims = l.outType("Out", 0).dims();
                    long depth = dims[dims.length - 1];
                    DType dtype = l.outType("Out", 0).dtype();
                    if (l.attrs().getBool("allow_out_of_range")) {
                        l.out("Out",
                                l.run(new OneHot(depth + 1, dtype), within(l, l.in("X"), depth)).slice(-1, 0, depth));
                    } else {
                        l.out("Out", l.run(new OneHot(depth, dtype), l.in("X")));
                    }
                }).register(registry);
    }

    private static void inferOneHot(Inference inference) {
        Indexes.require(inference, "X");
        long[] x = inference.dims("X");
        long[] dims = Arrays.copyOf(x, x.length + 1);
        if (inference.has("depth_tensor")) {
            long[] given = inference.values("depth_tensor");
            inference.require(given == null || given.length == 1, "the slot depth_tensor must hold one number");
            dims[x.length] = given == null ? -1 : given[0];
            inference.require(given == null || given[0] > 0, "the depth must be 1 or more, but is %d", dims[x.length]);
        } else {
            dims[x.length] = inference.attrs().getLong("depth");
            inference.require(dims[x.length] > 0, "the depth must be 1 or more, but is %d", dims[x.length]);
        }
        inference.set("Out", inference.attrs().getDType("dtype"), dims);
    }

    /** Indexes that are out of range become the one after the last. */
    private static Operand within(Lowering l, Operand x, long depth) {
        Operand inRange = l.binary(Function.LOGICAL_AND, l.binary(Function.GREATER_EQUAL, x, l.number(x.dtype(), 0)),
                l.binary(Function.LESS, x, l.number(x.dtype(), (double) depth)));
        return l.run(new Where(), inRange, x, l.fill((double) depth, TensorSpec.of(x.dtype())));
    }

    private static void multiplex(Operations registry) {
        String signature = "multiplex_grad(Ids, X, Out@GRAD) -> X@GRAD";
        Operation.Builder multiplex = Operation.define("multiplex").in("X*", "Ids").out("Out")
                .infer(SelectionOperations::inferMultiplex)
                .lower(SelectionOperations::multiplex).grad(signature);
        multiplex.gradOperation(signature, null).shapesOnly("X").lower(l -> {
            Operand dout = l.in("Out@GRAD");
            long[] rows = new long[dout.rank()];
            Arrays.fill(rows, 1);
            rows[0] = dout.dim(0);
            Operand ids = l.in("Ids").reshape(rows);
            for (int i = 0; i < l.outputs("X@GRAD"); i++) {
                if (l.wants("X@GRAD", i)) {
                    Operand chosen = l.binary(Function.EQUAL, ids, l.number(ids.dtype(), i));
                    l.out("X@GRAD", i, l.run(new Where(), chosen, dout, l.number(dout.dtype(), 0)));
                }
            }
        }).register(registry);
        multiplex.register(registry);
    }

    private static void inferMultiplex(Inference inference) {
        Indexes.require(inference, "Ids");
        long[] ids = inference.dims("Ids");
        long[] x = inference.dims("X");
        inference.require(inference.count("X") > 1 && x.length > 1,
                "X must hold two tensors or more, of two dimensions or more, but holds %d of %d",
                inference.count("X"), x.length);
        for (int i = 1; i < inference.count("X"); i++) {
            ArgType next = inference.in("X", i);
            inference.require(next.dtype() == inference.dtype("X") && Arrays.equals(next.dims(), x),
                    "all tensors of X must be %s of shape %s, but tensor %d is %s of %s", inference.dtype("X"),
                    Numbers.text(x), i,
                    next.dtype(), Numbers.text(next.dims()));
        }
        inference.require(ids.length == 2 && (ids[1] == 1 || ids[1] < 0) && (ids[0] < 0 || x[0] < 0 || ids[0] == x[0]),
                "Ids must be [%d, 1], but is %s", x[0], Numbers.text(ids));
        inference.same("X", "Out");
    }

    /** Row i of tensor k is row k · rows + i of all of them, one after the other. */
    private static void multiplex(Lowering l) {
        Operand first = l.in("X");
        long rows = first.dim(0);
        Operand all = l.temporary(TensorSpec.of(first.dtype(), first.shape().with(0, rows * l.count("X")).dims()));
        for (int i = 0; i < l.count("X"); i++) {
            l.into(Copy.PLAIN, List.of(l.in("X", i)), List.of(all.slice(0, i * rows, (i + 1) * rows)));
        }
        long[] numbers = new long[WorkingMemory.length(rows)];
        Arrays.setAll(numbers, i -> i);
        Operand ids = l.cast(l.in("Ids"), DType.INT64).reshape(rows);
        Operand starts = l.binary(Function.MULTIPLY, ids, l.number(DType.INT64, (double) rows));
        l.out("Out", l.run(Gather.of(0), all, l.binary(Function.ADD, starts, l.constant(Tensor.of(numbers, rows)))));
    }

    private static void shardIndex(Operations registry) {
        Operation.define("shard_index").in("X").out("Out").required("index_num", Attribute.Int.class)
                .required("nshards", Attribute.Int.class).required("shard_id", Attribute.Int.class)
                .attr("ignore_value", -1)
                .infer(inference -> {
                    Attrs attrs = inference.attrs();
                    Indexes.require(inference, "X");
                    long[] x = inference.dims("X");
                    inference.require(x.length > 1 && (x[x.length - 1] == 1 || x[x.length - 1] < 0),
                            "X must have two dimensions or more, the last of length 1, but is %s", Numbers.text(x));
                    inference.require(attrs.getInt("index_num") > 0 && attrs.getInt("nshards") > 0,
                            "index_num and nshards must be 1 or more, but are %d and %d", attrs.getInt("index_num"),
                            attrs.getInt("nshards"));
                    inference.require(
                            attrs.getInt("shard_id") >= 0 && attrs.getInt("shard_id") < attrs.getInt("nshards"),
                            "shard_id must be from 0 to %d, but is %d", attrs.getInt("nshards") - 1,
                            attrs.getInt("shard_id"));
                    inference.same("X", "Out");
                }).lower(SelectionOperations::shardIndex).register(registry);
    }

    private static void shardIndex(Lowering l) {
        Operand x = l.in("X");
        int count = l.attrs().getInt("index_num");
        long size = Math.ceilDiv(count, l.attrs().getInt("nshards"));
        long first = size * l.attrs().getInt("shard_id");
        long ignored = l.attrs().getInt("ignore_value");
        Operand result = l.temporary(x.spec());
        l.call("shard_index", (in, out) -> {
            long[] indexes = Objects.requireNonNull(in.getFirst()).toLongArray();
            for (int i = 0; i < indexes.length; i++) {
                long index = indexes[i];
                if (index < 0 || index >= count) {
                    throw new IndexRangeException(
                            "shard_index: index number " + i + " must be from 0 to " + (count - 1) + ", but is "
                                    + index);
                }
                indexes[i] = index >= first && index < first + size ? index - first : ignored;
            }
            Elements.write(indexes, Objects.requireNonNull(out.getFirst()));
        }, List.of(x), List.of(result));
        l.out("Out", result);
    }
}
