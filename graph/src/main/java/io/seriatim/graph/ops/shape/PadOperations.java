package io.seriatim.graph.ops.shape;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.PadGrad;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Elements added around an image or volume; paddings below 0 take elements away. */
public final class PadOperations {
    private static final Set<String> MODES = Set.of("constant", "reflect", "replicate", "circular");

    private PadOperations() {
    }

    public static void register(Operations registry) {
        String signature = "pad3d_grad(Out@GRAD, Paddings, X) -> X@GRAD";
        Operation.Builder pad = Operation.define("pad3d").in("X", "Paddings?").out("Out")
                .required("paddings", Attribute.Ints.class)
                .attr("mode", "constant").attr("value", 0f).attr("data_format", "NCDHW").values("Paddings")
                .infer(inference -> padded(inference, "X", "Out"))
                .lower(l -> pad(l, "X", "Out", l.attrs().getDouble("value")))
                .grad(signature);
        Operation.Builder gradient = pad.gradOperation(signature, null).values("Paddings").shapesOnly("X")
                .lower(PadOperations::gradient)
                .grad("pad3d_double_grad(Paddings, grad_x@GRAD=X@GRAD@GRAD) -> grad_out@GRAD=Out@GRAD@GRAD");
        gradient.register(registry);
        pad.register(registry);
        Operation.define("pad3d_double_grad").in("Paddings?", "grad_x@GRAD").out("grad_out@GRAD")
                .required("paddings", Attribute.Ints.class).attr("mode", "constant").attr("value", 0f)
                .attr("data_format", "NCDHW")
                .values("Paddings").infer(inference -> padded(inference, "grad_x@GRAD", "grad_out@GRAD"))
                .lower(l -> pad(l, "grad_x@GRAD", "grad_out@GRAD", 0)).register(registry);
        padLists(registry);
    }

    private static void padded(Inference inference, String in, String out) {
        long[] dims = inference.dims(in);
        String format = inference.attrs().getText("data_format");
        String mode = inference.attrs().getText("mode");
        inference.require(dims.length == 5, "%s must have five dimensions, but has %d", in, dims.length);
        inference.require(format.equals("NCDHW") || format.equals("NDHWC"),
                "data_format must be NCDHW or NDHWC, but is %s", format);
        inference.require(MODES.contains(mode), "mode must be constant, reflect, replicate or circular, but is %s",
                mode);
        int first = format.equals("NCDHW") ? 2 : 1;
        long @Nullable [] paddings = inference.has("Paddings")
                ? inference.values("Paddings")
                : inference.attrs().getLongs("paddings");
        inference.require(paddings == null || paddings.length == 6, "paddings must be six numbers, but are %s",
                paddings == null ? "unknown" : Numbers.text(paddings));
        for (int i = 0; i < 3; i++) {
            if (paddings == null || dims[first + i] < 0) {
                dims[first + i] = -1;
            } else {
                dims[first + i] = padded(inference, dims[first + i], paddings[4 - 2 * i], paddings[5 - 2 * i], mode);
            }
        }
        inference.set(out, inference.dtype(in), dims);
    }

    private static long padded(Inference inference, long length, long before, long after, String mode) {
        long most = switch (mode) {
            case "reflect" -> length - 1;
            case "circular" -> length;
            case "replicate" -> length == 0 ? 0 : Integer.MAX_VALUE;
            default -> Integer.MAX_VALUE;
        };
        inference.require(before <= most && after <= most,
                "paddings of a dimension of length %d in mode %s must be at most %d, but are %d and %d",
                length, mode, most, before, after);
        inference.require(length + before + after >= 0, "paddings %d and %d take away more than the length %d", before,
                after, length);
        return length + before + after;
    }

    /** The numbers of elements before and after each dimension. */
    @SuppressWarnings("ArrayRecordComponent") // Of this class alone, and never compared.
    private record Margins(Long[] before, Long[] after) {
        static Margins of(Lowering l) {
            long[] given = l.values("Paddings");
            long[] paddings = given == null ? l.attrs().getLongs("paddings") : given;
            Margins margins = new Margins(new Long[5], new Long[5]);
            Arrays.fill(margins.before, 0L);
            Arrays.fill(margins.after, 0L);
            int first = l.attrs().getText("data_format").equals("NCDHW") ? 2 : 1;
            for (int i = 0; i < 3; i++) {
                margins.before[first + i] = paddings[4 - 2 * i];
                margins.after[first + i] = paddings[5 - 2 * i];
            }
            return margins;
        }

        boolean takesAway() {
            return Arrays.stream(before).anyMatch(margin -> margin < 0)
                    || Arrays.stream(after).anyMatch(margin -> margin < 0);
        }

        /** The part of the padded tensor that negative paddings leave. */
        Operand cropped(Operand padded) {
            Operand view = padded;
            for (int i = 0; i < before.length; i++) {
                view = view.slice(i, Math.max(0, -before[i]), padded.dim(i) - Math.max(0, -after[i]));
            }
            return view;
        }

        Pad pad(String mode, double value) {
            return new Pad(positive(before), positive(after), Pad.Mode.valueOf(mode.toUpperCase(Locale.ROOT)), value);
        }

        private static List<Long> positive(Long[] margins) {
            return Arrays.stream(margins).map(margin -> Math.max(0, margin)).toList();
        }
    }

    private static void pad(Lowering l, String in, String out, double value) {
        if (l.wants(out)) {
            Margins margins = Margins.of(l);
            l.out(out, margins.cropped(l.run(margins.pad(l.attrs().getText("mode"), value), l.in(in))));
        }
    }

    private static void gradient(Lowering l) {
        if (!l.wants("X@GRAD")) {
            return;
        }
        Margins margins = Margins.of(l);
        Pad pad = margins.pad(l.attrs().getText("mode"), 0);
        Operand dy = l.in("Out@GRAD");
        if (margins.takesAway()) {
            Operand whole = l.fill(0, pad.infer(l.output("X@GRAD").spec())[0]);
            l.into(Copy.PLAIN, List.of(dy), List.of(margins.cropped(whole)));
            dy = whole;
        }
        l.out("X@GRAD", l.run(new PadGrad(pad), dy));
    }

    private static void padLists(Operations registry) {
        Operation.define("pad").in("X").out("Out").attr("paddings", new int[0]).attr("pad_value", 0f)
                .infer(inference -> {
                    long[] dims = inference.dims("X");
                    int[] around = inference.attrs().getInts("paddings");
                    inference.require(
                            around.length == 2 * dims.length && Arrays.stream(around).allMatch(each -> each >= 0),
                            "paddings must be two numbers from 0 on for each of %d dimensions, but are %s", dims.length,
                            Numbers.text(around));
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
}
