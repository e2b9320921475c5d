package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.common.Progress;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs contenders in turn, round after round, so that whatever the machine does meanwhile befalls all of them. Each
 * round begins with another contender, so that no one always follows the same one.
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
     *            what each contender does in each round
     * @param warmUps
     *            rounds before the first that counts
     * @param rounds
     *            rounds that count
     */
    Standings run(List<Work> works, int warmUps, int rounds) throws InterruptedException {
        Standings standings = new Standings(works, contenders);
        for (int round = -warmUps; round < rounds; round++) {
            progress.round(round, warmUps, rounds);
            for (Work work : works) {
                // A copy: a contender may leave.
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
