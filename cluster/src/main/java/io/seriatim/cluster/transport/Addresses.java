package io.seriatim.cluster.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;

/** Addresses as text: {@code HOST:PORT}, {@code [IPV6]:PORT} or {@code unix:PATH}. */
public final class Addresses {
    /** The longest text of an address, in bytes of UTF-8. */
    public static final int MOST_BYTES = 400;

    /** How the text of a Unix-domain socket's address begins. */
    static final String UNIX = "unix:";
    private static final int MOST_PORT = 0xffff;

    private Addresses() {
    }

    /**
     * Reads an address.
     *
     * @param text
     *            as {@link #format} writes it
     * @return the address
     * @throws UnknownHostException
     *             if there is no such host
     * @throws IllegalArgumentException
     *             if it is no address
     */
    public static SocketAddress parse(String text) throws UnknownHostException {
        if (text.startsWith(UNIX)) {
            return UnixDomainSocketAddress.of(Path.of(text.substring(UNIX.length())));
        }
        int colon = text.lastIndexOf(':');
        String host = host(text);
        int port = colon < 0 ? -1 : port(text.substring(colon + 1));
        if (host.isEmpty() || port < 0) {
            throw new IllegalArgumentException("'" + text + "' is no address: HOST:PORT with a port from 0 to "
                    + MOST_PORT + ", or unix:PATH");
        }
        return new InetSocketAddress(InetAddress.getByName(host), port);
    }

    /**
     * The host of an address.
     *
     * @param text
     *            the address
     * @return without brackets; empty if it has none
     */
    static String host(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }

    private static int port(String text) {
        try {
            int port = Integer.parseInt(text);
            return port > MOST_PORT ? -1 : port;
        } catch (NumberFormatException _) {
            return -1;
        }
    }

    /**
     * Writes an address.
     *
     * @param address
     *            of the internet, or of a Unix-domain socket
     * @return its text
     */
    public static String format(SocketAddress address) {
        if (address instanceof UnixDomainSocketAddress unix) {
            return UNIX + unix.getPath();
        }
        InetSocketAddress internet = (InetSocketAddress) address;
        return format(internet.getAddress().getHostAddress(), internet.getPort());
    }

    /**
     * Writes an address.
     *
     * @param host
     *            its name or number
     * @param port
     *            its port
     * @return the text
     */
    public static String format(String host, int port) {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
