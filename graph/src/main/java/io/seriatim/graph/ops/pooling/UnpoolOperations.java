package io.seriatim.graph.ops.pooling;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Indexes;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.TakeAlongAxis;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Maxima of windows put back where they were; the other elements are zeros. */
public final class UnpoolOperations {
    private UnpoolOperations() {
    }

    public static void register(Operations registry) {
        define(registry, "unpool", 2);
        define(registry, "unpool3d", 3);
    }

    private static void define(Operations registry, String type, int spatial) {
        int[] ones = new int[spatial];
        Arrays.fill(ones, 1);
        Operation.Builder forward = Operation.define(type).in("X", "Indices").out("Out").sharesNoLod()
                .required("ksize", Attribute.Ints.class);
        if (spatial == 2) {
            forward.required("unpooling_type", Attribute.Text.class).refuse((_, attrs) -> refusal(attrs));
        }
        forward.attr("strides", ones).attr("paddings", new int[spatial]).attr("output_size", new int[spatial])
                .attr("data_format", spatial == 2 ? "NCHW" : "NCDHW").infer(inference -> infer(inference, spatial))
                .lower(l -> {
                    Operand indexes = planes(l, l.in("Indices"));
                    Operand zeros = planes(l, l.fill(0, l.outType("Out", 0).spec()));
                    l.out("Out", l.run(new PutAlongAxis(2, false), zeros, indexes, planes(l, l.in("X")))
                            .reshape(l.outType("Out", 0).dims()));
                }).grad(type + "_grad(Indices, Out, Out@GRAD, X) -> X@GRAD", l -> {
                    Operand indexes = planes(l, l.in("Indices"));
                    l.out("X@GRAD", l.run(new TakeAlongAxis(2), planes(l, l.in("Out@GRAD")), indexes)
                            .reshape(l.outType("X@GRAD", 0).dims()));
                }).register(registry);
    }

    private static @Nullable String refusal(Attrs attrs) {
        String type = attrs.getText("unpooling_type");
        return type.equals("max") ? null : "the attribute 'unpooling_type' must be max, but is '" + type + "'";
    }

    private static void infer(Inference inference, int spatial) {
        long[] x = inference.dims("X");
        long[] indexes = inference.dims("Indices");
        int[] size = inference.attrs().getInts("output_size");
        Indexes.require(inference, "Indices");
        boolean alike = x.length == spatial + 2 && indexes.length == x.length;
        for (int i = 0; alike && i < x.length; i++) {
            alike = x[i] < 0 || indexes[i] < 0 || x[i] == indexes[i];
        }
        inference.require(alike, "X and Indices must have one shape of %d dimensions, but are %s and %s", spatial + 2,
                Numbers.text(x), Numbers.text(indexes));
        inference.require(size.length == spatial && Arrays.stream(size).allMatch(length -> length > 0),
                "the attribute 'output_size' must be %d numbers from 1 on, but is %s", spatial,
                Numbers.text(size));
        long[] out = x.clone();
        for (int i = 0; i < spatial; i++) {
            out[2 + i] = x[2 + i] < 0 ? -1 : size[i];
        }
        inference.set("Out", inference.dtype("X"), out);
    }

    private static Operand planes(Lowering l, Operand images) {
        return l.reshape(images, images.dim(0), images.dim(1), images.shape().slice(2, images.rank()).size());
    }
}
