package io.seriatim.graph.ops.text;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Operations that compare sequences of labels with the right ones. */
public final class SequenceScoreOperations {
    private static final String DISTANCE = "edit_distance";
    private static final String CHUNKS = "chunk_eval";

    private SequenceScoreOperations() {
    }

    public static void register(Operations registry) {
        distance(registry);
        chunks(registry);
    }

    /** How many sequences there are, which are padded if lengths are given. */
    private static long batch(Inference inference, String slot, String lengths) {
        Checks.whole(inference, slot);
        long[] dims = inference.dims(slot);
        boolean padded = inference.has(lengths);
        inference.require(padded
                ? dims.length == 2 || (dims.length == 3 && (dims[2] < 0 || dims[2] == 1))
                : dims.length == 1 || (dims.length == 2 && (dims[1] < 0 || dims[1] == 1)),
                "%s must have the shape %s, but has %s", slot,
                padded ? "[batch, steps] or [batch, steps, 1]" : "[rows, 1], without " + lengths + ",",
                Numbers.text(dims));
        if (padded) {
            Checks.whole(inference, lengths);
            Checks.elements(inference, lengths, dims[0]);
        }
        return padded ? dims[0] : inference.sequences(slot);
    }

    /** How many labels must be inserted, deleted or replaced (Levenshtein, 1966). */
    private static void distance(Operations registry) {
        Operation.define(DISTANCE).in("Hyps", "Refs", "HypsLength?", "RefsLength?").out("SequenceNum", "Out")
                .readsLod("Hyps", "Refs").sharesNoLod()
                .attr("normalized", false).infer(inference -> {
                    long batch = batch(inference, "Hyps", "HypsLength");
                    long others = batch(inference, "Refs", "RefsLength");
                    inference.require(batch < 0 || others < 0 || batch == others,
                            "Hyps and Refs must have as many sequences, but have %d and %d", batch, others);
                    if (inference.isForRun()) {
                        inference.set("SequenceNum", DType.INT64, 1);
                        inference.set("Out", DType.FLOAT32, batch, 1);
                    } else {
                        // What Paddle infers is not what it computes.
                        inference.set("SequenceNum", DType.FLOAT32, 1);
                        inference.set("Out", DType.FLOAT32, inference.dims("Refs"));
                    }
                }).lower(l -> {
                    boolean normalised = l.attrs().getBool("normalized");
                    l.call(DISTANCE, (in, out) -> {
                        Sequences hypotheses =
                                Sequences.of(DISTANCE, "Hyps", Checks.tensor(in, 0), "HypsLength", in.get(2),
                                        in.get(4));
                        Sequences references =
                                Sequences.of(DISTANCE, "Refs", Checks.tensor(in, 1), "RefsLength", in.get(3),
                                        in.get(5));
                        Elements.write(new long[]{hypotheses.count()}, Checks.tensor(out, 0));
                        Elements.write(distances(Checks.tensor(in, 0).toLongArray(), hypotheses,
                                Checks.tensor(in, 1).toLongArray(),
                                references, normalised), Checks.tensor(out, 1));
                    }, Arrays.asList(l.in("Hyps"), l.in("Refs"), l.optional("HypsLength"), l.optional("RefsLength"),
                            l.lod("Hyps"), l.lod("Refs")),
                            List.of(l.output("SequenceNum"), l.output("Out")));
                }).register(registry);
    }

    private static double[] distances(long[] hypotheses, Sequences of, long[] references, Sequences to,
            boolean normalised) {
        double[] distances = new double[of.count()];
        for (int i = 0; i < distances.length; i++) {
            int length = to.lengths()[i];
            if (normalised && length == 0) {
                throw new IllegalArgumentException(
                        "Operation 'edit_distance': reference " + i
                                + " is empty, so that no distance can be normalized");
            }
            int distance = distance(hypotheses, of.begins()[i], of.lengths()[i], references, to.begins()[i], length);
            distances[i] = normalised ? (float) distance / length : distance;
        }
        return distances;
    }

    private static int distance(long[] a, int beginA, int lengthA, long[] b, int beginB, int lengthB) {
        int[] before = new int[lengthB + 1];
        int[] row = new int[lengthB + 1];
        Arrays.setAll(row, j -> j);
        for (int i = 1; i <= lengthA; i++) {
            int[] swap = before;
            before = row;
            row = swap;
            row[0] = i;
            for (int j = 1; j <= lengthB; j++) {
                int replaced = before[j - 1] + (a[beginA + i - 1] == b[beginB + j - 1] ? 0 : 1);
                row[j] = Math.min(replaced, Math.min(before[j], row[j - 1]) + 1);
            }
        }
        return row[lengthB];
    }

    /** How many of the chunks that are found are right, and how many of the right ones are found. */
    private static void chunks(Operations registry) {
        Operation.define(CHUNKS).in("Inference", "Label", "SeqLength?")
                .out("Precision", "Recall", "F1-Score", "NumInferChunks", "NumLabelChunks", "NumCorrectChunks")
                .readsLod("Inference", "Label").sharesNoLod().attr("num_chunk_types", 1).attr("chunk_scheme", "IOB")
                .attr("excluded_chunk_types", new int[0])
                .infer(inference -> {
                    long batch = batch(inference, "Inference", "SeqLength");
                    long others = batch(inference, "Label", "SeqLength");
                    inference.require(batch < 0 || others < 0 || batch == others,
                            "Inference and Label must have as many sequences, but have %d and %d", batch, others);
                    Checks.elements(inference, "Label", Inference.size(inference.dims("Inference")));
                    long types = inference.attrs().getLong("num_chunk_types");
                    inference.require(types >= 1 && types < 1 << 29,
                            "num_chunk_types must be from 1 to 2^29, but is %d",
                            types);
                    String scheme = inference.attrs().getText("chunk_scheme");
                    inference.require(Set.of("IOB", "IOE", "IOBES", "plain").contains(scheme),
                            "chunk_scheme must be IOB, IOE, IOBES or plain, but is '%s'", scheme);
                    for (String slot : List.of("Precision", "Recall", "F1-Score")) {
                        inference.set(slot, DType.FLOAT32, 1);
                    }
                    for (String slot : List.of("NumInferChunks", "NumLabelChunks", "NumCorrectChunks")) {
                        inference.set(slot, DType.INT64, 1);
                    }
                }).lower(l -> {
                    Chunks chunks = new Chunks(
                            Chunks.Scheme.valueOf(l.attrs().getText("chunk_scheme").toUpperCase(Locale.ROOT)),
                            l.attrs().getInt("num_chunk_types"));
                    Set<Integer> excluded = Arrays.stream(l.attrs().getInts("excluded_chunk_types")).boxed()
                            .collect(Collectors.toSet());
                    l.call(CHUNKS, (in, out) -> {
                        Sequences sequences =
                                Sequences.of(CHUNKS, "Label", Checks.tensor(in, 1), "SeqLength", in.get(2), in.get(3));
                        count(chunks, excluded, Checks.tensor(in, 0).toLongArray(), Checks.tensor(in, 1).toLongArray(),
                                sequences,
                                out);
                    }, Arrays.asList(l.in("Inference"), l.in("Label"), l.optional("SeqLength"), l.lod("Label")),
                            List.of(l.output("Precision"), l.output("Recall"), l.output("F1-Score"),
                                    l.output("NumInferChunks"), l.output("NumLabelChunks"),
                                    l.output("NumCorrectChunks")));
                }).register(registry);
    }

    private static void count(Chunks chunks, Set<Integer> excluded, long[] inferred, long[] labels,
            Sequences sequences, List<@Nullable Tensor> out) {
        long found = 0;
        long wanted = 0;
        long right = 0;
        for (int i = 0; i < sequences.count(); i++) {
            int begin = sequences.begins()[i];
            int length = sequences.lengths()[i];
            List<Chunks.Chunk> of = counted(chunks.find(inferred, begin, length), excluded);
            List<Chunks.Chunk> to = counted(chunks.find(labels, begin, length), excluded);
            found += of.size();
            wanted += to.size();
            Set<Chunks.Chunk> all = Set.copyOf(to);
            right += of.stream().filter(all::contains).count();
        }
        float precision = found == 0 ? 0 : (float) right / (float) found;
        float recall = wanted == 0 ? 0 : (float) right / (float) wanted;
        Elements.write(new double[]{precision}, Checks.tensor(out, 0));
        Elements.write(new double[]{recall}, Checks.tensor(out, 1));
        Elements.write(new double[]{right == 0 ? 0 : 2 * precision * recall / (precision + recall)},
                Checks.tensor(out, 2));
        Elements.write(new long[]{found}, Checks.tensor(out, 3));
        Elements.write(new long[]{wanted}, Checks.tensor(out, 4));
        Elements.write(new long[]{right}, Checks.tensor(out, 5));
    }

    private static List<Chunks.Chunk> counted(List<Chunks.Chunk> chunks, Set<Integer> excluded) {
        return chunks.stream().filter(chunk -> !excluded.contains(chunk.type())).toList();
    }
}
