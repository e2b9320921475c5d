package io.seriatim.tensor.onednn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.tensor.internal.ffi.NativePlatform;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Signals, which profilers and flight recorders send, do not disturb kernels. */
class SignalsTest {
    /** In a process of its own, since the memory that signals overwrote would be that of this one. */
    @Test
    void productsAreRightWhileTheirThreadIsSignalled(@TempDir Path folder) throws Exception {
        NativePlatform platform = NativePlatform.current();
        assumeTrue(platform != null && platform.classifier().startsWith("linux"), "signals are numbered as on Linux");
        assumeTrue(OneDnn.status().loaded(), () -> "oneDNN is not there: " + OneDnn.status().problem());
        ChildJvm.Outcome outcome = ChildJvm.run(folder, SignalledProducts.class);
        assertTrue(outcome.isEnded(), () -> "the products do not end: " + outcome.printed());
        assertEquals(0, outcome.status(), outcome.printed());
        assumeFalse(outcome.printed().contains(SignalledProducts.NONE), outcome.printed());
        assertTrue(outcome.printed().contains(SignalledProducts.DONE), outcome.printed());
    }
}
