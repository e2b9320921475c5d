package io.seriatim.graph.op;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Binary.Function;
import io.seriatim.tensor.kernel.Gather;
import io.seriatim.tensor.kernel.GatherGrad;
import io.seriatim.tensor.kernel.OneHot;
import io.seriatim.tensor.kernel.Where;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/** Operations whose result depends in size on values: what a mask selects, where elements are not zero, one-hot vectors of a depth. */
final class SelectionOperations {
    private SelectionOperations() {
    }

    static void register(Operations registry) {
        maskedSelect(registry);
        whereIndex(registry);
        oneHot(registry);
    }

    private static void maskedSelect(Operations registry) {
        String signature = "masked_select_grad(Mask, X, Y@GRAD) -> X@GRAD";
        Operation.Builder select = Operation.define("masked_select").in("X", "Mask").out("Y").values("Mask").infer(inference -> {
            inference.require(inference.dtype("Mask") == DType.BOOL, "the mask must be bool, but is %s", inference.dtype("Mask"));
            long[] dims = inference.broadcast(inference.dims("X"), inference.dims("Mask"));
            long[] mask = inference.values("Mask");
            inference.set("Y", inference.dtype("X"), mask == null ? -1 : selected(mask, Shape.of(dims)));
        }).lower(l -> {
            Operand x = l.in("X");
            l.out("Y", l.run(Gather.of(0), x.reshape(x.shape().size()), positions(l)));
        }).grad(signature);
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
        long[] numbers = new long[Math.toIntExact(x.size())];
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
            inference.set("Out", DType.INT64, values == null ? -1 : Arrays.stream(values).filter(each -> each != 0).count(),
                    inference.dims("Condition").length);
        }).lower(l -> {
            long[] dims = l.type("Condition", 0).dims();
            double[] values = Objects.requireNonNull(l.numbers("Condition"));
            int[] found = IntStream.range(0, values.length).filter(i -> values[i] != 0).toArray();
            long[] tuples = new long[found.length * dims.length];
            for (int i = 0; i < found.length; i++) {
                long left = found[i];
                for (int axis = dims.length - 1; axis >= 0; axis--) {
                    tuples[i * dims.length + axis] = left % dims[axis];
                    left /= dims[axis];
                }
            }
            l.out("Out", l.constant(Tensor.of(tuples, found.length, dims.length)));
        }).register(registry);
    }

    private static void oneHot(Operations registry) {
        Operation.define("one_hot_v2").in("X", "depth_tensor?").out("Out").attr("depth", -1).attr("dtype", 5)
                .attr("allow_out_of_range", false).values("depth_tensor").infer(SelectionOperations::inferOneHot).lower(l -> {
                    long[] dims = l.outType("Out", 0).dims();
                    long depth = dims[dims.length - 1];
                    DType dtype = l.outType("Out", 0).dtype();
                    if (l.attrs().getBool("allow_out_of_range")) {
                        l.out("Out", l.run(new OneHot(depth + 1, dtype), within(l, l.in("X"), depth)).slice(-1, 0, depth));
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
}
