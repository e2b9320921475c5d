package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How often some n-grams occur in rows of numbers, which stand for words. */
final class TermSchemas {
    private static final int MOST_COLUMNS = 1 << 24;

    private TermSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_tfidf").in("X").out("Out").required("least", Attribute.Int64.class)
                .required("most", Attribute.Int64.class).required("skips", Attribute.Int64.class)
                .attr("mode", "TF").required("counts", Attribute.Int64s.class)
                .required("indexes", Attribute.Int64s.class).required("pool", Attribute.Int64s.class)
                .attr("weights", new float[0]).infer(TermSchemas::infer).lower(TermSchemas::lower).register(registry);
    }

    private static void infer(Inference inference) {
        long[] x = inference.dims("X");
        Attrs attrs = inference.attrs();
        inference.require((x.length == 1 || x.length == 2) && !inference.dtype("X").isFloating(),
                "X must be rows of whole numbers, but is %s", inference.in("X"));
        long[] indexes = attrs.getLongs("indexes");
        long columns = columns(indexes);
        inference.require(indexes.length > 0 && Arrays.stream(indexes).allMatch(each -> each >= 0)
                && columns <= MOST_COLUMNS, "ngram_indexes are columns from 0 to %d, but are %s", MOST_COLUMNS - 1,
                Numbers.text(indexes));
        int weights = attrs.getDoubles("weights").length;
        inference.require(weights == 0 || weights == columns, "there is a weight for each of %d columns, but there are "
                + "%d", columns, weights);
        inference.require(attrs.getLong("least") >= 1 && attrs.getLong("least") <= attrs.getLong("most")
                && attrs.getLong("skips") >= 0,
                "the lengths of n-grams are from min_gram_length, at least 1, to "
                        + "max_gram_length, and max_skip_count is not negative, but they are %d, %d and %d",
                attrs.getLong("least"), attrs.getLong("most"), attrs.getLong("skips"));
        inference.require(List.of("TF", "IDF", "TFIDF").contains(attrs.getText("mode")),
                "mode is TF, IDF or TFIDF, but is '%s'", attrs.getText("mode"));
        grams(attrs);
        inference.set("Out", DType.FLOAT32,
                x.length == 1 ? new long[]{columns} : new long[]{x[0], columns});
    }

    private static long columns(long[] indexes) {
        return Arrays.stream(indexes).max().orElse(-1) + 1;
    }

    /** The columns of n-grams. The pool has those of one number, then those of two, and so on. */
    private static Map<List<Long>, Integer> grams(Attrs attrs) {
        long[] counts = attrs.getLongs("counts");
        long[] pool = attrs.getLongs("pool");
        long[] indexes = attrs.getLongs("indexes");
        Map<List<Long>, Integer> grams = new HashMap<>();
        int gram = 0;
        for (int i = 0; i < counts.length; i++) {
            long end = i + 1 < counts.length ? counts[i + 1] : pool.length;
            if (counts[i] < 0 || counts[i] > end || end > pool.length) {
                throw new IllegalArgumentException("ngram_counts are places of the pool of " + pool.length
                        + " numbers in ascending order, but are " + Numbers.text(counts));
            }
            for (long at = counts[i]; at + i < end; at += i + 1, gram++) {
                List<Long> numbers = new ArrayList<>();
                for (int k = 0; k <= i; k++) {
                    numbers.add(pool[(int) at + k]);
                }
                if (gram >= indexes.length) {
                    throw new IllegalArgumentException("ngram_indexes has a column for each n-gram of the pool, but "
                            + "has only " + indexes.length);
                }
                grams.put(numbers, (int) indexes[gram]);
            }
        }
        return grams;
    }

    private static void lower(Lowering l) {
        Attrs attrs = l.attrs();
        long[] dims = l.in("X").shape().dims();
        int length = Math.toIntExact(dims[dims.length - 1]);
        int columns = (int) columns(attrs.getLongs("indexes"));
        l.call("onnx_tfidf", (in, out) -> {
            long[] words = Tensors.longs(in, 0);
            int rows = length == 0 ? (int) (dims.length == 1 ? 1 : dims[0]) : words.length / length;
            double[] counts = new double[WorkingMemory.length(rows, columns)];
            Map<List<Long>, Integer> grams = grams(attrs);
            for (int row = 0; row < rows; row++) {
                count(attrs, grams, Arrays.copyOfRange(words, row * length, (row + 1) * length), counts,
                        row * columns);
            }
            weigh(attrs, counts, columns);
            Tensors.write(counts, out, 0);
        }, List.of(l.in("X")), List.of(l.output("Out")));
    }

    /** Numbers of an n-gram have the same distance from each other, at most the number of skips and 1. */
    private static void count(Attrs attrs, Map<List<Long>, Integer> grams, long[] words, double[] counts, int to) {
        long most = Math.min(attrs.getLong("most"), attrs.getLongs("counts").length);
        for (long size = attrs.getLong("least"); size <= most; size++) {
            long farthest = size == 1 ? 1 : Math.min(attrs.getLong("skips") + 1, words.length);
            for (long distance = 1; distance <= farthest; distance++) {
                for (int from = 0; from + (size - 1) * distance < words.length; from++) {
                    List<Long> gram = new ArrayList<>();
                    for (int k = 0; k < size; k++) {
                        gram.add(words[(int) (from + k * distance)]);
                    }
                    Integer column = grams.get(gram);
                    if (column != null) {
                        counts[to + column]++;
                    }
                }
            }
        }
    }

    private static void weigh(Attrs attrs, double[] counts, int columns) {
        double[] weights = attrs.getDoubles("weights");
        String mode = attrs.getText("mode");
        for (int i = 0; i < counts.length; i++) {
            double weight = weights.length == 0 || mode.equals("TF") ? 1 : weights[i % columns];
            counts[i] = weight * (mode.equals("IDF") ? Math.min(1, counts[i]) : counts[i]);
        }
    }
}
