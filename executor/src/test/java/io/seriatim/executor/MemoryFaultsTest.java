package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.DeviceMemoryException;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.device.SimOptions;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests runs on a device with too little memory. */
@Tag("slow")
class MemoryFaultsTest {
    private static final long LIMIT = 1 << 20;

    private static DeviceMemoryException memory(Throwable thrown) {
        for (Throwable each = thrown; each != null; each = each.getCause()) {
            if (each instanceof DeviceMemoryException exception) {
                return exception;
            }
        }
        throw new AssertionError("There is no lack of memory among the causes", thrown);
    }

    private static Devices small(Place place) {
        Devices.Builder builder = Devices.builder();
        return place.isHost()
                ? builder.cpuMemory(LIMIT).build()
                : builder.sim(SimOptions.DEFAULT.withMemory(LIMIT)).build();
    }

    private static Network training() {
        return Network.define(2, g -> {
            Value x = g.data("x", FLOAT32, -1, 32);
            Value loss = g.linear(g.linear(x, 32).tanh(), 8).square().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
    }

    @ParameterizedTest
    @CsvSource({"1,cpu,true", "3,cpu,true", "1,sim:0,true", "3,sim:0,true", "1,cpu,false", "3,cpu,false",
            "1,sim:0,false", "3,sim:0,false"})
    void tooLargeABatchFailsAndSmallerOnesDoNot(int threads, String where, boolean memoryPlan) {
        Place place = Place.parse(where);
        Network network = training();
        String loss = network.outputs().get("loss").name();
        try (Devices devices = small(place); Executor plenty = Executor.builder().build()) {
            plenty.run(network.startup());
            Plan expected = plenty.compile(network.main(), feeds("x"), fetches(loss));
            try (Executor executor = Executor.builder().threads(threads).eager().devices(devices).place(place)
                    .memoryPlan(memoryPlan)
                    .build()) {
                executor.run(network.startup());
                Plan plan = executor.compile(network.main(), feeds("x"), fetches(loss));
                for (int run = 0; run < 3; run++) {
                    Tensor few = Bits.normal(run, 20 + run, 32);
                    Bits.assertSame(expected.run(few).get(loss), plan.run(few).get(loss), "run " + run);
                    Map<String, Tensor> before = new LinkedHashMap<>();
                    executor.scope().names()
                            .forEach(name -> before.put(name, Bits.copy(Bits.onHost(executor.scope().get(name)))));
                    Tensor many = Bits.normal(run, 20_000, 32);
                    RuntimeException thrown = assertThrows(RuntimeException.class, () -> plan.run(many));
                    assertTrue(String.valueOf(memory(thrown).getMessage()).contains(where),
                            String.valueOf(memory(thrown).getMessage()));
                    assertTrue(thrown instanceof ProgramFailedException, () -> "not clear: " + thrown);
                    before.forEach(
                            (name, value) -> Bits.assertSame(value, Bits.onHost(executor.scope().get(name)),
                                    name + " after the failure"));
                }
                Resources now = Resources.of(devices.get(place));
                for (int run = 0; run < 5; run++) {
                    assertThrows(RuntimeException.class, () -> plan.run(Bits.normal(1, 20_000, 32)));
                }
                now.assertMemoryGivenBack("after failures");
            }
        }
    }

    /** A value whose size is known only at run time exceeds the memory within a loop. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aLoopThatGrowsTooFar(int threads) {
        Network network = Network.define(g -> {
            Value count = g.data("count", INT64, 1);
            return Outputs.of("size", grown(g, count).sum());
        });
        String size = network.outputs().get("size").name();
        try (Devices devices = small(Place.CPU);
                Executor executor = Executor.builder().threads(threads).eager().devices(devices).build()) {
            Plan plan = executor.compile(network.main(), feeds("count"), fetches(size));
            for (int run = 0; run < 3; run++) {
                assertEquals(64 * 16, plan.run(Bits.longs(4)).scalar(size));
                RuntimeException thrown = assertThrows(RuntimeException.class, () -> plan.run(Bits.longs(40)));
                assertNotNull(memory(thrown));
                assertTrue(thrown instanceof ProgramFailedException, () -> "not clear: " + thrown);
            }
            assertEquals(64 * 32, plan.run(Bits.longs(5)).scalar(size), "the next run works");
        }
    }

    private static Value grown(Graph g, Value count) {
        return g.whileLoop(v -> List.of(v.getFirst().lessThan(count)),
                v -> List.of(v.getFirst().plus(1), g.concat(0, v.get(1), v.get(1))),
                g.full(INT64, 0, 1), g.full(FLOAT32, 1, 64)).get(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void closingAnExecutorGivesEverythingBack(int threads) {
        Network network = training();
        String loss = network.outputs().get("loss").name();
        try (Devices devices = Devices.builder().build()) {
            Resources before = Resources.of(devices.host());
            for (int round = 0; round < 3; round++) {
                try (Executor executor = Executor.builder().threads(threads).eager().devices(devices).specialisations(2)
                        .build()) {
                    executor.run(network.startup());
                    Plan plan = executor.compile(network.main(), feeds("x"), fetches(loss));
                    for (int run = 0; run < 6; run++) {
                        plan.run(Bits.normal(run, 1 + run, 32));
                    }
                    assertTrue(devices.host().memory().used() > 0, "the memory of these devices is used");
                }
            }
            before.assertGivenBack("after executors were closed");
        }
    }
}
