package io.seriatim.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.BadRequestException;
import io.seriatim.executor.Predictor;
import io.seriatim.executor.RunOptions;
import io.seriatim.train.data.TableData;
import io.seriatim.train.data.TableEncoding;
import io.seriatim.train.metrics.History;
import io.seriatim.train.model.Recipe;
import io.seriatim.train.model.TableMlp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TablePredictorTest {
    private static final List<String> CITIES = List.of("Athens", "Bern", "Cairo", "Dublin", "Essen");
    private static final int ROWS = 600;

    @TempDir
    Path folder;

    /** Young in Athens or Cairo, or old elsewhere: neither column alone tells. */
    private static String rule(String city, int age) {
        return age < 40 == (city.equals("Athens") || city.equals("Cairo")) ? "yes" : "no";
    }

    private Path table() throws IOException {
        Random random = new Random(7);
        StringBuilder text = new StringBuilder("city,age,class\n");
        for (int i = 0; i < ROWS; i++) {
            String city = CITIES.get(random.nextInt(CITIES.size()));
            // Not near the limit, which few rows show.
            int age = random.nextBoolean() ? 10 + random.nextInt(25) : 45 + random.nextInt(25);
            text.append(city).append(',').append(age).append(',').append(rule(city, age)).append('\n');
        }
        return Files.writeString(folder.resolve("people.csv"), text);
    }

    /** A column that is misspelt, or one more, is refused with the names of all columns, unless others are ignored. */
    private static void assertColumnsAreKnown(TablePredictor predictor) {
        Map<String, String> known = Map.of("city", "Bern", "age", "20");
        for (Map<String, String> row : List.of(Map.of("city", "Bern", "Age", "20"),
                Map.of("city", "Bern", "age", "20", "Age", "20"))) {
            BadRequestException e = assertThrows(BadRequestException.class,
                    () -> predictor.predict(List.of(known, row)));
            assertEquals("Row 1 has the column 'Age', which the model does not know: its columns are [city, age]. "
                    + "Leave it out, or let ignoringOtherColumns() ignore it", e.getMessage());
        }
        TablePredictor lenient = predictor.ignoringOtherColumns();
        assertEquals(predictor.predict(known), lenient.predict(Map.of("city", "Bern", "age", "20", "Age", "7")));
        BadRequestException e = assertThrows(BadRequestException.class,
                () -> lenient.predict(Map.of("city", "Bern", "Age", "20")));
        assertTrue(String.valueOf(e.getMessage()).contains("has none for 'age'"), e.getMessage());
    }

    private static void assertOptionsAreThoseOfTheRun(TablePredictor predictor) {
        Map<String, String> row = Map.of("city", "Bern", "age", "20");
        assertEquals(predictor.predict(row), predictor.predict(row, RunOptions.timeout(Duration.ofHours(1))));
        RunOptions gone = RunOptions.defaults().cancelOn(CompletableFuture.completedFuture("gone"));
        assertThrows(CancellationException.class, () -> predictor.predict(row, gone));
        assertThrows(CancellationException.class, () -> predictor.predict(List.of(row, row), gone));
    }

    @Test
    void learnsARuleAndAppliesItsEncodingToTexts() throws IOException {
        TableData.Examples people = TableData.csv(table()).category("city").number("age").label("class").read();
        TableMlp network = new TableMlp(people.encoding());
        Recipe recipe = network.recipe();
        Model model = network.build(recipe, recipe.steps(people.split().training().size()));
        assertEquals(List.of("city", "age", "class"), model.feeds());
        History history = new History();
        Trainer trainer = Trainer.of(model, people.split()).batch(recipe.batch()).epochs(recipe.epochs()).seed(3)
                .listener(history).build();
        trainer.run();
        double accuracy = history.evaluations().getLast().metrics().getOrDefault("accuracy", 0.0);
        assertTrue(accuracy > 0.95, () -> "accuracy " + accuracy);
        for (String name : List.of("model.pdmodel", "model.json")) {
            Path saved = folder.resolve(name);
            trainer.saveAs(saved);
            people.encoding().save(folder.resolve(TableEncoding.FILE));
            try (TablePredictor predictor = TablePredictor.load(saved)) {
                predictor.warmUp(1);
                assertThrows(IllegalArgumentException.class, () -> predictor.warmUp(0));
                List<Map<String, String>> rows = new ArrayList<>();
                for (String city : CITIES) {
                    rows.add(Map.of("city", city, "age", "20"));
                    rows.add(Map.of("city", city, "age", "60.0", "class", "?"));
                }
                List<TablePredictor.Prediction> answers = predictor.predict(rows);
                for (int i = 0; i < rows.size(); i++) {
                    assertEquals(rule(CITIES.get(i / 2), i % 2 == 0 ? 20 : 60), answers.get(i).label(),
                            name + rows.get(i));
                    assertEquals(1, answers.get(i).scores().values().stream().mapToDouble(x -> x).sum(), 1e-5);
                }
                // An unknown text is as a missing one, and not as some row of the table that was never trained.
                assertEquals(predictor.predict(Map.of("city", "", "age", "20")),
                        predictor.predict(Map.of("city", "Zurich", "age", "20")));
                assertEquals(Set.of("no", "yes"), predictor.predict(Map.of("city", "Zurich", "age", "NA")).scores()
                        .keySet());
                assertThrows(BadRequestException.class, () -> predictor.predict(Map.of("city", "Bern")));
                assertThrows(BadRequestException.class,
                        () -> predictor.predict(Map.of("city", "Bern", "age", "old")));
                assertThrows(BadRequestException.class, () -> predictor.predict(List.of()));
                assertColumnsAreKnown(predictor);
                assertOptionsAreThoseOfTheRun(predictor);
            }
        }
        TableEncoding other = TableData.csv(folder.resolve("people.csv")).number("age").label("class").read()
                .encoding();
        Predictor alone = Predictor.load(folder.resolve("model.json"));
        assertThrows(IllegalArgumentException.class, () -> TablePredictor.of(alone, other));
        assertThrows(IllegalStateException.class, alone::inputs, "closed");
    }
}
