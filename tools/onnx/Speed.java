import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Speed MODEL FOLDER RUNS: prints the numbers that tools/onnx/speed.py describes; the folder has the feeds in order. */
final class Speed {
    private static final long WARM_UP = 3_000_000_000L;

    private Speed() {
    }

    public static void main(String[] args) throws IOException {
        List<Tensor> given = new ArrayList<>();
        try (Stream<Path> files = Files.list(Path.of(args[1]))) {
            for (Path file : files.sorted().toList()) {
                given.add(Npy.read(file));
            }
        }
        long begin = System.nanoTime();
        try (InferenceModel model = InferenceModels.load(Path.of(args[0]));
                Executor executor = Executor.builder().threads(1).build()) {
            model.parameters().forEach(executor.scope()::set);
            Plan plan = executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches()));
            Tensor[] feeds = given.subList(0, model.feeds().size()).toArray(Tensor[]::new);
            plan.run(feeds);
            double first = (System.nanoTime() - begin) / 1e6;
            long warm = System.nanoTime();
            while (System.nanoTime() - warm < WARM_UP) {
                plan.run(feeds);
            }
            double[] times = new double[Integer.parseInt(args[2])];
            for (int i = 0; i < times.length; i++) {
                long start = System.nanoTime();
                plan.run(feeds);
                times[i] = (System.nanoTime() - start) / 1e6;
            }
            Arrays.sort(times);
            String memory = Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith("VmHWM")).findFirst().orElseThrow().replaceAll("[^0-9]", "");
            System.out.println(first + " " + times[times.length / 2] + " " + Integer.parseInt(memory) / 1024.0);
        }
    }
}
