package io.seriatim.benchmarks.models;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Measures models: in each round all systems run in turn, and each round begins with another one, so that other load on
 * the machine affects all of them.
 */
final class ModelBench {
    /** Threads of a system may spin for some milliseconds after a run, and would disturb the next one. */
    private static final long SETTLE_NANOS = 20_000_000;
    private static final int MOST_RUNS = 100_000;

    /**
     * How long is measured.
     *
     * @param warmUp
     *            the time of each system before the first round, in seconds
     * @param rounds
     *            the number of rounds
     * @param sample
     *            the approximate time of a system in a round, in seconds
     */
    record Effort(double warmUp, int rounds, double sample) {
    }

    private final Effort effort;
    private final String python;
    private final List<String> peers;
    private final Progress progress;
    private final List<ModelFigures> figures = new ArrayList<>();
    private boolean failed;

    ModelBench(Effort effort, String python, List<String> peers, Progress progress) {
        this.effort = effort;
        this.python = python;
        this.peers = List.copyOf(peers);
        this.progress = progress;
    }

    List<ModelFigures> figures() {
        return figures;
    }

    /** Returns whether Seriatim ran all models and its results were right. */
    boolean right() {
        return !failed && figures.stream().allMatch(ModelFigures::isRight);
    }

    /** Measures a model. One that fails is reported, and the others still run. */
    void measure(ModelFile file, List<Integer> threads) throws IOException {
        List<Tensor> inputs = new ArrayList<>();
        try (InferenceModel model = InferenceModels.load(file.path())) {
            inputs.addAll(ModelInputs.of(file, model));
            try (@Nullable
            PeerChild child = child(file, model, inputs)) {
                for (int count : threads) {
                    progress.stage(file.name() + ", " + count + (count == 1 ? " thread" : " threads"));
                    try (SeriatimModel ours = new SeriatimModel(model, inputs, count)) {
                        figures.add(measure(file, count, ours, sessions(file, child, count)));
                    }
                }
            }
        } catch (IOException | IllegalArgumentException | IllegalStateException | UnsupportedOperationException e) {
            failed = true;
            progress.notice(SeriatimModel.NAME + ": " + file.name() + " failed: " + e.getMessage());
        } finally {
            inputs.forEach(Tensor::close);
        }
    }

    private @Nullable PeerChild child(ModelFile file, InferenceModel model, List<Tensor> inputs) throws IOException {
        if (peers.isEmpty()) {
            return null;
        }
        try {
            return PeerChild.of(python, file, model.feeds(), inputs);
        } catch (PeerUnavailableException | IllegalArgumentException e) {
            progress.notice("the peers do not run " + file.name() + ": " + e.getMessage());
            return null;
        }
    }

    private List<Contender> sessions(ModelFile file, @Nullable PeerChild child, int threads) {
        List<Contender> sessions = new ArrayList<>();
        if (child == null) {
            return sessions;
        }
        for (String peer : peers) {
            try {
                sessions.add(child.open(peer, threads));
            } catch (PeerUnavailableException e) {
                progress.notice(peer + " does not run " + file.name() + ": " + e.getMessage());
            }
        }
        return sessions;
    }

    private ModelFigures measure(ModelFile file, int threads, SeriatimModel ours, List<Contender> others) {
        OptionalDouble difference = OptionalDouble.empty();
        List<Contender> all = new ArrayList<>(List.of(ours));
        Map<Contender, Integer> runs = new LinkedHashMap<>(Map.of(ours, runs(ours.warm(effort.warmUp()))));
        for (Contender each : others) {
            try {
                difference = OptionalDouble.of(Math.max(difference.orElse(0), difference(ours, each)));
                runs.put(each, runs(each.warm(effort.warmUp())));
                all.add(each);
            } catch (PeerUnavailableException e) {
                progress.notice(each.name() + " does not run " + file.name() + ": " + e.getMessage());
            }
        }
        Map<Contender, List<Double>> times = new LinkedHashMap<>();
        all.forEach(each -> times.put(each, new ArrayList<>()));
        for (int round = 0; round < effort.rounds(); round++) {
            progress.round(round, 0, effort.rounds());
            for (int i = 0; i < all.size(); i++) {
                Contender each = all.get((round + i) % all.size());
                List<Double> samples = times.get(each);
                if (samples == null) {
                    continue; // It failed in an earlier round.
                }
                LockSupport.parkNanos(this, SETTLE_NANOS);
                try {
                    samples.add(each.run(runs.getOrDefault(each, 1)));
                } catch (PeerUnavailableException e) {
                    times.remove(each);
                    progress.notice(each.name() + " does not run " + file.name() + ": " + e.getMessage());
                }
            }
        }
        progress.done();
        List<Double> own = times.remove(ours);
        Map<String, List<Double>> peerTimes = new LinkedHashMap<>();
        times.forEach((each, samples) -> peerTimes.put(each.name(), List.copyOf(samples)));
        return new ModelFigures(file.name(), threads, own == null ? List.of() : own, peerTimes, difference);
    }

    private int runs(double millis) {
        return Math.clamp(Math.round(effort.sample() * 1e3 / millis), 1, MOST_RUNS);
    }

    private static double difference(Contender ours, Contender other) throws PeerUnavailableException {
        List<Tensor> own = ours.results();
        try {
            List<Tensor> theirs = other.results();
            try {
                return Differences.largest(own, theirs);
            } finally {
                theirs.forEach(Tensor::close);
            }
        } finally {
            own.forEach(Tensor::close);
        }
    }
}
