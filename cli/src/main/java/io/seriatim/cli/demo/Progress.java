package io.seriatim.cli.demo;

import io.seriatim.cli.text.PrintableWriter;
import java.io.Console;
import java.io.PrintWriter;
import java.util.Optional;

/**
 * Prints the current activity on stderr: on a terminal in one line, which is overwritten and finally removed, otherwise
 * in separate lines.
 */
final class Progress implements AutoCloseable {
    private final PrintWriter err;
    private final boolean terminal;
    private int width;

    Progress(PrintWriter err, boolean terminal) {
        this.err = PrintableWriter.raw(err);
        this.terminal = terminal;
    }

    static Progress of(PrintWriter err) {
        return new Progress(err, Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent());
    }

    void show(String what) {
        if (terminal) {
            err.print('\r' + what + " ".repeat(Math.max(0, width - what.length())));
            width = what.length();
        } else {
            err.println(what);
        }
        err.flush();
    }

    @Override
    public void close() {
        if (terminal) {
            show("");
            err.print('\r');
            err.flush();
        }
    }
}
