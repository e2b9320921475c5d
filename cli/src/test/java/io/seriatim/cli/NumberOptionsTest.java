package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Every option with a number, of every command: 0, less, and what is no number are refused where they mean nothing. */
class NumberOptionsTest {
    /** Options for which any number has a meaning, or whose command has the rule. */
    private static final Set<String> ANY = Set.of("convert --opset", "convert --seed", "run --seed", "train --seed",
            "demo two-devices --seed");
    /** Options for which 0 has a meaning of its own. */
    private static final Set<String> FROM_ZERO = Set.of("convert --tolerance", "demo two-devices --latency",
            "train --rank");

    private record Numbered(String command, OptionSpec option, boolean real) {
        String name() {
            return command + " " + option.longestName();
        }

        /** A command line with one value of this option, and with something for whatever is required. */
        List<Object> line(String value) {
            List<Object> line = new ArrayList<>(List.of(command.split(" ")));
            for (ArgSpec other : option.command().args()) {
                if (other.required() && !other.equals(option) && other instanceof OptionSpec needed) {
                    line.addAll(List.of(needed.longestName(), "none"));
                } else if (other.required() && other.isPositional()) {
                    line.add("none");
                }
            }
            line.addAll(List.of(option.longestName(), value));
            return line;
        }
    }

    private static Stream<CommandLine> all(CommandLine command) {
        return Stream.concat(Stream.of(command),
                command.getSubcommands().values().stream().distinct().flatMap(NumberOptionsTest::all));
    }

    static boolean isReal(Class<?> type) {
        return type == double.class || type == Double.class || type == float.class || type == Float.class;
    }

    static boolean isNumber(Class<?> type) {
        return isReal(type) || Number.class.isAssignableFrom(type)
                || (type.isPrimitive() && type != boolean.class && type != char.class && type != void.class);
    }

    private static List<Numbered> numbered() {
        List<Numbered> all = new ArrayList<>();
        for (CommandLine command : all(Main.commandLine()).toList()) {
            String path = command.getCommandSpec().qualifiedName().replaceFirst("^seriatim ?", "");
            for (OptionSpec option : command.getCommandSpec().options()) {
                Class<?> type = option.typeInfo().isMultiValue()
                        ? option.typeInfo().getAuxiliaryTypes()[0]
                        : option.typeInfo().getType();
                if (isNumber(type)) {
                    all.add(new Numbered(path, option, isReal(type)));
                }
            }
        }
        return all;
    }

    private static void assertRefused(Numbered numbered, String value) {
        CommandRun run = CommandRun.of(numbered.line(value).toArray());
        assertEquals(2, run.code(), run::err);
        assertTrue(run.err().startsWith("seriatim: " + numbered.option().longestName() + " must be "), run::err);
        assertTrue(run.err().contains(", but is " + value + " "), run::err);
        assertEquals(1, run.err().lines().count(), run::err);
    }

    private static void assertTaken(Numbered numbered, String value) {
        String[] line = numbered.line(value).stream().map(String::valueOf).toArray(String[]::new);
        assertDoesNotThrow(() -> NumberOptions.check(Main.commandLine().parseArgs(line)));
    }

    @TestFactory
    Stream<DynamicTest> aNumberThatMeansNothingIsRefused() {
        return numbered().stream().map(each -> DynamicTest.dynamicTest(each.name(), () -> {
            if (ANY.contains(each.name())) {
                List.of("0", "-1", "-2147483648").forEach(value -> assertTaken(each, value));
                return;
            }
            assertRefused(each, "-1");
            assertTaken(each, "2");
            if (FROM_ZERO.contains(each.name())) {
                assertTaken(each, "0");
            } else {
                assertRefused(each, "0");
            }
            if (each.real()) {
                assertTaken(each, "0.25");
                List.of("NaN", "Infinity", "-0.25").forEach(value -> assertRefused(each, value));
            }
        }));
    }

    @Test
    void theExceptionsExist() {
        Set<String> names = new TreeSet<>(numbered().stream().map(Numbered::name).toList());
        assertTrue(names.containsAll(ANY) && names.containsAll(FROM_ZERO), names::toString);
        assertTrue(names.contains("train --batch") && names.contains("train --rate"), names::toString);
        assertFalse(names.contains("train --place"), names::toString);
    }
}
