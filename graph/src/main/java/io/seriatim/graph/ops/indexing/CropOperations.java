package io.seriatim.graph.ops.indexing;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.computation.Copy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The first form of cropping: its shape is an attribute or that of another tensor. */
public final class CropOperations {
    private CropOperations() {
    }

    public static void register(Operations registry) {
        String signature = "crop_grad(Offsets, Out@GRAD, X) -> X@GRAD";
        Operation.Builder crop = Operation.define("crop").in("X", "Y?", "Offsets?").out("Out").sharesNoLod()
                .attr("offsets", new int[0]).attr("shape", new int[0]).values("Offsets").shapesOnly("Y")
                .infer(CropOperations::infer).lower(l -> l.out("Out", part(l, l.in("X"), l.outType("Out", 0).dims())));
        crop.gradOperation(signature, null).values("Offsets").shapesOnly("X").lower(l -> {
            Operand dx = l.fill(0, l.outType("X@GRAD", 0).spec());
            Operand dout = l.in("Out@GRAD");
            l.into(Copy.PLAIN, List.of(dout), List.of(part(l, dx, dout.shape().dims())));
            l.out("X@GRAD", dx);
        }).register(registry);
        crop.grad(signature).register(registry);
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("X");
        long[] shape = inference.has("Y") ? inference.dims("Y") : inference.attrs().getLongs("shape");
        inference.require(x.length > 0 && shape.length == x.length,
                "the shape, of Y or the attribute 'shape', must have %d dimensions, as X has, but is %s", x.length,
                Numbers.text(shape));
        long @Nullable [] offsets = inference.has("Offsets")
                ? inference.values("Offsets")
                : inference.attrs().getLongs("offsets");
        inference.require(offsets == null || offsets.length == x.length,
                "Offsets, or the attribute 'offsets', must be %d numbers, but are %s", x.length,
                Numbers.text(offsets));
        if (inference.isForRun() && shape[0] == -1) {
            shape[0] = x[0];
        }
        for (int i = 0; i < x.length; i++) {
            inference.require(shape[i] >= 0 || (!inference.isForRun() && shape[i] == -1),
                    "the shape must be from 0 on, but is %s", Numbers.text(shape));
            inference.require(
                    offsets == null || (offsets[i] >= 0 && (x[i] < 0 || shape[i] < 0 || shape[i] <= x[i] - offsets[i])),
                    "dimension %d of X has %d elements, which do not have %d from the offset %d on", i, x[i], shape[i],
                    offsets == null ? 0 : offsets[i]);
        }
        inference.set("Out", inference.dtype("X"), shape);
    }

    private static Operand part(Lowering l, Operand x, long[] shape) {
        long[] given = l.values("Offsets");
        long[] offsets = given == null ? l.attrs().getLongs("offsets") : given;
        Operand part = x;
        for (int i = 0; i < shape.length; i++) {
            part = part.slice(i, offsets[i], offsets[i] + shape[i]);
        }
        return part;
    }
}
