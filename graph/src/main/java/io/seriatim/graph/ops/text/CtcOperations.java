package io.seriatim.graph.ops.text;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary.Function;
import java.util.Arrays;
import java.util.List;

/** Losses of sequences whose labels are not aligned with their steps, and decoding of such sequences. */
public final class CtcOperations {
    private static final String CTC = "warpctc";
    private static final String TRANSDUCER = "warprnnt";

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
                Arrays.toString(dims));
    }

    private static void ctc(Operations registry) {
        Operation.define(CTC).in("Logits", "Label", "LogitsLength?", "LabelLength?").out("Loss", "WarpCTCGrad~")
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
        inference.require(inference.has("LogitsLength") && inference.has("LabelLength"),
                "needs LogitsLength and LabelLength");
        inference.require(logits.length == 3 && logits[0] != 0 && logits[1] != 0 && logits[2] != 0,
                "Logits must have the shape [steps, batch, classes], without a 0, but has %s", Arrays.toString(logits));
        requireBlank(inference, logits[2]);
        Checks.whole(inference, "LogitsLength");
        Checks.whole(inference, "LabelLength");
        Checks.elements(inference, "LogitsLength", logits[1]);
        Checks.elements(inference, "LabelLength", logits[1]);
        requireBatch(inference, "Label", logits[1], 2);
        inference.set("Loss", inference.dtype("Logits"), inference.isForRun() ? logits[1] : -1, 1);
        if (inference.isForRun()) {
            inference.set("WarpCTCGrad", inference.dtype("Logits"), logits);
        } else {
            inference.asDeclared("WarpCTCGrad");
        }
    }

    private static void ctc(Lowering l) {
        int blank = l.attrs().getInt("blank");
        Operand saved = l.wants("WarpCTCGrad") ? l.output("WarpCTCGrad") : l.temporary(l.in("Logits").spec());
        Operand loss = l.output("Loss");
        l.call(CTC, (in, out) -> {
            Tensor logits = Checks.tensor(in, 0);
            int steps = Checks.dim(logits, 0);
            int batch = Checks.dim(logits, 1);
            int classes = Checks.dim(logits, 2);
            int[] lengths = Sequences.lengths(CTC, "LogitsLength", Checks.tensor(in, 2), steps);
            int[][] labels = labels(CTC, "Label", Checks.tensor(in, 1), "LabelLength", Checks.tensor(in, 3), classes);
            double[] values = logits.toDoubleArray();
            double[] gradient = new double[values.length];
            double[] losses = new double[batch];
            for (int i = 0; i < batch; i++) {
                losses[i] = CtcAlignments.loss(values, i * classes, batch * classes, lengths[i], classes, labels[i],
                        blank, gradient);
            }
            Elements.write(losses, Checks.tensor(out, 0));
            Elements.write(gradient, Checks.tensor(out, 1));
        }, List.of(l.in("Logits"), l.in("Label"), l.in("LogitsLength"), l.in("LabelLength")), List.of(loss, saved));
    }

    /** The labels of each sequence, without the padding. */
    private static int[][] labels(String type, String slot, Tensor padded, String lengthSlot, Tensor given,
            int classes) {
        int width = Math.toIntExact(padded.shape().size() / Math.max(1, padded.shape().dim(0)));
        Sequences sequences = Sequences.padded(type, lengthSlot, given, width);
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
        long batch = saved.dim(1);
        Operand factor = l.reshape(l.in("Loss@GRAD"), 1, batch, 1);
        if (l.attrs().getBool("norm_by_times")) {
            Operand steps = l.cast(l.reshape(l.in("LogitsLength"), 1, batch, 1), saved.dtype());
            factor = l.binary(Function.DIVIDE, factor, steps);
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
                            Arrays.toString(input));
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
        Operand saved = l.wants("warprnntgrad") ? l.output("warprnntgrad") : l.temporary(input.spec());
        l.call(TRANSDUCER, (in, out) -> {
            Tensor logs = Checks.tensor(in, 0);
            int batch = Checks.dim(logs, 0);
            int steps = Checks.dim(logs, 1);
            int width = Checks.dim(logs, 2);
            int classes = Checks.dim(logs, 3);
            int[] lengths = Checks.within(TRANSDUCER, "input_lengths", Checks.tensor(in, 2), 1, steps);
            int[][] labels =
                    labels(TRANSDUCER, "label", Checks.tensor(in, 1), "label_lengths", Checks.tensor(in, 3), classes);
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
        Operation.define("ctc_align").in("Input", "InputLength?").out("Output", "OutputLength?").attr("blank", 0)
                .attr("merge_repeated", true).attr("padding_value", 0).infer(inference -> {
                    Checks.whole(inference, "Input");
                    inference.require(inference.has("InputLength"), "needs InputLength");
                    Checks.whole(inference, "InputLength");
                    long[] input = inference.dims("Input");
                    inference.require(input.length == 2, "Input must have the shape [batch, steps], but has %s",
                            Arrays.toString(input));
                    Checks.elements(inference, "InputLength", input[0]);
                    inference.same("Input", "Output");
                    inference.set("OutputLength", inference.dtype("Input"), input[0], 1);
                }).lower(l -> {
                    long blank = l.attrs().getLong("blank");
                    long padding = l.attrs().getLong("padding_value");
                    boolean merges = l.attrs().getBool("merge_repeated");
                    Operand lengths = l.wants("OutputLength") ? l.output("OutputLength") : null;
                    l.call("ctc_align", (in, out) -> {
                        Tensor input = Checks.tensor(in, 0);
                        int steps = Checks.dim(input, 1);
                        Sequences sequences = Sequences.padded("ctc_align", "InputLength", Checks.tensor(in, 1), steps);
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
                }).register(registry);
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
