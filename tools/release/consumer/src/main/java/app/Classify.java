package app;

import io.seriatim.executor.Predictor;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** Prints the class of a picture: {@code Classify model.onnx picture.npy}. */
final class Classify {
    public static void main(String[] args) throws IOException {
        try (Predictor predictor = Predictor.load(Path.of(args[0])); Tensor picture = Npy.read(Path.of(args[1]))) {
            String input = predictor.inputs().getFirst().name();
            String output = predictor.outputs().getFirst().name();
            float[] scores = predictor.run(Map.of(input, picture)).get(output).toFloatArray();
            int best = 0;
            for (int i = 1; i < scores.length; i++) {
                best = scores[i] > scores[best] ? i : best;
            }
            System.out.println("class " + best);
        }
    }
}
