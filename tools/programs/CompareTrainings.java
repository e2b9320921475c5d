import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Plan;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * CompareTrainings FOLDER…: trains what tools/programs/trainings.py has written, from the same parameters on one
 * thread, and prints the time of a step beside PaddlePaddle's, and how far the losses differ. The ratio is that of the
 * times of the processor, which depend less on what else runs on the machine.
 */
final class CompareTrainings {
    private static final double SECONDS = Double.parseDouble(System.getProperty("seconds", "2"));

    private CompareTrainings() {
    }

    public static void main(String[] args) throws IOException {
        double logarithms = 0;
        for (String folder : args) {
            logarithms += Math.log(ratio(Path.of(folder)));
        }
        System.out.printf("geometric mean of %d: %.2f%n", args.length, Math.exp(logarithms / args.length));
    }

    private static double ratio(Path folder) throws IOException {
        List<String> loss = Files.readAllLines(folder.resolve("loss.txt"));
        List<String> feeds = Files.readAllLines(folder.resolve("feeds.txt"));
        Tensor[] fed = new Tensor[feeds.size()];
        for (int i = 0; i < fed.length; i++) {
            fed[i] = Npy.read(folder.resolve(feeds.get(i) + ".npy"));
        }
        try (Executor executor = Executor.builder().place(Place.CPU).threads(1).build()) {
            executor.run(ProgramFiles.read(folder.resolve("startup.pdmodel")));
            List<String> names = Files.readAllLines(folder.resolve("parameters.txt"));
            for (int i = 0; i < names.size(); i++) {
                executor.scope().setCopy(names.get(i), Npy.read(folder.resolve("parameters").resolve(i + ".npy")));
            }
            Plan plan = executor.compile(ProgramFiles.read(folder.resolve("main.pdmodel")),
                    Executor.feeds(feeds.toArray(String[]::new)), Executor.fetches(loss.getFirst()));
            double worst = 0;
            for (String each : loss.subList(1, loss.size())) {
                double expected = Double.parseDouble(each);
                double found = plan.run(fed).scalar(loss.getFirst());
                worst = Math.max(worst, Math.abs(found - expected) / (Math.abs(expected) + 1e-3));
            }
            measure(plan, fed); // The JVM compiles.
            double[] own = measure(plan, fed);
            double[] other = Files.readAllLines(folder.resolve("time.txt")).stream()
                    .mapToDouble(Double::parseDouble).toArray();
            System.out.printf("%-14s %9.3f ms (processor %9.3f), PaddlePaddle %9.3f (%9.3f), ratio %.2f, losses %.0e%n",
                    folder.getFileName(), own[0], own[1], other[0], other[1], own[1] / other[1], worst);
            return own[1] / other[1];
        }
    }

    /** The median time of a step, and the mean time of the processor, in milliseconds. */
    private static double[] measure(Plan plan, Tensor[] fed) {
        List<Long> times = new ArrayList<>();
        long used = processor();
        long end = System.nanoTime() + (long) (SECONDS * 1e9);
        while (System.nanoTime() < end || times.size() < 5) {
            long begin = System.nanoTime();
            plan.run(fed);
            times.add(System.nanoTime() - begin);
        }
        double mean = (processor() - used) / 1e6 / times.size();
        long[] sorted = times.stream().mapToLong(Long::longValue).toArray();
        Arrays.sort(sorted);
        return new double[]{sorted[sorted.length / 2] / 1e6, mean};
    }

    private static long processor() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos();
    }
}
