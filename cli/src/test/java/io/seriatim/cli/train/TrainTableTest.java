package io.seriatim.cli.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cli.CommandRun;
import io.seriatim.train.TablePredictor;
import io.seriatim.train.data.TableEncoding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code seriatim train} of tables. */
class TrainTableTest {
    private static final Pattern ACCURACY = Pattern.compile("best validation .*accuracy ([0-9.]+)");

    @TempDir
    private Path temp = Path.of("");

    /** A person rides if it is old in a city of hills, or young elsewhere; postcodes are the cities. */
    private Path people(char separator) throws IOException {
        Random random = new Random(11);
        StringBuilder text = new StringBuilder("name,postcode,age,city,rides\n".replace(',', separator));
        for (int i = 0; i < 400; i++) {
            int city = random.nextInt(4);
            int age = random.nextBoolean() ? 10 + random.nextInt(20) : 50 + random.nextInt(20);
            String shown = random.nextInt(20) == 0 ? "NA" : "city " + city;
            text.append("person ").append(i).append(separator).append(10_000 + city * 777).append(separator)
                    .append(age).append(separator).append(shown).append(separator)
                    .append(age > 40 == city < 2 ? "yes" : "no").append('\n');
        }
        return Files.writeString(temp.resolve("people.csv"), text);
    }

    private static CommandRun train(Object... args) {
        List<Object> all = new ArrayList<>(List.of("train"));
        all.addAll(List.of(args));
        return CommandRun.of(all.toArray());
    }

    @Test
    void learnsFromATableAndSavesItsEncoding() throws IOException {
        Path folder = temp.resolve("run");
        CommandRun run = train(people(';'), "--label", "rides", "--category", "postcode", "--separator", ";", "--save",
                "pdmodel,json", "--seed", 2, "--threads", 1, "--out", folder);
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().contains("360 rows for training, 40 for validation; [postcode (4), age, city (4)] → rides "
                + "[no, yes]; left out: name (400 different texts in 400 rows)"), run.out());
        Matcher accuracy = ACCURACY.matcher(run.out());
        assertTrue(accuracy.find() && Double.parseDouble(accuracy.group(1)) > 0.9, run.out());
        for (Path model : List.of(folder.resolve("model.pdmodel"), folder.resolve("json/model.json"))) {
            assertTrue(Files.exists(model.resolveSibling(TableEncoding.FILE)), model::toString);
            try (TablePredictor people = TablePredictor.load(model)) {
                assertEquals("yes", people.predict(Map.of("postcode", "10000", "age", "60", "city", "city 0")).label());
                assertEquals("no", people.predict(Map.of("postcode", "10000", "age", "20", "city", "NA")).label());
                assertEquals("yes", people.predict(Map.of("postcode", "12331", "age", "20", "city", "city 3")).label());
            }
        }
        assertTrue(Files.readString(folder.resolve("run.properties")).contains("label=rides\n"));
    }

    /** A resumed run reads the same columns: otherwise the data would be others. */
    @Test
    void resumesATableWithItsColumns() throws IOException {
        Path folder = temp.resolve("run");
        Object[] settings = {people(','), "--label", "rides", "--without", "name", "--without", "city", "--category",
                "postcode", "--threads", 1, "--out", folder, "--epochs", 2, "--steps", 3};
        CommandRun run = train(settings);
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().contains("[postcode (4), age] → rides [no, yes]"), run.out());
        CommandRun resumed = train("--resume", folder);
        assertEquals(0, resumed.code(), resumed.err());
        assertTrue(resumed.out().contains("[postcode (4), age] → rides [no, yes]"), resumed.out());
    }

    @Test
    void saysHowATableIsTrained() throws IOException {
        Path file = people(',');
        refused("A table needs --label, the column with the classes", file);
        refused("--label is for tables: name the file", "mlp", "--label", "rides");
        refused("--category, --without and --separator are for tables", "mlp", "--category", "city");
        refused("are not for tables: the rows of", file, "--label", "rides", "--data", temp);
        refused("--separator must be one character", file, "--label", "rides", "--separator", "::");
        refused(file + ":1: the header must have a column 'ride', but its columns are", file, "--label", "ride");
        refused(file + ":1: the header must have a column 'town'", file, "--label", "rides", "--without", "town");
        refused("A column can be named once, but 'rides' is named twice", file, "--label", "rides", "--category",
                "rides");
        refused("There is no network and no file", temp.resolve("none.csv"), "--label", "rides");
        assertFalse(Files.exists(temp.resolve("refused")), "nothing is written");
    }

    private void refused(String message, Object... args) {
        List<Object> all = new ArrayList<>(List.of(args));
        all.addAll(List.of("--out", temp.resolve("refused")));
        CommandRun run = train(all.toArray());
        assertEquals(2, run.code(), run.err());
        assertTrue(run.err().contains(message), run.err());
    }
}
