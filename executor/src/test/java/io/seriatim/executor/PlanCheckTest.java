package io.seriatim.executor;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** {@link PlanCheck} finds no violation in the plans of random programs and of PaddlePaddle programs. */
@Tag("slow")
class PlanCheckTest {
    private static final GoldenModels TRAINING = GoldenModels.read("training.npz");
    private static final GoldenModels INFERENCE = GoldenModels.read("inference.npz");
    private static final String[][] PLACES = {{"cpu"}, {"cpu", "sim:0"}, {"sim:0"}, {"cpu", "sim:0", "sim:1"}};

    private static Supplier<Executor.Builder> options(int which) {
        return () -> switch (which) {
            case 0 -> Executor.builder();
            case 1 -> Executor.builder().threads(2).eager();
            case 2 -> Executor.builder().threads(2).eager().memoryPlan(false);
            case 3 -> Executor.builder().threads(2).eager().inPlace(false).fusion(false);
            default -> Executor.builder().sequential();
        };
    }

    private static void check(Expected program, int option) {
        try (Devices devices = Devices.builder().build();
                Executor executor = options(option).get().devices(devices).build()) {
            executor.run(program.startup());
            CompiledPlan plan = program.compile(executor).specialisation(executor.scope(), program.batch(0));
            boolean inOrder = plan.streams().isHostOnly() && executor.options().inOrder();
            PlanCheck.assertRight(plan, inOrder, program.what() + ", option " + option);
        }
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "2", "3", "4"})
    void plansOfRandomProgramsAreRight(int option) {
        for (long seed = 0; seed < 24; seed++) {
            check(Expected.random(seed, 20, 8, PLACES[(int) seed % PLACES.length]), option);
        }
        for (long seed = 2000; seed < 2006; seed++) {
            check(Expected.control(seed, seed % 2 == 0, PLACES[(int) seed % PLACES.length]), option);
        }
    }

    static Stream<Arguments> trainings() {
        return TRAINING.names().stream().flatMap(name -> Stream.of(0, 1, 3).map(places -> Arguments.of(name, places)));
    }

    @ParameterizedTest
    @MethodSource("trainings")
    void plansOfPaddlesTrainingsAreRight(String model, int places) {
        Program main = RandomNetworks.placed(TRAINING.program(model + "/main"), model.hashCode(), PLACES[places]);
        List<String> feeds = List.copyOf(TRAINING.under(model + "/shape/").keySet());
        Tensor[] batch = feeds.stream()
                .map(feed -> TRAINING.batch(model, feed, feed, TRAINING.get(model + "/shape/" + feed).toLongArray()))
                .toArray(Tensor[]::new);
        try (Devices devices = Devices.builder().build();
                Executor executor = options(1).get().devices(devices).build()) {
            executor.run(TRAINING.program(model + "/startup"));
            Plan plan = executor.compile(main, new Feeds(feeds), Executor.fetches(TRAINING.text(model + "/fetch")));
            PlanCheck.assertRight(plan.specialisation(executor.scope(), batch), false, model);
        }
    }

    static Stream<String> models() {
        return INFERENCE.names().stream();
    }

    @ParameterizedTest
    @MethodSource("models")
    void plansOfPaddlesModelsAreRight(String model) {
        Program main = INFERENCE.program(model + "/program");
        List<String> feeds = GoldenModels.columns(main, "feed");
        Tensor[] batch = feeds.stream()
                .map(feed -> INFERENCE.batch(model, feed, feed,
                        INFERENCE.get(model + "/0/shape/" + feed).toLongArray()))
                .toArray(Tensor[]::new);
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().place(Place.sim(0)).devices(devices).threads(2).eager()
                        .build()) {
            GoldenModels.setParameters(main, executor.scope());
            Plan plan = executor.compile(main, new Feeds(feeds), new Fetches(GoldenModels.columns(main, "fetch")));
            PlanCheck.assertRight(plan.specialisation(executor.scope(), batch), false, model);
        }
    }
}
