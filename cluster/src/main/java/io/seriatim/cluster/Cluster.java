package io.seriatim.cluster;

import io.seriatim.cluster.collective.Collectives;
import io.seriatim.cluster.transport.Addresses;
import io.seriatim.cluster.transport.Listener;
import io.seriatim.cluster.transport.Member;
import io.seriatim.cluster.transport.Mesh;
import io.seriatim.cluster.transport.Transport;
import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.tensor.DType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A rank of a job, connected with all others.
 *
 * <pre>{@code
 * try (Cluster cluster = Cluster.join(ClusterOptions.of(rank, ranks, secret), Rendezvous.folder(folder))) {
 *     cluster.allReduce(gradients, DType.FLOAT32);
 * }
 * }</pre>
 *
 * <p>
 * Close it when all collectives of this rank have returned: the others may still be in theirs. After a failure it is
 * closed, too; ranks do not come back, the job starts again with a higher generation.
 */
public final class Cluster implements Communicator, AutoCloseable {
    private final Transport transport;
    private final Collectives collectives;

    private Cluster(Transport transport) {
        this.transport = transport;
        collectives = new Collectives(transport);
    }

    /**
     * Connects this process with all other ranks, and returns when every rank is connected with every other one.
     *
     * @param options
     *            of this rank
     * @param rendezvous
     *            the same kind on all ranks
     * @return open
     * @throws CommunicationException
     *             if a rank does not come within the time limit, or has another secret, job or generation
     */
    public static Cluster join(ClusterOptions options, Rendezvous rendezvous) {
        long deadline = System.nanoTime() + options.joinLimit().toNanos();
        if (options.tls().isPresent() && options.folder().isPresent()) {
            throw new IllegalArgumentException("TLS is for TCP: Unix-domain sockets do not leave the machine, so leave "
                    + "out either unixSockets or tls");
        }
        Member member = member(options);
        try {
            if (options.ranks() == 1) {
                return new Cluster(Transport.alone(member));
            }
            Listener listener = Listener.open(member, address(options, rendezvous), options.handshakeLimit(),
                    deadline);
            boolean isKnown = false;
            try {
                List<String> addresses = rendezvous.exchange(advertised(listener, options), options);
                if (addresses.size() != options.ranks()) {
                    throw new CommunicationException("the rendezvous found " + addresses.size() + " addresses for "
                            + options.ranks() + " ranks: " + addresses, CommunicationException.NO_RANK, null);
                }
                isKnown = true;
                return new Cluster(Mesh.join(member, addresses, listener, options.isSharing(), deadline));
            } finally {
                if (!isKnown) {
                    listener.close();
                }
            }
        } catch (IOException e) {
            throw new CommunicationException(options + " could not join: " + e.getMessage(),
                    CommunicationException.NO_RANK, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommunicationException(options + " was interrupted while it joined", options.rank(), e);
        }
    }

    static Member member(ClusterOptions options) {
        return new Member(options.job(), options.generation(), options.rank(), options.ranks(), options.secret(),
                options.silenceLimit(), options.stallLimit(), options.tls().map(Tls::context).orElse(null));
    }

    /** With TLS the others look for the host in the certificate, which has a name rather than a number. */
    private static String advertised(Listener listener, ClusterOptions options) {
        String address = listener.address();
        int port = address.lastIndexOf(':');
        return options.tls().isPresent()
                ? Addresses.format(options.host(), Integer.parseInt(address.substring(port + 1)))
                : address;
    }

    private static SocketAddress address(ClusterOptions options, Rendezvous rendezvous) throws IOException {
        Optional<String> fixed = rendezvous.fixedAddress(options.rank());
        if (fixed.isPresent()) {
            return Addresses.parse(fixed.get());
        }
        if (options.folder().isPresent()) {
            // A name of its own: a socket that a killed process has left is not in the way.
            String name = options.rank() + "-" + UUID.randomUUID().toString().substring(0, 8);
            return UnixDomainSocketAddress.of(options.folder().get().resolve(name));
        }
        return new InetSocketAddress(InetAddress.getByName(options.host()), 0);
    }

    @Override
    public int rank() {
        return transport.rank();
    }

    @Override
    public int size() {
        return transport.ranks();
    }

    @Override
    public void allReduce(MemorySegment data, DType type) {
        requireWhole(data, type);
        collectives.allReduce(data, type);
    }

    /**
     * {@inheritDoc} Sums of up to 16 KiB travel as float32. All others take 2 (n − 1) steps, in which each rank sends
     * and receives 2 (n − 1) / n times two bytes for each element.
     */
    @Override
    public void allReduce(MemorySegment data, DType type, DType wire) {
        if (wire == type) {
            allReduce(data, type);
            return;
        }
        if (type != DType.FLOAT32 || wire != DType.BFLOAT16) {
            throw new IllegalArgumentException("elements of type " + type + " do not travel as " + wire
                    + ": only float32 does, as bfloat16");
        }
        requireWhole(data, type);
        collectives.allReduceAsBfloat16(data);
    }

    @Override
    public void reduceScatter(MemorySegment data, MemorySegment result, DType type) {
        requireWhole(data, type);
        requireWhole(result, type);
        requireParts(result, data);
        collectives.reduceScatter(data, result, type);
    }

    @Override
    public void allGather(MemorySegment part, MemorySegment result) {
        requireParts(part, result);
        collectives.allGather(part, result);
    }

    @Override
    public void broadcast(MemorySegment data, int root) {
        if (root < 0 || root >= size()) {
            throw new IllegalArgumentException("there is no rank " + root + " of " + size() + " to copy from");
        }
        collectives.broadcast(data, root);
    }

    @Override
    public void barrier() {
        collectives.barrier();
    }

    private static void requireWhole(MemorySegment data, DType type) {
        Collectives.requireSum(type);
        if (data.byteSize() % type.bytes() != 0) {
            throw new IllegalArgumentException(
                    data.byteSize() + " bytes are no whole number of elements of type " + type
                            + ", which have " + type.bytes());
        }
    }

    private void requireParts(MemorySegment part, MemorySegment whole) {
        if (part.byteSize() != whole.byteSize() / size() || whole.byteSize() % size() != 0) {
            throw new IllegalArgumentException("memory of " + whole.byteSize() + " bytes for the parts of " + size()
                    + " ranks does not fit one part of " + part.byteSize() + " bytes");
        }
    }

    /**
     * Says goodbye and closes all connections. If a collective is running on another thread, it fails on all ranks;
     * ranks that need this one later fail, too.
     */
    @Override
    public void close() {
        transport.close();
    }
}
