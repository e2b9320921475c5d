package io.seriatim.mxnet;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damaged files are read, or refused with a message that names the file; nothing else happens. */
class MutatedFilesTest {
    /** In all, half of them of symbols; with -Pfull a hundred times as many. */
    private static final int MUTATIONS = Boolean.getBoolean("seriatim.full") ? 100_000 : 1_000;
    private static final List<String> NUMBERS = List.of("-1", "0", "1", "2", "7", "4611686018427387904", "-2147483648",
            "2147483647", "99999999999999999999", "1e400", "NaN", "(1, 2)", "()", "None", "(None, 3)", "null", "[]",
            "True", "\\u0000", "(1000000, 1000000, 1000000)", "65536");
    private static final Pattern NUMBER = Pattern.compile("-?\\d+");
    private static final List<Long> SIZES = List.of(-1L, 0L, 1L, 1L << 62, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32,
            (1L << 31) - 1, 0xF993FAC8L, 0xF993FACAL, 1000L);

    @TempDir
    private Path folder;

    private static final class Model {
        private final String name;
        private final String symbol;
        private final byte[] parameters;

        Model(String name, String symbol, byte[] parameters) {
            this.name = name;
            this.symbol = symbol;
            this.parameters = parameters;
        }
    }

    @Test
    void damagedFilesAreReadOrRefused() throws IOException {
        List<Model> models = new ArrayList<>();
        try (Stream<Path> all = Files.list(GoldenZip.unpacked(folder))) {
            for (Path each : all.filter(Files::isDirectory).sorted().toList()) {
                models.add(new Model(each.getFileName().toString(), Files.readString(each.resolve("net-symbol.json")),
                        Files.readAllBytes(each.resolve("net-0000.params"))));
            }
        }
        SplittableRandom random = new SplittableRandom(20);
        int refused = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            Model model = models.get(random.nextInt(models.size()));
            String symbol = i % 2 == 0 ? mutated(model.symbol, random) : model.symbol;
            byte[] parameters = i % 2 == 0 ? model.parameters : mutated(model.parameters, random);
            refused += isRefused(model.name + ", mutation " + i, symbol, parameters) ? 1 : 0;
        }
        assertTrue(refused > MUTATIONS / 4, "only " + refused + " were refused");
    }

    private boolean isRefused(String name, String symbol, byte[] parameters) throws IOException {
        Files.writeString(folder.resolve("net-symbol.json"), symbol);
        Files.write(folder.resolve("net-0000.params"), parameters);
        try {
            InferenceModels.load(folder.resolve("net-symbol.json")).close();
            return false;
        } catch (FileFormatException | IllegalArgumentException e) {
            assertTrue(String.valueOf(e.getMessage()).contains("net-"), () -> name + ": " + e);
            return true;
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            return fail(name + ": " + e + "\n" + symbol, e);
        }
    }

    private static String mutated(String text, SplittableRandom random) {
        StringBuilder out = new StringBuilder(text);
        for (int i = random.nextInt(3); i >= 0; i--) {
            int at = random.nextInt(out.length());
            switch (random.nextInt(6)) {
                case 0 -> out.setCharAt(at, (char) random.nextInt(32, 127));
                case 1 -> out.deleteCharAt(at);
                case 2 -> out.insert(at, "{}[]\",:01n".charAt(random.nextInt(10)));
                case 3 -> out.setLength(Math.max(1, at));
                case 4 -> number(out, at, random);
                default -> operator(out, random);
            }
        }
        return out.toString();
    }

    /** Replaces the next number. */
    private static void number(StringBuilder text, int from, SplittableRandom random) {
        Matcher matcher = NUMBER.matcher(text);
        if (matcher.find(from)) {
            int start = matcher.start();
            text.replace(start, matcher.end(), NUMBERS.get(random.nextInt(NUMBERS.size())));
        }
    }

    /** Gives a node the operator of another one. */
    private static void operator(StringBuilder text, SplittableRandom random) {
        List<String> others = List.of("Reshape", "RNN", "Concat", "SliceChannel", "FullyConnected", "_zeros", "Pad",
                "BatchNorm", "transpose", "slice", "null", "_contrib_MultiBoxDetection", "tile", "_arange",
                "SequenceReverse", "topk", "Embedding", "SoftmaxOutput", "Convolution", "expand_dims");
        int at = text.indexOf("\"op\": \"", random.nextInt(text.length()));
        int start = at + "\"op\": \"".length();
        int end = at < 0 ? -1 : text.indexOf("\"", start);
        if (end > start) {
            text.replace(start, end, others.get(random.nextInt(others.size())));
        }
    }

    private static byte[] mutated(byte[] bytes, SplittableRandom random) {
        byte[] out = bytes.clone();
        for (int i = random.nextInt(3); i >= 0; i--) {
            // Headers are at the beginning, names at the end.
            int at = switch (random.nextInt(3)) {
                case 0 -> random.nextInt(Math.min(out.length, 80));
                case 1 -> out.length - 1 - random.nextInt(Math.min(out.length, 120));
                default -> random.nextInt(out.length);
            };
            if (random.nextInt(8) == 0) {
                out = Arrays.copyOf(out, Math.max(1, at));
            } else if (random.nextBoolean()) {
                out[at] = (byte) random.nextInt();
            } else {
                long value = SIZES.get(random.nextInt(SIZES.size()));
                for (int k = 0; k < 8 && at + k < out.length; k++) {
                    out[at + k] = (byte) (value >>> (8 * k));
                }
            }
        }
        return out;
    }

    @Test
    void textThatIsNoJsonIsRefused() throws IOException {
        for (String text : List.of("", "{", "[]", "null", "{\"nodes\": []}", "{\"nodes\": 1, \"heads\": []}",
                "[".repeat(100_000), "{\"nodes\": [], \"heads\": [[0, 0, 0]]}")) {
            assertTrue(isRefused(text.length() > 50 ? "deep" : text, text,
                    new byte[]{0x12, 1, 0, 0, 0, 0, 0, 0}), text);
        }
    }
}
