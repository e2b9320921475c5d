package io.seriatim.cli.option;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** Refuses a second {@code --feed} of one name, which would silently replace the first. */
public final class RepeatedFeeds {
    private RepeatedFeeds() {
    }

    /**
     * Checks a command line that was parsed.
     *
     * @param command
     *            has an option {@code --feed NAME=FILE}
     * @throws ParameterException
     *             if two of them have the same name
     */
    public static void refuse(CommandLine command) {
        OptionSpec option = command.getParseResult().matchedOption("--feed");
        Set<String> names = new HashSet<>();
        for (String value : option == null ? List.<String>of() : option.originalStringValues()) {
            String name = value.substring(0, Math.max(0, value.indexOf('=')));
            if (!names.add(name)) {
                throw new ParameterException(command,
                        "--feed " + name + "=… is given twice: a variable is fed one file");
            }
        }
    }
}
