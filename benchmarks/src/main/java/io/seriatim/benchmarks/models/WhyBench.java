package io.seriatim.benchmarks.models;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.benchmarks.kernels.MatrixPeak;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Says where the time of a model goes, operation by operation, beside the peers' own profiles. */
final class WhyBench {
    private static final int REPETITIONS = 20;
    private static final long COPIED = 64L << 20;

    private WhyBench() {
    }

    static void print(ModelFile file, int threads, int runs, String python, List<String> peers, Printer printer,
            Progress progress) throws IOException {
        List<Tensor> inputs = new ArrayList<>();
        try (InferenceModel model = InferenceModels.load(file.path())) {
            inputs.addAll(ModelInputs.of(file, model));
            Map<String, Integer> nodes = new HashMap<>();
            Map<String, List<Operation>> profiles = new HashMap<>();
            try (PeerChild child = PeerChild.of(python, file, model.feeds(), inputs)) {
                List<List<String>> outputs = child.nodes();
                for (int i = 0; i < outputs.size(); i++) {
                    for (String output : outputs.get(i)) {
                        nodes.put(output, i);
                    }
                }
                for (String peer : peers) {
                    progress.stage(peer);
                    profiles.put(peer, child.profile(peer, threads, runs));
                }
            } catch (PeerUnavailableException e) {
                progress.notice("not compared: " + e.getMessage());
            }
            if (nodes.isEmpty()) {
                number(model.program(), nodes);
            }
            progress.stage(SeriatimModel.NAME);
            List<Operation> own = TracedModel.profile(model, inputs, threads, runs, nodes);
            progress.stage("limits");
            Explanation why = new Explanation(own, List.copyOf(profiles.keySet()),
                    new Explanation.Limits(MatrixPeak.flops(false, threads, REPETITIONS), bandwidth()));
            profiles.forEach(why::add);
            long batch = inputs.isEmpty() || inputs.getFirst().shape().rank() == 0
                    ? 1
                    : Math.max(1, inputs.getFirst().shape().dim(0));
            why.add(model.program(), nodes, batch);
            progress.done();
            printer.print(file.name() + ", " + threads + (threads == 1 ? " thread" : " threads")
                    + ": what takes longest beside the faster peer, medians", why.table());
            printer.print("Together", why.sums());
        } finally {
            inputs.forEach(Tensor::close);
        }
    }

    /** Without the nodes of the file, the operations of our program stand for them. */
    private static void number(Program program, Map<String, Integer> nodes) {
        List<OpDesc> ops = program.global().ops();
        for (int i = 0; i < ops.size(); i++) {
            for (String output : ops.get(i).outputNames()) {
                nodes.put(output, i);
            }
        }
    }

    /** Returns the bytes that one thread reads and writes in a second as it copies memory. */
    private static double bandwidth() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(COPIED);
            MemorySegment to = arena.allocate(COPIED);
            long best = Long.MAX_VALUE;
            for (int i = 0; i < REPETITIONS; i++) {
                long start = System.nanoTime();
                to.copyFrom(from);
                best = Math.min(best, System.nanoTime() - start);
            }
            return 2.0 * COPIED * 1e9 / best;
        }
    }
}
