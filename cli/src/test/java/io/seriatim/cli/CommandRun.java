package io.seriatim.cli;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

/**
 * The outcome of a command that ran in this process.
 *
 * @param out
 *            everything that it printed, also directly to standard output
 */
public record CommandRun(int code, String out, String err) {
    /** Runs {@code seriatim} with the given arguments. */
    public static CommandRun of(Object... args) {
        StringWriter err = new StringWriter();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream standard = System.out;
        PrintStream caught = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        System.setOut(caught);
        try {
            PrintWriter out = new PrintWriter(caught, true, StandardCharsets.UTF_8);
            int code = Main.run(Main.commandLine().setOut(out).setErr(new PrintWriter(err, true)),
                    Stream.of(args).map(Object::toString).toArray(String[]::new));
            out.flush();
            return new CommandRun(code, bytes.toString(StandardCharsets.UTF_8), err.toString());
        } finally {
            System.setOut(standard);
        }
    }
}
