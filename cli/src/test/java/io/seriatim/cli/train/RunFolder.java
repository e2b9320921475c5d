package io.seriatim.cli.train;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The folder that a training has written. */
record RunFolder(Path path) {
    private static final Pattern LOSS = Pattern
            .compile("\"event\":\"(step|evaluation)\",\"step\":(\\d+),.*?\"loss\":([^,}]+)");

    /** All files, with '/' between the parts of their names, and folders without files. */
    Set<String> files() throws IOException {
        if (!Files.exists(path)) {
            return Set.of();
        }
        try (Stream<Path> walk = Files.walk(path)) {
            return walk.filter(file -> Files.isRegularFile(file) || isEmpty(file))
                    .map(file -> path.relativize(file).toString().replace('\\', '/'))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static boolean isEmpty(Path folder) {
        String[] names = folder.toFile().list();
        return names != null && names.length == 0;
    }

    List<Long> checkpoints() throws IOException {
        Path folder = path.resolve("checkpoints");
        if (!Files.exists(folder)) {
            return List.of();
        }
        try (Stream<Path> list = Files.list(folder)) {
            return list.map(each -> Long.valueOf(each.getFileName().toString())).sorted().toList();
        }
    }

    /** A line such as {@code step 3 0.25} for each loss of the metrics, with all digits. */
    List<String> losses() throws IOException {
        return LOSS.matcher(Files.readString(path.resolve("metrics.jsonl"))).results()
                .map(found -> found.group(1) + " " + found.group(2) + " " + found.group(3)).toList();
    }

    double loss(long step) throws IOException {
        String prefix = "step " + step + " ";
        return losses().stream().filter(line -> line.startsWith(prefix))
                .mapToDouble(line -> Double.parseDouble(line.substring(prefix.length())))
                .findFirst().orElseThrow(() -> new AssertionError("no step " + step + " in the metrics of " + path));
    }

    /** Nothing is incomplete: no temporary names, and both files in each checkpoint. */
    void assertWhole() throws IOException {
        Set<String> files = files();
        Matcher hidden = Pattern.compile("(^|/)\\.|\\.(part|tmp)(/|,|$)").matcher("");
        assertEquals(List.of(), files.stream().filter(name -> hidden.reset(name).find()).toList(),
                "left-overs among " + files);
        for (long step : checkpoints()) {
            assertEquals(Set.of("state.properties", "variables.pdiparams"),
                    new RunFolder(path.resolve("checkpoints").resolve(Long.toString(step))).files(),
                    "checkpoint " + step);
        }
    }

    /** The trainings are bitwise equal: the losses, and the saved model. */
    void assertSameAs(RunFolder other) throws IOException {
        assertEquals(other.losses(), losses());
        assertEquals(-1, Files.mismatch(other.path.resolve("model.pdiparams"), path.resolve("model.pdiparams")),
                "first byte that differs");
        assertEquals(-1, Files.mismatch(other.path.resolve("model.pdmodel"), path.resolve("model.pdmodel")),
                "first byte that differs");
    }
}
