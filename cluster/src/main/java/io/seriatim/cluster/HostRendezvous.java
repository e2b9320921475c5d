package io.seriatim.cluster;

import io.seriatim.cluster.transport.AddressBook;
import io.seriatim.cluster.transport.Addresses;
import io.seriatim.graph.parallel.CommunicationException;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Rank 0 listens at an address that all know, until every rank has brought its own and taken those of all. */
final class HostRendezvous implements Rendezvous {
    private final String address;

    HostRendezvous(String address) {
        this.address = address;
        parse();
    }

    private SocketAddress parse() {
        try {
            return Addresses.parse(address);
        } catch (UnknownHostException e) {
            throw new CommunicationException("the host of '" + address + "' is unknown", 0, e);
        }
    }

    @Override
    public List<String> exchange(String own, ClusterOptions options) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + options.joinLimit().toNanos();
        return options.rank() == 0
                ? AddressBook.collect(Cluster.member(options), parse(), own, options.handshakeLimit(), deadline)
                : AddressBook.bring(Cluster.member(options), address, own, deadline);
    }
}
