package io.seriatim.spark;

import io.seriatim.cluster.Tls;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkFiles;
import org.jspecify.annotations.Nullable;

/**
 * Where an executor has key and certificates. Names travel with the job, contents and passwords do not.
 *
 * @param certificate
 *            a file in PEM, or a store
 * @param key
 *            a file in PEM; null if the others are stores
 * @param trusted
 *            of the kind of the certificate
 */
record TlsFiles(String certificate, @Nullable String key, String trusted) implements Serializable {
    /** The variable of the environment with the password of stores: Spark hides settings with such names. */
    static final String PASSWORD = "SERIATIM_TLS_PASSWORD";
    /** The setting that gives executors this variable, but not the driver, which is the executor of a local master. */
    static final String PASSWORD_SETTING = "spark.executorEnv." + PASSWORD;

    private static final long serialVersionUID = 1;
    private static final String PREFIX = "spark.seriatim.tls.";
    private static final String CERTIFICATE = PREFIX + "certificate";
    private static final String KEY = PREFIX + "key";
    private static final String TRUST = PREFIX + "trust";

    /** Returns the files that Spark's settings name; null if they name none. */
    static @Nullable TlsFiles configured(SparkConf settings) {
        if (!settings.contains(CERTIFICATE) && !settings.contains(KEY) && !settings.contains(TRUST)) {
            return null;
        }
        if (!settings.contains(CERTIFICATE) || !settings.contains(TRUST)) {
            throw new IllegalArgumentException("Ranks encrypt their connections if Spark's settings name both "
                    + CERTIFICATE + " and " + TRUST + ", but one is missing: set both, or none");
        }
        return new TlsFiles(settings.get(CERTIFICATE), settings.contains(KEY) ? settings.get(KEY) : null,
                settings.get(TRUST));
    }

    /** Reads the files on an executor. */
    Tls read() throws IOException {
        return read(password(System.getenv(PASSWORD), SparkEnv.get().conf()));
    }

    static @Nullable String password(@Nullable String variable, SparkConf settings) {
        return variable == null && settings.contains(PASSWORD_SETTING) ? settings.get(PASSWORD_SETTING) : variable;
    }

    Tls read(@Nullable String password) throws IOException {
        if (key != null) {
            return Tls.files(path(certificate), path(key), path(trusted));
        }
        if (password == null) {
            throw new IllegalArgumentException("The key in '" + certificate + "' has a password: set "
                    + PASSWORD_SETTING + ", or name a key and certificates in PEM");
        }
        return Tls.stores(path(certificate), path(trusted), password.toCharArray());
    }

    private static Path path(String name) {
        Path path = Path.of(name);
        return path.isAbsolute() ? path : Path.of(SparkFiles.get(name));
    }
}
