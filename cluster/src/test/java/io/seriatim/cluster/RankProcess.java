package io.seriatim.cluster;

import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.tensor.DType;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;

/** A rank as a process, for a test: it sums until a rank fails, and says so. Arguments: FOLDER RANK RANKS SHARING. */
final class RankProcess {
    static final Duration SILENCE = Duration.ofSeconds(3);
    static final int WRONG = 3;

    private RankProcess() {
    }

    public static void main(String[] args) {
        Path folder = Path.of(args[0]);
        int ranks = Integer.parseInt(args[2]);
        ClusterOptions options =
                ClusterOptions.of(Integer.parseInt(args[1]), ranks, Ranks.SECRET).silenceLimit(SILENCE);
        if (Boolean.parseBoolean(args[3])) {
            options = options.unixSockets(folder);
        }
        try (Cluster cluster = Cluster.join(options, Rendezvous.folder(folder))) {
            for (int round = 0; true; round++) {
                float[] data = new float[50_000];
                for (int i = 0; i < data.length; i++) {
                    data[i] = cluster.rank() + i % 100;
                }
                cluster.allReduce(MemorySegment.ofArray(data), DType.FLOAT32);
                for (int i = 0; i < data.length; i++) {
                    if (data[i] != ranks * (ranks - 1) / 2 + ranks * (i % 100)) {
                        System.out.println("wrong sum");
                        System.exit(WRONG);
                    }
                }
                if (round == 2) {
                    System.out.println("running");
                }
            }
        } catch (CommunicationException e) {
            System.out.println("failed because of rank " + e.rank() + ": " + e.getMessage());
        }
    }
}
