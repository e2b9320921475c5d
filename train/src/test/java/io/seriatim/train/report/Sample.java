package io.seriatim.train.report;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.executor.trace.RunTrace;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import io.seriatim.train.TrainingListener;
import io.seriatim.train.metrics.History;
import io.seriatim.train.model.CharacterTransformer;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A sample of a training: the curves are made up, the network and the recorded step are real. */
final class Sample {
    static final Map<String, Double> BASELINES = Map.of("bigram", 2.41);
    private static final int CONTEXT = 16;
    private static final int CHARACTERS = 60;

    private Sample() {
    }

    static Model model() {
        CharacterTransformer network = new CharacterTransformer(CHARACTERS, CONTEXT, 32, 4, 2);
        return network.build(network.recipe(), 100);
    }

    /** A recording of the third of five steps. */
    static RunTrace step(Model model) {
        RunRecorder recorder = new RunRecorder().pause();
        try (Executor executor = Executor.builder().threads(2).recorder(recorder).build()) {
            executor.run(model.startup());
            Plan plan = executor.compile(model.main(), new Feeds(model.feeds()),
                    new Fetches(List.of(model.loss())));
            for (int i = 0; i < 5; i++) {
                if (i == 2) {
                    recorder.resume();
                }
                Random random = new Random(i);
                plan.run(Tensor.of(random.longs(8L * CONTEXT, 0, CHARACTERS).toArray(), 8, CONTEXT),
                        Tensor.of(random.longs(8L * CONTEXT, 0, CHARACTERS).toArray(), 8, CONTEXT, 1));
                recorder.pause();
            }
        }
        return recorder.trace();
    }

    static History history(int steps) throws IOException {
        History history = new History();
        history.started(
                new TrainingListener.Started("names", "cpu", 2, 64, 0, steps, 4, 353_820, 25_000, "characters"));
        Random random = new Random(5);
        for (int i = 1; i <= steps; i++) {
            double loss = 1.75 + 2.3 * Math.exp(-i / 150.0) + 0.06 * random.nextGaussian();
            double rate = 3e-3 * Math.min(i / 100.0, 0.55 + 0.45 * Math.cos(Math.PI * i / steps));
            history.step(new TrainingListener.Step(i, 1 + 4 * (i - 1) / steps, loss, Map.of("accuracy", 1 - loss / 4.5),
                    rate,
                    0.08 + 0.01 * random.nextDouble(), 4096));
            if (i % Math.max(1, steps / 12) == 0) {
                double judged = 1.8 + 2.3 * Math.exp(-i / 150.0) + 0.04 * i / steps;
                history.evaluated(
                        new TrainingListener.Evaluation(i, 1 + 4 * (i - 1) / steps, judged,
                                Map.of("accuracy", 1 - judged / 4.4), false,
                                1));
            }
        }
        history.ended(TrainingListener.End.DONE, steps);
        return history;
    }

    static TrainingReport report(int steps) throws IOException {
        Model model = model();
        Extra names = new Extra("Twenty invented names",
                List.of("Drawn from the model's distribution, at temperature 0.8."),
                List.of("Name", "Exists"),
                List.of(new Extra.Row(List.of("java.util.AbstractMap<K>", "yes"), true),
                        new Extra.Row(List.of("javax.swing.plaf.basic.BasicPaneListener$1", "no"), false)));
        return new TrainingReport("names").history(history(steps), BASELINES).extra(names).step(step(model), "step 20")
                .graph(model.main())
                .environment("Command line", "seriatim train names --seed 1 --out \"runs/<a & b>\"")
                .environment("Seed", "1");
    }
}
