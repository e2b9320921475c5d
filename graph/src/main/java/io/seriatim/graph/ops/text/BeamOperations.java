package io.seriatim.graph.ops.text;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Decoding with several candidates a sequence. */
public final class BeamOperations {
    private static final String TREE = "gather_tree";

    private BeamOperations() {
    }

    public static void register(Operations registry) {
        tree(registry);
        search(registry);
        decode(registry);
    }

    /** Whole sentences out of the steps of a search, which are lists: an executor reads them. */
    private static void decode(Operations registry) {
        Operation.define("beam_search_decode").in("Ids", "Scores").out("SentenceIds", "SentenceScores")
                .required("beam_size", Attribute.Int.class).required("end_id", Attribute.Int.class)
                .readsLod("Ids", "Scores").makesLod("SentenceIds", "SentenceScores").infer(inference -> {
                    inference.set("SentenceIds", DType.INT64, -1);
                    inference.set("SentenceScores", inference.dtype("Scores"), -1);
                }).register(registry);
    }

    /** The best candidates of each sequence, which continue its prefixes. */
    private static void search(Operations registry) {
        Operation.define("beam_search").in("pre_ids", "pre_scores", "ids?", "scores")
                .out("selected_ids", "selected_scores", "parent_idx?").required("level", Attribute.Int.class)
                .required("beam_size", Attribute.Int.class).required("end_id", Attribute.Int.class)
                .attr("is_accumulated", true).readsLod("scores").makesLod("selected_ids", "selected_scores")
                .values("pre_ids", "pre_scores", "ids", "scores", LodSlot.of("scores")).infer(inference -> {
                    Checks.whole(inference, "pre_ids");
                    Checks.floating(inference, "scores", "pre_scores");
                    long size = inference.attrs().getLong("beam_size");
                    inference.require(size >= 1, "beam_size must be 1 or more, but is %d", size);
                    long level = inference.attrs().getLong("level");
                    inference.require(level >= 0, "level must be 0 or more, but is %d", level);
                    long[] scores = inference.dims("scores");
                    long[] before = inference.dims("pre_ids");
                    inference.require(scores.length >= 1 && before.length >= 1,
                            "scores and pre_ids must have rows, but they are %s and %s", Numbers.text(scores),
                            Numbers.text(before));
                    if (inference.has("ids")) {
                        Checks.whole(inference, "ids");
                    }
                    if (inference.isForRun()) {
                        requireRows(inference, before[0], scores);
                    }
                    Beam beam = inference.isForRun() ? found(inference) : null;
                    // While a program is built, as in Paddle, there seem to be as many candidates as prefixes.
                    long count = beam == null ? before[0] : beam.tokens().length;
                    inference.set("selected_ids", DType.INT64, count, 1);
                    inference.set("selected_scores", inference.dtype("scores"), count, 1);
                    inference.set("parent_idx", DType.INT32, count);
                    for (String slot : List.of("selected_ids", "selected_scores")) {
                        if (beam == null) {
                            inference.setLod(slot, -1);
                        } else {
                            inference.setLod(slot, beam.lod());
                        }
                    }
                }).lower(l -> {
                    Beam beam = Beam.of(settings(l.attrs()), values(l.values("pre_ids")),
                            numbers(l.numbers("pre_scores")),
                            l.has("ids") ? l.values("ids") : null, numbers(l.numbers("scores")), l.lodValue("scores"));
                    int count = beam.tokens().length;
                    l.out("selected_ids", l.constant(Tensor.of(beam.tokens(), count, 1)));
                    l.out("selected_scores", l.constant(Tensor.of(l.in("scores").dtype(), beam.scores(), count, 1)));
                    if (l.wants("parent_idx")) {
                        l.out("parent_idx", l.constant(Tensor.of(DType.INT32, beam.prefixes(), count)));
                    }
                    l.outLod("selected_ids", beam.lod());
                    l.outLod("selected_scores", beam.lod());
                }).register(registry);
    }

    /** While a program is built, the shapes that are inferred are not those of the run. */
    private static void requireRows(Inference inference, long rows, long[] scores) {
        inference.require(scores[0] == rows, "scores must have a row for each of the %d of pre_ids, but has %d", rows,
                scores[0]);
        Checks.elements(inference, "pre_ids", rows);
        Checks.elements(inference, "pre_scores", rows);
        if (inference.has("ids")) {
            Checks.elements(inference, "ids", Inference.size(scores));
        }
    }

    private static Beam.Search settings(Attrs attrs) {
        return new Beam.Search(attrs.getInt("level"), attrs.getInt("beam_size"), attrs.getLong("end_id"),
                attrs.getBool("is_accumulated"));
    }

    private static long[] values(long @Nullable [] values) {
        return Objects.requireNonNull(values);
    }

    private static double[] numbers(double @Nullable [] numbers) {
        return Objects.requireNonNull(numbers);
    }

    private static Beam found(Inference inference) {
        inference.sequences("scores");
        return Beam.of(settings(inference.attrs()), values(inference.values("pre_ids")),
                numbers(inference.numbers("pre_scores")), inference.has("ids") ? inference.values("ids") : null,
                numbers(inference.numbers("scores")), Objects.requireNonNull(inference.lod("scores")));
    }

    /** Whole sequences out of the tokens of each step and the candidates that each token continues. */
    private static void tree(Operations registry) {
        Operation.define(TREE).in("Ids", "Parents").out("Out").infer(inference -> {
            DType dtype = inference.dtype("Ids");
            inference.require((dtype == DType.INT32 || dtype == DType.INT64) && dtype == inference.dtype("Parents"),
                    "Ids and Parents must both be int32 or int64, but are %s and %s", dtype,
                    inference.dtype("Parents"));
            long[] ids = inference.dims("Ids");
            long[] parents = inference.dims("Parents");
            boolean alike = ids.length == 3 && parents.length == 3;
            for (int i = 0; alike && i < 3; i++) {
                alike = ids[i] < 0 || parents[i] < 0 || ids[i] == parents[i];
            }
            inference.require(alike,
                    "Ids and Parents must have one shape [steps, batch, candidates], but have %s and %s",
                    Numbers.text(ids), Numbers.text(parents));
            inference.same("Ids", "Out");
        }).lower(l -> l.call(TREE, (in, out) -> {
            Tensor ids = Checks.tensor(in, 0);
            Elements.write(tree(ids, Checks.tensor(in, 1).toLongArray()),
                    Checks.tensor(out, 0));
        }, List.of(l.in("Ids"), l.in("Parents")), List.of(l.output("Out")))).register(registry);
    }

    private static long[] tree(Tensor given, long[] parents) {
        long[] ids = given.toLongArray();
        int steps = Checks.dim(given, 0);
        int width = Checks.dim(given, 2);
        int row = Checks.dim(given, 1) * width;
        long[] tree = new long[ids.length];
        for (int i = 0; steps > 0 && i < row; i++) {
            int first = i - i % width;
            int from = i;
            for (int step = steps - 1; step >= 0; step--) {
                tree[step * row + i] = ids[step * row + from];
                int at = step * row + from;
                if (step > 0) {
                    from = first + Checks.within(TREE, "Parents", at, parents[at], 0, width - 1);
                }
            }
        }
        return tree;
    }
}
