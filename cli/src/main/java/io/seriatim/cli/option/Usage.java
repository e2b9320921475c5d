package io.seriatim.cli.option;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Errors in how a command was called. */
public final class Usage {
    private Usage() {
    }

    /**
     * An error that is reported with the command's help.
     *
     * @param spec
     *            the command, as the parser has set it
     * @param message
     *            the rule, and what was given instead
     * @param cause
     *            what found it; null if nothing was thrown
     * @return the error, which is not thrown
     */
    public static ParameterException error(@Nullable CommandSpec spec, String message, @Nullable Throwable cause) {
        CommandLine command = Objects.requireNonNull(spec, "spec").commandLine();
        return cause == null
                ? new ParameterException(command, message)
                : new ParameterException(command, message, cause);
    }
}
