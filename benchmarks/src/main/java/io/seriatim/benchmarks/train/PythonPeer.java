package io.seriatim.benchmarks.train;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs the workloads with a Python library: {@code SCRIPT THREADS WORK} prints a result line for each part.
 *
 * @param name
 *            the name of the library in result lines
 * @param python
 *            the interpreter that has the library
 * @param folder
 *            the folder of the script
 * @param script
 *            the name of the script
 * @param help
 *            a hint for the user if it fails
 */
record PythonPeer(String name, String python, Path folder, String script, String help) implements Peer {
    private static final List<Kind> KINDS = List.of(new Kind("torch", "SERIATIM_PEER_PYTHON", "torch and torchvision"),
            new Kind("paddle", "SERIATIM_PEER_PADDLE_PYTHON", "paddlepaddle"));

    /** The description of a library. */
    private record Kind(String name, String variable, String packages) {
        String script() {
            return name + "_bench.py";
        }

        Optional<Peer> in(Path folder, Function<String, @Nullable String> environment, Consumer<String> notice) {
            String help = variable + " names a Python that has " + packages;
            String python = environment.apply(variable);
            if (python == null || python.isBlank()) {
                notice.accept(name + " is left out: set " + variable + " to a Python that has " + packages);
                return Optional.empty();
            }
            return Optional.of(new PythonPeer(name, python, folder, script(), help));
        }
    }

    static Stream<Peer> in(Path folder, Function<String, @Nullable String> environment, Consumer<String> notice) {
        return KINDS.stream().filter(kind -> Files.exists(folder.resolve(kind.script())))
                .flatMap(kind -> kind.in(folder, environment, notice).stream());
    }

    @Override
    public boolean does(TrainWork work) {
        return work.python() != null;
    }

    @Override
    public List<Figures> run(TrainWork work, int threads) throws InterruptedException, PeerUnavailableException {
        PeerProcess process = new PeerProcess(
                List.of(python, script, String.valueOf(threads), String.valueOf(work.python())), folder,
                Map.of(), help);
        List<Figures> figures = Figures.parse(process.run());
        if (figures.isEmpty()) {
            throw process.failed("printed no figures", null);
        }
        return figures;
    }
}
