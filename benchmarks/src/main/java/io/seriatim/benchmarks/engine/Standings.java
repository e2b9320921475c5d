package io.seriatim.benchmarks.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The laps of a comparison, by contender and workload. */
final class Standings {
    private record Place(Contender contender, Work work) {
    }

    private final List<Work> works;
    private final List<Contender> contenders;
    private final Map<Place, Samples> samples = new HashMap<>();

    Standings(List<Work> works, List<Contender> contenders) {
        this.works = List.copyOf(works);
        this.contenders = new ArrayList<>(contenders);
    }

    List<Work> works() {
        return works;
    }

    List<Contender> contenders() {
        return contenders;
    }

    /** Removes a contender that failed, because an incomplete row would compare laps of different rounds. */
    void remove(Contender contender) {
        contenders.remove(contender);
    }

    Samples of(Contender contender, Work work) {
        return samples.computeIfAbsent(new Place(contender, work), place -> new Samples());
    }

    /** Returns the worst check of a contender over all workloads. */
    ResultCheck check(Contender contender) {
        ResultCheck worst = ResultCheck.SAME;
        for (Work work : works) {
            ResultCheck check = of(contender, work).check();
            worst = check == ResultCheck.WRONG || worst == ResultCheck.SAME ? check : worst;
        }
        return worst;
    }

    boolean anyWrong() {
        return contenders.stream().anyMatch(c -> check(c) == ResultCheck.WRONG);
    }
}
