package io.seriatim.cli.spi;

import java.util.List;

/**
 * The subcommands of {@code seriatim bench}. The command line finds its providers with {@link java.util.ServiceLoader}.
 */
public interface BenchCommands {
    /**
     * Returns the subcommands.
     *
     * @return new objects whose classes are annotated with {@code picocli.CommandLine.Command}
     */
    List<Object> commands();
}
