package io.seriatim.cluster.transport;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;

/** A non-blocking channel whose operations wait, until a deadline of {@link System#nanoTime}. For handshakes. */
final class TimedChannel implements Closeable {
    private PeerChannel channel;
    private final Selector selector;
    private final SelectionKey key;

    /** Takes over an open channel: it is closed if this fails. */
    TimedChannel(SocketChannel socket) throws IOException {
        channel = new PeerChannel.Plain(socket);
        Selector opened = null;
        try {
            socket.configureBlocking(false);
            if (socket.supportedOptions().contains(StandardSocketOptions.TCP_NODELAY)) {
                socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
            }
            opened = Selector.open();
            key = socket.register(opened, 0);
            selector = opened;
        } catch (IOException | RuntimeException e) {
            socket.close();
            if (opened != null) {
                opened.close();
            }
            throw e;
        }
    }

    static TimedChannel connect(SocketAddress address, long deadline) throws IOException {
        boolean unix = address instanceof UnixDomainSocketAddress;
        TimedChannel connection = new TimedChannel(
                unix ? SocketChannel.open(StandardProtocolFamily.UNIX) : SocketChannel.open());
        try {
            SocketChannel socket = connection.channel.socket();
            if (!socket.connect(address)) {
                do {
                    connection.await(SelectionKey.OP_CONNECT, deadline);
                } while (!socket.finishConnect());
            }
            // TCP connects a free port of this machine with itself if it is also the one that the system has chosen for
            // this end: nobody listens there.
            if (!unix && socket.getLocalAddress().equals(socket.getRemoteAddress())) {
                throw new ConnectException("nobody listens at " + Addresses.format(address));
            }
            return connection;
        } catch (IOException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private void await(int operation, long deadline) throws IOException {
        key.interestOps(operation);
        long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()) + 1;
        if (deadline - System.nanoTime() <= 0 || selector.select(millis) == 0) {
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedOperationException();
            }
            if (deadline - System.nanoTime() <= 0) {
                throw new SocketTimeoutException("no answer within the time limit");
            }
        }
        selector.selectedKeys().clear();
    }

    /** Encrypts from here on, as the side that connects to a host. */
    void connectTls(SSLContext context, String host, int port, long deadline) throws IOException {
        begin(TlsChannel.connecting(channel.socket(), context, host, port), deadline);
    }

    /** Encrypts from here on, as the side that accepts. */
    void acceptTls(SSLContext context, long deadline) throws IOException {
        begin(TlsChannel.accepting(channel.socket(), context), deadline);
    }

    private void begin(TlsChannel tls, long deadline) throws IOException {
        for (int wanted = tls.handshake(); wanted != 0; wanted = tls.handshake()) {
            await(wanted, deadline);
        }
        channel = tls;
    }

    void write(ByteBuffer bytes, long deadline) throws IOException {
        channel.write(bytes);
        while (bytes.hasRemaining() || !channel.flush()) {
            await(SelectionKey.OP_WRITE, deadline);
            channel.write(bytes);
        }
    }

    /** Reads exactly so many bytes. */
    ByteBuffer read(int count, long deadline) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            long read = channel.read(bytes);
            if (read < 0) {
                throw new EOFException("the connection was closed");
            }
            if (read == 0) {
                await(SelectionKey.OP_READ, deadline);
            }
        }
        return bytes.flip();
    }

    /** Ends the use of this object; the channel stays open and non-blocking. */
    PeerChannel release() throws IOException {
        key.cancel();
        selector.close();
        return channel;
    }

    @Override
    public void close() throws IOException {
        try {
            selector.close();
        } finally {
            channel.close();
        }
    }
}
