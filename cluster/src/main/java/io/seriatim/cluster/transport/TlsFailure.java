package io.seriatim.cluster.transport;

import java.io.IOException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Why TLS failed, and what to do, in words: the messages of the JDK name its own classes and algorithms. */
final class TlsFailure {
    private static final String ALERT = "fatal alert: ";

    private TlsFailure() {
    }

    /** What to say about a failure; the other side is a rank, or "the other side". */
    static String explain(IOException failure, String other, @Nullable String host) {
        String text = String.valueOf(failure.getMessage());
        if (has(failure, CertificateExpiredException.class)) {
            return "the certificate of " + other + " has expired (" + text + "): renew it, and start the ranks again";
        }
        if (has(failure, CertificateNotYetValidException.class)) {
            return "the certificate of " + other + " is not valid yet (" + text
                    + "): compare the clocks of the machines";
        }
        // A rank does not even show a certificate that is signed by none of those whom the other side trusts.
        boolean isHeldBack = text.contains("certificate_required") && !text.contains(ALERT);
        if (isHeldBack || has(failure, CertPathBuilderException.class)
                || has(failure, CertPathValidatorException.class)) {
            return "the certificate of " + other + " is signed by nobody whom this rank trusts (" + text
                    + "): put the certificate that has signed it, or the certificate itself, into the trust store";
        }
        if (has(failure, CertificateException.class) && host != null) {
            return "the certificate of " + other + " is not for the host '" + host + "', at which it was reached ("
                    + text + "): issue it with that name or address as subjectAltName";
        }
        if (text.contains(ALERT)) {
            String alert = text.substring(text.indexOf(ALERT) + ALERT.length()).toLowerCase(Locale.ROOT);
            return other + " refuses " + (alert.contains("certificate") || alert.contains("unknown_ca")
                    ? "the certificate of this rank (" + alert + "): see its own error, and its trust store"
                    : "the connection (" + alert + "): see its own error");
        }
        if (text.contains("not an SSL/TLS record") || text.contains("unrecognized SSL message")
                || text.contains("plaintext connection")) {
            return other + " does not use TLS, but this rank does: start all ranks with TLS, or none";
        }
        return "TLS with " + other + " failed: " + text;
    }

    private static boolean has(Throwable failure, Class<? extends Throwable> type) {
        Set<Throwable> seen = new HashSet<>();
        for (Throwable each = failure; each != null && seen.add(each); each = each.getCause()) {
            if (type.isInstance(each)) {
                return true;
            }
        }
        return false;
    }
}
