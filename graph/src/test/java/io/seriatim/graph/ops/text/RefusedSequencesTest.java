package io.seriatim.graph.ops.text;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.OneRun;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** What operations on sequences of labels refuse: each error names the operation and what is wrong. */
class RefusedSequencesTest {
    private static Tensor floats(long... dims) {
        long size = 1;
        for (long dim : dims) {
            size *= dim;
        }
        return Tensor.of(new float[(int) size], dims);
    }

    private static Tensor longs(long... values) {
        return Tensor.of(values, values.length);
    }

    private static Tensor rows(long rows, long... values) {
        return Tensor.of(values, rows, values.length / rows);
    }

    private static final class Refusal {
        private final OpDesc.Builder op;
        private final Map<String, Tensor> feeds = new LinkedHashMap<>();
        private final List<String> parts;

        Refusal(String type, String... parts) {
            op = OpDesc.of(type);
            this.parts = Stream.concat(Stream.of(type), Stream.of(parts)).toList();
        }

        Refusal in(String slot, Tensor tensor) {
            op.in(slot, slot);
            feeds.put(slot, tensor);
            return this;
        }

        Refusal out(String... slots) {
            for (String slot : slots) {
                op.out(slot, slot + "Result");
            }
            return this;
        }

        Refusal attr(String name, Object value) {
            op.attr(name, value);
            return this;
        }

        void check() {
            String message = String.valueOf(
                    assertThrows(IllegalArgumentException.class, () -> OneRun.of(feeds, op.build())).getMessage());
            for (String part : parts) {
                assertTrue(message.contains(part), () -> "'" + part + "' is not in: " + message);
            }
        }
    }

    private static Refusal ctc(Tensor logits, Tensor label, Tensor steps, Tensor marks, String... parts) {
        return new Refusal("warpctc", parts).in("Logits", logits).in("Label", label).in("LogitsLength", steps)
                .in("LabelLength", marks).out("Loss", "WarpCTCGrad");
    }

    private static Refusal transducer(Tensor input, Tensor label, Tensor steps, Tensor marks, String... parts) {
        return new Refusal("warprnnt", parts).in("input", input).in("label", label).in("input_lengths", steps)
                .in("label_lengths", marks).out("loss", "warprnntgrad");
    }

    private static Refusal chain(String type, Tensor emission, Tensor transition, Tensor label, Tensor length,
            String... parts) {
        Refusal refusal = new Refusal(type, parts).in("Emission", emission).in("Transition", transition)
                .in("Label", label).in("Length", length);
        return type.equals("crf_decoding")
                ? refusal.out("ViterbiPath")
                : refusal.out("Alpha", "EmissionExps", "TransitionExps", "LogLikelihood");
    }

    private static Refusal viterbi(Tensor input, Tensor transition, Tensor length, String... parts) {
        return new Refusal("viterbi_decode", parts).in("Input", input).in("Transition", transition)
                .in("Length", length).out("Scores", "Path");
    }

    private static Refusal edits(Tensor of, Tensor to, Tensor ofLength, Tensor toLength, String... parts) {
        return new Refusal("edit_distance", parts).in("Hyps", of).in("Refs", to).in("HypsLength", ofLength)
                .in("RefsLength", toLength).out("SequenceNum", "Out");
    }

    private static Refusal chunks(Tensor found, Tensor label, Tensor length, String... parts) {
        return new Refusal("chunk_eval", parts).in("Inference", found).in("Label", label).in("SeqLength", length)
                .out("Precision", "Recall", "F1-Score", "NumInferChunks", "NumLabelChunks", "NumCorrectChunks");
    }

    private static Refusal lstm(Tensor input, Tensor weight, Tensor bias, String... parts) {
        return new Refusal("lstm", parts).in("Input", input).in("Weight", weight).in("Bias", bias).out("Hidden", "Cell",
                "BatchGate", "BatchCellPreAct");
    }

    @TestFactory
    Stream<DynamicTest> refused() {
        Tensor logits = floats(4, 2, 3);
        Tensor label = rows(2, 1, 2, 1, 1);
        Tensor divided = floats(5, 3).withLod(Lod.ofLengths(3, 2));
        return Stream.of(ctc(logits, label, longs(4, 5), longs(2, 1), "LogitsLength", "0 to 4", "is 5"),
                ctc(logits, label, longs(4, -1), longs(2, 1), "LogitsLength", "is -1"),
                ctc(logits, label, longs(4, 4), longs(3, 1), "LabelLength", "is 3"),
                ctc(logits, rows(2, 1, 3, 1, 1), longs(4, 4), longs(2, 1), "Label", "0 to 2", "is 3"),
                ctc(logits, label, longs(4, 4), longs(2, 1), "blank", "is 3").attr("blank", 3),
                ctc(logits, label, longs(4, 4), longs(2, 1), "blank", "is -1").attr("blank", -1),
                ctc(logits, label, longs(4), longs(2, 1), "LogitsLength", "2 elements"),
                ctc(floats(4, 2, 0), label, longs(4, 4), longs(2, 1), "Logits", "[4, 2, 0]"),
                ctc(floats(4, 2), label, longs(4, 4), longs(2, 1), "Logits", "[4, 2]"),
                new Refusal("warpctc", "LoD").in("Logits", floats(5, 3)).in("Label", rows(2, 1, 2)).out("Loss"),
                new Refusal("warpctc", "as many sequences").in("Logits", divided)
                        .in("Label", rows(3, 1, 2, 1).withLod(Lod.ofLengths(1, 1, 1))).out("Loss"),
                transducer(floats(1, 2, 2, 3), rows(1, 1), longs(0), longs(1), "input_lengths", "1 to 2"),
                transducer(floats(1, 2, 2, 3), rows(1, 1, 2), longs(2), longs(2), "label_lengths", "is 2"),
                transducer(floats(1, 2, 3), rows(1, 1, 2), longs(2), longs(2), "input", "[1, 2, 3]"),
                new Refusal("ctc_align", "InputLength", "is 9").in("Input", rows(2, 1, 2, 3, 4))
                        .in("InputLength", rows(2, 2, 9)).out("Output"),
                new Refusal("ctc_align", "LoD").in("Input", rows(4, 1, 2, 3, 4)).out("Output"),
                chain("linear_chain_crf", floats(1, 2, 3), floats(5, 3), rows(1, 0, 3), longs(2), "Label", "is 3"),
                chain("linear_chain_crf", floats(1, 2, 3), floats(5, 3), rows(1, 0, 2), longs(3), "Length", "is 3"),
                chain("linear_chain_crf", floats(1, 2, 3), floats(4, 3), rows(1, 0, 2), longs(2), "Transition",
                        "[4, 3]"),
                chain("linear_chain_crf", floats(1, 2, 3), floats(5, 3), rows(1, 0), longs(2), "Label", "[1, 1]"),
                chain("crf_decoding", floats(1, 2, 0), floats(2, 0), rows(1, 0, 0), longs(2), "Emission", "[1, 2, 0]"),
                chain("crf_decoding", floats(1, 2, 3), floats(5, 3), rows(1, 0, 0), longs(-2), "Length", "is -2"),
                viterbi(floats(1, 2, 3), floats(3, 3), longs(3), "Length", "is 3"),
                viterbi(floats(2, 2, 3), floats(3, 3), longs(-3, 1), "Length", "is -3"),
                viterbi(floats(1, 2, 3), floats(3, 2), longs(2), "Transition", "[3, 2]"),
                viterbi(floats(1, 2, 1), floats(1, 1), longs(2), "include_bos_eos_tag"),
                edits(rows(1, 1, 2), rows(1, 1), longs(3), longs(1), "HypsLength", "is 3"),
                edits(rows(1, 1, 2), rows(1, 1), longs(2), longs(0), "reference 0 is empty").attr("normalized", true),
                edits(rows(1, 1, 2), rows(2, 1, 2), longs(2), longs(1, 1), "as many sequences"),
                chunks(rows(1, 1, 2), rows(1, 1, 9), longs(2), "at most 4", "is 9").attr("num_chunk_types", 2),
                chunks(rows(1, 1, 2), rows(1, 1, 2), longs(2), "chunk_scheme", "'BIO'").attr("num_chunk_types", 2)
                        .attr("chunk_scheme", "BIO"),
                chunks(rows(1, 1, 2), rows(1, 1, 2), longs(2), "num_chunk_types", "is 0").attr("num_chunk_types", 0),
                chunks(rows(1, 1, 2, 1), rows(1, 1, 2), longs(3), "Label", "3 elements").attr("num_chunk_types", 2),
                new Refusal("gather_tree", "Parents", "0 to 1", "is 2").in("Ids", Tensor.of(new long[4], 2, 1, 2))
                        .in("Parents", Tensor.of(new long[]{0, 0, 2, 0}, 2, 1, 2)).out("Out"),
                lstm(floats(3, 8), floats(2, 8), floats(1, 14), "LoD"),
                lstm(floats(3, 7), floats(2, 8), floats(1, 14), "Input", "[3, 7]"),
                lstm(floats(3, 8), floats(2, 7), floats(1, 14), "Weight", "[2, 7]"),
                lstm(floats(3, 8), floats(2, 8), floats(1, 8), "Bias", "[1, 8]"),
                lstm(floats(3, 8), floats(2, 8), floats(1, 14), "gate_activation", "'swish'").attr("gate_activation",
                        "swish"),
                new Refusal("gru", "activation", "'x'").in("Input", floats(3, 6)).in("Weight", floats(2, 6))
                        .attr("activation", "x").out("Hidden"),
                new Refusal("gru_unit", "activation", "is 4").in("Input", floats(3, 6)).in("HiddenPrev", floats(3, 2))
                        .in("Weight", floats(2, 6)).attr("activation", 4).out("Gate", "ResetHiddenPrev", "Hidden"),
                new Refusal("gru_unit", "Weight", "[2, 5]").in("Input", floats(3, 6)).in("HiddenPrev", floats(3, 2))
                        .in("Weight", floats(2, 5)).out("Gate", "ResetHiddenPrev", "Hidden"))
                .map(refusal -> DynamicTest.dynamicTest(refusal.parts.toString(), refusal::check));
    }

    private static Refusal beam(Tensor before, Tensor scores, String... parts) {
        return new Refusal("beam_search", parts).in("pre_ids", before).in("pre_scores", floats(2, 1))
                .in("scores", scores)
                .attr("end_id", 0).out("selected_ids", "selected_scores");
    }

    @TestFactory
    Stream<DynamicTest> refusedBeams() {
        Lod two = Lod.ofLengths(1, 1);
        Tensor scores = floats(2, 3).withLod(two);
        return Stream.of(
                beam(rows(2, 1, 2), scores, "beam_size", "is 0").attr("level", 0).attr("beam_size", 0),
                beam(rows(2, 1, 2), scores, "level", "is 1").attr("level", 1).attr("beam_size", 2),
                beam(rows(2, 1, 2), scores, "level", "is -1").attr("level", -1).attr("beam_size", 2),
                beam(rows(2, 1, 2), floats(2, 3), "LoD").attr("level", 0).attr("beam_size", 2),
                beam(rows(3, 1, 2, 3), scores, "each of the 3").attr("level", 0).attr("beam_size", 2),
                new Refusal("beam_search_decode", "list of tensors").in("Ids", rows(2, 1, 2)).in("Scores", scores)
                        .attr("beam_size", 2).attr("end_id", 0).out("SentenceIds", "SentenceScores"))
                .map(refusal -> DynamicTest.dynamicTest(refusal.parts.toString(), refusal::check));
    }

    /** A tensor of another type is refused before any element is read. */
    @TestFactory
    Stream<DynamicTest> refusedTypes() {
        Tensor halves = Tensor.of(DType.FLOAT16, new double[24], 4, 2, 3);
        Tensor label = rows(2, 1, 2, 1, 1);
        return Stream.of(ctc(halves, label, longs(4, 4), longs(2, 1), "Logits", "float16"),
                ctc(floats(4, 2, 3), floats(2, 2), longs(4, 4), longs(2, 1), "Label", "float32"),
                chunks(floats(1, 2), rows(1, 1, 2), longs(2), "Inference", "float32").attr("num_chunk_types", 2))
                .map(refusal -> DynamicTest.dynamicTest(refusal.parts.toString(), refusal::check));
    }
}
