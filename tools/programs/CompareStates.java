import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * CompareStates FOLDER: runs the programs that tools/programs/random_programs.py describes with the interpreter and with
 * executors, and ends with 1 if a result or a persistable variable differs from PaddlePaddle's.
 */
final class CompareStates {
    private static final double TOLERANCE = 1e-5;

    private CompareStates() {
    }

    /** Runs a program, and returns its results. */
    private interface Runner {
        Map<String, Tensor> run(Program program, Map<String, Tensor> feeds, List<String> fetches);
    }

    public static void main(String[] args) throws IOException {
        List<Path> folders;
        try (Stream<Path> all = Files.list(Path.of(args[0]))) {
            folders = all.filter(Files::isDirectory).sorted().toList();
        }
        Map<String, Integer> wrong = new TreeMap<>();
        for (Path folder : folders) {
            for (String how : List.of("interpreter", "cpu", "cpu, 2 threads", "sim:0")) {
                String difference = difference(folder, how);
                if (!difference.isEmpty()) {
                    wrong.merge(how, 1, Integer::sum);
                    System.out.println(folder.getFileName() + ", " + how + ": " + difference);
                }
            }
        }
        System.out.println(folders.size() + " programs, differences: " + wrong);
        if (!wrong.isEmpty() || folders.isEmpty()) {
            System.exit(1);
        }
    }

    private static String difference(Path folder, String how) throws IOException {
        try {
            if (how.equals("interpreter")) {
                Interpreter interpreter = Interpreter.of(Kernels.system());
                return compare(folder, interpreter::run, interpreter::get);
            }
            String[] parts = how.split(", ", -1);
            try (Devices devices = Devices.builder().build();
                    Executor executor = Executor.builder().devices(devices).place(Place.parse(parts[0]))
                            .threads(parts.length).build()) {
                return compare(folder, (program, feeds, fetches) -> {
                    var results = executor.run(program, feeds, new Fetches(fetches));
                    Map<String, Tensor> found = new TreeMap<>();
                    fetches.forEach(name -> found.put(name, results.get(name)));
                    return found;
                }, executor.scope()::get);
            }
        } catch (RuntimeException e) {
            return "fails: " + e.getMessage();
        }
    }

    private static String compare(Path folder, Runner runner, Function<String, Tensor> left) throws IOException {
        runner.run(ProgramFiles.read(folder.resolve("startup.program")), Map.of(), List.of());
        List<Program> mains = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            mains.add(ProgramFiles.read(folder.resolve("main" + i + ".program")));
        }
        for (int run = 0; Files.exists(folder.resolve("run" + run)); run++) {
            Path files = folder.resolve("run" + run);
            List<String> fetches = Files.readAllLines(folder.resolve("fetches" + run % 2 + ".txt")).stream().distinct()
                    .toList();
            Map<String, Tensor> found = runner.run(mains.get(run % 2), arrays(files.resolve("feed")), fetches);
            for (Map.Entry<String, Tensor> each : arrays(files.resolve("fetch")).entrySet()) {
                Tensor other = Objects.requireNonNull(found.get(each.getKey()));
                if (!isClose(each.getValue(), other)) {
                    return "run " + run + ", " + each.getKey() + " is " + text(other) + ", but in PaddlePaddle "
                            + text(each.getValue());
                }
            }
            for (Map.Entry<String, Tensor> each : arrays(files.resolve("left")).entrySet()) {
                Tensor other = left.apply(each.getKey());
                if (!isClose(each.getValue(), other)) {
                    return "run " + run + " leaves " + text(other) + " in " + each.getKey() + ", but PaddlePaddle "
                            + text(each.getValue());
                }
            }
        }
        return "";
    }

    private static Map<String, Tensor> arrays(Path folder) throws IOException {
        Map<String, Tensor> arrays = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                arrays.put(name.substring(0, name.length() - ".npy".length()), Npy.read(file));
            }
        }
        return arrays;
    }

    private static boolean isClose(Tensor expected, Tensor found) {
        if (!expected.spec().equals(found.spec())) {
            return false;
        }
        double[] wanted = expected.toDoubleArray();
        double[] values = found.toDoubleArray();
        for (int i = 0; i < wanted.length; i++) {
            boolean same = Double.compare(wanted[i], values[i]) == 0
                    || Math.abs(wanted[i] - values[i]) <= TOLERANCE * Math.max(1, Math.abs(wanted[i]));
            if (!same) {
                return false;
            }
        }
        return true;
    }

    private static String text(Tensor tensor) {
        return tensor.spec() + " " + Arrays.toString(tensor.toDoubleArray());
    }
}
