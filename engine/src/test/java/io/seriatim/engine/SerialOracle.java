package io.seriatim.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Computes the expected results of a random program: it runs the program step by step in push order, without an engine
 * or threads. A skipped operation with several poisoned variables may forward any of their failures, so a failure is
 * the set of operations that may be named.
 */
final class SerialOracle {
    /** Rules that a wrong engine might break; the tests must detect each violation. */
    enum Mistake {
        NONE, OVERWRITING_IS_SKIPPED, OVERWRITING_DOES_NOT_HEAL, EVEN_IF_FAILED_HEALS, //
        SKIPPED_IS_NOT_PASSED_ON, CLEARING_DOES_NOTHING, FAILURE_KEEPS_THE_OLD_POISON
    }

    /** The outcome of a step. */
    enum Outcome {
        COMPLETED, FAILED, SKIPPED
    }

    /** The state of a variable at the end, or at its deletion. */
    record Final(long value, long version, Set<String> poison) {
    }

    final Outcome[] outcomes;
    /** The failure that each wait reports; null for other steps. */
    final List<Set<String>> met = new ArrayList<>();
    /** The state of the variable at each delete. */
    final List<Final> deleted = new ArrayList<>();
    final List<Final> finals = new ArrayList<>();

    private final Mistake mistake;
    private final long[] values = new long[RandomProgram.SLOTS];
    private final long[] versions = new long[RandomProgram.SLOTS];
    private final List<Set<String>> poison = new ArrayList<>();

    SerialOracle(RandomProgram program, Mistake mistake) {
        this.mistake = mistake;
        outcomes = new Outcome[program.steps.size()];
        Arrays.fill(outcomes, Outcome.COMPLETED);
        IntStream.range(0, RandomProgram.SLOTS).forEach(i -> poison.add(Set.of()));
        for (int i = 0; i < outcomes.length; i++) {
            step(i, program.steps.get(i));
        }
        IntStream.range(0, RandomProgram.SLOTS).forEach(i -> finals.add(now(i)));
    }

    long count(Outcome outcome) {
        return Arrays.stream(outcomes).filter(o -> o == outcome).count();
    }

    boolean seesTheSameAs(SerialOracle other) {
        return Arrays.equals(outcomes, other.outcomes) && met.equals(other.met) && deleted.equals(other.deleted)
                && finals.equals(other.finals);
    }

    private Final now(int slot) {
        return new Final(values[slot], versions[slot], poison.get(slot));
    }

    private void step(int at, RandomProgram.Step step) {
        Set<String> seen = Set.of();
        switch (step.what()) {
            case OPERATION -> outcomes[at] = operation(at, step);
            case WAIT_TO_READ -> seen = poison.get(step.mutates()[0]);
            case CLEAR -> {
                if (mistake != Mistake.CLEARING_DOES_NOTHING) {
                    poison.set(step.mutates()[0], Set.of());
                }
            }
            case DELETE -> {
                int slot = step.mutates()[0];
                deleted.add(now(slot));
                values[slot] = 0;
                versions[slot] = 0;
                poison.set(slot, Set.of());
            }
        }
        met.add(seen);
    }

    private Outcome operation(int at, RandomProgram.Step step) {
        Set<String> needed = new HashSet<>();
        for (int slot : step.reads()) {
            needed.addAll(poison.get(slot));
        }
        for (int slot : step.mutates()) {
            needed.addAll(poison.get(slot));
        }
        if (mistake == Mistake.OVERWRITING_IS_SKIPPED) {
            for (int slot : step.overwrites()) {
                needed.addAll(poison.get(slot));
            }
        }
        IntStream.concat(IntStream.of(step.mutates()), IntStream.of(step.overwrites()))
                .forEach(slot -> versions[slot]++);
        if (!needed.isEmpty() && !step.evenIfFailed()) {
            if (mistake != Mistake.SKIPPED_IS_NOT_PASSED_ON) {
                poisonEach(step.mutates(), needed, true);
                poisonEach(step.overwrites(), needed, true);
            }
            return Outcome.SKIPPED;
        }
        long[] mutated = IntStream.of(step.mutates()).mapToLong(slot -> values[slot]).toArray();
        long[] overwritten = new long[step.overwrites().length];
        RandomProgram.compute(at, IntStream.of(step.reads()).mapToLong(slot -> values[slot]).toArray(), mutated,
                overwritten);
        set(step.mutates(), mutated);
        set(step.overwrites(), overwritten);
        if (step.fails()) {
            Set<String> own = Set.of(RandomProgram.name(at));
            poisonEach(step.mutates(), own, mistake == Mistake.FAILURE_KEEPS_THE_OLD_POISON);
            poisonEach(step.overwrites(), own, mistake == Mistake.FAILURE_KEEPS_THE_OLD_POISON);
            return Outcome.FAILED;
        }
        if (mistake != Mistake.OVERWRITING_DOES_NOT_HEAL) {
            heal(step.overwrites());
        }
        if (mistake == Mistake.EVEN_IF_FAILED_HEALS) {
            heal(step.mutates());
        }
        return Outcome.COMPLETED;
    }

    private void set(int[] slots, long[] to) {
        for (int i = 0; i < slots.length; i++) {
            values[slots[i]] = to[i];
        }
    }

    private void poisonEach(int[] slots, Set<String> with, boolean keepOld) {
        for (int slot : slots) {
            if (!keepOld || poison.get(slot).isEmpty()) {
                poison.set(slot, Set.copyOf(with));
            }
        }
    }

    private void heal(int[] slots) {
        for (int slot : slots) {
            poison.set(slot, Set.of());
        }
    }
}
