package io.seriatim.cli;

import io.seriatim.cli.text.Nearest;
import io.seriatim.executor.ProgramFailedException;
import io.seriatim.graph.util.Printable;
import io.seriatim.train.NotFiniteException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Prints an error as one line on stderr, and the stack trace only with {@code --debug}. */
final class Errors {
    static final String DEBUG = "--debug";

    private Errors() {
    }

    static CommandLine report(CommandLine commands) {
        return commands.setParameterExceptionHandler(Errors::wrongUsage).setExecutionExceptionHandler(Errors::failed);
    }

    private static int wrongUsage(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        List<String> unknown = command.getUnmatchedArguments();
        // A mistyped option is often the missing one, so it is reported first.
        boolean mistyped = !unknown.isEmpty()
                && (e instanceof MissingParameterException || e instanceof UnmatchedArgumentException);
        String line = mistyped ? unknown(command, unknown, message(e)) : message(e);
        print(command.getErr(), line + " (see '" + command.getCommandSpec().qualifiedName() + " --help')", e, args);
        return ExitCode.USAGE;
    }

    private static String unknown(CommandLine command, List<String> arguments, String otherwise) {
        Optional<String> option = arguments.stream().filter(argument -> argument.startsWith("-")).findFirst();
        if (option.isPresent()) {
            return "Unknown option: '" + option.get() + "'"
                    + didYouMean(option.get(), command.getCommandSpec().optionsMap().keySet(), "");
        }
        Set<String> commands = command.getSubcommands().keySet();
        if (commands.isEmpty()) {
            return otherwise;
        }
        String name = arguments.getFirst();
        return "There is no command '" + name + "'"
                + didYouMean(name, commands, ": the commands are " + String.join(", ", commands));
    }

    private static String didYouMean(String word, Set<String> known, String otherwise) {
        return Nearest.to(word, known).map(each -> ": did you mean '" + each + "'?").orElse(otherwise);
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

    /** Reports output that could not be written, unless the reader has closed the pipe, as {@code head} does. */
    static int notWritten(PrintWriter err, IOException failure, String... args) {
        if (!StandardOutput.isClosedByReader(failure)) {
            print(err, "The standard output could not be written: " + message(failure), failure, args);
        }
        return ExitCode.SOFTWARE;
    }

    private static void print(PrintWriter err, String line, Throwable t, String[] args) {
        err.println("seriatim: " + Printable.of(line));
        if (Arrays.asList(args).contains(DEBUG)) {
            printCallStack(err, t);
            trace(err, t, "", "", new StackTraceElement[0], Collections.newSetFromMap(new IdentityHashMap<>()));
        }
        err.flush();
    }

    /**
     * As {@link Throwable#printStackTrace()}, but with line breaks in messages escaped, because they may come from
     * files.
     */
    private static void trace(PrintWriter err, Throwable t, String indent, String caption, StackTraceElement[] around,
            Set<Throwable> told) {
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

    /** Prints where the failed operation was built, which is often in Python code that no Java stack trace shows. */
    private static void printCallStack(PrintWriter err, Throwable t) {
        for (Throwable each = t; each != null; each = each.getCause()) {
            if (each instanceof ProgramFailedException failed && !failed.callStack().isEmpty()) {
                err.println("The operation was built at:");
                failed.callStack().forEach(line -> err.println(Printable.of(line)));
                return;
            }
        }
    }

    /**
     * Returns the message, preceded by the type of the exception unless it is one of this project's exceptions: a bare
     * file name says nothing without the type, and a bug report needs the type.
     */
    private static String message(Throwable t) {
        String text = t.getMessage() == null ? "" : t.getMessage().strip().replaceAll("\\s*\\R\\s*", " ");
        boolean plain = t instanceof ParameterException || t instanceof IllegalArgumentException
                || t instanceof NotFiniteException;
        if (plain && !text.isEmpty()) {
            return text;
        }
        String type = t.getClass().getSimpleName();
        return text.isEmpty() ? type : type + ": " + text;
    }
}
