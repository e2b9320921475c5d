package io.seriatim.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import picocli.CommandLine.IVersionProvider;

/** The version, from a resource that the build writes next to this class. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() throws IOException {
        try (InputStream in = Objects.requireNonNull(Version.class.getResourceAsStream("version.txt"), "version.txt")) {
            String version = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
            return new String[]{version, "Java " + Runtime.version()};
        }
    }
}
