package io.seriatim.graph.ops.control;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Lists of tensors (arrays), which loops write and read. */
public final class TensorListOperations {
    private TensorListOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("write_to_array").in("X", "I").out("Out").changesInPlace(op -> op.output("Out"))
                .keepsNothing().infer(inference -> {
                    index(inference);
                    inference.set("Out", 0, ArgType.array(inference.dtype("X"), inference.dims("X")));
                }).grad(TensorListOperations::ofWrite).register(registry);
        Operation.define("read_from_array").in("X", "I", "X_W?").out("Out").changesInPlace(TensorListOperations::taken)
                .infer(inference -> {
                    index(inference);
                    list(inference);
                    inference.set("Out", inference.dtype("X"), inference.dims("X"));
                }).grad(TensorListOperations::ofRead).register(registry);
        ofGradients(registry);
        positions(registry);
        Operation.define("lod_array_length").in("X").out("Out").infer(inference -> {
            list(inference);
            inference.set("Out", DType.INT64, 1);
        }).register(registry);
        Operation.define("tensor_array_to_tensor").in("X").out("Out", "OutIndex").attr("axis", 0)
                .attr("use_stack", false)
                .infer(inference -> {
                    list(inference);
                    inference.set("Out", inference.dtype("X"), joined(inference, "X"));
                    inference.set("OutIndex", DType.INT32, -1);
                }).grad("tensor_array_to_tensor_grad(X, Out@GRAD) -> X@GRAD").register(registry);
        Operation.define("tensor_array_to_tensor_grad").in("X", "Out@GRAD").out("X@GRAD").attr("axis", 0)
                .attr("use_stack", false)
                .infer(inference -> {
                    list(inference);
                    inference.same("X", "X@GRAD");
                }).grad("array_join(X=X@GRAD@GRAD, Like=X) -> Out=Out@GRAD@GRAD").register(registry);
    }

    /**
     * Operations of ONNX's sequences. Each gives a new list. A list of gradients may be shorter than the list that it
     * belongs to, and elements may be missing in it.
     */
    private static void positions(Operations registry) {
        Operation.define("array_insert").in("X", "I", "T?").out("Out").attr("of_gradients", false)
                .infer(inference -> edited(inference, inference.has("T") ? inference.in("T") : null))
                .grad(TensorListOperations::ofInsert).register(registry);
        Operation.define("array_erase").in("X", "I").out("Out").attr("of_gradients", false)
                .infer(inference -> edited(inference, null))
                .grad(TensorListOperations::ofErase).register(registry);
        Operation.define("array_split").in("X", "Lengths?").out("Out").attr("axis", 0).attr("use_stack", false)
                .infer(inference -> inference.set("Out", 0, ArgType.array(inference.dtype("X"), parts(inference))))
                .grad("array_join(X=Out@GRAD, Like=Out) -> Out=X@GRAD").register(registry);
    }

    private static void edited(Inference inference, @Nullable ArgType inserted) {
        index(inference);
        list(inference);
        DType dtype = inference.dtype("X");
        long[] dims = inference.dims("X");
        if (inserted != null) {
            inference.require(inserted.dtype() == dtype, "the elements of the list are %s, but %s is inserted",
                    inference.in("X"), inserted);
            long[] more = inserted.dims();
            for (int i = 0; i < dims.length && more.length == dims.length; i++) {
                more[i] = more[i] == dims[i] ? dims[i] : -1;
            }
            dims = more;
        }
        inference.set("Out", 0, ArgType.array(dtype, dims));
    }

    private static List<OpDesc> ofInsert(OpDesc op, Predicate<String> wanted) {
        List<OpDesc> gradients = new ArrayList<>();
        String out = GradientRule.gradient(op.output("Out").getFirst());
        for (String element : op.input("T")) {
            if (wanted.test(element)) {
                gradients.add(OpDesc.of("array_peek").in("X", out).in("I", op.input("I")).in("X_W", element)
                        .out("Out", GradientRule.gradient(element)).build());
            }
        }
        if (wanted.test(op.input("X").getFirst())) {
            gradients.add(edit("array_erase", op));
        }
        return gradients;
    }

    private static List<OpDesc> ofErase(OpDesc op, Predicate<String> wanted) {
        return wanted.test(op.input("X").getFirst()) ? List.of(edit("array_insert", op)) : List.of();
    }

    private static OpDesc edit(String type, OpDesc op) {
        return OpDesc.of(type).in("X", GradientRule.gradient(op.output("Out").getFirst())).in("I", op.input("I"))
                .out("Out", GradientRule.gradient(op.input("X").getFirst())).attr("of_gradients", true).build();
    }

    private static long[] parts(Inference inference) {
        long[] dims = inference.dims("X");
        int axis = inference.attrs().getInt("axis");
        inference.require(axis >= 0 && axis < dims.length, "the axis must be from 0 to %d, but is %d", dims.length - 1,
                axis);
        if (inference.has("Lengths")) {
            inference.require(inference.dims("Lengths").length < 2 && !inference.dtype("Lengths").isFloating(),
                    "lengths are whole numbers, one for each part or one for all, but are %s", inference.in("Lengths"));
        }
        dims[axis] = inference.has("Lengths") ? -1 : 1;
        return inference.attrs().getBool("use_stack")
                ? LongStream.concat(Arrays.stream(dims, 0, axis), Arrays.stream(dims, axis + 1, dims.length)).toArray()
                : dims;
    }

    /**
     * What happens to lists of gradients, as operations with gradients of their own: an element is added to, taken out,
     * set, or read, where one that is not there is zero. PaddlePaddle tells these from reads and writes of other lists
     * by names. A variable without a value, as a branch that was not taken leaves it, is neither written, nor is there
     * zero of it.
     */
    private static void ofGradients(Operations registry) {
        for (String type : new String[]{"array_add", "array_put"}) {
            Operation.define(type).in("X", "I").out("Out").changesInPlace(op -> op.output("Out")).infer(inference -> {
                index(inference);
                inference.set("Out", 0, ArgType.array(inference.dtype("X"), inference.dims("X")));
            }).grad((type.equals("array_add") ? "array_peek" : "array_take")
                    + "(X=Out@GRAD, I, X_W=X) -> Out=X@GRAD").register(registry);
        }
        for (String type : new String[]{"array_take", "array_peek"}) {
            Operation.define(type).in("X", "I", "X_W?").out("Out")
                    .changesInPlace(op -> type.equals("array_take") ? taken(op) : op.output("Out")).infer(inference -> {
                        index(inference);
                        list(inference);
                        inference.set("Out", inference.dtype("X"), inference.dims("X"));
                    })
                    .grad((type.equals("array_take") ? "array_put" : "array_add") + "(X=Out@GRAD, I) -> Out=X@GRAD")
                    .register(registry);
        }
        Operation.define("array_join").in("X", "Like").out("Out").attr("axis", 0).attr("use_stack", false)
                .infer(inference -> inference.set("Out", inference.dtype("Like"), joined(inference, "Like")))
                .grad("tensor_array_to_tensor_grad(X=Like, Out@GRAD) -> X@GRAD").register(registry);
        Operation.define("array_new").out("Out").attr("dtype", 5).attr("shape", new long[0])
                .infer(inference -> inference.set("Out", 0,
                        ArgType.array(DataTypes.dtype(inference.attrs().getInt("dtype")),
                                inference.attrs().getLongs("shape"))))
                .register(registry);
    }

    /** To write to a list of gradients is to add to an element. */
    private static List<OpDesc> ofWrite(OpDesc op, Predicate<String> wanted) {
        String list = op.output("Out").getFirst();
        String type = list.contains(GradientRule.SUFFIX) ? "array_peek" : "read_from_array";
        return List.of(OpDesc.of(type).in("X", GradientRule.gradient(list)).in("I", op.input("I"))
                .in("X_W", op.input("X")).out("Out", gradient(op.input("X").getFirst(), wanted)).build());
    }

    /** To read from a list of gradients is to take out an element. */
    private static List<OpDesc> ofRead(OpDesc op, Predicate<String> wanted) {
        String type = op.input("X_W").isEmpty() ? "write_to_array" : "array_put";
        return List.of(OpDesc.of(type).in("X", GradientRule.gradient(op.output("Out").getFirst()))
                .in("I", op.input("I")).out("Out", gradient(op.input("X").getFirst(), wanted)).build());
    }

    private static String gradient(String name, Predicate<String> wanted) {
        return wanted.test(name) ? GradientRule.gradient(name) : GradientRule.EMPTY;
    }

    /** The gradient of writing an element takes it out of the list; its result may be the list itself. */
    private static List<String> taken(OpDesc op) {
        return op.input("X_W").isEmpty()
                ? List.of()
                : Stream.concat(op.input("X").stream(), op.output("Out").stream()).toList();
    }

    private static void index(Inference inference) {
        long size = Inference.size(inference.dims("I"));
        inference.require(!inference.dtype("I").isFloating() && (size == 1 || size < 0),
                "the index must be one whole number, but is %s",
                inference.in("I"));
    }

    private static void list(Inference inference) {
        inference.require(inference.in("X").kind() == ArgType.Kind.ARRAY,
                "X must be a list of tensors (an array), but is %s",
                inference.in("X"));
    }

    private static long[] joined(Inference inference, String slot) {
        long[] dims = inference.dims(slot);
        int rank = dims.length + (inference.attrs().getBool("use_stack") ? 1 : 0);
        int axis = inference.attrs().getInt("axis");
        inference.require(axis >= -rank && axis < rank, "the axis must be from %d to %d, but is %d", -rank, rank - 1,
                axis);
        int at = axis < 0 ? axis + rank : axis;
        long[] joined = new long[rank];
        for (int i = 0; i < rank; i++) {
            joined[i] = i == at ? -1 : dims[rank > dims.length && i > at ? i - 1 : i];
        }
        return joined;
    }
}
