package io.seriatim.graph.ops.text;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary.Function;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Losses of sequences whose labels are not aligned with their steps, and decoding of such sequences. */
public final class CtcOperations {
    private static final String CTC = "warpctc";
    private static final String TRANSDUCER = "warprnnt";
    private static final String ALIGN = "ctc_align";

    private CtcOperations() {
    }

    public static void register(Operations registry) {
        ctc(registry);
        transducer(registry);
        align(registry);
    }

    private static void requireBlank(Inference inference, long classes) {
        long blank = inference.attrs().getLong("blank");
        inference.require(blank >= 0 && (classes < 0 || blank < classes),
                "blank must be one of the %d classes, but is %d",
                classes, blank);
    }

    private static void requireBatch(Inference inference, String slot, long batch, int rank) {
        long[] dims = inference.dims(slot);
        inference.require(dims.length >= rank && (batch < 0 || dims[0] < 0 || dims[0] == batch),
                "%s must have %d dimensions or more, the first of %d elements, but has %s", slot, rank, batch,
                Numbers.text(dims));
    }

    private static void ctc(Operations registry) {
        Operation.define(CTC).in("Logits", "Label", "LogitsLength?", "LabelLength?").out("Loss", "WarpCTCGrad~")
                .readsLod("Logits", "Label").sharesNoLod()
                .attr("blank", 0).attr("norm_by_times", false).infer(CtcOperations::inferCtc)
                .lower(CtcOperations::ctc)
                .grad(CTC + "_grad(Logits, LogitsLength, WarpCTCGrad, Loss@GRAD) -> Logits@GRAD",
                        inference -> inference.same("Logits", "Logits@GRAD"), CtcOperations::ctcGradient)
                .register(registry);
    }

    private static void inferCtc(Inference inference) {
        Checks.floating(inference, "Logits");
        Checks.whole(inference, "Label");
        long[] logits = inference.dims("Logits");
        boolean padded = inference.has("LogitsLength") && inference.has("LabelLength");
        inference.require(logits.length == (padded ? 3 : 2) && Arrays.stream(logits).noneMatch(dim -> dim == 0),
                "Logits must have the shape %s, without a 0, but has %s",
                padded ? "[steps, batch, classes]" : "[rows, classes], without LogitsLength and LabelLength,",
                Numbers.text(logits));
        requireBlank(inference, logits[logits.length - 1]);
        long batch;
        if (padded) {
            batch = logits[1];
            Checks.whole(inference, "LogitsLength", "LabelLength");
            Checks.elements(inference, "LogitsLength", batch);
            Checks.elements(inference, "LabelLength", batch);
            requireBatch(inference, "Label", batch, 2);
        } else {
            batch = inference.sequences("Logits");
            long labels = inference.sequences("Label");
            inference.require(batch < 0 || labels < 0 || batch == labels,
                    "Logits and Label must have as many sequences, but have %d and %d", batch, labels);
        }
        inference.set("Loss", inference.dtype("Logits"), inference.isForRun() ? batch : -1, 1);
        if (inference.isForRun()) {
            inference.set("WarpCTCGrad", inference.dtype("Logits"), logits);
        } else {
            inference.asDeclared("WarpCTCGrad");
        }
    }

    private static void ctc(Lowering l) {
        int blank = l.attrs().getInt("blank");
        Operand saved = l.outputOrTemporary("WarpCTCGrad", l.in("Logits").spec());
        Operand loss = l.output("Loss");
        boolean padded = l.has("LogitsLength") && l.has("LabelLength");
        l.call(CTC, (in, out) -> {
            Tensor logits = Checks.tensor(in, 0);
            int classes = Checks.dim(logits, -1);
            Sequences sequences = padded
                    ? new Sequences(first(Checks.dim(logits, 1)),
                            Sequences.lengths(CTC, "LogitsLength", Checks.tensor(in, 2), Checks.dim(logits, 0)))
                    : Sequences.divided(CTC, "Logits", in.get(4), logits.shape().dim(0));
            int stride = padded ? Checks.dim(logits, 1) * classes : classes;
            int[][] labels = labels(CTC, "Label", Checks.tensor(in, 1), "LabelLength", padded ? in.get(3) : null,
                    in.get(5), classes);
            double[] values = logits.toDoubleArray();
            double[] gradient = new double[values.length];
            double[] losses = new double[sequences.count()];
            for (int i = 0; i < losses.length; i++) {
                losses[i] = CtcAlignments.loss(values, sequences.begins()[i] * classes, stride, sequences.lengths()[i],
                        classes, labels[i], blank, gradient);
            }
            Elements.write(losses, Checks.tensor(out, 0));
            Elements.write(gradient, Checks.tensor(out, 1));
        }, Arrays.asList(l.in("Logits"), l.in("Label"), l.optional("LogitsLength"), l.optional("LabelLength"),
                l.lod("Logits"), l.lod("Label")), List.of(loss, saved));
    }

    /** Steps of several sequences are interleaved: the rows that each begins with. */
    private static int[] first(int count) {
        int[] first = new int[count];
        Arrays.setAll(first, i -> i);
        return first;
    }

    /** The labels of each sequence, without the padding; by offsets if no lengths are given. */
    private static int[][] labels(String type, String slot, Tensor padded, String lengthSlot, @Nullable Tensor given,
            @Nullable Tensor lod, int classes) {
        int width = Math.toIntExact(padded.shape().size() / Math.max(1, padded.shape().dim(0)));
        Sequences sequences = given == null
                ? Sequences.divided(type, slot, lod, padded.shape().dim(0))
                : Sequences.padded(type, lengthSlot, given, width);
        long[] all = padded.toLongArray();
        int[][] labels = new int[sequences.count()][];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = new int[sequences.lengths()[i]];
            for (int j = 0; j < labels[i].length; j++) {
                int at = sequences.begins()[i] + j;
                labels[i][j] = Checks.within(type, slot, at, all[at], 0, classes - 1);
            }
        }
        return labels;
    }

    /** The forward direction has computed the gradient of the loss; here it is scaled. */
    private static void ctcGradient(Lowering l) {
        Operand saved = l.in("WarpCTCGrad");
        Operand gradient = l.in("Loss@GRAD");
        boolean byTimes = l.attrs().getBool("norm_by_times");
        Operand factor;
        if (l.has("LogitsLength")) {
            long batch = saved.dim(1);
            factor = l.reshape(gradient, 1, batch, 1);
            if (byTimes) {
                Operand steps = l.cast(l.reshape(l.in("LogitsLength"), 1, batch, 1), saved.dtype());
                factor = l.binary(Function.DIVIDE, factor, steps);
            }
        } else {
            factor = l.temporary(TensorSpec.of(saved.dtype(), saved.dim(0), 1));
            l.call(CTC + " rows", (in, out) -> {
                Tensor rows = Checks.tensor(out, 0);
                Sequences sequences = Sequences.divided(CTC, "Logits", in.get(1), rows.shape().dim(0));
                double[] gradients = Checks.tensor(in, 0).toDoubleArray();
                double[] factors = new double[Checks.dim(rows, 0)];
                for (int i = 0; i < sequences.count(); i++) {
                    int begin = sequences.begins()[i];
                    int length = sequences.lengths()[i];
                    // As in Paddle, the reciprocal of the length is of single precision.
                    Arrays.fill(factors, begin, begin + length, byTimes ? gradients[i] * (1f / length) : gradients[i]);
                }
                Elements.write(factors, rows);
            }, List.of(gradient, l.lod("Logits")), List.of(factor));
        }
        l.out("Logits@GRAD", l.binary(Function.MULTIPLY, saved, factor));
    }

    /** As Paddle on a processor, it takes logarithms of probabilities, and does not normalise them. */
    private static void transducer(Operations registry) {
        Operation.define(TRANSDUCER).in("input", "label", "input_lengths", "label_lengths")
                .out("loss", "warprnntgrad~").attr("blank", 0).attr("fastemit_lambda", 0f).infer(inference -> {
                    Checks.floating(inference, "input");
                    long[] input = inference.dims("input");
                    inference.require(input.length == 4 && Arrays.stream(input).noneMatch(dim -> dim == 0),
                            "input must have the shape [batch, steps, labels + 1, classes], without a 0, but has %s",
                            Numbers.text(input));
                    requireBlank(inference, input[3]);
                    for (String slot : List.of("label", "input_lengths", "label_lengths")) {
                        Checks.whole(inference, slot);
                        requireBatch(inference, slot, input[0], slot.equals("label") ? 2 : 1);
                    }
                    Checks.elements(inference, "input_lengths", input[0]);
                    Checks.elements(inference, "label_lengths", input[0]);
                    inference.set("loss", inference.dtype("input"), inference.isForRun() ? input[0] : -1);
                    if (inference.isForRun()) {
                        inference.same("input", "warprnntgrad");
                    } else {
                        inference.asDeclared("warprnntgrad");
                    }
                }).lower(CtcOperations::transducer)
                .grad(TRANSDUCER + "_grad(input, input_lengths, warprnntgrad, loss@GRAD) -> input@GRAD", l -> {
                    Operand saved = l.in("warprnntgrad");
                    Operand factor = l.reshape(l.in("loss@GRAD"), saved.dim(0), 1, 1, 1);
                    l.out("input@GRAD", l.binary(Function.MULTIPLY, saved, factor));
                }).register(registry);
    }

    private static void transducer(Lowering l) {
        int blank = l.attrs().getInt("blank");
        double emission = 1 + l.attrs().getDouble("fastemit_lambda");
        Operand input = l.in("input");
        Operand saved = l.outputOrTemporary("warprnntgrad", input.spec());
        l.call(TRANSDUCER, (in, out) -> {
            Tensor logs = Checks.tensor(in, 0);
            int batch = Checks.dim(logs, 0);
            int steps = Checks.dim(logs, 1);
            int width = Checks.dim(logs, 2);
            int classes = Checks.dim(logs, 3);
            int[] lengths = Checks.within(TRANSDUCER, "input_lengths", Checks.tensor(in, 2), 1, steps);
            int[][] labels =
                    labels(TRANSDUCER, "label", Checks.tensor(in, 1), "label_lengths", Checks.tensor(in, 3), null,
                            classes);
            double[] values = logs.toDoubleArray();
            double[] gradient = new double[values.length];
            double[] losses = new double[batch];
            for (int i = 0; i < batch; i++) {
                Checks.within(TRANSDUCER, "label_lengths", i, labels[i].length, 0, width - 1);
                losses[i] = new TransducerAlignments(values, i * steps * width * classes, width, classes, lengths[i],
                        labels[i], blank).loss(emission, gradient);
            }
            Elements.write(losses, Checks.tensor(out, 0));
            Elements.write(gradient, Checks.tensor(out, 1));
        }, List.of(input, l.in("label"), l.in("input_lengths"), l.in("label_lengths")),
                List.of(l.output("loss"), saved));
    }

    /** Leaves out blanks, and of equal neighbours all but the first. */
    private static void align(Operations registry) {
        Operation.define(ALIGN).in("Input", "InputLength?").out("Output", "OutputLength?").attr("blank", 0)
                .attr("merge_repeated", true).attr("padding_value", 0).readsLod("Input").makesLod("Output")
                .values("Input", LodSlot.of("Input")).infer(CtcOperations::inferAlign).lower(CtcOperations::align)
                .register(registry);
    }

    private static void inferAlign(Inference inference) {
        Checks.whole(inference, "Input");
        long[] input = inference.dims("Input");
        inference.require(input.length == 2, "Input must have the shape [batch, steps], or [rows, 1], but has %s",
                Numbers.text(input));
        if (inference.has("InputLength")) {
            Checks.whole(inference, "InputLength");
            Checks.elements(inference, "InputLength", input[0]);
            inference.same("Input", "Output");
            inference.set("OutputLength", inference.dtype("Input"), input[0], 1);
            inference.setLod("Output", Lod.NONE);
            return;
        }
        inference.require(input[1] < 0 || input[1] == 1, "Input must have the shape [rows, 1], without InputLength, "
                + "but has %s", Numbers.text(input));
        long[] tokens = inference.values("Input");
        inference.sequences("Input");
        Lod lod = inference.lod("Input");
        if (inference.isForRun() && tokens != null && lod != null) {
            long[] offsets = aligned(inference.attrs(), tokens, lod, new long[tokens.length]);
            inference.set("Output", inference.dtype("Input"), Math.max(1, offsets[offsets.length - 1]), 1);
            inference.setLod("Output", Lod.of(offsets));
        } else {
            inference.same("Input", "Output");
            inference.setLod("Output", -1);
        }
        inference.asDeclared("OutputLength");
    }

    private static void align(Lowering l) {
        if (l.has("InputLength")) {
            alignPadded(l);
            return;
        }
        long[] tokens = Objects.requireNonNull(l.values("Input"));
        long[] aligned = new long[tokens.length];
        long[] offsets = aligned(l.attrs(), tokens, l.lodValue("Input"), aligned);
        int count = (int) offsets[offsets.length - 1];
        // As in Paddle, −1 stands for no tokens at all.
        long[] result = count == 0 ? new long[]{-1} : Arrays.copyOf(aligned, count);
        l.out("Output", l.constant(Tensor.of(l.in("Input").dtype(), result, result.length, 1)));
        l.outLod("Output", Lod.of(offsets));
    }

    /** Writes the tokens that remain of all sequences, and returns their offsets. */
    private static long[] aligned(Attrs attrs, long[] tokens, Lod lod, long[] to) {
        long[] given = SequenceOffsets.of(ALIGN, "Input", lod, tokens.length).last();
        long[] offsets = new long[given.length];
        for (int i = 0; i + 1 < given.length; i++) {
            int begin = (int) given[i];
            offsets[i + 1] = offsets[i] + align(tokens, begin, (int) given[i + 1] - begin, attrs.getLong("blank"),
                    attrs.getBool("merge_repeated"), to, (int) offsets[i]);
        }
        return offsets;
    }

    private static void alignPadded(Lowering l) {
        long blank = l.attrs().getLong("blank");
        long padding = l.attrs().getLong("padding_value");
        boolean merges = l.attrs().getBool("merge_repeated");
        Operand lengths = l.wants("OutputLength") ? l.output("OutputLength") : null;
        l.call(ALIGN, (in, out) -> {
            Tensor input = Checks.tensor(in, 0);
            Sequences sequences = Sequences.padded(ALIGN, "InputLength", Checks.tensor(in, 1), Checks.dim(input, 1));
            long[] tokens = input.toLongArray();
            long[] aligned = new long[tokens.length];
            Arrays.fill(aligned, padding);
            long[] counts = new long[sequences.count()];
            for (int i = 0; i < counts.length; i++) {
                int begin = sequences.begins()[i];
                counts[i] = align(tokens, begin, sequences.lengths()[i], blank, merges, aligned, begin);
            }
            Elements.write(aligned, Checks.tensor(out, 0));
            Tensor given = out.get(1);
            if (given != null) {
                Elements.write(counts, given);
            }
        }, List.of(l.in("Input"), l.in("InputLength")), Arrays.asList(l.output("Output"), lengths));
        l.outLod("Output", Lod.NONE);
    }

    /** Returns how many tokens remain. */
    private static int align(long[] tokens, int begin, int length, long blank, boolean merges, long[] to, int at) {
        int count = 0;
        long before = -1;
        for (int i = begin; i < begin + length; i++) {
            if (tokens[i] != blank && !(merges && tokens[i] == before)) {
                to[at + count++] = tokens[i];
            }
            before = tokens[i];
        }
        return count;
    }
}
