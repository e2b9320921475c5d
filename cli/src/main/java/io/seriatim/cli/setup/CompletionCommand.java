package io.seriatim.cli.setup;

import io.seriatim.cli.text.PrintableWriter;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints a script that completes commands and options in a shell. */
@Command(name = "completion", description = "Print a script that completes commands and options in a shell: "
        + "source <(seriatim completion bash)")
public final class CompletionCommand implements Callable<Integer> {
    /** The shells, in the letters of the command line. */
    enum Shell {
        BASH, ZSH;

        @Override
        public String toString() {
            return this == BASH ? "bash" : "zsh";
        }
    }

    @Spec
    private @Nullable CommandSpec spec;

    // The same script serves both: in zsh it loads the emulation of bash's completion itself.
    @Parameters(index = "0", paramLabel = "SHELL", description = "One of ${COMPLETION-CANDIDATES}.")
    @SuppressWarnings("UnusedVariable")
    private Shell shell = Shell.BASH;

    /** Created by the command line parser. */
    public CompletionCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() {
        CommandSpec command = Objects.requireNonNull(spec, "spec");
        PrintWriter out = PrintableWriter.raw(command.commandLine().getOut());
        out.print(AutoComplete.bash(command.root().name(), command.root().commandLine()));
        out.flush();
        return 0;
    }
}
