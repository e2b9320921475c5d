package io.seriatim.train.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import io.seriatim.train.data.TextWindows;
import io.seriatim.train.data.Vocabulary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CharacterTransformerTest {
    private static final int CONTEXT = 8;
    private static final CharacterTransformer TINY = new CharacterTransformer(5, CONTEXT, 16, 2, 2);
    private static final Recipe RECIPE = Recipe.of(4, 1, 1e-2).withWarmUp(5).withClip(1).withDecay(0.1).withSeed(3);

    /** Each token is the one before it plus 2, modulo 5: the current token determines the next. */
    private static Tensor[] batch(int rows, long seed) {
        Random random = new Random(seed);
        long[] tokens = new long[rows * CONTEXT];
        long[] next = new long[tokens.length];
        for (int row = 0; row < rows; row++) {
            int offset = random.nextInt(5);
            for (int i = 0; i < CONTEXT; i++) {
                tokens[row * CONTEXT + i] = (offset + 2L * i) % 5;
                next[row * CONTEXT + i] = (offset + 2L * (i + 1)) % 5;
            }
        }
        return new Tensor[]{Tensor.of(tokens, rows, CONTEXT), Tensor.of(next, rows, CONTEXT, 1)};
    }

    @Test
    void itsFeedsAreThoseOfWindowsOfText() {
        Model model = TINY.build(RECIPE, 10);
        TextWindows windows = new TextWindows(Vocabulary.of("abcde").encode("abcdeabcdeabcde"), CONTEXT);
        assertEquals(windows.fields().stream().map(each -> each.name()).toList(), model.feeds());
        assertEquals(List.of("tokens"), model.inputs());
        assertEquals(List.of(-1L, (long) CONTEXT, 5L),
                model.evaluation().global().get(model.outputs().getFirst()).tensor().dims());
        assertEquals("characters", model.unit());
        assertEquals(CONTEXT, model.unitsPerExample());
    }

    @Test
    void learns() {
        try (TinyRun run = new TinyRun(TINY.build(RECIPE, 60))) {
            double first = run.evaluate(batch(4, 1));
            assertEquals(Math.log(5), first, 0.05, "before it has learned anything");
            run.train(60, batch(4, 1));
            double last = run.evaluate(batch(4, 2));
            assertTrue(last < 0.2, "loss " + last);
            assertEquals(1, run.metric("accuracy", batch(4, 2)), 1e-6);
        }
    }

    @Test
    void aSeedGivesTheSameTraining() {
        double[] losses = IntStream.range(0, 3).mapToDouble(i -> {
            try (TinyRun run = new TinyRun(TINY.build(RECIPE.withDropout(0.2).withSeed(i == 2 ? 4 : 3), 10))) {
                return run.train(3, batch(4, 1));
            }
        }).toArray();
        assertEquals(losses[0], losses[1], 0.0);
        assertNotEquals(losses[0], losses[2]);
    }

    /** With a learning rate of 0, two steps differ only in their dropout masks. */
    @Test
    void dropoutIsNewInEachStep() {
        Model model = TINY.build(RECIPE.withDropout(0.2).withRate(1e-30).withDecay(0), 10);
        try (TinyRun run = new TinyRun(model)) {
            Tensor[] batch = batch(4, 1);
            assertNotEquals(run.train(batch), run.train(batch));
            assertEquals(run.evaluate(batch), run.evaluate(batch));
        }
        TinyRun.checkEvaluation(model);
    }

    @Test
    void seesNothingOfWhatComesLater() {
        try (TinyRun run = new TinyRun(TINY.build(RECIPE, 10))) {
            run.train(5, batch(4, 1));
            long[] tokens = {1, 2, 3, 4, 0, 1, 2, 3};
            float[] before = run.output(Tensor.of(tokens, 1, CONTEXT)).toFloatArray();
            tokens[5] = 4;
            float[] after = run.output(Tensor.of(tokens, 1, CONTEXT)).toFloatArray();
            assertArrayEquals(Arrays.copyOf(before, 5 * 5), Arrays.copyOf(after, 5 * 5));
            assertNotEquals(before[5 * 5], after[5 * 5]);
            assertNotEquals(before[7 * 5], after[7 * 5], "the last position sees all");
        }
    }

    @Test
    void isSavedAndInventsTheSameNames(@TempDir Path folder) throws IOException {
        Model model = TINY.build(RECIPE, 40);
        Vocabulary vocabulary = Vocabulary.of("\nabcd");
        try (TinyRun run = new TinyRun(model)) {
            run.train(40, batch(4, 1));
            run.checkSaved(folder, batch(3, 5)[0]);
            List<NameSampler.Invention> own = NameSampler.of(run.executor(), model, vocabulary).invent(3, 0.8, 1,
                    "bdac"::equals);
            assertTrue(own.contains(new NameSampler.Invention("bdac", true)), own.toString());
            try (InferenceModels.InferenceModel saved = InferenceModels.load(folder.resolve("model"));
                    Executor other = Executor.on(Place.CPU)) {
                assertEquals(own, NameSampler.of(other, saved, vocabulary).invent(3, 0.8, 1, "bdac"::equals));
            }
        }
    }

    @Test
    void learnsInBfloat16Too() {
        try (TinyRun run = new TinyRun(TINY.build(RECIPE.withBfloat16(true), 60))) {
            run.train(60, batch(4, 1));
            double last = run.evaluate(batch(4, 2));
            assertTrue(last < 0.3, "loss " + last);
        }
    }

    @Test
    void itsOutputHasTheShapeOfItsInput() {
        try (TinyRun run = new TinyRun(TINY.build(RECIPE, 10))) {
            assertEquals(Shape.of(3, CONTEXT, 5), run.output(batch(3, 1)[0]).shape());
            assertEquals(Shape.of(1, CONTEXT, 5), run.output(batch(1, 1)[0]).shape());
        }
    }

    @Test
    void refusesSizesThatDoNotFit() {
        assertEquals("The width of a character transformer must be a multiple of its heads, but is 10 of 4",
                assertThrows(IllegalArgumentException.class, () -> new CharacterTransformer(5, 8, 10, 4, 1))
                        .getMessage());
        assertThrows(IllegalArgumentException.class, () -> new CharacterTransformer(1, 8, 8, 4, 1));
        assertThrows(IllegalArgumentException.class, () -> new CharacterTransformer(5, 0, 8, 4, 1));
    }
}
