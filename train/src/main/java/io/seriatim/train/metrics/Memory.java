package io.seriatim.train.metrics;

import com.google.errorprone.annotations.Var;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The memory use of this process. */
interface Memory {
    /** Returns the used heap in bytes, including garbage. */
    long heap();

    /** Returns the resident memory in bytes, or −1 if the system does not report it. */
    long resident() throws IOException;

    /** Returns the peak of the resident memory in bytes, or −1 if the system does not report it. */
    long peak() throws IOException;

    /** Reads a file in the format of Linux's /proc/self/status. */
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
