package io.seriatim.cluster;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Certificates for tests, written in DER as RFC 5280 describes it: the JDK makes none but with a program. */
final class Certificates {
    static final char[] PASSWORD = "of the tests".toCharArray();

    private static final byte[] ECDSA_SHA256 = {0x30, 0x0a, 0x06, 0x08, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d,
            0x04, 0x03, 0x02};
    private static final byte[] COMMON_NAME = {0x06, 0x03, 0x55, 0x04, 0x03};
    private static final byte[] ALTERNATIVE_NAMES = {0x06, 0x03, 0x55, 0x1d, 0x11};
    private static final byte[] BASIC_CONSTRAINTS = {0x06, 0x03, 0x55, 0x1d, 0x13};
    private static final byte[] TRUE = {0x01, 0x01, (byte) 0xff};

    /** A key with the chain of its certificate. */
    record Identity(KeyPair keys, List<X509Certificate> chain) {
        X509Certificate certificate() {
            return chain.getFirst();
        }
    }

    private Certificates() {
    }

    /**
     * Makes a certificate.
     *
     * @param issuer
     *            null if it signs itself
     * @param host
     *            a number of IPv4, a name, or empty for an authority
     * @param ends
     *            from now
     */
    static Identity make(String name, @Nullable Identity issuer, String host, Duration ends) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(256);
        KeyPair keys = generator.generateKeyPair();
        Instant now = Instant.now();
        byte[] subject = name(name);
        byte[] issuedBy = issuer == null ? subject : issuer.certificate().getSubjectX500Principal().getEncoded();
        byte[] extension = host.isEmpty()
                ? der(0x30, BASIC_CONSTRAINTS, TRUE, der(0x04, der(0x30, TRUE)))
                : der(0x30, ALTERNATIVE_NAMES, der(0x04, der(0x30, host.matches("[0-9.]+")
                        ? der(0x87, number(host))
                        : der(0x82, host.getBytes(StandardCharsets.US_ASCII)))));
        byte[] content = der(0x30, der(0xa0, der(0x02, new byte[]{2})),
                der(0x02, BigInteger.valueOf(System.nanoTime()).abs().toByteArray()), ECDSA_SHA256, issuedBy,
                der(0x30, time(now.minus(Duration.ofDays(30))), time(now.plus(ends))), subject,
                keys.getPublic().getEncoded(), der(0xa3, der(0x30, extension)));
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(issuer == null ? keys.getPrivate() : issuer.keys().getPrivate());
        signature.update(content);
        byte[] whole = der(0x30, content, ECDSA_SHA256, der(0x03, new byte[]{0}, signature.sign()));
        List<X509Certificate> chain = new ArrayList<>();
        chain.add((X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(whole)));
        if (issuer != null) {
            chain.addAll(issuer.chain());
        }
        return new Identity(keys, chain);
    }

    private static byte[] number(String host) {
        String[] parts = host.split("\\.", -1);
        byte[] bytes = new byte[parts.length];
        for (int i = 0; i < parts.length; i++) {
            bytes[i] = (byte) Integer.parseInt(parts[i]);
        }
        return bytes;
    }

    private static byte[] name(String name) {
        return der(0x30, der(0x31, der(0x30, COMMON_NAME, der(0x0c, name.getBytes(StandardCharsets.UTF_8)))));
    }

    private static byte[] time(Instant time) {
        return der(0x18, DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC)
                .format(time).getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] der(int tag, byte[]... parts) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] each : parts) {
            content.writeBytes(each);
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(tag);
        int length = content.size();
        if (length >= 0x100) {
            all.write(0x82);
            all.write(length >> 8);
        } else if (length >= 0x80) {
            all.write(0x81);
        }
        all.write(length);
        all.writeBytes(content.toByteArray());
        return all.toByteArray();
    }

    static Path keys(Path file, Identity identity) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("rank", identity.keys().getPrivate(), PASSWORD,
                identity.chain().toArray(Certificate[]::new));
        return write(file, store);
    }

    static Path trusted(Path file, X509Certificate... certificates) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        for (int i = 0; i < certificates.length; i++) {
            store.setCertificateEntry("trusted" + i, certificates[i]);
        }
        return write(file, store);
    }

    private static Path write(Path file, KeyStore store) throws Exception {
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, PASSWORD);
        }
        return file;
    }

    static Path pem(Path file, String kind, byte[]... contents) throws Exception {
        StringBuilder text = new StringBuilder("Written by a test\n");
        for (byte[] each : contents) {
            text.append("-----BEGIN ").append(kind).append("-----\n")
                    .append(Base64.getMimeEncoder(64, new byte[]{'\n'}).encodeToString(each)).append("\n-----END ")
                    .append(kind).append("-----\n");
        }
        return Files.writeString(file, text);
    }
}
