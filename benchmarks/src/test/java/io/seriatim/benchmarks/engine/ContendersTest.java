package io.seriatim.benchmarks.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every contender that runs the operations ends with the serial program's result, whatever number of threads pushes.
 */
class ContendersTest {
    private static final int OPS = 2000;
    private static final int SPIN = 2;

    static Stream<Arguments> worksAndPushers() {
        return Workload.NAMES.stream().flatMap(name -> Stream.of(1, 2, 4).map(pushers -> Arguments.of(name, pushers)));
    }

    @ParameterizedTest
    @MethodSource("worksAndPushers")
    void futures(String workload, int pushers) throws Exception {
        for (int workers = 1; workers <= 2; workers++) {
            check(new FutureChains(workers), workload, pushers);
        }
    }

    @ParameterizedTest
    @MethodSource("worksAndPushers")
    void engines(String workload, int pushers) throws Exception {
        for (EngineSetting setting : EngineSetting.values()) {
            check(SeriatimEngine.of(setting, 2), workload, pushers);
        }
    }

    @ParameterizedTest
    @MethodSource("worksAndPushers")
    void theSerialLoop(String workload, int pushers) throws Exception {
        check(new SerialLoop(), workload, pushers);
    }

    private static void check(Contender contender, String workload, int pushers) throws Exception {
        try (contender) {
            assertEquals(ResultCheck.SAME, contender.run(Work.of(workload, OPS, SPIN, pushers)).check(),
                    contender.name());
        }
    }
}
