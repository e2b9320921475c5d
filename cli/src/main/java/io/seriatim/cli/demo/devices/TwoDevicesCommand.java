package io.seriatim.cli.demo.devices;

import io.seriatim.cli.spi.AtLeast;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.device.SimOptions;
import io.seriatim.engine.Engine;
import io.seriatim.tensor.AtomicFile;
import io.seriatim.tensor.array.NDArray;
import io.seriatim.tensor.array.NDArrays;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Trains a network on two simulated accelerators and on one, and compares the results. */
@Command(name = "two-devices", description = TwoDevicesCommand.WHAT)
public final class TwoDevicesCommand implements Callable<Integer> {
    static final String WHAT = "Train a two-layer network on two simulated accelerators by a serial program, "
            + "and draw the timeline. " + "The result is compared bitwise with that of one device.";
    private static final List<Place> TWO = List.of(Place.sim(0), Place.sim(1));
    private static final List<Place> ONE = List.of(Place.sim(0), Place.sim(0));

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--steps", paramLabel = "N",
            description = "The number of training steps. Default: ${DEFAULT-VALUE}.")
    private int steps = 30;

    @Option(names = "--batch", paramLabel = "N",
            description = "The batch size, an even number. Default: ${DEFAULT-VALUE}.")
    private int batch = 256;

    @Option(names = "--seed", paramLabel = "N",
            description = "The seed of data and weights. Default: ${DEFAULT-VALUE}.")
    @AtLeast(AtLeast.ANY)
    private long seed = 1;

    @Option(names = "--bandwidth", paramLabel = "MB/s",
            description = "The bandwidth of copies to and from a device. Default: " + "${DEFAULT-VALUE}.")
    private int bandwidth = 2000;

    @Option(names = "--latency", paramLabel = "µs",
            description = "The latency of each launch. Default: ${DEFAULT-VALUE}.")
    @AtLeast(0)
    private int latency = 10;

    @Option(names = "--out", paramLabel = "DIR", description = "The file of the drawing. Default: ${DEFAULT-VALUE}.")
    private Path out = Path.of("runs", "two-devices");

    /** Created by the command line parser. */
    public TwoDevicesCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() throws InterruptedException, IOException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        if (steps < 1 || batch < 2 || batch % 2 != 0 || bandwidth < 1 || latency < 0) {
            throw new ParameterException(command.commandLine(),
                    "--steps must be at least 1, --batch an even number, --bandwidth at least 1 and --latency at "
                            + "least 0, but they are "
                            + steps
                            + ", " + batch + ", " + bandwidth + " and " + latency);
        }
        PrintWriter text = command.commandLine().getOut();
        TimelineSvg timeline = new TimelineSvg();
        text.printf(Locale.ROOT, "%d steps on sim:0 and sim:1, each with half of a batch of %d%n", steps, batch);
        float[][] two = train(TWO, text, timeline);
        text.println("the same on sim:0 alone");
        text.flush();
        float[][] one = train(ONE, null, null);
        Path picture = write(timeline);
        boolean same = Arrays.deepEquals(two, one);
        text.printf(Locale.ROOT,
                "picture   %s: %,d operations of the last step, %.0f %% of the time of copies "
                        + "overlaps with computation%n",
                picture, timeline.operations(), 100 * timeline.overlap());
        text.println("result    " + (same ? "bitwise the same" : "DIFFERENT, which is a defect"));
        text.flush();
        return same ? 0 : 1;
    }

    /** The weights after training. */
    private float[][] train(List<Place> devices, @Nullable PrintWriter text, @Nullable TimelineSvg timeline)
            throws InterruptedException {
        SimOptions options = SimOptions.DEFAULT.withCopyBandwidth(bandwidth * 1_000_000L)
                .withLaunchLatency(Duration.ofNanos(latency * 1000L));
        try (Devices simulated = Devices.builder().sim(options).build(); Engine engine = Engine.create()) {
            DataParallel program = new DataParallel(NDArrays.on(engine, simulated), devices, batch, seed);
            for (int step = 1; step <= steps; step++) {
                if (step == steps && timeline != null) {
                    engine.waitForAll();
                    engine.record(timeline);
                }
                NDArray loss = program.step();
                if (text != null && (step == 1 || step % 10 == 0 || step == steps)) {
                    text.printf(Locale.ROOT, "step %3d  loss %.4f%n", step, loss.get());
                    text.flush();
                }
            }
            engine.waitForAll();
            engine.record(null);
            float[][] weights = new float[program.weights().size()][];
            for (int i = 0; i < weights.length; i++) {
                weights[i] = program.weights().get(i).toArray();
            }
            return weights;
        }
    }

    private Path write(TimelineSvg timeline) throws IOException {
        Files.createDirectories(out);
        Path picture = out.resolve("timeline.svg");
        AtomicFile.writeText(picture, text -> text.write(timeline.svg()));
        return picture;
    }
}
