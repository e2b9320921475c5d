package io.seriatim.graph.ops.shape;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ImageLayout;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.PadGrad;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Elements added above, below, left and right of images; paddings below 0 take elements away. */
public final class ImagePadOperations {
    private static final Map<String, Pad.Mode> MODES = Map.of("constant", Pad.Mode.CONSTANT, "reflect",
            Pad.Mode.REFLECT, "edge", Pad.Mode.REPLICATE);

    private ImagePadOperations() {
    }

    public static void register(Operations registry) {
        String signature = "pad2d_grad(Out@GRAD, Paddings, X) -> X@GRAD";
        Operation.Builder pad = Operation.define("pad2d").in("X", "Paddings?").out("Out")
                .required("paddings", Attribute.Ints.class).attr("pad_value", 0f).attr("mode", "constant")
                .attr("data_format", "NCHW").values("Paddings").infer(ImagePadOperations::infer)
                .lower(ImagePadOperations::pad);
        pad.gradOperation(signature, null).values("Paddings").shapesOnly("X").lower(ImagePadOperations::gradient)
                .register(registry);
        pad.grad(signature).register(registry);
    }

    private static void infer(Inference inference) {
        long[] dims = inference.dims("X");
        String format = inference.attrs().getText("data_format");
        String mode = inference.attrs().getText("mode");
        inference.require(dims.length == 4, "X must have four dimensions, but has %d", dims.length);
        inference.require(format.equals("NCHW") || format.equals("NHWC"),
                "the attribute 'data_format' must be NCHW or NHWC, but is '%s'", format);
        inference.require(MODES.containsKey(mode),
                "the attribute 'mode' must be constant, reflect or edge, but is '%s'", mode);
        int first = ImageLayout.of(inference.attrs(), "data_format").spatial();
        long @Nullable [] paddings = inference.has("Paddings")
                ? inference.values("Paddings")
                : inference.attrs().getLongs("paddings");
        inference.require(paddings == null || paddings.length == 4, "paddings must be four numbers, but are %s",
                Numbers.text(paddings));
        for (int i = 0; i < 2; i++) {
            long length = dims[first + i];
            dims[first + i] = paddings == null || length < 0
                    ? -1
                    : padded(inference, length, paddings[2 * i], paddings[2 * i + 1], mode);
        }
        inference.set("Out", inference.dtype("X"), dims);
    }

    private static long padded(Inference inference, long length, long before, long after, String mode) {
        long most = switch (mode) {
            case "reflect" -> length - 1;
            case "edge" -> length == 0 ? 0 : Integer.MAX_VALUE;
            default -> Integer.MAX_VALUE;
        };
        inference.require(before <= most && after <= most,
                "paddings of a dimension of length %d in mode %s must be at most %d, but are %d and %d", length, mode,
                most, before, after);
        inference.require(length + before + after >= 0, "paddings %d and %d take away more than the length %d", before,
                after, length);
        return length + before + after;
    }

    /** The numbers of elements above, below, left and right. */
    private static long[] paddings(Lowering l) {
        long[] given = l.values("Paddings");
        return given == null ? l.attrs().getLongs("paddings") : given;
    }

    private static Pad computation(Lowering l, double value) {
        long[] paddings = paddings(l);
        int first = ImageLayout.of(l.attrs(), "data_format").spatial();
        Long[] before = {0L, 0L, 0L, 0L};
        Long[] after = {0L, 0L, 0L, 0L};
        for (int i = 0; i < 2; i++) {
            before[first + i] = Math.max(0, paddings[2 * i]);
            after[first + i] = Math.max(0, paddings[2 * i + 1]);
        }
        Pad.Mode mode = MODES.getOrDefault(l.attrs().getText("mode"), Pad.Mode.CONSTANT);
        return new Pad(List.of(before), List.of(after), mode, value);
    }

    /** The part of padded images that negative paddings leave. */
    private static Operand cropped(Lowering l, Operand padded) {
        long[] paddings = paddings(l);
        int first = ImageLayout.of(l.attrs(), "data_format").spatial();
        Operand view = padded;
        for (int i = 0; i < 2; i++) {
            view = view.slice(first + i, Math.max(0, -paddings[2 * i]),
                    padded.dim(first + i) - Math.max(0, -paddings[2 * i + 1]));
        }
        return view;
    }

    private static void pad(Lowering l) {
        if (l.wants("Out")) {
            l.out("Out", cropped(l, l.run(computation(l, l.attrs().getDouble("pad_value")), l.in("X"))));
        }
    }

    private static void gradient(Lowering l) {
        if (!l.wants("X@GRAD")) {
            return;
        }
        Pad pad = computation(l, 0);
        Operand dout = l.in("Out@GRAD");
        if (Arrays.stream(paddings(l)).anyMatch(padding -> padding < 0)) {
            Operand whole = l.fill(0, pad.infer(l.output("X@GRAD").spec())[0]);
            l.into(Copy.PLAIN, List.of(dout), List.of(cropped(l, whole)));
            dout = whole;
        }
        l.out("X@GRAD", l.run(new PadGrad(pad), dout));
    }
}
