package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The options with numbers of the benchmarks, as the command checks them. */
class BenchNumberOptionsTest {
    /** Options for which 0 has a meaning of its own. */
    private static final Set<String> FROM_ZERO =
            Set.of("cluster --delay", "engine --spin", "engine --warmup", "serve --batch");

    private static void assertRefused(String value, String option, String... args) {
        StringWriter err = new StringWriter();
        assertEquals(2, Main.run(Main.commandLine().setErr(new PrintWriter(err, true)), args), err::toString);
        assertTrue(err.toString().startsWith("seriatim: " + option + " must be "), err::toString);
        assertTrue(err.toString().contains(", but is " + value + " "), err::toString);
    }

    private static boolean isNumber(OptionSpec option) {
        Class<?> type = option.typeInfo().isMultiValue()
                ? option.typeInfo().getAuxiliaryTypes()[0]
                : option.typeInfo().getType();
        return Number.class.isAssignableFrom(type) || (type.isPrimitive() && type != boolean.class);
    }

    @TestFactory
    Stream<DynamicTest> aNumberThatMeansNothingIsRefused() {
        List<DynamicTest> tests = new ArrayList<>();
        CommandLine bench = Objects.requireNonNull(Main.commandLine().getSubcommands().get("bench"));
        for (Map.Entry<String, CommandLine> command : bench.getSubcommands().entrySet()) {
            for (OptionSpec option : command.getValue().getCommandSpec().options()) {
                if (!isNumber(option)) {
                    continue;
                }
                String name = option.longestName();
                tests.add(DynamicTest.dynamicTest(command.getKey() + " " + name, () -> {
                    assertRefused("-1", name, "bench", command.getKey(), name, "-1");
                    if (FROM_ZERO.contains(command.getKey() + " " + name)) {
                        assertDoesNotThrow(() -> NumberOptions
                                .check(Main.commandLine().parseArgs("bench", command.getKey(), name, "0")));
                    } else {
                        assertRefused("0", name, "bench", command.getKey(), name, "0");
                    }
                    if (option.typeInfo().isMultiValue()) {
                        assertRefused("0", name, "bench", command.getKey(), name, "1,0");
                    }
                }));
            }
        }
        assertTrue(tests.size() >= 14, "there are only " + tests.size() + " such options");
        return tests.stream();
    }
}
