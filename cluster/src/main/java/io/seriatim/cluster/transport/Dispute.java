package io.seriatim.cluster.transport;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The vote on which rank is wrong when ranks have called different collectives: each says what it has called, and the
 * largest group is right; of groups of one size, the one with the lowest rank. All ranks have the same votes, and so
 * the same verdict. Used by the control thread only.
 */
final class Dispute {
    /** What a rank has called. */
    private record Vote(long call, String text) {
    }

    /** Who is wrong, and how. */
    record Verdict(int rank, String message) {
    }

    final long sequence;
    final long since = System.nanoTime();
    private final Map<Integer, Vote> votes = new TreeMap<>();

    Dispute(long sequence) {
        this.sequence = sequence;
    }

    void vote(int rank, long call, String text) {
        votes.putIfAbsent(rank, new Vote(call, text));
    }

    boolean hasVote(int rank) {
        return votes.containsKey(rank);
    }

    int votes() {
        return votes.size();
    }

    /** The verdict of the votes so far; null if they agree. */
    @Nullable
    Verdict verdict() {
        int right = -1;
        long most = 0;
        for (Map.Entry<Integer, Vote> each : votes.entrySet()) {
            long group = votes.values().stream().filter(vote -> vote.call() == each.getValue().call()).count();
            if (group > most) {
                most = group;
                right = each.getKey();
            }
        }
        for (Map.Entry<Integer, Vote> each : votes.entrySet()) {
            Vote expected = votes.get(right);
            if (expected != null && each.getValue().call() != expected.call()) {
                return new Verdict(each.getKey(), "rank " + each.getKey() + " called " + each.getValue().text()
                        + " where rank " + right + " called " + expected.text() + ", as collective " + sequence
                        + ": all ranks must call the same collectives in the same order");
            }
        }
        return null;
    }
}
