package io.seriatim.benchmarks.models;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The Python process that runs one model in the peers, see {@code peer.py}. */
final class PeerChild implements AutoCloseable {
    private final Path folder;
    private final Process process;
    private final BufferedReader answers;
    private final Writer commands;

    private PeerChild(Path folder, Process process) {
        this.folder = folder;
        this.process = process;
        this.answers = process.inputReader(StandardCharsets.UTF_8);
        this.commands = process.outputWriter(StandardCharsets.UTF_8);
    }

    /** Returns the versions of the libraries that a Python has; a message tells why another is left out. */
    static Map<String, String> versions(String python, List<String> names, Consumer<String> notice) throws IOException {
        Path folder = Files.createTempDirectory("seriatim-peer-");
        Map<String, String> found = new LinkedHashMap<>();
        try {
            List<String> line = new ArrayList<>(List.of(python, script(folder).toString(), "--versions"));
            line.addAll(names);
            Process process = start(line, folder);
            try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
                out.lines().map(each -> each.split(" ", 3)).forEach(words -> {
                    if (words.length == 2) {
                        found.put(words[0], words[1]);
                    } else if (words.length == 3) {
                        notice.accept(words[0] + " is not compared, since '" + python + "' cannot import it: "
                                + words[2]);
                    }
                });
            } finally {
                process.destroy();
            }
        } catch (PeerUnavailableException e) {
            notice.accept(String.join(", ", names) + ": not compared: " + e.getMessage());
        } finally {
            delete(folder);
        }
        return found;
    }

    /** Starts the process for a model. */
    static PeerChild of(String python, ModelFile model, List<String> names, List<Tensor> inputs)
            throws IOException, PeerUnavailableException {
        Path folder = Files.createTempDirectory("seriatim-peer-");
        try {
            Files.writeString(folder.resolve("inputs.txt"), String.join("\n", names) + "\n");
            for (int i = 0; i < inputs.size(); i++) {
                Npy.write(folder.resolve("input_" + i + ".npy"), inputs.get(i));
            }
            return new PeerChild(folder,
                    start(List.of(python, script(folder).toString(), model.path().toAbsolutePath().toString(),
                            folder.toString()), folder));
        } catch (IOException | PeerUnavailableException | RuntimeException e) {
            delete(folder);
            throw e;
        }
    }

    private static Path script(Path folder) throws IOException {
        Path script = folder.resolve("peer.py");
        try (InputStream in = Objects.requireNonNull(PeerChild.class.getResourceAsStream("peer.py"), "peer.py")) {
            Files.copy(in, script);
        }
        return script;
    }

    /** Standard error goes to a file, because an unread pipe would block the process. */
    private static Process start(List<String> line, Path folder) throws PeerUnavailableException {
        try {
            return new ProcessBuilder(line).redirectError(folder.resolve("err").toFile()).start();
        } catch (IOException e) {
            throw new PeerUnavailableException("'" + line.getFirst() + "' cannot be started: --python names an "
                    + "interpreter that has onnxruntime, openvino and numpy", e);
        }
    }

    /** Opens a session with a number of threads, in place of that of before. */
    Contender open(String name, int threads) throws PeerUnavailableException {
        ask("open " + name + " " + threads);
        return new Session(name);
    }

    /** Returns the outputs of each node of the file, for which the Python needs the package onnx. */
    List<List<String>> nodes() throws PeerUnavailableException {
        ask("nodes");
        return rows("nodes.tsv");
    }

    /** Returns the operations of a library, the time of each as the median of some runs. */
    List<Operation> profile(String name, int threads, int runs) throws PeerUnavailableException {
        ask("profile " + name + " " + threads + " " + runs);
        return rows(name + "_profile.tsv").stream()
                .map(row -> new Operation(Integer.parseInt(row.get(0)), row.get(1), Double.parseDouble(row.get(2))))
                .toList();
    }

    private List<List<String>> rows(String file) throws PeerUnavailableException {
        try {
            return Files.readAllLines(folder.resolve(file)).stream().map(line -> List.of(line.split("\t", -1)))
                    .toList();
        } catch (IOException e) {
            throw new PeerUnavailableException(file + " cannot be read: " + e.getMessage(), e);
        }
    }

    private String ask(String command) throws PeerUnavailableException {
        try {
            commands.write(command + "\n");
            commands.flush();
            String answer = answers.readLine();
            if (answer == null) {
                throw new PeerUnavailableException("the process ended at '" + command + "'" + lastError());
            }
            if (answer.startsWith("failed ")) {
                throw new PeerUnavailableException(answer);
            }
            return answer;
        } catch (IOException e) {
            throw new PeerUnavailableException("the process ended before '" + command + "': " + e.getMessage(), e);
        }
    }

    private String lastError() throws IOException {
        String text = new String(Files.readAllBytes(folder.resolve("err")), StandardCharsets.ISO_8859_1).strip();
        return text.isEmpty() ? "" : ": " + text.lines().reduce("", (_, line) -> line);
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        delete(folder);
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    /** A library with the model. */
    private final class Session implements Contender {
        private final String name;

        Session(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public double warm(double seconds) throws PeerUnavailableException {
            return Double.parseDouble(ask("warm " + name + " " + seconds));
        }

        @Override
        public double run(int times) throws PeerUnavailableException {
            return Double.parseDouble(ask("run " + name + " " + times));
        }

        @Override
        public List<Tensor> results() throws PeerUnavailableException {
            int count = Integer.parseInt(ask("results " + name));
            List<Tensor> results = new ArrayList<>();
            try {
                for (int i = 0; i < count; i++) {
                    results.add(Npy.read(folder.resolve(name + "_" + i + ".npy")));
                }
            } catch (IOException e) {
                throw new PeerUnavailableException("its results cannot be read: " + e.getMessage(), e);
            }
            return results;
        }
    }
}
