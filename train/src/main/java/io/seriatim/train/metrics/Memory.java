package io.seriatim.train.metrics;

import com.google.errorprone.annotations.Var;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How much memory this process takes. */
interface Memory {
    /** Bytes of heap in use, with what the next collection will free. */
    long heap();

    /** Bytes that are in memory now, or −1 where the system does not say. */
    long resident() throws IOException;

    /** The most bytes that were in memory, or −1 where the system does not say. */
    long peak() throws IOException;

    /** As Linux tells it in a file of the form of /proc/self/status. */
    record OfProcess(Path status) implements Memory {
        @Override
        public long heap() {
            Runtime runtime = Runtime.getRuntime();
            return runtime.totalMemory() - runtime.freeMemory();
        }

        @Override
        public long resident() throws IOException {
            return bytes("VmRSS:");
        }

        @Override
        public long peak() throws IOException {
            return bytes("VmHWM:");
        }

        private long bytes(String key) throws IOException {
            if (!Files.isReadable(status)) {
                return -1;
            }
            try (BufferedReader lines = Files.newBufferedReader(status)) {
                for (@Var
                String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.startsWith(key)) {
                        return 1024 * Long.parseLong(line.substring(key.length()).replace("kB", "").strip());
                    }
                }
            }
            return -1;
        }
    }
}
