package io.seriatim.cli.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Trainings that receive signals or meet a full disk. */
@DisabledOnOs(OS.WINDOWS)
class TrainProcessTest {
    private static final int ENDLESS = 1_000_000;

    @TempDir
    private Path temp = Path.of("");

    /** A training at a constant learning rate, so that the number of steps does not affect earlier steps. */
    private List<Object> training(RunFolder run, Object... more) throws IOException {
        List<Object> args = new ArrayList<>(TinyData.program(temp, TinyData.line(-1), 40));
        args.addAll(List.of("--batch", 4, "--epochs", ENDLESS, "--threads", 2, "--out", run.path()));
        args.addAll(List.of(more));
        return args;
    }

    private Command endless(RunFolder run, Object... more) throws IOException {
        return Command.start(temp, "", training(run, more).toArray());
    }

    private static boolean isCheckpoint(String line) {
        return line.contains("  checkpoint ");
    }

    private static void assertResumable(RunFolder run) throws IOException {
        run.assertWhole();
        String settings = Files.readString(run.path().resolve(Settings.FILE));
        long next = run.checkpoints().getLast() + 1;
        Files.writeString(run.path().resolve(Settings.FILE), settings.replace("steps=0", "steps=" + next));
        CommandRun resumed = CommandRun.of("train", "--resume", run.path());
        assertEquals("", resumed.err());
        assertEquals(0, resumed.code());
        assertEquals(next, run.checkpoints().getLast());
    }

    @ParameterizedTest
    @ValueSource(strings = {"INT", "TERM"})
    void aSignalEndsItAfterTheStep(String signal) throws Exception {
        RunFolder run = new RunFolder(temp.resolve("run"));
        try (Command command = endless(run)) {
            command.await(TrainProcessTest::isCheckpoint);
            command.signal(signal);
            assertEquals(130, command.end(), command::err);
            assertEquals("\nseriatim: stopping after this step; press Ctrl-C again to stop at once\n", command.err());
            assertTrue(command.out().contains("resume with: ./seriatim train --resume " + run.path() + "\n"),
                    command::out);
        }
        run.assertWhole();
        long stopped = run.checkpoints().getLast();
        assertTrue(Files.readString(run.path().resolve("metrics.jsonl")).contains("\"end\":\"stopped\""));
        // Compares the continued training with an uninterrupted one.
        long steps = stopped + 20;
        Path properties = run.path().resolve(Settings.FILE);
        Files.writeString(properties, Files.readString(properties).replace("steps=0", "steps=" + steps));
        assertEquals(0, CommandRun.of("train", "--resume", run.path()).code());
        RunFolder whole = new RunFolder(temp.resolve("whole"));
        List<Object> args = new ArrayList<>(List.of("train"));
        args.addAll(training(whole, "--steps", steps));
        assertEquals(0, CommandRun.of(args.toArray()).code());
        run.assertSameAs(whole);
    }

    /** As a background job of a shell, or below a build that is one. */
    @Test
    void anIgnoredInterruptIsReportedAndTermStillEndsIt() throws Exception {
        RunFolder run = new RunFolder(temp.resolve("run"));
        try (Command command = Command.start(temp, "trap '' INT", training(run).toArray())) {
            command.await(TrainProcessTest::isCheckpoint);
            assertTrue(command.out().contains("\nsignals   Ctrl-C does not stop this training, because it was started "
                    + "with the signal INT ignored: use kill " + command.pid() + "\n"), command::out);
            command.signal("INT");
            command.await(TrainProcessTest::isCheckpoint);
            command.signal("TERM");
            assertEquals(130, command.end(), command::err);
            assertEquals("\nseriatim: stopping after this step; press Ctrl-C again to stop at once\n", command.err());
        }
        assertResumable(run);
    }

    @Test
    void twoSignalsEndItAtOnce() throws Exception {
        RunFolder run = new RunFolder(temp.resolve("run"));
        try (Command command = endless(run, "--checkpoint-every", 1)) {
            command.await(TrainProcessTest::isCheckpoint);
            command.signal("INT");
            command.signal("INT");
            assertEquals(130, command.end(), command::err);
            assertTrue(
                    command.err().lines().filter(line -> !line.isEmpty())
                            .allMatch(line -> line.startsWith("seriatim: stop")),
                    command::err);
        }
        assertResumable(run);
    }

    @Test
    void aSignalBeforeTheFirstStepEndsItCleanly() throws Exception {
        RunFolder run = new RunFolder(temp.resolve("run"));
        try (Command command = endless(run)) {
            command.await(line -> line.startsWith("folder "));
            command.signal("INT");
            assertEquals(130, command.end(), command::err);
        }
        // The signal may have arrived before the training created its folder.
        if (!run.files().isEmpty()) {
            assertResumable(run);
        }
    }

    @Test
    void twoTrainingsDoNotShareAFolder() throws Exception {
        RunFolder run = new RunFolder(temp.resolve("run"));
        try (Command command = endless(run)) {
            command.await(TrainProcessTest::isCheckpoint);
            String holder = "is in use by process " + command.pid() + " on host ";
            CommandRun resumed = CommandRun.of("train", "--resume", run.path());
            assertEquals(2, resumed.code());
            assertTrue(resumed.err().contains(holder), resumed::err);
            // As if it had started before the other training wrote its settings.
            String settings = Files.readString(run.path().resolve(Settings.FILE));
            Files.delete(run.path().resolve(Settings.FILE));
            List<Object> args = new ArrayList<>(List.of("train"));
            args.addAll(training(run, "--steps", 3));
            CommandRun second = CommandRun.of(args.toArray());
            assertEquals(2, second.code());
            assertTrue(second.err().contains(holder) && second.err().contains("train into another folder"),
                    second::err);
            assertEquals(1, second.err().lines().count(), second::err);
            assertFalse(Files.exists(run.path().resolve(Settings.FILE)), "written all the same");
            Files.writeString(run.path().resolve(Settings.FILE), settings);
            command.signal("KILL");
            command.end();
        }
        removeLeftOvers(run);
        assertResumable(run);
    }

    /** The temporary files of a killed process, which the next checkpoint would also remove. */
    private static void removeLeftOvers(RunFolder run) throws IOException {
        for (String name : run.files()) {
            if (name.matches(".*(^|/)\\..*")) {
                Files.delete(run.path().resolve(name));
                // A folder is empty once its two files are gone.
                Path parent = run.path().resolve(name).resolve("..").normalize();
                if (String.valueOf(parent.getFileName()).startsWith(".") && parent.toFile().list().length == 0) {
                    Files.delete(parent);
                }
            }
        }
    }

    @Test
    void aFullDiskLeavesWhatWasThere() throws Exception {
        RunFolder run = new RunFolder(temp.resolve("run"));
        // In units of 1024 bytes: enough for these small checkpoints, but soon exceeded by the metrics.
        try (Command command = Command.start(temp, "ulimit -f 100", training(run).toArray())) {
            assertEquals(1, command.end(), command::err);
            assertTrue(command.err().startsWith("seriatim: ") && command.err().contains("metrics.jsonl"), command::err);
            assertEquals(1, command.err().lines().count(), command::err);
        }
        assertResumable(run);
    }

    @Test
    void aDiskTooFullForACheckpointLeavesNone() throws Exception {
        RunFolder run = new RunFolder(temp.resolve("run"));
        try (Command command = Command.start(temp, "ulimit -f 100", "mlp", "--data",
                TinyData.arrays(temp.resolve("data")), "--batch", 8,
                "--epochs", ENDLESS,
                "--out", run.path())) {
            assertEquals(1, command.end(), command::err);
            assertTrue(command.err().contains("variables.pdiparams: it could not be written"), command::err);
            assertEquals(1, command.err().lines().count(), command::err);
        }
        run.assertWhole();
        assertEquals(List.of(), run.checkpoints());
    }

    @Test
    void theFolderHasANameOfItsOwn() throws Exception {
        for (int i = 0; i < 2; i++) {
            try (Command command = Command.start(temp, "", "mlp", "--data", TinyData.arrays(temp.resolve("data")),
                    "--batch", 8, "--steps",
                    1)) {
                assertEquals(0, command.end(), command::err);
            }
        }
        try (Stream<Path> runs = Files.list(temp.resolve("runs"))) {
            List<Path> made = runs.toList();
            assertEquals(2, made.size(), made::toString);
            for (Path run : made) {
                assertTrue(run.getFileName().toString().matches("mlp-\\d{8}-\\d{6}(-2)?"), run::toString);
                assertFalse(new RunFolder(run).checkpoints().isEmpty(), run::toString);
            }
        }
    }
}
