package io.seriatim.cluster;

import io.seriatim.cluster.transport.Addresses;
import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.tensor.AtomicFile;
import io.seriatim.tensor.InputFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Each rank writes a file with its address, and reads those of the others as they appear. */
final class FolderRendezvous implements Rendezvous {
    private static final long PAUSE_MILLIS = 10;

    private final Path folder;

    FolderRendezvous(Path folder) {
        this.folder = folder;
    }

    private Path file(int rank, ClusterOptions options) {
        return folder.resolve("generation-" + options.generation() + "-rank-" + rank + ".address");
    }

    @Override
    public List<String> exchange(String address, ClusterOptions options) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + options.joinLimit().toNanos();
        AtomicFile.writeText(file(options.rank(), options), text -> text.write(address));
        List<String> addresses = new ArrayList<>();
        for (int rank = 0; rank < options.ranks(); rank++) {
            Path file = file(rank, options);
            // Notices of changes do not come from all file systems.
            while (!Files.isRegularFile(file)) {
                if (deadline - System.nanoTime() <= 0) {
                    throw new CommunicationException("rank " + rank + " did not write its address to " + file
                            + " within the time limit for joining", rank, null);
                }
                Thread.sleep(PAUSE_MILLIS);
            }
            if (Files.size(file) > Addresses.MOST_BYTES) {
                throw new CommunicationException(file + " is no address of rank " + rank + ": it has "
                        + Files.size(file) + " bytes", rank, null);
            }
            addresses.add(Files.readString(InputFiles.requireRegular(file)).strip());
        }
        return addresses;
    }
}
