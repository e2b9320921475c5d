package io.seriatim.tensor.array;

import io.seriatim.device.Devices;
import io.seriatim.engine.Engine;
import io.seriatim.tensor.DType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Makes, reads, slices, writes and drops arrays, half of them without closing them. Ends with 1 if the process grows
 * meanwhile.
 */
final class ManyArrays {
    private static final long ALLOWED = 48L << 20;

    private ManyArrays() {
    }

    /**
     * Runs.
     *
     * @param args
     *            how many
     */
    public static void main(String[] args) throws InterruptedException, IOException {
        int count = Integer.parseInt(args[0]);
        long early = 0;
        try (Engine engine = Engine.create()) {
            NDArrays nd = NDArrays.on(engine);
            for (int i = 0; i < count; i++) {
                NDArray a = nd.full(i % 100, DType.FLOAT32, 64, 16);
                NDArray b = a.slice(0, 1, 3).add(1);
                if (i % 16 == 0 && b.get(1, 15) != i % 100 + 1) {
                    throw new IllegalStateException("element is " + b.get(1, 15) + " in round " + i);
                }
                a.select(0, 5).fill(3);
                if (i % 2 == 0) {
                    a.close();
                    b.close();
                }
                if (i == count / 5) {
                    early = residentBytes();
                }
            }
            nd.waitForAll();
        }
        long grown = residentBytes() - early;
        System.out.println(count + " arrays; grown by " + grown + " bytes; " + Devices.system().host().memory());
        System.exit(grown <= ALLOWED && Devices.system().host().memory().peak() <= 64L << 20 ? 0 : 1);
    }

    /** What the system counts for this process; 0 where it does not tell. */
    private static long residentBytes() throws IOException {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return 0;
        }
        try (Stream<String> lines = Files.lines(status)) {
            return lines.filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .findFirst().orElse(0);
        }
    }
}
