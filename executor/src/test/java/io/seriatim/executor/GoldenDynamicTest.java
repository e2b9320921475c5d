package io.seriatim.executor;

import io.seriatim.device.Place;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * PaddlePaddle programs whose shapes depend on data: loops, branches, lists, selections, and shapes given by tensors.
 */
class GoldenDynamicTest {
    private static final double TOLERANCE = 1e-5;
    private static final GoldenModels MODELS = GoldenModels.read("dynamic.npz");

    static Stream<Arguments> programs() {
        return MODELS.names().stream().flatMap(name -> Stream.of(1, 3).map(threads -> Arguments.of(name, threads)));
    }

    @ParameterizedTest(name = "{0}, threads {1}")
    @MethodSource("programs")
    void computesWhatPaddleDoes(String name, int threads) {
        Program main = MODELS.program(name + "/main");
        List<String> feeds = List.copyOf(MODELS.under(name + "/0/in/").keySet());
        List<String> fetches = MODELS.text(name + "/fetches").lines().toList();
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(main, new Feeds(feeds), new Fetches(fetches));
            List<Results> first = runs(name, main, plan, feeds);
            for (int k = 0; k < first.size(); k++) {
                for (int i = 0; i < fetches.size(); i++) {
                    String entry = name + "/" + k + "/out/" + i;
                    GoldenModels.assertClose(MODELS.get(entry), first.get(k).get(fetches.get(i)), TOLERANCE, entry);
                }
            }
            List<Results> again = runs(name, main, plan, feeds);
            for (int k = 0; k < first.size(); k++) {
                GoldenModels.assertSame(first.get(k).all(), again.get(k).all(), name + ", run " + k + ", again");
            }
        }
    }

    /** Executes all runs one after the other in a separate scope. */
    private static List<Results> runs(String name, Program main, Plan plan, List<String> feeds) {
        try (Executor starter = Executor.on(Place.CPU)) {
            starter.run(MODELS.program(name + "/startup"));
            GoldenModels.setParameters(main, starter.scope());
            List<Results> results = new ArrayList<>();
            for (int k = 0; k < MODELS.groups(name); k++) {
                String run = name + "/" + k + "/in/";
                results.add(plan.run(starter.scope(),
                        feeds.stream().map(feed -> MODELS.get(run + feed)).toArray(Tensor[]::new)));
            }
            return results;
        }
    }
}
