package io.seriatim.cli.setup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.cli.ChildProcess;
import io.seriatim.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CompletionCommandTest {
    @TempDir
    private Path temp = Path.of("");

    private static boolean isInstalled(String shell) {
        return Stream.of("/bin/", "/usr/bin/", "/usr/local/bin/").anyMatch(each -> Files.exists(Path.of(each + shell)));
    }

    private Path script(String shell) throws IOException {
        CommandRun run = CommandRun.of("completion", shell);
        assertEquals(0, run.code(), run::err);
        return Files.writeString(temp.resolve("completion." + shell), run.out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"bash", "zsh"})
    void theShellReadsTheScript(String shell) throws Exception {
        Path script = script(shell);
        assertTrue(Files.readString(script).contains("ZSH_VERSION"), "the script serves both");
        assumeTrue(isInstalled(shell), shell + " is not installed");
        try (ChildProcess process = ChildProcess.start(new ProcessBuilder(shell, "-n", script.toString())
                .redirectErrorStream(true))) {
            assertEquals(0, process.end(), process::out);
        }
    }

    /** What bash would offer behind the words, of which the last is incomplete. */
    @ParameterizedTest
    @CsvSource({"seriatim conv,convert", "seriatim in,init", "seriatim doctor --ker,--kernels",
            "seriatim demo two,two-devices", "seriatim completion z,zsh"})
    void wordsAreCompleted(String words, String expected) throws Exception {
        assumeTrue(isInstalled("bash"), "bash is not installed");
        String[] parts = words.split(" ", -1);
        String ask = "source '" + script("bash") + "'; COMP_WORDS=(" + words + "); COMP_CWORD=" + (parts.length - 1)
                + "; COMP_LINE='" + words + "'; COMP_POINT=" + words.length()
                + "; _complete_seriatim; printf '%s\\n' \"${COMPREPLY[@]}\"";
        try (ChildProcess process = ChildProcess.start(new ProcessBuilder("bash", "--norc", "-c", ask)
                .redirectErrorStream(true))) {
            assertEquals(0, process.end(), process::out);
            assertEquals(List.of(expected), process.out().lines().map(String::strip).toList());
        }
    }

    @Test
    void anotherShellIsRefused() {
        CommandRun run = CommandRun.of("completion", "fish");
        assertEquals(2, run.code());
        assertTrue(run.err().contains("one of [BASH, ZSH]"), run::err);
    }
}
