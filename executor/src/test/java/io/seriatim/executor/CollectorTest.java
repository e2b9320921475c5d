package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Device;
import io.seriatim.device.Devices;
import io.seriatim.device.MemoryStats;
import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how much memory runs use, when they free it, and that they free all of it. */
@Tag("slow")
class CollectorTest {
    private static final int WARM = 5;
    private static final int RUNS = 100;
    private static final long ROUNDING = 1024;

    static Stream<Arguments> options() {
        return Stream.of("cpu", "sim:0", "mixed")
                .flatMap(place -> Stream.of(1, 3)
                        .flatMap(threads -> Stream.of(Arguments.of(place, threads, true, Collector.FAST),
                                Arguments.of(place, threads, false, Collector.FAST),
                                Arguments.of(place, threads, false, Collector.EVENT),
                                Arguments.of(place, threads, false, Collector.NONE))));
    }

    /** Returns a network that trains and overwrites one of its feeds. */
    private static Network plain() {
        return Network.define(7, g -> {
            Value x = g.data("x", FLOAT32, -1, 6);
            Value hidden = g.dropout(g.linear(x, 16).relu(), 0.2);
            Value loss = g.linear(hidden.times(0.5).tanh().plus(hidden), 3).square().mean();
            g.minimize(loss, Adam.of(0.01));
            Value last = x.tanh();
            g.op("set_value").in("Input", x).in("ValueTensor", g.full(FLOAT32, 1, 1)).attr("axes", new long[]{0})
                    .attr("starts", new long[]{0})
                    .attr("ends", new long[]{1}).attr("steps", new long[]{1}).attr("dtype", 5).to("Out", x).append();
            return Outputs.of("loss", loss, "last", x.plus(last));
        });
    }

    /** Returns a network with shapes that depend on data, a branch and a loop. */
    private static Network dynamic() {
        return Network.define(7, g -> {
            Value x = g.data("x", FLOAT32, -1, 6);
            Value hidden = g.linear(x, 16).relu();
            Value chosen = hidden.maskedSelect(hidden.greaterThan(0.2)).sum();
            Value branch = g.ifElse(chosen.greaterThan(1), () -> hidden.times(0.5).tanh(), () -> hidden.plus(1));
            Value last = g.full(INT64, 3, 1);
            List<Value> loop = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.getLast().times(0.5)),
                    g.full(INT64, 0, 1), branch);
            Value loss = g.linear(loop.getLast(), 3).square().mean();
            g.minimize(loss, Adam.of(0.01));
            return Outputs.of("loss", loss, "chosen", chosen);
        });
    }

    private static Executor.Builder builder(String place, int threads) {
        return Executor.builder().place(place.equals("mixed") ? Place.CPU : Place.parse(place)).threads(threads)
                .eager();
    }

    @ParameterizedTest
    @MethodSource("options")
    void runsTakeNothingThatTheyDoNotGiveBack(String place, int threads, boolean memoryPlan, Collector collector) {
        train(plain(), place, builder(place, threads).memoryPlan(memoryPlan).collector(collector), false);
    }

    /** The memory of tensors that the interpreter allocated is freed when they are garbage collected. */
    @ParameterizedTest
    @MethodSource("options")
    void nothingLeaksFromBranchesAndLoops(String place, int threads, boolean memoryPlan, Collector collector) {
        train(dynamic(), place, builder(place, threads).memoryPlan(memoryPlan).collector(collector).specialisations(2),
                true);
    }

    private static void train(Network network, String place, Executor.Builder options, boolean garbage) {
        Program main = place.equals("mixed")
                ? RandomNetworks.placed(network.main(), 3, RandomPlacementTest.PLACES)
                : network.main();
        Tensor[] batches = {Bits.normal(1, 4, 6), Bits.normal(2, 5, 6)};
        try (Devices devices = Devices.builder().build(); Executor executor = options.devices(devices).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(main, feeds("x"), new Fetches(Expected.names(network)));
            List<Device> all = List.of(devices.host(), devices.get(Place.sim(0)), devices.get(Place.sim(1)));
            List<Resources> warm = List.of();
            List<MemoryStats> stats = List.of();
            int runs = garbage ? RUNS / 2 : RUNS;
            // Shapes that depend on data are compiled when they come for the second time.
            int last = garbage ? RUNS / 4 : WARM;
            for (int i = 0; i < runs; i++) {
                plan.run(batches[i % 2]).all().values().forEach(Tensor::close);
                if (i == last) {
                    warm = garbage ? all.stream().map(Resources::of).toList() : List.of();
                    stats = all.stream().map(Device::memory).toList();
                }
            }
            warm.forEach(each -> each.assertMemoryGivenBack("after " + runs + " runs"));
            for (int i = 0; i < all.size() && !garbage; i++) {
                MemoryStats before = stats.get(i);
                MemoryStats now = all.get(i).memory();
                // The garbage collector may have freed some memory that was in use before.
                assertTrue(now.buffers() <= before.buffers() && now.used() <= before.used(),
                        () -> "at first " + before + ", then " + now);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "sim:0"})
    void memoryComesBackAtTheLastUse(String place) {
        long fast = peak(place, builder(place, 1).memoryPlan(false).collector(Collector.FAST));
        long event = peak(place, builder(place, 1).memoryPlan(false).collector(Collector.EVENT));
        long none = peak(place, builder(place, 1).memoryPlan(false).collector(Collector.NONE));
        long planned = peak(place, builder(place, 1));
        String all = "fast " + fast + ", event " + event + ", none " + none + ", planned " + planned;
        assertTrue(3 * fast < none, all);
        assertTrue(event <= none, all);
        assertTrue(planned <= fast + ROUNDING, all);
    }

    /** Returns the peak memory of a chain of 40 operations on 256 KiB. */
    private static long peak(String place, Executor.Builder options) {
        Network chain = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 256);
            Value y = x;
            for (int i = 0; i < 20; i++) {
                y = y.softmax(-1).transpose(1, 0).matmul(y, false, false);
            }
            return Outputs.of("y", y.mean());
        });
        String y = Objects.requireNonNull(chain.outputs().get("y")).name();
        try (Devices devices = Devices.builder().build(); Executor executor = options.devices(devices).build()) {
            Plan plan = executor.compile(chain.main(), feeds("x"), fetches(y));
            plan.run(Bits.normal(1, 256, 256));
            return devices.get(Place.parse(place)).memory().peak();
        }
    }
}
