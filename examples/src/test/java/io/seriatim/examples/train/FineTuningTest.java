package io.seriatim.examples.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FineTuningTest {
    @TempDir
    private Path folder;

    /** The network recognises other digits only after it was trained further, whatever the format of the file. */
    @Test
    void learnsOtherDigitsAsOnnx() throws IOException {
        Digits bright = new Digits(200, 8, false);
        Digits dark = new Digits(200, 9, true);
        Path onnx = FineTuning.converted(FineTuning.trained(folder));
        assertTrue(FineTuning.accuracy(onnx, bright) > 0.9, "bright digits: " + FineTuning.accuracy(onnx, bright));
        assertTrue(FineTuning.accuracy(onnx, dark) < 0.5, "dark digits: " + FineTuning.accuracy(onnx, dark));
        FineTuning.tune(onnx, folder);
        double accuracy = FineTuning.accuracy(folder.resolve(FineTuning.SAVED.getFirst()), dark);
        assertTrue(accuracy > 0.9, "dark digits: " + accuracy);
        for (String name : FineTuning.SAVED) {
            assertEquals(accuracy, FineTuning.accuracy(folder.resolve(name), dark), name);
        }
    }
}
