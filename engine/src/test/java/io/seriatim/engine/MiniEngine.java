package io.seriatim.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Runs operations in a random order that respects a given set of hazards: correct with all three, a mutant with fewer.
 */
final class MiniEngine implements RandomSums.Machine {
    /** The reasons for an operation to wait for an earlier one. */
    enum Hazard {
        READ_AFTER_WRITE, WRITE_AFTER_READ, WRITE_AFTER_WRITE
    }

    /** An operation. */
    private record Op(Set<Integer> reads, int write, Body body) {
        boolean mustFollow(Op earlier, Set<Hazard> respected) {
            return (respected.contains(Hazard.READ_AFTER_WRITE) && reads.contains(earlier.write))
                    || (respected.contains(Hazard.WRITE_AFTER_READ) && earlier.reads.contains(write))
                    || (respected.contains(Hazard.WRITE_AFTER_WRITE) && write == earlier.write);
        }
    }

    private final Set<Hazard> respected;
    private final SplittableRandom random;
    private final List<Op> pending = new ArrayList<>();

    MiniEngine(Set<Hazard> respected, long seed) {
        this.respected = respected;
        random = new SplittableRandom(seed);
    }

    static MiniEngine without(Hazard hazard, long seed) {
        return new MiniEngine(EnumSet.complementOf(EnumSet.of(hazard)), seed);
    }

    @Override
    public void push(int[] reads, int write, Body body) {
        pending.add(new Op(Set.copyOf(Arrays.stream(reads).boxed().toList()), write, body));
    }

    @Override
    public void drain() throws Exception {
        while (!pending.isEmpty()) {
            List<Op> ready = new ArrayList<>();
            for (int i = 0; i < pending.size() && ready.size() < 8; i++) {
                Op op = pending.get(i);
                if (pending.subList(0, i).stream().noneMatch(earlier -> op.mustFollow(earlier, respected))) {
                    ready.add(op);
                }
            }
            Op picked = ready.get(random.nextInt(ready.size()));
            pending.remove(picked);
            picked.body.run();
        }
    }
}
