package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.device.Devices;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A model that cannot be loaded leaves no parameters in memory. */
class FailedLoadingTest {
    private static final int LENGTH = 1 << 18;
    private static final int ROUNDS = 20;

    @TempDir
    Path folder = Path.of("");

    private static WireMessage message() {
        return new WireMessage();
    }

    @Test
    void parametersOfAFailedLoadAreFreed() throws Exception {
        WireMessage weights = message().number(1, LENGTH).number(2, 1).text(8, "w")
                .bytes(9, new byte[LENGTH * Float.BYTES]);
        // The operation reads the weights, which are a parameter by then, and a variable that nothing writes.
        WireMessage used = message().texts(1, "w").texts(2, "v").text(4, "Relu");
        WireMessage failing = message().texts(1, "v", "missing").texts(2, "y").text(4, "Add");
        WireMessage graph = message().text(2, "g").message(5, weights).message(1, used).message(1, failing)
                .message(12, message().text(1, "y"));
        Path file = Files.write(folder.resolve("model.onnx"), WireMessage.model(graph, 17).toBytes());
        long left = leftBy(file);
        // The memory in use falls if the garbage collector frees what other tests have left. That ends.
        for (int round = 0; round < ROUNDS && left < 0; round++) {
            left = leftBy(file);
        }
        assertEquals(0, left);
    }

    /** Returns by how many bytes the memory in use has grown after some loads that fail. */
    private static long leftBy(Path file) {
        long before = Devices.system().host().memory().used();
        for (int i = 0; i < 3; i++) {
            assertThrows(Exception.class, () -> OnnxModels.load(file));
        }
        return Devices.system().host().memory().used() - before;
    }
}
