package io.seriatim.tensor.onednn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The initialisation of oneDNN takes more stack than the threads of many services have. */
class SmallStacksTest {
    /** In a process of its own, which has not loaded the library and may crash. */
    @Test
    void theLibraryIsLoadedWhereThreadsHaveSmallStacks(@TempDir Path folder) throws Exception {
        assumeTrue(OneDnn.status().loaded(), () -> "oneDNN is not there: " + OneDnn.status().problem());
        ChildJvm.Outcome outcome = ChildJvm.run(folder, Loading.class, "-Xss256k");
        assertTrue(outcome.isEnded(), outcome.printed());
        assertEquals(0, outcome.status(), outcome.printed());
        assertTrue(outcome.printed().contains("loaded: true"), outcome.printed());
    }

    /** Loads the library. */
    static final class Loading {
        private Loading() {
        }

        public static void main(String[] args) {
            System.out.println("loaded: " + OneDnn.status().loaded());
        }
    }
}
