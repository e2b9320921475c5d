package io.seriatim.cluster.transport;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;

/**
 * Bytes under TLS 1.3, by the engine of the JDK. Both sides show a certificate; the connecting side also requires that
 * it is for the host that it connects to.
 *
 * <p>
 * Three buffers: encrypted bytes from the socket, decrypted ones that nobody has read yet, and encrypted ones that the
 * socket has not taken yet. All of them are in the state for reading between calls. A record is encrypted only when
 * those before are with the socket, so that little is waiting there. A connection that ends without the closing message
 * of TLS is an end like any other: the protocol above says goodbye itself.
 */
final class TlsChannel implements PeerChannel {
    private static final String[] PROTOCOLS = {"TLSv1.3"};
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final String CLOSED = "the other side closed the connection during the handshake of TLS, as one "
            + "does that uses no TLS: start all ranks with TLS, or none";
    /** How many records are encrypted before the socket is asked to take them. */
    private static final int RECORDS = 4;

    private final SocketChannel socket;
    private final SSLEngine engine;
    private final int packet;
    private final ByteBuffer encrypted;
    private final ByteBuffer outgoing;
    private ByteBuffer decrypted;

    private TlsChannel(SocketChannel socket, SSLEngine engine) {
        this.socket = socket;
        this.engine = engine;
        packet = engine.getSession().getPacketBufferSize();
        encrypted = ByteBuffer.allocateDirect(RECORDS * packet).limit(0);
        outgoing = ByteBuffer.allocateDirect(RECORDS * packet).limit(0);
        decrypted = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()).limit(0);
    }

    /** The side that connects to a host. */
    static TlsChannel connecting(SocketChannel socket, SSLContext context, String host, int port) throws IOException {
        SSLEngine engine = context.createSSLEngine(host, port);
        SSLParameters parameters = parameters(engine);
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        engine.setSSLParameters(parameters);
        return begin(socket, engine, true);
    }

    /** The side that accepts. */
    static TlsChannel accepting(SocketChannel socket, SSLContext context) throws IOException {
        SSLEngine engine = context.createSSLEngine();
        SSLParameters parameters = parameters(engine);
        parameters.setNeedClientAuth(true);
        engine.setSSLParameters(parameters);
        return begin(socket, engine, false);
    }

    private static SSLParameters parameters(SSLEngine engine) {
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        return parameters;
    }

    private static TlsChannel begin(SocketChannel socket, SSLEngine engine, boolean isConnecting) throws IOException {
        engine.setUseClientMode(isConnecting);
        engine.beginHandshake();
        return new TlsChannel(socket, engine);
    }

    /** Goes on with the handshake as far as it can; returns the operation of a selector to wait for, 0 when done. */
    int handshake() throws IOException {
        try {
            while (true) {
                if (!flush()) {
                    return SelectionKey.OP_WRITE;
                }
                switch (engine.getHandshakeStatus()) {
                    case NEED_TASK -> runTasks();
                    case NEED_WRAP -> wrap(new ByteBuffer[]{NOTHING}, 0, 1);
                    case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                        if (unwrap() == Status.BUFFER_UNDERFLOW && !greeted()) {
                            return SelectionKey.OP_READ;
                        }
                    }
                    default -> {
                        requireValid();
                        return 0;
                    }
                }
            }
        } catch (SSLException e) {
            tell();
            throw e;
        }
    }

    /** Reads in the handshake; false if the socket has nothing. */
    private boolean greeted() throws IOException {
        int count;
        try {
            count = fill();
        } catch (SocketException e) {
            throw new IOException(CLOSED + " (" + e.getMessage() + ")", e);
        }
        if (count < 0) {
            throw new EOFException(CLOSED);
        }
        return count > 0;
    }

    /** The JDK does not look at the dates of a certificate that is trusted itself. */
    private void requireValid() throws SSLException {
        for (Certificate each : engine.getSession().getPeerCertificates()) {
            if (each instanceof X509Certificate certificate) {
                try {
                    certificate.checkValidity();
                } catch (CertificateException e) {
                    throw new SSLException(String.valueOf(e.getMessage()), e);
                }
            }
        }
    }

    /** Sends the message with which the engine refuses the other side, if the socket takes it. */
    private void tell() throws IOException {
        engine.closeOutbound();
        while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP && flush()) {
            if (wrap(new ByteBuffer[]{NOTHING}, 0, 1) == 0 && !outgoing.hasRemaining()) {
                return;
            }
        }
        flush();
    }

    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    /** Reads from the socket. */
    private int fill() throws IOException {
        encrypted.compact();
        try {
            return socket.read(encrypted);
        } finally {
            encrypted.flip();
        }
    }

    /** Decrypts a record, when those before have been read. */
    private Status unwrap() throws IOException {
        decrypted.clear();
        SSLEngineResult result;
        try {
            result = engine.unwrap(encrypted, decrypted);
        } finally {
            decrypted.flip();
        }
        if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
            runTasks();
        }
        if (result.getStatus() == Status.BUFFER_OVERFLOW) {
            decrypted = ByteBuffer.allocate(
                    Math.max(2 * decrypted.capacity(), engine.getSession().getApplicationBufferSize())).limit(0);
        }
        return result.getStatus();
    }

    /** Encrypts a record behind those that wait. */
    private long wrap(ByteBuffer[] bytes, int from, int count) throws IOException {
        outgoing.compact();
        SSLEngineResult result;
        try {
            result = engine.wrap(bytes, from, count, outgoing);
        } finally {
            outgoing.flip();
        }
        if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
            runTasks();
        }
        if (result.getStatus() == Status.CLOSED && result.bytesProduced() == 0) {
            throw new ClosedChannelException();
        }
        return result.bytesConsumed();
    }

    @Override
    public SocketChannel socket() {
        return socket;
    }

    @Override
    public long read(ByteBuffer[] into, int from, int count) throws IOException {
        long total = 0;
        for (int i = from; i < from + count; i++) {
            while (into[i].hasRemaining()) {
                if (!decrypted.hasRemaining()) {
                    int state = decrypt();
                    if (state <= 0) {
                        return total > 0 ? total : state;
                    }
                }
                int length = Math.min(into[i].remaining(), decrypted.remaining());
                into[i].put(decrypted.slice(decrypted.position(), length));
                decrypted.position(decrypted.position() + length);
                total += length;
            }
        }
        return total;
    }

    /** Decrypts until there is something; 0 if the socket has nothing, −1 at the end. */
    private int decrypt() throws IOException {
        while (!decrypted.hasRemaining()) {
            switch (unwrap()) {
                case BUFFER_UNDERFLOW -> {
                    int count = fill();
                    if (count <= 0) {
                        return count;
                    }
                }
                case CLOSED -> {
                    return -1;
                }
                default -> {
                    // The other side has changed its key, and waits for the answer; see RFC 8446, 4.6.3.
                    while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP
                            && outgoing.capacity() - outgoing.remaining() >= packet) {
                        wrap(new ByteBuffer[]{NOTHING}, 0, 1);
                    }
                }
            }
        }
        return 1;
    }

    @Override
    public long write(ByteBuffer[] bytes, int from, int count) throws IOException {
        long total = 0;
        while (flush() && Arrays.stream(bytes, from, from + count).anyMatch(ByteBuffer::hasRemaining)) {
            long taken;
            do {
                taken = wrap(bytes, from, count);
                total += taken;
            } while (taken > 0 && outgoing.capacity() - outgoing.remaining() >= packet
                    && Arrays.stream(bytes, from, from + count).anyMatch(ByteBuffer::hasRemaining));
        }
        return total;
    }

    @Override
    public boolean flush() throws IOException {
        while (outgoing.hasRemaining()) {
            if (socket.write(outgoing) == 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
