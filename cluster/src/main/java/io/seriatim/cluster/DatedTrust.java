package io.seriatim.cluster;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trusts whom another one trusts, as long as the dates allow: the JDK does not look at those of a certificate that is
 * in the store itself.
 */
final class DatedTrust extends X509ExtendedTrustManager {
    private final X509ExtendedTrustManager trust;

    DatedTrust(X509ExtendedTrustManager trust) {
        this.trust = trust;
    }

    private static void requireValid(X509Certificate[] chain) throws CertificateException {
        for (X509Certificate each : chain) {
            each.checkValidity();
        }
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        trust.checkClientTrusted(chain, type, engine);
        requireValid(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        trust.checkServerTrusted(chain, type, engine);
        requireValid(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        trust.checkClientTrusted(chain, type, socket);
        requireValid(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        trust.checkServerTrusted(chain, type, socket);
        requireValid(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
        trust.checkClientTrusted(chain, type);
        requireValid(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
        trust.checkServerTrusted(chain, type);
        requireValid(chain);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return trust.getAcceptedIssuers();
    }
}
