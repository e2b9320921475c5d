package io.seriatim.graph.ops.shape;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import java.util.Arrays;
import java.util.List;

/** Copies of tensors, of their shapes, and of several into one. */
public final class CopyOperations {
    private static final int NHWC = 1;
    private static final int NCHW = 2;
    private static final long ALIGNMENT = 4096;

    private CopyOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("assign").in("X?").out("Out").shapeArithmetic().copies().infer(CopyOperations::assigned)
                .lower(CopyOperations::copy)
                .grad("assign(X=Out@GRAD) -> Out=X@GRAD").register(registry);
        Operation.define("share_data").in("X").out("Out").infer(CopyOperations::assigned)
                .lower(CopyOperations::shareData)
                .aliases("Out").register(registry);
        for (String type : List.of("memcpy", "memcpy_d2h", "memcpy_h2d")) {
            Operation.define(type).in("X").out("Out").required("dst_place_type", Attribute.Int.class)
                    .infer(CopyOperations::assigned)
                    .lower(CopyOperations::copy).register(registry);
        }
        Operation.define("transfer_dtype").in("X").out("Out").required("out_dtype", Attribute.Int.class)
                .required("in_dtype", Attribute.Int.class).attr("use_mkldnn", false)
                .infer(inference -> inference.set("Out", 0,
                        inference.in("X").with(inference.attrs().getDType("out_dtype"))))
                .lower(CopyOperations::copy).grad("cast(X=Out@GRAD) -> Out=X@GRAD").register(registry);
        Operation.define("transfer_layout").in("X").out("Out").attr("src_layout", -1)
                .required("dst_layout", Attribute.Int.class)
                .infer(CopyOperations::transferred)
                .lower(l -> l.out("Out",
                        order(l.attrs()).length == l.in("X").rank()
                                ? l.in("X").transpose(order(l.attrs()))
                                : l.in("X")))
                .register(registry);
        Operation.define("share_buffer").in("X*").out("Out*", "XOut*").attr("share_dims_and_dtype", new boolean[0])
                .infer(inference -> {
                    inference.sameEach("X", "Out");
                    inference.sameEach("X", "XOut");
                }).lower(CopyOperations::shareBuffer).aliases("Out").register(registry);
        Operation.define("shape").in("Input").out("Out").ofShape("Input", dims -> dims)
                .infer(inference -> inference.set("Out", DType.INT32, inference.dims("Input").length))
                .lower(l -> l.out("Out",
                        l.constant(Tensor.of(DType.INT32, l.in("Input").shape().dims(), l.in("Input").rank()))))
                .register(registry);
        Operation.define("size").in("Input").out("Out").ofShape("Input", dims -> new long[]{Inference.size(dims)})
                .infer(inference -> inference.set("Out", DType.INT64))
                .lower(l -> l.out("Out",
                        l.constant(Tensor.of(DType.INT64, new long[]{l.in("Input").shape().size()}).reshape())))
                .register(registry);
        Operation.define("coalesce_tensor").in("Input*").out("Output*", "FusedOutput")
                .required("dtype", Attribute.Int.class)
                .attr("copy_data", false).attr("set_constant", false).attr("persist_output", false).attr("constant", 0f)
                .attr("use_align", true).attr("align_size", -1).attr("user_defined_size_of_dtype", -1)
                .attr("concated_shapes", new long[0])
                .attr("concated_ranks", new long[0]).infer(CopyOperations::coalesced).lower(CopyOperations::coalesce)
                .aliases("Output", "FusedOutput").register(registry);
    }

    private static void assigned(Inference inference) {
        if (inference.has("X")) {
            inference.same("X", "Out");
        }
    }

    private static void copy(Lowering l) {
        if (!l.has("X")) {
            return;
        }
        if (l.type("X", 0).kind() == ArgType.Kind.ARRAY) {
            throw new IllegalArgumentException(
                    "Operation '" + l.type() + "' copies tensors and selected rows, but X is a list of tensors");
        }
        l.out("Out", l.in("X"));
        if (l.isRows("X") && l.wants("Out")) {
            l.into(Copy.PLAIN, List.of(l.rowIndexes("X", 0)), List.of(l.outputRowIndexes("Out")));
        }
    }

    private static void transferred(Inference inference) {
        long[] x = inference.dims("X");
        int[] order = order(inference.attrs());
        inference.set("Out", inference.dtype("X"),
                order.length == x.length ? Arrays.stream(order).mapToLong(i -> x[i]).toArray() : x);
    }

    /** The dimensions of an image with channels first and last, one from the other; none if there is nothing to do. */
    private static int[] order(Attrs attrs) {
        int from = attrs.getInt("src_layout");
        return switch (attrs.getInt("dst_layout")) {
            case NHWC -> from == NHWC ? new int[0] : new int[]{0, 2, 3, 1};
            case NCHW -> from == NHWC ? new int[]{0, 3, 1, 2} : new int[0];
            default -> new int[0];
        };
    }

    /** Rows are never changed in place, so that a copy of them is as good as a second name. */
    private static void shareData(Lowering l) {
        if (l.type("X", 0).kind() == ArgType.Kind.DENSE) {
            l.alias("Out", 0, l.in("X"));
        } else {
            copy(l);
        }
    }

    /** Out is another name of X; that XOut is X again only orders operations. */
    private static void shareBuffer(Lowering l) {
        for (int i = 0; i < l.count("X"); i++) {
            l.alias("Out", i, l.in("X", i));
            if (l.wants("XOut", i)) {
                l.mutable("X", "XOut", i);
            }
        }
    }

    private static void coalesced(Inference inference) {
        DType dtype = inference.attrs().getDType("dtype");
        long total = 0;
        inference.require(inference.count("Input") == inference.outputs("Output"),
                "there must be an output for each of the %d inputs, but there are %d",
                inference.count("Input"), inference.outputs("Output"));
        for (int i = 0; i < inference.count("Input"); i++) {
            ArgType part = inference.in("Input", i);
            inference.require(part.dtype() == dtype, "all inputs must be %s, but input %d is %s", dtype, i,
                    part.dtype());
            total = Dims.plus(total, aligned(inference.attrs(), Inference.size(part.dims()), dtype));
            inference.set("Output", i, part);
        }
        inference.set("FusedOutput", dtype, total);
    }

    /**
     * How many elements a part takes, with those that fill up the last block; Paddle's blocks on a processor are of
     * 4096 bytes.
     */
    private static long aligned(Attrs attrs, long elements, DType dtype) {
        long given = attrs.getLong("align_size");
        long bytes = attrs.getLong("user_defined_size_of_dtype") > 0
                ? attrs.getLong("user_defined_size_of_dtype")
                : dtype.bytes();
        long block = given > 0 ? given : ALIGNMENT;
        if (elements < 0 || !attrs.getBool("use_align")) {
            return elements;
        }
        return Math.multiplyExact(Math.ceilDiv(Math.multiplyExact(elements, bytes), block), block) / bytes;
    }

    /** The outputs are names of parts of FusedOutput's memory. */
    private static void coalesce(Lowering l) {
        Operand whole = l.output("FusedOutput").reshape(l.output("FusedOutput").shape().size());
        boolean constant = l.attrs().getBool("set_constant");
        boolean copied = l.attrs().getBool("copy_data");
        double value = constant ? l.attrs().getDouble("constant") : 0;
        l.into(new Fill(value), List.of(), List.of(whole));
        long from = 0;
        for (int i = 0; i < l.count("Input"); i++) {
            Operand part = l.in("Input", i);
            long size = part.shape().size();
            if (copied) { // Of both flags, this one counts.
                l.into(Copy.PLAIN, List.of(part.reshape(size)), List.of(whole.slice(0, from, from + size)));
            }
            l.alias("Output", i, whole.slice(0, from, from + size).reshape(part.shape().dims()));
            from += aligned(l.attrs(), size, part.dtype());
        }
    }
}
