package io.seriatim.benchmarks.train;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Runs the workloads with a library for the JVM: {@code run.sh LIBRARY WORK THREADS} builds its dependencies with Maven
 * at the first use, and prints a tab-separated line for each part.
 *
 * @param name
 *            the name in tables
 * @param library
 *            the script's name of the library
 * @param folder
 *            the folder of the script
 */
record JvmPeer(String name, String library, Path folder) implements Peer {
    private static final String SCRIPT = "run.sh";
    private static final String RESULT = "RESULT\t";
    private static final Pattern MEMBER = Pattern.compile("(?<key>\\w+)=(?<value>[-+.\\w]+)");
    /** The script's names that differ from Seriatim's. */
    private static final Map<String, String> KEYS = Map.of("hwm", "rss_mb", "first_s", "first_step_s");
    private static final List<String> KEPT = List.of("median_ms", "median_us", "p99_us", "rss_mb", "first_step_s");

    static Stream<Peer> in(Path folder) {
        return Files.exists(folder.resolve(SCRIPT))
                ? Stream.of(new JvmPeer("tensorflow", "tensorflow", folder), new JvmPeer("djl", "djl", folder),
                        new JvmPeer("ort", "onnxruntime", folder))
                : Stream.empty();
    }

    @Override
    public boolean does(TrainWork work) {
        return !work.jvm().isEmpty() && (!work.trains() || !library.equals("onnxruntime"));
    }

    @Override
    public List<Figures> run(TrainWork work, int threads) throws InterruptedException, PeerUnavailableException {
        List<Figures> all = new ArrayList<>();
        for (Map.Entry<String, String> part : work.jvm().entrySet()) {
            PeerProcess process = new PeerProcess(
                    List.of("bash", folder.resolve(SCRIPT).toAbsolutePath().toString(), library, part.getKey(),
                            String.valueOf(threads)),
                    folder, Map.of("JAVA_HOME", System.getProperty("java.home")),
                    "it needs Maven, and the network at the first use");
            List<Figures> figures = parse(process.run(), part.getValue(), threads);
            if (figures.isEmpty()) {
                throw process.failed("printed no figures", null);
            }
            all.addAll(figures);
        }
        return all;
    }

    /** Converts its lines to Seriatim's format. */
    List<Figures> parse(String output, String label, int threads) {
        return output.lines().filter(line -> line.contains(RESULT)).map(line -> {
            Figures figures = new Figures().with("lib", name).with("work", label).with("threads", threads, 0);
            Matcher matcher = MEMBER.matcher(line.substring(line.indexOf(RESULT)));
            while (matcher.find()) {
                String key = KEYS.getOrDefault(matcher.group("key"), matcher.group("key"));
                OptionalDouble value = number(matcher.group("value"));
                if (KEPT.contains(key) && value.isPresent()) {
                    figures.with(key, value.getAsDouble(), 3);
                }
            }
            return figures;
        }).toList();
    }

    private static OptionalDouble number(String text) {
        try {
            return OptionalDouble.of(Double.parseDouble(text));
        } catch (NumberFormatException e) {
            return OptionalDouble.empty();
        }
    }
}
