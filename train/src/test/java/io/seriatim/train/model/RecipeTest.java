package io.seriatim.train.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.graph.optimizer.Schedule;
import org.junit.jupiter.api.Test;

class RecipeTest {
    @Test
    void theRateRisesAndThenFallsToATenth() {
        Schedule schedule = Recipe.of(8, 2, 0.5).withWarmUp(10).schedule(110);
        assertEquals(0.05, schedule.rate(0), 1e-12);
        assertEquals(0.05 + 0.45 * 0.5, schedule.rate(5), 1e-12);
        assertEquals(0.5, schedule.rate(10), 1e-12);
        assertEquals(0.05 + 0.45 / 2, schedule.rate(60), 1e-12, "half-way down");
        assertEquals(0.05, schedule.rate(110), 1e-12);
        assertEquals(0.05, schedule.rate(100_000), 1e-12, "it does not rise again");
    }

    @Test
    void withoutWarmUpItBeginsAtTheTop() {
        assertEquals(0.5, Recipe.of(8, 2, 0.5).schedule(100).rate(0), 1e-12);
        assertEquals(0.5, Recipe.of(8, 2, 0.5).schedule(1).rate(0), 1e-12);
    }

    /** The learning rate rises in five of ten steps. */
    @Test
    void aShortTrainingHasAShortWarmUp() {
        Schedule schedule = Recipe.of(8, 2, 0.5).withWarmUp(100).schedule(10);
        assertEquals(0.1, schedule.rate(0), 1e-12);
        assertEquals(0.5, schedule.rate(5), 1e-12);
        assertEquals(0.05, schedule.rate(10), 1e-12);
    }

    @Test
    void stepsLeaveOutWhatFillsNoBatch() {
        assertEquals(6, Recipe.of(8, 3, 1).steps(23));
        assertEquals(3, Recipe.of(8, 3, 1).steps(5), "at least one for each epoch");
        assertEquals(3_000_000_000L, Recipe.of(1, 2, 1).steps(1_500_000_000));
    }

    private static void refused(String message, Runnable action) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, action::run).getMessage());
    }

    @Test
    void refusesWhatIsNoRecipe() {
        Recipe recipe = Recipe.of(1, 1, 1);
        refused("'batch' of a recipe must be at least 1, but is 0", () -> recipe.withBatch(0));
        refused("'epochs' of a recipe must be at least 1, but is -1", () -> recipe.withEpochs(-1));
        refused("'warmUp' of a recipe must be at least 0, but is -1", () -> recipe.withWarmUp(-1));
        refused("'clip' of a recipe must be a finite number from 0 on, but is NaN", () -> recipe.withClip(Double.NaN));
        refused("'decay' of a recipe must be a finite number from 0 on, but is Infinity",
                () -> recipe.withDecay(Double.POSITIVE_INFINITY));
        refused("The learning rate must be a finite number above 0, but is 0.0", () -> recipe.withRate(0));
        refused("The probability of dropout must be from 0 to below 1, but is 1.0", () -> recipe.withDropout(1));
        refused("'steps' of a recipe must be at least 1, but is 0", () -> recipe.schedule(0));
        refused("'examples' of a recipe must be at least 1, but is 0", () -> recipe.steps(0));
    }
}
