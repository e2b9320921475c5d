package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.parallel.Exchange;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the programs of ranks that train together, beside a training of one process with the whole batch. */
@Timeout(ThreadRanks.LIMIT_SECONDS)
class RanksTest {
    private static final double TOLERANCE = 2e-5;
    private static final int ROWS = 12;
    private static final int STEPS = 4;

    private static Network network(Optimizer optimizer, BiFunction<Graph, Value, Value> body) {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, 36);
            Value scores = g.linear(body.apply(g, x), 3);
            Value labels = g.data("y", INT64, -1, 1);
            Value loss = g.softmaxCrossEntropy(scores, labels).mean();
            Value accuracy = g.accuracy(scores, labels, 1);
            g.minimize(loss, optimizer);
            return Outputs.of("loss", loss, "scores", scores, "accuracy", accuracy);
        });
    }

    private static Network network(String name) {
        return switch (name) {
            case "mlp" -> network(Adam.of(0.01).clip(Clip.globalNorm(0.5)),
                    (g, x) -> g.linear(g.linear(x, 40).relu(), 24).tanh());
            // The weights of the second layer fill a bucket.
            case "wide" -> network(Adam.of(0.01), (g, x) -> g.linear(g.linear(x, 300).tanh(), 300).tanh());
            case "conv" -> network(Momentum.of(0.05), (g, x) -> g.conv2d(x.reshape(-1, 1, 6, 6), 4, 3, 1, 1).relu()
                    .maxPool2d(2, 2, 0).flatten(1));
            case "loop" -> network(Adam.of(0.01).clip(Clip.globalNorm(0.5)), RanksTest::looped);
            case "update" -> BranchesOfOptimizers.in(network(Momentum.of(0.05), (g, x) -> g.linear(x, 8).tanh()));
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static Value looped(Graph g, Value x) {
        Value first = g.linear(x, 8).tanh();
        Value weights = g.parameter(ParameterSpec.DEFAULT, FLOAT32, 8, 8);
        Value last = g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(INT64, 3, 1))),
                v -> List.of(v.getFirst().plus(1), v.get(1).matmul(weights).plus(first).tanh()),
                g.full(INT64, 0, 1), first).get(1);
        return g.ifElse(g.full(INT64, 1, 1).greaterThan(0), () -> g.linear(last, 6).relu(), () -> g.linear(last, 6));
    }

    private static Tensor[] batch(int step) {
        return batch(step, ROWS);
    }

    private static Tensor[] batch(int step, int rows) {
        return new Tensor[]{Bits.normal(step, rows, 36), Bits.below(3, step, rows, 1)};
    }

    private static List<String> fetches(Network network) {
        return List.of(network.outputs().get("loss").name(), network.outputs().get("accuracy").name(),
                network.outputs().get("scores").name());
    }

    private static DataParallel alone(Network network, String places) {
        return DataParallel.of(network.main(), network.startup(), List.of("x", "y"), fetches(network).getFirst(),
                fetches(network), List.of(places.split(",")).stream().map(Place::parse).toList());
    }

    /** What a rank has after some steps: its variables, and the fetches of the last step. */
    private record Trained(Map<String, Tensor> variables, List<Tensor> fetched, List<Double> losses) {
    }

    /** Each rank begins with other values than rank 0, which are overwritten. */
    private static Trained train(DataParallel parallel, Communicator ranks, int threads) {
        return train(parallel, ranks, threads, ROWS);
    }

    private static Trained train(DataParallel parallel, Communicator ranks, int threads, int rows) {
        try (Executor executor = Executor.builder().communicator(ranks).threads(threads).build()) {
            executor.run(parallel.startup().copy().randomSeed(ranks.rank()));
            Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()),
                    new Fetches(parallel.fetches()));
            List<Double> losses = new ArrayList<>();
            Results results = null;
            for (int i = 0; i < STEPS; i++) {
                results = plan.run(parallel.split(batch(i, rows)));
                losses.add(results.scalar(parallel.loss()));
            }
            List<Tensor> fetched = new ArrayList<>();
            Results last = Objects.requireNonNull(results);
            for (String name : parallel.fetches()) {
                fetched.add(Bits.copy(last.get(name)));
            }
            Map<String, Tensor> variables = new LinkedHashMap<>();
            for (VarDesc desc : parallel.main().persistables()) {
                Tensor tensor = executor.scope().find(desc.name());
                if (tensor != null) {
                    variables.put(desc.name(), Bits.copy(tensor));
                }
            }
            return new Trained(variables, fetched, losses);
        }
    }

    @ParameterizedTest
    @CsvSource({"mlp,2,1,cpu", "mlp,3,2,cpu", "conv,2,2,cpu", "conv,4,1,cpu", "wide,2,2,cpu", "mlp,2,2,'cpu,cpu'",
            "conv,3,1,'cpu,cpu'", "loop,2,2,cpu", "loop,2,1,'cpu,cpu'", "update,2,2,cpu",
            "update,2,1,'cpu,cpu'"})
    void allRanksHaveTheSameBitsAndThoseOfOneProcessButForRounding(String name, int size, int threads, String places)
            throws Exception {
        Network network = network(name);
        DataParallel alone = alone(network, places);
        List<Trained> all = ThreadRanks.run(size, ranks -> train(alone.ofRank(ranks.rank(), size), ranks, threads));
        List<Trained> again = ThreadRanks.run(size, ranks -> train(alone.ofRank(ranks.rank(), size), ranks, threads));
        Trained one = ThreadRanks.run(1, ranks -> train(alone(network, "cpu"), ranks, 1)).getFirst();
        for (Trained each : List.of(all.get(size - 1), again.getFirst(), again.get(size - 1))) {
            assertEquals(all.getFirst().losses(), each.losses());
            all.getFirst().variables().forEach((variable, tensor) -> Bits.assertSame(tensor,
                    Objects.requireNonNull(each.variables().get(variable)), variable));
            for (int i = 0; i < each.fetched().size(); i++) {
                Bits.assertSame(all.getFirst().fetched().get(i), each.fetched().get(i), "fetch " + i);
            }
        }
        one.variables().forEach((variable, tensor) -> assertArrayEquals(tensor.toDoubleArray(),
                Objects.requireNonNull(all.getFirst().variables().get(variable)).toDoubleArray(), TOLERANCE, variable));
        for (int i = 0; i < one.fetched().size(); i++) {
            assertArrayEquals(one.fetched().get(i).toDoubleArray(), all.getFirst().fetched().get(i).toDoubleArray(),
                    TOLERANCE, "fetch " + i);
        }
    }

    /** Gradients are rounded on their way, the loss and metrics are not. */
    @ParameterizedTest
    @CsvSource({"mlp,2,1,cpu", "wide,3,2,cpu", "conv,2,2,'cpu,cpu'"})
    void gradientsTravelAsBfloat16(String name, int size, int threads, String places) throws Exception {
        Exchange exchange = Exchange.PLAIN.bfloat16(true);
        DataParallel alone = alone(network(name), places);
        List<OpDesc> sums = alone.ofRank(0, size, exchange).main().global().ops().stream()
                .filter(op -> op.type().equals("c_allreduce_sum")).toList();
        assertEquals(1, sums.stream().filter(op -> !isBfloat16(op)).count(), "the loss and the metric");
        assertTrue(sums.stream().anyMatch(RanksTest::isBfloat16));
        List<Trained> all = ThreadRanks.run(size,
                ranks -> train(alone.ofRank(ranks.rank(), size, exchange), ranks, threads));
        List<Trained> plain = ThreadRanks.run(size, ranks -> train(alone.ofRank(ranks.rank(), size), ranks, threads));
        // The first loss is before any update.
        assertEquals(plain.getFirst().losses().getFirst(), all.getFirst().losses().getFirst());
        boolean differs = false;
        for (Map.Entry<String, Tensor> each : all.getFirst().variables().entrySet()) {
            all.forEach(rank -> Bits.assertSame(each.getValue(),
                    Objects.requireNonNull(rank.variables().get(each.getKey())), each.getKey()));
            Tensor other = Objects.requireNonNull(plain.getFirst().variables().get(each.getKey()));
            differs |= !Bits.same(each.getValue(), other);
            assertArrayEquals(other.toDoubleArray(), each.getValue().toDoubleArray(), 0.05, each.getKey());
        }
        assertTrue(differs, "nothing was rounded");
    }

    private static boolean isBfloat16(OpDesc op) {
        return op.attribute("wire_dtype") instanceof Attribute.Int(int wire) && wire == 22;
    }

    /** The parameters are those of the plain exchange to the bit, and each rank has its part of the state. */
    @ParameterizedTest
    @CsvSource({"mlp,2,1,cpu", "mlp,3,2,cpu", "conv,4,1,cpu", "wide,2,2,cpu", "mlp,9,1,cpu", "mlp,2,2,'cpu,cpu'",
            "mlp,2,2,'cpu,sim:0'", "conv,3,1,'sim:0,sim:1'", "wide,2,1,'cpu,sim:0,cpu'", "loop,2,1,'cpu,sim:0'"})
    void shardedStateGivesTheSameBits(String name, int size, int threads, String places) throws Exception {
        Network network = network(name);
        DataParallel alone = alone(network, places);
        int rows = size == 9 ? 18 : ROWS;
        List<Trained> plain = ThreadRanks.run(size, ranks -> train(alone.ofRank(ranks.rank(), size), ranks, threads,
                rows));
        Map<String, Integer> owners = alone.ofRank(0, size, Exchange.PLAIN.sharded(true)).owners();
        long all = 0;
        long[] own = new long[size];
        for (Map.Entry<String, Integer> each : owners.entrySet()) {
            long bytes = Objects.requireNonNull(plain.getFirst().variables().get(each.getKey())).shape().size();
            all += bytes;
            own[each.getValue()] += bytes;
        }
        long largest = 0;
        for (VarDesc desc : network.main().parameters()) {
            largest = Math.max(largest, desc.tensor().dims().stream().reduce(2L, (a, b) -> a * b) + 2);
        }
        for (long each : own) {
            assertTrue(each <= all / size + largest, () -> owners.toString());
        }
        List<Map<String, Tensor>> sharded = ThreadRanks.run(size, ranks -> {
            DataParallel parallel = alone.ofRank(ranks.rank(), size, Exchange.PLAIN.sharded(true));
            assertEquals(owners, parallel.owners());
            return trainSharded(parallel, ranks, threads, rows);
        });
        plain.getFirst().variables().forEach((variable, tensor) -> {
            int owner = owners.getOrDefault(variable, -1);
            for (int rank = 0; rank < size; rank++) {
                Tensor got = sharded.get(rank).get(variable);
                // Checkpoints have the state of the first place.
                if (owner < 0 || owner == rank || (rank == 0 && !variable.contains("@"))) {
                    Bits.assertSame(tensor, Objects.requireNonNull(got, variable), variable + " of rank " + rank);
                } else {
                    assertEquals(null, got, variable + " of rank " + rank);
                }
            }
        });
        assertTrue(owners.size() >= 4, owners::toString);
    }

    /** The variables after some steps; rank 0 has gathered the state of all. */
    private static Map<String, Tensor> trainSharded(DataParallel parallel, Communicator ranks, int threads, int rows) {
        try (Executor executor = Executor.builder().communicator(ranks).threads(threads).build()) {
            executor.run(parallel.startup().copy().randomSeed(ranks.rank()));
            parallel.owners().forEach((state, owner) -> {
                if (owner != ranks.rank()) {
                    Objects.requireNonNull(executor.scope().remove(state), state).close();
                    assertEquals(null, executor.scope().find(state));
                }
            });
            Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()),
                    new Fetches(parallel.fetches()));
            for (int i = 0; i < STEPS; i++) {
                plan.run(parallel.split(batch(i, rows)));
            }
            executor.run(parallel.gather());
            Map<String, Tensor> variables = new LinkedHashMap<>();
            for (VarDesc desc : parallel.main().persistables()) {
                Tensor tensor = executor.scope().find(desc.name());
                if (tensor != null) {
                    variables.put(desc.name(), Bits.copy(tensor));
                }
            }
            return variables;
        }
    }

    @Test
    void allPlacesOfARankUpdateTheSame() {
        DataParallel parallel = alone(network("mlp"), "cpu,sim:1").ofRank(1, 3, Exchange.PLAIN.sharded(true));
        Map<String, Integer> owners = parallel.owners();
        Set<String> copies = new TreeSet<>(owners.keySet());
        copies.removeIf(state -> !state.endsWith("@sim:1"));
        assertEquals(owners.size(), 2 * copies.size(), owners::toString);
        copies.forEach(state -> assertEquals(owners.get(state.replace("@sim:1", "")), owners.get(state), state));
        // A parameter travels once for all places.
        long sent = parallel.main().global().ops().stream().filter(op -> op.type().equals("c_broadcast")).count();
        assertEquals(network("mlp").main().parameters().size(), sent);
        assertTrue(alone(network("mlp"), "cpu").ofRank(0, 2).owners().isEmpty());
    }

    /** Small gradients travel together; a large one begins while backward goes on. */
    @Test
    void gradientsAreSummedInBucketsAsTheyAreComputed() {
        for (String name : List.of("mlp", "wide")) {
            List<OpDesc> ops = alone(network(name), "cpu").ofRank(1, 2).main().global().ops();
            List<Integer> sums = new ArrayList<>();
            int lastBackward = 0;
            for (int i = 0; i < ops.size(); i++) {
                if (ops.get(i).type().equals("c_allreduce_sum")) {
                    sums.add(i);
                } else if (ops.get(i).type().endsWith("_grad")) {
                    lastBackward = i;
                }
            }
            assertEquals(name.equals("mlp") ? 1 : 2, sums.size(), name);
            assertEquals(name.equals("wide"), sums.getFirst() < lastBackward, name);
        }
    }

    @Test
    void ranksDropOtherElements() throws Exception {
        Network network = network(Momentum.of(0.1), (g, x) -> g.dropout(x, 0.5));
        String mask = network.main().global().ops().stream().filter(op -> op.type().equals("dropout")).findFirst()
                .orElseThrow().output("Mask").getFirst();
        DataParallel alone = DataParallel.of(network.main(), network.startup(), List.of("x", "y"),
                fetches(network).getFirst(), List.of(), List.of(Place.CPU));
        List<Tensor> masks = new ArrayList<>();
        for (int run = 0; run < 2; run++) {
            masks.addAll(ThreadRanks.run(2, ranks -> {
                DataParallel parallel = alone.ofRank(ranks.rank(), 2);
                try (Executor executor = Executor.builder().communicator(ranks).build()) {
                    executor.run(parallel.startup());
                    return Bits.copy(executor.compile(parallel.main(), new Feeds(parallel.feedNames()),
                            Executor.fetches(mask)).run(parallel.split(batch(0))).get(mask));
                }
            }));
        }
        assertFalse(Bits.same(masks.get(0), masks.get(1)));
        Bits.assertSame(masks.get(0), masks.get(2), "rank 0");
        Bits.assertSame(masks.get(1), masks.get(3), "rank 1");
    }

    @Test
    void wrongRanksAndBatchesAreRefused() {
        DataParallel alone = alone(network("mlp"), "cpu");
        assertTrue(refusal(() -> alone.ofRank(2, 2)).contains("rank 2 of 2"));
        DataParallel parallel = alone.ofRank(0, 5);
        String message = refusal(() -> parallel.split(batch(0)));
        assertTrue(message.contains("5 ranks") && message.contains("12"), message);
        message = refusal(() -> alone(network("mlp"), "cpu,cpu").ofRank(1, 4).split(batch(0)));
        assertTrue(message.contains("4 ranks with 2 places each"), message);
        assertTrue(refusal(() -> parallel.ofRank(0, 2)).contains("rank 0 of 5 already"));
        assertEquals(alone, alone.ofRank(0, 1));
    }

    /** A rank that takes another branch would wait for the others. */
    @Test
    void normalisationOverAllRanksIsRefusedInABranch() {
        Network network = network(Momentum.of(0.05), (g, x) -> g.ifElse(x.mean().greaterThan(0),
                () -> g.batchNorm(x.reshape(-1, 4, 3, 3)).flatten(1), () -> x));
        DataParallel alone = alone(network, "cpu");
        assertEquals(2, alone.ofRank(0, 2).ranks());
        String message = refusal(() -> alone.ofRank(0, 2, Exchange.PLAIN.syncBatchNorm(true)));
        assertTrue(
                message.contains("'batch_norm' (outputs") && message.contains("in block 1, which 'conditional_block'")
                        && message.contains("move it out of the loop or branch"),
                message);
    }

    @Test
    void withoutACommunicatorTheProgramIsRefused() {
        Program main = alone(network("mlp"), "cpu").ofRank(0, 2).main();
        try (Executor executor = Executor.on(Place.CPU)) {
            String message = refusal(() -> executor.compile(main, Executor.feeds("x", "y"), Executor.fetches()));
            assertTrue(message.contains("'c_allreduce_sum'") && message.contains("no communicator"), message);
        }
    }

    private static String refusal(Runnable action) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, action::run).getMessage());
    }
}
