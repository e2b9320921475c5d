package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.parallel.Exchange;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Batch normalisation over the rows of all ranks, beside that of one process with all rows. */
@Timeout(ThreadRanks.LIMIT_SECONDS)
class SyncBatchNormTest {
    private static final long SEED = Long.getLong("seriatim.seed", 27_300);
    private static final List<String> FORWARD = List.of("y", "mean_out", "variance_out", "saved_mean",
            "saved_variance");
    private static final List<String> BACKWARD = List.of("dx", "dscale", "dbias");

    /** A normalisation and its gradient of a given dy. */
    private static Program program(String type, DType dtype, Map<String, Object> attributes, boolean isAffine) {
        Program program = new Program();
        List<String> names = new ArrayList<>(List.of("x", "dy", "scale", "bias", "mean", "variance"));
        names.addAll(FORWARD);
        names.addAll(BACKWARD);
        for (String name : names) {
            boolean isImage = List.of("x", "dy", "y", "dx").contains(name);
            program.global().put(VarDesc.of(name, VarType.dense(isImage ? dtype : dtype.arithmetic(), -1)));
        }
        OpDesc.Builder forward = OpDesc.of(type).in("X", "x").in("Mean", "mean").in("Variance", "variance")
                .out("Y", "y").out("MeanOut", "mean_out").out("VarianceOut", "variance_out")
                .out("SavedMean", "saved_mean").out("SavedVariance", "saved_variance");
        // The inputs of Paddle's files; those with Mean are of gradients with running statistics.
        OpDesc.Builder backward = OpDesc.of(type + "_grad").in("X", "x").in("SavedMean", "saved_mean")
                .in("SavedVariance", "saved_variance").in("Y@GRAD", "dy").in("Mean", "mean")
                .in("Variance", "variance").out("X@GRAD", "dx");
        if (isAffine) {
            forward.in("Scale", "scale").in("Bias", "bias");
            backward.in("Scale", "scale").in("Bias", "bias").out("Scale@GRAD", "dscale").out("Bias@GRAD", "dbias");
        }
        attributes.forEach((name, value) -> {
            forward.attr(name, value);
            backward.attr(name, value);
        });
        program.global().add(forward.build());
        program.global().add(backward.build());
        return program;
    }

    private static Map<String, double[]> run(Program program, Map<String, Tensor> feeds, Communicator ranks,
            boolean isInterpreted, List<String> fetches) {
        Map<String, double[]> values = new LinkedHashMap<>();
        if (isInterpreted) {
            Interpreter.of(Kernels.system()).communicator(ranks).run(program, feeds, fetches)
                    .forEach((name, tensor) -> values.put(name, tensor.toDoubleArray()));
            return values;
        }
        try (Executor executor = Executor.builder().communicator(ranks).threads(2).build()) {
            executor.run(program, feeds, new Fetches(fetches)).all()
                    .forEach((name, tensor) -> values.put(name, tensor.toDoubleArray()));
        }
        return values;
    }

    private static Tensor random(Random random, DType dtype, double offset, double spread, long... dims) {
        int size = 1;
        for (long dim : dims) {
            size *= (int) dim;
        }
        double[] values = new double[size];
        for (int i = 0; i < size; i++) {
            values[i] = offset + spread * random.nextGaussian();
        }
        return Tensor.of(dtype, values, dims);
    }

    private static double[] rows(double[] all, long from, long to, long rows) {
        int row = all.length / (int) rows;
        double[] part = new double[(int) (to - from) * row];
        System.arraycopy(all, (int) from * row, part, 0, part.length);
        return part;
    }

    /**
     * A drawn normalisation of all rows, and where each part's rows end.
     *
     * @param ends
     *            from 0 to all rows: parts have other numbers of rows, also one
     * @param feeds
     *            of all rows; values may be far from zero
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Drawn(int number, DType dtype, boolean isAffine, long[] ends, long channels,
            Map<String, Tensor> feeds, Map<String, Object> attributes) {
        private static final long[][] SHAPES = {{3}, {5, 2, 3}, {2, 7}, {4, 3, 3, 2}, {33}, {1, 1}};
        private static final int COUNT = 4 * SHAPES.length;

        static Drawn of(Random random, int number, int parts) {
            long[] tail = SHAPES[number % SHAPES.length];
            DType dtype = List.of(FLOAT32, DType.FLOAT64, DType.BFLOAT16, FLOAT32).get(number / SHAPES.length);
            boolean isLast = random.nextBoolean();
            long[] ends = new long[parts + 1];
            for (int i = 0; i < parts; i++) {
                ends[i + 1] = ends[i] + 1 + random.nextInt(4);
            }
            ends[parts] = Math.max(2, ends[parts]);
            long[] dims = new long[tail.length + 1];
            dims[0] = ends[parts];
            System.arraycopy(tail, 0, dims, 1, tail.length);
            long channels = tail.length == 1 || isLast ? tail[tail.length - 1] : tail[0];
            DType wide = dtype.arithmetic();
            Map<String, Tensor> feeds = new LinkedHashMap<>();
            feeds.put("x", random(random, dtype, number % 3 == 0 ? 100 : 0, 2, dims));
            feeds.put("dy", random(random, dtype, 0.1, 1, dims));
            feeds.put("scale", random(random, wide, 1, 0.3, channels));
            feeds.put("bias", random(random, wide, 0, 1, channels));
            feeds.put("mean", random(random, wide, 0, 1, channels));
            feeds.put("variance", random(random, wide, 3, 0.1, channels));
            return new Drawn(number, dtype, number % 5 != 4, ends, channels, feeds,
                    Map.of("data_layout", isLast ? "NHWC" : "NCHW", "momentum", 0.8f, "epsilon",
                            number % 2 == 0 ? 1e-5f : 1e-3f));
        }

        long rows() {
            return ends[ends.length - 1];
        }

        /** The rows of x or dy that a part has. */
        Tensor rows(String name, int part) {
            return Bits.copy(Objects.requireNonNull(feeds.get(name)).slice(0, ends[part], ends[part + 1]));
        }

        List<String> fetches() {
            List<String> fetches = new ArrayList<>(FORWARD);
            fetches.addAll(isAffine ? BACKWARD : List.of("dx"));
            return fetches;
        }

        /** What one process computes with all rows. */
        Map<String, double[]> whole(boolean isInterpreted) {
            return run(program("batch_norm", dtype, attributes, isAffine), feeds, new OneRank(), isInterpreted,
                    fetches());
        }

        double tolerance() {
            return dtype == DType.FLOAT64 ? 1e-9 : dtype == FLOAT32 ? 2e-3 : 6e-2;
        }

        @Override
        public String toString() {
            return "shape " + List.of(rows(), channels) + " " + dtype + ", case " + number + " of seed " + SEED;
        }
    }

    @ParameterizedTest
    @CsvSource({"2,false", "3,false", "2,true", "4,true", "1,false"})
    void ranksNormaliseLikeOneProcessWithAllRows(int size, boolean isInterpreted) throws Exception {
        Random random = new Random(SEED + size);
        for (int number = 0; number < Drawn.COUNT; number++) {
            Drawn drawn = Drawn.of(random, number, size);
            long[] ends = drawn.ends();
            List<String> fetches = drawn.fetches();
            Map<String, double[]> whole = drawn.whole(isInterpreted);
            List<Map<String, double[]>> parts = ThreadRanks.run(size, ranks -> {
                Map<String, Tensor> own = new LinkedHashMap<>(drawn.feeds());
                for (String each : List.of("x", "dy")) {
                    own.put(each, drawn.rows(each, ranks.rank()));
                }
                return run(program("sync_batch_norm", drawn.dtype(), drawn.attributes(), drawn.isAffine()), own, ranks,
                        isInterpreted, fetches);
            });
            double tolerance = drawn.tolerance();
            for (String name : fetches) {
                double[] sum = new double[Objects.requireNonNull(whole.get(name)).length];
                for (int rank = 0; rank < size; rank++) {
                    double[] got = Objects.requireNonNull(parts.get(rank).get(name));
                    String which = name + " of rank " + rank + ", " + drawn;
                    if (name.equals("y") || name.equals("dx")) {
                        assertArrayEquals(rows(Objects.requireNonNull(whole.get(name)), ends[rank], ends[rank + 1],
                                drawn.rows()), got, tolerance, which);
                    } else if (FORWARD.contains(name)) {
                        assertArrayEquals(whole.get(name), got, tolerance, which);
                        assertArrayEquals(parts.getFirst().get(name), got, 0, which + " beside rank 0");
                    }
                    for (int i = 0; i < sum.length && got.length == sum.length; i++) {
                        sum[i] += got[i];
                    }
                }
                if (name.equals("dscale") || name.equals("dbias")) {
                    assertArrayEquals(whole.get(name), sum, 20 * tolerance, name + ", case " + number);
                }
            }
        }
    }

    /** A process alone. */
    private static final class OneRank implements Communicator {
        @Override
        public int rank() {
            return 0;
        }

        @Override
        public int size() {
            return 1;
        }

        @Override
        public void allReduce(MemorySegment data, DType type) {
            throw new IllegalStateException("nobody is there");
        }

        @Override
        public void reduceScatter(MemorySegment data, MemorySegment result,
                DType type) {
            throw new IllegalStateException("nobody is there");
        }

        @Override
        public void allGather(MemorySegment part, MemorySegment result) {
            throw new CommunicationException("the other rank has died", 1, null);
        }

        @Override
        public void broadcast(MemorySegment data, int root) {
            throw new IllegalStateException("nobody is there");
        }

        @Override
        public void barrier() {
            throw new IllegalStateException("nobody is there");
        }
    }

    private static Map<String, Tensor> feeds() {
        Random random = new Random(SEED);
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        feeds.put("x", random(random, FLOAT32, 1, 2, 4, 3));
        feeds.put("dy", random(random, FLOAT32, 1, 2, 4, 3));
        for (String name : List.of("scale", "bias", "mean", "variance")) {
            feeds.put(name, random(random, FLOAT32, 3, 0.1, 3));
        }
        return feeds;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void withRunningStatisticsNobodyIsAsked(boolean isInterpreted) {
        for (String attribute : List.of("use_global_stats", "is_test")) {
            List<String> fetches = List.of("y", "dx");
            Map<String, Object> attributes = Map.of(attribute, true);
            Map<String, double[]> own = run(program("batch_norm", FLOAT32, attributes, true), feeds(), new OneRank(),
                    isInterpreted, fetches);
            Map<String, double[]> sync = run(program("sync_batch_norm", FLOAT32, attributes, true), feeds(),
                    new OneRank(), isInterpreted, fetches);
            own.forEach((name, values) -> assertArrayEquals(values, sync.get(name), 0, name));
            try (Executor executor = Executor.on(Place.CPU)) {
                assertArrayEquals(own.get("y"), executor.run(program("sync_batch_norm", FLOAT32, attributes, true),
                        feeds(), Executor.fetches("y")).get("y").toDoubleArray(), 1e-5);
            }
        }
    }

    @Test
    void withoutACommunicatorTrainingIsRefused() {
        try (Executor executor = Executor.on(Place.CPU)) {
            String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> executor.run(
                    program("sync_batch_norm", FLOAT32, Map.of(), true), feeds(), Executor.fetches("y")))
                    .getMessage());
            assertTrue(message.contains("no communicator") && message.contains("batch_norm"), message);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRankThatDiesIsTheCauseOfTheFailure(boolean isInterpreted) {
        Throwable failure = assertThrows(RuntimeException.class,
                () -> run(program("sync_batch_norm", FLOAT32, Map.of(), true), feeds(), new OneRank(), isInterpreted,
                        List.of("y")));
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        assertTrue(cause instanceof CommunicationException died && died.rank() == 1, failure::toString);
    }

    private static Network network() {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, 36);
            Value image = g.conv2d(x.reshape(-1, 1, 6, 6), 4, 3, 1, 1);
            Value hidden = g.linear(g.batchNorm(image).relu().flatten(1), 8);
            Value scores = g.linear(hidden.tanh(), 3);
            Value labels = g.data("y", INT64, -1, 1);
            Value loss = g.softmaxCrossEntropy(scores, labels).mean();
            g.minimize(loss, Momentum.of(0.05));
            return Outputs.of("loss", loss);
        });
    }

    private static DataParallel alone(String places) {
        Network network = network();
        String loss = network.outputs().get("loss").name();
        return DataParallel.of(network.main(), network.startup(), List.of("x", "y"), loss, List.of(loss),
                List.of(places.split(",")).stream().map(Place::parse).toList());
    }

    private static Map<String, Tensor> train(DataParallel parallel, Communicator ranks, int threads) {
        try (Executor executor = Executor.builder().communicator(ranks).threads(threads).build()) {
            executor.run(parallel.startup().copy().randomSeed(1));
            Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()),
                    new Fetches(List.of(parallel.loss())));
            for (int i = 0; i < 5; i++) {
                plan.run(parallel.split(Bits.normal(i, 12, 36), Bits.below(3, i, 12, 1)));
            }
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

    /** Running statistics too, which otherwise are those of the rows of rank 0. */
    @ParameterizedTest
    @CsvSource({"2,1", "3,2", "4,1"})
    void ranksTrainLikeOneProcessWithTheWholeBatch(int size, int threads) throws Exception {
        Exchange exchange = Exchange.PLAIN.syncBatchNorm(true);
        Map<String, Tensor> one = ThreadRanks.run(1, ranks -> train(alone("cpu"), ranks, 1)).getFirst();
        List<Map<String, Tensor>> all = ThreadRanks.run(size,
                ranks -> train(alone("cpu").ofRank(ranks.rank(), size, exchange), ranks, threads));
        List<Map<String, Tensor>> own = ThreadRanks.run(size,
                ranks -> train(alone("cpu").ofRank(ranks.rank(), size), ranks, threads));
        assertTrue(one.size() > 6, one.keySet()::toString);
        double largest = 0;
        for (String name : one.keySet()) {
            Tensor first = Objects.requireNonNull(all.getFirst().get(name));
            all.forEach(rank -> Bits.assertSame(first, Objects.requireNonNull(rank.get(name)), name));
            double[] expected = Objects.requireNonNull(one.get(name)).toDoubleArray();
            assertArrayEquals(expected, first.toDoubleArray(), 2e-5, name);
            double[] others = Objects.requireNonNull(own.getFirst().get(name)).toDoubleArray();
            for (int i = 0; i < expected.length; i++) {
                largest = Math.max(largest, Math.abs(others[i] - expected[i]));
            }
        }
        assertTrue(largest > 1e-3, "each rank's own statistics give another result, but " + largest);
    }

    /** As PaddlePaddle's files do. */
    @Test
    void programsThatNormaliseOverAllRanksThemselvesTrain() throws Exception {
        Network network = network();
        Program main = network.main().copy();
        List<OpDesc> ops = new ArrayList<>();
        for (OpDesc op : main.global().ops()) {
            if (!op.type().startsWith("batch_norm")) {
                ops.add(op);
                continue;
            }
            OpDesc.Builder sync = OpDesc.of("sync_" + op.type());
            op.inputs().forEach(sync::in);
            op.outputs().forEach(sync::out);
            op.attributes().forEach(each -> sync.attr(each.name(), each.value()));
            ops.add(sync.build());
        }
        main.global().setOps(ops);
        String loss = network.outputs().get("loss").name();
        DataParallel own = DataParallel.of(main, network.startup(), List.of("x", "y"), loss, List.of(loss),
                List.of(Place.CPU));
        List<Map<String, Tensor>> written = ThreadRanks.run(2, ranks -> train(own.ofRank(ranks.rank(), 2), ranks, 1));
        List<Map<String, Tensor>> asked = ThreadRanks.run(2, ranks -> train(alone("cpu").ofRank(ranks.rank(), 2,
                Exchange.PLAIN.syncBatchNorm(true)), ranks, 1));
        asked.getFirst().forEach((name, tensor) -> Bits.assertSame(tensor,
                Objects.requireNonNull(written.get(1).get(name)), name));
        String message = String.valueOf(assertThrows(IllegalArgumentException.class,
                () -> DataParallel.of(main, network.startup(), List.of("x", "y"), loss, List.of(loss),
                        List.of(Place.CPU, Place.CPU)))
                .getMessage());
        assertTrue(message.contains("take the program of one place"), message);
    }

    /** The program of several places as a rank runs it, or the only process. */
    private static DataParallel synchronised(String places, Communicator ranks) {
        return alone(places).ofRank(ranks.rank(), ranks.size(), Exchange.PLAIN.syncBatchNorm(true));
    }

    /** All replicas have the bits of the first, and these are near those of one place with the whole batch. */
    private static double distance(Map<String, Tensor> one, List<Map<String, Tensor>> all) {
        double largest = 0;
        for (String name : one.keySet()) {
            Tensor first = Objects.requireNonNull(all.getFirst().get(name));
            for (Map<String, Tensor> rank : all) {
                rank.forEach((other, tensor) -> {
                    if (other.equals(name) || other.startsWith(name + "@")) {
                        Bits.assertSame(first, tensor, other);
                    }
                });
            }
            double[] expected = Objects.requireNonNull(one.get(name)).toDoubleArray();
            double[] got = first.toDoubleArray();
            for (int i = 0; i < expected.length; i++) {
                largest = Math.max(largest, Math.abs(got[i] - expected[i]));
            }
        }
        return largest;
    }

    @ParameterizedTest
    @CsvSource({"'cpu,cpu',1,1", "'cpu,cpu',1,2", "'cpu,cpu,cpu',1,2", "'sim:0,sim:1',1,1", "'cpu,sim:0,sim:0',1,2",
            "'cpu,cpu',2,1", "'cpu,cpu',3,2", "'sim:0,sim:1',2,1", "'cpu,sim:0,cpu',2,2"})
    void placesAndRanksTrainLikeOnePlaceWithTheWholeBatch(String places, int size, int threads) throws Exception {
        Map<String, Tensor> one = ThreadRanks.run(1, ranks -> train(alone("cpu"), ranks, 1)).getFirst();
        List<Map<String, Tensor>> all = ThreadRanks.run(size,
                ranks -> train(synchronised(places, ranks), ranks, threads));
        assertTrue(one.size() > 6, one.keySet()::toString);
        assertTrue(all.getFirst().size() > one.size(), all.getFirst().keySet()::toString);
        double synchronised = distance(one, all);
        assertTrue(synchronised < 2e-5, () -> "parameters or running statistics differ by " + synchronised);
        double own = largest(one, ThreadRanks.run(size,
                ranks -> train(alone(places).ofRank(ranks.rank(), size), ranks, threads)).getFirst());
        assertTrue(own > 1e-3, "each place's own statistics give another result, but " + own);
    }

    private static double largest(Map<String, Tensor> one, Map<String, Tensor> other) {
        double largest = 0;
        for (String name : one.keySet()) {
            double[] expected = Objects.requireNonNull(one.get(name)).toDoubleArray();
            double[] got = Objects.requireNonNull(other.get(name)).toDoubleArray();
            for (int i = 0; i < expected.length; i++) {
                largest = Math.max(largest, Math.abs(got[i] - expected[i]));
            }
        }
        return largest;
    }

    /** A place whose part of the statistics or of the sums is that of another place is noticed by the test above. */
    @ParameterizedTest
    @ValueSource(strings = {"@statistics", "@sums"})
    void aPlantedFaultIsNoticed(String part) throws Exception {
        Map<String, Tensor> one = ThreadRanks.run(1, ranks -> train(alone("cpu"), ranks, 1)).getFirst();
        double distance = largest(one, ThreadRanks.run(1, ranks -> {
            DataParallel faulty = synchronised("cpu,cpu", ranks);
            List<OpDesc> ops = new ArrayList<>();
            int planted = 0;
            for (OpDesc op : faulty.main().global().ops()) {
                String first = op.type().equals("concat") ? op.input("X").getFirst() : "";
                if (first.endsWith(part)) {
                    Map<String, List<String>> inputs = new LinkedHashMap<>(op.inputs());
                    inputs.put("X", List.of(first, first));
                    ops.add(op.with(inputs, op.outputs()));
                    planted++;
                } else {
                    ops.add(op);
                }
            }
            assertEquals(1, planted, part);
            faulty.main().global().setOps(ops);
            return train(faulty, ranks, 1);
        }).getFirst());
        assertTrue(distance > 1e-4, part + ": " + distance);
    }

    /** The rows of a batch at several places, of which each has its own number. */
    private static Program ofPlaces(DType dtype, Map<String, Object> attributes, boolean isAffine, int places) {
        Program program = new Program();
        List<String> names = new ArrayList<>(List.of("scale", "bias", "mean", "variance", "mean_out", "variance_out",
                "batch_mean", "batch_variance", "statistics", "sums"));
        for (int i = 0; i < places; i++) {
            for (String name : List.of("x", "dy", "y", "dx", "dscale", "dbias", "saved_mean", "saved_variance",
                    "unread_mean", "unread_variance", "statistics", "sums")) {
                names.add(name + i);
            }
        }
        for (String name : names) {
            boolean isImage = name.matches("(x|dy|y|dx)[0-9]");
            program.global().put(VarDesc.of(name, VarType.dense(isImage ? dtype : dtype.arithmetic(), -1)));
        }
        OpDesc.Builder statistics = OpDesc.of("concat").out("Out", "statistics").attr("axis", 0);
        OpDesc.Builder sums = OpDesc.of("concat").out("Out", "sums").attr("axis", 0);
        List<OpDesc.Builder> before = new ArrayList<>();
        List<OpDesc.Builder> between = new ArrayList<>();
        List<OpDesc.Builder> after = new ArrayList<>();
        List<String> first = new ArrayList<>();
        List<String> second = new ArrayList<>();
        for (int i = 0; i < places; i++) {
            before.add(OpDesc.of("batch_norm_statistics").in("X", "x" + i).out("Out", "statistics" + i));
            OpDesc.Builder forward = OpDesc.of("batch_norm").in("X", "x" + i).in("Mean", "batch_mean")
                    .in("Variance", "batch_variance").out("Y", "y" + i).out("MeanOut", "unread_mean" + i)
                    .out("VarianceOut", "unread_variance" + i).out("SavedMean", "saved_mean" + i)
                    .out("SavedVariance", "saved_variance" + i).attr("use_global_stats", true);
            between.add(isAffine ? forward.in("Scale", "scale").in("Bias", "bias") : forward);
            between.add(OpDesc.of("batch_norm_sums").in("X", "x" + i).in("SavedMean", "saved_mean" + i)
                    .in("SavedVariance", "saved_variance" + i).in("DY", "dy" + i).out("DScale", "dscale" + i)
                    .out("DBias", "dbias" + i).out("Out", "sums" + i));
            OpDesc.Builder gradient = OpDesc.of("batch_norm_input_grad").in("X", "x" + i)
                    .in("SavedMean", "saved_mean" + i).in("SavedVariance", "saved_variance" + i).in("DY", "dy" + i)
                    .in("Sums", "sums").out("DX", "dx" + i);
            after.add(isAffine ? gradient.in("Scale", "scale") : gradient);
            first.add("statistics" + i);
            second.add("sums" + i);
        }
        before.add(statistics.in("X", first));
        before.add(OpDesc.of("batch_norm_join").in("X", "statistics").in("Mean", "mean").in("Variance", "variance")
                .out("BatchMean", "batch_mean").out("BatchVariance", "batch_variance").out("MeanOut", "mean_out")
                .out("VarianceOut", "variance_out"));
        between.add(sums.in("X", second));
        for (List<OpDesc.Builder> each : List.of(before, between, after)) {
            for (OpDesc.Builder op : each) {
                attributes.forEach(op::attr);
                program.global().add(op.build());
            }
        }
        return program;
    }

    @ParameterizedTest
    @CsvSource({"2,false", "3,false", "2,true", "4,true", "1,true"})
    void placesNormaliseLikeOneWithAllRows(int places, boolean isInterpreted) {
        Random random = new Random(SEED + 100 + places);
        for (int number = 0; number < Drawn.COUNT; number++) {
            Drawn drawn = Drawn.of(random, number, places);
            long[] ends = drawn.ends();
            List<String> fetches = drawn.fetches();
            Map<String, double[]> whole = drawn.whole(isInterpreted);
            Map<String, Tensor> parts = new LinkedHashMap<>(drawn.feeds());
            List<String> wanted = new ArrayList<>(List.of("mean_out", "variance_out"));
            for (int i = 0; i < places; i++) {
                for (String each : List.of("x", "dy")) {
                    parts.put(each + i, drawn.rows(each, i));
                }
                wanted.addAll(List.of("y" + i, "dx" + i, "dscale" + i, "dbias" + i, "saved_mean" + i,
                        "saved_variance" + i));
            }
            parts.keySet().removeAll(List.of("x", "dy"));
            Map<String, double[]> got =
                    run(ofPlaces(drawn.dtype(), drawn.attributes(), drawn.isAffine(), places), parts, new OneRank(),
                            isInterpreted, wanted);
            double tolerance = drawn.tolerance();
            String which = ", " + drawn;
            for (String name : fetches) {
                double[] expected = Objects.requireNonNull(whole.get(name));
                double[] sum = new double[expected.length];
                for (int i = 0; i < places; i++) {
                    double[] part = Objects.requireNonNull(got.get(name.endsWith("_out") ? name : name + i));
                    if (name.equals("y") || name.equals("dx")) {
                        assertArrayEquals(rows(expected, ends[i], ends[i + 1], ends[places]), part, tolerance,
                                name + which);
                    } else if (FORWARD.contains(name)) {
                        assertArrayEquals(expected, part, tolerance, name + which);
                    } else {
                        for (int k = 0; k < sum.length; k++) {
                            sum[k] += part[k];
                        }
                    }
                }
                if (name.equals("dscale") || name.equals("dbias")) {
                    assertArrayEquals(expected, sum, 20 * tolerance, name + which);
                }
            }
        }
    }
}
