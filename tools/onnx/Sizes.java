import io.seriatim.executor.Predictor;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Sizes MODEL ROUND: prints the numbers that tools/onnx/sizes.py describes, for ROUND sizes. */
final class Sizes {
    private static final int WARM_UP_BATCHES = 4;
    /** The clock has steps of 10 ms. */
    private static final long LEAST = 1_000_000_000L;
    private static final SplittableRandom RANDOM = new SplittableRandom(20261127);

    private Sizes() {
    }

    public static void main(String[] args) throws IOException {
        int round = Integer.parseInt(args[1]);
        try (Predictor predictor = Predictor.builder(Path.of(args[0])).threads(1).build()) {
            for (int batch = 3; batch < 3 + WARM_UP_BATCHES; batch++) {
                mean(predictor, batch, 0, round, 0);
            }
            double first = mean(predictor, 2, 0, round, 0);
            mean(predictor, 2, 0, round, LEAST);
            double rotated = mean(predictor, 2, 0, round, LEAST);
            mean(predictor, 2, round / 2, 1, LEAST);
            double repeated = mean(predictor, 2, round / 2, 1, LEAST);
            String memory = Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith("VmRSS")).findFirst().orElseThrow().replaceAll("[^0-9]", "");
            System.out.println(first + " " + rotated + " " + repeated + " " + Integer.parseInt(memory) / 1024.0);
        }
    }

    /** Returns the mean processor time of a run in ms, for some sizes in turn, until runs have used so many ns. */
    private static double mean(Predictor predictor, int batch, int from, int count, long least) {
        List<Map<String, Tensor>> feeds =
                IntStream.range(from, from + count).mapToObj(size -> feeds(predictor, batch, size)).toList();
        long begin = processorTime();
        int runs = 0;
        do {
            feeds.forEach(predictor::run);
            runs += count;
        } while (processorTime() - begin < least);
        return (processorTime() - begin) / 1e6 / runs;
    }

    /** Of the whole process: compilation and collection of garbage are included. */
    private static long processorTime() {
        return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
                .getProcessCpuTime();
    }

    private static Map<String, Tensor> feeds(Predictor predictor, int batch, int size) {
        Map<String, Tensor> feeds = new HashMap<>();
        for (Predictor.Port port : predictor.inputs()) {
            boolean whole = port.type() == DType.INT64;
            long[] dims = dims(port.sizes(), batch, whole ? 5 + size : 16L * (3 + size));
            int count = 1;
            for (long dim : dims) {
                count = Math.toIntExact(count * dim);
            }
            feeds.put(port.name(), whole
                    ? Tensor.of(RANDOM.longs(count, 0, 20).toArray(), dims)
                    : Tensor.of(floats(count), dims));
        }
        return feeds;
    }

    private static long[] dims(List<Long> declared, int batch, long length) {
        long[] dims = new long[declared.size()];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = declared.get(i) >= 0 ? declared.get(i) : i == 0 ? batch : length;
        }
        return dims;
    }

    private static float[] floats(int count) {
        float[] floats = new float[count];
        for (int i = 0; i < count; i++) {
            floats[i] = (float) RANDOM.nextDouble();
        }
        return floats;
    }
}
