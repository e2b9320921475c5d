package io.seriatim.benchmarks.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.trace.TimeShares;
import io.seriatim.graph.program.Program;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class TrainProgramsTest {
    private static final Setting SETTING = new Setting(true, Setting.Precision.F32, Set.of());

    /** Without the running statistics of batch normalisation, which are parameters that are not trained. */
    private static long trained(Program program) {
        Set<String> running = program.global().ops().stream().filter(op -> op.type().equals("batch_norm"))
                .flatMap(op -> Stream.concat(op.input("Mean").stream(), op.input("Variance").stream()))
                .collect(Collectors.toSet());
        return program.parameters().stream().filter(parameter -> !running.contains(parameter.name()))
                .mapToLong(parameter -> Arrays.stream(parameter.tensor().shape()).reduce(1, (a, b) -> a * b)).sum();
    }

    /**
     * As {@code sum(p.numel() for p in m.parameters())} of PyTorch's networks says; those of the cells are 6 · 128² + 3
     * · 128 and 2 · 128 · 512 + 512 + 1,290.
     */
    @ParameterizedTest
    @CsvSource({"T1, 669706", "T2, 431080", "T3, 818241", "T4, 132874", "T4B, 98688", "T6, 11181642"})
    void haveThePeersParameters(TrainWork work, long parameters) {
        assertEquals(parameters, trained(TrainPrograms.training(work, false, false).network().main()));
        assertEquals(parameters, trained(TrainPrograms.training(work, true, false).network().main()), "for any batch");
    }

    @ParameterizedTest
    @CsvSource({"T1, 10", "T2, 10", "T3, 65", "T4, 10", "T6, 10"})
    void beginWithoutKnowledge(TrainWork work, int classes) {
        try (PlannedSteps steps = PlannedSteps.of(TrainPrograms.training(work, false, false), 1, SETTING)) {
            assertEquals(Math.log(classes), steps.step(), 0.45, work::name);
        }
    }

    @ParameterizedTest
    @EnumSource(value = TrainWork.class, names = {"T1", "T2", "T3", "T4", "T4B"})
    void aSplitBatchMakesTheSameSteps(TrainWork work) {
        try (PlannedSteps whole = PlannedSteps.of(TrainPrograms.training(work, false, false), 1, SETTING);
                PlannedSteps split = PlannedSteps.split(TrainPrograms.training(work, true, false), 2, SETTING)) {
            double first = whole.step();
            assertEquals(first, split.step(), 1e-4 * first, work::name);
            double second = whole.step();
            assertTrue(second < first, () -> work + " does not learn: " + first + ", " + second);
            assertEquals(second, split.step(), 1e-3 * second, work::name);
        }
    }

    /** The goals say that T1 takes 2.8 ms and T3 71 ms at 148 GFLOP/s. */
    @Test
    void arithmeticIsCounted() {
        long forward = 2L * 128 * (784 * 512 + 512 * 512 + 512 * 10);
        long gradientOfInput = 2L * 128 * 784 * 512;
        assertEquals(3 * forward - gradientOfInput,
                Arithmetic.of(TrainPrograms.training(TrainWork.T1, false, false).network().main()));
        long convolutions = 2L * 64 * 24 * 24 * 20 * 25 * 2 + 2L * 64 * 8 * 8 * 50 * 20 * 25 * 3;
        long layers = 3 * 2L * 64 * (800 * 500 + 500 * 10);
        assertEquals(convolutions + layers,
                Arithmetic.of(TrainPrograms.training(TrainWork.T2, false, false).network().main()));
        assertEquals(71e-3, Arithmetic.of(TrainPrograms.training(TrainWork.T3, false, false).network().main()) / 148e9,
                2e-3);
    }

    /** Masters, gradients' sums and the loss stay float32. */
    @ParameterizedTest
    @EnumSource(value = TrainWork.class, names = {"T1", "T4B"})
    void mixedPrecisionMakesNearlyTheSameSteps(TrainWork work) {
        try (PlannedSteps whole = PlannedSteps.of(TrainPrograms.training(work, false, false), 1, SETTING);
                PlannedSteps mixed = PlannedSteps.of(TrainPrograms.training(work, false, true), 1, SETTING)) {
            for (int i = 0; i < 3; i++) {
                double loss = whole.step();
                double other = mixed.step();
                assertEquals(loss, other, 0.02 * loss, work::name);
                assertTrue(i == 0 || loss != other, () -> work + " is not computed in bfloat16");
            }
        }
    }

    @Test
    void theTimeOfAStepIsToldInParts() {
        try (PlannedSteps steps = PlannedSteps.of(TrainPrograms.mlpCall(), 1, SETTING)) {
            TimeShares shares = steps.shares(1, 3);
            assertTrue(shares.busy() > 0 && shares.waiting() >= 0 && shares.idle() >= 0, shares::toString);
        }
    }

    @Test
    void aCallGivesNumbersForNumbers() {
        TrainPrograms.Task task = TrainPrograms.mlpCall();
        try (PlannedSteps steps = PlannedSteps.of(task, 1, SETTING)) {
            float[] x = task.data()[0].toFloatArray();
            float[] first = steps.call(x);
            assertEquals(10, first.length);
            x[0] += 1;
            assertFalse(Arrays.equals(first, steps.call(x)), "the result does not depend on what goes in");
            x[0] -= 1;
            assertArrayEquals(first, steps.call(x), 1e-5f);
        }
    }

    @Test
    void theChainAddsAThousandTimes() {
        TrainPrograms.Task task = TrainPrograms.chain();
        try (PlannedSteps steps = PlannedSteps.of(task, 1, SETTING)) {
            float[] x = task.data()[0].toFloatArray();
            float[] y = steps.call(x);
            for (int i = 0; i < x.length; i++) {
                assertEquals(x[i] + 1000, y[i], 0.01f);
            }
        }
    }

    @Test
    void onlyBatchNormalisationChangesWithAPart() {
        assertEquals(EnumSet.of(TrainWork.T1, TrainWork.T2, TrainWork.T3, TrainWork.T4, TrainWork.T4B),
                EnumSet.allOf(TrainWork.class).stream().filter(TrainWork::isSameWhenSplit).collect(Collectors.toSet()));
    }
}
