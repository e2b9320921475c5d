package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Runs a plan with batches of a thousand sizes. The exit status is 1 if the process grows by more than 5 % after the
 * first runs, or by more than 120 MB after the very first run.
 */
final class ManyShapes {
    private static final int SHAPES = 1_000;
    private static final int EARLY = 300;
    private static final int WARM = 2_000;
    private static final double MIB = 1 << 20;
    private static final double MOST = 120e6 / MIB;

    private ManyShapes() {
    }

    /**
     * Runs the plan.
     *
     * @param args
     *            the number of runs
     */
    public static void main(String[] args) throws IOException {
        int runs = Integer.parseInt(args[0]);
        Network network = VaryingShapesTest.network(false);
        String y = network.outputs().get("y").name();
        SplittableRandom random = new SplittableRandom(11);
        double early = 0;
        double warm = 0;
        boolean grows = false;
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            for (int i = 1; i <= runs; i++) {
                int rows = 1 + random.nextInt(SHAPES);
                try (Tensor x = Tensor.of(new float[rows * VaryingShapesTest.WIDTH], rows, VaryingShapesTest.WIDTH)) {
                    plan.run(x).get(y).close();
                }
                if (i == EARLY || i % WARM == 0) {
                    double now = resident();
                    early = i == EARLY ? now : early;
                    warm = i == WARM ? now : warm;
                    System.out.println(
                            String.format(Locale.ROOT, "run %,d: %.1f MiB resident, kernels %.1f MiB, %s", i, now,
                                    PreparedKernels.system().bytes() / MIB, Devices.system().host().memory()));
                    grows |= now > early + MOST || (i > WARM && now > 1.05 * warm);
                }
            }
        }
        System.exit(grows ? 1 : 0);
    }

    /** Returns the resident memory of the process in MiB. */
    private static double resident() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElseThrow() / 1024.0;
    }
}
