package io.seriatim.graph.ops.text;

import io.seriatim.graph.ops.common.Checks;
import io.seriatim.tensor.Lod;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The best candidates that continue the prefixes of each sequence.
 *
 * @param tokens
 *            of the candidates, prefix by prefix
 * @param scores
 *            of the candidates
 * @param prefixes
 *            which prefix each continues
 * @param lod
 *            which prefixes belong to each sequence, and which candidates to each prefix
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Beam(long[] tokens, double[] scores, long[] prefixes, Lod lod) {
    private static final String TYPE = "beam_search";

    /**
     * How a beam is searched.
     *
     * @param level
     *            the level of offsets whose sequences are searched
     * @param size
     *            how many candidates are kept of each sequence
     * @param end
     *            the token that ends a prefix
     * @param accumulated
     *            whether scores are those of whole prefixes, and not probabilities of single tokens
     */
    record Search(int level, int size, long end, boolean accumulated) {
    }

    /** One way to continue a prefix. */
    private record Candidate(int prefix, long token, float score) {
        boolean isWorseThan(Candidate other) {
            return score < other.score || (score == other.score && prefix < other.prefix);
        }
    }

    /**
     * Searches.
     *
     * @param last
     *            the last token of each prefix
     * @param before
     *            the score of each prefix
     * @param tokens
     *            of the candidates, or null if they are numbered from 0
     * @param scores
     *            of the candidates, as many for each prefix
     */
    static Beam of(Search search, long[] last, double[] before, long @Nullable [] tokens, double[] scores, Lod lod) {
        if (search.level >= lod.depth()) {
            throw new IllegalArgumentException("Operation '" + TYPE + "': level must be one of the " + lod.depth()
                    + " levels of the LoD of scores, but is " + search.level);
        }
        long[] offsets = lod.rowOffsets(search.level);
        int prefixes = Checks.within(TYPE, "the LoD of scores", 0, offsets[offsets.length - 1], 0, last.length);
        if (prefixes != last.length) {
            throw new IllegalArgumentException("Operation '" + TYPE + "': the LoD of scores must end with the "
                    + last.length + " rows of pre_ids, but ends with " + prefixes);
        }
        List<List<Candidate>> chosen = new ArrayList<>();
        for (int i = 0; i < prefixes; i++) {
            chosen.add(new ArrayList<>());
        }
        int width = prefixes == 0 ? 0 : scores.length / prefixes;
        for (int i = 0; i + 1 < offsets.length; i++) {
            int begin = (int) offsets[i];
            int end = (int) offsets[i + 1];
            List<Candidate> best = best(search, last, before, tokens, scores, width, begin, end);
            // A sequence all of whose prefixes had ended before is left out.
            if (!best.stream().allMatch(each -> each.token == search.end && last[each.prefix] == search.end)) {
                best.forEach(each -> chosen.get(each.prefix).add(each));
            }
        }
        return collected(chosen, offsets);
    }

    private static List<Candidate> best(Search search, long[] last, double[] before, long @Nullable [] tokens,
            double[] scores, int width, int begin, int end) {
        List<Candidate> best = new ArrayList<>();
        for (int prefix = begin; prefix < end; prefix++) {
            if (last[prefix] == search.end) {
                insert(best, new Candidate(prefix, search.end, (float) before[prefix]), search.size);
                continue;
            }
            for (int j = 0; j < width; j++) {
                int at = prefix * width + j;
                float score = search.accumulated
                        ? (float) scores[at]
                        : (float) before[prefix] + (float) Math.log(scores[at]);
                insert(best, new Candidate(prefix, tokens == null ? j : tokens[at], score), search.size);
            }
        }
        return best;
    }

    /** Keeps the best ones, the best first. */
    private static void insert(List<Candidate> best, Candidate candidate, int size) {
        if (best.size() == size) {
            if (candidate.isWorseThan(best.getLast())) {
                return;
            }
            best.removeLast();
        }
        int at = best.size();
        while (at > 0 && best.get(at - 1).isWorseThan(candidate)) {
            at--;
        }
        best.add(at, candidate);
    }

    private static Beam collected(List<List<Candidate>> chosen, long[] offsets) {
        long[] ends = new long[chosen.size() + 1];
        List<Candidate> all = new ArrayList<>();
        for (int i = 0; i < chosen.size(); i++) {
            all.addAll(chosen.get(i));
            ends[i + 1] = all.size();
        }
        return new Beam(all.stream().mapToLong(Candidate::token).toArray(),
                all.stream().mapToDouble(Candidate::score).toArray(),
                all.stream().mapToLong(Candidate::prefix).toArray(), Lod.of(offsets, ends));
    }
}
