package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.common.Progress;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs all contenders in turn in each round, so that other load on the machine affects all of them. Each round begins
 * with another contender, so that no contender always follows the same one.
 */
final class Race {
    private final List<Contender> contenders;
    private final Progress progress;

    Race(List<Contender> contenders, Progress progress) {
        this.contenders = new ArrayList<>(contenders);
        this.progress = progress;
    }

    /**
     * Runs all works.
     *
     * @param works
     *            the work of each contender in each round
     * @param warmUps
     *            the number of warm-up rounds
     * @param rounds
     *            the number of measured rounds
     */
    Standings run(List<Work> works, int warmUps, int rounds) throws InterruptedException {
        Standings standings = new Standings(works, contenders);
        for (int round = -warmUps; round < rounds; round++) {
            progress.round(round, warmUps, rounds);
            for (Work work : works) {
                // A copy, because a contender may be removed.
                for (Contender contender : order(List.copyOf(standings.contenders()), round + warmUps)) {
                    if (round >= 0 || contender.needsWarmUp()) {
                        lap(contender, work, standings, round >= 0);
                    }
                }
            }
        }
        progress.done();
        return standings;
    }

    private void lap(Contender contender, Work work, Standings standings, boolean counts) throws InterruptedException {
        try {
            Lap lap = contender.run(work);
            if (counts) {
                standings.of(contender, work).add(lap);
            }
        } catch (PeerUnavailableException e) {
            progress.notice(contender.name() + " leaves the race: " + e.getMessage());
            standings.remove(contender);
        }
    }

    private static List<Contender> order(List<Contender> contenders, int round) {
        if (contenders.isEmpty()) {
            return contenders;
        }
        int first = round % contenders.size();
        List<Contender> order = new ArrayList<>(contenders.subList(first, contenders.size()));
        order.addAll(contenders.subList(0, first));
        return order;
    }
}
