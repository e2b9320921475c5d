package io.seriatim.cli;

import io.seriatim.cli.spi.AtLeast;
import java.lang.reflect.AnnotatedElement;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Checks the numbers of a command line against their least values, see {@link AtLeast}. */
final class NumberOptions {
    private NumberOptions() {
    }

    /**
     * Checks the options of a command and of its subcommands that are given.
     *
     * @param parsed
     *            the command line
     * @throws ParameterException
     *             if a number is less than its option takes; the message names both
     */
    static void check(ParseResult parsed) {
        for (OptionSpec option : parsed.matchedOptions()) {
            Iterator<String> texts = option.stringValues().iterator();
            for (Object value : values(option)) {
                String text = texts.hasNext() ? texts.next() : String.valueOf(value);
                String rule = value instanceof Number number ? broken(number, least(option)) : null;
                if (rule != null) {
                    throw new ParameterException(parsed.commandSpec().commandLine(),
                            option.longestName() + " must be " + rule + ", but is " + text);
                }
            }
        }
        parsed.subcommands().forEach(NumberOptions::check);
    }

    private static List<?> values(OptionSpec option) {
        Object given = option.getValue();
        return switch (given) {
            case Collection<?> several -> List.copyOf(several);
            case Object one -> List.of(one);
            case null -> List.of();
        };
    }

    private static @Nullable Double least(OptionSpec option) {
        AtLeast given = option.userObject() instanceof AnnotatedElement field
                ? field.getAnnotation(AtLeast.class)
                : null;
        return given == null ? null : given.value();
    }

    /** Returns the rule that a number breaks, or null. */
    private static @Nullable String broken(Number number, @Nullable Double least) {
        double value = number.doubleValue();
        boolean real = number instanceof Double || number instanceof Float;
        if (real && !Double.isFinite(value)) {
            return "a number";
        }
        if (least != null) {
            return value >= least
                    ? null
                    : (real ? "a number from " : "") + Math.round(least) + (real ? " on" : " or more");
        }
        return real ? value > 0 ? null : "a number above 0" : value >= 1 ? null : "1 or more";
    }
}
