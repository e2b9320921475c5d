package io.seriatim.cluster;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.UnrecoverableKeyException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collections;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * The certificates with which ranks encrypt their connections; see {@link ClusterOptions#tls}. Connections use TLS 1.3.
 * Each rank shows its certificate, and requires that those of the others are signed by what it trusts and have not
 * expired; the one that connects also requires that the certificate is for the host that it connects to. Inside, ranks
 * prove as always that they know the secret of the job.
 *
 * <p>
 * One certificate for all ranks will do, if it names all of their hosts and is trusted itself. For ranks on this
 * machine:
 *
 * <pre>
 * keytool -genkeypair -alias rank -keyalg EC -dname CN=ranks -ext san=ip:127.0.0.1,dns:localhost \
 *         -storetype PKCS12 -keystore keys.p12 -storepass SECRET -validity 365
 * keytool -exportcert -alias rank -keystore keys.p12 -storepass SECRET -rfc -file ranks.pem
 * keytool -importcert -alias rank -file ranks.pem -storetype PKCS12 -keystore trust.p12 -storepass SECRET -noprompt
 * </pre>
 */
public final class Tls {
    private final SSLContext context;

    private Tls(SSLContext context) {
        this.context = context;
    }

    /**
     * Takes key and certificates from stores of the type PKCS12.
     *
     * @param keys
     *            a store with the private key of this rank and the chain of its certificate
     * @param trusted
     *            a store with the certificates that have signed those of the ranks, or with these themselves
     * @param password
     *            of both stores, and of the key
     * @return the certificates
     * @throws IOException
     *             if a store cannot be read or the password is wrong, if the first one has no key or not just one, the
     *             second one no certificate, or the certificate of this rank has expired; the message says which
     */
    public static Tls stores(Path keys, Path trusted, char[] password) throws IOException {
        return stores(keys, trusted, password, true);
    }

    /** Without a check of its own certificate it is refused by the others. */
    static Tls stores(Path keys, Path trusted, char[] password, boolean isChecked) throws IOException {
        try {
            KeyStore own = store(keys, password);
            Certificate[] chain = own.getCertificateChain(alias(own, keys));
            if (isChecked) {
                requireValid(keys, chain);
            }
            return of(own, password, store(trusted, password), trusted);
        } catch (GeneralSecurityException e) {
            throw new FileFormatException(keys.toString(), "this is no usable key: " + e.getMessage(), e);
        }
    }

    /**
     * Takes key and certificates from files in PEM.
     *
     * @param certificates
     *            the certificate of this rank, and behind it those that have signed it
     * @param key
     *            its private key, as PKCS#8 without a password: keep the file from other users
     * @param trusted
     *            the certificates that have signed those of the ranks, or these themselves
     * @return the certificates
     * @throws IOException
     *             if a file cannot be read or is something else, if key and certificate do not belong together, or the
     *             certificate has expired; the message says which
     */
    public static Tls files(Path certificates, Path key, Path trusted) throws IOException {
        List<X509Certificate> chain = PemFiles.certificates(certificates);
        PrivateKey secret = PemFiles.key(key);
        PemFiles.requirePair(secret, chain.getFirst(), key, certificates);
        requireValid(certificates, chain.toArray(Certificate[]::new));
        try {
            // They stay in memory.
            char[] none = new char[0];
            KeyStore own = empty();
            own.setKeyEntry("rank", secret, none, chain.toArray(Certificate[]::new));
            KeyStore others = empty();
            int number = 0;
            for (X509Certificate each : PemFiles.certificates(trusted)) {
                others.setCertificateEntry("trusted" + number++, each);
            }
            return of(own, none, others, trusted);
        } catch (GeneralSecurityException e) {
            throw new FileFormatException(certificates.toString(),
                    "this is no usable certificate: " + e.getMessage(), e);
        }
    }

    /**
     * Takes a context that the caller has made, for instance with keys of a hardware module.
     *
     * @param context
     *            initialised, with a key and with what is trusted
     * @return the certificates
     */
    public static Tls of(SSLContext context) {
        return new Tls(context);
    }

    private static Tls of(KeyStore own, char[] password, KeyStore trusted, Path trustedFile)
            throws GeneralSecurityException, IOException {
        boolean isEmpty = true;
        for (String alias : Collections.list(trusted.aliases())) {
            isEmpty &= !trusted.isCertificateEntry(alias);
        }
        if (isEmpty) {
            throw new FileFormatException(trustedFile.toString(),
                    "no certificate in it is marked as trusted: add those that have signed the certificates of the "
                            + "ranks with keytool -importcert");
        }
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own, password);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        TrustManager[] managers = trust.getTrustManagers();
        for (int i = 0; i < managers.length; i++) {
            if (managers[i] instanceof X509ExtendedTrustManager manager) {
                managers[i] = new DatedTrust(manager);
            }
        }
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(keys.getKeyManagers(), managers, null);
        return new Tls(context);
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static KeyStore store(Path file, char[] password) throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(InputFiles.requireRegular(file))) {
            store.load(in, password);
        } catch (FileFormatException e) {
            throw e;
        } catch (IOException e) {
            throw new FileFormatException(file.toString(), e.getCause() instanceof UnrecoverableKeyException
                    ? "the password of this store is another one"
                    : "this is no store of the type PKCS12, such as keytool writes: " + e.getMessage(), e);
        }
        return store;
    }

    private static String alias(KeyStore store, Path file) throws GeneralSecurityException, IOException {
        List<String> keys = Collections.list(store.aliases()).stream().filter(alias -> isKey(store, alias)).toList();
        if (keys.size() != 1) {
            throw new FileFormatException(file.toString(), keys.isEmpty()
                    ? "this store has no private key: it is needed besides the certificate, see keytool -genkeypair"
                    : "this store has several private keys, " + keys + ": leave one in it, that of this rank");
        }
        return keys.getFirst();
    }

    private static boolean isKey(KeyStore store, String alias) {
        try {
            return store.isKeyEntry(alias);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the store was loaded", e);
        }
    }

    private static void requireValid(Path file, Certificate[] chain) throws IOException {
        for (Certificate each : chain) {
            if (each instanceof X509Certificate certificate) {
                try {
                    certificate.checkValidity();
                } catch (CertificateException e) {
                    throw new FileFormatException(file.toString(), "the certificate of "
                            + certificate.getSubjectX500Principal() + " is valid from " + certificate.getNotBefore()
                            + " to " + certificate.getNotAfter() + ", which is not now: renew it", e);
                }
            }
        }
    }

    SSLContext context() {
        return context;
    }
}
