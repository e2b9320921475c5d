package io.seriatim.examples.train;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import io.seriatim.train.Trainer;
import io.seriatim.train.TrainingListener;
import io.seriatim.train.data.Split;
import io.seriatim.train.metrics.JsonLines;
import io.seriatim.train.metrics.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Trains a custom network on custom data, and uses it. This program does for {@link Spirals} what
 * {@code ./seriatim train} does for its networks: it prefetches batches, evaluates the model after each epoch, writes
 * checkpoints, and saves the best model in PaddlePaddle's format.
 */
public final class SpiralTraining {
    private static final int BATCH = 32;
    private static final int TRAINING = 3_000;
    private static final int VALIDATION = 300;

    private SpiralTraining() {
    }

    /**
     * Trains a model, and then evaluates the saved model at some points.
     *
     * @param args
     *            the folder of the run and the number of epochs; by default a new folder and 8
     * @throws IOException
     *             if files cannot be written or read
     */
    public static void main(String... args) throws IOException {
        Path run = args.length > 0 ? Files.createDirectories(Path.of(args[0])) : Files.createTempDirectory("spirals");
        int epochs = args.length > 1 ? Integer.parseInt(args[1]) : 8;

        Split data = new Split(new Spirals(TRAINING, 1), new Spirals(VALIDATION, 2));
        Model model = model((long) epochs * (TRAINING / BATCH));
        Progress progress = new Progress(System.out, false);
        try (JsonLines metrics = new JsonLines(run.resolve("metrics.jsonl"))) {
            Trainer trainer = Trainer.of(model, data).batch(BATCH).epochs(epochs).seed(1).folder(run) // checkpoints
                    .listener(progress).listener(metrics).listener(new Milestones()).build();
            Trainer.Result result = trainer.run();
            trainer.save(run.resolve("model"));
            System.out.println("best validation loss " + result.bestLoss() + " after step " + result.bestStep());
        }

        Spirals examples = new Spirals(6, 3);
        List<Integer> predicted = predict(run.resolve("model"), examples);
        for (int i = 0; i < examples.size(); i++) {
            System.out.println(examples.points().get(i) + " is taken for arm " + predicted.get(i));
        }
    }

    /** Builds the network, with two hidden layers, and its optimizer, Adam with a cosine schedule. */
    static Model model(long steps) {
        Network net = Network.define(g -> {
            Value point = g.data("point", FLOAT32, -1, 2);
            Value arm = g.data("arm", INT64, -1, 1);
            Value logits = g.linear(g.linear(g.linear(point, 64).relu(), 64).relu(), Spirals.ARMS);
            Value loss = g.softmaxCrossEntropy(logits, arm).mean();
            Value accuracy = g.accuracy(logits, arm, 1);
            g.minimize(loss, Adam.of(Schedule.cosine(5e-3, steps, 0)).clip(Clip.globalNorm(1)));
            return Outputs.of("loss", loss, "accuracy", accuracy, "logits", logits);
        });
        return Model.of("spirals", net).loss("loss").metric("accuracy").predicts("logits").unit("points", 1);
    }

    /** A custom listener; the training thread calls it for each event, in order. */
    private static final class Milestones implements TrainingListener {
        private double goal = 0.5;

        @Override
        public void evaluated(Evaluation evaluation) {
            double accuracy = evaluation.metrics().getOrDefault("accuracy", 0.0);
            if (accuracy >= goal) {
                System.out.printf("%.1f %% are right after step %d%n", 100 * accuracy, evaluation.step());
                goal = (1 + accuracy) / 2;
            }
        }
    }

    /** Loads and runs the saved model, as a service would; see the example in package serve. */
    static List<Integer> predict(Path file, Spirals examples) throws IOException {
        int[] all = IntStream.range(0, examples.size()).toArray();
        try (InferenceModel model = InferenceModels.load(file); Executor executor = Executor.on(Place.CPU)) {
            model.parameters().forEach(executor.scope()::set);
            Plan plan = executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches()));
            Tensor logits = plan.run(examples.batch(all).getFirst()).get(model.fetches().getFirst());
            return Arrays.stream(all).mapToObj(i -> largest(logits.select(0, i).toFloatArray())).toList();
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
