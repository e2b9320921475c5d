package io.seriatim.cluster;

import io.seriatim.graph.parallel.CommunicationException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** How ranks learn each other's addresses. It needs no trust: connections are authenticated afterwards. */
@FunctionalInterface
public interface Rendezvous {
    /**
     * Makes this rank's address known, and waits for those of the others.
     *
     * @param address
     *            where this rank listens
     * @param options
     *            of this rank; {@link ClusterOptions#joinLimit} says how long to wait
     * @return the addresses of all ranks in their order, this one's included
     * @throws IOException
     *             if they cannot be exchanged
     * @throws InterruptedException
     *             if the thread is interrupted
     */
    List<String> exchange(String address, ClusterOptions options) throws IOException, InterruptedException;

    /**
     * Where a rank has to listen, if the others know it beforehand.
     *
     * @param rank
     *            its number
     * @return empty for any free port
     */
    default Optional<String> fixedAddress(int rank) {
        return Optional.empty();
    }

    /**
     * A function that all ranks call together, such as {@code allGather} of Spark's {@code BarrierTaskContext}.
     *
     * @param function
     *            takes the text of this rank, and returns those of all ranks in their order
     * @return the rendezvous
     */
    static Rendezvous gather(Function<String, List<String>> function) {
        return (address, options) -> List.copyOf(function.apply(address));
    }

    /**
     * Addresses that are known beforehand.
     *
     * @param addresses
     *            {@code HOST:PORT} of each rank, in their order
     * @return the rendezvous
     */
    static Rendezvous addresses(List<String> addresses) {
        List<String> all = List.copyOf(addresses);
        return new Rendezvous() {
            @Override
            public List<String> exchange(String address, ClusterOptions options) {
                return all;
            }

            @Override
            public Optional<String> fixedAddress(int rank) {
                return rank < all.size() ? Optional.of(all.get(rank)) : Optional.empty();
            }
        };
    }

    /**
     * A folder that all ranks can write and read: each writes its address to a file.
     *
     * @param folder
     *            an existing one, used for this job only; a later attempt may use it again with a higher
     *            {@linkplain ClusterOptions#generation generation}
     * @return the rendezvous
     */
    static Rendezvous folder(Path folder) {
        return new FolderRendezvous(folder);
    }

    /**
     * An address at which rank 0 collects the addresses of the others.
     *
     * @param address
     *            {@code HOST:PORT}, where rank 0 can listen and the others can connect to
     * @return the rendezvous
     * @throws IllegalArgumentException
     *             if it is no address
     * @throws CommunicationException
     *             if there is no such host
     */
    static Rendezvous at(String address) {
        return new HostRendezvous(address);
    }
}
