package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** What tests rely on when they start processes. */
@DisabledOnOs(OS.WINDOWS)
class ChildProcessTest {
    /** Waits for ever, in a method whose name a dump shows. */
    static final class Hanging {
        private Hanging() {
        }

        /** Prints a line and waits. */
        public static void main(String[] args) throws InterruptedException {
            System.out.println("waiting");
            synchronized (Hanging.class) {
                while (args.length == 0) {
                    Hanging.class.wait();
                }
            }
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aChildHasDefaultSignals() throws Exception {
        try (ChildProcess process = ChildProcess.start(new ProcessBuilder("grep", "SigIgn", "/proc/self/status"))) {
            assertEquals(0, process.end());
            long ignored = Long.parseLong(process.out().replaceAll(".*\\s([0-9a-f]+)\\n", "$1"), 16);
            assertEquals(0, ignored & (1 << 1 | 1 << 14), process.out());
        }
    }

    @Test
    void aChildThatHangsFailsTheTestWithTheThreadsOfBoth() throws Exception {
        var line = ChildProcess.java("-Xmx32m", "-XX:TieredStopAtLevel=1");
        line.add(Hanging.class.getName());
        try (ChildProcess process = ChildProcess.start(new ProcessBuilder(line), 5)) {
            process.await("waiting"::equals);
            AssertionError e = assertThrows(AssertionError.class, process::end);
            String message = String.valueOf(e.getMessage());
            assertTrue(message.contains("ChildProcessTest$Hanging.main"), message);
            assertTrue(message.contains("ChildProcessTest.aChildThatHangsFailsTheTestWithTheThreadsOfBoth"), message);
        }
    }
}
