package io.seriatim.cli.option;

import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.StagedFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * The files that a command is going to write. They are checked once its input is read and before it computes, so that
 * nothing is lost: neither an input that an output would replace, nor one of two outputs, nor a result at the end.
 */
public final class Outputs {
    private final @Nullable CommandSpec spec;
    private final Map<Path, String> places = new LinkedHashMap<>();

    /**
     * Without a file yet.
     *
     * @param spec
     *            the command, as the parser has set it
     */
    public Outputs(@Nullable CommandSpec spec) {
        this.spec = spec;
    }

    /**
     * Checks a file and adds it.
     *
     * @param what
     *            where its name is from, such as an option
     * @param file
     *            null if it is not written
     * @return this
     * @throws ParameterException
     *             if it is an input of this command, another output, or something else than a file
     * @throws IOException
     *             if files cannot be compared
     */
    public Outputs add(String what, @Nullable Path file) throws IOException {
        if (file == null) {
            return this;
        }
        try {
            StagedFiles.requireReplaceable(file);
            InputFiles.requireNotRead(file);
        } catch (IOException e) {
            throw Usage.error(spec, what + ": " + e.getMessage(), e);
        }
        Path parent = file.toAbsolutePath().getParent();
        Path place = parent != null && Files.isDirectory(parent)
                ? parent.toRealPath().resolve(String.valueOf(file.getFileName()))
                : file.toAbsolutePath().normalize();
        String other = places.putIfAbsent(place, what);
        if (other != null) {
            throw Usage.error(spec, other + " and " + what + " would both be written to " + file
                    + ": name another file for one of them", null);
        }
        return this;
    }
}
