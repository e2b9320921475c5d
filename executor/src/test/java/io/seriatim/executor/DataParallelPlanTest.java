package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Streams;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.program.Attribute;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the plan of data-parallel training: gradient reductions overlap with the rest of the backward pass, and no task
 * of the backward pass waits for them.
 */
class DataParallelPlanTest {
    private static final int LAYERS = 6;

    private static DataParallel parallel(int count) {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, 16);
            for (int i = 0; i < LAYERS; i++) {
                x = g.linear(x, 16).tanh();
            }
            Value loss = g.softmaxCrossEntropy(g.linear(x, 5), g.data("y", INT64, -1, 1)).mean();
            g.minimize(loss, Momentum.of(0.1));
            return Outputs.of("loss", loss);
        });
        String loss = network.outputs().get("loss").name();
        List<Place> places = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            places.add(Place.sim(i));
        }
        return DataParallel.of(network.main(), network.startup(), List.of("x", "y"), loss, List.of(loss), places);
    }

    /** A plan, and for each task the set of its ancestors. */
    private record Planned(CompiledPlan plan, List<BitSet> before) {
        static Planned of(DataParallel parallel) {
            try (Devices devices = Devices.builder().build();
                    Executor executor = Executor.builder().devices(devices).place(parallel.places().getFirst())
                            .build()) {
                executor.run(parallel.startup());
                Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()),
                        new Fetches(parallel.fetches()));
                int rows = 4 * parallel.places().size();
                CompiledPlan made = plan.specialisation(executor.scope(),
                        parallel.split(Bits.normal(1, rows, 16), Bits.below(5, 1, rows, 1)));
                int[][] direct = Streams.chained(made.before(), made.streams().stream());
                List<BitSet> before = new ArrayList<>();
                for (int i = 0; i < direct.length; i++) {
                    BitSet all = new BitSet();
                    for (int each : direct[i]) {
                        all.set(each);
                        all.or(before.get(each));
                    }
                    before.add(all);
                }
                return new Planned(made, before);
            }
        }

        Task task(int index) {
            return plan.tasks().get(index);
        }

        String written(int index) {
            return plan.values().name(task(index).writes()[0]);
        }

        /** Returns whether a task sums gradients, divides a sum, or transfers either. */
        boolean isReduction(int index) {
            return written(index).contains("@GRAD")
                    && (task(index) instanceof Task.Transfer || written(index).contains("@mean"));
        }

        boolean isBackward(int index) {
            return !isReduction(index) && !task(index).operations().isEmpty()
                    && task(index).operations().getFirst().op().attribute("op_role") instanceof Attribute.Int(int role)
                    && (role & 1) == 1;
        }

        BitSet all(IntPredicate which) {
            BitSet all = new BitSet();
            for (int i = 0; i < plan.tasks().size(); i++) {
                all.set(i, which.test(i));
            }
            return all;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void backwardWaitsForNoReductionAndReductionsForNothingButTheirGradients(int places) {
        Planned planned = Planned.of(parallel(places));
        BitSet reductions = planned.all(planned::isReduction);
        BitSet backward = planned.all(planned::isBackward);
        int gradients = 2 * (LAYERS + 1);
        int expected = gradients * (2 * (places - 1) + 1);
        assertEquals(expected, reductions.cardinality(), "each gradient is sent to its owner, added up, and sent back");
        backward.stream().forEach(task -> assertFalse(planned.before().get(task).intersects(reductions),
                () -> "backward waits: " + planned.written(task)));
        reductions.stream().forEach(reduction -> {
            String gradient = ofFirst(planned.written(reduction)).replaceFirst("@GRAD.*", "@GRAD");
            BitSet needed = planned
                    .all(task -> backward.get(task) && ofFirst(planned.written(task)).startsWith(gradient));
            BitSet allowed = (BitSet) needed.clone();
            needed.stream().forEach(task -> allowed.or(planned.before().get(task)));
            BitSet waited = (BitSet) planned.before().get(reduction).clone();
            waited.and(backward);
            waited.andNot(allowed);
            assertTrue(waited.isEmpty(), () -> planned.written(reduction) + " waits for "
                    + waited.stream().mapToObj(planned::written).toList());
        });
    }

    /** The name of a gradient at the first place. */
    private static String ofFirst(String gradient) {
        return gradient.replaceFirst("@sim:\\d+@GRAD", "@GRAD");
    }

    @Test
    void eachPlaceAddsUpAboutAsManyBytes() {
        Planned planned = Planned.of(parallel(3));
        Map<String, Long> bytes = new TreeMap<>();
        planned.all(index -> planned.isReduction(index) && !(planned.task(index) instanceof Task.Transfer)).stream()
                .forEach(index -> bytes.merge(planned.task(index).place().toString(),
                        Objects.requireNonNull(planned.plan().values().spec(planned.task(index).writes()[0]))
                                .bytes(),
                        Long::sum));
        // Six buckets of 1,024 bytes, one of 320, six of 64, and one of 20.
        assertEquals(Map.of("sim:0", 2368L, "sim:1", 2260L, "sim:2", 2240L), bytes);
    }

    @Test
    void whatIsSentGoesStraightFromDeviceToDevice() {
        Planned planned = Planned.of(parallel(2));
        planned.all(planned::isReduction).stream().filter(index -> planned.task(index) instanceof Task.Transfer)
                .forEach(index -> assertEquals("memcpy_d2d", planned.task(index).name(), planned.written(index)));
    }
}
