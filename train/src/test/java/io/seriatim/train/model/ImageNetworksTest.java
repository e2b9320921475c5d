package io.seriatim.train.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import io.seriatim.train.data.Field;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImageNetworksTest {
    private static final Field IMAGE = new Field("image", DType.FLOAT32, Shape.of(1, 28, 28));
    private static final Field LABEL = new Field("label", DType.INT64, Shape.of(1));

    @TempDir
    private Path folder = Path.of("");

    /** Noise with a bright square, whose position determines the class. */
    private static Tensor[] batch(int rows, int classes, long seed, long... image) {
        Random random = new Random(seed);
        int channels = (int) image[0];
        int height = (int) image[1];
        int width = (int) image[2];
        float[] pixels = new float[rows * channels * height * width];
        long[] labels = new long[rows];
        for (int row = 0; row < rows; row++) {
            labels[row] = row % classes;
            for (int i = 0; i < channels * height * width; i++) {
                int place = i % (height * width) * classes / (height * width);
                pixels[row * channels * height * width + i] = (place == labels[row] ? 1 : -1)
                        + 0.3f * (float) random.nextGaussian();
            }
        }
        return new Tensor[]{Tensor.of(pixels, rows, channels, height, width), Tensor.of(labels, rows, 1)};
    }

    private void learns(Architecture architecture, int classes, int steps, double rate, Field image)
            throws IOException {
        Model model = architecture.build(architecture.recipe().withRate(rate).withWarmUp(2).withSeed(7), steps);
        assertEquals(List.of("image", "label"), model.feeds());
        assertEquals(List.of("image"), model.inputs());
        TinyRun.checkEvaluation(model);
        long[] dims = image.shape().dims();
        try (TinyRun run = new TinyRun(model)) {
            double first = run.train(batch(16, classes, 1, dims));
            run.train(steps - 1, batch(16, classes, 1, dims));
            double last = run.evaluate(batch(16, classes, 2, dims));
            assertTrue(last < 0.5 * first && last < 1,
                    architecture.name() + ": the loss was " + first + " and is " + last);
            assertTrue(run.metric("accuracy", batch(16, classes, 2, dims)) > 0.9, architecture.name());
            assertEquals(Shape.of(5, classes), run.output(batch(5, classes, 3, dims)[0]).shape());
            run.checkSaved(folder, batch(5, classes, 3, dims)[0]);
        }
    }

    @Test
    void leNetLearns() throws IOException {
        learns(new LeNet(IMAGE, LABEL, 4), 4, 25, 3e-3, IMAGE);
    }

    @Test
    void mlpLearns() throws IOException {
        learns(new Mlp(IMAGE, LABEL, 4, List.of(32, 16)), 4, 25, 3e-3, IMAGE);
    }

    @Test
    void resNetLearns() throws IOException {
        Field small = new Field("image", DType.FLOAT32, Shape.of(3, 8, 8));
        learns(new ResNet18(small, LABEL, 2), 2, 6, 1e-3, small);
    }

    private static long parameters(Program program) {
        return program.parameters().stream()
                .mapToLong(each -> each.tensor().dims().stream().reduce(1L, (a, b) -> a * b)).sum();
    }

    private static Program main(Architecture architecture) {
        return architecture.build(architecture.recipe(), 10).main();
    }

    /**
     * The numbers of parameters that paddle.summary reports for paddle.vision.models.LeNet and resnet18, including the
     * running statistics of batch normalisation.
     */
    @Test
    void theyAreThoseOfPaddle() {
        assertEquals(61_610, parameters(main(new LeNet(IMAGE, LABEL, 10))));
        Field large = new Field("image", DType.FLOAT32, Shape.of(3, 224, 224));
        assertEquals(11_699_112, parameters(main(new ResNet18(large, LABEL, 1000))));
    }

    /** The filters of the first convolution, and the spatial positions before the mean. */
    @Test
    void smallImagesAreNotShrunkAtOnce() {
        Program small = main(new ResNet18(new Field("image", DType.FLOAT32, Shape.of(3, 32, 32)), LABEL, 10));
        Program large = main(new ResNet18(new Field("image", DType.FLOAT32, Shape.of(3, 64, 64)), LABEL, 10));
        assertEquals(List.of(64L, 3L, 3L, 3L), small.global().get("conv2d_0.w_0").tensor().dims());
        assertEquals(List.of(64L, 3L, 7L, 7L), large.global().get("conv2d_0.w_0").tensor().dims());
        assertEquals(0,
                small.global().ops().stream().filter(op -> op.input("X").size() == 1 && op.type().equals("pool2d")
                        && String.valueOf(op.attribute("pooling_type")).contains("max")).count());
    }

    @Test
    void mlpIsARegressionIfTargetsAreNumbers() {
        Field input = new Field("x", DType.FLOAT32, Shape.of(3));
        Field target = new Field("y", DType.FLOAT32, Shape.of(2));
        Model model = new Mlp(input, target, 2, List.of()).build(Recipe.of(8, 1, 0.1), 150);
        float[] x = new float[24];
        float[] y = new float[16];
        Random random = new Random(1);
        for (int row = 0; row < 8; row++) {
            for (int i = 0; i < 3; i++) {
                x[3 * row + i] = (float) random.nextGaussian();
            }
            y[2 * row] = 2 * x[3 * row] - x[3 * row + 2] + 0.5f;
            y[2 * row + 1] = x[3 * row + 1];
        }
        try (TinyRun run = new TinyRun(model)) {
            Tensor[] batch = {Tensor.of(x, 8, 3), Tensor.of(y, 8, 2)};
            run.train(150, batch);
            assertTrue(run.evaluate(batch) < 1e-2, "loss " + run.evaluate(batch));
            assertTrue(run.metric("absolute error", batch) < 0.1);
        }
    }

    @Test
    void dropoutIsAsked() {
        Architecture mlp = new Mlp(IMAGE, LABEL, 4);
        Model model = mlp.build(mlp.recipe().withDropout(0.3), 10);
        assertEquals(2, model.main().global().ops().stream().filter(op -> op.type().equals("dropout")).count());
        TinyRun.checkEvaluation(model);
    }

    private static void refused(String message, Runnable action) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, action::run).getMessage());
    }

    @Test
    void refusesDataThatDoNotFit() {
        Field bytes = new Field("image", DType.UINT8, Shape.of(1, 28, 28));
        Field row = new Field("row", DType.FLOAT32, Shape.of(784));
        Field target = new Field("y", DType.FLOAT32, Shape.of(2));
        refused("The field 'image' must be float32, but is uint8: convert the data to float32 before",
                () -> new LeNet(bytes, LABEL, 10));
        refused("The images of lenet must be [channels, height, width], but field 'row' has shape [784]: take mlp "
                + "for them",
                () -> new LeNet(row, LABEL, 10));
        refused("The images of lenet must be at least 14 by 14, but are [1, 13, 28]: take mlp for them",
                () -> new LeNet(new Field("image", DType.FLOAT32, Shape.of(1, 13, 28)), LABEL, 10));
        refused("The labels of resnet18 must be class numbers, int64 or int32, but field 'y' is float32: take mlp "
                + "for them",
                () -> new ResNet18(IMAGE, target, 10));
        refused("The labels of resnet18 must be one class number for each example, but field 'label' has shape [2]",
                () -> new ResNet18(IMAGE, new Field("label", DType.INT64, Shape.of(2)), 10));
        refused("The classes of lenet must be at least 2, but are 1", () -> new LeNet(IMAGE, LABEL, 1));
        refused("The outputs of mlp must be as many as its target has elements, but are 3, and field 'y' has shape [2]",
                () -> new Mlp(row, target, 3));
        refused("The widths of mlp must be at least 1, but are [8, 0]", () -> new Mlp(row, LABEL, 3, List.of(8, 0)));
        refused("The two fields must have different names, but are both 'image'",
                () -> new Mlp(IMAGE, new Field("image", DType.INT64, Shape.of(1)), 3));
    }
}
