package io.seriatim.examples.train;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import io.seriatim.train.Trainer;
import io.seriatim.train.data.Split;
import io.seriatim.train.metrics.Progress;
import io.seriatim.train.model.LeNet;
import io.seriatim.train.model.LoadedModel;
import io.seriatim.train.model.Recipe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Trains a network, converts it to ONNX, trains the ONNX file further on other digits, and saves the result in the
 * formats of PaddlePaddle 2, PaddlePaddle 3 and ONNX. A network that PyTorch has exported is trained further by the
 * same code: give its file as the second argument.
 */
public final class FineTuning {
    /** The names of the saved files. The two formats of PaddlePaddle would share their file of parameters. */
    static final List<String> SAVED = List.of("tuned.pdmodel", "tuned3.json", "tuned.onnx");
    private static final int BATCH = 32;
    private static final int TRAINING = 1_600;
    private static final int VALIDATION = 320;

    private FineTuning() {
    }

    /**
     * Trains on bright digits, then further on dark ones.
     *
     * @param args
     *            the folder of the files, by default a new one, and an ONNX file to begin with, by default a LeNet that
     *            is trained first; its input is float32 [n, 1, 28, 28], its output the logits [n, 10]
     * @throws IOException
     *             if files cannot be written or read
     */
    public static void main(String... args) throws IOException {
        Path folder = args.length > 0 ? Files.createDirectories(Path.of(args[0])) : Files.createTempDirectory("digits");
        Path onnx = args.length > 1 ? Path.of(args[1]) : converted(trained(folder));
        Digits dark = new Digits(VALIDATION, 4, true);
        System.out.printf("%s: %.1f %% of the dark digits are right%n", onnx.getFileName(), 100 * accuracy(onnx, dark));
        tune(onnx, folder);
        for (String name : SAVED) {
            System.out.printf("%s: %.1f %%%n", name, 100 * accuracy(folder.resolve(name), dark));
        }
    }

    /** Trains a LeNet on bright digits. */
    static Path trained(Path folder) throws IOException {
        Split data = new Split(new Digits(TRAINING, 1, false), new Digits(VALIDATION, 2, false));
        LeNet network = new LeNet(Digits.IMAGE, Digits.LABEL, Digits.CLASSES);
        Recipe recipe = network.recipe().withBatch(BATCH).withEpochs(4).withRate(3e-3);
        Model model = network.build(recipe, recipe.steps(TRAINING));
        Trainer trainer = trainer(model, data, recipe);
        trainer.run();
        Path file = folder.resolve("lenet.pdmodel");
        trainer.saveAs(file);
        return file;
    }

    private static Trainer trainer(Model model, Split data, Recipe recipe) {
        return Trainer.of(model, data).batch(recipe.batch()).epochs(recipe.epochs()).seed(1)
                .listener(new Progress(System.out, false)).build();
    }

    /** Writes a model as ONNX, as {@code seriatim convert} does. */
    static Path converted(Path file) throws IOException {
        Path onnx = file.resolveSibling("lenet.onnx");
        try (InferenceModel model = InferenceModels.load(file)) {
            InferenceModels.save(onnx, model);
        }
        return onnx;
    }

    /** Trains a model of any format on dark digits, and saves it in all formats. */
    static void tune(Path file, Path folder) throws IOException {
        Split data = new Split(new Digits(TRAINING, 3, true), new Digits(VALIDATION, 4, true));
        try (InferenceModel loaded = InferenceModels.load(file)) {
            Recipe recipe = LoadedModel.recipe().withBatch(BATCH).withEpochs(4).withRate(3e-3);
            Model model = new LoadedModel("tuned", loaded, null, LoadedModel.Loss.CROSS_ENTROPY)
                    .build(Digits.LABEL, recipe, recipe.steps(TRAINING));
            Trainer trainer = trainer(model, data, recipe);
            trainer.run();
            for (String name : SAVED) {
                trainer.saveAs(folder.resolve(name));
            }
        }
    }

    /** Returns the part of the digits that a model recognises, loaded as a service would load it. */
    static double accuracy(Path file, Digits digits) throws IOException {
        int[] all = IntStream.range(0, digits.size()).toArray();
        try (InferenceModel model = InferenceModels.load(file); Executor executor = Executor.on(Place.CPU)) {
            model.parameters().forEach(executor.scope()::set);
            Plan plan = executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches()));
            Tensor logits = plan.run(digits.batch(all).getFirst()).get(model.fetches().getFirst());
            return IntStream.of(all).filter(i -> largest(logits.select(0, i).toFloatArray()) == digits.label(i)).count()
                    / (double) all.length;
        }
    }

    private static int largest(float[] values) {
        int largest = 0;
        for (int i = 1; i < values.length; i++) {
            largest = values[i] > values[largest] ? i : largest;
        }
        return largest;
    }
}
