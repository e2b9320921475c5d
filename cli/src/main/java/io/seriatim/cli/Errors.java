package io.seriatim.cli;

import io.seriatim.graph.Printable;
import io.seriatim.train.NotFiniteException;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** One line on stderr for an error, and the stack trace only where it is asked for. */
final class Errors {
    static final String DEBUG = "--debug";

    private Errors() {
    }

    static CommandLine report(CommandLine commands) {
        return commands.setParameterExceptionHandler(Errors::wrongUsage).setExecutionExceptionHandler(Errors::failed);
    }

    private static int wrongUsage(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        print(command.getErr(), message(e) + " (see '" + command.getCommandSpec().qualifiedName() + " --help')", e, args);
        return ExitCode.USAGE;
    }

    private static int failed(Exception e, CommandLine command, ParseResult parsed) {
        return failed(command.getErr(), e, parsed.originalArgs().toArray(String[]::new));
    }

    static int failed(PrintWriter err, Throwable t, String... args) {
        if (t instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        print(err, message(t), t, args);
        return ExitCode.SOFTWARE;
    }

    private static void print(PrintWriter err, String line, Throwable t, String[] args) {
        err.println("seriatim: " + Printable.of(line));
        if (Arrays.asList(args).contains(DEBUG)) {
            trace(err, t, "", "", new StackTraceElement[0], Collections.newSetFromMap(new IdentityHashMap<>()));
        }
        err.flush();
    }

    /** As {@link Throwable#printStackTrace()}, but for messages out of files, which make no lines of their own. */
    private static void trace(PrintWriter err, Throwable t, String indent, String caption, StackTraceElement[] around, Set<Throwable> told) {
        err.println(indent + caption + Printable.of(t.toString()));
        if (!told.add(t)) {
            return;
        }
        StackTraceElement[] frames = t.getStackTrace();
        int common = 0;
        while (common < Math.min(frames.length, around.length)
                && frames[frames.length - 1 - common].equals(around[around.length - 1 - common])) {
            common++;
        }
        for (int i = 0; i < frames.length - common; i++) {
            err.println(indent + "\tat " + Printable.of(frames[i].toString()));
        }
        if (common > 0) {
            err.println(indent + "\t... " + common + " more");
        }
        for (Throwable suppressed : t.getSuppressed()) {
            trace(err, suppressed, indent + "\t", "Suppressed: ", frames, told);
        }
        if (t.getCause() != null) {
            trace(err, t.getCause(), indent, "Caused by: ", frames, told);
        }
    }

    /** A message that names a file only says nothing without its type, and a bug has a type to search for: only our own are shown bare. */
    private static String message(Throwable t) {
        String text = t.getMessage() == null ? "" : t.getMessage().strip().replaceAll("\\s*\\R\\s*", " ");
        boolean plain = t instanceof ParameterException || t instanceof IllegalArgumentException || t instanceof NotFiniteException;
        if (plain && !text.isEmpty()) {
            return text;
        }
        String type = t.getClass().getSimpleName();
        return text.isEmpty() ? type : type + ": " + text;
    }
}
