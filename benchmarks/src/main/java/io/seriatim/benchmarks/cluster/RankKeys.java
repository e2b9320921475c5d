package io.seriatim.benchmarks.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * A key that ranks of this machine have in common, in a folder that {@link #close} deletes. The JDK's {@code keytool}
 * makes it.
 *
 * @param folder
 *            with the stores
 * @param password
 *            of both
 */
record RankKeys(Path folder, String password) implements AutoCloseable {
    /** The variable of the environment with the password. */
    static final String PASSWORD = "SERIATIM_TLS_PASSWORD";

    private static final int PASSWORD_BYTES = 16;
    private static final String LOG = "keytool.log";

    static RankKeys make() throws IOException {
        byte[] password = new byte[PASSWORD_BYTES];
        new SecureRandom().nextBytes(password);
        RankKeys keys = new RankKeys(Files.createTempDirectory("seriatim-keys"), HexFormat.of().formatHex(password));
        try {
            Path certificate = keys.folder.resolve("ranks.pem");
            keys.keytool("-genkeypair", "-keyalg", "EC", "-dname", "CN=ranks", "-ext",
                    "san=ip:127.0.0.1,dns:localhost", "-validity", "2", "-keystore", keys.store().toString());
            keys.keytool("-exportcert", "-rfc", "-file", certificate.toString(), "-keystore", keys.store().toString());
            keys.keytool("-importcert", "-noprompt", "-file", certificate.toString(), "-keystore",
                    keys.trusted().toString());
            return keys;
        } catch (IOException | RuntimeException e) {
            keys.close();
            throw e;
        }
    }

    Path store() {
        return folder.resolve("ranks.p12");
    }

    Path trusted() {
        return folder.resolve("trusted.p12");
    }

    private void keytool(String... arguments) throws IOException {
        List<String> line = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "keytool")
                .toString()));
        line.addAll(List.of(arguments));
        line.addAll(List.of("-alias", "ranks", "-storetype", "PKCS12", "-storepass:env", PASSWORD));
        Path log = folder.resolve(LOG);
        ProcessBuilder builder = new ProcessBuilder(line).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().put(PASSWORD, password);
        try {
            if (builder.start().waitFor() != 0) {
                throw new IOException("The JDK's keytool made no key for TLS: "
                        + new String(Files.readAllBytes(log), StandardCharsets.UTF_8).strip());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while keytool made a key", e);
        }
    }

    @Override
    public void close() throws IOException {
        for (String name : List.of("ranks.pem", "ranks.p12", "trusted.p12", LOG)) {
            Files.deleteIfExists(folder.resolve(name));
        }
        Files.delete(folder);
    }
}
