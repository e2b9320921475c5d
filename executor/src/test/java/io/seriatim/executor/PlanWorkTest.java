package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Dependencies;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The work of deriving dependencies for large programs grows linearly with the program. The work is counted, not timed.
 */
class PlanWorkTest {
    private static final int SMALL = 1_000;
    private static final int FACTOR = 8;

    /** Programs that are fed x and compute y by n operations and a constant number of others. */
    enum Kind {
        /** Each operation reads the result of the previous one. */
        CHAIN {
            @Override
            void add(Program program, int n) {
                String last = "x";
                for (int i = 0; i < n; i++) {
                    last = scaled(program, last, "t" + i);
                }
                scaled(program, last, "y");
            }
        },
        /** All operations read one variable, and their sum is fetched. */
        FAN {
            @Override
            void add(Program program, int n) {
                scaled(program, "x", "h");
                List<String> parts = new ArrayList<>();
                for (int i = 0; i < n; i++) {
                    parts.add(scaled(program, "h", "t" + i));
                }
                program.global().add(OpDesc.of("sum").in("X", parts).out("Out", "y").build());
            }
        },
        /** One operand is recent, the other is any earlier value. */
        RANDOM {
            @Override
            void add(Program program, int n) {
                Random random = new Random(1);
                List<String> known = new ArrayList<>(List.of("x"));
                for (int i = 0; i < n; i++) {
                    String recent = known.get(Math.max(0, known.size() - 1 - random.nextInt(100)));
                    String any = known.get(random.nextInt(known.size()));
                    declare(program, "t" + i).global()
                            .add(OpDesc.of("elementwise_add").in("X", recent).in("Y", any).out("Out", "t" + i)
                                    .attr("axis", -1).build());
                    known.add("t" + i);
                }
                scaled(program, known.getLast(), "y");
            }
        },
        /** A persistable variable is alternately read by many operations and overwritten. */
        UPDATES {
            @Override
            void add(Program program, int n) {
                program.global().put(VarDesc.of("w", VarType.dense(FLOAT32, 1)).persistent());
                for (int i = 0; i < n; i++) {
                    scaled(program, i % 100 < 98 ? "w" : "x", i % 100 == 99 ? "w" : "t" + i);
                }
                scaled(program, "w", "y");
            }
        },
        /** Every second operation overwrites the same variable. */
        REWRITES {
            @Override
            void add(Program program, int n) {
                String last = "x";
                for (int i = 0; i < n / 2; i++) {
                    scaled(program, last, "v");
                    last = scaled(program, "v", "t" + i);
                }
                scaled(program, last, "y");
            }
        },
        /** Ten layers wide, with forward and backward pass and an update of each layer at the end, as in training. */
        TRAINING {
            @Override
            void add(Program program, int n) {
                int layers = n / 4;
                String last = "x";
                for (int i = 0; i < layers; i++) {
                    program.global().put(VarDesc.of("w" + i, VarType.dense(FLOAT32, 1)).persistent());
                    last = product(program, last, "w" + i, "h" + i);
                }
                for (int i = layers - 1; i >= 0; i--) {
                    product(program, last, i == 0 ? "x" : "h" + (i - 1), "dw" + i);
                    last = product(program, last, "w" + i, "dh" + i);
                }
                for (int i = 0; i < layers; i++) {
                    product(program, "w" + i, "dw" + i, "w" + i);
                }
                scaled(program, last, "y");
            }
        };

        abstract void add(Program program, int n);

        Program program(int n) {
            Program program = new Program();
            declare(declare(program, "x"), "y");
            add(program, n);
            return program;
        }

        static Program declare(Program program, String name) {
            if (program.global().var(name) == null) {
                program.global().put(VarDesc.of(name, VarType.dense(FLOAT32, 1)));
            }
            return program;
        }

        static String scaled(Program program, String from, String to) {
            declare(program, to).global()
                    .add(OpDesc.of("scale").in("X", from).out("Out", to).attr("scale", 1f).build());
            return to;
        }

        static String product(Program program, String a, String b, String to) {
            declare(program, to).global()
                    .add(OpDesc.of("elementwise_mul").in("X", a).in("Y", b).out("Out", to).attr("axis", -1).build());
            return to;
        }
    }

    private static CompiledPlan plan(Kind kind, int n, boolean parallel) {
        Executor.Builder options = Executor.builder().fusion(false);
        try (Executor executor = (parallel ? options.threads(2).eager() : options).build()) {
            Program program = kind.program(n);
            program.global().vars().stream().filter(VarDesc::isPersistable)
                    .forEach(desc -> executor.scope().set(desc.name(), Bits.floats(1)));
            return executor.compile(program, feeds("x"), fetches("y")).specialisation(executor.scope(), Bits.floats(1));
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void theWorkForDependenciesGrowsWithTheProgram(Kind kind) {
        Dependencies small = plan(kind, SMALL, true).dependencies();
        Dependencies large = plan(kind, FACTOR * SMALL, true).dependencies();
        long least = SMALL - SMALL / 10;
        assertTrue(small.found() >= least, () -> "there are dependencies: " + small.found());
        assertTrue(large.found() <= 1.1 * FACTOR * small.found(),
                () -> "found " + small.found() + ", then " + large.found());
        assertTrue(small.examined() >= small.kept(), () -> "the count counts: " + small.examined());
        assertTrue(large.examined() <= 1.1 * FACTOR * small.examined() + SMALL,
                () -> "examined " + small.examined() + ", then " + large.examined());
        assertTrue(large.kept() <= 4L * FACTOR * SMALL, () -> "kept " + large.kept());
    }

    /** The dependencies after the transitive reduction imply all that were found. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void nothingIsLost(Kind kind) {
        CompiledPlan plan = plan(kind, 300, true);
        int n = plan.tasks().size();
        boolean[][] reached = new boolean[n][n];
        for (int i = 0; i < n; i++) {
            for (int other : plan.dependencies().before()[i]) {
                reached[i][other] = true;
                for (int far = 0; far < other; far++) {
                    reached[i][far] |= reached[other][far];
                }
            }
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) {
                if (conflict(plan, j, i)) {
                    assertTrue(reached[i][j], "task " + i + " must wait for task " + j);
                }
            }
            for (int other : plan.dependencies().before()[i]) {
                int kept = other;
                assertTrue(
                        Arrays.stream(plan.dependencies().before()[i])
                                .noneMatch(each -> each != kept && reached[each][kept]),
                        "task " + i + " waits for task " + kept + " though that follows from others");
            }
        }
    }

    private static boolean conflict(CompiledPlan plan, int first, int second) {
        return meet(plan, plan.tasks().get(first).writes(), plan.tasks().get(second).reads())
                || meet(plan, plan.tasks().get(first).reads(), plan.tasks().get(second).writes())
                || meet(plan, plan.tasks().get(first).writes(), plan.tasks().get(second).writes());
    }

    private static boolean meet(CompiledPlan plan, int[] some, int[] others) {
        for (int a : some) {
            for (int b : others) {
                if (plan.values().memory(a) == plan.values().memory(b)) {
                    return true;
                }
            }
        }
        return false;
    }

    @ParameterizedTest
    @CsvSource({"CHAIN,true", "CHAIN,false", "RANDOM,true", "RANDOM,false", "TRAINING,true", "TRAINING,false"})
    void largePlansCompute(Kind kind, boolean parallel) {
        Executor.Builder options = Executor.builder();
        try (Executor executor = (parallel ? options.threads(2).eager() : options).build();
                Executor plain = Executor.builder().memoryPlan(false).inPlace(false).fusion(false).build()) {
            Program program = kind.program(2_000);
            for (Executor each : List.of(executor, plain)) {
                program.global().vars().stream().filter(VarDesc::isPersistable)
                        .forEach(desc -> each.scope().set(desc.name(), Bits.floats(1)));
            }
            Plan plan = executor.compile(program, feeds("x"), fetches("y"));
            Plan expected = plain.compile(program, feeds("x"), fetches("y"));
            for (int run = 1; run <= 2; run++) {
                assertEquals(expected.run(Bits.floats(run)).scalar("y"), plan.run(Bits.floats(run)).scalar("y"),
                        "run " + run);
            }
        }
    }
}
