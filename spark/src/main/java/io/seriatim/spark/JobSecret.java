package io.seriatim.spark;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.jspecify.annotations.Nullable;

/**
 * The secret with which the ranks of a job know each other. Where Spark's processes have a secret in common, that of a
 * job follows from it and from the job's name, and does not travel.
 *
 * @param job
 *            the name of the job, another one for each
 * @param drawn
 *            by the driver, in hexadecimal digits; null if the secret follows from Spark's
 */
record JobSecret(String job, @Nullable String drawn) implements Serializable {
    private static final long serialVersionUID = 1;
    private static final int BYTES = 32;
    private static final String HMAC = "HmacSHA256";

    /** How the driver reaches its executors. */
    record Trust(boolean isLocal, boolean isAuthenticated, boolean isEncrypted) {
    }

    /**
     * Makes the secret of a job.
     *
     * @param isPrivate
     *            whether nobody who reads Spark's connections may read it
     */
    static JobSecret of(String job, SparkContext spark, boolean isPrivate) {
        var security = spark.env().securityManager();
        return of(job, new Trust(spark.isLocal(), security.isAuthenticationEnabled(), security.isSslRpcEnabled()),
                isPrivate);
    }

    static JobSecret of(String job, Trust trust, boolean isPrivate) {
        if (trust.isAuthenticated()) {
            return new JobSecret(job, null);
        }
        if (isPrivate && !trust.isLocal() && !trust.isEncrypted()) {
            throw new IllegalStateException("Ranks are to use TLS, but Spark's own connections, which would carry the "
                    + "secret of the ranks, are open: set spark.authenticate=true, or spark.ssl.rpc.enabled=true");
        }
        byte[] secret = new byte[BYTES];
        new SecureRandom().nextBytes(secret);
        return new JobSecret(job, HexFormat.of().formatHex(secret));
    }

    /** Returns the secret, on the driver or an executor. */
    byte[] bytes() {
        return drawn == null
                ? derived(SparkEnv.get().securityManager().getSecretKey())
                : HexFormat.of().parseHex(drawn);
    }

    /** Returns what follows from Spark's secret: who knows it does not know that one. */
    byte[] derived(String ofSpark) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(ofSpark.getBytes(StandardCharsets.UTF_8), HMAC));
            return mac.doFinal(("ranks of " + job).getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has " + HMAC, e);
        }
    }

    /** Without the secret. */
    @Override
    public String toString() {
        return "secret of " + job + (drawn == null ? ", which follows from Spark's" : ", drawn");
    }
}
