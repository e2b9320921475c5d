package io.seriatim.cli.setup;

import io.seriatim.cli.option.Usage;
import io.seriatim.tensor.StagedFiles;
import io.seriatim.tensor.onednn.OneDnn;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes a Maven project that trains a model and serves it. */
@Command(name = "init", description = "Write a small Maven project that trains a model on a table and serves it.")
public final class InitCommand implements Callable<Integer> {
    private static final String POM = "pom.xml";
    private static final String SOURCES = "src/main/java/app";
    private static final String DATA = "travel.csv";
    private static final int ROWS = 600;
    private static final List<String> FLAT = List.of("Delft", "Ghent");
    private static final List<String> CITIES = List.of("Bern", "Delft", "Ghent", "Lisbon");
    private static final double WALK = 2;
    private static final double CYCLE = 10;
    private static final double FARTHEST = 15;

    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(index = "0", paramLabel = "DIR", description = "The project's folder: a new or an empty one.")
    private Path folder = Path.of("");

    /** Created by the command line parser. */
    public InitCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() throws IOException {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw Usage.error(command, "The project needs a folder, but " + folder + " is a file: give another name",
                    null);
        }
        Files.createDirectories(folder);
        // The project's descriptor is the main file, which is put in place last.
        try (StagedFiles staged = StagedFiles.beside(folder.resolve(POM))) {
            requireEmpty(command, Objects.requireNonNull(staged.file().getParent()));
            staged.createFolders(SOURCES);
            write(staged, SOURCES + "/Train.java", template("Train.java"));
            write(staged, SOURCES + "/Serve.java", template("Serve.java"));
            write(staged, "README.md", template("README.md"));
            write(staged, ".gitignore", template("gitignore"));
            write(staged, DATA, table());
            write(staged, POM, template(POM).replace("{{natives}}", natives()));
            staged.publish();
        }
        PrintWriter out = command.commandLine().getOut();
        out.println("project " + folder + ", with two commands to run in it:");
        out.println("  mvn -q compile exec:exec@train   # learns " + DATA + ", and writes model.json");
        out.println("  mvn -q compile exec:exec@serve   # answers http://localhost:8080/?city=Ghent&distance=4");
        out.flush();
        return 0;
    }

    /** Nothing is replaced, neither a file of a project nor one that is merely in the way. */
    private void requireEmpty(CommandSpec command, Path staging) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            String name = all.map(each -> String.valueOf(each.getFileName()))
                    .filter(each -> !each.equals(String.valueOf(staging.getFileName()))).sorted().findFirst()
                    .orElse(null);
            if (name != null) {
                throw Usage.error(command, "The project's folder must be new or empty, but " + folder + " holds " + name
                        + ": give another name", null);
            }
        }
    }

    private static void write(StagedFiles staged, String name, String text) throws IOException {
        staged.writeText(name, out -> out.append(text));
    }

    private String template(String name) throws IOException {
        String resource = name + ".txt";
        try (InputStream in = Objects.requireNonNull(InitCommand.class.getResourceAsStream(resource), resource)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("{{name}}", name())
                    .replace("{{version}}", version());
        }
    }

    /** The folder's name in the characters that Maven allows. */
    private String name() {
        String name = String.valueOf(folder.toAbsolutePath().normalize().getFileName()).toLowerCase(Locale.ROOT)
                .replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
        return name.isEmpty() ? "app" : name;
    }

    /** The first line of {@code --version} without the name. */
    private String version() {
        return Objects.requireNonNull(spec, "spec").root().version()[0].replaceFirst("^\\S+ ", "");
    }

    /** oneDNN for this platform; nothing where there is none. */
    private static String natives() throws IOException {
        String platform = OneDnn.status().platform();
        if (platform == null) {
            return "";
        }
        String resource = "dnnl.xml.txt";
        try (InputStream in = Objects.requireNonNull(InitCommand.class.getResourceAsStream(resource), resource)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("{{platform}}", platform);
        }
    }

    /** Made-up rows: people walk if it is near, cycle where it is flat, and take the train otherwise. */
    private static String table() {
        SplittableRandom random = new SplittableRandom(1);
        StringBuilder text = new StringBuilder("city,distance,travels\n");
        for (int i = 0; i < ROWS; i++) {
            String city = CITIES.get(random.nextInt(CITIES.size()));
            double distance = random.nextDouble(FARTHEST);
            String travels = distance < WALK ? "walks" : distance < CYCLE && FLAT.contains(city) ? "cycles" : "rides";
            text.append(String.format(Locale.ROOT, "%s,%.1f,%s\n", city, distance, travels));
        }
        return text.toString();
    }
}
