package io.seriatim.cli.bench.train;

import java.util.List;
import java.util.Set;

/** The first steps of the works, without a measurement. */
public final class TrainRehearsal {
    private static final int STEPS = 3;
    private static final int THREADS = 2;
    private static final Setting SETTING = new Setting(true, Setting.Precision.F32, Set.of());

    private TrainRehearsal() {
    }

    /** Runs them one after the other. */
    public static void run() {
        for (TrainWork work : List.of(TrainWork.T3, TrainWork.T2, TrainWork.T1)) {
            try (PlannedSteps steps = PlannedSteps.of(TrainPrograms.training(work, false, false), THREADS, SETTING)) {
                for (int i = 0; i < STEPS; i++) {
                    steps.step();
                }
            }
        }
        TrainPrograms.Task call = TrainPrograms.mlpCall();
        try (PlannedSteps steps = PlannedSteps.of(call, 1, SETTING)) {
            float[] x = call.data()[0].toFloatArray();
            for (int i = 0; i < STEPS; i++) {
                steps.call(x);
            }
        }
    }
}
