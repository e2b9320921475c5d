package io.seriatim.cluster;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Certificates and keys in PEM: Base64 between lines that say what it is. Other text between them is skipped. */
final class PemFiles {
    private static final Pattern BLOCK = Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");
    private static final String CERTIFICATE = "CERTIFICATE";
    private static final String KEY = "PRIVATE KEY";
    private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");
    /** No file of certificates is as large. */
    private static final long MOST_BYTES = 1 << 20;

    /** What a file has between two lines. */
    private record Part(String kind, ByteBuffer bytes) {
    }

    private PemFiles() {
    }

    private static List<Part> parts(Path file) throws IOException {
        if (Files.size(InputFiles.requireRegular(file)) > MOST_BYTES) {
            throw new FileFormatException(file.toString(), "this is no file in PEM: it has more than " + MOST_BYTES
                    + " bytes");
        }
        String text = Files.readString(InputFiles.requireRegular(file), StandardCharsets.ISO_8859_1);
        List<Part> parts = new ArrayList<>();
        Matcher matcher = BLOCK.matcher(text);
        while (matcher.find()) {
            try {
                parts.add(new Part(matcher.group(1),
                        ByteBuffer.wrap(Base64.getMimeDecoder().decode(matcher.group(2).strip()))));
            } catch (IllegalArgumentException e) {
                // Old keys with a password have lines that are not Base64: what they are says enough.
                parts.add(new Part(matcher.group(1), ByteBuffer.allocate(0)));
            }
        }
        return parts;
    }

    static List<X509Certificate> certificates(Path file) throws IOException {
        List<X509Certificate> found = new ArrayList<>();
        try {
            CertificateFactory factory = CertificateFactory.getInstance("X.509");
            for (Part each : parts(file)) {
                if (each.kind().equals(CERTIFICATE)) {
                    found.add((X509Certificate) factory
                            .generateCertificate(new ByteArrayInputStream(each.bytes().array())));
                }
            }
        } catch (GeneralSecurityException e) {
            throw new FileFormatException(file.toString(), "a certificate in it is damaged: " + e.getMessage(), e);
        }
        if (found.isEmpty()) {
            throw new FileFormatException(file.toString(),
                    "this file has no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----");
        }
        return found;
    }

    static PrivateKey key(Path file) throws IOException {
        List<Part> keys = parts(file).stream().filter(part -> part.kind().endsWith(KEY)).toList();
        if (keys.size() != 1) {
            throw new FileFormatException(file.toString(), "this file has " + keys.size() + " private keys in PEM, "
                    + "not one, which begins with -----BEGIN PRIVATE KEY-----");
        }
        Part part = keys.getFirst();
        if (!part.kind().equals(KEY)) {
            throw new FileFormatException(file.toString(), "this is an '" + part.kind() + "', but a key in PKCS#8 "
                    + "without a password is needed: openssl pkcs8 -topk8 -nocrypt -in " + file.getFileName()
                    + " -out key.pem writes one");
        }
        GeneralSecurityException failure = new GeneralSecurityException("no kind of key was tried");
        for (String algorithm : ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(part.bytes().array()));
            } catch (GeneralSecurityException e) {
                failure = e;
            }
        }
        throw new FileFormatException(file.toString(), "this is a key of none of the kinds " + ALGORITHMS, failure);
    }

    /** Checks that the key is that of the certificate: TLS would fail with a message that does not say so. */
    static void requirePair(PrivateKey key, X509Certificate certificate, Path keyFile, Path certificateFile)
            throws IOException {
        String kind = key.getAlgorithm();
        boolean isPair = false;
        try {
            Signature signature = Signature.getInstance(switch (kind) {
                case "EC" -> "SHA256withECDSA";
                case "RSA" -> "SHA256withRSA";
                default -> kind;
            });
            byte[] text = certificate.getEncoded();
            signature.initSign(key);
            signature.update(text);
            byte[] signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(text);
            isPair = signature.verify(signed);
        } catch (GeneralSecurityException e) {
            throw new FileFormatException(keyFile.toString(), "this key is not that of the certificate in "
                    + certificateFile + ": " + e.getMessage(), e);
        }
        if (!isPair) {
            throw new FileFormatException(keyFile.toString(),
                    "this key is not that of the first certificate in " + certificateFile);
        }
    }
}
