package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.engine.Interleaving.Mistake;
import io.seriatim.engine.SmallProgram.Access;
import io.seriatim.engine.SmallProgram.Kind;
import io.seriatim.engine.SmallProgram.WaitFor;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tries all interleavings of all small programs of a kind, on the engine's own log, tracker, waits and life cycle: E1
 * (each operation sees the values of the serial program, and is ready as soon as it may be), E2 (two threads push
 * operations on the same variables), E4 (failures), E7 (a wait ends exactly when what it waits for has ended), deletes
 * and closes. Random programs cover larger ones, on real threads.
 */
class TrackerModelTest {
    /** In the short form every 23rd program is tried, with all its interleavings; in the long form every program. */
    private static final int STEP = (int) TestSupport.scaled(1, 23);
    /** The fewest interleavings that a test must have tried. */
    private static final long FEWEST = 500;
    private static final Set<Access> ALL = EnumSet.allOf(Access.class);
    private static final Set<Access> PLAIN = EnumSet.of(Access.NONE, Access.READS, Access.MUTATES);

    /** Tries all interleavings of one program; returns their number. */
    private static long all(SmallProgram program, Mistake mistake) {
        List<int[]> path = new ArrayList<>();
        long count = 0;
        do {
            int[] depth = {0};
            new Interleaving(program, mistake).run(steps -> {
                if (depth[0] == path.size()) {
                    path.add(new int[]{0, steps});
                }
                return path.get(depth[0]++)[0];
            });
            count++;
            while (!path.isEmpty() && ++path.get(path.size() - 1)[0] == path.get(path.size() - 1)[1]) {
                path.remove(path.size() - 1);
            }
        } while (!path.isEmpty());
        return count;
    }

    /** Returns all operations that use at least one variable. */
    private static List<SmallProgram.Op> operations(Kind kind, List<Set<Access>> choices) {
        List<List<Access>> all = List.of(List.of());
        for (Set<Access> choice : choices) {
            List<List<Access>> longer = new ArrayList<>();
            for (List<Access> before : all) {
                for (Access access : choice) {
                    List<Access> accesses = new ArrayList<>(before);
                    accesses.add(access);
                    longer.add(accesses);
                }
            }
            all = longer;
        }
        return all.stream().filter(accesses -> accesses.stream().anyMatch(access -> access != Access.NONE))
                .map(accesses -> new SmallProgram.Op(kind, accesses)).toList();
    }

    private static SmallProgram.Op delete(int variables) {
        List<Access> accesses = new ArrayList<>(List.of(Access.MUTATES));
        while (accesses.size() < variables) {
            accesses.add(Access.NONE);
        }
        return new SmallProgram.Op(Kind.DELETES, accesses);
    }

    /** Returns all sequences with one operation from each list. */
    @SafeVarargs
    private static List<List<SmallProgram.Op>> sequences(List<SmallProgram.Op>... choices) {
        List<List<SmallProgram.Op>> all = List.of(List.of());
        for (List<SmallProgram.Op> choice : choices) {
            List<List<SmallProgram.Op>> longer = new ArrayList<>();
            for (List<SmallProgram.Op> before : all) {
                for (SmallProgram.Op op : choice) {
                    List<SmallProgram.Op> ops = new ArrayList<>(before);
                    ops.add(op);
                    longer.add(ops);
                }
            }
            all = longer;
        }
        return all;
    }

    private static void tryAll(String what, List<SmallProgram> programs) {
        long count = 0;
        int tested = 0;
        for (int i = STEP / 2; i < programs.size(); i += STEP) {
            count += all(programs.get(i), Mistake.NONE);
            tested++;
        }
        System.out.println("model: " + what + ": all " + count + " interleavings of " + tested + " of "
                + programs.size() + " programs");
        long tried = count;
        assertTrue(tried >= FEWEST, () -> "only " + tried + " interleavings: the search does not search");
    }

    private static List<SmallProgram> programs(List<List<SmallProgram.Op>> sequences, int second, List<WaitFor> waits,
            boolean abandons, boolean closes) {
        return sequences.stream()
                .map(ops -> new SmallProgram(ops, Math.min(second, ops.size()), -1, waits, abandons, closes)).toList();
    }

    /** Programs of one pushing thread, in which the body of an operation pushes the last operation. */
    private static List<SmallProgram> nested(List<List<SmallProgram.Op>> sequences, int parent, List<WaitFor> waits,
            boolean closes) {
        return sequences.stream()
                .map(ops -> new SmallProgram(ops, ops.size() - 1, parent, waits, false, closes)).toList();
    }

    @Test
    void threeOperationsOnTwoVariables() {
        List<SmallProgram.Op> any = operations(Kind.SUCCEEDS, List.of(PLAIN, PLAIN));
        tryAll("serial equivalence", programs(sequences(any, any, any), 3, List.of(), false, false));
    }

    @Test
    void twoThreadsPush() {
        List<SmallProgram.Op> any = operations(Kind.SUCCEEDS, List.of(PLAIN, PLAIN));
        tryAll("pushes of two threads", programs(sequences(any, any, any), 1, List.of(), false, false));
    }

    @Test
    void failures() {
        List<SmallProgram.Op> failing = operations(Kind.FAILS, List.of(ALL, PLAIN));
        List<SmallProgram.Op> any = operations(Kind.SUCCEEDS, List.of(ALL, PLAIN));
        List<SmallProgram.Op> always = operations(Kind.EVEN_IF_FAILED, List.of(PLAIN, PLAIN));
        List<SmallProgram> programs = new ArrayList<>();
        programs.addAll(programs(sequences(failing, any, any), 3, List.of(), false, false));
        programs.addAll(programs(sequences(failing, always, any), 3, List.of(), false, false));
        tryAll("failures", programs);
    }

    @ParameterizedTest
    @EnumSource
    void waits(WaitFor what) {
        List<WaitFor> wait = List.of(what);
        List<SmallProgram.Op> any = operations(Kind.SUCCEEDS, List.of(PLAIN));
        List<SmallProgram.Op> failing = operations(Kind.FAILS, List.of(PLAIN));
        List<SmallProgram.Op> either = new ArrayList<>(operations(Kind.SUCCEEDS, List.of(PLAIN, PLAIN)));
        either.addAll(operations(Kind.FAILS, List.of(PLAIN, PLAIN)));
        List<SmallProgram> programs = new ArrayList<>();
        programs.addAll(programs(sequences(any, any, any), 3, wait, true, false));
        programs.addAll(programs(sequences(any, failing, any), 2, wait, false, false));
        programs.addAll(programs(sequences(either, either), 2, wait, true, true));
        tryAll("waits for " + what, programs);
    }

    @ParameterizedTest
    @EnumSource
    void twoWaits(WaitFor first) {
        List<SmallProgram.Op> any = operations(Kind.SUCCEEDS, List.of(PLAIN));
        List<SmallProgram.Op> either = new ArrayList<>(any);
        either.addAll(operations(Kind.FAILS, List.of(PLAIN)));
        List<SmallProgram> programs = new ArrayList<>();
        for (WaitFor second : WaitFor.values()) {
            programs.addAll(programs(sequences(either, any), 2, List.of(first, second), true, false));
            programs.addAll(programs(sequences(either, any), 1, List.of(first, second), false, true));
        }
        tryAll("two waits, one of them for " + first, programs);
    }

    @Test
    void nestedPushes() {
        List<SmallProgram.Op> any = operations(Kind.SUCCEEDS, List.of(PLAIN, PLAIN));
        List<SmallProgram.Op> failing = operations(Kind.FAILS, List.of(PLAIN, PLAIN));
        List<SmallProgram> programs = new ArrayList<>();
        for (int parent = 0; parent < 2; parent++) {
            programs.addAll(nested(sequences(any, any, any), parent, List.of(), true));
        }
        programs.addAll(nested(sequences(failing, any), 0, List.of(WaitFor.IDLE), true));
        programs.addAll(nested(sequences(any, failing), 0, List.of(WaitFor.ALL), false));
        tryAll("nested pushes", programs);
    }

    @Test
    void deletesAndCloses() {
        List<SmallProgram.Op> any = operations(Kind.SUCCEEDS, List.of(PLAIN, PLAIN));
        List<SmallProgram.Op> failing = operations(Kind.FAILS, List.of(PLAIN, PLAIN));
        List<SmallProgram> programs = new ArrayList<>();
        programs.addAll(programs(sequences(any, List.of(delete(2)), any), 3, List.of(), false, true));
        programs.addAll(programs(sequences(failing, List.of(delete(2)), any), 2, List.of(), false, false));
        tryAll("deletes and closes", programs);
    }

    @ParameterizedTest
    @EnumSource(value = Mistake.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void aMistakeIsFound(Mistake mistake) {
        List<SmallProgram.Op> any = operations(Kind.SUCCEEDS, List.of(PLAIN, PLAIN));
        List<SmallProgram.Op> failing = operations(Kind.FAILS, List.of(PLAIN, PLAIN));
        List<WaitFor> waits = switch (mistake) {
            case WAIT_OVERTAKES, WAKE_UP_IS_LOST -> List.of(WaitFor.MUTATIONS);
            case IDLE_TOO_EARLY -> List.of(WaitFor.IDLE);
            case WAITS_ARE_CONFUSED -> List.of(WaitFor.MUTATIONS, WaitFor.MUTATIONS);
            default -> List.of();
        };
        List<List<SmallProgram.Op>> sequences = sequences(mistake == Mistake.FAILURE_IS_LOST ? failing : any, any);
        List<SmallProgram> programs = mistake == Mistake.NESTED_COUNTS_AS_OUTER
                ? nested(sequences, 0, waits, true)
                : programs(sequences, 2, waits, mistake == Mistake.WAITS_ARE_CONFUSED, false);
        AssertionError found = assertThrows(AssertionError.class, () -> {
            for (SmallProgram program : programs) {
                all(program, mistake);
            }
        }, () -> mistake + " is not found");
        assertTrue(String.valueOf(found.getMessage()).contains(" after ["), () -> mistake + ": " + found);
    }
}
